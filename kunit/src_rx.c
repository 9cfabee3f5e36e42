// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>
#include <linux/slab.h>
#include "surroundings.h"

/* So that a case can run out of memory. */
#define kvmalloc(size, flags) rx_kunit_kvmalloc(size, flags)
#include "../mpa/rx.c"

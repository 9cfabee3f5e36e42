// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>
#include <net/tcp.h>
#include "surroundings.h"

/* Lets a case run out of memory. */
#undef alloc_page
#define alloc_page(gfp) rx_kunit_alloc_page(gfp)
#include "../mpa/rx.c"

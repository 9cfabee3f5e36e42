// SPDX-License-Identifier: GPL-2.0
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "no_exports.h"
#include "surroundings.h"

/* Lets a case run out of memory. */
#undef kmalloc
#define kmalloc(size, flags) early_kunit_kmalloc(size, flags)
#include "../mpa/rx_early.c"

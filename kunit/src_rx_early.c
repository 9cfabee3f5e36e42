// SPDX-License-Identifier: GPL-2.0
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "no_exports.h"
#include "rx_verify.h"
#include "surroundings.h"

/* Lets a case run out of memory, and counts the FPDUs that are verified. */
#undef kmalloc
#define kmalloc(size, flags) early_kunit_kmalloc(size, flags)
#define mpa_rx_verify(rx, at, len) (early_verified++, mpa_rx_verify(rx, at, len))
#include "../mpa/rx_early.c"

// SPDX-License-Identifier: GPL-2.0
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/skbuff.h>
#include "no_exports.h"
#include "surroundings.h"

/* So that a case can run out of large pages, and of pages. */
#define alloc_pages(flags, order) tx_kunit_alloc_pages(flags, order)
#include "../mpa/tx.c"

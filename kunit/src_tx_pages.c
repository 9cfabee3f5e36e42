// SPDX-License-Identifier: GPL-2.0
#include <linux/gfp.h>
#include <linux/mm.h>
#include "surroundings.h"

/* Lets a case run out of large pages, or of all pages. */
#undef alloc_pages
#define alloc_pages(flags, order) tx_kunit_alloc_pages(flags, order)
#include "../mpa/tx_pages.c"

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What mpa/rx.c and mpa/early.c get from the suites instead of the kernel.
 */
#ifndef KUNIT_SURROUNDINGS_H
#define KUNIT_SURROUNDINGS_H

#include <linux/types.h>

void *rx_kunit_kvmalloc(size_t size, gfp_t flags);
void *early_kunit_kmalloc(size_t size, gfp_t flags);

#endif /* KUNIT_SURROUNDINGS_H */

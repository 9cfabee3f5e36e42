/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of the suites that replace the kernel's in mpa/rx.c, mpa/rx_early.c,
 * mpa/tx_pages.c, mpa/sock.c and mpa/work.c.
 */
#ifndef KUNIT_SURROUNDINGS_H
#define KUNIT_SURROUNDINGS_H

#include <linux/types.h>

struct bio_vec;
struct page;
struct sk_buff;
struct sock;
struct workqueue_struct;

bool rx_kunit_readable(const struct sk_buff *skb);
struct page *rx_kunit_alloc_page(gfp_t gfp);
void *early_kunit_kmalloc(size_t size, gfp_t flags);
extern unsigned int early_verified;
struct page *tx_kunit_alloc_pages(gfp_t flags, unsigned int order);
int sock_kunit_send_pages(struct sock *sk, const struct bio_vec *vec, unsigned int num, u32 len,
			  int flags);
void sock_kunit_count(int change);
void work_kunit_destroy(struct workqueue_struct *wq);

#endif /* KUNIT_SURROUNDINGS_H */

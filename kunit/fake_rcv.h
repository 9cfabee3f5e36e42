/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fake of the parts of TCP's receive side that mpa/rx_early.c uses: the queue,
 * the out-of-order tree, and the SACK blocks.
 */
#ifndef KUNIT_FAKE_RCV_H
#define KUNIT_FAKE_RCV_H

#include <linux/types.h>

struct sk_buff;
struct sock;

u32 fake_rcv_take(struct sock *sk, struct sk_buff *skb);
void fake_rcv_clear(struct sock *sk);

#endif /* KUNIT_FAKE_RCV_H */

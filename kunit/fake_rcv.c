// SPDX-License-Identifier: GPL-2.0
#include <linux/skbuff.h>
#include <net/tcp.h>
#include "fake_rcv.h"

#define MAX_RUNS	64u

/* Drop all that is out of order. */
void fake_rcv_clear(struct sock *sk)
{
	struct rb_root *tree = &tcp_sk(sk)->out_of_order_queue;
	struct sk_buff *skb;

	while ((skb = skb_rb_first(tree))) {
		rb_erase(&skb->rbnode, tree);
		kfree_skb(skb);
	}
}

/* Make SACK blocks: the run with @seq first. Returns the number of runs. */
static u32 make_sacks(struct tcp_sock *tp, u32 seq)
{
	struct tcp_sack_block runs[MAX_RUNS];
	u32 n = 0, first = 0, i;
	struct sk_buff *skb;

	for (skb = skb_rb_first(&tp->out_of_order_queue); skb; skb = skb_rb_next(skb)) {
		u32 from = TCP_SKB_CB(skb)->seq, to = from + skb->len;

		if (n && !after(from, runs[n - 1].end_seq)) {
			if (after(to, runs[n - 1].end_seq))
				runs[n - 1].end_seq = to;
		} else if (n < MAX_RUNS) {
			runs[n].start_seq = from;
			runs[n++].end_seq = to;
		}
		if (!before(seq, runs[n - 1].start_seq))
			first = n - 1;
	}
	tp->rx_opt.num_sacks = min(n, 4u);
	for (i = 0; i < n && i < 4; i++)
		tp->selective_acks[i] = runs[(first + i) % n];
	return n;
}

static void insert(struct rb_root *tree, struct sk_buff *skb)
{
	struct rb_node **p = &tree->rb_node, *parent = NULL;
	struct sk_buff *other;

	while (*p) {
		parent = *p;
		other = rb_to_skb(parent);
		p = before(TCP_SKB_CB(skb)->seq, TCP_SKB_CB(other)->seq) ? &parent->rb_left :
									  &parent->rb_right;
	}
	rb_link_node(&skb->rbnode, parent, p);
	rb_insert_color(&skb->rbnode, tree);
}

/* Free buffers that bring nothing new: the new one, or those it covers. */
static u32 put_aside(struct tcp_sock *tp, struct sk_buff *skb)
{
	u32 from = TCP_SKB_CB(skb)->seq, to = TCP_SKB_CB(skb)->end_seq;
	struct rb_root *tree = &tp->out_of_order_queue;
	struct sk_buff *other, *next;

	tp->rcv_ooopack++;
	for (other = skb_rb_first(tree); other; other = next) {
		u32 other_from = TCP_SKB_CB(other)->seq, other_to = TCP_SKB_CB(other)->end_seq;

		next = skb_rb_next(other);
		if (!before(other_from, from) && !after(other_to, to)) {
			rb_erase(&other->rbnode, tree);
			kfree_skb(other);
		} else if (!after(other_from, from) && !before(other_to, to)) {
			kfree_skb(skb);
			skb = NULL;
			break;
		}
	}
	if (skb)
		insert(tree, skb);
	tp->ooo_last_skb = rb_to_skb(rb_last(tree));
	return make_sacks(tp, from);
}

static u32 in_order(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);

	do {
		u32 end = TCP_SKB_CB(skb)->end_seq;

		if (after(end, tp->rcv_nxt)) {
			__skb_queue_tail(&sk->sk_receive_queue, skb);
			tp->rcv_nxt = end;
		} else {
			kfree_skb(skb);
		}
		skb = skb_rb_first(&tp->out_of_order_queue);
		if (skb && after(TCP_SKB_CB(skb)->seq, tp->rcv_nxt))
			skb = NULL;
		if (skb)
			rb_erase(&skb->rbnode, &tp->out_of_order_queue);
	} while (skb);
	return make_sacks(tp, tp->rcv_nxt);
}

/**
 * fake_rcv_take() - let a segment arrive
 * @sk: socket
 * @skb: the segment, with its sequence numbers in TCP_SKB_CB(); consumed
 *
 * Return: pieces that are out of order afterwards
 */
u32 fake_rcv_take(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (after(TCP_SKB_CB(skb)->seq, tp->rcv_nxt))
		return put_aside(tp, skb);
	return in_order(sk, skb);
}

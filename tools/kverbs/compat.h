/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that newer kernels no longer offer to consumers, or have renamed.
 */
#ifndef KVERBS_COMPAT_H
#define KVERBS_COMPAT_H

#include <linux/timer.h>
#include <net/inet_hashtables.h>
#include <rdma/ib_verbs.h>

#include <mpa/compat.h>

/* Why the cases with ib_resize_cq() cannot run, or NULL */
#ifdef HAVE_RESIZE_CQ
#define KV_CANNOT_RESIZE	NULL
#else
#define KV_CANNOT_RESIZE	"this kernel has no ib_resize_cq()"

static inline int ib_resize_cq(struct ib_cq *cq, int cqe)
{
	return -EOPNOTSUPP;
}
#endif

#ifndef HAVE_TIMER_DESTROY_ON_STACK
#define timer_destroy_on_stack	destroy_timer_on_stack
#endif

/* The lookup uses the namespace's own TCP hash table. */
static inline struct sock *kv_lookup(struct net *net, __be32 saddr,
				     __be16 sport, __be32 daddr, __be16 dport)
{
#ifdef HAVE_LOOKUP_HASHINFO
	return inet_lookup_established(net, net->ipv4.tcp_death_row.hashinfo,
				       saddr, sport, daddr, dport, 0);
#else
	return inet_lookup_established(net, saddr, sport, daddr, dport, 0);
#endif
}

#endif /* KVERBS_COMPAT_H */

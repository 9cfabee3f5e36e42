/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Towards TCP: making sockets, ending them, and handing octets over.
 */
#ifndef MPA_SOCK_H
#define MPA_SOCK_H

#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <net/tcp.h>

struct mpa_conn;
struct mpa_params;

/* What mpa_sock_lift() has lifted: the limits, and an error that was pending. */
struct mpa_sock_limits {
	int sndbuf;
	u32 notsent_lowat;
	int err;
};

/* Chunks, or parts of them, that TCP gets in one call at most. */
#define MPA_SOCK_PARTS	4

/**
 * struct mpa_sock_piece - octets for TCP
 * @part: where they are in chunks. More than one only as mpa_sock_join() allows
 * @num_parts: elements in @part, at least 1
 * @len: octets in all parts
 * @rest: octets that follow under the same hold of the socket lock
 * @more: the transmit owner writes more at once
 * @ends: a segment ends with these
 */
struct mpa_sock_piece {
	struct bio_vec part[MPA_SOCK_PARTS];
	unsigned int num_parts;
	u32 len;
	u32 rest;
	bool more;
	bool ends;
};

/* The largest segment that fits a buffer, wherever its octets lie in chunks. */
#define MPA_MAX_PAGED	((u32)((MAX_SKB_FRAGS - 4) * PAGE_SIZE))

/**
 * struct mpa_sock_paged - octets to be put into fragments of a page each
 * @page: head page of a chunk
 * @off: offset of the first octet in the chunk
 * @size: octets of a segment, up to MPA_MAX_PAGED
 * @used: octets that precede the first one in its segment
 * @room: set by mpa_sock_fit(), for mpa_sock_join(): octets that the buffer
 *	still takes in this call
 * @frags: likewise: fragments that it has left
 * @full: set when the buffer must end behind the octets that mpa_sock_fit() or
 *	mpa_sock_join() returned
 */
struct mpa_sock_paged {
	struct page *page;
	u32 off;
	u32 size;
	u32 used;
	u32 room;
	u32 frags;
	bool full;
};

int mpa_sock_create(struct net *net, int family,
		    const struct mpa_params *params, struct socket **sock);
void mpa_sock_tune(struct sock *sk);
void mpa_sock_use_reserves(struct sock *sk);
void mpa_sock_module_exit(void);
void mpa_sock_abort(struct sock *sk, int sk_err);
void mpa_sock_shutdown(struct socket *sock);
void mpa_sock_reset(struct socket *sock);

int mpa_sock_send_pages(struct mpa_conn *conn,
			const struct mpa_sock_piece *piece);
u32 mpa_sock_fit(struct sock *sk, struct mpa_sock_paged *paged, u32 len);
u32 mpa_sock_join(struct sock *sk, struct mpa_sock_paged *paged,
		  const struct mpa_sock_piece *piece, u32 len);
void mpa_sock_lift(struct sock *sk, struct mpa_sock_limits *limits);
void mpa_sock_lower(struct sock *sk, const struct mpa_sock_limits *limits);
int mpa_sock_take_error(struct sock *sk);
void mpa_sock_put_error(struct sock *sk, int err);
int mpa_sock_send_frame(struct sock *sk, const void *frame, u32 len, gfp_t gfp);
void mpa_sock_end_record(struct sock *sk);
u32 mpa_sock_fill(struct sock *sk, u32 mss);
u32 mpa_sock_emss(struct sock *sk);

/* Do octets reach the peer within this stack? Context: socket lock held. */
static inline bool mpa_sock_is_local(struct sock *sk)
{
	const struct dst_entry *dst;
	bool local;

	rcu_read_lock();
	dst = __sk_dst_get(sk);
	/* The netdev may be removed, which replaces dst->dev. */
	local = dst && READ_ONCE(dst->dev)->flags & IFF_LOOPBACK;
	rcu_read_unlock();
	return local;
}

/* Drop all received octets, so that a close sends a FIN and not an RST. */
static inline void mpa_sock_drop_queued(struct sock *sk)
{
	int queued = tcp_inq(sk);

	WRITE_ONCE(sk->sk_rcvlowat, 1);
	if (queued > 0)
		tcp_read_done(sk, queued);
}

#endif /* MPA_SOCK_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Early placement: FPDUs that TCP holds out of order are found by their
 * Markers, verified, and placed before their turn (RFC 5044 sections 3 and 6,
 * Appendix A.3).
 */
#ifndef MPA_RX_EARLY_H
#define MPA_RX_EARLY_H

#include <linux/rbtree.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>
#include <mpa/mpa.h>

struct mpa_conn;
struct mpa_rx;

#define MPA_EARLY_ISLANDS	8	/* twice the blocks of a SACK option */
#define MPA_EARLY_MAX	4096	/* FPDUs placed and not delivered */
#define MPA_EARLY_BUFFERS	128	/* buffers of TCP's for one FPDU */
#define MPA_EARLY_BUFFER_COST	256	/* octets that one takes of a budget */

/**
 * struct mpa_placed - an FPDU that was placed before its turn
 * @node: in mpa_early.placed
 * @pos: stream position of the FPDU
 * @wire_len: its octets, Markers included
 * @ulpdu_pos: stream position of the ULPDU
 * @ulpdu_len: its octets
 * @cookie: the consumer's
 * @hdr_len: octets in @hdr
 * @hdr: first octets of the ULPDU, as they were verified
 */
struct mpa_placed {
	struct rb_node node;
	u32 pos;
	u32 wire_len;
	u32 ulpdu_pos;
	u32 cookie;
	u16 ulpdu_len;
	u8 hdr_len;
	u8 hdr[MPA_PLACED_HDR_MAX];
};

enum mpa_island_state {
	MPA_ISLAND_UNUSED,
	MPA_ISLAND_SEARCH,	/* search a Marker that points to an FPDU */
	MPA_ISLAND_FOLLOW,	/* go from FPDU to FPDU by their lengths */
};

/**
 * struct mpa_island - a piece of the stream behind a gap
 * @state: enum mpa_island_state
 * @start: stream position of its first octet, behind the gap
 * @from: MPA_ISLAND_FOLLOW: stream position of the first FPDU
 * @at: stream position of the next Marker or FPDU
 */
struct mpa_island {
	enum mpa_island_state state;
	u32 start;
	u32 from;
	u32 at;
};

/**
 * struct mpa_early - early placement on one connection; socket lock
 * @af_ops: TCP's, with a queue_xmit() that looks for news
 * @saved_af_ops: TCP's own
 * @seen: TCP's count of segments out of order at the last pass
 * @given_up: a Marker or a length led to no valid FPDU, or the consumer has
 *	refused the peer: nothing more is placed early
 * @islands: pieces of the stream, unordered
 * @placed: FPDUs that were placed and wait for their turn, by position
 * @num_placed: number of them
 * @charged: as in struct mpa_rx
 */
struct mpa_early {
	struct inet_connection_sock_af_ops af_ops;
	const struct inet_connection_sock_af_ops *saved_af_ops;
	u32 seen;
	bool given_up;
	struct mpa_island islands[MPA_EARLY_ISLANDS];
	struct rb_root_cached placed;
	unsigned int num_placed;
	struct sock *charged;
};

/* Has TCP queued out-of-order octets since the last pass? Socket lock held. */
static inline bool mpa_early_has_news(const struct mpa_early *early,
				      const struct sock *sk)
{
	return unlikely(early->seen != tcp_sk(sk)->rcv_ooopack);
}

bool mpa_early_create(struct mpa_rx *rx);
void mpa_early_destroy(struct mpa_rx *rx);
void mpa_early_drop(struct mpa_early *early);
void mpa_early_pass(struct mpa_conn *conn, u32 budget);
void mpa_early_watch_acks(struct mpa_conn *conn);
void mpa_early_unwatch_acks(struct mpa_conn *conn);
struct mpa_placed *mpa_early_first(struct mpa_early *early, u32 pos);
u32 mpa_early_peek(const struct mpa_placed *placed, u32 avail, u32 *need);
void mpa_early_forget(struct mpa_early *early, struct mpa_placed *placed);

#endif /* MPA_RX_EARLY_H */

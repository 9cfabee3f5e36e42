/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receive: whole FPDUs out of TCP's receive queue.
 */
#ifndef MPA_RX_H
#define MPA_RX_H

#include <linux/skbuff.h>
#include <mpa/mpa.h>

struct mpa_early;

/**
 * struct mpa_rx - receive direction of a connection; socket lock
 * @start: TCP sequence number of the first octet of Full Operation
 * @markers: the peer puts Markers into its stream
 * @crc: CRCs are checked
 * @stopped: an error or the consumer ended it: what comes is thrown away
 * @held: a whole FPDU waits for a consumer that takes ULPDUs itself
 * @need: octets that must be there before the next FPDU is complete, as far
 *	as known
 * @stash: octets of an incomplete FPDU that had to be taken out of TCP's
 *	queue to keep its window open (RFC 5044 A.5.2); NULL when there are none
 * @stash_len: octets in @stash
 * @stash_size: octets that @stash can hold
 * @early: what was placed before its turn; NULL when that is not done
 */
struct mpa_rx {
	u32 start;
	bool markers;
	bool crc;
	bool stopped;
	bool held;
	u32 need;
	u8 *stash;
	u32 stash_len;
	u32 stash_size;
	struct mpa_early *early;
};

/**
 * struct mpa_cursor - a place in the stream that is still in TCP's queue
 * @ptr: next octet
 * @left: octets in the contiguous piece at @ptr
 * @pos: stream position of @ptr
 * @ulpdu_left: octets of the ULPDU that the consumer has not read
 * @markers: Markers are to be skipped
 * @placed: the payload is in its place already: copying it does nothing
 * @frag: next fragment of @part
 * @part: @skb itself, or the member of its frag_list that @ptr lies in
 * @skb: buffer in TCP's queue, NULL while in the stash
 * @queue: TCP's receive queue, or NULL while in the tree of what TCP holds out
 *	of order
 * @first: what follows the stash: the first buffer with unread octets
 * @first_off: offset of the first unread octet in @first
 *
 * All pointers die when the socket lock is dropped.
 */
struct mpa_cursor {
	const u8 *ptr;
	u32 left;
	u32 pos;
	u32 ulpdu_left;
	bool markers;
	bool placed;
	int frag;
	struct sk_buff *part;
	struct sk_buff *skb;
	struct sk_buff_head *queue;
	struct sk_buff *first;
	u32 first_off;
};

/* What a pass over the queue came to. */
enum mpa_rx_result {
	MPA_RX_IDLE,		/* nothing complete is left */
	MPA_RX_MORE,		/* the budget ran out */
	MPA_RX_HELD,		/* what is complete waits for the consumer */
	MPA_RX_ENDED,		/* stopped in this pass, see *err */
};

struct iov_iter;
struct mpa_conn;

void mpa_cursor_init(struct mpa_cursor *cur, const struct mpa_rx *rx,
		     struct sk_buff_head *queue, struct sk_buff *first,
		     u32 first_off, u32 pos);
void mpa_cursor_init_out_of_order(struct mpa_cursor *cur,
				  const struct mpa_rx *rx,
				  struct sk_buff *skb, u32 off, u32 pos);
int mpa_cursor_read(struct mpa_cursor *cur, void *dst, u32 len);
int mpa_cursor_to_iter(struct mpa_cursor *cur, struct iov_iter *to, u32 len);
void mpa_cursor_enter_ulpdu(struct mpa_cursor *cur, u32 len);
u32 mpa_rx_peek(const struct mpa_cursor *at, u32 avail, u32 *ulpdu_len,
		u32 *need);
enum mpa_error mpa_rx_verify(const struct mpa_rx *rx,
			     const struct mpa_cursor *at, u32 wire_len);
u32 mpa_rx_head(struct mpa_conn *conn, struct mpa_cursor *cur);
void mpa_rx_consume(struct mpa_conn *conn, u32 done);
enum mpa_rx_result mpa_rx_pass(struct mpa_conn *conn, u32 budget, gfp_t gfp,
			       enum mpa_error *err);
void mpa_rx_drop_all(struct mpa_conn *conn);
void mpa_rx_drop_queued(struct sock *sk);
void mpa_rx_free(struct mpa_rx *rx);

#endif /* MPA_RX_H */

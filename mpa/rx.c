// SPDX-License-Identifier: GPL-2.0
/*
 * Receive: an FPDU is verified while it still lies in TCP's receive queue and
 * is then handed up as a cursor over its Marker-free octets (RFC 5044
 * section 6). Nothing is placed before it is verified, and nothing is copied
 * but payload into its final buffer.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/uio.h>
#include <net/tcp.h>
#include "conn.h"
#include "crc.h"
#include "early.h"
#include "fpdu.h"

static void cursor_enter(struct mpa_cursor *cur, struct sk_buff *part)
{
	cur->part = part;
	cur->frag = 0;
	cur->ptr = part->data;
	cur->left = skb_headlen(part);
}

/* The buffer behind @skb in the list, or in the tree. */
static struct sk_buff *skb_behind(const struct sk_buff_head *queue,
				  struct sk_buff *skb)
{
	if (!queue)
		return skb_rb_next(skb);
	return skb_queue_is_last(queue, skb) ? NULL :
					       skb_queue_next(queue, skb);
}

/*
 * The next buffer of the queue. Buffers may overlap, so that what is wanted
 * begins somewhere in the next one, or in one behind it.
 */
static struct sk_buff *cursor_next_skb(struct mpa_cursor *cur, u32 *off)
{
	struct sk_buff *skb = cur->skb;
	u32 seq;

	if (!skb) {
		*off = cur->first_off;
		return cur->first;
	}
	seq = TCP_SKB_CB(skb)->seq + skb->len;
	while ((skb = skb_behind(cur->queue, skb))) {
		*off = seq - TCP_SKB_CB(skb)->seq;
		if (*off < skb->len)
			return skb;
	}
	return NULL;
}

static bool cursor_next_in_skb(struct mpa_cursor *cur)
{
	const struct skb_shared_info *info = skb_shinfo(cur->part);

	if (cur->frag < info->nr_frags) {
		const skb_frag_t *frag = &info->frags[cur->frag++];

		cur->ptr = skb_frag_address(frag);
		cur->left = skb_frag_size(frag);
		return true;
	}
	if (cur->part != cur->skb && cur->part->next)
		cursor_enter(cur, cur->part->next);
	else if (cur->part == cur->skb && info->frag_list)
		cursor_enter(cur, info->frag_list);
	else
		return false;
	return true;
}

/* Go to the next non-empty contiguous piece; false at the queue's end. */
static bool cursor_next(struct mpa_cursor *cur)
{
	u32 skip = 0;

	do {
		if (!cur->skb || !cursor_next_in_skb(cur)) {
			struct sk_buff *skb = cursor_next_skb(cur, &skip);

			if (!skb)
				return false;
			cur->skb = skb;
			cursor_enter(cur, skb);
		}
		if (skip) {
			u32 n = min(skip, cur->left);

			cur->ptr += n;
			cur->left -= n;
			skip -= n;
		}
	} while (!cur->left);
	return true;
}

static inline void cursor_step(struct mpa_cursor *cur, u32 n)
{
	cur->ptr += n;
	cur->left -= n;
	cur->pos += n;
}

/* Have an octet at the cursor; false at the queue's end. */
static inline bool cursor_fill(struct mpa_cursor *cur)
{
	return likely(cur->left) || cursor_next(cur);
}

static inline void cursor_skip(struct mpa_cursor *cur, u32 n)
{
	if (likely(n <= cur->left))
		cursor_step(cur, n);
	else
		mpa_cursor_read(cur, NULL, n);
}

/* Is there a Marker right at the cursor? */
static inline bool at_marker(const struct mpa_cursor *cur)
{
	return cur->markers && !mpa_marker_gap(cur->pos);
}

/**
 * mpa_cursor_init() - point a cursor at the first unread octet
 * @cur: the cursor
 * @rx: receive direction; its stash comes first
 * @queue: TCP's receive queue
 * @first: first buffer with unread octets, NULL when the queue is empty
 * @first_off: offset of the first unread octet in @first
 * @pos: stream position of the first unread octet
 *
 * Context: socket lock held for as long as the cursor is used.
 */
void mpa_cursor_init(struct mpa_cursor *cur, const struct mpa_rx *rx,
		     struct sk_buff_head *queue, struct sk_buff *first,
		     u32 first_off, u32 pos)
{
	cur->ptr = rx->stash;
	cur->left = rx->stash_len;
	cur->pos = pos;
	cur->ulpdu_left = 0;
	cur->markers = rx->markers;
	cur->placed = false;
	cur->frag = 0;
	cur->part = NULL;
	cur->skb = NULL;
	cur->queue = queue;
	cur->first = first;
	cur->first_off = first_off;
}

/**
 * mpa_cursor_init_out_of_order() - point a cursor at what waits for its turn
 * @cur: the cursor
 * @rx: receive direction
 * @skb: a buffer in the tree of what TCP holds out of order
 * @off: offset in @skb
 * @pos: stream position of the octet there
 *
 * Context: socket lock held for as long as the cursor is used.
 */
void mpa_cursor_init_out_of_order(struct mpa_cursor *cur,
				  const struct mpa_rx *rx,
				  struct sk_buff *skb, u32 off, u32 pos)
{
	mpa_cursor_init(cur, rx, NULL, skb, off, pos);
	cur->left = 0;		/* what is stashed comes before all this */
	cursor_fill(cur);
}

/**
 * mpa_cursor_read() - read octets of the stream, Markers included
 * @cur: where to read; moved behind what was read
 * @dst: where to put them, or NULL to skip them
 * @len: octets
 *
 * Context: socket lock held.
 * Return: 0, or -ENODATA when the queue holds fewer.
 */
int mpa_cursor_read(struct mpa_cursor *cur, void *dst, u32 len)
{
	while (len) {
		u32 n;

		if (!cursor_fill(cur))
			return -ENODATA;
		n = min(len, cur->left);
		if (dst) {
			memcpy(dst, cur->ptr, n);
			dst += n;
		}
		cursor_step(cur, n);
		len -= n;
	}
	return 0;
}

/*
 * The octets of the ULPDU that lie in one piece at the cursor, up to @len; 0
 * at the queue's end. A Marker ends a piece.
 */
static u32 cursor_piece(struct mpa_cursor *cur, u32 len)
{
	if (at_marker(cur))
		cursor_skip(cur, MPA_MARKER_LEN);
	if (cur->markers)
		len = min(len, mpa_marker_gap(cur->pos));
	return cursor_fill(cur) ? min(len, cur->left) : 0;
}

/**
 * mpa_cursor_copy() - read octets of the ULPDU that is being received
 * @cur: the cursor that mpa_consumer_ops.receive() got
 * @dst: kernel address
 * @len: octets
 *
 * Markers are left out. Of a ULPDU that mpa_consumer_ops.place() has placed only the
 * header is there: nothing is copied from behind it.
 * Context: inside of mpa_consumer_ops.receive() and place().
 * Return: 0; -EMSGSIZE when the ULPDU has fewer octets left: nothing is
 * copied then.
 */
int mpa_cursor_copy(struct mpa_cursor *cur, void *dst, u32 len)
{
	if (unlikely(len > cur->ulpdu_left))
		return -EMSGSIZE;
	cur->ulpdu_left -= len;

	if (likely(!cur->markers && len <= cur->left)) {
		memcpy(dst, cur->ptr, len);
		cursor_step(cur, len);
		return 0;
	}
	if (unlikely(cur->placed))
		return 0;
	while (len) {
		u32 n = cursor_piece(cur, len);

		/* The FPDU is known to be complete: this cannot run dry. */
		if (!n)
			return -ENODATA;
		memcpy(dst, cur->ptr, n);
		cursor_step(cur, n);
		dst += n;
		len -= n;
	}
	return 0;
}
EXPORT_SYMBOL_NS_GPL(mpa_cursor_copy, IWMPA);

/**
 * mpa_cursor_to_iter() - read octets of the ULPDU into a program's memory
 * @cur: cursor within a ULPDU that is complete
 * @to: where to put them
 * @len: octets, no more than are left of the ULPDU
 *
 * Markers are left out. Context: process, socket lock held.
 * Return: 0, or -EFAULT when @to takes fewer.
 */
int mpa_cursor_to_iter(struct mpa_cursor *cur, struct iov_iter *to, u32 len)
{
	while (len) {
		u32 n = cursor_piece(cur, len);

		if (!n || copy_to_iter(cur->ptr, n, to) != n)
			return -EFAULT;
		cursor_step(cur, n);
		len -= n;
	}
	return 0;
}

/**
 * mpa_cursor_position() - the place in the stream (RFC 5044 section 3)
 * @cur: the cursor that mpa_consumer_ops.receive() got
 *
 * ULPDUs are delivered in ascending order of their positions, modulo 2^32.
 * Context: inside of mpa_consumer_ops.receive() and place().
 * Return: octets between the first octet of Full Operation and the cursor,
 * modulo 2^32.
 */
u32 mpa_cursor_position(const struct mpa_cursor *cur)
{
	return cur->pos;
}
EXPORT_SYMBOL_NS_GPL(mpa_cursor_position, IWMPA);

/**
 * mpa_rx_peek() - how long is the FPDU that starts here?
 * @at: cursor at the FPDU's first octet
 * @avail: octets that are there
 * @ulpdu_len: set to ULPDU_Length when the FPDU is complete
 * @need: set to the octets that must be there before more can be said
 *
 * Context: socket lock held.
 * Return: octets of the complete FPDU with its Markers, or 0.
 */
u32 mpa_rx_peek(const struct mpa_cursor *at, u32 avail, u32 *ulpdu_len,
		u32 *need)
{
	u32 head = at_marker(at) ? MPA_MARKER_LEN : 0;
	u32 wire;

	*need = head + MPA_HDR_LEN;
	if (avail < *need)
		return 0;
	if (likely(at->left >= *need)) {
		*ulpdu_len = get_unaligned_be16(at->ptr + head);
	} else {
		struct mpa_cursor cur = *at;
		__be16 len;

		cursor_skip(&cur, head);
		if (mpa_cursor_read(&cur, &len, MPA_HDR_LEN))
			return 0;
		*ulpdu_len = be16_to_cpu(len);
	}
	wire = mpa_fpdu_wire_len(*ulpdu_len, at->markers, at->pos);
	*need = wire;
	return avail < wire ? 0 : wire;
}

/* The CRC of an FPDU that lies in several pieces. */
static bool crc_is_good_in_pieces(struct mpa_cursor cur, u32 len)
{
	union mpa_crc crc;
	__be32 field;

	mpa_crc_start(&crc);
	while (len) {
		u32 n;

		if (!cursor_fill(&cur))
			return false;
		n = min(len, cur.left);
		mpa_crc_add(&crc, cur.ptr, n);
		cursor_step(&cur, n);
		len -= n;
	}
	return !mpa_cursor_read(&cur, &field, MPA_CRC_LEN) &&
	       mpa_crc_finish(&crc) == field;
}

static bool crc_is_good(const struct mpa_cursor *at, u32 wire_len)
{
	u32 len = wire_len - MPA_CRC_LEN;

	if (likely(at->left >= wire_len))
		return mpa_crc_digest(at->ptr, len) ==
		       get_unaligned((__be32 *)(at->ptr + len));
	return crc_is_good_in_pieces(*at, len);
}

/* The Markers of an FPDU that lies in several pieces. */
static bool markers_are_good_in_pieces(const struct mpa_cursor *at,
				       u32 wire_len)
{
	u32 gap = mpa_marker_gap(at->pos), left = wire_len;
	struct mpa_cursor cur = *at;

	while (gap < left) {
		u32 pos = cur.pos + gap;
		__be32 marker;

		cursor_skip(&cur, gap);
		if (mpa_cursor_read(&cur, &marker, MPA_MARKER_LEN) ||
		    !mpa_marker_check(marker, pos, at->pos))
			return false;
		left -= gap + MPA_MARKER_LEN;
		gap = MPA_MARKER_SPAN;
	}
	return true;
}

static bool markers_are_good(const struct mpa_cursor *at, u32 wire_len)
{
	u32 off;

	if (unlikely(at->left < wire_len))
		return markers_are_good_in_pieces(at, wire_len);
	for (off = mpa_marker_gap(at->pos); off < wire_len;
	     off += MPA_MARKER_INTERVAL)
		if (!mpa_marker_check(get_unaligned((__be32 *)(at->ptr + off)),
				      at->pos + off, at->pos))
			return false;
	return true;
}

/**
 * mpa_rx_verify() - check CRC and Markers of a complete FPDU
 * @rx: what is in use on this connection
 * @at: cursor at the FPDU's first octet
 * @wire_len: octets of the FPDU, Markers included
 *
 * The CRC goes first: octets that were damaged are error 2 even when a Marker
 * was hit. Context: socket lock held. RFC 5044 sections 4.4, 6 and 8.
 *
 * Return: MPA_ERR_NONE, MPA_ERR_CRC or MPA_ERR_MARKER.
 */
enum mpa_error mpa_rx_verify(const struct mpa_rx *rx,
			     const struct mpa_cursor *at, u32 wire_len)
{
	if (rx->crc && !crc_is_good(at, wire_len))
		return MPA_ERR_CRC;
	if (rx->markers && !markers_are_good(at, wire_len))
		return MPA_ERR_MARKER;
	return MPA_ERR_NONE;
}

/* From an FPDU's first octet to its ULPDU of @len octets. */
void mpa_cursor_enter_ulpdu(struct mpa_cursor *cur, u32 len)
{
	if (at_marker(cur))
		cursor_skip(cur, MPA_MARKER_LEN);
	cursor_skip(cur, MPA_HDR_LEN);
	cur->ulpdu_left = len;
}

static int deliver(struct mpa_conn *conn, const struct mpa_cursor *at, u32 len)
{
	struct mpa_cursor cur = *at;

	mpa_cursor_enter_ulpdu(&cur, len);
	return conn->ops->receive(conn->consumer, &cur, len);
}

/*
 * What was placed before its turn was verified then, and is not read again:
 * TCP may hold other octets for it by now (RFC 5044 A.3).
 */
static int deliver_placed(struct mpa_conn *conn,
			  const struct mpa_placed *placed)
{
	struct mpa_cursor cur = {
		.ptr = placed->hdr,
		.left = placed->hdr_len,
		.pos = placed->ulpdu_pos,
		.ulpdu_left = placed->ulpdu_len,
		.placed = true,
	};

	return conn->ops->receive(conn->consumer, &cur, placed->ulpdu_len);
}

/**
 * mpa_rx_head() - point a cursor at the first FPDU that is not consumed
 * @conn: connection in Full Operation
 * @cur: the cursor
 *
 * Context: socket lock held for as long as the cursor is used.
 * Return: octets that are there.
 */
u32 mpa_rx_head(struct mpa_conn *conn, struct mpa_cursor *cur)
{
	struct sock *sk = conn->sk;
	struct mpa_rx *rx = &conn->rx;
	struct sk_buff *skb;
	u32 off = 0;

	skb = tcp_recv_skb(sk, tcp_sk(sk)->copied_seq, &off);
	mpa_cursor_init(cur, rx, &sk->sk_receive_queue, skb, off,
			tcp_sk(sk)->copied_seq - rx->stash_len - rx->start);
	cursor_fill(cur);
	return max(tcp_inq(sk), 0) + rx->stash_len;
}

/**
 * mpa_rx_consume() - take FPDUs out of TCP's queue
 * @conn: connection
 * @done: octets of them, Markers included
 *
 * Context: socket lock held.
 */
void mpa_rx_consume(struct mpa_conn *conn, u32 done)
{
	struct mpa_rx *rx = &conn->rx;

	/* The stash is the beginning of one FPDU: all of it goes or none. */
	if (rx->stash_len) {
		done -= rx->stash_len;
		rx->stash_len = 0;
	}
	if (done)
		tcp_read_done(conn->sk, done);
}

/*
 * The stash is charged like what is sent, but a limit is overdrawn (that is
 * __GFP_HIGH) rather than TCP's window left shut.
 */
static void *stash_alloc(const struct mpa_conn *conn, gfp_t gfp)
{
	struct mem_cgroup *active = set_active_memcg(conn->memcg);
	void *mem;

	if (conn->memcg)
		gfp |= __GFP_ACCOUNT | __GFP_HIGH;
	mem = kvmalloc(conn->rx.need, gfp | __GFP_NOWARN);
	set_active_memcg(active);
	return mem;
}

/* Room in the stash for all of the FPDU, as far as its length is known. */
static bool stash_reserve(struct mpa_conn *conn, gfp_t gfp)
{
	struct mpa_rx *rx = &conn->rx;
	u8 *more;

	if (rx->need <= rx->stash_size)
		return true;
	more = stash_alloc(conn, gfp);
	if (!more)
		return false;
	if (rx->stash_len)
		memcpy(more, rx->stash, rx->stash_len);
	kvfree(rx->stash);
	rx->stash = more;
	rx->stash_size = rx->need;
	return true;
}

/*
 * TCP's window or its memory is about to shut before the FPDU is complete:
 * take what is there out of the queue. RFC 5044 A.5.2 warns of the deadlock.
 * No further segment may come to try again at: without memory the worker
 * does, which can wait for it, and again in a moment when it got none.
 */
static void stash(struct mpa_conn *conn, u32 queued, gfp_t gfp)
{
	struct mpa_rx *rx = &conn->rx;
	struct sock *sk = conn->sk;
	struct mpa_cursor cur;
	struct mpa_rx none = { };
	struct sk_buff *skb;
	u32 off, n;

	if (!stash_reserve(conn, gfp)) {
		if (gfpflags_allow_blocking(gfp))
			mpa_conn_retry(conn);
		else
			mpa_conn_queue(conn);
		return;
	}

	if (!rx->stash_len)
		mpa_count(conn, MPA_STAT_RX_STASHED, 1);
	n = min(queued, rx->need - rx->stash_len);
	skb = tcp_recv_skb(sk, tcp_sk(sk)->copied_seq, &off);
	mpa_cursor_init(&cur, &none, &sk->sk_receive_queue, skb, off, 0);
	if (mpa_cursor_read(&cur, rx->stash + rx->stash_len, n))
		return;
	rx->stash_len += n;
	tcp_read_done(sk, n);
}

/* Deliver FPDUs until the queue or the budget is at its end. */
static enum mpa_rx_result deliver_all(struct mpa_conn *conn, u32 avail,
				      u32 budget, enum mpa_error *err)
{
	enum mpa_rx_result result = MPA_RX_IDLE;
	struct mpa_rx *rx = &conn->rx;
	struct mpa_cursor cur;
	u32 done = 0, fpdus = 0;

	mpa_rx_head(conn, &cur);
	for (;;) {
		struct mpa_placed *placed = NULL;
		u32 ulpdu_len, wire;
		int ret;

		cursor_fill(&cur);
		if (unlikely(rx->early))
			placed = mpa_early_first(rx->early, cur.pos);
		wire = placed ? mpa_early_peek(placed, avail - done,
					       &rx->need) :
				mpa_rx_peek(&cur, avail - done, &ulpdu_len,
					    &rx->need);
		if (!wire)
			break;
		if (done >= budget) {
			result = MPA_RX_MORE;
			break;
		}
		if (likely(!placed))
			*err = mpa_rx_verify(rx, &cur, wire);
		if (unlikely(*err)) {
			result = MPA_RX_ENDED;
			break;
		}
		conn->tx.allowed = true;	/* RFC 5044 7.1.2 rule 4 */
		fpdus++;
		done += wire;
		if (likely(!placed)) {
			ret = deliver(conn, &cur, ulpdu_len);
		} else {
			ret = deliver_placed(conn, placed);
			mpa_early_forget(rx->early, placed);
		}
		if (unlikely(ret)) {
			result = MPA_RX_ENDED;
			break;
		}
		cursor_skip(&cur, wire);
	}

	if (done) {
		mpa_count(conn, MPA_STAT_RX_FPDUS, fpdus);
		mpa_count(conn, MPA_STAT_RX_OCTETS, done);
		mpa_count(conn, MPA_STAT_RX_PASSES, 1);
		mpa_rx_consume(conn, done);
		if (conn->ops->receive_done)
			conn->ops->receive_done(conn->consumer);
	}
	return result;
}

/*
 * The consumer takes its ULPDUs itself: is there a whole FPDU? The first one
 * that comes is verified at once, because it lets a Responder send.
 */
static enum mpa_rx_result hold(struct mpa_conn *conn, enum mpa_error *err)
{
	struct mpa_rx *rx = &conn->rx;
	struct mpa_cursor cur;
	u32 ulpdu_len, wire;

	wire = mpa_rx_head(conn, &cur);
	wire = mpa_rx_peek(&cur, wire, &ulpdu_len, &rx->need);
	if (!wire)
		return MPA_RX_IDLE;
	if (!conn->tx.allowed) {
		*err = mpa_rx_verify(rx, &cur, wire);
		if (*err)
			return MPA_RX_ENDED;
		conn->tx.allowed = true;	/* RFC 5044 7.1.2 rule 4 */
	}
	rx->held = true;
	conn->ops->receive_done(conn->consumer);
	return MPA_RX_HELD;
}

/**
 * mpa_rx_pass() - deliver what is complete in TCP's queue
 * @conn: connection in Full Operation
 * @budget: octets after which to stop and leave the rest to a worker
 * @gfp: how to get memory, GFP_ATOMIC in softirq
 * @err: set when the result is MPA_RX_ENDED: MPA_ERR_NONE when the consumer
 *	ended it
 *
 * Context: softirq or process, socket lock held.
 * Return: see enum mpa_rx_result.
 */
enum mpa_rx_result mpa_rx_pass(struct mpa_conn *conn, u32 budget, gfp_t gfp,
			       enum mpa_error *err)
{
	struct sock *sk = conn->sk;
	struct mpa_rx *rx = &conn->rx;
	bool could_send = conn->tx.allowed;
	enum mpa_rx_result result;
	u32 avail;

	*err = MPA_ERR_NONE;
	do {
		avail = tcp_inq(sk) + rx->stash_len;
		if (!avail || avail < rx->need)
			result = MPA_RX_IDLE;
		else
			result = conn->ops->receive ?
				 deliver_all(conn, avail, budget, err) :
				 hold(conn, err);
		if (result != MPA_RX_IDLE)
			break;
		avail = tcp_inq(sk);
		if (!tcp_epollin_ready(sk, INT_MAX))
			break;
		stash(conn, avail, gfp);
	} while (tcp_inq(sk) < avail);

	if (result == MPA_RX_ENDED) {
		rx->stopped = true;
		mpa_rx_drop_all(conn);
	} else {
		u32 missing = rx->need - rx->stash_len;

		/* No wake-up before the FPDU is complete. */
		WRITE_ONCE(sk->sk_rcvlowat, max(missing, 1u));
	}
	if (!could_send && conn->tx.allowed && conn->ops->writable)
		conn->ops->writable(conn->consumer);
	return result;
}

/* Throw away what is queued, so that a FIN stays one and no RST is sent. */
void mpa_rx_drop_queued(struct sock *sk)
{
	int queued = tcp_inq(sk);

	WRITE_ONCE(sk->sk_rcvlowat, 1);
	if (queued > 0)
		tcp_read_done(sk, queued);
}

/* The same for a connection, with what is known of the rest. */
void mpa_rx_drop_all(struct mpa_conn *conn)
{
	mpa_rx_drop_queued(conn->sk);
	if (conn->rx.early)
		mpa_early_drop(conn->rx.early);
}

void mpa_rx_free(struct mpa_rx *rx)
{
	mpa_early_destroy(rx);
	kvfree(rx->stash);
	rx->stash = NULL;
}

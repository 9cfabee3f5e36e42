// SPDX-License-Identifier: GPL-2.0
/*
 * Receive: an FPDU is verified while it still lies in TCP's receive queue and
 * is then handed up as a cursor over its Marker-free octets (RFC 5044
 * section 6). The only copy is that of payload into its final buffer, unless
 * TCP's window would shut.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <net/tcp.h>
#include "conn.h"
#include "cursor.h"
#include "fpdu.h"
#include "rx.h"
#include "rx_early.h"
#include "rx_verify.h"
#include "rx_whole.h"
#include "sock.h"
#include "trace.h"

#define STASH_HEAD	mpa_fpdu_content(0)	/* the shortest FPDU */

/* The longest FPDU that a peer can announce, with all its Markers */
#define STASH_CONTENT	(MPA_HDR_LEN + 65535 + 3 + MPA_CRC_LEN)
#define STASH_MARKERS	(STASH_CONTENT / MPA_MARKER_SPAN + 1)
static_assert(STASH_CONTENT + STASH_MARKERS * MPA_MARKER_LEN <=
	      MAX_SKB_FRAGS * PAGE_SIZE);

static int deliver_queued(struct mpa_conn *conn, const struct mpa_cursor *at,
			  u32 len)
{
	struct mpa_cursor cur = *at;

	mpa_cursor_enter_ulpdu(&cur, len);
	return conn->ops->receive(conn->consumer, &cur, len);
}

/*
 * Deliver an FPDU that was placed early. It was verified then and is not read
 * again, because TCP may hold other octets for it by now (RFC 5044 A.3). It is
 * never the first FPDU of a connection, which lets a Responder send.
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
		.cookie = placed->cookie,
	};

	return conn->ops->receive(conn->consumer, &cur, placed->ulpdu_len);
}

/* The stash, as the buffer in front of TCP's queue. */
static struct sk_buff *stash_first(struct mpa_conn *conn)
{
	struct sk_buff *stash = conn->rx.stash;
	struct sock *sk = conn->sk;

	stash->next = sk->sk_receive_queue.next;
	TCP_SKB_CB(stash)->seq = tcp_sk(sk)->copied_seq - stash->len;
	return stash;
}

/**
 * mpa_rx_head() - point a cursor at the first FPDU that is not consumed
 * @conn: connection in Full Operation
 * @cur: the cursor
 *
 * Context: socket lock held for as long as the cursor is used.
 * Return: octets received from there on.
 */
u32 mpa_rx_head(struct mpa_conn *conn, struct mpa_cursor *cur)
{
	struct sock *sk = conn->sk;
	struct mpa_rx *rx = &conn->rx;
	struct sk_buff *skb;
	u32 off = 0;

	skb = tcp_recv_skb(sk, tcp_sk(sk)->copied_seq, &off);
	if (unlikely(rx->stash)) {
		skb = stash_first(conn);
		off = 0;
	}
	mpa_cursor_init(cur, &sk->sk_receive_queue, skb, off);
	cur->pos = mpa_rx_position(rx);
	cur->markers = rx->markers;
	mpa_cursor_fill(cur);
	return max(tcp_inq(sk), 0) + rx->stash_len;
}

static void stash_free(struct mpa_rx *rx)
{
	if (rx->stash && rx->charged)
		sk_mem_uncharge(rx->charged,
				skb_shinfo(rx->stash)->nr_frags * PAGE_SIZE);
	consume_skb(rx->stash);
	rx->stash = NULL;
	rx->stash_len = 0;
}

/**
 * mpa_rx_consume() - count FPDUs that were delivered, and take them out of
 * TCP's queue
 * @conn: connection
 * @fpdus: FPDUs
 * @octets: octets of them, Markers included
 *
 * Context: socket lock held.
 */
void mpa_rx_consume(struct mpa_conn *conn, u32 fpdus, u32 octets)
{
	struct mpa_rx *rx = &conn->rx;

	mpa_count(conn, MPA_STAT_RX_FPDUS, fpdus);
	mpa_count(conn, MPA_STAT_RX_OCTETS, octets);
	mpa_count(conn, MPA_STAT_RX_PASSES, 1);
	rx->fpdus += fpdus;
	rx->octets += octets;
	rx->tries = 0;
	/* The stash is the beginning of one FPDU, which is consumed now. */
	if (rx->stash_len) {
		octets -= rx->stash_len;
		stash_free(rx);
	}
	if (octets)
		tcp_read_done(conn->sk, octets);
}

/* Append an empty page to the stash. False: no memory. */
static bool stash_grow(struct mpa_rx *rx, gfp_t gfp)
{
	struct page *page = alloc_page(gfp);

	if (!page)
		return false;
	if (!rx->stash)
		rx->stash = alloc_skb(0, gfp);
	if (!rx->stash) {
		__free_page(page);
		return false;
	}
	skb_add_rx_frag(rx->stash, skb_shinfo(rx->stash)->nr_frags, page, 0, 0,
			0);
	return true;
}

/*
 * Charge a page of the stash to the socket: its octets stay in TCP's account.
 * Also beyond TCP's limits, like the segment at the head of an empty queue.
 * Memory may be freed only by the consumer, when it has the whole FPDU.
 */
static void stash_charge(struct mpa_rx *rx)
{
	sk_rmem_schedule(rx->charged, rx->stash, PAGE_SIZE);
	sk_mem_charge(rx->charged, PAGE_SIZE);
}

/*
 * Room behind the stashed octets, or 0 without memory. A program's stash is
 * charged like sent FPDUs, but without softirq's reserves, which would exceed
 * the cgroup's limit, and without the OOM killer: TCP's window stays shut
 * instead.
 */
static u32 stash_room(struct mpa_conn *conn, gfp_t gfp)
{
	u32 used = offset_in_page(conn->rx.stash_len);
	struct mem_cgroup *active;
	bool grown;

	if (used)
		return PAGE_SIZE - used;
	if (conn->memcg) {
		if (!gfpflags_allow_blocking(gfp))
			gfp = GFP_NOWAIT;
		gfp |= __GFP_ACCOUNT | __GFP_NORETRY;
	}
	active = set_active_memcg(conn->memcg);
	grown = stash_grow(&conn->rx, gfp | __GFP_NOWARN);
	set_active_memcg(active);
	if (grown && conn->rx.charged)
		stash_charge(&conn->rx);
	return grown ? PAGE_SIZE : 0;
}

/* Move octets of TCP's queue into the stash's last page, which has room. */
static int stash_append(struct mpa_conn *conn, u32 n)
{
	struct mpa_rx *rx = &conn->rx;
	int last = skb_shinfo(rx->stash)->nr_frags - 1;
	const skb_frag_t *frag = &skb_shinfo(rx->stash)->frags[last];
	struct sock *sk = conn->sk;
	struct mpa_cursor cur;
	struct sk_buff *skb;
	u32 off;
	int ret;

	skb = tcp_recv_skb(sk, tcp_sk(sk)->copied_seq, &off);
	mpa_cursor_init(&cur, &sk->sk_receive_queue, skb, off);
	ret = mpa_cursor_read(&cur, skb_frag_address(frag) +
			      skb_frag_size(frag), n);
	if (ret)
		return ret;
	if (!rx->stash_len)
		mpa_count(conn, MPA_STAT_RX_STASHED, 1);
	skb_coalesce_rx_frag(rx->stash, last, n, n);
	rx->stash_len += n;
	rx->tries = 0;
	tcp_read_done(sk, n);
	return 0;
}

/*
 * TCP's window or its memory is about to shut before the FPDU is complete: take
 * the queued octets out of the queue. RFC 5044 A.5.2 warns of this deadlock.
 * Stash the head first and read the length again from the copy, because a peer
 * on this machine may have changed it.
 * Stash a page at a time: the charge is no more than the queued octets need,
 * and memory that TCP frees for one page can be used for the next.
 * Without memory the caller must arrange another try: it cannot count on a
 * further segment.
 */
static enum mpa_rx_result stash_queued(struct mpa_conn *conn, u32 queued,
				       gfp_t gfp, enum mpa_error *err)
{
	struct mpa_rx *rx = &conn->rx;
	u32 left, n;

	if (rx->stash_len < STASH_HEAD)
		rx->need = STASH_HEAD;
	for (left = min(queued, rx->need - rx->stash_len); left; left -= n) {
		n = min(left, stash_room(conn, gfp));
		if (!n)
			return MPA_RX_NO_MEMORY;
		if (stash_append(conn, n)) {
			*err = MPA_ERR_CRC;	/* as mpa_rx_verify() */
			return MPA_RX_ENDED;
		}
	}
	return MPA_RX_IDLE;
}

/**
 * struct fpdu - the FPDU whose turn it is
 * @wire: octets of it, Markers included
 * @ulpdu_len: octets of its ULPDU, unless @placed
 * @placed: the note when it was placed before its turn, or NULL
 */
struct fpdu {
	u32 wire;
	u32 ulpdu_len;
	struct mpa_placed *placed;
};

/* Find the next FPDU within @avail octets. False: it is not complete. */
static bool next_fpdu(struct mpa_rx *rx, struct mpa_cursor *cur, u32 avail,
		      struct fpdu *fpdu)
{
	mpa_cursor_fill(cur);
	fpdu->placed = NULL;
	if (unlikely(rx->early))
		fpdu->placed = mpa_early_first(rx->early, cur->pos);
	if (unlikely(fpdu->placed))
		fpdu->wire = mpa_early_peek(fpdu->placed, avail, &rx->need);
	else
		fpdu->wire = mpa_rx_peek(cur, avail, &fpdu->ulpdu_len,
					 &rx->need);
	return fpdu->wire;
}

/*
 * Verify an FPDU and hand it up, in one piece or not. Return: as
 * mpa_whole_deliver().
 */
static int deliver_fpdu(struct mpa_delivery *pass, const struct fpdu *fpdu)
{
	struct mpa_conn *conn = pass->conn;
	int ret;

	if (unlikely(fpdu->placed)) {
		trace_mpa_rx_fpdu(conn, fpdu->placed->pos, fpdu->wire,
				  fpdu->placed->ulpdu_len, MPA_ERR_NONE);
		ret = deliver_placed(conn, fpdu->placed);
		if (ret != -EAGAIN)
			mpa_early_forget(conn->rx.early, fpdu->placed);
	} else {
		pass->err = mpa_rx_verify(&conn->rx, &pass->cur, fpdu->wire);
		trace_mpa_rx_fpdu(conn, pass->cur.pos, fpdu->wire,
				  fpdu->ulpdu_len, pass->err);
		if (unlikely(pass->err))
			return -EBADMSG;
		WRITE_ONCE(conn->tx.allowed, true);	/* RFC 5044 7.1.2 rule 4 */
		ret = deliver_queued(conn, &pass->cur, fpdu->ulpdu_len);
	}
	if (unlikely(ret == -EAGAIN))
		return ret;
	mpa_cursor_skip(&pass->cur, fpdu->wire);
	pass->done += fpdu->wire;
	pass->fpdus++;
	return ret;
}

/* Deliver FPDUs up to the next that needs deliver_fpdu(). Return: as above. */
static int deliver_whole(struct mpa_delivery *pass)
{
	const struct mpa_early *early = pass->conn->rx.early;

	/* The fast path has no tracepoint: it would cost even when off. */
	if (unlikely(early && early->num_placed) ||
	    trace_mpa_rx_fpdu_enabled())
		return 0;
	return mpa_whole_deliver(pass);
}

/* What a non-zero return of the consumer means */
static enum mpa_rx_result pass_result(struct mpa_delivery *pass, int ret)
{
	pass->conn->rx.put_off = ret == -EAGAIN;
	return pass->conn->rx.put_off ? MPA_RX_HELD : MPA_RX_ENDED;
}

/* Deliver FPDUs until the queue or the budget is at its end. */
static enum mpa_rx_result deliver_fpdus(struct mpa_delivery *pass)
{
	struct fpdu fpdu;
	int ret;

	for (;;) {
		ret = deliver_whole(pass);
		if (ret)
			return pass_result(pass, ret);
		if (!next_fpdu(&pass->conn->rx, &pass->cur,
			       pass->avail - pass->done, &fpdu))
			return MPA_RX_IDLE;
		if (mpa_delivery_is_over(pass))
			return MPA_RX_MORE;
		ret = deliver_fpdu(pass, &fpdu);
		if (ret)
			return pass_result(pass, ret);
	}
}

static enum mpa_rx_result deliver_all(struct mpa_conn *conn, u32 avail,
				      u32 budget, enum mpa_error *err)
{
	struct mpa_delivery pass = {
		.conn = conn,
		.avail = avail,
		.budget = budget,
	};
	enum mpa_rx_result result;

	mpa_rx_head(conn, &pass.cur);
	result = deliver_fpdus(&pass);
	*err = pass.err;
	/* The ACK that TCP sends below may start early placement. */
	conn->rx.stopped = result == MPA_RX_ENDED;
	if (pass.done) {
		mpa_rx_consume(conn, pass.fpdus, pass.done);
		if (conn->ops->receive_done)
			conn->ops->receive_done(conn->consumer);
	}
	return result;
}

/*
 * Look for a whole FPDU, for a consumer that takes its ULPDUs itself. The first
 * FPDU is verified at once, because it lets a Responder send.
 */
static enum mpa_rx_result hold_fpdu(struct mpa_conn *conn, enum mpa_error *err)
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
		if (*err) {
			trace_mpa_rx_fpdu(conn, cur.pos, wire, ulpdu_len, *err);
			return MPA_RX_ENDED;
		}
		WRITE_ONCE(conn->tx.allowed, true);	/* RFC 5044 7.1.2 rule 4 */
	}
	rx->held = true;
	conn->ops->receive_done(conn->consumer);
	return MPA_RX_HELD;
}

/*
 * Has the consumer put off the next FPDU, and not asked for it since? The
 * segments that come meanwhile cause no verification.
 */
static bool is_put_off(struct mpa_conn *conn)
{
	struct mpa_rx *rx = &conn->rx;

	if (unlikely(rx->put_off) &&
	    test_and_clear_bit(MPA_CONN_AGAIN, &conn->flags))
		rx->put_off = false;
	return rx->put_off;
}

/**
 * mpa_rx_is_for_worker() - would a pass keep TCP's callback for too long?
 * @conn: connection in Full Operation
 *
 * Of a consumer that takes its ULPDUs itself, FPDUs are only looked at, except
 * the first and one that has to be stashed.
 * Context: softirq or process, socket lock held.
 */
bool mpa_rx_is_for_worker(const struct mpa_conn *conn)
{
	const struct sock *sk = conn->sk;
	bool put_off = conn->rx.put_off &&
		       !test_bit(MPA_CONN_AGAIN, &conn->flags);

	if (skb_queue_len(&sk->sk_receive_queue) <= MPA_SOFTIRQ_BUFFERS ||
	    conn->rx.held || put_off)
		return false;
	return conn->ops->receive || !conn->tx.allowed ||
	       tcp_epollin_ready(sk, INT_MAX);
}

/**
 * mpa_rx_pass() - deliver the complete FPDUs in TCP's queue
 * @conn: connection in Full Operation
 * @budget: octets, MPA_FPDU_COST for each FPDU included, after which to stop
 *	and leave the rest to a worker
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
	if (is_put_off(conn))
		return MPA_RX_HELD;
	do {
		avail = tcp_inq(sk) + rx->stash_len;
		if (!avail || avail < rx->need)
			result = MPA_RX_IDLE;
		else
			result = conn->ops->receive ?
				 deliver_all(conn, avail, budget, err) :
				 hold_fpdu(conn, err);
		if (result != MPA_RX_IDLE)
			break;
		avail = tcp_inq(sk);
		if (!tcp_epollin_ready(sk, INT_MAX))
			break;
		result = stash_queued(conn, avail, gfp, err);
	} while (result == MPA_RX_IDLE && tcp_inq(sk) < avail);

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

/*
 * Drop all octets that wait, and the notes of early placement. TCP reports the
 * octets that follow at once, so that none gather.
 */
void mpa_rx_drop_all(struct mpa_conn *conn)
{
	stash_free(&conn->rx);
	mpa_sock_drop_queued(conn->sk);
	conn->rx.held = false;
	WRITE_ONCE(conn->sk->sk_rcvlowat, 1);
	if (conn->rx.early)
		mpa_early_drop(conn->rx.early);
}

void mpa_rx_free(struct mpa_rx *rx)
{
	mpa_early_destroy(rx);
	stash_free(rx);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Early placement: TCP holds out-of-order octets in a tree of buffers. A Marker
 * there points to the start of an FPDU, whose ULPDU_Length gives the start of
 * the next one (RFC 5044 section 6). Each complete FPDU is verified as usual,
 * handed to mpa_consumer_ops.place(), and noted. In its turn it is delivered
 * from the note, without another copy or CRC: the octets that TCP holds for it
 * by then do not matter (Appendix A.3).
 *
 * Early placement may be skipped at any time, when memory or room is missing,
 * because mpa/rx.c delivers each FPDU in its turn. Only mpa/rx.c reports
 * errors, in the order of the stream.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "conn.h"
#include "cursor.h"
#include "fpdu.h"
#include "rx.h"
#include "rx_early.h"
#include "rx_verify.h"
#include "trace.h"

/**
 * mpa_early_create() - prepare early placement
 * @rx: receive direction whose @markers, @crc and @charged are set
 *
 * Without Markers no FPDU is found, and without a CRC none can be trusted.
 * Context: process, socket lock held. Return: whether FPDUs are placed early.
 */
bool mpa_early_create(struct mpa_rx *rx)
{
	if (!rx->markers || !rx->crc)
		return false;
	rx->early = kzalloc(sizeof(*rx->early), GFP_NOIO);
	if (!rx->early)
		return false;
	rx->early->placed = RB_ROOT_CACHED;
	rx->early->charged = rx->charged;
	return true;
}

static void note_free(struct mpa_early *early, struct mpa_placed *placed)
{
	if (early->charged)
		sk_mem_uncharge(early->charged, sizeof(*placed));
	kfree(placed);
}

/* Drop a note: the FPDU was delivered, or never will be. */
void mpa_early_forget(struct mpa_early *early, struct mpa_placed *placed)
{
	rb_erase_cached(&placed->node, &early->placed);
	early->num_placed--;
	note_free(early, placed);
}

static struct mpa_placed *first_placed(const struct mpa_early *early)
{
	return rb_entry_safe(rb_first_cached(&early->placed),
			     struct mpa_placed, node);
}

/* Nothing more will be delivered. Context: socket lock held, or no socket. */
void mpa_early_drop(struct mpa_early *early)
{
	struct mpa_placed *placed;

	while ((placed = first_placed(early)))
		mpa_early_forget(early, placed);
}

void mpa_early_destroy(struct mpa_rx *rx)
{
	if (rx->early)
		mpa_early_drop(rx->early);
	kfree(rx->early);
	rx->early = NULL;
}

/**
 * mpa_early_first() - find the note of the FPDU whose turn it is
 * @early: early placement of the connection
 * @pos: stream position of the FPDU
 *
 * Notes in front of @pos are dropped: those FPDUs were delivered without them.
 * Context: socket lock held. Return: the note, or NULL.
 */
struct mpa_placed *mpa_early_first(struct mpa_early *early, u32 pos)
{
	struct mpa_placed *placed;

	while ((placed = first_placed(early)) && before(placed->pos, pos))
		mpa_early_forget(early, placed);
	return placed && placed->pos == pos ? placed : NULL;
}

/* As mpa_rx_peek(), for a placed FPDU: its octets are not read again. */
u32 mpa_early_peek(const struct mpa_placed *placed, u32 avail, u32 *need)
{
	*need = placed->wire_len;
	return avail < placed->wire_len ? 0 : placed->wire_len;
}

static int placed_compare(const void *key, const struct rb_node *node)
{
	u32 at = rb_entry(node, struct mpa_placed, node)->pos;
	u32 pos = *(const u32 *)key;

	return before(pos, at) ? -1 : pos != at;
}

static bool placed_less(struct rb_node *node, const struct rb_node *other)
{
	return placed_compare(&rb_entry(node, struct mpa_placed, node)->pos,
			      other) < 0;
}

static struct mpa_placed *find_placed(const struct mpa_early *early, u32 pos)
{
	return rb_entry_safe(rb_find(&pos, &early->placed.rb_root,
				     placed_compare),
			     struct mpa_placed, node);
}

/* The out-of-order buffer that holds the octet at @pos, and where in it. */
static struct sk_buff *find_octet(const struct mpa_conn *conn, u32 pos,
				  u32 *off)
{
	struct rb_node *node =
		tcp_sk(conn->sk)->out_of_order_queue.rb_node;
	u32 seq = conn->rx.start + pos;
	struct sk_buff *found = NULL;

	while (node) {
		struct sk_buff *skb = rb_to_skb(node);

		if (before(seq, TCP_SKB_CB(skb)->seq)) {
			node = node->rb_left;
		} else {
			found = skb;
			node = node->rb_right;
		}
	}
	if (!found)
		return NULL;
	*off = seq - TCP_SKB_CB(found)->seq;
	return *off < found->len ? found : NULL;
}

/*
 * Point a cursor at an out-of-order octet. The stash lies in front of all of
 * them. The cursor is valid as long as the socket lock is held.
 */
static bool early_cursor(const struct mpa_conn *conn, struct mpa_cursor *cur,
			 u32 pos)
{
	struct sk_buff *skb;
	u32 off;

	skb = find_octet(conn, pos, &off);
	if (!skb)
		return false;
	mpa_cursor_init(cur, NULL, skb, off);
	cur->pos = pos;
	cur->markers = conn->rx.markers;
	mpa_cursor_fill(cur);
	return true;
}

/**
 * struct early_pass - one pass over the out-of-order octets
 * @conn: connection
 * @left: octets that may still be worked on, MPA_FPDU_COST for each FPDU and
 *	MPA_EARLY_BUFFER_COST for each of its buffers included
 * @buffers: those of the FPDU that was looked at last, beside its first
 * @asked: the consumer was called
 * @placed: FPDUs placed
 */
struct early_pass {
	struct mpa_conn *conn;
	s64 left;
	u32 buffers;
	bool asked;
	u32 placed;
};

/*
 * Count the contiguous octets from the cursor on, up to @max, or somewhat more.
 * The count stops after as many buffers as an honest sender's FPDU may take.
 * Otherwise a peer that sends single octets could have a long list of buffers
 * walked for each of them.
 */
static u32 octets_at(struct early_pass *pass, const struct mpa_cursor *cur,
		     u32 max)
{
	u32 seq = pass->conn->rx.start + cur->pos;
	struct sk_buff *skb = cur->skb;
	u32 end = TCP_SKB_CB(skb)->seq + skb->len;
	unsigned int steps = 0;

	while (end - seq < max && steps++ < MPA_EARLY_BUFFERS) {
		u32 next;

		skb = skb_rb_next(skb);
		if (!skb || after(TCP_SKB_CB(skb)->seq, end))
			break;
		next = TCP_SKB_CB(skb)->seq + skb->len;
		if (after(next, end))
			end = next;
	}
	pass->buffers = steps;
	return end - seq;
}

static void early_give_up(struct mpa_early *early)
{
	early->given_up = true;
	memset(early->islands, 0, sizeof(early->islands));
}

/*
 * A note is charged like the stash, because the peer decides how many there
 * are. When the number of notes, the cgroup or TCP has reached its limit, MPA
 * places nothing early until it has dropped some notes. @skb: holds the FPDU
 */
static struct mpa_placed *note_alloc(const struct mpa_conn *conn,
				     struct sk_buff *skb)
{
	gfp_t gfp = conn->memcg ? GFP_NOWAIT | __GFP_ACCOUNT : GFP_ATOMIC;
	struct mpa_early *early = conn->rx.early;
	struct mem_cgroup *active;
	struct mpa_placed *placed;

	if (early->num_placed >= MPA_EARLY_MAX)
		return NULL;
	if (early->charged &&
	    !sk_rmem_schedule(early->charged, skb, sizeof(*placed)))
		return NULL;
	active = set_active_memcg(conn->memcg);
	placed = kmalloc(sizeof(*placed), gfp | __GFP_NOWARN);
	set_active_memcg(active);
	if (placed && early->charged)
		sk_mem_charge(early->charged, sizeof(*placed));
	return placed;
}

/*
 * Give a verified FPDU to the consumer, and fill in its note, whose lengths are
 * set.
 * Return: whether the consumer placed it; negative when the consumer refuses
 * the peer.
 */
static int place_fpdu(struct early_pass *pass, const struct mpa_cursor *at,
		      struct mpa_placed *placed)
{
	struct mpa_conn *conn = pass->conn;
	struct mpa_early *early = conn->rx.early;
	struct mpa_cursor cur = *at;
	int len;

	mpa_cursor_enter_ulpdu(&cur, placed->ulpdu_len);
	placed->ulpdu_pos = cur.pos;
	cur.cookie = 0;
	pass->asked = true;
	len = conn->ops->place(conn->consumer, &cur, placed->ulpdu_len,
			       placed->hdr);
	if (len <= 0 || WARN_ON_ONCE(len > MPA_PLACED_HDR_MAX))
		return min(len, 0);
	placed->pos = at->pos;
	placed->cookie = cur.cookie;
	placed->hdr_len = len;
	rb_add_cached(&placed->node, &early->placed, placed_less);
	early->num_placed++;
	pass->placed++;
	trace_mpa_rx_early(conn, at->pos, placed->wire_len, placed->ulpdu_len,
			   MPA_ERR_NONE);
	return 1;
}

/*
 * Verify and place the FPDU at @pos, once. Without a note it would be verified
 * again in its turn, so get that first.
 * Return: its octets; 0 when some are missing, there is no note for it, or it
 * is no valid FPDU.
 */
static u32 take_fpdu(struct early_pass *pass, u32 pos)
{
	struct mpa_conn *conn = pass->conn;
	struct mpa_rx *rx = &conn->rx;
	struct mpa_placed *placed = find_placed(rx->early, pos);
	u32 wire, ulpdu_len, need;
	struct mpa_cursor cur;
	int ret;

	if (placed)
		return placed->wire_len;
	if (!early_cursor(conn, &cur, pos))
		return 0;
	/* Get the length first: octets behind the FPDU are not searched. */
	need = MPA_MARKER_LEN + MPA_HDR_LEN;
	wire = mpa_rx_peek(&cur, octets_at(pass, &cur, need), &ulpdu_len,
			   &need);
	if (!wire)
		wire = mpa_rx_peek(&cur, octets_at(pass, &cur, need),
				   &ulpdu_len, &need);
	placed = wire ? note_alloc(conn, cur.skb) : NULL;
	if (!placed)
		return 0;
	placed->wire_len = wire;
	placed->ulpdu_len = ulpdu_len;
	pass->left -= pass->buffers * MPA_EARLY_BUFFER_COST;
	ret = mpa_rx_verify(rx, &cur, wire) ? -EBADMSG :
					      place_fpdu(pass, &cur, placed);
	if (ret <= 0)
		note_free(rx->early, placed);
	if (ret >= 0)
		return wire;
	early_give_up(rx->early);
	return 0;
}

/* The island that has passed @pos, or waits for the FPDU there. */
static struct mpa_island *island_through(struct mpa_early *early, u32 pos)
{
	struct mpa_island *island;

	for (island = early->islands; island < early->islands + MPA_EARLY_ISLANDS; island++)
		if (island->state == MPA_ISLAND_FOLLOW && !before(pos, island->from) &&
		    !after(pos, island->at))
			return island;
	return NULL;
}

/*
 * Look at Markers until one points to an FPDU that starts in the island; the
 * first ones may point to one that started in the gap.
 */
static void island_search(struct early_pass *pass, struct mpa_island *island)
{
	struct mpa_early *early = pass->conn->rx.early;
	struct mpa_cursor cur;
	struct mpa_island *other;
	u32 start, wire;
	__be32 marker;

	for (;; island->at += MPA_MARKER_INTERVAL) {
		if (!early_cursor(pass->conn, &cur, island->at) ||
		    mpa_cursor_read(&cur, &marker, MPA_MARKER_LEN))
			return;
		if (!mpa_marker_find(marker, island->at, &start)) {
			early_give_up(early);
			return;
		}
		if (!before(start, island->start))
			break;
	}
	other = island_through(early, start);
	if (other) {
		if (before(island->start, other->start))
			other->start = island->start;
		island->state = MPA_ISLAND_UNUSED;
		return;
	}
	wire = take_fpdu(pass, start);
	if (!wire)
		return;
	pass->left -= wire + MPA_FPDU_COST;
	island->state = MPA_ISLAND_FOLLOW;
	island->from = start;
	island->at = start + wire;
}

/* Go from FPDU to FPDU. A filled gap joins two islands. */
static void island_follow(struct early_pass *pass, struct mpa_island *island)
{
	struct mpa_early *early = pass->conn->rx.early;
	struct mpa_island *other;
	u32 wire;

	while (pass->left > 0) {
		island->state = MPA_ISLAND_UNUSED;	/* do not find it */
		other = island_through(early, island->at);
		island->state = MPA_ISLAND_FOLLOW;
		if (other) {
			island->at = other->at;
			other->state = MPA_ISLAND_UNUSED;
			continue;
		}
		wire = take_fpdu(pass, island->at);
		if (!wire)
			return;
		pass->left -= wire + MPA_FPDU_COST;
		island->at += wire;
	}
}

/*
 * Begin an island at @start, unless one is known there. It replaces a search
 * that began later in the same octets, before the octets in front arrived.
 */
static void island_add(struct mpa_early *early, u32 start, u32 end)
{
	struct mpa_island *island, *free = NULL;

	for (island = early->islands; island < early->islands + MPA_EARLY_ISLANDS; island++) {
		if (island->state == MPA_ISLAND_UNUSED ||
		    (island->state == MPA_ISLAND_SEARCH &&
		     after(island->start, start) && before(island->start, end)))
			free = island;
		else if (island->start == start)
			return;
	}
	if (!free)
		return;
	free->state = MPA_ISLAND_SEARCH;
	free->start = start;
	free->at = start + mpa_marker_gap(start);
}

/* One begins at each of TCP's SACK blocks; without SACK, at the first gap. */
static void islands_add(struct mpa_conn *conn)
{
	struct tcp_sock *tp = tcp_sk(conn->sk);
	struct sk_buff *first = skb_rb_first(&tp->out_of_order_queue);
	struct mpa_early *early = conn->rx.early;
	u32 zero = conn->rx.start;
	int i;

	if (!tcp_is_sack(tp))
		island_add(early, TCP_SKB_CB(first)->seq - zero,
			   TCP_SKB_CB(tp->ooo_last_skb)->end_seq - zero);
	else
		for (i = 0; i < tp->rx_opt.num_sacks; i++)
			island_add(early, tp->selective_acks[i].start_seq - zero,
				   tp->selective_acks[i].end_seq - zero);
}

/* Drop the islands that are in order by now. */
static void islands_drop(struct mpa_conn *conn)
{
	struct tcp_sock *tp = tcp_sk(conn->sk);
	struct mpa_early *early = conn->rx.early;
	u32 in_order = tp->rcv_nxt - conn->rx.start;
	struct mpa_island *island;

	for (island = early->islands; island < early->islands + MPA_EARLY_ISLANDS; island++)
		if (!after(island->start, in_order))
			island->state = MPA_ISLAND_UNUSED;
}

/**
 * mpa_early_pass() - place FPDUs that TCP holds out of order
 * @conn: connection with rx.early
 * @budget: octets after which to stop; the rest waits for the next pass, or for
 *	its turn
 *
 * Context: softirq or process, socket lock held.
 */
void mpa_early_pass(struct mpa_conn *conn, u32 budget)
{
	struct tcp_sock *tp = tcp_sk(conn->sk);
	struct early_pass pass = { .conn = conn, .left = budget };
	struct mpa_early *early = conn->rx.early;
	struct mpa_island *island;

	if (conn->state != MPA_FULL || conn->rx.stopped || early->given_up ||
	    RB_EMPTY_ROOT(&tp->out_of_order_queue)) {
		early->seen = tp->rcv_ooopack;
		return;
	}
	islands_drop(conn);
	islands_add(conn);
	for (island = early->islands; island < early->islands + MPA_EARLY_ISLANDS; island++) {
		if (island->state == MPA_ISLAND_SEARCH && pass.left > 0)
			island_search(&pass, island);
		if (island->state == MPA_ISLAND_FOLLOW)
			island_follow(&pass, island);
	}
	if (pass.left > 0)
		early->seen = tp->rcv_ooopack;
	mpa_count(conn, MPA_STAT_RX_PLACED_EARLY, pass.placed);
	if (pass.asked && conn->ops->receive_done)
		conn->ops->receive_done(conn->consumer);
}

/*
 * TCP has no callback for out-of-order octets, but it sends ACKs: at once for
 * the first three segments, then at least once per millisecond or per part of
 * the round trip, whichever is shorter. The gap cannot be filled within that
 * time.
 */
static int early_queue_xmit(struct sock *sk, struct sk_buff *skb,
			    struct flowi *fl)
{
	struct mpa_conn *conn = sk->sk_user_data;
	int ret = conn->rx.early->saved_af_ops->queue_xmit(sk, skb, fl);

	if (mpa_early_has_news(conn->rx.early, sk))
		mpa_early_pass(conn, MPA_SOFTIRQ_BUDGET);
	return ret;
}

/**
 * mpa_early_watch_acks() - call mpa_early_pass() when TCP sends an ACK
 * @conn: connection with rx.early, attached
 *
 * Undone by mpa_early_unwatch_acks(). Context: process; socket lock held.
 */
void mpa_early_watch_acks(struct mpa_conn *conn)
{
	struct inet_connection_sock *icsk = inet_csk(conn->sk);
	struct mpa_early *early = conn->rx.early;

	early->saved_af_ops = icsk->icsk_af_ops;
	early->af_ops = *icsk->icsk_af_ops;
	early->af_ops.queue_xmit = early_queue_xmit;
	WRITE_ONCE(icsk->icsk_af_ops, &early->af_ops);
}

/* Stop calling mpa_early_pass(). Context: process; socket lock held. */
void mpa_early_unwatch_acks(struct mpa_conn *conn)
{
	if (conn->rx.early)
		WRITE_ONCE(inet_csk(conn->sk)->icsk_af_ops,
			   conn->rx.early->saved_af_ops);
}

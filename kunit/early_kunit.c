// SPDX-License-Identifier: GPL-2.0
/*
 * Early placement (mpa/early.c): segments arrive in every order in a tree made
 * by hand, as TCP would keep them, and a second opinion says which FPDUs must
 * be in their place.
 */
#include <kunit/test.h>
#include <linux/net.h>
#include <linux/prandom.h>
#include <linux/sizes.h>
#include <net/tcp.h>
#include "buffers.h"
#include "conn.h"
#include "crc_suite.h"
#include "cursor.h"
#include "early.h"
#include "framer.h"
#include "surroundings.h"

#define STREAM_SIZE	16384u
#define MAX_FPDUS	64u
#define SLOT		4096u	/* of the sink, one for each FPDU */
#define HDR		8u	/* octets of each ULPDU that are its header */
#define NO_LIMIT	SZ_1M

/*
 * ULPDUs. Some FPDUs hold no Marker, some begin with one, one holds several.
 * Those in the table of what is refused look like Sends to the consumer.
 */
static const u16 lengths[] = {
	64, 700, 227, 20, 8, 1430, 44, 500, 9, 3000, 490, 128, 1430, 500, 30, 700,
};

#define ALL	((u32)ARRAY_SIZE(lengths))

/**
 * struct env - a connection, its stream, and a consumer with memory
 * @f: how the stream is framed
 * @stream: its octets
 * @bound: index in @stream of each FPDU, and of the end
 * @seq: sequence number of the stream's first octet
 * @conn: connection under test
 * @sink: where the consumer puts payload
 * @refuse: bits of FPDUs that place() does not take
 * @forbid: bits of FPDUs that the peer has no right to
 * @placed: bits of FPDUs that it took
 * @due: bits of FPDUs that had to be placed some time
 * @arrived: which octets of the stream TCP has
 * @got: FPDUs delivered
 * @wrong: what must not happen: order, header or payload
 * @asked: place() calls
 * @batches: receive_done() calls
 * @most_runs: pieces out of order at the same time
 */
struct env {
	struct framer f;
	u8 *stream;
	u32 bound[MAX_FPDUS + 1];
	u32 seq;
	struct mpa_conn *conn;
	u8 *sink;
	u64 refuse;
	u64 forbid;
	u64 placed;
	u64 due;
	u8 *arrived;
	u32 got;
	u32 wrong;
	u32 asked;
	u32 batches;
	u32 most_runs;
};

static bool no_memory;

void *early_kunit_kmalloc(size_t size, gfp_t flags)
{
	return no_memory ? NULL : kmalloc(size, flags);
}

static u8 octet(u32 index, u32 i)
{
	return i ? index * 31 + i * 7 + 1 : index;
}

static bool payload_is_right(const struct env *env, u32 index)
{
	u32 i;

	for (i = HDR; i < lengths[index]; i++)
		if (env->sink[index * SLOT + i] != octet(index, i))
			return false;
	return true;
}

/* The header at the cursor, of any FPDU; its index, or ALL. */
static u32 read_header(struct mpa_cursor *cur, u32 len, u8 *hdr)
{
	u32 i;

	if (mpa_cursor_copy(cur, hdr, HDR) || hdr[0] >= ALL || lengths[hdr[0]] != len)
		return ALL;
	for (i = 0; i < HDR; i++)
		if (hdr[i] != octet(hdr[0], i))
			return ALL;
	return hdr[0];
}

static int consumer_place(void *consumer, struct mpa_cursor *cur, u32 len, u8 *hdr)
{
	struct env *env = consumer;
	u32 index = read_header(cur, len, hdr);

	env->asked++;
	if (index == ALL || index < env->got) {
		env->wrong++;
		return 0;
	}
	if (env->refuse & BIT_ULL(index))
		return 0;
	if (env->forbid & BIT_ULL(index))
		return -EACCES;
	if (mpa_cursor_copy(cur, env->sink + index * SLOT + HDR, len - HDR) ||
	    !payload_is_right(env, index) || (env->placed & BIT_ULL(index)))
		env->wrong++;
	env->placed |= BIT_ULL(index);
	return HDR;
}

static int consumer_receive(void *consumer, struct mpa_cursor *cur, u32 len)
{
	struct env *env = consumer;
	u32 pos = mpa_cursor_position(cur);
	u8 hdr[HDR], more;
	u32 index = read_header(cur, len, hdr);
	bool early = env->placed & BIT_ULL(index);

	/* The position is that of the ULPDU: behind length and Marker. */
	if (index != env->got ||
	    pos - (env->f.pos - env->f.len + env->bound[index]) > 6)
		env->wrong++;
	/* Copies of what is in place must do nothing. */
	if (index < ALL &&
	    (mpa_cursor_copy(cur, early ? NULL : env->sink + index * SLOT + HDR,
			     len - HDR) ||
	     mpa_cursor_copy(cur, &more, 1) != -EMSGSIZE ||
	     !payload_is_right(env, index)))
		env->wrong++;
	env->got++;
	return 0;
}

static void consumer_done(void *consumer)
{
	struct env *env = consumer;

	env->batches++;
}

static const struct mpa_consumer_ops ops = {
	.receive = consumer_receive,
	.place = consumer_place,
	.receive_done = consumer_done,
};

/* ---- TCP, as far as it concerns us ---- */

static void clear_tree(struct rb_root *tree)
{
	struct sk_buff *skb;

	while ((skb = skb_rb_first(tree))) {
		rb_erase(&skb->rbnode, tree);
		kfree_skb(skb);
	}
}

/* SACK blocks: the run with @seq first, then the others. */
static void make_sacks(struct env *env, u32 seq)
{
	struct tcp_sock *tp = tcp_sk(env->conn->sk);
	struct tcp_sack_block runs[MAX_FPDUS];
	u32 n = 0, first = 0, i;
	struct sk_buff *skb;

	for (skb = skb_rb_first(&tp->out_of_order_queue); skb; skb = skb_rb_next(skb)) {
		u32 from = TCP_SKB_CB(skb)->seq, to = from + skb->len;

		if (n && !after(from, runs[n - 1].end_seq)) {
			if (after(to, runs[n - 1].end_seq))
				runs[n - 1].end_seq = to;
		} else if (n < MAX_FPDUS) {
			runs[n].start_seq = from;
			runs[n++].end_seq = to;
		}
		if (!before(seq, runs[n - 1].start_seq))
			first = n - 1;
	}
	env->most_runs = max(env->most_runs, n);
	tp->rx_opt.num_sacks = min(n, 4u);
	for (i = 0; i < n && i < 4; i++)
		tp->selective_acks[i] = runs[(first + i) % n];
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

/* What brings nothing new goes, be it the new one or those it covers. */
static void put_aside(struct env *env, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(env->conn->sk);
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
	make_sacks(env, from);
}

static void in_order(struct env *env, struct sk_buff *skb)
{
	struct sock *sk = env->conn->sk;
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
	make_sacks(env, tp->rcv_nxt);
}

/*
 * A second opinion: an FPDU must be in its place when a contiguous piece
 * behind a gap holds all of it, and also an FPDU with a Marker in it that is
 * this one or, with all between, one before.
 */
static void expect_due(struct env *env, bool exactly)
{
	u32 in_order = tcp_sk(env->conn->sk)->rcv_nxt - env->seq;
	u32 base = env->f.pos - env->f.len, i;
	bool reachable = false;

	for (i = 0; i < ALL; i++) {
		u32 from = env->bound[i], to = env->bound[i + 1], k;
		bool complete = from > in_order;

		for (k = from; k < to; k++)
			complete = complete && env->arrived[k];
		for (k = from; k < to; k++)
			reachable = reachable || (base + k) % 512 == 0;
		reachable = reachable && complete;
		if (reachable && !(env->refuse & BIT_ULL(i)))
			env->due |= BIT_ULL(i);
	}
	if (exactly ? env->placed != env->due : (env->placed & ~env->due) != 0)
		env->wrong++;
}

/* ---- The cases' vocabulary ---- */

static void look(struct env *env, u32 budget)
{
	struct sock *sk = env->conn->sk;

	lock_sock(sk);
	mpa_early_pass(env->conn, budget);
	release_sock(sk);
}

static enum mpa_error deliver(struct env *env)
{
	struct sock *sk = env->conn->sk;
	enum mpa_error err;

	lock_sock(sk);
	mpa_rx_pass(env->conn, NO_LIMIT, GFP_ATOMIC, &err);
	release_sock(sk);
	return err;
}

/* TCP gets octets of the stream, or others in their place. */
static enum mpa_error arrive_as(struct kunit *test, struct env *env, const u8 *octets, u32 from,
				u32 to, enum shape shape)
{
	struct tcp_sock *tp = tcp_sk(env->conn->sk);
	struct sk_buff *skb = buffer_make(test, octets, to - from, shape);

	TCP_SKB_CB(skb)->seq = env->seq + from;
	TCP_SKB_CB(skb)->end_seq = env->seq + to;
	TCP_SKB_CB(skb)->tcp_flags = TCPHDR_ACK;
	memset(env->arrived + from, 1, to - from);
	if (after(TCP_SKB_CB(skb)->seq, tp->rcv_nxt)) {
		put_aside(env, skb);
		return MPA_ERR_NONE;
	}
	in_order(env, skb);
	return deliver(env);
}

static enum mpa_error arrive(struct kunit *test, struct env *env, u32 from, u32 to)
{
	enum mpa_error err = arrive_as(test, env, env->stream + from, from, to,
				       (from ^ to) % NUM_SHAPES);

	look(env, NO_LIMIT);
	return err;
}

static void frame_all(struct env *env, u32 pos)
{
	static u8 ulpdu[SLOT];
	u32 i, k;

	env->f = (struct framer){
		.markers = true, .crc = true, .pos = pos, .out = env->stream, .size = STREAM_SIZE,
	};
	for (i = 0; i < ALL; i++) {
		for (k = 0; k < lengths[i]; k++)
			ulpdu[k] = octet(i, k);
		env->bound[i] = env->f.len;
		framer_put(&env->f, ulpdu, lengths[i]);
	}
	env->bound[ALL] = env->f.len;
}

/* A connection at the stream's first octet, which has stream position @pos. */
static void restart_at(struct kunit *test, struct env *env, u32 pos, u32 window)
{
	struct sock *sk = env->conn->sk;
	struct mpa_rx *rx = &env->conn->rx;
	struct tcp_sock *tp = tcp_sk(sk);

	__skb_queue_purge(&sk->sk_receive_queue);
	clear_tree(&tp->out_of_order_queue);
	mpa_rx_free(rx);
	env->seq = 0x1000;
	*rx = (struct mpa_rx){ .start = env->seq - pos, .markers = true, .crc = true };
	KUNIT_ASSERT_TRUE(test, mpa_early_create(rx));

	env->conn->state = MPA_FULL;
	env->placed = 0;
	env->due = 0;
	env->got = 0;
	env->wrong = 0;
	env->asked = 0;
	env->batches = 0;
	env->most_runs = 0;
	memset(env->arrived, 0, STREAM_SIZE);
	memset(env->sink, 0xee, ALL * SLOT);

	tp->copied_seq = env->seq;
	tp->rcv_nxt = env->seq;
	tp->rcv_wup = env->seq;
	tp->rcv_wnd = window;
	tp->rx_opt.sack_ok = TCP_SACK_SEEN;
	tp->rx_opt.num_sacks = 0;
	inet_csk(sk)->icsk_ack.rcv_mss = TCP_MSS_DEFAULT;
	sk->sk_shutdown = RCV_SHUTDOWN;	/* no window updates to nowhere */
}

static void restart(struct kunit *test, struct env *env)
{
	env->refuse = 0;
	env->forbid = 0;
	frame_all(env, 0);
	restart_at(test, env, 0, SZ_1M);
}

static void expect_all(struct kunit *test, struct env *env, const char *what, u32 which)
{
	KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "%s %u", what, which);
	KUNIT_ASSERT_EQ_MSG(test, env->got, ALL, "%s %u", what, which);
	KUNIT_ASSERT_EQ_MSG(test, env->conn->rx.early->num_placed, 0, "%s %u", what, which);
}

/* ---- Cases ---- */

/* One gap, what is behind it begins at every octet. */
static void rcv_04_ddp_09_run_begins_anywhere(struct kunit *test)
{
	struct env *env = test->priv;
	u32 from;

	for (from = 1; from < env->f.len; from += from % 47 + 1) {
		restart(test, env);
		arrive(test, env, from, env->f.len);
		expect_due(env, true);
		KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "from %u", from);
		KUNIT_ASSERT_EQ(test, env->got, 0);
		KUNIT_ASSERT_EQ(test, env->batches, env->placed ? 1 : 0);
		arrive(test, env, 0, from);
		expect_all(test, env, "from", from);
	}
}

/* Segments one by one behind the gap: each FPDU as soon as it is complete. */
static void segment_by_segment(struct kunit *test, u32 each, bool sack)
{
	struct env *env = test->priv;
	u32 from;

	restart(test, env);
	if (!sack)
		tcp_sk(env->conn->sk)->rx_opt.sack_ok = 0;
	for (from = each; from < env->f.len; from += each) {
		arrive(test, env, from, min(from + each, env->f.len));
		expect_due(env, true);
		KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "%u of %u octets", from, each);
	}
	KUNIT_EXPECT_NE(test, env->placed, 0);
	arrive(test, env, 0, each);
	expect_all(test, env, "segments of", each);
}

static void ddp_09_as_soon_as_complete(struct kunit *test)
{
	u32 each;

	for (each = 29; each < 3000; each += each / 3 + 1)
		segment_by_segment(test, each, true);
}

static void ddp_09_without_sack(struct kunit *test)
{
	u32 each;

	for (each = 100; each < 3000; each += 331)
		segment_by_segment(test, each, false);
}

/* The first octets of the tree come last: each segment is put in front. */
static void rcv_04_from_the_end_to_the_beginning(struct kunit *test)
{
	struct env *env = test->priv;
	u32 each, from;

	for (each = 50; each < 3000; each += each / 3 + 1) {
		restart(test, env);
		for (from = (env->f.len - 1) / each * each; from; from -= each) {
			arrive(test, env, from, min(from + each, env->f.len));
			expect_due(env, true);
			KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "%u of %u octets", from, each);
		}
		arrive(test, env, 0, each);
		expect_all(test, env, "segments of", each);
	}
}

#define SEGMENTS	6u

static u32 factorial(u32 n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}

/* The @which-th of all orders of the segments. */
static void order(u32 which, u32 *out)
{
	bool used[SEGMENTS] = { };
	u32 i, k, skip;

	for (i = 0; i < SEGMENTS; i++) {
		skip = which / factorial(SEGMENTS - 1 - i) % (SEGMENTS - i);
		for (k = 0; used[k] || skip--; k++)
			;
		used[k] = true;
		out[i] = k;
	}
}

/* Every @step-th of all orders. */
static void every_order(struct kunit *test, u32 pos, u32 window, u64 refuse, u32 step)
{
	struct env *env = test->priv;
	u32 which, i, seq[SEGMENTS], each;

	for (which = 0; which < factorial(SEGMENTS); which += step) {
		env->refuse = refuse;
		frame_all(env, pos);
		restart_at(test, env, pos, window);
		order(which, seq);
		each = env->f.len / SEGMENTS + 1;
		for (i = 0; i < SEGMENTS; i++) {
			u32 from = seq[i] * each;

			arrive(test, env, from, min(from + each, env->f.len));
			expect_due(env, true);
			KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "order %u, step %u", which, i);
		}
		expect_all(test, env, "order", which);
	}
}

static void rcv_04_ddp_09_every_order(struct kunit *test)
{
	every_order(test, 0, SZ_1M, 0, 1);
}

static void mrk_09_rcv_04_every_order_across_the_wrap(struct kunit *test)
{
	every_order(test, 0u - 5120, SZ_1M, 0, 7);
}

/* What the consumer refuses is delivered as ever; what follows is placed. */
static void ddp_09_refused_ones_between(struct kunit *test)
{
	every_order(test, 0, SZ_1M, 0x5a6c, 5);
}

/* RCV-06: TCP's window is shut, and what is incomplete is copied out. */
static void rcv_06_every_order_window_shut(struct kunit *test)
{
	every_order(test, 0, 0, 0, 7);
}

/* Random segments that overlap, with all of them present more than once. */
static void overlaps(struct kunit *test, u32 seed)
{
	struct env *env = test->priv;
	u32 from, len, steps = 0;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, seed);
	restart(test, env);
	env->refuse = prandom_u32_state(&rnd) & prandom_u32_state(&rnd);
	while (env->got < ALL && steps++ < 2000) {
		len = prandom_u32_state(&rnd) % 1500 + 1;
		from = prandom_u32_state(&rnd) % env->f.len;
		/* Retransmissions from below, sooner or later. */
		if (steps % 8 == 0)
			from = tcp_sk(env->conn->sk)->rcv_nxt - env->seq;
		arrive(test, env, from, min(from + len, env->f.len));
		expect_due(env, env->most_runs <= 4);
		KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "seed %u, step %u", seed, steps);
	}
	expect_all(test, env, "seed", seed);
}

static void rcv_05_overlapping_segments(struct kunit *test)
{
	u32 seed;

	for (seed = 1; seed <= 60; seed++)
		overlaps(test, seed);
}

/* Other octets for what is in its place: they are never looked at. */
static void rcv_05_duplicates_with_other_octets(struct kunit *test)
{
	struct env *env = test->priv;
	u8 *other = kunit_kzalloc(test, STREAM_SIZE, GFP_KERNEL);
	u32 shape, from = env->bound[1];

	KUNIT_ASSERT_NOT_NULL(test, other);
	memset(other, 0x55, STREAM_SIZE);
	for (shape = 0; shape < NUM_SHAPES; shape++) {
		restart(test, env);
		/* Without the last octet, so that a longer one takes its place. */
		arrive(test, env, from, env->f.len - 1);
		expect_due(env, true);
		KUNIT_EXPECT_EQ(test, env->placed, GENMASK_ULL(ALL - 2, 1));
		memcpy(other + env->bound[ALL - 1], env->stream + env->bound[ALL - 1],
		       env->f.len - env->bound[ALL - 1]);
		arrive_as(test, env, other + from, from, env->f.len, shape);
		look(env, NO_LIMIT);
		KUNIT_EXPECT_EQ(test, arrive(test, env, 0, from), MPA_ERR_NONE);
		expect_all(test, env, "shape", shape);
	}
}

/* TCP may throw away what it holds out of order: it comes again. */
static void rcv_05_thrown_away_and_sent_again(struct kunit *test)
{
	struct env *env = test->priv;
	struct tcp_sock *tp = tcp_sk(env->conn->sk);
	u32 from = env->bound[3], to = env->bound[9], each = 333, at;

	arrive(test, env, from, to);
	KUNIT_EXPECT_NE(test, env->placed, 0);
	clear_tree(&tp->out_of_order_queue);
	tp->rx_opt.num_sacks = 0;
	memset(env->stream + env->bound[5], 0x77, to - env->bound[5]);
	for (at = 0; at < env->f.len; at += each)
		KUNIT_ASSERT_EQ(test, arrive(test, env, at, min(at + each, env->f.len)),
				MPA_ERR_NONE);
	expect_all(test, env, "each", each);
}

/* A bad CRC out of order is no error: that is said in its turn. */
static void crc_08_err_02_bad_crc_out_of_order(struct kunit *test)
{
	struct env *env = test->priv;
	u32 bad;

	for (bad = 1; bad < ALL; bad++) {
		restart(test, env);
		env->stream[env->bound[bad + 1] - 6] ^= 0x10;
		arrive(test, env, 40, env->f.len);
		expect_due(env, false);
		KUNIT_EXPECT_EQ_MSG(test, env->placed & ~GENMASK_ULL(bad - 1, 0), 0,
				    "FPDU %u", bad);
		KUNIT_EXPECT_EQ(test, arrive(test, env, 0, 40), MPA_ERR_CRC);
		KUNIT_EXPECT_EQ_MSG(test, env->got, bad, "FPDU %u", bad);
		KUNIT_EXPECT_EQ(test, env->wrong, 0);
		KUNIT_EXPECT_EQ(test, env->conn->rx.early->num_placed, 0);
	}
}

/* Every Marker, every pointer: no octet of something else is ever placed. */
static void mrk_13_rcv_04_markers_that_lie(struct kunit *test)
{
	struct env *env = test->priv;
	u32 at, ptr;

	for (at = 512; at < env->f.len; at += 512)
		for (ptr = 0; ptr < 0x10000; ptr = ptr * 3 / 2 + 4) {
			restart(test, env);
			if ((ptr & 0xfffc) == ((env->stream[at + 2] << 8 | env->stream[at + 3]) &
					       0xfffc))
				continue;
			env->stream[at + 2] = ptr >> 8;
			env->stream[at + 3] = ptr;
			arrive(test, env, 500, env->f.len);
			expect_due(env, false);
			/* The CRC covers the Marker. */
			KUNIT_ASSERT_EQ(test, arrive(test, env, 0, 500), MPA_ERR_CRC);
			KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "Marker %u, pointer %u", at, ptr);
		}
}

/* Random damage, random arrival: what is delivered or placed is right. */
static void rcv_01_fuzz(struct kunit *test)
{
	struct env *env = test->priv;
	u32 seed, n, from, len;
	struct rnd_state rnd;

	for (seed = 1; seed <= 200; seed++) {
		prandom_seed_state(&rnd, seed);
		restart(test, env);
		for (n = prandom_u32_state(&rnd) % 4; n; n--) {
			/* Half of it hits lengths and Markers. */
			u32 at = prandom_u32_state(&rnd) % env->f.len;

			if (n % 2)
				at = min(at / 512 * 512 + at % 8, env->f.len - 1);
			env->stream[at] = prandom_u32_state(&rnd);
		}
		for (n = 0; n < 200 && !env->conn->rx.stopped; n++) {
			len = prandom_u32_state(&rnd) % 2000 + 1;
			from = prandom_u32_state(&rnd) % env->f.len;
			if (n % 8 == 7)
				from = tcp_sk(env->conn->sk)->rcv_nxt - env->seq;
			if (from >= env->f.len)
				break;
			arrive(test, env, from, min(from + len, env->f.len));
			expect_due(env, false);
			KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "seed %u, step %u", seed, n);
		}
	}
}

/* Gaps that open and close, more of them than there are runs. */
static void ddp_09_gap_after_gap(struct kunit *test)
{
	struct env *env = test->priv;
	u32 at, each = 310;

	for (at = 0; at < env->f.len; at += 2 * each) {
		u32 gap_end = min(at + each, env->f.len);

		if (gap_end < env->f.len)
			arrive(test, env, gap_end, min(gap_end + each, env->f.len));
		expect_due(env, true);
		KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "gap at %u", at);
		arrive(test, env, at, gap_end);
	}
	KUNIT_EXPECT_GT(test, at / (2 * each), MPA_EARLY_RUNS);
	expect_all(test, env, "each", each);
}

/* An error in the gap: what was placed behind it is forgotten. */
static void err_05_bad_crc_in_the_gap(struct kunit *test)
{
	struct env *env = test->priv;

	env->stream[env->bound[2] + 20] ^= 1;
	arrive(test, env, env->bound[3], env->f.len);
	expect_due(env, true);
	KUNIT_EXPECT_GT(test, env->conn->rx.early->num_placed, 0);
	KUNIT_EXPECT_EQ(test, arrive(test, env, 0, env->bound[3]), MPA_ERR_CRC);
	KUNIT_EXPECT_EQ(test, env->got, 2);
	KUNIT_EXPECT_EQ(test, env->wrong, 0);
	KUNIT_EXPECT_EQ(test, env->conn->rx.early->num_placed, 0);
}

/*
 * A peer that may not do what it asks for is asked for nothing more, and the
 * pass ends as any other: the consumer has to let go of what it looked up.
 */
static void ddp_09_one_wrong_guess(struct kunit *test)
{
	struct env *env = test->priv;
	u32 half = env->bound[ALL / 2];

	env->forbid = ~0ULL;
	arrive(test, env, 40, half);
	KUNIT_EXPECT_EQ(test, env->asked, 1);
	KUNIT_EXPECT_EQ(test, env->batches, 1);
	arrive(test, env, half, env->f.len);
	KUNIT_EXPECT_EQ(test, env->asked, 1);
	KUNIT_EXPECT_EQ(test, env->placed, 0);
	arrive(test, env, 0, 40);
	expect_all(test, env, "from", 40);
}

/* An FPDU in single octets is not looked for, and waits for its turn. */
static void ddp_09_too_many_pieces(struct kunit *test)
{
	struct env *env = test->priv;
	u32 longest = 9, first = env->bound[longest], end = env->bound[longest + 1], at;

	KUNIT_ASSERT_GT(test, end - first, MPA_EARLY_BUFFERS);
	arrive(test, env, env->bound[longest - 1], first);
	for (at = first; at < end; at++)
		arrive(test, env, at, at + 1);
	arrive(test, env, end, env->f.len);
	KUNIT_EXPECT_FALSE(test, env->placed & BIT_ULL(longest));
	arrive(test, env, 0, env->bound[longest - 1]);
	expect_all(test, env, "FPDU", longest);
}

static void no_memory_for_notes(struct kunit *test)
{
	struct env *env = test->priv;

	no_memory = true;
	arrive(test, env, 1000, env->f.len);
	no_memory = false;
	KUNIT_EXPECT_EQ(test, env->placed, 0);
	arrive(test, env, 0, 1000);
	expect_all(test, env, "from", 1000);
}

static void a_pass_has_a_budget(struct kunit *test)
{
	struct env *env = test->priv;
	u32 passes;

	arrive_as(test, env, env->stream + 40, 40, env->f.len, FRAGS);
	for (passes = 1; mpa_early_has_news(env->conn->rx.early, env->conn->sk);
	     passes++) {
		look(env, 1);
		KUNIT_ASSERT_LE(test, hweight64(env->placed), passes);
	}
	expect_due(env, true);
	KUNIT_EXPECT_GT(test, passes, ALL / 2);
	arrive(test, env, 0, 40);
	expect_all(test, env, "passes", passes);
}

/* The counter that an administrator sees. */
static void placed_ones_are_counted(struct kunit *test)
{
	struct env *env = test->priv;
	u64 *count = per_cpu_ptr(env->conn->mib->v, 0) + MPA_STAT_RX_PLACED_EARLY;

	arrive(test, env, 40, env->f.len);
	KUNIT_EXPECT_EQ(test, *count, hweight64(env->placed));
	KUNIT_EXPECT_GT(test, *count, 0);
}

static void crc_off_or_markers_off(struct kunit *test)
{
	struct mpa_rx without_crc = { .markers = true };
	struct mpa_rx without_markers = { .crc = true };

	KUNIT_EXPECT_FALSE(test, mpa_early_create(&without_crc));
	KUNIT_EXPECT_FALSE(test, mpa_early_create(&without_markers));
}

/* After the end of the receive direction nothing is placed any more. */
static void err_05_nothing_after_an_end(struct kunit *test)
{
	struct env *env = test->priv;

	env->conn->rx.stopped = true;
	arrive_as(test, env, env->stream + 40, 40, env->f.len, LINEAR);
	look(env, NO_LIMIT);
	KUNIT_EXPECT_EQ(test, env->placed, 0);

	restart(test, env);
	env->conn->state = MPA_ENDED;
	arrive_as(test, env, env->stream + 40, 40, env->f.len, LINEAR);
	look(env, NO_LIMIT);
	KUNIT_EXPECT_EQ(test, env->placed, 0);
}

static int early_init(struct kunit *test)
{
	struct env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	struct mpa_conn *conn = kunit_kzalloc(test, sizeof(*conn), GFP_KERNEL);
	int ret;

	if (!env || !conn)
		return -ENOMEM;
	env->stream = kunit_kzalloc(test, STREAM_SIZE, GFP_KERNEL);
	env->arrived = kunit_kzalloc(test, STREAM_SIZE, GFP_KERNEL);
	env->sink = kunit_kzalloc(test, ALL * SLOT, GFP_KERNEL);
	if (!env->stream || !env->arrived || !env->sink)
		return -ENOMEM;
	ret = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &conn->sock);
	if (ret)
		return ret;
	conn->sk = conn->sock->sk;
	conn->mib = alloc_percpu(struct mpa_mib);
	if (!conn->mib) {
		sock_release(conn->sock);
		return -ENOMEM;
	}
	conn->ops = &ops;
	conn->consumer = env;
	env->conn = conn;
	test->priv = env;
	restart(test, env);
	return 0;
}

static void early_exit(struct kunit *test)
{
	struct env *env = test->priv;

	if (!env)
		return;
	mpa_rx_free(&env->conn->rx);
	free_percpu(env->conn->mib);
	__skb_queue_purge(&env->conn->sk->sk_receive_queue);
	clear_tree(&tcp_sk(env->conn->sk)->out_of_order_queue);
	sock_release(env->conn->sock);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(rcv_04_ddp_09_run_begins_anywhere),
	KUNIT_CASE(ddp_09_as_soon_as_complete),
	KUNIT_CASE(ddp_09_without_sack),
	KUNIT_CASE(rcv_04_from_the_end_to_the_beginning),
	KUNIT_CASE(rcv_04_ddp_09_every_order),
	KUNIT_CASE(mrk_09_rcv_04_every_order_across_the_wrap),
	KUNIT_CASE(ddp_09_refused_ones_between),
	KUNIT_CASE(rcv_06_every_order_window_shut),
	KUNIT_CASE(rcv_05_overlapping_segments),
	KUNIT_CASE(rcv_05_duplicates_with_other_octets),
	KUNIT_CASE(rcv_05_thrown_away_and_sent_again),
	KUNIT_CASE(crc_08_err_02_bad_crc_out_of_order),
	KUNIT_CASE(mrk_13_rcv_04_markers_that_lie),
	KUNIT_CASE(rcv_01_fuzz),
	KUNIT_CASE(ddp_09_gap_after_gap),
	KUNIT_CASE(err_05_bad_crc_in_the_gap),
	KUNIT_CASE(ddp_09_one_wrong_guess),
	KUNIT_CASE(ddp_09_too_many_pieces),
	KUNIT_CASE(no_memory_for_notes),
	KUNIT_CASE(a_pass_has_a_budget),
	KUNIT_CASE(placed_ones_are_counted),
	KUNIT_CASE(crc_off_or_markers_off),
	KUNIT_CASE(err_05_nothing_after_an_end),
	{}
};

static struct kunit_suite suite = {
	.name = "mpa_early",
	.suite_init = crc_suite_init,
	.suite_exit = crc_suite_exit,
	.init = early_init,
	.exit = early_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);

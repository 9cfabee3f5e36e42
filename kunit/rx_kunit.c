// SPDX-License-Identifier: GPL-2.0
/*
 * Whole-FPDU receive (mpa/rx.c over mpa/verify.c and mpa/cursor.c) on receive
 * queues made by hand: linear buffers, fragments, fragment lists, overlaps,
 * cuts at every octet.
 */
#include <kunit/test.h>
#include <linux/net.h>
#include <linux/sizes.h>
#include <net/tcp.h>
#include "buffers.h"
#include "conn.h"
#include "crc.h"
#include "cursor.h"
#include "framer.h"
#include "surroundings.h"
#include "verify.h"

#define STREAM_SIZE	8192u

/*
 * With Markers: FPDUs that end right before a Marker, that have one before
 * the CRC field, that begin with one, and several in one.
 */
static const u16 lengths[] = { 42, 0, 1, 2, 3, 402, 4, 500, 494, 1442, 64, 998, 18, 5 };

static u8 ulpdu_octet(u32 index, u32 i)
{
	return index * 31 + i * 7 + 1;
}

/**
 * struct rx_env - a stream, and a queue that holds it
 * @f: the stream and how it is framed
 * @stream: its octets
 * @queue: stands for TCP's receive queue
 * @rx: receive direction under test
 * @start: sequence number of the stream's first octet
 */
struct rx_env {
	struct framer f;
	u8 *stream;
	struct sk_buff_head queue;
	struct mpa_rx rx;
	u32 start;
};

static void put_all(struct kunit *test, struct rx_env *env, bool markers, bool crc, u32 pos)
{
	u8 *ulpdu = kunit_kzalloc(test, 2048, GFP_KERNEL);
	u32 i, k;

	KUNIT_ASSERT_NOT_NULL(test, ulpdu);
	env->f = (struct framer){
		.markers = markers, .crc = crc, .pos = pos, .out = env->stream, .size = STREAM_SIZE,
	};
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		for (k = 0; k < lengths[i]; k++)
			ulpdu[k] = ulpdu_octet(i, k);
		framer_put(&env->f, ulpdu, lengths[i]);
	}
	kunit_kfree(test, ulpdu);
	env->rx = (struct mpa_rx){ .markers = markers, .crc = crc };
}

static struct rx_env *env_create(struct kunit *test)
{
	struct rx_env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, env);
	env->stream = kunit_kzalloc(test, STREAM_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, env->stream);
	__skb_queue_head_init(&env->queue);
	return env;
}

/* Queue the stream's octets from @from to @to. */
static void feed(struct kunit *test, struct rx_env *env, struct sk_buff_head *queue, u32 from,
		 u32 to, enum shape shape)
{
	struct sk_buff *skb = buffer_make(test, env->stream + from, to - from, shape);

	TCP_SKB_CB(skb)->seq = env->start + from;
	TCP_SKB_CB(skb)->end_seq = env->start + to;
	TCP_SKB_CB(skb)->tcp_flags = TCPHDR_ACK;
	__skb_queue_tail(queue, skb);
}

static void cursor_at(struct rx_env *env, struct mpa_cursor *cur, u32 pos)
{
	mpa_cursor_init(cur, &env->queue, skb_peek(&env->queue), 0);
	cur->pos = pos;
	cur->markers = env->rx.markers;
}

/* The ULPDU at the cursor, copied piece by piece. */
static bool ulpdu_matches(struct mpa_cursor *cur, u32 index, u32 len, u32 piece)
{
	static u8 buf[2048];
	u32 i, n, done;

	if (len != lengths[index])
		return false;
	for (done = 0; done < len; done += n) {
		n = min3(piece, len - done, (u32)sizeof(buf));
		if (mpa_cursor_copy(cur, buf, n))
			return false;
		for (i = 0; i < n; i++)
			if (buf[i] != ulpdu_octet(index, done + i))
				return false;
	}
	return mpa_cursor_copy(cur, buf, 1) == -EMSGSIZE;
}

/* Walk the queue as mpa_rx_pass() does; the number of FPDUs that are right. */
static u32 walk(struct rx_env *env, u32 pos, u32 piece)
{
	u32 left = env->f.len, index, len, need, wire, head;
	struct mpa_cursor cur, ulpdu;

	cursor_at(env, &cur, pos);
	for (index = 0; index < ARRAY_SIZE(lengths); index++) {
		wire = mpa_rx_peek(&cur, left, &len, &need);
		if (!wire || mpa_rx_verify(&env->rx, &cur, wire))
			break;
		ulpdu = cur;
		head = env->rx.markers && cur.pos % 512 == 0 ? 6 : 2;
		if (mpa_cursor_read(&ulpdu, NULL, head))
			break;
		ulpdu.ulpdu_left = len;
		if (!ulpdu_matches(&ulpdu, index, len, piece))
			break;
		if (mpa_cursor_read(&cur, NULL, wire))
			break;
		left -= wire;
	}
	return left ? 0 : index;
}

#define ALL	((u32)ARRAY_SIZE(lengths))

static void cut_in_two(struct kunit *test, enum shape shape, bool markers, u32 step)
{
	struct rx_env *env = env_create(test);
	u32 cut, good;

	put_all(test, env, markers, true, 0);
	for (cut = 1; cut < env->f.len; cut += step) {
		feed(test, env, &env->queue, 0, cut, shape);
		feed(test, env, &env->queue, cut, env->f.len, shape);
		good = walk(env, 0, 61);
		__skb_queue_purge(&env->queue);
		KUNIT_ASSERT_EQ_MSG(test, good, ALL, "cut at %u, Markers %d", cut, markers);
	}
}

static void rcv_03_cut_linear(struct kunit *test)
{
	cut_in_two(test, LINEAR, false, 1);
	cut_in_two(test, LINEAR, true, 1);
}

static void rcv_03_cut_frags(struct kunit *test)
{
	cut_in_two(test, FRAGS, false, 7);
	cut_in_two(test, FRAGS, true, 3);
}

static void rcv_03_cut_empty_head(struct kunit *test)
{
	cut_in_two(test, EMPTY_HEAD, false, 7);
	cut_in_two(test, EMPTY_HEAD, true, 3);
}

static void rcv_03_cut_frag_list(struct kunit *test)
{
	cut_in_two(test, FRAG_LIST, false, 7);
	cut_in_two(test, FRAG_LIST, true, 3);
}

/* Buffers of @each octets, of changing shapes, each repeating @overlap. */
static void many_buffers(struct kunit *test, u32 each, u32 overlap, bool markers)
{
	struct rx_env *env = env_create(test);
	u32 from, back, i = 0;

	put_all(test, env, markers, true, 0);
	for (from = 0; from < env->f.len; from += each) {
		back = min(from, overlap);
		feed(test, env, &env->queue, from - back, min(from + each, env->f.len),
		     each < 16 ? LINEAR : i++ % NUM_SHAPES);
	}
	KUNIT_EXPECT_EQ_MSG(test, walk(env, 0, 64), ALL, "%u octets, overlap %u", each, overlap);
	__skb_queue_purge(&env->queue);
}

static void rcv_03_single_octets(struct kunit *test)
{
	many_buffers(test, 1, 0, false);
	many_buffers(test, 1, 0, true);
}

static void rcv_03_many_buffers(struct kunit *test)
{
	u32 each;

	for (each = 2; each < 1600; each += each / 4 + 1) {
		many_buffers(test, each, 0, false);
		many_buffers(test, each, 0, true);
	}
}

static void rcv_05_overlapping_buffers(struct kunit *test)
{
	static const u32 overlaps[] = { 1, 2, 3, 4, 17, 100, 513, 3000 };
	int i;

	for (i = 0; i < ARRAY_SIZE(overlaps); i++) {
		many_buffers(test, 16, overlaps[i], true);
		many_buffers(test, 700, overlaps[i], true);
		many_buffers(test, 701, overlaps[i], false);
	}
}

/* A buffer that brings nothing new between two that do. */
static void rcv_05_contained_buffer(struct kunit *test)
{
	struct rx_env *env = env_create(test);

	put_all(test, env, true, true, 0);
	feed(test, env, &env->queue, 0, 1000, FRAGS);
	feed(test, env, &env->queue, 200, 1000, LINEAR);
	feed(test, env, &env->queue, 300, 600, EMPTY_HEAD);
	feed(test, env, &env->queue, 900, 900, LINEAR);
	feed(test, env, &env->queue, 990, env->f.len, FRAG_LIST);
	KUNIT_EXPECT_EQ(test, walk(env, 0, 64), ALL);
	__skb_queue_purge(&env->queue);
}

static void mrk_09_sequence_wrap(struct kunit *test)
{
	struct rx_env *env = env_create(test);
	u32 back;

	for (back = 512; back <= 2048; back += 512) {
		put_all(test, env, true, true, 0u - back);
		env->start = 0u - 300;
		feed(test, env, &env->queue, 0, 250, LINEAR);
		feed(test, env, &env->queue, 200, 350, FRAGS);
		feed(test, env, &env->queue, 340, env->f.len, EMPTY_HEAD);
		KUNIT_EXPECT_EQ_MSG(test, walk(env, 0u - back, 64), ALL, "%u before the wrap",
				    back);
		__skb_queue_purge(&env->queue);
	}
}

/* Pieces of every size across Markers and buffers. */
static void mrk_12_copy_in_pieces(struct kunit *test)
{
	struct rx_env *env = env_create(test);
	u32 piece;

	put_all(test, env, true, true, 0);
	feed(test, env, &env->queue, 0, 513, FRAGS);
	feed(test, env, &env->queue, 513, 514, LINEAR);
	feed(test, env, &env->queue, 514, env->f.len, FRAG_LIST);
	for (piece = 1; piece <= 64; piece++)
		KUNIT_EXPECT_EQ_MSG(test, walk(env, 0, piece), ALL, "%u octets", piece);
	__skb_queue_purge(&env->queue);
}

static void rcv_02_peek_wants_what_is_missing(struct kunit *test)
{
	struct rx_env *env = env_create(test);
	u32 avail, ulpdu_len, need, wire;
	struct mpa_cursor cur;

	put_all(test, env, true, true, 0);
	feed(test, env, &env->queue, 0, 2000, FRAGS);
	cursor_at(env, &cur, 0);
	/* Marker, ULPDU_Length, 42 octets, CRC field */
	for (avail = 0; avail < 60; avail++) {
		wire = mpa_rx_peek(&cur, avail, &ulpdu_len, &need);
		KUNIT_EXPECT_EQ_MSG(test, wire, avail < 52 ? 0 : 52, "%u octets", avail);
		KUNIT_EXPECT_EQ_MSG(test, need, avail < 6 ? 6 : 52, "%u octets", avail);
	}
	KUNIT_EXPECT_EQ(test, ulpdu_len, 42);
	KUNIT_EXPECT_EQ(test, mpa_cursor_read(&cur, NULL, 52), 0);
	KUNIT_EXPECT_EQ(test, mpa_rx_peek(&cur, 1, &ulpdu_len, &need), 0);
	KUNIT_EXPECT_EQ(test, need, 2);
	__skb_queue_purge(&env->queue);
}

/* The longest FPDU that ULPDU_Length can announce asks for all of it. */
static void rcv_02_largest_length(struct kunit *test)
{
	struct rx_env *env = env_create(test);
	u32 ulpdu_len, need;
	struct mpa_cursor cur;

	memset(env->stream, 0xff, 64);
	env->rx = (struct mpa_rx){ .crc = true };
	feed(test, env, &env->queue, 0, 64, LINEAR);
	cursor_at(env, &cur, 0);
	KUNIT_EXPECT_EQ(test, mpa_rx_peek(&cur, 64, &ulpdu_len, &need), 0);
	KUNIT_EXPECT_EQ(test, need, 2 + 65535 + 3 + 4);
	__skb_queue_purge(&env->queue);
}

static void cursor_ends_at_the_queues_end(struct kunit *test)
{
	struct rx_env *env = env_create(test);
	struct mpa_cursor cur;
	u8 octet;

	put_all(test, env, false, true, 0);
	cursor_at(env, &cur, 0);
	KUNIT_EXPECT_EQ(test, mpa_cursor_read(&cur, &octet, 1), -ENODATA);
	feed(test, env, &env->queue, 0, 10, FRAGS);
	cursor_at(env, &cur, 0);
	KUNIT_EXPECT_EQ(test, mpa_cursor_read(&cur, NULL, 10), 0);
	KUNIT_EXPECT_EQ(test, mpa_cursor_read(&cur, &octet, 1), -ENODATA);
	__skb_queue_purge(&env->queue);
}

/*
 * One FPDU to be damaged, at Figure 6's place: 20 octets, a Marker, the rest
 * of 39 octets of ULPDU, 3 octets of pad.
 */
static struct rx_env *single_create(struct kunit *test, bool crc)
{
	struct rx_env *env = env_create(test);
	u8 ulpdu[39];

	memset(ulpdu, 0x5a, sizeof(ulpdu));
	env->f = (struct framer){
		.markers = true, .crc = crc, .pos = 0x1ec, .out = env->stream, .size = STREAM_SIZE,
	};
	env->rx = (struct mpa_rx){ .markers = true, .crc = crc };
	KUNIT_ASSERT_EQ(test, framer_put(&env->f, ulpdu, sizeof(ulpdu)), 52);
	return env;
}

static enum mpa_error verdict(struct kunit *test, struct rx_env *env, enum shape shape)
{
	struct mpa_cursor cur;
	enum mpa_error err;

	feed(test, env, &env->queue, 0, env->f.len, shape);
	cursor_at(env, &cur, 0x1ec);
	err = mpa_rx_verify(&env->rx, &cur, env->f.len);
	__skb_queue_purge(&env->queue);
	return err;
}

static void crc_08_every_changed_bit(struct kunit *test)
{
	struct rx_env *env = single_create(test, true);
	u32 bit;

	for (bit = 0; bit < 8 * env->f.len; bit++) {
		env->stream[bit / 8] ^= 1 << bit % 8;
		KUNIT_EXPECT_EQ_MSG(test, verdict(test, env, bit % NUM_SHAPES), MPA_ERR_CRC,
				    "bit %u", bit);
		env->stream[bit / 8] ^= 1 << bit % 8;
	}
	KUNIT_EXPECT_EQ(test, verdict(test, env, FRAG_LIST), MPA_ERR_NONE);
}

/* With CRC off only the Marker's pointer matters: FRM-05, MRK-01, MRK-02. */
static void frm_05_mrk_13_without_crc(struct kunit *test)
{
	struct rx_env *env = single_create(test, false);
	u32 bit;

	for (bit = 0; bit < 8 * env->f.len; bit++) {
		u32 octet = bit / 8;
		bool pointer = octet == 22 || (octet == 23 && bit % 8 >= 2);

		env->stream[octet] ^= 1 << bit % 8;
		KUNIT_EXPECT_EQ_MSG(test, verdict(test, env, bit % NUM_SHAPES),
				    pointer ? MPA_ERR_MARKER : MPA_ERR_NONE, "bit %u", bit);
		env->stream[octet] ^= 1 << bit % 8;
	}
}

static void mrk_13_wrong_pointer_under_a_good_crc(struct kunit *test)
{
	struct rx_env *env = single_create(test, true);

	env->stream[23] = 0x18;
	KUNIT_EXPECT_EQ(test, verdict(test, env, LINEAR), MPA_ERR_CRC);
	framer_seal(&env->f);
	KUNIT_EXPECT_EQ(test, verdict(test, env, LINEAR), MPA_ERR_MARKER);
	env->stream[23] = 0;
	framer_seal(&env->f);
	KUNIT_EXPECT_EQ(test, verdict(test, env, FRAGS), MPA_ERR_MARKER);
}

static void frm_04_mrk_01_mrk_02_what_is_ignored(struct kunit *test)
{
	struct rx_env *env = single_create(test, true);

	env->stream[20] = 0xff;	/* Marker: reserved */
	env->stream[21] = 0xff;
	env->stream[23] |= 3;	/* Marker: low bits */
	env->stream[47] = 0xee;	/* pad, the last octet before the CRC field */
	KUNIT_EXPECT_EQ(test, verdict(test, env, LINEAR), MPA_ERR_CRC);
	framer_seal(&env->f);
	KUNIT_EXPECT_EQ(test, verdict(test, env, LINEAR), MPA_ERR_NONE);
	KUNIT_EXPECT_EQ(test, verdict(test, env, EMPTY_HEAD), MPA_ERR_NONE);
}

/**
 * struct pass_env - a connection over a socket whose queue is made by hand
 * @e: the stream
 * @conn: the connection
 * @fed: octets of the stream that are or were in the queue
 * @got: ULPDUs delivered
 * @wrong: ULPDUs delivered that are not what was sent
 * @batches: receive_done() calls
 * @writable: writable() calls
 * @stop_at: ULPDU at which the consumer stops
 * @place: stream position of the FPDU that comes next
 * @misplaced: ULPDUs that were said to be elsewhere in the stream
 * @piece: octets that the consumer copies at once
 */
struct pass_env {
	struct rx_env *e;
	struct mpa_conn *conn;
	u32 fed;
	u32 got;
	u32 wrong;
	u32 batches;
	u32 writable;
	u32 stop_at;
	u32 place;
	u32 misplaced;
	u32 piece;
};

/* What rx.c takes from its surroundings (src_rx.c). */
static bool no_memory;
static const struct sk_buff *unreadable;

bool rx_kunit_readable(const struct sk_buff *skb)
{
	return skb != unreadable;
}

void *rx_kunit_kvmalloc(size_t size, gfp_t flags)
{
	return no_memory ? NULL : kvmalloc(size, flags);
}

/* The ULPDU lies behind its length, and a Marker where one precedes that. */
static void check_place(struct pass_env *p, const struct mpa_cursor *cur, u32 len)
{
	u32 content = (2 + len + 3) / 4 * 4 + 4, k;
	bool marker = p->e->f.markers && p->place % 512 == 0;

	if (mpa_cursor_position(cur) != p->place + (marker ? 4 : 0) + 2)
		p->misplaced++;
	for (k = 0; k < content; k += 4)
		p->place += p->e->f.markers && p->place % 512 == 0 ? 8 : 4;
}

static int pass_receive(void *consumer, struct mpa_cursor *cur, u32 len)
{
	struct pass_env *p = consumer;

	check_place(p, cur, len);
	if (p->got >= ARRAY_SIZE(lengths) || !ulpdu_matches(cur, p->got, len, p->piece))
		p->wrong++;
	return p->got++ == p->stop_at ? -EPIPE : 0;
}

static void pass_done(void *consumer)
{
	struct pass_env *p = consumer;

	p->batches++;
}

static void pass_writable(void *consumer)
{
	struct pass_env *p = consumer;

	p->writable++;
}

static const struct mpa_consumer_ops pass_ops = {
	.receive = pass_receive,
	.receive_done = pass_done,
	.writable = pass_writable,
};

/* @window: what TCP still offers; the default is far from pressure. */
static void pass_start(struct kunit *test, struct pass_env *p, bool markers, u32 start,
		       u32 window)
{
	struct sock *sk = p->conn->sk;
	struct tcp_sock *tp = tcp_sk(sk);

	put_all(test, p->e, markers, true, 0);
	p->e->start = start;
	mpa_rx_free(&p->conn->rx);
	p->conn->rx = p->e->rx;
	p->conn->rx.start = start;
	p->conn->tx.allowed = false;
	p->fed = 0;
	p->got = 0;
	p->wrong = 0;
	p->batches = 0;
	p->writable = 0;
	p->stop_at = U32_MAX;
	p->place = 0;
	p->misplaced = 0;
	p->piece = 64;

	__skb_queue_purge(&sk->sk_receive_queue);
	tp->copied_seq = start;
	tp->rcv_nxt = start;
	tp->rcv_wup = start;
	tp->rcv_wnd = window;
	inet_csk(sk)->icsk_ack.rcv_mss = TCP_MSS_DEFAULT;
	sk->sk_shutdown = RCV_SHUTDOWN;	/* no window updates to nowhere */
}

static void pass_feed(struct kunit *test, struct pass_env *p, u32 to, enum shape shape)
{
	struct sock *sk = p->conn->sk;

	feed(test, p->e, &sk->sk_receive_queue, p->fed, to, shape);
	p->fed = to;
	tcp_sk(sk)->rcv_nxt = p->e->start + to;
}

static enum mpa_rx_result pass(struct pass_env *p, u32 budget, enum mpa_error *err)
{
	struct sock *sk = p->conn->sk;
	enum mpa_rx_result result;

	lock_sock(sk);
	result = mpa_rx_pass(p->conn, budget, GFP_ATOMIC, err);
	release_sock(sk);
	return result;
}

static int rx_init(struct kunit *test)
{
	struct pass_env *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct mpa_conn *conn = kunit_kzalloc(test, sizeof(*conn), GFP_KERNEL);
	int ret;

	if (!p || !conn)
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
	conn->ops = &pass_ops;
	conn->consumer = p;
	p->conn = conn;
	p->e = env_create(test);
	test->priv = p;
	return 0;
}

static void rx_exit(struct kunit *test)
{
	struct pass_env *p = test->priv;

	if (!p)
		return;
	mpa_rx_free(&p->conn->rx);
	free_percpu(p->conn->mib);
	__skb_queue_purge(&p->conn->sk->sk_receive_queue);
	sock_release(p->conn->sock);
}

#define WINDOW	SZ_1M
#define NO_LIMIT	U32_MAX

/* FPDUs that lie wholly within the first @len octets. */
static u32 complete_within(const struct pass_env *p, u32 len)
{
	u32 i, pos = 0;

	for (i = 0; i < ALL; i++) {
		u32 content = (2 + lengths[i] + 3) / 4 * 4 + 4, k;

		for (k = 0; k < content; k += 4)
			pos += p->e->f.markers && pos % 512 == 0 ? 8 : 4;
		if (pos > len)
			break;
	}
	return i;
}

static void pass_cut_in_two(struct kunit *test, bool markers, u32 start, u32 window, u32 step)
{
	struct pass_env *p = test->priv;
	enum mpa_error err;
	u32 cut, first;

	pass_start(test, p, markers, start, window);
	for (cut = 1; cut < p->e->f.len; cut += step) {
		pass_start(test, p, markers, start, window);
		pass_feed(test, p, cut, cut % NUM_SHAPES);
		KUNIT_ASSERT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_IDLE);
		first = p->got;
		KUNIT_ASSERT_EQ_MSG(test, first, complete_within(p, cut), "cut at %u", cut);
		pass_feed(test, p, p->e->f.len, (cut + 1) % NUM_SHAPES);
		KUNIT_ASSERT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_IDLE);
		KUNIT_ASSERT_EQ_MSG(test, p->got, ALL, "cut at %u", cut);
		KUNIT_ASSERT_EQ_MSG(test, p->wrong, 0, "cut at %u", cut);
		KUNIT_ASSERT_EQ(test, err, MPA_ERR_NONE);
		KUNIT_ASSERT_EQ(test, tcp_inq(p->conn->sk), 0);
	}
}

static void ddp_01_ddp_05_rcv_02_rcv_03_pass_cut_in_two(struct kunit *test)
{
	pass_cut_in_two(test, true, 1, WINDOW, 1);
	pass_cut_in_two(test, false, 1, WINDOW, 3);
}

static void mrk_09_pass_across_the_wrap(struct kunit *test)
{
	pass_cut_in_two(test, true, 0u - 2000, WINDOW, 5);
}

/* RCV-06: the window is shut, so that TCP could never bring the rest. */
static void rcv_06_pass_cut_in_two_window_shut(struct kunit *test)
{
	struct pass_env *p = test->priv;
	u64 stashed;

	pass_cut_in_two(test, true, 1, 0, 3);
	pass_cut_in_two(test, false, 1, 0, 7);
	stashed = this_cpu_read(p->conn->mib->v[MPA_STAT_RX_STASHED]);
	KUNIT_EXPECT_GT(test, stashed, 0);
}

/* Segments of @each octets, a pass after each, FPDUs cut on both sides. */
static void segment_by_segment(struct kunit *test, u32 each, bool markers, u32 window)
{
	struct pass_env *p = test->priv;
	enum mpa_error err;

	pass_start(test, p, markers, 1, window);
	while (p->fed < p->e->f.len) {
		pass_feed(test, p, min(p->fed + each, p->e->f.len), p->fed / each % NUM_SHAPES);
		KUNIT_ASSERT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_IDLE);
		KUNIT_ASSERT_EQ_MSG(test, p->got, complete_within(p, p->fed), "%u of %u octets",
				    p->fed, each);
		KUNIT_ASSERT_EQ_MSG(test, p->wrong, 0, "%u of %u octets", p->fed, each);
	}
	KUNIT_EXPECT_EQ(test, p->got, ALL);
}

static void rcv_03_rcv_06_pass_segment_by_segment(struct kunit *test)
{
	u32 each;

	for (each = 5; each < 2000; each += each / 3 + 1) {
		segment_by_segment(test, each, true, WINDOW);
		segment_by_segment(test, each, false, WINDOW);
		segment_by_segment(test, each, true, 0);
		segment_by_segment(test, each, false, 0);
	}
}

static void octet_by_octet(struct kunit *test, bool markers, u32 window)
{
	struct pass_env *p = test->priv;
	struct sock *sk = p->conn->sk;
	enum mpa_error err;

	pass_start(test, p, markers, 1, window);
	while (p->fed < p->e->f.len) {
		pass_feed(test, p, p->fed + 1, LINEAR);
		KUNIT_ASSERT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_IDLE);
		KUNIT_ASSERT_EQ_MSG(test, p->got, complete_within(p, p->fed), "%u octets", p->fed);
		KUNIT_ASSERT_EQ(test, p->wrong, 0);
		if (!window)
			KUNIT_ASSERT_EQ(test, tcp_inq(sk), 0);
	}
	KUNIT_EXPECT_EQ(test, p->got, ALL);
	KUNIT_EXPECT_EQ(test, p->batches, ALL);
}

static void rcv_03_pass_octet_by_octet(struct kunit *test)
{
	octet_by_octet(test, true, WINDOW);
	octet_by_octet(test, false, WINDOW);
}

static void rcv_06_pass_octet_by_octet_window_shut(struct kunit *test)
{
	octet_by_octet(test, true, 0);
	octet_by_octet(test, false, 0);
}

/* TCP will bring nothing more, so that somebody else has to try again. */
static void rcv_06_no_memory_for_the_stash(struct kunit *test)
{
	struct pass_env *p = test->priv;
	struct sock *sk = p->conn->sk;
	enum mpa_error err;

	pass_start(test, p, true, 1, 0);
	no_memory = true;
	pass_feed(test, p, 20, FRAGS);
	KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_NO_MEMORY);
	KUNIT_EXPECT_EQ(test, tcp_inq(sk), 20);
	no_memory = false;
	KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_IDLE);
	KUNIT_EXPECT_EQ(test, tcp_inq(sk), 0);

	/* The stash has octets, and a longer FPDU makes it grow in vain. */
	pass_feed(test, p, 60, LINEAR);
	no_memory = true;
	pass(p, NO_LIMIT, &err);
	pass_feed(test, p, p->e->f.len, FRAGS);
	pass(p, NO_LIMIT, &err);
	no_memory = false;
	KUNIT_EXPECT_EQ(test, p->got, ALL);
	KUNIT_EXPECT_EQ(test, p->wrong, 0);
}

/* No wake-up before the next FPDU can be complete. */
static void rcv_02_low_water_mark(struct kunit *test)
{
	struct pass_env *p = test->priv;
	struct sock *sk = p->conn->sk;
	enum mpa_error err;

	pass_start(test, p, true, 1, WINDOW);
	pass_feed(test, p, 6, LINEAR);
	pass(p, NO_LIMIT, &err);
	KUNIT_EXPECT_EQ(test, sk->sk_rcvlowat, 52);
	pass_feed(test, p, 53, LINEAR);
	pass(p, NO_LIMIT, &err);
	KUNIT_EXPECT_EQ(test, p->got, 1);
	KUNIT_EXPECT_EQ(test, sk->sk_rcvlowat, 2);

	/* In the stash now: what is missing counts from the queue's octets. */
	pass_start(test, p, true, 1, 0);
	pass_feed(test, p, 20, LINEAR);
	pass(p, NO_LIMIT, &err);
	KUNIT_EXPECT_EQ(test, sk->sk_rcvlowat, 32);
}

/* Each ULPDU comes with its place, in order, however the stream is cut. */
static void ddp_06_places_in_the_stream(struct kunit *test)
{
	struct pass_env *p = test->priv;
	enum mpa_error err;
	u32 each;

	for (each = 1; each < 3000; each = each * 3 + 1) {
		pass_start(test, p, each % 2, 0u - 1000, each % 4 ? WINDOW : 0);
		while (p->fed < p->e->f.len) {
			pass_feed(test, p, min(p->fed + each, p->e->f.len), LINEAR);
			pass(p, NO_LIMIT, &err);
		}
		KUNIT_EXPECT_EQ_MSG(test, p->got, ALL, "%u octets", each);
		KUNIT_EXPECT_EQ_MSG(test, p->misplaced, 0, "%u octets", each);
		KUNIT_EXPECT_EQ_MSG(test, p->place, p->e->f.len, "%u octets", each);
	}
}

static void pass_budget(struct kunit *test)
{
	struct pass_env *p = test->priv;
	enum mpa_rx_result result;
	enum mpa_error err;
	u32 passes = 0;

	pass_start(test, p, true, 1, WINDOW);
	pass_feed(test, p, p->e->f.len, FRAGS);
	do {
		result = pass(p, 1, &err);
		passes++;
		KUNIT_ASSERT_EQ(test, p->got, passes);
		KUNIT_ASSERT_EQ(test, result, passes < ALL ? MPA_RX_MORE : MPA_RX_IDLE);
	} while (result == MPA_RX_MORE);
	KUNIT_EXPECT_EQ(test, p->wrong, 0);
	KUNIT_EXPECT_EQ(test, passes, ALL);
}

/*
 * FPDUs in one piece and in several take different ways, and must look the same
 * to the consumer, whatever it copies at once.
 */
static void rcv_01_pass_in_one_piece(struct kunit *test)
{
	static const u32 pieces[] = { 1, 14, 64, 508, 509, 1016, 2048 };
	struct pass_env *p = test->priv;
	enum mpa_error err;
	int i;

	for (i = 0; i < 4 * ARRAY_SIZE(pieces); i++) {
		pass_start(test, p, i % 2, i % 4 < 2 ? 1 : 0u - 2000, WINDOW);
		p->piece = pieces[i / 4];
		pass_feed(test, p, p->e->f.len, LINEAR);
		KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_IDLE);
		KUNIT_EXPECT_EQ_MSG(test, p->got, ALL, "%u at once", p->piece);
		KUNIT_EXPECT_EQ_MSG(test, p->wrong, 0, "%u at once", p->piece);
		KUNIT_EXPECT_EQ(test, p->misplaced, 0);
		KUNIT_EXPECT_EQ(test, p->batches, 1);
		KUNIT_EXPECT_EQ(test, p->conn->rx.need, 2);
	}
}

/* The stream with an octet changed, cut at @cut, of which the rest is linear. */
static void damage(struct kunit *test, u32 at, u8 flip, u32 before, enum mpa_error want, u32 cut)
{
	struct pass_env *p = test->priv;
	enum mpa_error err;

	p->e->stream[at] ^= flip;
	pass_feed(test, p, cut, FRAGS);
	if (pass(p, NO_LIMIT, &err) == MPA_RX_IDLE) {
		pass_feed(test, p, p->e->f.len, LINEAR);
		KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_ENDED);
	}
	KUNIT_EXPECT_EQ_MSG(test, err, want, "octet %u", at);
	KUNIT_EXPECT_EQ_MSG(test, p->got, before, "octet %u", at);
	KUNIT_EXPECT_EQ(test, p->wrong, 0);
	KUNIT_EXPECT_TRUE(test, p->conn->rx.stopped);
	KUNIT_EXPECT_EQ(test, tcp_inq(p->conn->sk), 0);
}

/* Nothing of a bad FPDU, and nothing behind it, reaches the consumer. */
static void rcv_01_crc_08_err_02_err_05_bad_crc(struct kunit *test)
{
	struct pass_env *p = test->priv;
	u32 at, windows[] = { WINDOW, 0, WINDOW };
	int i;

	for (i = 0; i < ARRAY_SIZE(windows); i++)
		for (at = 10; at < 4000; at += 331) {
			pass_start(test, p, true, 1, windows[i]);
			/* A length that grows may leave the FPDU incomplete for ever. */
			if (complete_within(p, at) != complete_within(p, at + 8))
				continue;
			damage(test, at + 6, 0x10, complete_within(p, at + 6), MPA_ERR_CRC,
			       i == 2 ? 1 : p->e->f.len / 2);
		}
}

/* Octets that a device keeps in its own memory end the connection, unread. */
static void unreadable_octets(struct kunit *test)
{
	static const u32 starts[] = { 0, 1, 45, 1000 }, windows[] = { WINDOW, 0 };
	struct pass_env *p = test->priv;
	struct sock *sk = p->conn->sk;
	u32 i, before;

	for (i = 0; i < 4 * ARRAY_SIZE(starts); i++) {
		u32 start = starts[i / 4];
		enum mpa_error err = MPA_ERR_NONE;

		pass_start(test, p, false, 1, windows[i & 1]);
		p->conn->rx.crc = i & 2;
		before = complete_within(p, start);
		if (start)
			pass_feed(test, p, start, LINEAR);
		pass_feed(test, p, p->e->f.len, EMPTY_HEAD);
		unreadable = skb_peek_tail(&sk->sk_receive_queue);
		KUNIT_EXPECT_EQ_MSG(test, pass(p, NO_LIMIT, &err), MPA_RX_ENDED, "case %u", i);
		unreadable = NULL;
		KUNIT_EXPECT_EQ_MSG(test, err, MPA_ERR_CRC, "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, p->got, before, "case %u", i);
		KUNIT_EXPECT_EQ(test, p->wrong, 0);
		KUNIT_EXPECT_EQ(test, tcp_inq(sk), 0);
	}
}

static void mrk_13_err_03_err_05_bad_marker(struct kunit *test)
{
	struct pass_env *p = test->priv;
	u32 at, i;

	pass_start(test, p, true, 1, WINDOW);
	for (i = 0; i < 2; i++)
		for (at = 0; at < p->e->f.len; at += 512) {
			pass_start(test, p, true, 1, WINDOW);
			p->conn->rx.crc = false;
			damage(test, at + 3, 0x04, complete_within(p, at + 4), MPA_ERR_MARKER,
			       i ? 1 : p->e->f.len / 2);
		}
}

static void err_05_consumer_stops(struct kunit *test)
{
	struct pass_env *p = test->priv;
	enum mpa_error err = MPA_ERR_CRC;

	pass_start(test, p, true, 1, WINDOW);
	p->stop_at = 3;
	pass_feed(test, p, p->e->f.len, LINEAR);
	KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_ENDED);
	KUNIT_EXPECT_EQ(test, err, MPA_ERR_NONE);
	KUNIT_EXPECT_EQ(test, p->got, 4);
	KUNIT_EXPECT_TRUE(test, p->conn->rx.stopped);
	KUNIT_EXPECT_EQ(test, tcp_inq(p->conn->sk), 0);
}

/* A Responder may send once it has one valid FPDU, and is told so once. */
static void sta_12_first_fpdu_opens_the_transmitter(struct kunit *test)
{
	struct pass_env *p = test->priv;
	enum mpa_error err;

	pass_start(test, p, true, 1, WINDOW);
	pass_feed(test, p, 51, LINEAR);
	pass(p, NO_LIMIT, &err);
	KUNIT_EXPECT_FALSE(test, p->conn->tx.allowed);
	KUNIT_EXPECT_EQ(test, p->writable, 0);
	pass_feed(test, p, 52, LINEAR);
	pass(p, NO_LIMIT, &err);
	KUNIT_EXPECT_TRUE(test, p->conn->tx.allowed);
	KUNIT_EXPECT_EQ(test, p->writable, 1);
	pass_feed(test, p, p->e->f.len, LINEAR);
	pass(p, NO_LIMIT, &err);
	KUNIT_EXPECT_EQ(test, p->got, ALL);
	KUNIT_EXPECT_EQ(test, p->writable, 1);

	pass_start(test, p, true, 1, WINDOW);
	p->e->stream[20] ^= 1;
	pass_feed(test, p, 52, LINEAR);
	pass(p, NO_LIMIT, &err);
	KUNIT_EXPECT_EQ(test, err, MPA_ERR_CRC);
	KUNIT_EXPECT_FALSE(test, p->conn->tx.allowed);
}

static int rx_suite_init(struct kunit_suite *suite)
{
	return mpa_crc_module_init();
}

static void rx_suite_exit(struct kunit_suite *suite)
{
	mpa_crc_module_exit();
}

static struct kunit_case cases[] = {
	KUNIT_CASE(rcv_03_cut_linear),
	KUNIT_CASE(rcv_03_cut_frags),
	KUNIT_CASE(rcv_03_cut_empty_head),
	KUNIT_CASE(rcv_03_cut_frag_list),
	KUNIT_CASE(rcv_03_single_octets),
	KUNIT_CASE(rcv_01_pass_in_one_piece),
	KUNIT_CASE(rcv_03_many_buffers),
	KUNIT_CASE(rcv_05_overlapping_buffers),
	KUNIT_CASE(rcv_05_contained_buffer),
	KUNIT_CASE(mrk_09_sequence_wrap),
	KUNIT_CASE(mrk_12_copy_in_pieces),
	KUNIT_CASE(rcv_02_peek_wants_what_is_missing),
	KUNIT_CASE(rcv_02_largest_length),
	KUNIT_CASE(cursor_ends_at_the_queues_end),
	KUNIT_CASE(crc_08_every_changed_bit),
	KUNIT_CASE(frm_05_mrk_13_without_crc),
	KUNIT_CASE(mrk_13_wrong_pointer_under_a_good_crc),
	KUNIT_CASE(frm_04_mrk_01_mrk_02_what_is_ignored),
	KUNIT_CASE(ddp_01_ddp_05_rcv_02_rcv_03_pass_cut_in_two),
	KUNIT_CASE(mrk_09_pass_across_the_wrap),
	KUNIT_CASE(rcv_06_pass_cut_in_two_window_shut),
	KUNIT_CASE(rcv_03_rcv_06_pass_segment_by_segment),
	KUNIT_CASE(rcv_03_pass_octet_by_octet),
	KUNIT_CASE(rcv_06_pass_octet_by_octet_window_shut),
	KUNIT_CASE(rcv_06_no_memory_for_the_stash),
	KUNIT_CASE(rcv_02_low_water_mark),
	KUNIT_CASE(ddp_06_places_in_the_stream),
	KUNIT_CASE(pass_budget),
	KUNIT_CASE(rcv_01_crc_08_err_02_err_05_bad_crc),
	KUNIT_CASE(unreadable_octets),
	KUNIT_CASE(mrk_13_err_03_err_05_bad_marker),
	KUNIT_CASE(err_05_consumer_stops),
	KUNIT_CASE(sta_12_first_fpdu_opens_the_transmitter),
	{}
};

static struct kunit_suite suite = {
	.name = "mpa_rx",
	.suite_init = rx_suite_init,
	.suite_exit = rx_suite_exit,
	.init = rx_init,
	.exit = rx_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);

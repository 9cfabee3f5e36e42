// SPDX-License-Identifier: GPL-2.0
/*
 * Whole-FPDU receive (mpa/rx.c over mpa/rx_verify.c and mpa/cursor.c): passes over
 * a socket's queue that is made by hand and cut anywhere.
 */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/sizes.h>
#include <net/tcp.h>
#include "crc_suite.h"
#include "fake_conn.h"
#include "rx_stream.h"
#include "surroundings.h"

/**
 * struct pass_env - a connection over a socket whose queue is made by hand
 * @e: the stream
 * @conn: the connection
 * @fed: octets of the stream that are or were in the queue
 * @got: ULPDUs delivered
 * @wrong: ULPDUs delivered that differ from those sent
 * @batches: receive_done() calls
 * @writable: writable() calls
 * @stop_at: ULPDU at which the consumer stops
 * @put_off_at: ULPDU that the consumer puts off
 * @puts: times that it did so
 * @place: stream position of the next FPDU
 * @misplaced: ULPDUs delivered with a wrong stream position
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
	u32 put_off_at;
	u32 puts;
	u32 place;
	u32 misplaced;
	u32 piece;
};

/* State of the functions that src_rx.c and src_cursor.c replace */
static bool no_memory;
static gfp_t page_gfp;
static const struct sk_buff *unreadable;

bool rx_kunit_readable(const struct sk_buff *skb)
{
	return skb != unreadable;
}

struct page *rx_kunit_alloc_page(gfp_t gfp)
{
	page_gfp = gfp;
	return no_memory ? NULL : alloc_page(gfp & ~__GFP_ACCOUNT);
}

/* The ULPDU lies behind its length, and a Marker if one precedes the length. */
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

	if (p->got == p->put_off_at) {
		p->puts++;
		return -EAGAIN;
	}
	check_place(p, cur, len);
	if (p->got >= RX_ULPDUS || !rx_ulpdu_matches(cur, p->got, len, p->piece))
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

/* @window: the window that TCP still offers; WINDOW is far from pressure. */
static void pass_start(struct kunit *test, struct pass_env *p, bool markers, u32 start,
		       u32 window)
{
	struct sock *sk = p->conn->sk;
	struct tcp_sock *tp = tcp_sk(sk);

	rx_put_all(test, p->e, markers, true, 0);
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
	p->put_off_at = U32_MAX;
	p->puts = 0;
	p->place = 0;
	p->misplaced = 0;
	p->piece = 64;

	__skb_queue_purge(&sk->sk_receive_queue);
	tp->copied_seq = start;
	tp->rcv_nxt = start;
	tp->rcv_wup = start;
	tp->rcv_wnd = window;
	inet_csk(sk)->icsk_ack.rcv_mss = TCP_MSS_DEFAULT;
	sk->sk_shutdown = RCV_SHUTDOWN;	/* no window updates: no peer */
}

static void pass_feed(struct kunit *test, struct pass_env *p, u32 to, enum shape shape)
{
	struct sock *sk = p->conn->sk;

	rx_feed(test, p->e, &sk->sk_receive_queue, p->fed, to, shape);
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
	struct mpa_conn *conn;

	if (!p)
		return -ENOMEM;
	p->e = rx_env_create(test);
	conn = fake_conn_create(test);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	conn->ops = &pass_ops;
	conn->consumer = p;
	p->conn = conn;
	test->priv = p;
	return 0;
}

static void rx_exit(struct kunit *test)
{
	struct pass_env *p = test->priv;

	if (!p)
		return;
	mpa_rx_free(&p->conn->rx);
	fake_conn_destroy(p->conn);
}

#define WINDOW	SZ_1M
#define NO_LIMIT	U32_MAX

/* The number of FPDUs that lie wholly within the first @len octets. */
static u32 complete_within(const struct pass_env *p, u32 len)
{
	u32 i, pos = 0;

	for (i = 0; i < RX_ULPDUS; i++) {
		u32 content = (2 + rx_lengths[i] + 3) / 4 * 4 + 4, k;

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
		KUNIT_ASSERT_EQ_MSG(test, p->got, RX_ULPDUS, "cut at %u", cut);
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

/* RCV-06: the window is shut, so that TCP cannot receive the rest. */
static void rcv_06_pass_cut_in_two_window_shut(struct kunit *test)
{
	struct pass_env *p = test->priv;
	u64 stashed;

	pass_cut_in_two(test, true, 1, 0, 3);
	pass_cut_in_two(test, false, 1, 0, 7);
	stashed = this_cpu_read(p->conn->mib->v[MPA_STAT_RX_STASHED]);
	KUNIT_EXPECT_GT(test, stashed, 0);
}

/* A pass after each segment of @each octets, which cuts FPDUs on both sides. */
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
	KUNIT_EXPECT_EQ(test, p->got, RX_ULPDUS);
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
	KUNIT_EXPECT_EQ(test, p->got, RX_ULPDUS);
	KUNIT_EXPECT_EQ(test, p->batches, RX_ULPDUS);
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

/* TCP can receive nothing more, so that the worker has to try again. */
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

	/* A longer FPDU may find room in the stash, or none. */
	pass_feed(test, p, 60, LINEAR);
	no_memory = true;
	pass(p, NO_LIMIT, &err);
	pass_feed(test, p, p->e->f.len, FRAGS);
	pass(p, NO_LIMIT, &err);
	no_memory = false;
	KUNIT_EXPECT_EQ(test, p->got, RX_ULPDUS);
	KUNIT_EXPECT_EQ(test, p->wrong, 0);
	/* An empty stash is freed, and no longer charged. */
	KUNIT_EXPECT_NULL(test, p->conn->rx.stash);
}

/*
 * The stash has pages for the octets that are there, not for all that the
 * length announces, and none beyond the cgroup's limit.
 */
static void rcv_06_stash_takes_what_is_there(struct kunit *test)
{
	struct pass_env *p = test->priv;
	struct sock *sk = p->conn->sk;
	struct mpa_rx *rx = &p->conn->rx;
	enum mpa_error err;

	pass_start(test, p, true, 1, 0);
	put_unaligned_be16(65535, p->e->stream + 4);
	p->conn->memcg = (void *)test;	/* this kernel has no cgroups */
	pass_feed(test, p, 3000, FRAGS);
	KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_IDLE);
	KUNIT_ASSERT_NOT_NULL(test, rx->stash);
	KUNIT_EXPECT_EQ(test, skb_shinfo(rx->stash)->nr_frags, 1);
	KUNIT_EXPECT_TRUE(test, page_gfp & __GFP_ACCOUNT);
	KUNIT_EXPECT_FALSE(test, page_gfp & __GFP_HIGH);

	no_memory = true;
	pass_feed(test, p, PAGE_SIZE + 100, LINEAR);
	KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_NO_MEMORY);
	KUNIT_EXPECT_EQ(test, tcp_inq(sk), 100);
	KUNIT_EXPECT_EQ(test, rx->stash_len, PAGE_SIZE);
	no_memory = false;
	p->conn->memcg = NULL;
	KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_IDLE);
	KUNIT_EXPECT_EQ(test, tcp_inq(sk), 0);
	KUNIT_EXPECT_EQ(test, rx->stash_len, PAGE_SIZE + 100);
	KUNIT_EXPECT_EQ(test, skb_shinfo(rx->stash)->nr_frags, 2);
	KUNIT_EXPECT_FALSE(test, page_gfp & __GFP_ACCOUNT);
	KUNIT_EXPECT_TRUE(test, page_gfp & __GFP_HIGH);
}

/* Pages in TCP's account, tcp_mem. */
static long tcp_pages(const struct sock *sk)
{
	long pages = atomic_long_read(sk->sk_prot->memory_allocated);
	int cpu;

	for_each_possible_cpu(cpu)
		pages += *per_cpu_ptr(sk->sk_prot->per_cpu_fw_alloc, cpu);
	return pages;
}

/* The stash stays in TCP's account; a limit of TCP does not stop the stream. */
static void rcv_06_stash_is_charged(struct kunit *test)
{
	struct pass_env *p = test->priv;
	struct sock *sk = p->conn->sk;
	long *limits = sk->sk_prot->sysctl_mem, was[3];
	long before = tcp_pages(sk);
	enum mpa_error err;

	pass_start(test, p, true, 1, 0);
	p->conn->rx.charged = sk;
	put_unaligned_be16(65535, p->e->stream + 4);
	pass_feed(test, p, 3000, FRAGS);
	KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_IDLE);
	KUNIT_EXPECT_EQ(test, tcp_pages(sk) - before, 1);

	memcpy(was, limits, sizeof(was));
	memset(limits, 0xff, sizeof(was));
	pass_feed(test, p, PAGE_SIZE + 100, LINEAR);
	KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_IDLE);
	KUNIT_EXPECT_EQ(test, tcp_inq(sk), 0);
	memcpy(limits, was, sizeof(was));

	mpa_rx_free(&p->conn->rx);
	KUNIT_EXPECT_EQ(test, tcp_pages(sk), before);
}

/*
 * The FIN leaves TCP's queue with the octets in front of it, but is no octet of
 * the stream. If it counted as one, the Marker would be read one octet further
 * on, as a length of 0.
 */
static void err_01_rcv_06_fin_behind_the_stash(struct kunit *test)
{
	struct pass_env *p = test->priv;
	struct sock *sk = p->conn->sk;
	struct tcp_sock *tp = tcp_sk(sk);
	enum mpa_error err;

	pass_start(test, p, true, 1, 0);
	p->conn->rx.crc = false;
	pass_feed(test, p, 8, LINEAR);
	TCP_SKB_CB(skb_peek(&sk->sk_receive_queue))->tcp_flags |= TCPHDR_FIN;
	TCP_SKB_CB(skb_peek(&sk->sk_receive_queue))->end_seq++;
	tp->rcv_nxt++;
	sock_set_flag(sk, SOCK_DONE);
	KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_IDLE);
	KUNIT_EXPECT_EQ(test, tp->copied_seq, tp->rcv_nxt);
	KUNIT_EXPECT_EQ(test, p->got, 0);
	KUNIT_EXPECT_EQ(test, p->conn->rx.stash_len, 8);
	KUNIT_EXPECT_EQ(test, mpa_rx_position(&p->conn->rx), 0);
}

/* RCV-06: a local sender changes a length in its pages between two reads. */
static void rcv_06_length_changes_before_the_stash(struct kunit *test)
{
	struct pass_env *p = test->priv;
	struct sock *sk = p->conn->sk;
	enum mpa_error err;

	pass_start(test, p, false, 1, WINDOW);
	put_unaligned_be16(600, p->e->stream);
	pass_feed(test, p, 20, LINEAR);
	KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_IDLE);
	put_unaligned_be16(rx_lengths[0], skb_peek(&sk->sk_receive_queue)->data);
	tcp_sk(sk)->rcv_wnd = 0;
	pass_feed(test, p, 300, FRAGS);
	KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_IDLE);
	KUNIT_EXPECT_EQ(test, p->got, complete_within(p, 300));
	pass_feed(test, p, p->e->f.len, FRAGS);
	KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_IDLE);
	KUNIT_EXPECT_EQ(test, p->got, RX_ULPDUS);
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

	/* Octets in the stash do not count in sk_rcvlowat. */
	pass_start(test, p, true, 1, 0);
	pass_feed(test, p, 20, LINEAR);
	pass(p, NO_LIMIT, &err);
	KUNIT_EXPECT_EQ(test, sk->sk_rcvlowat, 32);
}

/* Each ULPDU has its stream position, in order, however the stream is cut. */
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
		KUNIT_EXPECT_EQ_MSG(test, p->got, RX_ULPDUS, "%u octets", each);
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
		KUNIT_ASSERT_EQ(test, result, passes < RX_ULPDUS ? MPA_RX_MORE : MPA_RX_IDLE);
	} while (result == MPA_RX_MORE);
	KUNIT_EXPECT_EQ(test, p->wrong, 0);
	KUNIT_EXPECT_EQ(test, passes, RX_ULPDUS);
}

/* A peer cannot keep a softirq busy for longer with many small FPDUs. */
static void pass_budget_small_fpdus(struct kunit *test)
{
	struct pass_env *p = test->priv;
	enum mpa_error err;

	pass_start(test, p, true, 1, WINDOW);
	pass_feed(test, p, p->e->f.len, FRAGS);
	KUNIT_EXPECT_EQ(test, pass(p, p->e->f.len, &err), MPA_RX_MORE);
	KUNIT_EXPECT_LE(test, p->got, p->e->f.len / MPA_FPDU_COST + 1);
	KUNIT_EXPECT_EQ(test, p->wrong, 0);
}

/* Nor with single octets. */
static void many_buffers_are_for_the_worker(struct kunit *test)
{
	static const struct mpa_consumer_ops program;
	struct pass_env *p = test->priv;
	struct mpa_conn *conn = p->conn;

	pass_start(test, p, true, 1, WINDOW);
	while (p->fed < MPA_SOFTIRQ_BUFFERS)
		pass_feed(test, p, p->fed + 1, LINEAR);
	KUNIT_EXPECT_FALSE(test, mpa_rx_is_for_worker(conn));
	pass_feed(test, p, p->fed + 1, LINEAR);
	KUNIT_EXPECT_TRUE(test, mpa_rx_is_for_worker(conn));
	conn->rx.put_off = true;
	KUNIT_EXPECT_FALSE(test, mpa_rx_is_for_worker(conn));
	set_bit(MPA_CONN_AGAIN, &conn->flags);	/* mpa_receive_again() */
	KUNIT_EXPECT_TRUE(test, mpa_rx_is_for_worker(conn));
	clear_bit(MPA_CONN_AGAIN, &conn->flags);
	conn->rx.put_off = false;

	conn->ops = &program;
	KUNIT_EXPECT_TRUE(test, mpa_rx_is_for_worker(conn));	/* it is the first */
	conn->tx.allowed = true;
	KUNIT_EXPECT_FALSE(test, mpa_rx_is_for_worker(conn));
	tcp_sk(conn->sk)->rcv_wnd = 0;
	KUNIT_EXPECT_TRUE(test, mpa_rx_is_for_worker(conn));
	conn->rx.held = true;
	KUNIT_EXPECT_FALSE(test, mpa_rx_is_for_worker(conn));
	conn->ops = &pass_ops;
}

/*
 * FPDUs in one piece and in several take different code paths. The consumer
 * must see no difference, however many octets it copies at once.
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
		KUNIT_EXPECT_EQ_MSG(test, p->got, RX_ULPDUS, "%u at once", p->piece);
		KUNIT_EXPECT_EQ_MSG(test, p->wrong, 0, "%u at once", p->piece);
		KUNIT_EXPECT_EQ(test, p->misplaced, 0);
		KUNIT_EXPECT_EQ(test, p->batches, 1);
		KUNIT_EXPECT_EQ(test, p->conn->rx.need, 2);
	}
}

/* Change one octet of the stream, and cut it at @cut. The rest is linear. */
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

/* Neither a bad FPDU nor anything behind it reaches the consumer. */
static void rcv_01_crc_08_err_02_err_05_bad_crc(struct kunit *test)
{
	struct pass_env *p = test->priv;
	u32 at, windows[] = { WINDOW, 0, WINDOW };
	int i;

	for (i = 0; i < ARRAY_SIZE(windows); i++)
		for (at = 10; at < 4000; at += 331) {
			pass_start(test, p, true, 1, windows[i]);
			/* Skip lengths: the FPDU could stay incomplete. */
			if (complete_within(p, at) != complete_within(p, at + 8))
				continue;
			damage(test, at + 6, 0x10, complete_within(p, at + 6), MPA_ERR_CRC,
			       i == 2 ? 1 : p->e->f.len / 2);
		}
}

/* Octets in a device's memory cannot be read: the connection ends. */
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

/*
 * The consumer puts off a ULPDU. It stays in the queue with all that comes
 * behind it, and is not asked for before mpa_receive_again().
 */
static void put_off(struct kunit *test, u32 at, bool markers, u32 window, u32 each)
{
	struct pass_env *p = test->priv;
	unsigned long *flags = &p->conn->flags;
	enum mpa_error err;

	pass_start(test, p, markers, 1, window);
	p->put_off_at = at;
	while (p->fed < p->e->f.len) {
		pass_feed(test, p, min(p->fed + each, p->e->f.len), p->fed / each % NUM_SHAPES);
		KUNIT_ASSERT_EQ(test, pass(p, NO_LIMIT, &err),
				complete_within(p, p->fed) > at ? MPA_RX_HELD : MPA_RX_IDLE);
		KUNIT_ASSERT_EQ(test, p->got, min(at, complete_within(p, p->fed)));
	}
	KUNIT_EXPECT_EQ(test, p->puts, 1);
	set_bit(MPA_CONN_AGAIN, flags);
	KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_HELD);
	KUNIT_EXPECT_EQ(test, p->puts, 2);

	p->put_off_at = U32_MAX;
	KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_HELD);
	set_bit(MPA_CONN_AGAIN, flags);
	KUNIT_EXPECT_EQ(test, pass(p, NO_LIMIT, &err), MPA_RX_IDLE);
	KUNIT_EXPECT_EQ(test, p->got, RX_ULPDUS);
	KUNIT_EXPECT_EQ(test, p->wrong, 0);
	KUNIT_EXPECT_EQ(test, p->misplaced, 0);
	KUNIT_EXPECT_EQ(test, p->conn->rx.fpdus, RX_ULPDUS);
	KUNIT_EXPECT_EQ(test, p->conn->rx.octets, p->e->f.len);
	KUNIT_EXPECT_EQ(test, tcp_inq(p->conn->sk), 0);
}

static void consumer_puts_off(struct kunit *test)
{
	u32 at;

	for (at = 0; at < RX_ULPDUS; at++) {
		put_off(test, at, true, WINDOW, U32_MAX / 2);
		put_off(test, at, false, WINDOW, 700);
		put_off(test, at, true, 0, 100);	/* in the stash */
	}
}

/* A Responder may send after one valid FPDU, and gets one writable(). */
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
	KUNIT_EXPECT_EQ(test, p->got, RX_ULPDUS);
	KUNIT_EXPECT_EQ(test, p->writable, 1);

	pass_start(test, p, true, 1, WINDOW);
	p->e->stream[20] ^= 1;
	pass_feed(test, p, 52, LINEAR);
	pass(p, NO_LIMIT, &err);
	KUNIT_EXPECT_EQ(test, err, MPA_ERR_CRC);
	KUNIT_EXPECT_FALSE(test, p->conn->tx.allowed);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(rcv_01_pass_in_one_piece),
	KUNIT_CASE(ddp_01_ddp_05_rcv_02_rcv_03_pass_cut_in_two),
	KUNIT_CASE(mrk_09_pass_across_the_wrap),
	KUNIT_CASE(rcv_06_pass_cut_in_two_window_shut),
	KUNIT_CASE(rcv_03_rcv_06_pass_segment_by_segment),
	KUNIT_CASE(rcv_03_pass_octet_by_octet),
	KUNIT_CASE(rcv_06_pass_octet_by_octet_window_shut),
	KUNIT_CASE(rcv_06_no_memory_for_the_stash),
	KUNIT_CASE(rcv_06_stash_takes_what_is_there),
	KUNIT_CASE(rcv_06_stash_is_charged),
	KUNIT_CASE(err_01_rcv_06_fin_behind_the_stash),
	KUNIT_CASE(rcv_06_length_changes_before_the_stash),
	KUNIT_CASE(rcv_02_low_water_mark),
	KUNIT_CASE(ddp_06_places_in_the_stream),
	KUNIT_CASE(pass_budget),
	KUNIT_CASE(pass_budget_small_fpdus),
	KUNIT_CASE(many_buffers_are_for_the_worker),
	KUNIT_CASE(rcv_01_crc_08_err_02_err_05_bad_crc),
	KUNIT_CASE(unreadable_octets),
	KUNIT_CASE(mrk_13_err_03_err_05_bad_marker),
	KUNIT_CASE(err_05_consumer_stops),
	KUNIT_CASE(consumer_puts_off),
	KUNIT_CASE(sta_12_first_fpdu_opens_the_transmitter),
	{}
};

static struct kunit_suite suite = {
	.name = "mpa_rx",
	.suite_init = crc_suite_init,
	.suite_exit = crc_suite_exit,
	.init = rx_init,
	.exit = rx_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);

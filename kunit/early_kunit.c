// SPDX-License-Identifier: GPL-2.0
/*
 * Early placement (mpa/rx_early.c): segments arrive in every order in an
 * out-of-order tree made by hand, and early_expect_due() computes independently
 * which FPDUs must be placed.
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/sizes.h>
#include <net/tcp.h>
#include "crc_suite.h"
#include "early_env.h"
#include "fake_rcv.h"
#include "rx_early.h"
#include "surroundings.h"

/* One gap; the octets behind it begin at any position. */
static void rcv_04_ddp_09_run_begins_anywhere(struct kunit *test)
{
	struct early_env *env = test->priv;
	u32 from;

	for (from = 1; from < env->f.len; from += from % 47 + 1) {
		early_restart(test, env);
		early_arrive(test, env, from, env->f.len);
		early_expect_due(env, true);
		KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "from %u", from);
		KUNIT_ASSERT_EQ(test, env->got, 0);
		KUNIT_ASSERT_EQ(test, env->batches, env->placed ? 1 : 0);
		early_arrive(test, env, 0, from);
		early_expect_all(test, env, "from", from);
	}
}

/* Segments arrive one by one behind a gap: FPDUs are placed when complete. */
static void segment_by_segment(struct kunit *test, u32 each, bool sack)
{
	struct early_env *env = test->priv;
	u32 from;

	early_restart(test, env);
	if (!sack)
		tcp_sk(env->conn->sk)->rx_opt.sack_ok = 0;
	for (from = each; from < env->f.len; from += each) {
		early_arrive(test, env, from, min(from + each, env->f.len));
		early_expect_due(env, true);
		KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "%u of %u octets", from, each);
	}
	KUNIT_EXPECT_NE(test, env->placed, 0);
	early_arrive(test, env, 0, each);
	early_expect_all(test, env, "segments of", each);
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

/* Segments arrive backwards: each is put in front of the others in the tree. */
static void rcv_04_from_the_end_to_the_beginning(struct kunit *test)
{
	struct early_env *env = test->priv;
	u32 each, from;

	for (each = 50; each < 3000; each += each / 3 + 1) {
		early_restart(test, env);
		for (from = (env->f.len - 1) / each * each; from; from -= each) {
			early_arrive(test, env, from, min(from + each, env->f.len));
			early_expect_due(env, true);
			KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "%u of %u octets", from, each);
		}
		early_arrive(test, env, 0, each);
		early_expect_all(test, env, "segments of", each);
	}
}

#define SEGMENTS	6u

static u32 factorial(u32 n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}

/* Compute the @which-th permutation of the segments. */
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

/* Try every @step-th permutation. */
static void every_order(struct kunit *test, u32 pos, u32 window, u64 refuse, u32 step)
{
	struct early_env *env = test->priv;
	u32 which, i, seq[SEGMENTS], each;

	for (which = 0; which < factorial(SEGMENTS); which += step) {
		env->refuse = refuse;
		early_frame_all(env, pos);
		early_restart_at(test, env, pos, window);
		order(which, seq);
		each = env->f.len / SEGMENTS + 1;
		for (i = 0; i < SEGMENTS; i++) {
			u32 from = seq[i] * each;

			early_arrive(test, env, from, min(from + each, env->f.len));
			early_expect_due(env, true);
			KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "order %u, step %u", which, i);
		}
		early_expect_all(test, env, "order", which);
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

/* FPDUs that the consumer refuses are delivered later; the next are placed. */
static void ddp_09_refused_ones_between(struct kunit *test)
{
	every_order(test, 0, SZ_1M, 0x5a6c, 5);
}

/* RCV-06: TCP's window is shut, and incomplete FPDUs are copied out. */
static void rcv_06_every_order_window_shut(struct kunit *test)
{
	every_order(test, 0, 0, 0, 7);
}

/* Random segments that overlap, so that octets arrive more than once. */
static void overlaps(struct kunit *test, u32 seed)
{
	struct early_env *env = test->priv;
	u32 from, len, steps = 0;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, seed);
	early_restart(test, env);
	env->refuse = prandom_u32_state(&rnd) & prandom_u32_state(&rnd);
	while (env->got < EARLY_FPDUS && steps++ < 2000) {
		len = prandom_u32_state(&rnd) % 1500 + 1;
		from = prandom_u32_state(&rnd) % env->f.len;
		/* Now and then a retransmission begins at the gap. */
		if (steps % 8 == 0)
			from = tcp_sk(env->conn->sk)->rcv_nxt - env->seq;
		early_arrive(test, env, from, min(from + len, env->f.len));
		early_expect_due(env, env->most_runs <= 4);
		KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "seed %u, step %u", seed, steps);
	}
	early_expect_all(test, env, "seed", seed);
}

static void rcv_05_overlapping_segments(struct kunit *test)
{
	u32 seed;

	for (seed = 1; seed <= 60; seed++)
		overlaps(test, seed);
}

/* Duplicates of placed octets have other values, which must never be read. */
static void rcv_05_duplicates_with_other_octets(struct kunit *test)
{
	struct early_env *env = test->priv;
	u8 *other = kunit_kzalloc(test, EARLY_STREAM_SIZE, GFP_KERNEL);
	u32 shape, from = env->bound[1], last = env->bound[EARLY_FPDUS - 1];

	KUNIT_ASSERT_NOT_NULL(test, other);
	memset(other, 0x55, EARLY_STREAM_SIZE);
	for (shape = 0; shape < NUM_SHAPES; shape++) {
		early_restart(test, env);
		/* Without the last octet, so that a longer segment replaces it. */
		early_arrive(test, env, from, env->f.len - 1);
		early_expect_due(env, true);
		KUNIT_EXPECT_EQ(test, env->placed, GENMASK_ULL(EARLY_FPDUS - 2, 1));
		memcpy(other + last, env->stream + last, env->f.len - last);
		early_arrive_as(test, env, other + from, from, env->f.len, shape);
		early_look(env, EARLY_NO_LIMIT);
		KUNIT_EXPECT_EQ(test, early_arrive(test, env, 0, from), MPA_ERR_NONE);
		early_expect_all(test, env, "shape", shape);
	}
}

/* TCP may drop octets that it holds out of order; the peer sends them again. */
static void rcv_05_thrown_away_and_sent_again(struct kunit *test)
{
	struct early_env *env = test->priv;
	struct tcp_sock *tp = tcp_sk(env->conn->sk);
	u32 from = env->bound[3], to = env->bound[9], each = 333, at;

	early_arrive(test, env, from, to);
	KUNIT_EXPECT_NE(test, env->placed, 0);
	fake_rcv_clear(env->conn->sk);
	tp->rx_opt.num_sacks = 0;
	memset(env->stream + env->bound[5], 0x77, to - env->bound[5]);
	for (at = 0; at < env->f.len; at += each)
		KUNIT_ASSERT_EQ(test, early_arrive(test, env, at, min(at + each, env->f.len)),
				MPA_ERR_NONE);
	early_expect_all(test, env, "each", each);
}

/* A bad CRC out of order is no error until the FPDU's turn comes. */
static void crc_08_err_02_bad_crc_out_of_order(struct kunit *test)
{
	struct early_env *env = test->priv;
	u32 bad;

	for (bad = 1; bad < EARLY_FPDUS; bad++) {
		early_restart(test, env);
		env->stream[env->bound[bad + 1] - 6] ^= 0x10;
		early_arrive(test, env, 40, env->f.len);
		early_expect_due(env, false);
		KUNIT_EXPECT_EQ_MSG(test, env->placed & ~GENMASK_ULL(bad - 1, 0), 0,
				    "FPDU %u", bad);
		KUNIT_EXPECT_EQ(test, early_arrive(test, env, 0, 40), MPA_ERR_CRC);
		KUNIT_EXPECT_EQ_MSG(test, env->got, bad, "FPDU %u", bad);
		KUNIT_EXPECT_EQ(test, env->wrong, 0);
		KUNIT_EXPECT_EQ(test, env->conn->rx.early->num_placed, 0);
	}
}

/* Every wrong pointer in every Marker: no wrong octet may be placed. */
static void mrk_13_rcv_04_markers_that_lie(struct kunit *test)
{
	struct early_env *env = test->priv;
	u32 at, ptr;

	for (at = 512; at < env->f.len; at += 512)
		for (ptr = 0; ptr < 0x10000; ptr = ptr * 3 / 2 + 4) {
			early_restart(test, env);
			if ((ptr & 0xfffc) == ((env->stream[at + 2] << 8 | env->stream[at + 3]) &
					       0xfffc))
				continue;
			env->stream[at + 2] = ptr >> 8;
			env->stream[at + 3] = ptr;
			early_arrive(test, env, 500, env->f.len);
			early_expect_due(env, false);
			/* The CRC covers the Marker. */
			KUNIT_ASSERT_EQ(test, early_arrive(test, env, 0, 500), MPA_ERR_CRC);
			KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "Marker %u, pointer %u", at, ptr);
		}
}

/* Random damage, random order: all octets delivered or placed are right. */
static void rcv_01_fuzz(struct kunit *test)
{
	struct early_env *env = test->priv;
	u32 seed, n, from, len;
	struct rnd_state rnd;

	for (seed = 1; seed <= 200; seed++) {
		prandom_seed_state(&rnd, seed);
		early_restart(test, env);
		for (n = prandom_u32_state(&rnd) % 4; n; n--) {
			/* Half of the damage hits lengths and Markers. */
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
			early_arrive(test, env, from, min(from + len, env->f.len));
			early_expect_due(env, false);
			KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "seed %u, step %u", seed, n);
		}
	}
}

/* Gaps open and close, more of them than rx_early.c keeps islands for. */
static void ddp_09_gap_after_gap(struct kunit *test)
{
	struct early_env *env = test->priv;
	u32 at, each = 310;

	for (at = 0; at < env->f.len; at += 2 * each) {
		u32 gap_end = min(at + each, env->f.len);

		if (gap_end < env->f.len)
			early_arrive(test, env, gap_end, min(gap_end + each, env->f.len));
		early_expect_due(env, true);
		KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "gap at %u", at);
		early_arrive(test, env, at, gap_end);
	}
	KUNIT_EXPECT_GT(test, at / (2 * each), MPA_EARLY_ISLANDS);
	early_expect_all(test, env, "each", each);
}

/* After an error in the gap, notes of FPDUs placed behind it are dropped. */
static void err_05_bad_crc_in_the_gap(struct kunit *test)
{
	struct early_env *env = test->priv;

	env->stream[env->bound[2] + 20] ^= 1;
	early_arrive(test, env, env->bound[3], env->f.len);
	early_expect_due(env, true);
	KUNIT_EXPECT_GT(test, env->conn->rx.early->num_placed, 0);
	KUNIT_EXPECT_EQ(test, early_arrive(test, env, 0, env->bound[3]), MPA_ERR_CRC);
	KUNIT_EXPECT_EQ(test, env->got, 2);
	KUNIT_EXPECT_EQ(test, env->wrong, 0);
	KUNIT_EXPECT_EQ(test, env->conn->rx.early->num_placed, 0);
}

/*
 * After place() has said that the peer was not permitted an access, it is not
 * called again. receive_done() still ends the pass, so that the consumer can
 * release what it holds.
 */
static void ddp_09_one_wrong_guess(struct kunit *test)
{
	struct early_env *env = test->priv;
	u32 half = env->bound[EARLY_FPDUS / 2];

	env->forbid = ~0ULL;
	early_arrive(test, env, 40, half);
	KUNIT_EXPECT_EQ(test, env->asked, 1);
	KUNIT_EXPECT_EQ(test, env->batches, 1);
	early_arrive(test, env, half, env->f.len);
	KUNIT_EXPECT_EQ(test, env->asked, 1);
	KUNIT_EXPECT_EQ(test, env->placed, 0);
	early_arrive(test, env, 0, 40);
	early_expect_all(test, env, "from", 40);
}

/* An FPDU in too many buffers is not placed early; it waits for its turn. */
static void ddp_09_too_many_pieces(struct kunit *test)
{
	struct early_env *env = test->priv;
	u32 longest = 9, first = env->bound[longest], end = env->bound[longest + 1], at;

	KUNIT_ASSERT_GT(test, end - first, MPA_EARLY_BUFFERS);
	early_arrive(test, env, env->bound[longest - 1], first);
	for (at = first; at < end; at++)
		early_arrive(test, env, at, at + 1);
	early_arrive(test, env, end, env->f.len);
	KUNIT_EXPECT_FALSE(test, env->placed & BIT_ULL(longest));
	early_arrive(test, env, 0, env->bound[longest - 1]);
	early_expect_all(test, env, "FPDU", longest);
}

/* No CRC is computed for an FPDU that cannot be noted. */
static void no_memory_for_notes(struct kunit *test)
{
	struct early_env *env = test->priv;

	early_verified = 0;
	early_no_memory = true;
	early_arrive(test, env, 1000, env->f.len);
	early_no_memory = false;
	KUNIT_EXPECT_EQ(test, env->placed, 0);
	KUNIT_EXPECT_EQ(test, early_verified, 0);
	early_arrive(test, env, 0, 1000);
	early_expect_all(test, env, "from", 1000);
}

/* As many notes as allowed: the rest is placed early when some are gone. */
static void too_many_notes(struct kunit *test)
{
	struct early_env *env = test->priv;
	struct mpa_early *early = env->conn->rx.early;

	early_verified = 0;
	early->num_placed = MPA_EARLY_MAX - 2;
	early_arrive(test, env, 1000, env->bound[12]);
	KUNIT_EXPECT_EQ(test, hweight64(env->placed), 2);
	KUNIT_EXPECT_LE(test, early_verified, 2 + hweight64(env->refuse));
	early->num_placed = 2;
	early_arrive(test, env, env->bound[12], env->f.len);
	early_expect_due(env, true);
	early_arrive(test, env, 0, 1000);
	early_expect_all(test, env, "from", 1000);
}

/* Notes are charged to the same cgroup as the stash, within its limit. */
static void notes_are_charged(struct kunit *test)
{
	struct early_env *env = test->priv;
	struct mpa_conn *conn = env->conn;

	early_arrive(test, env, 1000, env->f.len);
	KUNIT_ASSERT_NE(test, env->placed, 0);
	KUNIT_EXPECT_FALSE(test, early_gfp & __GFP_ACCOUNT);
	KUNIT_EXPECT_TRUE(test, early_gfp & __GFP_HIGH);

	early_restart(test, env);
	conn->memcg = (void *)test;	/* this kernel has no cgroups */
	early_arrive(test, env, 1000, env->f.len);
	conn->memcg = NULL;
	KUNIT_ASSERT_NE(test, env->placed, 0);
	KUNIT_EXPECT_TRUE(test, early_gfp & __GFP_ACCOUNT);
	KUNIT_EXPECT_FALSE(test, early_gfp & __GFP_HIGH);
}

/* Notes of a kernel consumer stay within TCP's limits. */
static void notes_are_charged_to_tcp(struct kunit *test)
{
	struct early_env *env = test->priv;
	struct sock *sk = env->conn->sk;
	long *limits = sk->sk_prot->sysctl_mem, was[3];

	env->conn->rx.early->charged = sk;
	memcpy(was, limits, sizeof(was));
	memset(limits, 0xff, sizeof(was));
	early_arrive(test, env, 1000, env->f.len);
	memcpy(limits, was, sizeof(was));
	KUNIT_EXPECT_EQ(test, env->placed, 0);
	early_look(env, EARLY_NO_LIMIT);
	early_expect_due(env, true);
	KUNIT_EXPECT_NE(test, sk->sk_forward_alloc, 0);
	early_arrive(test, env, 0, 1000);
	early_expect_all(test, env, "from", 1000);
	KUNIT_EXPECT_EQ(test, sk->sk_forward_alloc, 0);
}

static void a_pass_has_a_budget(struct kunit *test)
{
	struct early_env *env = test->priv;
	u32 passes;

	early_arrive_as(test, env, env->stream + 40, 40, env->f.len, FRAGS);
	for (passes = 1; mpa_early_has_news(env->conn->rx.early, env->conn->sk);
	     passes++) {
		early_look(env, 1);
		KUNIT_ASSERT_LE(test, hweight64(env->placed), passes);
	}
	early_expect_due(env, true);
	KUNIT_EXPECT_GT(test, passes, EARLY_FPDUS / 2);
	early_arrive(test, env, 0, 40);
	early_expect_all(test, env, "passes", passes);
}

/* Each buffer costs, whatever it holds: the budget is more than the octets and FPDUs cost. */
static void a_pass_counts_buffers(struct kunit *test)
{
	const u32 budget = EARLY_STREAM_SIZE + EARLY_FPDUS * MPA_FPDU_COST;
	struct early_env *env = test->priv;
	u32 from, each = 40;

	for (from = each; from < env->f.len; from += each)
		early_arrive_as(test, env, env->stream + from, from,
				min(from + each, env->f.len), LINEAR);
	early_look(env, budget);
	KUNIT_EXPECT_GT(test, hweight64(env->placed), 0);
	KUNIT_EXPECT_TRUE(test, mpa_early_has_news(env->conn->rx.early, env->conn->sk));
	while (mpa_early_has_news(env->conn->rx.early, env->conn->sk))
		early_look(env, budget);
	early_expect_due(env, true);
	early_arrive(test, env, 0, each);
	early_expect_all(test, env, "each", each);
}

/* The counter rx_placed_early, which the administrator sees. */
static void placed_ones_are_counted(struct kunit *test)
{
	struct early_env *env = test->priv;
	u64 *count = per_cpu_ptr(env->conn->mib->v, 0) + MPA_STAT_RX_PLACED_EARLY;

	early_arrive(test, env, 40, env->f.len);
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

/* After the end of the receive direction nothing is placed. */
static void err_05_nothing_after_an_end(struct kunit *test)
{
	struct early_env *env = test->priv;

	env->conn->rx.stopped = true;
	early_arrive_as(test, env, env->stream + 40, 40, env->f.len, LINEAR);
	early_look(env, EARLY_NO_LIMIT);
	KUNIT_EXPECT_EQ(test, env->placed, 0);

	early_restart(test, env);
	env->conn->state = MPA_ENDED;
	early_arrive_as(test, env, env->stream + 40, 40, env->f.len, LINEAR);
	early_look(env, EARLY_NO_LIMIT);
	KUNIT_EXPECT_EQ(test, env->placed, 0);
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
	KUNIT_CASE(too_many_notes),
	KUNIT_CASE(notes_are_charged),
	KUNIT_CASE(notes_are_charged_to_tcp),
	KUNIT_CASE(a_pass_has_a_budget),
	KUNIT_CASE(a_pass_counts_buffers),
	KUNIT_CASE(placed_ones_are_counted),
	KUNIT_CASE(crc_off_or_markers_off),
	KUNIT_CASE(err_05_nothing_after_an_end),
	{}
};

static struct kunit_suite suite = {
	.name = "mpa_early",
	.suite_init = crc_suite_init,
	.suite_exit = crc_suite_exit,
	.init = early_env_init,
	.exit = early_env_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);

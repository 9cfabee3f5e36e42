// SPDX-License-Identifier: GPL-2.0
/*
 * The FPDU writer's memory (mpa/tx_pages.c): pages that TCP holds, has released,
 * or never gets.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include "tx_env.h"

/* Forget what was written: the stream that is compared begins here. */
static void begin_anew(struct tx_env *env)
{
	fake_tcp.len = 0;
	env->f.len = 0;
	env->num_fpdus = 0;
}

static u32 chunks_in_use(void)
{
	u32 i, used = 0;

	/* A freed page may have another owner by now. */
	for (i = 0; i < fake_memory.num_given; i++)
		used += page_ref_count(fake_memory.given[i]) > 0 &&
			page_private(fake_memory.given[i]) == (unsigned long)&fake_memory;
	return used;
}

/*
 * TCP holds pages until they are acknowledged. The writer never rewrites a page
 * that TCP holds, and reuses released pages before it allocates new ones.
 */
static void pages_are_reused_when_tcp_lets_go(struct kunit *test)
{
	struct tx_env *env = test->priv;
	struct page *ring[MPA_TX_RING];
	u32 round, i, known;

	tx_start(env, false, true, 1448);
	tx_write_message(test, env, 400000, 128);
	KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	KUNIT_ASSERT_TRUE(test, tx_stream_matches(env));
	memcpy(ring, env->conn->tx.ring.chunk, sizeof(ring));

	for (round = 0; round < 5; round++) {
		fake_tcp_release();
		begin_anew(env);
		tx_write_message(test, env, 300000, 128);
		KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
		KUNIT_ASSERT_TRUE(test, tx_stream_matches(env));
	}
	for (i = 0, known = 0; i < MPA_TX_RING; i++)
		known += ring[i] && ring[i] == env->conn->tx.ring.chunk[i];
	KUNIT_EXPECT_GE(test, known, 400000 / (PAGE_SIZE << MPA_TX_CHUNK_ORDER));
}

/*
 * While the peer acknowledges each message before the next, the ring does not
 * grow, and no memory is needed.
 */
static void the_ring_grows_only_while_tcp_holds_it(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 round;

	tx_start(env, false, true, 1448);
	for (round = 0; round < 2 * MPA_TX_RING; round++) {
		begin_anew(env);
		tx_write_message(test, env, 30000, 128);
		KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
		KUNIT_ASSERT_TRUE(test, tx_stream_matches(env));
		fake_tcp_release();
		if (round > 2)
			fake_memory.left = 0;
	}
	fake_memory.left = U32_MAX;
	KUNIT_EXPECT_LE(test, chunks_in_use(), 3);
}

/* TCP holds more pages than the ring has; none of them is overwritten. */
static void pages_that_tcp_keeps_stay_as_they_are(struct kunit *test)
{
	struct tx_env *env = test->priv;
	struct fake_part first;
	u8 before[64];

	tx_start(env, false, true, 8948);
	tx_write_message(test, env, 100000, 128);
	KUNIT_ASSERT_EQ(test, tx_push(env, true), 0);
	first = fake_tcp.parts[0];
	get_page(first.page);
	memcpy(before, page_address(first.page) + first.off, sizeof(before));
	fake_tcp_release();
	while (fake_tcp.len < (MPA_TX_RING + 4) * (PAGE_SIZE << MPA_TX_CHUNK_ORDER)) {
		env->f.len = 0;
		env->num_fpdus = 0;
		tx_write_message(test, env, 100000, 128);
		KUNIT_ASSERT_EQ(test, tx_push(env, true), 0);
		fake_tcp_release();
	}
	KUNIT_EXPECT_EQ(test, memcmp(before, page_address(first.page) + first.off, 64), 0);
	put_page(first.page);
}

/* Rest as the connection's worker does. */
static bool rest_if_idle(struct tx_env *env)
{
	if (mpa_tx_is_idle(env->conn))
		mpa_tx_rest(env->conn);
	return !env->conn->tx.store;
}

/* The memory stays while octets wait for TCP, not while TCP holds them. */
static void idle_gives_memory_back(struct kunit *test)
{
	struct tx_env *env = test->priv;
	int round;

	tx_start(env, true, true, 1448);
	tx_times_busy = 0;
	for (round = 0; round < 3; round++) {
		KUNIT_EXPECT_TRUE(test, rest_if_idle(env));
		tx_write_message(test, env, 100000, 128);
		KUNIT_EXPECT_EQ(test, tx_times_busy, 2 * round + 1);
		KUNIT_EXPECT_FALSE(test, rest_if_idle(env));
		KUNIT_EXPECT_FALSE(test, rest_if_idle(env));
		KUNIT_EXPECT_EQ(test, tx_times_busy, 2 * round + 2);
		KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
		KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
		KUNIT_EXPECT_TRUE(test, rest_if_idle(env));
	}
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
	fake_tcp_release();
	KUNIT_EXPECT_EQ(test, chunks_in_use(), 0);

	/* A small message now and then does not keep it. */
	begin_anew(env);
	tx_write_message(test, env, 100000, 128);
	KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	KUNIT_EXPECT_FALSE(test, rest_if_idle(env));
	tx_write_message(test, env, 100, 128);
	KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	KUNIT_EXPECT_TRUE(test, rest_if_idle(env));
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
}

/* The number of chunks that are still in use when the stream is gone. */
static u32 chunks_kept(struct tx_env *env)
{
	fake_tcp_release();
	mpa_tx_free(&env->conn->tx);
	memset(&env->conn->tx, 0, sizeof(env->conn->tx));
	return chunks_in_use();
}

static const u32 rings[] = { 1, 2, 3, MPA_TX_RING_PROGRAM, MPA_TX_RING };

static void start_with_ring(struct tx_env *env, u32 slots, u32 order)
{
	tx_start(env, true, true, 1448);
	env->conn->tx.ring.slots = slots;
	fake_memory.largest_order = order;
}

/* One FPDU that needs more chunks than the ring has. */
static void tx_08_a_page_is_used_once_in_an_fpdu(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 i, order, round;

	for (i = 0; i < ARRAY_SIZE(rings); i++) {
		for (order = 0; order <= MPA_TX_CHUNK_ORDER; order++) {
			start_with_ring(env, rings[i], order);
			for (round = 0; round < 6; round++) {
				tx_write_ulpdu(test, env, MPA_MAX_ULPDU - round, 65536);
				KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
				KUNIT_EXPECT_TRUE_MSG(test, tx_stream_matches(env),
						      "ring of %u, order %u, FPDU %u", rings[i],
						      order, round);
			}
			KUNIT_EXPECT_EQ(test, chunks_kept(env), 0);
		}
	}
}

/* An FPDU that is cancelled, and one that runs out of memory. */
static void tx_08_what_is_not_sent_keeps_no_page(struct kunit *test)
{
	struct tx_env *env = test->priv;
	struct mpa_conn *conn = env->conn;
	u32 i, left, failed;

	for (i = 0; i < ARRAY_SIZE(rings); i++) {
		start_with_ring(env, rings[i], 0);
		for (left = 0, failed = 0; left < 16; left++) {
			fake_memory.left = left;
			if (mpa_tx_open(conn, NULL, 0, MPA_MAX_ULPDU))
				failed++;
			else
				mpa_tx_cancel(conn);
			fake_memory.left = U32_MAX;
			KUNIT_ASSERT_EQ(test, mpa_tx_open(conn, NULL, 0, 30000), 0);
			mpa_tx_put(conn, env->ulpdu, 20000);
			mpa_tx_cancel(conn);
			tx_write_ulpdu(test, env, 17000, 65536);
			KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
			KUNIT_EXPECT_TRUE_MSG(test, tx_stream_matches(env), "ring of %u, after %u",
					      rings[i], left);
		}
		KUNIT_EXPECT_GT(test, failed, 0);
		KUNIT_EXPECT_EQ(test, chunks_kept(env), 0);
	}
}

/*
 * TCP charges the octets that it gets, but holds the whole chunk that they are
 * in. FPDUs that are cancelled, because the program's memory faults, must not
 * use up chunks.
 */
static void what_is_not_sent_uses_no_memory(struct kunit *test)
{
	static const u32 lens[] = { 1000, 30000, 60000 };
	struct tx_env *env = test->priv;
	struct mpa_conn *conn = env->conn;
	u32 i, round;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		start_with_ring(env, MPA_TX_RING_PROGRAM, MPA_TX_CHUNK_ORDER);
		for (round = 0; round < 100; round++) {
			KUNIT_ASSERT_EQ(test, mpa_tx_open(conn, NULL, 0, lens[i]), 0);
			mpa_tx_put(conn, env->ulpdu, lens[i] / 2);
			mpa_tx_cancel(conn);
			fake_memory.left = 0;
			if (!mpa_tx_open(conn, NULL, 0, MPA_MAX_ULPDU))
				mpa_tx_cancel(conn);
			fake_memory.left = U32_MAX;
			tx_write_ulpdu(test, env, 1, 1);
			KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
		}
		KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
		KUNIT_EXPECT_LE(test, chunks_in_use(), MPA_TX_RING_PROGRAM);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(pages_are_reused_when_tcp_lets_go),
	KUNIT_CASE(the_ring_grows_only_while_tcp_holds_it),
	KUNIT_CASE(pages_that_tcp_keeps_stay_as_they_are),
	KUNIT_CASE(idle_gives_memory_back),
	KUNIT_CASE(tx_08_a_page_is_used_once_in_an_fpdu),
	KUNIT_CASE(tx_08_what_is_not_sent_keeps_no_page),
	KUNIT_CASE(what_is_not_sent_uses_no_memory),
	{}
};

tx_test_suite("mpa_tx_pages", cases);

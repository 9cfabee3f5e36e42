// SPDX-License-Identifier: GPL-2.0
/*
 * The FPDU writer (mpa/tx.c over mpa/tx_plan.c): octets against the reference
 * framer, back-pressure, counters.
 */
#include <kunit/test.h>
#include "handshake.h"
#include "tx_env.h"

static void octets(struct kunit *test, bool markers, bool crc, u32 piece)
{
	static const u16 lengths[] = { 42, 1, 2, 3, 0, 402, 4, 500, 494, 1442, 64, 998, 18, 5 };
	struct tx_env *env = test->priv;
	int i, round;

	tx_start(env, markers, crc, 1448);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < ARRAY_SIZE(lengths); i++)
			tx_write_ulpdu(test, env, lengths[i], piece);
		KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	}
	KUNIT_EXPECT_TRUE_MSG(test, tx_stream_matches(env), "Markers %d CRC %d pieces of %u",
			      markers, crc, piece);
	KUNIT_EXPECT_EQ(test, mpa_tx_written(env->conn), env->f.len);
	KUNIT_EXPECT_EQ(test, mpa_tx_accepted(env->conn), env->f.len);
}

static void ddp_01_frm_01_to_frm_05_mrk_10_crc_02_octets(struct kunit *test)
{
	static const u32 pieces[] = { 1, 3, 14, 511, 65536 };
	int i;

	for (i = 0; i < ARRAY_SIZE(pieces); i++) {
		octets(test, false, true, pieces[i]);
		octets(test, true, true, pieces[i]);
		octets(test, true, false, pieces[i]);
		octets(test, false, false, pieces[i]);
	}
}

static void crc_03_figure_5(struct kunit *test)
{
	static const u8 figure[] = {
		0x00, 0x00, 0x00, 0x00, 0x00, 0x2a, 0x41, 0x43, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x52, 0x23, 0x99, 0x83,
	};
	struct tx_env *env = test->priv;

	tx_start(env, true, true, 1448);
	KUNIT_ASSERT_EQ(test, mpa_tx_open(env->conn, figure + 6, 18, 42), 0);
	mpa_tx_put(env->conn, figure + 24, 24);
	mpa_tx_close(env->conn);
	memcpy(env->stream, figure, sizeof(figure));
	env->f.len = sizeof(figure);
	KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
}

/*
 * The RDMA Consortium's start: both sides may send at once, the stream begins
 * with a Marker, and the FPDU is the draft's vector for version 0.
 */
static void rdc_06_crc_05_original_start(struct kunit *test)
{
	static const u8 first[] = {
		0x00, 0x00, 0x00, 0x00, 0x00, 0x2a, 0x40, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x4c, 0x86, 0xb3, 0x84,
	};
	struct tx_env *env = test->priv;
	struct mpa_conn *conn = env->conn;
	int initiator;

	for (initiator = 0; initiator < 2; initiator++) {
		tx_start(env, false, false, 1448);
		conn->initiator = initiator;
		conn->tx.allowed = false;
		conn->params.ird = 5;
		conn->params.ord = 6;
		mpa_conn_begin_rdmac(conn);
		mpa_tx_start(conn, tx_note_busy);
		KUNIT_EXPECT_EQ(test, conn->agreed.rev, MPA_REV_RDMAC);
		KUNIT_EXPECT_TRUE(test, conn->agreed.rx_markers && conn->agreed.crc);
		KUNIT_EXPECT_EQ(test, conn->agreed.ird, 5);
		KUNIT_EXPECT_EQ(test, conn->agreed.ord, 6);
		KUNIT_EXPECT_GT(test, mpa_tx_room(conn, 42), 0);
		KUNIT_ASSERT_EQ(test, mpa_tx_open(conn, first + 6, 18, 42), 0);
		mpa_tx_put(conn, first + 24, 24);
		mpa_tx_close(conn);
		memcpy(env->stream, first, sizeof(first));
		env->f.len = sizeof(first);
		KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
		KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
	}
}

/* Every length up to three Markers, one after the other. */
static void mrk_05_to_mrk_08_every_length(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 len;

	tx_start(env, true, true, 8948);
	for (len = 0; len < 1600; len += 3) {
		tx_write_ulpdu(test, env, len, 250);
		KUNIT_ASSERT_EQ(test, tx_push(env, true), 0);
		if (env->f.len < TX_STREAM_SIZE - 8192 && env->num_fpdus < 500)
			continue;
		KUNIT_ASSERT_TRUE(test, tx_stream_matches(env));
		tx_start(env, true, true, 8948);
	}
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
}

static void mrk_09_position_wrap(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 i;

	tx_start(env, true, true, 1448);
	env->conn->tx.writer.pos = 0u - 4096;
	env->f.pos = 0u - 4096;
	for (i = 0; i < 8; i++)
		tx_write_ulpdu(test, env, 1001, 300);
	KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
}

static void ddp_03_ddp_04_large_ulpdus(struct kunit *test)
{
	struct tx_env *env = test->priv;

	tx_start(env, true, true, 1448);
	KUNIT_EXPECT_EQ(test, mpa_tx_open(env->conn, env->ulpdu, 18, 64769), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, mpa_tx_open(env->conn, env->ulpdu, 18, 65536 + 42), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, tx_write_at_once(env, 18, 64769, 65536), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, tx_write_at_once(env, 18, 65536 + 42, 65536 + 42), -EMSGSIZE);
	tx_write_ulpdu(test, env, 42, 42);
	tx_write_ulpdu(test, env, 64768, 1000);
	tx_write_ulpdu(test, env, 64768, 1000);
	tx_write_ulpdu(test, env, 64768, 1000);
	tx_write_ulpdu(test, env, 42, 42);
	KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
	KUNIT_EXPECT_GT(test, tx_count(env, MPA_STAT_TX_UNALIGNED), 0);
}

static void sta_12_ddp_02_when_nothing_may_be_sent(struct kunit *test)
{
	struct tx_env *env = test->priv;

	tx_start(env, false, true, 1448);
	env->conn->tx.allowed = false;
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 0);
	env->conn->tx.allowed = true;
	env->conn->tx.ready = false;
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 0);
	env->conn->tx.ready = true;
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 1442);
	env->conn->initiator = false;
	env->conn->tx.allowed = false;
	mpa_tx_start(env->conn, tx_note_busy);
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 0);
}

/* TCP takes a few octets at a time: nothing is lost, doubled or altered. */
static void tx_03_tx_08_full_socket(struct kunit *test)
{
	static const u32 spaces[] = { 1, 3, 700, 5000, 33000 };
	struct tx_env *env = test->priv;
	u32 i, turns;
	int ret;

	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		tx_start(env, true, true, 1448);
		fake_tcp.space = 0;
		tx_write_message(test, env, spaces[i] < 100 ? 1000 : 60000, 128);
		KUNIT_EXPECT_EQ(test, tx_push(env, false), -EAGAIN);
		KUNIT_EXPECT_EQ(test, mpa_tx_accepted(env->conn), 0);
		for (turns = 0, ret = -EAGAIN; ret == -EAGAIN && turns < 2000; turns++) {
			fake_tcp.space = spaces[i];
			ret = tx_push(env, false);
			KUNIT_ASSERT_EQ(test, mpa_tx_accepted(env->conn), fake_tcp.len);
		}
		KUNIT_EXPECT_EQ(test, ret, 0);
		KUNIT_EXPECT_TRUE_MSG(test, tx_stream_matches(env), "%u at a time", spaces[i]);
		KUNIT_EXPECT_EQ(test, mpa_tx_written(env->conn), fake_tcp.len);
	}
}

/* Octets written ahead of TCP are bounded; room returns when TCP takes some. */
static void tx_03_written_ahead_is_bounded(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 n, turns = 0;

	tx_start(env, false, true, 1448);
	fake_tcp.space = 0;
	while ((n = mpa_tx_room(env->conn, 128)) && turns++ < 1000)
		tx_write_ulpdu(test, env, n, n);
	KUNIT_EXPECT_EQ(test, n, 0);
	KUNIT_EXPECT_LE(test, mpa_tx_written(env->conn), MPA_TX_AHEAD + 1448);
	KUNIT_EXPECT_EQ(test, tx_push(env, true), -EAGAIN);
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 0);
	fake_tcp.space = U32_MAX;
	KUNIT_EXPECT_EQ(test, tx_push(env, true), 0);
	KUNIT_EXPECT_GT(test, mpa_tx_room(env->conn, 128), 0);
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
}

static void err_01_dead_socket(struct kunit *test)
{
	struct tx_env *env = test->priv;

	tx_start(env, false, true, 1448);
	tx_write_ulpdu(test, env, 42, 42);
	fake_tcp.dead = -EPIPE;
	KUNIT_EXPECT_EQ(test, tx_push(env, false), -EPIPE);
	KUNIT_EXPECT_EQ(test, mpa_tx_accepted(env->conn), 0);
}

static void counters(struct kunit *test)
{
	struct tx_env *env = test->priv;

	tx_start(env, true, true, 1448);
	KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	KUNIT_EXPECT_EQ(test, tx_count(env, MPA_STAT_TX_BATCHES), 0);
	tx_write_ulpdu(test, env, 42, 42);
	tx_write_ulpdu(test, env, 1000, 1000);
	fake_tcp.space = 0;
	KUNIT_ASSERT_EQ(test, tx_push(env, false), -EAGAIN);
	KUNIT_EXPECT_EQ(test, tx_count(env, MPA_STAT_TX_BLOCKED), 1);
	KUNIT_EXPECT_EQ(test, tx_count(env, MPA_STAT_TX_OCTETS), 0);
	fake_tcp.space = U32_MAX;
	KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	KUNIT_EXPECT_EQ(test, tx_count(env, MPA_STAT_TX_BATCHES), 1);
	KUNIT_EXPECT_EQ(test, tx_count(env, MPA_STAT_TX_FPDUS), 2);
	KUNIT_EXPECT_EQ(test, tx_count(env, MPA_STAT_TX_OCTETS), env->f.len);
	tx_write_ulpdu(test, env, 7, 7);
	KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	KUNIT_EXPECT_EQ(test, tx_count(env, MPA_STAT_TX_FPDUS), 3);
	KUNIT_EXPECT_EQ(test, tx_count(env, MPA_STAT_TX_OCTETS), env->f.len);
}

/* TCP may wait for more octets only while more are written. */
static void tx_06_last_octets_are_not_held_back(struct kunit *test)
{
	struct tx_env *env = test->priv;

	tx_start(env, false, true, 1448);
	tx_write_ulpdu(test, env, 42, 42);
	KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	KUNIT_EXPECT_FALSE(test, fake_tcp.more);
	tx_write_ulpdu(test, env, 42, 42);
	KUNIT_ASSERT_EQ(test, tx_push(env, true), 0);
	KUNIT_EXPECT_TRUE(test, fake_tcp.more);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(ddp_01_frm_01_to_frm_05_mrk_10_crc_02_octets),
	KUNIT_CASE(crc_03_figure_5),
	KUNIT_CASE(rdc_06_crc_05_original_start),
	KUNIT_CASE(mrk_05_to_mrk_08_every_length),
	KUNIT_CASE(mrk_09_position_wrap),
	KUNIT_CASE(ddp_03_ddp_04_large_ulpdus),
	KUNIT_CASE(sta_12_ddp_02_when_nothing_may_be_sent),
	KUNIT_CASE(tx_03_tx_08_full_socket),
	KUNIT_CASE(tx_03_written_ahead_is_bounded),
	KUNIT_CASE(err_01_dead_socket),
	KUNIT_CASE(counters),
	KUNIT_CASE(tx_06_last_octets_are_not_held_back),
	{}
};

tx_test_suite("mpa_tx", cases);

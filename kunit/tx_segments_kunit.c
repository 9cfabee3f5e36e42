// SPDX-License-Identifier: GPL-2.0
/*
 * Where the FPDU writer (mpa/tx.c over mpa/tx_plan.c) ends TCP segments: alignment,
 * packing, an EMSS that changes, large FPDUs.
 */
#include <kunit/test.h>
#include <linux/tcp.h>
#include "tx_env.h"

/*
 * Cut the stream from @pos on as TCP does: at the EMSS, and where the writer
 * ended a segment. Returns the number of segments that do not start with an
 * FPDU.
 */
static u32 unaligned_from(const struct tx_env *env, u32 emss, u32 pos, u32 *segments)
{
	u32 fpdu = 0, end = 0, bad = 0;

	for (*segments = 0; pos < fake_tcp.len; ++*segments) {
		while (fpdu < env->num_fpdus && env->fpdus[fpdu] < pos)
			fpdu++;
		if (fpdu == env->num_fpdus || env->fpdus[fpdu] != pos)
			bad++;
		while (end < fake_tcp.num_ends && fake_tcp.ends[end] <= pos)
			end++;
		if (end < fake_tcp.num_ends)
			pos = min(pos + emss, fake_tcp.ends[end]);
		else
			pos += emss;
	}
	return bad;
}

static u32 unaligned(const struct tx_env *env, u32 emss, u32 *segments)
{
	return unaligned_from(env, emss, 0, segments);
}

static void align(struct kunit *test, bool markers, u32 emss, u32 batch)
{
	static const u32 messages[] = { 64, 64, 5000, 1, 1442, 17, 20000, 700, 700, 3, 128, 65536 };
	struct tx_env *env = test->priv;
	u32 i, segments, bad;

	tx_start(env, markers, true, emss);
	for (i = 0; i < ARRAY_SIZE(messages); i++) {
		tx_write_message(test, env, messages[i], 128);
		if (i % batch == batch - 1)
			KUNIT_ASSERT_EQ(test, tx_push(env, i % (2 * batch) == 2 * batch - 1), 0);
	}
	KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	bad = unaligned(env, emss, &segments);
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
	KUNIT_EXPECT_EQ_MSG(test, bad, 0, "EMSS %u Markers %d batches of %u: %u segments", emss,
			    markers, batch, segments);
	KUNIT_EXPECT_EQ(test, tx_count(env, MPA_STAT_TX_UNALIGNED), 0);
}

static void tx_01_tx_02_siz_05_segments_start_with_an_fpdu(struct kunit *test)
{
	static const u32 sizes[] = { 536, 1448, 1460, 8948, 32768, 65236 };
	static const u32 batches[] = { 1, 2, 3, 12 };
	int i, k;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (k = 0; k < ARRAY_SIZE(batches); k++) {
			align(test, false, sizes[i], batches[k]);
			align(test, true, sizes[i], batches[k]);
		}
}

/* With an EMSS that is no multiple of 4 the writer ends full segments. */
static void tx_01_ragged_emss(struct kunit *test)
{
	static const u32 sizes[] = { 537, 1446, 1447, 1461 };
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		align(test, false, sizes[i], 3);
		align(test, true, sizes[i], 12);
	}
}

/* In a bulk transfer the writer ends no segment: TCP cuts big buffers. */
static void tx_01_bulk_ends_no_segments(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 segments;

	tx_start(env, false, true, 1448);
	tx_write_message(test, env, 138 * 1442, 128);
	KUNIT_ASSERT_EQ(test, tx_push(env, true), 0);
	KUNIT_EXPECT_EQ(test, fake_tcp.num_ends, 0);
	KUNIT_EXPECT_EQ(test, unaligned(env, 1448, &segments), 0);
	KUNIT_EXPECT_EQ(test, tx_push(env, false), 0);
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
}

/* A call has as many parts as the kernel's TCP takes. */
static void tx_03_parts_of_a_push_go_to_tcp_together(struct kunit *test)
{
	struct tx_env *env = test->priv;
	int paged;

	for (paged = 0; paged < 2; paged++) {
		tx_start(env, false, true, 1448);
		fake_tcp.paged = paged;
		tx_write_message(test, env, 138 * 1442, 128);
		KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
		KUNIT_EXPECT_GT(test, fake_tcp.num_parts, MPA_SOCK_PARTS);
		KUNIT_EXPECT_EQ(test, fake_tcp.calls,
				DIV_ROUND_UP(fake_tcp.num_parts, paged ? MPA_SOCK_PARTS : 1));
		KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
	}
}

/* Messages share a segment: the room that is left after each. */
static void siz_05_room_in_a_partly_filled_segment(struct kunit *test)
{
	struct tx_env *env = test->priv;

	tx_start(env, false, true, 1448);
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 1442);
	tx_write_ulpdu(test, env, 1000, 1000);		/* 1008 octets */
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 440 - 6);
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 434), 434);
	tx_write_ulpdu(test, env, 302, 302);		/* 308 octets */
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 64), 128);
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 127), 1442);
	KUNIT_ASSERT_EQ(test, tx_push(env, true), 0);
	KUNIT_EXPECT_EQ(test, fake_tcp.num_ends, 1);
	KUNIT_EXPECT_EQ(test, fake_tcp.ends[0], 1316);
}

/* SIZ-04: a new EMSS counts from the next segment on. */
static void siz_01_siz_04_emss_changes(struct kunit *test)
{
	struct tx_env *env = test->priv;

	tx_start(env, true, true, 1448);
	KUNIT_EXPECT_EQ(test, mpa_conn_mulpdu(env->conn), 1430);
	tx_write_ulpdu(test, env, 100, 100);
	fake_tcp.emss = 536;
	KUNIT_EXPECT_EQ(test, mpa_tx_flush(env->conn, false), 0);
	KUNIT_EXPECT_EQ(test, mpa_conn_mulpdu(env->conn), 522);
	KUNIT_EXPECT_LE(test, mpa_tx_room(env->conn, 128), 530);
	fake_tcp.emss = 100;
	KUNIT_EXPECT_EQ(test, mpa_tx_flush(env->conn, false), 0);
	KUNIT_EXPECT_EQ(test, mpa_conn_mulpdu(env->conn), 128);	/* SIZ-03 */
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 128);
	tx_write_ulpdu(test, env, 128, 128);
	fake_tcp.emss = 9000;
	KUNIT_EXPECT_EQ(test, mpa_tx_flush(env->conn, false), 0);
	KUNIT_EXPECT_EQ(test, mpa_conn_mulpdu(env->conn), 8922);
	tx_write_message(test, env, 20000, 128);
	KUNIT_EXPECT_EQ(test, mpa_tx_flush(env->conn, false), 0);
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
}

/* TCP has no memory, and nothing in flight whose ACK would announce room. */
static void no_memory_for_the_only_buffer(struct kunit *test)
{
	struct tx_env *env = test->priv;

	tx_start(env, true, true, 1448);
	tx_write_ulpdu(test, env, 100, 100);
	fake_tcp.space = 0;
	KUNIT_EXPECT_EQ(test, mpa_tx_flush(env->conn, false), -ENOMEM);
	tcp_sk(env->conn->sk)->write_seq++;
	KUNIT_EXPECT_EQ(test, mpa_tx_flush(env->conn, false), -EAGAIN);
	fake_tcp.space = 1000;
	KUNIT_EXPECT_EQ(test, mpa_tx_flush(env->conn, false), 0);
}

/* TCP sends all it has between hand-overs: each hand-over starts a segment. */
static void tx_05_hand_over_ends_a_segment(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 i, segments;

	tx_start(env, true, true, 1448);
	for (i = 0; i < 5; i++) {
		tx_write_message(test, env, 100 + 1000 * i, 128);
		KUNIT_ASSERT_EQ(test, tx_push(env, true), 0);
		fake_tcp_send_partly();
	}
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
	KUNIT_EXPECT_EQ(test, unaligned(env, 1448, &segments), 0);
	KUNIT_EXPECT_EQ(test, tx_count(env, MPA_STAT_TX_UNALIGNED), 0);
}

/*
 * TCP takes a part of an FPDU and sends it. The writer ends a segment behind
 * the rest of the FPDU, so that only the segment with the rest is unaligned.
 */
static void tx_03_tx_05_part_of_an_fpdu_sent(struct kunit *test)
{
	static const u32 spaces[] = { 1, 1447, 1448, 1449, 5000, 40000 };
	struct tx_env *env = test->priv;
	u32 i, segments, lost;

	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		u64 counted = tx_count(env, MPA_STAT_TX_UNALIGNED);

		tx_start(env, false, true, 1448);
		tx_write_message(test, env, 100 * 1442, 128);
		fake_tcp.space = spaces[i];
		KUNIT_EXPECT_EQ(test, tx_push(env, true), -EAGAIN);
		fake_tcp_send_partly();
		fake_tcp.space = U32_MAX;
		KUNIT_EXPECT_EQ(test, tx_push(env, true), 0);
		lost = spaces[i] % 1448 ? 1 : 0;
		KUNIT_EXPECT_EQ_MSG(test, unaligned(env, 1448, &segments), lost, "after %u",
				    spaces[i]);
		KUNIT_EXPECT_EQ(test, tx_count(env, MPA_STAT_TX_UNALIGNED) - counted, lost);
		KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
	}
}

/* TCP's last buffer starts elsewhere, as after an MTU probe. */
static void tx_05_buffer_cut_elsewhere(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 segments, pos;

	tx_start(env, false, true, 1448);
	tx_write_message(test, env, 20 * 1442, 128);
	KUNIT_ASSERT_EQ(test, tx_push(env, true), 0);
	fake_tcp.cut = 1000;
	pos = fake_tcp.len;
	tx_write_message(test, env, 20 * 1442, 128);
	KUNIT_ASSERT_EQ(test, tx_push(env, true), 0);
	KUNIT_ASSERT_EQ(test, fake_tcp.num_ends, 1);
	KUNIT_EXPECT_EQ(test, fake_tcp.ends[0], pos);
	KUNIT_EXPECT_EQ(test, unaligned_from(env, 1448, pos, &segments), 0);
}

/*
 * The EMSS changes before TCP has taken all FPDUs. @lost of them do not go out
 * in the segment that they were cut for.
 */
static void emss_changes_under_fpdus(struct kunit *test, u32 before, u32 after, u32 lost)
{
	struct tx_env *env = test->priv;
	u64 counted = tx_count(env, MPA_STAT_TX_UNALIGNED);
	u32 segments, pos;

	tx_start(env, true, true, before);
	tx_write_message(test, env, 4000, 128);
	KUNIT_ASSERT_EQ(test, tx_push(env, true), 0);
	tx_write_message(test, env, 10000, 128);
	fake_tcp.space = 0;
	KUNIT_ASSERT_EQ(test, tx_push(env, true), -EAGAIN);
	fake_tcp.emss = after;
	pos = fake_tcp.len;
	KUNIT_ASSERT_EQ(test, tx_push(env, true), -EAGAIN);
	tx_write_message(test, env, 10000, 128);
	fake_tcp.space = U32_MAX;
	KUNIT_ASSERT_EQ(test, tx_push(env, true), 0);
	KUNIT_EXPECT_EQ_MSG(test, unaligned_from(env, after, pos, &segments) != 0, lost != 0,
			    "EMSS %u to %u", before, after);
	KUNIT_EXPECT_EQ(test, tx_count(env, MPA_STAT_TX_UNALIGNED) - counted, lost);

	pos = fake_tcp.len;
	tx_write_message(test, env, 30000, 128);
	KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	KUNIT_EXPECT_EQ(test, unaligned_from(env, after, pos, &segments), 0);
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
}

static void siz_04_tx_03_tx_05_emss_changes_under_fpdus(struct kunit *test)
{
	emss_changes_under_fpdus(test, 1448, 1000, 7);
	emss_changes_under_fpdus(test, 8948, 8944, 2);
	/* The FPDUs still fit: each is its own segment. */
	emss_changes_under_fpdus(test, 1448, 8948, 0);
	emss_changes_under_fpdus(test, 1448, 1449, 0);
	emss_changes_under_fpdus(test, 1449, 1448, 0);
	emss_changes_under_fpdus(test, 1449, 1460, 0);
}

/* The same when the last segment is full: only the new EMSS ends it. */
static void siz_04_tx_05_emss_changes_behind_full_segments(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 segments;

	tx_start(env, false, true, 1448);
	tx_write_message(test, env, 3 * 1442, 128);
	fake_tcp.space = 0;
	KUNIT_ASSERT_EQ(test, tx_push(env, true), -EAGAIN);
	fake_tcp.emss = 8948;
	KUNIT_ASSERT_EQ(test, tx_push(env, true), -EAGAIN);
	tx_write_message(test, env, 20000, 128);
	fake_tcp.space = U32_MAX;
	KUNIT_ASSERT_EQ(test, tx_push(env, true), 0);
	KUNIT_EXPECT_EQ(test, unaligned(env, 8948, &segments), 0);
	KUNIT_EXPECT_EQ(test, tx_count(env, MPA_STAT_TX_UNALIGNED), 0);
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
}

/*
 * A program's socket that packs: hand-overs leave the segment open. If TCP
 * sends it early, it contains whole FPDUs, and no segment is unaligned.
 */
static void tx_02_tx_05_segment_left_open(struct kunit *test)
{
	struct tx_env *env = test->priv;
	struct socket *sock = env->conn->sock;
	u32 i, segments;

	env->conn->sock = NULL;
	tx_start(env, false, true, 1448);
	env->conn->tx.nagle = true;
	for (i = 0; i < 16; i++) {
		tx_write_message(test, env, 80, 80);
		KUNIT_EXPECT_EQ(test, tx_push(env, false), 0);
	}
	KUNIT_EXPECT_EQ(test, fake_tcp.num_ends, 0);
	fake_tcp_send_partly();
	tx_write_message(test, env, 30000, 128);
	KUNIT_EXPECT_EQ(test, tx_push(env, false), 0);
	KUNIT_EXPECT_EQ(test, unaligned(env, 1448, &segments), 0);
	KUNIT_EXPECT_EQ(test, tx_count(env, MPA_STAT_TX_UNALIGNED), 0);
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
	env->conn->sock = sock;
}

/* Without packing each FPDU, long or short, has its own segment. */
static void rdc_07_one_fpdu_in_a_segment(struct kunit *test)
{
	static const u16 lengths[] = { 18, 1442, 42, 42, 1, 1000, 300, 1442, 18 };
	struct tx_env *env = test->priv;
	u32 i, round, segments;

	env->conn->params.settings.packing = false;
	for (round = 0; round < 4; round++) {
		tx_start(env, round & 1, true, round & 2 ? 1450 : 1448);
		for (i = 0; i < ARRAY_SIZE(lengths); i++) {
			u32 room = mpa_tx_room(env->conn, min_t(u32, lengths[i], 128));

			KUNIT_EXPECT_GE(test, room, 1430);
			tx_write_ulpdu(test, env, min_t(u32, lengths[i], room), 65536);
		}
		KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
		KUNIT_EXPECT_EQ(test, unaligned(env, 1448, &segments), 0);
		KUNIT_EXPECT_EQ(test, segments, env->num_fpdus);
		KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
	}
}

/*
 * Large FPDUs lie in one piece, for any window of the peer. None is larger than
 * half of the window.
 */
static void siz_large_fpdus(struct kunit *test, bool markers, u32 window)
{
	struct tx_env *env = test->priv;
	struct mpa_conn *conn = env->conn;
	u32 i, largest = 0;

	conn->params.settings.large = MPA_LARGE_ALWAYS;
	tcp_sk(conn->sk)->max_window = window;
	tx_start(env, markers, true, 1448);
	for (i = 0; i < 5; i++) {
		tx_write_message(test, env, 65536, 128);
		tx_write_message(test, env, 42, 42);
		KUNIT_ASSERT_EQ(test, tx_push(env, i & 1), 0);
	}
	KUNIT_EXPECT_TRUE_MSG(test, tx_stream_matches(env), "Markers %d, window %u", markers,
			      window);
	for (i = 1; i < env->num_fpdus; i++)
		largest = max(largest, env->fpdus[i] - env->fpdus[i - 1]);
	KUNIT_EXPECT_LE(test, largest, max(window / 2, 1448u));
	KUNIT_EXPECT_GE(test, largest, min_t(u32, max(window / 2, 1448u), MPA_TX_LARGE) - 64);
	KUNIT_EXPECT_EQ(test, tx_count(env, MPA_STAT_TX_UNALIGNED) > 0, window / 2 > 1448);
}

static void siz_05_large_fpdus(struct kunit *test)
{
	static const u32 windows[] = { 0, 536, 4000, 20000, 65535, 1 << 20 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		siz_large_fpdus(test, false, windows[i]);
		siz_large_fpdus(test, true, windows[i]);
	}
}

/*
 * MPA_LARGE_LOCAL needs a local route, and this socket has no route.
 * MPA_LARGE_AGREED needs the agreement.
 */
static void siz_05_sta_20_large_fpdus_only_where_chosen(struct kunit *test)
{
	struct tx_env *env = test->priv;

	tcp_sk(env->conn->sk)->max_window = 1 << 20;
	env->conn->params.settings.large = MPA_LARGE_LOCAL;
	tx_start(env, false, true, 1448);
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 1442);
	env->conn->params.settings.large = MPA_LARGE_NEVER;
	tx_start(env, false, true, 1448);
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 1442);
	env->conn->params.settings.large = MPA_LARGE_AGREED;
	tx_start(env, false, true, 1448);
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 1442);
	env->conn->agreed.large = true;
	tx_start(env, false, true, 1448);
	KUNIT_EXPECT_GT(test, mpa_tx_room(env->conn, 128), MPA_TX_LARGE - 64);
}

static void cancelled_fpdu_leaves_no_trace(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 room, segments;

	tx_start(env, true, true, 1448);
	tx_write_ulpdu(test, env, 400, 400);
	room = mpa_tx_room(env->conn, 128);
	KUNIT_ASSERT_EQ(test, mpa_tx_open(env->conn, env->ulpdu, 18, room), 0);
	mpa_tx_put(env->conn, env->ulpdu, 300);
	mpa_tx_cancel(env->conn);
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), room);
	tx_write_message(test, env, 5000, 128);
	KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
	KUNIT_EXPECT_EQ(test, unaligned(env, 1448, &segments), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(tx_01_tx_02_siz_05_segments_start_with_an_fpdu),
	KUNIT_CASE(tx_01_ragged_emss),
	KUNIT_CASE(tx_01_bulk_ends_no_segments),
	KUNIT_CASE(tx_03_parts_of_a_push_go_to_tcp_together),
	KUNIT_CASE(siz_05_room_in_a_partly_filled_segment),
	KUNIT_CASE(siz_01_siz_04_emss_changes),
	KUNIT_CASE(no_memory_for_the_only_buffer),
	KUNIT_CASE(tx_05_hand_over_ends_a_segment),
	KUNIT_CASE(tx_03_tx_05_part_of_an_fpdu_sent),
	KUNIT_CASE(tx_05_buffer_cut_elsewhere),
	KUNIT_CASE(siz_04_tx_03_tx_05_emss_changes_under_fpdus),
	KUNIT_CASE(siz_04_tx_05_emss_changes_behind_full_segments),
	KUNIT_CASE(tx_02_tx_05_segment_left_open),
	KUNIT_CASE(rdc_07_one_fpdu_in_a_segment),
	KUNIT_CASE(siz_05_large_fpdus),
	KUNIT_CASE(siz_05_sta_20_large_fpdus_only_where_chosen),
	KUNIT_CASE(cancelled_fpdu_leaves_no_trace),
	{}
};

tx_test_suite("mpa_tx_segments", cases);

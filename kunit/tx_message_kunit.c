// SPDX-License-Identifier: GPL-2.0
/*
 * Messages cut into ULPDUs (mpa/tx_message.c over mpa/tx.c): headers, payload that
 * is not complete yet, and lent memory.
 */
#include <kunit/test.h>
#include <linux/uio.h>
#include "fpdu.h"
#include "tx_env.h"

#define MAX_SPANS	128

static struct kvec spans[MAX_SPANS];

/**
 * struct sent_message - a message, and the ULPDUs that are expected of it
 * @msg: argument of mpa_tx_message()
 * @hdr: header of the next ULPDU
 * @done: octets of payload that are expected to have been sent
 * @len: octets of payload
 */
struct sent_message {
	struct mpa_message msg;
	u8 hdr[MPA_TX_HDR_SIZE];
	u32 done;
	u32 len;
};

static struct mpa_loan lent = { .valid = true };
static struct mpa_loan *const all_lent[] = { &lent };

/* Payload lies behind the buffer for a ULPDU of the reference. */
#define MESSAGE_AT	4096

static void message_start(struct tx_env *env, struct sent_message *m, bool tagged, u32 len,
			  u32 piece)
{
	u32 done, n, num = 0;

	tx_fill(env, MESSAGE_AT + len);
	memset(m, 0, sizeof(*m));
	m->len = len;
	m->msg = (struct mpa_message){
		.hdr_len = tagged ? 14 : 18, .last = 0x40, .offset_at = tagged ? 6 : 14,
		.offset_is_64 = tagged, .max_fpdus = 1, .left = len, .avail = len, .src = spans,
		.lent = all_lent, .num_lent = ARRAY_SIZE(all_lent),
	};
	memset(m->hdr, 0xff, sizeof(m->hdr));
	m->hdr[0] = 0x81;
	memcpy(m->msg.hdr, m->hdr, sizeof(m->hdr));
	for (done = 0; done < len; done += n) {
		n = min(piece, len - done);
		spans[num++] = (struct kvec){ env->ulpdu + MESSAGE_AT + done, n };
	}
}

/* Add a ULPDU with @len octets of the message's payload to the reference. */
static void message_expect(struct tx_env *env, struct sent_message *m, u32 len)
{
	u8 *offset = m->hdr + m->msg.offset_at;
	u32 hdr_len = m->msg.hdr_len;

	m->hdr[0] = m->done + len == m->len ? 0xc1 : 0x81;
	memcpy(env->ulpdu, m->hdr, hdr_len);
	memmove(env->ulpdu + hdr_len, env->ulpdu + MESSAGE_AT + m->done, len);
	env->fpdus[env->num_fpdus++] = env->f.len;
	framer_put(&env->f, env->ulpdu, hdr_len + len);
	m->done += len;
	if (m->msg.offset_is_64)
		put_unaligned_be64(get_unaligned_be64(offset) + len, offset);
	else
		put_unaligned_be32(get_unaligned_be32(offset) + len, offset);
}

/*
 * The room for the next ULPDU of a message. It fills the end of a segment even
 * with less than 128 octets, the least that mpa_tx_room() returns, unless all
 * that is left would fit into 128.
 */
static u32 message_room(const struct tx_env *env, u32 left)
{
	const struct mpa_tx *tx = &env->conn->tx;
	u32 room = mpa_tx_room(env->conn, left > 128 ? 32 : left);

	if (room != 128)
		return room;
	return min(room, mpa_fpdu_room(tx->plan.room, tx->writer.markers, tx->writer.pos));
}

/* Send ULPDU by ULPDU; each must use all the room. */
static void message_send(struct kunit *test, struct tx_env *env, struct sent_message *m)
{
	do {
		u32 left = m->len - m->done, hdr_len = m->msg.hdr_len;
		u32 room = message_room(env, left + hdr_len);

		if (!room) {
			KUNIT_ASSERT_EQ(test, mpa_tx_message(env->conn, &m->msg), -EAGAIN);
			KUNIT_ASSERT_EQ(test, tx_push(env, true), 0);
			continue;
		}
		KUNIT_ASSERT_EQ(test, mpa_tx_message(env->conn, &m->msg), 0);
		message_expect(env, m, min(left, room - hdr_len));
		KUNIT_ASSERT_EQ(test, m->msg.left, m->len - m->done);
		KUNIT_ASSERT_EQ(test, m->msg.avail, m->len - m->done);
	} while (m->msg.left);
}

/* Messages of many lengths, whose headers have each ULPDU's offset. */
static void ddp_01_siz_05_messages(struct kunit *test)
{
	static const u32 lengths[] = { 0, 1, 1416, 1417, 1424, 1425, 5000, 60000 };
	struct tx_env *env = test->priv;
	struct sent_message m;
	u32 i, way;

	for (way = 0; way < 8; way++) {
		tx_start(env, way & 1, way & 2, 1448);
		for (i = 0; i < ARRAY_SIZE(lengths); i++) {
			message_start(env, &m, way & 4, lengths[i], 777);
			message_send(test, env, &m);
		}
		KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
		KUNIT_EXPECT_TRUE_MSG(test, tx_stream_matches(env), "way %u", way);
		KUNIT_EXPECT_EQ(test, tx_count(env, MPA_STAT_TX_UNALIGNED), 0);
	}
}

/*
 * Messages of 4160 octets leave 112 octets of their third segment. The next
 * message fills them, so that TCP can send all segments at once.
 */
static void siz_05_messages_end_no_segments(struct kunit *test)
{
	struct tx_env *env = test->priv;
	struct sent_message m;
	u32 i;

	tx_start(env, false, true, 1448);
	for (i = 0; i < 13; i++) {
		message_start(env, &m, false, 4160, 4160);
		message_send(test, env, &m);
	}
	KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	KUNIT_EXPECT_EQ(test, fake_tcp.num_ends, 1);	/* that of the last one */
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
}

/* A segment's end that is too short for a ULPDU of 32 octets stays empty. */
static void siz_05_message_in_the_next_segment(struct kunit *test)
{
	struct tx_env *env = test->priv;
	struct sent_message m;
	u32 room;

	tx_start(env, false, true, 1448);
	for (room = 40; room >= 32; room -= 8) {
		message_start(env, &m, false, 1448 - 24 - room, 1448);
		message_send(test, env, &m);
		message_start(env, &m, false, 1418, 1418);
		message_send(test, env, &m);
		KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
		KUNIT_EXPECT_EQ(test, fake_tcp.num_ends, room < 38 ? 2 : 1);
		tx_start(env, false, true, 1448);
	}
}

/*
 * A message with up to 128 octets of ULPDU is one FPDU, whatever room the
 * segment has left: a Read Request in two is an error at the peer.
 */
static void ddp_01_short_message_is_one_fpdu(struct kunit *test)
{
	struct tx_env *env = test->priv;
	struct sent_message m;
	u32 len, room;

	for (len = 28; len <= 110; len += 41) {
		for (room = 40; room < len + 24; room += 8) {
			tx_start(env, false, true, 1448);
			message_start(env, &m, false, 1448 - 24 - room, 1448);
			message_send(test, env, &m);
			message_start(env, &m, false, len, len);
			KUNIT_ASSERT_EQ(test, mpa_tx_message(env->conn, &m.msg), 0);
			KUNIT_EXPECT_EQ_MSG(test, m.msg.left, 0, "%u octets, room %u", len, room);
			message_expect(env, &m, len);
			KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
			KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
		}
	}
}

/*
 * A message whose header and payload together have more than 2^32 octets is no
 * short one: it starts in the next segment.
 */
static void siz_05_longest_message(struct kunit *test)
{
	struct tx_env *env = test->priv;
	struct sent_message m;
	u32 left;

	for (left = U32_MAX; left > U32_MAX - 20; left--) {
		tx_start(env, false, true, 1448);
		message_start(env, &m, false, 1448 - 24 - 16, 1448);
		message_send(test, env, &m);
		message_start(env, &m, true, 2000, 2000);
		m.msg.left = left;
		KUNIT_ASSERT_EQ(test, mpa_tx_message(env->conn, &m.msg), 0);
		KUNIT_EXPECT_EQ(test, left - m.msg.left, 1448 - 6 - 14);
	}
}

/* Each call sends up to max_fpdus ULPDUs, until the message is sent. */
static void tx_03_message_at_once(struct kunit *test)
{
	struct tx_env *env = test->priv;
	struct sent_message m;
	u32 calls = 0;

	tx_start(env, false, true, 1448);
	message_start(env, &m, true, 60000, 4096);
	m.msg.max_fpdus = 7;
	for (; m.msg.left && calls < 100; calls++)
		KUNIT_ASSERT_EQ(test, mpa_tx_message(env->conn, &m.msg), 0);
	KUNIT_EXPECT_EQ(test, calls, 7);	/* 43 ULPDUs */
	while (m.done < m.len)
		message_expect(env, &m, min(m.len - m.done, 1448u - 6 - 14));
	KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
}

/* A call that cannot continue returns the reason, and changes nothing. */
static void ddp_01_message_that_waits(struct kunit *test)
{
	struct tx_env *env = test->priv;
	struct sent_message m;

	tx_start(env, true, true, 1448);
	message_start(env, &m, true, 3000, 1000);
	m.msg.avail = 1000;
	KUNIT_EXPECT_EQ(test, mpa_tx_message(env->conn, &m.msg), -ENODATA);
	fake_memory.left = 0;
	m.msg.avail = 3000;
	KUNIT_EXPECT_EQ(test, mpa_tx_message(env->conn, &m.msg), -ENOMEM);
	fake_memory.left = U32_MAX;
	KUNIT_EXPECT_EQ(test, m.msg.left, 3000);
	KUNIT_EXPECT_EQ(test, mpa_tx_written(env->conn), 0);

	/* With @cut the payload that is there is sent. */
	m.msg.avail = 1000;
	m.msg.cut = true;
	KUNIT_EXPECT_EQ(test, mpa_tx_message(env->conn, &m.msg), 0);
	message_expect(env, &m, 1000);
	m.msg.cut = false;
	m.msg.avail = 2000;
	message_send(test, env, &m);
	KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
	KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
}

/*
 * Memory whose loan has ended is not copied. While other memory is copied, its
 * loan counts the reader: this loan lies in the payload, so the copy shows it.
 */
static void message_lent(struct kunit *test, struct tx_env *env)
{
	u64 written = env->conn->tx.written;
	struct mpa_loan *some_lent[2];
	struct mpa_loan *mine;
	struct sent_message m;

	message_start(env, &m, true, 1300, 1000);
	mine = (struct mpa_loan *)PTR_ALIGN(env->ulpdu + MESSAGE_AT, sizeof(long));
	*mine = (struct mpa_loan){ };
	some_lent[0] = &lent;
	some_lent[1] = mine;
	m.msg.lent = some_lent;
	m.msg.num_lent = ARRAY_SIZE(some_lent);
	KUNIT_EXPECT_EQ(test, mpa_tx_message(env->conn, &m.msg), -ESTALE);
	KUNIT_EXPECT_EQ(test, m.msg.left, 1300);
	KUNIT_EXPECT_EQ(test, m.msg.hdr[0], m.hdr[0]);
	KUNIT_EXPECT_EQ(test, mpa_tx_written(env->conn), written);

	mine->valid = true;
	KUNIT_ASSERT_EQ(test, mpa_tx_message(env->conn, &m.msg), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&mine->readers), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&lent.readers), 0);
	atomic_set(&mine->readers, 1);
	message_expect(env, &m, m.len - m.msg.left);
	mpa_loan_end(&lent);
	lent.valid = true;
	if (m.msg.left) {
		m.msg.num_lent = 0;
		message_send(test, env, &m);
	}
}

/* In one piece, and across the end of a chunk: the first chunk is one page. */
static void ddp_01_message_is_lent(struct kunit *test)
{
	static const u32 before[] = { 1000, 2200 };
	struct tx_env *env = test->priv;
	struct sent_message m;
	u32 i, way;

	for (way = 0; way < 4; way++) {
		for (i = 0; i < ARRAY_SIZE(before); i++) {
			tx_start(env, way & 1, way & 2, 1448);
			message_start(env, &m, true, before[i], 777);
			message_send(test, env, &m);
			message_lent(test, env);
			KUNIT_ASSERT_EQ(test, tx_push(env, false), 0);
			KUNIT_EXPECT_TRUE(test, tx_stream_matches(env));
		}
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(ddp_01_siz_05_messages),
	KUNIT_CASE(siz_05_messages_end_no_segments),
	KUNIT_CASE(siz_05_message_in_the_next_segment),
	KUNIT_CASE(ddp_01_short_message_is_one_fpdu),
	KUNIT_CASE(siz_05_longest_message),
	KUNIT_CASE(tx_03_message_at_once),
	KUNIT_CASE(ddp_01_message_that_waits),
	KUNIT_CASE(ddp_01_message_is_lent),
	{}
};

tx_test_suite("mpa_tx_message", cases);

// SPDX-License-Identifier: GPL-2.0
/*
 * The FPDU writer (mpa/tx.c over mpa/plan.c): octets against the reference
 * framer, segment ends, back-pressure, reuse of pages. TCP is played by this
 * file.
 */
#include <kunit/test.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/uio.h>
#include "conn.h"
#include "crc.h"
#include "framer.h"
#include "handshake.h"
#include "sock.h"
#include "surroundings.h"

#define STREAM_SIZE	(512u << 10)
#define MAX_PARTS	2048
#define MAX_ENDS	1024

#define MAX_GIVEN	512
#define MAX_SPANS	2048

static struct kvec spans[MAX_SPANS];

/**
 * struct fake_memory - what tx.c can get
 * @largest_order: of a chunk
 * @left: chunks that can be got still
 * @given: those that were
 * @num_given: number of these, as long as they fit
 */
static struct fake_memory {
	unsigned int largest_order;
	u32 left;
	struct page *given[MAX_GIVEN];
	u32 num_given;
} memory;

struct page *tx_kunit_alloc_pages(gfp_t flags, unsigned int order)
{
	struct page *page;

	if (order > memory.largest_order || !memory.left)
		return NULL;
	page = alloc_pages(flags, order);
	if (page)
		set_page_private(page, (unsigned long)&memory);
	if (page && memory.num_given < MAX_GIVEN)
		memory.given[memory.num_given++] = page;
	memory.left--;
	return page;
}

/* A page reference that TCP has: the octets are looked at late. */
struct part {
	struct page *page;
	u32 off;
	u32 len;
};

/**
 * struct fake_tcp - what has been handed over
 * @emss: effective maximum segment size
 * @space: octets it still takes
 * @dead: error for every hand-over, 0 when there is none
 * @len: octets taken
 * @more: what the last hand-over said
 * @parts: where they lie
 * @num_parts: number of these
 * @ends: stream positions behind which a segment was ended
 * @num_ends: number of these
 * @cut: position at which TCP itself ended a segment last
 */
static struct fake_tcp {
	u32 emss;
	u32 space;
	int dead;
	u32 len;
	bool more;
	struct part parts[MAX_PARTS];
	u32 num_parts;
	u32 ends[MAX_ENDS];
	u32 num_ends;
	u32 cut;
} tcp;

int mpa_sock_send_page(struct mpa_conn *conn, const struct mpa_sock_piece *piece)
{
	struct part *part = &tcp.parts[tcp.num_parts];
	u32 len = piece->len;

	if (tcp.dead)
		return tcp.dead;
	len = min(len, tcp.space);
	if (!len || WARN_ON_ONCE(tcp.num_parts == MAX_PARTS))
		return -EAGAIN;
	get_page(piece->page);
	*part = (struct part){ .page = piece->page, .off = piece->off, .len = len };
	tcp.num_parts++;
	tcp.space -= len;
	tcp.len += len;
	tcp.more = piece->more || piece->rest;
	return len;
}

void mpa_sock_end_record(struct sock *sk)
{
	if (tcp.num_ends && tcp.ends[tcp.num_ends - 1] == tcp.len)
		return;
	if (!WARN_ON_ONCE(tcp.num_ends == MAX_ENDS))
		tcp.ends[tcp.num_ends++] = tcp.len;
}

u32 mpa_sock_fit(struct sock *sk, struct mpa_sock_paged *paged, u32 len)
{
	return len;
}

u32 mpa_sock_fill(struct sock *sk, u32 mss)
{
	u32 end = tcp.num_ends ? tcp.ends[tcp.num_ends - 1] : 0;

	return (tcp.len - max(end, tcp.cut)) % mss;
}

u32 mpa_sock_emss(struct sock *sk)
{
	return tcp.emss;
}

/* TCP sends what it has, though the last segment is not full. */
static void tcp_send_partly(void)
{
	tcp.cut = tcp.len;
	if (!WARN_ON_ONCE(tcp.num_ends == MAX_ENDS))
		tcp.ends[tcp.num_ends++] = tcp.len;
}

/* Everything is acknowledged: TCP lets go of the pages. */
static void tcp_release(void)
{
	u32 i;

	for (i = 0; i < tcp.num_parts; i++)
		put_page(tcp.parts[i].page);
	tcp.num_parts = 0;
}

/**
 * struct tx_env - a connection, and what its stream should be
 * @conn: the connection under test
 * @f: the reference
 * @stream: its octets
 * @ulpdu: room for one ULPDU
 * @fpdus: positions where FPDUs start in @stream
 * @num_fpdus: number of these
 */
struct tx_env {
	struct mpa_conn *conn;
	struct framer f;
	u8 *stream;
	u8 *ulpdu;
	u32 fpdus[2048];
	u32 num_fpdus;
};

static u32 times_busy;

static void note_busy(struct mpa_conn *conn)
{
	times_busy++;
}

static void tx_start(struct tx_env *env, bool markers, bool crc, u32 emss)
{
	struct mpa_conn *conn = env->conn;

	tcp_release();
	mpa_tx_free(&conn->tx);
	memset(&conn->tx, 0, sizeof(conn->tx));
	memset(&tcp, 0, sizeof(tcp));
	memory = (struct fake_memory){ .largest_order = UINT_MAX, .left = U32_MAX };
	tcp.emss = emss;
	tcp.space = U32_MAX;
	conn->initiator = true;
	conn->agreed = (struct mpa_agreed){ .tx_markers = markers, .crc = crc };
	lock_sock(conn->sk);
	mpa_tx_start(conn, note_busy);
	release_sock(conn->sk);
	env->f = (struct framer){
		.markers = markers, .crc = crc, .out = env->stream, .size = STREAM_SIZE,
	};
	env->num_fpdus = 0;
}

static int tx_init(struct kunit *test)
{
	struct tx_env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	struct mpa_conn *conn = kunit_kzalloc(test, sizeof(*conn), GFP_KERNEL);
	int ret;

	if (!env || !conn)
		return -ENOMEM;
	env->stream = kunit_kzalloc(test, STREAM_SIZE, GFP_KERNEL);
	env->ulpdu = kunit_kzalloc(test, 65536, GFP_KERNEL);
	if (!env->stream || !env->ulpdu)
		return -ENOMEM;
	ret = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &conn->sock);
	if (ret)
		return ret;
	conn->sk = conn->sock->sk;
	conn->params.policy.packing = true;
	conn->mib = alloc_percpu(struct mpa_mib);
	if (!conn->mib) {
		sock_release(conn->sock);
		return -ENOMEM;
	}
	env->conn = conn;
	test->priv = env;
	return 0;
}

static void tx_exit(struct kunit *test)
{
	struct tx_env *env = test->priv;

	if (!env)
		return;
	tcp_release();
	mpa_tx_free(&env->conn->tx);
	free_percpu(env->conn->mib);
	sock_release(env->conn->sock);
}

static u64 count(const struct tx_env *env, enum mpa_stat stat)
{
	return this_cpu_read(env->conn->mib->v[stat]);
}

static void fill(struct tx_env *env, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		env->ulpdu[i] = env->num_fpdus * 31 + i * 7 + 1;
}

static int write_in_parts(struct tx_env *env, u32 hdr_len, u32 len, u32 piece)
{
	int ret = mpa_tx_open(env->conn, env->ulpdu, hdr_len, len);
	u32 done, n;

	if (ret)
		return ret;
	for (done = hdr_len; done < len; done += n) {
		n = min(piece, len - done);
		mpa_tx_put(env->conn, env->ulpdu + done, n);
	}
	mpa_tx_close(env->conn);
	return 0;
}

/* The same by one call, from spans that are elsewhere. */
static int write_at_once(struct tx_env *env, u32 hdr_len, u32 len, u32 piece)
{
	struct mpa_ulpdu ulpdu = {
		.hdr = env->ulpdu, .hdr_len = hdr_len, .src = spans, .len = len - hdr_len,
	};
	u32 done, n, num = 0;

	for (done = hdr_len; done < len; done += n) {
		n = num < MAX_SPANS - 1 ? min(piece, len - done) : len - done;
		spans[num++] = (struct kvec){ env->ulpdu + done, n };
	}
	/* The last one is longer than the ULPDU. */
	if (num)
		spans[num - 1].iov_len += 7;
	done = mpa_tx_fpdu(env->conn, &ulpdu);
	if (!done && num && (ulpdu.src != &spans[num - 1] || spans[num - 1].iov_len != 7))
		return -EINVAL;
	return done;
}

/*
 * One FPDU, put in pieces, on the connection and in the reference. The first
 * octets, a different number each time, are its header. How it is written
 * changes without a pattern.
 */
static void write_ulpdu(struct kunit *test, struct tx_env *env, u32 len, u32 piece)
{
	u32 turn = env->num_fpdus;

	fill(env, len);
	if (hweight32(turn * GOLDEN_RATIO_32) & 1)
		KUNIT_ASSERT_EQ(test, write_in_parts(env, min(len, turn * 7 % 65), len, piece), 0);
	else
		KUNIT_ASSERT_EQ(test, write_at_once(env, min(len, turn * 7 % 25), len, piece), 0);

	env->fpdus[env->num_fpdus++] = env->f.len;
	framer_put(&env->f, env->ulpdu, len);
}

static int push(struct tx_env *env, bool more)
{
	struct sock *sk = env->conn->sk;
	int ret;

	lock_sock(sk);
	ret = mpa_tx_push(env->conn, more);
	release_sock(sk);
	return ret;
}

/* What TCP has is what the reference says, now that it looks. */
static bool stream_matches(const struct tx_env *env)
{
	u32 i, pos = 0;

	for (i = 0; i < tcp.num_parts; i++) {
		const struct part *part = &tcp.parts[i];

		if (memcmp(page_address(part->page) + part->off, env->stream + pos, part->len))
			return false;
		pos += part->len;
	}
	return pos == env->f.len;
}

static void octets(struct kunit *test, bool markers, bool crc, u32 piece)
{
	static const u16 lengths[] = { 42, 1, 2, 3, 0, 402, 4, 500, 494, 1442, 64, 998, 18, 5 };
	struct tx_env *env = test->priv;
	int i, round;

	tx_start(env, markers, crc, 1448);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < ARRAY_SIZE(lengths); i++)
			write_ulpdu(test, env, lengths[i], piece);
		KUNIT_ASSERT_EQ(test, push(env, false), 0);
	}
	KUNIT_EXPECT_TRUE_MSG(test, stream_matches(env), "Markers %d CRC %d pieces of %u",
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
	KUNIT_ASSERT_EQ(test, push(env, false), 0);
	KUNIT_EXPECT_TRUE(test, stream_matches(env));
}

/*
 * The RDMA Consortium's start: both sides may begin, with a Marker, and the
 * draft's vector for a header of version 0 is what comes.
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
		mpa_tx_start(conn, note_busy);
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
		KUNIT_ASSERT_EQ(test, push(env, false), 0);
		KUNIT_EXPECT_TRUE(test, stream_matches(env));
	}
}

/* Every length up to three Markers, one after the other. */
static void mrk_05_to_mrk_08_every_length(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 len;

	tx_start(env, true, true, 8948);
	for (len = 0; len < 1600; len += 3) {
		write_ulpdu(test, env, len, 250);
		KUNIT_ASSERT_EQ(test, push(env, true), 0);
		if (env->f.len < STREAM_SIZE - 8192 && env->num_fpdus < 500)
			continue;
		KUNIT_ASSERT_TRUE(test, stream_matches(env));
		tx_start(env, true, true, 8948);
	}
	KUNIT_EXPECT_TRUE(test, stream_matches(env));
}

static void mrk_09_position_wrap(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 i;

	tx_start(env, true, true, 1448);
	env->conn->tx.writer.pos = 0u - 4096;
	env->f.pos = 0u - 4096;
	for (i = 0; i < 8; i++)
		write_ulpdu(test, env, 1001, 300);
	KUNIT_ASSERT_EQ(test, push(env, false), 0);
	KUNIT_EXPECT_TRUE(test, stream_matches(env));
}

static void ddp_03_ddp_04_large_ulpdus(struct kunit *test)
{
	struct tx_env *env = test->priv;

	tx_start(env, true, true, 1448);
	KUNIT_EXPECT_EQ(test, mpa_tx_open(env->conn, env->ulpdu, 18, 64769), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, mpa_tx_open(env->conn, env->ulpdu, 18, 65536 + 42), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, write_at_once(env, 18, 64769, 65536), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, write_at_once(env, 18, 65536 + 42, 65536 + 42), -EMSGSIZE);
	write_ulpdu(test, env, 42, 42);
	write_ulpdu(test, env, 64768, 1000);
	write_ulpdu(test, env, 64768, 1000);
	write_ulpdu(test, env, 64768, 1000);
	write_ulpdu(test, env, 42, 42);
	KUNIT_ASSERT_EQ(test, push(env, false), 0);
	KUNIT_EXPECT_TRUE(test, stream_matches(env));
	KUNIT_EXPECT_GT(test, count(env, MPA_STAT_TX_UNALIGNED), 0);
}

/* The next @len octets of a message, as DDP sends them. */
static void write_message(struct kunit *test, struct tx_env *env, u32 len, u32 least)
{
	while (len) {
		u32 n = mpa_tx_room(env->conn, least);

		if (!n) {
			KUNIT_ASSERT_EQ(test, push(env, true), 0);
			n = mpa_tx_room(env->conn, least);
		}
		KUNIT_ASSERT_GE(test, n, 128);
		n = min(n, len);
		write_ulpdu(test, env, n, 65536);
		len -= n;
	}
}

/**
 * struct sent_message - a message, and the ULPDUs that are expected of it
 * @msg: what mpa_tx_message() is told
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

static const bool lent = true;
static const bool *const all_lent[] = { &lent };

/* Payload lies behind the octets that a ULPDU of the reference is built in. */
#define MESSAGE_AT	4096

static void message_start(struct tx_env *env, struct sent_message *m, bool tagged, u32 len,
			  u32 piece)
{
	u32 done, n, num = 0;

	fill(env, MESSAGE_AT + len);
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

/* The reference has one more ULPDU of the message, with @len octets of payload. */
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

/* One ULPDU after the other: each takes all the room that there is. */
static void message_send(struct kunit *test, struct tx_env *env, struct sent_message *m)
{
	do {
		u32 left = m->len - m->done, hdr_len = m->msg.hdr_len;
		u32 room = mpa_tx_room(env->conn, min(left + hdr_len, 128u));

		if (!room) {
			KUNIT_ASSERT_EQ(test, mpa_tx_message(env->conn, &m->msg), -EAGAIN);
			KUNIT_ASSERT_EQ(test, push(env, true), 0);
			continue;
		}
		KUNIT_ASSERT_EQ(test, mpa_tx_message(env->conn, &m->msg), 0);
		message_expect(env, m, min(left, room - hdr_len));
		KUNIT_ASSERT_EQ(test, m->msg.left, m->len - m->done);
		KUNIT_ASSERT_EQ(test, m->msg.avail, m->len - m->done);
	} while (m->msg.left);
}

/* Messages of all lengths, with headers that say where each ULPDU belongs. */
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
		KUNIT_ASSERT_EQ(test, push(env, false), 0);
		KUNIT_EXPECT_TRUE_MSG(test, stream_matches(env), "way %u", way);
		KUNIT_EXPECT_EQ(test, count(env, MPA_STAT_TX_UNALIGNED), 0);
	}
}

/* As many ULPDUs as there is room for by one call, and then the same again. */
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
	KUNIT_EXPECT_EQ(test, calls, 7);	/* 43 of them */
	while (m.done < m.len)
		message_expect(env, &m, min(m.len - m.done, 1448u - 6 - 14));
	KUNIT_ASSERT_EQ(test, push(env, false), 0);
	KUNIT_EXPECT_TRUE(test, stream_matches(env));
}

/* What cannot go on says why, and has changed nothing. */
static void ddp_01_message_that_waits(struct kunit *test)
{
	struct tx_env *env = test->priv;
	struct sent_message m;

	tx_start(env, true, true, 1448);
	message_start(env, &m, true, 3000, 1000);
	m.msg.avail = 1000;
	KUNIT_EXPECT_EQ(test, mpa_tx_message(env->conn, &m.msg), -ENODATA);
	memory.left = 0;
	m.msg.avail = 3000;
	KUNIT_EXPECT_EQ(test, mpa_tx_message(env->conn, &m.msg), -ENOMEM);
	memory.left = U32_MAX;
	KUNIT_EXPECT_EQ(test, m.msg.left, 3000);
	KUNIT_EXPECT_EQ(test, mpa_tx_written(env->conn), 0);

	/* What is there goes out when it is told to. */
	m.msg.avail = 1000;
	m.msg.cut = true;
	KUNIT_EXPECT_EQ(test, mpa_tx_message(env->conn, &m.msg), 0);
	message_expect(env, &m, 1000);
	m.msg.cut = false;
	m.msg.avail = 2000;
	message_send(test, env, &m);
	KUNIT_ASSERT_EQ(test, push(env, false), 0);
	KUNIT_EXPECT_TRUE(test, stream_matches(env));
}

/*
 * Memory that is taken away while it is copied: the flag that says so lies where
 * the octets of the ULPDU, zeros, are written to. What was copied is not sent.
 */
static void message_taken(struct kunit *test, struct tx_env *env)
{
	struct mpa_tx *tx = &env->conn->tx;
	bool *mine = (bool *)tx->ring.mem + tx->ring.off + 100;
	const bool *const some_lent[] = { &lent, mine };
	u64 written = tx->written;
	struct sent_message m;

	message_start(env, &m, true, 1300, 1000);
	memset(env->ulpdu + MESSAGE_AT, 0, 1300);
	m.msg.lent = some_lent;
	m.msg.num_lent = ARRAY_SIZE(some_lent);
	*mine = true;
	KUNIT_EXPECT_EQ(test, mpa_tx_message(env->conn, &m.msg), -ESTALE);
	KUNIT_EXPECT_FALSE(test, *mine);
	KUNIT_EXPECT_EQ(test, m.msg.left, 1300);
	KUNIT_EXPECT_EQ(test, m.msg.hdr[0], m.hdr[0]);
	KUNIT_EXPECT_EQ(test, mpa_tx_written(env->conn), written);

	message_start(env, &m, true, 1300, 1000);
	message_send(test, env, &m);
}

/* In one piece, and over the end of a chunk: the first one is a page. */
static void ddp_01_message_taken_while_copied(struct kunit *test)
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
			message_taken(test, env);
			KUNIT_ASSERT_EQ(test, push(env, false), 0);
			KUNIT_EXPECT_TRUE(test, stream_matches(env));
		}
	}
}

/*
 * Cut the stream from @pos on as TCP does: at the EMSS, and where a segment
 * was ended. Returns the number of segments that do not start with an FPDU.
 */
static u32 unaligned_from(const struct tx_env *env, u32 emss, u32 pos, u32 *segments)
{
	u32 fpdu = 0, end = 0, bad = 0;

	for (*segments = 0; pos < tcp.len; ++*segments) {
		while (fpdu < env->num_fpdus && env->fpdus[fpdu] < pos)
			fpdu++;
		if (fpdu == env->num_fpdus || env->fpdus[fpdu] != pos)
			bad++;
		while (end < tcp.num_ends && tcp.ends[end] <= pos)
			end++;
		if (end < tcp.num_ends)
			pos = min(pos + emss, tcp.ends[end]);
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
		write_message(test, env, messages[i], 128);
		if (i % batch == batch - 1)
			KUNIT_ASSERT_EQ(test, push(env, i % (2 * batch) == 2 * batch - 1), 0);
	}
	KUNIT_ASSERT_EQ(test, push(env, false), 0);
	bad = unaligned(env, emss, &segments);
	KUNIT_EXPECT_TRUE(test, stream_matches(env));
	KUNIT_EXPECT_EQ_MSG(test, bad, 0, "EMSS %u Markers %d batches of %u: %u segments", emss,
			    markers, batch, segments);
	KUNIT_EXPECT_EQ(test, count(env, MPA_STAT_TX_UNALIGNED), 0);
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

/* An EMSS that is no multiple of 4: full segments are ended by hand. */
static void tx_01_ragged_emss(struct kunit *test)
{
	static const u32 sizes[] = { 537, 1446, 1447, 1461 };
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		align(test, false, sizes[i], 3);
		align(test, true, sizes[i], 12);
	}
}

/* A bulk transfer ends no segment by hand, so that TCP can cut big buffers. */
static void tx_01_bulk_ends_no_segments(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 segments;

	tx_start(env, false, true, 1448);
	write_message(test, env, 138 * 1442, 128);
	KUNIT_ASSERT_EQ(test, push(env, true), 0);
	KUNIT_EXPECT_EQ(test, tcp.num_ends, 0);
	KUNIT_EXPECT_EQ(test, unaligned(env, 1448, &segments), 0);
	KUNIT_EXPECT_EQ(test, push(env, false), 0);
	KUNIT_EXPECT_TRUE(test, stream_matches(env));
}

/* One message behind the other in one segment, and the room that is left. */
static void siz_05_room_in_a_partly_filled_segment(struct kunit *test)
{
	struct tx_env *env = test->priv;

	tx_start(env, false, true, 1448);
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 1442);
	write_ulpdu(test, env, 1000, 1000);		/* 1008 octets */
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 440 - 6);
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 434), 434);
	write_ulpdu(test, env, 302, 302);		/* 308 octets */
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 64), 128);
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 127), 1442);
	KUNIT_ASSERT_EQ(test, push(env, true), 0);
	KUNIT_EXPECT_EQ(test, tcp.num_ends, 1);
	KUNIT_EXPECT_EQ(test, tcp.ends[0], 1316);
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
	mpa_tx_start(env->conn, note_busy);
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
		tcp.space = 0;
		write_message(test, env, spaces[i] < 100 ? 1000 : 60000, 128);
		KUNIT_EXPECT_EQ(test, push(env, false), -EAGAIN);
		KUNIT_EXPECT_EQ(test, mpa_tx_accepted(env->conn), 0);
		for (turns = 0, ret = -EAGAIN; ret == -EAGAIN && turns < 2000; turns++) {
			tcp.space = spaces[i];
			ret = push(env, false);
			KUNIT_ASSERT_EQ(test, mpa_tx_accepted(env->conn), tcp.len);
		}
		KUNIT_EXPECT_EQ(test, ret, 0);
		KUNIT_EXPECT_TRUE_MSG(test, stream_matches(env), "%u at a time", spaces[i]);
		KUNIT_EXPECT_EQ(test, mpa_tx_written(env->conn), tcp.len);
	}
}

/* What is written and not taken is bounded; room comes back with TCP's. */
static void tx_03_written_ahead_is_bounded(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 n, turns = 0;

	tx_start(env, false, true, 1448);
	tcp.space = 0;
	while ((n = mpa_tx_room(env->conn, 128)) && turns++ < 1000)
		write_ulpdu(test, env, n, n);
	KUNIT_EXPECT_EQ(test, n, 0);
	KUNIT_EXPECT_LE(test, mpa_tx_written(env->conn), MPA_TX_AHEAD + 1448);
	KUNIT_EXPECT_EQ(test, push(env, true), -EAGAIN);
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 0);
	tcp.space = U32_MAX;
	KUNIT_EXPECT_EQ(test, push(env, true), 0);
	KUNIT_EXPECT_GT(test, mpa_tx_room(env->conn, 128), 0);
	KUNIT_EXPECT_TRUE(test, stream_matches(env));
}

static void err_01_dead_socket(struct kunit *test)
{
	struct tx_env *env = test->priv;

	tx_start(env, false, true, 1448);
	write_ulpdu(test, env, 42, 42);
	tcp.dead = -EPIPE;
	KUNIT_EXPECT_EQ(test, push(env, false), -EPIPE);
	KUNIT_EXPECT_EQ(test, mpa_tx_accepted(env->conn), 0);
}

/*
 * TCP keeps pages until they are acknowledged. Pages it has are not written
 * again; those it let go are used again instead of new ones.
 */
static void pages_are_reused_when_tcp_lets_go(struct kunit *test)
{
	struct tx_env *env = test->priv;
	struct page *ring[MPA_TX_RING];
	u32 round, i, known;

	tx_start(env, false, true, 1448);
	write_message(test, env, 400000, 128);
	KUNIT_ASSERT_EQ(test, push(env, false), 0);
	KUNIT_ASSERT_TRUE(test, stream_matches(env));
	memcpy(ring, env->conn->tx.ring.chunk, sizeof(ring));

	for (round = 0; round < 5; round++) {
		tcp_release();
		tcp.len = 0;
		env->f.len = 0;
		env->num_fpdus = 0;
		write_message(test, env, 300000, 128);
		KUNIT_ASSERT_EQ(test, push(env, false), 0);
		KUNIT_ASSERT_TRUE(test, stream_matches(env));
	}
	for (i = 0, known = 0; i < MPA_TX_RING; i++)
		known += ring[i] && ring[i] == env->conn->tx.ring.chunk[i];
	KUNIT_EXPECT_GE(test, known, 400000 / (PAGE_SIZE << MPA_TX_CHUNK_ORDER));
}

/* TCP keeps everything: more than the ring holds, nothing overwritten. */
static void pages_that_tcp_keeps_stay_as_they_are(struct kunit *test)
{
	struct tx_env *env = test->priv;
	struct part first;
	u8 before[64];

	tx_start(env, false, true, 8948);
	write_message(test, env, 100000, 128);
	KUNIT_ASSERT_EQ(test, push(env, true), 0);
	first = tcp.parts[0];
	get_page(first.page);
	memcpy(before, page_address(first.page) + first.off, sizeof(before));
	tcp_release();
	for (; tcp.len < (MPA_TX_RING + 4) * (PAGE_SIZE << MPA_TX_CHUNK_ORDER); tcp_release()) {
		env->f.len = 0;
		env->num_fpdus = 0;
		write_message(test, env, 100000, 128);
		KUNIT_ASSERT_EQ(test, push(env, true), 0);
	}
	KUNIT_EXPECT_EQ(test, memcmp(before, page_address(first.page) + first.off, 64), 0);
	put_page(first.page);
}

static u32 chunks_in_use(void)
{
	u32 i, used = 0;

	/* One that was given back may be somebody else's by now. */
	for (i = 0; i < memory.num_given; i++)
		used += page_ref_count(memory.given[i]) > 0 &&
			page_private(memory.given[i]) == (unsigned long)&memory;
	return used;
}

/* As the connection's worker does. */
static bool rest_if_idle(struct tx_env *env)
{
	if (mpa_tx_is_idle(env->conn))
		mpa_tx_rest(env->conn);
	return !env->conn->tx.store;
}

/* What waits for TCP keeps the memory, what TCP has does not. */
static void idle_gives_memory_back(struct kunit *test)
{
	struct tx_env *env = test->priv;
	int round;

	tx_start(env, true, true, 1448);
	times_busy = 0;
	for (round = 0; round < 3; round++) {
		KUNIT_EXPECT_TRUE(test, rest_if_idle(env));
		write_message(test, env, 100000, 128);
		KUNIT_EXPECT_EQ(test, times_busy, 2 * round + 1);
		KUNIT_EXPECT_FALSE(test, rest_if_idle(env));
		KUNIT_EXPECT_FALSE(test, rest_if_idle(env));
		KUNIT_EXPECT_EQ(test, times_busy, 2 * round + 2);
		KUNIT_ASSERT_EQ(test, push(env, false), 0);
		KUNIT_EXPECT_TRUE(test, stream_matches(env));
		KUNIT_EXPECT_TRUE(test, rest_if_idle(env));
	}
	KUNIT_EXPECT_TRUE(test, stream_matches(env));
	tcp_release();
	KUNIT_EXPECT_EQ(test, chunks_in_use(), 0);
}

/* Chunks that somebody has when the stream is gone. */
static u32 chunks_kept(struct tx_env *env)
{
	tcp_release();
	mpa_tx_free(&env->conn->tx);
	memset(&env->conn->tx, 0, sizeof(env->conn->tx));
	return chunks_in_use();
}

static const u32 rings[] = { 1, 2, 3, MPA_TX_RING_PROGRAM, MPA_TX_RING };

static void start_with_ring(struct tx_env *env, u32 slots, u32 order)
{
	tx_start(env, true, true, 1448);
	env->conn->tx.ring.slots = slots;
	memory.largest_order = order;
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
				write_ulpdu(test, env, MPA_MAX_ULPDU - round, 65536);
				KUNIT_ASSERT_EQ(test, push(env, false), 0);
				KUNIT_EXPECT_TRUE_MSG(test, stream_matches(env),
						      "ring of %u, order %u, FPDU %u", rings[i],
						      order, round);
			}
			KUNIT_EXPECT_EQ(test, chunks_kept(env), 0);
		}
	}
}

/* An FPDU that is taken back, and one whose memory ends before it does. */
static void tx_08_what_is_not_sent_keeps_no_page(struct kunit *test)
{
	struct tx_env *env = test->priv;
	struct mpa_conn *conn = env->conn;
	u32 i, left, failed;

	for (i = 0; i < ARRAY_SIZE(rings); i++) {
		start_with_ring(env, rings[i], 0);
		for (left = 0, failed = 0; left < 16; left++) {
			memory.left = left;
			if (mpa_tx_open(conn, NULL, 0, MPA_MAX_ULPDU))
				failed++;
			else
				mpa_tx_cancel(conn);
			memory.left = U32_MAX;
			KUNIT_ASSERT_EQ(test, mpa_tx_open(conn, NULL, 0, 30000), 0);
			mpa_tx_put(conn, env->ulpdu, 20000);
			mpa_tx_cancel(conn);
			write_ulpdu(test, env, 17000, 65536);
			KUNIT_ASSERT_EQ(test, push(env, false), 0);
			KUNIT_EXPECT_TRUE_MSG(test, stream_matches(env), "ring of %u, after %u",
					      rings[i], left);
		}
		KUNIT_EXPECT_GT(test, failed, 0);
		KUNIT_EXPECT_EQ(test, chunks_kept(env), 0);
	}
}

/* SIZ-04: a new EMSS counts from the next segment on. */
static void siz_01_siz_04_emss_changes(struct kunit *test)
{
	struct tx_env *env = test->priv;

	tx_start(env, true, true, 1448);
	KUNIT_EXPECT_EQ(test, mpa_conn_mulpdu(env->conn), 1430);
	write_ulpdu(test, env, 100, 100);
	tcp.emss = 536;
	KUNIT_EXPECT_EQ(test, mpa_tx_flush(env->conn, false), 0);
	KUNIT_EXPECT_EQ(test, mpa_conn_mulpdu(env->conn), 522);
	KUNIT_EXPECT_LE(test, mpa_tx_room(env->conn, 128), 530);
	tcp.emss = 100;
	KUNIT_EXPECT_EQ(test, mpa_tx_flush(env->conn, false), 0);
	KUNIT_EXPECT_EQ(test, mpa_conn_mulpdu(env->conn), 128);	/* SIZ-03 */
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 128);
	write_ulpdu(test, env, 128, 128);
	tcp.emss = 9000;
	KUNIT_EXPECT_EQ(test, mpa_tx_flush(env->conn, false), 0);
	KUNIT_EXPECT_EQ(test, mpa_conn_mulpdu(env->conn), 8922);
	write_message(test, env, 20000, 128);
	KUNIT_EXPECT_EQ(test, mpa_tx_flush(env->conn, false), 0);
	KUNIT_EXPECT_TRUE(test, stream_matches(env));
}

/* TCP sends what it has between two hand-overs: the next starts a segment. */
static void tx_05_hand_over_ends_a_segment(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 i, segments;

	tx_start(env, true, true, 1448);
	for (i = 0; i < 5; i++) {
		write_message(test, env, 100 + 1000 * i, 128);
		KUNIT_ASSERT_EQ(test, push(env, true), 0);
		tcp_send_partly();
	}
	KUNIT_EXPECT_TRUE(test, stream_matches(env));
	KUNIT_EXPECT_EQ(test, unaligned(env, 1448, &segments), 0);
	KUNIT_EXPECT_EQ(test, count(env, MPA_STAT_TX_UNALIGNED), 0);
}

/*
 * TCP takes a part of an FPDU and sends it. What is left of the FPDU ends
 * that segment, so that only the segment that starts in it is lost.
 */
static void tx_03_tx_05_part_of_an_fpdu_sent(struct kunit *test)
{
	static const u32 spaces[] = { 1, 1447, 1448, 1449, 5000, 40000 };
	struct tx_env *env = test->priv;
	u32 i, segments, lost;

	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		u64 counted = count(env, MPA_STAT_TX_UNALIGNED);

		tx_start(env, false, true, 1448);
		write_message(test, env, 100 * 1442, 128);
		tcp.space = spaces[i];
		KUNIT_EXPECT_EQ(test, push(env, true), -EAGAIN);
		tcp_send_partly();
		tcp.space = U32_MAX;
		KUNIT_EXPECT_EQ(test, push(env, true), 0);
		lost = spaces[i] % 1448 ? 1 : 0;
		KUNIT_EXPECT_EQ_MSG(test, unaligned(env, 1448, &segments), lost, "after %u",
				    spaces[i]);
		KUNIT_EXPECT_EQ(test, count(env, MPA_STAT_TX_UNALIGNED) - counted, lost);
		KUNIT_EXPECT_TRUE(test, stream_matches(env));
	}
}

/* TCP's last buffer starts somewhere else, as after a probe of the MTU. */
static void tx_05_buffer_cut_elsewhere(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 segments, pos;

	tx_start(env, false, true, 1448);
	write_message(test, env, 20 * 1442, 128);
	KUNIT_ASSERT_EQ(test, push(env, true), 0);
	tcp.cut = 1000;
	pos = tcp.len;
	write_message(test, env, 20 * 1442, 128);
	KUNIT_ASSERT_EQ(test, push(env, true), 0);
	KUNIT_ASSERT_EQ(test, tcp.num_ends, 1);
	KUNIT_EXPECT_EQ(test, tcp.ends[0], pos);
	KUNIT_EXPECT_EQ(test, unaligned_from(env, 1448, pos, &segments), 0);
}

/*
 * The EMSS changes under FPDUs that TCP has not taken yet. @lost of them do
 * not go out in the segment that they were cut for.
 */
static void emss_changes_under_fpdus(struct kunit *test, u32 before, u32 after, u32 lost)
{
	struct tx_env *env = test->priv;
	u64 counted = count(env, MPA_STAT_TX_UNALIGNED);
	u32 segments, pos;

	tx_start(env, true, true, before);
	write_message(test, env, 4000, 128);
	KUNIT_ASSERT_EQ(test, push(env, true), 0);
	write_message(test, env, 10000, 128);
	tcp.space = 0;
	KUNIT_ASSERT_EQ(test, push(env, true), -EAGAIN);
	tcp.emss = after;
	pos = tcp.len;
	KUNIT_ASSERT_EQ(test, push(env, true), -EAGAIN);
	write_message(test, env, 10000, 128);
	tcp.space = U32_MAX;
	KUNIT_ASSERT_EQ(test, push(env, true), 0);
	KUNIT_EXPECT_EQ_MSG(test, unaligned_from(env, after, pos, &segments) != 0, lost != 0,
			    "EMSS %u to %u", before, after);
	KUNIT_EXPECT_EQ(test, count(env, MPA_STAT_TX_UNALIGNED) - counted, lost);

	pos = tcp.len;
	write_message(test, env, 30000, 128);
	KUNIT_ASSERT_EQ(test, push(env, false), 0);
	KUNIT_EXPECT_EQ(test, unaligned_from(env, after, pos, &segments), 0);
	KUNIT_EXPECT_TRUE(test, stream_matches(env));
}

static void siz_04_tx_03_tx_05_emss_changes_under_fpdus(struct kunit *test)
{
	emss_changes_under_fpdus(test, 1448, 1000, 7);
	emss_changes_under_fpdus(test, 8948, 8944, 2);
	/* For smaller ones: each is a segment of its own. */
	emss_changes_under_fpdus(test, 1448, 8948, 0);
	emss_changes_under_fpdus(test, 1448, 1449, 0);
	emss_changes_under_fpdus(test, 1449, 1448, 0);
	emss_changes_under_fpdus(test, 1449, 1460, 0);
}

/* The same when the last segment was full: nothing but the change ends it. */
static void siz_04_tx_05_emss_changes_behind_full_segments(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 segments;

	tx_start(env, false, true, 1448);
	write_message(test, env, 3 * 1442, 128);
	tcp.space = 0;
	KUNIT_ASSERT_EQ(test, push(env, true), -EAGAIN);
	tcp.emss = 8948;
	KUNIT_ASSERT_EQ(test, push(env, true), -EAGAIN);
	write_message(test, env, 20000, 128);
	tcp.space = U32_MAX;
	KUNIT_ASSERT_EQ(test, push(env, true), 0);
	KUNIT_EXPECT_EQ(test, unaligned(env, 8948, &segments), 0);
	KUNIT_EXPECT_EQ(test, count(env, MPA_STAT_TX_UNALIGNED), 0);
	KUNIT_EXPECT_TRUE(test, stream_matches(env));
}

/*
 * A program's socket that packs: hand-overs leave the segment open. When TCP
 * has sent it early, whole FPDUs have gone, and nothing is lost.
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
		write_message(test, env, 80, 80);
		KUNIT_EXPECT_EQ(test, push(env, false), 0);
	}
	KUNIT_EXPECT_EQ(test, tcp.num_ends, 0);
	tcp_send_partly();
	write_message(test, env, 30000, 128);
	KUNIT_EXPECT_EQ(test, push(env, false), 0);
	KUNIT_EXPECT_EQ(test, unaligned(env, 1448, &segments), 0);
	KUNIT_EXPECT_EQ(test, count(env, MPA_STAT_TX_UNALIGNED), 0);
	KUNIT_EXPECT_TRUE(test, stream_matches(env));
	env->conn->sock = sock;
}

/* Without packing each FPDU has a segment of its own, long or short. */
static void rdc_07_one_fpdu_in_a_segment(struct kunit *test)
{
	static const u16 lengths[] = { 18, 1442, 42, 42, 1, 1000, 300, 1442, 18 };
	struct tx_env *env = test->priv;
	u32 i, round, segments;

	env->conn->params.policy.packing = false;
	for (round = 0; round < 4; round++) {
		tx_start(env, round & 1, true, round & 2 ? 1450 : 1448);
		for (i = 0; i < ARRAY_SIZE(lengths); i++) {
			u32 room = mpa_tx_room(env->conn, min_t(u32, lengths[i], 128));

			KUNIT_EXPECT_GE(test, room, 1430);
			write_ulpdu(test, env, min_t(u32, lengths[i], room), 65536);
		}
		KUNIT_ASSERT_EQ(test, push(env, false), 0);
		KUNIT_EXPECT_EQ(test, unaligned(env, 1448, &segments), 0);
		KUNIT_EXPECT_EQ(test, segments, env->num_fpdus);
		KUNIT_EXPECT_TRUE(test, stream_matches(env));
	}
}

static void cancelled_fpdu_leaves_no_trace(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 room, segments;

	tx_start(env, true, true, 1448);
	write_ulpdu(test, env, 400, 400);
	room = mpa_tx_room(env->conn, 128);
	KUNIT_ASSERT_EQ(test, mpa_tx_open(env->conn, env->ulpdu, 18, room), 0);
	mpa_tx_put(env->conn, env->ulpdu, 300);
	mpa_tx_cancel(env->conn);
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), room);
	write_message(test, env, 5000, 128);
	KUNIT_ASSERT_EQ(test, push(env, false), 0);
	KUNIT_EXPECT_TRUE(test, stream_matches(env));
	KUNIT_EXPECT_EQ(test, unaligned(env, 1448, &segments), 0);
}

static void counters(struct kunit *test)
{
	struct tx_env *env = test->priv;

	tx_start(env, true, true, 1448);
	KUNIT_ASSERT_EQ(test, push(env, false), 0);
	KUNIT_EXPECT_EQ(test, count(env, MPA_STAT_TX_BATCHES), 0);
	write_ulpdu(test, env, 42, 42);
	write_ulpdu(test, env, 1000, 1000);
	tcp.space = 0;
	KUNIT_ASSERT_EQ(test, push(env, false), -EAGAIN);
	KUNIT_EXPECT_EQ(test, count(env, MPA_STAT_TX_BLOCKED), 1);
	KUNIT_EXPECT_EQ(test, count(env, MPA_STAT_TX_OCTETS), 0);
	tcp.space = U32_MAX;
	KUNIT_ASSERT_EQ(test, push(env, false), 0);
	KUNIT_EXPECT_EQ(test, count(env, MPA_STAT_TX_BATCHES), 1);
	KUNIT_EXPECT_EQ(test, count(env, MPA_STAT_TX_FPDUS), 2);
	KUNIT_EXPECT_EQ(test, count(env, MPA_STAT_TX_OCTETS), env->f.len);
	write_ulpdu(test, env, 7, 7);
	KUNIT_ASSERT_EQ(test, push(env, false), 0);
	KUNIT_EXPECT_EQ(test, count(env, MPA_STAT_TX_FPDUS), 3);
	KUNIT_EXPECT_EQ(test, count(env, MPA_STAT_TX_OCTETS), env->f.len);
}

/* TCP may wait for more only while there is more. */
static void tx_06_last_octets_are_not_held_back(struct kunit *test)
{
	struct tx_env *env = test->priv;

	tx_start(env, false, true, 1448);
	write_ulpdu(test, env, 42, 42);
	KUNIT_ASSERT_EQ(test, push(env, false), 0);
	KUNIT_EXPECT_FALSE(test, tcp.more);
	write_ulpdu(test, env, 42, 42);
	KUNIT_ASSERT_EQ(test, push(env, true), 0);
	KUNIT_EXPECT_TRUE(test, tcp.more);
}

/*
 * Large FPDUs lie in one piece, whatever the peer's window allows; none is
 * larger than half of it.
 */
static void siz_large_fpdus(struct kunit *test, bool markers, u32 window)
{
	struct tx_env *env = test->priv;
	struct mpa_conn *conn = env->conn;
	u32 i, largest = 0;

	conn->params.policy.large = MPA_LARGE_ALWAYS;
	tcp_sk(conn->sk)->max_window = window;
	tx_start(env, markers, true, 1448);
	for (i = 0; i < 5; i++) {
		write_message(test, env, 65536, 128);
		write_message(test, env, 42, 42);
		KUNIT_ASSERT_EQ(test, push(env, i & 1), 0);
	}
	KUNIT_EXPECT_TRUE_MSG(test, stream_matches(env), "Markers %d, window %u", markers, window);
	for (i = 1; i < env->num_fpdus; i++)
		largest = max(largest, env->fpdus[i] - env->fpdus[i - 1]);
	KUNIT_EXPECT_LE(test, largest, max(window / 2, 1448u));
	KUNIT_EXPECT_GE(test, largest, min_t(u32, max(window / 2, 1448u), MPA_TX_LARGE) - 64);
	KUNIT_EXPECT_EQ(test, count(env, MPA_STAT_TX_UNALIGNED) > 0, window / 2 > 1448);
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

/* On by itself where the route is local: here there is no route. */
static void siz_05_large_fpdus_only_where_chosen(struct kunit *test)
{
	struct tx_env *env = test->priv;

	tcp_sk(env->conn->sk)->max_window = 1 << 20;
	env->conn->params.policy.large = MPA_LARGE_LOCAL;
	tx_start(env, false, true, 1448);
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 1442);
	env->conn->params.policy.large = MPA_LARGE_NEVER;
	tx_start(env, false, true, 1448);
	KUNIT_EXPECT_EQ(test, mpa_tx_room(env->conn, 128), 1442);
}

static int tx_suite_init(struct kunit_suite *suite)
{
	return mpa_crc_module_init();
}

static void tx_suite_exit(struct kunit_suite *suite)
{
	mpa_crc_module_exit();
}

static struct kunit_case cases[] = {
	KUNIT_CASE(ddp_01_frm_01_to_frm_05_mrk_10_crc_02_octets),
	KUNIT_CASE(crc_03_figure_5),
	KUNIT_CASE(rdc_06_crc_05_original_start),
	KUNIT_CASE(mrk_05_to_mrk_08_every_length),
	KUNIT_CASE(mrk_09_position_wrap),
	KUNIT_CASE(ddp_03_ddp_04_large_ulpdus),
	KUNIT_CASE(ddp_01_siz_05_messages),
	KUNIT_CASE(tx_03_message_at_once),
	KUNIT_CASE(ddp_01_message_that_waits),
	KUNIT_CASE(ddp_01_message_taken_while_copied),
	KUNIT_CASE(tx_01_tx_02_siz_05_segments_start_with_an_fpdu),
	KUNIT_CASE(tx_01_ragged_emss),
	KUNIT_CASE(tx_01_bulk_ends_no_segments),
	KUNIT_CASE(siz_05_room_in_a_partly_filled_segment),
	KUNIT_CASE(sta_12_ddp_02_when_nothing_may_be_sent),
	KUNIT_CASE(tx_03_tx_08_full_socket),
	KUNIT_CASE(tx_03_written_ahead_is_bounded),
	KUNIT_CASE(err_01_dead_socket),
	KUNIT_CASE(pages_are_reused_when_tcp_lets_go),
	KUNIT_CASE(pages_that_tcp_keeps_stay_as_they_are),
	KUNIT_CASE(idle_gives_memory_back),
	KUNIT_CASE(tx_08_a_page_is_used_once_in_an_fpdu),
	KUNIT_CASE(tx_08_what_is_not_sent_keeps_no_page),
	KUNIT_CASE(siz_01_siz_04_emss_changes),
	KUNIT_CASE(tx_05_hand_over_ends_a_segment),
	KUNIT_CASE(tx_03_tx_05_part_of_an_fpdu_sent),
	KUNIT_CASE(tx_05_buffer_cut_elsewhere),
	KUNIT_CASE(siz_04_tx_03_tx_05_emss_changes_under_fpdus),
	KUNIT_CASE(siz_04_tx_05_emss_changes_behind_full_segments),
	KUNIT_CASE(tx_02_tx_05_segment_left_open),
	KUNIT_CASE(rdc_07_one_fpdu_in_a_segment),
	KUNIT_CASE(cancelled_fpdu_leaves_no_trace),
	KUNIT_CASE(counters),
	KUNIT_CASE(tx_06_last_octets_are_not_held_back),
	KUNIT_CASE(siz_05_large_fpdus),
	KUNIT_CASE(siz_05_large_fpdus_only_where_chosen),
	{}
};

static struct kunit_suite suite = {
	.name = "mpa_tx",
	.suite_init = tx_suite_init,
	.suite_exit = tx_suite_exit,
	.init = tx_init,
	.exit = tx_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);

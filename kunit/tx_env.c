// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/uio.h>
#include "fake_conn.h"
#include "tx_env.h"

#define MAX_SPANS	2048

static struct kvec spans[MAX_SPANS];

u32 tx_times_busy;

/* The callback for mpa_tx_start() */
void tx_note_busy(struct mpa_conn *conn)
{
	tx_times_busy++;
}

/* Start a new stream on the connection, without any former state. */
void tx_start(struct tx_env *env, bool markers, bool crc, u32 emss)
{
	struct mpa_conn *conn = env->conn;

	fake_tcp_release();
	mpa_tx_free(&conn->tx);
	memset(&conn->tx, 0, sizeof(conn->tx));
	memset(&fake_tcp, 0, sizeof(fake_tcp));
	fake_memory = (struct fake_memory){ .largest_order = UINT_MAX, .left = U32_MAX };
	fake_tcp.emss = emss;
	fake_tcp.paged = true;
	fake_tcp.space = U32_MAX;
	conn->initiator = true;
	conn->agreed.tx_markers = markers;
	conn->agreed.crc = crc;
	lock_sock(conn->sk);
	mpa_tx_start(conn, tx_note_busy);
	release_sock(conn->sk);
	env->f = (struct framer){
		.markers = markers, .crc = crc, .out = env->stream, .size = TX_STREAM_SIZE,
	};
	env->num_fpdus = 0;
}

int tx_env_init(struct kunit *test)
{
	struct tx_env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	struct mpa_conn *conn;

	if (!env)
		return -ENOMEM;
	env->stream = kunit_kzalloc(test, TX_STREAM_SIZE, GFP_KERNEL);
	env->ulpdu = kunit_kzalloc(test, 65536, GFP_KERNEL);
	if (!env->stream || !env->ulpdu)
		return -ENOMEM;
	conn = fake_conn_create(test);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	conn->params.settings.packing = true;
	env->conn = conn;
	test->priv = env;
	return 0;
}

void tx_env_exit(struct kunit *test)
{
	struct tx_env *env = test->priv;

	if (!env)
		return;
	fake_tcp_release();
	mpa_tx_free(&env->conn->tx);
	fake_conn_destroy(env->conn);
}

u64 tx_count(const struct tx_env *env, enum mpa_stat stat)
{
	return this_cpu_read(env->conn->mib->v[stat]);
}

/* Make the octets of the next ULPDU, different ones each time. */
void tx_fill(struct tx_env *env, u32 len)
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

/* The same in one call, with the payload in spans. */
int tx_write_at_once(struct tx_env *env, u32 hdr_len, u32 len, u32 piece)
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
 * Write one FPDU on the connection, in pieces, and to the reference. The number
 * of octets in its header differs each time, and the way of writing it changes
 * without a pattern.
 */
void tx_write_ulpdu(struct kunit *test, struct tx_env *env, u32 len, u32 piece)
{
	u32 turn = env->num_fpdus;

	tx_fill(env, len);
	if (hweight32(turn * GOLDEN_RATIO_32) & 1)
		KUNIT_ASSERT_EQ(test, write_in_parts(env, min(len, turn * 7 % 65), len, piece), 0);
	else
		KUNIT_ASSERT_EQ(test, tx_write_at_once(env, min(len, turn * 7 % 25), len, piece),
				0);

	env->fpdus[env->num_fpdus++] = env->f.len;
	framer_put(&env->f, env->ulpdu, len);
}

/* Hand the written octets over to TCP, as the connection's worker does. */
int tx_push(struct tx_env *env, bool more)
{
	struct sock *sk = env->conn->sk;
	int ret;

	lock_sock(sk);
	ret = mpa_tx_push(env->conn, more);
	release_sock(sk);
	return ret;
}

/* Does TCP have the reference's octets? TCP reads its pages only now. */
bool tx_stream_matches(const struct tx_env *env)
{
	u32 i, pos = 0;

	for (i = 0; i < fake_tcp.num_parts; i++) {
		const struct fake_part *part = &fake_tcp.parts[i];

		if (memcmp(page_address(part->page) + part->off, env->stream + pos, part->len))
			return false;
		pos += part->len;
	}
	return pos == env->f.len;
}

/* Write the next @len octets of a message, cut as DDP cuts them. */
void tx_write_message(struct kunit *test, struct tx_env *env, u32 len, u32 least)
{
	while (len) {
		u32 n = mpa_tx_room(env->conn, least);

		if (!n) {
			KUNIT_ASSERT_EQ(test, tx_push(env, true), 0);
			n = mpa_tx_room(env->conn, least);
		}
		KUNIT_ASSERT_GE(test, n, 128);
		n = min(n, len);
		tx_write_ulpdu(test, env, n, 65536);
		len -= n;
	}
}

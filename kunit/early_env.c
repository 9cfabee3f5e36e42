// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>
#include <linux/err.h>
#include <net/tcp.h>
#include "cursor.h"
#include "early_env.h"
#include "fake_conn.h"
#include "fake_rcv.h"
#include "rx_early.h"
#include "surroundings.h"

#define SLOT		4096u	/* octets of the sink for each FPDU */
#define HDR		8u	/* octets of each ULPDU's header */

/*
 * Lengths of the ULPDUs. Some FPDUs hold no Marker, some begin with one, one
 * holds several. Those in early_env.refuse stand for Sends: the consumer does
 * not place them.
 */
static const u16 lengths[EARLY_FPDUS] = {
	64, 700, 227, 20, 8, 1430, 44, 500, 9, 3000, 490, 128, 1430, 500, 30, 700,
};

bool early_no_memory;
gfp_t early_gfp;
unsigned int early_verified;

void *early_kunit_kmalloc(size_t size, gfp_t flags)
{
	early_gfp = flags;
	return early_no_memory ? NULL : kmalloc(size, flags & ~__GFP_ACCOUNT);
}

static u8 octet(u32 index, u32 i)
{
	return i ? index * 31 + i * 7 + 1 : index;
}

static bool payload_is_right(const struct early_env *env, u32 index)
{
	u32 i;

	for (i = HDR; i < lengths[index]; i++)
		if (env->sink[index * SLOT + i] != octet(index, i))
			return false;
	return true;
}

/* Read the header at the cursor. Returns the FPDU's index, or EARLY_FPDUS. */
static u32 read_header(struct mpa_cursor *cur, u32 len, u8 *hdr)
{
	u32 i;

	if (mpa_cursor_copy(cur, hdr, HDR) || hdr[0] >= EARLY_FPDUS || lengths[hdr[0]] != len)
		return EARLY_FPDUS;
	for (i = 0; i < HDR; i++)
		if (hdr[i] != octet(hdr[0], i))
			return EARLY_FPDUS;
	return hdr[0];
}

static int consumer_place(void *consumer, struct mpa_cursor *cur, u32 len, u8 *hdr)
{
	struct early_env *env = consumer;
	u32 index = read_header(cur, len, hdr);

	env->asked++;
	if (index == EARLY_FPDUS || index < env->got) {
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
	struct early_env *env = consumer;
	u32 pos = mpa_cursor_position(cur);
	u8 hdr[HDR], more;
	u32 index = read_header(cur, len, hdr);
	bool early = env->placed & BIT_ULL(index);

	/* The position is the ULPDU's: behind the length and a Marker. */
	if (index != env->got ||
	    pos - (env->f.pos - env->f.len + env->bound[index]) > 6)
		env->wrong++;
	/* Copying a payload that is already placed must do nothing. */
	if (index < EARLY_FPDUS &&
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
	struct early_env *env = consumer;

	env->batches++;
}

static const struct mpa_consumer_ops ops = {
	.receive = consumer_receive,
	.place = consumer_place,
	.receive_done = consumer_done,
};

/*
 * Compute independently which FPDUs must be placed. They are complete behind a
 * gap, and have a Marker, or follow an FPDU that must be placed without another
 * gap between.
 */
void early_expect_due(struct early_env *env, bool exactly)
{
	u32 in_order = tcp_sk(env->conn->sk)->rcv_nxt - env->seq;
	u32 base = env->f.pos - env->f.len, i;
	bool reachable = false;

	for (i = 0; i < EARLY_FPDUS; i++) {
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

void early_look(struct early_env *env, u32 budget)
{
	struct sock *sk = env->conn->sk;

	lock_sock(sk);
	mpa_early_pass(env->conn, budget);
	release_sock(sk);
}

static enum mpa_error deliver(struct early_env *env)
{
	struct sock *sk = env->conn->sk;
	enum mpa_error err;

	lock_sock(sk);
	mpa_rx_pass(env->conn, EARLY_NO_LIMIT, GFP_ATOMIC, &err);
	release_sock(sk);
	return err;
}

/* A segment arrives, with @octets in place of the stream's. */
enum mpa_error early_arrive_as(struct kunit *test, struct early_env *env, const u8 *octets,
			       u32 from, u32 to, enum shape shape)
{
	struct tcp_sock *tp = tcp_sk(env->conn->sk);
	struct sk_buff *skb = buffer_make(test, octets, to - from, shape);
	bool behind_a_gap;

	TCP_SKB_CB(skb)->seq = env->seq + from;
	TCP_SKB_CB(skb)->end_seq = env->seq + to;
	TCP_SKB_CB(skb)->tcp_flags = TCPHDR_ACK;
	memset(env->arrived + from, 1, to - from);
	behind_a_gap = after(TCP_SKB_CB(skb)->seq, tp->rcv_nxt);
	env->most_runs = max(env->most_runs, fake_rcv_take(env->conn->sk, skb));
	return behind_a_gap ? MPA_ERR_NONE : deliver(env);
}

enum mpa_error early_arrive(struct kunit *test, struct early_env *env, u32 from, u32 to)
{
	enum mpa_error err = early_arrive_as(test, env, env->stream + from, from, to,
					     (from ^ to) % NUM_SHAPES);

	early_look(env, EARLY_NO_LIMIT);
	return err;
}

void early_frame_all(struct early_env *env, u32 pos)
{
	static u8 ulpdu[SLOT];
	u32 i, k;

	env->f = (struct framer){
		.markers = true, .crc = true, .pos = pos,
		.out = env->stream, .size = EARLY_STREAM_SIZE,
	};
	for (i = 0; i < EARLY_FPDUS; i++) {
		for (k = 0; k < lengths[i]; k++)
			ulpdu[k] = octet(i, k);
		env->bound[i] = env->f.len;
		framer_put(&env->f, ulpdu, lengths[i]);
	}
	env->bound[EARLY_FPDUS] = env->f.len;
}

/* A connection at the stream's first octet, which has stream position @pos. */
void early_restart_at(struct kunit *test, struct early_env *env, u32 pos, u32 window)
{
	struct sock *sk = env->conn->sk;
	struct mpa_rx *rx = &env->conn->rx;
	struct tcp_sock *tp = tcp_sk(sk);

	__skb_queue_purge(&sk->sk_receive_queue);
	fake_rcv_clear(sk);
	mpa_rx_free(rx);
	env->seq = 0x1000;
	*rx = (struct mpa_rx){
		.start = env->seq - pos, .octets = pos, .markers = true, .crc = true,
	};
	KUNIT_ASSERT_TRUE(test, mpa_early_create(rx));

	env->conn->state = MPA_FULL;
	env->placed = 0;
	env->due = 0;
	env->got = 0;
	env->wrong = 0;
	env->asked = 0;
	env->batches = 0;
	env->most_runs = 0;
	memset(env->arrived, 0, EARLY_STREAM_SIZE);
	memset(env->sink, 0xee, EARLY_FPDUS * SLOT);

	tp->copied_seq = env->seq;
	tp->rcv_nxt = env->seq;
	tp->rcv_wup = env->seq;
	tp->rcv_wnd = window;
	tp->rx_opt.sack_ok = TCP_SACK_SEEN;
	tp->rx_opt.num_sacks = 0;
	inet_csk(sk)->icsk_ack.rcv_mss = TCP_MSS_DEFAULT;
	sk->sk_shutdown = RCV_SHUTDOWN;	/* no window updates: no peer */
}

void early_restart(struct kunit *test, struct early_env *env)
{
	env->refuse = 0;
	env->forbid = 0;
	early_frame_all(env, 0);
	early_restart_at(test, env, 0, SZ_1M);
}

void early_expect_all(struct kunit *test, struct early_env *env, const char *what, u32 which)
{
	KUNIT_ASSERT_EQ_MSG(test, env->wrong, 0, "%s %u", what, which);
	KUNIT_ASSERT_EQ_MSG(test, env->got, EARLY_FPDUS, "%s %u", what, which);
	KUNIT_ASSERT_EQ_MSG(test, env->conn->rx.early->num_placed, 0, "%s %u", what, which);
}

int early_env_init(struct kunit *test)
{
	struct early_env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	struct mpa_conn *conn;

	if (!env)
		return -ENOMEM;
	env->stream = kunit_kzalloc(test, EARLY_STREAM_SIZE, GFP_KERNEL);
	env->arrived = kunit_kzalloc(test, EARLY_STREAM_SIZE, GFP_KERNEL);
	env->sink = kunit_kzalloc(test, EARLY_FPDUS * SLOT, GFP_KERNEL);
	if (!env->stream || !env->arrived || !env->sink)
		return -ENOMEM;
	conn = fake_conn_create(test);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	conn->ops = &ops;
	conn->consumer = env;
	env->conn = conn;
	test->priv = env;
	early_restart(test, env);
	return 0;
}

void early_env_exit(struct kunit *test)
{
	struct early_env *env = test->priv;

	if (!env)
		return;
	mpa_rx_free(&env->conn->rx);
	fake_rcv_clear(env->conn->sk);
	fake_conn_destroy(env->conn);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Handing octets to TCP (mpa/sock.c). TCP is the kernel's own, over the
 * loopback device: its queues show where it has cut segments.
 */
#include <kunit/test.h>
#include <linux/in.h>
#include <linux/iopoll.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/sizes.h>
#include <net/tcp.h>
#include "compat.h"
#include "conn.h"
#include "sock.h"
#include "surroundings.h"

#define PAGE_ORDER	4
#define MAX_SEGMENT	1460	/* TCP_MAXSEG */

/**
 * struct sock_env - a connection whose peer reads nothing
 * @conn: its end under test
 * @peer: the other end
 * @page: the octets to send, at any offset
 * @start: sequence number of the first octet
 * @mss: octets in a full segment
 */
struct sock_env {
	struct mpa_conn *conn;
	struct socket *peer;
	struct page *page;
	u32 start;
	u32 mss;
};

/* Until the last call, the device still has octets that it has not sent. */
static bool device_is_slow;

int sock_kunit_send_pages(struct sock *sk, const struct bio_vec *vec, unsigned int num, u32 len,
			  int flags)
{
	bool waits = device_is_slow && (flags & MSG_MORE);
	int ret;

	if (waits)
		refcount_add(SZ_1M, &sk->sk_wmem_alloc);
	ret = mpa_tcp_send_pages(sk, vec, num, len, flags);
	if (waits)
		WARN_ON(refcount_sub_and_test(SZ_1M, &sk->sk_wmem_alloc));
	return ret;
}

static int count;
static unsigned int changes;

void sock_kunit_count(int change)
{
	count += change;
	changes++;
}

/* A built-in suite runs before user space, which sets the loopback device up. */
static int sock_suite_init(struct kunit_suite *suite)
{
	int ret;

	rtnl_lock();
	ret = dev_open(init_net.loopback_dev, NULL);
	rtnl_unlock();
	return ret;
}

static int tcp_socket(struct socket **sock)
{
	int ret, mss = MAX_SEGMENT;

	ret = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, sock);
	if (ret)
		return ret;
	ret = (*sock)->ops->setsockopt(*sock, SOL_TCP, TCP_MAXSEG, KERNEL_SOCKPTR(&mss),
				       sizeof(mss));
	if (ret)
		sock_release(*sock);
	return ret;
}

static int connect_to(struct socket *listener, struct sock_env *env)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	struct sockaddr *any = (struct sockaddr *)&addr;
	int ret;

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ret = kernel_bind(listener, (struct sockaddr_unsized *)any, sizeof(addr));
	if (!ret)
		ret = kernel_listen(listener, 1);
	if (!ret)
		ret = kernel_getsockname(listener, any);
	if (ret < 0)
		return ret;
	ret = kernel_connect(env->conn->sock, (struct sockaddr_unsized *)any, sizeof(addr), 0);
	return ret ? ret : kernel_accept(listener, &env->peer, 0);
}

static int sock_init(struct kunit *test)
{
	struct sock_env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	struct socket *listener;
	int ret;

	if (!env)
		return -ENOMEM;
	test->priv = env;
	env->conn = kunit_kzalloc(test, sizeof(*env->conn), GFP_KERNEL);
	env->page = alloc_pages(GFP_KERNEL | __GFP_COMP | __GFP_ZERO, PAGE_ORDER);
	if (!env->conn || !env->page)
		return -ENOMEM;
	ret = tcp_socket(&listener);
	if (ret)
		return ret;
	ret = tcp_socket(&env->conn->sock);
	if (!ret) {
		env->conn->sk = env->conn->sock->sk;
		ret = connect_to(listener, env);
	}
	sock_release(listener);
	return ret;
}

static void sock_exit(struct kunit *test)
{
	struct sock_env *env = test->priv;

	device_is_slow = false;
	if (!env)
		return;
	if (env->peer)
		sock_release(env->peer);
	if (env->conn && env->conn->sock)
		sock_release(env->conn->sock);
	if (env->page)
		__free_pages(env->page, PAGE_ORDER);
}

/*
 * Lock the socket, so that ACKs wait until the case unlocks it, and the peer's
 * window stays as the case sets it. TCP has enough cwnd and memory.
 */
static struct tcp_sock *begin(struct sock_env *env)
{
	struct sock *sk = env->conn->sk;
	struct tcp_sock *tp = tcp_sk(sk);

	lock_sock(sk);
	sk->sk_userlocks |= SOCK_SNDBUF_LOCK;
	WRITE_ONCE(sk->sk_sndbuf, SZ_1M);
	tcp_snd_cwnd_set(tp, 100);
	env->start = tp->write_seq;
	env->mss = tp->mss_cache;
	return tp;
}

/* Hand octets to TCP, as mpa_tx_push() does. */
static void hand_over(struct kunit *test, u32 len, bool more)
{
	struct sock_env *env = test->priv;
	u32 off = 0;

	while (off < len) {
		struct mpa_sock_piece piece = {
			.part[0] = { .bv_page = env->page, .bv_offset = off, .bv_len = len - off },
			.num_parts = 1,
			.len = len - off,
			.more = more,
		};
		int ret = mpa_sock_send_pages(env->conn, &piece);

		KUNIT_EXPECT_GT(test, ret, 0);
		if (ret <= 0)
			return;
		off += ret;
	}
}

static u32 misplaced(const struct sock_env *env, const struct sk_buff *skb)
{
	return (TCP_SKB_CB(skb)->seq - env->start) % env->mss;
}

/* Count buffers, sent or not, that do not begin at a multiple of the MSS. */
static u32 misplaced_buffers(const struct sock_env *env)
{
	struct sock *sk = env->conn->sk;
	struct sk_buff *skb;
	u32 n = 0;

	skb_rbtree_walk(skb, &sk->tcp_rtx_queue)
		n += !!misplaced(env, skb);
	skb_queue_walk(&sk->sk_write_queue, skb)
		n += !!misplaced(env, skb);
	return n;
}

/* Check that everything arrives, although the last segment is not full. */
static void end(struct kunit *test)
{
	struct sock_env *env = test->priv;
	u32 behind = tcp_sk(env->conn->sk)->write_seq, seq;
	int ret;

	release_sock(env->conn->sk);
	ret = read_poll_timeout(READ_ONCE, seq, seq == behind, 1000, 10 * USEC_PER_SEC, false,
				tcp_sk(env->peer->sk)->rcv_nxt);
	KUNIT_EXPECT_EQ(test, ret, 0);
}

/*
 * The device is slow, so that TCP sends only when it gets the last octets, and
 * then up to the window's edge.
 */
static void tx_01_tx_06_whole_segments_up_to_the_windows_edge(struct kunit *test)
{
	struct sock_env *env = test->priv;
	struct tcp_sock *tp = begin(env);

	tp->snd_wnd = 36 * env->mss + 700;
	device_is_slow = true;
	hand_over(test, 22 * env->mss, true);
	hand_over(test, 20 * env->mss - 100, false);
	KUNIT_EXPECT_EQ(test, tp->snd_nxt - env->start, 36 * env->mss);
	KUNIT_EXPECT_EQ(test, misplaced_buffers(env), 0);
	end(test);
}

/* TCP adds to a buffer that was full before the window grew. */
static void tx_01_tx_06_larger_buffers_as_the_window_grows(struct kunit *test)
{
	struct sock_env *env = test->priv;
	struct tcp_sock *tp = begin(env);

	tp->max_window = 22 * env->mss + 10;
	tp->snd_wnd = 5 * env->mss + 700;
	hand_over(test, 16 * env->mss, true);
	KUNIT_EXPECT_EQ(test, tp->snd_nxt - env->start, 5 * env->mss);
	KUNIT_EXPECT_EQ(test, tcp_write_queue_tail(env->conn->sk)->len, 11 * env->mss);
	tp->max_window = 24 * env->mss + 10;
	tp->snd_wnd = 8 * env->mss + 700;
	hand_over(test, 11 * env->mss - 100, false);
	KUNIT_EXPECT_EQ(test, tp->snd_nxt - env->start, 8 * env->mss);
	KUNIT_EXPECT_EQ(test, misplaced_buffers(env), 0);
	end(test);
}

static u32 octets_sent(const struct sock_env *env)
{
	return tcp_sk(env->conn->sk)->snd_nxt - env->start;
}

#ifdef HAVE_PROTO_SENDPAGE
/* Hand over one of several pieces of a push, @rest octets before its end. */
static int push_piece(struct sock_env *env, u32 len, u32 rest)
{
	struct mpa_sock_piece piece = {
		.part[0] = { .bv_page = env->page, .bv_len = len },
		.num_parts = 1,
		.len = len,
		.rest = rest,
	};

	return mpa_sock_send_pages(env->conn, &piece);
}

static void tx_03_tcp_is_pushed_with_the_last_octets(struct kunit *test)
{
	struct sock_env *env = test->priv;
	struct tcp_sock *tp;
	u32 len;

	tp = begin(env);
	len = 4 * env->mss;
	tp->snd_wnd = 12 * env->mss;
	KUNIT_EXPECT_EQ(test, push_piece(env, len, 2 * len), len);
	KUNIT_EXPECT_EQ(test, push_piece(env, len, len), len);
	KUNIT_EXPECT_EQ(test, octets_sent(env), 0);
	KUNIT_EXPECT_EQ(test, push_piece(env, len - 100, 0), len - 100);
	KUNIT_EXPECT_EQ(test, octets_sent(env), 3 * len - 100);
	end(test);
}

/* TCP does not hold octets back for others that may not come. */
static void tx_03_tx_06_tcp_is_pushed_before_it_is_full(struct kunit *test)
{
	struct sock_env *env = test->priv;
	struct tcp_sock *tp;
	u32 len;

	tp = begin(env);
	len = 4 * env->mss;
	/* The window has no room for the rest. */
	tp->snd_wnd = 12 * env->mss - 1;
	KUNIT_EXPECT_EQ(test, push_piece(env, len, 2 * len), len);
	KUNIT_EXPECT_EQ(test, octets_sent(env), len);
	/* The window has room, but TCP has no memory. */
	tp->snd_wnd = 24 * env->mss;
	KUNIT_EXPECT_EQ(test, push_piece(env, len, 2 * len), len);
	KUNIT_EXPECT_EQ(test, octets_sent(env), len);
	WRITE_ONCE(env->conn->sk->sk_sndbuf, 1);
	mpa_sock_end_record(env->conn->sk);
	KUNIT_EXPECT_EQ(test, push_piece(env, len, len), -EAGAIN);
	KUNIT_EXPECT_EQ(test, octets_sent(env), 2 * len);
	WRITE_ONCE(env->conn->sk->sk_sndbuf, SZ_1M);
	end(test);
}

#else /* TCP sends all full segments after each call, whatever follows. */
/* Add up to @len octets at @off of the page to the octets for a call. */
static u32 add_part(struct sock_env *env, struct mpa_sock_paged *paged,
		    struct mpa_sock_piece *piece, u32 off, u32 len)
{
	struct sock *sk = env->conn->sk;

	paged->off = off;
	paged->used = piece->len % paged->size;
	if (piece->num_parts)
		len = mpa_sock_join(sk, paged, piece, len);
	else
		len = mpa_sock_fit(sk, paged, len);
	bvec_set_page(&piece->part[piece->num_parts++], env->page, len, off);
	piece->len += len;
	return len;
}

static void tx_03_parts_of_a_call_share_a_buffer(struct kunit *test)
{
	struct mpa_sock_piece piece = { .rest = SZ_1M };
	struct sock_env *env = test->priv;
	struct mpa_sock_paged paged = { };
	struct tcp_sock *tp;
	u32 part, full;

	tp = begin(env);
	paged.page = env->page;
	paged.size = env->mss;
	tp->max_window = 120 * env->mss;
	tp->snd_wnd = 60 * env->mss;
	/* On a busy machine TCP takes the path for slow, and cuts buffers. */
	WRITE_ONCE(env->conn->sk->sk_pacing_rate, ULONG_MAX);
	part = 16 * env->mss + 100;
	KUNIT_EXPECT_EQ(test, add_part(env, &paged, &piece, 0, part), part);
	KUNIT_EXPECT_EQ(test, add_part(env, &paged, &piece, SZ_32K, part), part);
	/* The rest of the buffer, and no octet more. */
	full = piece.len + add_part(env, &paged, &piece, 0, part);
	KUNIT_EXPECT_LT(test, full, 3 * part);
	KUNIT_EXPECT_EQ(test, full % env->mss, 0);
	KUNIT_EXPECT_EQ(test, add_part(env, &paged, &piece, SZ_32K, part), 0);
	piece.num_parts--;
	KUNIT_EXPECT_EQ(test, mpa_sock_send_pages(env->conn, &piece), full);
	KUNIT_EXPECT_EQ(test, octets_sent(env), full);
	KUNIT_EXPECT_EQ(test, tcp_rtx_queue_head(env->conn->sk)->len, full);
	/* Not beyond the window: TCP would cut a segment at its edge. */
	piece.len = 15 * env->mss;
	piece.num_parts = 1;
	paged.room = part;
	paged.frags = MAX_SKB_FRAGS;
	KUNIT_EXPECT_EQ(test, add_part(env, &paged, &piece, SZ_32K, part), 0);
	end(test);
}

#endif

/* As in TCP, options take 40 octets at most, and an MSS is larger. */
static void siz_06_sack_blocks_leave_room_for_octets(struct kunit *test)
{
	struct sock_env *env = test->priv;
	struct tcp_sock *tp = begin(env);
	const u16 header_len = tp->tcp_header_len;
	u32 options, emss;

	for (options = 0; options <= 32; options += 4) {
		tp->tcp_header_len = sizeof(struct tcphdr) + options;
		tp->mss_cache = TCP_MIN_SND_MSS - options;
		for (tp->rx_opt.num_sacks = 0; tp->rx_opt.num_sacks <= 4; tp->rx_opt.num_sacks++) {
			emss = mpa_sock_emss(env->conn->sk);
			KUNIT_EXPECT_GE(test, emss, TCP_MIN_SND_MSS - 40);
			if (!tp->rx_opt.num_sacks || options > 28)
				KUNIT_EXPECT_EQ(test, emss, tp->mss_cache);
			else
				KUNIT_EXPECT_LE(test, emss, tp->mss_cache - 12);
		}
	}
	tp->rx_opt.num_sacks = 0;
	tp->tcp_header_len = header_len;
	tp->mss_cache = env->mss;
	end(test);
}

/* Only the first socket waits for CPUs (static key): a reconnect must not. */
static void reserves_are_open_until_the_module_goes(struct kunit *test)
{
	struct socket *sock;
	int i;

	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, tcp_socket(&sock), 0);
		mpa_sock_use_reserves(sock->sk);
		KUNIT_EXPECT_TRUE(test, sock_flag(sock->sk, SOCK_MEMALLOC));
		KUNIT_EXPECT_TRUE(test, sock->sk->sk_allocation & __GFP_MEMALLOC);
		sock_release(sock);
		KUNIT_EXPECT_EQ(test, count, 1);
	}
	mpa_sock_module_exit();
	KUNIT_EXPECT_EQ(test, count, 0);
	mpa_sock_module_exit();
	KUNIT_EXPECT_EQ(test, changes, 2);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(reserves_are_open_until_the_module_goes),
	KUNIT_CASE(siz_06_sack_blocks_leave_room_for_octets),
	KUNIT_CASE(tx_01_tx_06_whole_segments_up_to_the_windows_edge),
	KUNIT_CASE(tx_01_tx_06_larger_buffers_as_the_window_grows),
#ifdef HAVE_PROTO_SENDPAGE
	KUNIT_CASE(tx_03_tcp_is_pushed_with_the_last_octets),
	KUNIT_CASE(tx_03_tx_06_tcp_is_pushed_before_it_is_full),
#else
	KUNIT_CASE(tx_03_parts_of_a_call_share_a_buffer),
#endif
	{}
};

static struct kunit_suite suite = {
	.name = "mpa_sock",
	.suite_init = sock_suite_init,
	.init = sock_init,
	.exit = sock_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
MODULE_DESCRIPTION("KUnit suites of the calls of mpa.ko to TCP");
MODULE_LICENSE("GPL");

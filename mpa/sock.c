// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets: creation, callbacks, and what is handed to TCP.
 *
 * TCP runs the callbacks with the socket locked: in softirq with the spinlock
 * held, or in process context from the backlog. That lock guards everything
 * they use. A listener's data_ready is the exception: it runs for a child
 * under the child's lock, so that sk_callback_lock guards sk_user_data there.
 */
#include <net/inet_connection_sock.h>
#include <net/tcp.h>
#include "conn.h"
#include "early.h"
#include "sock.h"

static struct lock_class_key mpa_slock_key[2];
static struct lock_class_key mpa_lock_key[2];

/* Our sockets live below file systems: lockdep must not mix them with users'. */
static void reclassify(struct sock *sk)
{
	int i = sk->sk_family == AF_INET6;

	if (!sock_allow_reclassification(sk))
		return;
	sock_lock_init_class_and_name(sk, i ? "slock-AF_INET6-MPA" :
					      "slock-AF_INET-MPA",
				      &mpa_slock_key[i],
				      i ? "sk_lock-AF_INET6-MPA" :
					  "sk_lock-AF_INET-MPA",
				      &mpa_lock_key[i]);
}

/**
 * mpa_sock_create() - make a TCP socket for MPA
 * @net: network namespace; the socket holds a reference on it, so that TCP
 *	keeps its timers after close and delivers the last octets
 * @family: AF_INET or AF_INET6
 * @sock: set to the socket
 *
 * Context: process, may sleep. Return: 0 or a negative errno.
 */
int mpa_sock_create(struct net *net, int family, struct socket **sock)
{
	int ret;

	ret = __sock_create(net, family, SOCK_STREAM, IPPROTO_TCP, sock, 0);
	if (ret)
		return ret;
	reclassify((*sock)->sk);
	return 0;
}

static void data_ready(struct sock *sk)
{
	struct mpa_conn *conn = sk->sk_user_data;

	if (conn)
		mpa_conn_data_ready(conn);
}

static void state_change(struct sock *sk)
{
	struct mpa_conn *conn = sk->sk_user_data;

	if (!conn)
		return;
	/* Who sleeps on a program's socket looks again. */
	if (!conn->sock)
		conn->saved_state_change(sk);
	mpa_conn_state_change(conn);
}

static void write_space(struct sock *sk)
{
	struct mpa_conn *conn = sk->sk_user_data;

	if (!sk_stream_is_writeable(sk))
		return;
	if (sk->sk_socket)
		clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	if (conn)
		mpa_conn_writable(conn);
}

/* What is right for a socket that is ours alone. */
static void tune(struct sock *sk)
{
	/* Reclaim may run through us: no I/O, and not the task's own frag. */
	sk->sk_allocation = GFP_NOIO;
	sk->sk_use_task_frag = false;
	tcp_sk(sk)->nonagle |= TCP_NAGLE_OFF;
	/* Urgent data would move copied_seq, and the Markers with it. */
	sock_set_flag(sk, SOCK_URGINLINE);
}

/**
 * mpa_sock_attach() - take over a socket's callbacks, and tune ours for MPA
 * @conn: connection; gets a reference that mpa_sock_detach() returns
 *
 * Octets that came before are in the queue: look there afterwards.
 * Context: process; socket lock held.
 */
void mpa_sock_attach(struct mpa_conn *conn)
{
	struct sock *sk = mpa_conn_sk(conn);

	sock_owned_by_me(sk);
	mpa_conn_get(conn);
	write_lock_bh(&sk->sk_callback_lock);
	conn->saved_data_ready = sk->sk_data_ready;
	conn->saved_state_change = sk->sk_state_change;
	conn->saved_write_space = sk->sk_write_space;
	sk->sk_user_data = conn;
	sk->sk_data_ready = data_ready;
	sk->sk_state_change = state_change;
	sk->sk_write_space = write_space;
	write_unlock_bh(&sk->sk_callback_lock);
	if (conn->sock)
		tune(sk);
}

/*
 * TCP tells nobody that something came out of order, but it acknowledges: at
 * once the first three times, then at least once in a millisecond or in a
 * twentieth of the round trip, whichever is shorter. The gap cannot be filled
 * within that time.
 */
static int queue_xmit(struct sock *sk, struct sk_buff *skb, struct flowi *fl)
{
	struct mpa_conn *conn = sk->sk_user_data;
	int ret = conn->rx.early->saved_af_ops->queue_xmit(sk, skb, fl);

	if (mpa_early_has_news(conn->rx.early, sk))
		mpa_conn_out_of_order(conn);
	return ret;
}

/**
 * mpa_sock_watch_acks() - have mpa_conn_out_of_order() called
 * @conn: connection with rx.early, attached
 *
 * Ends with mpa_sock_detach(). Context: process; socket lock held.
 */
void mpa_sock_watch_acks(struct mpa_conn *conn)
{
	struct inet_connection_sock *icsk = inet_csk(mpa_conn_sk(conn));
	struct mpa_early *early = conn->rx.early;

	early->saved_af_ops = icsk->icsk_af_ops;
	early->af_ops = *icsk->icsk_af_ops;
	early->af_ops.queue_xmit = queue_xmit;
	WRITE_ONCE(icsk->icsk_af_ops, &early->af_ops);
}

/* Context: process; socket lock held. Drops the socket's reference. */
void mpa_sock_detach(struct mpa_conn *conn)
{
	struct sock *sk = mpa_conn_sk(conn);

	if (sk->sk_user_data != conn)
		return;
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	if (conn->rx.early)
		WRITE_ONCE(inet_csk(sk)->icsk_af_ops,
			   conn->rx.early->saved_af_ops);
	sk->sk_data_ready = conn->saved_data_ready;
	sk->sk_state_change = conn->saved_state_change;
	sk->sk_write_space = conn->saved_write_space;
	write_unlock_bh(&sk->sk_callback_lock);
	mpa_conn_put(conn);	/* never the last: the caller has one */
}

static void listen_data_ready(struct sock *sk)
{
	struct mpa_listener *listener;

	read_lock_bh(&sk->sk_callback_lock);
	rcu_read_lock();	/* for the accessor, which strips the flag */
	listener = rcu_dereference_sk_user_data(sk);
	if (listener && sk->sk_state == TCP_LISTEN)
		mpa_listener_incoming(listener);
	rcu_read_unlock();
	read_unlock_bh(&sk->sk_callback_lock);
}

void mpa_sock_attach_listener(struct mpa_listener *listener,
			      struct socket *sock)
{
	struct sock *sk = sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	listener->saved_data_ready = sk->sk_data_ready;
	/* Children are cloned from this socket: not with our pointer. */
	__rcu_assign_sk_user_data_with_flags(sk, listener,
					     SK_USER_DATA_NOCOPY);
	sk->sk_data_ready = listen_data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
}

/* Context: process. Afterwards no mpa_listener_incoming() runs. */
void mpa_sock_detach_listener(struct mpa_listener *listener,
			      struct socket *sock)
{
	struct sock *sk = sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_data_ready = listener->saved_data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * mpa_sock_close() - release a socket
 * @sock: socket without our callbacks
 * @reset: drop the connection (RST) instead of closing it (FIN)
 *
 * Context: process, may sleep. TCP goes on with the FIN by itself.
 */
void mpa_sock_close(struct socket *sock, bool reset)
{
	might_sleep();
	if (reset)
		sock_no_linger(sock->sk);
	sock_release(sock);
}

/**
 * mpa_sock_send_page() - give TCP a reference to octets of a page
 * @sk: socket
 * @page: head page of a chunk
 * @off: offset of the first octet in the chunk
 * @len: octets
 * @more: more follow at once: TCP may wait with a segment that is not full
 *
 * Context: process, socket lock held. Does not block.
 * Return: octets taken, -EAGAIN when TCP has no room, or another errno.
 */
int mpa_sock_send_page(struct sock *sk, struct page *page, u32 off, u32 len,
		       bool more)
{
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL | MSG_NO_SHARED_FRAGS;

	if (more)
		flags |= MSG_MORE;
	sock_owned_by_me(sk);
	return tcp_sendpage_locked(sk, page, off, len, flags);
}

/**
 * mpa_sock_lift() - let TCP take more than the socket's buffer allows
 * @sk: socket
 * @limits: for mpa_sock_lower()
 *
 * For little that cannot wait. Context: socket lock held until
 * mpa_sock_lower().
 */
void mpa_sock_lift(struct sock *sk, struct mpa_sock_limits *limits)
{
	struct tcp_sock *tp = tcp_sk(sk);

	sock_owned_by_me(sk);
	limits->sndbuf = sk->sk_sndbuf;
	limits->notsent_lowat = tp->notsent_lowat;
	WRITE_ONCE(sk->sk_sndbuf, INT_MAX);
	WRITE_ONCE(tp->notsent_lowat, UINT_MAX);
}

void mpa_sock_lower(struct sock *sk, const struct mpa_sock_limits *limits)
{
	WRITE_ONCE(sk->sk_sndbuf, limits->sndbuf);
	WRITE_ONCE(tcp_sk(sk)->notsent_lowat, limits->notsent_lowat);
}

/**
 * mpa_sock_send_frame() - send a startup frame
 * @sk: socket
 * @frame: octets; copied
 * @len: number of octets
 *
 * Context: process, socket lock held. What a program sent before may fill the
 * socket, so that its limits do not count here: the frame goes out whole.
 * Return: 0 or a negative errno.
 */
int mpa_sock_send_frame(struct sock *sk, void *frame, u32 len)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct kvec iov = { .iov_base = frame, .iov_len = len };
	struct mpa_sock_limits limits;
	int ret;

	mpa_sock_lift(sk, &limits);
	ret = kernel_sendmsg_locked(sk, &msg, &iov, 1, len);
	mpa_sock_lower(sk, &limits);
	if (ret < 0)
		return ret;
	return ret == len ? 0 : -ENOBUFS;
}

/*
 * The octet that TCP took last ends its segment: what follows starts a new
 * one. Nothing to do when TCP has already sent it.
 */
void mpa_sock_end_record(struct sock *sk)
{
	struct sk_buff *skb = tcp_write_queue_tail(sk);

	sock_owned_by_me(sk);
	if (skb)
		TCP_SKB_CB(skb)->eor = 1;
}

/**
 * mpa_sock_emss() - TCP's effective maximum segment size (SIZ-06)
 * @sk: connected socket
 *
 * Context: socket lock held. Return: octets of payload in a full segment.
 */
u32 mpa_sock_emss(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 mss = tp->mss_cache;
	u32 sacks = tp->rx_opt.num_sacks + tp->rx_opt.dsack;

	/* SACK blocks, which a receiver may have to send, take option space. */
	if (sacks)
		mss -= TCPOLEN_SACK_BASE_ALIGNED +
		       TCPOLEN_SACK_PERBLOCK *
		       min_t(u32, sacks, tp->rx_opt.tstamp_ok ? 3 : 4);
	return mss;
}

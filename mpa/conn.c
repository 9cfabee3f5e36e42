// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: lifetime, callbacks, the worker, and the ends.
 */
#include <linux/memcontrol.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <net/tcp.h>
#include "conn.h"
#include "early.h"
#include "half_open.h"
#include "linger.h"
#include "params.h"
#include "sock.h"
#include "work.h"

/* Octets in one go, for the worker. */
#define MPA_WORK_BUDGET		SZ_1M
/* When there was no memory, it is tried again after so long. */
#define MPA_RETRY_MS		10

static void conn_work(struct work_struct *work);
static void conn_timeout(struct work_struct *work);

/*
 * Take a policy over, the administrator's where the consumer has none.
 * Context: process, the one that is charged.
 */
void mpa_conn_set_params(struct mpa_conn *conn,
			 const struct mpa_params *params)
{
	conn->params = *params;
	if (!params->own_policy)
		mpa_params_policy(&conn->params);
	if (params->account && !conn->memcg)
		conn->memcg = get_mem_cgroup_from_mm(NULL);
}

/**
 * mpa_conn_alloc() - make a connection object around a socket
 * @sk: TCP socket
 * @sock: its socket, which the connection owns from here on; NULL when it
 *	belongs to a program
 * @params: policy
 * @mib: counters
 *
 * Return: the connection with one reference, or NULL: @sock is the caller's
 * still.
 */
struct mpa_conn *mpa_conn_alloc(struct sock *sk, struct socket *sock,
				const struct mpa_params *params,
				struct mpa_mib __percpu *mib)
{
	gfp_t gfp = params->account ? GFP_KERNEL_ACCOUNT : GFP_KERNEL;
	struct mpa_conn *conn = kzalloc(sizeof(*conn), gfp);

	if (!conn)
		return NULL;
	conn->frame = kmalloc(MPA_STARTUP_MAX_LEN, gfp);
	if (!conn->frame) {
		kfree(conn);
		return NULL;
	}
	kref_init(&conn->ref);
	sock_hold(sk);
	conn->sk = sk;
	conn->sock = sock;
	mpa_conn_set_params(conn, params);
	conn->mib = mib;
	INIT_LIST_HEAD(&conn->entry);
	INIT_WORK(&conn->work, conn_work);
	INIT_DELAYED_WORK(&conn->timer, conn_timeout);
	return conn;
}

static void conn_free(struct kref *ref)
{
	struct mpa_conn *conn = container_of(ref, struct mpa_conn, ref);

	might_sleep();
	if (conn->sock)
		mpa_linger_close(conn->sock, conn->reset);
	sock_put(conn->sk);
	mpa_tx_free(&conn->tx);
	mpa_rx_free(&conn->rx);
	mem_cgroup_put(conn->memcg);
	kfree(conn->frame);
	kfree(conn);
}

/**
 * mpa_conn_get() - take a reference
 * @conn: connection
 *
 * It may outlive mpa_destroy(): what is transmitted after that goes nowhere.
 * Context: any.
 */
void mpa_conn_get(struct mpa_conn *conn)
{
	kref_get(&conn->ref);
}
EXPORT_SYMBOL_NS_GPL(mpa_conn_get, IWMPA);

/**
 * mpa_conn_put() - return a reference
 * @conn: connection, gone with the last one
 *
 * Context: any; process, may sleep, when it may be the last one.
 */
void mpa_conn_put(struct mpa_conn *conn)
{
	kref_put(&conn->ref, conn_free);
}
EXPORT_SYMBOL_NS_GPL(mpa_conn_put, IWMPA);

static struct workqueue_struct *queue_of(const struct mpa_conn *conn)
{
	return conn->sock ? mpa_wq : mpa_user_wq;
}

/* Have conn_work() run. Context: any; the caller holds a reference. */
void mpa_conn_queue(struct mpa_conn *conn)
{
	mpa_conn_get(conn);
	if (!queue_work(queue_of(conn), &conn->work))
		mpa_conn_put(conn);
}

/**
 * mpa_conn_retry() - have the connection's work run in a moment
 * @conn: connection in Full Operation, which has no other use for its timer
 *
 * For want of memory: the work may find none either, and must not spin.
 * Context: any; the caller holds a reference.
 */
void mpa_conn_retry(struct mpa_conn *conn)
{
	mpa_conn_get(conn);
	if (!queue_delayed_work(queue_of(conn), &conn->timer,
				msecs_to_jiffies(MPA_RETRY_MS)))
		mpa_conn_put(conn);
}

/**
 * mpa_conn_released() - the lock of a program's socket is about to be free
 * @conn: connection
 *
 * Context: within release_sock(), spinlock of the socket held: who meets
 * an owner leaves the note under it.
 */
void mpa_conn_released(struct mpa_conn *conn)
{
	if (unlikely(test_bit(MPA_CONN_WORK_WANTED, &conn->flags))) {
		clear_bit(MPA_CONN_WORK_WANTED, &conn->flags);
		mpa_conn_queue(conn);
	}
}

void mpa_conn_start_timer(struct mpa_conn *conn)
{
	unsigned int ms = conn->params.startup_ms;

	if (!ms)
		ms = READ_ONCE(mpa_startup_timeout) * MSEC_PER_SEC;
	conn->deadline = jiffies + msecs_to_jiffies(ms);
	mpa_conn_get(conn);
	queue_delayed_work(queue_of(conn), &conn->timer, msecs_to_jiffies(ms));
}

/**
 * mpa_startup_left() - time that an Initiator's startup still has
 * @conn: connection of mpa_connect()
 *
 * For who tries again on another connection. Context: any.
 * Return: milliseconds, 0 when the time is over.
 */
unsigned int mpa_startup_left(const struct mpa_conn *conn)
{
	long left = conn->deadline - jiffies;

	return left > 0 ? jiffies_to_msecs(left) : 0;
}
EXPORT_SYMBOL_NS_GPL(mpa_startup_left, IWMPA);

static void stop_timer(struct mpa_conn *conn)
{
	if (cancel_delayed_work(&conn->timer))
		mpa_conn_put(conn);
}

static void conn_timeout(struct work_struct *work)
{
	struct mpa_conn *conn = container_of(to_delayed_work(work),
					     struct mpa_conn, timer);

	set_bit(MPA_CONN_TIMED_OUT, &conn->flags);
	mpa_conn_queue(conn);
	mpa_conn_put(conn);
}

/**
 * mpa_conn_end() - tell the consumer that nothing more will be received
 * @conn: connection that the consumer knows
 * @err: RFC 5044 section 8
 * @status: 0 for an orderly FIN, else a negative errno
 *
 * Context: socket lock held. Does nothing the second time.
 */
void mpa_conn_end(struct mpa_conn *conn, enum mpa_error err, int status)
{
	if (conn->state == MPA_ENDED)
		return;
	conn->state = MPA_ENDED;
	conn->rx.stopped = true;
	if (err == MPA_ERR_CRC)
		mpa_count(conn, MPA_STAT_RX_CRC_ERRORS, 1);
	if (err == MPA_ERR_MARKER)
		mpa_count(conn, MPA_STAT_RX_MARKER_ERRORS, 1);
	conn->ops->closed(conn->consumer, err, status);
}

/* Has TCP ended the receive direction? Octets may be queued all the same. */
static bool peer_has_closed(const struct sock *sk)
{
	return (sk->sk_shutdown & RCV_SHUTDOWN) || sk->sk_state == TCP_CLOSE;
}

static int close_status(struct mpa_conn *conn)
{
	struct sock *sk = conn->sk;

	if (sk->sk_err)
		return -sk->sk_err;
	/* A program may have asked for the error meanwhile. */
	if (sk->sk_state == TCP_CLOSE && !sock_flag(sk, SOCK_DONE))
		return -ECONNRESET;
	/* A FIN in the middle of an FPDU is no orderly close. */
	if (tcp_inq(sk) > 0 || conn->rx.stash_len)
		return -ECONNRESET;
	return 0;
}

/**
 * mpa_conn_receive() - deliver what is there and notice the end
 * @conn: connection in Full Operation
 * @budget: octets, after which the worker goes on
 * @gfp: how to get memory, GFP_ATOMIC in softirq
 *
 * A FIN can be announced before the octets in front of it: those go first.
 * Context: softirq or process, socket lock held.
 */
void mpa_conn_receive(struct mpa_conn *conn, u32 budget, gfp_t gfp)
{
	enum mpa_error err;

	if (conn->rx.stopped) {
		mpa_rx_drop_all(conn);
		return;
	}
	switch (mpa_rx_pass(conn, budget, gfp, &err)) {
	case MPA_RX_MORE:
		mpa_conn_queue(conn);
		break;
	case MPA_RX_HELD:
		break;
	case MPA_RX_ENDED:
		if (err)
			mpa_conn_end(conn, err, -EBADMSG);
		break;
	case MPA_RX_NO_MEMORY:
		/* The worker can wait for it; when it got none, in a moment. */
		if (gfpflags_allow_blocking(gfp))
			mpa_conn_retry(conn);
		else
			mpa_conn_queue(conn);
		fallthrough;
	case MPA_RX_IDLE:
		if (peer_has_closed(conn->sk))
			mpa_conn_end(conn, MPA_ERR_TCP_LOST,
				     close_status(conn));
		break;
	}
}

/* TCP's callbacks. Context: softirq or process, socket lock held. */
void mpa_conn_data_ready(struct mpa_conn *conn)
{
	if (conn->state >= MPA_FULL)
		mpa_conn_receive(conn, MPA_SOFTIRQ_BUDGET, GFP_ATOMIC);
	else if (conn->state != MPA_UNDECIDED)
		mpa_conn_queue(conn);
}

void mpa_conn_state_change(struct mpa_conn *conn)
{
	struct sock *sk = conn->sk;

	if (conn->state < MPA_FULL) {
		mpa_conn_queue(conn);
		return;
	}
	if (sk->sk_state == TCP_CLOSE)
		WRITE_ONCE(conn->tx.ready, false);
	mpa_conn_receive(conn, MPA_SOFTIRQ_BUDGET, GFP_ATOMIC);
	/*
	 * The consumer may have ended the receive direction itself, and then
	 * did not hear of TCP's end yet.
	 */
	if (sk->sk_state != TCP_CLOSE)
		return;
	if (conn->rx.stopped)
		mpa_conn_end(conn, MPA_ERR_TCP_LOST, close_status(conn));
	if (conn->state == MPA_ENDED && conn->ops->gone &&
	    !test_and_set_bit(MPA_CONN_GONE, &conn->flags))
		conn->ops->gone(conn->consumer);
}

void mpa_conn_writable(struct mpa_conn *conn)
{
	if (test_bit(MPA_CONN_FIN_WANTED, &conn->flags))
		mpa_conn_queue(conn);
	else if (conn->state >= MPA_FULL && conn->ops->writable)
		conn->ops->writable(conn->consumer);
}

/**
 * mpa_conn_begin_full() - enter Full Operation
 * @conn: connection whose startup frames have been exchanged: what comes next
 *	in both directions belongs to Full Operation
 *
 * Context: process, socket lock held.
 */
void mpa_conn_begin_full(struct mpa_conn *conn)
{
	struct tcp_sock *tp = tcp_sk(conn->sk);

	stop_timer(conn);
	conn->rx.start = tp->copied_seq;
	conn->rx.markers = conn->agreed.rx_markers;
	conn->rx.crc = conn->agreed.crc;
	if (conn->params.early && conn->ops->place &&
	    mpa_early_create(&conn->rx))
		mpa_early_watch_acks(conn);
	mpa_tx_start(conn);
	conn->state = MPA_FULL;
	kfree(conn->frame);
	conn->frame = NULL;
	mpa_count(conn, MPA_STAT_CONNECTIONS, 1);
	/* The peer may have been quicker than we: look at the queue. */
	mpa_conn_queue(conn);
}

/* Give TCP the rest before a shutdown. True when the FIN may go out. */
static bool push_rest(struct mpa_conn *conn)
{
	if (!conn->tx.ready || mpa_tx_push(conn, false) == -EAGAIN)
		return false;
	conn->tx.ready = false;
	clear_bit(MPA_CONN_FIN_WANTED, &conn->flags);
	return true;
}

/* TCP has room again for what a program's last call left. */
static void push_program(struct mpa_conn *conn)
{
	if (conn->tx.ready && mpa_tx_push(conn, false) != -EAGAIN)
		conn->ops->writable(conn->consumer);
}

/* Our own sockets' lock is never held for long. */
static bool lock_for_work(struct mpa_conn *conn)
{
	if (!conn->sock)
		return mpa_sock_trylock(conn);
	lock_sock(conn->sk);
	return true;
}

static void conn_work(struct work_struct *work)
{
	struct mpa_conn *conn = container_of(work, struct mpa_conn, work);
	unsigned int reserves = mpa_params_use_reserves(&conn->params);
	struct sock *sk = conn->sk;
	bool fin = false, drop = false;

	if (!lock_for_work(conn))
		goto out;
	if (conn->ops) {
		if (conn->state < MPA_FULL)
			mpa_handshake_step(conn);
		else
			mpa_conn_receive(conn, MPA_WORK_BUDGET, GFP_NOIO);
		/* Nobody else knows a Responder whose Request was bad. */
		drop = conn->half_open && conn->state == MPA_ENDED &&
		       mpa_conn_let_go(conn);
		if (test_bit(MPA_CONN_FIN_WANTED, &conn->flags))
			fin = push_rest(conn);
		/* A refused startup has left us: then there is no consumer. */
		if (conn->ops &&
		    test_and_clear_bit(MPA_CONN_PUSH_WANTED, &conn->flags))
			push_program(conn);
	}
	release_sock(sk);

	if (fin)
		kernel_sock_shutdown(conn->sock, SHUT_WR);
	if (drop)
		mpa_conn_put(conn);
out:
	mpa_conn_put(conn);
	memalloc_noreclaim_restore(reserves);
}

/**
 * mpa_conn_let_go() - end all upcalls
 * @conn: connection
 *
 * Context: process, socket lock held.
 * Return: whether this call ended them: the caller then puts the consumer's
 * reference.
 */
bool mpa_conn_let_go(struct mpa_conn *conn)
{
	if (!conn->ops)
		return false;
	if (conn->half_open)
		mpa_half_open_forget(conn);
	if (conn->state < MPA_FULL)
		conn->reset = true;
	conn->ops = NULL;
	conn->consumer = NULL;
	conn->tx.ready = false;
	mpa_sock_detach(conn);
	/* Octets that nobody read would turn the FIN into an RST. */
	if (conn->sock)
		mpa_rx_drop_all(conn);
	stop_timer(conn);
	return true;
}

/**
 * mpa_destroy() - let go of a connection
 * @conn: connection; the caller's reference is gone afterwards
 *
 * No upcall runs or comes after this. A connection in Full Operation is
 * closed in order (FIN, with everything that TCP has taken delivered before),
 * one in startup is reset.
 *
 * Context: process, may sleep; takes the socket lock.
 */
void mpa_destroy(struct mpa_conn *conn)
{
	struct sock *sk = conn->sk;

	might_sleep();
	lock_sock(sk);
	mpa_conn_let_go(conn);
	release_sock(sk);
	mpa_conn_put(conn);
}
EXPORT_SYMBOL_NS_GPL(mpa_destroy, IWMPA);

/**
 * mpa_shutdown() - close the sending direction in order
 * @conn: connection whose last FPDU has been written
 *
 * What is written goes to TCP first, then a FIN. mpa_consumer_ops.closed() and
 * .gone() tell of the peer's answer; how long to wait for them is the
 * consumer's choice.
 * Context: transmit owner, process, may sleep; takes the socket lock.
 */
void mpa_shutdown(struct mpa_conn *conn)
{
	struct sock *sk = conn->sk;
	bool fin = false;

	might_sleep();
	lock_sock(sk);
	if (conn->ops && conn->state >= MPA_FULL && conn->tx.ready) {
		set_bit(MPA_CONN_FIN_WANTED, &conn->flags);
		fin = push_rest(conn);
	}
	release_sock(sk);
	if (fin)
		kernel_sock_shutdown(conn->sock, SHUT_WR);
}
EXPORT_SYMBOL_NS_GPL(mpa_shutdown, IWMPA);

/**
 * mpa_abort() - reset the TCP connection
 * @conn: connection
 *
 * mpa_consumer_ops.closed() with -ECONNABORTED comes before this returns, unless
 * the end was reported already. Context: process, may sleep; takes the socket
 * lock.
 */
void mpa_abort(struct mpa_conn *conn)
{
	might_sleep();
	tcp_abort(conn->sk, ECONNABORTED);
}
EXPORT_SYMBOL_NS_GPL(mpa_abort, IWMPA);

/**
 * mpa_conn_set_consumer() - change who gets the upcalls
 * @conn: connection
 * @ops: upcalls
 * @consumer: their argument
 *
 * Context: inside of an upcall, or while none can come.
 */
void mpa_conn_set_consumer(struct mpa_conn *conn, const struct mpa_consumer_ops *ops,
			   void *consumer)
{
	conn->ops = ops;
	conn->consumer = consumer;
}
EXPORT_SYMBOL_NS_GPL(mpa_conn_set_consumer, IWMPA);

/**
 * mpa_conn_addrs() - the addresses of a connection
 * @conn: connected connection
 * @local: set to our address and port
 * @remote: set to the peer's
 *
 * Context: any; does not take the socket lock.
 */
void mpa_conn_addrs(struct mpa_conn *conn, struct sockaddr_storage *local,
		    struct sockaddr_storage *remote)
{
	const struct sock *sk = conn->sk;
	const struct inet_sock *inet = inet_sk(sk);

	memset(local, 0, sizeof(*local));
	memset(remote, 0, sizeof(*remote));
	local->ss_family = sk->sk_family;
	remote->ss_family = sk->sk_family;
	if (sk->sk_family == AF_INET) {
		struct sockaddr_in *l = (struct sockaddr_in *)local;
		struct sockaddr_in *r = (struct sockaddr_in *)remote;

		l->sin_port = inet->inet_sport;
		l->sin_addr.s_addr = inet->inet_saddr;
		r->sin_port = inet->inet_dport;
		r->sin_addr.s_addr = inet->inet_daddr;
#if IS_ENABLED(CONFIG_IPV6)
	} else {
		struct sockaddr_in6 *l = (struct sockaddr_in6 *)local;
		struct sockaddr_in6 *r = (struct sockaddr_in6 *)remote;

		l->sin6_port = inet->inet_sport;
		l->sin6_addr = sk->sk_v6_rcv_saddr;
		l->sin6_scope_id = sk->sk_bound_dev_if;
		r->sin6_port = inet->inet_dport;
		r->sin6_addr = sk->sk_v6_daddr;
		r->sin6_scope_id = sk->sk_bound_dev_if;
#endif
	}
}
EXPORT_SYMBOL_NS_GPL(mpa_conn_addrs, IWMPA);

// SPDX-License-Identifier: GPL-2.0
/*
 * Events of a connection: TCP's callbacks, the worker, and the ends.
 *
 * TCP runs the callbacks with the socket locked: in softirq with the spinlock
 * held, or in process context from the backlog. The socket lock guards
 * everything that the callbacks use.
 */
#include <linux/sizes.h>
#include <net/tcp.h>
#include "conn.h"
#include "events.h"
#include "half_open.h"
#include "handshake.h"
#include "owner.h"
#include "params.h"
#include "rx.h"
#include "rx_early.h"
#include "sock.h"
#include "tx.h"

/* Octets that the worker handles in one pass. */
#define MPA_WORK_BUDGET		SZ_1M

/* Has TCP ended the receive direction? Octets may still be queued. */
static bool peer_has_closed(const struct sock *sk)
{
	return (sk->sk_shutdown & RCV_SHUTDOWN) || sk->sk_state == TCP_CLOSE;
}

static int close_status(struct mpa_conn *conn)
{
	struct sock *sk = conn->sk;
	const int err = READ_ONCE(sk->sk_err);

	/*
	 * While TCP goes on, and after the peer's FIN, sk_err is not the reason
	 * for this end. A program may even have asked for such errors.
	 */
	if (!sock_flag(sk, SOCK_DONE)) {
		/* A program has shut down receiving, and wants no more. */
		if (sk->sk_state != TCP_CLOSE)
			return 0;
		return err ? -err : -ECONNRESET;
	}
	/* A FIN in the middle of an FPDU is no orderly close. */
	if (tcp_inq(sk) > 0 || conn->rx.stash_len)
		return -ECONNRESET;
	return 0;
}

/**
 * mpa_conn_receive() - deliver complete FPDUs and detect the end
 * @conn: connection in Full Operation
 * @budget: as for mpa_rx_pass()
 * @gfp: how to get memory, GFP_ATOMIC in softirq
 *
 * TCP may report the FIN while octets in front of it are queued: deliver these
 * first.
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
		/*
		 * The worker can wait for memory. If it gets none either, it
		 * tries again after a delay, whatever the peer sends.
		 */
		if (gfpflags_allow_blocking(gfp))
			mpa_conn_retry(conn);
		else if (!conn->rx.tries)
			mpa_conn_queue(conn);
		else
			mpa_conn_watch(conn);
		fallthrough;
	case MPA_RX_IDLE:
		if (!peer_has_closed(conn->sk))
			break;
		mpa_conn_end(conn, MPA_ERR_TCP_LOST, close_status(conn));
		/* A part of an FPDU, left in the queue, makes close() reset. */
		mpa_rx_drop_all(conn);
		break;
	}
}

/* TCP's callbacks. Context: softirq or process, socket lock held. */

/*
 * TCP counts the backlog's memory as used until it has handled all segments of
 * it. While that leaves no room, its ACKs keep the window shut; and when the
 * memory is free, only a read of octets opens the window again. So the worker
 * makes that read, unless TCP has room for two segments.
 */
static bool backlog_shuts_window(const struct sock *sk)
{
	int len = READ_ONCE(sk->sk_backlog.len);
	int mss = inet_csk(sk)->icsk_ack.rcv_mss;

	return len && tcp_win_from_space(sk, sk->sk_rcvbuf - len) <
		      max(tcp_full_space(sk) / 2, 2 * mss);
}

static void conn_data_ready(struct sock *sk)
{
	struct mpa_conn *conn = sk->sk_user_data;

	if (!conn || conn->state == MPA_UNDECIDED)
		return;
	if (conn->state < MPA_FULL || backlog_shuts_window(sk) ||
	    mpa_rx_is_for_worker(conn))
		mpa_conn_queue(conn);
	else
		mpa_conn_receive(conn, MPA_SOFTIRQ_BUDGET, GFP_ATOMIC);
}

/* A send would fail, and take the error that the end has to report. */
static void stop_if_closed(struct mpa_conn *conn)
{
	if (conn->sk->sk_state == TCP_CLOSE)
		WRITE_ONCE(conn->tx.ready, false);
}

/*
 * Receive, and handle a change of TCP's state. TCP may have ended even before
 * Full Operation, with the peer's last octets still queued.
 */
static void receive_to_end(struct mpa_conn *conn, u32 budget, gfp_t gfp)
{
	struct sock *sk = conn->sk;

	stop_if_closed(conn);
	mpa_conn_receive(conn, budget, gfp);
	/*
	 * If the consumer has ended the receive direction itself, or has put
	 * off an FPDU, it has not been notified of TCP's end yet.
	 */
	if (sk->sk_state != TCP_CLOSE)
		return;
	if (conn->rx.stopped || conn->rx.put_off)
		mpa_conn_end(conn, MPA_ERR_TCP_LOST, close_status(conn));
	if (conn->state == MPA_ENDED && conn->ops->gone &&
	    !test_and_set_bit(MPA_CONN_GONE, &conn->flags))
		conn->ops->gone(conn->consumer);
}

static void conn_state_change(struct sock *sk)
{
	struct mpa_conn *conn = sk->sk_user_data;

	if (!conn)
		return;
	/* Wake up calls that sleep on a program's socket. */
	if (!conn->sock)
		mpa_tcp_callbacks.state_change(sk);
	stop_if_closed(conn);
	if (conn->state < MPA_FULL || mpa_rx_is_for_worker(conn))
		mpa_conn_queue(conn);
	else
		receive_to_end(conn, MPA_SOFTIRQ_BUDGET, GFP_ATOMIC);
}

static void conn_write_space(struct sock *sk)
{
	struct mpa_conn *conn = sk->sk_user_data;

	if (!sk_stream_is_writeable(sk))
		return;
	if (sk->sk_socket)
		clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	if (!conn)
		return;
	if (test_bit(MPA_CONN_FIN_WANTED, &conn->flags))
		mpa_conn_queue_push(conn);
	else if (conn->state >= MPA_FULL && conn->ops->writable)
		conn->ops->writable(conn->consumer);
}

static const struct mpa_callbacks conn_callbacks = {
	.state_change = conn_state_change,
	.data_ready = conn_data_ready,
	.write_space = conn_write_space,
};

/**
 * mpa_conn_attach() - take over a socket's callbacks, and tune our own sockets
 * @conn: connection; gets a reference that mpa_conn_let_go() drops
 * @from: the listener whose child the socket is, or NULL
 *
 * The caller must look into TCP's queue afterwards: it holds the octets that
 * have come before. Context: process; socket lock held.
 * Return: false when the socket has another user. Only a program's socket can
 * have one: MPA attaches to its own sockets before they connect, and TCP copies
 * a listener's sk_user_data to its children.
 */
bool mpa_conn_attach(struct mpa_conn *conn, const void *from)
{
	struct sock *sk = conn->sk;

	sock_owned_by_me(sk);
	if (!mpa_owner_take(sk, from, conn, &conn_callbacks))
		return false;
	mpa_conn_get(conn);
	if (conn->sock)
		mpa_sock_tune(sk);
	return true;
}

/* Context: process; socket lock held. Drops the socket's reference. */
static void conn_detach(struct mpa_conn *conn)
{
	mpa_early_unwatch_acks(conn);
	mpa_owner_release(conn->sk, conn, &conn_callbacks);
	mpa_conn_put(conn);	/* not the last: the caller has a reference */
}

/**
 * mpa_conn_let_go() - end all upcalls
 * @conn: connection
 *
 * Context: process, socket lock held.
 * Return: whether this call ended them: the caller must then drop the
 * consumer's reference.
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
	WRITE_ONCE(conn->tx.ready, false);
	conn_detach(conn);
	/* Unread octets would turn the FIN into an RST. */
	if (conn->sock)
		mpa_rx_drop_all(conn);
	mpa_conn_stop_timers(conn);
	return true;
}

/* Give TCP the rest before a shutdown. True when the FIN may be sent. */
static bool push_before_fin(struct mpa_conn *conn)
{
	if (!conn->tx.ready || mpa_tx_push(conn, false) == -EAGAIN)
		return false;
	WRITE_ONCE(conn->tx.ready, false);
	clear_bit(MPA_CONN_FIN_WANTED, &conn->flags);
	return true;
}

/*
 * TCP has room again for the rest of a program's last ULPDU. An error that TCP
 * survives is for a call of the program.
 */
static void push_program(struct mpa_conn *conn)
{
	int ret, err;

	if (!conn->tx.ready)
		return;
	err = mpa_sock_take_error(conn->sk);
	ret = mpa_tx_push(conn, false);
	mpa_sock_put_error(conn->sk, err);
	/* TCP has cleared it. A send() of the program may still wait. */
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, conn->sk);
	if (ret == -EAGAIN)
		return;
	if (ret && conn->sk->sk_shutdown & SEND_SHUTDOWN) {
		/* Another try would fail like this one. */
		WRITE_ONCE(conn->tx.ready, false);
	} else if (ret) {
		/* The error may go away: the program reads it. */
		mpa_conn_push_later(conn);
		return;
	}
	conn->ops->writable(conn->consumer);
}

/* An idle connection gives back memory that only a busy one needs. */
static void look_for_idle(struct mpa_conn *conn)
{
	if (!READ_ONCE(conn->tx.store))
		return;
	if (!mpa_tx_is_idle(conn))
		mpa_conn_watch(conn);
	else if (conn->ops->idle)
		conn->ops->idle(conn->consumer);
}

/*
 * A program's call may hold the socket lock for any time while it sleeps on a
 * page fault, so the worker does not wait for that lock. When this function
 * fails, mpa_conn_released() queues the connection's work.
 *
 * Return: whether the lock was taken, as by lock_sock().
 */
static bool trylock_program(struct mpa_conn *conn)
{
	struct sock *sk = conn->sk;
	bool taken;

	spin_lock_bh(&sk->sk_lock.slock);
	taken = !sock_owned_by_user(sk);
	if (taken)
		sk->sk_lock.owned = 1;
	else
		set_bit(MPA_CONN_WORK_WANTED, &conn->flags);
	spin_unlock_bh(&sk->sk_lock.slock);
	if (taken)
		mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _RET_IP_);
	return taken;
}

/*
 * Wait for the lock of our own sockets: its holders do not sleep, although a
 * program's thread may be preempted.
 */
static bool lock_for_work(struct mpa_conn *conn)
{
	if (!conn->sock)
		return trylock_program(conn);
	lock_sock(conn->sk);
	return true;
}

/*
 * How the work may get memory. After a try without success it reclaims again
 * only when the delay is over, whatever else has queued it.
 */
static gfp_t work_gfp(const struct mpa_conn *conn)
{
	return conn->rx.tries && !test_bit(MPA_CONN_TIMED_OUT, &conn->flags) ?
	       GFP_NOWAIT : GFP_NOIO;
}

/**
 * mpa_conn_work() - the connection's worker, for all that may sleep
 * @work: mpa_conn.work, which holds a reference
 *
 * Context: process; takes the socket lock.
 */
void mpa_conn_work(struct work_struct *work)
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
			receive_to_end(conn, MPA_WORK_BUDGET, work_gfp(conn));
		if (conn->state >= MPA_FULL &&
		    test_and_clear_bit(MPA_CONN_TIMED_OUT, &conn->flags))
			look_for_idle(conn);
		/* No consumer knows, or drops, a Responder that failed. */
		drop = conn->half_open && conn->state == MPA_ENDED &&
		       mpa_conn_let_go(conn);
		if (test_bit(MPA_CONN_FIN_WANTED, &conn->flags))
			fin = push_before_fin(conn);
		/* A refused startup may have ended the upcalls. */
		if (conn->ops &&
		    test_and_clear_bit(MPA_CONN_PUSH_WANTED, &conn->flags))
			push_program(conn);
	}
	release_sock(sk);

	if (fin)
		mpa_sock_shutdown(conn->sock);
	if (drop)
		mpa_conn_put(conn);
out:
	mpa_conn_put(conn);
	memalloc_noreclaim_restore(reserves);
}

/**
 * mpa_destroy() - end a connection
 * @conn: connection; drops the caller's reference
 *
 * No upcall runs after this. A connection in Full Operation is closed in
 * order: TCP delivers everything that it has taken, then a FIN. A connection
 * in startup is reset.
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
EXPORT_SYMBOL_NS_GPL(mpa_destroy, MPA_NS);

/**
 * mpa_shutdown() - close the sending direction in order
 * @conn: connection whose last FPDU has been written
 *
 * TCP gets all written FPDUs first, then a FIN. mpa_consumer_ops.closed() and
 * .gone() report the peer's answer; the consumer decides how long to wait for
 * them.
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
		fin = push_before_fin(conn);
	}
	release_sock(sk);
	if (fin)
		mpa_sock_shutdown(conn->sock);
}
EXPORT_SYMBOL_NS_GPL(mpa_shutdown, MPA_NS);

/**
 * mpa_abort() - reset the TCP connection
 * @conn: connection
 *
 * mpa_consumer_ops.closed() is called with -ECONNABORTED before this returns,
 * unless the end was reported already, or so much is queued that the worker has
 * to deliver the rest first. Context: process, may sleep; takes the socket
 * lock.
 */
void mpa_abort(struct mpa_conn *conn)
{
	might_sleep();
	tcp_abort(conn->sk, ECONNABORTED);
}
EXPORT_SYMBOL_NS_GPL(mpa_abort, MPA_NS);

/**
 * mpa_receive_again() - deliver the ULPDU that the consumer has put off
 * @conn: connection
 *
 * The consumer may call this at any time after its receive() has returned
 * -EAGAIN, also before MPA knows of that return. The worker delivers.
 * Context: any; the caller holds a reference and excludes mpa_destroy().
 */
void mpa_receive_again(struct mpa_conn *conn)
{
	set_bit(MPA_CONN_AGAIN, &conn->flags);
	mpa_conn_queue(conn);
}
EXPORT_SYMBOL_NS_GPL(mpa_receive_again, MPA_NS);

// SPDX-License-Identifier: GPL-2.0
/*
 * Startup on a program's socket: MPA takes over from streaming mode at some
 * octet of the stream (RFC 5044 sections 7.1.3 to 7.1.5), and gives the stream
 * back when a side refuses.
 */
#include <linux/sched/signal.h>
#include "conn.h"
#include "events.h"
#include "handshake.h"
#include "owner.h"
#include "params.h"
#include "sock.h"
#include "tx_plan.h"
#include "user.h"

static void note_peer(struct mpa_user *user, const struct mpa_offer *offer,
		      const void *pd)
{
	struct mpa_peer *peer = &user->peer;

	memset(peer, 0, sizeof(*peer));
	if (offer->markers)
		peer->flags |= MPA_PEER_MARKERS;
	if (offer->crc)
		peer->flags |= MPA_PEER_CRC;
	if (offer->reject)
		peer->flags |= MPA_PEER_REJECT;
	if (offer->enhanced)
		peer->flags |= MPA_PEER_ENHANCED;
	peer->revision = offer->rev;
	peer->ird = offer->ird;
	peer->ord = offer->ord;
	peer->data_len = offer->pd_len;
	memcpy(peer->data, pd, offer->pd_len);
	user->has_peer = true;
}

/* The error number of RFC 5044 section 8 for the result of a startup. */
static enum mpa_error startup_error(int status)
{
	switch (status) {
	case 0:
	case -ECONNREFUSED:
		return MPA_ERR_NONE;
	case -EPROTO:
	case -EPROTONOSUPPORT:
	case -EMSGSIZE:
	case -EISCONN:
		return MPA_ERR_STARTUP;
	case -ENOBUFS:
		return MPA_ERR_IRD;
	case -ENOPROTOOPT:
		return MPA_ERR_RTR;
	default:
		return MPA_ERR_TCP_LOST;
	}
}

static void note_startup(struct mpa_user *user, int status)
{
	user->startup = status;
	user->error = startup_error(status);
}

static int user_request(void *consumer, struct mpa_conn *conn,
			const struct mpa_offer *peer, const void *pd)
{
	struct mpa_user *user = consumer;

	note_peer(user, peer, pd);
	mpa_user_wake_all(user);
	return 0;
}

/* As with connect(): if no call waits, SO_ERROR reports the failure. */
static void note_failure(struct mpa_user *user)
{
	if (!user->waiters)
		WRITE_ONCE(user->sk->sk_err, -user->startup);
}

/*
 * End TCP after a startup that failed: by a reset, or, without an invalid
 * frame, in order (RFC 5044 section C.2). The program closes its socket itself.
 * Context: process, socket lock held.
 */
static void end_tcp(struct mpa_user *user)
{
	struct sock *sk = user->sk;

	if (user->conn->reset) {
		user->conn->reset = false;
		WRITE_ONCE(user->aborting, true);
		smp_wmb();	/* pairs with user_poll() */
		mpa_sock_abort(sk, -user->startup);
		/* The error is final: pairs with user_poll(), too */
		smp_store_release(&user->aborting, false);
		return;
	}
	if (sk->sk_shutdown & SEND_SHUTDOWN)
		return;
	note_failure(user);
	smp_wmb();	/* pairs with user_poll(): the error comes first */
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | SEND_SHUTDOWN);
	user->prot->shutdown(sk, SEND_SHUTDOWN);
}

/*
 * With @agreed Full Operation follows, and user_writable() then wakes the
 * calls that wait.
 */
static void user_reply(void *consumer, int status, const struct mpa_offer *peer,
		       const struct mpa_agreed *agreed, const void *pd)
{
	struct mpa_user *user = consumer;

	note_startup(user, status);
	if (peer)
		note_peer(user, peer, pd);
	if (status == -ECONNREFUSED && peer) {
		note_failure(user);
		mpa_user_leave(user);
	} else if (!agreed) {
		end_tcp(user);
		mpa_user_wake_all(user);
	} else if (status) {
		note_failure(user);
	}
}

static void user_receive_done(void *consumer)
{
	struct mpa_user *user = consumer;

	mpa_user_refresh(user);
	mpa_tcp_callbacks.data_ready(user->sk);
}

static void user_writable(void *consumer)
{
	struct mpa_user *user = consumer;
	struct mpa_conn *conn = user->conn;

	if (conn->tx.ready && mpa_plan_pending(&conn->tx.plan)) {
		set_bit(MPA_CONN_PUSH_WANTED, &conn->flags);
		mpa_conn_queue_push(conn);
		return;
	}
	mpa_user_wake_all(user);
}

/* The holder of the socket lock is the transmit owner. */
static void user_idle(void *consumer)
{
	struct mpa_user *user = consumer;

	mpa_tx_rest(user->conn);
}

static void user_closed(void *consumer, enum mpa_error err, int status)
{
	struct mpa_user *user = consumer;

	if (err == MPA_ERR_MARKER)
		status = -EILSEQ;
	user->status = status;
	user->error = err;
	if (!mpa_user_began(user->conn)) {
		note_startup(user, status);
		end_tcp(user);
	}
	mpa_user_wake_all(user);
}

static void user_gone(void *consumer)
{
	mpa_user_wake_all(consumer);
}

static const struct mpa_consumer_ops user_ops = {
	.request = user_request,
	.reply = user_reply,
	.receive_done = user_receive_done,
	.writable = user_writable,
	.idle = user_idle,
	.closed = user_closed,
	.gone = user_gone,
};

/**
 * mpa_user_settings() - the program's settings, or else the module's
 * @user: the socket's context
 *
 * Context: socket lock held. Return: the settings.
 */
struct mpa_settings mpa_user_settings(const struct mpa_user *user)
{
	struct mpa_settings settings = mpa_default_settings();
	struct mpa_settings own = user->params.settings;
	int optname;

	for (optname = MPA_MARKERS; optname <= MPA_PACKING; optname++)
		if (user->chosen & BIT(optname))
			*mpa_user_setting(&settings, optname) =
				*mpa_user_setting(&own, optname);
	/* A program chooses the length of each ULPDU: nothing to agree on. */
	settings.large = MPA_LARGE_NEVER;
	return settings;
}

static void fill_params(const struct mpa_user *user, struct mpa_params *params)
{
	*params = user->params;
	params->settings = mpa_user_settings(user);
	params->own_settings = true;
	params->account = true;
}

/*
 * Replace settings of the plain socket that MPA cannot use: a Request may be
 * shorter than SO_RCVLOWAT, and urgent data outside the stream would shift the
 * Markers.
 */
static void set_options_aside(struct mpa_user *user)
{
	struct sock *sk = user->sk;

	user->rcvlowat = sk->sk_rcvlowat;
	user->urginline = sock_flag(sk, SOCK_URGINLINE);
	WRITE_ONCE(sk->sk_rcvlowat, 1);
	/* Not sock_set_flag(): poll() reads the flags without the lock */
	set_bit(SOCK_URGINLINE, &sk->sk_flags);
}

static void put_options_back(struct mpa_user *user)
{
	struct sock *sk = user->sk;

	WRITE_ONCE(sk->sk_rcvlowat, user->rcvlowat);
	assign_bit(SOCK_URGINLINE, &sk->sk_flags, user->urginline);
}

/* Can MPA take the stream over now? Return: 0 or a negative errno. */
static int user_may_begin(const struct mpa_user *user)
{
	const struct sock *sk = user->sk;

	if (user->conn)
		return user->conn->state < MPA_FULL ? -EALREADY : -EISCONN;
	if (sk->sk_state != TCP_ESTABLISHED && sk->sk_state != TCP_CLOSE_WAIT)
		return -ENOTCONN;
	if (tcp_sk(sk)->repair)
		return -EBUSY;
	return 0;
}

/*
 * Startup sends past the socket's limits, in pages of its own. Limit these
 * pages to the socket's buffer size, for a program that starts again and again
 * with a peer that takes nothing.
 */
static bool may_send_frame(struct mpa_user *user)
{
	const struct tcp_sock *tp = tcp_sk(user->sk);

	if (tp->snd_una == tp->write_seq)
		user->startup_pages = 0;
	return user->startup_pages < user->sk->sk_sndbuf;
}

/*
 * Give the stream to MPA, from the first octet that the program has not read,
 * and from the next octet that is sent.
 */
static int user_begin(struct mpa_user *user, enum mpa_state state)
{
	struct sock *sk = user->sk;
	struct mpa_params params;
	struct mpa_conn *conn;
	int ret = user_may_begin(user);

	if (ret)
		return ret;
	if (!may_send_frame(user))
		return -ENOBUFS;
	fill_params(user, &params);
	conn = mpa_conn_alloc(sk, NULL, &params, mpa_stats_of(sock_net(sk)),
			      mpa_conn_work);
	if (!conn)
		return -ENOMEM;
	/* A call within TCP's functions could take octets of MPA's. */
	if (atomic_cmpxchg(&user->streaming, 0, MPA_HAS_STREAM))
		goto err_put_conn;
	if (!mpa_conn_attach(conn, NULL))
		goto err_leave_stream;
	conn->state = state;
	conn->ops = &user_ops;
	conn->consumer = user;
	WRITE_ONCE(user->conn, conn);
	user->has_peer = false;
	user->startup = 0;
	user->status = 0;
	user->error = MPA_ERR_NONE;
	/* As with connect(): forget the result of the last attempt. */
	mpa_sock_take_error(sk);
	set_options_aside(user);
	mpa_user_refresh(user);
	return 0;

err_leave_stream:
	atomic_set_release(&user->streaming, 0);
err_put_conn:
	mpa_conn_put(conn);
	return -EBUSY;
}

/**
 * mpa_user_leave() - make the socket a plain TCP socket again
 * @user: context with a connection
 *
 * Octets in TCP's queue stay there for the program. Context: process, socket
 * lock held.
 */
void mpa_user_leave(struct mpa_user *user)
{
	struct mpa_conn *conn = user->conn;
	struct sock *sk = user->sk;

	mpa_conn_let_go(conn);
	put_options_back(user);
	WRITE_ONCE(user->conn, NULL);
	mpa_user_refresh(user);
	mpa_conn_put(conn);
	atomic_set_release(&user->streaming, 0);
	sk->sk_state_change(sk);
	sk->sk_data_ready(sk);
	sk->sk_write_space(sk);
}

/* Does the startup have a result? Context: any. */
static bool startup_settled(const struct mpa_user *user)
{
	u8 state = READ_ONCE(user->state);

	return state != MPA_STATE_WAIT_REPLY &&
	       state != MPA_STATE_WAIT_REQUEST;
}

static bool is_nonblocking(const struct sock *sk)
{
	const struct file *file = sk->sk_socket->file;

	return file && (file->f_flags & O_NONBLOCK);
}

/* The startup's timeout bounds the wait. Context: process, socket lock held. */
static int wait_settled(struct mpa_user *user)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	long timeo = MAX_SCHEDULE_TIMEOUT;
	struct sock *sk = user->sk;

	if (is_nonblocking(sk))
		return -EINPROGRESS;
	user->waiters++;
	add_wait_queue(sk_sleep(sk), &wait);
	while (!startup_settled(user) && !signal_pending(current))
		sk_wait_event(sk, &timeo, startup_settled(user), &wait);
	remove_wait_queue(sk_sleep(sk), &wait);
	user->waiters--;
	/* No restart of the system call: the startup goes on without it. */
	return startup_settled(user) ? user->startup : -EINTR;
}

/**
 * mpa_user_initiate() - send a Request at this octet of the stream
 * @user: context of a socket in streaming mode
 *
 * Context: process, socket lock held; waits unless the file is non-blocking.
 * Return: 0 in Full Operation; -EINPROGRESS; -ECONNREFUSED in streaming mode,
 * when the peer has refused; or another errno.
 */
int mpa_user_initiate(struct mpa_user *user)
{
	int ret = user_begin(user, MPA_CONNECTING);

	if (ret)
		return ret;
	ret = mpa_handshake_initiate(user->conn, user->data, user->data_len);
	if (ret) {
		mpa_user_leave(user);
		return ret;
	}
	user->startup_pages += PAGE_SIZE;
	mpa_conn_start_timer(user->conn);
	mpa_conn_queue(user->conn);
	return wait_settled(user);
}

/**
 * mpa_user_respond() - wait for a Request at this octet of the stream
 * @user: context of a socket in streaming mode
 * @last: the last streaming message (RFC 5044 section 7.1.5)
 * @len: octets of it, or 0
 *
 * MPA has the stream before the peer can answer the message. Context: process,
 * socket lock held; waits unless the file is non-blocking.
 * Return: 0 when the Request has come; -EINPROGRESS; or another errno.
 */
int mpa_user_respond(struct mpa_user *user, void *last, u32 len)
{
	int ret = user_begin(user, MPA_WAIT_REQUEST);

	if (ret)
		return ret;
	if (len) {
		ret = mpa_handshake_send(user->conn, last, len);
		if (ret) {
			mpa_user_leave(user);
			return ret;
		}
		user->startup_pages += PAGE_ALIGN(len);
	}
	mpa_conn_start_timer(user->conn);
	/* The Request may have come before our callback. */
	mpa_conn_queue(user->conn);
	return wait_settled(user);
}

/* Answer the Request, with the program's settings. */
static int answer_request(struct mpa_user *user, bool reject)
{
	struct mpa_conn *conn = user->conn;
	int ret;

	if (!conn)
		return -ENOTCONN;
	if (conn->state != MPA_UNDECIDED)
		return user->startup ? user->startup : -EINVAL;
	if (!may_send_frame(user))
		return -ENOBUFS;
	fill_params(user, &conn->params);
	ret = mpa_handshake_answer(conn, reject, user->data, user->data_len);
	if (!ret)
		user->startup_pages += PAGE_SIZE;
	return ret;
}

/**
 * mpa_user_accept() - answer a Request and enter Full Operation
 * @user: context whose Request has come
 *
 * Context: process, socket lock held. Return: 0 or a negative errno.
 */
int mpa_user_accept(struct mpa_user *user)
{
	int ret = answer_request(user, false);

	if (ret)
		return ret;
	mpa_conn_begin_full(user->conn);
	mpa_user_refresh(user);
	return 0;
}

/**
 * mpa_user_reject() - answer a Request with R=1, back to streaming mode
 * @user: context whose Request has come
 *
 * RFC 5044 section 7.1.2 rule 2. Context: process, socket lock held.
 * Return: 0 or a negative errno.
 */
int mpa_user_reject(struct mpa_user *user)
{
	int ret = answer_request(user, true);

	if (!ret)
		mpa_user_leave(user);
	return ret;
}

/**
 * mpa_user_start_rdmac() - Full Operation at this octet, without frames
 * @user: context of a socket in streaming mode
 *
 * Context: process, socket lock held. Return: 0 or a negative errno.
 */
int mpa_user_start_rdmac(struct mpa_user *user)
{
	int ret = user_begin(user, MPA_CONNECTING);

	if (ret)
		return ret;
	mpa_conn_begin_rdmac(user->conn);
	mpa_conn_begin_full(user->conn);
	/* The last streamed octet ends its segment (section 5.1). */
	mpa_sock_end_record(user->sk);
	mpa_user_refresh(user);
	return 0;
}

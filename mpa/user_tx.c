// SPDX-License-Identifier: GPL-2.0
/*
 * Sending on a program's socket: one ULPDU for each call.
 */
#include <linux/sched/signal.h>
#include "conn.h"
#include "sock.h"
#include "tx.h"
#include "user.h"

/* The flags that make sense for a record. */
#define MPA_SEND_FLAGS	(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE | MSG_EOR | \
			 MSG_WAITALL | MSG_BATCH | MSG_CMSG_COMPAT)

/* A ULPDU of any length may be sent if none waits and TCP has room. */
static bool user_has_room(const struct mpa_user *user)
{
	return READ_ONCE(user->sendable) && sk_stream_memory_free(user->sk);
}

/*
 * Return: 0 when a ULPDU can be sent, -EAGAIN when it has to wait, or another
 * errno when none can ever be sent.
 */
static int check_room(struct mpa_user *user)
{
	const struct mpa_conn *conn = user->conn;
	struct sock *sk = user->sk;

	if (!mpa_user_began(conn))
		return user->startup ? user->startup : -ENOTCONN;
	if (sk->sk_err || (sk->sk_shutdown & SEND_SHUTDOWN) || !conn->tx.ready)
		return -EPIPE;
	mpa_user_refresh(user);
	if (user->mute)
		return -EPIPE;
	return user_has_room(user) ? 0 : -EAGAIN;
}

/* Context: socket lock held. */
static int wait_room(struct mpa_user *user, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = user->sk;
	int ret;

	add_wait_queue(sk_sleep(sk), &wait);
	for (;;) {
		sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
		set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
		ret = check_room(user);
		if (ret != -EAGAIN || !timeo)
			break;
		if (signal_pending(current)) {
			ret = sock_intr_errno(timeo);
			break;
		}
		sk->sk_write_pending++;
		sk_wait_event(sk, &timeo,
			      user_has_room(user) || READ_ONCE(user->mute) ||
			      READ_ONCE(sk->sk_err) ||
			      (READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN),
			      &wait);
		sk->sk_write_pending--;
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return ret;
}

/*
 * Has the error of a hand-over left TCP intact? recvmmsg() reports the error of
 * a later message by sk_err, without the socket lock.
 */
static bool error_passes(const struct sock *sk, int err)
{
	return err && sk->sk_state != TCP_CLOSE &&
	       !(sk->sk_shutdown & SEND_SHUTDOWN);
}

/*
 * With TCP_NODELAY each call ends its segment. Without it, or with TCP_CORK or
 * MSG_MORE, short ULPDUs share segments (RFC 5044 A.2, TX-02), and TCP decides
 * when to send a segment that is not full.
 */
static int push_ulpdu(struct mpa_user *user, bool more)
{
	int nonagle = tcp_sk(user->sk)->nonagle;
	struct mpa_conn *conn = user->conn;
	int ret;

	conn->tx.nagle = !(nonagle & TCP_NAGLE_OFF) ||
			 (nonagle & TCP_NAGLE_CORK);
	ret = mpa_tx_push(conn, more);
	if (ret != -EAGAIN && error_passes(user->sk, ret)) {
		mpa_conn_push_later(conn);
		ret = -EAGAIN;
	}
	mpa_tx_update_emss(conn);
	mpa_user_refresh(user);
	/* The worker sends the rest when TCP has room, or later. */
	return ret == -EAGAIN ? 0 : ret;
}

static int send_ulpdu(struct mpa_user *user, struct msghdr *msg, u32 size)
{
	struct mpa_conn *conn = user->conn;
	int ret;

	/* End this segment if it has too little room left. */
	mpa_tx_room(conn, clamp(size, 1u, mpa_conn_mulpdu(conn)));
	ret = mpa_tx_open(conn, NULL, 0, size);
	if (ret)
		return ret;
	ret = mpa_tx_put_iter(conn, &msg->msg_iter, size);
	if (ret) {
		mpa_tx_cancel(conn);
		return ret;
	}
	mpa_tx_close(conn);
	return push_ulpdu(user, msg->msg_flags & MSG_MORE);
}

/**
 * mpa_user_sendmsg() - send one ULPDU
 * @user: context of a socket that is not in streaming mode
 * @msg: its octets
 * @size: number of octets, up to MPA_MAX_ULPDU
 *
 * More than the MULPDU is framed across TCP segments (DDP-04).
 * Context: process, socket lock held.
 * Return: @size, or a negative errno when no octet is sent.
 */
int mpa_user_sendmsg(struct mpa_user *user, struct msghdr *msg, size_t size)
{
	struct sock *sk = user->sk;
	int ret;

	/* MPA does nothing that control data can ask for. */
	if ((msg->msg_flags & ~MPA_SEND_FLAGS) || msg->msg_controllen)
		return -EOPNOTSUPP;
	if (size > MPA_MAX_ULPDU)
		return -EMSGSIZE;
	ret = check_room(user);
	if (ret == -EAGAIN)
		ret = wait_room(user, sock_sndtimeo(sk, msg->msg_flags &
							MSG_DONTWAIT));
	if (!ret)
		ret = send_ulpdu(user, msg, size);
	if (ret)
		ret = sk_stream_error(sk, msg->msg_flags, ret);
	return ret ? ret : size;
}

/**
 * mpa_user_finish() - give TCP all written ULPDUs before a FIN
 * @user: context with a connection
 *
 * At most one ULPDU waits, which the socket's limits must not hold back.
 * Context: process, socket lock held.
 * Return: 0, or -ENOBUFS when TCP does not take it: then nothing has changed.
 */
int mpa_user_finish(struct mpa_user *user)
{
	struct mpa_conn *conn = user->conn;
	struct mpa_sock_limits limits;
	int ret;

	if (!conn->tx.ready)
		return 0;
	mpa_sock_lift(user->sk, &limits);
	ret = mpa_tx_push(conn, false);
	mpa_sock_lower(user->sk, &limits);
	if (ret == -EAGAIN || error_passes(user->sk, ret))
		return -ENOBUFS;
	WRITE_ONCE(conn->tx.ready, false);
	mpa_user_refresh(user);
	return 0;
}

/**
 * mpa_user_outq() - octets of FPDUs that are behind a place of TCP's stream
 * @user: the socket's context
 * @from: snd_una or snd_nxt of the socket
 *
 * Context: process, takes the socket lock. Return: octets, also those that TCP
 * has not taken.
 */
int mpa_user_outq(struct mpa_user *user, const u32 *from)
{
	const struct mpa_conn *conn;
	u64 rest = 0;
	u32 octets;

	lock_sock(user->sk);
	conn = user->conn;
	if (conn)
		rest = mpa_tx_written(conn) - mpa_tx_accepted(conn);
	octets = tcp_sk(user->sk)->write_seq - *from;
	release_sock(user->sk);
	return rest + octets;
}

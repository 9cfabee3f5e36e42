// SPDX-License-Identifier: GPL-2.0
/*
 * State of a program's socket for readers without the lock: poll(), sock_diag,
 * and calls that sleep.
 */
#include "conn.h"
#include "owner.h"
#include "tx_plan.h"
#include "user.h"

/**
 * mpa_user_refresh() - update the state that poll() and sock_diag report
 * @user: the socket's context
 *
 * Context: socket lock held.
 */
void mpa_user_refresh(struct mpa_user *user)
{
	const struct mpa_conn *conn = user->conn;
	u8 state = MPA_STATE_STREAMING;
	bool readable = false, sendable = false, mute = false;

	if (conn) {
		switch (conn->state) {
		case MPA_CONNECTING:
		case MPA_WAIT_REPLY:
			state = MPA_STATE_WAIT_REPLY;
			break;
		case MPA_WAIT_REQUEST:
			state = MPA_STATE_WAIT_REQUEST;
			break;
		case MPA_UNDECIDED:
			state = MPA_STATE_UNDECIDED;
			readable = true;
			break;
		case MPA_FULL:
			state = MPA_STATE_FULL;
			readable = conn->rx.held;
			break;
		case MPA_ENDED:
			state = MPA_STATE_ENDED;
			readable = true;
			break;
		}
		sendable = conn->tx.ready && conn->tx.allowed &&
			   !mpa_plan_pending(&conn->tx.plan);
		mute = conn->tx.ready && !conn->tx.allowed && conn->rx.stopped;
	}
	WRITE_ONCE(user->state, state);
	WRITE_ONCE(user->readable, readable);
	WRITE_ONCE(user->sendable, sendable);
	WRITE_ONCE(user->mute, mute);
}

/* Wake up the calls that wait for room, if TCP has some, or in vain. */
static void wake_writers(struct mpa_user *user)
{
	struct sock *sk = user->sk;

	/* With TCP_NOTSENT_LOWAT the callback may wait for more room. */
	if (sk->sk_socket)
		set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	if ((user->sendable || user->mute) && sk_stream_is_writeable(sk))
		mpa_tcp_callbacks.write_space(sk);
}

/**
 * mpa_user_wake_all() - wake up all calls that wait on the socket
 * @user: context of a socket that is not in streaming mode
 *
 * Context: softirq or process, socket lock held.
 */
void mpa_user_wake_all(struct mpa_user *user)
{
	mpa_user_refresh(user);
	mpa_tcp_callbacks.state_change(user->sk);
	mpa_tcp_callbacks.data_ready(user->sk);
	wake_writers(user);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving on a program's socket: one ULPDU for each call, verified and then
 * copied straight out of TCP's queue.
 */
#include <linux/sched/signal.h>
#include "conn.h"
#include "cursor.h"
#include "events.h"
#include "rx.h"
#include "rx_verify.h"
#include "sock.h"
#include "trace.h"
#include "user.h"

/**
 * struct rx_head - the first FPDU in TCP's queue, which is whole and valid
 * @cur: at the first octet of its ULPDU
 * @pos: stream position of the FPDU
 * @ulpdu: octets of the ULPDU
 * @wire: octets of the FPDU
 */
struct rx_head {
	struct mpa_cursor cur;
	u32 pos;
	u32 ulpdu;
	u32 wire;
};

/* End the receive direction after a bad FPDU. Context: socket lock held. */
static int end_invalid(struct mpa_user *user, enum mpa_error err)
{
	struct mpa_conn *conn = user->conn;

	mpa_conn_end(conn, err, -EBADMSG);
	mpa_rx_drop_all(conn);
	return user->status;
}

/* This call reports the end: SO_ERROR need not. */
static int end_status(struct mpa_user *user)
{
	if (user->status)
		sock_error(user->sk);
	return user->status;
}

/* Look for the next FPDU, or for the end. Context: socket lock held. */
static void look_again(struct mpa_user *user)
{
	struct mpa_conn *conn = user->conn;

	conn->rx.held = false;
	conn->rx.need = 0;
	mpa_conn_receive(conn, 0, GFP_KERNEL);
	mpa_user_refresh(user);
}

/*
 * Return: 1 with *head set, 0 at the end of the stream, -EAGAIN when no FPDU is
 * complete, -ENOTCONN before Full Operation, the errno that has ended it, or
 * another error of the socket, which is cleared.
 */
static int find_head(struct mpa_user *user, struct rx_head *head)
{
	struct mpa_conn *conn = user->conn;
	enum mpa_error err;
	u32 avail, need;
	int ret;

	if (!mpa_user_began(conn))
		return user->startup ? user->startup : -ENOTCONN;
	if (conn->rx.stopped)
		return end_status(user);
	if (!conn->rx.held) {
		ret = mpa_sock_take_error(user->sk);
		return ret ? ret : -EAGAIN;
	}
	avail = mpa_rx_head(conn, &head->cur);
	head->pos = head->cur.pos;
	head->wire = mpa_rx_peek(&head->cur, avail, &head->ulpdu, &need);
	if (!head->wire) {
		/*
		 * A peer on this machine has changed the length in memory that
		 * it had spliced. TCP may have nothing more to report.
		 */
		look_again(user);
		return conn->rx.stopped ? end_status(user) : -EAGAIN;
	}
	err = mpa_rx_verify(&conn->rx, &head->cur, head->wire);
	if (err) {
		trace_mpa_rx_fpdu(conn, head->pos, head->wire, head->ulpdu,
				  err);
		return end_invalid(user, err);
	}
	mpa_cursor_enter_ulpdu(&head->cur, head->ulpdu);
	return 1;
}

static void consume_fpdu(struct mpa_user *user, const struct rx_head *head)
{
	struct mpa_conn *conn = user->conn;
	u32 wire = head->wire;

	trace_mpa_rx_fpdu(conn, head->pos, wire, head->ulpdu, MPA_ERR_NONE);
	mpa_rx_consume(conn, 1, wire);
	look_again(user);
}

/* As SOCK_SEQPACKET: octets that do not fit are dropped, with MSG_TRUNC set. */
static int take_ulpdu(struct mpa_user *user, struct rx_head *head,
		      struct msghdr *msg, size_t len, int flags)
{
	u32 n = min_t(size_t, len, head->ulpdu);

	if (mpa_cursor_to_iter(&head->cur, &msg->msg_iter, n))
		return -EFAULT;
	msg->msg_flags |= MSG_EOR;
	if (n < head->ulpdu)
		msg->msg_flags |= MSG_TRUNC;
	if (!(flags & MSG_PEEK))
		consume_fpdu(user, head);
	return flags & MSG_TRUNC ? head->ulpdu : n;
}

/* Is there an error while TCP goes on, such as an ICMP message? */
static bool has_error(const struct sock *sk)
{
	return READ_ONCE(sk->sk_err) && inet_sk_state_load(sk) != TCP_CLOSE;
}

/* Context: socket lock held. */
static int wait_head(struct mpa_user *user, struct rx_head *head, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = user->sk;
	int ret;

	add_wait_queue(sk_sleep(sk), &wait);
	for (;;) {
		ret = find_head(user, head);
		if (ret != -EAGAIN || !timeo)
			break;
		if (signal_pending(current)) {
			ret = sock_intr_errno(timeo);
			break;
		}
		sk_wait_event(sk, &timeo,
			      READ_ONCE(user->readable) || has_error(sk), &wait);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return ret;
}

/**
 * mpa_user_recvmsg() - receive one ULPDU
 * @user: context of a socket that is not in streaming mode
 * @msg: where to put it
 * @len: octets that fit
 * @flags: MSG_PEEK, MSG_TRUNC, MSG_DONTWAIT; MSG_WAITALL has no effect
 *
 * Context: process, socket lock held.
 * Return: octets; 0 with MSG_EOR for an empty ULPDU; 0 without MSG_EOR for the
 * end of the stream; or a negative errno.
 */
int mpa_user_recvmsg(struct mpa_user *user, struct msghdr *msg, size_t len,
		     int flags)
{
	struct rx_head head;
	int ret;

	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	ret = find_head(user, &head);
	if (ret == -EAGAIN)
		ret = wait_head(user, &head,
				sock_rcvtimeo(user->sk, flags & MSG_DONTWAIT));
	if (ret > 0)
		ret = take_ulpdu(user, &head, msg, len, flags);
	return ret;
}

/**
 * mpa_user_inq() - octets that the next call to receive can return
 * @user: the socket's context
 *
 * Context: process, takes the socket lock.
 * Return: octets of the ULPDU at the head, 0 when none is complete; octets of
 * the stream when the socket is in streaming mode.
 */
int mpa_user_inq(struct mpa_user *user)
{
	struct mpa_conn *conn;
	struct mpa_cursor cur;
	u32 avail, len = 0, need;

	lock_sock(user->sk);
	conn = user->conn;
	if (!conn) {
		len = max(tcp_inq(user->sk), 0);
	} else if (conn->state == MPA_FULL && conn->rx.held) {
		avail = mpa_rx_head(conn, &cur);
		if (!mpa_rx_peek(&cur, avail, &len, &need))
			len = 0;
	}
	release_sock(user->sk);
	return len;
}

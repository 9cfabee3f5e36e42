// SPDX-License-Identifier: GPL-2.0
/*
 * The Startup Phase on a socket (RFC 5044 section 7.1), up to the beginning of
 * Full Operation. negotiate.c encodes and negotiates the frames; this file sends
 * and receives them and calls the consumer.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/tcp.h>
#include "conn.h"
#include "cursor.h"
#include "half_open.h"
#include "handshake.h"
#include "rx_early.h"
#include "sock.h"
#include "trace.h"
#include "tx.h"

/* RFC 6581 section 9.2: all kinds that we can send and receive. */
#define MPA_RTR_KINDS	(MPA_RTR_SEND | MPA_RTR_WRITE | MPA_RTR_READ)

static void fill_offer(struct mpa_offer *offer,
		       const struct mpa_params *params, u16 pd_len)
{
	memset(offer, 0, sizeof(*offer));
	offer->rev = params->max_rev;
	offer->rdmac = params->settings.rdmac;
	offer->markers = params->settings.markers;
	offer->crc = params->settings.crc;
	offer->enhanced = params->max_rev >= MPA_REV_ENHANCED;
	offer->large = params->settings.large == MPA_LARGE_AGREED;
	offer->p2p = offer->enhanced && params->p2p;
	offer->rtr = MPA_RTR_KINDS;
	offer->ird = params->ird;
	offer->ord = params->ord;
	offer->pd_len = pd_len;
}

/*
 * Startup has failed. Notify the consumer, unless it does not know the
 * connection.
 */
static void startup_fail(struct mpa_conn *conn, int status, bool reset)
{
	conn->state = MPA_ENDED;
	conn->rx.stopped = true;
	conn->reset = reset;
	trace_mpa_startup_end(conn, status);
	if (conn->initiator)
		conn->ops->reply(conn->consumer, status, NULL, NULL, NULL);
	else if (!conn->half_open)
		conn->ops->closed(conn->consumer, MPA_ERR_STARTUP, status);
}

/**
 * mpa_handshake_send() - send a startup frame or the last streaming message
 * @conn: connection before Full Operation
 * @octets: copied
 * @len: octets of it
 *
 * Memory is charged to conn->memcg if mpa_params.account is set.
 * Context: process, socket lock held. Return: as mpa_sock_send_frame().
 */
int mpa_handshake_send(struct mpa_conn *conn, const void *octets, u32 len)
{
	struct mem_cgroup *active = set_active_memcg(conn->memcg);
	gfp_t gfp = conn->sk->sk_allocation;
	int ret;

	if (conn->params.account)
		gfp |= __GFP_ACCOUNT;
	gfp |= mpa_worker_gfp(conn->memcg);
	ret = mpa_sock_send_frame(conn->sk, octets, len, gfp);
	set_active_memcg(active);
	return ret;
}

/* End the startup and reset TCP (error 4). */
static void startup_reset(struct mpa_conn *conn, int status)
{
	if (status == -ETIMEDOUT)
		mpa_count(conn, MPA_STAT_STARTUP_TIMEOUTS, 1);
	startup_fail(conn, status, true);
}

static void send_request(struct mpa_conn *conn)
{
	int ret = mpa_handshake_send(conn, conn->frame, conn->frame_len);

	trace_mpa_startup_frame(conn, true, false, &conn->offer);
	kfree(conn->frame);
	conn->frame = NULL;
	if (ret)
		startup_reset(conn, ret);
	else
		conn->state = MPA_WAIT_REPLY;
}

/*
 * The status when TCP ends before the Request is sent: if the socket is our
 * own, the peer has refused the connection. A program's socket was connected
 * before.
 */
static int unasked_status(const struct mpa_conn *conn)
{
	return conn->sock ? -ECONNREFUSED : -ECONNRESET;
}

/*
 * Read the peer's frame. It stays in TCP's queue until it is complete, and the
 * octets behind it stay there for Full Operation (STA-19). So a connection that
 * waits for a frame needs no memory for it: @frame, with room for any frame, is
 * on the caller's stack.
 *
 * Return: 0 with *pd set, -EAGAIN when octets are missing, another errno when
 * the frame is not acceptable.
 */
static int read_frame(struct mpa_conn *conn, bool reply, u8 *frame,
		      const u8 **pd)
{
	struct sock *sk = conn->sk;
	u32 off = 0, have = max(tcp_inq(sk), 0);
	struct mpa_cursor cur;
	struct sk_buff *skb;
	int ret;

	have = min(have, MPA_STARTUP_MAX_LEN);
	skb = tcp_recv_skb(sk, tcp_sk(sk)->copied_seq, &off);
	mpa_cursor_init(&cur, &sk->sk_receive_queue, skb, off);
	ret = mpa_cursor_read(&cur, frame, have);
	if (ret)
		return ret;
	ret = mpa_startup_parse(frame, have, reply, conn->params.max_rev,
				&conn->peer);
	if (ret == -EAGAIN && (sk->sk_shutdown & RCV_SHUTDOWN))
		ret = have ? -EPROTO : -ECONNRESET;	/* cut short, silent */
	if (ret < 0) {
		if (ret != -EAGAIN)
			mpa_count(conn, MPA_STAT_STARTUP_ERRORS, 1);
		return ret;
	}
	*pd = frame + ret - conn->peer.pd_len;
	tcp_read_done(sk, ret);
	/* The program's next MSG_PEEK begins behind the frame. */
	sk_peek_offset_bwd(sk, ret);
	trace_mpa_startup_frame(conn, false, reply, &conn->peer);
	return 0;
}

/* Has the frame come? A frame that is not acceptable fails the startup. */
static bool frame_is_here(struct mpa_conn *conn, bool reply, u8 *frame,
			  const u8 **pd)
{
	int ret = read_frame(conn, reply, frame, pd);

	if (ret && ret != -EAGAIN)
		startup_reset(conn, ret);
	return !ret;
}

static int send_reply(struct mpa_conn *conn, const struct mpa_offer *reply,
		      const void *pd)
{
	u8 frame[MPA_STARTUP_MAX_LEN];
	int ret = mpa_startup_build(frame, true, reply, pd);

	if (ret < 0)
		return ret;
	trace_mpa_startup_frame(conn, true, true, reply);
	return mpa_handshake_send(conn, frame, ret);
}

/*
 * Send a Reply that refuses, then a FIN. An Initiator that gets no Reply takes
 * this side for one of revision 1 (RFC 6581 section 10), and tries that.
 */
static void startup_refuse(struct mpa_conn *conn, int status)
{
	struct mpa_offer reply;
	int ret;

	fill_offer(&conn->offer, &conn->params, 0);
	mpa_startup_answer(&conn->offer, &conn->peer, &reply, &conn->agreed);
	reply.reject = true;
	ret = send_reply(conn, &reply, NULL);
	startup_fail(conn, status, ret);
}

/* RFC 5044 section C.2.1 */
static void refuse_rdmac(struct mpa_conn *conn)
{
	mpa_count(conn, MPA_STAT_STARTUP_ERRORS, 1);
	/* The consumer may refuse what the setting permits. */
	conn->params.settings.rdmac = false;
	startup_refuse(conn, -EPROTONOSUPPORT);
}

static void step_wait_request(struct mpa_conn *conn)
{
	u8 frame[MPA_STARTUP_MAX_LEN];
	const u8 *pd;
	int ret;

	if (!frame_is_here(conn, false, frame, &pd))
		return;
	if (conn->peer.rev == MPA_REV_RDMAC && !conn->params.settings.rdmac) {
		refuse_rdmac(conn);
		return;
	}
	/* Now the consumer owns the connection, unless it refuses. */
	conn->state = MPA_UNDECIDED;
	ret = conn->ops->request(conn->consumer, conn, &conn->peer, pd);
	if (ret == -EPROTONOSUPPORT) {
		refuse_rdmac(conn);
		return;
	}
	if (ret) {
		mpa_count(conn, MPA_STAT_STARTUP_REFUSED, 1);
		startup_refuse(conn, -ECONNREFUSED);
		return;
	}
	if (conn->half_open)
		mpa_half_open_forget(conn);
}

/* Has TCP any news for which it makes no further callback? */
static bool tcp_has_news(const struct sock *sk)
{
	return !skb_queue_empty(&sk->sk_receive_queue) ||
	       !RB_EMPTY_ROOT(&tcp_sk(sk)->out_of_order_queue) ||
	       sk->sk_shutdown & RCV_SHUTDOWN ||
	       sk->sk_state != TCP_ESTABLISHED;
}

/**
 * mpa_conn_begin_full() - enter Full Operation
 * @conn: connection whose startup frames have been exchanged: the next octet
 *	in each direction belongs to Full Operation
 *
 * Context: process, socket lock held.
 */
void mpa_conn_begin_full(struct mpa_conn *conn)
{
	struct tcp_sock *tp = tcp_sk(conn->sk);

	mpa_conn_stop_timers(conn);
	conn->rx.start = tp->copied_seq;
	conn->rx.markers = conn->agreed.rx_markers;
	conn->rx.crc = conn->agreed.crc;
	conn->rx.charged = conn->params.account ? NULL : conn->sk;
	/* Not for the Markers that any peer of revision 0 sends. */
	if (conn->params.settings.early && conn->params.settings.markers &&
	    conn->ops->place && mpa_early_create(&conn->rx))
		mpa_early_watch_acks(conn);
	mpa_tx_start(conn, mpa_conn_watch);
	conn->state = MPA_FULL;
	/* Pairs with mpa_conn_info() */
	smp_store_release(&conn->started, true);
	mpa_count(conn, MPA_STAT_CONNECTIONS, 1);
	trace_mpa_full(conn);
	/* The peer's first FPDUs may be queued, or a program may wait. */
	if (!conn->sock || tcp_has_news(conn->sk))
		mpa_conn_queue(conn);
}

/* Notify the consumer, and let it send: data, or a Terminate. */
static void enter_full(struct mpa_conn *conn, int status, const u8 *pd)
{
	trace_mpa_startup_end(conn, status);
	conn->ops->reply(conn->consumer, status, &conn->peer, &conn->agreed, pd);
	mpa_conn_begin_full(conn);
	if (conn->ops->writable)
		conn->ops->writable(conn->consumer);
}

/*
 * See mpa_params.self. Our Request, which is not sent, is the Reply at the same
 * time: what one side wants, the other one does.
 */
static void meet_oneself(struct mpa_conn *conn)
{
	u8 *frame = conn->frame;
	int ret;

	conn->frame = NULL;
	conn->peer = conn->offer;
	ret = mpa_startup_conclude(&conn->offer, &conn->peer, &conn->agreed);
	if (WARN_ON_ONCE(ret))
		startup_reset(conn, ret);
	else
		enter_full(conn, 0, frame + conn->frame_len -
				    conn->offer.pd_len);
	kfree(frame);
}

static void step_connecting(struct mpa_conn *conn)
{
	const int state = conn->sk->sk_state;

	if (state == TCP_SYN_SENT || state == TCP_SYN_RECV)
		return;
	if (state == TCP_ESTABLISHED && conn->params.self) {
		meet_oneself(conn);
		return;
	}
	/* Behind the peer's FIN, too: what came before it gives the status. */
	if (state == TCP_ESTABLISHED || state == TCP_CLOSE_WAIT)
		send_request(conn);
	else
		startup_reset(conn, unasked_status(conn));
}

static void step_wait_reply(struct mpa_conn *conn)
{
	u8 frame[MPA_STARTUP_MAX_LEN];
	const u8 *pd;
	int ret;

	if (!frame_is_here(conn, true, frame, &pd))
		return;
	ret = mpa_startup_conclude(&conn->offer, &conn->peer, &conn->agreed);
	if (ret && ret != -ECONNREFUSED)
		mpa_count(conn, MPA_STAT_STARTUP_ERRORS, 1);
	switch (ret) {
	case 0:
	case -ENOBUFS:		/* the consumer's Terminate is an FPDU */
	case -ENOPROTOOPT:
		enter_full(conn, ret, pd);
		break;
	case -ECONNREFUSED:
		conn->state = MPA_ENDED;
		conn->rx.stopped = true;
		trace_mpa_startup_end(conn, ret);
		conn->ops->reply(conn->consumer, ret, &conn->peer, NULL, pd);
		break;
	default:
		/* RFC 5044 section C.2.2: a FIN for revision 0. */
		startup_fail(conn, ret, conn->peer.rev != MPA_REV_RDMAC);
	}
}

/* The consumer may still decide: only the end of TCP ends the wait. */
static void step_undecided(struct mpa_conn *conn, int err)
{
	struct sock *sk = conn->sk;

	if (sk->sk_state == TCP_CLOSE || (sk->sk_shutdown & RCV_SHUTDOWN))
		mpa_conn_end(conn, MPA_ERR_TCP_LOST, err ? -err : -ECONNRESET);
}

/*
 * The status when TCP fails. If octets came before and are no valid frame,
 * report these: a service of another protocol answers ours with an RST.
 */
static int reset_status(struct mpa_conn *conn, int err)
{
	bool reset = err == ECONNRESET || err == EPIPE;	/* behind a FIN */
	u8 frame[MPA_STARTUP_MAX_LEN];
	int ret = -EAGAIN;
	const u8 *pd;

	if (conn->state == MPA_CONNECTING)
		return reset ? unasked_status(conn) : -err;
	if (tcp_inq(conn->sk) > 0)
		ret = read_frame(conn, conn->initiator, frame, &pd);
	if (ret && ret != -EAGAIN)
		return ret;
	return reset ? -ECONNRESET : -err;
}

/* A Reply that came before TCP failed still counts. */
static bool reply_is_here(const struct mpa_conn *conn)
{
	return conn->state == MPA_WAIT_REPLY && tcp_inq(conn->sk) > 0;
}

/**
 * mpa_handshake_step() - continue startup with the octets received so far
 * @conn: connection before Full Operation
 *
 * Context: process, socket lock held.
 */
void mpa_handshake_step(struct mpa_conn *conn)
{
	const int err = READ_ONCE(conn->sk->sk_err);

	if (conn->state == MPA_UNDECIDED) {
		step_undecided(conn, err);
		return;
	}
	/* An error from ICMP (IP_RECVERR) does not end TCP. */
	if (err && conn->sk->sk_state == TCP_CLOSE && !reply_is_here(conn)) {
		startup_reset(conn, reset_status(conn, err));
		return;
	}
	if (test_bit(MPA_CONN_TIMED_OUT, &conn->flags)) {
		startup_reset(conn, -ETIMEDOUT);
		return;
	}
	if (conn->state == MPA_CONNECTING)
		step_connecting(conn);
	/* The Reply may be queued already. */
	if (conn->state == MPA_WAIT_REPLY)
		step_wait_reply(conn);
	else if (conn->state == MPA_WAIT_REQUEST)
		step_wait_request(conn);
}

/**
 * mpa_handshake_initiate() - make the Request
 * @conn: connection in MPA_CONNECTING; its worker sends the Request
 * @pd: Private Data, copied
 * @pd_len: octets of @pd
 *
 * Context: process. Return: 0, -EMSGSIZE for too much Private Data, or
 * -ENOMEM.
 */
int mpa_handshake_initiate(struct mpa_conn *conn, const void *pd, u16 pd_len)
{
	u8 frame[MPA_STARTUP_MAX_LEN];
	int ret;

	conn->initiator = true;
	fill_offer(&conn->offer, &conn->params, pd_len);
	ret = mpa_startup_build(frame, false, &conn->offer, pd);
	if (ret < 0)
		return ret;
	conn->frame_len = ret;
	conn->frame = kmemdup(frame, ret, conn->params.account ?
					  GFP_KERNEL_ACCOUNT : GFP_KERNEL);
	return conn->frame ? 0 : -ENOMEM;
}

/**
 * mpa_handshake_answer() - answer a Request
 * @conn: connection with its parameters. Without @reject the caller must call
 *	mpa_conn_begin_full() next
 * @reject: R: refuse the connection
 * @pd: Private Data of the Reply
 * @pd_len: octets of @pd
 *
 * Context: process, socket lock held. Return: as mpa_accept().
 */
int mpa_handshake_answer(struct mpa_conn *conn, bool reject, const void *pd,
			 u16 pd_len)
{
	struct mpa_offer reply;
	int ret;

	if (conn->state != MPA_UNDECIDED)
		return -ECONNRESET;
	fill_offer(&conn->offer, &conn->params, pd_len);
	ret = mpa_startup_answer(&conn->offer, &conn->peer, &reply,
				 &conn->agreed);
	if (ret)
		return ret;
	reply.reject = reject;
	ret = send_reply(conn, &reply, pd);
	trace_mpa_startup_end(conn, !ret && reject ? -ECONNREFUSED : ret);
	if (!ret && reject) {
		conn->state = MPA_ENDED;
		conn->rx.stopped = true;
	}
	return ret;
}


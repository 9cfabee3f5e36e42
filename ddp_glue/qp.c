// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: their life, their states, and the upcalls of MPA.
 *
 * States (RFC 5040 section 6, "ib" is what query_qp reports):
 *
 *   state      ib            left for
 *   IDLE       RESET..RTR    RTS: startup has ended well (cm.c)
 *                            ERROR: modify_qp
 *   RTS        RTS           CLOSING: modify_qp to SQD
 *                            TERMINATE: a protocol error was found here
 *                            ERROR: FIN, lost TCP, Terminate received,
 *                            modify_qp
 *   CLOSING    SQD           TERMINATE, ERROR: as RTS; ERROR is the normal
 *                            end, when the peer has closed too
 *   TERMINATE  SQE           ERROR: the Terminate is out, or cannot go out
 *   ERROR      ERR           IDLE: modify_qp to RESET
 *
 * Whoever changes the state does what goes with leaving the old one, so that
 * each end is reported once. The send queue is flushed with the change. The
 * receive queue is flushed by rx_end() where the receive direction ends:
 * under the socket lock, or when no upcall can come any more.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include <mpa/startup.h>
#include "iwmpa.h"

#define QPN_MIN			2	/* 0 and 1 are special in InfiniBand */
#define QPN_MAX			0xffffff

#define DRAIN_POLL_MS		10	/* look at a draining SQ this often */
#define DRAIN_MAX_MS		5000	/* for what was posted before closing */
#define TERMINATE_MAX_MS	2000	/* for the Terminate to reach TCP */
#define CLOSE_MAX_MS		5000	/* for the peer to close, too */

static const u8 next_states[] = {
	[IWM_QP_IDLE]		= BIT(IWM_QP_RTS) | BIT(IWM_QP_ERROR),
	[IWM_QP_RTS]		= BIT(IWM_QP_CLOSING) | BIT(IWM_QP_TERMINATE) |
				  BIT(IWM_QP_ERROR),
	[IWM_QP_CLOSING]	= BIT(IWM_QP_TERMINATE) | BIT(IWM_QP_ERROR),
	[IWM_QP_TERMINATE]	= BIT(IWM_QP_ERROR),
	[IWM_QP_ERROR]		= BIT(IWM_QP_IDLE),
};

static bool move_locked(struct iwm_qp *qp, enum iwm_qp_state to)
{
	lockdep_assert_held(&qp->lock);
	if (!(next_states[qp->state] & BIT(to)))
		return false;
	WRITE_ONCE(qp->state, to);
	if (to != IWM_QP_IDLE)
		qp->used = true;
	return true;
}

/* Change the state if that is allowed; *from is the one before either way. */
static bool move(struct iwm_qp *qp, enum iwm_qp_state to,
		 enum iwm_qp_state *from)
{
	bool moved;

	spin_lock_bh(&qp->lock);
	*from = qp->state;
	moved = move_locked(qp, to);
	spin_unlock_bh(&qp->lock);
	return moved;
}

/* The cep with the QP's reference: the caller reports the end to it. */
static struct iwm_cep *take_cep(struct iwm_qp *qp)
{
	struct iwm_cep *cep;

	spin_lock_bh(&qp->lock);
	cep = qp->cep;
	qp->cep = NULL;
	spin_unlock_bh(&qp->lock);
	return cep;
}

static void raise(struct iwm_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.event = type,
		.element.qp = &qp->ibqp,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

/* The QP has left RTS or CLOSING: it takes no more from its SRQ. */
static void raise_last_wqe(struct iwm_qp *qp)
{
	if (qp->srq)
		raise(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

static bool is_up(enum iwm_qp_state state)
{
	return state == IWM_QP_RTS || state == IWM_QP_CLOSING;
}

/**
 * iwm_qp_flush_rq() - complete what is left in the receive ring as flushed
 * @qp: queue pair; nothing happens when it uses an SRQ
 *
 * Context: any. A user ring may be refilled meanwhile: one round at most.
 */
void iwm_qp_flush_rq(struct iwm_qp *qp)
{
	struct iwm_wc wc = {
		.opcode = SIW_OP_RECEIVE,
		.status = SIW_WC_WR_FLUSH_ERR,
	};
	struct iwm_rwr rwr;
	u32 i;

	if (qp->srq)
		return;
	for (i = 0; i < qp->rq.num; i++) {
		if (iwm_rq_take(&qp->rq, &rwr) == -ENOENT)
			break;
		wc.id = rwr.id;
		iwm_cq_add(qp->rcq, qp, &wc);
	}
}

/*
 * The receive direction has ended. Context: socket lock held, or no upcall
 * can come any more.
 */
static void rx_end(struct iwm_qp *qp)
{
	WRITE_ONCE(qp->rx_ended, true);
	smp_mb();	/* pairs with iwm_post_recv() */
	if (qp->dying)
		return;
	iwm_rx_flush(qp);
	iwm_qp_flush_rq(qp);
}

/* Report the end to the CM, if that is due. */
static void tell_cm(struct iwm_qp *qp, int status)
{
	struct iwm_cep *cep = take_cep(qp);

	if (!cep)
		return;
	iwm_cm_closed(cep, status);
	iwm_cep_put(cep);
}

/* The state is final. */
static void finish(struct iwm_qp *qp, int status)
{
	if (!qp->dying)
		iwm_sq_flush(qp);
	tell_cm(qp, status);
}

static void queue_close(struct iwm_qp *qp, unsigned int ms)
{
	mod_delayed_work(iwm_wq, &qp->close_work, msecs_to_jiffies(ms));
}

/* The step of the end that begins now may take this long. */
static void set_deadline(struct iwm_qp *qp, unsigned int ms)
{
	WRITE_ONCE(qp->deadline, jiffies + msecs_to_jiffies(ms));
}

static bool is_late(const struct iwm_qp *qp)
{
	return time_after_eq(jiffies, READ_ONCE(qp->deadline));
}

/* Context: process; the transmit owner has written its last FPDU. */
static void send_fin(struct iwm_qp *qp)
{
	lockdep_assert_held(&qp->conn_lock);
	if (!qp->conn || qp->fin_sent)
		return;
	set_deadline(qp, CLOSE_MAX_MS);
	smp_wmb();	/* pairs with close_step() */
	WRITE_ONCE(qp->fin_sent, true);
	mpa_shutdown(qp->conn);
}

/* Give the connection back. The transmit owner is out of it. */
static void release_conn(struct iwm_qp *qp, bool reset)
{
	struct mpa_conn *conn = qp->conn;

	lockdep_assert_held(&qp->conn_lock);
	if (!conn)
		return;
	if (reset)
		mpa_abort(conn);
	else
		send_fin(qp);
	spin_lock_bh(&qp->lock);
	qp->conn = NULL;
	spin_unlock_bh(&qp->lock);
	mpa_destroy(conn);
}

/**
 * iwm_qp_disconnect() - end the connection and be done with it
 * @qp: queue pair; its state is ERROR afterwards
 * @reset: reset TCP whatever the state was. Otherwise that is done in RTS
 *	only, and a connection that is closing or has sent or received a
 *	Terminate is left to TCP for an orderly end
 * @status: negative errno for the CM's event, when that is still due
 *
 * Phases: 1 the state keeps posts and upcalls out; 2 the transmit owner
 * leaves; 3 the connection goes, and with it all upcalls; 4 both queues are
 * flushed; 5 the CM is told. Everything is complete when this returns.
 *
 * Context: process, may sleep; takes conn_lock and the socket lock.
 */
void iwm_qp_disconnect(struct iwm_qp *qp, bool reset, int status)
{
	enum iwm_qp_state from;

	might_sleep();
	move(qp, IWM_QP_ERROR, &from);
	iwm_sq_stop(qp);
	mutex_lock(&qp->conn_lock);
	release_conn(qp, reset || from == IWM_QP_RTS);
	rx_end(qp);
	mutex_unlock(&qp->conn_lock);
	if (is_up(from))
		raise_last_wqe(qp);
	finish(qp, status);
}

static void shut_down(struct iwm_qp *qp)
{
	iwm_sq_stop(qp);
	mutex_lock(&qp->conn_lock);
	send_fin(qp);
	mutex_unlock(&qp->conn_lock);
	queue_close(qp, CLOSE_MAX_MS);
}

/* A startup that has failed leaves a connection behind. */
static void drop_dead_conn(struct iwm_qp *qp)
{
	mutex_lock(&qp->conn_lock);
	if (!READ_ONCE(qp->cep))
		release_conn(qp, false);
	mutex_unlock(&qp->conn_lock);
}

/* The Terminate is going out, or our FIN: the peer has to do something. */
static void wait_for_peer(struct iwm_qp *qp)
{
	long left;

	smp_rmb();	/* pairs with send_fin() */
	left = READ_ONCE(qp->deadline) - jiffies;
	if (left > 0)
		mod_delayed_work(iwm_wq, &qp->close_work, left);
	else
		iwm_qp_disconnect(qp, true, -ETIMEDOUT);
}

/*
 * The next step of an end: wait for the send queue, send our FIN, and when
 * the peer has not closed in time, reset.
 */
static void close_step(struct iwm_qp *qp)
{
	enum iwm_qp_state state = READ_ONCE(qp->state);

	if (state == IWM_QP_IDLE)
		drop_dead_conn(qp);
	else if (state == IWM_QP_TERMINATE || READ_ONCE(qp->fin_sent))
		wait_for_peer(qp);
	else if (state == IWM_QP_CLOSING && !iwm_sq_idle(qp) && !is_late(qp))
		queue_close(qp, DRAIN_POLL_MS);
	else if (state != IWM_QP_RTS)
		shut_down(qp);
}

static void close_work(struct work_struct *work)
{
	close_step(container_of(to_delayed_work(work), struct iwm_qp,
				close_work));
}

/* ---- Errors ---- */

static enum ib_event_type event_of(const struct rdmap_error *err)
{
	switch (err->layer) {
	case TERM_LAYER_RDMAP:
		if (err->etype == RDMAP_ETYPE_PROTECTION)
			return IB_EVENT_QP_ACCESS_ERR;
		if (err->etype == RDMAP_ETYPE_OPERATION)
			return IB_EVENT_QP_REQ_ERR;
		break;
	case TERM_LAYER_DDP:
		if (err->etype == DDP_ETYPE_TAGGED)
			return IB_EVENT_QP_ACCESS_ERR;
		if (err->etype == DDP_ETYPE_UNTAGGED)
			return IB_EVENT_QP_REQ_ERR;
		break;
	}
	return IB_EVENT_QP_FATAL;
}

/**
 * iwm_qp_error() - a protocol error ends the stream: Terminate it
 * @qp: queue pair; its state becomes TERMINATE
 * @err: what the Terminate says (RFC 5040 section 4.8)
 * @ddp_hdr: DDP header of the segment at fault, or NULL
 * @ddp_len: octets of that segment
 * @read_hdr: RDMAP header of the Read Request at fault, or NULL
 *
 * Raises the QP's event. Does nothing when the stream has ended already. From
 * a receive upcall: return non-zero from it, which flushes the receive queue.
 *
 * Context: any that does not hold qp->lock.
 */
void iwm_qp_error(struct iwm_qp *qp, const struct rdmap_error *err,
		  const u8 *ddp_hdr, u32 ddp_len, const u8 *read_hdr)
{
	enum iwm_qp_state from;

	if (!move(qp, IWM_QP_TERMINATE, &from))
		return;
	set_deadline(qp, TERMINATE_MAX_MS);
	iwm_sq_terminate(qp, err, ddp_hdr, ddp_len, read_hdr);
	iwm_sq_flush(qp);
	queue_close(qp, TERMINATE_MAX_MS);
	raise(qp, event_of(err));
	raise_last_wqe(qp);
}

/**
 * iwm_qp_terminated() - the transmit owner is done with the Terminate
 * @qp: queue pair
 *
 * For the transmit owner, when the Terminate has been handed to TCP and also
 * when that was not possible. It writes nothing any more after this.
 *
 * Context: process, may sleep; takes conn_lock and the socket lock.
 */
void iwm_qp_terminated(struct iwm_qp *qp)
{
	enum iwm_qp_state from;

	might_sleep();
	mutex_lock(&qp->conn_lock);
	send_fin(qp);
	mutex_unlock(&qp->conn_lock);
	if (READ_ONCE(qp->state) != IWM_QP_TERMINATE ||
	    !move(qp, IWM_QP_ERROR, &from))
		return;		/* somebody else ends it */
	queue_close(qp, CLOSE_MAX_MS);
	finish(qp, -EPROTO);
}

/**
 * iwm_qp_terminate_received() - the peer has found an error of ours
 * @qp: queue pair; its state becomes ERROR
 * @err: what the Terminate says
 *
 * The receive upcall has to return non-zero afterwards. Our side is shut down
 * without a Terminate of its own (RFC 5040 section 5.4).
 *
 * Context: any that does not hold qp->lock.
 */
void iwm_qp_terminate_received(struct iwm_qp *qp,
			       const struct rdmap_error *err)
{
	enum iwm_qp_state from;

	if (!move(qp, IWM_QP_ERROR, &from))
		return;
	ibdev_dbg(&qp->dev->ibdev,
		  "QP %u: peer terminated: layer %u type %u code %#x\n",
		  qp->qpn, err->layer, err->etype, err->ecode);
	if (is_up(from)) {
		raise(qp, IB_EVENT_QP_FATAL);
		raise_last_wqe(qp);
	}
	queue_close(qp, 0);
	finish(qp, -ECONNRESET);
}

/* ---- Upcalls of MPA. Context: socket lock held, softirq or process. ---- */

/* TCP is gone in the receive direction, or altogether. */
static void lost(struct iwm_qp *qp, int status)
{
	enum iwm_qp_state from;

	if (READ_ONCE(qp->state) == IWM_QP_IDLE) {
		tell_cm(qp, status ? status : -ECONNRESET);
		return;
	}
	if (move(qp, IWM_QP_ERROR, &from))
		queue_close(qp, 0);
	rx_end(qp);
	if (status && is_up(from))
		raise(qp, IB_EVENT_QP_FATAL);
	if (is_up(from))
		raise_last_wqe(qp);
	finish(qp, status);
}

static void upcall_closed(void *ulp, enum mpa_error err, int status)
{
	const struct rdmap_error mpa_err = {
		.layer = TERM_LAYER_LLP,
		.etype = LLP_ETYPE_MPA,
		.ecode = err,
	};
	struct iwm_qp *qp = ulp;

	if (err != MPA_ERR_CRC && err != MPA_ERR_MARKER) {
		lost(qp, status);
		return;
	}
	/* TCP is intact: the peer gets to know the reason. */
	iwm_qp_error(qp, &mpa_err, NULL, 0, NULL);
	rx_end(qp);
}

/* Nothing is left to wait for. */
static void upcall_gone(void *ulp)
{
	struct iwm_qp *qp = ulp;

	if (READ_ONCE(qp->state) == IWM_QP_ERROR && READ_ONCE(qp->fin_sent))
		cancel_delayed_work(&qp->close_work);
}

static int upcall_receive(void *ulp, struct mpa_cursor *cur, u32 len)
{
	struct iwm_qp *qp = ulp;
	int ret = -ENOTCONN;

	if (likely(is_up(READ_ONCE(qp->state))))
		ret = iwm_receive(qp, cur, len);
	if (unlikely(ret) && READ_ONCE(qp->state) != IWM_QP_IDLE)
		rx_end(qp);
	return ret;
}

static void upcall_writable(void *ulp)
{
	iwm_sq_kick(ulp);
}

/* The cep with a reference, or NULL. */
static struct iwm_cep *get_cep(struct iwm_qp *qp)
{
	struct iwm_cep *cep;

	spin_lock_bh(&qp->lock);
	cep = qp->cep;
	if (cep)
		iwm_cep_get(cep);
	spin_unlock_bh(&qp->lock);
	return cep;
}

/* Startup has ended well. */
static int enter_rts(struct iwm_qp *qp, u16 ird, u16 ord, u8 rtr)
{
	int ret = -ECONNABORTED;

	spin_lock_bh(&qp->lock);
	if (qp->cep && move_locked(qp, IWM_QP_RTS)) {
		qp->ird = ird;
		qp->ord = ord;
		qp->rtr = rtr;
		ret = 0;
	}
	spin_unlock_bh(&qp->lock);
	return ret;
}

/* The cep is of no use any more, if it is still there. */
static void unclaim(struct iwm_qp *qp)
{
	struct iwm_cep *cep = take_cep(qp);

	if (cep)
		iwm_cep_put(cep);
}

/* What startup has left behind goes, in process context. */
static void abandon(struct iwm_qp *qp)
{
	unclaim(qp);
	if (READ_ONCE(qp->state) == IWM_QP_RTS)
		lost(qp, -ECONNABORTED);
	queue_close(qp, 0);
}

/* The Initiator's startup is over. */
static void upcall_reply(void *ulp, int status, const struct mpa_offer *peer,
			 const struct mpa_agreed *agreed, const void *pd)
{
	struct iwm_qp *qp = ulp;
	struct iwm_cep *cep = get_cep(qp);

	if (!cep)
		return;		/* disconnected meanwhile */
	if (!status)
		status = iwm_cm_check_reply(cep, peer);
	if (!status)
		status = enter_rts(qp, agreed->ird, agreed->ord,
				   agreed->p2p ? agreed->rtr : 0);
	if (iwm_cm_reply(cep, status, peer, agreed, pd))
		abandon(qp);
	iwm_cep_put(cep);
}

const struct mpa_ulp_ops iwm_qp_ops = {
	.reply		= upcall_reply,
	.receive	= upcall_receive,
	.receive_done	= iwm_receive_done,
	.writable	= upcall_writable,
	.closed		= upcall_closed,
	.gone		= upcall_gone,
};

/* ---- Connecting, for cm.c ---- */

/* Bind a cep to the QP; it can be bound to one at a time. */
static int claim(struct iwm_qp *qp, struct iwm_cep *cep)
{
	int ret = 0;

	lockdep_assert_held(&qp->conn_lock);
	spin_lock_bh(&qp->lock);
	if (qp->cep)
		ret = -EISCONN;
	else if (qp->state != IWM_QP_IDLE || qp->used)
		ret = -EINVAL;
	spin_unlock_bh(&qp->lock);
	if (ret)
		return ret;
	/* What an attempt that failed has left behind. */
	release_conn(qp, false);
	iwm_cep_get(cep);
	spin_lock_bh(&qp->lock);
	qp->cep = cep;
	spin_unlock_bh(&qp->lock);
	return 0;
}

/* Upcalls may have come already: now the transmit owner can work. */
static void publish_conn(struct iwm_qp *qp, struct mpa_conn *conn)
{
	lockdep_assert_held(&qp->conn_lock);
	spin_lock_bh(&qp->lock);
	qp->conn = conn;
	spin_unlock_bh(&qp->lock);
}

/**
 * iwm_qp_connect() - connect a queue pair as Initiator
 * @qp: queue pair in IDLE
 * @cep: who is told; the QP takes a reference until the end is reported
 * @net: namespace of the addresses
 * @local: local address
 * @remote: remote address
 * @params: policy
 * @pd: Private Data
 * @pd_len: octets of @pd
 *
 * Context: process, may sleep, does not wait for the network.
 * Return: 0: iwm_cm_reply() follows or has come already. -EISCONN when the
 * QP is busy, -EINVAL when it was used before, or an errno of mpa_connect().
 */
int iwm_qp_connect(struct iwm_qp *qp, struct iwm_cep *cep, struct net *net,
		   const struct sockaddr *local, const struct sockaddr *remote,
		   const struct mpa_params *params, const void *pd, u16 pd_len)
{
	struct mpa_conn *conn;
	int ret;

	mutex_lock(&qp->conn_lock);
	ret = claim(qp, cep);
	if (ret)
		goto out;
	conn = mpa_connect(net, local, remote, params, pd, pd_len, &iwm_qp_ops,
			   qp, qp->dev->mpa_mib);
	if (IS_ERR(conn)) {
		ret = PTR_ERR(conn);
		unclaim(qp);
	} else {
		publish_conn(qp, conn);
	}
out:
	mutex_unlock(&qp->conn_lock);
	if (!ret)
		iwm_sq_kick(qp);
	return ret;
}

/* RTS was entered for a Reply that could not be sent. */
static void leave_rts(struct iwm_qp *qp)
{
	spin_lock_bh(&qp->lock);
	if (qp->state == IWM_QP_RTS) {
		WRITE_ONCE(qp->state, IWM_QP_IDLE);
		qp->used = false;
	}
	spin_unlock_bh(&qp->lock);
}

/**
 * iwm_qp_accept() - make a queue pair the end of a Responder's connection
 * @qp: queue pair in IDLE
 * @cep: who is told of the end
 * @conn: undecided connection; the QP's when this succeeds
 * @params: IRD and ORD to answer with; the ORD is one that the peer can take
 * @pd: Private Data
 * @pd_len: octets of @pd
 * @agreed: set to what is in force
 *
 * The QP is in RTS before the Reply leaves, since the peer may answer at
 * once. iwm_cm_closed() may come before this returns.
 *
 * Context: process, may sleep; takes the socket lock.
 * Return: 0, -EISCONN, -EINVAL, or an errno of mpa_accept(): the caller has
 * to destroy @conn then.
 */
int iwm_qp_accept(struct iwm_qp *qp, struct iwm_cep *cep,
		  struct mpa_conn *conn, const struct mpa_params *params,
		  const void *pd, u16 pd_len, struct mpa_agreed *agreed)
{
	int ret;

	mutex_lock(&qp->conn_lock);
	ret = claim(qp, cep);
	if (ret)
		goto out;
	ret = enter_rts(qp, params->ird, params->ord, 0);
	if (ret)
		goto out_unclaim;
	ret = mpa_accept(conn, params, pd, pd_len, &iwm_qp_ops, qp,
			 qp->dev->mpa_mib, agreed);
	if (ret) {
		leave_rts(qp);
		goto out_unclaim;
	}
	publish_conn(qp, conn);
	goto out;

out_unclaim:
	unclaim(qp);
out:
	mutex_unlock(&qp->conn_lock);
	if (!ret)
		iwm_sq_kick(qp);
	return ret;
}

/* ---- References and lookup ---- */

static void qp_last_put(struct kref *ref)
{
	struct iwm_qp *qp = container_of(ref, struct iwm_qp, ref);

	complete(&qp->freed);
}

void iwm_qp_put(struct iwm_qp *qp)
{
	kref_put(&qp->ref, qp_last_put);
}

/**
 * iwm_qp_get() - find a queue pair by number
 * @dev: device
 * @qpn: QP number
 *
 * Context: any. Return: the QP with a reference for iwm_qp_put(), or NULL.
 */
struct iwm_qp *iwm_qp_get(struct iwm_dev *dev, u32 qpn)
{
	unsigned long flags;
	struct iwm_qp *qp;

	xa_lock_irqsave(&dev->qps, flags);
	qp = xa_load(&dev->qps, qpn);
	if (qp && !kref_get_unless_zero(&qp->ref))
		qp = NULL;
	xa_unlock_irqrestore(&dev->qps, flags);
	return qp;
}

/* ib_device_ops.iw_add_ref, .iw_rem_ref and .iw_get_qp */
void iwm_iw_add_ref(struct ib_qp *ibqp)
{
	kref_get(&to_iwm_qp(ibqp)->ref);
}

void iwm_iw_rem_ref(struct ib_qp *ibqp)
{
	iwm_qp_put(to_iwm_qp(ibqp));
}

/* iw_cm takes its reference itself, right after this and under its lock. */
struct ib_qp *iwm_iw_get_qp(struct ib_device *ibdev, int qpn)
{
	struct iwm_qp *qp = xa_load(&to_iwm_dev(ibdev)->qps, qpn);

	return qp ? &qp->ibqp : NULL;
}

/* ---- Verbs ---- */

static int check_attr(const struct ib_qp_init_attr *attr)
{
	const struct ib_qp_cap *cap = &attr->cap;

	if (attr->qp_type != IB_QPT_RC || attr->create_flags)
		return -EOPNOTSUPP;
	if (!attr->send_cq || !attr->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > IWM_MAX_QP_WR ||
	    cap->max_send_sge > IWM_MAX_SGE ||
	    cap->max_inline_data > IWM_MAX_INLINE)
		return -EINVAL;
	if (!attr->srq && (cap->max_recv_wr > IWM_MAX_QP_WR ||
			   cap->max_recv_sge > IWM_MAX_SGE))
		return -EINVAL;
	return 0;
}

static void init_qp(struct iwm_qp *qp, const struct ib_qp_init_attr *attr,
		    bool user)
{
	qp->dev = to_iwm_dev(qp->ibqp.device);
	qp->pd = to_iwm_pd(qp->ibqp.pd);
	qp->scq = to_iwm_cq(attr->send_cq);
	qp->rcq = to_iwm_cq(attr->recv_cq);
	qp->srq = attr->srq ? to_iwm_srq(attr->srq) : NULL;
	qp->user = user;
	qp->sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->max_inline = IWM_MAX_INLINE;
	qp->state = IWM_QP_IDLE;
	qp->attr.qp_state = IB_QPS_RESET;
	kref_init(&qp->ref);
	init_completion(&qp->freed);
	spin_lock_init(&qp->lock);
	mutex_init(&qp->conn_lock);
	INIT_DELAYED_WORK(&qp->close_work, close_work);
}

/* Rings are powers of two: libsiw's index wraps. Report what there is. */
static void round_caps(struct iwm_qp *qp, struct ib_qp_cap *cap)
{
	cap->max_send_wr = roundup_pow_of_two(max(cap->max_send_wr, 1u));
	cap->max_inline_data = IWM_MAX_INLINE;
	if (qp->srq) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
	} else {
		cap->max_recv_wr = roundup_pow_of_two(max(cap->max_recv_wr,
							  1u));
	}
	qp->cap = *cap;
}

static int create_queues(struct iwm_qp *qp)
{
	const struct ib_qp_cap *cap = &qp->cap;
	int ret;

	ret = iwm_sq_create(qp, cap->max_send_wr);
	if (ret)
		return ret;
	ret = iwm_rx_create(qp);
	if (ret)
		goto err_sq;
	if (qp->srq)
		return 0;
	ret = iwm_rq_init(&qp->rq, cap->max_recv_wr, cap->max_recv_sge,
			  qp->user);
	if (ret)
		goto err_rx;
	return 0;

err_rx:
	iwm_rx_destroy(qp);
err_sq:
	iwm_sq_destroy(qp);
	return ret;
}

static void destroy_queues(struct iwm_qp *qp)
{
	iwm_mmap_remove(qp->rq_entry);
	iwm_mmap_remove(qp->sq_entry);
	if (!qp->srq)
		iwm_rq_free(&qp->rq);
	iwm_rx_destroy(qp);
	iwm_sq_destroy(qp);
}

static int map_ring(struct ib_ucontext *ctx, void *ring, size_t size,
		    struct rdma_user_mmap_entry **slot, u64 *key)
{
	struct rdma_user_mmap_entry *entry;

	entry = iwm_mmap_insert(ctx, ring, size, key);
	if (!entry)
		return -ENOMEM;
	*slot = entry;
	return 0;
}

static int map_rings(struct iwm_qp *qp, struct ib_udata *udata,
		     struct siw_uresp_create_qp *resp)
{
	struct iwm_ucontext *ctx =
		rdma_udata_to_drv_context(udata, struct iwm_ucontext, ibctx);
	size_t rq_size = (size_t)qp->rq.num * sizeof(*qp->rq.ring);
	int ret;

	ret = map_ring(&ctx->ibctx, iwm_sq_ring(qp), iwm_sq_ring_size(qp),
		       &qp->sq_entry, &resp->sq_key);
	if (ret || qp->srq)
		return ret;
	return map_ring(&ctx->ibctx, qp->rq.ring, rq_size, &qp->rq_entry,
			&resp->rq_key);
}

static int respond(struct iwm_qp *qp, struct ib_udata *udata)
{
	struct siw_uresp_create_qp resp = {
		.qp_id = qp->qpn,
		.num_sqe = qp->cap.max_send_wr,
		.num_rqe = qp->cap.max_recv_wr,
		.sq_key = SIW_INVAL_UOBJ_KEY,
		/* With an SRQ there is none, which libsiw takes for a failure */
		.rq_key = qp->srq ? 0 : SIW_INVAL_UOBJ_KEY,
	};
	int ret;

	if (!udata)
		return 0;
	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	ret = map_rings(qp, udata, &resp);
	if (ret)
		return ret;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

/* Make the QP findable. Numbers are used in turn, from a random one on. */
static int publish(struct iwm_qp *qp)
{
	static u32 next;
	int ret;

	if (!next)
		next = get_random_u32_below(QPN_MAX - QPN_MIN) + QPN_MIN;
	ret = xa_alloc_cyclic_irq(&qp->dev->qps, &qp->qpn, qp,
				  XA_LIMIT(QPN_MIN, QPN_MAX), &next,
				  GFP_KERNEL);
	if (ret < 0)
		return ret;
	qp->ibqp.qp_num = qp->qpn;
	return 0;
}

/* Nobody finds it any more, and nobody who has found it still uses it. */
static void unpublish(struct iwm_qp *qp)
{
	xa_erase_irq(&qp->dev->qps, qp->qpn);
}

static void wait_unused(struct iwm_qp *qp)
{
	iwm_qp_put(qp);
	wait_for_completion(&qp->freed);
}

/**
 * iwm_create_qp() - ib_device_ops.create_qp
 * @ibqp: allocated by the core
 * @attr: what is wanted; capacities are set to what there is
 * @udata: NULL for a kernel consumer
 *
 * Context: process, may sleep.
 * Return: 0; -EOPNOTSUPP for anything but RC; -EINVAL for capacities over
 * the device's limits; -ENOMEM; -EFAULT.
 */
int iwm_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		  struct ib_udata *udata)
{
	struct iwm_dev *dev = to_iwm_dev(ibqp->device);
	struct iwm_qp *qp = to_iwm_qp(ibqp);
	int ret;

	ret = check_attr(attr);
	if (ret)
		return ret;
	ret = iwm_claim(&dev->num_qp, IWM_MAX_QP);
	if (ret)
		return ret;
	init_qp(qp, attr, udata);
	round_caps(qp, &attr->cap);
	ret = create_queues(qp);
	if (ret)
		goto err_count;
	ret = publish(qp);
	if (ret)
		goto err_queues;
	ret = respond(qp, udata);
	if (ret)
		goto err_publish;
	return 0;

err_publish:
	unpublish(qp);
	wait_unused(qp);
err_queues:
	destroy_queues(qp);
err_count:
	atomic_dec(&dev->num_qp);
	return ret;
}

/**
 * iwm_destroy_qp() - ib_device_ops.destroy_qp
 * @ibqp: queue pair; the core frees it afterwards
 * @udata: NULL for a kernel consumer
 *
 * What is still outstanding is dropped without completions. Context: process,
 * may sleep: waits for users of the QP, not for the network.
 * Return: 0.
 */
int iwm_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct iwm_qp *qp = to_iwm_qp(ibqp);
	struct iwm_dev *dev = qp->dev;

	might_sleep();
	/* 1: nobody finds it */
	unpublish(qp);
	/* 2: no connection, hence no upcall and no transmit owner */
	qp->dying = true;
	iwm_qp_disconnect(qp, false, -ECONNABORTED);
	/* 3: no work that they have left behind */
	cancel_delayed_work_sync(&qp->close_work);
	/* 4: the CM has dropped it */
	wait_unused(qp);
	/* 5: memory */
	destroy_queues(qp);
	atomic_dec(&dev->num_qp);
	return 0;
}

static int modify_reset(struct iwm_qp *qp)
{
	enum iwm_qp_state from;

	if (READ_ONCE(qp->state) != IWM_QP_IDLE || READ_ONCE(qp->cep))
		iwm_qp_disconnect(qp, false, -ECONNABORTED);
	move(qp, IWM_QP_IDLE, &from);
	return 0;
}

static int modify_close(struct iwm_qp *qp)
{
	enum iwm_qp_state from;

	if (!move(qp, IWM_QP_CLOSING, &from))
		return from == IWM_QP_IDLE ? -EINVAL : 0;
	set_deadline(qp, DRAIN_MAX_MS);
	close_step(qp);
	return 0;
}

static int modify_state(struct iwm_qp *qp, enum ib_qp_state state)
{
	switch (state) {
	case IB_QPS_RESET:
		return modify_reset(qp);
	case IB_QPS_INIT:
	case IB_QPS_RTR:
		return READ_ONCE(qp->state) == IWM_QP_IDLE ? 0 : -EINVAL;
	case IB_QPS_RTS:
		/* The connection manager's to reach. */
		return READ_ONCE(qp->state) == IWM_QP_RTS ? 0 : -EINVAL;
	case IB_QPS_SQD:
		return modify_close(qp);
	case IB_QPS_SQE:
	case IB_QPS_ERR:
		iwm_qp_disconnect(qp, false, -ECONNABORTED);
		return 0;
	}
	return -EINVAL;
}

/**
 * iwm_modify_qp() - ib_device_ops.modify_qp
 * @ibqp: queue pair
 * @attr: new attributes
 * @mask: IB_QP_* bits of what to change
 * @udata: unused
 *
 * ERR flushes both queues before it returns. SQD closes in order: what is
 * posted goes out first, then a FIN; it does not wait for that.
 *
 * Context: process, may sleep.
 * Return: 0, -EOPNOTSUPP for unknown bits, -EINVAL for a state that cannot
 * be reached this way.
 */
int iwm_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata)
{
	struct iwm_qp *qp = to_iwm_qp(ibqp);
	int ret;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (mask & IB_QP_ACCESS_FLAGS)
		qp->attr.qp_access_flags = attr->qp_access_flags;
	if (!(mask & IB_QP_STATE))
		return 0;
	ret = modify_state(qp, attr->qp_state);
	if (!ret)
		qp->attr.qp_state = attr->qp_state;
	return ret;
}

static enum ib_qp_state ib_state(const struct iwm_qp *qp)
{
	switch (READ_ONCE(qp->state)) {
	case IWM_QP_IDLE:
		return qp->attr.qp_state;
	case IWM_QP_RTS:
		return IB_QPS_RTS;
	case IWM_QP_CLOSING:
		return IB_QPS_SQD;
	case IWM_QP_TERMINATE:
		return IB_QPS_SQE;
	case IWM_QP_ERROR:
		break;
	}
	return IB_QPS_ERR;
}

static enum ib_mtu path_mtu(struct iwm_dev *dev)
{
	struct net_device *netdev = iwm_dev_get_netdev(dev);
	enum ib_mtu mtu;

	if (!netdev)
		return IB_MTU_1024;
	mtu = ib_mtu_int_to_enum(READ_ONCE(netdev->mtu));
	dev_put(netdev);
	return mtu;
}

/**
 * iwm_query_qp() - ib_device_ops.query_qp
 * @ibqp: queue pair
 * @attr: set to the attributes
 * @mask: IB_QP_* bits of what is asked for; everything is answered
 * @init_attr: set to what it was created with
 *
 * Context: process. Return: 0.
 */
int iwm_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init_attr)
{
	struct iwm_qp *qp = to_iwm_qp(ibqp);

	memset(attr, 0, sizeof(*attr));
	memset(init_attr, 0, sizeof(*init_attr));
	attr->qp_state = ib_state(qp);
	attr->cur_qp_state = attr->qp_state;
	attr->path_mtu = path_mtu(qp->dev);
	attr->qp_access_flags = qp->attr.qp_access_flags;
	attr->cap = qp->cap;
	attr->port_num = 1;
	attr->max_rd_atomic = READ_ONCE(qp->ord);
	attr->max_dest_rd_atomic = READ_ONCE(qp->ird);

	init_attr->qp_type = IB_QPT_RC;
	init_attr->qp_context = ibqp->qp_context;
	init_attr->event_handler = ibqp->event_handler;
	init_attr->send_cq = ibqp->send_cq;
	init_attr->recv_cq = ibqp->recv_cq;
	init_attr->srq = ibqp->srq;
	init_attr->sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR :
					       IB_SIGNAL_REQ_WR;
	init_attr->cap = qp->cap;
	init_attr->port_num = 1;
	return 0;
}

/**
 * iwm_post_recv() - ib_device_ops.post_recv, for kernel consumers
 * @ibqp: queue pair without an SRQ
 * @wr: list of work requests
 * @bad_wr: set to the first that was not taken
 *
 * Context: any. Return: 0, -EINVAL, or -ENOMEM when the ring is full.
 */
int iwm_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr)
{
	struct iwm_qp *qp = to_iwm_qp(ibqp);
	int ret = 0;

	if (qp->srq || qp->user) {
		*bad_wr = wr;
		return -EINVAL;
	}
	for (; wr; wr = wr->next) {
		ret = iwm_rq_post(&qp->rq, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	/* Either rx_end() sees what was posted, or this sees the end. */
	smp_mb();
	if (unlikely(READ_ONCE(qp->rx_ended)))
		iwm_qp_flush_rq(qp);
	return ret;
}

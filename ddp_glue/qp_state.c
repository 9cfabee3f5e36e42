// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: their states, and the actions when a state is left: Terminate,
 * the QP's event, the report to the CM, and the flush of the receive queue.
 *
 * States (RFC 5040 section 6, "ib" is what query_qp reports):
 *
 *   state      ib            left for
 *   IDLE       INIT, RTR     RTS: startup has succeeded
 *                            TERMINATE: the peer's Reply was refused
 *                            ERROR: modify_qp
 *   RTS        RTS           CLOSING: modify_qp to SQD
 *                            TERMINATE: a protocol error was found here
 *                            ERROR: FIN, lost TCP, Terminate received,
 *                            modify_qp
 *   CLOSING    SQD           TERMINATE, ERROR: as RTS; ERROR is the normal
 *                            end, when the peer has closed, too
 *   TERMINATE  SQE           ERROR: the Terminate was handed over, or cannot be
 *   ERROR      ERR           IDLE: modify_qp to RESET
 *
 * The caller that changes the state performs the actions for leaving the old
 * one, so that each end is reported once. The flush of the send queue is
 * requested with the change, that of the receive queue where the receive
 * direction ends: iwm_qp_rx_end(). The transmit owner carries out both.
 */
#include "cep.h"
#include "cq.h"
#include "qp_state.h"
#include "rq.h"
#include "sq.h"
#include "trace.h"
#include "work.h"

#define DRAIN_MAX_MS		5000	/* for earlier posts to be sent */
#define TERMINATE_MAX_MS	2000	/* for the Terminate to reach TCP */

/* Only iwm_qp_refuse() changes IDLE to TERMINATE, without this table. */
static const u8 next_states[] = {
	[IWM_QP_IDLE]		= BIT(IWM_QP_RTS) | BIT(IWM_QP_ERROR),
	[IWM_QP_RTS]		= BIT(IWM_QP_CLOSING) | BIT(IWM_QP_TERMINATE) |
				  BIT(IWM_QP_ERROR),
	[IWM_QP_CLOSING]	= BIT(IWM_QP_TERMINATE) | BIT(IWM_QP_ERROR),
	[IWM_QP_TERMINATE]	= BIT(IWM_QP_ERROR),
	[IWM_QP_ERROR]		= BIT(IWM_QP_IDLE),
};

/* The step of closing that begins now may take this long. */
static void set_deadline(struct iwm_qp *qp, unsigned int ms)
{
	WRITE_ONCE(qp->deadline, jiffies + msecs_to_jiffies(ms));
}

static void set_state(struct iwm_qp *qp, enum iwm_qp_state to)
{
	lockdep_assert_held(&qp->lock);
	trace_iwm_qp_state(qp, qp->state, to);
	if (to == IWM_QP_CLOSING)
		set_deadline(qp, DRAIN_MAX_MS);
	else if (to == IWM_QP_TERMINATE)
		set_deadline(qp, TERMINATE_MAX_MS);
	/*
	 * Pairs with iwm_qp_rx_end(), which an upcall calls when it sees the
	 * state, with sq_may_transmit(), and with close_step(), which looks at
	 * the deadline.
	 */
	smp_store_release(&qp->state, to);
}

static bool move_locked(struct iwm_qp *qp, enum iwm_qp_state to)
{
	lockdep_assert_held(&qp->lock);
	if (!(next_states[qp->state] & BIT(to)))
		return false;
	set_state(qp, to);
	if (to != IWM_QP_IDLE)
		qp->used = true;
	return true;
}

/* Change the state if that is allowed. *from is always set to the old one. */
bool iwm_qp_move(struct iwm_qp *qp, enum iwm_qp_state to,
		 enum iwm_qp_state *from)
{
	bool moved;

	spin_lock_bh(&qp->lock);
	*from = qp->state;
	moved = move_locked(qp, to);
	spin_unlock_bh(&qp->lock);
	return moved;
}

/* The cep with a reference, or NULL. */
struct iwm_cep *iwm_qp_cep_get(struct iwm_qp *qp)
{
	struct iwm_cep *cep;

	spin_lock_bh(&qp->lock);
	cep = qp->cep;
	if (cep)
		iwm_cep_get(cep);
	spin_unlock_bh(&qp->lock);
	return cep;
}

/**
 * iwm_qp_post_early() - something is posted before the QP is connected
 * @qp: queue pair
 *
 * When the program connects it by hand, it is in RTS for the program. The posts
 * wait in the ring, for a limited time: see hand.c.
 *
 * Context: process. Return: 0, or -ENOTCONN.
 */
int iwm_qp_post_early(struct iwm_qp *qp)
{
	struct iwm_cep *cep;

	if (!iwm_qp_starts_by_hand(qp))
		return READ_ONCE(qp->state) == IWM_QP_IDLE ? -ENOTCONN : 0;
	if (READ_ONCE(qp->posted_early))
		return 0;
	cep = iwm_qp_cep_get(qp);
	if (!cep)
		return 0;	/* it has just ended */
	WRITE_ONCE(qp->posted_early, jiffies | 1);
	iwm_cep_queue(cep, 0);
	iwm_cep_put(cep);
	return 0;
}

/* Take the cep with the QP's reference: the caller reports the end to it. */
struct iwm_cep *iwm_qp_take_cep(struct iwm_qp *qp)
{
	struct iwm_cep *cep;

	spin_lock_bh(&qp->lock);
	cep = qp->cep;
	WRITE_ONCE(qp->cep, NULL);
	spin_unlock_bh(&qp->lock);
	return cep;
}

void iwm_qp_event(struct iwm_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.event = type,
		.element.qp = &qp->ibqp,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

/* Report the end to the CM, if that is due. */
void iwm_qp_tell_cm(struct iwm_qp *qp, int status)
{
	struct iwm_cep *cep = iwm_qp_take_cep(qp);

	if (!cep)
		return;
	iwm_cep_closed(cep, status);
	iwm_cep_put(cep);
}

/* Actions when the state has become ERROR: flush, and report to the CM. */
void iwm_qp_finish(struct iwm_qp *qp, int status)
{
	if (!READ_ONCE(qp->dying))
		iwm_sq_flush(qp);
	iwm_qp_tell_cm(qp, status);
}

/**
 * iwm_qp_flush_rq() - flush the receive ring once receiving has ended
 * @qp: queue pair; nothing happens when it uses an SRQ or is being destroyed
 *
 * Takes no more than the ring has room for and one, because a program can go on
 * posting for ever.
 *
 * Context: transmit owner that may sleep: one at a time, to keep the completions
 * in order.
 * Return: whether the ring was refilled meanwhile, and may have more.
 */
bool iwm_qp_flush_rq(struct iwm_qp *qp)
{
	struct iwm_wc wc = {
		.opcode = SIW_OP_RECEIVE,
		.status = SIW_WC_WR_FLUSH_ERR,
	};
	struct iwm_rwr rwr;
	u32 i;

	/* Pairs with iwm_qp_rx_end(): no upcall uses a receive any more */
	if (qp->srq || !smp_load_acquire(&qp->rx_ended) ||
	    READ_ONCE(qp->dying))
		return false;
	for (i = 0; i <= qp->rq.num; i++) {
		if (iwm_rq_take(&qp->rq, &rwr) == -ENOENT)
			return false;
		wc.id = rwr.id;
		iwm_cq_add(qp->rcq, qp, &wc);
		cond_resched();
	}
	return true;
}

/*
 * Run close_work after @delay jiffies, unless the QP is being destroyed: a late
 * caller could queue the work after it was cancelled, and it would run on freed
 * memory.
 */
void iwm_qp_queue_close_jiffies(struct iwm_qp *qp, unsigned long delay)
{
	spin_lock_bh(&qp->lock);
	if (!qp->dying)
		mod_delayed_work(iwm_work_queue(qp->user), &qp->close_work,
				 delay);
	spin_unlock_bh(&qp->lock);
}

void iwm_qp_queue_close(struct iwm_qp *qp, unsigned int ms)
{
	iwm_qp_queue_close_jiffies(qp, msecs_to_jiffies(ms));
}

/* Context: process; the transmit owner has written its last FPDU. */
void iwm_qp_send_fin(struct iwm_qp *qp)
{
	lockdep_assert_held(&qp->conn_lock);
	if (!qp->conn || qp->fin_sent)
		return;
	set_deadline(qp, IWM_CLOSE_MAX_MS);
	smp_wmb();	/* pairs with wait_for_peer() */
	WRITE_ONCE(qp->fin_sent, true);
	mpa_shutdown(qp->conn);
}

/* ---- Errors ---- */

static enum ib_event_type fault_event(const struct rdmap_error *err)
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

/* Send a Terminate as the last message, in state TERMINATE. */
static void start_terminate(struct iwm_qp *qp, const struct rdmap_fault *fault)
{
	trace_iwm_terminate(qp, true, &fault->err);
	/* In this order: no message may follow the Terminate. */
	iwm_sq_flush(qp);
	iwm_sq_terminate(qp, fault);
	iwm_qp_queue_close(qp, TERMINATE_MAX_MS);
}

/**
 * iwm_qp_error() - end the stream with a Terminate after a protocol error
 * @qp: queue pair; its state becomes TERMINATE
 * @fault: the error that the Terminate reports (RFC 5040 section 4.8)
 *
 * Raises the QP's event. Does nothing when the stream has ended already. A
 * receive upcall must return non-zero afterwards, which flushes the receive
 * queue.
 *
 * Context: any that does not hold qp->lock.
 */
void iwm_qp_error(struct iwm_qp *qp, const struct rdmap_fault *fault)
{
	enum iwm_qp_state from;

	if (!iwm_qp_move(qp, IWM_QP_TERMINATE, &from))
		return;
	start_terminate(qp, fault);
	iwm_qp_event(qp, fault_event(&fault->err));
}

/* As iwm_qp_error(), for an error of this side. */
void iwm_qp_local_error(struct iwm_qp *qp)
{
	static const struct rdmap_fault fault = {
		.err.layer = TERM_LAYER_RDMAP,
		.err.etype = RDMAP_ETYPE_LOCAL,
	};

	iwm_qp_error(qp, &fault);
}

/**
 * iwm_qp_terminated() - the transmit owner is done with the Terminate
 * @qp: queue pair
 *
 * The transmit owner calls this when the Terminate has been handed to TCP, or
 * cannot be. It sends nothing afterwards.
 *
 * Context: process, may sleep; takes conn_lock and the socket lock.
 */
void iwm_qp_terminated(struct iwm_qp *qp)
{
	enum iwm_qp_state from;

	might_sleep();
	mutex_lock(&qp->conn_lock);
	iwm_qp_send_fin(qp);
	mutex_unlock(&qp->conn_lock);
	if (READ_ONCE(qp->state) != IWM_QP_TERMINATE ||
	    !iwm_qp_move(qp, IWM_QP_ERROR, &from))
		return;		/* another caller ends it */
	iwm_qp_queue_close(qp, IWM_CLOSE_MAX_MS);
	iwm_qp_finish(qp, -EPROTO);
}

/**
 * iwm_qp_terminate_received() - the peer has ended the stream
 * @qp: queue pair; its state becomes ERROR
 * @err: the error that the Terminate reports
 *
 * The receive upcall must return non-zero afterwards. Our side is shut down
 * without a Terminate of its own (RFC 5040 section 5.4).
 *
 * Context: any that does not hold qp->lock.
 */
void iwm_qp_terminate_received(struct iwm_qp *qp,
			       const struct rdmap_error *err)
{
	enum iwm_qp_state from;

	trace_iwm_terminate(qp, false, err);
	if (!iwm_qp_move(qp, IWM_QP_ERROR, &from))
		return;
	if (iwm_qp_is_up(from))
		iwm_qp_event(qp, IB_EVENT_QP_FATAL);
	iwm_qp_queue_close(qp, 0);
	iwm_qp_finish(qp, -ECONNRESET);
}

/* ---- Startup ---- */

/* Startup has succeeded, or is about to. */
int iwm_qp_enter_rts(struct iwm_qp *qp, u16 ird, u16 ord, u8 rtr)
{
	int ret = -ECONNABORTED;

	spin_lock_bh(&qp->lock);
	if (qp->cep && qp->state == IWM_QP_IDLE) {
		/* Before the state, which the transmit owner waits for */
		WRITE_ONCE(qp->ird, ird);
		WRITE_ONCE(qp->ord, min(ord, READ_ONCE(qp->max_ord)));
		WRITE_ONCE(qp->rtr, rtr);
		move_locked(qp, IWM_QP_RTS);
		ret = 0;
	}
	spin_unlock_bh(&qp->lock);
	return ret;
}

/* Undo iwm_qp_enter_rts(): the Reply could not be sent. */
void iwm_qp_leave_rts(struct iwm_qp *qp)
{
	spin_lock_bh(&qp->lock);
	if (qp->state == IWM_QP_RTS) {
		set_state(qp, IWM_QP_IDLE);
		qp->used = false;
		WRITE_ONCE(qp->ird, 0);
		WRITE_ONCE(qp->ord, 0);
	}
	spin_unlock_bh(&qp->lock);
}

/*
 * The peer's Reply is refused: IDLE becomes TERMINATE, unless @cep is no longer
 * the QP's.
 */
void iwm_qp_refuse(struct iwm_qp *qp, const struct iwm_cep *cep,
		   const struct rdmap_fault *fault)
{
	bool moved;

	spin_lock_bh(&qp->lock);
	moved = qp->cep == cep && qp->state == IWM_QP_IDLE;
	if (moved) {
		set_state(qp, IWM_QP_TERMINATE);
		qp->used = true;
	}
	spin_unlock_bh(&qp->lock);
	if (!moved)
		return;
	start_terminate(qp, fault);
}

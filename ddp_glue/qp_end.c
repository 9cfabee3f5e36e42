// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a connection: the closing steps, and what TCP's end means for a
 * queue pair. qp_state.c has the Terminate and the flush of the receive queue.
 *
 * iwm_qp_rx_end() asks for the flush of the receive queue where the receive
 * direction ends: under the socket lock, or when no upcall can run any more.
 *
 * tests/prove/ending.pml is a model of the end of a connection.
 */
#include "qp_end.h"
#include "qp_ref.h"
#include "qp_state.h"
#include "recv.h"
#include "recv_wait.h"
#include "sq_send.h"

#define DRAIN_POLL_MS		10	/* between checks of a draining SQ */
#define PEER_LEFT_MS		100	/* for what was sent before to complete */

/*
 * The receive direction has ended. The consumer of an SRQ gets its event after
 * the last completion that uses one of its buffers. Context: socket lock held,
 * or no upcall can run any more.
 */
void iwm_qp_rx_end(struct iwm_qp *qp)
{
	bool dying = READ_ONCE(qp->dying);

	iwm_rx_wait_over(qp, false);
	/* Taken before the entries in the ring, so completed before them */
	if (!dying)
		iwm_rx_flush(qp);
	/* Pairs with iwm_qp_flush_rq() */
	smp_store_release(&qp->rx_ended, true);
	if (dying)
		return;
	/* It begins with a full barrier, which pairs with iwm_post_recv(). */
	iwm_sq_kick(qp);
	iwm_rx_wait_late(qp);
	if (xchg(&qp->last_wqe_due, false))
		iwm_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

/* Release the connection, if there is one. */
void iwm_qp_drop_conn(struct iwm_qp *qp)
{
	struct mpa_conn *conn = qp->conn;

	lockdep_assert_held(&qp->conn_lock);
	if (!conn)
		return;
	spin_lock_bh(&qp->lock);
	WRITE_ONCE(qp->conn, NULL);
	spin_unlock_bh(&qp->lock);
	mpa_destroy(conn);
}

/* End the connection and release it. The transmit owner does not use it. */
static void release_conn(struct iwm_qp *qp, bool reset)
{
	if (reset && qp->conn)
		mpa_abort(qp->conn);
	else
		iwm_qp_send_fin(qp);
	iwm_qp_drop_conn(qp);
}

/**
 * iwm_qp_disconnect() - end and release the connection
 * @qp: queue pair; its state is ERROR afterwards
 * @reset: reset TCP. Otherwise our FIN follows the data that TCP has taken, so
 *	that each completed Send arrives, and the socket lingers
 * @status: negative errno for the CM's event, when that is still due
 *
 * Phases: 1 the state keeps posts and upcalls out; 2 the transmit owner
 * leaves, the last upcall ends, and the send queue is flushed; 3 the
 * connection is released; 4 both queues are flushed; 5 the CM gets its event.
 * All phases are complete when this returns.
 *
 * Context: process, may sleep; takes conn_lock and the socket lock.
 */
void iwm_qp_disconnect(struct iwm_qp *qp, bool reset, int status)
{
	enum iwm_qp_state from;

	might_sleep();
	iwm_qp_move(qp, IWM_QP_ERROR, &from);
	iwm_sq_stop(qp, true);
	mutex_lock(&qp->conn_lock);
	release_conn(qp, reset);
	iwm_qp_rx_end(qp);
	mutex_unlock(&qp->conn_lock);
	iwm_sq_stop(qp, true);
	iwm_qp_finish(qp, status);
}

/**
 * iwm_qp_die() - the QP is being destroyed
 * @qp: queue pair
 *
 * Outstanding work requests get no completion any more, and no new work is
 * queued.
 *
 * Context: process, may sleep; takes conn_lock and the socket lock.
 */
void iwm_qp_die(struct iwm_qp *qp)
{
	spin_lock_bh(&qp->lock);
	WRITE_ONCE(qp->dying, true);
	spin_unlock_bh(&qp->lock);
	iwm_qp_disconnect(qp, false, -ECONNABORTED);
	cancel_delayed_work_sync(&qp->close_work);
}

/*
 * Stop sending, and send our FIN. In CLOSING, receiving goes on until the peer
 * has closed or is late; unfinished work requests are flushed after that.
 * Without a connection (the Reply could not be sent) they are flushed at once.
 */
static void qp_shut_down(struct iwm_qp *qp, enum iwm_qp_state state)
{
	bool wait;

	iwm_sq_stop(qp, state != IWM_QP_CLOSING);
	mutex_lock(&qp->conn_lock);
	iwm_qp_send_fin(qp);
	wait = qp->fin_sent;
	mutex_unlock(&qp->conn_lock);
	if (wait)
		iwm_qp_queue_close(qp, IWM_CLOSE_MAX_MS);
	else if (state == IWM_QP_CLOSING)
		iwm_qp_disconnect(qp, false, -ECONNABORTED);
	/* A fault since then: iwm_sq_stop() may have sent its Terminate. */
	if (READ_ONCE(qp->state) == IWM_QP_TERMINATE)
		iwm_qp_terminated(qp);
}

/* Release the connection of a failed startup. */
static void drop_dead_conn(struct iwm_qp *qp)
{
	mutex_lock(&qp->conn_lock);
	if (!READ_ONCE(qp->cep)) {
		/* The owner may hold the last reference, and may not sleep. */
		iwm_sq_pause(qp);
		iwm_qp_drop_conn(qp);
		iwm_sq_resume(qp);
	}
	mutex_unlock(&qp->conn_lock);
}

/* After a fault no upcall reports the peer's FIN: TCP knows of it. */
static bool peer_has_closed(struct iwm_qp *qp)
{
	struct mpa_conn *conn = iwm_qp_conn_get(qp);
	bool closed;

	if (!conn)
		return false;
	closed = mpa_peer_has_closed(conn);
	mpa_conn_put(conn);
	return closed;
}

/*
 * Our Terminate or FIN is being sent: wait for the peer. A peer that is late at
 * an orderly end, or has closed, may only be slow to take our data: TCP then
 * goes on without us.
 */
static void wait_for_peer(struct iwm_qp *qp)
{
	bool reset = READ_ONCE(qp->state) != IWM_QP_CLOSING &&
		     !peer_has_closed(qp);
	long left;

	smp_rmb();	/* pairs with iwm_qp_send_fin() */
	left = READ_ONCE(qp->deadline) - jiffies;
	if (left > 0)
		iwm_qp_queue_close_jiffies(qp, left);
	else
		iwm_qp_disconnect(qp, reset, -ETIMEDOUT);
}

static bool close_is_late(const struct iwm_qp *qp)
{
	return time_after_eq(jiffies, READ_ONCE(qp->deadline));
}

/*
 * On InfiniBand a QP does not notice that its peer is gone until it sends. A QP
 * that was connected by hand behaves so: it stays in RTS, with its receives, and
 * ends when there is something to send.
 */
static void peer_left_step(struct iwm_qp *qp)
{
	if (iwm_sq_idle(qp))
		return;
	if (!close_is_late(qp)) {
		iwm_qp_queue_close(qp, DRAIN_POLL_MS);
		return;
	}
	iwm_sq_fail_first(qp, SIW_WC_GENERAL_ERR);
	iwm_qp_disconnect(qp, false, -ECONNRESET);
}

/*
 * The next step of closing: wait for the send queue, send our FIN, and
 * disconnect when the peer has not closed in time.
 */
static void close_step(struct iwm_qp *qp)
{
	/* Pairs with set_state(): the deadline belongs to the state. */
	enum iwm_qp_state state = smp_load_acquire(&qp->state);

	/* Pairs with peer_leaves(): the deadline is set */
	if (state == IWM_QP_RTS && smp_load_acquire(&qp->peer_left))
		peer_left_step(qp);
	else if (state == IWM_QP_IDLE)
		drop_dead_conn(qp);
	else if (state == IWM_QP_TERMINATE || READ_ONCE(qp->fin_sent))
		wait_for_peer(qp);
	else if (state == IWM_QP_CLOSING && !iwm_sq_idle(qp) &&
		 !close_is_late(qp))
		iwm_qp_queue_close(qp, DRAIN_POLL_MS);
	else if (state != IWM_QP_RTS)
		qp_shut_down(qp, state);
}

/* iwm_qp.close_work: one step at a time */
void iwm_qp_close_work(struct work_struct *work)
{
	close_step(container_of(to_delayed_work(work), struct iwm_qp,
				close_work));
}

/* ---- For modify_qp ---- */

/**
 * iwm_qp_reset() - modify_qp to RESET
 * @qp: queue pair; its state is IDLE afterwards, unless another caller
 *	changes it meanwhile
 *
 * Context: process, may sleep; takes conn_lock and the socket lock.
 */
void iwm_qp_reset(struct iwm_qp *qp)
{
	enum iwm_qp_state from;

	/*
	 * Only an ERROR whose end has been completed here may become IDLE. A
	 * concurrent caller may have just begun another.
	 */
	if (READ_ONCE(qp->state) == IWM_QP_IDLE && !READ_ONCE(qp->cep))
		return;
	iwm_qp_disconnect(qp, false, -ECONNABORTED);
	iwm_qp_move(qp, IWM_QP_IDLE, &from);
}

/**
 * iwm_qp_close() - modify_qp to SQD: close in order
 * @qp: queue pair
 *
 * Sends posted work requests first, then a FIN. Does not wait for that. After
 * the connection has ended, flushes receives that a program has posted since.
 *
 * Context: process, may sleep; takes conn_lock and the socket lock.
 * Return: 0, or -EINVAL in IDLE: there is nothing to close.
 */
int iwm_qp_close(struct iwm_qp *qp)
{
	enum iwm_qp_state from;

	if (iwm_qp_move(qp, IWM_QP_CLOSING, &from)) {
		close_step(qp);
		return 0;
	}
	if (from == IWM_QP_IDLE)
		return -EINVAL;
	/*
	 * A program may have posted receives since then, without a call. Either
	 * iwm_qp_rx_end() sees them, or we see @rx_ended.
	 */
	smp_mb();
	if (READ_ONCE(qp->rx_ended))
		iwm_sq_doorbell(qp);
	return 0;
}

/* ---- Upcalls of MPA. Context: socket lock held, softirq or process. ---- */

/*
 * The peer of a QP that was connected by hand has closed in order. A step that
 * follows, and each post, look whether there is anything to send.
 */
static void peer_leaves(struct iwm_qp *qp)
{
	WRITE_ONCE(qp->deadline, jiffies + msecs_to_jiffies(PEER_LEFT_MS));
	/* Pairs with peer_left_step(), sq_may_transmit() and iwm_post_send() */
	smp_store_release(&qp->peer_left, true);
	iwm_qp_queue_close(qp, 0);
}

/* TCP's receive direction has ended, or TCP is lost. */
static void tcp_lost(struct iwm_qp *qp, int status)
{
	enum iwm_qp_state from;

	if (READ_ONCE(qp->state) == IWM_QP_IDLE) {
		iwm_qp_tell_cm(qp, status ? status : -ECONNRESET);
		return;
	}
	if (!status && READ_ONCE(qp->by_hand) &&
	    READ_ONCE(qp->state) == IWM_QP_RTS) {
		peer_leaves(qp);
		return;
	}
	if (status && READ_ONCE(qp->by_hand))
		iwm_sq_fail_first(qp, SIW_WC_GENERAL_ERR);
	if (iwm_qp_move(qp, IWM_QP_ERROR, &from))
		iwm_qp_queue_close(qp, 0);
	if (status && iwm_qp_is_up(from))
		iwm_qp_event(qp, IB_EVENT_QP_FATAL);
	iwm_qp_rx_end(qp);
	iwm_qp_finish(qp, status);
}

void iwm_qp_upcall_closed(void *consumer, enum mpa_error err, int status)
{
	const struct rdmap_fault fault = {
		.err.layer = TERM_LAYER_LLP,
		.err.etype = LLP_ETYPE_MPA,
		.err.ecode = err,
	};
	struct iwm_qp *qp = consumer;

	if (err != MPA_ERR_CRC && err != MPA_ERR_MARKER) {
		tcp_lost(qp, status);
		return;
	}
	/* TCP is intact: tell the peer the reason. */
	iwm_qp_error(qp, &fault);
	iwm_qp_rx_end(qp);
}

/* Both directions of TCP have ended: there is nothing left to wait for. */
void iwm_qp_upcall_gone(void *consumer)
{
	struct iwm_qp *qp = consumer;

	if (READ_ONCE(qp->state) == IWM_QP_ERROR && READ_ONCE(qp->fin_sent))
		cancel_delayed_work(&qp->close_work);
}

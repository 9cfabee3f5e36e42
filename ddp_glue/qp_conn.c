// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs and their connections: connect and accept, and the upcalls of
 * MPA. qp_end.c has the end.
 *
 * tests/prove/starting.pml is a model of the start of a connection.
 */
#include <mpa/negotiate.h>
#include "cep.h"
#include "qp_conn.h"
#include "qp_end.h"
#include "qp_state.h"
#include "recv.h"
#include "sq_send.h"

/* ---- Upcalls of MPA. Context: socket lock held, softirq or process. ---- */

static int upcall_receive(void *consumer, struct mpa_cursor *cur, u32 len)
{
	struct iwm_qp *qp = consumer;
	int ret = -ENOTCONN;

	if (likely(iwm_qp_is_up(READ_ONCE(qp->state)))) {
		if (likely(iwm_receive_quick(qp, cur, len)))
			return 0;
		ret = iwm_receive(qp, cur, len);
		if (unlikely(ret == -EAGAIN))
			return ret;
	}
	/* Pairs with set_state(): iwm_qp_rx_end() looks at what precedes it. */
	if (unlikely(ret) && smp_load_acquire(&qp->state) != IWM_QP_IDLE)
		iwm_qp_rx_end(qp);
	return ret;
}

static int upcall_place(void *consumer, struct mpa_cursor *cur, u32 len,
			u8 *hdr)
{
	struct iwm_qp *qp = consumer;

	if (!iwm_qp_is_up(READ_ONCE(qp->state)))
		return 0;
	return iwm_place_early(qp, cur, len, hdr);
}

static void upcall_writable(void *consumer)
{
	iwm_sq_kick(consumer);
}

static void upcall_idle(void *consumer)
{
	struct iwm_qp *qp = consumer;

	set_bit(IWM_SQ_REST, &qp->sq->flags);
	iwm_sq_kick(qp);
}

/* Detach the cep from the QP, if it is still attached. */
static void unclaim_cep(struct iwm_qp *qp)
{
	struct iwm_cep *cep = iwm_qp_take_cep(qp);

	if (cep)
		iwm_cep_put(cep);
}

/*
 * The error that a Terminate reports for a failure of startup: RFC 6581 section
 * 8. The code for "any error locally" exists only in the enhanced protocol
 * (section 9.3): a peer with another revision gets RDMAP's.
 */
static struct rdmap_fault startup_fault(const struct iwm_qp *qp, int status)
{
	struct rdmap_fault fault = {
		.err.layer = TERM_LAYER_LLP,
		.err.etype = LLP_ETYPE_MPA,
		.err.ecode = MPA_ERR_LOCAL,
	};

	if (status == -ENOBUFS)
		fault.err.ecode = MPA_ERR_IRD;
	else if (status == -ENOPROTOOPT)
		fault.err.ecode = MPA_ERR_RTR;
	else if (qp->agreed.rev < MPA_REV_ENHANCED)
		fault.err = (struct rdmap_error) {
			.layer = TERM_LAYER_RDMAP,
			.etype = RDMAP_ETYPE_LOCAL,
		};
	return fault;
}

/*
 * The peer has accepted, but its Reply is refused. Send the Terminate before
 * the CM gets its event, because the event may make the consumer destroy the
 * QP.
 */
static void refuse_reply(struct iwm_qp *qp, struct iwm_cep *cep, int status,
			 const struct mpa_offer *peer)
{
	struct rdmap_fault fault = startup_fault(qp, status);

	iwm_cep_refuse(cep, status, peer);
	iwm_qp_refuse(qp, cep, &fault);
}

/* Startup has succeeded, but the CM could not report that. */
static void abandon_startup(struct iwm_qp *qp)
{
	struct rdmap_fault fault = startup_fault(qp, -ENOMEM);

	unclaim_cep(qp);
	if (READ_ONCE(qp->state) == IWM_QP_RTS)
		iwm_qp_error(qp, &fault);
	else
		iwm_qp_queue_close(qp, 0);
}

/* Startup has failed, and the peer gets no Terminate. */
static void connect_failed(struct iwm_qp *qp, struct iwm_cep *cep, int status,
			   const struct mpa_offer *peer, const void *pd)
{
	if (iwm_cep_retry(cep, status))
		return;
	unclaim_cep(qp);	/* the consumer may connect again at once */
	iwm_cep_reply(cep, status, peer, NULL, pd);
	iwm_qp_queue_close(qp, 0);
}

static void reply_accepted(struct iwm_qp *qp, struct iwm_cep *cep, int status,
			   const struct mpa_offer *peer, const void *pd)
{
	const struct mpa_agreed *agreed = &qp->agreed;

	if (!status)
		status = iwm_cep_check_reply(cep, peer, pd);
	if (status) {
		refuse_reply(qp, cep, status, peer);
		return;
	}
	status = iwm_qp_enter_rts(qp, agreed->ird, agreed->ord, agreed->rtr);
	if (iwm_cep_reply(cep, status, peer, agreed, pd))
		abandon_startup(qp);
}

/* The Initiator's startup is over. */
static void upcall_reply(void *consumer, int status,
			 const struct mpa_offer *peer,
			 const struct mpa_agreed *agreed, const void *pd)
{
	struct iwm_qp *qp = consumer;
	struct iwm_cep *cep = iwm_qp_cep_get(qp);

	if (!cep)
		return;		/* disconnected meanwhile */
	if (agreed) {
		qp->agreed = *agreed;
		reply_accepted(qp, cep, status, peer, pd);
	} else {
		connect_failed(qp, cep, status, peer, pd);
	}
	iwm_cep_put(cep);
}

/* The QP is the consumer from mpa_connect() or mpa_accept() on. */
static const struct mpa_consumer_ops qp_ops = {
	.reply		= upcall_reply,
	.receive	= upcall_receive,
	.place		= upcall_place,
	.receive_done	= iwm_receive_done,
	.writable	= upcall_writable,
	.idle		= upcall_idle,
	.closed		= iwm_qp_upcall_closed,
	.gone		= iwm_qp_upcall_gone,
};

static struct mpa_consumer consumer_of(struct iwm_qp *qp)
{
	return (struct mpa_consumer) {
		.ops = &qp_ops,
		.arg = qp,
		.mib = qp->dev->mpa_mib,
	};
}

/* ---- Connecting, for cm.c ---- */

static void take_on_cep(struct iwm_qp *qp, struct iwm_cep *cep)
{
	lockdep_assert_held(&qp->lock);
	WRITE_ONCE(qp->by_hand, cep->by_hand);
	iwm_rx_set_rights(qp);
	/* Pairs with iwm_qp_starts_by_hand() */
	smp_store_release(&qp->cep, cep);
}

/* Attach @cep to the QP, which can have one at a time; NULL only checks. */
static int attach_cep(struct iwm_qp *qp, struct iwm_cep *cep)
{
	int ret = 0;

	spin_lock_bh(&qp->lock);
	if (qp->cep)
		ret = -EISCONN;
	else if (qp->state != IWM_QP_IDLE || qp->used)
		ret = -EINVAL;
	else if (cep)
		take_on_cep(qp, cep);
	spin_unlock_bh(&qp->lock);
	return ret;
}

/*
 * Attach a cep to the QP, and make room for the Reads of @params. The transmit
 * owner is paused. modify_qp may end the QP meanwhile.
 */
static int claim_cep(struct iwm_qp *qp, struct iwm_cep *cep,
		     const struct mpa_params *params)
{
	int ret;

	lockdep_assert_held(&qp->conn_lock);
	ret = attach_cep(qp, NULL);
	if (ret)
		return ret;
	/* That of a failed attempt */
	iwm_qp_drop_conn(qp);
	ret = iwm_sq_set_depths(qp, params->ird, params->ord);
	if (ret)
		return ret;
	iwm_cep_get(cep);
	ret = attach_cep(qp, cep);
	if (ret)
		iwm_cep_put(cep);
	return ret;
}

/*
 * A connection begins: its upcalls may run before qp->conn is set. Keep other
 * transmit owners out until it is set or the attempt has failed: without a
 * connection an owner would flush without waiting for those upcalls.
 */
static void begin_conn(struct iwm_qp *qp)
{
	mutex_lock(&qp->conn_lock);
	iwm_sq_pause(qp);
}

static void publish_conn(struct iwm_qp *qp, struct mpa_conn *conn)
{
	lockdep_assert_held(&qp->conn_lock);
	spin_lock_bh(&qp->lock);
	WRITE_ONCE(qp->conn, conn);
	spin_unlock_bh(&qp->lock);
}

/* Kick the owner if work has waited for the connection. */
static void kick_waiting(struct iwm_qp *qp)
{
	if (READ_ONCE(qp->sq->flags) || !iwm_sq_idle(qp))
		iwm_sq_kick(qp);
}

/* End begin_conn(). @begun: whether the connection is published */
static void end_begin(struct iwm_qp *qp, bool begun)
{
	iwm_sq_resume(qp);
	mutex_unlock(&qp->conn_lock);
	if (begun)
		kick_waiting(qp);
}

static int start_conn(struct iwm_qp *qp, const struct mpa_attempt *attempt)
{
	struct mpa_consumer consumer = consumer_of(qp);
	struct mpa_conn *conn = mpa_connect(attempt, &consumer);

	if (IS_ERR(conn))
		return PTR_ERR(conn);
	publish_conn(qp, conn);
	return 0;
}

/* As start_conn(), for an attempt that no other follows when it fails at once. */
static int start_last_conn(struct iwm_qp *qp, const struct mpa_attempt *attempt)
{
	int ret = start_conn(qp, attempt);

	if (ret)
		unclaim_cep(qp);
	return ret;
}

/**
 * iwm_qp_connect() - connect a queue pair as Initiator
 * @qp: queue pair in IDLE
 * @cep: endpoint that gets the reports; the QP holds a reference until the end
 *	is reported
 * @attempt: addresses and parameters
 *
 * Context: process, may sleep, does not wait for the network.
 * Return: 0: iwm_cep_reply() follows or has been called already. -EISCONN when
 * the QP is busy, -EINVAL when it was used before, -ENOMEM, or an errno of
 * mpa_connect().
 */
int iwm_qp_connect(struct iwm_qp *qp, struct iwm_cep *cep,
		   const struct mpa_attempt *attempt)
{
	int ret;

	begin_conn(qp);
	ret = claim_cep(qp, cep, &attempt->params);
	if (!ret) {
		qp->responder = false;
		ret = start_last_conn(qp, attempt);
	}
	end_begin(qp, !ret);
	return ret;
}

/* Does @cep's startup go on? */
static bool is_starting(struct iwm_qp *qp, const struct iwm_cep *cep)
{
	bool ret;

	lockdep_assert_held(&qp->conn_lock);
	spin_lock_bh(&qp->lock);
	ret = qp->cep == cep && qp->state == IWM_QP_IDLE;
	spin_unlock_bh(&qp->lock);
	return ret;
}

/**
 * iwm_qp_fallback() - connect a second time, after the first attempt has failed
 * @qp: queue pair
 * @cep: that of iwm_qp_connect(), after iwm_cep_retry()
 * @attempt: addresses and parameters; its startup gets the time that is left of
 *	the first attempt's
 *
 * Context: process, may sleep, does not wait for the network.
 * Return: 0: iwm_cep_reply() follows, or @cep was disconnected meanwhile.
 * -ETIMEDOUT when no time is left, or an errno of mpa_connect().
 */
int iwm_qp_fallback(struct iwm_qp *qp, struct iwm_cep *cep,
		    struct mpa_attempt *attempt)
{
	int ret = 0, bound;

	begin_conn(qp);
	if (!is_starting(qp, cep) || !qp->conn)
		goto out;
	attempt->params.startup_ms = mpa_startup_left(qp->conn);
	/* No BPF program of the caller's cgroup binds the next socket. */
	bound = mpa_conn_bound(qp->conn);
	if (bound)
		attempt->params.vrf = bound;
	iwm_qp_drop_conn(qp);
	if (attempt->params.startup_ms) {
		ret = start_last_conn(qp, attempt);
	} else {
		ret = -ETIMEDOUT;
		unclaim_cep(qp);
	}
out:
	end_begin(qp, !ret);
	return ret;
}

/* @answer's depths are within those of claim_cep(). */
static int accept_conn(struct iwm_qp *qp, struct mpa_conn *conn,
		       const struct mpa_answer *answer)
{
	struct mpa_consumer consumer = consumer_of(qp);
	int ret;

	lockdep_assert_held(&qp->conn_lock);
	qp->responder = true;
	ret = iwm_qp_enter_rts(qp, answer->params.ird, answer->params.ord, 0);
	if (ret)
		return ret;
	ret = mpa_accept(conn, answer, &consumer, &qp->agreed);
	if (ret)
		iwm_qp_leave_rts(qp);
	else
		publish_conn(qp, conn);
	return ret;
}

/**
 * iwm_qp_accept() - accept a connection with a queue pair, as Responder
 * @qp: queue pair in IDLE
 * @cep: endpoint that gets the report of the end
 * @conn: undecided connection, which becomes the QP's on success
 * @answer: the answer; its ORD is within the peer's IRD
 *
 * The QP is in RTS before the Reply is sent, because the peer may answer at
 * once. iwm_cep_closed() may be called before this returns. @qp->agreed is set
 * by then.
 *
 * Context: process, may sleep; takes the socket lock.
 * Return: 0, -EISCONN, -EINVAL, or an errno of mpa_accept(): after an error the
 * caller must destroy @conn.
 */
int iwm_qp_accept(struct iwm_qp *qp, struct iwm_cep *cep,
		  struct mpa_conn *conn, const struct mpa_answer *answer)
{
	int ret;

	begin_conn(qp);
	ret = claim_cep(qp, cep, &answer->params);
	if (!ret) {
		ret = accept_conn(qp, conn, answer);
		if (ret)
			unclaim_cep(qp);
	}
	end_begin(qp, !ret);
	return ret;
}

/* ---- Connecting by hand, for hand.c ---- */

/**
 * iwm_qp_expect() - the program waits for its peer's connection
 * @qp: queue pair in IDLE
 * @cep: endpoint; the QP holds a reference until the end is reported
 * @params: largest IRD and ORD that iwm_qp_answer() may be given
 *
 * Context: process, may sleep. Return: 0, -EISCONN, -EINVAL, -ENOMEM.
 */
int iwm_qp_expect(struct iwm_qp *qp, struct iwm_cep *cep,
		  const struct mpa_params *params)
{
	int ret;

	begin_conn(qp);
	ret = claim_cep(qp, cep, params);
	end_begin(qp, false);
	return ret;
}

/**
 * iwm_qp_answer() - as iwm_qp_accept(), after iwm_qp_expect()
 * @qp: queue pair; it goes on waiting after an error
 * @cep: that of iwm_qp_expect()
 * @conn: see iwm_qp_accept()
 * @answer: see iwm_qp_accept()
 *
 * Context: process, may sleep; takes the socket lock.
 * Return: 0, -ECONNABORTED when the wait has ended, or an errno of mpa_accept():
 * after an error the caller must destroy @conn.
 */
int iwm_qp_answer(struct iwm_qp *qp, struct iwm_cep *cep,
		  struct mpa_conn *conn, const struct mpa_answer *answer)
{
	int ret = -ECONNABORTED;

	begin_conn(qp);
	if (is_starting(qp, cep))
		ret = accept_conn(qp, conn, answer);
	end_begin(qp, !ret);
	return ret;
}

/**
 * iwm_qp_try_again() - connect once more, after a failure
 * @qp: queue pair
 * @cep: that of iwm_qp_connect(), after iwm_cep_retry()
 * @attempt: addresses and parameters
 *
 * Context: process, may sleep, does not wait for the network.
 * Return: 0: iwm_cep_retry() or iwm_cep_reply() follows, or the QP has ended.
 * Otherwise an errno of mpa_connect(): @cep stays the QP's.
 */
int iwm_qp_try_again(struct iwm_qp *qp, struct iwm_cep *cep,
		     const struct mpa_attempt *attempt)
{
	int ret = 0;

	begin_conn(qp);
	if (is_starting(qp, cep)) {
		iwm_qp_drop_conn(qp);
		ret = start_conn(qp, attempt);
	}
	end_begin(qp, !ret);
	return ret;
}

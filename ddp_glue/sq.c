// SPDX-License-Identifier: GPL-2.0
/*
 * The send queue: notes for the transmit owner, the ring, the FIFO of work
 * requests that were taken from it, their completion, and the Reads that both
 * sides have outstanding.
 */
#include <linux/slab.h>
#include "cq.h"
#include "mem.h"
#include "mmap.h"
#include "qp_ref.h"
#include "qp_state.h"
#include "sq.h"
#include "trace.h"
#include "work.h"

/* Receives that are posted after the end are collected for so long. */
#define SQ_LATE_RECEIVES_NS	NSEC_PER_MSEC
/* Work requests that complete while softirqs have to wait */
#define SQ_COMPLETE_MAX		1024

/* ---- Notes for the transmit owner ---- */

/**
 * iwm_sq_kick() - make the transmit owner look again
 * @qp: QP
 *
 * Called by mpa_consumer_ops.writable(), among others. Context: any.
 */
void iwm_sq_kick(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;

	/*
	 * Pairs with own_look(): an owner that sees IWM_SQ_AGAIN also sees the
	 * change that it is set for. IWM_SQ_AGAIN and IWM_SQ_OWNED are in one
	 * word, so that their order needs no barrier.
	 */
	smp_mb__before_atomic();
	set_bit(IWM_SQ_AGAIN, &sq->flags);
	if (!test_bit(IWM_SQ_OWNED, &sq->flags))
		queue_work(iwm_work_queue(qp->user), &sq->work);
}

/* Have the worker answer Reads of the peer. Context: any. */
void iwm_sq_kick_responses(struct iwm_qp *qp)
{
	if (iwm_sq_responses(qp->sq))
		iwm_sq_kick(qp);
}

/* Kick the owner in @ns, or when the burst timer fires if it runs already. */
void iwm_sq_defer(struct iwm_sq *sq, u64 ns)
{
	if (!test_and_set_bit(IWM_SQ_DEFERRED, &sq->flags))
		hrtimer_start(&sq->burst_timer, ns_to_ktime(ns),
			      HRTIMER_MODE_REL_SOFT);
}

/**
 * iwm_sq_flush_receives() - flush receives that were posted after the end
 * @qp: QP of a kernel consumer, whose @rx_ended is set
 *
 * The worker flushes them after a moment. If they were completed within
 * ib_post_recv(), a consumer that posts buffers as long as it has any, and gets
 * them back in its completion handler, would never leave its loop.
 *
 * Context: any.
 */
void iwm_sq_flush_receives(struct iwm_qp *qp)
{
	iwm_sq_defer(qp->sq, SQ_LATE_RECEIVES_NS);
}

/**
 * iwm_sq_fail_first() - the QP is about to end by a fault of its peer
 * @qp: QP that was connected by hand, or was to be
 * @status: SIW_WC_REM_ACCESS_ERR when the peer has refused access to its memory,
 *	else SIW_WC_GENERAL_ERR: libsiw's ABI does not have
 *	IB_WC_RETRY_EXC_ERR
 *
 * The first work request that has not finished gets the status of the first call,
 * as on InfiniBand, unless another one has failed before.
 *
 * Context: any, before the flush begins.
 */
void iwm_sq_fail_first(struct iwm_qp *qp, enum siw_wc_status status)
{
	struct iwm_sq *sq = qp->sq;

	if (READ_ONCE(sq->first_flushed) == SIW_WC_WR_FLUSH_ERR)
		WRITE_ONCE(sq->first_flushed, status);
}

static enum hrtimer_restart burst_end(struct hrtimer *timer)
{
	struct iwm_sq *sq = container_of(timer, struct iwm_sq, burst_timer);

	/* Cleared before the kick, which covers posters that found it set. */
	clear_bit(IWM_SQ_DEFERRED, &sq->flags);
	iwm_sq_kick(sq->qp);
	return HRTIMER_NORESTART;
}

/* Set IWM_SQ_NO_MEMORY or IWM_SQ_REFLUSH for @ns. Context: owner. */
void iwm_sq_back_off(struct iwm_sq *sq, unsigned int bit, u64 ns)
{
	set_bit(bit, &sq->flags);
	hrtimer_start(&sq->retry_timer, ns_to_ktime(ns), HRTIMER_MODE_REL_SOFT);
}

static enum hrtimer_restart sq_retry(struct hrtimer *timer)
{
	struct iwm_sq *sq = container_of(timer, struct iwm_sq, retry_timer);

	/* Cleared before the kick: see sq_run(). */
	clear_bit(IWM_SQ_NO_MEMORY, &sq->flags);
	clear_bit(IWM_SQ_REFLUSH, &sq->flags);
	iwm_sq_kick(sq->qp);
	return HRTIMER_NORESTART;
}

/**
 * iwm_sq_flush() - flush all work requests, present and later ones
 * @qp: QP in TERMINATE or ERROR, which places no incoming data
 *
 * Work requests that TCP has taken complete with their own status, until one has
 * failed. Context: any.
 */
void iwm_sq_flush(struct iwm_qp *qp)
{
	/* Pairs with end_receiving(): later upcalls see the state. */
	smp_mb__before_atomic();
	set_bit(IWM_SQ_FLUSH, &qp->sq->flags);
	iwm_sq_kick(qp);
}

/**
 * iwm_sq_break() - end a QP after a lost completion or a failed Read
 * @qp: QP; the owner puts it into error, without the caller's locks
 *
 * Context: any.
 */
void iwm_sq_break(struct iwm_qp *qp)
{
	set_bit(IWM_SQ_BROKEN, &qp->sq->flags);
	iwm_sq_kick(qp);
}

/**
 * iwm_sq_terminate() - send a Terminate as the last message
 * @qp: QP
 * @fault: the error that it reports
 *
 * The owner calls iwm_qp_terminated() when the Terminate has been handed over
 * or cannot be sent. Called once: the caller has moved the QP to TERMINATE.
 *
 * Context: any.
 */
void iwm_sq_terminate(struct iwm_qp *qp, const struct rdmap_fault *fault)
{
	struct iwm_sq *sq = qp->sq;

	sq->term_len = rdmap_terminate_build(sq->term, fault);
	/* Pairs with sq_serve(): the body is complete */
	smp_mb__before_atomic();
	set_bit(IWM_SQ_TERMINATE, &sq->flags);
	iwm_sq_kick(qp);
}

/* Is nothing posted, being sent or owed? Context: any; a snapshot. */
bool iwm_sq_idle(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;

	return !test_bit(IWM_SQ_OWNED, &sq->flags) && !iwm_sq_posted(sq) &&
	       READ_ONCE(sq->fifo_get) == READ_ONCE(sq->fifo_put) &&
	       READ_ONCE(sq->msg.kind) == IWM_MSG_NONE && !iwm_sq_responses(sq) &&
	       !READ_ONCE(qp->rtr);
}

/* ---- Work requests ---- */

/* By hand, a Write completes when the peer has placed it. */
static bool wqe_confirmed(const struct iwm_sq *sq, const struct iwm_wqe *wqe,
			  u32 index)
{
	return wqe->opcode != SIW_OP_WRITE || !READ_ONCE(sq->qp->by_hand) ||
	       (s32)(sq->confirmed - index) > 0;
}

/* The peer has placed all Writes before @index. */
static void confirm(struct iwm_sq *sq, u32 index)
{
	lockdep_assert_held(&sq->lock);
	if ((s32)(index - sq->confirmed) > 0)
		sq->confirmed = index;
}

static bool wqe_finished(const struct iwm_sq *sq, const struct iwm_wqe *wqe,
			 u32 index)
{
	if (wqe->done)
		return true;
	return wqe->written && !iwm_sq_is_read(wqe->opcode) &&
	       READ_ONCE(sq->accepted) >= wqe->end &&
	       wqe_confirmed(sq, wqe, index);
}

/* The status of the next work request that is flushed. Context: owner. */
static u8 flush_status(const struct iwm_sq *sq)
{
	return sq->failed ? SIW_WC_WR_FLUSH_ERR : READ_ONCE(sq->first_flushed);
}

static void complete_wqe(struct iwm_qp *qp, const struct iwm_wqe *wqe)
{
	struct iwm_wc wc = {
		.id = wqe->id,
		.opcode = wqe->opcode,
		.status = wqe->status,
		.bytes = wqe->bytes,
		.posting = READ_ONCE(qp->sq->context) == IWM_SQ_POSTING,
	};

	if (READ_ONCE(qp->dying))
		return;		/* the consumer is destroying the QP */
	if (wqe->signalled || wqe->status != SIW_WC_SUCCESS)
		iwm_cq_add(qp->scq, qp, &wc);
	else
		trace_iwm_complete(qp, &wc, false);
}

/*
 * Is the entry given back to the poster? Its work request must not complete
 * earlier: the poster would find no room in the ring, and the owner would take
 * the old entry for a new one.
 */
static bool wqe_released(const struct iwm_sq *sq, u32 index)
{
	/* Pairs with iwm_sq_release(): the entry is given back */
	return (s32)(smp_load_acquire(&sq->released) - index) > 0;
}

/*
 * Complete finished work requests in order, and with @flush all others in
 * error. A failed work request completes with the flush that its failure
 * causes: until then the peer may still write to memory that was lent to it.
 * The owner also flushes the work requests behind it that TCP has taken: the
 * peer may have ended the stream before it got them. The lock is held while the
 * CQ is written, because two contexts may complete.
 * Return: true after SQ_COMPLETE_MAX completions: others may be due.
 */
bool iwm_sq_complete(struct iwm_qp *qp, bool flush)
{
	struct iwm_sq *sq = qp->sq;
	u32 left = SQ_COMPLETE_MAX;

	spin_lock_bh(&sq->lock);
	for (; left && sq->fifo_get != sq->fifo_put; left--) {
		struct iwm_wqe *wqe = iwm_sq_wqe(sq, sq->fifo_get);
		bool finished = wqe_finished(sq, wqe, sq->fifo_get) &&
				wqe_released(sq, sq->fifo_get);

		if (!flush && (!finished || wqe->status))
			break;
		if (!finished || (sq->failed && !wqe->status)) {
			wqe->status = flush_status(sq);
			wqe->bytes = 0;
		}
		sq->failed |= wqe->status != SIW_WC_SUCCESS;
		complete_wqe(qp, wqe);
		/* Pairs with may_start(): the FIFO entry has been read */
		smp_store_release(&sq->fifo_get, sq->fifo_get + 1);
	}
	/* Without Reads the place would fall behind, and compare as ahead. */
	confirm(sq, sq->fifo_get);
	spin_unlock_bh(&sq->lock);
	return !left;
}

/* Give entries back to the poster, except that of the message being sent. */
void iwm_sq_release(struct iwm_sq *sq)
{
	bool busy = sq->msg.kind == IWM_MSG_WQE || iwm_sq_has_rest(sq);
	u32 end = sq->get - busy, i;

	for (i = sq->released; i != end; i++)
		/* Pairs with the poster's acquire: we are done with it */
		smp_store_release(&iwm_sq_entry(sq, i)->flags, 0);
	/* Pairs with wqe_released() */
	smp_store_release(&sq->released, end);
	smp_mb();	/* before looking at the next entry: see sq.h */
}

/* For the completion: libsiw may index a table with the opcode. */
static u8 known_opcode(u8 opcode)
{
	return opcode < SIW_NUM_OPCODES ? opcode : SIW_OP_SEND;
}

u32 iwm_sq_push(struct iwm_sq *sq, const struct siw_sqe *sqe)
{
	struct iwm_wqe *wqe = iwm_sq_wqe(sq, sq->fifo_put);

	*wqe = (struct iwm_wqe) {
		.id = sqe->id,
		.opcode = known_opcode(sqe->opcode),
		.status = SIW_WC_SUCCESS,
		.signalled = (sqe->flags & SIW_WQE_SIGNALLED) ||
			     sq->qp->sig_all,
	};
	spin_lock_bh(&sq->lock);
	WRITE_ONCE(sq->fifo_put, sq->fifo_put + 1);
	spin_unlock_bh(&sq->lock);
	return sq->fifo_put - 1;
}

void iwm_sq_wqe_done(struct iwm_sq *sq, u32 index, enum siw_wc_status status)
{
	struct iwm_wqe *wqe = iwm_sq_wqe(sq, index);

	spin_lock_bh(&sq->lock);
	wqe->status = status;
	wqe->done = true;
	spin_unlock_bh(&sq->lock);
}

/* Skip an entry. The FIFO advances, too: both use the same indices. */
static void sq_skip(struct iwm_sq *sq)
{
	WRITE_ONCE(sq->get, sq->get + 1);
	spin_lock_bh(&sq->lock);
	WRITE_ONCE(sq->fifo_put, sq->fifo_put + 1);
	WRITE_ONCE(sq->fifo_get, sq->fifo_get + 1);
	spin_unlock_bh(&sq->lock);
}

/*
 * Wait until receiving has ended, before the first flush completion gives
 * memory back to the poster. The QP has left RTS and CLOSING, so that later
 * upcalls place nothing; this waits for an upcall that began earlier.
 * begin_conn() keeps owners out until a new connection is published, so that
 * without a connection here no upcall can be under way.
 */
static void end_receiving(struct iwm_qp *qp)
{
	struct mpa_conn *conn = iwm_qp_conn_get(qp);

	WARN_ON_ONCE(iwm_qp_is_up(READ_ONCE(qp->state)));
	if (!conn)
		return;
	mpa_wait_upcalls(conn);
	/* TCP may have taken more since the owner was stopped. */
	WRITE_ONCE(qp->sq->accepted, mpa_tx_accepted(conn));
	mpa_conn_put(conn);
}

/*
 * Complete everything in error: IWM_SQ_FLUSH is set. Each entry is given back
 * before its completion is visible: see wqe_released(). At most one round of
 * the ring, because user space can go on posting forever. True when there is
 * more.
 */
bool iwm_sq_flush_all(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;
	u32 left = sq->num;

	end_receiving(qp);
	sq->msg.kind = IWM_MSG_NONE;
	sq->rest.cur = sq->rest.num_sge;
	iwm_sq_release(sq);
	while (iwm_sq_complete(qp, true))
		cond_resched();
	while (iwm_sq_posted(sq) && left--) {
		const struct siw_sqe *sqe = iwm_sq_entry(sq, sq->get);
		struct iwm_wqe wqe = {
			.id = READ_ONCE(sqe->id),
			.opcode = known_opcode(READ_ONCE(sqe->opcode)),
			.status = flush_status(sq),
		};

		sq->failed = true;
		sq_skip(sq);
		iwm_sq_release(sq);
		complete_wqe(qp, &wqe);
		cond_resched();
	}
	return iwm_sq_posted(sq);
}

/**
 * iwm_sq_add_response() - queue a Read Request of the peer
 * @qp: QP
 * @rr: the request; its source has been checked
 *
 * Context: receive upcall. Return: 0, or -ENOBUFS when the peer has more
 * outstanding than the IRD in force.
 */
int iwm_sq_add_response(struct iwm_qp *qp, const struct rdmap_read *rr)
{
	struct iwm_sq *sq = qp->sq;

	/* Pairs with message_done(): the entry has been read */
	if (sq->irq_put - smp_load_acquire(&sq->irq_get) >= qp->ird)
		return -ENOBUFS;
	*iwm_sq_irq(sq, sq->irq_put) = *rr;
	/* Pairs with iwm_sq_responses(): the entry is complete */
	smp_store_release(&sq->irq_put, sq->irq_put + 1);
	return 0;
}

/* The Read whose Response is due next, or NULL. Context: receive upcall. */
const struct iwm_read_sink *iwm_sq_oldest_read(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;

	/* Pairs with prepare_read_request() */
	if (smp_load_acquire(&sq->orq_put) == sq->orq_get)
		return NULL;
	return &iwm_sq_orq(sq, sq->orq_get)->sink;
}

/**
 * iwm_sq_is_read_sink() - does this segment belong to an outstanding Read?
 * @qp: QP
 * @stag: STag of a Response's segment
 * @to: its Tagged Offset
 * @len: octets of payload
 * @asked: set to a cookie for iwm_sq_oldest_read_was_asked(), which the caller
 *	passes when the segment is delivered
 *
 * Context: receive upcall.
 * Return: whether the segment lies within the sink of an outstanding Read.
 */
bool iwm_sq_is_read_sink(struct iwm_qp *qp, u32 stag, u64 to, u32 len,
			 u32 *asked)
{
	struct iwm_sq *sq = qp->sq;
	/* Pairs with prepare_read_request() */
	u32 end = smp_load_acquire(&sq->orq_put), i;

	*asked = end;
	for (i = sq->orq_get; i != end; i++) {
		const struct iwm_read_sink *sink = &iwm_sq_orq(sq, i)->sink;

		if (sink->stag == stag && len <= sink->len &&
		    to - sink->to <= sink->len - len)
			return true;
	}
	return false;
}

/*
 * Was the Read whose Response is due outstanding when iwm_sq_is_read_sink() set
 * @asked? If not, the segment was placed for an earlier Read that has ended
 * since, and its octets do not count for this one, even if both have the same
 * sink. Context: receive upcall.
 */
bool iwm_sq_oldest_read_was_asked(const struct iwm_qp *qp, u32 asked)
{
	return (s32)(asked - qp->sq->orq_get) > 0;
}

/*
 * A Read of a work request has ended. The last one, or one that failed, ends
 * the work request. Return: its status if it ends, or SIW_WC_SUCCESS.
 */
static enum siw_wc_status wqe_read_done(struct iwm_qp *qp,
					const struct orq_entry *out,
					enum siw_wc_status status)
{
	struct iwm_wqe *wqe = iwm_sq_wqe(qp->sq, out->wqe);

	if (out->more && !status)
		return status;
	if (wqe->opcode == SIW_OP_READ_LOCAL_INV && !status &&
	    iwm_mr_invalidate_local(qp->dev, qp->ibqp.pd, wqe->lkey, false))
		status = SIW_WC_LOC_PROT_ERR;
	if (status)
		wqe->bytes = 0;
	iwm_sq_wqe_done(qp->sq, out->wqe, status);
	return status;
}

static void read_ended(struct iwm_qp *qp, u32 index, enum siw_wc_status peers)
{
	struct iwm_sq *sq = qp->sq;
	const struct orq_entry *out = iwm_sq_orq(sq, index);
	enum siw_wc_status status = peers;
	bool more;

	if (!out->own)
		status = wqe_read_done(qp, out, peers);
	/* A peer that refuses a Read has placed what came before it, too. */
	if (READ_ONCE(qp->by_hand)) {
		spin_lock_bh(&sq->lock);
		confirm(sq, out->wqe);
		spin_unlock_bh(&sq->lock);
	}
	if (!status)
		/* Pairs with iwm_sq_reads(): the entry is free */
		smp_store_release(&sq->orq_get, sq->orq_get + 1);
	more = iwm_sq_complete(qp, false);
	/*
	 * A full barrier, which pairs with iwm_msg_wait_read() and
	 * next_confirmation()
	 */
	if (test_and_clear_bit(IWM_SQ_WAIT_READ, &sq->flags) || more ||
	    unlikely(READ_ONCE(sq->unconfirmed)))
		iwm_sq_kick(qp);
	if (unlikely(status != peers))
		iwm_sq_break(qp);	/* as after any failed work request */
}

/**
 * iwm_sq_read_done() - the oldest outstanding Read has ended
 * @qp: QP
 * @status: its status. An error ends the stream: work requests that wait for
 *	this Read are flushed and not started
 *
 * Context: receive upcall.
 */
void iwm_sq_read_done(struct iwm_qp *qp, enum siw_wc_status status)
{
	read_ended(qp, qp->sq->orq_get, status);
}

/**
 * iwm_sq_read_refused() - the peer has refused a Read, and ends the stream
 * @qp: QP
 * @msn: Message Sequence Number of the Read Request. When no outstanding Read
 *	has it, the peer has not named the Read, and the oldest one fails
 *
 * Reads before that one are flushed, and all work requests behind it. Context:
 * receive upcall. Return: false when no Read is outstanding.
 */
bool iwm_sq_read_refused(struct iwm_qp *qp, u32 msn)
{
	struct iwm_sq *sq = qp->sq;
	u32 index = msn - 1;	/* MSNs count from 1, entries from 0 */
	/* Pairs with prepare_read_request() */
	u32 end = smp_load_acquire(&sq->orq_put);

	if (!iwm_sq_oldest_read(qp))
		return false;
	if (index - sq->orq_get >= end - sq->orq_get)
		index = sq->orq_get;
	read_ended(qp, index, SIW_WC_REM_ACCESS_ERR);
	return true;
}

void *iwm_sq_ring(struct iwm_qp *qp)
{
	return qp->sq->ring;
}

size_t iwm_sq_ring_size(struct iwm_qp *qp)
{
	return array_size(qp->sq->num, sizeof(struct siw_sqe));
}

static int sq_alloc_entries(struct iwm_sq *sq, gfp_t gfp)
{
	size_t more = (size_t)sq->num * (sq->max_sge - IWM_MAX_SGE);

	sq->ring = iwm_ring_alloc(array_size(sq->num, sizeof(*sq->ring)),
				  sq->qp->user);
	sq->fifo = kvcalloc(sq->num, sizeof(*sq->fifo), gfp);
	if (more)
		sq->more = kvcalloc(more, sizeof(*sq->more), gfp);
	return sq->ring && sq->fifo && (sq->more || !more) ? 0 : -ENOMEM;
}

static void sq_free_entries(struct iwm_sq *sq)
{
	iwm_ring_free(sq->ring);
	kvfree(sq->fifo);
	kvfree(sq->more);
}

/**
 * iwm_sq_create() - make the transmit side of a QP
 * @qp: QP, with @qp->user and @qp->cap set
 * @work: the worker, which becomes the transmit owner: iwm_sq_work()
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int iwm_sq_create(struct iwm_qp *qp, work_func_t work)
{
	u32 max_sge = max_t(u32, qp->cap.max_send_sge, IWM_MAX_SGE);
	gfp_t gfp = iwm_gfp(qp->user);
	struct iwm_sq *sq = kzalloc(struct_size(sq, sge, max_sge), gfp);
	int i;

	if (!sq)
		return -ENOMEM;
	sq->qp = qp;
	sq->num = qp->cap.max_send_wr;
	sq->first_flushed = SIW_WC_WR_FLUSH_ERR;
	sq->max_sge = max_sge;
	if (sq_alloc_entries(sq, gfp)) {
		sq_free_entries(sq);
		kfree(sq);
		return -ENOMEM;
	}
	spin_lock_init(&sq->post_lock);
	spin_lock_init(&sq->lock);
	INIT_WORK(&sq->work, work);
	hrtimer_setup(&sq->burst_timer, burst_end, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	hrtimer_setup(&sq->retry_timer, sq_retry, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	for (i = 0; i < RDMAP_NUM_QUEUES; i++)
		sq->msn[i] = 1;
	qp->sq = sq;
	return 0;
}

/**
 * iwm_sq_set_depths() - make room for the Reads that can be outstanding
 * @qp: QP without a connection
 * @ird: largest number of the peer's Reads that may be agreed on
 * @ord: largest number of our Reads that may be agreed on
 *
 * Makes room for at least one each: the RTR may be a Read.
 *
 * Context: process, conn_lock held, the owner paused. Return: 0 or -ENOMEM.
 */
int iwm_sq_set_depths(struct iwm_qp *qp, u32 ird, u32 ord)
{
	struct iwm_sq *sq = qp->sq;
	struct orq_entry *orq;

	ird = roundup_pow_of_two(max(ird, 1u));
	ord = roundup_pow_of_two(max(ord, 1u));
	orq = kzalloc(ord * sizeof(*sq->orq) + ird * sizeof(*sq->irq),
		      iwm_gfp(qp->user));
	if (!orq)
		return -ENOMEM;
	kfree(sq->orq);		/* of a failed attempt to connect */
	sq->orq = orq;
	sq->orq_mask = ord - 1;
	sq->irq = (struct rdmap_read *)(orq + ord);
	sq->irq_mask = ird - 1;
	return 0;
}

/**
 * iwm_sq_destroy() - free the transmit side of a QP
 * @qp: QP without a connection, after iwm_sq_stop() if it ever had one
 *
 * Mappings of a user ring hold its pages: these are freed with the last
 * mapping.
 * Context: process, may sleep.
 */
void iwm_sq_destroy(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;

	if (!sq)
		return;
	hrtimer_cancel(&sq->burst_timer);
	hrtimer_cancel(&sq->retry_timer);
	cancel_work_sync(&sq->work);
	sq_free_entries(sq);
	kfree(sq->orq);
	kfree(sq);
	qp->sq = NULL;
}

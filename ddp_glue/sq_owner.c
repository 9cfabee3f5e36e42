// SPDX-License-Identifier: GPL-2.0
/*
 * The transmit owner of a queue pair: one context at a time sends, flushes and
 * completes; any other context sets IWM_SQ_AGAIN and leaves. See sq.h.
 */
#include <linux/wait_bit.h>
#include "mem.h"
#include "qp_ref.h"
#include "qp_state.h"
#include "sq_send.h"
#include "trace.h"

/* The connection with a reference; NULL once the owner must not use it. */
static struct mpa_conn *sq_conn_get(struct iwm_qp *qp)
{
	if (test_bit(IWM_SQ_STOPPED, &qp->sq->flags))
		return NULL;
	return iwm_qp_conn_get(qp);
}

static enum sq_blocked sq_why_blocked(const struct iwm_sq *sq,
				      const struct mpa_conn *conn,
				      enum tx_result result)
{
	if (result == TX_RETRY)
		return IWM_SQ_BLOCKED_MEMORY;
	if (result == TX_BLOCKED) {
		if (mpa_tx_written(conn) != mpa_tx_accepted(conn))
			return IWM_SQ_BLOCKED_TCP;
		if (sq->msg.kind != IWM_MSG_NONE)
			return IWM_SQ_BLOCKED_STARTUP;
	}
	if (result == TX_IDLE && test_bit(IWM_SQ_WAIT_READ, &sq->flags))
		return IWM_SQ_BLOCKED_READ;
	return IWM_SQ_BLOCKED_NOT;
}

/* Trace when sending becomes blocked, and when it becomes unblocked. */
static void sq_note_blocked(struct iwm_sq *sq, enum sq_blocked why)
{
	if (likely(why == sq->blocked))
		return;
	if (sq->blocked)
		trace_iwm_sq_unblocked(sq->qp, sq->blocked);
	if (why)
		trace_iwm_sq_blocked(sq->qp, why);
	WRITE_ONCE(sq->blocked, why);
}

/* The connection was idle for a while: give back memory for FPDUs. */
static void sq_rest(struct iwm_sq *sq, struct mpa_conn *conn)
{
	clear_bit(IWM_SQ_REST, &sq->flags);
	if (conn)
		mpa_tx_rest(conn);
}

/*
 * A program may write its ring before its connect has ended. Its posts wait
 * until the depths are agreed on, and are sent after the RTR. What is posted when
 * the peer has left fails soon: see peer_left_step().
 */
static bool sq_may_transmit(const struct iwm_qp *qp)
{
	/* Pairs with set_state() */
	return smp_load_acquire(&qp->state) != IWM_QP_IDLE &&
	       !READ_ONCE(qp->peer_left) &&
	       !test_bit(IWM_SQ_FLUSH, &qp->sq->flags);
}

/*
 * Does a program's worker leave its work to the retry timer? No limit on CPU
 * time applies to it. The program's doorbell does the work at once, in its own
 * time.
 */
static bool backs_off(const struct iwm_qp *qp, unsigned int bit)
{
	return qp->sq->context == IWM_SQ_WORKER && qp->user &&
	       test_bit(bit, &qp->sq->flags);
}

/* Flush each ring once. Return: whether either ring may have more entries. */
static bool flush_rings(struct iwm_qp *qp)
{
	bool more = iwm_sq_flush_all(qp);

	return iwm_qp_flush_rq(qp) || more;
}

/*
 * A consumer could refill its rings, and ask for their flush, forever. So each
 * run flushes once and leaves the rest to the worker, which waits before it
 * flushes a program's rings again. Return: what the owner should do, or @result.
 */
static enum tx_result sq_flush(struct iwm_qp *qp, enum tx_result result)
{
	struct iwm_sq *sq = qp->sq;

	if (backs_off(qp, IWM_SQ_REFLUSH))
		return TX_RETRY;
	if (!flush_rings(qp) && !test_bit(IWM_SQ_AGAIN, &sq->flags))
		return result;
	if (!qp->user)
		return TX_BUDGET;
	/* Nobody wants completions of a dying QP, and its timer is cancelled. */
	if (READ_ONCE(qp->dying))
		return result;
	iwm_sq_back_off(sq, IWM_SQ_REFLUSH, IWM_SQ_REFLUSH_NS);
	return TX_BUDGET;
}

/*
 * Try again later. Each try of a program's worker may reclaim in a full cgroup,
 * so each delay is longer than the one before, until TCP has @taken something.
 * Storage, whose memory has reserves, does not wait longer.
 */
static void sq_no_memory(struct iwm_qp *qp, bool taken)
{
	struct iwm_sq *sq = qp->sq;

	if (taken || !qp->user)
		sq->tries = 0;
	if (test_bit(IWM_SQ_NO_MEMORY, &sq->flags))
		return;
	iwm_sq_back_off(sq, IWM_SQ_NO_MEMORY, IWM_SQ_NO_MEMORY_NS << sq->tries);
	if (sq->tries < IWM_SQ_MAX_DOUBLINGS)
		sq->tries++;
}

/* As iwm_sq_transmit(), while @conn may be used and has memory. */
static enum tx_result sq_transmit(struct iwm_qp *qp, struct mpa_conn *conn)
{
	struct iwm_sq *sq = qp->sq;
	u64 accepted = READ_ONCE(sq->accepted);
	enum tx_result result;

	if (!conn || !sq_may_transmit(qp)) {
		sq_note_blocked(sq, IWM_SQ_BLOCKED_NOT);
		return TX_IDLE;
	}
	if (backs_off(qp, IWM_SQ_NO_MEMORY))
		return TX_RETRY;
	result = iwm_sq_transmit(qp, conn);
	sq_note_blocked(sq, sq_why_blocked(sq, conn, result));
	if (result == TX_RETRY) {
		sq_no_memory(qp, READ_ONCE(sq->accepted) != accepted);
	} else {
		sq->tries = 0;
		if (unlikely(test_bit(IWM_SQ_NO_MEMORY, &sq->flags)))
			clear_bit(IWM_SQ_NO_MEMORY, &sq->flags);
	}
	return result;
}

/* Do the owner's work. True: the Terminate was sent, or can never be sent. */
static bool sq_serve(struct iwm_qp *qp, enum tx_result *result)
{
	struct mpa_conn *conn = sq_conn_get(qp);
	struct iwm_sq *sq = qp->sq;
	bool terminated = false;

	*result = sq_transmit(qp, conn);
	/* Pairs with iwm_sq_terminate(): the body is complete */
	if (test_bit_acquire(IWM_SQ_TERMINATE, &sq->flags)) {
		terminated = iwm_sq_send_terminate(qp, conn);
		if (terminated)
			clear_bit(IWM_SQ_TERMINATE, &sq->flags);
		else if (test_bit(IWM_SQ_NO_MEMORY, &sq->flags))
			*result = TX_RETRY;
	}
	if (test_bit(IWM_SQ_FLUSH, &sq->flags))
		*result = sq_flush(qp, *result);
	iwm_mr_drop_cache(&sq->mr);
	if (unlikely(test_bit(IWM_SQ_REST, &sq->flags)))
		sq_rest(sq, conn);
	if (conn)
		mpa_conn_put(conn);
	/* Still the owner: posts until it runs again are sent in one batch. */
	cond_resched();
	return terminated;
}

/* Release IWM_SQ_OWNED, and wake a caller of own_begin(). */
static void own_release(struct iwm_sq *sq)
{
	clear_bit_unlock(IWM_SQ_OWNED, &sq->flags);
	/* Pairs with own_begin(): release the bit, then read the claims */
	smp_mb__after_atomic();
	if (unlikely(atomic_read(&sq->claims)))
		wake_up_bit(&sq->flags, IWM_SQ_OWNED);
}

/*
 * Wait until the current owner releases IWM_SQ_OWNED, then take it. Meanwhile
 * the claim makes own_try() fail: threads that ring the doorbell again and
 * again could otherwise keep this caller from ever taking the bit.
 */
static void own_begin(struct iwm_sq *sq)
{
	might_sleep();
	atomic_inc(&sq->claims);
	smp_mb__after_atomic();	/* see own_release() */
	wait_on_bit_lock(&sq->flags, IWM_SQ_OWNED, TASK_UNINTERRUPTIBLE);
}

/* Kick the worker if there is @more, or if IWM_SQ_AGAIN is set. */
static void own_end(struct iwm_sq *sq, bool more)
{
	atomic_dec(&sq->claims);
	own_release(sq);
	if (more || test_bit(IWM_SQ_AGAIN, &sq->flags))
		iwm_sq_kick(sq->qp);
}

/*
 * Take IWM_SQ_OWNED if it is free and no context claims it. False: the current
 * owner, or own_end() of the claim, looks at IWM_SQ_AGAIN.
 */
static bool own_try(struct iwm_sq *sq)
{
	return likely(!atomic_read(&sq->claims)) &&
	       !test_and_set_bit_lock(IWM_SQ_OWNED, &sq->flags);
}

/*
 * Clear IWM_SQ_AGAIN before looking for work, so that later changes set it
 * again. Context: owner. Return: posts since the last call.
 */
static u32 own_look(struct iwm_sq *sq)
{
	struct iwm_gather *gather = &sq->gather;
	u32 seen = gather->seen;

	clear_bit(IWM_SQ_AGAIN, &sq->flags);
	/* Pairs with iwm_sq_kick() and gather_posted() */
	smp_mb__after_atomic();
	gather->seen = READ_ONCE(gather->posts);
	WRITE_ONCE(gather->octets_seen, READ_ONCE(gather->octets));
	return gather->seen - seen;
}

/* Is there work that needs an owner that may sleep? */
static bool needs_worker(const struct iwm_sq *sq)
{
	return sq->msg.kind != IWM_MSG_NONE ||
	       READ_ONCE(sq->flags) & (BIT(IWM_SQ_STOPPED) | BIT(IWM_SQ_FLUSH) |
				       BIT(IWM_SQ_BROKEN) |
				       BIT(IWM_SQ_TERMINATE) |
				       BIT(IWM_SQ_NO_MEMORY) |
				       BIT(IWM_SQ_REST));
}

/* As sq_serve(), for an owner that must not sleep. */
static enum tx_result serve_atomic(struct iwm_qp *qp)
{
	enum tx_result result = TX_IDLE;
	struct iwm_sq *sq = qp->sq;
	struct mpa_conn *conn;

	if (needs_worker(sq))
		return TX_BUDGET;
	conn = sq_conn_get(qp);
	if (!conn)
		return TX_IDLE;
	if (sq_may_transmit(qp)) {
		mpa_tx_set_atomic(conn, true);
		result = iwm_sq_transmit(qp, conn);
		mpa_tx_set_atomic(conn, false);
		sq_note_blocked(sq, sq_why_blocked(sq, conn, result));
	}
	iwm_mr_drop_cache(&sq->mr);
	/* Never the last reference: iwm_sq_stop() waits for the owner. */
	mpa_conn_put(conn);
	return result;
}

/**
 * iwm_sq_run_atomic() - become the owner, and send a limited amount
 * @qp: kernel QP
 * @context: IWM_SQ_ATOMIC or IWM_SQ_POSTING
 *
 * The worker does the rest: large amounts, work that has to wait, and all work
 * other than posts. When another context is the owner this returns at once: the
 * caller has set IWM_SQ_AGAIN.
 *
 * Context: softirqs disabled. Return: posts that no owner had seen before.
 */
u32 iwm_sq_run_atomic(struct iwm_qp *qp, enum sq_context context)
{
	struct iwm_sq *sq = qp->sq;
	enum tx_result result;
	u32 found;

	if (!own_try(sq))
		return 0;
	found = own_look(sq);
	WRITE_ONCE(sq->context, context);
	result = serve_atomic(qp);
	WRITE_ONCE(sq->context, IWM_SQ_WORKER);
	own_release(sq);
	if (result == TX_BUDGET || result == TX_RETRY ||
	    READ_ONCE(sq->flags) & (BIT(IWM_SQ_AGAIN) | BIT(IWM_SQ_BROKEN)) ||
	    iwm_sq_responses(sq))
		iwm_sq_kick(qp);
	return found;
}

/*
 * Become the owner and work while there is something to do, for a limited
 * number of rounds. When another context is the owner this returns at once: the
 * caller has set IWM_SQ_AGAIN, which the owner checks after it releases
 * IWM_SQ_OWNED.
 */
static void sq_run(struct iwm_qp *qp, enum sq_context context)
{
	const unsigned long retry_bits = BIT(IWM_SQ_NO_MEMORY) |
					 BIT(IWM_SQ_REFLUSH);
	struct iwm_sq *sq = qp->sq;
	unsigned int rounds = 16;
	enum tx_result result;

	do {
		bool terminated;

		if (!own_try(sq))
			return;
		own_look(sq);
		WRITE_ONCE(sq->context, context);
		terminated = sq_serve(qp, &result);
		own_release(sq);
		if (terminated)
			iwm_qp_terminated(qp);
		/*
		 * The consumer cannot continue after a bad work request, a lost
		 * completion, or a Read whose sink could not be invalidated.
		 * The bit stays set: until IWM_SQ_FLUSH is set only this bit
		 * keeps other owners from sending what follows.
		 */
		if (unlikely(test_bit(IWM_SQ_BROKEN, &sq->flags)))
			iwm_qp_local_error(qp);
		/*
		 * IWM_SQ_AGAIN may be set: TCP sets it during a call that it
		 * refuses. Leave the retry to the timer, unless it has fired
		 * already, while this context was the owner.
		 */
		if (result == TX_RETRY && READ_ONCE(sq->flags) & retry_bits)
			return;
		if (result == TX_BUDGET ||
		    (result == TX_IDLE && context != IWM_SQ_WORKER &&
		     iwm_sq_responses(sq)) || !--rounds) {
			/* Sets IWM_SQ_AGAIN: a claim may keep the worker out. */
			iwm_sq_kick(qp);
			return;
		}
	} while (test_bit(IWM_SQ_AGAIN, &sq->flags));
}

void iwm_sq_work(struct work_struct *work)
{
	struct iwm_sq *sq = container_of(work, struct iwm_sq, work);

	sq_run(sq->qp, IWM_SQ_WORKER);
}

/**
 * iwm_sq_doorbell() - the caller serves the send queue itself
 * @qp: QP
 *
 * Context: process, may sleep.
 */
void iwm_sq_doorbell(struct iwm_qp *qp)
{
	set_bit(IWM_SQ_AGAIN, &qp->sq->flags);
	/* Set the bit before looking for an owner: see sq_run() */
	smp_mb__after_atomic();
	sq_run(qp, IWM_SQ_CALLER);
}

/**
 * iwm_sq_stop() - keep the transmit owner off the connection for good
 * @qp: QP
 * @flush: the QP is in TERMINATE or ERROR: complete all work requests, and
 *	later ones as soon as they are posted. Otherwise they wait for
 *	iwm_sq_flush(), while receiving from the peer goes on
 *
 * A Terminate that waits is sent first, if TCP takes it. Context: process, may
 * sleep; may be called again.
 */
void iwm_sq_stop(struct iwm_qp *qp, bool flush)
{
	struct iwm_sq *sq = qp->sq;
	struct mpa_conn *conn = sq_conn_get(qp);
	bool more = false;

	smp_mb__before_atomic();	/* as iwm_sq_flush() */
	if (flush)
		set_bit(IWM_SQ_FLUSH, &sq->flags);
	set_bit(IWM_SQ_STOPPED, &sq->flags);
	own_begin(sq);
	if (test_and_clear_bit(IWM_SQ_TERMINATE, &sq->flags))
		iwm_sq_send_terminate(qp, conn);
	if (flush)
		more = flush_rings(qp);
	sq_note_blocked(sq, IWM_SQ_BLOCKED_NOT);
	own_end(sq, more);
	if (conn)
		mpa_conn_put(conn);
}

/**
 * iwm_sq_pause() - keep the transmit owner out for a moment
 * @qp: QP without a connection; the owner may still hold a reference to the
 *	last one
 *
 * Context: process, may sleep; conn_lock may be held, as no owner takes it.
 */
void iwm_sq_pause(struct iwm_qp *qp)
{
	own_begin(qp->sq);
}

/* End iwm_sq_pause(). */
void iwm_sq_resume(struct iwm_qp *qp)
{
	own_end(qp->sq, false);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A Send whose receive comes late. The Send has no buffer, but it need not end
 * the stream: RFC 5041 section 7.1 allows "to recover from the system fault
 * using LLP means in a ULP-transparent way". The stream stops at the Send,
 * whose octets stay in TCP's queue. The peer meets TCP's window, as with any
 * slow reader.
 *
 * A program posts by writing to its ring, without a call. So a timer looks into
 * the ring, often at first, and less often the longer the Send has waited. The
 * posts of kernel consumers and the doorbells of programs run the timer at
 * once. They need no barrier: the timer finds what a consumer posts while a
 * wait begins.
 *
 * The setting receive_wait limits the wait, or the program, when it connects the
 * QP by hand; then the Send ends the stream. It also does when the QP leaves RTS:
 * a consumer that closes posts no receives.
 *
 * The timer only has MPA deliver the Send again. A wait begins and ends in the
 * receive upcall.
 *
 * After the end the timer looks for receives that a program posts, which are
 * flushed.
 */
#include "qp_state.h"
#include "recv_wait.h"
#include "rq.h"
#include "sq.h"
#include "trace.h"

/* The next look comes after this part of the time that the Send has waited. */
#define LOOK_SHARE	8
#define LOOK_MIN_NS	(20 * NSEC_PER_USEC)
#define LOOK_MAX_NS	(100 * NSEC_PER_MSEC)
#define LOOK_MAX_ENDED_NS	NSEC_PER_SEC

static u64 waited_ns(const struct iwm_qp *qp)
{
	return ktime_get_ns() - READ_ONCE(qp->rx_wait.since);
}

/*
 * Does the Send hold up a Read of ours for too long? The Response is behind the
 * Send: a program that posts no receive until it has the Response would wait for
 * ever. The device's setting limits that, unless it is 0.
 */
static bool holds_up_read(const struct iwm_qp *qp, u64 max)
{
	u64 since = READ_ONCE(qp->rx_wait.read_since);

	return since && max && ktime_get_ns() - since >= max &&
	       iwm_sq_reads(qp->sq);
}

/* May a Send that has waited for @ns go on waiting? */
static bool may_wait(const struct iwm_qp *qp, u64 ns)
{
	u64 max = READ_ONCE(qp->dev->receive_wait) * (u64)NSEC_PER_MSEC;
	u64 own = READ_ONCE(qp->rnr_wait_ns);

	if (READ_ONCE(qp->state) != IWM_QP_RTS)
		return false;
	return own ? ns < own && !holds_up_read(qp, max) : ns < max;
}

static void look_after(struct iwm_qp *qp, u64 ns)
{
	hrtimer_start(&qp->rx_wait.timer, ns_to_ktime(ns),
		      HRTIMER_MODE_REL_SOFT);
}

/* The next look after @ns of waiting. */
static void look_again(struct iwm_qp *qp, u64 ns, u64 max)
{
	look_after(qp, clamp_t(u64, ns / LOOK_SHARE, LOOK_MIN_NS, max));
}

static void receive_again(struct iwm_qp *qp)
{
	spin_lock_bh(&qp->lock);
	if (qp->conn)
		mpa_receive_again(qp->conn);
	spin_unlock_bh(&qp->lock);
}

/*
 * Look for a receive, and for the end of the wait. The timer goes on, because
 * another QP may take an SRQ's entry first.
 */
static void look_for_send(struct iwm_qp *qp)
{
	u64 ns = waited_ns(qp);

	/* No Read ends meanwhile. */
	if (!READ_ONCE(qp->rx_wait.read_since) && iwm_sq_reads(qp->sq))
		WRITE_ONCE(qp->rx_wait.read_since, ktime_get_ns());
	if (!may_wait(qp, ns) || iwm_rq_has_entry(iwm_qp_rq(qp)))
		receive_again(qp);
	look_again(qp, ns, LOOK_MAX_NS);
}

/*
 * A kernel consumer's post has its receives flushed, and an SRQ's are used by
 * others.
 */
static bool flushes_late(const struct iwm_qp *qp)
{
	return qp->user && !qp->srq;
}

/* Look for receives to flush, until the QP is reset or destroyed. */
static void look_for_late(struct iwm_qp *qp)
{
	if (READ_ONCE(qp->dying) || READ_ONCE(qp->state) == IWM_QP_IDLE)
		return;
	if (iwm_rq_has_entry(&qp->rq))
		iwm_sq_kick(qp);
	look_again(qp, waited_ns(qp), LOOK_MAX_ENDED_NS);
}

static enum hrtimer_restart rx_wait_look(struct hrtimer *timer)
{
	struct iwm_qp *qp = container_of(timer, struct iwm_qp, rx_wait.timer);

	if (READ_ONCE(qp->rx_waits))
		look_for_send(qp);
	else if (READ_ONCE(qp->rx_ended) && flushes_late(qp))
		look_for_late(qp);
	return HRTIMER_NORESTART;
}

static void wait_begin(struct iwm_qp *qp)
{
	iwm_count(qp->dev, IWM_STAT_RX_WAITS);
	WRITE_ONCE(qp->rx_wait.since, ktime_get_ns());
	WRITE_ONCE(qp->rx_waits, true);
	if (qp->srq)
		iwm_srq_wait(qp->srq, &qp->rx_wait);
	look_after(qp, LOOK_MIN_NS);
}

/**
 * iwm_rx_wait() - have the next Send wait for a receive
 * @qp: queue pair, whose Send has met none
 *
 * Begins a wait or goes on with it. Context: socket lock held.
 * Return: true: the receive upcall must put the Send off. False: the Send may
 * not wait, or no longer.
 */
bool iwm_rx_wait(struct iwm_qp *qp)
{
	if (qp->rx_waits)
		return may_wait(qp, waited_ns(qp));
	WRITE_ONCE(qp->rx_wait.read_since, 0);
	if (!may_wait(qp, 0))
		return false;
	wait_begin(qp);
	return true;
}

/* The slow part of iwm_rx_wait_over(). */
void iwm_rx_wait_end(struct iwm_qp *qp, bool found)
{
	trace_iwm_rx_waited(qp, waited_ns(qp), found);
	WRITE_ONCE(qp->rx_waits, false);
	/* If the timer is running just now, it may start itself once more. */
	hrtimer_try_to_cancel(&qp->rx_wait.timer);
	if (qp->srq)
		iwm_srq_wait_over(qp->srq, &qp->rx_wait);
}

/**
 * iwm_rx_wait_late() - have receives flushed that are posted after the end
 * @qp: queue pair, whose @rx_ended is set
 *
 * Context: socket lock held, or no upcall can run any more.
 */
void iwm_rx_wait_late(struct iwm_qp *qp)
{
	if (!flushes_late(qp))
		return;
	WRITE_ONCE(qp->rx_wait.since, ktime_get_ns());
	look_after(qp, LOOK_MIN_NS);
}

/* The slow part of iwm_rx_wake(). */
void iwm_rx_look_now(struct iwm_qp *qp)
{
	look_after(qp, 0);
}

void iwm_rx_wait_init(struct iwm_qp *qp)
{
	INIT_LIST_HEAD(&qp->rx_wait.entry);
	hrtimer_setup(&qp->rx_wait.timer, rx_wait_look, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

/* No upcall and no post can come any more. Context: process, may sleep. */
void iwm_rx_wait_stop(struct iwm_qp *qp)
{
	hrtimer_cancel(&qp->rx_wait.timer);
}

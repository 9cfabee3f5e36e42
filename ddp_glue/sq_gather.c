// SPDX-License-Identifier: GPL-2.0
/*
 * How a kernel consumer's posts are sent: after a wait, or by a lease at once.
 *
 * Posts that are sent together cost a fraction of what each costs alone: TCP is
 * called once, segments are full, and the peer is woken once. A post that no
 * other follows is only delayed by waiting. So posts wait until the CPU has
 * nothing else to do (gather_cpu.c).
 *
 * A consumer that waits for each answer before it posts again gains nothing.
 * Each wait then finds a single post. After several such waits the consumer
 * gets a lease: its next posts are sent within ib_post_send(). At the end of
 * the lease one post waits again, to see whether the consumer has more under
 * way by now. If not, the next lease is twice as long, unless posts followed
 * each other without anything from the peer in between.
 *
 * Poster, thread and timer send with softirqs disabled and do not sleep. So no
 * task can preempt the thread while it is the transmit owner. The worker does
 * the work that takes longer or has to wait.
 */
#include <linux/wait_bit.h>
#include "recv.h"
#include "sq_gather.h"
#include "sq_send.h"

/* Waits in succession that find a single post, before a lease begins */
#define GATHER_SINGLES		4
/* Posts that are sent without a wait in the first lease, and in the longest */
#define GATHER_LEASE		32u
#define GATHER_LEASE_MAX	4096u

static struct iwm_qp *gather_qp(struct iwm_gather *gather)
{
	return container_of(gather, struct iwm_sq, gather)->qp;
}

/**
 * iwm_gather_put() - give back a reference of the list
 * @gather: the queue
 *
 * Context: any.
 */
void iwm_gather_put(struct iwm_gather *gather)
{
	if (atomic_dec_and_test(&gather->users))
		wake_up_var(&gather->users);
}

/*
 * Decide on a lease. Each is twice as long as the one before, while waits find
 * single posts. @found: posts that the wait has gathered
 */
static void gather_learn(struct iwm_gather *gather, u32 found)
{
	u32 singles = READ_ONCE(gather->singles) + 1;
	u32 span = READ_ONCE(gather->span);

	if (!found)
		return;
	if (found > 1) {
		singles = 0;
		span = GATHER_LEASE;
	}
	if (singles >= GATHER_SINGLES) {
		singles = GATHER_SINGLES;
		WRITE_ONCE(gather->lease, span);
		span = min(2 * span, GATHER_LEASE_MAX);
	}
	WRITE_ONCE(gather->span, span);
	WRITE_ONCE(gather->singles, singles);
}

/**
 * iwm_gather_lease() - use up one post of a lease
 * @gather: the queue
 *
 * A consumer that posts again although the peer has not sent anything does not
 * wait for answers: it gets no long leases.
 *
 * Context: any. Return: true if the queue has a lease. Then the poster sends.
 */
bool iwm_gather_lease(struct iwm_gather *gather)
{
	u32 lease = READ_ONCE(gather->lease), segments;

	if (!lease)
		return false;
	segments = iwm_rx_segments(gather_qp(gather));
	if (segments == READ_ONCE(gather->answered)) {
		WRITE_ONCE(gather->span, GATHER_LEASE);
		lease = min(lease, GATHER_LEASE);
	}
	WRITE_ONCE(gather->answered, segments);
	WRITE_ONCE(gather->lease, lease - 1);
	return true;
}

/**
 * iwm_gather_send() - send posts of a queue that is off its list
 * @gather: the queue; the caller's reference is used up
 * @now: here; otherwise the worker sends
 *
 * Context: softirqs disabled.
 */
void iwm_gather_send(struct iwm_gather *gather, bool now)
{
	struct iwm_qp *qp = gather_qp(gather);

	/*
	 * Cleared first: own_look() sees posts that found the bit set. With
	 * release: the next poster may link the queue into another CPU's list,
	 * whose lock does not order what gather_cpu.c has written.
	 */
	clear_bit_unlock(IWM_SQ_GATHERING, &qp->sq->flags);
	/* Later posters find it clear even if a claim keeps this owner out. */
	smp_mb__after_atomic();
	if (now)
		gather_learn(gather, iwm_sq_run_atomic(qp, IWM_SQ_ATOMIC));
	else
		iwm_sq_kick(qp);
	iwm_gather_put(gather);
}

/* Context: process. */
void iwm_gather_init(struct iwm_qp *qp)
{
	qp->sq->gather.span = GATHER_LEASE;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Notification of completions: when the consumer's handler is called, and where.
 *
 * The handler is called on the CPU that has written the completion, just as an
 * RNIC's interrupt calls it where it arrives. That CPU is awake and has the data
 * in its caches. A call on another CPU makes that CPU wake up, and disturbs one
 * that is isolated or runs a real-time task. So a completion vector does not
 * choose a CPU: the network's receive queues do, by RSS or RPS.
 *
 * As verbs require, one CPU at a time calls a consumer's own handler. Interrupts
 * are off, so that posts within the handler wait: see may_send(). Handlers of the
 * RDMA core's, which most consumers use, need neither.
 *
 * With PREEMPT_RT a handler may take locks that sleep, as verbs do. There the
 * CPU's thread of irq_work calls the handler.
 */
#include <linux/bottom_half.h>
#include <linux/completion.h>
#include "cq.h"

static void calls_put(struct iwm_cq *cq)
{
	/* Not wake_up_var(), whose lock sleeps on RT: this is an interrupt. */
	if (atomic_dec_and_test(&cq->calls))
		complete(&cq->calls_ended);
}

/* Have an interrupt call the handler. Takes over a count of @cq->calls. */
static void notify_interrupt(struct iwm_cq *cq)
{
	if (!irq_work_queue(&cq->work))
		calls_put(cq);	/* another call of this function has queued it */
}

/*
 * Call the handler, unless another CPU has done so. Takes over a count of
 * @cq->calls. Context: interrupts off; on RT the thread of irq_work.
 */
static void notify_call(struct iwm_cq *cq)
{
	if (!test_and_set_bit_lock(IWM_CQ_CALLING, &cq->flags)) {
		/* Cleared first: a later completion wants a new call. */
		if (test_and_clear_bit(IWM_CQ_CALLED, &cq->flags))
			cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
		clear_bit_unlock(IWM_CQ_CALLING, &cq->flags);
		/* Pairs with test_and_set_bit() in iwm_notify() */
		smp_mb__after_atomic();
		/* Another CPU may have left its call to this one. */
		if (unlikely(test_bit(IWM_CQ_CALLED, &cq->flags))) {
			notify_interrupt(cq);
			return;
		}
	}
	calls_put(cq);
}

static void notify_work(struct irq_work *work)
{
	notify_call(container_of(work, struct iwm_cq, work));
}

/* As notify_call(). Softirqs that the handler raises run when it has ended. */
static void notify_here(struct iwm_cq *cq)
{
	unsigned long flags;

	local_bh_disable();
	local_irq_save(flags);
	notify_call(cq);
	local_irq_restore(flags);
	local_bh_enable();
}

/*
 * Is the handler the RDMA core's? ib_alloc_cq() has allocated an array then. Such
 * a handler only schedules a poller. It takes no lock of a consumer, and several
 * CPUs may call it at once.
 */
static bool core_polls(const struct iwm_cq *cq)
{
	return cq->ibcq.wc;
}

/*
 * Schedule the core's poller, which is a softirq or a work. The caller may be
 * within ib_post_send(): the softirq runs when the caller enables softirqs again.
 */
static void schedule_poller(struct iwm_cq *cq)
{
	local_bh_disable();
	cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	local_bh_enable();
}

/**
 * iwm_notify() - call the consumer's handler
 * @cq: completion queue that iwm_notify_due() has disarmed
 * @posting: the consumer is within ib_post_send(), and may hold a lock that its
 *	handler takes: an interrupt calls the handler, unless it is the core's
 *
 * A pending call that has not begun serves this notification, too. The handler
 * of a program's queue only wakes a process.
 *
 * Context: any that does not hold cq->lock. iwm_notify_stop() runs only after the
 * caller's queue pair is destroyed, and waits for the timer, which is the other
 * caller.
 */
void iwm_notify(struct iwm_cq *cq, bool posting)
{
	bool here = !IS_ENABLED(CONFIG_PREEMPT_RT) && !irqs_disabled();

	if (!cq->ibcq.comp_handler)
		return;
	if (cq->user) {
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
		return;
	}
	if (here && core_polls(cq)) {
		schedule_poller(cq);
		return;
	}
	if (test_and_set_bit(IWM_CQ_CALLED, &cq->flags))
		return;
	atomic_inc(&cq->calls);
	if (here && !posting)
		notify_here(cq);
	else
		notify_interrupt(cq);
}

/*
 * Moderation: hold back the notification of this completion? The first one that
 * is held back starts the timer.
 */
static bool notify_later(struct iwm_cq *cq)
{
	lockdep_assert_held(&cq->lock);

	if (!cq->mod_count || ++cq->held_back >= cq->mod_count)
		return false;
	if (cq->held_back == 1)
		hrtimer_start(&cq->mod_timer,
			      ns_to_ktime(cq->mod_usec * NSEC_PER_USEC),
			      HRTIMER_MODE_REL_SOFT);
	return true;
}

/* Moderation: the longest wait is over. */
static enum hrtimer_restart notify_timeout(struct hrtimer *timer)
{
	struct iwm_cq *cq = container_of(timer, struct iwm_cq, mod_timer);
	bool notify = false;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->held_back) {
		cq->held_back = 0;
		notify = xchg(&cq->ctrl->flags, SIW_NOTIFY_NOT);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	if (notify)
		iwm_notify(cq, false);
	return HRTIMER_NORESTART;
}

/**
 * iwm_notify_due() - disarm the queue if a completion must be notified
 * @cq: completion queue
 * @wc: completion that has been written to the ring
 *
 * A consumer arms the queue and then looks for entries. This side writes an
 * entry and then checks whether the queue is armed. Both have a full barrier in
 * between, so at least one sees the other's write. tests/prove/arming.pml is a
 * model of this.
 *
 * Context: cq->lock held.
 * Return: whether the caller has to call iwm_notify().
 */
bool iwm_notify_due(struct iwm_cq *cq, const struct iwm_wc *wc)
{
	u32 match = SIW_NOTIFY_NEXT_COMPLETION;

	lockdep_assert_held(&cq->lock);

	if (wc->solicited || wc->status != SIW_WC_SUCCESS)
		match |= SIW_NOTIFY_SOLICITED;

	smp_mb();	/* write the entry, then look: see above */
	if (!(READ_ONCE(cq->ctrl->flags) & match) || notify_later(cq))
		return false;
	if (cq->held_back) {
		cq->held_back = 0;
		hrtimer_try_to_cancel(&cq->mod_timer);
	}
	/* This also clears whatever user space has armed since the check. */
	return xchg(&cq->ctrl->flags, SIW_NOTIFY_NOT);
}

/**
 * iwm_modify_cq() - moderate notification: ib_device_ops.modify_cq
 * @ibcq: completion queue
 * @count: notify after this many completions
 * @usec: or this long after the first of them, in microseconds. If either is 0
 *	there is no moderation, because completions could wait forever
 *
 * Programs poll their CQs, and arm them, without the kernel.
 * Context: any. Return: 0, or -EOPNOTSUPP for a program's CQ.
 */
int iwm_modify_cq(struct ib_cq *ibcq, u16 count, u16 usec)
{
	struct iwm_cq *cq = to_iwm_cq(ibcq);
	unsigned long flags;

	if (cq->user)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&cq->lock, flags);
	cq->mod_count = usec ? count : 0;
	cq->mod_usec = usec;
	/* The timer still runs for completions that are held back. */
	spin_unlock_irqrestore(&cq->lock, flags);
	return 0;
}

/**
 * iwm_notify_init() - prepare a new queue for notification
 * @cq: completion queue with its lock and @cq->ctrl
 *
 * Context: process.
 */
void iwm_notify_init(struct iwm_cq *cq)
{
	init_irq_work(&cq->work, notify_work);
	atomic_set(&cq->calls, 1);	/* until iwm_notify_stop() */
	init_completion(&cq->calls_ended);
	hrtimer_setup(&cq->mod_timer, notify_timeout, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

/**
 * iwm_notify_stop() - wait for the last call of the handler
 * @ibcq: completion queue that no queue pair uses any more
 *
 * This is ib_device_ops.pre_destroy_cq: afterwards the core ends the poller
 * that the handler may have started. iwm_destroy_cq() calls it, too, for cores
 * that do not; the second call has nothing to wait for.
 *
 * Context: process, may sleep. Return: 0.
 */
int iwm_notify_stop(struct ib_cq *ibcq)
{
	struct iwm_cq *cq = to_iwm_cq(ibcq);

	hrtimer_cancel(&cq->mod_timer);
	if (!test_and_set_bit(IWM_CQ_STOPPED, &cq->flags) &&
	    !atomic_dec_and_test(&cq->calls))
		wait_for_completion(&cq->calls_ended);
	irq_work_sync(&cq->work);	/* it is written after the call */
	return 0;
}

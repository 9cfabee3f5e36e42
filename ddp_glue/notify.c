// SPDX-License-Identifier: GPL-2.0
/*
 * Notification of completions: when the consumer's handler is called, and on
 * which CPU.
 *
 * Each completion vector belongs to a CPU that was online when the queue was
 * made. A kernel consumer's handler is called there, from an interrupt that
 * one CPU sends to the other, as an RNIC's would come: consumers that spread
 * their queues over the vectors have their work spread over the CPUs. Handlers
 * of user space only wake a process, and are called where they are.
 */
#include <linux/cpumask.h>
#include <linux/wait_bit.h>
#include "cq.h"

/* Interrupts are off. On the vector's CPU, where that is possible. */
static void notify_call(void *arg)
{
	struct iwm_cq *cq = arg;

	/* Cleared first: a completion that comes now is announced anew. */
	clear_bit_unlock(IWM_CQ_CALLED, &cq->flags);
	/* Pairs with test_and_set_bit() in iwm_notify() */
	smp_mb__after_atomic();
	cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	if (atomic_dec_and_test(&cq->calls))
		wake_up_var(&cq->calls);
}

/* On the vector's CPU this is a function call. */
static void notify_send(struct iwm_cq *cq)
{
	unsigned long flags;

	if (likely(!smp_call_function_single_async(cq->cpu, &cq->csd)))
		return;
	/* The CPU is offline. With interrupts off here, too: see may_send(). */
	local_irq_save(flags);
	notify_call(cq);
	local_irq_restore(flags);
}

static void notify_work(struct irq_work *work)
{
	notify_send(container_of(work, struct iwm_cq, work));
}

/**
 * iwm_notify() - call the consumer's handler
 * @cq: completion queue, whose arm has been taken
 * @posting: the caller may be a verb that the consumer has called to post. The
 *	handler may take a lock that the consumer holds then: it is called from
 *	an interrupt of its own
 *
 * A call that is on its way and has not begun serves this one too.
 *
 * Context: any that does not hold cq->lock.
 */
void iwm_notify(struct iwm_cq *cq, bool posting)
{
	if (!cq->ibcq.comp_handler)
		return;
	if (cq->user) {
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
		return;
	}
	if (test_and_set_bit(IWM_CQ_CALLED, &cq->flags))
		return;
	atomic_inc(&cq->calls);
	if (unlikely(posting))
		irq_work_queue(&cq->work);
	else
		notify_send(cq);
}

/*
 * Moderation: is this completion to be announced later? The first one that is
 * held back starts the timer.
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

/* The consumer has waited long enough. */
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
 * iwm_notify_due() - take the arm that a completion satisfies
 * @cq: completion queue
 * @wc: completion that has been written to the ring
 *
 * Consumers arm and then look for entries, this side writes an entry and then
 * looks for the arm: one of the two sees the other's, since both have a full
 * barrier in between. tests/prove/arming.pml is a model of that.
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

	smp_mb();	/* see above */
	if (!(READ_ONCE(cq->ctrl->flags) & match) || notify_later(cq))
		return false;
	if (cq->held_back) {
		cq->held_back = 0;
		hrtimer_try_to_cancel(&cq->mod_timer);
	}
	/* What user space has armed since, perhaps for less, goes with it. */
	return xchg(&cq->ctrl->flags, SIW_NOTIFY_NOT);
}

/**
 * iwm_modify_cq() - moderate notification: ib_device_ops.modify_cq
 * @ibcq: completion queue
 * @count: notify after so many completions
 * @usec: or so long after the first of them; without one of the two there is
 *	no moderation, because completions could wait for ever
 *
 * Context: any. Return: 0.
 */
int iwm_modify_cq(struct ib_cq *ibcq, u16 count, u16 usec)
{
	struct iwm_cq *cq = to_iwm_cq(ibcq);
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->mod_count = usec ? count : 0;
	cq->mod_usec = usec;
	/* What is held back has its timer still. */
	spin_unlock_irqrestore(&cq->lock, flags);
	return 0;
}

/*
 * The CPU of a completion vector. No lock against CPUs that come and go: it is
 * held while memory is allocated, and memory may wait for this queue to be
 * made, when storage connects again. Any answer will do: iwm_notify() calls the
 * handler elsewhere when the CPU is offline.
 */
static int vector_cpu(u32 vector)
{
	int cpu;

	vector %= num_online_cpus();
	for_each_online_cpu(cpu)
		if (!vector--)
			return cpu;
	return cpumask_first(cpu_online_mask);
}

/**
 * iwm_notify_init() - prepare a new queue for notification
 * @cq: completion queue with its lock and @cq->ctrl
 * @vector: completion vector: ib_device.num_comp_vectors of them exist
 *
 * Context: process.
 */
void iwm_notify_init(struct iwm_cq *cq, u32 vector)
{
	cq->cpu = vector_cpu(vector);
	INIT_CSD(&cq->csd, notify_call, cq);
	init_irq_work(&cq->work, notify_work);
	atomic_set(&cq->calls, 0);
	hrtimer_setup(&cq->mod_timer, notify_timeout, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

/**
 * iwm_notify_stop() - see the last call of the handler end
 * @ibcq: completion queue that no queue pair uses any more
 *
 * ib_device_ops.pre_destroy_cq: the core goes on to end what the handler has
 * started.
 *
 * Context: process, may sleep. Return: 0.
 */
int iwm_notify_stop(struct ib_cq *ibcq)
{
	struct iwm_cq *cq = to_iwm_cq(ibcq);

	hrtimer_cancel(&cq->mod_timer);
	wait_var_event(&cq->calls, !atomic_read(&cq->calls));
	irq_work_sync(&cq->work);	/* it is written to after its call */
	return 0;
}

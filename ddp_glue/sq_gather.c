// SPDX-License-Identifier: GPL-2.0
/*
 * When a kernel consumer's posts are sent.
 *
 * Posts that are sent together cost a fraction of what each costs alone: TCP is
 * called once, segments are full, and the peer is woken once. A post that no
 * other follows is only delayed by waiting. So posts wait until the CPU has
 * nothing else to do: each CPU has a thread of policy SCHED_IDLE, which then
 * runs and sends. On a busy CPU the CPU's timer ends the wait.
 *
 * To program a timer takes longer than to send, above all in a virtual machine.
 * So posters start the timer only if it does not run, and the thread does not
 * cancel it. It fires every GATHER_MAX_NS while posters link queues, and every
 * GATHER_MIN_NS while the thread does not get the CPU.
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
#include <linux/interrupt.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/smpboot.h>
#include <linux/wait_bit.h>
#include <uapi/linux/sched.h>
#include <uapi/linux/sched/types.h>
#include "recv.h"
#include "sq_gather.h"
#include "sq_send.h"

/* Intervals of the timer: of a CPU that proves busy, and of others */
#define GATHER_MIN_NS		(50 * NSEC_PER_USEC)
#define GATHER_MAX_NS		(500 * NSEC_PER_USEC)
/*
 * A wait ends when the timer fires the second time; while posts or segments keep
 * coming, when it has fired this often, which takes 1 ms.
 */
#define GATHER_FIRES		20
/* Queues that the timer looks at when it fires */
#define GATHER_LOOKS		64
/* More octets make no cheaper batch: the worker sends at once. */
#define GATHER_OCTETS		SZ_64K
/* Waits in succession that find a single post, before a lease begins */
#define GATHER_SINGLES		4
/* Posts that are sent without a wait in the first lease, and in the longest */
#define GATHER_LEASE		32u
#define GATHER_LEASE_MAX	4096u
/* Queues that the timer sends for when it fires, 64 KiB each at most */
#define GATHER_PASS		8

/**
 * struct gather_cpu - queues that wait for a CPU to become idle
 * @lock: guards all of it, and @entry, @on, @fired and @activity of the queues
 *	in @list
 * @list: struct iwm_gather, by entry, the longest wait first
 * @timer: ends long waits
 * @ns: its interval
 * @fired: how often it has fired
 * @armed: it will fire
 * @used: a queue was linked since it has fired
 */
struct gather_cpu {
	raw_spinlock_t lock;		/* taken with interrupts disabled */
	struct list_head list;
	struct hrtimer timer;
	u32 ns;
	u32 fired;
	bool armed;
	bool used;
};

static DEFINE_PER_CPU(struct gather_cpu, gather_cpus);
static DEFINE_PER_CPU(struct task_struct *, gather_threads);

static struct iwm_qp *gather_qp(struct iwm_gather *gather)
{
	return container_of(gather, struct iwm_sq, gather)->qp;
}

static void unlink_locked(struct gather_cpu *on, struct iwm_gather *gather)
{
	lockdep_assert_held(&on->lock);
	list_del(&gather->entry);
	WRITE_ONCE(gather->on, NULL);
}

/* Take a queue off its list. True: the caller gets its reference and sends. */
static bool gather_unlink(struct iwm_gather *gather)
{
	struct gather_cpu *on;
	unsigned long flags;
	bool linked = false;

	/*
	 * Meanwhile the thread may take it off the list, and a poster may put
	 * it into another CPU's.
	 */
	while (!linked && (on = READ_ONCE(gather->on))) {
		raw_spin_lock_irqsave(&on->lock, flags);
		linked = gather->on == on;
		if (linked)
			unlink_locked(on, gather);
		raw_spin_unlock_irqrestore(&on->lock, flags);
	}
	return linked;
}

static void gather_put(struct iwm_gather *gather)
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

/*
 * Use up one post of a lease. A consumer that posts again although the peer has
 * not sent anything does not wait for answers: it gets no long leases.
 */
static bool use_lease(struct iwm_gather *gather)
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

/*
 * Send posts of a queue that is off its list, or have the worker send them.
 * Context: softirqs disabled.
 */
static void gather_send(struct iwm_gather *gather, bool now)
{
	struct iwm_qp *qp = gather_qp(gather);

	/*
	 * Cleared first: own_look() sees posts that found the bit set. With
	 * release: the next poster may link the queue into another CPU's list,
	 * whose lock does not order what unlink_locked() has written.
	 */
	clear_bit_unlock(IWM_SQ_GATHERING, &qp->sq->flags);
	/* Later posters find it clear even if a claim keeps this owner out. */
	smp_mb__after_atomic();
	if (now)
		gather_learn(gather, iwm_sq_run_atomic(qp, IWM_SQ_ATOMIC));
	else
		iwm_sq_kick(qp);
	gather_put(gather);
}

/* Posts and segments of the peer: a hint whether more posts will follow. */
static u32 gather_activity(struct iwm_gather *gather)
{
	return READ_ONCE(gather->posts) +
	       (u32)iwm_rx_segments(gather_qp(gather));
}

/* May the wait of a queue go on although the timer has fired? */
static bool wait_goes_on(struct gather_cpu *on, struct iwm_gather *gather)
{
	u32 before = gather->activity;

	gather->activity = gather_activity(gather);
	return gather->activity != before &&
	       on->fired - gather->fired < GATHER_FIRES;
}

/* Move queues that have waited too long to @late. Return: has any waited long? */
static bool take_late(struct gather_cpu *on, struct list_head *late)
{
	struct iwm_gather *gather, *next;
	unsigned int looks = 0;

	raw_spin_lock_irq(&on->lock);
	list_for_each_entry_safe(gather, next, &on->list, entry) {
		if (gather->fired == on->fired || looks++ >= GATHER_LOOKS)
			break;
		if (wait_goes_on(on, gather))
			continue;
		unlink_locked(on, gather);
		list_add_tail(&gather->entry, late);
	}
	raw_spin_unlock_irq(&on->lock);
	return looks;
}

/* The timer has fired. @busy: its CPU is. Return: does it go on? */
static bool timer_goes_on(struct gather_cpu *on, bool busy)
{
	bool armed;

	raw_spin_lock_irq(&on->lock);
	on->fired++;
	on->ns = busy ? GATHER_MIN_NS : min(2 * on->ns, (u32)GATHER_MAX_NS);
	armed = on->used || !list_empty(&on->list);
	on->armed = armed;
	on->used = false;
	raw_spin_unlock_irq(&on->lock);
	return armed;
}

/*
 * Where the CPU was busy, its thread has not run. Other softirqs wait while this
 * sends, so the worker sends for most of many queues. Context: softirq.
 */
static enum hrtimer_restart gather_timeout(struct hrtimer *timer)
{
	struct gather_cpu *on = container_of(timer, struct gather_cpu, timer);
	struct iwm_gather *gather, *next;
	unsigned int sent = 0;
	LIST_HEAD(late);
	bool busy;

	busy = take_late(on, &late);
	/* A poster may link a queue again as soon as it is sent: use @next. */
	list_for_each_entry_safe(gather, next, &late, entry)
		gather_send(gather, sent++ < GATHER_PASS);
	if (!timer_goes_on(on, busy))
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(on->ns));
	return HRTIMER_RESTART;
}

static struct iwm_gather *gather_take(struct gather_cpu *here)
{
	struct iwm_gather *gather;

	raw_spin_lock_irq(&here->lock);
	gather = list_first_entry_or_null(&here->list, struct iwm_gather,
					  entry);
	if (gather)
		unlink_locked(here, gather);
	raw_spin_unlock_irq(&here->lock);
	return gather;
}

static int thread_should_run(unsigned int cpu)
{
	return !list_empty(&per_cpu_ptr(&gather_cpus, cpu)->list);
}

/* The scheduler runs the thread when no other task wants this CPU. */
static void thread_run(unsigned int cpu)
{
	struct iwm_gather *gather;

	local_bh_disable();
	gather = gather_take(per_cpu_ptr(&gather_cpus, cpu));
	if (gather)
		gather_send(gather, true);
	local_bh_enable();
	cond_resched();
}

/*
 * With PREEMPT_RT a thread can be preempted with softirqs disabled. Keep the
 * normal policy there: a preempted SCHED_IDLE thread might not get the CPU for
 * a long time while it is the transmit owner.
 */
static void thread_setup(unsigned int cpu)
{
	const struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_IDLE,
	};

	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		WARN_ON_ONCE(sched_setattr_nocheck(current, &attr));
}

static struct smp_hotplug_thread gather_hotplug = {
	.store			= &gather_threads,
	.thread_should_run	= thread_should_run,
	.thread_fn		= thread_run,
	.setup			= thread_setup,
	.thread_comm		= "iwmpa/%u",
};

/* Put a queue whose IWM_SQ_GATHERING has just been set into this CPU's list. */
static void gather_link(struct iwm_gather *gather)
{
	struct gather_cpu *here;
	unsigned long flags;
	bool start;

	atomic_inc(&gather->users);
	local_irq_save(flags);
	here = this_cpu_ptr(&gather_cpus);
	raw_spin_lock(&here->lock);
	list_add_tail(&gather->entry, &here->list);
	gather->fired = here->fired;
	gather->activity = gather_activity(gather);
	here->used = true;
	start = !here->armed;
	here->armed = true;
	WRITE_ONCE(gather->on, here);
	raw_spin_unlock(&here->lock);
	if (start)
		hrtimer_start(&here->timer, ns_to_ktime(here->ns),
			      HRTIMER_MODE_REL_PINNED_SOFT);
	wake_up_process(this_cpu_read(gather_threads));
	local_irq_restore(flags);
}

/*
 * Not with interrupts off: local_bh_enable() may run softirqs. This excludes
 * handlers of completions, which are called with interrupts off: this CPU may
 * hold sq->lock. With PREEMPT_RT, spin_lock_irqsave() leaves interrupts on: no
 * poster sends.
 */
static bool may_send(void)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && !irqs_disabled() &&
	       !in_hardirq() && !in_nmi();
}

/**
 * iwm_gather_posted() - send a kernel consumer's posts, now or after a wait
 * @qp: QP
 *
 * Context: any.
 */
void iwm_gather_posted(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;
	struct iwm_gather *gather = &sq->gather;
	u32 octets = READ_ONCE(gather->octets) - READ_ONCE(gather->octets_seen);

	if (octets >= GATHER_OCTETS) {
		iwm_sq_kick(qp);
		return;
	}
	/*
	 * Pairs with own_look(): an owner that sees IWM_SQ_AGAIN, or runs after
	 * gather_send() has cleared IWM_SQ_GATHERING, sees the posts.
	 */
	smp_mb__before_atomic();
	set_bit(IWM_SQ_AGAIN, &sq->flags);
	/* Pairs with own_end(): set IWM_SQ_AGAIN, then look at the claims */
	smp_mb__after_atomic();
	if (test_bit(IWM_SQ_OWNED, &sq->flags))
		return;
	if (may_send() && use_lease(gather)) {
		local_bh_disable();
		iwm_sq_run_atomic(qp, IWM_SQ_POSTING);
		local_bh_enable();
	} else if (!test_and_set_bit(IWM_SQ_GATHERING, &sq->flags)) {
		gather_link(gather);
	}
}

/* Context: process. */
void iwm_gather_init(struct iwm_qp *qp)
{
	qp->sq->gather.span = GATHER_LEASE;
}

/**
 * iwm_gather_stop() - wait until no thread or timer uses the queue
 * @qp: QP that no poster uses any more
 *
 * Context: process, may sleep.
 */
void iwm_gather_stop(struct iwm_qp *qp)
{
	struct iwm_gather *gather = &qp->sq->gather;

	if (gather_unlink(gather))
		gather_put(gather);
	/* Pairs with gather_put(): the caller frees what they have used */
	wait_var_event(&gather->users, !atomic_read_acquire(&gather->users));
}

/* Context: process, may sleep. Return: 0 or a negative errno. */
int iwm_gather_module_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct gather_cpu *gather = per_cpu_ptr(&gather_cpus, cpu);

		raw_spin_lock_init(&gather->lock);
		INIT_LIST_HEAD(&gather->list);
		gather->ns = GATHER_MAX_NS;
		hrtimer_setup(&gather->timer, gather_timeout, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED_SOFT);
	}
	return smpboot_register_percpu_thread(&gather_hotplug);
}

/* All queues are destroyed. Context: process, may sleep. */
void iwm_gather_module_exit(void)
{
	int cpu;

	smpboot_unregister_percpu_thread(&gather_hotplug);
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&per_cpu_ptr(&gather_cpus, cpu)->timer);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Queues whose posts wait until their CPU has nothing else to do, or the wait
 * was long enough.
 *
 * Each CPU has a thread of policy SCHED_IDLE. It sends the posts when the
 * scheduler runs it. On a busy CPU the CPU's timer ends the wait.
 *
 * To program a timer takes longer than to send, above all in a virtual machine.
 * So posters start the timer only if it does not run, and the thread does not
 * cancel it. It fires every GATHER_MAX_NS while posters link queues, and every
 * GATHER_MIN_NS while the thread does not get the CPU.
 *
 * A program that spins on the CPU keeps the thread from it, although nothing
 * more will be posted until these posts are sent. The timer counts such waits.
 * If the thread has not run meanwhile, it competes with programs for a time, by
 * SCHED_BATCH. On a CPU that is busy with the I/O itself, that policy would make
 * batches small.
 */
#include <linux/interrupt.h>
#include <linux/sched.h>
#include <linux/smpboot.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>
#include <uapi/linux/sched.h>
#include <uapi/linux/sched/types.h>
#include "gather_cpu.h"
#include "recv.h"
#include "sq_gather.h"
#include "work.h"

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
/* Queues that the timer sends for when it fires, 64 KiB each at most */
#define GATHER_PASS		8
/* Waits in vain while the thread does not run at all, until it competes */
#define GATHER_VAIN		16
/* How long it competes */
#define GATHER_COMPETE		HZ

/**
 * struct gather_cpu - queues that wait for a CPU to become idle
 * @lock: guards all up to @vain, and @entry, @on, @fired and @activity of the
 *	queues in @list
 * @list: struct iwm_gather, by entry, the longest wait first
 * @timer: ends long waits
 * @ns: its interval
 * @fired: how often it has fired
 * @armed: it will fire
 * @used: a queue was linked since it has fired
 * @vain: waits that the timer ended in vain since the thread has run
 * @policy: changes the thread's policy
 * @thread: sends when the scheduler runs it
 * @competes: its policy is SCHED_BATCH (@policy's work)
 */
struct gather_cpu {
	raw_spinlock_t lock;		/* taken with interrupts disabled */
	struct list_head list;
	struct hrtimer timer;
	u32 ns;
	u32 fired;
	bool armed;
	bool used;
	u32 vain;
	struct delayed_work policy;
	struct task_struct *thread;
	bool competes;
};

static DEFINE_PER_CPU(struct gather_cpu, gather_cpus);

static void unlink_locked(struct gather_cpu *on, struct iwm_gather *gather)
{
	lockdep_assert_held(&on->lock);
	list_del(&gather->entry);
	WRITE_ONCE(gather->on, NULL);
}

/* Take a queue off its list. True: the caller gets the list's reference. */
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

/* Posts and segments of the peer: a hint whether more posts will follow. */
static u32 gather_activity(struct iwm_gather *gather)
{
	const struct iwm_qp *qp = container_of(gather, struct iwm_sq,
					       gather)->qp;

	return READ_ONCE(gather->posts) + (u32)iwm_rx_segments(qp);
}

/*
 * Has the wait of a queue lasted too long? It is in vain while neither the
 * consumer nor the peer does anything.
 */
static bool wait_is_over(struct gather_cpu *on, struct iwm_gather *gather)
{
	u32 before = gather->activity;

	gather->activity = gather_activity(gather);
	if (gather->activity == before) {
		on->vain++;
		return true;
	}
	return on->fired - gather->fired >= GATHER_FIRES;
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
		if (!wait_is_over(on, gather))
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
	/* While the thread competes this does nothing: the work is pending. */
	if (READ_ONCE(on->vain) >= GATHER_VAIN && !IS_ENABLED(CONFIG_PREEMPT_RT))
		queue_delayed_work(iwm_wq, &on->policy, 0);
	/* A poster may link a queue again as soon as it is sent: use @next. */
	list_for_each_entry_safe(gather, next, &late, entry)
		iwm_gather_send(gather, sent++ < GATHER_PASS);
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
	here->vain = 0;
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
		iwm_gather_send(gather, true);
	local_bh_enable();
	cond_resched();
}

static void set_policy(struct task_struct *thread, u32 policy)
{
	const struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = policy,
	};

	WARN_ON_ONCE(sched_setattr_nocheck(thread, &attr));
}

/*
 * With PREEMPT_RT a thread can be preempted with softirqs disabled. Keep the
 * normal policy there: a preempted SCHED_IDLE thread might not get the CPU for
 * a long time while it is the transmit owner.
 */
static void thread_setup(unsigned int cpu)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		set_policy(current, SCHED_IDLE);
}

/* The timer has found waits in vain, or the time to compete is over. */
static void change_policy(struct work_struct *work)
{
	struct gather_cpu *on = container_of(to_delayed_work(work),
					     struct gather_cpu, policy);

	on->competes = !on->competes;
	set_policy(on->thread, on->competes ? SCHED_BATCH : SCHED_IDLE);
	if (on->competes)
		mod_delayed_work(iwm_wq, &on->policy, GATHER_COMPETE);
}

static struct smp_hotplug_thread gather_hotplug = {
	.store			= &gather_cpus.thread,
	.thread_should_run	= thread_should_run,
	.thread_fn		= thread_run,
	.setup			= thread_setup,
	.thread_comm		= "iwmpa/%u",
};

/**
 * iwm_gather_link() - put a queue into this CPU's list
 * @gather: the queue; the caller has just set its IWM_SQ_GATHERING
 *
 * The thread or the timer calls iwm_gather_send() for it. Context: any.
 */
void iwm_gather_link(struct iwm_gather *gather)
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
	wake_up_process(here->thread);
	local_irq_restore(flags);
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
		iwm_gather_put(gather);
	/* Pairs with iwm_gather_put(): the caller frees what they have used */
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
		INIT_DELAYED_WORK(&gather->policy, change_policy);
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

	for_each_possible_cpu(cpu) {
		struct gather_cpu *gather = per_cpu_ptr(&gather_cpus, cpu);

		hrtimer_cancel(&gather->timer);
		cancel_delayed_work_sync(&gather->policy);
	}
	smpboot_unregister_percpu_thread(&gather_hotplug);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * How much one context does in one go: a caller whose ring is refilled while it
 * flushes, completions while softirqs wait, and the timers that send.
 */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/iopoll.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "kverbs.h"

#ifdef CONFIG_KPROBES
#define CANNOT_PROBE	NULL

static void probe_function(struct kv_case *t, struct kprobe *probe,
			   const char *name, kprobe_pre_handler_t handler)
{
	memset(probe, 0, sizeof(*probe));
	probe->symbol_name = name;
	probe->pre_handler = handler;
	kv_expect(t, !register_kprobe(probe), "no probe");
}

/* ---- A receive ring that is refilled while it is flushed ---- */

#define RING	16
#define REFILLS	(100 * RING)	/* far more than one call may flush */

/* A context that asks for the flush, and the most that a call has flushed */
struct flusher {
	struct task_struct *task;
	unsigned int now;
	unsigned int most;
};

struct refiller {
	struct work_struct work;
	struct ib_qp *qp;
	atomic_t left;		/* receives to be posted */
	atomic_t flushed;
	struct flusher by[2];
};

static struct refiller *refiller;

static int at_flushed(struct kprobe *probe, struct pt_regs *regs)
{
	struct flusher *f;

	for (f = refiller->by; f != &refiller->by[2]; f++)
		f->now += f->task == current;
	return 0;
}

/* Post each receive anew when it has been flushed. */
static void refill(struct ib_cq *cq, void *context)
{
	const struct ib_recv_wr wr = { };
	struct kv_case *t = context;
	struct refiller *r = t->arg;
	struct ib_wc wc;

	do {
		while (ib_poll_cq(cq, 1, &wc) > 0) {
			atomic_inc(&r->flushed);
			if (atomic_dec_if_positive(&r->left) >= 0)
				ib_post_recv(r->qp, &wr, NULL);
		}
	} while (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP |
				  IB_CQ_REPORT_MISSED_EVENTS) > 0);
}

/* Ask for the flush as long as the ring is refilled. */
static void ask(struct refiller *r, struct flusher *f)
{
	struct ib_qp_attr drain = { .qp_state = IB_QPS_SQD };

	f->task = current;
	while (atomic_read(&r->left)) {
		f->now = 0;
		ib_modify_qp(r->qp, &drain, IB_QP_STATE);
		f->most = max(f->most, f->now);
		cond_resched();
	}
	f->task = NULL;
}

static void ask_too(struct work_struct *work)
{
	struct refiller *r = container_of(work, struct refiller, work);

	ask(r, &r->by[1]);
}

/* Two contexts ask, and a handler refills: each call flushes a ring at most. */
static void flush_by_calls(struct kv_case *t)
{
	static const struct kv_options o = { .handler = refill, .one_cq = true,
					     .depth = RING };
	const struct ib_recv_wr wr = { };
	struct refiller r = { };
	struct kprobe probe;
	int i, flushed = 0;

	t->arg = &r;
	kv_connect(t, &o);
	if (t->failed)
		return;
	r.qp = t->client.id->qp;
	rdma_disconnect(t->client.id);
	kv_expect(t, wait_for_completion_timeout(&t->client.gone, KV_WAIT),
		  "the connection does not end");
	refill(t->client.scq, t);
	refiller = &r;
	probe_function(t, &probe, "iwm_cq_add", at_flushed);
	if (t->failed)
		return;
	atomic_set(&r.left, REFILLS);
	INIT_WORK_ONSTACK(&r.work, ask_too);
	for (i = 0; i < RING; i++)
		ib_post_recv(r.qp, &wr, NULL);
	queue_work(system_unbound_wq, &r.work);
	ask(&r, &r.by[0]);
	flush_work(&r.work);
	destroy_work_on_stack(&r.work);
	kv_expect(t, !read_poll_timeout(atomic_read, flushed,
					flushed == RING + REFILLS, 1000,
					jiffies_to_usecs(KV_WAIT), false,
					&r.flushed),
		  "%d of %u receives are flushed", flushed, RING + REFILLS);
	unregister_kprobe(&probe);
	for (i = 0; i < 2; i++)
		kv_expect(t, r.by[i].most <= RING + 1,
			  "a call has flushed %u receives of a ring of %u",
			  r.by[i].most, RING);
	/* The handler uses the stack. */
	kv_disconnect(t);
}

/* ---- What completes while softirqs wait ---- */

#define DEPTH	4096
#define WRITES	2000
#define MOST	1024

/* Completions on this CPU since softirqs could run */
struct off_run {
	struct tasklet_struct tasklet;
	unsigned int length;
};

static DEFINE_PER_CPU(struct off_run, off_runs);
static unsigned int longest;

static void softirqs_on(struct tasklet_struct *tasklet)
{
	container_of(tasklet, struct off_run, tasklet)->length = 0;
}

static int at_completed(struct kprobe *probe, struct pt_regs *regs)
{
	struct off_run *run = this_cpu_ptr(&off_runs);

	if (!in_softirq())
		return 0;
	if (!run->length++)
		tasklet_schedule(&run->tasklet);
	longest = max(longest, run->length);
	return 0;
}

/* Poll until @num have completed, in order. */
static void expect_completions(struct kv_case *t, u64 first, u64 num,
			       enum ib_wc_status status)
{
	unsigned long end = jiffies + KV_WAIT;
	u64 id = first;
	struct ib_wc wc;

	while (!t->failed && id != first + num) {
		if (ib_poll_cq(t->client.scq, 1, &wc) != 1) {
			kv_expect(t, time_before(jiffies, end),
				  "%llu of %llu complete", id - first, num);
			usleep_range(1000, 2000);
			continue;
		}
		kv_expect(t, wc.wr_id == id && wc.status == status,
			  "%llu instead of %llu: %s", wc.wr_id, id,
			  ib_wc_status_msg(wc.status));
		id++;
	}
}

/* WRITEs of no octet behind a READ: they complete when it does. */
static void post_behind_read(struct kv_case *t, const struct kv_region *there,
			     struct ib_sge *sink, u64 id)
{
	struct ib_rdma_wr *wr = kvcalloc(1 + WRITES, sizeof(*wr), GFP_KERNEL);
	int i;

	kv_expect(t, wr, "no memory");
	if (t->failed)
		return;
	for (i = 0; i <= WRITES; i++) {
		wr[i].wr.opcode = i ? IB_WR_RDMA_WRITE : IB_WR_RDMA_READ;
		wr[i].wr.wr_id = id + i;
		wr[i].wr.send_flags = IB_SEND_SIGNALED;
		wr[i].wr.sg_list = sink;
		wr[i].wr.num_sge = !i;
		wr[i].wr.next = i < WRITES ? &wr[i + 1].wr : NULL;
		wr[i].rkey = there->mr->rkey;
		wr[i].remote_addr = there->mr->iova;
	}
	kv_expect(t, !ib_post_send(t->client.id->qp, &wr->wr, NULL),
		  "ib_post_send");
	kvfree(wr);
}

/* Many sends complete with a READ, then the peer ends and receives are flushed. */
static void complete_many(struct kv_case *t)
{
	static const struct kv_options o = { .handler = kv_unpolled,
					     .one_cq = true, .depth = DEPTH,
					     .cqe = 2 * DEPTH };
	struct ib_recv_wr wr = { };
	struct kv_region *there;
	struct kprobe probe;
	struct ib_sge sink;
	int cpu, i;

	kv_connect(t, &o);
	there = kv_mr(&t->server, 1, KV_SINK | IB_ACCESS_REMOTE_READ);
	sink = kv_dma_sge(kv_region(&t->client, 1), 64);
	for_each_possible_cpu(cpu)
		tasklet_setup(&per_cpu(off_runs, cpu).tasklet, softirqs_on);
	longest = 0;
	if (!t->failed)
		probe_function(t, &probe, "iwm_cq_add", at_completed);
	if (t->failed)
		return;
	for (i = 0; i < DEPTH; i++) {
		wr.wr_id = i;
		kv_expect(t, !ib_post_recv(t->client.id->qp, &wr, NULL),
			  "ib_post_recv");
	}
	post_behind_read(t, there, &sink, DEPTH);
	expect_completions(t, DEPTH, 1 + WRITES, IB_WC_SUCCESS);
	kv_expect(t, longest <= MOST, "%u sends complete in one go", longest);
	rdma_disconnect(t->server.id);
	expect_completions(t, 0, DEPTH, IB_WC_WR_FLUSH_ERR);
	kv_expect(t, longest <= MOST, "%u receives are flushed in one go",
		  longest);
	unregister_kprobe(&probe);
	for_each_possible_cpu(cpu)
		tasklet_kill(&per_cpu(off_runs, cpu).tasklet);
}

/* ---- Many queues that wait for one timer ---- */

#define QUEUES		12
#define MOST_QUEUES	8
#define INTERRUPT_MAX_MS 5000

static unsigned int sends_in_softirq;

static int at_send(struct kprobe *probe, struct pt_regs *regs)
{
	sends_in_softirq += !!in_serving_softirq();
	return 0;
}

/*
 * Post on each connection. No thread runs on this CPU before its timer has sent.
 * On a busy machine an emulator raises the timer's interrupt late.
 */
static void post_together(struct kv_case *c, const struct ib_sge *none)
{
	int i, ms;

	preempt_disable();
	local_bh_disable();
	for (i = 0; i < QUEUES; i++)
		kv_send(&c[i].client, none);
	local_bh_enable();
	for (ms = 0; ms < INTERRUPT_MAX_MS && !READ_ONCE(sends_in_softirq);
	     ms++)
		mdelay(1);
	preempt_enable();
}

/* The timer sends for some queues, and the worker for the others. */
static void timers_together(struct kv_case *t)
{
	struct kv_case *c = kvcalloc(QUEUES, sizeof(*c), GFP_KERNEL);
	static const struct kv_options o = { .poll = IB_POLL_WORKQUEUE };
	struct ib_sge none = { };
	struct kprobe probe;
	int i;

	kv_expect(t, c, "no memory");
	if (t->failed)
		return;
	for (i = 0; i < QUEUES; i++) {
		INIT_LIST_HEAD(&c[i].regions);
		c[i].works = t->works + 2 * i;
		kv_connect(&c[i], &o);
		kv_recv(&c[i].server, &none);
	}
	sends_in_softirq = 0;
	probe_function(t, &probe, "iwm_sq_run_atomic", at_send);
	if (!t->failed)
		post_together(c, &none);
	for (i = 0; i < QUEUES; i++) {
		kv_wait(&c[i], &c[i].works[0], IB_WC_SUCCESS);
		kv_wait(&c[i], &c[i].works[1], IB_WC_SUCCESS);
		kv_expect(t, !c[i].failed, "connection %d: %s", i, c[i].why);
		kv_disconnect(&c[i]);
	}
	if (probe.addr)
		unregister_kprobe(&probe);
	kv_expect(t, sends_in_softirq && sends_in_softirq <= MOST_QUEUES,
		  "the timer sends for %u queues in one go", sends_in_softirq);
	kvfree(c);
}
#else
#define CANNOT_PROBE	"this kernel has no kprobes"
#define flush_by_calls	NULL
#define complete_many	NULL
#define timers_together	NULL
#endif

const struct kv_entry kv_flush_cases[] = {
	{ "flush-by-calls", flush_by_calls, CANNOT_PROBE },
	{ "complete-many", complete_many, CANNOT_PROBE },
	{ "timers-together", timers_together, CANNOT_PROBE },
	{ }
};

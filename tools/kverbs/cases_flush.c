// SPDX-License-Identifier: GPL-2.0
/*
 * How much one context does in one go: a caller whose ring is refilled while it
 * flushes.
 */
#include <linux/iopoll.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
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
#else
#define CANNOT_PROBE	"this kernel has no kprobes"
#define flush_by_calls	NULL
#endif

const struct kv_entry kv_flush_cases[] = {
	{ "flush-by-calls", flush_by_calls, CANNOT_PROBE },
	{ }
};

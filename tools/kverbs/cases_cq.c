// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues: polling contexts, where handlers are called, sizes, and
 * moderation of notifications.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "kverbs.h"

/* Send messages both ways, and a WRITE; compare the data. */
static void exchange(struct kv_case *t, enum ib_poll_context poll)
{
	const struct kv_options o = { .poll = poll };
	struct kv_region *from, *there;
	struct kv_work *send, *recv;
	struct ib_sge sge, in;
	int i;

	kv_connect(t, &o);
	from = kv_mr(&t->client, 4, IB_ACCESS_LOCAL_WRITE);
	there = kv_mr(&t->server, 4, KV_SINK);
	kv_fill(from, 1);
	sge = kv_sge(from, 0, 4 * PAGE_SIZE);
	for (i = 0; i < 20; i++) {
		send = kv_rdma(&t->client, IB_WR_RDMA_WRITE, &sge, 1, there, 0);
		kv_wait(t, send, IB_WC_SUCCESS);
		kv_expect(t, poll != IB_POLL_SOFTIRQ || send->softirq,
			  "not completed in softirq");
		kv_expect(t, poll == IB_POLL_SOFTIRQ || !send->softirq,
			  "completed in softirq");
		kv_sync(t);
	}
	kv_compare(there, 0, 4 * PAGE_SIZE, 1, 0);
	in = kv_dma_sge(kv_region(&t->client, 1), 64);
	recv = kv_recv(&t->client, &in);
	in = kv_dma_sge(kv_region(&t->server, 1), 64);
	kv_wait(t, kv_send(&t->server, &in), IB_WC_SUCCESS);
	kv_wait(t, recv, IB_WC_SUCCESS);
}

static void poll_softirq(struct kv_case *t)
{
	exchange(t, IB_POLL_SOFTIRQ);
}

static void poll_workqueue(struct kv_case *t)
{
	exchange(t, IB_POLL_WORKQUEUE);
}

static void poll_unbound(struct kv_case *t)
{
	exchange(t, IB_POLL_UNBOUND_WORKQUEUE);
}

static void poll_direct(struct kv_case *t)
{
	exchange(t, IB_POLL_DIRECT);
}

/* Of a queue that the core does not poll */
static void drain_and_arm(struct ib_cq *cq)
{
	struct ib_wc wc;

	do {
		while (ib_poll_cq(cq, 1, &wc) > 0)
			kv_done(cq, &wc);
	} while (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP |
				  IB_CQ_REPORT_MISSED_EVENTS) > 0);
}

/* Completions are handled on the CPU that sends and receives. */
static void handled_here(struct kv_case *t, enum ib_poll_context poll)
{
	const struct kv_options o = { .poll = poll, .alike = true };
	struct kv_work *send, *recv;
	struct ib_sge out, in;
	int cpu, i;

	for_each_online_cpu(cpu) {
		set_cpus_allowed_ptr(current, cpumask_of(cpu));
		kv_connect(t, &o);
		out = kv_dma_sge(kv_region(&t->client, 1), 64);
		in = kv_dma_sge(kv_region(&t->server, 1), 64);
		for (i = 0; i < 10 && !t->failed; i++) {
			recv = kv_recv(&t->server, &in);
			send = kv_send(&t->client, &out);
			kv_wait(t, send, IB_WC_SUCCESS);
			kv_wait(t, recv, IB_WC_SUCCESS);
			/* Work that connecting has queued may be elsewhere. */
			kv_expect(t, !i || (send->cpu == cpu &&
					    recv->cpu == cpu),
				  "on CPU %d: SEND handled on %d, receive on %d",
				  cpu, send->cpu, recv->cpu);
		}
		kv_disconnect(t);
	}
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

static void handled_here_softirq(struct kv_case *t)
{
	handled_here(t, IB_POLL_SOFTIRQ);
}

static void handled_here_workqueue(struct kv_case *t)
{
	handled_here(t, IB_POLL_WORKQUEUE);
}

/* ---- Two CPUs complete on one queue ---- */

#define BATCH	32

struct alone {
	struct kv_case *t;
	struct work_struct post;
	struct kv_work *sends[BATCH];
	struct ib_sge sge;
	atomic_t inside;
	bool twice;
};

static void alone_handler(struct ib_cq *cq, void *context)
{
	struct kv_case *t = context;
	struct alone *a = t->arg;
	int i;

	if (atomic_inc_return(&a->inside) != 1)
		WRITE_ONCE(a->twice, true);
	drain_and_arm(cq);
	for (i = 0; i < 6; i++)
		udelay(8);	/* for a completion that finds the queue armed */
	atomic_dec(&a->inside);
}

static void post_sends(struct kv_end *end, struct kv_work **sends,
		       struct ib_sge *sge)
{
	int i;

	for (i = 0; i < BATCH; i++)
		kv_post_send(end, sends[i], sge, 1);
}

static void alone_post(struct work_struct *work)
{
	struct alone *a = container_of(work, struct alone, post);

	post_sends(&a->t->server, a->sends, &a->sge);
}

/*
 * SENDs of both ends at once: the client's queue gets its own SENDs' completions
 * on one CPU, and those of its receives on another.
 */
static void alone_round(struct kv_case *t, struct alone *a, struct ib_sge *sge)
{
	struct kv_work *sends[BATCH], *recvs[2 * BATCH];
	int i;

	for (i = 0; i < BATCH; i++) {
		recvs[2 * i] = kv_recv(&t->client, sge);
		recvs[2 * i + 1] = kv_recv(&t->server, &a->sge);
		sends[i] = kv_work(t);
		a->sends[i] = kv_work(t);
	}
	queue_work_on(cpumask_last(cpu_online_mask), system_highpri_wq,
		      &a->post);
	post_sends(&t->client, sends, sge);
	flush_work(&a->post);
	for (i = 0; i < BATCH; i++) {
		kv_wait(t, sends[i], IB_WC_SUCCESS);
		kv_wait(t, a->sends[i], IB_WC_SUCCESS);
		kv_wait(t, recvs[2 * i], IB_WC_SUCCESS);
		kv_wait(t, recvs[2 * i + 1], IB_WC_SUCCESS);
	}
}

static void alone_connection(struct kv_case *t, struct alone *a)
{
	static const struct kv_options o = { .handler = alone_handler,
					     .one_cq = true };
	struct ib_sge sge;
	int i;

	kv_connect(t, &o);
	if (!t->failed) {
		sge = kv_dma_sge(kv_region(&t->client, 1), 64);
		a->sge = kv_dma_sge(kv_region(&t->server, 1), 64);
		ib_req_notify_cq(t->client.scq, IB_CQ_NEXT_COMP);
	}
	for (i = 0; i < 7 && !t->failed; i++)
		alone_round(t, a, &sge);
	kv_disconnect(t);
}

static void handler_alone(struct kv_case *t)
{
	struct alone a = { .t = t };
	int i;

	INIT_WORK_ONSTACK(&a.post, alone_post);
	t->arg = &a;
	set_cpus_allowed_ptr(current,
			     cpumask_of(cpumask_first(cpu_online_mask)));
	for (i = 0; i < 5 && !t->failed; i++)
		alone_connection(t, &a);
	kv_expect(t, !a.twice, "two CPUs called the handler at once");
	destroy_work_on_stack(&a.post);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

/* ---- Sizes ---- */

/* Resize the queue repeatedly while it is in use. */
static void resize_under_load(struct kv_case *t)
{
	static const struct kv_options o = { .poll = IB_POLL_WORKQUEUE };
	struct kv_region *from, *there;
	struct kv_work *write[64];
	struct ib_sge sge;
	int round, i;

	kv_connect(t, &o);
	from = kv_region(&t->client, 1);
	there = kv_mr(&t->server, 1, KV_SINK);
	sge = kv_dma_sge(from, 512);
	for (round = 0; round < 14; round++) {
		for (i = 0; i < ARRAY_SIZE(write); i++) {
			write[i] = kv_rdma(&t->client, IB_WR_RDMA_WRITE, &sge,
					   1, there, 0);
			if (i % 8 == 0 && !t->failed)
				kv_expect(t, !ib_resize_cq(t->client.scq,
							   i % 16 ? 128 : 1024),
					  "ib_resize_cq");
		}
		for (i = 0; i < ARRAY_SIZE(write); i++)
			kv_wait(t, write[i], IB_WC_SUCCESS);
		for (i = 0; i < ARRAY_SIZE(write) && !t->failed; i++)
			kv_expect(t, write[i]->count == 1,
				  "%u completions of one work request",
				  write[i]->count);
	}
	kv_sync(t);
}

/* Unpolled completions move to the new queue, or prevent it from shrinking. */
static void resize_keeps(struct kv_case *t)
{
	static const struct kv_options o = { .poll = IB_POLL_DIRECT };
	struct kv_work *write[20], *recv, *second;
	struct kv_region *there;
	struct ib_sge sge, in;
	int i, ret;

	kv_connect(t, &o);
	sge = kv_dma_sge(kv_region(&t->client, 1), 64);
	there = kv_mr(&t->server, 1, KV_SINK);
	in = kv_dma_sge(there, 64);
	recv = kv_recv(&t->server, &in);
	second = kv_recv(&t->server, &in);
	for (i = 0; i < ARRAY_SIZE(write); i++)
		write[i] = kv_rdma(&t->client, IB_WR_RDMA_WRITE, &sge, 1,
				   there, 0);
	kv_send(&t->client, &sge);
	kv_wait(t, recv, IB_WC_SUCCESS);
	/*
	 * The first SEND may arrive before the completions of its batch. The
	 * second leaves only after them.
	 */
	kv_send(&t->client, &sge);
	kv_wait(t, second, IB_WC_SUCCESS);
	if (t->failed)
		return;
	ret = ib_resize_cq(t->client.scq, 16);
	kv_expect(t, ret == -EINVAL, "shrunk below unpolled entries: %d", ret);
	ret = ib_resize_cq(t->client.scq, 32);
	kv_expect(t, !ret, "ib_resize_cq to 32: %d", ret);
	kv_expect(t, t->client.scq->cqe >= 32, "%d entries",
		  t->client.scq->cqe);
	ret = ib_resize_cq(t->client.scq, t->dev->attrs.max_cqe + 1);
	kv_expect(t, ret == -EINVAL, "larger than max_cqe: %d", ret);
	for (i = 0; i < ARRAY_SIZE(write); i++)
		kv_wait(t, write[i], IB_WC_SUCCESS);
	for (i = 0; i < ARRAY_SIZE(write) && !t->failed; i++)
		kv_expect(t, write[i]->count == 1, "%u completions",
			  write[i]->count);
}

/* ---- Overflow ---- */

/* More completions than fit into a queue that is never polled. */
static void overflow(struct kv_case *t)
{
	static const struct kv_options o = { .handler = kv_unpolled, .cqe = 16 };
	struct kv_region *there;
	struct ib_sge sge;
	int i;

	kv_connect(t, &o);
	sge = kv_dma_sge(kv_region(&t->client, 1), 64);
	there = kv_mr(&t->server, 1, KV_SINK);
	for (i = 0; i < 64; i++)
		kv_rdma(&t->client, IB_WR_RDMA_WRITE, &sge, 1, there, 0);
}

/* The connection ends, and both ends get the event. */
static void overflow_ends(struct kv_case *t)
{
	overflow(t);
	if (t->failed)
		return;
	kv_expect(t, wait_for_completion_timeout(&t->client.gone, KV_WAIT),
		  "the connection does not end");
	kv_expect(t, wait_for_completion_timeout(&t->server.gone, KV_WAIT),
		  "the peer does not hear of it");
}

/* Destroy QP and queue while the overflow is handled. */
static void overflow_destroy(struct kv_case *t)
{
	int i;

	for (i = 0; i < 20 && !t->failed; i++) {
		overflow(t);
		kv_disconnect(t);
	}
}

/* ---- Moderation ---- */

/* A queue that this file polls. */
struct watched {
	struct work_struct work;
	struct ib_cq *cq;
	unsigned int calls;
	bool stopped;
};

static void watched_poll(struct work_struct *work)
{
	drain_and_arm(container_of(work, struct watched, work)->cq);
}

/* Context: interrupts off. */
static void watched_handler(struct ib_cq *cq, void *context)
{
	struct kv_case *t = context;
	struct watched *w = t->arg;

	w->cq = cq;
	w->calls++;
	if (!READ_ONCE(w->stopped))
		queue_work(system_highpri_wq, &w->work);
}

/* Call before the queue is destroyed. */
static void watched_stop(struct watched *w)
{
	WRITE_ONCE(w->stopped, true);
	synchronize_rcu();	/* for handlers that read stopped as false */
	flush_work(&w->work);
}

/* Send messages, each after the one before it has arrived. */
static void ping(struct kv_case *t)
{
	struct kv_work *send[192], *recv;
	struct ib_sge out, in;
	int i;

	in = kv_dma_sge(kv_region(&t->server, 1), 64);
	out = kv_dma_sge(kv_region(&t->client, 1), 64);
	for (i = 0; i < ARRAY_SIZE(send); i++) {
		recv = kv_recv(&t->server, &in);
		send[i] = kv_send(&t->client, &out);
		kv_wait(t, recv, IB_WC_SUCCESS);
	}
	for (i = 0; i < ARRAY_SIZE(send); i++)
		kv_wait(t, send[i], IB_WC_SUCCESS);
}

/* Count the calls of the handler. */
static unsigned int calls(struct kv_case *t, int count, int usec)
{
	static const struct kv_options o = { .handler = watched_handler };
	struct watched w = { };

	INIT_WORK_ONSTACK(&w.work, watched_poll);
	t->arg = &w;
	kv_connect(t, &o);
	if (!t->failed) {
		kv_expect(t, !rdma_set_cq_moderation(t->client.scq, count,
						     usec),
			  "rdma_set_cq_moderation");
		ib_req_notify_cq(t->client.scq, IB_CQ_NEXT_COMP);
		ping(t);
	}
	watched_stop(&w);
	kv_disconnect(t);
	destroy_work_on_stack(&w.work);
	return w.calls;
}

/* Eight calls at least, even of a poller that is late and finds 24 at a time. */
static void moderated(struct kv_case *t)
{
	unsigned int each = calls(t, 0, 0), few = calls(t, 16, U16_MAX);

	kv_expect(t, few >= 8 && few < each / 2,
		  "%u calls of the handler, %u without moderation", few, each);
}

/* The timeout ends a wait for too few completions; 0 means that none waits. */
static void moderated_ends(struct kv_case *t)
{
	calls(t, U16_MAX, 1000);
	calls(t, U16_MAX, 0);
}

const struct kv_entry kv_cq_cases[] = {
	{ "poll-softirq", poll_softirq },
	{ "poll-workqueue", poll_workqueue },
	{ "poll-unbound", poll_unbound },
	{ "poll-direct", poll_direct },
	{ "handled-here-softirq", handled_here_softirq },
	{ "handled-here-workqueue", handled_here_workqueue },
	{ "handler-alone", handler_alone },
	{ "resize-under-load", resize_under_load, KV_CANNOT_RESIZE },
	{ "resize-keeps", resize_keeps, KV_CANNOT_RESIZE },
	{ "overflow", overflow_ends },
	{ "overflow-destroy", overflow_destroy },
	{ "moderation", moderated },
	{ "moderation-ends", moderated_ends },
	{ }
};

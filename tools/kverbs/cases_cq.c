// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues: polling contexts, vectors, sizes, and moderation of
 * notifications.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
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

/* Each vector has its own CPU, and its completions are handled there. */
static void vectors(struct kv_case *t, enum ib_poll_context poll)
{
	cpumask_var_t seen;
	int vector = 0, i;

	if (!zalloc_cpumask_var(&seen, GFP_KERNEL)) {
		kv_fail(t, "no memory");
		return;
	}
	do {
		const struct kv_options o = { .poll = poll, .vector = vector };
		struct kv_work *send, *recv;
		struct ib_sge out, in;
		int cpu = -1;

		kv_connect(t, &o);
		out = kv_dma_sge(kv_region(&t->client, 1), 64);
		in = kv_dma_sge(kv_region(&t->server, 1), 64);
		for (i = 0; i < 10 && !t->failed; i++) {
			recv = kv_recv(&t->server, &in);
			send = kv_send(&t->client, &out);
			kv_wait(t, send, IB_WC_SUCCESS);
			kv_wait(t, recv, IB_WC_SUCCESS);
			kv_expect(t, cpu < 0 || send->cpu == cpu,
				  "vector %d: CPU %d, then %d", vector, cpu,
				  send->cpu);
			cpu = send->cpu;
		}
		if (!t->failed && cpumask_test_and_set_cpu(cpu, seen))
			kv_fail(t, "vector %d: CPU %d has another", vector,
				cpu);
		i = t->dev ? t->dev->num_comp_vectors : 0;
		kv_disconnect(t);
	} while (++vector < i && !t->failed);
	kv_expect(t, cpumask_weight(seen) == num_online_cpus(),
		  "%u CPUs of %u", cpumask_weight(seen), num_online_cpus());
	free_cpumask_var(seen);
}

static void vectors_softirq(struct kv_case *t)
{
	vectors(t, IB_POLL_SOFTIRQ);
}

static void vectors_workqueue(struct kv_case *t)
{
	vectors(t, IB_POLL_WORKQUEUE);
}

/* ---- CPU hotplug ---- */

/* A queue that is created while a CPU comes up. */
static struct hotplug {
	struct kv_case *t;
	struct work_struct work;
	struct completion made;
	bool waited;
} hotplug;

static void hotplug_handler(struct ib_cq *cq, void *context)
{
}

static void hotplug_make(struct work_struct *work)
{
	const struct ib_cq_init_attr attr = { .cqe = 16, .comp_vector = 1 };
	struct ib_cq *cq = ib_create_cq(hotplug.t->dev, hotplug_handler, NULL,
					NULL, &attr);

	if (IS_ERR(cq))
		kv_fail(hotplug.t, "ib_create_cq: %pe", cq);
	else
		ib_destroy_cq(cq);
	complete(&hotplug.made);
}

/* Context: the CPU hotplug lock is held. */
static int hotplug_comes(unsigned int cpu)
{
	queue_work(system_unbound_wq, &hotplug.work);
	hotplug.waited = wait_for_completion_timeout(&hotplug.made, KV_WAIT);
	return 0;
}

/* Creating a queue must not wait for the hotplug lock: reclaim may need it. */
static void cpu_comes(struct kv_case *t)
{
	static const struct kv_options o = { .poll = IB_POLL_WORKQUEUE };
	unsigned int cpu = cpumask_last(cpu_online_mask);
	int state;

	kv_connect(t, &o);
	if (t->failed || !cpu)
		return;
	hotplug.t = t;
	hotplug.waited = false;
	INIT_WORK(&hotplug.work, hotplug_make);
	init_completion(&hotplug.made);
	state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "kverbs:comes",
					  hotplug_comes, NULL);
	kv_expect(t, state >= 0, "cpuhp_setup_state: %d", state);
	if (t->failed)
		return;
	kv_expect(t, !remove_cpu(cpu), "remove_cpu");
	kv_expect(t, !add_cpu(cpu), "add_cpu");
	flush_work(&hotplug.work);
	cpuhp_remove_state_nocalls(state);
	kv_expect(t, hotplug.waited, "the queue is made when the CPU is there");
	kv_sync(t);
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
	struct watched *w = container_of(work, struct watched, work);
	struct ib_wc wc;

	do {
		while (ib_poll_cq(w->cq, 1, &wc) > 0)
			kv_done(w->cq, &wc);
	} while (ib_req_notify_cq(w->cq, IB_CQ_NEXT_COMP |
				  IB_CQ_REPORT_MISSED_EVENTS) > 0);
}

/* Context: the CPU of the vector, interrupts off. */
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
	{ "vectors-softirq", vectors_softirq },
	{ "vectors-workqueue", vectors_workqueue },
	{ "cpu-comes", cpu_comes, KV_CANNOT_HOTPLUG },
	{ "resize-under-load", resize_under_load, KV_CANNOT_RESIZE },
	{ "resize-keeps", resize_keeps, KV_CANNOT_RESIZE },
	{ "overflow", overflow_ends },
	{ "overflow-destroy", overflow_destroy },
	{ "moderation", moderated },
	{ "moderation-ends", moderated_ends },
	{ }
};

// SPDX-License-Identifier: GPL-2.0
/*
 * Posts: from atomic context, when they are sent, under a lock that the handler
 * takes, of receives to a queue pair in error.
 */
#include <linux/iopoll.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include "kverbs.h"

static const struct kv_options workqueue = { .poll = IB_POLL_WORKQUEUE };

/* ---- Atomic context ---- */

struct poster {
	struct timer_list timer;
	struct kv_case *t;
	struct ib_sge sge;
	struct kv_work *send[4];
	struct completion posted;
};

static void post_some(struct poster *p)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(p->send); i++)
		p->send[i] = kv_send(&p->t->client, &p->sge);
}

static void in_timer(struct timer_list *timer)
{
	struct poster *p = container_of(timer, struct poster, timer);

	post_some(p);
	complete(&p->posted);
}

static void collect(struct poster *p, struct kv_work **recv)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(p->send); i++) {
		kv_wait(p->t, p->send[i], IB_WC_SUCCESS);
		kv_wait(p->t, recv[i], IB_WC_SUCCESS);
	}
}

static void atomic_post(struct kv_case *t)
{
	static DEFINE_SPINLOCK(lock);
	struct poster p = { .t = t };
	struct kv_work *recv[8];
	unsigned long flags;
	struct ib_sge in;
	int i;

	kv_connect(t, &workqueue);
	in = kv_dma_sge(kv_region(&t->server, 1), 64);
	p.sge = kv_dma_sge(kv_region(&t->client, 1), 64);
	spin_lock_irqsave(&lock, flags);
	for (i = 0; i < ARRAY_SIZE(recv); i++)
		recv[i] = kv_recv(&t->server, &in);
	post_some(&p);
	spin_unlock_irqrestore(&lock, flags);
	collect(&p, recv);

	init_completion(&p.posted);
	timer_setup_on_stack(&p.timer, in_timer, 0);
	mod_timer(&p.timer, jiffies);
	wait_for_completion(&p.posted);
	timer_delete_sync(&p.timer);
	timer_destroy_on_stack(&p.timer);
	collect(&p, recv + 4);
}

/* ---- When a post is sent ---- */

/* Poll by hand: the send CQ is never armed. */
static void wait_sent(struct kv_case *t, struct ib_wc *wc)
{
	unsigned long end = jiffies + KV_WAIT;

	while (!t->failed && ib_poll_cq(t->client.scq, 1, wc) != 1) {
		if (time_after(jiffies, end))
			kv_fail(t, "a SEND does not complete");
		usleep_range(1000, 2000);
	}
}

/* Has ib_post_send() sent? No other context runs on this CPU meanwhile. */
static bool sent_at_once(struct kv_case *t, const struct ib_sge *out,
			 const struct ib_sge *in)
{
	struct kv_work *recv = kv_recv(&t->server, in);
	struct ib_wc wc = { };
	bool at_once;

	if (t->failed)
		return false;
	local_bh_disable();
	kv_send(&t->client, out);
	at_once = ib_poll_cq(t->client.scq, 1, &wc) == 1;
	local_bh_enable();
	kv_wait(t, recv, IB_WC_SUCCESS);
	if (!at_once)
		wait_sent(t, &wc);
	kv_expect(t, wc.status == IB_WC_SUCCESS, "SEND: %s",
		  ib_wc_status_msg(wc.status));
	return at_once;
}

/*
 * Posts wait for others until single posts have been seen: then ib_post_send()
 * sends, except for an occasional post that waits. The socket may be in use.
 */
static void post_alone(struct kv_case *t)
{
	static const struct kv_options o = { .handler = kv_unpolled };
	struct ib_sge in, out;
	int i, sent = 0;

	kv_connect(t, &o);
	in = kv_dma_sge(kv_region(&t->server, 1), 64);
	out = kv_dma_sge(kv_region(&t->client, 1), 64);
	for (i = 0; i < 4; i++)
		kv_expect(t, !sent_at_once(t, &out, &in),
			  "post %d does not wait for others", i);
	for (i = 0; i < 100 && !t->failed; i++)
		sent += sent_at_once(t, &out, &in);
	kv_expect(t, sent || IS_ENABLED(CONFIG_PREEMPT_RT),
		  "no post is sent at once");
	kv_expect(t, sent < i, "no post waits any more");
}

/* ---- A lock that the handler takes ---- */

static DEFINE_SPINLOCK(consumer_lock);

static void locking_handler(struct ib_cq *cq, void *context)
{
	unsigned long flags;
	struct ib_wc wc;

	spin_lock_irqsave(&consumer_lock, flags);
	do {
		while (ib_poll_cq(cq, 1, &wc) == 1)
			kv_done(cq, &wc);
	} while (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP |
				  IB_CQ_REPORT_MISSED_EVENTS) > 0);
	spin_unlock_irqrestore(&consumer_lock, flags);
}

/*
 * The poster holds the lock that the handler takes, for posts that wait for
 * others and for those that could be sent at once: no post calls the handler.
 */
static void post_locked(struct kv_case *t)
{
	static const struct kv_options o = { .handler = locking_handler,
					     .one_cq = true };
	struct kv_work *recv, *send;
	struct ib_sge in, out;
	unsigned long flags;
	int i;

	kv_connect(t, &o);
	in = kv_dma_sge(kv_region(&t->client, 1), 64);
	out = kv_dma_sge(kv_region(&t->server, 1), 64);
	if (!t->failed)
		locking_handler(t->client.rcq, NULL);
	for (i = 0; i < 40 && !t->failed; i++) {
		spin_lock_irqsave(&consumer_lock, flags);
		recv = kv_recv(&t->client, &in);
		send = kv_send(&t->server, &out);
		spin_unlock_irqrestore(&consumer_lock, flags);
		kv_wait(t, send, IB_WC_SUCCESS);
		kv_wait(t, recv, IB_WC_SUCCESS);
	}
}

/* ---- Receives that are posted to a queue pair in error ---- */

#define BUFFERS		4
#define POSTS		1000	/* far more than a poster with BUFFERS needs */

struct late_poster {
	struct kv_end *end;
	atomic_t buffers;	/* not posted */
	atomic_t flushed;
	unsigned int posts;
	int ret;
};

/* Gives the buffers back. */
static void late_handler(struct ib_cq *cq, void *context)
{
	struct kv_case *t = context;
	struct late_poster *p = t->arg;
	struct ib_wc wc;

	do {
		while (ib_poll_cq(cq, 1, &wc) > 0) {
			atomic_inc(&p->flushed);
			atomic_inc(&p->buffers);
		}
	} while (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP |
				  IB_CQ_REPORT_MISSED_EVENTS) > 0);
}

/* As cifs.ko: posts while it has buffers. No other task gets the CPU. */
static long post_all(void *arg)
{
	const struct ib_recv_wr wr = { };
	struct late_poster *p = arg;

	preempt_disable();
	while (p->posts < POSTS && !p->ret &&
	       atomic_dec_if_positive(&p->buffers) >= 0) {
		p->ret = ib_post_recv(p->end->id->qp, &wr, NULL);
		p->posts++;
	}
	preempt_enable();
	return 0;
}

static void posts_after_end(struct kv_case *t)
{
	const struct kv_options o = { .handler = late_handler,
				      .one_cq = true };
	struct late_poster p = { };
	int flushed = 0;

	t->arg = &p;
	kv_connect(t, &o);
	p.end = &t->client;
	if (t->failed)
		return;
	rdma_disconnect(t->client.id);
	kv_expect(t, wait_for_completion_timeout(&t->client.gone, KV_WAIT),
		  "the connection does not end");
	late_handler(t->client.scq, t);
	atomic_set(&p.flushed, 0);
	atomic_set(&p.buffers, BUFFERS);
	work_on_cpu(cpumask_first(cpu_online_mask), post_all, &p);
	kv_expect(t, !p.ret, "ib_post_recv: %d", p.ret);
	kv_expect(t, p.posts < POSTS, "the poster gets its buffers for ever");
	kv_expect(t, !read_poll_timeout(atomic_read, flushed,
					flushed == p.posts, 1000,
					jiffies_to_usecs(KV_WAIT), false,
					&p.flushed),
		  "%d of %u receives are flushed", flushed, p.posts);
	/* The handler uses the stack. */
	kv_disconnect(t);
}

const struct kv_entry kv_post_cases[] = {
	{ "atomic-post", atomic_post },
	{ "post-alone", post_alone },
	{ "post-locked", post_locked },
	{ "posts-after-end", posts_after_end },
	{ }
};

// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: the DMA key, many elements of a WRITE, several sinks of a READ,
 * draining, destroying, memory reserves. Posts: from atomic context, when they
 * are sent, behind one that has failed.
 */
#include <linux/delay.h>
#include <linux/iopoll.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <net/inet_hashtables.h>
#include <net/tcp.h>
#include "kverbs.h"

static const struct kv_options workqueue = { .poll = IB_POLL_WORKQUEUE };

static void dma_key(struct kv_case *t)
{
	struct kv_region *from, *there;
	struct ib_sge out, in;
	struct kv_work *recv;

	kv_connect(t, &workqueue);
	from = kv_region(&t->client, 1);
	there = kv_region(&t->server, 1);
	kv_fill(from, 1);
	in = kv_dma_sge(there, PAGE_SIZE);
	out = kv_dma_sge(from, PAGE_SIZE);
	recv = kv_recv(&t->server, &in);
	kv_wait(t, kv_send(&t->client, &out), IB_WC_SUCCESS);
	kv_wait(t, recv, IB_WC_SUCCESS);
	kv_expect(t, recv->wc.byte_len == PAGE_SIZE, "byte_len %u",
		  recv->wc.byte_len);
	kv_compare(there, 0, PAGE_SIZE, 1, 0);
}

#define GATHER_WRS	8
#define GATHER_LEN	1001
#define GATHER_MAX	32

/* Request @n gathers from all pages of @from, beginning with the n'th. */
static void gather(const struct kv_region *from, u32 n, struct ib_sge *sge)
{
	u32 i;

	for (i = 0; i < from->num_pages; i++)
		sge[i] = kv_sge(from, (n + i) % from->num_pages * PAGE_SIZE + n,
				GATHER_LEN);
}

/* Check that the data of gather() has arrived at @offset of @to. */
static void gathered(const struct kv_region *to, u32 offset, u32 n, u32 num)
{
	u32 i;

	for (i = 0; i < num; i++)
		kv_compare(to, offset + i * GATHER_LEN, GATHER_LEN, 5,
			   (n + i) % num * PAGE_SIZE + n);
}

/* Post WRITEs that wait in the ring together, and a SEND as the last one. */
static void post_gathers(const struct kv_region *from,
			 const struct kv_region *there)
{
	u32 num = from->num_pages, len = num * GATHER_LEN, n;
	struct kv_work *work[GATHER_WRS], *recv;
	struct kv_case *t = there->end->t;
	struct ib_sge sge[GATHER_MAX], in;

	in = kv_sge(there, (GATHER_WRS - 1) * len, len);
	recv = kv_recv(&t->server, &in);
	for (n = 0; n < GATHER_WRS; n++) {
		gather(from, n, sge);
		work[n] = n < GATHER_WRS - 1 ?
			  kv_rdma(&t->client, IB_WR_RDMA_WRITE, sge, num, there,
				  n * len) :
			  kv_send_sges(&t->client, sge, num);
	}
	for (n = 0; n < GATHER_WRS; n++)
		kv_wait(t, work[n], IB_WC_SUCCESS);
	kv_wait(t, recv, IB_WC_SUCCESS);
}

/* WRITE with the maximum number of elements. */
static void write_sges(struct kv_case *t)
{
	static const struct kv_options many = {
		.poll = IB_POLL_WORKQUEUE,
		.depth = GATHER_WRS,
		.many = true,
	};
	struct kv_region *from, *there;
	u32 num, n;

	kv_connect(t, &many);
	if (t->failed)
		return;
	num = t->dev->attrs.max_send_sge;
	kv_expect(t, num > 6 && num <= GATHER_MAX, "max_send_sge is %u", num);
	from = kv_mr(&t->client, num, IB_ACCESS_LOCAL_WRITE);
	there = kv_mr(&t->server, num * GATHER_WRS, KV_SINK);
	kv_fill(from, 5);
	if (!t->failed)
		post_gathers(from, there);
	for (n = 0; n < GATHER_WRS; n++)
		gathered(there, n * num * GATHER_LEN, n, num);
}

static void expect_refused(struct kv_case *t, enum ib_wr_opcode opcode, u32 num)
{
	struct ib_sge sge[GATHER_MAX + 1] = { };
	struct ib_rdma_wr wr = {
		.wr = { .opcode = opcode, .sg_list = sge, .num_sge = num },
	};
	const struct ib_send_wr *bad = NULL;
	int ret;

	if (t->failed)
		return;
	ret = ib_post_send(t->client.id->qp, &wr.wr, &bad);
	kv_expect(t, ret == -EINVAL && bad == &wr.wr,
		  "opcode %d with %u elements: %d", opcode, num, ret);
}

/* Create a second queue pair beside that of the connection. */
static void expect_qp(struct kv_case *t, u32 num, int want)
{
	struct ib_qp_init_attr attr = {
		.send_cq = t->client.scq,
		.recv_cq = t->client.rcq,
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = num,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_qp *qp;

	if (t->failed)
		return;
	qp = ib_create_qp(t->client.pd, &attr);
	kv_expect(t, PTR_ERR_OR_ZERO(qp) == want,
		  "a queue pair with %u elements: %d", num,
		  PTR_ERR_OR_ZERO(qp));
	if (!IS_ERR(qp))
		ib_destroy_qp(qp);
}

/* One element above the maximum is refused, and the queue stays usable. */
static void too_many_sges(struct kv_case *t)
{
	static const struct kv_options many = {
		.poll = IB_POLL_WORKQUEUE,
		.many = true,
	};
	u32 max;

	kv_connect(t, &workqueue);
	expect_refused(t, IB_WR_RDMA_WRITE, 7);	/* the QP has 6 */
	kv_disconnect(t);
	kv_connect(t, &many);
	if (t->failed)
		return;
	max = min_t(u32, t->dev->attrs.max_send_sge, GATHER_MAX);
	expect_refused(t, IB_WR_RDMA_WRITE, max + 1);
	expect_refused(t, IB_WR_SEND, max + 1);
	expect_refused(t, IB_WR_RDMA_READ, t->dev->attrs.max_sge_rd + 1);
	expect_qp(t, max, 0);
	expect_qp(t, max + 1, -EINVAL);
	kv_sync(t);
}

/*
 * READs into several elements, of two regions and of the DMA key, more READs
 * than may be outstanding.
 */
static void read_sges(struct kv_case *t)
{
	static const struct kv_options few = {
		.poll = IB_POLL_WORKQUEUE,
		.reads = 4,
	};
	static const u32 len[6] = { 100, 0, 4096, 1, 5003, 77 };
	struct kv_region *a, *b, *c, *there;
	struct kv_work *read[20];
	struct ib_sge sge[6];
	u32 total = 0;
	int i;

	kv_connect(t, &few);
	a = kv_mr(&t->client, 2, KV_SINK);
	b = kv_mr(&t->client, 3, KV_SINK);
	c = kv_region(&t->client, 1);
	there = kv_mr(&t->server, 4, IB_ACCESS_REMOTE_READ);
	kv_fill(there, 9);
	sge[0] = kv_sge(a, 7, len[0]);
	sge[1] = kv_sge(a, 0, len[1]);
	sge[2] = kv_sge(b, 3000, len[2]);
	sge[3] = kv_sge(a, 5000, len[3]);
	sge[4] = kv_sge(b, 3000 + 4096, len[4]);
	sge[5] = kv_dma_sge(c, len[5]);
	for (i = 0; i < 6; i++)
		total += len[i];
	for (i = 0; i < 20; i++)
		read[i] = kv_rdma(&t->client, IB_WR_RDMA_READ, sge, 6, there,
				  i);
	for (i = 0; i < 20; i++) {
		kv_wait(t, read[i], IB_WC_SUCCESS);
		kv_expect(t, read[i]->wc.byte_len == total, "byte_len %u of %u",
			  read[i]->wc.byte_len, total);
	}
	kv_compare(a, 7, 100, 9, 19);
	kv_compare(b, 3000, 4096, 9, 19 + 100);
	kv_compare(a, 5000, 1, 9, 19 + 100 + 4096);
	kv_compare(b, 3000 + 4096, 5003, 9, 19 + 100 + 4096 + 1);
	kv_compare(c, 0, 77, 9, 19 + 100 + 4096 + 1 + 5003);
	kv_sync(t);
}

/* The second of three sinks is not writable. */
static void read_bad_sink(struct kv_case *t)
{
	struct kv_region *a, *b, *there;
	struct ib_sge sge[3];

	kv_connect(t, &workqueue);
	a = kv_mr(&t->client, 1, KV_SINK);
	b = kv_region(&t->client, 1);
	there = kv_mr(&t->server, 1, IB_ACCESS_REMOTE_READ);
	sge[0] = kv_sge(a, 0, 10);
	sge[1] = kv_sge(b, 0, 10);
	sge[2] = kv_sge(a, 10, 10);
	kv_wait(t, kv_rdma(&t->client, IB_WR_RDMA_READ, sge, 3, there, 0),
		IB_WC_LOC_PROT_ERR);
}

/* The source ends within the second of three sinks. */
static void read_bad_source(struct kv_case *t)
{
	struct kv_region *a, *there;
	struct ib_sge sge[3];

	kv_connect(t, &workqueue);
	a = kv_mr(&t->client, 2, KV_SINK);
	there = kv_mr(&t->server, 1, IB_ACCESS_REMOTE_READ);
	sge[0] = kv_sge(a, 0, PAGE_SIZE - 96);
	sge[1] = kv_sge(a, PAGE_SIZE - 96, 97);
	sge[2] = kv_sge(a, PAGE_SIZE + 904, 10);
	kv_wait(t, kv_rdma(&t->client, IB_WR_RDMA_READ, sge, 3, there, 0),
		IB_WC_REM_ACCESS_ERR);
}

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

/* ---- Draining ---- */

static void expect_once(struct kv_case *t, struct kv_work **work, int num)
{
	bool flushed = false;
	int i;

	for (i = 0; i < num && !t->failed; i++) {
		enum ib_wc_status status = work[i]->wc.status;

		kv_expect(t, work[i]->count == 1, "%d of %d has completed %u times",
			  i, num, work[i]->count);
		kv_expect(t, status == IB_WC_WR_FLUSH_ERR ||
			  (status == IB_WC_SUCCESS && !flushed),
			  "%d of %d: %s", i, num, ib_wc_status_msg(status));
		flushed |= status != IB_WC_SUCCESS;
	}
}

/* All work requests have completed when ib_drain_qp() returns. */
static void drained(struct kv_case *t, enum ib_poll_context poll, bool srq)
{
	const struct kv_options o = { .poll = poll, .srq = srq };
	struct kv_work *read[50], *recv[50];
	struct kv_region *sink, *there;
	struct ib_sge sge, in;
	int i;

	kv_connect(t, &o);
	sink = kv_mr(&t->client, 64, KV_SINK);
	there = kv_mr(&t->server, 64, IB_ACCESS_REMOTE_READ);
	sge = kv_sge(sink, 0, 64 * PAGE_SIZE);
	in = kv_dma_sge(kv_region(&t->client, 1), 64);
	for (i = 0; i < ARRAY_SIZE(read); i++) {
		recv[i] = kv_recv(&t->client, &in);
		read[i] = kv_rdma(&t->client, IB_WR_RDMA_READ, &sge, 1, there,
				  0);
	}
	if (t->failed)
		return;
	ib_drain_qp(t->client.id->qp);
	expect_once(t, read, ARRAY_SIZE(read));
	kv_expect(t, read[49]->wc.status == IB_WC_WR_FLUSH_ERR,
		  "12.5 MiB were read in no time");
	if (!srq) {
		expect_once(t, recv, ARRAY_SIZE(recv));
		return;
	}
	kv_expect(t, wait_for_completion_timeout(&t->client.last_wqe, KV_WAIT),
		  "no LAST_WQE_REACHED");
	kv_expect(t, !recv[0]->count, "a receive of the SRQ was flushed");
}

static void drained_softirq(struct kv_case *t)
{
	drained(t, IB_POLL_SOFTIRQ, false);
}

static void drained_workqueue(struct kv_case *t)
{
	drained(t, IB_POLL_WORKQUEUE, false);
}

static void drained_direct(struct kv_case *t)
{
	drained(t, IB_POLL_DIRECT, false);
}

static void drained_srq(struct kv_case *t)
{
	drained(t, IB_POLL_WORKQUEUE, true);
}

/* Drain a QP that has never had a work request. */
static void drained_idle(struct kv_case *t)
{
	kv_connect(t, &workqueue);
	if (t->failed)
		return;
	ib_drain_qp(t->server.id->qp);
	ib_drain_qp(t->server.id->qp);
}

/* Find the TCP socket from @from to @to; take a reference. */
static struct sock *find_socket(struct kv_case *t,
				const struct sockaddr_storage *from,
				const struct sockaddr_storage *to)
{
	const struct sockaddr_in *f = (const void *)from;
	const struct sockaddr_in *o = (const void *)to;
	struct sock *sk;

	rcu_read_lock();
	sk = kv_lookup(&init_net, o->sin_addr.s_addr, o->sin_port,
		       f->sin_addr.s_addr, f->sin_port);
	rcu_read_unlock();
	kv_expect(t, sk, "no such socket");
	return sk;
}

static void expect_reserves(struct kv_case *t, struct sock *sk, bool expected)
{
	if (!sk)
		return;
	kv_expect(t, sock_flag(sk, SOCK_MEMALLOC) == expected &&
		  !!(sk->sk_allocation & __GFP_MEMALLOC) == expected,
		  "reserves are %s", expected ? "closed" : "open");
	sock_put(sk);
}

/* Writeback may depend on an Initiator's connection. */
static void initiator_uses(struct kv_case *t)
{
	struct rdma_addr *addr;

	kv_connect(t, &workqueue);
	if (t->failed)
		return;
	addr = &t->client.id->route.addr;
	expect_reserves(t, find_socket(t, &addr->src_addr, &addr->dst_addr),
			true);
	expect_reserves(t, find_socket(t, &addr->dst_addr, &addr->src_addr),
			false);
	kv_expect(t, sk_memalloc_socks(), "no socket uses reserves");
	kv_sync(t);
	kv_disconnect(t);
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

/* ---- Completions of a queue pair that is gone ---- */

static void post_recv(struct kv_case *t, struct ib_qp *qp, u64 id)
{
	struct ib_recv_wr wr = { .wr_id = id };

	kv_expect(t, !ib_post_recv(qp, &wr, NULL), "ib_post_recv");
}

/* A queue pair in error, whose receives @first to @last have been flushed. */
static struct ib_qp *flushed_qp(struct kv_case *t, struct ib_cq *cq, u64 first,
				u64 last)
{
	struct ib_qp_attr error = { .qp_state = IB_QPS_ERR };
	struct ib_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {
			.max_send_wr = 4,
			.max_recv_wr = 4,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IB_QPT_RC,
	};
	struct ib_qp *qp = ib_create_qp(t->client.pd, &attr);

	if (IS_ERR(qp)) {
		kv_fail(t, "ib_create_qp: %pe", qp);
		return NULL;
	}
	for (; first <= last; first++)
		post_recv(t, qp, first);
	kv_expect(t, !ib_modify_qp(qp, &error, IB_QP_STATE), "ib_modify_qp");
	return qp;
}

static void destroy_qp(struct ib_qp *qp)
{
	if (qp)
		ib_destroy_qp(qp);
}

/* Three queue pairs share a CQ: the others keep their completions. */
static void destroyed_unpolled(struct kv_case *t)
{
	struct ib_qp *before, *gone, *after;
	struct ib_wc wc[5];
	struct ib_cq *cq;
	int n;

	kv_connect(t, &workqueue);
	if (t->failed)
		return;
	cq = ib_alloc_cq(t->dev, NULL, 16, 0, IB_POLL_DIRECT);
	if (IS_ERR(cq)) {
		kv_fail(t, "ib_alloc_cq: %pe", cq);
		return;
	}
	before = flushed_qp(t, cq, 1, 1);
	gone = flushed_qp(t, cq, 2, 3);
	after = flushed_qp(t, cq, 4, 4);
	destroy_qp(gone);
	n = ib_poll_cq(cq, ARRAY_SIZE(wc), wc);
	kv_expect(t, n == 2, "%d completions of two queue pairs", n);
	if (n == 2)
		kv_expect(t, wc[0].qp == before && wc[0].wr_id == 1 &&
			  wc[1].qp == after && wc[1].wr_id == 4,
			  "completions %llu and %llu", wc[0].wr_id,
			  wc[1].wr_id);
	if (after) {
		post_recv(t, after, 5);
		read_poll_timeout(ib_poll_cq, n, n, 1000,
				  jiffies_to_usecs(KV_WAIT), false, cq,
				  (int)ARRAY_SIZE(wc), wc);
		kv_expect(t, n == 1 && wc[0].wr_id == 5, "a later completion");
	}
	destroy_qp(before);
	destroy_qp(after);
	ib_free_cq(cq);
}

/* ---- Memory for connections ---- */

#ifdef CONFIG_KPROBES
#define CANNOT_PROBE	NULL

static unsigned int probed, in_noio;

static int at_connect(struct kprobe *probe, struct pt_regs *regs)
{
	probed++;
	if (current->flags & PF_MEMALLOC_NOIO)
		in_noio++;
	return 0;
}

static struct kprobe connect_probes[] = {
	{ .symbol_name = "mpa_connect", .pre_handler = at_connect },
	{ .symbol_name = "mpa_accept", .pre_handler = at_connect },
};

/* Storage may have to connect before memory can be reclaimed. */
static void connect_noio(struct kv_case *t)
{
	static struct kprobe *probes[] = { &connect_probes[0],
					   &connect_probes[1] };
	int ret = register_kprobes(probes, ARRAY_SIZE(probes));

	kv_expect(t, !ret, "register_kprobes: %d", ret);
	probed = 0;
	in_noio = 0;
	kv_connect(t, &workqueue);
	if (!ret)
		unregister_kprobes(probes, ARRAY_SIZE(probes));
	kv_expect(t, probed == 2 && in_noio == 2,
		  "%u of %u calls may do I/O for memory", probed - in_noio,
		  probed);
}

/* ---- Probes that hold a function up while another CPU works ---- */

/* In a probe's handler, which cannot sleep */
static void hold_until(const bool *flag)
{
	unsigned int ms;

	for (ms = 0; ms < 1000 && !READ_ONCE(*flag); ms++)
		mdelay(1);
}

/* On the other CPU */
static void await(const bool *flag)
{
	bool seen;

	read_poll_timeout(READ_ONCE, seen, seen, 100, 600 * USEC_PER_SEC,
			  false, *flag);
}

/* ---- Work requests behind one that has failed ---- */

static bool ending, posted;

/* Runs when the queue pair has left RTS, before its queue is flushed. */
static int at_flush(struct kprobe *probe, struct pt_regs *regs)
{
	WRITE_ONCE(ending, true);
	hold_until(&posted);
	mdelay(50);	/* time for another owner to send */
	return 0;
}

static struct kprobe flush_probe = {
	.symbol_name = "iwm_sq_flush",
	.pre_handler = at_flush,
};

static void post_two(struct kv_end *end, struct kv_work *work[2],
		     struct ib_sge sge[2])
{
	struct ib_send_wr wr[2] = {
		{ .opcode = IB_WR_SEND, .sg_list = &sge[0], .num_sge = 1 },
		{ .opcode = IB_WR_SEND, .sg_list = &sge[1], .num_sge = 1 },
	};

	wr[0].next = &wr[1];
	wr[1].wr_cqe = &work[1]->cqe;
	wr[1].send_flags = IB_SEND_SIGNALED;
	work[1]->cq = end->scq;
	kv_post(end, work[0], &wr[0]);
}

/*
 * The first of two SENDs has a bad key. Another CPU posts a third one while the
 * queue pair goes into error. None of them may reach the peer.
 */
static void send_after_failure(struct kv_case *t)
{
	unsigned int cpu = cpumask_first(cpu_online_mask);
	struct kv_work *work[2], *late, *recv;
	struct ib_sge sge[2], in;

	kv_connect(t, &workqueue);
	in = kv_dma_sge(kv_region(&t->server, 1), 64);
	recv = kv_recv(&t->server, &in);
	sge[1] = kv_dma_sge(kv_region(&t->client, 1), 64);
	sge[0] = sge[1];
	sge[0].lkey = 0x123456;
	work[0] = kv_work(t);
	work[1] = kv_work(t);
	if (t->failed || num_online_cpus() == 1)
		return;
	ending = false;
	posted = false;
	kv_expect(t, !register_kprobe(&flush_probe), "no probe");
	/* The worker of the first posts runs on the CPU that posted them. */
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
	post_two(&t->client, work, sge);
	cpu = cpumask_next(cpu, cpu_online_mask);
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
	if (!t->failed)
		await(&ending);
	late = kv_send(&t->client, &sge[1]);
	WRITE_ONCE(posted, true);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	kv_wait(t, work[0], IB_WC_LOC_PROT_ERR);
	kv_wait(t, work[1], IB_WC_WR_FLUSH_ERR);
	kv_wait(t, late, IB_WC_WR_FLUSH_ERR);
	unregister_kprobe(&flush_probe);
	kv_wait(t, recv, IB_WC_WR_FLUSH_ERR);
}

/* ---- A queue pair that is destroyed while rdma_disconnect() uses it ---- */

static bool closing, destroyed, too_early;

/* The disconnecting thread, in modify_qp, is slow. */
static int at_close(struct kprobe *probe, struct pt_regs *regs)
{
	WRITE_ONCE(closing, true);
	hold_until(&destroyed);
	too_early = READ_ONCE(destroyed);
	return 0;
}

static struct kprobe close_probe = {
	.symbol_name = "iwm_qp_close",
	.pre_handler = at_close,
};

struct destroyer {
	struct work_struct work;
	struct rdma_cm_id *id;
};

static void destroy_meanwhile(struct work_struct *work)
{
	struct destroyer *d = container_of(work, struct destroyer, work);

	await(&closing);
	rdma_destroy_qp(d->id);
	WRITE_ONCE(destroyed, true);
}

static void destroy_in_disconnect(struct kv_case *t)
{
	unsigned int cpu = cpumask_first(cpu_online_mask);
	struct destroyer d;

	kv_connect(t, &workqueue);
	if (t->failed || num_online_cpus() == 1)
		return;
	closing = false;
	destroyed = false;
	kv_expect(t, !register_kprobe(&close_probe), "no probe");
	if (t->failed)
		return;
	d.id = t->client.id;
	INIT_WORK_ONSTACK(&d.work, destroy_meanwhile);
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
	schedule_work_on(cpumask_next(cpu, cpu_online_mask), &d.work);
	rdma_disconnect(d.id);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	flush_work(&d.work);
	destroy_work_on_stack(&d.work);
	unregister_kprobe(&close_probe);
	kv_expect(t, !too_early, "rdma_disconnect() used a destroyed QP");
}
#else
#define CANNOT_PROBE	"this kernel has no kprobes"
#define destroy_in_disconnect	NULL
#define connect_noio	NULL
#define send_after_failure	NULL
#endif

const struct kv_entry kv_qp_cases[] = {
	{ "dma-key", dma_key },
	{ "write-sges", write_sges },
	{ "too-many-sges", too_many_sges },
	{ "read-sges", read_sges },
	{ "read-bad-sink", read_bad_sink },
	{ "read-bad-source", read_bad_source },
	{ "atomic-post", atomic_post },
	{ "post-alone", post_alone },
	{ "post-locked", post_locked },
	{ "drain-softirq", drained_softirq },
	{ "drain-workqueue", drained_workqueue },
	{ "drain-direct", drained_direct },
	{ "drain-srq", drained_srq },
	{ "drain-idle", drained_idle },
	{ "reserves", initiator_uses },
	{ "posts-after-end", posts_after_end },
	{ "destroyed-unpolled", destroyed_unpolled },
	{ "connect-noio", connect_noio, CANNOT_PROBE },
	{ "send-after-failure", send_after_failure, CANNOT_PROBE },
	{ "destroy-in-disconnect", destroy_in_disconnect, CANNOT_PROBE },
	{ }
};

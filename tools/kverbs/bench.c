// SPDX-License-Identifier: GPL-2.0
/*
 * What messages between two kernel consumers cost: fixed work, done by the
 * handlers of completions in softirq, as a storage initiator's. scripts/bench
 * counts the instructions between the two marks.
 */
#define pr_fmt(fmt) "kverbs: " fmt

#include <linux/module.h>
#include <asm/msr.h>
#include "kverbs.h"

static char *op;
module_param(op, charp, 0444);
MODULE_PARM_DESC(op, "Measure this instead of running cases: send, pingpong");
static unsigned int size = 64;
module_param(size, uint, 0444);
MODULE_PARM_DESC(size, "Octets per message, up to a page (default: 64)");
static unsigned int depth = 32;
module_param(depth, uint, 0444);
MODULE_PARM_DESC(depth, "send: messages outstanding (default: 32)");
static unsigned int count = 3200;
module_param(count, uint, 0444);
MODULE_PARM_DESC(count, "Messages, or round trips, per repeat");
static unsigned int warmup = 640;
module_param(warmup, uint, 0444);
MODULE_PARM_DESC(warmup, "So many before each repeat is measured");
static unsigned int repeats = 3;
module_param(repeats, uint, 0444);
MODULE_PARM_DESC(repeats, "Repeats, each on a connection of its own");
static bool workqueue;
module_param(workqueue, bool, 0444);
MODULE_PARM_DESC(workqueue, "The server's handlers run in a workqueue, as a storage target's");

/**
 * struct kb_side - one end of the connection
 * @end: the same
 * @out: what it sends
 * @in: where it receives
 * @send_cqe: its handler of completed sends
 * @recv_cqe: its handler of messages
 * @sent: sends that have completed, of this run
 * @received: messages that have come, of this run
 */
struct kb_side {
	struct kv_end *end;
	struct kv_region *out;
	struct kv_region *in;
	struct ib_cqe send_cqe;
	struct ib_cqe recv_cqe;
	unsigned int sent;
	unsigned int received;
};

/**
 * struct kb_bench - what is measured
 * @t: the connection
 * @client: sends first
 * @server: the other end
 * @pingpong: the server sends each message back
 * @lock: guards what the handlers count
 * @posted: messages of the client, of this run
 * @total: as many there are to be; 0: what completes is no matter
 * @done: all of them have completed
 */
static struct kb_bench {
	struct kv_case t;
	struct kb_side client;
	struct kb_side server;
	bool pingpong;
	spinlock_t lock;		/* see above */
	unsigned int posted;
	unsigned int total;
	struct completion done;
} bench;

static void post_recv(struct kb_side *side)
{
	struct ib_sge sge = kv_dma_sge(side->in, size);
	struct ib_recv_wr wr = {
		.wr_cqe = &side->recv_cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int ret = ib_post_recv(side->end->id->qp, &wr, NULL);

	kv_expect(&bench.t, !ret, "ib_post_recv: error %d", ret);
}

static void post_send(struct kb_side *side)
{
	struct ib_sge sge = kv_dma_sge(side->out, size);
	struct ib_send_wr wr = {
		.wr_cqe = &side->send_cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	int ret = ib_post_send(side->end->id->qp, &wr, NULL);

	kv_expect(&bench.t, !ret, "ib_post_send: error %d", ret);
}

/* As many as may be outstanding: each has a receive that waits for it. */
static void post_more(void)
{
	const struct kb_side *back = bench.pingpong ? &bench.client :
						      &bench.server;
	unsigned int end = min(bench.client.sent, back->received) +
			   (bench.pingpong ? 1 : depth);

	while (bench.posted < min(end, bench.total) && !bench.t.failed) {
		bench.posted++;
		post_send(&bench.client);
	}
}

static bool all_done(void)
{
	const struct kb_side *client = &bench.client, *server = &bench.server;
	unsigned int back = bench.pingpong ? bench.total : 0;

	return bench.t.failed ||
	       (client->sent == bench.total && client->received == back &&
		server->sent == back && server->received == bench.total);
}

/* Go on after a completion with @step, unless it is bad, or of no run. */
static void handle_wc(const struct ib_wc *wc, struct kb_side *side,
		      void (*step)(struct kb_side *side))
{
	spin_lock_bh(&bench.lock);
	if (bench.total) {
		kv_expect(&bench.t, wc->status == IB_WC_SUCCESS,
			  "completion: %s", ib_wc_status_msg(wc->status));
		if (!bench.t.failed)
			step(side);
		if (all_done())
			complete(&bench.done);
	}
	spin_unlock_bh(&bench.lock);
}

static void after_send(struct kb_side *side)
{
	side->sent++;
	if (side == &bench.client)
		post_more();
}

static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	handle_wc(wc, container_of(wc->wr_cqe, struct kb_side, send_cqe),
		  after_send);
}

static void after_recv(struct kb_side *side)
{
	post_recv(side);
	side->received++;
	if (bench.pingpong && side == &bench.server)
		post_send(side);
	else
		post_more();
}

static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	handle_wc(wc, container_of(wc->wr_cqe, struct kb_side, recv_cqe),
		  after_recv);
}

static void run_messages(unsigned int n)
{
	bench.posted = 0;
	bench.total = n;
	bench.client.sent = 0;
	bench.client.received = 0;
	bench.server.sent = 0;
	bench.server.received = 0;
	reinit_completion(&bench.done);
	spin_lock_bh(&bench.lock);
	post_more();
	spin_unlock_bh(&bench.lock);
	if (!wait_for_completion_timeout(&bench.done, KV_WAIT))
		kv_fail(&bench.t, "%u of %u messages have come",
			bench.server.received, n);
}

static void make_side(struct kb_side *side, struct kv_end *end,
		      unsigned int num_recvs)
{
	side->end = end;
	side->send_cqe.done = send_done;
	side->recv_cqe.done = recv_done;
	side->out = kv_region(end, 1);
	side->in = kv_region(end, 1);
	while (num_recvs-- && !bench.t.failed)
		post_recv(side);
}

/* The receives that are left complete when the connection goes. */
static void end_runs(void)
{
	spin_lock_bh(&bench.lock);
	bench.total = 0;
	spin_unlock_bh(&bench.lock);
	kv_disconnect(&bench.t);
}

/*
 * The NOPs that tools/bench/insn_count.cpp looks for, as in measure.hpp. The
 * time stamp counter advances with idle time, too.
 */
static void measure_run(unsigned int seed)
{
	u64 start, ticks;

	kv_fill(bench.client.out, seed);
	start = rdtsc();
	asm volatile(".byte 0x0f, 0x1f, 0x80, 0x78, 0x56, 0x34, 0x12" ::: "memory");
	run_messages(count);
	asm volatile(".byte 0x0f, 0x1f, 0x80, 0x79, 0x56, 0x34, 0x12" ::: "memory");
	ticks = rdtsc() - start;
	kv_compare(bench.server.in, 0, size, seed, 0);
	if (!bench.t.failed)
		pr_info("result tsc=%llu ops=%u octets=%llu\n", ticks, count,
			(u64)count * size * (bench.pingpong ? 2 : 1));
}

static void measure_repeat(unsigned int seed)
{
	const struct kv_options o = {
		.poll = IB_POLL_SOFTIRQ,
		.alike = !workqueue,
	};

	kv_connect(&bench.t, &o);
	if (!bench.t.failed) {
		make_side(&bench.client, &bench.t.client, bench.pingpong);
		make_side(&bench.server, &bench.t.server,
			  bench.pingpong ? 1 : depth);
	}
	if (!bench.t.failed)
		run_messages(warmup);
	if (!bench.t.failed)
		measure_run(seed);
	end_runs();
}

/**
 * kv_bench() - measure what the parameters say
 *
 * Return: -ENOENT when they ask for nothing, -EIO when it failed, 0.
 */
int kv_bench(void)
{
	unsigned int i;

	if (!op)
		return -ENOENT;
	bench.pingpong = !strcmp(op, "pingpong");
	if (!bench.pingpong && strcmp(op, "send"))
		return -EINVAL;
	if (size > PAGE_SIZE || !depth || depth > 64 || !count || !warmup)
		return -EINVAL;
	spin_lock_init(&bench.lock);
	init_completion(&bench.done);
	INIT_LIST_HEAD(&bench.t.regions);
	for (i = 0; i < repeats && !bench.t.failed; i++)
		measure_repeat(i);
	if (bench.t.failed)
		pr_info("FAIL %s: %s\n", op, bench.t.why);
	return bench.t.failed ? -EIO : 0;
}

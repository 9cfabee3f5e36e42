// SPDX-License-Identifier: GPL-2.0
/*
 * Messages between two kernel consumers for the benchmark. The completion
 * handlers post them.
 */
#include "kverbs.h"

/**
 * struct kb_side - one end of the connection
 * @end: the case's end
 * @out: memory that it sends
 * @in: memory that it receives into
 * @send_cqe: its handler of send completions
 * @recv_cqe: its handler of receive completions
 * @sent: sends of this run that have completed
 * @received: messages of this run that have arrived
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
 * struct kb_run - a connection and the messages on it
 * @b: parameters of the measurement
 * @client: the side that sends first
 * @server: the other side
 * @lock: protects the handlers' counts
 * @posted: messages that the client has posted in this run
 * @total: messages in this run; 0: no run, completions are ignored
 * @done: all of them have completed
 */
static struct kb_run {
	struct kv_bench *b;
	struct kb_side client;
	struct kb_side server;
	spinlock_t lock;		/* see above */
	unsigned int posted;
	unsigned int total;
	struct completion done;
} kb;

static void post_recv(struct kb_side *side)
{
	struct ib_sge sge = kv_dma_sge(side->in, kb.b->size);
	struct ib_recv_wr wr = {
		.wr_cqe = &side->recv_cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int ret = ib_post_recv(side->end->id->qp, &wr, NULL);

	kv_expect(&kb.b->t, !ret, "ib_post_recv: error %d", ret);
}

static void post_send(struct kb_side *side)
{
	struct ib_sge sge = kv_dma_sge(side->out, kb.b->size);
	struct ib_send_wr wr = {
		.wr_cqe = &side->send_cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	int ret = ib_post_send(side->end->id->qp, &wr, NULL);

	kv_expect(&kb.b->t, !ret, "ib_post_send: error %d", ret);
}

/* Post up to the depth: the peer has a receive posted for each message. */
static void post_more(void)
{
	const struct kb_side *back = kb.b->pingpong ? &kb.client :
						      &kb.server;
	unsigned int end = min(kb.client.sent, back->received) +
			   (kb.b->pingpong ? 1 : kb.b->depth);

	while (kb.posted < min(end, kb.total) && !kb.b->t.failed) {
		kb.posted++;
		post_send(&kb.client);
	}
}

static bool all_done(void)
{
	const struct kb_side *client = &kb.client, *server = &kb.server;
	unsigned int back = kb.b->pingpong ? kb.total : 0;

	return kb.b->t.failed ||
	       (client->sent == kb.total && client->received == back &&
		server->sent == back && server->received == kb.total);
}

/* Continue with @step after a good completion of the current run. */
static void handle_wc(const struct ib_wc *wc, struct kb_side *side,
		      void (*step)(struct kb_side *side))
{
	spin_lock_bh(&kb.lock);
	if (kb.total) {
		kv_expect(&kb.b->t, wc->status == IB_WC_SUCCESS,
			  "completion: %s", ib_wc_status_msg(wc->status));
		if (!kb.b->t.failed)
			step(side);
		if (all_done())
			complete(&kb.done);
	}
	spin_unlock_bh(&kb.lock);
}

static void after_send(struct kb_side *side)
{
	side->sent++;
	if (side == &kb.client)
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
	if (kb.b->pingpong && side == &kb.server)
		post_send(side);
	else
		post_more();
}

static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	handle_wc(wc, container_of(wc->wr_cqe, struct kb_side, recv_cqe),
		  after_recv);
}

static void run_messages(struct kv_bench *b, unsigned int n)
{
	kb.posted = 0;
	kb.total = n;
	kb.client.sent = 0;
	kb.client.received = 0;
	kb.server.sent = 0;
	kb.server.received = 0;
	reinit_completion(&kb.done);
	spin_lock_bh(&kb.lock);
	post_more();
	spin_unlock_bh(&kb.lock);
	if (!wait_for_completion_timeout(&kb.done, KV_WAIT))
		kv_fail(&b->t, "%u of %u messages have arrived",
			kb.server.received, n);
}

static void make_side(struct kb_side *side, struct kv_end *end,
		      unsigned int num_recvs)
{
	side->end = end;
	side->send_cqe.done = send_done;
	side->recv_cqe.done = recv_done;
	side->out = kv_region(end, 1);
	side->in = kv_region(end, 1);
	while (num_recvs-- && !kb.b->t.failed)
		post_recv(side);
}

static void open_rdma(struct kv_bench *b)
{
	const struct kv_options o = {
		.poll = IB_POLL_SOFTIRQ,
		.alike = !b->workqueue,
	};

	kb.b = b;
	spin_lock_init(&kb.lock);
	init_completion(&kb.done);
	kv_connect(&b->t, &o);
	if (b->t.failed)
		return;
	make_side(&kb.client, &b->t.client, b->pingpong);
	make_side(&kb.server, &b->t.server, b->pingpong ? 1 : b->depth);
	kv_fill(kb.client.out, 1);
}

/* The remaining receives complete when the connection ends. */
static void close_rdma(struct kv_bench *b)
{
	spin_lock_bh(&kb.lock);
	kb.total = 0;
	spin_unlock_bh(&kb.lock);
	if (!b->t.failed)
		kv_compare(kb.server.in, 0, b->size, 1, 0);
	kv_disconnect(&b->t);
}

const struct kv_engine kv_rdma_engine = {
	.open = open_rdma,
	.run = run_messages,
	.close = close_rdma,
};

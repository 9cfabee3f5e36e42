// SPDX-License-Identifier: GPL-2.0
/*
 * Draining a queue pair, and completions of one that is gone.
 */
#include <linux/iopoll.h>
#include "kverbs.h"

static const struct kv_options workqueue = { .poll = IB_POLL_WORKQUEUE };

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

const struct kv_entry kv_drain_cases[] = {
	{ "drain-softirq", drained_softirq },
	{ "drain-workqueue", drained_workqueue },
	{ "drain-direct", drained_direct },
	{ "drain-srq", drained_srq },
	{ "drain-idle", drained_idle },
	{ "destroyed-unpolled", destroyed_unpolled },
	{ }
};

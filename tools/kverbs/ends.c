// SPDX-License-Identifier: GPL-2.0
/*
 * The two ends of a connection, and work requests on them.
 */
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "kverbs.h"

static char *address = "10.8.0.1";
module_param(address, charp, 0444);
MODULE_PARM_DESC(address, "IPv4 address of the device (default: 10.8.0.1)");

/* The device's address, no port. */
struct sockaddr_in kv_address(void)
{
	return (struct sockaddr_in) {
		.sin_family = AF_INET,
		.sin_addr.s_addr = in_aton(address),
	};
}

/* ---- Connections ---- */

static int cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct kv_end *end = id->context;

	/* Consumers look at the pointer alone. */
	if (event->param.conn.private_data &&
	    !event->param.conn.private_data_len)
		end->t->stale_pd = true;	/* a failed case stops waiting */
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		end->t->server.id = id;
		id->context = &end->t->server;
		complete(&end->t->requested);
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
		complete_all(&end->gone);
		return 0;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return 0;
	default:
		end->event = event->event;
		complete(&end->happened);
		return 0;
	}
}

static void await_event(struct kv_end *end, enum rdma_cm_event_type type)
{
	if (end->t->failed)
		return;
	if (!wait_for_completion_timeout(&end->happened, KV_WAIT))
		kv_fail(end->t, "no event %s", rdma_event_msg(type));
	else
		kv_expect(end->t, end->event == type, "event %s, want %s",
			  rdma_event_msg(end->event), rdma_event_msg(type));
}

static void check(struct kv_case *t, int ret, const char *what)
{
	kv_expect(t, !ret, "%s: error %d", what, ret);
}

static void init_end(struct kv_case *t, struct kv_end *end)
{
	end->t = t;
	init_completion(&end->happened);
	init_completion(&end->gone);
	init_completion(&end->last_wqe);
}

static struct rdma_cm_id *make_id(struct kv_case *t)
{
	struct rdma_cm_id *id;

	id = rdma_create_id(&init_net, cm_event, &t->client, RDMA_PS_TCP,
			    IB_QPT_RC);
	if (!IS_ERR(id))
		return id;
	kv_fail(t, "rdma_create_id: %pe", id);
	return NULL;
}

static void make_listener(struct kv_case *t, struct sockaddr_in *at)
{
	t->listener = make_id(t);
	if (t->failed)
		return;
	check(t, rdma_bind_addr(t->listener, (struct sockaddr *)at),
	      "rdma_bind_addr");
	if (!t->failed)
		check(t, rdma_listen(t->listener, 1), "rdma_listen");
	at->sin_port = ((struct sockaddr_in *)
			&t->listener->route.addr.src_addr)->sin_port;
}

static void resolve(struct kv_case *t, struct sockaddr_in *at)
{
	struct kv_end *end = &t->client;

	if (t->failed)
		return;
	end->id = make_id(t);
	if (t->failed)
		return;
	check(t, rdma_resolve_addr(end->id, NULL, (struct sockaddr *)at, 2000),
	      "rdma_resolve_addr");
	await_event(end, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (t->failed)
		return;
	check(t, rdma_resolve_route(end->id, 2000), "rdma_resolve_route");
	await_event(end, RDMA_CM_EVENT_ROUTE_RESOLVED);
	t->dev = end->id->device;
}

static void qp_event(struct ib_event *event, void *context)
{
	struct kv_end *end = context;

	if (event->event == IB_EVENT_QP_LAST_WQE_REACHED)
		complete_all(&end->last_wqe);
}

static void make_srq(struct kv_end *end, int depth)
{
	struct ib_srq_init_attr attr = {
		.attr = { .max_wr = depth, .max_sge = 1 },
	};
	struct ib_srq *srq = ib_create_srq(end->pd, &attr);

	if (IS_ERR(srq))
		kv_fail(end->t, "ib_create_srq: %pe", srq);
	else
		end->srq = srq;
}

static struct ib_cq *make_cq(struct kv_end *end, const struct kv_options *o,
			     ib_comp_handler handler)
{
	const struct ib_cq_init_attr attr = { .cqe = o->cqe };
	struct ib_cq *cq;

	cq = handler ? ib_create_cq(end->id->device, handler, NULL, end->t,
				    &attr) :
		       ib_alloc_cq(end->id->device, end, o->cqe, 0, o->poll);
	if (!IS_ERR(cq))
		return cq;
	kv_fail(end->t, "completion queue: %pe", cq);
	return NULL;
}

static void make_qp(struct kv_end *end, const struct kv_options *o,
		    ib_comp_handler handler)
{
	struct ib_qp_init_attr attr = {
		.event_handler = qp_event,
		.qp_context = end,
		.cap = {
			.max_send_wr = o->depth,
			.max_recv_wr = o->depth,
			.max_send_sge = 6,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_pd *pd = o->one_domain ? end->t->client.pd : NULL;

	if (end->t->failed)
		return;
	if (o->many)
		attr.cap.max_send_sge = end->id->device->attrs.max_send_sge;
	if (!pd)
		pd = ib_alloc_pd(end->id->device, 0);
	if (IS_ERR(pd)) {
		kv_fail(end->t, "ib_alloc_pd: %pe", pd);
		return;
	}
	end->pd = pd;
	end->scq = make_cq(end, o, handler);
	end->rcq = o->one_cq ? end->scq : make_cq(end, o, NULL);
	if (o->srq)
		make_srq(end, o->depth);
	attr.send_cq = end->scq;
	attr.recv_cq = end->rcq;
	attr.srq = end->srq;
	if (!end->t->failed)
		check(end->t, rdma_create_qp(end->id, pd, &attr),
		      "rdma_create_qp");
}

/**
 * kv_connect() - connect the two ends of a case
 * @t: case
 * @options: properties of the ends; 0 stands for the default
 */
void kv_connect(struct kv_case *t, const struct kv_options *options)
{
	struct kv_options o = *options, plain = { .poll = IB_POLL_WORKQUEUE };
	struct sockaddr_in at = kv_address();
	struct rdma_conn_param param = { };

	o.cqe = o.cqe ? o.cqe : 512;
	o.depth = o.depth ? o.depth : 128;
	o.reads = o.reads ? o.reads : 16;
	plain.cqe = o.cqe;
	plain.depth = o.depth;
	plain.one_domain = o.one_domain;
	if (o.alike)
		plain = o;
	param.responder_resources = o.reads;
	param.initiator_depth = o.reads;

	init_completion(&t->requested);
	init_end(t, &t->client);
	init_end(t, &t->server);
	make_listener(t, &at);
	resolve(t, &at);
	make_qp(&t->client, &o, o.handler);
	if (t->failed)
		return;
	check(t, rdma_connect(t->client.id, &param), "rdma_connect");
	if (!wait_for_completion_timeout(&t->requested, KV_WAIT))
		kv_fail(t, "no connect request");
	make_qp(&t->server, &plain, NULL);
	if (t->failed)
		return;
	rdma_lock_handler(t->server.id);
	check(t, rdma_accept(t->server.id, &param), "rdma_accept");
	rdma_unlock_handler(t->server.id);
	await_event(&t->server, RDMA_CM_EVENT_ESTABLISHED);
	await_event(&t->client, RDMA_CM_EVENT_ESTABLISHED);
}

static void end_qp(struct kv_end *end)
{
	if (!end->id)
		return;
	rdma_disconnect(end->id);
	if (end->id->qp)
		rdma_destroy_qp(end->id);
}

static void free_cq(struct ib_cq *cq, bool plain)
{
	if (!cq)
		return;
	if (plain)
		ib_destroy_cq(cq);
	else
		ib_free_cq(cq);
}

static void free_end(struct kv_end *end)
{
	if (end->srq)
		ib_destroy_srq(end->srq);
	/* Only a CQ of ib_alloc_cq() has room for polled completions. */
	free_cq(end->scq, end->scq && !end->scq->wc);
	if (end->rcq != end->scq)
		free_cq(end->rcq, false);
	if (end->pd)
		ib_dealloc_pd(end->pd);
	if (end->id)
		rdma_destroy_id(end->id);
	memset(end, 0, sizeof(*end));
}

/* Take down a connection of kv_connect(), even a partly made one. */
void kv_disconnect(struct kv_case *t)
{
	end_qp(&t->client);
	end_qp(&t->server);
	kv_free_regions(t);
	if (t->server.pd == t->client.pd)
		t->server.pd = NULL;
	free_end(&t->client);
	free_end(&t->server);
	if (t->listener)
		rdma_destroy_id(t->listener);
	t->listener = NULL;
	t->num_works = 0;
}

/* ---- Work requests ---- */

/* Handler of a CQ that the case polls by hand, or never. */
void kv_unpolled(struct ib_cq *cq, void *context)
{
}

void kv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kv_work *work = container_of(wc->wr_cqe, struct kv_work, cqe);

	work->wc = *wc;
	work->count++;
	work->cpu = raw_smp_processor_id();
	work->softirq = in_serving_softirq();
	if (work->hook)
		work->hook(work);
	complete(&work->done);
}

/* Allocate a work request; it lives as long as the connection. */
struct kv_work *kv_work(struct kv_case *t)
{
	struct kv_work *work = &t->works[t->num_works];

	if (t->num_works == KV_WORKS - 1)
		kv_fail(t, "too many work requests");
	else
		t->num_works++;
	memset(work, 0, sizeof(*work));
	work->cqe.done = kv_done;
	init_completion(&work->done);
	return work;
}

void kv_post(struct kv_end *end, struct kv_work *work, struct ib_send_wr *wr)
{
	if (end->t->failed)
		return;
	wr->wr_cqe = &work->cqe;
	wr->send_flags |= IB_SEND_SIGNALED;
	work->cq = end->scq;
	check(end->t, ib_post_send(end->id->qp, wr, NULL), "ib_post_send");
}

static bool wait_done(struct kv_work *work)
{
	unsigned long end = jiffies + KV_WAIT;

	if (!work->cq->wc || work->cq->poll_ctx != IB_POLL_DIRECT)
		return wait_for_completion_timeout(&work->done, KV_WAIT);
	while (!try_wait_for_completion(&work->done)) {
		if (time_after(jiffies, end))
			return false;
		ib_process_cq_direct(work->cq, 16);
		cond_resched();
	}
	return true;
}

void kv_wait(struct kv_case *t, struct kv_work *work,
	     enum ib_wc_status status)
{
	if (t->failed)
		return;
	if (!wait_done(work))
		kv_fail(t, "work request %zu does not complete",
			work - t->works);
	else
		kv_expect(t, work->wc.status == status,
			  "work request %zu: %s, want %s", work - t->works,
			  ib_wc_status_msg(work->wc.status),
			  ib_wc_status_msg(status));
}

struct kv_work *kv_recv(struct kv_end *end, const struct ib_sge *sge)
{
	struct kv_work *work = kv_work(end->t);
	struct ib_sge copy = *sge;
	struct ib_recv_wr wr = {
		.wr_cqe = &work->cqe,
		.sg_list = &copy,
		.num_sge = 1,
	};

	work->cq = end->rcq;
	if (end->t->failed)
		return work;
	if (end->srq)
		check(end->t, ib_post_srq_recv(end->srq, &wr, NULL),
		      "ib_post_srq_recv");
	else
		check(end->t, ib_post_recv(end->id->qp, &wr, NULL),
		      "ib_post_recv");
	return work;
}

void kv_post_send(struct kv_end *end, struct kv_work *work,
		  struct ib_sge *sge, int num_sge)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND,
		.sg_list = sge,
		.num_sge = num_sge,
	};

	kv_post(end, work, &wr);
}

struct kv_work *kv_send_sges(struct kv_end *end, struct ib_sge *sge,
			     int num_sge)
{
	struct kv_work *work = kv_work(end->t);

	kv_post_send(end, work, sge, num_sge);
	return work;
}

struct kv_work *kv_send(struct kv_end *end, const struct ib_sge *sge)
{
	struct ib_sge copy = *sge;

	return kv_send_sges(end, &copy, 1);
}

/* WRITE, READ or READ_WITH_INV between @sge and @remote */
struct kv_work *kv_rdma(struct kv_end *end, enum ib_wr_opcode opcode,
			struct ib_sge *sge, int num_sge,
			const struct kv_region *remote, u64 offset)
{
	struct kv_work *work = kv_work(end->t);
	struct ib_rdma_wr wr = {
		.wr = {
			.opcode = opcode,
			.sg_list = sge,
			.num_sge = num_sge,
		},
	};

	if (end->t->failed)
		return work;
	wr.remote_addr = remote->mr->iova + offset;
	wr.rkey = remote->mr->rkey;
	kv_post(end, work, &wr.wr);
	return work;
}

/* Send a message of the client: its previous WRITEs have then been placed. */
void kv_sync(struct kv_case *t)
{
	struct ib_sge none = { .lkey = t->client.pd->local_dma_lkey };
	struct kv_work *recv = kv_recv(&t->server, &none);
	struct kv_work *send = kv_send(&t->client, &none);

	kv_wait(t, send, IB_WC_SUCCESS);
	kv_wait(t, recv, IB_WC_SUCCESS);
}

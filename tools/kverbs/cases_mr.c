// SPDX-License-Identifier: GPL-2.0
/*
 * Fast registration and invalidation.
 */
#include "kverbs.h"

#define REMOTE	(KV_SINK | IB_ACCESS_REMOTE_READ)

static const struct kv_options workqueue = { .poll = IB_POLL_WORKQUEUE };
static const struct kv_options one_domain = {
	.poll = IB_POLL_WORKQUEUE,
	.one_domain = true,
};

/* A READ that the peer refuses. */
static void refused(struct kv_case *t, struct kv_region *sink,
		    const struct kv_region *remote)
{
	struct ib_sge sge = kv_dma_sge(sink, 64);
	struct kv_work *read;

	read = kv_rdma(&t->client, IB_WR_RDMA_READ, &sge, 1, remote, 0);
	kv_wait(t, read, IB_WC_REM_ACCESS_ERR);
}

/* The peer writes all pages of a region and reads them back. */
static void write_and_read(struct kv_case *t, unsigned int pages)
{
	struct kv_region *from, *there, *back;
	u32 len = pages * PAGE_SIZE;
	struct ib_sge sge;

	kv_connect(t, &workqueue);
	from = kv_mr(&t->client, pages, IB_ACCESS_LOCAL_WRITE);
	back = kv_mr(&t->client, pages, KV_SINK);
	there = kv_mr(&t->server, pages, REMOTE);
	kv_fill(from, 1);
	sge = kv_sge(from, 0, len);
	kv_wait(t, kv_rdma(&t->client, IB_WR_RDMA_WRITE, &sge, 1, there, 0),
		IB_WC_SUCCESS);
	kv_sync(t);
	kv_compare(there, 0, len, 1, 0);
	sge = kv_sge(back, 0, len);
	kv_wait(t, kv_rdma(&t->client, IB_WR_RDMA_READ, &sge, 1, there, 0),
		IB_WC_SUCCESS);
	kv_compare(back, 0, len, 1, 0);
}

static void reg_1(struct kv_case *t)
{
	write_and_read(t, 1);
}

static void reg_256(struct kv_case *t)
{
	write_and_read(t, 256);
}

static void reg_1024(struct kv_case *t)
{
	write_and_read(t, 1024);
}

static void limits(struct kv_case *t)
{
	struct ib_mr *mr;
	u32 max;

	kv_connect(t, &workqueue);
	if (t->failed)
		return;
	max = t->dev->attrs.max_fast_reg_page_list_len;
	kv_expect(t, max >= 1024, "max_fast_reg_page_list_len is %u", max);
	mr = ib_alloc_mr(t->client.pd, IB_MR_TYPE_MEM_REG, max + 1);
	kv_expect(t, IS_ERR(mr), "an MR of %u pages", max + 1);
	if (!IS_ERR(mr))
		ib_dereg_mr(mr);
	kv_expect(t, t->dev->attrs.device_cap_flags &
		  IB_DEVICE_MEM_MGT_EXTENSIONS, "no fast registration");
	kv_expect(t, t->dev->attrs.max_sge_rd > 1, "max_sge_rd is %d",
		  t->dev->attrs.max_sge_rd);
	kv_expect(t, t->dev->num_comp_vectors == num_online_cpus(),
		  "%d completion vectors", t->dev->num_comp_vectors);
}

/* Mapping one page more than the region has room for fails. */
static void map_too_much(struct kv_case *t)
{
	struct kv_region *big;
	struct ib_mr *mr;
	int n;

	kv_connect(t, &workqueue);
	big = kv_region(&t->client, 3);
	if (t->failed)
		return;
	mr = ib_alloc_mr(t->client.pd, IB_MR_TYPE_MEM_REG, 2);
	if (IS_ERR(mr)) {
		kv_fail(t, "ib_alloc_mr: %pe", mr);
		return;
	}
	n = ib_map_mr_sg(mr, big->sgt.sgl, 3, NULL, PAGE_SIZE);
	kv_expect(t, n == 2, "ib_map_mr_sg of 3 pages into 2: %d", n);
	ib_dereg_mr(mr);
}

#define BLOCK_ORDER	3
#define BLOCK_PAGES	BIT(BLOCK_ORDER)
#define BLOCK_OFFSET	100

/* Map a block of neighbouring pages into @there, as pages of @size octets. */
static void map_block(struct kv_region *there, struct page *block, u32 size)
{
	struct kv_case *t = there->end->t;
	struct scatterlist sg;
	int n;

	sg_init_table(&sg, 1);
	sg_set_page(&sg, block, BLOCK_PAGES * PAGE_SIZE - BLOCK_OFFSET,
		    BLOCK_OFFSET);
	n = ib_dma_map_sg(t->dev, &sg, 1, DMA_BIDIRECTIONAL);
	kv_expect(t, n == 1, "ib_dma_map_sg: %d", n);
	n = ib_map_mr_sg(there->mr, &sg, 1, NULL, size);
	kv_expect(t, n == 1, "ib_map_mr_sg, pages of %u: %d", size, n);
}

/* Write with one page size, and read with another. */
static void map_sizes(struct kv_case *t, struct page *block)
{
	static const u32 sizes[] = { PAGE_SIZE / 8, PAGE_SIZE, 4 * PAGE_SIZE };
	u32 len = BLOCK_PAGES * PAGE_SIZE - BLOCK_OFFSET, i;
	struct kv_region *from, *there, *back;
	struct ib_sge to, in;

	kv_connect(t, &workqueue);
	from = kv_mr(&t->client, BLOCK_PAGES, IB_ACCESS_LOCAL_WRITE);
	back = kv_mr(&t->client, BLOCK_PAGES, KV_SINK);
	there = kv_region(&t->server, 8 * BLOCK_PAGES);
	to = kv_sge(from, 0, len);
	in = kv_sge(back, 0, len);
	for (i = 0; i < ARRAY_SIZE(sizes) && !t->failed; i++) {
		map_block(there, block, sizes[i]);
		kv_register(there, REMOTE);
		kv_fill(from, i + 1);
		kv_wait(t, kv_rdma(&t->client, IB_WR_RDMA_WRITE, &to, 1, there,
				   0), IB_WC_SUCCESS);
		kv_sync(t);
		kv_invalidate(there);
		map_block(there, block, sizes[(i + 1) % ARRAY_SIZE(sizes)]);
		kv_register(there, REMOTE);
		kv_wait(t, kv_rdma(&t->client, IB_WR_RDMA_READ, &in, 1, there,
				   0), IB_WC_SUCCESS);
		kv_compare(back, 0, len, i + 1, 0);
		kv_invalidate(there);
	}
	kv_disconnect(t);
}

static void page_sizes(struct kv_case *t)
{
	struct page *block = alloc_pages(GFP_KERNEL, BLOCK_ORDER);

	if (!block) {
		kv_fail(t, "no memory");
		return;
	}
	map_sizes(t, block);
	__free_pages(block, BLOCK_ORDER);
}

/* The key changes with each registration; the old key is refused. */
static void new_key(struct kv_case *t)
{
	struct kv_region *sink, *there;
	struct ib_sge sge;
	u32 old;

	kv_connect(t, &workqueue);
	sink = kv_region(&t->client, 1);
	there = kv_mr(&t->server, 1, REMOTE);
	kv_fill(there, 2);
	sge = kv_dma_sge(sink, PAGE_SIZE);
	kv_wait(t, kv_rdma(&t->client, IB_WR_RDMA_READ, &sge, 1, there, 0),
		IB_WC_SUCCESS);
	kv_invalidate(there);
	old = there->mr->rkey;
	ib_update_fast_reg_key(there->mr, ib_inc_rkey(old));
	kv_fill(there, 3);
	kv_register(there, REMOTE);
	kv_wait(t, kv_rdma(&t->client, IB_WR_RDMA_READ, &sge, 1, there, 0),
		IB_WC_SUCCESS);
	kv_compare(sink, 0, PAGE_SIZE, 3, 0);
	there->mr->rkey = old;
	refused(t, sink, there);
}

static void use_after_invalidation(struct kv_case *t)
{
	struct kv_region *sink, *there;

	kv_connect(t, &workqueue);
	sink = kv_region(&t->client, 1);
	there = kv_mr(&t->server, 1, REMOTE);
	kv_invalidate(there);
	refused(t, sink, there);
}

static void use_before_registration(struct kv_case *t)
{
	struct kv_region *sink, *there;

	kv_connect(t, &workqueue);
	sink = kv_region(&t->client, 1);
	there = kv_region(&t->server, 1);
	refused(t, sink, there);
}

/* LOCAL_INV of an invalid region succeeds: the peer may have invalidated it. */
static void invalidate_twice(struct kv_case *t)
{
	struct kv_region *there;

	kv_connect(t, &workqueue);
	there = kv_mr(&t->client, 1, REMOTE);
	kv_invalidate(there);
	kv_invalidate(there);
	kv_register(there, REMOTE);
	kv_invalidate(there);
}

/* Registering a valid region again fails. */
static void register_twice(struct kv_case *t)
{
	struct ib_reg_wr wr = { .wr = { .opcode = IB_WR_REG_MR } };
	struct kv_region *r;
	struct kv_work *work;

	kv_connect(t, &workqueue);
	r = kv_mr(&t->client, 1, REMOTE);
	wr.mr = r->mr;
	wr.key = r->mr->rkey;
	wr.access = REMOTE;
	work = kv_work(t);
	kv_post(&t->client, work, &wr.wr);
	kv_wait(t, work, IB_WC_LOC_QP_OP_ERR);
}

static void rights(struct kv_case *t)
{
	struct kv_region *sink, *there;

	kv_connect(t, &workqueue);
	sink = kv_region(&t->client, 1);
	there = kv_mr(&t->server, 1, KV_SINK);
	refused(t, sink, there);
}

/* The client sends a Send with Invalidate of @rkey. Returns its receive. */
static struct kv_work *ask_to_invalidate(struct kv_case *t, u32 rkey)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND_WITH_INV, .num_sge = 1 };
	struct ib_sge from, to;
	struct kv_work *recv;

	to = kv_dma_sge(kv_region(&t->server, 1), 64);
	recv = kv_recv(&t->server, &to);
	from = kv_dma_sge(kv_region(&t->client, 1), 64);
	wr.sg_list = &from;
	wr.ex.invalidate_rkey = rkey;
	kv_post(&t->client, kv_work(t), &wr);
	return recv;
}

static void send_with_invalidate(struct kv_case *t)
{
	struct kv_region *sink, *there;
	struct kv_work *recv;

	kv_connect(t, &workqueue);
	sink = kv_region(&t->client, 1);
	there = kv_mr(&t->server, 1, REMOTE);
	recv = ask_to_invalidate(t, there->mr->rkey);
	kv_wait(t, recv, IB_WC_SUCCESS);
	kv_expect(t, recv->wc.wc_flags & IB_WC_WITH_INVALIDATE &&
		  recv->wc.ex.invalidate_rkey == there->mr->rkey,
		  "the completion does not name the invalidated key");
	kv_invalidate(there);
	refused(t, sink, there);
}

/*
 * The consumer gives up and invalidates the region itself, before the peer's
 * answer comes: the connection goes on, and so does another registration.
 */
static void invalidate_late(struct kv_case *t)
{
	struct kv_region *sink, *there;

	kv_connect(t, &workqueue);
	sink = kv_region(&t->client, 1);
	there = kv_mr(&t->server, 1, REMOTE);
	kv_invalidate(there);
	kv_wait(t, ask_to_invalidate(t, there->mr->rkey), IB_WC_SUCCESS);
	kv_register(there, REMOTE);
	kv_wait(t, ask_to_invalidate(t, there->mr->rkey), IB_WC_SUCCESS);
	refused(t, sink, there);
}

/* The consumer has registered the region with a new key: the old is refused. */
static void invalidate_old_key(struct kv_case *t)
{
	struct kv_region *there;
	u32 old;

	kv_connect(t, &workqueue);
	there = kv_mr(&t->server, 1, REMOTE);
	old = there->mr->rkey;
	kv_invalidate(there);
	ib_update_fast_reg_key(there->mr, ib_inc_rkey(old));
	kv_register(there, REMOTE);
	kv_wait(t, ask_to_invalidate(t, old), IB_WC_REM_INV_REQ_ERR);
}

/*
 * A protection domain has many connections. The peer of one may invalidate the
 * regions that were registered there, and no region of another connection.
 */
static void invalidate_elsewhere(struct kv_case *t)
{
	struct kv_region *here, *there;

	kv_connect(t, &one_domain);
	here = kv_mr(&t->client, 1, REMOTE);
	there = kv_mr(&t->server, 1, REMOTE);
	kv_wait(t, ask_to_invalidate(t, there->mr->rkey), IB_WC_SUCCESS);
	kv_wait(t, ask_to_invalidate(t, here->mr->rkey),
		IB_WC_REM_INV_REQ_ERR);
}

/* WRITE the first page of @from to @there; the peer of @end refuses it. */
static void refused_write(struct kv_end *end, struct kv_region *from,
			  struct kv_region *there)
{
	struct ib_sge sge = kv_dma_sge(from, PAGE_SIZE);
	struct kv_case *t = end->t;

	kv_fill(from, 8);
	kv_fill(there, 9);
	/* A WRITE's completion says only that TCP has it. */
	kv_wait(t, kv_rdma(end, IB_WR_RDMA_WRITE, &sge, 1, there, 0),
		IB_WC_SUCCESS);
	if (!t->failed && !wait_for_completion_timeout(&end->gone, KV_WAIT))
		kv_fail(t, "the peer has not ended the stream");
	kv_compare(there, 0, PAGE_SIZE, 9, 0);
}

/*
 * Nor may a peer access a region of another connection: its memory is reused
 * as soon as that connection has ended.
 */
static void write_elsewhere(struct kv_case *t)
{
	struct kv_region *from, *here;

	kv_connect(t, &one_domain);
	from = kv_region(&t->client, 1);
	here = kv_mr(&t->client, 1, REMOTE);
	refused_write(&t->client, from, here);
}

static void read_elsewhere(struct kv_case *t)
{
	struct kv_region *sink, *here;

	kv_connect(t, &one_domain);
	sink = kv_region(&t->client, 1);
	here = kv_mr(&t->client, 1, REMOTE);
	refused(t, sink, here);
}

/*
 * Read Requests tell the peer the STags of a READ's sinks. After the READ the
 * consumer may reuse their memory without invalidating them, although it has
 * granted REMOTE_WRITE, as RNICs require: the peer's WRITEs must be refused.
 */
static void write_to_sinks(struct kv_case *t)
{
	struct kv_region *from, *there, *sink[3];
	struct ib_sge sge[3];
	int round, i;

	for (round = 0; round < 3 && !t->failed; round++) {
		kv_connect(t, &workqueue);
		from = kv_region(&t->server, 1);
		there = kv_mr(&t->server, 3, REMOTE);
		for (i = 0; i < 3; i++) {
			sink[i] = kv_mr(&t->client, 1, KV_SINK);
			sge[i] = kv_sge(sink[i], 0, PAGE_SIZE);
		}
		kv_wait(t, kv_rdma(&t->client, IB_WR_RDMA_READ, sge, 3, there,
				   0), IB_WC_SUCCESS);
		refused_write(&t->server, from, sink[round]);
		kv_disconnect(t);
	}
}

static void read_with_invalidate(struct kv_case *t)
{
	struct kv_region *sink, *there;
	struct ib_sge sge;

	kv_connect(t, &workqueue);
	sink = kv_mr(&t->client, 2, KV_SINK);
	there = kv_mr(&t->server, 2, REMOTE);
	kv_fill(there, 5);
	sge = kv_sge(sink, 0, 2 * PAGE_SIZE);
	kv_wait(t, kv_rdma(&t->client, IB_WR_RDMA_READ_WITH_INV, &sge, 1,
			   there, 0), IB_WC_SUCCESS);
	kv_compare(sink, 0, 2 * PAGE_SIZE, 5, 0);
	kv_wait(t, kv_send(&t->client, &sge), IB_WC_LOC_PROT_ERR);
}

/* A sink that cannot be invalidated ends the stream before any data is read. */
static void read_with_invalidate_dma(struct kv_case *t)
{
	struct kv_region *sink, *there;
	struct ib_sge sge;

	kv_connect(t, &workqueue);
	sink = kv_region(&t->client, 1);
	there = kv_mr(&t->server, 1, REMOTE);
	sge = kv_dma_sge(sink, PAGE_SIZE);
	kv_wait(t, kv_rdma(&t->client, IB_WR_RDMA_READ_WITH_INV, &sge, 1,
			   there, 0), IB_WC_LOC_PROT_ERR);
	kv_wait(t, kv_send(&t->client, &sge), IB_WC_WR_FLUSH_ERR);
}

/* READ, by @opcode, into a region of another connection with @access */
static void refused_sink(struct kv_case *t, enum ib_wr_opcode opcode,
			 int access)
{
	struct kv_region *sink, *there;
	struct ib_sge sge;

	kv_connect(t, &one_domain);
	sink = kv_mr(&t->server, 1, access);
	there = kv_mr(&t->server, 1, REMOTE);
	sge = kv_sge(sink, 0, PAGE_SIZE);
	kv_wait(t, kv_rdma(&t->client, opcode, &sge, 1, there, 0),
		IB_WC_LOC_PROT_ERR);
}

/* Also refused: a sink of another connection, writable by its peer or not. */
static void read_with_invalidate_elsewhere(struct kv_case *t)
{
	refused_sink(t, IB_WR_RDMA_READ_WITH_INV, IB_ACCESS_LOCAL_WRITE);
}

/* Refuse a sink that the peer of another connection may be writing to. */
static void read_into_elsewhere(struct kv_case *t)
{
	refused_sink(t, IB_WR_RDMA_READ, REMOTE);
}

/* Hook of the completion: from here on the peer must not write. */
static void fill_now(struct kv_work *work)
{
	kv_fill(work->arg, 7);
}

struct much_written {
	struct kv_region *region;
	struct kv_work *last;		/* WRITE to it */
};

/* The peer of @end WRITEs repeatedly to one region. */
static struct much_written write_much(struct kv_end *end)
{
	struct kv_case *t = end->t;
	struct kv_end *peer = end == &t->client ? &t->server : &t->client;
	struct much_written w = { .region = kv_mr(end, 16, REMOTE) };
	struct kv_region *from = kv_mr(peer, 16, 0);
	struct ib_sge sge;
	int i;

	kv_fill(from, 6);
	sge = kv_sge(from, 0, 16 * PAGE_SIZE);
	for (i = 0; i < 60; i++)
		w.last = kv_rdma(peer, IB_WR_RDMA_WRITE, &sge, 1, w.region, 0);
	return w;
}

/* Wait until the peer's WRITEs have begun to arrive in a region of zeros. */
static void until_written(const struct kv_region *r)
{
	unsigned long end = jiffies + KV_WAIT;
	const u8 *first;

	if (!r->end || r->end->t->failed)
		return;
	first = sg_virt(r->sgt.sgl);
	while (!READ_ONCE(*first)) {
		if (time_after(jiffies, end)) {
			kv_fail(r->end->t, "no WRITE arrives");
			return;
		}
		cond_resched();
	}
}

/* Post LOCAL_INV; its completion refills the region. */
static struct kv_work *invalidate_and_fill(struct kv_region *r)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = r->mr->rkey,
	};
	struct kv_work *work;

	if (!r->end)
		return NULL;
	work = kv_work(r->end->t);
	work->hook = fill_now;
	work->arg = r;
	kv_post(r->end, work, &wr);
	return work;
}

/* Wait until the last WRITE is sent or flushed. */
static void until_sent(struct kv_case *t, const struct much_written *w)
{
	if (!t->failed)
		kv_expect(t, wait_for_completion_timeout(&w->last->done,
							 KV_WAIT),
			  "the last WRITE does not complete");
}

/* The region still has the refilled pattern after the connection has ended. */
static void expect_filled(struct kv_end *end, const struct kv_region *r)
{
	if (!end->t->failed)
		kv_expect(end->t,
			  wait_for_completion_timeout(&end->gone, KV_WAIT),
			  "the connection does not end");
	kv_compare(r, 0, 16 * PAGE_SIZE, 7, 0);
	kv_disconnect(end->t);
}

/*
 * After LOCAL_INV the consumer reuses the memory, even while the peer is
 * writing to it.
 */
static void late_writes(struct kv_case *t)
{
	struct much_written w;
	int round;

	for (round = 0; round < 8 && !t->failed; round++) {
		kv_connect(t, &workqueue);
		w = write_much(&t->server);
		kv_wait(t, invalidate_and_fill(w.region), IB_WC_SUCCESS);
		until_sent(t, &w);
		/* A late WRITE ends the connection, but there may be none. */
		if (!t->failed)
			rdma_disconnect(t->client.id);
		expect_filled(&t->server, w.region);
	}
}

/* Polls in the call that adds the completion, and rearms the CQ. */
static void poll_at_once(struct ib_cq *cq, void *context)
{
	struct ib_wc wc;

	do {
		while (ib_poll_cq(cq, 1, &wc) == 1)
			kv_done(cq, &wc);
	} while (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP |
				  IB_CQ_REPORT_MISSED_EVENTS) > 0);
}

/*
 * The consumer also reuses the memory after a LOCAL_INV that was flushed, not
 * executed, while the peer's WRITEs are placed on another CPU.
 */
static void late_writes_flush(struct kv_case *t)
{
	static const struct kv_options o = { .handler = poll_at_once };
	struct ib_qp_attr error = { .qp_state = IB_QPS_ERR };
	struct kv_region *here;
	struct kv_work *work;
	int round;

	for (round = 0; round < 8 && !t->failed; round++) {
		kv_connect(t, &o);
		if (!t->failed)
			poll_at_once(t->client.scq, NULL);
		here = write_much(&t->client).region;
		work = invalidate_and_fill(here);
		if (t->failed)
			return;
		/* The worker may execute it first: also a valid outcome. */
		ib_modify_qp(t->client.id->qp, &error, IB_QP_STATE);
		kv_expect(t, wait_for_completion_timeout(&work->done, KV_WAIT),
			  "LOCAL_INV does not complete");
		expect_filled(&t->client, here);
	}
}

/* Nothing is placed after the QP is destroyed, even in a valid region. */
static void late_writes_destroy(struct kv_case *t)
{
	struct much_written w;
	int round;

	for (round = 0; round < 4 && !t->failed; round++) {
		kv_connect(t, &workqueue);
		w = write_much(&t->client);
		until_written(w.region);
		if (t->failed)
			return;
		rdma_destroy_qp(t->client.id);
		kv_fill(w.region, 7);
		until_sent(t, &w);
		expect_filled(&t->server, w.region);
	}
}

const struct kv_entry kv_mr_cases[] = {
	{ "limits", limits },
	{ "register-1", reg_1 },
	{ "register-256", reg_256 },
	{ "register-1024", reg_1024 },
	{ "map-too-much", map_too_much },
	{ "page-sizes", page_sizes },
	{ "new-key", new_key },
	{ "use-after-invalidation", use_after_invalidation },
	{ "use-before-registration", use_before_registration },
	{ "invalidate-twice", invalidate_twice },
	{ "register-twice", register_twice },
	{ "rights", rights },
	{ "send-with-invalidate", send_with_invalidate },
	{ "invalidate-late", invalidate_late },
	{ "invalidate-old-key", invalidate_old_key },
	{ "invalidate-elsewhere", invalidate_elsewhere },
	{ "write-elsewhere", write_elsewhere },
	{ "read-elsewhere", read_elsewhere },
	{ "read-into-elsewhere", read_into_elsewhere },
	{ "write-to-sinks", write_to_sinks },
	{ "read-with-invalidate", read_with_invalidate },
	{ "read-with-invalidate-dma", read_with_invalidate_dma },
	{ "read-with-invalidate-elsewhere", read_with_invalidate_elsewhere },
	{ "late-writes", late_writes },
	{ "late-writes-flush", late_writes_flush },
	{ "late-writes-destroy", late_writes_destroy },
	{ }
};

// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: the DMA key, many elements of a WRITE, several sinks of a READ,
 * memory reserves.
 */
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

const struct kv_entry kv_qp_cases[] = {
	{ "dma-key", dma_key },
	{ "write-sges", write_sges },
	{ "too-many-sges", too_many_sges },
	{ "read-sges", read_sges },
	{ "read-bad-sink", read_bad_sink },
	{ "read-bad-source", read_bad_source },
	{ "reserves", initiator_uses },
	{ }
};

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kverbs.ko: exercises an RDMA device as a kernel consumer. Both ends are
 * here: each case makes a connection through rdma_cm, from and to the address
 * that the module was given.
 *
 * The first failure is recorded; after it the functions that a case calls do
 * nothing. So a case is a list of steps. It runs in insmod's context.
 */
#ifndef KVERBS_H
#define KVERBS_H

#include <linux/completion.h>
#include <linux/in.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include "compat.h"

#define KV_WORKS	1024
#define KV_WAIT		(600 * HZ)	/* a longer wait counts as failed */
/* Rights to memory that a WRITE goes to, and those that RNICs require of a READ's sink */
#define KV_SINK		(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)

/**
 * struct kv_work - a work request in progress
 * @cq: the CQ on which it completes
 * @wc: its completion
 * @count: number of its completions; must be 1
 * @cpu: CPU that handled the completion
 * @softirq: the completion was handled in softirq
 * @hook: called when the completion is handled
 */
struct kv_work {
	struct ib_cqe cqe;
	struct ib_cq *cq;
	struct completion done;
	struct ib_wc wc;
	unsigned int count;
	int cpu;
	bool softirq;
	void (*hook)(struct kv_work *work);
	void *arg;
};

/* Pages, and a fast-register MR for them. */
struct kv_region {
	struct kv_end *end;
	struct ib_mr *mr;
	struct sg_table sgt;
	unsigned int num_pages;
	struct list_head entry;
};

struct kv_end {
	struct kv_case *t;
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *scq;
	struct ib_cq *rcq;
	struct ib_srq *srq;
	struct completion happened;
	enum rdma_cm_event_type event;
	struct completion gone;		/* DISCONNECTED */
	struct completion last_wqe;	/* its event */
};

/**
 * struct kv_options - properties of an end
 * @poll: polling context of its CQs
 * @cqe: their size
 * @depth: depth of the send and of the receive queue
 * @reads: IRD and ORD
 * @many: a send has as many elements as the device allows
 * @srq: receives come from an SRQ
 * @one_domain: both ends are in the client's protection domain
 * @alike: the server's end has the same properties, not the defaults
 * @one_cq: receives complete on the send CQ
 * @handler: handler of the send CQ, which the core does not poll
 */
struct kv_options {
	enum ib_poll_context poll;
	int cqe;
	int depth;
	u8 reads;
	bool many;
	bool srq;
	bool one_domain;
	bool alike;
	bool one_cq;
	ib_comp_handler handler;
};

struct kv_case {
	const char *name;
	bool failed;
	bool stale_pd;	/* an event had a pointer to Private Data of no octet */
	char why[200];
	struct ib_device *dev;
	struct rdma_cm_id *listener;
	struct completion requested;
	struct kv_end client;
	struct kv_end server;
	struct list_head regions;
	struct kv_work *works;
	unsigned int num_works;
	void *arg;
};

/* main.c */
__printf(2, 3) void kv_fail(struct kv_case *t, const char *fmt, ...);
#define kv_expect(t, holds, fmt, ...)					\
	do {								\
		if (!(holds))						\
			kv_fail(t, fmt, ##__VA_ARGS__);			\
	} while (0)

/* ends.c */
struct sockaddr_in kv_address(void);
void kv_connect(struct kv_case *t, const struct kv_options *options);
void kv_disconnect(struct kv_case *t);
struct kv_work *kv_work(struct kv_case *t);
void kv_done(struct ib_cq *cq, struct ib_wc *wc);
void kv_unpolled(struct ib_cq *cq, void *context);
void kv_post(struct kv_end *end, struct kv_work *work, struct ib_send_wr *wr);
void kv_wait(struct kv_case *t, struct kv_work *work,
	     enum ib_wc_status status);
struct kv_work *kv_recv(struct kv_end *end, const struct ib_sge *sge);
struct kv_work *kv_send(struct kv_end *end, const struct ib_sge *sge);
void kv_post_send(struct kv_end *end, struct kv_work *work,
		  struct ib_sge *sge, int num_sge);
struct kv_work *kv_send_sges(struct kv_end *end, struct ib_sge *sge,
			     int num_sge);
struct kv_work *kv_rdma(struct kv_end *end, enum ib_wr_opcode opcode,
			struct ib_sge *sge, int num_sge,
			const struct kv_region *remote, u64 offset);
void kv_sync(struct kv_case *t);

/* memory.c */
struct kv_region *kv_region(struct kv_end *end, unsigned int num_pages);
void kv_free_regions(struct kv_case *t);
void kv_register(struct kv_region *r, int access);
struct kv_region *kv_mr(struct kv_end *end, unsigned int num_pages, int access);
void kv_invalidate(struct kv_region *r);
struct ib_sge kv_sge(const struct kv_region *r, u32 offset, u32 len);
struct ib_sge kv_dma_sge(const struct kv_region *r, u32 len);
void kv_fill(struct kv_region *r, u8 seed);
void kv_compare(const struct kv_region *r, u32 offset, u32 len, u8 seed,
		u32 from);

/**
 * struct kv_bench - parameters of a measurement
 * @t: the connection, and its failure
 * @pingpong: the server sends each message back
 * @workqueue: the server's completions are handled in a workqueue
 * @size: octets of a message
 * @depth: messages outstanding, unless @pingpong
 */
struct kv_bench {
	struct kv_case t;
	bool pingpong;
	bool workqueue;
	unsigned int size;
	unsigned int depth;
};

/**
 * struct kv_engine - a transport to measure
 * @open: connect; called first
 * @run: move the given number of messages, one way or there and back
 * @close: check the received data, and take everything down
 */
struct kv_engine {
	void (*open)(struct kv_bench *b);
	void (*run)(struct kv_bench *b, unsigned int n);
	void (*close)(struct kv_bench *b);
};

/* bench.c, bench_rdma.c, bench_tcp.c */
int kv_bench(void);
extern const struct kv_engine kv_rdma_engine;
extern const struct kv_engine kv_tcp_engine;

/* The tables of cases; @cannot says why this kernel cannot run a case. */
struct kv_entry {
	const char *name;
	void (*run)(struct kv_case *t);
	const char *cannot;
};

extern const struct kv_entry kv_cq_cases[];
extern const struct kv_entry kv_flush_cases[];
extern const struct kv_entry kv_late_cases[];
extern const struct kv_entry kv_mr_cases[];
extern const struct kv_entry kv_qp_cases[];
extern const struct kv_entry kv_post_cases[];
extern const struct kv_entry kv_drain_cases[];
extern const struct kv_entry kv_probe_cases[];

#endif /* KVERBS_H */

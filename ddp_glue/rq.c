// SPDX-License-Identifier: GPL-2.0
/*
 * Rings of receive work requests: of queue pairs, and shared (SRQ).
 *
 * The consumer sets the VALID flag of an entry when it has written it; the
 * kernel clears it when it takes the entry. A user ring is shared memory that
 * may change at any time: an entry is copied once, the copy is validated, and
 * only the copy is used.
 */
#include <linux/log2.h>
#include <rdma/uverbs_ioctl.h>
#include "mmap.h"
#include "rq.h"
#include "trace.h"

static struct siw_rqe *rqe_at(const struct iwm_rq *rq, u32 index)
{
	return &rq->ring[index & (rq->num - 1)];
}

static bool rqe_valid(const struct siw_rqe *rqe)
{
	/* Pairs with the consumer's release of the entry */
	return smp_load_acquire(&rqe->flags) & SIW_WQE_VALID;
}

/**
 * iwm_rq_init() - make a ring of receive work requests
 * @rq: ring, zeroed
 * @num: number of entries requested, at most 2^31; 0 counts as 1, because
 *	libsiw cannot map an empty ring. rq->num gets the next power of two
 * @max_sge: scatter elements of an entry, at most IWM_MAX_SGE
 * @user: user space will map the ring
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int iwm_rq_init(struct iwm_rq *rq, u32 num, u32 max_sge, bool user)
{
	spin_lock_init(&rq->lock);
	rq->num = roundup_pow_of_two(max(num, 1u));
	rq->max_sge = max_sge;
	rq->user = user;

	rq->ring = iwm_ring_alloc(array_size(rq->num, sizeof(*rq->ring)),
				  user);
	return rq->ring ? 0 : -ENOMEM;
}

/**
 * iwm_rq_free() - release a ring
 * @rq: ring of iwm_rq_init(), or zeroed; it can no longer be mapped
 */
void iwm_rq_free(struct iwm_rq *rq)
{
	iwm_ring_free(rq->ring);
	rq->ring = NULL;
}

static void rqe_write(struct siw_rqe *rqe, const struct ib_recv_wr *wr)
{
	int i;

	rqe->id = wr->wr_id;
	rqe->num_sge = wr->num_sge;
	rqe->opcode = SIW_OP_RECEIVE;
	for (i = 0; i < wr->num_sge; i++) {
		rqe->sge[i].laddr = wr->sg_list[i].addr;
		rqe->sge[i].length = wr->sg_list[i].length;
		rqe->sge[i].lkey = wr->sg_list[i].lkey;
	}
	/* The entry is complete: hand it over */
	smp_store_release(&rqe->flags, SIW_WQE_VALID);
}

/* @qp: for the trace; NULL for a shared queue */
static int post_one(struct iwm_rq *rq, const struct iwm_qp *qp,
		    const struct ib_recv_wr *wr)
{
	struct siw_rqe *rqe;
	unsigned long flags;
	int ret = 0;

	if (rq->user || wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;

	spin_lock_irqsave(&rq->lock, flags);
	rqe = rqe_at(rq, rq->put);
	if (rqe_valid(rqe)) {
		ret = -ENOMEM;
	} else {
		if (qp)
			trace_iwm_post_recv(qp, wr->wr_id, wr->num_sge);
		rqe_write(rqe, wr);
		rq->put++;
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return ret;
}

/**
 * iwm_rq_post() - post receive work requests of a kernel consumer
 * @rq: ring
 * @qp: queue pair that has the ring; NULL for a shared queue
 * @wr: list of work requests
 * @bad_wr: set to the first that was not posted
 *
 * Context: any.
 * Return: 0; -ENOMEM when the ring is full; -EINVAL for a user ring or a
 * work request with too many elements.
 */
int iwm_rq_post(struct iwm_rq *rq, const struct iwm_qp *qp,
		const struct ib_recv_wr *wr, const struct ib_recv_wr **bad_wr)
{
	const struct ib_recv_wr *next;
	int ret;

	/* Once posted, a request may end, and is its consumer's again. */
	for (; wr; wr = next) {
		next = wr->next;
		ret = post_one(rq, qp, wr);
		if (ret) {
			*bad_wr = wr;
			return ret;
		}
	}
	return 0;
}

/* Read each word once: user space may be changing the entry. */
static int rqe_copy(const struct siw_rqe *rqe, struct iwm_rwr *rwr)
{
	u64 len = 0;
	u32 i;

	rwr->id = READ_ONCE(rqe->id);
	rwr->num_sge = READ_ONCE(rqe->num_sge);
	rwr->len = 0;
	if (rwr->num_sge > IWM_MAX_SGE) {
		rwr->num_sge = 0;
		return -EINVAL;
	}
	for (i = 0; i < rwr->num_sge; i++) {
		struct iwm_sge *sge = &rwr->sge[i];

		sge->addr = READ_ONCE(rqe->sge[i].laddr);
		sge->len = READ_ONCE(rqe->sge[i].length);
		sge->lkey = READ_ONCE(rqe->sge[i].lkey);
		len += sge->len;	/* 6 * 32 bits: cannot wrap */
	}
	/* No message is longer: its offsets have 32 bits (RFC 5041 4.3). */
	rwr->len = min_t(u64, len, U32_MAX);
	return 0;
}

static int rq_take_locked(struct iwm_rq *rq, struct iwm_rwr *rwr)
{
	struct siw_rqe *rqe = rqe_at(rq, rq->get);
	int ret;

	lockdep_assert_held(&rq->lock);

	if (!rqe_valid(rqe))
		return -ENOENT;
	ret = rqe_copy(rqe, rwr);
	/* The copy is made: the consumer may write the entry again */
	smp_store_release(&rqe->flags, 0);
	rq->get++;
	return ret;
}

/**
 * iwm_rq_take() - take the next receive work request
 * @rq: ring
 * @rwr: set to a copy of it
 *
 * Context: any.
 * Return: 0; -ENOENT: the ring is empty; -EINVAL: the entry is malformed and
 * has been removed: complete @rwr->id with an error.
 */
int iwm_rq_take(struct iwm_rq *rq, struct iwm_rwr *rwr)
{
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&rq->lock, flags);
	ret = rq_take_locked(rq, rwr);
	spin_unlock_irqrestore(&rq->lock, flags);
	return ret;
}

/**
 * iwm_rq_has_entry() - is there a receive work request?
 * @rq: ring
 *
 * Context: any; a snapshot.
 */
bool iwm_rq_has_entry(struct iwm_rq *rq)
{
	unsigned long flags;
	bool valid;

	spin_lock_irqsave(&rq->lock, flags);
	valid = rqe_valid(rqe_at(rq, rq->get));
	spin_unlock_irqrestore(&rq->lock, flags);
	return valid;
}

/*
 * Are fewer work requests left than the limit? They lie side by side, so it is
 * enough to check one entry, and user space need not report how many it has
 * posted.
 */
static bool srq_low(struct iwm_srq *srq)
{
	struct iwm_rq *rq = &srq->rq;

	lockdep_assert_held(&rq->lock);

	if (!srq->armed || rqe_valid(rqe_at(rq, rq->get + srq->limit - 1)))
		return false;
	srq->armed = false;
	srq->limit = 0;
	return true;
}

static void srq_limit_event(struct iwm_srq *srq)
{
	struct ib_srq *ibsrq = &srq->ibsrq;
	struct ib_event event = {
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
		.device = ibsrq->device,
		.element.srq = ibsrq,
	};

	if (ibsrq->event_handler)
		ibsrq->event_handler(&event, ibsrq->srq_context);
}

/**
 * iwm_srq_take() - take the next receive work request of an SRQ
 * @srq: shared receive queue
 * @rwr: set to a copy of it
 *
 * Context: any; may raise the consumer's limit event.
 * Return: as iwm_rq_take().
 */
int iwm_srq_take(struct iwm_srq *srq, struct iwm_rwr *rwr)
{
	unsigned long flags;
	bool low;
	int ret;

	spin_lock_irqsave(&srq->rq.lock, flags);
	ret = rq_take_locked(&srq->rq, rwr);
	low = srq_low(srq);
	spin_unlock_irqrestore(&srq->rq.lock, flags);

	if (low)
		srq_limit_event(srq);
	return ret;
}

/**
 * iwm_srq_wait() - a QP waits for a receive work request
 * @srq: shared receive queue
 * @wait: the wait, whose timer a post runs when its turn has come
 *
 * Context: any.
 */
void iwm_srq_wait(struct iwm_srq *srq, struct iwm_rx_wait *wait)
{
	unsigned long flags;

	spin_lock_irqsave(&srq->rq.lock, flags);
	list_add_tail(&wait->entry, &srq->waits);
	spin_unlock_irqrestore(&srq->rq.lock, flags);
}

/* Have the QP that has waited longest look for a work request. */
static void srq_wake_first(struct iwm_srq *srq)
{
	struct iwm_rx_wait *first;

	lockdep_assert_held(&srq->rq.lock);

	first = list_first_entry_or_null(&srq->waits, struct iwm_rx_wait,
					 entry);
	if (first)
		hrtimer_start(&first->timer, 0, HRTIMER_MODE_REL_SOFT);
}

/**
 * iwm_srq_wait_over() - the QP waits no longer
 * @srq: shared receive queue
 * @wait: the wait
 *
 * A post wakes one QP only, so this QP wakes the next. Context: any.
 */
void iwm_srq_wait_over(struct iwm_srq *srq, struct iwm_rx_wait *wait)
{
	unsigned long flags;

	spin_lock_irqsave(&srq->rq.lock, flags);
	list_del_init(&wait->entry);
	srq_wake_first(srq);
	spin_unlock_irqrestore(&srq->rq.lock, flags);
}

static int srq_share(struct iwm_srq *srq, struct ib_udata *udata)
{
	struct iwm_ucontext *ctx =
		rdma_udata_to_drv_context(udata, struct iwm_ucontext, ibctx);
	struct siw_uresp_create_srq resp = { .num_rqe = srq->rq.num };
	int ret;

	if (udata->outlen < sizeof(resp))
		return -EINVAL;

	srq->mmap_entry = iwm_mmap_insert(&ctx->ibctx, srq->rq.ring,
					  array_size(srq->rq.num,
						     sizeof(*srq->rq.ring)),
					  &resp.srq_key);
	if (!srq->mmap_entry)
		return -ENOMEM;

	ret = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (ret)
		iwm_mmap_remove(srq->mmap_entry);
	return ret;
}

/**
 * iwm_create_srq() - make a shared receive queue
 * @ibsrq: object that the core has allocated
 * @attr: size; the limit is not for creation: ibv_create_srq(3)
 * @udata: struct siw_uresp_create_srq out; NULL for kernel consumers
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int iwm_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr,
		   struct ib_udata *udata)
{
	struct iwm_dev *dev = to_iwm_dev(ibsrq->device);
	struct iwm_srq *srq = to_iwm_srq(ibsrq);
	struct ib_srq_attr *a = &attr->attr;
	int ret;

	if (attr->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!a->max_wr || a->max_wr > IWM_MAX_SRQ_WR ||
	    a->max_sge > IWM_MAX_SGE)
		return -EINVAL;

	ret = iwm_claim(&dev->num_srq, IWM_MAX_SRQ);
	if (ret)
		return ret;

	srq->dev = dev;
	INIT_LIST_HEAD(&srq->waits);
	ret = iwm_rq_init(&srq->rq, a->max_wr, a->max_sge, udata);
	if (ret)
		goto err_drop_claim;

	if (udata) {
		ret = srq_share(srq, udata);
		if (ret)
			goto err_free_rq;
	}
	a->max_wr = srq->rq.num;
	return 0;

err_free_rq:
	iwm_rq_free(&srq->rq);
err_drop_claim:
	atomic_dec(&dev->num_srq);
	return ret;
}

/**
 * iwm_modify_srq() - set the limit of a shared receive queue
 * @ibsrq: shared receive queue
 * @attr: new values
 * @mask: IB_SRQ_LIMIT; resizing is not supported
 * @udata: unused
 *
 * Context: any.
 * Return: 0 or a negative errno.
 */
int iwm_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		   enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct iwm_srq *srq = to_iwm_srq(ibsrq);
	unsigned long flags;

	if (mask & ~IB_SRQ_LIMIT)
		return -EOPNOTSUPP;
	if (!(mask & IB_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit > srq->rq.num)
		return -EINVAL;

	spin_lock_irqsave(&srq->rq.lock, flags);
	srq->limit = attr->srq_limit;
	srq->armed = attr->srq_limit;
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	return 0;
}

/**
 * iwm_query_srq() - report size and limit of a shared receive queue
 * @ibsrq: shared receive queue
 * @attr: set to size and limit
 *
 * Context: any.
 * Return: 0.
 */
int iwm_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct iwm_srq *srq = to_iwm_srq(ibsrq);
	unsigned long flags;

	spin_lock_irqsave(&srq->rq.lock, flags);
	attr->max_wr = srq->rq.num;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = srq->limit;
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	return 0;
}

/**
 * iwm_destroy_srq() - destroy a shared receive queue that no queue pair uses
 * @ibsrq: shared receive queue
 * @udata: unused
 *
 * Context: process.
 * Return: 0.
 */
int iwm_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct iwm_srq *srq = to_iwm_srq(ibsrq);

	iwm_mmap_remove(srq->mmap_entry);
	iwm_rq_free(&srq->rq);
	atomic_dec(&srq->dev->num_srq);
	return 0;
}

/**
 * iwm_post_srq_recv() - post receive work requests of a kernel consumer
 * @ibsrq: shared receive queue
 * @wr: list of work requests
 * @bad_wr: set to the first that was not posted
 *
 * Context: any.
 * Return: 0, or the errno of iwm_rq_post().
 */
int iwm_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr)
{
	struct iwm_srq *srq = to_iwm_srq(ibsrq);
	unsigned long flags;
	int ret;

	ret = iwm_rq_post(&srq->rq, NULL, wr, bad_wr);
	if (unlikely(!list_empty_careful(&srq->waits))) {
		spin_lock_irqsave(&srq->rq.lock, flags);
		srq_wake_first(srq);
		spin_unlock_irqrestore(&srq->rq.lock, flags);
	}
	return ret;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues.
 *
 * A CQ is a ring of struct siw_cqe. The kernel sets the VALID flag of an entry
 * when it has written it, and the consumer clears the flag when it has read it.
 * In a user CQ the word that arms notification follows the entries, see
 * notify.c. A user's ring is shared memory and is not trusted: its contents
 * decide only whether that user gets a completion or a wake-up.
 */
#include <linux/log2.h>
#include <rdma/uverbs_ioctl.h>
#include "cq.h"
#include "mmap.h"
#include "trace.h"

static const u8 wc_opcodes[SIW_NUM_OPCODES] = {
	[SIW_OP_WRITE]		 = IB_WC_RDMA_WRITE,
	[SIW_OP_READ]		 = IB_WC_RDMA_READ,
	[SIW_OP_READ_LOCAL_INV]	 = IB_WC_RDMA_READ,
	[SIW_OP_SEND]		 = IB_WC_SEND,
	[SIW_OP_SEND_WITH_IMM]	 = IB_WC_SEND,
	[SIW_OP_SEND_REMOTE_INV] = IB_WC_SEND,
	[SIW_OP_FETCH_AND_ADD]	 = IB_WC_FETCH_ADD,
	[SIW_OP_COMP_AND_SWAP]	 = IB_WC_COMP_SWAP,
	[SIW_OP_RECEIVE]	 = IB_WC_RECV,
	[SIW_OP_INVAL_STAG]	 = IB_WC_LOCAL_INV,
	[SIW_OP_REG_MR]		 = IB_WC_REG_MR,
};

static const u8 wc_statuses[SIW_NUM_WC_STATUS] = {
	[SIW_WC_SUCCESS]	 = IB_WC_SUCCESS,
	[SIW_WC_LOC_LEN_ERR]	 = IB_WC_LOC_LEN_ERR,
	[SIW_WC_LOC_PROT_ERR]	 = IB_WC_LOC_PROT_ERR,
	[SIW_WC_LOC_QP_OP_ERR]	 = IB_WC_LOC_QP_OP_ERR,
	[SIW_WC_WR_FLUSH_ERR]	 = IB_WC_WR_FLUSH_ERR,
	[SIW_WC_BAD_RESP_ERR]	 = IB_WC_BAD_RESP_ERR,
	[SIW_WC_LOC_ACCESS_ERR]	 = IB_WC_LOC_ACCESS_ERR,
	[SIW_WC_REM_ACCESS_ERR]	 = IB_WC_REM_ACCESS_ERR,
	[SIW_WC_REM_INV_REQ_ERR] = IB_WC_REM_INV_REQ_ERR,
	[SIW_WC_GENERAL_ERR]	 = IB_WC_GENERAL_ERR,
};

static struct siw_cqe *cqe_at(const struct iwm_cq *cq, u32 index)
{
	return &cq->ring[index & (cq->num_cqe - 1)];
}

static bool cqe_valid(const struct siw_cqe *cqe)
{
	/* Pairs with the other side's release of the entry */
	return smp_load_acquire(&cqe->flags) & SIW_WQE_VALID;
}

static int cq_put(struct iwm_cq *cq, struct iwm_qp *qp,
		  const struct iwm_wc *wc)
{
	struct siw_cqe *cqe = cqe_at(cq, cq->put);
	u8 flags = SIW_WQE_VALID;

	lockdep_assert_held(&cq->lock);

	if (cqe_valid(cqe))
		return -ENOMEM;

	cqe->id = wc->id;
	cqe->opcode = wc->opcode;
	cqe->status = wc->status;
	cqe->bytes = wc->bytes;
	cqe->imm_data = 0;
	if (wc->invalidated) {
		cqe->inval_stag = wc->inval_stag;
		flags |= SIW_WQE_REM_INVAL;
	}
	/* User space must not see a kernel pointer. */
	if (cq->user)
		cqe->qp_id = qp->qpn;
	else
		cqe->base_qp = &qp->ibqp;

	/* The entry is complete: hand it over */
	smp_store_release(&cqe->flags, flags);
	WRITE_ONCE(cq->put, cq->put + 1);
	return 0;
}

static void cq_error_event(struct iwm_cq *cq)
{
	struct ib_cq *ibcq = &cq->ibcq;
	struct ib_event event = {
		.event = IB_EVENT_CQ_ERR,
		.device = ibcq->device,
		.element.cq = ibcq,
	};
	unsigned long flags;

	if (!ibcq->event_handler)
		return;
	/*
	 * The handler of uverbs posts nothing. On RT no poster sends, and
	 * handlers may take locks that sleep.
	 */
	if (cq->user || IS_ENABLED(CONFIG_PREEMPT_RT)) {
		ibcq->event_handler(&event, ibcq->cq_context);
		return;
	}
	/* Interrupts off as for completion handlers: see may_send(). */
	local_irq_save(flags);
	ibcq->event_handler(&event, ibcq->cq_context);
	local_irq_restore(flags);
}

/* A completion is lost: its QP goes into error, other QPs continue. */
static void cq_overflow(struct iwm_cq *cq, struct iwm_qp *qp, bool first)
{
	iwm_count(cq->dev, IWM_STAT_CQ_OVERFLOWS);
	/* Not for a QP that is in error already. */
	if (READ_ONCE(qp->state) <= IWM_QP_CLOSING)
		cq->dev->completion_lost(qp);
	if (first)
		cq_error_event(cq);
}

/**
 * iwm_cq_add() - queue a completion and notify the consumer if it asked for it
 * @cq: completion queue
 * @qp: queue pair whose work request completes
 * @wc: the completion
 *
 * When the queue has no room the completion is lost and a worker moves @qp into
 * error. The consumer gets IB_EVENT_CQ_ERR the first time.
 *
 * Context: any. The consumer's handlers may be called from here, without
 * cq->lock. With @wc->posting an interrupt calls a kernel consumer's completion
 * handler instead.
 * Return: whether the queue had room.
 */
bool iwm_cq_add(struct iwm_cq *cq, struct iwm_qp *qp, const struct iwm_wc *wc)
{
	bool notify = false, first = false;
	unsigned long flags;
	int ret;

	trace_iwm_complete(qp, wc, true);
	spin_lock_irqsave(&cq->lock, flags);
	ret = cq_put(cq, qp, wc);
	if (likely(!ret)) {
		notify = iwm_notify_due(cq, wc);
	} else if (!cq->overflowed) {
		cq->overflowed = true;
		first = true;
	}
	spin_unlock_irqrestore(&cq->lock, flags);

	if (notify)
		iwm_notify(cq, wc->posting);
	if (unlikely(ret))
		cq_overflow(cq, qp, first);
	return !ret;
}

static void cqe_read(const struct siw_cqe *cqe, struct ib_wc *wc)
{
	*wc = (struct ib_wc) {
		.wr_id = cqe->id,
		.status = wc_statuses[cqe->status],
		.opcode = wc_opcodes[cqe->opcode],
		.byte_len = cqe->bytes,
		.qp = cqe->base_qp,
	};
	if (cqe->flags & SIW_WQE_REM_INVAL) {
		wc->ex.invalidate_rkey = cqe->inval_stag;
		wc->wc_flags = IB_WC_WITH_INVALIDATE;
	}
}

/**
 * iwm_poll_cq() - take completions from a kernel consumer's queue
 * @ibcq: completion queue
 * @num: room in @wc
 * @wc: set to the completions
 *
 * Context: any.
 * Return: number of completions, 0..@num; -EINVAL for a user CQ.
 */
int iwm_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct iwm_cq *cq = to_iwm_cq(ibcq);
	struct siw_cqe *cqe;
	unsigned long flags;
	int n;

	if (cq->user)
		return -EINVAL;

	spin_lock_irqsave(&cq->lock, flags);
	for (n = 0; n < num; n++) {
		cqe = cqe_at(cq, cq->get);
		if (!cqe_valid(cqe))
			break;
		cqe_read(cqe, &wc[n]);
		/* Pairs with cq_put(): the entry has been read */
		smp_store_release(&cqe->flags, 0);
		cq->get++;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

/**
 * iwm_cq_forget() - drop the unpolled completions of a queue pair
 * @cq: completion queue; nothing happens to a user CQ, which has QP numbers
 * @qp: queue pair that is being destroyed, and completes nothing any more
 *
 * A kernel consumer gets pointers from a completion: to the QP, and to its own
 * object, which it may free with the QP.
 *
 * Context: any.
 */
void iwm_cq_forget(struct iwm_cq *cq, const struct iwm_qp *qp)
{
	unsigned long flags;
	u32 from, to;

	if (cq->user)
		return;
	spin_lock_irqsave(&cq->lock, flags);
	for (from = to = cq->get; from != cq->put; from++) {
		if (cqe_at(cq, from)->base_qp == &qp->ibqp)
			continue;
		if (from != to)
			*cqe_at(cq, to) = *cqe_at(cq, from);
		to++;
	}
	for (from = to; from != cq->put; from++)
		cqe_at(cq, from)->flags = 0;
	cq->put = to;
	spin_unlock_irqrestore(&cq->lock, flags);
}

/* Do completions of a kernel consumer wait to be polled? */
static bool cq_waiting(struct iwm_cq *cq)
{
	unsigned long flags;
	bool waiting;

	spin_lock_irqsave(&cq->lock, flags);
	waiting = cqe_valid(cqe_at(cq, cq->get));
	spin_unlock_irqrestore(&cq->lock, flags);
	return waiting;
}

/**
 * iwm_req_notify_cq() - arm a kernel consumer's queue
 * @ibcq: completion queue
 * @flags: IB_CQ_SOLICITED or IB_CQ_NEXT_COMP, and IB_CQ_REPORT_MISSED_EVENTS
 *
 * Context: any.
 * Return: 0; 1 when asked for missed events and completions are waiting.
 */
int iwm_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct iwm_cq *cq = to_iwm_cq(ibcq);
	u32 arm = SIW_NOTIFY_SOLICITED;

	if ((flags & IB_CQ_SOLICITED_MASK) != IB_CQ_SOLICITED)
		arm |= SIW_NOTIFY_NEXT_COMPLETION;
	else if (READ_ONCE(cq->ctrl->flags) & SIW_NOTIFY_NEXT_COMPLETION)
		arm |= SIW_NOTIFY_NEXT_COMPLETION;	/* never weaken it */

	/* Arm, then look. Pairs with iwm_notify_due() */
	smp_store_mb(cq->ctrl->flags, arm);
	if (!(flags & IB_CQ_REPORT_MISSED_EVENTS))
		return 0;
	return cq_waiting(cq);
}

/* Replace the ring by one of @num entries; move the unpolled completions. */
static int cq_swap_ring(struct iwm_cq *cq, struct siw_cqe **ring, u32 num)
{
	u32 waiting = cq->put - cq->get, i;

	lockdep_assert_held(&cq->lock);

	if (waiting > num)
		return -EINVAL;
	for (i = 0; i < waiting; i++)
		(*ring)[i] = *cqe_at(cq, cq->get + i);
	swap(cq->ring, *ring);
	cq->num_cqe = num;
	cq->get = 0;
	cq->put = waiting;
	return 0;
}

/**
 * iwm_resize_cq() - ib_device_ops.resize_cq
 * @ibcq: completion queue of a kernel consumer
 * @cqe: number of entries requested
 * @udata: unused
 *
 * Completions may be added and polled meanwhile, and the CQ stays armed. libsiw
 * does not resize CQs, and its ABI could not announce a new ring.
 *
 * Context: process.
 * Return: 0; -EOPNOTSUPP for a user CQ; -EINVAL: over the device's limit, or
 * too few for the unpolled completions; -ENOMEM.
 */
int iwm_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	struct iwm_cq *cq = to_iwm_cq(ibcq);
	struct siw_cqe *ring;
	unsigned long flags;
	u32 num;
	int ret;

	if (cq->user)
		return -EOPNOTSUPP;
	if (cqe < 1 || cqe > IWM_MAX_CQE)
		return -EINVAL;
	num = roundup_pow_of_two(cqe);
	ring = iwm_ring_alloc(array_size(num, sizeof(*ring)), false);
	if (!ring)
		return -ENOMEM;

	spin_lock_irqsave(&cq->lock, flags);
	ret = cq_swap_ring(cq, &ring, num);
	spin_unlock_irqrestore(&cq->lock, flags);
	if (!ret)
		ibcq->cqe = num;
	iwm_ring_free(ring);
	return ret;
}

static size_t cq_size(const struct iwm_cq *cq)
{
	return cq->num_cqe * sizeof(*cq->ring) + sizeof(*cq->ctrl);
}

static int cq_share(struct iwm_cq *cq, struct ib_udata *udata)
{
	struct iwm_ucontext *ctx =
		rdma_udata_to_drv_context(udata, struct iwm_ucontext, ibctx);
	struct siw_uresp_create_cq resp = {
		.cq_id = cq->id,
		.num_cqe = cq->num_cqe,
	};
	int ret;

	if (udata->outlen < sizeof(resp))
		return -EINVAL;

	cq->mmap_entry = iwm_mmap_insert(&ctx->ibctx, cq->ring,
					 cq_size(cq), &resp.cq_key);
	if (!cq->mmap_entry)
		return -ENOMEM;

	ret = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (ret)
		iwm_mmap_remove(cq->mmap_entry);
	return ret;
}

/**
 * iwm_create_cq() - make a completion queue
 * @ibcq: object that the core has allocated
 * @attr: size
 * @attrs: struct siw_uresp_create_cq out; NULL for kernel consumers
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int iwm_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct iwm_cq_attrs *attrs)
{
	struct ib_udata *udata = iwm_cq_udata(attrs);
	struct iwm_dev *dev = to_iwm_dev(ibcq->device);
	struct iwm_cq *cq = to_iwm_cq(ibcq);
	int ret;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > IWM_MAX_CQE)
		return -EINVAL;

	ret = iwm_claim(&dev->num_cq, IWM_MAX_CQ);
	if (ret)
		return ret;

	cq->dev = dev;
	cq->user = udata;
	cq->id = atomic_inc_return(&dev->last_cq_id);
	cq->num_cqe = roundup_pow_of_two(attr->cqe);
	spin_lock_init(&cq->lock);
	cq->ring = iwm_ring_alloc(cq_size(cq), udata);
	if (!cq->ring) {
		ret = -ENOMEM;
		goto err_drop_claim;
	}
	/* A kernel CQ stays armed when its ring is replaced. */
	cq->ctrl = udata ? (struct siw_cq_ctrl *)&cq->ring[cq->num_cqe] :
			   &cq->own_ctrl;
	iwm_notify_init(cq);

	if (udata) {
		ret = cq_share(cq, udata);
		if (ret)
			goto err_free_ring;
	}
	ibcq->cqe = cq->num_cqe;
	return 0;

err_free_ring:
	iwm_ring_free(cq->ring);
err_drop_claim:
	atomic_dec(&dev->num_cq);
	return ret;
}

/**
 * iwm_destroy_cq() - destroy a completion queue that no queue pair uses
 * @ibcq: completion queue
 * @udata: unused
 *
 * Context: process.
 * Return: 0.
 */
int iwm_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct iwm_cq *cq = to_iwm_cq(ibcq);

	iwm_notify_stop(ibcq);
	iwm_cq_end_poller(ibcq);
	iwm_mmap_remove(cq->mmap_entry);
	iwm_ring_free(cq->ring);
	atomic_dec(&cq->dev->num_cq);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Posting: kernel consumers write the ring here; user space writes its own and
 * rings the doorbell.
 */
#include <linux/interrupt.h>
#include <linux/sched/clock.h>
#include <linux/sizes.h>
#include "cq.h"
#include "gather_cpu.h"
#include "qp_state.h"
#include "recv.h"
#include "recv_wait.h"
#include "sq_gather.h"
#include "sq_send.h"
#include "trace.h"

/* More octets make no cheaper batch: the worker sends at once. */
#define GATHER_OCTETS	SZ_64K
/* Doorbells closer together than this may be a burst. */
#define SQ_BURST_NS	50000
/* Time that a burst is collected for */
#define SQ_COLLECT_NS	20000

static int fill_inline(struct siw_sqe *sqe, const struct ib_send_wr *wr)
{
	u8 *to = (u8 *)&sqe->sge[1];
	u32 len = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > SIW_MAX_INLINE - len)
			return -EINVAL;
		memcpy(to + len, (void *)(uintptr_t)sge->addr, sge->length);
		len += sge->length;
	}
	sqe->sge[0].length = len;
	sqe->num_sge = 1;
	return 0;
}

static int fill_sges(struct iwm_sq *sq, struct siw_sqe *sqe,
		     const struct ib_send_wr *wr)
{
	u32 max = iwm_sq_is_read(sqe->opcode) ? IWM_MAX_SGE_RD : sq->max_sge;
	u32 octets = 0;
	int i;

	if (wr->num_sge > max)
		return -EINVAL;
	if (wr->send_flags & IB_SEND_INLINE)
		return fill_inline(sqe, wr);
	for (i = 0; i < wr->num_sge; i++) {
		struct siw_sge *sge = i < IWM_MAX_SGE ? &sqe->sge[i] :
				      iwm_sq_more(sq, sq->put, i);

		sge->laddr = wr->sg_list[i].addr;
		sge->length = wr->sg_list[i].length;
		sge->lkey = wr->sg_list[i].lkey;
		if (!iwm_sq_is_read(sqe->opcode))
			octets += sge->length;
	}
	WRITE_ONCE(sq->gather.octets, sq->gather.octets + octets);
	sqe->num_sge = wr->num_sge;
	return 0;
}

static u16 fill_flags(const struct ib_send_wr *wr)
{
	u16 flags = SIW_WQE_VALID;

	if (wr->send_flags & IB_SEND_SIGNALED)
		flags |= SIW_WQE_SIGNALLED;
	if (wr->send_flags & IB_SEND_SOLICITED)
		flags |= SIW_WQE_SOLICITED;
	if (wr->send_flags & IB_SEND_FENCE)
		flags |= SIW_WQE_READ_FENCE;
	if (wr->send_flags & IB_SEND_INLINE)
		flags |= SIW_WQE_INLINE;
	return flags;
}

/* Translate a kernel consumer's work request, except the flags. */
static int fill_entry(struct iwm_sq *sq, struct siw_sqe *sqe,
		      const struct ib_send_wr *wr)
{
	sqe->id = wr->wr_id;
	sqe->num_sge = 0;
	switch (wr->opcode) {
	case IB_WR_SEND:
		sqe->opcode = SIW_OP_SEND;
		return fill_sges(sq, sqe, wr);
	case IB_WR_SEND_WITH_INV:
		sqe->opcode = SIW_OP_SEND_REMOTE_INV;
		sqe->rkey = wr->ex.invalidate_rkey;
		return fill_sges(sq, sqe, wr);
	case IB_WR_RDMA_WRITE:
		sqe->opcode = SIW_OP_WRITE;
		sqe->rkey = rdma_wr(wr)->rkey;
		sqe->raddr = rdma_wr(wr)->remote_addr;
		return fill_sges(sq, sqe, wr);
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		sqe->opcode = wr->opcode == IB_WR_RDMA_READ ?
			      SIW_OP_READ : SIW_OP_READ_LOCAL_INV;
		sqe->rkey = rdma_wr(wr)->rkey;
		sqe->raddr = rdma_wr(wr)->remote_addr;
		return fill_sges(sq, sqe, wr);
	case IB_WR_LOCAL_INV:
		sqe->opcode = SIW_OP_INVAL_STAG;
		sqe->rkey = wr->ex.invalidate_rkey;
		return 0;
	case IB_WR_REG_MR:
		sqe->opcode = SIW_OP_REG_MR;
		sqe->base_mr = (uintptr_t)reg_wr(wr)->mr;
		sqe->rkey = reg_wr(wr)->key;
		sqe->access = reg_wr(wr)->access;
		return 0;
	default:
		return -EINVAL;
	}
}

static int post_list(struct iwm_sq *sq, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad_wr)
{
	const struct ib_send_wr *next;
	unsigned long irq;
	int ret = 0;

	spin_lock_irqsave(&sq->post_lock, irq);
	WRITE_ONCE(sq->gather.posts, sq->gather.posts + 1);
	/* Once posted, a request may end, and is its consumer's again. */
	for (; wr; wr = next) {
		struct siw_sqe *sqe = iwm_sq_entry(sq, sq->put);

		next = wr->next;
		/* Pairs with iwm_sq_release(): the owner is done with it */
		ret = smp_load_acquire(&sqe->flags) ? -ENOMEM :
						      fill_entry(sq, sqe, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
		trace_iwm_post_send(sq->qp, sqe->id, sqe->opcode,
				    sqe->num_sge);
		sq->put++;
		/* Pairs with iwm_sq_posted(): the entry is complete */
		smp_store_release(&sqe->flags, fill_flags(wr));
	}
	spin_unlock_irqrestore(&sq->post_lock, irq);
	return ret;
}

/*
 * Does the poster post one by one without waiting for anything? Then the last
 * doorbell was a moment ago, no segment has been received since, and the poster
 * is not collecting completions. A poster that waits for an answer, or for each
 * completion, is served at once.
 */
static bool in_burst(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;
	u64 segments = iwm_rx_segments(qp);
	u64 now = local_clock();
	bool burst;

	burst = now - READ_ONCE(sq->bell_time) < SQ_BURST_NS &&
		segments == READ_ONCE(sq->bell_segments) &&
		iwm_cq_unpolled(qp->scq);
	WRITE_ONCE(sq->bell_time, now);
	WRITE_ONCE(sq->bell_segments, segments);
	return burst;
}

/* The worker ends a burst: does it send, or flush, without a delay? */
static bool may_collect(const struct iwm_qp *qp)
{
	return iwm_qp_is_up(READ_ONCE(qp->state)) &&
	       !READ_ONCE(qp->peer_left) &&
	       !test_bit(IWM_SQ_NO_MEMORY, &qp->sq->flags);
}

/*
 * Not with interrupts off: local_bh_enable() may run softirqs. This excludes
 * handlers of completions, which are called with interrupts off: this CPU may
 * hold sq->lock. With PREEMPT_RT, spin_lock_irqsave() leaves interrupts on: no
 * poster sends.
 */
static bool may_send(void)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && !irqs_disabled() &&
	       !in_hardirq() && !in_nmi();
}

/* Send posts, now or after a wait. Context: any. */
static void gather_posted(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;
	struct iwm_gather *gather = &sq->gather;
	u32 octets = READ_ONCE(gather->octets) - READ_ONCE(gather->octets_seen);

	if (octets >= GATHER_OCTETS) {
		iwm_sq_kick(qp);
		return;
	}
	/*
	 * Pairs with own_look(): an owner that sees IWM_SQ_AGAIN, or runs after
	 * iwm_gather_send() has cleared IWM_SQ_GATHERING, sees the posts.
	 */
	smp_mb__before_atomic();
	set_bit(IWM_SQ_AGAIN, &sq->flags);
	/* Pairs with own_end(): set IWM_SQ_AGAIN, then look at the claims */
	smp_mb__after_atomic();
	if (test_bit(IWM_SQ_OWNED, &sq->flags))
		return;
	if (may_send() && iwm_gather_lease(gather)) {
		local_bh_disable();
		iwm_sq_run_atomic(qp, IWM_SQ_POSTING);
		local_bh_enable();
	} else if (!test_and_set_bit(IWM_SQ_GATHERING, &sq->flags)) {
		iwm_gather_link(gather);
	}
}

/**
 * iwm_post_send() - ib_device_ops.post_send
 * @ibqp: QP
 * @wr: a kernel consumer's list; NULL is the doorbell of a user QP, whose
 *	entries are in its ring
 * @bad_wr: set to the first request that was not posted
 *
 * Context: any for a kernel QP; process for a user QP.
 * Return: 0, -ENOTCONN before the QP is connected, unless its program does that
 * by hand; -EINVAL, -ENOMEM.
 */
int iwm_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr)
{
	struct iwm_qp *qp = to_iwm_qp(ibqp);
	struct iwm_sq *sq = qp->sq;
	int ret = 0;

	if (unlikely(qp->user != !wr))
		ret = -EINVAL;
	else if (unlikely(READ_ONCE(qp->state) == IWM_QP_IDLE))
		ret = iwm_qp_post_early(qp);
	if (unlikely(ret)) {
		*bad_wr = wr;
		return ret;
	}
	iwm_count(qp->dev, IWM_STAT_DOORBELLS);
	if (!qp->user) {
		ret = post_list(sq, wr, bad_wr);
		gather_posted(qp);
		return ret;
	}
	/* The program may have posted receives before. */
	iwm_rx_wake(qp);
	if (may_collect(qp) && in_burst(qp)) {
		iwm_sq_defer(sq, SQ_COLLECT_NS);
		return 0;
	}
	iwm_sq_doorbell(qp);
	/* After the doorbell's barrier: either this, or peer_leaves()'s step */
	if (unlikely(READ_ONCE(qp->peer_left)))
		iwm_qp_queue_close(qp, 0);
	return 0;
}

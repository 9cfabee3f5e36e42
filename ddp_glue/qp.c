// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: the verbs. Connections and states are in qp_conn.c and
 * qp_state.c.
 */
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include "cq.h"
#include "gather_cpu.h"
#include "hand.h"
#include "mmap.h"
#include "netdev.h"
#include "qp.h"
#include "qp_end.h"
#include "qp_ref.h"
#include "qp_state.h"
#include "recv.h"
#include "recv_wait.h"
#include "rq.h"
#include "sq_gather.h"
#include "sq_send.h"
#include "trace.h"

#define QPN_MIN			2	/* 0 and 1 are special in InfiniBand */
#define QPN_MAX			0xffffff

static int check_qp_attr(const struct ib_qp_init_attr *attr, bool user)
{
	u32 max_send_sge = user ? IWM_MAX_SGE : IWM_MAX_SEND_SGE;
	const struct ib_qp_cap *cap = &attr->cap;

	if (attr->qp_type != IB_QPT_RC || attr->create_flags)
		return -EOPNOTSUPP;
	if (!attr->send_cq || !attr->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > IWM_MAX_QP_WR ||
	    cap->max_send_sge > max_send_sge ||
	    cap->max_inline_data > IWM_MAX_INLINE)
		return -EINVAL;
	if (!attr->srq && (cap->max_recv_wr > IWM_MAX_QP_WR ||
			   cap->max_recv_sge > IWM_MAX_SGE))
		return -EINVAL;
	return 0;
}

static void init_qp(struct iwm_qp *qp, const struct ib_qp_init_attr *attr,
		    bool user)
{
	qp->dev = to_iwm_dev(qp->ibqp.device);
	qp->scq = to_iwm_cq(attr->send_cq);
	qp->rcq = to_iwm_cq(attr->recv_cq);
	qp->srq = attr->srq ? to_iwm_srq(attr->srq) : NULL;
	qp->last_wqe_due = !!qp->srq;
	qp->user = user;
	qp->owner = user ? get_pid(task_tgid(current)) : NULL;
	qp->sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->state = IWM_QP_IDLE;
	qp->attr.qp_state = IB_QPS_RESET;
	qp->attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;
	qp->max_ord = U16_MAX;
	kref_init(&qp->ref);
	init_completion(&qp->freed);
	spin_lock_init(&qp->lock);
	mutex_init(&qp->conn_lock);
	INIT_DELAYED_WORK(&qp->close_work, iwm_qp_close_work);
}

/*
 * Ring sizes are powers of two, because libsiw's index wraps. Report the real
 * capacities.
 */
static void round_caps(struct iwm_qp *qp, struct ib_qp_cap *cap)
{
	cap->max_send_wr = roundup_pow_of_two(max(cap->max_send_wr, 1u));
	cap->max_inline_data = IWM_MAX_INLINE;
	if (qp->srq) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
	} else {
		cap->max_recv_wr = roundup_pow_of_two(max(cap->max_recv_wr,
							  1u));
	}
	qp->cap = *cap;
}

static int create_queues(struct iwm_qp *qp)
{
	const struct ib_qp_cap *cap = &qp->cap;
	int ret;

	ret = iwm_sq_create(qp, iwm_sq_work);
	if (ret)
		return ret;
	iwm_gather_init(qp);
	ret = iwm_rx_create(qp);
	if (ret)
		goto err_destroy_sq;
	if (qp->srq)
		return 0;
	ret = iwm_rq_init(&qp->rq, cap->max_recv_wr, cap->max_recv_sge,
			  qp->user);
	if (ret)
		goto err_destroy_rx;
	return 0;

err_destroy_rx:
	iwm_rx_destroy(qp);
err_destroy_sq:
	iwm_sq_destroy(qp);
	return ret;
}

static void destroy_queues(struct iwm_qp *qp)
{
	iwm_mmap_remove(qp->rq_entry);
	iwm_mmap_remove(qp->sq_entry);
	iwm_gather_stop(qp);
	iwm_rx_destroy(qp);	/* its timer looks into the ring */
	if (!qp->srq)
		iwm_rq_free(&qp->rq);
	iwm_sq_destroy(qp);
}

static int qp_share_ring(struct ib_ucontext *ctx, void *ring, size_t size,
			 struct rdma_user_mmap_entry **slot, u64 *key)
{
	struct rdma_user_mmap_entry *entry;

	entry = iwm_mmap_insert(ctx, ring, size, key);
	if (!entry)
		return -ENOMEM;
	*slot = entry;
	return 0;
}

static int qp_share_rings(struct iwm_qp *qp, struct ib_udata *udata,
			  struct siw_uresp_create_qp *resp)
{
	struct iwm_ucontext *ctx =
		rdma_udata_to_drv_context(udata, struct iwm_ucontext, ibctx);
	size_t rq_size = (size_t)qp->rq.num * sizeof(*qp->rq.ring);
	int ret;

	ret = qp_share_ring(&ctx->ibctx, iwm_sq_ring(qp), iwm_sq_ring_size(qp),
			    &qp->sq_entry, &resp->sq_key);
	if (ret || qp->srq)
		return ret;
	return qp_share_ring(&ctx->ibctx, qp->rq.ring, rq_size, &qp->rq_entry,
			     &resp->rq_key);
}

static int qp_respond(struct iwm_qp *qp, struct ib_udata *udata)
{
	struct siw_uresp_create_qp resp = {
		.qp_id = qp->qpn,
		.num_sqe = qp->cap.max_send_wr,
		.num_rqe = qp->cap.max_recv_wr,
		.sq_key = SIW_INVAL_UOBJ_KEY,
		/* libsiw takes SIW_INVAL_UOBJ_KEY for a failure */
		.rq_key = qp->srq ? 0 : SIW_INVAL_UOBJ_KEY,
	};
	int ret;

	if (!udata)
		return 0;
	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	ret = qp_share_rings(qp, udata, &resp);
	if (ret)
		return ret;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

/* Reserve a number, under which the QP cannot be found yet. */
static int qp_reserve_number(struct iwm_qp *qp)
{
	struct iwm_dev *dev = qp->dev;
	int ret;

	ret = xa_alloc_cyclic_irq(&dev->qps, &qp->qpn, NULL,
				  XA_LIMIT(QPN_MIN, QPN_MAX), &dev->next_qpn,
				  GFP_KERNEL);
	if (ret < 0)
		return ret;
	qp->ibqp.qp_num = qp->qpn;
	return 0;
}

/* Publish the QP. This needs no memory: the number's entry exists. */
static void qp_publish(struct iwm_qp *qp)
{
	xa_store_irq(&qp->dev->qps, qp->qpn, qp, GFP_KERNEL);
}

/* Withdraw the QP and free its number. */
static void qp_unpublish(struct iwm_qp *qp)
{
	xa_erase_irq(&qp->dev->qps, qp->qpn);
}

/* Wait until all other references are dropped. */
static void qp_wait_unused(struct iwm_qp *qp)
{
	iwm_qp_put(qp);
	wait_for_completion(&qp->freed);
}

/**
 * iwm_create_qp() - ib_device_ops.create_qp
 * @ibqp: allocated by the core
 * @attr: requested attributes; capacities are set to the real ones
 * @udata: NULL for a kernel consumer
 *
 * Context: process, may sleep.
 * Return: 0; -EOPNOTSUPP for types other than RC; -EINVAL for capacities over
 * the device's limits; -ENOMEM; -EFAULT.
 */
int iwm_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		  struct ib_udata *udata)
{
	struct iwm_dev *dev = to_iwm_dev(ibqp->device);
	struct iwm_qp *qp = to_iwm_qp(ibqp);
	int ret;

	ret = check_qp_attr(attr, udata);
	if (ret)
		return ret;
	ret = iwm_claim(&dev->num_qp, IWM_MAX_QP);
	if (ret)
		return ret;
	init_qp(qp, attr, udata);
	round_caps(qp, &attr->cap);
	ret = create_queues(qp);
	if (ret)
		goto err_put_owner;
	ret = qp_reserve_number(qp);
	if (ret)
		goto err_destroy_queues;
	ret = qp_respond(qp, udata);
	if (ret)
		goto err_unpublish;
	qp_publish(qp);
	return 0;

err_unpublish:
	qp_unpublish(qp);
err_destroy_queues:
	destroy_queues(qp);
err_put_owner:
	put_pid(qp->owner);
	atomic_dec(&dev->num_qp);
	return ret;
}

/**
 * iwm_destroy_qp() - ib_device_ops.destroy_qp
 * @ibqp: queue pair; the core frees it afterwards
 * @udata: NULL for a kernel consumer
 *
 * Outstanding work requests get no completions, and those that a kernel consumer
 * has not polled are dropped. Context: process, may sleep: waits for users of
 * the QP, not for the network.
 * Return: 0.
 */
int iwm_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct iwm_qp *qp = to_iwm_qp(ibqp);
	struct iwm_dev *dev = qp->dev;

	might_sleep();
	/* 1: end lookups */
	qp_unpublish(qp);
	/* 2: end the connection, upcalls, transmit owners, closing work */
	iwm_qp_die(qp);
	/* 3: wait for the CM's references and all others */
	qp_wait_unused(qp);
	/* 4: free memory */
	destroy_queues(qp);
	iwm_cq_forget(qp->scq, qp);
	iwm_cq_forget(qp->rcq, qp);
	put_pid(qp->owner);
	atomic_dec(&dev->num_qp);
	return 0;
}

/* The delays that IB_QP_MIN_RNR_TIMER stands for, in units of 10 us. */
static const u16 rnr_delays[] = {
	65535, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
	16384, 24576, 32768, 49152,
};

#define RNR_RETRY_FOR_EVER	7

/*
 * How long a Send of the peer waits for a receive. On InfiniBand the sender
 * repeats it rnr_retry times, as often as the receiver's min_rnr_timer says.
 * Programs set both alike at both ends, and here both are the receiver's.
 */
static u64 rnr_wait_ns(const struct ib_qp_attr *attr)
{
	u64 delay = rnr_delays[attr->min_rnr_timer % ARRAY_SIZE(rnr_delays)];

	if (attr->rnr_retry >= RNR_RETRY_FOR_EVER)
		return U64_MAX;
	/* Not 0, which stands for the device's setting */
	return max(attr->rnr_retry * delay * 10 * NSEC_PER_USEC, 1ull);
}

/* The program has connected the QP by hand, or is about to: RTS for it. */
static void hand_enter_rts(struct iwm_qp *qp, const struct ib_qp_attr *attr,
			   int mask)
{
	if (mask & IB_QP_RNR_RETRY)
		WRITE_ONCE(qp->rnr_wait_ns, rnr_wait_ns(&qp->attr));
	if (!(mask & IB_QP_MAX_QP_RD_ATOMIC))
		return;
	spin_lock_bh(&qp->lock);
	WRITE_ONCE(qp->max_ord, attr->max_rd_atomic);
	WRITE_ONCE(qp->ord, min_t(u16, qp->ord, attr->max_rd_atomic));
	spin_unlock_bh(&qp->lock);
}

static int enter_rtr(struct iwm_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	const int peer = IB_QP_AV | IB_QP_DEST_QPN;

	if (READ_ONCE(qp->state) != IWM_QP_IDLE)
		return -EINVAL;
	return (mask & peer) == peer ? iwm_hand_connect(qp, attr) : 0;
}

/*
 * Only the connection manager moves a QP to RTS, or its peer if it is connected
 * by hand: see hand.c.
 */
static int enter_rts(struct iwm_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	/* In this order: startup may succeed in between. */
	if (!iwm_qp_starts_by_hand(qp) && READ_ONCE(qp->state) != IWM_QP_RTS)
		return -EINVAL;
	if (READ_ONCE(qp->by_hand))
		hand_enter_rts(qp, attr, mask);
	return 0;
}

static int modify_state(struct iwm_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	switch (attr->qp_state) {
	case IB_QPS_RESET:
		iwm_qp_reset(qp);
		return 0;
	case IB_QPS_INIT:
		return READ_ONCE(qp->state) == IWM_QP_IDLE ? 0 : -EINVAL;
	case IB_QPS_RTR:
		return enter_rtr(qp, attr, mask);
	case IB_QPS_RTS:
		return enter_rts(qp, attr, mask);
	case IB_QPS_SQD:
		return iwm_qp_close(qp);
	case IB_QPS_SQE:
	case IB_QPS_ERR:
		iwm_qp_disconnect(qp, false, -ECONNABORTED);
		return 0;
	}
	return -EINVAL;
}

/* The QP's address vector is the core's. */
static void note_attr(struct ib_qp_attr *to, const struct ib_qp_attr *from,
		      int mask)
{
	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = from->qp_access_flags;
	if (mask & IB_QP_PATH_MTU)
		to->path_mtu = from->path_mtu;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = from->dest_qp_num;
	if (mask & IB_QP_RQ_PSN)
		to->rq_psn = from->rq_psn;
	if (mask & IB_QP_SQ_PSN)
		to->sq_psn = from->sq_psn;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = from->timeout;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = from->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = from->rnr_retry;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = from->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = from->min_rnr_timer;
	if (mask & IB_QP_AV) {
		to->ah_attr = from->ah_attr;
		to->ah_attr.grh.sgid_attr = NULL;
	}
}

/*
 * Set the attributes first: the change of state uses them. A change that is
 * refused leaves the old ones.
 */
static int change_attr(struct iwm_qp *qp, const struct ib_qp_attr *attr,
		       int mask)
{
	const struct ib_qp_attr before = qp->attr;
	int ret;

	note_attr(&qp->attr, attr, mask);
	ret = mask & IB_QP_STATE ? modify_state(qp, attr, mask) : 0;
	if (ret) {
		note_attr(&qp->attr, &before, mask);
		return ret;
	}
	if (mask & IB_QP_STATE)
		qp->attr.qp_state = attr->qp_state;
	if (mask & IB_QP_ACCESS_FLAGS) {
		spin_lock_bh(&qp->lock);
		iwm_rx_set_rights(qp);
		spin_unlock_bh(&qp->lock);
	}
	return 0;
}

/**
 * iwm_modify_qp() - ib_device_ops.modify_qp
 * @ibqp: queue pair
 * @attr: new attributes
 * @mask: IB_QP_* bits of the attributes to change
 * @udata: unused
 *
 * RTR with the address and number of a peer connects the QP, without a
 * connection manager: see hand.c.
 *
 * ERR flushes both queues before it returns. SQD closes in order: it sends
 * posted work requests first, then a FIN, and does not wait for that.
 *
 * rdma_disconnect() calls this without a reference: iw_cm drops its own when the
 * connection has ended. So another thread may destroy the QP meanwhile.
 *
 * Context: process, may sleep.
 * Return: 0, -EOPNOTSUPP for unknown bits, -EINVAL for a state that cannot
 * be reached this way, or an errno of iwm_hand_connect().
 */
int iwm_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata)
{
	struct iwm_qp *qp = to_iwm_qp(ibqp);
	int ret;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (!iwm_qp_hold(qp))
		return -EINVAL;
	ret = change_attr(qp, attr, mask);
	iwm_qp_put(qp);
	/*
	 * The core would replace the QP's reference to a GID now, without a
	 * lock: two such calls would drop it twice. Nobody uses it.
	 */
	if (!ret && mask & IB_QP_AV)
		rdma_ah_set_ah_flags(&attr->ah_attr, 0);
	return ret;
}

static enum ib_qp_state qp_ib_state(const struct iwm_qp *qp)
{
	switch (READ_ONCE(qp->state)) {
	case IWM_QP_IDLE:
		/* iWARP has no RESET: Idle already accepts receives. */
		if (qp->attr.qp_state == IB_QPS_RESET)
			return IB_QPS_INIT;
		return qp->attr.qp_state;
	case IWM_QP_RTS:
		if (READ_ONCE(qp->by_hand) && qp->attr.qp_state == IB_QPS_RTR)
			return IB_QPS_RTR;	/* the peer was quicker */
		return IB_QPS_RTS;
	case IWM_QP_CLOSING:
		return IB_QPS_SQD;
	case IWM_QP_TERMINATE:
		return IB_QPS_SQE;
	case IWM_QP_ERROR:
		break;
	}
	return IB_QPS_ERR;
}

static enum ib_mtu path_mtu(struct iwm_dev *dev)
{
	struct net_device *netdev = iwm_dev_get_netdev(dev);
	enum ib_mtu mtu;

	if (!netdev)
		return IB_MTU_1024;
	mtu = ib_mtu_int_to_enum(READ_ONCE(netdev->mtu));
	dev_put(netdev);
	return mtu;
}

/**
 * iwm_query_qp() - ib_device_ops.query_qp
 * @ibqp: queue pair
 * @attr: set to the attributes
 * @mask: IB_QP_* bits of the requested attributes; ignored, all are set
 * @init_attr: set to the attributes of its creation
 *
 * Context: process. Return: 0.
 */
int iwm_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init_attr)
{
	struct iwm_qp *qp = to_iwm_qp(ibqp);

	*attr = qp->attr;
	memset(init_attr, 0, sizeof(*init_attr));
	attr->qp_state = qp_ib_state(qp);
	attr->cur_qp_state = attr->qp_state;
	if (!READ_ONCE(qp->by_hand))
		attr->path_mtu = path_mtu(qp->dev);
	attr->cap = qp->cap;
	attr->port_num = 1;
	if (READ_ONCE(qp->state) != IWM_QP_IDLE) {
		attr->max_rd_atomic = READ_ONCE(qp->ord);
		attr->max_dest_rd_atomic = READ_ONCE(qp->ird);
	}

	init_attr->qp_type = IB_QPT_RC;
	init_attr->qp_context = ibqp->qp_context;
	init_attr->event_handler = ibqp->event_handler;
	init_attr->send_cq = ibqp->send_cq;
	init_attr->recv_cq = ibqp->recv_cq;
	init_attr->srq = ibqp->srq;
	init_attr->sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR :
					       IB_SIGNAL_REQ_WR;
	init_attr->cap = qp->cap;
	init_attr->port_num = 1;
	return 0;
}

/**
 * iwm_post_recv() - ib_device_ops.post_recv, for kernel consumers
 * @ibqp: queue pair without an SRQ
 * @wr: list of work requests
 * @bad_wr: set to the first that was not posted
 *
 * Context: any. Return: 0, -EINVAL, or -ENOMEM when the ring is full.
 */
int iwm_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr)
{
	struct iwm_qp *qp = to_iwm_qp(ibqp);
	int ret;

	if (qp->srq || qp->user) {
		*bad_wr = wr;
		return -EINVAL;
	}
	ret = iwm_rq_post(&qp->rq, qp, wr, bad_wr);
	iwm_rx_wake(qp);
	/* Either iwm_qp_rx_end() sees the new entries, or we see @rx_ended. */
	smp_mb();
	if (unlikely(READ_ONCE(qp->rx_ended)))
		iwm_sq_flush_receives(qp);
	return ret;
}

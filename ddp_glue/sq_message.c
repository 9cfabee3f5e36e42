// SPDX-License-Identifier: GPL-2.0
/*
 * Messages: the choice of a QP's next message. The owner copies a work request
 * from the ring, checks it and makes a message of it. A Read Request of the
 * peer becomes a Response.
 */
#include <linux/sizes.h>
#include <mpa/negotiate.h>
#include "mem.h"
#include "qp_state.h"
#include "sq_send.h"
#include "trace.h"

/* User space may not post the kernel-only operations of the ABI. */
static bool opcode_allowed(const struct iwm_qp *qp, u8 opcode)
{
	switch (opcode) {
	case SIW_OP_WRITE:
	case SIW_OP_READ:
	case SIW_OP_SEND:
	case SIW_OP_SEND_REMOTE_INV:
		return true;
	case SIW_OP_READ_LOCAL_INV:
	case SIW_OP_REG_MR:
	case SIW_OP_INVAL_STAG:
		return !qp->user;
	default:
		return false;
	}
}

static int check_sge(struct iwm_qp *qp, const struct iwm_sge *sge, int access)
{
	struct iwm_mr *mr;

	if (!sge->len)
		return 0;
	mr = iwm_mr_cached(qp->dev, &qp->sq->mr, sge->lkey);
	if (!mr)
		return -ENOENT;
	return iwm_mr_check(mr, qp->ibqp.pd, sge->addr, sge->len, access);
}

/* Make the element that was checked last the sink of a READ. */
static int take_sink(struct iwm_qp *qp, const struct iwm_sge *sge)
{
	return sge->len ? iwm_mr_take_sink(qp->sq->mr, &qp->ibqp) : 0;
}

/*
 * Can the sink of a READ with invalidate, its one element, be invalidated when
 * the Response has arrived? That invalidation does not wait for accesses from
 * other connections, so the region must not be lent to another peer.
 */
static enum siw_wc_status check_invalidation(struct iwm_qp *qp, u32 num_sge)
{
	struct iwm_sq *sq = qp->sq;
	struct iwm_mr *mr;

	if (!num_sge)
		return SIW_WC_LOC_QP_OP_ERR;
	mr = iwm_mr_cached(qp->dev, &sq->mr, sq->sge[0].lkey);
	if (!mr || mr->dma || iwm_mr_is_lent_elsewhere(mr, &qp->ibqp))
		return SIW_WC_LOC_PROT_ERR;
	return SIW_WC_SUCCESS;
}

/* Copy inline payload from the entry. */
static enum siw_wc_status take_inline(struct tx_msg *msg,
				      const struct siw_sqe *sqe)
{
	u32 len = sqe->num_sge ? sqe->sge[0].length : 0;

	if (len > SIW_MAX_INLINE)
		return SIW_WC_LOC_LEN_ERR;
	memcpy(msg->body, &sqe->sge[1], len);
	msg->in_body = true;
	msg->left = len;
	return SIW_WC_SUCCESS;
}

/* READ with invalidate invalidates one STag, so it has one element. */
static u32 max_sges(const struct iwm_sq *sq, u8 opcode)
{
	if (opcode == SIW_OP_READ_LOCAL_INV)
		return 1;
	return opcode == SIW_OP_READ ? IWM_MAX_SGE_RD : sq->max_sge;
}

/* Element @i of @sqe, the copy of the entry that was taken last. */
static void take_sge(struct iwm_sq *sq, const struct siw_sqe *sqe, u32 i)
{
	const struct siw_sge *from = i < IWM_MAX_SGE ? &sqe->sge[i] :
				     iwm_sq_more(sq, sq->get - 1, i);
	struct iwm_sge *to = &sq->sge[i];

	to->addr = from->laddr;
	to->len = from->length;
	to->lkey = from->lkey;
}

static enum siw_wc_status take_sges(struct iwm_qp *qp, struct tx_msg *msg,
				    const struct siw_sqe *sqe)
{
	bool read = iwm_sq_is_read(sqe->opcode);
	struct iwm_sq *sq = qp->sq;
	enum siw_wc_status status;
	u64 len = 0;
	int i;

	if (sqe->num_sge > max_sges(sq, sqe->opcode))
		return SIW_WC_LOC_QP_OP_ERR;
	if (read && !qp->ord)
		return SIW_WC_LOC_QP_OP_ERR;	/* the peer takes none */
	for (i = 0; i < sqe->num_sge; i++) {
		take_sge(sq, sqe, i);
		len += sq->sge[i].len;
		if (check_sge(qp, &sq->sge[i],
			      read ? IB_ACCESS_LOCAL_WRITE : 0) ||
		    (read && take_sink(qp, &sq->sge[i])))
			return SIW_WC_LOC_PROT_ERR;
	}
	if (sqe->opcode == SIW_OP_READ_LOCAL_INV) {
		status = check_invalidation(qp, sqe->num_sge);
		if (status)
			return status;
	}
	if (len > IWM_MAX_MSG)
		return SIW_WC_LOC_LEN_ERR;
	msg->num_sge = sqe->num_sge;
	msg->left = len;
	return SIW_WC_SUCCESS;
}

static enum siw_wc_status take_payload(struct iwm_qp *qp, struct tx_msg *msg,
				       const struct siw_sqe *sqe)
{
	if (sqe->flags & SIW_WQE_INLINE)
		return iwm_sq_is_read(sqe->opcode) ? SIW_WC_LOC_QP_OP_ERR :
					      take_inline(msg, sqe);
	return take_sges(qp, msg, sqe);
}

static void prepare_untagged(struct iwm_sq *sq, struct tx_msg *msg, u8 opcode,
			     enum rdmap_queue qn)
{
	msg->seg.opcode = opcode;
	msg->seg.hdr_len = DDP_UNTAGGED_HDR_LEN;
	msg->seg.qn = qn;
	msg->seg.msn = sq->msn[qn]++;
}

static void prepare_tagged(struct tx_msg *msg, u8 opcode, u32 stag, u64 to)
{
	msg->seg.opcode = opcode;
	msg->seg.tagged = true;
	msg->seg.hdr_len = DDP_TAGGED_HDR_LEN;
	msg->seg.stag = stag;
	msg->seg.to = to;
}

/* Prepare a Read Request that asks for @rr; it is outstanding from now on. */
static void prepare_read_request(struct iwm_sq *sq, struct tx_msg *msg,
				 const struct rdmap_read *rr, u32 wqe, bool own)
{
	*iwm_sq_orq(sq, sq->orq_put) = (struct orq_entry) {
		.sink.stag = rr->sink_stag,
		.sink.to = rr->sink_to,
		.sink.len = rr->size,
		.wqe = wqe,
		.own = own,
		.more = !own && iwm_sq_has_rest(sq),
	};
	/* Pairs with iwm_sq_oldest_read(): the entry is complete */
	smp_store_release(&sq->orq_put, sq->orq_put + 1);
	WRITE_ONCE(sq->unconfirmed, false);

	rdmap_read_build(msg->body, rr);
	msg->in_body = true;
	msg->left = RDMAP_READ_REQUEST_LEN;
	prepare_untagged(sq, msg, RDMAP_READ_REQUEST, RDMAP_QN_READ_REQUEST);
}

/* Prepare a Read Request for the next sink of @sq->rest; there is one. */
static void prepare_sink(struct iwm_sq *sq, struct tx_msg *msg)
{
	struct read_rest *rest = &sq->rest;
	const struct iwm_sge *sge = &rest->sge[rest->cur++];
	struct rdmap_read rr = {
		.sink_stag = sge->lkey,
		.sink_to = sge->addr,
		.size = sge->len,
		.source_stag = rest->stag,
		.source_to = rest->to,
	};

	rest->to += sge->len;
	prepare_read_request(sq, msg, &rr, msg->wqe, false);
	iwm_count(sq->qp->dev, IWM_STAT_TX_READ_REQUESTS);
}

/*
 * A Read: its elements become the sinks. An empty Read sends a Read Request,
 * too; its sink is not used.
 */
static void prepare_read(struct iwm_sq *sq, struct tx_msg *msg,
			 const struct siw_sqe *sqe)
{
	struct read_rest *rest = &sq->rest;
	u32 i;

	rest->num_sge = 0;
	for (i = 0; i < msg->num_sge; i++)
		if (sq->sge[i].len)
			rest->sge[rest->num_sge++] = sq->sge[i];
	if (!msg->left) {
		rest->sge[0] = msg->num_sge ? sq->sge[0] :
					      (struct iwm_sge) { };
		rest->num_sge = 1;
	}
	rest->cur = 0;
	rest->stag = sqe->rkey;
	rest->to = sqe->raddr;
	rest->wqe = msg->wqe;
	iwm_sq_wqe(sq, msg->wqe)->lkey = rest->sge[0].lkey;
	prepare_sink(sq, msg);
}

static void prepare_send(struct iwm_sq *sq, struct tx_msg *msg,
			 const struct siw_sqe *sqe)
{
	bool se = sqe->flags & SIW_WQE_SOLICITED;

	if (sqe->opcode == SIW_OP_SEND_REMOTE_INV) {
		prepare_untagged(sq, msg, se ? RDMAP_SEND_SE_INVAL :
					       RDMAP_SEND_INVAL, RDMAP_QN_SEND);
		msg->seg.stag = sqe->rkey;
	} else {
		prepare_untagged(sq, msg, se ? RDMAP_SEND_SE : RDMAP_SEND,
				 RDMAP_QN_SEND);
	}
	iwm_count(sq->qp->dev, IWM_STAT_TX_SENDS);
}

static void prepare_message(struct iwm_sq *sq, struct tx_msg *msg,
			    const struct siw_sqe *sqe)
{
	iwm_sq_wqe(sq, msg->wqe)->bytes = msg->left;
	switch (sqe->opcode) {
	case SIW_OP_WRITE:
		prepare_tagged(msg, RDMAP_WRITE, sqe->rkey, sqe->raddr);
		if (READ_ONCE(sq->qp->by_hand))
			WRITE_ONCE(sq->unconfirmed, true);
		iwm_count(sq->qp->dev, IWM_STAT_TX_WRITES);
		break;
	case SIW_OP_READ:
	case SIW_OP_READ_LOCAL_INV:
		prepare_read(sq, msg, sqe);
		break;
	default:
		prepare_send(sq, msg, sqe);
	}
}

static int enable_region(struct iwm_qp *qp, const struct siw_sqe *sqe,
			 bool wait)
{
	/* This waits for other users of the region: drop our reference. */
	iwm_mr_drop_cache(&qp->sq->mr);
	return iwm_mr_enable(&qp->ibqp,
			     (struct ib_mr *)(uintptr_t)sqe->base_mr,
			     sqe->rkey, sqe->access, wait);
}

static int invalidate_region(struct iwm_qp *qp, const struct siw_sqe *sqe)
{
	iwm_mr_drop_cache(&qp->sq->mr);	/* likewise */
	return iwm_mr_invalidate_local(qp->dev, qp->ibqp.pd, sqe->rkey, true);
}

/* The result of a local operation that the owner has not executed yet. */
#define NOT_EXECUTED	1

/*
 * Operations that put nothing on the wire. Kernel consumers only.
 * @ret: result, or NOT_EXECUTED
 */
static enum siw_wc_status local_operation(struct iwm_qp *qp,
					  const struct siw_sqe *sqe, int ret)
{
	if (ret == NOT_EXECUTED)
		ret = sqe->opcode == SIW_OP_REG_MR ?
		      enable_region(qp, sqe, true) :
		      invalidate_region(qp, sqe);
	return ret ? SIW_WC_LOC_QP_OP_ERR : SIW_WC_SUCCESS;
}

/*
 * A bad work request ends the stream. The owner puts the QP into error later,
 * when the consumer's locks cannot be held any more.
 */
void iwm_msg_local_error(struct iwm_qp *qp, u32 wqe, enum siw_wc_status status)
{
	iwm_sq_wqe_done(qp->sq, wqe, status);
	iwm_count(qp->dev, IWM_STAT_LOCAL_ERRORS);
	set_bit(IWM_SQ_BROKEN, &qp->sq->flags);
}

/* Reads that may be outstanding. With an ORD of 0 take_sges() refuses them. */
static u32 read_limit(const struct iwm_qp *qp)
{
	return qp->ord ? qp->ord : 1;
}

/* May this entry be started? The ORD limits Reads; a fence waits for them. */
static __always_inline bool may_start(const struct iwm_qp *qp, u8 opcode,
				      u16 flags)
{
	const struct iwm_sq *sq = qp->sq;
	u32 limit = U32_MAX;

	/* Pairs with iwm_sq_complete(): the FIFO entry has been read */
	if (sq->fifo_put - smp_load_acquire(&sq->fifo_get) == sq->num)
		return false;
	if (flags & SIW_WQE_READ_FENCE)
		limit = 1;
	else if (iwm_sq_is_read(opcode))
		limit = read_limit(qp);
	return iwm_sq_reads(sq) < limit;
}

/* May the next Read Request or work request be started? */
static bool may_go_on(const struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;
	const struct siw_sqe *sqe = iwm_sq_entry(sq, sq->get);

	if (iwm_sq_has_rest(sq))
		return iwm_sq_reads(sq) < read_limit(qp);
	return may_start(qp, READ_ONCE(sqe->opcode), READ_ONCE(sqe->flags));
}

/*
 * The next entry has to wait for the end of a Read: request a kick then.
 * Return: false when the Read has ended already.
 */
bool iwm_msg_wait_read(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;

	set_bit(IWM_SQ_WAIT_READ, &sq->flags);
	/* Pairs with read_ended(): set the bit, then look */
	smp_mb__after_atomic();
	if (!may_go_on(qp))
		return true;
	clear_bit(IWM_SQ_WAIT_READ, &sq->flags);
	return false;
}

/* Clear everything but @body. */
static void clear_message(struct tx_msg *msg)
{
	memset(msg, 0, offsetof(struct tx_msg, body));
	msg->body_off = 0;
	msg->in_body = false;
	msg->cur = 0;
	msg->cur_off = 0;
	msg->access = 0;
}

/*
 * Take the next entry of the ring. True: it has become a message.
 * @executed: as for local_operation()
 */
static bool take_entry(struct iwm_qp *qp, const struct siw_sqe *sqe,
		       int executed)
{
	struct iwm_sq *sq = qp->sq;
	struct tx_msg *msg = &sq->msg;
	enum siw_wc_status status = SIW_WC_LOC_QP_OP_ERR;
	u32 wqe = iwm_sq_push(sq, sqe);

	if (trace_iwm_post_send_enabled() && qp->user)
		trace_iwm_post_send(qp, sqe->id, sqe->opcode, sqe->num_sge);
	/* Pairs with iwm_sq_idle(): the entry is in the FIFO */
	smp_store_release(&sq->get, sq->get + 1);
	if (opcode_allowed(qp, sqe->opcode)) {
		if (sqe->opcode == SIW_OP_REG_MR ||
		    sqe->opcode == SIW_OP_INVAL_STAG) {
			status = local_operation(qp, sqe, executed);
			if (!status) {
				iwm_sq_wqe_done(sq, wqe, status);
				return false;
			}
		} else {
			clear_message(msg);
			status = take_payload(qp, msg, sqe);
		}
	}
	if (status) {
		iwm_msg_local_error(qp, wqe, status);
		return false;
	}
	msg->wqe = wqe;
	prepare_message(sq, msg, sqe);
	msg->kind = IWM_MSG_WQE;
	return true;
}

/* Request the next sink of a Read, if one more Read may be outstanding. */
static bool next_sink(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;
	struct tx_msg *msg = &sq->msg;

	if (iwm_sq_is_over(sq) || !may_go_on(qp))
		return false;
	clear_message(msg);
	msg->wqe = sq->rest.wqe;
	prepare_sink(sq, msg);
	msg->kind = IWM_MSG_WQE;
	return true;
}

/* Longest message that is copied with softirqs disabled, in octets */
#define ATOMIC_OCTETS	SZ_32K

static bool is_small(struct iwm_sq *sq, const struct siw_sqe *sqe)
{
	u64 len = 0;
	u32 i;

	if (sqe->flags & SIW_WQE_INLINE || iwm_sq_is_read(sqe->opcode))
		return true;
	for (i = 0; i < sqe->num_sge; i++)
		len += i < IWM_MAX_SGE ? sqe->sge[i].length :
					 iwm_sq_more(sq, sq->get, i)->length;
	return len <= ATOMIC_OCTETS;
}

/*
 * Can a kernel consumer's work request be sent without sleeping, and fast? A
 * registration is executed to find out: a moment later it might have to wait.
 */
static bool may_be_atomic(struct iwm_qp *qp, const struct siw_sqe *sqe,
			  int *executed)
{
	switch (sqe->opcode) {
	case SIW_OP_REG_MR:
		*executed = enable_region(qp, sqe, false);
		return *executed != -EAGAIN;
	case SIW_OP_INVAL_STAG:
		return false;
	default:
		return is_small(qp->sq, sqe);
	}
}

/* Take work requests until one has a message to send. */
static enum next_msg next_wqe(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;

	if (iwm_sq_has_rest(sq))
		return next_sink(qp) ? NEXT_READY : NEXT_NONE;
	while (!iwm_sq_is_over(sq) && iwm_sq_posted(sq)) {
		struct siw_sqe sqe __uninitialized;
		int executed = NOT_EXECUTED;

		memcpy(&sqe, iwm_sq_entry(sq, sq->get), sizeof(sqe));
		barrier();	/* use only the copy from here on */
		if (!may_start(qp, sqe.opcode, sqe.flags))
			return NEXT_NONE;
		if (iwm_sq_is_atomic(sq) && !may_be_atomic(qp, &sqe, &executed))
			return NEXT_WORKER;
		if (take_entry(qp, &sqe, executed))
			return NEXT_READY;
	}
	return NEXT_NONE;
}

static bool next_response(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;
	struct tx_msg *msg = &sq->msg;
	const struct rdmap_read *rr;

	if (!iwm_sq_responses(sq))
		return false;
	rr = iwm_sq_irq(sq, sq->irq_get);
	memset(msg, 0, sizeof(*msg));
	msg->left = rr->size;
	msg->num_sge = 1;
	sq->sge[0].addr = rr->source_to;
	sq->sge[0].len = rr->size;
	sq->sge[0].lkey = rr->source_stag;
	msg->access = IB_ACCESS_REMOTE_READ;
	prepare_tagged(msg, RDMAP_READ_RESPONSE, rr->sink_stag, rr->sink_to);
	msg->kind = IWM_MSG_RESPONSE;
	iwm_count(qp->dev, IWM_STAT_TX_READ_RESPONSES);
	return true;
}

/*
 * The STag in messages that the program has not posted. They have no octets, so
 * RFC 5040 lets no receiver check the STag; but Chelsio's RNICs refuse a tagged
 * segment of STag 0.
 */
#define OWN_STAG	1u

/* A Read of no octets. Its Response tells that the peer has executed it. */
static void prepare_own_read(struct iwm_sq *sq, struct tx_msg *msg)
{
	const struct rdmap_read rr = {
		.sink_stag = OWN_STAG,
		.source_stag = OWN_STAG,
	};

	prepare_read_request(sq, msg, &rr, sq->fifo_put, true);
}

/* The ready-to-receive message of the peer-to-peer model (RFC 6581). */
static bool next_rtr(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;
	struct tx_msg *msg = &sq->msg;
	u8 rtr = READ_ONCE(qp->rtr);

	if (!rtr)
		return false;
	WRITE_ONCE(qp->rtr, 0);
	memset(msg, 0, sizeof(*msg));
	if (rtr & MPA_RTR_WRITE)
		prepare_tagged(msg, RDMAP_WRITE, OWN_STAG, 0);
	else if (rtr & MPA_RTR_READ)
		prepare_own_read(sq, msg);
	else
		prepare_untagged(sq, msg, RDMAP_SEND, RDMAP_QN_SEND);
	msg->kind = IWM_MSG_OWN;
	return true;
}

/*
 * Programs that connect by hand expect InfiniBand's Write: when it has completed,
 * the peer's memory has the data. RFC 5040 section 5.5 promises that only to a
 * Read (9 and 17). So a Read of no octets follows the Writes when nothing else is
 * to be sent. It confirms all of them. While another Read is outstanding, its
 * end kicks the owner.
 */
static bool next_confirmation(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;

	if (likely(!sq->unconfirmed) || iwm_sq_is_over(sq))
		return false;
	/* Pairs with read_ended(): @unconfirmed is set, then look */
	smp_mb();
	if (iwm_sq_reads(sq))
		return false;
	clear_message(&sq->msg);
	prepare_own_read(sq, &sq->msg);
	sq->msg.kind = IWM_MSG_OWN;
	return true;
}

/*
 * Responses and work requests take turns. Only the worker sends Responses, so
 * that a poster does not pay for the peer's Reads.
 */
enum next_msg iwm_msg_next(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;
	bool worker = sq->context == IWM_SQ_WORKER;
	enum next_msg next;

	if (next_rtr(qp))
		return NEXT_READY;
	sq->response_turn = !sq->response_turn;
	if (worker && sq->response_turn && next_response(qp))
		return NEXT_READY;
	next = next_wqe(qp);
	if (next == NEXT_NONE &&
	    (next_confirmation(qp) || (worker && next_response(qp))))
		return NEXT_READY;
	return next;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Transmit: work requests and Read Responses become DDP segments (RFC 5040,
 * RFC 5041) that MPA frames and hands to TCP in batches.
 *
 * One context at a time is a QP's transmit owner (SQ_OWNED): the one that
 * rang the doorbell, or the worker. All others leave a note (SQ_AGAIN) and
 * go. The owner takes entries from the ring, serialises them, hands them over
 * and completes in order what TCP has taken. A user's ring is shared memory:
 * an entry is copied once, and the copy is checked and used.
 *
 * Doorbells: libsiw rings only when the entry before the new one is no longer
 * VALID. Entries therefore stay VALID until they are handed over, and after
 * clearing one the owner looks at the next again, with a full barrier between
 * (the poster stores the new entry and then looks at the old one).
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/wait_bit.h>
#include "iwmpa.h"
#include <mpa/startup.h>

/* Octets that one call may transmit before it lets others run. */
#define SQ_INLINE_BUDGET	(1u << 20)
#define SQ_WORK_BUDGET		(4u << 20)

/* Bits of iwm_sq.flags */
enum {
	SQ_OWNED,	/* somebody is the transmit owner */
	SQ_AGAIN,	/* look again: something has changed */
	SQ_STOPPED,	/* the connection is not to be touched any more */
	SQ_FLUSH,	/* everything ends with a flush error */
	SQ_TERMINATE,	/* a Terminate waits to be sent */
	SQ_WAIT_READ,	/* a Read must finish first */
};

/**
 * struct iwm_wqe - a work request from its fetch to its completion
 * @id: the poster's
 * @bytes: octets of payload, for the completion
 * @lkey: sink of a Read
 * @opcode: enum siw_opcode
 * @status: enum siw_wc_status
 * @signalled: a completion is wanted even when it went well
 * @end: stream position behind its last octet, once @written
 * @written: all of it is serialised
 * @done: finished, with @status: a Read, a local operation or a failure
 */
struct iwm_wqe {
	u64 id;
	u64 end;
	u32 bytes;
	u32 lkey;
	u8 opcode;
	u8 status;
	bool signalled;
	bool written;
	bool done;
};

/* An outstanding Read. @rtr: no work request belongs to it. */
struct out_read {
	struct iwm_read_out rd;
	u32 wqe;
	bool rtr;
};

enum msg_kind {
	MSG_NONE,
	MSG_WQE,
	MSG_RESPONSE,
	MSG_RTR,
};

/**
 * struct tx_msg - the message that is being sent
 * @kind: what it is for
 * @seg: header of the next segment
 * @left: octets of payload that are not serialised
 * @body: payload that is not in a memory region: inline data or a Read Request
 * @body_off: octets of @body that are serialised
 * @in_body: the payload comes from @body
 * @sge: the payload's memory
 * @num_sge: elements in it
 * @cur: element of the next octet
 * @cur_off: its offset there
 * @access: right that the memory must grant
 * @wqe: the work request's place in the FIFO
 */
struct tx_msg {
	enum msg_kind kind;
	struct ddp_segment seg;
	u32 left;
	u8 body[SIW_MAX_INLINE];
	u32 body_off;
	bool in_body;
	struct iwm_sge sge[IWM_MAX_SGE];
	u32 num_sge;
	u32 cur;
	u32 cur_off;
	int access;
	u32 wqe;
};

/**
 * struct iwm_sq - transmit side of a QP
 * @qp: the QP
 * @flags: SQ_* bits, atomic
 * @work: the worker
 * @post_lock: serialises kernel consumers; guards @put
 * @ring: entries, shared with user space for a user QP
 * @num: entries in @ring and @fifo, a power of two
 * @put: next entry to write, kernel QP only
 * @get: next entry to take (owner)
 * @released: entries below are given back (owner)
 * @lock: guards @fifo, @fifo_get and @fifo_put
 * @fifo: work requests that have been taken and not completed
 * @fifo_get: the oldest of them
 * @fifo_put: behind the newest one
 * @accepted: stream position that TCP has taken, as last seen by the owner
 * @orq: our outstanding Reads
 * @orq_get: the oldest one (receive)
 * @orq_put: behind the newest one (owner)
 * @irq: the peer's Reads that have not been answered
 * @irq_get: the oldest one (owner)
 * @irq_put: behind the newest one (receive)
 * @msg: what is being sent (owner)
 * @mr: memory that was used last, until the next hand-over (owner)
 * @msn: next MSN of each untagged queue (owner)
 * @response_turn: a Response goes before the next work request (owner)
 * @term: the Terminate's body, written before SQ_TERMINATE is set
 * @term_len: octets of @term
 */
struct iwm_sq {
	struct iwm_qp *qp;
	unsigned long flags;
	struct work_struct work;

	spinlock_t post_lock;
	struct siw_sqe *ring;
	u32 num;
	u32 put;
	u32 get;
	u32 released;

	spinlock_t lock;
	struct iwm_wqe *fifo;
	u32 fifo_get;
	u32 fifo_put;
	u64 accepted;

	struct out_read orq[IWM_MAX_ORD];
	u32 orq_get;
	u32 orq_put;
	struct rdmap_read irq[IWM_MAX_IRD];
	u32 irq_get;
	u32 irq_put;

	struct tx_msg msg;
	struct iwm_mr *mr;
	u32 msn[DDP_NUM_QUEUES];
	bool response_turn;
	u8 term[RDMAP_TERM_MAX_LEN];
	u32 term_len;
};

static struct siw_sqe *ring_entry(struct iwm_sq *sq, u32 index)
{
	return &sq->ring[index & (sq->num - 1)];
}

static struct iwm_wqe *fifo_entry(struct iwm_sq *sq, u32 index)
{
	return &sq->fifo[index & (sq->num - 1)];
}

static bool posted(struct iwm_sq *sq)
{
	u16 flags = smp_load_acquire(&ring_entry(sq, sq->get)->flags);

	return flags & SIW_WQE_VALID;
}

static bool is_read(u8 opcode)
{
	return opcode == SIW_OP_READ || opcode == SIW_OP_READ_LOCAL_INV;
}

static u32 reads_outstanding(const struct iwm_sq *sq)
{
	return sq->orq_put - smp_load_acquire(&sq->orq_get);
}

static bool responses_due(const struct iwm_sq *sq)
{
	return smp_load_acquire(&sq->irq_put) != READ_ONCE(sq->irq_get);
}

/* --- Completion ------------------------------------------------------- */

static bool wqe_finished(const struct iwm_sq *sq, const struct iwm_wqe *wqe)
{
	if (wqe->done)
		return true;
	return wqe->written && !is_read(wqe->opcode) &&
	       sq->accepted >= wqe->end;
}

static void complete_wqe(struct iwm_qp *qp, const struct iwm_wqe *wqe)
{
	struct iwm_wc wc = {
		.id = wqe->id,
		.opcode = wqe->opcode,
		.status = wqe->status,
		.bytes = wqe->bytes,
	};

	if (wqe->signalled || wqe->status != SIW_WC_SUCCESS)
		iwm_cq_add(qp->scq, qp, &wc);
}

/*
 * Complete what is finished, in order. With @flush the rest too, in error.
 * The lock is held while the CQ is written: two contexts may complete.
 */
static void complete_ready(struct iwm_qp *qp, bool flush)
{
	struct iwm_sq *sq = qp->sq;

	spin_lock_bh(&sq->lock);
	while (sq->fifo_get != sq->fifo_put) {
		struct iwm_wqe *wqe = fifo_entry(sq, sq->fifo_get);

		if (!wqe_finished(sq, wqe)) {
			if (!flush)
				break;
			wqe->status = SIW_WC_WR_FLUSH_ERR;
			wqe->bytes = 0;
		}
		complete_wqe(qp, wqe);
		sq->fifo_get++;
	}
	spin_unlock_bh(&sq->lock);
}

/* Give entries back to who posts. A message that is being sent keeps its. */
static void release_entries(struct iwm_sq *sq)
{
	u32 end = sq->get - (sq->msg.kind == MSG_WQE);

	for (; sq->released != end; sq->released++)
		smp_store_release(&ring_entry(sq, sq->released)->flags, 0);
	smp_mb();	/* before looking at the next entry: see above */
}

/* --- Taking work requests --------------------------------------------- */

static u32 fifo_push(struct iwm_sq *sq, const struct siw_sqe *sqe)
{
	struct iwm_wqe *wqe = fifo_entry(sq, sq->fifo_put);

	*wqe = (struct iwm_wqe) {
		.id = sqe->id,
		.opcode = sqe->opcode,
		.status = SIW_WC_SUCCESS,
		.signalled = (sqe->flags & SIW_WQE_SIGNALLED) ||
			     sq->qp->sig_all,
	};
	spin_lock_bh(&sq->lock);
	sq->fifo_put++;
	spin_unlock_bh(&sq->lock);
	return sq->fifo_put - 1;
}

static void wqe_done(struct iwm_sq *sq, u32 index, enum siw_wc_status status)
{
	struct iwm_wqe *wqe = fifo_entry(sq, index);

	spin_lock_bh(&sq->lock);
	wqe->status = status;
	wqe->done = true;
	spin_unlock_bh(&sq->lock);
}

/* What user space may ask for; the rest of the ABI is the kernel's. */
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
	int ret;

	if (!sge->len)
		return 0;
	mr = iwm_mr_get(qp->dev, sge->lkey);
	if (!mr)
		return -ENOENT;
	ret = iwm_mr_check(mr, qp->ibqp.pd, sge->addr, sge->len, access);
	iwm_mr_put(mr);
	return ret;
}

/* Copy the payload that the entry carries itself. */
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

static enum siw_wc_status take_sges(struct iwm_qp *qp, struct tx_msg *msg,
				    const struct siw_sqe *sqe)
{
	bool read = is_read(sqe->opcode);
	u64 len = 0;
	int i;

	if (sqe->num_sge > (read ? IWM_MAX_SGE_RD : IWM_MAX_SGE))
		return SIW_WC_LOC_QP_OP_ERR;
	for (i = 0; i < sqe->num_sge; i++) {
		struct iwm_sge *sge = &msg->sge[i];

		sge->addr = sqe->sge[i].laddr;
		sge->len = sqe->sge[i].length;
		sge->lkey = sqe->sge[i].lkey;
		len += sge->len;
		if (check_sge(qp, sge, read ? IB_ACCESS_LOCAL_WRITE : 0))
			return SIW_WC_LOC_PROT_ERR;
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
		return is_read(sqe->opcode) ? SIW_WC_LOC_QP_OP_ERR :
					      take_inline(msg, sqe);
	return take_sges(qp, msg, sqe);
}

static void prepare_untagged(struct iwm_sq *sq, struct tx_msg *msg, u8 opcode,
			     enum ddp_queue qn)
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

/* A Read: its payload becomes the Read Request, its memory the sink. */
static void prepare_read(struct iwm_sq *sq, struct tx_msg *msg,
			 const struct siw_sqe *sqe)
{
	struct out_read *out = &sq->orq[sq->orq_put % IWM_MAX_ORD];
	struct rdmap_read rr = {
		.sink_stag = msg->sge[0].lkey,
		.sink_to = msg->sge[0].addr,
		.size = msg->left,
		.source_stag = sqe->rkey,
		.source_to = sqe->raddr,
	};

	out->rd.stag = rr.sink_stag;
	out->rd.to = rr.sink_to;
	out->rd.len = rr.size;
	out->wqe = msg->wqe;
	out->rtr = false;
	smp_store_release(&sq->orq_put, sq->orq_put + 1);

	fifo_entry(sq, msg->wqe)->lkey = rr.sink_stag;
	rdmap_read_build(msg->body, &rr);
	msg->in_body = true;
	msg->left = RDMAP_READ_REQUEST_LEN;
	prepare_untagged(sq, msg, RDMAP_READ_REQUEST, DDP_QN_READ_REQUEST);
	iwm_count(sq->qp->dev, IWM_STAT_TX_READ_REQUESTS);
}

static void prepare_send(struct iwm_sq *sq, struct tx_msg *msg,
			 const struct siw_sqe *sqe)
{
	bool se = sqe->flags & SIW_WQE_SOLICITED;

	if (sqe->opcode == SIW_OP_SEND_REMOTE_INV) {
		prepare_untagged(sq, msg, se ? RDMAP_SEND_SE_INVAL :
					       RDMAP_SEND_INVAL, DDP_QN_SEND);
		msg->seg.stag = sqe->rkey;
	} else {
		prepare_untagged(sq, msg, se ? RDMAP_SEND_SE : RDMAP_SEND,
				 DDP_QN_SEND);
	}
	iwm_count(sq->qp->dev, IWM_STAT_TX_SENDS);
}

static void prepare_message(struct iwm_sq *sq, struct tx_msg *msg,
			    const struct siw_sqe *sqe)
{
	fifo_entry(sq, msg->wqe)->bytes = msg->left;
	switch (sqe->opcode) {
	case SIW_OP_WRITE:
		prepare_tagged(msg, RDMAP_WRITE, sqe->rkey, sqe->raddr);
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

/* Operations that put nothing on the wire. Kernel consumers only. */
static enum siw_wc_status local_operation(struct iwm_qp *qp,
					  const struct siw_sqe *sqe)
{
	int ret;

	if (sqe->opcode == SIW_OP_REG_MR)
		ret = iwm_mr_enable(qp->dev, qp->ibqp.pd,
				    (struct ib_mr *)(uintptr_t)sqe->base_mr,
				    sqe->rkey, sqe->access);
	else
		ret = iwm_mr_invalidate(qp->dev, qp->ibqp.pd, sqe->rkey);
	return ret ? SIW_WC_LOC_QP_OP_ERR : SIW_WC_SUCCESS;
}

/* A bad work request ends the stream: the QP goes into error. */
static void local_error(struct iwm_qp *qp, u32 wqe, enum siw_wc_status status)
{
	static const struct rdmap_error err = {
		.layer = TERM_LAYER_RDMAP,
		.etype = RDMAP_ETYPE_LOCAL,
	};

	wqe_done(qp->sq, wqe, status);
	iwm_count(qp->dev, IWM_STAT_LOCAL_ERRORS);
	iwm_qp_error(qp, &err, NULL, 0, NULL);
}

/* May this entry be started? Reads are limited, and some wait for them. */
static bool may_start(const struct iwm_qp *qp, u8 opcode, u16 flags)
{
	const struct iwm_sq *sq = qp->sq;
	u32 limit = IWM_MAX_ORD;

	if (sq->fifo_put - READ_ONCE(sq->fifo_get) == sq->num)
		return false;
	if (flags & SIW_WQE_READ_FENCE)
		limit = 1;
	else if (is_read(opcode))
		limit = max_t(u32, qp->ord, 1);
	return reads_outstanding(sq) < limit;
}

/*
 * Something is posted that could not be started: only the end of a Read can
 * change that, and asks for a kick when it comes. False: it has come already.
 */
static bool wait_for_read(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;
	const struct siw_sqe *sqe = ring_entry(sq, sq->get);

	set_bit(SQ_WAIT_READ, &sq->flags);
	smp_mb__after_atomic();
	if (!may_start(qp, READ_ONCE(sqe->opcode), READ_ONCE(sqe->flags)))
		return true;
	clear_bit(SQ_WAIT_READ, &sq->flags);
	return false;
}

/* Take the next entry of the ring; true when a message came out of it. */
static bool take_entry(struct iwm_qp *qp, const struct siw_sqe *sqe)
{
	struct iwm_sq *sq = qp->sq;
	struct tx_msg *msg = &sq->msg;
	enum siw_wc_status status = SIW_WC_LOC_QP_OP_ERR;
	u32 wqe = fifo_push(sq, sqe);

	sq->get++;
	if (opcode_allowed(qp, sqe->opcode)) {
		if (sqe->opcode == SIW_OP_REG_MR ||
		    sqe->opcode == SIW_OP_INVAL_STAG) {
			status = local_operation(qp, sqe);
			if (!status) {
				wqe_done(sq, wqe, status);
				return false;
			}
		} else {
			memset(msg, 0, offsetof(struct tx_msg, body));
			msg->body_off = 0;
			msg->in_body = false;
			msg->cur = 0;
			msg->cur_off = 0;
			msg->access = 0;
			status = take_payload(qp, msg, sqe);
		}
	}
	if (status) {
		local_error(qp, wqe, status);
		return false;
	}
	msg->wqe = wqe;
	prepare_message(sq, msg, sqe);
	msg->kind = MSG_WQE;
	return true;
}

/* The next work request that has something to send, if there is one. */
static bool next_wqe(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;

	while (!test_bit(SQ_FLUSH, &sq->flags) && posted(sq)) {
		struct siw_sqe sqe = *ring_entry(sq, sq->get);

		if (!may_start(qp, sqe.opcode, sqe.flags))
			return false;
		if (take_entry(qp, &sqe))
			return true;
	}
	return false;
}

static bool next_response(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;
	struct tx_msg *msg = &sq->msg;
	const struct rdmap_read *rr;

	if (!responses_due(sq))
		return false;
	rr = &sq->irq[sq->irq_get % IWM_MAX_IRD];
	memset(msg, 0, sizeof(*msg));
	msg->left = rr->size;
	msg->num_sge = 1;
	msg->sge[0].addr = rr->source_to;
	msg->sge[0].len = rr->size;
	msg->sge[0].lkey = rr->source_stag;
	msg->access = IB_ACCESS_REMOTE_READ;
	prepare_tagged(msg, RDMAP_READ_RESPONSE, rr->sink_stag, rr->sink_to);
	msg->kind = MSG_RESPONSE;
	iwm_count(qp->dev, IWM_STAT_TX_READ_RESPONSES);
	return true;
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
	if (rtr & MPA_RTR_WRITE) {
		prepare_tagged(msg, RDMAP_WRITE, 0, 0);
	} else if (rtr & MPA_RTR_READ) {
		struct out_read *out = &sq->orq[sq->orq_put % IWM_MAX_ORD];
		struct rdmap_read rr = { };

		*out = (struct out_read) { .rtr = true };
		smp_store_release(&sq->orq_put, sq->orq_put + 1);
		rdmap_read_build(msg->body, &rr);
		msg->in_body = true;
		msg->left = RDMAP_READ_REQUEST_LEN;
		prepare_untagged(sq, msg, RDMAP_READ_REQUEST,
				 DDP_QN_READ_REQUEST);
	} else {
		prepare_untagged(sq, msg, RDMAP_SEND, DDP_QN_SEND);
	}
	msg->kind = MSG_RTR;
	return true;
}

/*
 * Responses and work requests take turns. Responses are the worker's: whoever
 * posts does not pay for what the peer asks.
 */
static bool next_message(struct iwm_qp *qp, bool worker)
{
	struct iwm_sq *sq = qp->sq;

	if (next_rtr(qp))
		return true;
	sq->response_turn = !sq->response_turn;
	if (worker && sq->response_turn && next_response(qp))
		return true;
	return next_wqe(qp) || (worker && next_response(qp));
}

/* --- Segments --------------------------------------------------------- */

/* Memory of one segment, held while it is copied. */
struct source {
	struct iwm_mr *mr;
	u64 addr;
	u32 len;
};

static void drop_sources(struct source *src, int n)
{
	while (n--)
		iwm_mr_put(src[n].mr);
}

/* Hold the memory of the next @len octets. Number of pieces or an errno. */
static int hold_sources(struct iwm_qp *qp, u32 len, struct source *src)
{
	const struct tx_msg *msg = &qp->sq->msg;
	u32 cur = msg->cur, off = msg->cur_off;
	int n = 0, ret;

	while (len) {
		const struct iwm_sge *sge = &msg->sge[cur];
		u32 part = min(len, sge->len - off);

		if (part) {
			src[n].mr = iwm_mr_get_cached(qp->dev, &qp->sq->mr,
						      sge->lkey);
			if (!src[n].mr) {
				ret = -ENOENT;
				goto err;
			}
			src[n].addr = sge->addr + off;
			src[n].len = part;
			n++;
			ret = iwm_mr_check(src[n - 1].mr, qp->ibqp.pd,
					   src[n - 1].addr, part, msg->access);
			if (ret)
				goto err;
		}
		len -= part;
		off = 0;
		cur++;
	}
	return n;

err:
	drop_sources(src, n);
	return ret;
}

static void advance_sges(struct tx_msg *msg, u32 len)
{
	msg->cur_off += len;
	while (msg->cur < msg->num_sge &&
	       msg->cur_off >= msg->sge[msg->cur].len) {
		msg->cur_off -= msg->sge[msg->cur].len;
		msg->cur++;
	}
}

static int gather_sources(struct mpa_conn *conn, const struct source *src,
			  int n)
{
	int i, ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = iwm_gather(src[i].mr, src[i].addr, conn, src[i].len);
	return ret;
}

static int open_segment(struct mpa_conn *conn, const struct ddp_segment *seg,
			u32 len)
{
	u8 hdr[DDP_MAX_HDR_LEN];
	u32 hdr_len = ddp_segment_build(hdr, seg, DDP_VERSION);

	return mpa_tx_open(conn, hdr, hdr_len, hdr_len + len);
}

static void message_done(struct iwm_qp *qp, struct mpa_conn *conn)
{
	struct iwm_sq *sq = qp->sq;
	struct tx_msg *msg = &sq->msg;
	struct iwm_wqe *wqe;

	if (msg->kind == MSG_RESPONSE)
		smp_store_release(&sq->irq_get, sq->irq_get + 1);
	if (msg->kind == MSG_WQE) {
		wqe = fifo_entry(sq, msg->wqe);
		spin_lock_bh(&sq->lock);
		wqe->end = mpa_tx_written(conn);
		wqe->written = true;
		spin_unlock_bh(&sq->lock);
	}
	msg->kind = MSG_NONE;
}

/* Serialise the next segment of the message. -EAGAIN: no room now. */
static int send_segment(struct iwm_qp *qp, struct mpa_conn *conn, u32 *sent)
{
	struct tx_msg *msg = &qp->sq->msg;
	u32 hdr_len = msg->seg.hdr_len;
	struct source src[IWM_MAX_SGE];
	u32 room, len;
	int n = 0, ret;

	room = mpa_tx_room(conn, min(hdr_len + msg->left, MPA_MIN_MULPDU));
	if (!room)
		return -EAGAIN;
	len = ddp_segment_payload(msg->left, room, hdr_len, &msg->seg.last);
	if (!msg->in_body) {
		n = hold_sources(qp, len, src);
		if (n < 0)
			return n;
	}
	ret = open_segment(conn, &msg->seg, len);
	if (ret)
		goto out;
	if (msg->in_body)
		mpa_tx_put(conn, msg->body + msg->body_off, len);
	else
		ret = gather_sources(conn, src, n);
	if (ret) {
		mpa_tx_cancel(conn);
		goto out;
	}
	mpa_tx_close(conn);

	if (msg->in_body)
		msg->body_off += len;
	else
		advance_sges(msg, len);
	msg->left -= len;
	msg->seg.mo += len;
	msg->seg.to += len;
	*sent += len + hdr_len;
	if (msg->seg.last)
		message_done(qp, conn);
out:
	drop_sources(src, n);
	return ret;
}

/* The source of a Response went away while it was being sent. */
static void response_failed(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;
	const struct rdmap_read *rr = &sq->irq[sq->irq_get % IWM_MAX_IRD];
	const struct rdmap_error err = {
		.layer = TERM_LAYER_RDMAP,
		.etype = RDMAP_ETYPE_PROTECTION,
		.ecode = RDMAP_ECODE_INVALID_STAG,
	};
	u32 done = rr->size - sq->msg.left;
	struct rdmap_read at = {
		.sink_stag = rr->sink_stag,
		.sink_to = rr->sink_to + done,
		.size = sq->msg.left,
		.source_stag = rr->source_stag,
		.source_to = rr->source_to + done,
	};
	u8 read_hdr[RDMAP_READ_REQUEST_LEN];

	rdmap_read_build(read_hdr, &at);
	iwm_qp_error(qp, &err, NULL, 0, read_hdr);
}

static void segment_failed(struct iwm_qp *qp)
{
	struct tx_msg *msg = &qp->sq->msg;

	if (msg->kind == MSG_RESPONSE)
		response_failed(qp);
	else
		local_error(qp, msg->wqe, SIW_WC_LOC_PROT_ERR);
	msg->kind = MSG_NONE;
}

/* Hand over, and let go of what TCP has. */
static int hand_over(struct iwm_qp *qp, struct mpa_conn *conn, bool more)
{
	int ret;

	iwm_mr_drop_cache(&qp->sq->mr);
	ret = mpa_tx_flush(conn, more);
	WRITE_ONCE(qp->sq->accepted, mpa_tx_accepted(conn));
	release_entries(qp->sq);
	complete_ready(qp, false);
	return ret;
}

enum tx_result {
	TX_IDLE,	/* nothing more to send */
	TX_BLOCKED,	/* an upcall will kick */
	TX_BUDGET,	/* there may be more, somebody else's turn */
};

/* Send until there is nothing more, or no room. */
static enum tx_result transmit(struct iwm_qp *qp, struct mpa_conn *conn,
			       bool worker, u32 budget)
{
	struct iwm_sq *sq = qp->sq;
	u32 sent = 0;

	while (!test_bit(SQ_FLUSH, &sq->flags)) {
		int ret;

		if (sq->msg.kind == MSG_NONE && sent >= budget) {
			hand_over(qp, conn, false);
			return TX_BUDGET;
		}
		if (sq->msg.kind == MSG_NONE && !next_message(qp, worker)) {
			ret = hand_over(qp, conn, false);
			if (ret)
				return TX_BLOCKED;
			/* Posted while we were busy, without a doorbell? */
			if (!posted(sq) || wait_for_read(qp))
				return TX_IDLE;
			if (sent >= budget)
				return TX_BUDGET;
			sent += MPA_MIN_MULPDU;	/* user space may tease */
			continue;
		}
		ret = send_segment(qp, conn, &sent);
		if (ret == -EAGAIN) {
			ret = hand_over(qp, conn, true);
			if (ret || !mpa_tx_room(conn, 1))
				return TX_BLOCKED;
			if (sent >= budget)
				return TX_BUDGET;
		} else if (ret == -ENOMEM) {
			hand_over(qp, conn, true);
			return TX_BUDGET;
		} else if (ret) {
			segment_failed(qp);
		}
	}
	return TX_IDLE;
}

/* --- Terminate and flush ---------------------------------------------- */

/* True when the Terminate is on its way, or can never be. */
static bool send_terminate(struct iwm_qp *qp, struct mpa_conn *conn)
{
	struct iwm_sq *sq = qp->sq;
	struct ddp_segment seg = {
		.opcode = RDMAP_TERMINATE,
		.hdr_len = DDP_UNTAGGED_HDR_LEN,
		.last = true,
		.qn = DDP_QN_TERMINATE,
		.msn = 1,
	};
	int ret;

	sq->msg.kind = MSG_NONE;	/* cut off: nothing may follow */
	if (!conn)
		return true;
	if (!mpa_tx_room(conn, 1)) {
		ret = mpa_tx_flush(conn, true);
		if (ret && ret != -EAGAIN)
			return true;
		if (!mpa_tx_room(conn, 1))
			return false;
	}
	ret = open_segment(conn, &seg, sq->term_len);
	if (ret)
		return false;
	mpa_tx_put(conn, sq->term, sq->term_len);
	mpa_tx_close(conn);
	mpa_tx_flush(conn, false);
	iwm_count(qp->dev, IWM_STAT_TX_TERMINATES);
	return true;
}

/* An entry is given back before its completion shows: see above. */
static void flush_all(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;

	sq->msg.kind = MSG_NONE;
	release_entries(sq);
	complete_ready(qp, true);
	while (posted(sq)) {
		const struct siw_sqe *sqe = ring_entry(sq, sq->get);
		struct iwm_wqe wqe = {
			.id = READ_ONCE(sqe->id),
			.opcode = READ_ONCE(sqe->opcode),
			.status = SIW_WC_WR_FLUSH_ERR,
		};

		if (wqe.opcode >= SIW_NUM_OPCODES)
			wqe.opcode = SIW_OP_SEND;
		sq->get++;
		release_entries(sq);
		complete_wqe(qp, &wqe);
	}
}

/* --- Ownership --------------------------------------------------------- */

/* The connection, with a reference, while it may be written to. */
static struct mpa_conn *conn_get(struct iwm_qp *qp)
{
	struct mpa_conn *conn = NULL;

	if (test_bit(SQ_STOPPED, &qp->sq->flags))
		return NULL;
	spin_lock_bh(&qp->lock);
	if (qp->conn) {
		conn = qp->conn;
		mpa_get(conn);
	}
	spin_unlock_bh(&qp->lock);
	return conn;
}

/* What an owner does. True when the Terminate has been dealt with. */
static bool serve(struct iwm_qp *qp, bool worker, enum tx_result *result)
{
	struct mpa_conn *conn = conn_get(qp);
	struct iwm_sq *sq = qp->sq;
	bool terminated = false;

	*result = TX_IDLE;
	if (conn && !test_bit(SQ_FLUSH, &sq->flags))
		*result = transmit(qp, conn, worker, worker ? SQ_WORK_BUDGET :
							SQ_INLINE_BUDGET);
	if (test_bit(SQ_TERMINATE, &sq->flags) && send_terminate(qp, conn)) {
		clear_bit(SQ_TERMINATE, &sq->flags);
		terminated = true;
	}
	if (test_bit(SQ_FLUSH, &sq->flags))
		flush_all(qp);
	iwm_mr_drop_cache(&sq->mr);
	if (conn)
		mpa_put(conn);
	return terminated;
}

static void own_end(struct iwm_sq *sq)
{
	clear_bit_unlock(SQ_OWNED, &sq->flags);
	smp_mb__after_atomic();
	if (unlikely(test_bit(SQ_STOPPED, &sq->flags)))
		wake_up_bit(&sq->flags, SQ_OWNED);
}

/*
 * Be the owner for as long as there is something to do; or, when somebody
 * else is, leave: the caller has set SQ_AGAIN, and the owner looks at it after
 * it has let go.
 */
static void run(struct iwm_qp *qp, bool worker)
{
	struct iwm_sq *sq = qp->sq;
	enum tx_result result;

	do {
		bool terminated;

		if (test_and_set_bit_lock(SQ_OWNED, &sq->flags))
			return;
		clear_bit(SQ_AGAIN, &sq->flags);
		smp_mb__after_atomic();
		terminated = serve(qp, worker, &result);
		own_end(sq);
		if (terminated)
			iwm_qp_terminated(qp);
		if (result == TX_BUDGET ||
		    (result == TX_IDLE && !worker && responses_due(sq))) {
			queue_work(iwm_wq, &sq->work);
			return;
		}
	} while (test_bit(SQ_AGAIN, &sq->flags));
}

static void sq_work(struct work_struct *work)
{
	struct iwm_sq *sq = container_of(work, struct iwm_sq, work);

	run(sq->qp, true);
}

/**
 * iwm_sq_kick() - have the transmit owner look again
 * @qp: QP
 *
 * mpa_ulp_ops.writable() comes here. Context: any.
 */
void iwm_sq_kick(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;

	set_bit(SQ_AGAIN, &sq->flags);
	smp_mb__after_atomic();
	if (!test_bit(SQ_OWNED, &sq->flags))
		queue_work(iwm_wq, &sq->work);
}

/* Answer Reads that have come in. Context: any. */
void iwm_sq_kick_responses(struct iwm_qp *qp)
{
	if (responses_due(qp->sq))
		iwm_sq_kick(qp);
}

/**
 * iwm_sq_flush() - end all work requests, now and later, with a flush error
 * @qp: QP that has left RTS for good
 *
 * What TCP has taken completes as it is. Context: any.
 */
void iwm_sq_flush(struct iwm_qp *qp)
{
	set_bit(SQ_FLUSH, &qp->sq->flags);
	iwm_sq_kick(qp);
}

/**
 * iwm_sq_terminate() - send a Terminate as the last message
 * @qp: QP
 * @err: what went wrong
 * @ddp_hdr: header of the segment at fault, or NULL
 * @ddp_len: octets of that segment
 * @read_hdr: Read Request at fault, RDMAP_READ_REQUEST_LEN octets, or NULL
 *
 * iwm_qp_terminated() follows when it is on its way or cannot be sent. Only
 * the first one counts. Context: any; qp->lock makes it the first.
 */
void iwm_sq_terminate(struct iwm_qp *qp, const struct rdmap_error *err,
		      const u8 *ddp_hdr, u32 ddp_len, const u8 *read_hdr)
{
	struct iwm_sq *sq = qp->sq;

	sq->term_len = rdmap_terminate_build(sq->term, err, ddp_hdr, ddp_len,
					     read_hdr);
	smp_mb__before_atomic();
	set_bit(SQ_TERMINATE, &sq->flags);
	iwm_sq_kick(qp);
}

/**
 * iwm_sq_stop() - keep the transmit owner off the connection for good
 * @qp: QP
 *
 * A Terminate that waits goes out first, if TCP takes it. Posts are flushed
 * from then on. Context: process, may sleep; may be called again.
 */
void iwm_sq_stop(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;
	struct mpa_conn *conn = conn_get(qp);

	might_sleep();
	set_bit(SQ_FLUSH, &sq->flags);
	set_bit(SQ_STOPPED, &sq->flags);
	wait_on_bit_lock(&sq->flags, SQ_OWNED, TASK_UNINTERRUPTIBLE);
	if (test_and_clear_bit(SQ_TERMINATE, &sq->flags))
		send_terminate(qp, conn);
	flush_all(qp);
	own_end(sq);
	if (test_bit(SQ_AGAIN, &sq->flags))
		queue_work(iwm_wq, &sq->work);
	if (conn)
		mpa_put(conn);
}

/* Is nothing posted, being sent or owed? Context: any; a snapshot. */
bool iwm_sq_idle(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;

	return !test_bit(SQ_OWNED, &sq->flags) && !posted(sq) &&
	       READ_ONCE(sq->fifo_get) == READ_ONCE(sq->fifo_put) &&
	       READ_ONCE(sq->msg.kind) == MSG_NONE && !responses_due(sq);
}

/* --- Reads, from the receive side -------------------------------------- */

/**
 * iwm_sq_add_response() - queue a Read Request of the peer
 * @qp: QP
 * @rr: the request; its source has been checked
 *
 * Context: receive upcall. Return: 0, or -ENOBUFS when the peer has more
 * outstanding than the IRD in force.
 */
int iwm_sq_add_response(struct iwm_qp *qp, const struct rdmap_read *rr)
{
	struct iwm_sq *sq = qp->sq;

	if (sq->irq_put - smp_load_acquire(&sq->irq_get) >= qp->ird)
		return -ENOBUFS;
	sq->irq[sq->irq_put % IWM_MAX_IRD] = *rr;
	smp_store_release(&sq->irq_put, sq->irq_put + 1);
	return 0;
}

/* The Read whose Response is due next, or NULL. Context: receive upcall. */
const struct iwm_read_out *iwm_sq_oldest_read(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;

	if (smp_load_acquire(&sq->orq_put) == sq->orq_get)
		return NULL;
	return &sq->orq[sq->orq_get % IWM_MAX_ORD].rd;
}

/**
 * iwm_sq_read_done() - the oldest outstanding Read has ended
 * @qp: QP
 * @status: how
 * @len: octets placed
 *
 * Context: receive upcall.
 */
void iwm_sq_read_done(struct iwm_qp *qp, enum siw_wc_status status, u32 len)
{
	struct iwm_sq *sq = qp->sq;
	const struct out_read *out = &sq->orq[sq->orq_get % IWM_MAX_ORD];

	if (!out->rtr) {
		struct iwm_wqe *wqe = fifo_entry(sq, out->wqe);

		if (wqe->opcode == SIW_OP_READ_LOCAL_INV && !status &&
		    iwm_mr_invalidate(qp->dev, qp->ibqp.pd, wqe->lkey))
			status = SIW_WC_LOC_PROT_ERR;
		wqe->bytes = len;
		wqe_done(sq, out->wqe, status);
	}
	smp_store_release(&sq->orq_get, sq->orq_get + 1);
	complete_ready(qp, false);
	smp_mb();	/* pairs with wait_for_read() */
	if (test_and_clear_bit(SQ_WAIT_READ, &sq->flags))
		iwm_sq_kick(qp);
}

/* --- Posting ------------------------------------------------------------ */

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

static int fill_sges(struct siw_sqe *sqe, const struct ib_send_wr *wr)
{
	int i;

	if (wr->num_sge > IWM_MAX_SGE)
		return -EINVAL;
	if (wr->send_flags & IB_SEND_INLINE)
		return fill_inline(sqe, wr);
	for (i = 0; i < wr->num_sge; i++) {
		sqe->sge[i].laddr = wr->sg_list[i].addr;
		sqe->sge[i].length = wr->sg_list[i].length;
		sqe->sge[i].lkey = wr->sg_list[i].lkey;
	}
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

/* Translate a kernel consumer's work request, all but the flags. */
static int fill_entry(struct siw_sqe *sqe, const struct ib_send_wr *wr)
{
	sqe->id = wr->wr_id;
	sqe->num_sge = 0;
	switch (wr->opcode) {
	case IB_WR_SEND:
		sqe->opcode = SIW_OP_SEND;
		return fill_sges(sqe, wr);
	case IB_WR_SEND_WITH_INV:
		sqe->opcode = SIW_OP_SEND_REMOTE_INV;
		sqe->rkey = wr->ex.invalidate_rkey;
		return fill_sges(sqe, wr);
	case IB_WR_RDMA_WRITE:
		sqe->opcode = SIW_OP_WRITE;
		sqe->rkey = rdma_wr(wr)->rkey;
		sqe->raddr = rdma_wr(wr)->remote_addr;
		return fill_sges(sqe, wr);
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		sqe->opcode = wr->opcode == IB_WR_RDMA_READ ?
			      SIW_OP_READ : SIW_OP_READ_LOCAL_INV;
		sqe->rkey = rdma_wr(wr)->rkey;
		sqe->raddr = rdma_wr(wr)->remote_addr;
		return fill_sges(sqe, wr);
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
	unsigned long irq;
	int ret = 0;

	spin_lock_irqsave(&sq->post_lock, irq);
	for (; wr; wr = wr->next) {
		struct siw_sqe *sqe = ring_entry(sq, sq->put);

		ret = smp_load_acquire(&sqe->flags) ? -ENOMEM :
						      fill_entry(sqe, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
		sq->put++;
		smp_store_release(&sqe->flags, fill_flags(wr));
	}
	spin_unlock_irqrestore(&sq->post_lock, irq);
	return ret;
}

/**
 * iwm_post_send() - ib_device_ops.post_send
 * @ibqp: QP
 * @wr: a kernel consumer's list; NULL is the doorbell of a user QP, whose
 *	entries are in its ring
 * @bad_wr: set to the first request that was not taken
 *
 * Context: any for a kernel QP; process for a user QP.
 * Return: 0, -ENOTCONN before the QP is connected, -EINVAL, -ENOMEM.
 */
int iwm_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr)
{
	struct iwm_qp *qp = to_iwm_qp(ibqp);
	struct iwm_sq *sq = qp->sq;
	int ret = 0;

	if (READ_ONCE(qp->state) == IWM_QP_IDLE || qp->user != !wr) {
		*bad_wr = wr;
		return qp->user != !wr ? -EINVAL : -ENOTCONN;
	}
	iwm_count(qp->dev, IWM_STAT_DOORBELLS);
	if (!qp->user) {
		ret = post_list(sq, wr, bad_wr);
		iwm_sq_kick(qp);
		return ret;
	}
	set_bit(SQ_AGAIN, &sq->flags);
	smp_mb__after_atomic();
	run(qp, false);
	return 0;
}

/* --- Lifetime ------------------------------------------------------------ */

void *iwm_sq_ring(struct iwm_qp *qp)
{
	return qp->sq->ring;
}

size_t iwm_sq_ring_size(struct iwm_qp *qp)
{
	return array_size(qp->sq->num, sizeof(struct siw_sqe));
}

/**
 * iwm_sq_create() - make the transmit side of a QP
 * @qp: QP, with @qp->user set
 * @num_sqe: entries, a power of two
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int iwm_sq_create(struct iwm_qp *qp, u32 num_sqe)
{
	struct iwm_sq *sq = kvzalloc(sizeof(*sq), GFP_KERNEL);
	int i;

	if (!sq)
		return -ENOMEM;
	sq->qp = qp;
	sq->num = num_sqe;
	sq->ring = qp->user ?
		   vmalloc_user(array_size(num_sqe, sizeof(*sq->ring))) :
		   vcalloc(num_sqe, sizeof(*sq->ring));
	sq->fifo = vcalloc(num_sqe, sizeof(*sq->fifo));
	if (!sq->ring || !sq->fifo) {
		vfree(sq->ring);
		vfree(sq->fifo);
		kvfree(sq);
		return -ENOMEM;
	}
	spin_lock_init(&sq->post_lock);
	spin_lock_init(&sq->lock);
	INIT_WORK(&sq->work, sq_work);
	for (i = 0; i < DDP_NUM_QUEUES; i++)
		sq->msn[i] = 1;
	qp->sq = sq;
	return 0;
}

/**
 * iwm_sq_destroy() - free it
 * @qp: QP without a connection, after iwm_sq_stop() if it ever had one
 *
 * A user ring that is mapped still is freed with its mmap entry, not here.
 * Context: process, may sleep.
 */
void iwm_sq_destroy(struct iwm_qp *qp)
{
	struct iwm_sq *sq = qp->sq;

	if (!sq)
		return;
	cancel_work_sync(&sq->work);
	vfree(sq->ring);
	vfree(sq->fifo);
	kvfree(sq);
	qp->sq = NULL;
}

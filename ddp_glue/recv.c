// SPDX-License-Identifier: GPL-2.0
/*
 * Receive: DDP segments arrive in order, each in a verified FPDU. The header,
 * the stream's state and the memory that the segment names are checked before
 * the segment is placed (RFC 5040 section 7.2, RFC 5041 section 7.1).
 *
 * Everything here runs in the receive upcall: softirq or process context. The
 * connection's socket is locked; this lock guards struct iwm_rx.
 */
#include <linux/slab.h>
#include <mpa/cursor.h>
#include "cq.h"
#include "mem.h"
#include "place.h"
#include "qp_state.h"
#include "recv.h"
#include "recv_wait.h"
#include "rq.h"
#include "sq.h"
#include "trace.h"

/* The segment that is being checked and placed. */
struct rx_segment {
	struct iwm_qp *qp;
	struct iwm_rx *rx;
	struct ddp_segment seg;
	struct mpa_cursor *cur;
	struct rdmap_error err;
};

int iwm_rx_create(struct iwm_qp *qp)
{
	int i;

	qp->rx = kzalloc(sizeof(*qp->rx), iwm_gfp(qp->user));
	if (!qp->rx)
		return -ENOMEM;
	for (i = 0; i < RDMAP_NUM_QUEUES; i++)
		qp->rx->msn[i] = 1;
	qp->rx->pd = qp->srq ? qp->srq->ibsrq.pd : qp->ibqp.pd;
	iwm_rx_set_rights(qp);
	iwm_rx_wait_init(qp);
	return 0;
}

void iwm_rx_destroy(struct iwm_qp *qp)
{
	iwm_rx_wait_stop(qp);
	iwm_mr_drop_cache(&qp->rx->mr);
	kfree(qp->rx);
	qp->rx = NULL;
}

/**
 * iwm_rx_set_rights() - what the peer may do, whatever the memory grants
 * @qp: new QP, or one whose connection begins or whose access flags change
 *
 * rdma_cm sets no flags for the Initiator, whose ULPs need both rights.
 *
 * Context: any, qp->lock held unless the QP is new. A segment that is being
 * received, and Reads that wait for their Response, may still use the old rights.
 */
void iwm_rx_set_rights(struct iwm_qp *qp)
{
	int access = qp->by_hand ? qp->attr.qp_access_flags :
				   IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;

	WRITE_ONCE(qp->rx->write_right, access & IB_ACCESS_REMOTE_WRITE ?
		   IB_ACCESS_REMOTE_WRITE : IWM_ACCESS_NEVER);
	WRITE_ONCE(qp->rx->read_right, access & IB_ACCESS_REMOTE_READ ?
		   IB_ACCESS_REMOTE_READ : IWM_ACCESS_NEVER);
}

/* Segments received so far: a hint whether the peer is answering. */
u64 iwm_rx_segments(const struct iwm_qp *qp)
{
	return READ_ONCE(qp->rx->segments);
}

static int segment_fault(struct rx_segment *s, u8 layer, u8 etype, u8 ecode)
{
	s->err.layer = layer;
	s->err.etype = etype;
	s->err.ecode = ecode;
	return -EPROTO;
}

static int untagged_fault(struct rx_segment *s, enum ddp_untagged_ecode ecode)
{
	return segment_fault(s, TERM_LAYER_DDP, DDP_ETYPE_UNTAGGED, ecode);
}

static int local_fault(struct rx_segment *s)
{
	return segment_fault(s, TERM_LAYER_RDMAP, RDMAP_ETYPE_LOCAL, 0);
}

/*
 * Translate an error of iwm_mr_check() to a DDP error. DDP has no code for
 * missing access rights. They fail the second check of section 7.1 ("the STag
 * has an associated buffer that allows Placement"): an invalid STag.
 */
static int tagged_fault(struct rx_segment *s, int mr_error)
{
	u8 ecode = DDP_ECODE_T_INVALID_STAG;

	if (mr_error == -EPERM)
		ecode = DDP_ECODE_T_STAG_NOT_ASSOC;
	else if (mr_error == -ERANGE)
		ecode = DDP_ECODE_T_BOUNDS;
	else if (mr_error == -EOVERFLOW)
		ecode = DDP_ECODE_T_TO_WRAP;
	return segment_fault(s, TERM_LAYER_DDP, DDP_ETYPE_TAGGED, ecode);
}

/* Translate an error of iwm_mr_check() to an RDMAP Remote Protection Error. */
static int protection_fault(struct rx_segment *s, int mr_error)
{
	return segment_fault(s, TERM_LAYER_RDMAP, RDMAP_ETYPE_PROTECTION,
			     iwm_mr_ecode(mr_error));
}

/*
 * Buffers of receive work requests are in the SRQ's protection domain, all
 * other memory is in the QP's.
 */
static struct ib_pd *placing_pd(const struct rx_segment *s)
{
	return s->seg.tagged ? s->qp->ibqp.pd : s->rx->pd;
}

static __always_inline int place_checked(struct rx_segment *s,
					 struct iwm_mr *mr, u64 addr, u32 len,
					 int access)
{
	int ret = iwm_mr_check(mr, placing_pd(s), addr, len, access);

	return ret ? ret : iwm_place(mr, addr, s->cur, len);
}

/*
 * Place octets in a region that was registered on another connection. @mr->lock
 * makes an invalidation by the peer of that connection wait. Our peer may write
 * to the region only by a work request of our consumer.
 */
static int place_elsewhere(struct rx_segment *s, struct iwm_mr *mr, u64 addr,
			   u32 len, int access)
{
	int ret;

	if (access & IB_ACCESS_REMOTE_WRITE)
		return -EPERM;
	spin_lock_bh(&mr->lock);
	ret = place_checked(s, mr, addr, len, access);
	spin_unlock_bh(&mr->lock);
	return ret;
}

/*
 * Check @stag and copy octets of the segment to its region. The region is held
 * until the pass ends or uses another region.
 */
static int place_payload(struct rx_segment *s, u32 stag, u64 addr, u32 len,
			 int access)
{
	struct iwm_mr *mr = iwm_mr_cached(s->qp->dev, &s->rx->mr, stag);
	int ret = -ENOENT;

	if (mr && unlikely(iwm_mr_is_lent_elsewhere(mr, &s->qp->ibqp)))
		ret = place_elsewhere(s, mr, addr, len, access);
	else if (mr)
		ret = place_checked(s, mr, addr, len, access);
	/* Early placement has already traced it. */
	if (trace_iwm_place_enabled() && !s->cur->placed) {
		const struct ib_sge at = {
			.addr = addr, .length = len, .lkey = stag
		};

		trace_iwm_place(s->qp, s->seg.opcode, &at, ret);
	}
	return ret;
}

static int receive_write(struct rx_segment *s)
{
	int ret = 0;

	if (s->seg.payload_len)
		ret = place_payload(s, s->seg.stag, s->seg.to,
				    s->seg.payload_len,
				    READ_ONCE(s->rx->write_right));
	if (ret)
		return tagged_fault(s, ret);
	if (s->seg.last)
		iwm_count(s->qp->dev, IWM_STAT_RX_WRITES);
	return 0;
}

/* Does the segment continue the Response to the oldest outstanding Read? */
static int check_response(struct rx_segment *s,
			  const struct iwm_read_sink *sink)
{
	const struct ddp_segment *seg = &s->seg;
	u32 left;

	if (!sink)
		return segment_fault(s, TERM_LAYER_RDMAP, RDMAP_ETYPE_OPERATION,
				     RDMAP_ECODE_OPCODE);
	left = sink->len - s->rx->read_done;
	if (seg->stag != sink->stag && sink->len)
		return tagged_fault(s, -ENOENT);
	if (seg->payload_len > left ||
	    (seg->payload_len && seg->to != sink->to + s->rx->read_done))
		return tagged_fault(s, -ERANGE);
	/* The last segment may be empty, as with any message. */
	if (seg->last && seg->payload_len != left)
		return segment_fault(s, TERM_LAYER_RDMAP, RDMAP_ETYPE_OPERATION,
				     RDMAP_ECODE_UNSPECIFIED);
	return 0;
}

static int receive_response(struct rx_segment *s)
{
	const struct iwm_read_sink *sink = iwm_sq_oldest_read(s->qp);
	int ret;

	if (unlikely(s->cur->placed) &&
	    !iwm_sq_oldest_read_was_asked(s->qp, s->cur->cookie))
		sink = NULL;
	ret = check_response(s, sink);
	if (ret)
		return ret;
	if (s->seg.payload_len) {
		ret = place_payload(s, sink->stag, s->seg.to,
				    s->seg.payload_len, IB_ACCESS_LOCAL_WRITE);
		if (ret) {
			iwm_sq_read_done(s->qp, SIW_WC_LOC_PROT_ERR);
			return tagged_fault(s, ret);
		}
	}
	s->rx->read_done += s->seg.payload_len;
	if (s->seg.last) {
		s->rx->read_done = 0;
		iwm_count(s->qp->dev, IWM_STAT_RX_READ_RESPONSES);
		iwm_sq_read_done(s->qp, SIW_WC_SUCCESS);
	}
	return 0;
}

/* In-order delivery: the MSN must be that of the queue's next message. */
static int check_msn(struct rx_segment *s)
{
	if (s->seg.msn != s->rx->msn[s->seg.qn])
		return untagged_fault(s, DDP_ECODE_UT_MSN_RANGE);
	return 0;
}

/* Check the source before queueing the Read: RFC 5040 section 7.2. */
static int check_source(struct rx_segment *s, const struct rdmap_read *rr)
{
	struct iwm_mr *mr;
	int ret;

	if (!rr->size)
		return 0;
	mr = iwm_mr_get(s->qp->dev, rr->source_stag);
	if (!mr)
		return -ENOENT;
	ret = iwm_mr_check_remote(mr, &s->qp->ibqp, rr->source_to, rr->size,
				  READ_ONCE(s->rx->read_right));
	iwm_mr_put(mr);
	return ret;
}

static int receive_read_request(struct rx_segment *s, u8 *body)
{
	struct rdmap_read rr;
	int ret = check_msn(s);

	if (ret)
		return ret;
	if (s->seg.mo)
		return untagged_fault(s, DDP_ECODE_UT_INVALID_MO);
	if (mpa_cursor_copy(s->cur, body, RDMAP_READ_REQUEST_LEN))
		return local_fault(s);
	rdmap_read_parse(body, &rr);
	ret = check_source(s, &rr);
	if (ret)
		return protection_fault(s, ret);
	if (iwm_sq_add_response(s->qp, &rr))
		return untagged_fault(s, DDP_ECODE_UT_MSN_NO_BUFFER);
	s->rx->msn[RDMAP_QN_READ_REQUEST]++;
	iwm_count(s->qp->dev, IWM_STAT_RX_READ_REQUESTS);
	return 0;
}

/*
 * Bind the Send that begins here to the next receive work request. -EAGAIN: the
 * Send waits for one.
 */
static int bind_receive(struct rx_segment *s)
{
	struct iwm_qp *qp = s->qp;
	struct iwm_rx *rx = s->rx;
	int ret;

	if (rx->bound)
		return 0;
	ret = qp->srq ? iwm_srq_take(qp->srq, &rx->rwr) :
			iwm_rq_take(&qp->rq, &rx->rwr);
	if (ret == -ENOENT && iwm_rx_wait(qp))
		return -EAGAIN;
	iwm_rx_wait_over(qp, ret != -ENOENT);
	if (ret == -ENOENT) {
		iwm_count(qp->dev, IWM_STAT_RNR);
		return untagged_fault(s, DDP_ECODE_UT_MSN_NO_BUFFER);
	}
	rx->bound = true;
	rx->mo = 0;
	rx->sge = 0;
	rx->sge_off = 0;
	return ret;
}

/* Return: as iwm_cq_add(). */
static bool complete_receive(struct rx_segment *s, enum siw_wc_status status)
{
	u8 opcode = s->seg.opcode;
	struct iwm_wc wc = {
		.id = s->rx->rwr.id,
		.opcode = SIW_OP_RECEIVE,
		.status = status,
		.bytes = status == SIW_WC_SUCCESS ? s->rx->mo : 0,
		.inval_stag = s->seg.stag,
		.invalidated = status == SIW_WC_SUCCESS &&
			       rdmap_invalidates(opcode),
		.solicited = opcode == RDMAP_SEND_SE ||
			     opcode == RDMAP_SEND_SE_INVAL,
	};

	s->rx->bound = false;
	return iwm_cq_add(s->qp->rcq, s->qp, &wc);
}

/* Scatter the segment's payload over the elements of the work request. */
static int scatter_payload(struct rx_segment *s)
{
	struct iwm_rx *rx = s->rx;
	u32 left = s->seg.payload_len;

	while (left) {
		const struct iwm_sge *sge = &rx->rwr.sge[rx->sge];
		u32 n = min(left, sge->len - rx->sge_off);
		int ret = 0;

		if (n)
			ret = place_payload(s, sge->lkey,
					    sge->addr + rx->sge_off, n,
					    IB_ACCESS_LOCAL_WRITE);
		if (ret)
			return ret;
		left -= n;
		rx->sge_off += n;
		if (rx->sge_off == sge->len) {
			rx->sge++;
			rx->sge_off = 0;
		}
	}
	rx->mo += s->seg.payload_len;
	return 0;
}

static int invalidate_stag(struct rx_segment *s)
{
	if (!rdmap_invalidates(s->seg.opcode))
		return 0;
	return iwm_mr_invalidate(&s->qp->ibqp, s->seg.stag);
}

/*
 * RFC 6581 section 9.2: in the peer-to-peer model the first FPDU that a
 * Responder gets is the ready-to-receive message. A Send without payload is one
 * if the Reply has named that kind. It belongs to startup and not to the ULP:
 * it takes no receive work request and completes none (section 4.4.2). For DDP
 * it is a message of its queue like any other and uses up MSN 1, as a Read does
 * on its queue.
 */
static bool is_rtr(const struct rx_segment *s)
{
	const struct iwm_qp *qp = s->qp;

	return qp->responder && (qp->agreed.rtr & MPA_RTR_SEND) &&
	       s->seg.opcode == RDMAP_SEND && !s->seg.payload_len &&
	       s->seg.last;
}

static int receive_send(struct rx_segment *s)
{
	struct iwm_rx *rx = s->rx;
	int ret = check_msn(s);

	if (ret)
		return ret;
	if (s->seg.mo != (rx->bound ? rx->mo : 0))
		return untagged_fault(s, DDP_ECODE_UT_INVALID_MO);
	if (unlikely(rx->segments == 1 && is_rtr(s))) {
		rx->msn[RDMAP_QN_SEND]++;
		return 0;
	}
	ret = bind_receive(s);
	if (ret == -EPROTO || ret == -EAGAIN)
		return ret;
	if (ret) {
		complete_receive(s, SIW_WC_LOC_QP_OP_ERR);
		return local_fault(s);
	}
	if (s->seg.payload_len > rx->rwr.len - rx->mo) {
		complete_receive(s, SIW_WC_LOC_LEN_ERR);
		return untagged_fault(s, DDP_ECODE_UT_TOO_LONG);
	}
	if (scatter_payload(s)) {
		complete_receive(s, SIW_WC_LOC_PROT_ERR);
		return local_fault(s);
	}
	if (!s->seg.last)
		return 0;

	ret = invalidate_stag(s);
	if (ret) {
		complete_receive(s, SIW_WC_REM_INV_REQ_ERR);
		/* RFC 5040 section 5.3, for an STag of another stream */
		return protection_fault(s, ret == -EPERM ? -EBUSY : ret);
	}
	rx->msn[RDMAP_QN_SEND]++;
	iwm_count(s->qp->dev, IWM_STAT_RX_SENDS);
	/* After a lost completion the consumer may not get the next Send. */
	return complete_receive(s, SIW_WC_SUCCESS) ? 0 : local_fault(s);
}

/*
 * The DDP header of @hdr_len octets that a Terminate carries, or NULL. The
 * headers follow the control field in order (RFC 5040 Figure 10).
 */
static const u8 *refused_hdr(const u8 *body, u32 len, u32 hdr_len)
{
	const struct rdmap_terminate_ctrl *ctrl = (const void *)body;

	if (!(ctrl->hdrct & RDMAP_TERM_D) ||
	    len < RDMAP_TERM_CTRL_LEN + 2 + hdr_len)
		return NULL;
	return body + RDMAP_TERM_CTRL_LEN + 2;
}

/* The MSN of the Read Request that a Terminate carries, or 0. */
static u32 refused_msn(const u8 *body, u32 len)
{
	const u8 *hdr = refused_hdr(body, len, DDP_UNTAGGED_HDR_LEN);

	return hdr ? get_unaligned_be32(hdr + DDP_HDR_MSN) : 0;
}

/*
 * Does the Terminate have a Read Request in it? Then the peer refuses that Read
 * of ours.
 */
static bool refused_read(struct rx_segment *s, const struct rdmap_error *err,
			 const u8 *body, u32 len)
{
	const struct rdmap_terminate_ctrl *ctrl = (const void *)body;

	return err->layer == TERM_LAYER_RDMAP &&
	       err->etype == RDMAP_ETYPE_PROTECTION &&
	       (ctrl->hdrct & RDMAP_TERM_R) &&
	       iwm_sq_read_refused(s->qp, refused_msn(body, len));
}

/* Does the Terminate have the header of a Write in it, which the peer refuses? */
static bool refuses_write(const struct rdmap_error *err, const u8 *body,
			  u32 len)
{
	const u8 *hdr = refused_hdr(body, len, DDP_TAGGED_HDR_LEN);

	return err->layer == TERM_LAYER_DDP && err->etype == DDP_ETYPE_TAGGED &&
	       hdr &&
	       (hdr[DDP_HDR_ULP_CTRL] & RDMAP_CTRL_OPCODE) == RDMAP_WRITE;
}

/*
 * The peer of a QP that was connected by hand has ended the stream: on
 * InfiniBand a work request would say so.
 */
static void refused_other(struct iwm_qp *qp, bool write)
{
	if (READ_ONCE(qp->by_hand))
		iwm_sq_fail_first(qp, write ? SIW_WC_REM_ACCESS_ERR :
					      SIW_WC_GENERAL_ERR);
}

/* The peer has ended the stream: answer nothing, receive nothing more. */
static int receive_terminate(struct rx_segment *s)
{
	u32 len = min(s->seg.payload_len, RDMAP_TERM_MAX_LEN);
	u8 body[RDMAP_TERM_MAX_LEN];
	struct rdmap_error err = { };
	int ret = check_msn(s);

	if (ret)
		return ret;
	if (!mpa_cursor_copy(s->cur, body, len) &&
	    !rdmap_terminate_parse(body, len, &err) &&
	    !refused_read(s, &err, body, len))
		refused_other(s->qp, refuses_write(&err, body, len));
	iwm_count(s->qp->dev, IWM_STAT_RX_TERMINATES);
	iwm_qp_terminate_received(s->qp, &err);
	return -ESHUTDOWN;
}

static int dispatch_segment(struct rx_segment *s, u8 *read_body)
{
	switch (s->seg.opcode) {
	case RDMAP_WRITE:
		return receive_write(s);
	case RDMAP_READ_RESPONSE:
		return receive_response(s);
	case RDMAP_READ_REQUEST:
		return receive_read_request(s, read_body);
	case RDMAP_TERMINATE:
		return receive_terminate(s);
	default:
		return receive_send(s);
	}
}

/*
 * Read the header, but no octet beyond the ULPDU. @hdr has room for
 * DDP_MAX_HDR_LEN. Each octet is read once: a peer on this machine may have
 * lent TCP its own pages, and may still change them.
 */
static void read_header(struct rx_segment *s, u8 *hdr, u32 len)
{
	u32 n = min(len, DDP_TAGGED_HDR_LEN);

	memset(hdr, 0, DDP_MAX_HDR_LEN);
	mpa_cursor_copy(s->cur, hdr, n);
	if (n == DDP_TAGGED_HDR_LEN && !(hdr[0] & DDP_CTRL_TAGGED))
		mpa_cursor_copy(s->cur, hdr + n,
				min(len, DDP_UNTAGGED_HDR_LEN) - n);
}

/* Does the Terminate carry the Read Request (RFC 5040 Figure 10)? */
static bool wants_read_hdr(const struct rx_segment *s)
{
	return s->seg.opcode == RDMAP_READ_REQUEST &&
	       s->err.layer == TERM_LAYER_RDMAP &&
	       s->err.etype == RDMAP_ETYPE_PROTECTION;
}

/*
 * Count the error and end the stream with a Terminate. Out of line, so that
 * good segments do not pay for it.
 */
static noinline void segment_refused(struct rx_segment *s, const u8 *hdr,
				     u32 len, const u8 *read_body)
{
	bool has_hdr = len && len >= ddp_hdr_len(hdr[0]);
	const struct rdmap_fault fault = {
		.err = s->err,
		.ddp_hdr = has_hdr ? hdr : NULL,
		.ddp_len = len,
		.read_hdr = wants_read_hdr(s) ? read_body : NULL,
	};

	iwm_count(s->qp->dev, s->err.layer == TERM_LAYER_DDP ?
		  IWM_STAT_RX_DDP_ERRORS : IWM_STAT_RX_RDMAP_ERRORS);
	iwm_qp_error(s->qp, &fault);
}

/**
 * iwm_receive() - one ULPDU: mpa_consumer_ops.receive()
 * @qp: the QP
 * @cur: cursor over the ULPDU
 * @len: octets in it
 *
 * Handles all segments, including those that iwm_receive_quick() takes.
 * Context: softirq or process, socket lock held.
 * Return: 0; -EAGAIN when the segment has to wait for a receive; any other value
 * when the stream has ended: MPA drops later data (RFC 5041 section 7.1).
 */
int iwm_receive(struct iwm_qp *qp, struct mpa_cursor *cur, u32 len)
{
	struct rx_segment s = { .qp = qp, .rx = qp->rx, .cur = cur };
	u8 read_body[RDMAP_READ_REQUEST_LEN];
	u8 hdr[DDP_MAX_HDR_LEN];
	int ret;

	read_header(&s, hdr, len);
	ret = rdmap_segment_parse(hdr, len, iwm_qp_version(qp), &s.seg, &s.err);
	WRITE_ONCE(qp->rx->segments, qp->rx->segments + 1);
	if (likely(!ret))
		ret = dispatch_segment(&s, read_body);
	if (unlikely(ret == -EPROTO))
		segment_refused(&s, hdr, len, read_body);
	else if (unlikely(ret == -EAGAIN))	/* it comes again */
		WRITE_ONCE(qp->rx->segments, qp->rx->segments - 1);
	return ret;
}

/**
 * iwm_place_early() - place a segment before its turn: mpa_consumer_ops.place()
 * @qp: the QP
 * @cur: cursor over the ULPDU
 * @len: octets in it
 * @hdr: set to the header, room for DDP_MAX_HDR_LEN octets
 *
 * The header of a Tagged segment names its memory (RFC 5041 section 5.3,
 * RFC 5040 section 5.5). The buffer of a Send is known only in its turn.
 * iwm_receive() finds an error again and reports it. Until then a peer could
 * guess STags without penalty, so MPA places nothing early after an error.
 *
 * Context: softirq or process, socket lock held.
 * Return: octets of the header when the payload is placed; 0 when the segment
 * has to wait for its turn; a negative errno when it will be an error then.
 */
int iwm_place_early(struct iwm_qp *qp, struct mpa_cursor *cur, u32 len,
		    u8 *hdr)
{
	struct rx_segment s = { .qp = qp, .rx = qp->rx, .cur = cur };
	const struct ddp_segment *seg = &s.seg;
	int access = READ_ONCE(qp->rx->write_right);
	int ret;

	read_header(&s, hdr, len);
	ret = rdmap_segment_parse(hdr, len, iwm_qp_version(qp), &s.seg, &s.err);
	if (ret)
		return ret;
	if (!seg->tagged || !seg->payload_len)
		return 0;
	if (seg->opcode == RDMAP_READ_RESPONSE) {
		if (!iwm_sq_is_read_sink(qp, seg->stag, seg->to,
					 seg->payload_len, &cur->cookie))
			return -EPROTO;
		access = IB_ACCESS_LOCAL_WRITE;
	}
	ret = place_payload(&s, seg->stag, seg->to, seg->payload_len, access);
	return ret ? ret : seg->hdr_len;
}

/*
 * A pass over TCP's queue has ended. Drop the region that it used last, because
 * deregistration waits for it, and have the pass's Read Requests answered.
 */
void iwm_receive_done(void *consumer)
{
	struct iwm_qp *qp = consumer;

	iwm_mr_drop_cache(&qp->rx->mr);
	iwm_sq_kick_responses(qp);
}

/**
 * iwm_rx_flush() - flush the Send that is being received
 * @qp: QP whose connection has ended
 *
 * Context: socket lock held, or no connection.
 */
void iwm_rx_flush(struct iwm_qp *qp)
{
	struct rx_segment s = { .qp = qp, .rx = qp->rx };

	if (qp->rx->bound)
		complete_receive(&s, SIW_WC_WR_FLUSH_ERR);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Sending: messages become DDP segments (RFC 5040, RFC 5041) that MPA frames
 * and hands to TCP in batches.
 */
#include <linux/sizes.h>
#include <linux/uio.h>
#include "mem.h"
#include "place.h"
#include "qp_state.h"
#include "sq_send.h"

/* Octets that one call may transmit before it lets others run */
#define SQ_BUDGET		SZ_1M
/* The same for an owner that must not sleep */
#define SQ_BUDGET_ATOMIC	SZ_64K

/* Limits of a run: the part of a message that is checked and sent at once */
#define RUN_OCTETS		SZ_128K
#define RUN_SPANS		32

/**
 * struct tx_run - the next octets of the message, and their addresses
 * @span: kernel addresses
 * @num_spans: elements in @span
 * @len: octets in all spans, up to RUN_OCTETS
 * @err: why the spans end early; it counts only if a segment needs more octets
 * @held: regions of the spans, without the cached one, with a reference each
 * @num_held: elements in @held
 * @lent: loans of those regions, cached one included, that a peer can end
 * @out: description of the octets for MPA
 */
struct tx_run {
	struct kvec span[RUN_SPANS];
	unsigned int num_spans;
	u32 len;
	int err;
	struct iwm_mr *held[IWM_MAX_SEND_SGE];
	unsigned int num_held;
	struct mpa_loan *lent[IWM_MAX_SEND_SGE + 1];
	struct mpa_message out;
};

/* Find a region and hold it to the end of the run, usually in the cache. */
static struct iwm_mr *run_region(struct iwm_qp *qp, struct tx_run *run,
				 u32 stag)
{
	struct iwm_mr **cache = &qp->sq->mr;
	struct iwm_mr *mr = *cache;

	if (likely(iwm_mr_is(mr, stag)))
		return mr;
	if (mr && run->num_spans)
		run->held[run->num_held++] = mr;
	else if (mr)
		iwm_mr_put(mr);	/* of an earlier message: no span is in it */
	*cache = iwm_mr_get(qp->dev, stag);
	return *cache;
}

/* Check and add @len octets of an element, as far as spans are left. */
static int run_add(struct iwm_qp *qp, struct tx_run *run,
		   const struct iwm_sge *sge, u32 off, u32 len)
{
	struct iwm_mr *mr = run_region(qp, run, sge->lkey);
	u64 addr = sge->addr + off;
	u32 n;
	int ret;

	if (!mr)
		return -ENOENT;
	ret = qp->sq->msg.access ?
	      iwm_mr_check_remote(mr, &qp->ibqp, addr, len,
				  qp->sq->msg.access) :
	      iwm_mr_check(mr, qp->ibqp.pd, addr, len, 0);
	if (ret)
		return ret;
	for (; len && run->num_spans < RUN_SPANS; addr += n, len -= n) {
		struct kvec *span = &run->span[run->num_spans];

		n = iwm_mr_span(mr, addr, len, &span->iov_base);
		if (unlikely(!n))
			return -ERANGE;
		span->iov_len = n;
		run->num_spans++;
		run->len += n;
	}
	return 0;
}

/* Add the memory of the next octets, element by element. */
static void run_add_elements(struct iwm_qp *qp, struct tx_run *run, u32 left)
{
	const struct tx_msg *msg = &qp->sq->msg;
	const struct iwm_sge *sge = &qp->sq->sge[msg->cur];
	u32 off = msg->cur_off;

	for (; left && run->num_spans < RUN_SPANS && !run->err; sge++) {
		u32 part = min(left, sge->len - off);

		if (part)
			run->err = run_add(qp, run, sge, off, part);
		left -= part;
		off = 0;
	}
}

/*
 * Name a region that a peer can invalidate: only a fast-register region. The
 * end of any other waits for our reference.
 */
static void run_note_region(struct tx_run *run, struct iwm_mr *mr)
{
	if (mr->staged)
		run->lent[run->out.num_lent++] = &mr->loan;
}

static void run_note_regions(struct iwm_qp *qp, struct tx_run *run)
{
	u32 i;

	run->out.lent = run->lent;
	run->out.num_lent = 0;
	for (i = 0; i < run->num_held; i++)
		run_note_region(run, run->held[i]);
	if (run->len && !qp->sq->msg.in_body && qp->sq->mr)
		run_note_region(run, qp->sq->mr);
}

/* Describe the run's segments to MPA. */
static void run_describe(struct iwm_qp *qp, struct tx_run *run)
{
	const struct tx_msg *msg = &qp->sq->msg;
	struct mpa_message *out = &run->out;

	out->hdr_len = rdmap_segment_build(out->hdr, &msg->seg,
					   iwm_qp_version(qp));
	out->last = DDP_CTRL_LAST;
	out->offset_at = msg->seg.tagged ? DDP_HDR_TO : DDP_HDR_MO;
	out->offset_is_64 = msg->seg.tagged;
	out->cut = false;
	out->max_fpdus = U32_MAX;
	out->left = msg->left;
	out->avail = run->len;
	out->src = run->span;
	run_note_regions(qp, run);
}

/* Look up and check the message's next octets. */
static void run_begin(struct iwm_qp *qp, struct tx_run *run)
{
	struct tx_msg *msg = &qp->sq->msg;
	u32 left = min_t(u32, msg->left, RUN_OCTETS);

	run->num_spans = 0;
	run->num_held = 0;
	run->err = 0;
	run->len = 0;
	if (msg->in_body) {
		run->span[0].iov_base = msg->body + msg->body_off;
		run->span[0].iov_len = left;
		run->len = left;
	} else {
		run_add_elements(qp, run, left);
	}
	run_describe(qp, run);
}

/* Advance the message by the octets of the run that were sent. */
static void run_end(struct iwm_sq *sq, struct tx_run *run)
{
	struct tx_msg *msg = &sq->msg;
	u32 sent = run->len - run->out.avail;

	while (run->num_held)
		iwm_mr_put(run->held[--run->num_held]);
	msg->left -= sent;
	msg->seg.mo += sent;
	msg->seg.to += sent;
	if (msg->in_body) {
		msg->body_off += sent;
		return;
	}
	msg->cur_off += sent;
	while (msg->cur < msg->num_sge &&
	       msg->cur_off >= sq->sge[msg->cur].len) {
		msg->cur_off -= sq->sge[msg->cur].len;
		msg->cur++;
	}
}

static void message_done(struct iwm_qp *qp, struct mpa_conn *conn)
{
	struct iwm_sq *sq = qp->sq;
	struct tx_msg *msg = &sq->msg;
	struct iwm_wqe *wqe;

	if (msg->kind == IWM_MSG_RESPONSE)
		/* Pairs with iwm_sq_add_response(): the entry is free */
		smp_store_release(&sq->irq_get, sq->irq_get + 1);
	if (msg->kind == IWM_MSG_WQE) {
		wqe = iwm_sq_wqe(sq, msg->wqe);
		spin_lock_bh(&sq->lock);
		wqe->end = mpa_tx_written(conn);
		wqe->written = true;
		spin_unlock_bh(&sq->lock);
	}
	msg->kind = IWM_MSG_NONE;
}

/*
 * Serialise the run's octets, as far as there is room. -ENODATA: the run is
 * used up, and the next one begins here.
 */
static int run_send(struct iwm_qp *qp, struct mpa_conn *conn,
		    struct tx_run *run)
{
	struct mpa_message *out = &run->out;
	int ret = mpa_tx_message(conn, out);

	if (ret != -ENODATA && ret != -ESTALE)
		return ret;
	if (out->avail < run->len)
		return -ENODATA;
	if (ret == -ESTALE)
		return -ENOENT;
	if (run->err)
		return run->err;
	out->cut = true;	/* it needs more spans than a run has */
	out->max_fpdus = 1;
	return mpa_tx_message(conn, out);
}

/* Serialise the message's next run, as far as there is room. */
static int send_run(struct iwm_qp *qp, struct mpa_conn *conn, u32 *sent)
{
	struct tx_msg *msg = &qp->sq->msg;
	struct tx_run run __uninitialized;
	int ret;

	run_begin(qp, &run);
	ret = run_send(qp, conn, &run);
	run_end(qp->sq, &run);
	if (!ret && !msg->left)
		message_done(qp, conn);
	*sent += msg->seg.hdr_len + run.len - run.out.avail;
	return ret == -ENODATA ? 0 : ret;
}

/* The source of a Response has become invalid since the Read Request. */
static void response_failed(struct iwm_qp *qp, int mr_error)
{
	struct iwm_sq *sq = qp->sq;
	const struct rdmap_read *rr = iwm_sq_irq(sq, sq->irq_get);
	u8 ddp_hdr[DDP_UNTAGGED_HDR_LEN], read_hdr[RDMAP_READ_REQUEST_LEN];
	const struct ddp_segment request = {
		.opcode = RDMAP_READ_REQUEST,
		.last = true,
		.qn = RDMAP_QN_READ_REQUEST,
		.msn = sq->irq_get + 1,	/* the first is 1 */
	};
	const struct rdmap_fault fault = {
		.err.layer = TERM_LAYER_RDMAP,
		.err.etype = RDMAP_ETYPE_PROTECTION,
		.err.ecode = iwm_mr_ecode(mr_error),
		.ddp_hdr = ddp_hdr,
		.ddp_len = sizeof(ddp_hdr) + sizeof(read_hdr),
		.read_hdr = read_hdr,
	};
	u32 done = rr->size - sq->msg.left;
	struct rdmap_read at = {
		.sink_stag = rr->sink_stag,
		.sink_to = rr->sink_to + done,
		.size = sq->msg.left,
		.source_stag = rr->source_stag,
		.source_to = rr->source_to + done,
	};

	rdmap_segment_build(ddp_hdr, &request, iwm_qp_version(qp));
	rdmap_read_build(read_hdr, &at);
	iwm_qp_error(qp, &fault);
}

static void segment_failed(struct iwm_qp *qp, int mr_error)
{
	struct tx_msg *msg = &qp->sq->msg;

	if (msg->kind == IWM_MSG_RESPONSE)
		response_failed(qp, mr_error);
	else
		iwm_msg_local_error(qp, msg->wqe, SIW_WC_LOC_PROT_ERR);
	msg->kind = IWM_MSG_NONE;
}

/*
 * Hand over to TCP, give back entries, and complete what TCP has taken. An owner
 * that must not sleep leaves many completions to the worker.
 */
static int hand_over(struct iwm_qp *qp, struct mpa_conn *conn, bool more)
{
	bool rest;
	int ret;

	iwm_mr_drop_cache(&qp->sq->mr);
	ret = mpa_tx_flush(conn, more);
	WRITE_ONCE(qp->sq->accepted, mpa_tx_accepted(conn));
	iwm_sq_release(qp->sq);
	do {
		rest = iwm_sq_complete(qp, false);
	} while (unlikely(rest) && !iwm_sq_is_atomic(qp->sq));
	if (unlikely(rest))
		iwm_sq_kick(qp);
	return ret;
}

/* @ret: result of hand_over() */
static enum tx_result why_not_sent(int ret)
{
	if (ret == -EBUSY)
		return TX_BUDGET;
	return ret == -ENOMEM ? TX_RETRY : TX_BLOCKED;
}

/**
 * iwm_sq_transmit() - send until there is nothing more, or no room
 * @qp: QP
 * @conn: its connection
 *
 * Context: transmit owner. Return: why no more is sent.
 */
enum tx_result iwm_sq_transmit(struct iwm_qp *qp, struct mpa_conn *conn)
{
	struct iwm_sq *sq = qp->sq;
	u32 budget = iwm_sq_is_atomic(sq) ? SQ_BUDGET_ATOMIC : SQ_BUDGET;
	u32 sent = 0;

	while (!iwm_sq_is_over(sq)) {
		enum next_msg next = NEXT_READY;
		int ret;

		if (sq->msg.kind == IWM_MSG_NONE) {
			if (sent >= budget) {
				hand_over(qp, conn, false);
				return TX_BUDGET;
			}
			next = iwm_msg_next(qp);
		}
		if (next != NEXT_READY) {
			ret = hand_over(qp, conn, false);
			if (ret)
				return why_not_sent(ret);
			if (next == NEXT_WORKER)
				return TX_BUDGET;
			/* Was anything posted meanwhile without a doorbell? */
			if ((!iwm_sq_posted(sq) && !iwm_sq_has_rest(sq)) ||
			    iwm_msg_wait_read(qp))
				return TX_IDLE;
			if (sent >= budget)
				return TX_BUDGET;
			sent += MPA_MIN_MULPDU;	/* user space can repeat this */
			continue;
		}
		ret = send_run(qp, conn, &sent);
		if (ret == -EAGAIN) {
			ret = hand_over(qp, conn, true);
			if (ret || !mpa_tx_room(conn, 1))
				return why_not_sent(ret);
			if (sent >= budget)
				return TX_BUDGET;
		} else if (ret == -ENOMEM) {
			hand_over(qp, conn, true);
			return TX_RETRY;
		} else if (ret) {
			segment_failed(qp, ret);
		}
	}
	/* Work requests that are sent completely have not failed. */
	hand_over(qp, conn, false);
	return TX_IDLE;
}

/**
 * iwm_sq_send_terminate() - send the Terminate that waits
 * @qp: QP
 * @conn: its connection, or NULL
 *
 * Context: transmit owner that may sleep.
 * Return: true when it is on its way, or can never be.
 */
bool iwm_sq_send_terminate(struct iwm_qp *qp, struct mpa_conn *conn)
{
	struct iwm_sq *sq = qp->sq;
	struct ddp_segment seg = {
		.opcode = RDMAP_TERMINATE,
		.hdr_len = DDP_UNTAGGED_HDR_LEN,
		.last = true,
		.qn = RDMAP_QN_TERMINATE,
		.msn = 1,
	};
	u8 hdr[MPA_TX_HDR_SIZE];
	struct kvec body = { .iov_base = sq->term, .iov_len = sq->term_len };
	struct mpa_ulpdu ulpdu = {
		.hdr = hdr, .src = &body, .len = sq->term_len,
	};
	u32 len;
	int ret;

	sq->msg.kind = IWM_MSG_NONE;	/* the Terminate comes last */
	sq->rest.cur = sq->rest.num_sge;
	/* If the connection is not published yet, a kick follows. */
	if (!conn)
		return test_bit(IWM_SQ_STOPPED, &sq->flags);
	ulpdu.hdr_len = rdmap_segment_build(hdr, &seg, iwm_qp_version(qp));
	len = ulpdu.hdr_len + sq->term_len;
	if (!mpa_tx_room(conn, len)) {
		ret = hand_over(qp, conn, true);
		if (ret == -ENOMEM)
			goto no_memory;
		if (ret && ret != -EAGAIN)
			return true;
		if (!mpa_tx_room(conn, len))
			return false;
	}
	if (mpa_tx_fpdu(conn, &ulpdu))
		goto no_memory;
	/* Work requests that TCP takes along with it have not failed. */
	hand_over(qp, conn, false);
	iwm_count(qp->dev, IWM_STAT_TX_TERMINATES);
	return true;

no_memory:
	iwm_sq_back_off(sq, IWM_SQ_NO_MEMORY, IWM_SQ_NO_MEMORY_NS);
	return false;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The transmit owner: messages become DDP segments (RFC 5040, RFC 5041) that
 * MPA frames and hands to TCP in batches.
 */
#include <linux/sizes.h>
#include <linux/wait_bit.h>
#include "mem.h"
#include "netdev.h"
#include "place.h"
#include "qp_state.h"
#include "send.h"

/* Octets that one call may transmit before it lets others run. */
#define SQ_BUDGET		SZ_1M
/* When there was no memory, it is tried again after so long. */
#define SQ_NO_MEMORY_NS		(10 * NSEC_PER_MSEC)

static void drop_sources(struct tx_source *src, int n)
{
	while (n--)
		iwm_mr_put(src[n].mr);
}

/* Hold the memory of the next @len octets. Number of pieces or an errno. */
static int hold_sources(struct iwm_qp *qp, u32 len, struct tx_source *src)
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
				goto err_drop;
			}
			src[n].addr = sge->addr + off;
			src[n].len = part;
			n++;
			ret = iwm_mr_check(src[n - 1].mr, qp->ibqp.pd,
					   src[n - 1].addr, part, msg->access);
			if (ret)
				goto err_drop;
		}
		len -= part;
		off = 0;
		cur++;
	}
	return n;

err_drop:
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

static int gather_sources(struct mpa_conn *conn, const struct tx_source *src,
			  int n)
{
	int i, ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = iwm_gather(src[i].mr, src[i].addr, conn, src[i].len);
	return ret;
}

static int open_segment(const struct iwm_qp *qp, struct mpa_conn *conn,
			const struct ddp_segment *seg, u32 len)
{
	u8 hdr[DDP_MAX_HDR_LEN];
	u32 hdr_len = ddp_segment_build(hdr, seg, iwm_qp_version(qp));

	return mpa_tx_open(conn, hdr, hdr_len, hdr_len + len);
}

static void message_done(struct iwm_qp *qp, struct mpa_conn *conn)
{
	struct iwm_sq *sq = qp->sq;
	struct tx_msg *msg = &sq->msg;
	struct iwm_wqe *wqe;

	if (msg->kind == MSG_RESPONSE)
		/* Pairs with iwm_sq_add_response(): the entry is free */
		smp_store_release(&sq->irq_get, sq->irq_get + 1);
	if (msg->kind == MSG_WQE) {
		wqe = iwm_sq_wqe(sq, msg->wqe);
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
	struct tx_source *src = qp->sq->source;
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
	ret = open_segment(qp, conn, &msg->seg, len);
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
	const struct rdmap_read *rr = iwm_sq_irq(sq, sq->irq_get);
	u8 read_hdr[RDMAP_READ_REQUEST_LEN];
	const struct rdmap_fault fault = {
		.err.layer = TERM_LAYER_RDMAP,
		.err.etype = RDMAP_ETYPE_PROTECTION,
		.err.ecode = RDMAP_ECODE_INVALID_STAG,
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

	rdmap_read_build(read_hdr, &at);
	iwm_qp_error(qp, &fault);
}

static void segment_failed(struct iwm_qp *qp)
{
	struct tx_msg *msg = &qp->sq->msg;

	if (msg->kind == MSG_RESPONSE)
		response_failed(qp);
	else
		iwm_msg_local_error(qp, msg->wqe, SIW_WC_LOC_PROT_ERR);
	msg->kind = MSG_NONE;
}

/* Hand over, and let go of what TCP has. */
static int hand_over(struct iwm_qp *qp, struct mpa_conn *conn, bool more)
{
	int ret;

	iwm_mr_drop_cache(&qp->sq->mr);
	ret = mpa_tx_flush(conn, more);
	WRITE_ONCE(qp->sq->accepted, mpa_tx_accepted(conn));
	iwm_sq_release(qp->sq);
	iwm_sq_complete(qp, false);
	return ret;
}

enum tx_result {
	TX_IDLE,	/* nothing more to send */
	TX_BLOCKED,	/* an upcall will kick */
	TX_BUDGET,	/* there may be more, somebody else's turn */
	TX_NO_MEMORY,	/* the burst timer will kick */
};

/* Send until there is nothing more, or no room. */
static enum tx_result transmit(struct iwm_qp *qp, struct mpa_conn *conn,
			       bool worker)
{
	struct iwm_sq *sq = qp->sq;
	u32 sent = 0;

	while (!test_bit(SQ_FLUSH, &sq->flags)) {
		int ret;

		if (sq->msg.kind == MSG_NONE && sent >= SQ_BUDGET) {
			hand_over(qp, conn, false);
			return TX_BUDGET;
		}
		if (sq->msg.kind == MSG_NONE && !iwm_msg_next(qp, worker)) {
			ret = hand_over(qp, conn, false);
			if (ret)
				return TX_BLOCKED;
			/* Posted while we were busy, without a doorbell? */
			if ((!iwm_sq_posted(sq) && !iwm_sq_has_rest(sq)) ||
			    iwm_msg_wait_read(qp))
				return TX_IDLE;
			if (sent >= SQ_BUDGET)
				return TX_BUDGET;
			sent += MPA_MIN_MULPDU;	/* user space may repeat it */
			continue;
		}
		ret = send_segment(qp, conn, &sent);
		if (ret == -EAGAIN) {
			ret = hand_over(qp, conn, true);
			if (ret || !mpa_tx_room(conn, 1))
				return TX_BLOCKED;
			if (sent >= SQ_BUDGET)
				return TX_BUDGET;
		} else if (ret == -ENOMEM) {
			hand_over(qp, conn, true);
			return TX_NO_MEMORY;
		} else if (ret) {
			segment_failed(qp);
		}
	}
	return TX_IDLE;
}

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
	u32 len;
	int ret;

	sq->msg.kind = MSG_NONE;	/* cut off: nothing may follow */
	sq->rest.cur = sq->rest.num_sge;
	/* Without a connection yet there is a kick when it has appeared. */
	if (!conn)
		return test_bit(SQ_STOPPED, &sq->flags);
	len = seg.hdr_len + sq->term_len;
	if (!mpa_tx_room(conn, len)) {
		ret = mpa_tx_flush(conn, true);
		if (ret && ret != -EAGAIN)
			return true;
		if (!mpa_tx_room(conn, len))
			return false;
	}
	ret = open_segment(qp, conn, &seg, sq->term_len);
	if (ret) {
		iwm_sq_defer(sq, SQ_NO_MEMORY_NS);
		return false;
	}
	mpa_tx_put(conn, sq->term, sq->term_len);
	mpa_tx_close(conn);
	mpa_tx_flush(conn, false);
	iwm_count(qp->dev, IWM_STAT_TX_TERMINATES);
	return true;
}

/* The connection, with a reference, while it may be written to. */
static struct mpa_conn *sq_conn_get(struct iwm_qp *qp)
{
	struct mpa_conn *conn = NULL;

	if (test_bit(SQ_STOPPED, &qp->sq->flags))
		return NULL;
	spin_lock_bh(&qp->lock);
	if (qp->conn) {
		conn = qp->conn;
		mpa_conn_get(conn);
	}
	spin_unlock_bh(&qp->lock);
	return conn;
}

/* The connection was idle for a while. */
static void sq_rest(struct iwm_sq *sq, struct mpa_conn *conn)
{
	clear_bit(SQ_REST, &sq->flags);
	if (conn)
		mpa_tx_rest(conn);
}

/* What an owner does. True when the Terminate has been dealt with. */
static bool sq_serve(struct iwm_qp *qp, bool worker, enum tx_result *result)
{
	struct mpa_conn *conn = sq_conn_get(qp);
	struct iwm_sq *sq = qp->sq;
	bool terminated = false;

	*result = TX_IDLE;
	if (conn && !test_bit(SQ_FLUSH, &sq->flags))
		*result = transmit(qp, conn, worker);
	/* While we are the owner: iwm_sq_stop() is not over before. */
	if (*result == TX_NO_MEMORY)
		iwm_sq_defer(sq, SQ_NO_MEMORY_NS);
	if (test_bit(SQ_TERMINATE, &sq->flags) && send_terminate(qp, conn)) {
		clear_bit(SQ_TERMINATE, &sq->flags);
		terminated = true;
	}
	if (test_bit(SQ_FLUSH, &sq->flags) && iwm_sq_flush_all(qp))
		*result = TX_BUDGET;
	iwm_mr_drop_cache(&sq->mr);
	if (unlikely(test_bit(SQ_REST, &sq->flags)))
		sq_rest(sq, conn);
	if (conn)
		mpa_conn_put(conn);
	/* Still the owner: what is posted meanwhile goes out in one batch. */
	cond_resched();
	return terminated;
}

static void own_end(struct iwm_sq *sq)
{
	clear_bit_unlock(SQ_OWNED, &sq->flags);
	/* Pairs with iwm_sq_kick(): let go, then look for notes */
	smp_mb__after_atomic();
	if (unlikely(test_bit(SQ_STOPPED, &sq->flags)))
		wake_up_bit(&sq->flags, SQ_OWNED);
}

/*
 * Be the owner for as long as there is something to do; or, when somebody
 * else is, leave: the caller has set SQ_AGAIN, and the owner looks at it after
 * it has let go.
 */
void iwm_sq_run(struct iwm_qp *qp, bool worker)
{
	struct iwm_sq *sq = qp->sq;
	enum tx_result result;

	do {
		bool terminated;

		if (test_and_set_bit_lock(SQ_OWNED, &sq->flags))
			return;
		clear_bit(SQ_AGAIN, &sq->flags);
		/* Pairs with iwm_sq_kick(): what is noted from here on counts */
		smp_mb__after_atomic();
		terminated = sq_serve(qp, worker, &result);
		own_end(sq);
		if (terminated)
			iwm_qp_terminated(qp);
		if (result == TX_BUDGET ||
		    (result == TX_IDLE && !worker && iwm_sq_responses(sq))) {
			queue_work(iwm_wq, &sq->work);
			return;
		}
	} while (test_bit(SQ_AGAIN, &sq->flags));
}

void iwm_sq_work(struct work_struct *work)
{
	struct iwm_sq *sq = container_of(work, struct iwm_sq, work);

	iwm_sq_run(sq->qp, true);
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
	struct mpa_conn *conn = sq_conn_get(qp);
	bool more;

	might_sleep();
	set_bit(SQ_FLUSH, &sq->flags);
	set_bit(SQ_STOPPED, &sq->flags);
	wait_on_bit_lock(&sq->flags, SQ_OWNED, TASK_UNINTERRUPTIBLE);
	if (test_and_clear_bit(SQ_TERMINATE, &sq->flags))
		send_terminate(qp, conn);
	more = iwm_sq_flush_all(qp);
	own_end(sq);
	if (more || test_bit(SQ_AGAIN, &sq->flags))
		queue_work(iwm_wq, &sq->work);
	if (conn)
		mpa_conn_put(conn);
}

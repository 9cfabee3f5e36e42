// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel consumer's messages, in as many FPDUs as they take: each is as large
 * as its place in TCP's segments allows, and is written in one piece (tx_line.h)
 * unless it is longer than the rest of a chunk.
 *
 * Bulk transfers take this path, so work that is common to all FPDUs of a
 * message is done once.
 */
#include <mpa/compat.h>
#include <linux/uio.h>
#include "conn.h"
#include "crc.h"
#include "fpdu.h"
#include "trace.h"
#include "tx.h"
#include "tx_line.h"
#include "tx_plan.h"

/*
 * Octets of the stream that a large FPDU may take: the rest of the chunk, or of
 * the next chunk when the rest is less than a segment.
 */
static u32 large_room(const struct mpa_tx *tx)
{
	u32 left = tx->ring.size - tx->ring.off;

	if (left < tx->plan.emss)
		left = MPA_TX_LARGE;
	return min(left, tx->large);
}

/*
 * As mpa_tx_room(), but returns the true room, @min or more, of a segment that
 * is partly filled.
 */
static __always_inline u32 next_room(struct mpa_tx *tx, u32 min,
				     const bool markers)
{
	struct mpa_plan *plan = &tx->plan;
	u32 n, room = plan->room;

	if (tx->written - plan->accepted >= MPA_TX_AHEAD ||
	    mpa_plan_left(plan) < MPA_TX_PIECES)
		return 0;
	if (unlikely(tx->large))
		room = max(room, large_room(tx));
	n = mpa_fpdu_room(room, markers, tx->writer.pos);
	if (likely(n >= min &&
		   (n >= MPA_MIN_MULPDU || plan->room != plan->emss)))
		return n;
	mpa_plan_end_segment(plan);
	n = mpa_fpdu_room(plan->room, markers, tx->writer.pos);
	return max(n, MPA_MIN_MULPDU);
}

/* Has startup agreed that FPDUs may be sent? */
static bool tx_may_send(const struct mpa_tx *tx)
{
	/* Pairs with mpa_tx_start(): the writer's settings are visible */
	return smp_load_acquire(&tx->ready) && READ_ONCE(tx->allowed);
}

/**
 * mpa_tx_room() - how large may the next ULPDU be?
 * @conn: connection
 * @min: octets of ULPDU below which the consumer prefers the next segment
 *
 * Ends the segment that is being filled when it has room for less than @min
 * (RFC 5044 section 4.5, SIZ-05). Context: transmit owner.
 *
 * Return: octets, at least @min up to MPA_MIN_MULPDU; 0 when nothing can be
 * written now: call mpa_tx_flush(), and if that makes no room either, wait for
 * mpa_consumer_ops.writable().
 */
u32 mpa_tx_room(struct mpa_conn *conn, u32 min)
{
	struct mpa_tx *tx = &conn->tx;
	u32 room;

	if (!tx_may_send(tx))
		return 0;
	room = next_room(tx, min, tx->writer.markers);
	return room ? max(room, MPA_MIN_MULPDU) : 0;
}
EXPORT_SYMBOL_NS_GPL(mpa_tx_room, MPA_NS);

/*
 * Is there room for @len octets in one piece? If only a short end of the chunk
 * is left, go to the next one.
 */
static __always_inline bool has_piece(struct mpa_tx *tx, u32 len)
{
	struct mpa_tx_ring *ring = &tx->ring;
	u32 left = ring->size - ring->off;

	if (likely(left >= len))
		return true;
	return left <= ring->size / MPA_TX_SHORT_END &&
	       !mpa_tx_next_chunk(tx) && ring->size >= len;
}

/* Step past @len octets of a span. Return: the span of the next octets. */
static __always_inline struct kvec *span_advance(struct kvec *span, size_t len)
{
	if (len == span->iov_len)
		return span + 1;
	span->iov_base += len;
	span->iov_len -= len;
	return span;
}

static void loans_release(const struct mpa_message *msg)
{
	u32 i;

	smp_mb__before_atomic();	/* all reads of lent memory are done */
	for (i = 0; i < msg->num_lent; i++)
		atomic_dec(&msg->lent[i]->readers);
	preempt_enable();
	local_bh_enable();
}

/*
 * Hold the lent memory while an FPDU is copied. The upcall in which a peer
 * invalidates memory waits for the readers, so it must not interrupt this CPU;
 * on PREEMPT_RT that needs preemption off. False: some of the memory is no
 * longer lent.
 */
static bool loans_acquire(const struct mpa_message *msg)
{
	bool valid = true;
	u32 i;

	local_bh_disable();
	preempt_disable();
	for (i = 0; i < msg->num_lent; i++)
		atomic_inc(&msg->lent[i]->readers);
	/* Pairs with mpa_loan_end(): count the reader, then check */
	smp_mb__after_atomic();
	for (i = 0; i < msg->num_lent; i++)
		valid = valid && READ_ONCE(msg->lent[i]->valid);
	if (!valid)
		loans_release(msg);
	return valid;
}

/* As loans_acquire(); most messages have no lent memory. */
static __always_inline bool loans_begin(const struct mpa_message *msg)
{
	return !msg || likely(!msg->num_lent) || loans_acquire(msg);
}

static __always_inline void loans_end(const struct mpa_message *msg)
{
	if (msg && unlikely(msg->num_lent))
		loans_release(msg);
}

/* Write an FPDU that does not lie in one piece. */
static int write_pieces(struct mpa_conn *conn, struct mpa_ulpdu *ulpdu,
			const struct mpa_message *msg)
{
	u32 left = ulpdu->len, n;
	int ret;

	ret = mpa_tx_open(conn, ulpdu->hdr, ulpdu->hdr_len,
			  ulpdu->hdr_len + ulpdu->len);
	if (ret)
		return ret;
	if (!loans_begin(msg)) {
		mpa_tx_cancel(conn);
		return -ESTALE;
	}
	for (; left; left -= n) {
		n = min_t(size_t, left, ulpdu->src->iov_len);
		mpa_tx_put(conn, ulpdu->src->iov_base, n);
		ulpdu->src = span_advance(ulpdu->src, n);
	}
	loans_end(msg);
	mpa_tx_close(conn);
	return 0;
}

/* Write an FPDU in one piece, but not its CRC. Return: where the CRC goes. */
static __always_inline u8 *write_line(struct mpa_line *line,
				      struct mpa_ulpdu *ulpdu,
				      const bool markers)
{
	u32 ulpdu_len = ulpdu->hdr_len + ulpdu->len;
	struct kvec *src = ulpdu->src;
	u32 left = ulpdu->len, n;

	mpa_line_head(line, ulpdu_len, ulpdu->hdr, ulpdu->hdr_len, markers);
	for (; left; left -= n) {
		n = min_t(size_t, left, src->iov_len);
		mpa_line_put(line, src->iov_base, n, markers);
		src = span_advance(src, n);
	}
	ulpdu->src = src;
	return mpa_line_end(line, ulpdu_len, markers);
}

/* As mpa_tx_fpdu(); @msg is NULL for a single FPDU. */
static __always_inline int write_fpdu(struct mpa_conn *conn,
				      struct mpa_ulpdu *ulpdu,
				      const struct mpa_message *msg,
				      const bool markers)
{
	struct mpa_tx *tx = &conn->tx;
	struct mpa_tx_writer *writer = &tx->writer;
	u32 wire = mpa_fpdu_wire_len(ulpdu->hdr_len + ulpdu->len, markers,
				     writer->pos);
	struct mpa_line line = { .pos = writer->pos };
	struct mpa_extent piece = { .len = wire };
	__be32 crc = 0;
	u8 *fpdu, *end;

	/* The fast path has no tracepoint: it would cost even when off. */
	if (unlikely(!has_piece(tx, max(wire, MPA_TX_LEAST))) ||
	    trace_mpa_tx_fpdu_enabled())
		return write_pieces(conn, ulpdu, msg);
	piece.page = tx->ring.chunk[tx->ring.slot];
	piece.off = tx->ring.off;
	fpdu = tx->ring.mem + piece.off;
	line.out = fpdu;
	if (!loans_begin(msg))
		return -ESTALE;
	end = write_line(&line, ulpdu, markers);
	loans_end(msg);
	if (writer->crc)
		crc = mpa_crc_digest(fpdu, end - fpdu);
	put_unaligned(crc, (__be32 *)end);

	tx->ring.off += wire;
	writer->pos += wire;
	if (unlikely(!mpa_plan_fill(&tx->plan, wire)))
		mpa_count(conn, MPA_STAT_TX_UNALIGNED, 1);
	mpa_plan_append(&tx->plan, &piece);
	mpa_tx_fpdu_written(tx, wire);
	return 0;
}

/**
 * mpa_tx_fpdu() - write an FPDU
 * @conn: connection
 * @ulpdu: its octets, up to MPA_MAX_ULPDU; @ulpdu->src is advanced. More than
 *	mpa_tx_room() returned is framed correctly, but across segments (DDP-04)
 *
 * Context: transmit owner; may sleep, except after mpa_tx_set_atomic().
 * Return: 0, -EMSGSIZE for a ULPDU over MPA_MAX_ULPDU (DDP-03) or -ENOMEM;
 * nothing is written then.
 */
int mpa_tx_fpdu(struct mpa_conn *conn, struct mpa_ulpdu *ulpdu)
{
	if (unlikely(ulpdu->hdr_len + ulpdu->len > MPA_MAX_ULPDU))
		return -EMSGSIZE;
	if (conn->tx.writer.markers)
		return write_fpdu(conn, ulpdu, NULL, true);
	return write_fpdu(conn, ulpdu, NULL, false);
}
EXPORT_SYMBOL_NS_GPL(mpa_tx_fpdu, MPA_NS);

/* Advance the header past an FPDU with @len octets of payload. */
static __always_inline void message_advance(struct mpa_message *msg, u32 len)
{
	u8 *offset = msg->hdr + msg->offset_at;

	msg->avail -= len;
	msg->left -= len;
	if (msg->offset_is_64)
		put_unaligned_be64(get_unaligned_be64(offset) + len, offset);
	else
		put_unaligned_be32(get_unaligned_be32(offset) + len, offset);
}

/* As mpa_tx_message(). */
static __always_inline int write_message(struct mpa_conn *conn,
					 struct mpa_message *msg,
					 const bool markers)
{
	struct mpa_ulpdu ulpdu = {
		.hdr = msg->hdr, .hdr_len = msg->hdr_len, .src = msg->src,
	};
	u32 rounds = msg->max_fpdus;
	int ret = 0;

	do {
		/* The sum may not fit into 32 bits */
		bool is_short = msg->left <= MPA_MIN_MULPDU - msg->hdr_len;
		u32 least = is_short ? msg->hdr_len + msg->left : MPA_TX_SHARE;
		u32 room = next_room(&conn->tx, least, markers);

		ret = -EAGAIN;
		if (unlikely(!room))
			break;
		ulpdu.len = min(msg->left, room - msg->hdr_len);
		ret = -ENODATA;
		if (unlikely(ulpdu.len > msg->avail)) {
			if (!msg->cut)
				break;
			ulpdu.len = msg->avail;
		}
		if (ulpdu.len == msg->left)
			msg->hdr[0] |= msg->last;
		ret = write_fpdu(conn, &ulpdu, msg, markers);
		if (unlikely(ret)) {
			msg->hdr[0] &= ~msg->last;
			break;
		}
		message_advance(msg, ulpdu.len);
	} while (msg->left && --rounds);
	msg->src = ulpdu.src;
	return ret;
}

/**
 * mpa_tx_message() - write FPDUs of a message
 * @conn: connection
 * @msg: the message; afterwards it describes the rest of the message
 *
 * The first FPDU fills the segment behind an earlier message if a ULPDU of
 * MPA_TX_SHARE octets fits. What fits the least MULPDU, such as a Read Request,
 * is one FPDU.
 * Context: transmit owner; may sleep, except after mpa_tx_set_atomic().
 * Return: 0 when the message is written, or @msg->max_fpdus of it. When no
 * further FPDU could be written: -EAGAIN, there is no room, as with
 * mpa_tx_room(); -ENODATA, @msg->src has too few octets for the next FPDU;
 * -ESTALE, some of @msg->lent is no longer valid; -ENOMEM. In each case the
 * FPDUs written before stay.
 */
int mpa_tx_message(struct mpa_conn *conn, struct mpa_message *msg)
{
	if (unlikely(!tx_may_send(&conn->tx)))
		return -EAGAIN;
	if (conn->tx.writer.markers)
		return write_message(conn, msg, true);
	return write_message(conn, msg, false);
}
EXPORT_SYMBOL_NS_GPL(mpa_tx_message, MPA_NS);

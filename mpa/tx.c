// SPDX-License-Identifier: GPL-2.0
/*
 * Transmit: the consumer's octets are copied into pages of our own
 * (tx_pages.c), with Markers, pad and CRC. The CRC is taken from the copy, so
 * that CRC and data agree even if the application changes its memory meanwhile.
 * mpa_tx_flush() then gives all FPDUs to TCP at once, in the segments of the
 * plan (tx_plan.c).
 *
 * tx_message.c writes a kernel consumer's FPDUs, in one piece unless they are
 * longer than the rest of a chunk. All other FPDUs are opened, put in parts and
 * closed.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/uio.h>
#include <net/tcp.h>
#include "conn.h"
#include "crc.h"
#include "fpdu.h"
#include "params.h"
#include "sock.h"
#include "trace.h"
#include "tx.h"
#include "tx_pages.h"
#include "tx_plan.h"

/* Drop the page references of the open FPDU. */
static void writer_drop_held(struct mpa_tx_writer *writer)
{
	while (writer->held)
		put_page(writer->piece[--writer->held].page);
}

/*
 * Reserve the memory of an FPDU, so that nothing can fail while it is written.
 * Each piece but the last holds a reference to its chunk, because a long FPDU
 * may go round the ring and reach the same slot again.
 */
static int writer_reserve(struct mpa_tx *tx, u32 len)
{
	struct mpa_tx_writer *writer = &tx->writer;
	struct mpa_tx_ring *ring = &tx->ring;
	unsigned int n = 0;

	while (len) {
		struct mpa_extent *piece;

		if (ring->off == ring->size && mpa_tx_next_chunk(tx))
			goto err_rewind;
		if (WARN_ON_ONCE(n == MPA_TX_PIECES))
			goto err_rewind;
		piece = &writer->piece[n++];
		piece->page = ring->chunk[ring->slot];
		piece->off = ring->off;
		piece->len = min(ring->size - ring->off, len);
		ring->off += piece->len;
		len -= piece->len;
		if (len) {
			get_page(piece->page);
			writer->held++;
		}
	}
	writer->num_pieces = n;
	writer->cur_piece = 0;
	return 0;

err_rewind:
	mpa_tx_rewind(tx, n);
	writer_drop_held(writer);
	return -ENOMEM;
}

/* Begin to write the next piece of the open FPDU. */
static void next_piece(struct mpa_tx_writer *writer)
{
	const struct mpa_extent *piece = &writer->piece[writer->cur_piece++];

	writer->out = page_address(piece->page) + piece->off;
	writer->out_left = piece->len;
}

/* Step past @len octets that have been written to the piece. */
static __always_inline void writer_advance(struct mpa_tx_writer *writer,
					   u32 len)
{
	writer->out += len;
	writer->out_left -= len;
	writer->pos += len;
}

static __always_inline void put_here(struct mpa_tx_writer *writer,
				     const void *src, u32 len)
{
	memcpy(writer->out, src, len);
	writer_advance(writer, len);
}

static __always_inline void put_raw(struct mpa_tx_writer *writer,
				    const void *src, u32 len)
{
	while (unlikely(len > writer->out_left)) {
		u32 n = writer->out_left;

		put_here(writer, src, n);
		src += n;
		len -= n;
		next_piece(writer);
	}
	put_here(writer, src, len);
}

static void write_marker(struct mpa_tx_writer *writer)
{
	__be32 marker = mpa_marker_encode(writer->pos, writer->start);

	put_raw(writer, &marker, sizeof(marker));
}

/* Write a Marker if one is due. */
static __always_inline void put_marker(struct mpa_tx_writer *writer)
{
	if (writer->markers && !mpa_marker_gap(writer->pos))
		write_marker(writer);
}

/**
 * mpa_tx_put() - write the next octets of the open ULPDU
 * @conn: connection with an open FPDU
 * @src: kernel address
 * @len: octets; all calls together must make up the length that was opened
 *
 * Context: transmit owner.
 */
void mpa_tx_put(struct mpa_conn *conn, const void *src, u32 len)
{
	struct mpa_tx_writer *writer = &conn->tx.writer;

	if (!writer->markers) {
		put_raw(writer, src, len);
		return;
	}
	while (len) {
		u32 n;

		put_marker(writer);
		n = min(len, mpa_marker_gap(writer->pos));
		put_raw(writer, src, n);
		src += n;
		len -= n;
	}
}

/**
 * mpa_tx_put_iter() - write the next octets of the open ULPDU from a program
 * @conn: connection with an open FPDU
 * @from: where they are
 * @len: octets; as for mpa_tx_put()
 *
 * Context: process, socket lock held.
 * Return: 0, or -EFAULT: the caller must then call mpa_tx_cancel().
 */
int mpa_tx_put_iter(struct mpa_conn *conn, struct iov_iter *from, u32 len)
{
	struct mpa_tx_writer *writer = &conn->tx.writer;

	while (len) {
		u32 n = len;

		put_marker(writer);
		if (writer->markers)
			n = min(n, mpa_marker_gap(writer->pos));
		if (!writer->out_left)
			next_piece(writer);
		n = min(n, writer->out_left);
		if (!copy_from_iter_full(writer->out, n, from))
			return -EFAULT;
		writer_advance(writer, n);
		len -= n;
	}
	return 0;
}

/**
 * mpa_tx_open() - begin an FPDU
 * @conn: connection
 * @hdr: first octets of the ULPDU: the consumer's header
 * @hdr_len: octets of @hdr
 * @ulpdu_len: octets of the ULPDU, @hdr included, up to MPA_MAX_ULPDU. The
 *	FPDU of a ULPDU that is longer than mpa_tx_room() said is correct, but
 *	does not fit one TCP segment (DDP-04)
 *
 * Context: transmit owner; may sleep, except after mpa_tx_set_atomic().
 * Return: 0, or, with no FPDU open, -EMSGSIZE for a ULPDU over MPA_MAX_ULPDU
 * (DDP-03) or -ENOMEM.
 */
int mpa_tx_open(struct mpa_conn *conn, const void *hdr, u32 hdr_len,
		u32 ulpdu_len)
{
	__be16 len = cpu_to_be16(ulpdu_len);
	struct mpa_tx_writer *writer = &conn->tx.writer;
	u32 wire;
	int ret;

	if (unlikely(ulpdu_len > MPA_MAX_ULPDU))
		return -EMSGSIZE;
	wire = mpa_fpdu_wire_len(ulpdu_len, writer->markers, writer->pos);
	ret = writer_reserve(&conn->tx, wire);
	if (unlikely(ret))
		return ret;
	if (unlikely(!mpa_plan_fill(&conn->tx.plan, wire)))
		mpa_count(conn, MPA_STAT_TX_UNALIGNED, 1);
	writer->start = writer->pos;
	writer->wire = wire;
	writer->ulpdu_len = ulpdu_len;
	next_piece(writer);
	put_marker(writer);
	put_raw(writer, &len, sizeof(len));
	mpa_tx_put(conn, hdr, hdr_len);
	return 0;
}

/* The CRC over the open FPDU, of which only the CRC field is missing. */
static __be32 fpdu_crc(const struct mpa_tx_writer *writer)
{
	u32 left = writer->pos - writer->start;
	union mpa_crc crc;
	unsigned int i;

	if (writer->num_pieces == 1)
		return mpa_crc_digest(page_address(writer->piece[0].page) +
				      writer->piece[0].off, left);
	mpa_crc_start(&crc);
	for (i = 0; left; i++) {
		const struct mpa_extent *piece = &writer->piece[i];
		u32 n = min(left, piece->len);

		mpa_crc_add(&crc, page_address(piece->page) + piece->off, n);
		left -= n;
	}
	return mpa_crc_finish(&crc);
}

/**
 * mpa_tx_close() - end the open FPDU: pad, Marker if one is due, CRC
 * @conn: connection with an open FPDU whose octets have all been put
 *
 * Context: transmit owner.
 */
void mpa_tx_close(struct mpa_conn *conn)
{
	struct mpa_tx *tx = &conn->tx;
	struct mpa_tx_writer *writer = &tx->writer;
	static const u8 pad[3];
	u32 wire = writer->wire;
	unsigned int i;
	__be32 crc = 0;

	/*
	 * Pad, CRC field and at most one Marker are not written yet: pad and
	 * CRC field are 7 octets at most.
	 */
	mpa_tx_put(conn, pad, (wire - (writer->pos - writer->start)) % 4);
	put_marker(writer);
	if (writer->crc)
		crc = fpdu_crc(writer);
	put_raw(writer, &crc, sizeof(crc));

	for (i = 0; i < writer->num_pieces; i++)
		mpa_plan_append(&tx->plan, &writer->piece[i]);
	writer_drop_held(writer);
	mpa_tx_fpdu_written(tx, wire);
	trace_mpa_tx_fpdu(conn, wire, writer->ulpdu_len);
}

/**
 * mpa_tx_cancel() - cancel the open FPDU
 * @conn: connection with an open FPDU
 *
 * As if it had never been opened. Context: transmit owner.
 */
void mpa_tx_cancel(struct mpa_conn *conn)
{
	struct mpa_tx_writer *writer = &conn->tx.writer;
	struct mpa_plan *plan = &conn->tx.plan;

	mpa_tx_rewind(&conn->tx, writer->num_pieces);
	writer_drop_held(writer);
	writer->pos = writer->start;
	plan->room = plan->room_before;
}

/* Has the administrator chosen FPDUs larger than a segment for this peer? */
static bool large_is_chosen(const struct mpa_conn *conn)
{
	switch (conn->params.settings.large) {
	case MPA_LARGE_LOCAL:
		return mpa_sock_is_local(conn->sk);
	case MPA_LARGE_ALWAYS:
		return true;
	case MPA_LARGE_AGREED:
		return conn->agreed.large;
	default:
		return false;
	}
}

/*
 * Set the largest size of FPDUs: at most half of the largest window that the
 * peer has opened, so that a peer that waits for the rest of an FPDU has room
 * for it (RFC 5044 Appendix A.5.2). If that is no more than a segment, each
 * FPDU must fit a segment. Programs choose the length of each ULPDU themselves.
 */
static void update_large(struct mpa_conn *conn)
{
	u32 large;

	if (likely(conn->params.settings.large == MPA_LARGE_NEVER))
		return;
	conn->tx.large = 0;
	if (!conn->sock || !large_is_chosen(conn))
		return;
	large = min_t(u32, MPA_TX_LARGE, tcp_sk(conn->sk)->max_window / 2);
	if (large > conn->tx.plan.emss)
		conn->tx.large = large;
}

/* TCP takes no more for now. */
static void tx_blocked(struct mpa_conn *conn)
{
	struct mpa_tx *tx = &conn->tx;

	mpa_count(conn, MPA_STAT_TX_BLOCKED, 1);
	tx->counts.blocked++;
	if (tx->blocked_at)
		return;
	tx->blocked_at = ktime_get_ns();
	trace_mpa_tx_blocked(conn);
}

/* TCP has taken everything, or never will. */
static void tx_unblocked(struct mpa_conn *conn)
{
	struct mpa_tx *tx = &conn->tx;
	u64 ns = ktime_get_ns() - tx->blocked_at;

	tx->blocked_at = 0;
	tx->counts.blocked_ns += ns;
	trace_mpa_tx_unblocked(conn, ns);
}

/* TCP has taken @octets of the stream. */
static void count_batch(struct mpa_conn *conn, u64 octets)
{
	struct mpa_tx *tx = &conn->tx;

	trace_mpa_tx_batch(conn, octets, tx->fpdus);
	mpa_count(conn, MPA_STAT_TX_BATCHES, 1);
	mpa_count(conn, MPA_STAT_TX_FPDUS, tx->fpdus);
	mpa_count(conn, MPA_STAT_TX_OCTETS, octets);
	tx->counts.batches++;
	tx->counts.fpdus += tx->fpdus;
	tx->fpdus = 0;
}

/**
 * mpa_tx_push() - hand the written FPDUs to TCP
 * @conn: connection
 * @more: the transmit owner has more to write at once
 *
 * Context: process or softirq, socket lock held.
 * Return: 0 when TCP has taken everything; -EAGAIN when the socket is full
 * (mpa_consumer_ops.writable() follows); another errno when TCP is dead.
 */
int mpa_tx_push(struct mpa_conn *conn, bool more)
{
	u32 mss = mpa_sock_emss(conn->sk);
	struct mpa_tx *tx = &conn->tx;
	struct mpa_plan *plan = &tx->plan;
	u64 before = plan->accepted;
	int ret;

	/* A program's socket may let TCP wait for more octets. */
	if (conn->sock || (!more && !tx->nagle))
		mpa_plan_end_segment(plan);
	tx->pushing = true;
	ret = mpa_plan_push(conn, mss, more);
	tx->pushing = false;
	mpa_plan_set_mss(plan, mss);
	update_large(conn);
	if (!ret)
		plan->whole = plan->accepted;
	if (ret == -EAGAIN)
		tx_blocked(conn);
	else if (unlikely(tx->blocked_at))
		tx_unblocked(conn);
	if (plan->accepted != before)
		count_batch(conn, plan->accepted - before);
	return ret;
}

/* The EMSS may have changed. Context: socket lock held. */
void mpa_tx_update_emss(struct mpa_conn *conn)
{
	mpa_plan_set_mss(&conn->tx.plan, mpa_sock_emss(conn->sk));
}

/* Context: process or softirq, socket lock held. Return: as mpa_tx_flush(). */
static int push_locked(struct mpa_conn *conn, bool more)
{
	int ret;

	if (!conn->tx.ready)
		return -EPIPE;
	if (!mpa_tx_may_charge(&conn->tx))
		return -ENOMEM;
	ret = mpa_tx_push(conn, more);
	/* TCP waits for no ACK, so none will announce room. */
	if (unlikely(ret == -EAGAIN) &&
	    tcp_rtx_and_write_queues_empty(conn->sk)) {
		conn->tx.ring.refused = true;
		ret = -ENOMEM;
	}
	return ret;
}

/*
 * Send under the socket's spinlock alone, as TLS offload does when TCP has room
 * again. Do not wait for the spinlock: this CPU may hold it, in an upcall of
 * the connection in which the consumer posts.
 */
static int flush_atomic(struct mpa_conn *conn, bool more)
{
	struct sock *sk = conn->sk;
	int ret = -EBUSY;
	gfp_t gfp;

	if (!spin_trylock(&sk->sk_lock.slock))
		return -EBUSY;
	if (!sock_owned_by_user(sk)) {
		gfp = sk->sk_allocation;
		sk->sk_allocation = GFP_ATOMIC | (gfp & __GFP_MEMALLOC);
		ret = push_locked(conn, more);
		sk->sk_allocation = gfp;
	}
	spin_unlock(&sk->sk_lock.slock);
	return ret;
}

/**
 * mpa_tx_flush() - hand the written FPDUs to TCP
 * @conn: connection
 * @more: the transmit owner has more to write at once
 *
 * Context: transmit owner, process; takes the socket lock. After
 * mpa_tx_set_atomic() with softirqs disabled.
 * Return: as mpa_tx_push(); -ENOMEM when TCP had no memory for its only buffer,
 * or was not called because the program's cgroup has none: no
 * mpa_consumer_ops.writable() follows, so the caller must pause and try again;
 * -EPIPE when the connection is closed; -EBUSY when the owner may not sleep and
 * the socket is in use: the written FPDUs wait.
 */
int mpa_tx_flush(struct mpa_conn *conn, bool more)
{
	unsigned int reserves;
	int ret;

	if (conn->tx.ring.atomic)
		return flush_atomic(conn, more);
	reserves = mpa_params_use_reserves(&conn->params);
	lock_sock(conn->sk);
	ret = push_locked(conn, more);
	release_sock(conn->sk);
	memalloc_noreclaim_restore(reserves);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(mpa_tx_flush, MPA_NS);

/**
 * mpa_tx_set_atomic() - say whether the transmit owner may sleep
 * @conn: connection whose memory for FPDUs is not charged to a cgroup
 * @atomic: the owner may not sleep, until the next call. Allocations then use
 *	only memory that is free at once, and -ENOMEM means no more than that
 *
 * Context: transmit owner.
 */
void mpa_tx_set_atomic(struct mpa_conn *conn, bool atomic)
{
	conn->tx.ring.atomic = atomic;
}
EXPORT_SYMBOL_NS_GPL(mpa_tx_set_atomic, MPA_NS);

/* Stream position behind the last closed FPDU. Context: transmit owner. */
u64 mpa_tx_written(const struct mpa_conn *conn)
{
	return conn->tx.written;
}
EXPORT_SYMBOL_NS_GPL(mpa_tx_written, MPA_NS);

/* Stream position up to which TCP has taken the written octets. */
u64 mpa_tx_accepted(const struct mpa_conn *conn)
{
	return READ_ONCE(conn->tx.plan.accepted);
}
EXPORT_SYMBOL_NS_GPL(mpa_tx_accepted, MPA_NS);

/**
 * mpa_conn_mulpdu() - the MULPDU in force (RFC 5044 sections 3 and 4.5)
 * @conn: connection in Full Operation
 *
 * Return: octets, MPA_MIN_MULPDU..MPA_MAX_ULPDU.
 */
u32 mpa_conn_mulpdu(struct mpa_conn *conn)
{
	return mpa_fpdu_mulpdu(READ_ONCE(conn->tx.plan.emss),
			       conn->tx.writer.markers);
}
EXPORT_SYMBOL_NS_GPL(mpa_conn_mulpdu, MPA_NS);

/*
 * Has hardly anything been written since mpa_tx_is_idle() looked? Otherwise a
 * peer that causes a small message now and then would keep a whole ring, for
 * which no cgroup is charged if the consumer is the kernel.
 */
static bool is_idle(const struct mpa_tx *tx, u64 written)
{
	return written - READ_ONCE(tx->seen) < MPA_TX_LARGE;
}

/**
 * mpa_tx_is_idle() - has hardly anything been written since the last call?
 * @conn: connection
 *
 * Context: socket lock held. Return: whether the transmit owner should call
 * mpa_tx_rest(), which checks again.
 */
bool mpa_tx_is_idle(struct mpa_conn *conn)
{
	struct mpa_tx *tx = &conn->tx;
	u64 written = READ_ONCE(tx->written);
	bool idle = is_idle(tx, written);

	WRITE_ONCE(tx->seen, written);
	return idle;
}

/**
 * mpa_tx_rest() - give back the memory for FPDUs
 * @conn: connection that has had nothing to send for a while
 *
 * mpa_consumer_ops.idle() asks for this call. If FPDUs wait for TCP, the memory
 * stays, and the check is repeated later.
 * Context: transmit owner, without an open FPDU.
 */
void mpa_tx_rest(struct mpa_conn *conn)
{
	struct mpa_tx *tx = &conn->tx;
	unsigned int first;

	if (!tx->store)
		return;
	/* Pairs with extents_accepted(), which is done with these extents */
	first = smp_load_acquire(&tx->plan.first);
	if (is_idle(tx, tx->written) && first == tx->plan.last)
		mpa_tx_free_store(tx);
	else
		tx->busy(conn);
}
EXPORT_SYMBOL_NS_GPL(mpa_tx_rest, MPA_NS);

/* Full Operation begins. Context: socket lock held. */
void mpa_tx_start(struct mpa_conn *conn, void (*busy)(struct mpa_conn *conn))
{
	struct mpa_tx *tx = &conn->tx;

	tx->writer.markers = conn->agreed.tx_markers;
	tx->writer.crc = conn->agreed.crc;
	tx->packing = conn->params.settings.packing;
	if (conn->initiator)
		tx->allowed = true;
	mpa_tx_update_emss(conn);
	update_large(conn);
	tx->busy = busy;
	mpa_tx_init_ring(conn);
	/* Pairs with mpa_tx_room() */
	smp_store_release(&tx->ready, true);
}

/* The last reference to the connection is gone. */
void mpa_tx_free(struct mpa_tx *tx)
{
	writer_drop_held(&tx->writer);
	mpa_plan_free(&tx->plan);
	mpa_tx_free_store(tx);
}

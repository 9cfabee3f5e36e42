// SPDX-License-Identifier: GPL-2.0
/*
 * Transmit: the consumer opens an FPDU, puts its octets and closes it. They
 * land in pages of our own together with Markers, pad and CRC, the CRC taken
 * from that copy: what the application changes meanwhile cannot make CRC and
 * data disagree. mpa_tx_flush() then gives all closed FPDUs to TCP at once.
 *
 * Segments: FPDUs are cut so that they fill TCP's segments exactly; a segment
 * that ends short is ended by an end-of-record mark in TCP (RFC 5044
 * section 5.1: each segment starts with an FPDU). A hand-over ends a segment,
 * because TCP may send what it has before the next one.
 */
#include <linux/gfp.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/uio.h>
#include <net/tcp.h>
#include "conn.h"
#include "crc.h"
#include "fpdu.h"
#include "params.h"
#include "sock.h"

static bool chunk_is_free(struct page *page)
{
	return page && page_ref_count(page) == 1;
}

/* A worker may be the transmit owner: then the kernel knows of no process. */
static struct page *chunk_alloc(const struct mpa_tx *tx)
{
	struct mem_cgroup *active = set_active_memcg(tx->memcg);
	gfp_t gfp = tx->gfp | __GFP_COMP | __GFP_NOWARN, large;
	struct page *page;

	/* Reserves are for what must be had, and the rest need not wait. */
	large = gfp | __GFP_NORETRY;
	if (gfp & __GFP_MEMALLOC)
		large &= ~(__GFP_MEMALLOC | __GFP_DIRECT_RECLAIM);
	page = alloc_pages(large, MPA_TX_CHUNK_ORDER);
	if (!page)
		page = alloc_pages(gfp, 0);
	set_active_memcg(active);
	return page;
}

/* Make the next slot of the ring the one to write to. */
static int chunk_next(struct mpa_tx *tx)
{
	unsigned int slot = (tx->slot + 1) % tx->slots;
	struct page *page = tx->ring[slot];

	if (!chunk_is_free(page)) {
		page = chunk_alloc(tx);
		if (!page)
			return -ENOMEM;
		if (tx->ring[slot])
			put_page(tx->ring[slot]);
		tx->ring[slot] = page;
	}
	tx->slot = slot;
	tx->off = 0;
	tx->size = page_size(page);
	return 0;
}

/* There is no open FPDU any more. */
static void drop_held(struct mpa_tx *tx)
{
	while (tx->held)
		put_page(tx->piece[--tx->held].page);
}

/*
 * Reserve the memory of an FPDU, so that nothing can fail while it is
 * written. What it has in a chunk that is left for the next one is held: the
 * FPDU may go round the ring, or further.
 */
static int reserve(struct mpa_tx *tx, u32 len)
{
	unsigned int n = 0;

	while (len) {
		struct mpa_extent *piece = &tx->piece[n];

		if (tx->off == tx->size && chunk_next(tx))
			goto err_held;
		if (WARN_ON_ONCE(n++ == MPA_TX_PIECES))
			goto err_held;
		piece->page = tx->ring[tx->slot];
		piece->off = tx->off;
		piece->len = min(tx->size - tx->off, len);
		tx->off += piece->len;
		len -= piece->len;
		if (len) {
			get_page(piece->page);
			tx->held++;
		}
	}
	tx->num_pieces = n;
	tx->cur_piece = 0;
	return 0;

err_held:
	drop_held(tx);
	return -ENOMEM;
}

static void extent_append(struct mpa_tx *tx, const struct mpa_extent *piece)
{
	struct mpa_extent *prev;

	if (mpa_tx_pending(tx)) {
		prev = &tx->extent[(tx->last - 1) % MPA_TX_EXTENTS];
		if (!prev->eor && prev->page == piece->page &&
		    prev->off + prev->len == piece->off) {
			prev->len += piece->len;
			return;
		}
	}
	prev = &tx->extent[tx->last % MPA_TX_EXTENTS];
	*prev = *piece;
	prev->mss = tx->mss;
	prev->eor = false;
	get_page(piece->page);
	tx->last++;
}

/* What is written so far ends a segment. */
static void end_record(struct mpa_tx *tx)
{
	if (mpa_tx_pending(tx))
		tx->extent[(tx->last - 1) % MPA_TX_EXTENTS].eor = true;
	else
		tx->planned = tx->accepted;	/* TCP has it already */
}

/* The segment that is being filled ends here. */
static void end_segment(struct mpa_tx *tx)
{
	if (tx->room == tx->emss)
		return;
	tx->room = tx->emss;
	end_record(tx);
}

/**
 * mpa_tx_room() - how large may the next ULPDU be?
 * @conn: connection
 * @min: octets of ULPDU below which the consumer prefers the next segment
 *
 * Ends the segment that is being filled when less than @min is left in it
 * (RFC 5044 section 4.5, SIZ-05). Context: transmit owner.
 *
 * Return: octets, at least @min up to MPA_MIN_MULPDU; 0 when nothing can be
 * written now: call mpa_tx_flush(), and wait for mpa_consumer_ops.writable() when
 * that leaves no room either.
 */
u32 mpa_tx_room(struct mpa_conn *conn, u32 min)
{
	struct mpa_tx *tx = &conn->tx;
	u32 n;

	/* Pairs with mpa_tx_start(): what startup has agreed on is known */
	if (!smp_load_acquire(&tx->ready) || !READ_ONCE(tx->allowed))
		return 0;
	if (tx->written - tx->accepted >= MPA_TX_AHEAD ||
	    tx->last - tx->first > MPA_TX_EXTENTS - MPA_TX_PIECES)
		return 0;
	n = mpa_fpdu_room(tx->room, tx->markers, tx->pos);
	if (n < min) {
		end_segment(tx);
		n = mpa_fpdu_room(tx->room, tx->markers, tx->pos);
	}
	return max(n, MPA_MIN_MULPDU);
}
EXPORT_SYMBOL_NS_GPL(mpa_tx_room, IWMPA);

/* Begin to write the next piece of the open FPDU. */
static void next_piece(struct mpa_tx *tx)
{
	const struct mpa_extent *piece = &tx->piece[tx->cur_piece++];

	tx->out = page_address(piece->page) + piece->off;
	tx->out_left = piece->len;
}

static __always_inline void put_here(struct mpa_tx *tx, const void *src, u32 len)
{
	memcpy(tx->out, src, len);
	tx->out += len;
	tx->out_left -= len;
	tx->pos += len;
}

static __always_inline void put_raw(struct mpa_tx *tx, const void *src, u32 len)
{
	while (unlikely(len > tx->out_left)) {
		u32 n = tx->out_left;

		put_here(tx, src, n);
		src += n;
		len -= n;
		next_piece(tx);
	}
	put_here(tx, src, len);
}

static void write_marker(struct mpa_tx *tx)
{
	__be32 marker = mpa_marker_encode(tx->pos, tx->start);

	put_raw(tx, &marker, sizeof(marker));
}

/* A Marker, where one is due. */
static __always_inline void put_marker(struct mpa_tx *tx)
{
	if (tx->markers && !mpa_marker_gap(tx->pos))
		write_marker(tx);
}

/**
 * mpa_tx_put() - write the next octets of the open ULPDU
 * @conn: connection with an open FPDU
 * @src: kernel address
 * @len: octets; all calls together must come to the length that was opened
 *
 * Context: transmit owner.
 */
void mpa_tx_put(struct mpa_conn *conn, const void *src, u32 len)
{
	struct mpa_tx *tx = &conn->tx;

	if (!tx->markers) {
		put_raw(tx, src, len);
		return;
	}
	while (len) {
		u32 n;

		put_marker(tx);
		n = min(len, mpa_marker_gap(tx->pos));
		put_raw(tx, src, n);
		src += n;
		len -= n;
	}
}
EXPORT_SYMBOL_NS_GPL(mpa_tx_put, IWMPA);

/**
 * mpa_tx_put_iter() - write the next octets of the open ULPDU from a program
 * @conn: connection with an open FPDU
 * @from: where they are
 * @len: octets; as for mpa_tx_put()
 *
 * Context: process, socket lock held.
 * Return: 0, or -EFAULT: mpa_tx_cancel() has to follow.
 */
int mpa_tx_put_iter(struct mpa_conn *conn, struct iov_iter *from, u32 len)
{
	struct mpa_tx *tx = &conn->tx;

	while (len) {
		u32 n = len;

		put_marker(tx);
		if (tx->markers)
			n = min(n, mpa_marker_gap(tx->pos));
		if (!tx->out_left)
			next_piece(tx);
		n = min(n, tx->out_left);
		if (!copy_from_iter_full(tx->out, n, from))
			return -EFAULT;
		tx->out += n;
		tx->out_left -= n;
		tx->pos += n;
		len -= n;
	}
	return 0;
}

/* The segment has less room by this FPDU. */
static void fill_segment(struct mpa_conn *conn, u32 wire)
{
	struct mpa_tx *tx = &conn->tx;

	tx->room_before = tx->room;
	if (unlikely(wire > tx->room)) {
		mpa_count(conn, MPA_STAT_TX_UNALIGNED, 1);
		tx->room = 0;
		return;
	}
	tx->room -= wire;
	if (!tx->room && tx->mss == tx->emss)
		tx->room = tx->emss;	/* TCP cuts here by itself */
}

/**
 * mpa_tx_open() - begin an FPDU
 * @conn: connection
 * @hdr: first octets of the ULPDU: what the consumer puts before its payload
 * @hdr_len: octets of @hdr
 * @ulpdu_len: octets of the ULPDU, @hdr included, up to MPA_MAX_ULPDU. More
 *	than mpa_tx_room() said is framed correctly, but across segments
 *	(DDP-04)
 *
 * Context: transmit owner, may sleep.
 * Return: 0, -EMSGSIZE for a ULPDU over MPA_MAX_ULPDU (DDP-03) or -ENOMEM;
 * nothing is begun then.
 */
int mpa_tx_open(struct mpa_conn *conn, const void *hdr, u32 hdr_len,
		u32 ulpdu_len)
{
	__be16 len = cpu_to_be16(ulpdu_len);
	struct mpa_tx *tx = &conn->tx;
	u32 wire;
	int ret;

	if (unlikely(ulpdu_len > MPA_MAX_ULPDU))
		return -EMSGSIZE;
	wire = mpa_fpdu_wire_len(ulpdu_len, tx->markers, tx->pos);
	ret = reserve(tx, wire);
	if (unlikely(ret))
		return ret;
	fill_segment(conn, wire);
	tx->start = tx->pos;
	tx->wire = wire;
	next_piece(tx);
	put_marker(tx);
	put_raw(tx, &len, sizeof(len));
	mpa_tx_put(conn, hdr, hdr_len);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(mpa_tx_open, IWMPA);

/* The CRC over what the open FPDU holds so far: all but the CRC field. */
static __be32 fpdu_crc(const struct mpa_tx *tx)
{
	u32 left = tx->pos - tx->start;
	union mpa_crc crc;
	unsigned int i;

	if (tx->num_pieces == 1)
		return mpa_crc_digest(page_address(tx->piece[0].page) +
				      tx->piece[0].off, left);
	mpa_crc_start(&crc);
	for (i = 0; left; i++) {
		const struct mpa_extent *piece = &tx->piece[i];
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
	static const u8 pad[3];
	u32 wire = tx->wire;
	unsigned int i;
	__be32 crc = 0;

	/*
	 * What is reserved and not written yet is pad, CRC field and the
	 * Markers between: no more than one, since they are 7 octets at most.
	 */
	mpa_tx_put(conn, pad, (wire - (tx->pos - tx->start)) % 4);
	put_marker(tx);
	if (tx->crc)
		crc = fpdu_crc(tx);
	put_raw(tx, &crc, sizeof(crc));

	for (i = 0; i < tx->num_pieces; i++)
		extent_append(tx, &tx->piece[i]);
	drop_held(tx);
	tx->written += wire;
	tx->fpdus++;
	if (unlikely(!tx->packing))
		end_segment(tx);
}
EXPORT_SYMBOL_NS_GPL(mpa_tx_close, IWMPA);

/**
 * mpa_tx_cancel() - take the open FPDU back
 * @conn: connection with an open FPDU
 *
 * As if it had never been opened. Context: transmit owner.
 */
void mpa_tx_cancel(struct mpa_conn *conn)
{
	struct mpa_tx *tx = &conn->tx;

	drop_held(tx);
	tx->pos = tx->start;
	tx->room = tx->room_before;
}
EXPORT_SYMBOL_NS_GPL(mpa_tx_cancel, IWMPA);

/* What TCP gets at once. */
struct slice {
	u32 len;
	bool eor;	/* its segment is ended by hand */
	bool lost;	/* it does not go out in the segment planned for it */
};

/*
 * All of an extent, as long as TCP cuts where the segments were planned. When
 * TCP has larger segments by now, or has cut one that was not full, one
 * segment of the plan at a time, each ended by hand: so alignment comes back
 * with the first of them (RFC 5044 Appendix A.1). When its segments are
 * smaller, nothing helps before the end of what was planned.
 */
static struct slice next_slice(struct mpa_conn *conn,
			       const struct mpa_extent *ext, u32 mss)
{
	struct slice slice = { .len = ext->len, .eor = ext->eor };
	struct sock *sk = conn->sk;
	u32 fill = mpa_sock_fill(sk, mss);
	struct mpa_tx *tx = &conn->tx;
	u32 size = round_down(ext->mss, 4);
	u32 used;

	if (unlikely(size > mss)) {
		slice.lost = true;
		return slice;
	}
	div_u64_rem(tx->accepted - tx->planned, size, &used);
	if (unlikely(fill && !used)) {
		mpa_sock_end_record(sk);
		fill = 0;
	}
	if (likely(fill == used && ext->mss == mss))
		return slice;
	/* What TCP sent early was whole FPDUs, if it had nothing else. */
	slice.lost = fill != used && (fill || tx->accepted != tx->whole);
	if (slice.len >= size - used) {
		slice.len = size - used;
		slice.eor = true;
	}
	return slice;
}

/* Count the segments of the plan that end in what TCP has just taken. */
static void count_lost(struct mpa_conn *conn, u32 size, u32 len, bool eor)
{
	u64 before = conn->tx.accepted - conn->tx.planned;
	u32 rest, n;

	n = div_u64_rem(before + len, size, &rest) - div_u64(before, size);
	mpa_count(conn, MPA_STAT_TX_UNALIGNED, n + (eor && rest));
}

/* TCP has octets of the oldest extent. */
static void extent_accepted(struct mpa_tx *tx, struct mpa_extent *ext, u32 len)
{
	tx->accepted += len;
	ext->off += len;
	ext->len -= len;
	if (ext->len)
		return;
	put_page(ext->page);
	tx->first++;
}

/* Give TCP what waits, oldest first. */
static int push_extents(struct mpa_conn *conn, u32 mss, bool more)
{
	struct sock *sk = conn->sk;
	struct mpa_tx *tx = &conn->tx;

	while (mpa_tx_pending(tx)) {
		struct mpa_extent *ext = &tx->extent[tx->first %
						     MPA_TX_EXTENTS];
		struct slice slice = next_slice(conn, ext, mss);
		bool last = tx->first + 1 == tx->last && slice.len == ext->len;
		int ret;

		ret = mpa_sock_send_page(conn, ext->page, ext->off, slice.len,
					 more || !last);
		if (ret < 0)
			return ret;
		slice.eor = slice.eor && ret == slice.len;
		if (unlikely(slice.lost))
			count_lost(conn, round_down(ext->mss, 4), ret,
				   slice.eor);
		extent_accepted(tx, ext, ret);
		if (slice.eor) {
			mpa_sock_end_record(sk);
			tx->planned = tx->accepted;
		}
	}
	return 0;
}

/* A new EMSS counts for what is written from now on. */
static void set_emss(struct mpa_tx *tx, u32 mss)
{
	if (mss == tx->mss)
		return;
	end_record(tx);
	tx->mss = mss;
	tx->emss = round_down(mss, 4);
	tx->room = tx->emss;
}

/**
 * mpa_tx_push() - hand what is written to TCP
 * @conn: connection
 * @more: the transmit owner has more to write at once
 *
 * Context: process, socket lock held.
 * Return: 0 when TCP has taken everything; -EAGAIN when the socket is full
 * (mpa_consumer_ops.writable() follows); another errno when it is dead.
 */
int mpa_tx_push(struct mpa_conn *conn, bool more)
{
	u32 mss = mpa_sock_emss(conn->sk);
	struct mpa_tx *tx = &conn->tx;
	u64 before = tx->accepted;
	int ret;

	/* On a program's socket TCP may be told to wait for more. */
	if (conn->sock || (!more && !tx->nagle))
		end_segment(tx);
	ret = push_extents(conn, mss, more);
	set_emss(tx, mss);
	if (!ret)
		tx->whole = tx->accepted;
	if (ret == -EAGAIN)
		mpa_count(conn, MPA_STAT_TX_BLOCKED, 1);
	if (tx->accepted == before)
		return ret;
	mpa_count(conn, MPA_STAT_TX_BATCHES, 1);
	mpa_count(conn, MPA_STAT_TX_FPDUS, tx->fpdus);
	tx->fpdus = 0;
	mpa_count(conn, MPA_STAT_TX_OCTETS, tx->accepted - before);
	return ret;
}

/* The EMSS may have changed. Context: socket lock held. */
void mpa_tx_update_emss(struct mpa_conn *conn)
{
	set_emss(&conn->tx, mpa_sock_emss(conn->sk));
}

/**
 * mpa_tx_flush() - hand what is written to TCP
 * @conn: connection
 * @more: more will be written at once
 *
 * Context: transmit owner, process; takes the socket lock.
 * Return: as mpa_tx_push(); -EPIPE when the connection is closed.
 */
int mpa_tx_flush(struct mpa_conn *conn, bool more)
{
	unsigned int reserves = mpa_params_use_reserves(&conn->params);
	struct sock *sk = conn->sk;
	int ret = -EPIPE;

	lock_sock(sk);
	if (conn->tx.ready)
		ret = mpa_tx_push(conn, more);
	release_sock(sk);
	memalloc_noreclaim_restore(reserves);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(mpa_tx_flush, IWMPA);

/* Stream position behind the last closed FPDU. Context: transmit owner. */
u64 mpa_tx_written(const struct mpa_conn *conn)
{
	return conn->tx.written;
}
EXPORT_SYMBOL_NS_GPL(mpa_tx_written, IWMPA);

/* Stream position up to which TCP has taken what was written. */
u64 mpa_tx_accepted(const struct mpa_conn *conn)
{
	return READ_ONCE(conn->tx.accepted);
}
EXPORT_SYMBOL_NS_GPL(mpa_tx_accepted, IWMPA);

/**
 * mpa_conn_mulpdu() - the MULPDU in force (RFC 5044 sections 3 and 4.5)
 * @conn: connection in Full Operation
 *
 * Return: octets, MPA_MIN_MULPDU..MPA_MAX_ULPDU.
 */
u32 mpa_conn_mulpdu(struct mpa_conn *conn)
{
	return mpa_fpdu_mulpdu(READ_ONCE(conn->tx.emss), conn->tx.markers);
}
EXPORT_SYMBOL_NS_GPL(mpa_conn_mulpdu, IWMPA);

/* Full Operation begins. Context: socket lock held. */
void mpa_tx_start(struct mpa_conn *conn)
{
	struct mpa_tx *tx = &conn->tx;

	tx->markers = conn->agreed.tx_markers;
	tx->crc = conn->agreed.crc;
	tx->packing = conn->params.packing;
	if (conn->initiator)
		tx->allowed = true;
	mpa_tx_update_emss(conn);
	/* Storage may be above and below us: no I/O to get memory. */
	tx->slots = conn->sock ? MPA_TX_RING : MPA_TX_RING_PROGRAM;
	tx->gfp = conn->sock ? GFP_NOIO : GFP_KERNEL;
	tx->memcg = conn->memcg;
	if (tx->memcg)
		tx->gfp |= __GFP_ACCOUNT;
	if (conn->params.memalloc)
		tx->gfp |= __GFP_MEMALLOC;
	/* Pairs with mpa_tx_room() */
	smp_store_release(&tx->ready, true);
}

/* The last reference to the connection is gone. */
void mpa_tx_free(struct mpa_tx *tx)
{
	unsigned int i;

	drop_held(tx);
	for (; mpa_tx_pending(tx); tx->first++)
		put_page(tx->extent[tx->first % MPA_TX_EXTENTS].page);
	for (i = 0; i < MPA_TX_RING; i++)
		if (tx->ring[i])
			put_page(tx->ring[i]);
}

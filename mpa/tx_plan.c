// SPDX-License-Identifier: GPL-2.0
/*
 * Segments: FPDUs are cut so that they fill TCP's segments exactly; an
 * end-of-record mark in TCP ends a segment that is not full (RFC 5044
 * section 5.1: each segment starts with an FPDU). Each hand-over ends a
 * segment, because TCP may send its octets before the next hand-over.
 */
#include <linux/math64.h>
#include <linux/mm.h>
#include <net/tcp.h>
#include "conn.h"
#include "sock.h"
#include "tx_plan.h"

/* Octets that TCP gets in one call. */
struct slice {
	u32 len;
	bool eor;	/* end its segment by an end-of-record mark */
	bool planned;	/* TCP cuts where the segments were planned */
	bool lost;	/* TCP does not send it in its planned segment */
};

/*
 * Choose the octets for the next call. If TCP cuts where the segments were
 * planned, take all of the extent. If TCP's segments have become larger, or TCP
 * has cut one that was not full, take one planned segment and end it by a mark:
 * this restores alignment (RFC 5044 Appendix A.1). If TCP's segments have become
 * smaller, alignment is lost until the planned octets are sent.
 */
static struct slice next_slice(struct mpa_conn *conn,
			       const struct mpa_extent *ext, u32 mss)
{
	struct slice slice = { .len = ext->len, .eor = ext->eor };
	struct sock *sk = conn->sk;
	u32 fill = mpa_sock_fill(sk, mss);
	struct mpa_plan *plan = &conn->tx.plan;
	u32 size = mpa_plan_segment(ext->mss);
	u32 used;

	if (unlikely(size > mss)) {
		slice.lost = true;
		return slice;
	}
	div_u64_rem(plan->accepted - plan->planned, size, &used);
	if (unlikely(fill && !used)) {
		mpa_sock_end_record(sk);
		fill = 0;
	}
	slice.planned = fill == used && ext->mss == mss;
	if (likely(slice.planned))
		return slice;
	/* An early segment held whole FPDUs if TCP had nothing else. */
	slice.lost = fill != used && (fill || plan->accepted != plan->whole);
	if (slice.len >= size - used) {
		slice.len = size - used;
		slice.eor = true;
	}
	return slice;
}

/* Describe the octets of an extent, the first of which is at @pos. */
static void extent_describe(const struct mpa_plan *plan,
			    const struct mpa_extent *ext, u64 pos,
			    struct mpa_sock_paged *paged)
{
	paged->page = ext->page;
	paged->off = ext->off;
	paged->size = mpa_plan_segment(ext->mss);
	paged->full = false;
	div_u64_rem(pos - plan->planned, paged->size, &paged->used);
}

/* TCP takes @len octets of the slice in this call. */
static void slice_cut(struct slice *slice, const struct mpa_sock_paged *paged,
		      u32 len)
{
	if (len == slice->len)
		return;
	slice->len = len;
	slice->eor = paged->full;
}

static void piece_add(struct mpa_sock_piece *piece,
		      const struct mpa_extent *ext, u32 len)
{
	bvec_set_page(&piece->part[piece->num_parts++], ext->page, len,
		      ext->off);
	piece->len += len;
}

/*
 * Let further extents join the oldest one, whose slice has been added to
 * @piece. @slice becomes that of the last extent.
 */
static void join_extents(struct mpa_conn *conn, struct mpa_sock_paged *paged,
			 struct slice *slice, struct mpa_sock_piece *piece)
{
	struct mpa_plan *plan = &conn->tx.plan;
	const struct mpa_extent *ext = mpa_plan_extent(plan, plan->first);
	const u32 mss = ext->mss;
	unsigned int i;
	u32 len;

	for (i = plan->first + 1; i != plan->last; i++) {
		if (slice->len != ext->len || slice->eor)
			return;
		ext = mpa_plan_extent(plan, i);
		if (ext->mss != mss)
			return;
		extent_describe(plan, ext, plan->accepted + piece->len, paged);
		len = mpa_sock_join(conn->sk, paged, piece, ext->len);
		if (!len)
			return;
		slice->len = ext->len;
		slice->eor = ext->eor;
		slice_cut(slice, paged, len);
		piece_add(piece, ext, len);
	}
}

/*
 * Give TCP no more octets than its buffer has fragments for. Otherwise it would
 * begin another buffer in the middle of a segment.
 */
static void fit_piece(struct mpa_conn *conn, const struct mpa_extent *ext,
		      struct slice *slice, struct mpa_sock_piece *piece)
{
	struct mpa_plan *plan = &conn->tx.plan;
	struct mpa_sock_paged paged = { };

	extent_describe(plan, ext, plan->accepted, &paged);
	slice_cut(slice, &paged, mpa_sock_fit(conn->sk, &paged, slice->len));
	piece_add(piece, ext, slice->len);
	if (likely(slice->planned))
		join_extents(conn, &paged, slice, piece);
}

/* Count the planned segments that end in the @len octets TCP has just taken. */
static void count_unaligned(struct mpa_conn *conn, u32 size, u32 len, bool eor)
{
	const struct mpa_plan *plan = &conn->tx.plan;
	u64 before = plan->accepted - plan->planned;
	u32 rest, n;

	n = div_u64_rem(before + len, size, &rest) - div_u64(before, size);
	mpa_count(conn, MPA_STAT_TX_UNALIGNED, n + (eor && rest));
}

/* TCP has taken octets of the oldest extents. */
static void extents_accepted(struct mpa_plan *plan, u32 len)
{
	plan->accepted += len;
	while (len) {
		struct mpa_extent *ext = mpa_plan_extent(plan, plan->first);
		u32 n = min(len, ext->len);

		len -= n;
		ext->off += n;
		ext->len -= n;
		if (ext->len)
			return;
		put_page(ext->page);
		/* Pairs with mpa_tx_rest(): the extent is not read any more */
		smp_store_release(&plan->first, plan->first + 1);
	}
}

/**
 * mpa_plan_push() - give TCP the waiting extents, oldest first
 * @conn: connection
 * @mss: TCP's effective MSS
 * @more: more octets follow at once
 *
 * Context: process or softirq, socket lock held.
 * Return: 0 when TCP has taken everything, -EAGAIN when it has no room, or
 * another errno.
 */
int mpa_plan_push(struct mpa_conn *conn, u32 mss, bool more)
{
	struct sock *sk = conn->sk;
	struct mpa_plan *plan = &conn->tx.plan;

	while (mpa_plan_pending(plan)) {
		struct mpa_extent *ext = mpa_plan_extent(plan, plan->first);
		struct slice slice = next_slice(conn, ext, mss);
		struct mpa_sock_piece piece = { .more = more };
		int ret;

		if (MPA_FRAG_IS_PAGE)
			fit_piece(conn, ext, &slice, &piece);
		else
			piece_add(&piece, ext, slice.len);
		piece.ends = slice.eor;
		piece.rest = conn->tx.written - plan->accepted - piece.len;
		ret = mpa_sock_send_pages(conn, &piece);
		if (ret < 0)
			return ret;
		slice.eor = slice.eor && ret == piece.len;
		if (unlikely(slice.lost))
			count_unaligned(conn, mpa_plan_segment(ext->mss), ret,
					slice.eor);
		extents_accepted(plan, ret);
		if (slice.eor) {
			mpa_sock_end_record(sk);
			plan->planned = plan->accepted;
		}
	}
	return 0;
}

/*
 * A new EMSS counts for FPDUs that are written from now on.
 * Context: socket lock held.
 */
void mpa_plan_set_mss(struct mpa_plan *plan, u32 mss)
{
	if (mss == plan->mss)
		return;
	mpa_plan_end_record(plan);
	plan->mss = mss;
	plan->emss = mpa_plan_segment(mss);
	plan->room = plan->emss;
}

/* The last reference to the connection is gone. */
void mpa_plan_free(struct mpa_plan *plan)
{
	for (; mpa_plan_pending(plan); plan->first++)
		put_page(mpa_plan_extent(plan, plan->first)->page);
}

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
	bool lost;	/* TCP does not send it in its planned segment */
};

/*
 * Choose the octets for the next call. As long as TCP cuts where the segments
 * were planned: all of the extent. When TCP's segments have become larger, or
 * TCP has cut one that was not full: one planned segment at a time, each ended
 * by a mark, so that the first of them restores alignment (RFC 5044 Appendix
 * A.1). When TCP's segments have become smaller, alignment is lost until the
 * end of the planned octets.
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
	if (likely(fill == used && ext->mss == mss))
		return slice;
	/* An early segment held whole FPDUs if TCP had nothing else. */
	slice.lost = fill != used && (fill || plan->accepted != plan->whole);
	if (slice.len >= size - used) {
		slice.len = size - used;
		slice.eor = true;
	}
	return slice;
}

/*
 * Give TCP no more octets than its buffer has fragments for. Otherwise it would
 * begin another buffer in the middle of a segment.
 */
static void slice_fit(struct mpa_conn *conn, const struct mpa_extent *ext,
		      struct slice *slice)
{
	const struct mpa_plan *plan = &conn->tx.plan;
	struct mpa_sock_paged paged = {
		.page = ext->page,
		.off = ext->off,
		.size = mpa_plan_segment(ext->mss),
	};
	u32 len;

	div_u64_rem(plan->accepted - plan->planned, paged.size, &paged.used);
	len = mpa_sock_fit(conn->sk, &paged, slice->len);
	if (len == slice->len)
		return;
	slice->len = len;
	slice->eor = paged.full;
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

/* TCP has taken octets of the oldest extent. */
static void extent_accepted(struct mpa_plan *plan, struct mpa_extent *ext,
			    u32 len)
{
	plan->accepted += len;
	ext->off += len;
	ext->len -= len;
	if (ext->len)
		return;
	put_page(ext->page);
	/* Pairs with mpa_tx_rest(): the extent is not read any more */
	smp_store_release(&plan->first, plan->first + 1);
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
		struct mpa_extent *ext = &plan->extent[plan->first %
						       MPA_PLAN_EXTENTS];
		struct slice slice = next_slice(conn, ext, mss);
		struct mpa_sock_piece piece = {
			.page = ext->page,
			.off = ext->off,
			.more = more,
		};
		int ret;

		if (MPA_FRAG_IS_PAGE)
			slice_fit(conn, ext, &slice);
		piece.len = slice.len;
		piece.ends = slice.eor;
		piece.rest = conn->tx.written - plan->accepted - slice.len;
		ret = mpa_sock_send_page(conn, &piece);
		if (ret < 0)
			return ret;
		slice.eor = slice.eor && ret == slice.len;
		if (unlikely(slice.lost))
			count_unaligned(conn, mpa_plan_segment(ext->mss), ret,
					slice.eor);
		extent_accepted(plan, ext, ret);
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
		put_page(plan->extent[plan->first % MPA_PLAN_EXTENTS].page);
}

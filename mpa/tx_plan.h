/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The plan of TCP's segments: where each of them ends in the written stream,
 * and which octets TCP has not taken yet.
 */
#ifndef MPA_TX_PLAN_H
#define MPA_TX_PLAN_H

#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/types.h>
#include "compat.h"
#include "sock.h"

struct mpa_conn;

/*
 * Octets of a planned segment when TCP's have up to @mss: a buffer always has
 * enough fragments for one. A mark ends each segment of another size than @mss.
 */
static inline u32 mpa_plan_segment(u32 mss)
{
	return round_down(MPA_FRAG_IS_PAGE ? min(mss, MPA_MAX_PAGED) : mss, 4);
}

#define MPA_PLAN_EXTENTS	64	/* power of two */

/* Octets in one chunk that wait for TCP. Holds a page reference. */
struct mpa_extent {
	struct page *page;
	u32 off;
	u32 len;
	u32 mss;		/* TCP's MSS when they were written */
	bool eor;		/* a TCP segment ends behind it */
};

/**
 * struct mpa_plan - segments of a connection's stream
 * @mss: TCP's effective MSS at the last hand-over. If it differs from @emss, an
 *	end-of-record mark ends each segment
 * @emss: octets of a planned segment: mpa_plan_segment()
 * @room: octets left in the TCP segment that is being filled
 * @room_before: @room before the open FPDU
 * @accepted: stream position up to which TCP has taken the stream
 * @planned: stream position, up to @accepted, where a planned segment starts;
 *	from there on each is @emss long up to an extent's end of record
 * @whole: @accepted after the last push in which TCP took everything: the end
 *	of an FPDU
 * @first: index of the oldest extent, modulo MPA_PLAN_EXTENTS
 * @last: index behind the newest one
 * @extent: MPA_PLAN_EXTENTS of them in the transmitter's store: octets that TCP
 *	has not taken, in order
 *
 * Written by the transmit owner, and under the socket lock in a hand-over, which
 * the worker does once a FIN is wanted.
 */
struct mpa_plan {
	u32 mss;
	u32 emss;
	u32 room;
	u32 room_before;
	u64 accepted;
	u64 planned;
	u64 whole;
	unsigned int first;
	unsigned int last;
	struct mpa_extent *extent;
};

int mpa_plan_push(struct mpa_conn *conn, u32 mss, bool more);
void mpa_plan_set_mss(struct mpa_plan *plan, u32 mss);
void mpa_plan_free(struct mpa_plan *plan);

/* Are there extents that TCP has not taken? */
static inline bool mpa_plan_pending(const struct mpa_plan *plan)
{
	return plan->first != plan->last;
}

/* The extent with index @i. */
static inline struct mpa_extent *mpa_plan_extent(const struct mpa_plan *plan,
						 unsigned int i)
{
	return &plan->extent[i % MPA_PLAN_EXTENTS];
}

/* Free extents. */
static inline unsigned int mpa_plan_left(const struct mpa_plan *plan)
{
	return MPA_PLAN_EXTENTS - (plan->last - plan->first);
}

/* Add @piece to the extents that wait for TCP. */
static inline void mpa_plan_append(struct mpa_plan *plan,
				   const struct mpa_extent *piece)
{
	struct mpa_extent *prev;

	if (mpa_plan_pending(plan)) {
		prev = mpa_plan_extent(plan, plan->last - 1);
		if (!prev->eor && prev->page == piece->page &&
		    prev->off + prev->len == piece->off) {
			prev->len += piece->len;
			return;
		}
	}
	prev = mpa_plan_extent(plan, plan->last);
	*prev = *piece;
	prev->mss = plan->mss;
	prev->eor = false;
	get_page(piece->page);
	plan->last++;
}

/* The octets written so far end a segment. */
static inline void mpa_plan_end_record(struct mpa_plan *plan)
{
	if (mpa_plan_pending(plan))
		mpa_plan_extent(plan, plan->last - 1)->eor = true;
	else
		plan->planned = plan->accepted;	/* TCP has it already */
}

/* End the segment that is being filled, unless it is empty. */
static inline void mpa_plan_end_segment(struct mpa_plan *plan)
{
	if (plan->room == plan->emss)
		return;
	plan->room = plan->emss;
	mpa_plan_end_record(plan);
}

/*
 * Take an FPDU's octets from the room of the segment that is being filled.
 * False: the FPDU lies across segments.
 */
static inline bool mpa_plan_fill(struct mpa_plan *plan, u32 wire)
{
	plan->room_before = plan->room;
	if (unlikely(wire > plan->room)) {
		plan->room = 0;
		return false;
	}
	plan->room -= wire;
	if (!plan->room && plan->mss == plan->emss)
		plan->room = plan->emss;	/* TCP cuts here by itself */
	return true;
}

#endif /* MPA_TX_PLAN_H */

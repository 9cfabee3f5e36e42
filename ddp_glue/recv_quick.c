// SPDX-License-Identifier: GPL-2.0
/*
 * The fast path of receiving, for the segments that carry nearly all octets, if
 * they lie in one piece: segments of a Write, and those from the middle of a
 * Read Response or a Send. A few comparisons show that a segment is good, and
 * it is placed.
 *
 * Nothing is refused here. A segment that is not certainly good is left to
 * recv.c, which checks it fully.
 */
#include <mpa/compat.h>
#include <mpa/cursor.h>
#include "mem.h"
#include "place.h"
#include "recv.h"
#include "sq.h"
#include "trace.h"

/**
 * struct quick_segment - a segment, and the memory for its payload
 * @ctrl: both control octets, XORed with the stream's version bits
 * @hdr_len: octets of the header
 * @len: octets of payload
 * @stag: memory region
 * @addr: address (Tagged Offset) in it
 * @access: IB_ACCESS_* right that the segment needs
 * @pd: protection domain that the region must belong to
 */
struct quick_segment {
	u32 ctrl;
	u32 hdr_len;
	u32 len;
	u32 stag;
	u64 addr;
	int access;
	struct ib_pd *pd;
};

#define QUICK_CTRL(ddp, rdmap)	((ddp) << 8 | (rdmap))
#define QUICK_VERSION		QUICK_CTRL(1, 1 << RDMAP_VERSION_SHIFT)
#define QUICK_LAST		QUICK_CTRL(DDP_CTRL_LAST, 0)
#define QUICK_WRITE		QUICK_CTRL(DDP_CTRL_TAGGED, RDMAP_WRITE)
#define QUICK_RESPONSE		QUICK_CTRL(DDP_CTRL_TAGGED, RDMAP_READ_RESPONSE)
#define QUICK_SEND		QUICK_CTRL(0, RDMAP_SEND)

/* Does it continue the oldest outstanding Read without completing it? */
static bool quick_response(struct iwm_qp *qp, const struct quick_segment *seg)
{
	const struct iwm_read_sink *sink = iwm_sq_oldest_read(qp);
	u32 done = qp->rx->read_done;

	return sink && seg->stag == sink->stag && seg->addr == sink->to + done &&
	       seg->len < sink->len - done;
}

static bool quick_tagged(struct iwm_qp *qp, struct quick_segment *seg)
{
	seg->hdr_len = DDP_TAGGED_HDR_LEN;
	seg->len -= DDP_TAGGED_HDR_LEN;
	seg->pd = qp->ibqp.pd;
	if (likely((seg->ctrl & ~QUICK_LAST) == QUICK_WRITE)) {
		seg->access = READ_ONCE(qp->rx->write_right);
		return true;
	}
	seg->access = IB_ACCESS_LOCAL_WRITE;
	return seg->ctrl == QUICK_RESPONSE && quick_response(qp, seg);
}

/*
 * Does it continue the Send that is being received, within one element of its
 * buffer and without filling that? @queue: QN and MSN
 */
static bool quick_send(const struct iwm_rx *rx, struct quick_segment *seg,
		       u64 queue, u32 mo)
{
	const struct iwm_sge *sge = &rx->rwr.sge[rx->sge];

	seg->hdr_len = DDP_UNTAGGED_HDR_LEN;
	seg->len -= DDP_UNTAGGED_HDR_LEN;
	if (seg->ctrl != QUICK_SEND || !rx->bound ||
	    queue != rx->msn[RDMAP_QN_SEND] || mo != rx->mo || !seg->len ||
	    seg->len >= rx->rwr.len - mo || seg->len >= sge->len - rx->sge_off)
		return false;
	seg->stag = sge->lkey;
	seg->addr = sge->addr + rx->sge_off;
	seg->access = IB_ACCESS_LOCAL_WRITE;
	seg->pd = rx->pd;
	return true;
}

/*
 * Is this a segment that needs only to be placed? Each octet of its header is
 * read once, because a peer on this machine may still change it.
 */
static bool quick_find(struct iwm_qp *qp, const u8 *hdr,
		       struct quick_segment *seg)
{
	u32 mo = get_unaligned_be32(hdr + DDP_HDR_MO);

	seg->ctrl = get_unaligned_be16(hdr + DDP_HDR_DDP_CTRL) ^
		    iwm_qp_version(qp) * QUICK_VERSION;
	seg->stag = get_unaligned_be32(hdr + DDP_HDR_STAG);
	seg->addr = get_unaligned_be64(hdr + DDP_HDR_TO);
	barrier();	/* use only the copies from here on */
	if (seg->ctrl & QUICK_CTRL(DDP_CTRL_TAGGED, 0))
		return quick_tagged(qp, seg);
	return quick_send(qp->rx, seg, seg->addr, mo);
}

static bool quick_place(struct iwm_qp *qp, struct mpa_cursor *cur,
			const struct quick_segment *seg)
{
	struct iwm_mr *mr = iwm_mr_cached(qp->dev, &qp->rx->mr, seg->stag);

	/* recv.c handles regions that are lent to another peer. */
	return mr && !iwm_mr_is_lent_elsewhere(mr, &qp->ibqp) &&
	       !iwm_mr_check(mr, seg->pd, seg->addr, seg->len, seg->access) &&
	       !iwm_place(mr, seg->addr, cur, seg->len);
}

/* Update the state and the counters after the placement. */
static void quick_placed(struct iwm_qp *qp, const struct quick_segment *seg)
{
	struct iwm_rx *rx = qp->rx;

	WRITE_ONCE(rx->segments, rx->segments + 1);
	if (seg->ctrl == (QUICK_WRITE | QUICK_LAST)) {
		iwm_count(qp->dev, IWM_STAT_RX_WRITES);
	} else if (seg->ctrl == QUICK_RESPONSE) {
		rx->read_done += seg->len;
	} else if (seg->ctrl == QUICK_SEND) {
		rx->sge_off += seg->len;
		rx->mo += seg->len;
	}
}

/**
 * iwm_receive_quick() - receive a segment if it is a simple one
 * @qp: the QP
 * @cur: cursor over the ULPDU
 * @len: octets in it
 *
 * Context: softirq or process, socket lock held.
 * Return: whether the segment has been received. If not, the cursor is
 * unchanged, and the only possible effect is that payload was placed.
 */
bool iwm_receive_quick(struct iwm_qp *qp, struct mpa_cursor *cur, u32 len)
{
	const u8 *ulpdu = cur->ptr;
	struct quick_segment seg;

	/*
	 * recv.c traces them: a tracepoint here costs even when it is off. The
	 * longest header is asked for, so recv.c also gets empty segments.
	 */
	if (trace_iwm_place_enabled() ||
	    !mpa_cursor_whole(cur, DDP_MAX_HDR_LEN))
		return false;
	seg.len = len;
	if (!quick_find(qp, ulpdu, &seg))
		return false;
	mpa_cursor_pass(cur, seg.hdr_len);
	if (unlikely(!quick_place(qp, cur, &seg))) {
		mpa_cursor_rewind(cur, ulpdu, len);
		return false;
	}
	quick_placed(qp, &seg);
	return true;
}

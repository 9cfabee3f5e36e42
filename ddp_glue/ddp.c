// SPDX-License-Identifier: GPL-2.0
/*
 * DDP segment headers (RFC 5041 section 4).
 */
#include <mpa/pure.h>

#include "ddp.h"
#include "rdmap.h"

static int segment_fail(struct rdmap_error *err, __u8 layer, __u8 etype,
			__u8 ecode)
{
	err->layer = layer;
	err->etype = etype;
	err->ecode = ecode;
	return -EPROTO;
}

static void untagged_build(__u8 *hdr, const struct ddp_segment *seg)
{
	__u32 inval = rdmap_invalidates(seg->opcode) ? seg->stag : 0;

	put_unaligned_be32(inval, hdr + DDP_HDR_STAG);
	put_unaligned_be32(seg->qn, hdr + DDP_HDR_QN);
	put_unaligned_be32(seg->msn, hdr + DDP_HDR_MSN);
	put_unaligned_be32(seg->mo, hdr + DDP_HDR_MO);
}

static void tagged_build(__u8 *hdr, const struct ddp_segment *seg)
{
	put_unaligned_be32(seg->stag, hdr + DDP_HDR_STAG);
	put_unaligned_be64(seg->to, hdr + DDP_HDR_TO);
}

/**
 * ddp_segment_build() - write a segment's header
 * @hdr: room for DDP_MAX_HDR_LEN octets, any alignment
 * @seg: the header; @seg->hdr_len and @seg->payload_len are ignored.
 *       The Invalidate STag field is written for the two Sends that have
 *       one, and zero otherwise (RFC 5040 section 4.1)
 * @version: DDP and RDMAP version, 0 or 1
 *
 * Return: octets written, 14 (tagged) or 18 (untagged).
 */
__u32 ddp_segment_build(__u8 *hdr, const struct ddp_segment *seg,
			__u8 version)
{
	__u8 ctrl = version;

	if (seg->tagged)
		ctrl |= DDP_CTRL_TAGGED;
	if (seg->last)
		ctrl |= DDP_CTRL_LAST;
	hdr[DDP_HDR_DDP_CTRL] = ctrl;
	hdr[DDP_HDR_RDMAP_CTRL] = version << RDMAP_VERSION_SHIFT | seg->opcode;
	if (seg->tagged)
		tagged_build(hdr, seg);
	else
		untagged_build(hdr, seg);
	return ddp_hdr_len(ctrl);
}

static void segment_decode(const __u8 *hdr, __u32 ulpdu_len,
			   struct ddp_segment *seg)
{
	seg->opcode = hdr[DDP_HDR_RDMAP_CTRL] & RDMAP_CTRL_OPCODE;
	seg->tagged = hdr[DDP_HDR_DDP_CTRL] & DDP_CTRL_TAGGED;
	seg->last = hdr[DDP_HDR_DDP_CTRL] & DDP_CTRL_LAST;
	seg->hdr_len = ddp_hdr_len(hdr[DDP_HDR_DDP_CTRL]);
	seg->payload_len = ulpdu_len - seg->hdr_len;
	seg->stag = get_unaligned_be32(hdr + DDP_HDR_STAG);
	if (seg->tagged) {
		seg->to = get_unaligned_be64(hdr + DDP_HDR_TO);
		return;
	}
	seg->qn = get_unaligned_be32(hdr + DDP_HDR_QN);
	seg->msn = get_unaligned_be32(hdr + DDP_HDR_MSN);
	seg->mo = get_unaligned_be32(hdr + DDP_HDR_MO);
}

/* The first octet has the version, which decides whether we know the header. */
static int control_check(const __u8 *hdr, __u8 version,
			 struct rdmap_error *err)
{
	__u8 ctrl = hdr[DDP_HDR_DDP_CTRL];

	if ((ctrl & DDP_CTRL_VERSION) == version)
		return 0;
	if (ctrl & DDP_CTRL_TAGGED)
		return segment_fail(err, TERM_LAYER_DDP, DDP_ETYPE_TAGGED,
				    DDP_ECODE_T_VERSION);
	return segment_fail(err, TERM_LAYER_DDP, DDP_ETYPE_UNTAGGED,
			    DDP_ECODE_UT_VERSION);
}

/*
 * The checks of RFC 5041 section 7.1 that need only the segment. The buffers of
 * the Read Request queue are RDMAP's own and 28 octets long. Messages on queues
 * 1 and 2 have one segment, so that only MO 0 is legal.
 */
static int untagged_check(const struct ddp_segment *seg,
			  struct rdmap_error *err)
{
	if (seg->qn >= RDMAP_NUM_QUEUES)
		return segment_fail(err, TERM_LAYER_DDP, DDP_ETYPE_UNTAGGED,
				    DDP_ECODE_UT_INVALID_QN);
	if (seg->qn == RDMAP_QN_SEND)
		return 0;
	if (seg->mo)
		return segment_fail(err, TERM_LAYER_DDP, DDP_ETYPE_UNTAGGED,
				    DDP_ECODE_UT_INVALID_MO);
	if (seg->qn == RDMAP_QN_READ_REQUEST &&
	    seg->payload_len > RDMAP_READ_REQUEST_LEN)
		return segment_fail(err, TERM_LAYER_DDP, DDP_ETYPE_UNTAGGED,
				    DDP_ECODE_UT_TOO_LONG);
	return 0;
}

/**
 * ddp_segment_parse() - read and check a segment's header
 * @hdr: the ULPDU's first octets, at least min(@ulpdu_len, 18) of them, any
 *       alignment
 * @ulpdu_len: octets of the whole ULPDU, any value
 * @version: the DDP and RDMAP version of this stream, 0 or 1
 * @seg: set to the header in host order; not valid on error
 * @err: set on error: the error that the Terminate must report
 *
 * Checks everything that needs no state, DDP's part before RDMAP's: the
 * versions, the queue, the opcode and all lengths. The caller must check STag,
 * TO, MSN and, for queue 0, MO against its state.
 *
 * Return: 0, or -EPROTO with @err set.
 */
int ddp_segment_parse(const __u8 *hdr, __u32 ulpdu_len, __u8 version,
		      struct ddp_segment *seg, struct rdmap_error *err)
{
	int ret;

	memset(seg, 0, sizeof(*seg));
	if (!ulpdu_len)
		return rdmap_unspecified(err);
	ret = control_check(hdr, version, err);
	if (ret)
		return ret;
	if (ulpdu_len < ddp_hdr_len(hdr[DDP_HDR_DDP_CTRL]))
		return rdmap_unspecified(err);

	segment_decode(hdr, ulpdu_len, seg);
	if (!seg->tagged) {
		ret = untagged_check(seg, err);
		if (ret)
			return ret;
	}
	return rdmap_segment_check(hdr[DDP_HDR_RDMAP_CTRL], version, seg, err);
}

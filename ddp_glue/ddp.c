// SPDX-License-Identifier: GPL-2.0
/*
 * DDP segment headers (RFC 5041 section 4).
 */
#include <mpa/pure.h>

#include "ddp.h"

static void untagged_build(__u8 *hdr, const struct ddp_segment *seg)
{
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
 * ddp_segment_build() - write DDP's part of a segment's header
 * @hdr: room for DDP_MAX_HDR_LEN octets, any alignment; those of RsvdULP are
 *       left alone
 * @seg: the header; @seg->hdr_len and @seg->payload_len are ignored
 * @version: DDP version, 0 or 1
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
	if (seg->tagged)
		tagged_build(hdr, seg);
	else
		untagged_build(hdr, seg);
	return ddp_hdr_len(ctrl);
}

static void segment_decode(const __u8 *hdr, __u32 ulpdu_len,
			   struct ddp_segment *seg)
{
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

/**
 * ddp_segment_parse() - read DDP's part of a segment's header
 * @hdr: the ULPDU's first octets, at least min(@ulpdu_len, 18) of them, any
 *       alignment
 * @ulpdu_len: octets of the whole ULPDU, any value
 * @version: the DDP version of this stream, 0 or 1
 * @seg: set to the header in host order; on error only @seg->tagged is valid
 *
 * Return: 0; -EPROTONOSUPPORT for another version, whose header is unknown;
 * -EMSGSIZE when the ULPDU ends within its header.
 */
int ddp_segment_parse(const __u8 *hdr, __u32 ulpdu_len, __u8 version,
		      struct ddp_segment *seg)
{
	memset(seg, 0, sizeof(*seg));
	if (!ulpdu_len)
		return -EMSGSIZE;
	seg->tagged = hdr[DDP_HDR_DDP_CTRL] & DDP_CTRL_TAGGED;
	if ((hdr[DDP_HDR_DDP_CTRL] & DDP_CTRL_VERSION) != version)
		return -EPROTONOSUPPORT;
	if (ulpdu_len < ddp_hdr_len(hdr[DDP_HDR_DDP_CTRL]))
		return -EMSGSIZE;
	segment_decode(hdr, ulpdu_len, seg);
	return 0;
}

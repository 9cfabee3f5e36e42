/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DDP segments (RFC 5041): build and parse headers. Pure: octets in, a struct
 * or an error out.
 */
#ifndef DDP_GLUE_DDP_H
#define DDP_GLUE_DDP_H

#include <ddp/wire.h>

/* Offsets of the header fields, RFC 5041 Figures 4 and 5. */
#define DDP_HDR_DDP_CTRL	0u
#define DDP_HDR_ULP_CTRL	1u	/* RsvdULP */
#define DDP_HDR_STAG		2u	/* untagged: RsvdULP */
#define DDP_HDR_TO		6u
#define DDP_HDR_QN		6u
#define DDP_HDR_MSN		10u
#define DDP_HDR_MO		14u

/**
 * struct ddp_segment - one DDP segment header in host order
 * @opcode: RDMAP's, in RsvdULP, which DDP does not look at
 * @tagged: DDP's T bit
 * @last: DDP's L bit
 * @hdr_len: octets of the header, 14 or 18
 * @payload_len: octets behind the header
 * @stag: tagged: the sink's STag; untagged: the four octets of RsvdULP
 * @to: tagged: Tagged Offset
 * @qn: untagged: queue number
 * @msn: untagged: Message Sequence Number
 * @mo: untagged: Message Offset
 */
struct ddp_segment {
	__u8 opcode;
	bool tagged;
	bool last;
	__u8 hdr_len;
	__u32 payload_len;
	__u32 stag;
	__u64 to;
	__u32 qn;
	__u32 msn;
	__u32 mo;
};

/* Octets of the DDP header that starts with control octet @ddp_ctrl. */
static inline __u32 ddp_hdr_len(__u8 ddp_ctrl)
{
	return ddp_ctrl & DDP_CTRL_TAGGED ? DDP_TAGGED_HDR_LEN :
					    DDP_UNTAGGED_HDR_LEN;
}

__u32 ddp_segment_build(__u8 *hdr, const struct ddp_segment *seg,
			__u8 version);
int ddp_segment_parse(const __u8 *hdr, __u32 ulpdu_len, __u8 version,
		      struct ddp_segment *seg);

#endif /* DDP_GLUE_DDP_H */

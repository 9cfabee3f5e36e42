/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DDP segments and RDMAP messages (RFC 5041, RFC 5040): build, parse and check
 * headers. Pure: octets in, a struct or an error out.
 */
#ifndef DDP_GLUE_DDP_H
#define DDP_GLUE_DDP_H

#include <ddp/wire.h>

/* Offsets of the header fields, RFC 5041 Figures 4 and 5. */
#define DDP_HDR_DDP_CTRL	0u
#define DDP_HDR_RDMAP_CTRL	1u
#define DDP_HDR_STAG	2u	/* untagged: Invalidate STag */
#define DDP_HDR_TO		6u
#define DDP_HDR_QN		6u
#define DDP_HDR_MSN		10u
#define DDP_HDR_MO		14u

/**
 * struct rdmap_error - the error that a Terminate carries
 * @layer: enum rdmap_term_layer
 * @etype: error type of that layer
 * @ecode: error code of that type
 */
struct rdmap_error {
	__u8 layer;
	__u8 etype;
	__u8 ecode;
};

/**
 * struct rdmap_fault - the reason for a Terminate
 * @err: layer, type and code
 * @ddp_hdr: the DDP header of the segment at fault, or NULL
 * @ddp_len: octets of that segment (the ULPDU), at most 65535
 * @read_hdr: the Read Request header at fault, or NULL
 */
struct rdmap_fault {
	struct rdmap_error err;
	const __u8 *ddp_hdr;
	__u32 ddp_len;
	const __u8 *read_hdr;
};

/**
 * struct ddp_segment - one DDP segment header in host order
 * @opcode: enum rdmap_opcode
 * @tagged: DDP's T bit
 * @last: DDP's L bit
 * @hdr_len: octets of the header, 14 or 18
 * @payload_len: octets behind the header
 * @stag: tagged: the sink's STag; untagged: the Invalidate STag field
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

/**
 * struct rdmap_read - an RDMA Read Request in host order
 * @sink_stag: STag of the requester's buffer
 * @sink_to: Tagged Offset there
 * @size: octets to read
 * @source_stag: STag of the responder's buffer
 * @source_to: Tagged Offset there
 */
struct rdmap_read {
	__u32 sink_stag;
	__u64 sink_to;
	__u32 size;
	__u32 source_stag;
	__u64 source_to;
};

/* Octets of the DDP header that starts with control octet @ddp_ctrl. */
static inline __u32 ddp_hdr_len(__u8 ddp_ctrl)
{
	return ddp_ctrl & DDP_CTRL_TAGGED ? DDP_TAGGED_HDR_LEN :
					    DDP_UNTAGGED_HDR_LEN;
}

/* Do messages with this opcode carry an Invalidate STag? */
static inline bool rdmap_invalidates(__u8 opcode)
{
	return opcode == RDMAP_SEND_INVAL || opcode == RDMAP_SEND_SE_INVAL;
}

__u32 ddp_segment_build(__u8 *hdr, const struct ddp_segment *seg,
			__u8 version);
int ddp_segment_parse(const __u8 *hdr, __u32 ulpdu_len, __u8 version,
		      struct ddp_segment *seg, struct rdmap_error *err);
int rdmap_segment_check(__u8 ctrl, __u8 version,
			const struct ddp_segment *seg,
			struct rdmap_error *err);
int rdmap_unspecified(struct rdmap_error *err);

void rdmap_read_build(__u8 *body, const struct rdmap_read *rr);
void rdmap_read_parse(const __u8 *body, struct rdmap_read *rr);

__u32 rdmap_terminate_build(__u8 *body, const struct rdmap_fault *fault);
int rdmap_terminate_parse(const __u8 *body, __u32 len,
			  struct rdmap_error *err);

#endif /* DDP_GLUE_DDP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMAP messages (RFC 5040) in DDP segments: build, parse and check the headers
 * of segments, Read Requests and Terminates. Pure: octets in, a struct or an
 * error out.
 */
#ifndef DDP_GLUE_RDMAP_H
#define DDP_GLUE_RDMAP_H

#include <ddp/rdmap.h>

struct ddp_segment;

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

/* Do messages with this opcode carry an Invalidate STag? */
static inline bool rdmap_invalidates(__u8 opcode)
{
	return opcode == RDMAP_SEND_INVAL || opcode == RDMAP_SEND_SE_INVAL;
}

__u32 rdmap_segment_build(__u8 *hdr, const struct ddp_segment *seg,
			  __u8 version);
int rdmap_segment_parse(const __u8 *hdr, __u32 ulpdu_len, __u8 version,
			struct ddp_segment *seg, struct rdmap_error *err);

void rdmap_read_build(__u8 *body, const struct rdmap_read *rr);
void rdmap_read_parse(const __u8 *body, struct rdmap_read *rr);

__u32 rdmap_terminate_build(__u8 *body, const struct rdmap_fault *fault);
int rdmap_terminate_parse(const __u8 *body, __u32 len,
			  struct rdmap_error *err);

#endif /* DDP_GLUE_RDMAP_H */

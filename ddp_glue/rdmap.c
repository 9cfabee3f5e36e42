// SPDX-License-Identifier: GPL-2.0
/*
 * RDMAP (RFC 5040): the opcode table, its part of a segment's header, the Read
 * Request and Terminate headers.
 */
#include <mpa/pure.h>

#include "ddp.h"
#include "rdmap.h"

/* Offsets in a Read Request, RFC 5040 Figure 6. */
#define READ_SINK_STAG		0u
#define READ_SINK_TO		4u
#define READ_SIZE		12u
#define READ_SOURCE_STAG	16u
#define READ_SOURCE_TO		20u

/**
 * struct opcode_rule - a row of RFC 5040 Figure 4
 * @tagged: Tagged Flag
 * @qn: Queue Number, untagged messages only
 */
struct opcode_rule {
	bool tagged;
	__u8 qn;
};

static const struct opcode_rule opcode_rules[RDMAP_NUM_OPCODES] = {
	[RDMAP_WRITE]		= { .tagged = true },
	[RDMAP_READ_REQUEST]	= { .qn = RDMAP_QN_READ_REQUEST },
	[RDMAP_READ_RESPONSE]	= { .tagged = true },
	[RDMAP_SEND]		= { .qn = RDMAP_QN_SEND },
	[RDMAP_SEND_INVAL]	= { .qn = RDMAP_QN_SEND },
	[RDMAP_SEND_SE]		= { .qn = RDMAP_QN_SEND },
	[RDMAP_SEND_SE_INVAL]	= { .qn = RDMAP_QN_SEND },
	[RDMAP_TERMINATE]	= { .qn = RDMAP_QN_TERMINATE },
};

static int error_set(struct rdmap_error *err, __u8 layer, __u8 etype,
		     __u8 ecode)
{
	err->layer = layer;
	err->etype = etype;
	err->ecode = ecode;
	return -EPROTO;
}

static int operation_error(struct rdmap_error *err, __u8 ecode)
{
	return error_set(err, TERM_LAYER_RDMAP, RDMAP_ETYPE_OPERATION, ecode);
}

static int untagged_error(struct rdmap_error *err, __u8 ecode)
{
	return error_set(err, TERM_LAYER_DDP, DDP_ETYPE_UNTAGGED, ecode);
}

static int version_error(struct rdmap_error *err, bool tagged)
{
	if (!tagged)
		return untagged_error(err, DDP_ECODE_UT_VERSION);
	return error_set(err, TERM_LAYER_DDP, DDP_ETYPE_TAGGED,
			 DDP_ECODE_T_VERSION);
}

/*
 * For a ULPDU that ends within a header, and for a Read Request or Terminate
 * that is cut short. DDP's codes refer to the fields of a complete header
 * (section 7.2 of RFC 5041), and its only other type, Local Catastrophic, would
 * blame this side. Unspecified is RDMAP's code for any other fault of the peer.
 */
static int unspecified_error(struct rdmap_error *err)
{
	return operation_error(err, RDMAP_ECODE_UNSPECIFIED);
}

/*
 * The checks of RFC 5041 section 7.1 that need only the segment and the queues
 * that RDMAP has. The buffers of the Read Request queue are RDMAP's own and 28
 * octets long. Messages on queues 1 and 2 have one segment, so that only MO 0
 * is legal.
 */
static int queue_check(const struct ddp_segment *seg, struct rdmap_error *err)
{
	if (seg->qn >= RDMAP_NUM_QUEUES)
		return untagged_error(err, DDP_ECODE_UT_INVALID_QN);
	if (seg->qn == RDMAP_QN_SEND)
		return 0;
	if (seg->mo)
		return untagged_error(err, DDP_ECODE_UT_INVALID_MO);
	if (seg->qn == RDMAP_QN_READ_REQUEST &&
	    seg->payload_len > RDMAP_READ_REQUEST_LEN)
		return untagged_error(err, DDP_ECODE_UT_TOO_LONG);
	return 0;
}

/*
 * Does the opcode fit the queue, which exists, and the Tagged flag? DDP cannot
 * check that, because RsvdULP is opaque to it: RDMAP reports a mismatch as an
 * unexpected opcode.
 */
static bool opcode_expected(const struct ddp_segment *seg)
{
	const struct opcode_rule *rule;

	if (seg->opcode >= RDMAP_NUM_OPCODES)
		return false;
	rule = &opcode_rules[seg->opcode];
	if (rule->tagged != seg->tagged)
		return false;
	return seg->tagged || rule->qn == seg->qn;
}

/*
 * Read Request and Terminate are shorter than the smallest MULPDU, so that
 * each is one segment with the L bit. A message that continues after its last
 * legal octet is longer than DDP's buffer for it.
 */
static int header_check(const struct ddp_segment *seg,
			struct rdmap_error *err)
{
	switch (seg->opcode) {
	case RDMAP_READ_REQUEST:
		if (seg->payload_len != RDMAP_READ_REQUEST_LEN)
			return unspecified_error(err);
		if (!seg->last)
			return untagged_error(err, DDP_ECODE_UT_TOO_LONG);
		return 0;
	case RDMAP_TERMINATE:
		if (seg->payload_len < RDMAP_TERM_CTRL_LEN || !seg->last)
			return unspecified_error(err);
		return 0;
	default:
		return 0;
	}
}

/**
 * rdmap_segment_build() - write a segment's header
 * @hdr: room for DDP_MAX_HDR_LEN octets, any alignment
 * @seg: the header; @seg->hdr_len and @seg->payload_len are ignored.
 *       The Invalidate STag field is written for the two Sends that have
 *       one, and zero otherwise (RFC 5040 section 4.1)
 * @version: DDP and RDMAP version, 0 or 1
 *
 * Return: octets written, 14 (tagged) or 18 (untagged).
 */
__u32 rdmap_segment_build(__u8 *hdr, const struct ddp_segment *seg,
			  __u8 version)
{
	hdr[DDP_HDR_ULP_CTRL] = version << RDMAP_VERSION_SHIFT | seg->opcode;
	if (!seg->tagged)
		put_unaligned_be32(rdmap_invalidates(seg->opcode) ?
				   seg->stag : 0, hdr + DDP_HDR_STAG);
	return ddp_segment_build(hdr, seg, version);
}

/**
 * rdmap_segment_parse() - read and check a segment's header
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
int rdmap_segment_parse(const __u8 *hdr, __u32 ulpdu_len, __u8 version,
			struct ddp_segment *seg, struct rdmap_error *err)
{
	int ret = ddp_segment_parse(hdr, ulpdu_len, version, seg);
	__u8 ctrl;

	if (ret == -EPROTONOSUPPORT)
		return version_error(err, seg->tagged);
	if (ret)
		return unspecified_error(err);
	if (!seg->tagged) {
		ret = queue_check(seg, err);
		if (ret)
			return ret;
	}
	ctrl = hdr[DDP_HDR_ULP_CTRL];
	seg->opcode = ctrl & RDMAP_CTRL_OPCODE;
	if ((ctrl & RDMAP_CTRL_VERSION) >> RDMAP_VERSION_SHIFT != version)
		return operation_error(err, RDMAP_ECODE_VERSION);
	if (!opcode_expected(seg))
		return operation_error(err, RDMAP_ECODE_OPCODE);
	return header_check(seg, err);
}

/**
 * rdmap_read_build() - write a Read Request header
 * @body: room for RDMAP_READ_REQUEST_LEN octets, any alignment
 * @rr: the header
 */
void rdmap_read_build(__u8 *body, const struct rdmap_read *rr)
{
	put_unaligned_be32(rr->sink_stag, body + READ_SINK_STAG);
	put_unaligned_be64(rr->sink_to, body + READ_SINK_TO);
	put_unaligned_be32(rr->size, body + READ_SIZE);
	put_unaligned_be32(rr->source_stag, body + READ_SOURCE_STAG);
	put_unaligned_be64(rr->source_to, body + READ_SOURCE_TO);
}

/**
 * rdmap_read_parse() - read a Read Request header
 * @body: RDMAP_READ_REQUEST_LEN octets, any alignment
 * @rr: set to the header in host order
 */
void rdmap_read_parse(const __u8 *body, struct rdmap_read *rr)
{
	rr->sink_stag = get_unaligned_be32(body + READ_SINK_STAG);
	rr->sink_to = get_unaligned_be64(body + READ_SINK_TO);
	rr->size = get_unaligned_be32(body + READ_SIZE);
	rr->source_stag = get_unaligned_be32(body + READ_SOURCE_STAG);
	rr->source_to = get_unaligned_be64(body + READ_SOURCE_TO);
}

/* The headers that Figure 10 and section 4.8 require in a Terminate. */
static __u8 terminate_headers(const struct rdmap_error *err)
{
	switch (err->layer) {
	case TERM_LAYER_RDMAP:
		if (err->etype == RDMAP_ETYPE_PROTECTION)
			return RDMAP_TERM_M | RDMAP_TERM_D | RDMAP_TERM_R;
		if (err->etype == RDMAP_ETYPE_OPERATION)
			return RDMAP_TERM_M | RDMAP_TERM_D;
		return 0;
	case TERM_LAYER_DDP:
		if (err->etype == DDP_ETYPE_CATASTROPHIC)
			return 0;
		return RDMAP_TERM_M | RDMAP_TERM_D;
	default:
		return 0;
	}
}

/**
 * rdmap_terminate_build() - write a Terminate header
 * @body: room for RDMAP_TERM_MAX_LEN octets
 * @fault: the error, and the headers at fault
 *
 * Includes a header of @fault, with its M, D and R bits, only if RFC 5040
 * Figure 10 allows it for this error. The reserved bits are zero.
 *
 * Return: octets written, 4 to RDMAP_TERM_MAX_LEN.
 */
__u32 rdmap_terminate_build(__u8 *body, const struct rdmap_fault *fault)
{
	const struct rdmap_error *err = &fault->err;
	__u8 hdrct = terminate_headers(err);
	__u32 len = RDMAP_TERM_CTRL_LEN;

	if (!fault->ddp_hdr)
		hdrct &= ~(RDMAP_TERM_M | RDMAP_TERM_D);
	if (!fault->read_hdr)
		hdrct &= ~RDMAP_TERM_R;

	body[0] = err->layer << 4 | (err->etype & 0xf);
	body[1] = err->ecode;
	body[2] = hdrct;
	body[3] = 0;
	if (hdrct & RDMAP_TERM_D) {
		__u32 hdr_len = ddp_hdr_len(fault->ddp_hdr[0]);

		put_unaligned_be16(fault->ddp_len, body + len);
		memcpy(body + len + 2, fault->ddp_hdr, hdr_len);
		len += 2 + hdr_len;
	}
	if (hdrct & RDMAP_TERM_R) {
		memcpy(body + len, fault->read_hdr, RDMAP_READ_REQUEST_LEN);
		len += RDMAP_READ_REQUEST_LEN;
	}
	return len;
}

/**
 * rdmap_terminate_parse() - read the control field of a received Terminate
 * @body: the Terminate header, @len octets
 * @len: any value; the headers behind the control field are ignored
 * @err: set to layer, type and code, which may be values that no RFC defines
 *
 * Return: 0, or -EPROTO when there is no control field.
 */
int rdmap_terminate_parse(const __u8 *body, __u32 len,
			  struct rdmap_error *err)
{
	if (len < RDMAP_TERM_CTRL_LEN)
		return -EPROTO;
	err->layer = body[0] >> 4;
	err->etype = body[0] & 0xf;
	err->ecode = body[1];
	return 0;
}

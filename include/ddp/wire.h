/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DDP (RFC 5041) and RDMAP (RFC 5040) on the wire: segment headers,
 * opcodes, the Terminate header and its codes.
 *
 * This header compiles in the kernel and in user space.
 */
#ifndef DDP_WIRE_H
#define DDP_WIRE_H

#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/compiler_attributes.h>
#include <linux/types.h>
#else
#include <user/wire_user.h>
#endif

/* DDP control field, RFC 5041 section 4.1 */
#define DDP_CTRL_TAGGED		0x80
#define DDP_CTRL_LAST		0x40
#define DDP_CTRL_RSVD		0x3c
#define DDP_CTRL_VERSION	0x03
#define DDP_VERSION		1
#define DDP_VERSION_RDMAC	0	/* RDMA Consortium; RDMAP's likewise */

/* RDMAP control field, RFC 5040 section 4.1 */
#define RDMAP_CTRL_VERSION	0xc0
#define RDMAP_CTRL_OPCODE	0x0f
#define RDMAP_VERSION_SHIFT	6
#define RDMAP_VERSION		1

enum rdmap_opcode {
	RDMAP_WRITE		= 0x0,
	RDMAP_READ_REQUEST	= 0x1,
	RDMAP_READ_RESPONSE	= 0x2,
	RDMAP_SEND		= 0x3,
	RDMAP_SEND_INVAL	= 0x4,
	RDMAP_SEND_SE		= 0x5,
	RDMAP_SEND_SE_INVAL	= 0x6,
	RDMAP_TERMINATE		= 0x7,
	RDMAP_NUM_OPCODES
};

/* Untagged queues, RFC 5040 section 4.2 */
enum ddp_queue {
	DDP_QN_SEND		= 0,
	DDP_QN_READ_REQUEST	= 1,
	DDP_QN_TERMINATE	= 2,
	DDP_NUM_QUEUES
};

struct ddp_tagged_hdr {
	__u8 ddp_ctrl;
	__u8 rdmap_ctrl;
	__be32 stag;
	__be64 to;
} __packed;

struct ddp_untagged_hdr {
	__u8 ddp_ctrl;
	__u8 rdmap_ctrl;
	__be32 inval_stag;	/* Send with Invalidate only, else reserved */
	__be32 qn;
	__be32 msn;
	__be32 mo;
} __packed;

/* RDMA Read Request header, RFC 5040 section 4.4 */
struct rdmap_read_request {
	__be32 sink_stag;
	__be64 sink_to;
	__be32 size;
	__be32 source_stag;
	__be64 source_to;
} __packed;

#define DDP_TAGGED_HDR_LEN	14u
#define DDP_UNTAGGED_HDR_LEN	18u
#define RDMAP_READ_REQUEST_LEN	28u
#define DDP_MAX_HDR_LEN		DDP_UNTAGGED_HDR_LEN

/* Terminate header, RFC 5040 section 4.8 */
struct rdmap_terminate_ctrl {
	__u8 layer_etype;	/* layer in the high four bits */
	__u8 ecode;
	__u8 hdrct;		/* M, D, R in the high three bits */
	__u8 reserved;
};

#define RDMAP_TERM_M		0x80	/* DDP Segment Length valid */
#define RDMAP_TERM_D		0x40	/* DDP header included */
#define RDMAP_TERM_R		0x20	/* RDMAP header included */
#define RDMAP_TERM_CTRL_LEN	4u
#define RDMAP_TERM_MAX_LEN	(RDMAP_TERM_CTRL_LEN + 2 + \
				 DDP_UNTAGGED_HDR_LEN + RDMAP_READ_REQUEST_LEN)

enum rdmap_term_layer {
	TERM_LAYER_RDMAP	= 0,
	TERM_LAYER_DDP		= 1,
	TERM_LAYER_LLP		= 2,
};

enum rdmap_etype {
	RDMAP_ETYPE_LOCAL	= 0,	/* local catastrophic */
	RDMAP_ETYPE_PROTECTION	= 1,	/* remote protection */
	RDMAP_ETYPE_OPERATION	= 2,	/* remote operation */
};

enum rdmap_ecode {
	RDMAP_ECODE_INVALID_STAG	= 0x00,
	RDMAP_ECODE_BOUNDS		= 0x01,
	RDMAP_ECODE_ACCESS		= 0x02,
	RDMAP_ECODE_STAG_NOT_ASSOC	= 0x03,
	RDMAP_ECODE_TO_WRAP		= 0x04,
	RDMAP_ECODE_VERSION		= 0x05,
	RDMAP_ECODE_OPCODE		= 0x06,
	RDMAP_ECODE_CATASTROPHIC_STREAM	= 0x07,
	RDMAP_ECODE_CATASTROPHIC_GLOBAL	= 0x08,
	RDMAP_ECODE_CANNOT_INVALIDATE	= 0x09,
	RDMAP_ECODE_UNSPECIFIED		= 0xff,
};

enum ddp_etype {
	DDP_ETYPE_CATASTROPHIC	= 0,
	DDP_ETYPE_TAGGED	= 1,
	DDP_ETYPE_UNTAGGED	= 2,
	DDP_ETYPE_LLP		= 3,
};

enum ddp_tagged_ecode {
	DDP_ECODE_T_INVALID_STAG	= 0x00,
	DDP_ECODE_T_BOUNDS		= 0x01,
	DDP_ECODE_T_STAG_NOT_ASSOC	= 0x02,
	DDP_ECODE_T_TO_WRAP		= 0x03,
	DDP_ECODE_T_VERSION		= 0x04,
};

enum ddp_untagged_ecode {
	DDP_ECODE_UT_INVALID_QN		= 0x01,
	DDP_ECODE_UT_MSN_NO_BUFFER	= 0x02,
	DDP_ECODE_UT_MSN_RANGE		= 0x03,
	DDP_ECODE_UT_INVALID_MO		= 0x04,
	DDP_ECODE_UT_TOO_LONG		= 0x05,
	DDP_ECODE_UT_VERSION		= 0x06,
};

enum llp_etype {
	LLP_ETYPE_MPA		= 0,	/* codes: enum mpa_error */
};

static_assert(sizeof(struct ddp_tagged_hdr) == DDP_TAGGED_HDR_LEN, "tagged");
static_assert(sizeof(struct ddp_untagged_hdr) == DDP_UNTAGGED_HDR_LEN,
	      "untagged");
static_assert(sizeof(struct rdmap_read_request) == RDMAP_READ_REQUEST_LEN,
	      "Read Request");
static_assert(sizeof(struct rdmap_terminate_ctrl) == RDMAP_TERM_CTRL_LEN,
	      "Terminate control");

#endif /* DDP_WIRE_H */

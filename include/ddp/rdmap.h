/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMAP on the wire (RFC 5040): opcodes, queues, the Read Request header, the
 * Terminate header and its codes. The codes of DDP are in wire.h, those of MPA
 * in enum mpa_error.
 *
 * This header compiles in the kernel and in user space.
 */
#ifndef DDP_RDMAP_H
#define DDP_RDMAP_H

#include <ddp/wire.h>

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

/* RDMAP's queues for untagged messages, RFC 5040 section 4.2 */
enum rdmap_queue {
	RDMAP_QN_SEND		= 0,
	RDMAP_QN_READ_REQUEST	= 1,
	RDMAP_QN_TERMINATE	= 2,
	RDMAP_NUM_QUEUES
};

/* RDMA Read Request header, RFC 5040 section 4.4 */
struct rdmap_read_request {
	__be32 sink_stag;
	__be64 sink_to;
	__be32 size;
	__be32 source_stag;
	__be64 source_to;
} __packed;

#define RDMAP_READ_REQUEST_LEN	28u

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

/* Error types and codes of RDMAP: layer 0 */
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

/* Error types of the LLP: layer 2 */
enum llp_etype {
	LLP_ETYPE_MPA		= 0,	/* codes: enum mpa_error */
};

static_assert(sizeof(struct rdmap_read_request) == RDMAP_READ_REQUEST_LEN,
	      "Read Request");
static_assert(sizeof(struct rdmap_terminate_ctrl) == RDMAP_TERM_CTRL_LEN,
	      "Terminate control");

#endif /* DDP_RDMAP_H */

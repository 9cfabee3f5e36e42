/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DDP on the wire (RFC 5041): segment headers and error codes.
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

#define DDP_TAGGED_HDR_LEN	14u
#define DDP_UNTAGGED_HDR_LEN	18u
#define DDP_MAX_HDR_LEN		DDP_UNTAGGED_HDR_LEN

/* Error types and codes of DDP in a Terminate: layer 1 */
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

static_assert(sizeof(struct ddp_tagged_hdr) == DDP_TAGGED_HDR_LEN, "tagged");
static_assert(sizeof(struct ddp_untagged_hdr) == DDP_UNTAGGED_HDR_LEN,
	      "untagged");

#endif /* DDP_WIRE_H */

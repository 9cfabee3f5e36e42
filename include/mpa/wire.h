/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MPA on the wire: RFC 5044 framing, Markers and startup frames, and the
 * enhanced connection data of RFC 6581.
 *
 * This header compiles in the kernel and in user space.
 */
#ifndef MPA_WIRE_H
#define MPA_WIRE_H

#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/types.h>
#else
#include <user/wire_user.h>
#endif

/* FPDU, RFC 5044 section 4.1 */
#define MPA_HDR_LEN		2u	/* ULPDU_Length */
#define MPA_CRC_LEN		4u
#define MPA_MAX_ULPDU		64768u	/* octets, section 3 */
#define MPA_MIN_MULPDU		128u	/* octets, section 3 */

/* Markers, RFC 5044 sections 4.2 and 4.3 */
#define MPA_MARKER_LEN		4u
#define MPA_MARKER_INTERVAL	512u	/* octets of TCP sequence space */
#define MPA_MARKER_SPAN		(MPA_MARKER_INTERVAL - MPA_MARKER_LEN)
#define MPA_FPDUPTR_MASK	0xfffcu	/* the low two bits count as zero */

struct mpa_marker {
	__be16 reserved;
	__be16 fpduptr;
};

/* Request and Reply frames, RFC 5044 section 7.1.1 */
#define MPA_KEY_LEN		16
#define MPA_KEY_REQUEST		"MPA ID Req Frame"
#define MPA_KEY_REPLY		"MPA ID Rep Frame"
#define MPA_MAX_PRIVATE_DATA	512u	/* octets */

#define MPA_FLAG_MARKERS	0x80	/* M */
#define MPA_FLAG_CRC		0x40	/* C */
#define MPA_FLAG_REJECT		0x20	/* R */
#define MPA_FLAG_ENHANCED	0x10	/* S, RFC 6581 */
/*
 * Reserved in RFC 5044 and RFC 6581. siw has the same bit (MPA_RR_FLAG_GSO_EXP)
 * for the same purpose: the sender of the frame takes FPDUs larger than a TCP
 * segment, and sends them to a peer that says so too.
 */
#define MPA_FLAG_LARGE		0x08

#define MPA_REV_RDMAC		0	/* RDMA Consortium, Appendix C */
#define MPA_REV_IETF		1	/* RFC 5044 */
#define MPA_REV_ENHANCED	2	/* RFC 6581 */

struct mpa_startup_hdr {
	__u8 key[MPA_KEY_LEN];
	__u8 flags;
	__u8 rev;
	__be16 pd_len;
};

#define MPA_STARTUP_HDR_LEN	20u
#define MPA_STARTUP_MAX_LEN	(MPA_STARTUP_HDR_LEN + MPA_MAX_PRIVATE_DATA)

/* Enhanced RDMA Connection Establishment data, RFC 6581 section 9 */
#define MPA_ENH_LEN		4u
#define MPA_ENH_DEPTH_MASK	0x3fffu
#define MPA_ENH_NO_DEPTH	0x3fffu	/* "not negotiated" */
#define MPA_ENH_IRD_P2P		0x8000u	/* A: peer-to-peer model */
#define MPA_ENH_IRD_RTR_SEND	0x4000u	/* B: zero-length Send as RTR */
#define MPA_ENH_ORD_RTR_WRITE	0x8000u	/* C: zero-length Write as RTR */
#define MPA_ENH_ORD_RTR_READ	0x4000u	/* D: zero-length Read as RTR */

struct mpa_enhanced {
	__be16 ird;
	__be16 ord;
};

static_assert(sizeof(struct mpa_marker) == 4, "Marker is four octets");
static_assert(sizeof(struct mpa_startup_hdr) == 20, "startup header");
static_assert(sizeof(struct mpa_enhanced) == 4, "enhanced data");

/* Error codes of the LLP (MPA) in a Terminate: layer 2, type 0 */
enum mpa_error {
	MPA_ERR_NONE		= 0,
	MPA_ERR_TCP_LOST	= 1,	/* closed, terminated, lost */
	MPA_ERR_CRC		= 2,
	MPA_ERR_MARKER		= 3,	/* Marker and ULPDU_Length disagree */
	MPA_ERR_STARTUP		= 4,	/* invalid Request or Reply */
	MPA_ERR_LOCAL		= 5,	/* RFC 6581: local catastrophic */
	MPA_ERR_IRD		= 6,	/* RFC 6581: insufficient IRD */
	MPA_ERR_RTR		= 7,	/* RFC 6581: no matching RTR */
};

#endif /* MPA_WIRE_H */

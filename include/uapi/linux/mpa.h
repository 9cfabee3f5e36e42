/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * MPA (RFC 5044) on a program's TCP socket. See mpa(7).
 *
 *	setsockopt(fd, IPPROTO_TCP, TCP_ULP, "mpa", sizeof("mpa"));
 *
 * attaches it; the socket stays a plain TCP socket. Options of level SOL_MPA
 * set what to ask the peer for, and start MPA at the current octet of the
 * stream. From then on each send or receive call carries one ULPDU.
 */
#ifndef _UAPI_LINUX_MPA_H
#define _UAPI_LINUX_MPA_H

#include <linux/types.h>

#define SOL_MPA			5044

/*
 * Settings: before MPA starts, or before MPA_ACCEPT. Each is an int, except the
 * last two. The first five default to the module parameters of mpa.ko. Setting
 * MPA_CRC to 0 takes CAP_NET_ADMIN, unless the module parameter is 0.
 */
#define MPA_MARKERS		1	/* require the peer's Markers: 0, 1 */
#define MPA_CRC			2	/* use CRCs: 0, 1 */
#define MPA_RDMAC		3	/* serve peers of revision 0: 0, 1 */
#define MPA_PACKING		4	/* 0: one FPDU for each TCP segment */
#define MPA_STARTUP_TIMEOUT	5	/* milliseconds, 1..3600000 */
#define MPA_REVISION		6	/* highest revision: 1 (default), 2 */
#define MPA_DEPTHS		7	/* struct mpa_depths, revision 2 */
#define MPA_PRIVATE_DATA	8	/* 0..512 octets; 508 with revision 2 */

/* Start MPA. Only MPA_RESPOND takes a value. */
#define MPA_INITIATE		16	/* send a Request, wait for the Reply */
#define MPA_RESPOND		17	/* last streaming message, or nothing */
#define MPA_ACCEPT		18	/* answer the Request: Full Operation */
#define MPA_REJECT		19	/* refuse it: back to streaming */
#define MPA_START_RDMAC		20	/* no frames: both ends know the octet */

/* Read-only */
#define MPA_STATUS		32	/* struct mpa_status */
#define MPA_PEER		33	/* struct mpa_peer */

/* sock_diag attribute next to INET_ULP_INFO_NAME, a __u8: MPA_STATE_* */
#define MPA_ULP_INFO_STATE	5044

#define MPA_PRIVATE_DATA_MAX	512
#define MPA_ULPDU_MAX		64768	/* octets that a call can send */
#define MPA_ULPDU_RECV_MAX	65535	/* octets that a peer can send */
#define MPA_LAST_MESSAGE_MAX	65536	/* octets of MPA_RESPOND's message */

/**
 * struct mpa_depths - RDMA Read depths of RFC 6581
 * @ird: inbound, 0..0x3ffe
 * @ord: outbound, 0..0x3ffe
 */
struct mpa_depths {
	__u16 ird;
	__u16 ord;
};

/* mpa_status.state */
enum {
	MPA_STATE_STREAMING,	/* plain TCP */
	MPA_STATE_WAIT_REPLY,	/* Initiator: the Request is on its way */
	MPA_STATE_WAIT_REQUEST,	/* Responder */
	MPA_STATE_UNDECIDED,	/* Responder: MPA_ACCEPT or MPA_REJECT */
	MPA_STATE_FULL,		/* Full Operation */
	MPA_STATE_ENDED,	/* nothing more is received */
};

/* mpa_status.flags */
#define MPA_STATUS_INITIATOR	0x01	/* we sent the Request */
#define MPA_STATUS_MARKERS_TX	0x02	/* we send Markers */
#define MPA_STATUS_MARKERS_RX	0x04	/* the peer sends Markers */
#define MPA_STATUS_CRC		0x08	/* CRCs are generated and checked */
#define MPA_STATUS_SENDABLE	0x10	/* FPDUs may be sent (7.1.2 rule 4) */

/**
 * struct mpa_status - what MPA does on a socket
 * @state: MPA_STATE_*
 * @flags: MPA_STATUS_*
 * @error: number of the error that ended MPA: 1..4 of RFC 5044 section 8, 6 or
 *	7 of RFC 6581, or 0
 * @err: errno of the last startup that failed, or of the receive direction's
 *	end; 0 for an orderly end
 * @revision: MPA revision in force
 * @version: version that DDP and RDMAP use: 0 with revision 0, else 1
 * @reserved: 0
 * @ird: inbound RDMA Read depth in force
 * @ord: outbound RDMA Read depth in force
 * @mulpdu: octets of the largest ULPDU that fits into a TCP segment
 * @emss: octets of TCP's effective maximum segment size
 * @rx_position: position of the next ULPDU's FPDU in the peer's stream, modulo
 *	2^32; 0 is the first octet of Full Operation
 * @reserved2: 0
 * @tx_position: position of the next FPDU in our stream, not wrapped
 * @tx_accepted: octets of our stream that TCP has taken
 *
 * @state, @error and @err are always valid, the other fields in and after Full
 * Operation.
 */
struct mpa_status {
	__u8 state;
	__u8 flags;
	__u8 error;
	__u8 revision;
	__s32 err;
	__u8 version;
	__u8 reserved[3];
	__u16 ird;
	__u16 ord;
	__u32 mulpdu;
	__u32 emss;
	__u32 rx_position;
	__u32 reserved2;
	__aligned_u64 tx_position;
	__aligned_u64 tx_accepted;
};

/* mpa_peer.flags: bits of the frame's fifth word, RFC 5044 section 7.1.1 */
#define MPA_PEER_MARKERS	0x80	/* M */
#define MPA_PEER_CRC		0x40	/* C */
#define MPA_PEER_REJECT		0x20	/* R */
#define MPA_PEER_ENHANCED	0x10	/* S */

/**
 * struct mpa_peer - the Request or Reply that the peer has sent
 * @flags: MPA_PEER_*
 * @revision: MPA revision
 * @ird: the peer's inbound RDMA Read depth; 0x3fff: not negotiated
 * @ord: the peer's outbound RDMA Read depth, likewise
 * @data_len: octets in @data
 * @data: Private Data
 */
struct mpa_peer {
	__u8 flags;
	__u8 revision;
	__u16 ird;
	__u16 ord;
	__u16 data_len;
	__u8 data[MPA_PRIVATE_DATA_MAX];
};

#endif /* _UAPI_LINUX_MPA_H */

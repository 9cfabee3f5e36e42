/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MPA startup (RFC 5044 section 7.1, RFC 6581): Request and Reply frames and
 * the negotiation between them. Pure: octets in, a struct or an error out.
 */
#ifndef MPA_NEGOTIATE_H
#define MPA_NEGOTIATE_H

#include <mpa/wire.h>

/**
 * struct mpa_offer - one side's offer: the contents of its startup frame
 * @rev: MPA revision, 0..2
 * @rdmac: serve a peer of revision 0; not in the frame
 * @markers: M: the sender of the frame requires Markers from its peer
 * @crc: C: CRCs are wanted
 * @reject: R: connection refused (Reply only)
 * @enhanced: S: @ird, @ord and the RTR bits are present (RFC 6581)
 * @large: MPA_FLAG_LARGE, a reserved bit: FPDUs may be larger than a TCP segment
 *	if both sides say so. In a Reply only after a Request with it; never in
 *	revision 0
 * @p2p: A: peer-to-peer model: the Initiator sends an RTR
 * @rtr: RTR kinds offered or chosen, MPA_RTR_* bits
 * @ird: inbound RDMA Read depth, 0..0x3fff (0x3fff: not negotiated)
 * @ord: outbound RDMA Read depth, likewise
 * @pd_len: octets of the ULP's Private Data, without the enhanced data: the
 *	last octets of the frame
 */
struct mpa_offer {
	__u8 rev;
	bool rdmac;
	bool markers;
	bool crc;
	bool reject;
	bool enhanced;
	bool large;
	bool p2p;
	__u8 rtr;
	__u16 ird;
	__u16 ord;
	__u16 pd_len;
};

#define MPA_RTR_SEND	0x1
#define MPA_RTR_WRITE	0x2
#define MPA_RTR_READ	0x4

/**
 * struct mpa_agreed - the result of the negotiation, in force in Full Operation
 * @rev: revision in use. With MPA_REV_RDMAC, DDP and RDMAP use version 0
 * @tx_markers: we send Markers
 * @rx_markers: the peer sends Markers
 * @crc: CRCs are generated and checked in both directions
 * @large: both sides take FPDUs larger than a TCP segment
 * @p2p: peer-to-peer model: the Initiator's first FPDU is an RTR
 * @rtr: Initiator: the RTR kind to send; Responder: the kinds that the peer may
 *	send. 0 without a common kind, or without @p2p
 * @ird: our inbound RDMA Read depth in force
 * @ord: our outbound RDMA Read depth in force
 */
struct mpa_agreed {
	__u8 rev;
	bool tx_markers;
	bool rx_markers;
	bool crc;
	bool large;
	bool p2p;
	__u8 rtr;
	__u16 ird;
	__u16 ord;
};

int mpa_startup_build(__u8 *frame, bool reply, const struct mpa_offer *offer,
		      const void *pd);
int mpa_startup_parse(const __u8 *frame, __u32 have, bool reply, __u8 max_rev,
		      struct mpa_offer *offer);
int mpa_startup_answer(const struct mpa_offer *local,
		       const struct mpa_offer *request,
		       struct mpa_offer *reply, struct mpa_agreed *agreed);
int mpa_startup_conclude(const struct mpa_offer *sent,
			 const struct mpa_offer *reply,
			 struct mpa_agreed *agreed);
void mpa_startup_rdmac(const struct mpa_offer *local,
		       struct mpa_agreed *agreed);

#endif /* MPA_NEGOTIATE_H */

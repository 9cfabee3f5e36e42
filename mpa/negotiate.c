// SPDX-License-Identifier: GPL-2.0
/*
 * MPA startup frames (RFC 5044 section 7.1.1, RFC 6581 sections 6 and 9) and
 * the negotiation between Request and Reply.
 */
#include <mpa/negotiate.h>
#include <mpa/pure.h>

/* Offsets in a startup frame. */
#define FRAME_FLAGS	16u
#define FRAME_REV	17u
#define FRAME_PD_LEN	18u

static __u16 min_depth(__u16 a, __u16 b)
{
	return a < b ? a : b;
}

static bool offer_valid(const struct mpa_offer *offer)
{
	if (offer->rev > MPA_REV_ENHANCED)
		return false;
	if (!offer->enhanced)
		return true;
	return offer->rev >= MPA_REV_ENHANCED &&
	       offer->ird <= MPA_ENH_DEPTH_MASK &&
	       offer->ord <= MPA_ENH_DEPTH_MASK;
}

static __u8 flags_encode(bool reply, const struct mpa_offer *offer)
{
	__u8 flags = 0;

	if (offer->markers)
		flags |= MPA_FLAG_MARKERS;
	if (offer->crc)
		flags |= MPA_FLAG_CRC;
	if (reply && offer->reject)
		flags |= MPA_FLAG_REJECT;
	if (offer->enhanced)
		flags |= MPA_FLAG_ENHANCED;
	if (offer->large && offer->rev != MPA_REV_RDMAC)
		flags |= MPA_FLAG_LARGE;
	return flags;
}

/* RFC 6581 section 9.2: B, C and D are zero when A is. */
static void enhanced_encode(__u8 *p, const struct mpa_offer *offer)
{
	__u16 ird = offer->ird;
	__u16 ord = offer->ord;

	if (offer->p2p) {
		ird |= MPA_ENH_IRD_P2P;
		if (offer->rtr & MPA_RTR_SEND)
			ird |= MPA_ENH_IRD_RTR_SEND;
		if (offer->rtr & MPA_RTR_WRITE)
			ord |= MPA_ENH_ORD_RTR_WRITE;
		if (offer->rtr & MPA_RTR_READ)
			ord |= MPA_ENH_ORD_RTR_READ;
	}
	put_unaligned_be16(ird, p);
	put_unaligned_be16(ord, p + 2);
}

/* RFC 6581 section 9.2: B, C and D are ignored when A is zero. */
static void enhanced_decode(const __u8 *p, struct mpa_offer *offer)
{
	__u16 ird = get_unaligned_be16(p);
	__u16 ord = get_unaligned_be16(p + 2);

	offer->ird = ird & MPA_ENH_DEPTH_MASK;
	offer->ord = ord & MPA_ENH_DEPTH_MASK;
	offer->p2p = ird & MPA_ENH_IRD_P2P;
	if (!offer->p2p)
		return;
	if (ird & MPA_ENH_IRD_RTR_SEND)
		offer->rtr |= MPA_RTR_SEND;
	if (ord & MPA_ENH_ORD_RTR_WRITE)
		offer->rtr |= MPA_RTR_WRITE;
	if (ord & MPA_ENH_ORD_RTR_READ)
		offer->rtr |= MPA_RTR_READ;
}

/**
 * mpa_startup_build() - write a Request or Reply frame
 * @frame: room for MPA_STARTUP_MAX_LEN octets
 * @reply: whether it is a Reply
 * @offer: contents of the frame; @offer->reject counts in a Reply only
 * @pd: the ULP's Private Data of @offer->pd_len octets; may be NULL when
 *      there is none
 *
 * With @offer->enhanced the data of RFC 6581 section 9 goes before @pd and
 * takes 4 of the 512 octets.
 *
 * Return: octets of the frame, or
 * -EMSGSIZE: too much Private Data (512 octets, or 508 with @offer->enhanced);
 * -EINVAL: a revision above 2, enhanced data with a revision below 2, or a
 * depth of more than 14 bits.
 */
int mpa_startup_build(__u8 *frame, bool reply, const struct mpa_offer *offer,
		      const void *pd)
{
	__u32 enh_len = offer->enhanced ? MPA_ENH_LEN : 0;
	__u8 *p = frame + MPA_STARTUP_HDR_LEN;

	if (!offer_valid(offer))
		return -EINVAL;
	if (offer->pd_len > MPA_MAX_PRIVATE_DATA - enh_len)
		return -EMSGSIZE;

	memcpy(frame, reply ? MPA_KEY_REPLY : MPA_KEY_REQUEST, MPA_KEY_LEN);
	frame[FRAME_FLAGS] = flags_encode(reply, offer);
	frame[FRAME_REV] = offer->rev;
	put_unaligned_be16(enh_len + offer->pd_len, frame + FRAME_PD_LEN);
	if (enh_len)
		enhanced_encode(p, offer);
	if (offer->pd_len)
		memcpy(p + enh_len, pd, offer->pd_len);
	return MPA_STARTUP_HDR_LEN + enh_len + offer->pd_len;
}

/*
 * Fail at the first wrong octet of the key. The two keys differ in one octet,
 * which tells a second Initiator (RFC 5044 section 7.1.2, rule 8) from a
 * stranger. So the result does not depend on how the stream was cut.
 */
static int key_check(const __u8 *frame, __u32 have, bool reply)
{
	const char *want = reply ? MPA_KEY_REPLY : MPA_KEY_REQUEST;
	__u32 i;

	for (i = 0; i < have && i < MPA_KEY_LEN; i++) {
		if (frame[i] == (__u8)want[i])
			continue;
		if (reply && !memcmp(frame, MPA_KEY_REQUEST, i + 1))
			return -EISCONN;
		return -EPROTO;
	}
	return 0;
}

/*
 * RDMA Consortium peers send revision 0 (RFC 5044 Appendix C). It needs
 * @local's permission: a side without it is "non-permissive".
 */
static bool rev_usable(const struct mpa_offer *local, __u8 rev)
{
	return rev == MPA_REV_RDMAC ? local->rdmac : rev <= local->rev;
}

/* With revision 1 the S bit is reserved, and so ignored. */
static bool frame_enhanced(const __u8 *frame)
{
	return frame[FRAME_FLAGS] & MPA_FLAG_ENHANCED &&
	       frame[FRAME_REV] >= MPA_REV_ENHANCED;
}

/* Check PD_Length, by its first octet alone if that is enough. */
static int pd_len_check(const __u8 *frame, __u32 have, bool enhanced)
{
	__u32 pd_len;

	if (frame[FRAME_PD_LEN] > MPA_MAX_PRIVATE_DATA >> 8)
		return -EMSGSIZE;
	if (have < MPA_STARTUP_HDR_LEN)
		return -EAGAIN;
	pd_len = get_unaligned_be16(frame + FRAME_PD_LEN);
	if (pd_len > MPA_MAX_PRIVATE_DATA)
		return -EMSGSIZE;
	if (enhanced && pd_len < MPA_ENH_LEN)
		return -EPROTO;
	return pd_len;
}

/*
 * R counts in a Reply only (RFC 5044 section 7.1.1). Peers of revision 0 are
 * hardware, which does not use the reserved bit.
 */
static void header_decode(const __u8 *frame, bool reply,
			  struct mpa_offer *offer)
{
	__u8 flags = frame[FRAME_FLAGS];

	offer->rev = frame[FRAME_REV];
	offer->markers = flags & MPA_FLAG_MARKERS;
	offer->crc = flags & MPA_FLAG_CRC;
	offer->reject = reply && flags & MPA_FLAG_REJECT;
	offer->enhanced = frame_enhanced(frame);
	offer->large = flags & MPA_FLAG_LARGE && offer->rev != MPA_REV_RDMAC;
}

/**
 * mpa_startup_parse() - read a Request or Reply frame as it arrives
 * @frame: the stream from the frame's first octet on
 * @have: octets at @frame; octets behind the frame are allowed, and belong to
 *        Full Operation
 * @reply: whether a Reply is expected (we are the Initiator)
 * @max_rev: the highest revision that we speak
 * @offer: contents of the frame; complete when the return value is positive.
 *         @offer->rev is also set for -EPROTONOSUPPORT, and all flags are
 *         set when no more than Private Data is missing
 *
 * Call it again from the frame's start when more octets arrive: an error is
 * found at the first octet that shows it. Without enhanced data
 * @offer->ird and @offer->ord are MPA_ENH_NO_DEPTH.
 *
 * Return: octets of the complete frame, of which the last @offer->pd_len are
 * the ULP's Private Data, or
 * -EAGAIN: nothing is wrong so far, more octets are needed;
 * -EISCONN: a Request where a Reply is expected: both sides are Initiators;
 * -EPROTO: not an MPA key, or S set and no room for the enhanced data;
 * -EPROTONOSUPPORT: a revision above @max_rev. Revision 0 is always read,
 * because a side that refuses it also answers (RFC 5044 section C.2.1);
 * -EMSGSIZE: PD_Length exceeds 512.
 * All but -EAGAIN mean MPA error 4.
 */
int mpa_startup_parse(const __u8 *frame, __u32 have, bool reply, __u8 max_rev,
		      struct mpa_offer *offer)
{
	int ret;

	memset(offer, 0, sizeof(*offer));
	offer->ird = MPA_ENH_NO_DEPTH;
	offer->ord = MPA_ENH_NO_DEPTH;

	ret = key_check(frame, have, reply);
	if (ret)
		return ret;
	if (have <= FRAME_REV)
		return -EAGAIN;
	header_decode(frame, reply, offer);
	if (offer->rev > max_rev)
		return -EPROTONOSUPPORT;
	if (have <= FRAME_PD_LEN)
		return -EAGAIN;
	ret = pd_len_check(frame, have, offer->enhanced);
	if (ret < 0)
		return ret;
	if (have < MPA_STARTUP_HDR_LEN + ret)
		return -EAGAIN;

	offer->pd_len = ret;
	if (offer->enhanced) {
		enhanced_decode(frame + MPA_STARTUP_HDR_LEN, offer);
		offer->pd_len -= MPA_ENH_LEN;
	}
	return MPA_STARTUP_HDR_LEN + ret;
}

/*
 * Choose one of several RTR kinds, as the Initiator does (RFC 6581 section
 * 1.1). A zero-length Write costs neither side anything; a Read takes an
 * inbound Read slot; a Send takes an MSN of the ULP's queue, so it comes last.
 */
static __u8 rtr_choose(__u8 kinds)
{
	if (kinds & MPA_RTR_WRITE)
		return MPA_RTR_WRITE;
	if (kinds & MPA_RTR_READ)
		return MPA_RTR_READ;
	return kinds & MPA_RTR_SEND;
}

/*
 * RFC 6581 section 9.1, Responder. The Initiator's depths limit ours only
 * when it negotiates them; 0x3fff is answered with 0x3fff.
 */
static void depths_answer(const struct mpa_offer *local,
			  const struct mpa_offer *request,
			  struct mpa_offer *reply, struct mpa_agreed *agreed)
{
	agreed->ird = local->ird;
	reply->ird = local->ird;
	if (request->ord == MPA_ENH_NO_DEPTH)
		reply->ird = MPA_ENH_NO_DEPTH;

	agreed->ord = local->ord;
	reply->ord = MPA_ENH_NO_DEPTH;
	if (request->ird != MPA_ENH_NO_DEPTH) {
		agreed->ord = min_depth(local->ord, request->ird);
		reply->ord = agreed->ord;
	}
}

/*
 * RFC 6581 section 9.2, Responder. The Reply names all common kinds, and the
 * Initiator chooses. Without a common kind the Reply names ours, and the
 * Initiator ends the connection with error 7.
 */
static void rtr_answer(const struct mpa_offer *local,
		       const struct mpa_offer *request,
		       struct mpa_offer *reply, struct mpa_agreed *agreed)
{
	__u8 ours = local->rtr ? local->rtr : MPA_RTR_WRITE;

	if (!request->p2p)
		return;
	agreed->p2p = true;
	agreed->rtr = ours & request->rtr;
	reply->p2p = true;
	reply->rtr = agreed->rtr ? agreed->rtr : ours;
	if (!(agreed->rtr & MPA_RTR_READ) || agreed->ird)
		return;
	/* Section 9.1: a Read as RTR needs an IRD of at least 1. */
	agreed->ird = 1;
	if (reply->ird != MPA_ENH_NO_DEPTH)
		reply->ird = 1;
}

/**
 * mpa_startup_rdmac() - the result that the RDMA Consortium's protocols fix
 * @local: our depths; its other members are ignored
 * @agreed: set to the result of the negotiation
 *
 * Figure 14: version 0 above, Markers and CRC both ways. For startup frames of
 * revision 0, and for a start without frames.
 */
void mpa_startup_rdmac(const struct mpa_offer *local,
		       struct mpa_agreed *agreed)
{
	memset(agreed, 0, sizeof(*agreed));
	agreed->rev = MPA_REV_RDMAC;
	agreed->tx_markers = true;
	agreed->rx_markers = true;
	agreed->crc = true;
	agreed->ird = local->ird;
	agreed->ord = local->ord;
}

/**
 * mpa_startup_answer() - the Responder's side of the negotiation
 * @local: our offer: @local->rev is the highest revision that we speak,
 *         @local->rtr the RTR kinds that we can receive (0 counts as
 *         MPA_RTR_WRITE: RFC 6581 section 9.2 demands at least one),
 *         @local->reject and @local->pd_len go into the Reply as they are.
 *         @local->enhanced and @local->p2p are ignored: the Request decides
 * @request: the Request, as read by mpa_startup_parse()
 * @reply: set to the contents of the Reply, for mpa_startup_build()
 * @agreed: set to the result of the negotiation
 *
 * The Reply's C bit tells whether CRCs are in force, even if only the Initiator
 * wants them: some Initiators that want them refuse a Reply without C. The
 * Reply has the reserved bit of large FPDUs only if the Request has it: an
 * Initiator that does not know the bit never sees it.
 *
 * When the Initiator's ORD exceeds our IRD, the Reply has our IRD, and the
 * Initiator must adapt. @agreed->p2p with an @agreed->rtr of 0 means that no
 * RTR kind is common. Depths that were not negotiated are those of @local.
 *
 * A Request of revision 0 gets a Reply of revision 0 with M and C, whatever
 * @local has (RFC 5044 section C.2.4). Without @local->rdmac it is refused, but
 * @reply is set: section C.2.1 wants a Reply of revision 1 before the
 * connection is closed. That Reply has R=1, so that even an Initiator that
 * ignores the revision sees the refusal.
 *
 * Return: 0, or -EPROTONOSUPPORT when the Request's revision is above
 * @local->rev, or 0 without @local->rdmac (MPA error 4).
 */
int mpa_startup_answer(const struct mpa_offer *local,
		       const struct mpa_offer *request,
		       struct mpa_offer *reply, struct mpa_agreed *agreed)
{
	memset(agreed, 0, sizeof(*agreed));
	*reply = *local;
	reply->rev = request->enhanced ? request->rev : MPA_REV_IETF;
	reply->enhanced = request->enhanced;
	reply->large = local->large && request->large;
	reply->p2p = false;
	reply->rtr = 0;
	if (!rev_usable(local, request->rev)) {
		reply->reject = true;
		return -EPROTONOSUPPORT;
	}
	if (request->rev == MPA_REV_RDMAC) {
		mpa_startup_rdmac(local, agreed);
		reply->rev = MPA_REV_RDMAC;
		reply->markers = true;
		reply->crc = true;
		return 0;
	}

	agreed->rev = reply->rev;
	agreed->tx_markers = request->markers;
	agreed->rx_markers = local->markers;
	agreed->crc = local->crc || request->crc;
	agreed->large = reply->large;
	agreed->ird = local->ird;
	agreed->ord = local->ord;

	reply->crc = agreed->crc;
	if (request->enhanced) {
		depths_answer(local, request, reply, agreed);
		rtr_answer(local, request, reply, agreed);
	}
	return 0;
}

/* RFC 6581 section 9.1, Initiator. */
static int depths_conclude(const struct mpa_offer *sent,
			   const struct mpa_offer *reply,
			   struct mpa_agreed *agreed)
{
	if (reply->ird != MPA_ENH_NO_DEPTH)
		agreed->ord = min_depth(sent->ord, reply->ird);
	if (reply->ord != MPA_ENH_NO_DEPTH && reply->ord > sent->ird)
		return -ENOBUFS;
	return 0;
}

/* RFC 6581 section 9.2, Initiator. */
static int rtr_conclude(const struct mpa_offer *sent,
			const struct mpa_offer *reply,
			struct mpa_agreed *agreed)
{
	if (reply->p2p != sent->p2p)
		return -ENOPROTOOPT;
	if (!sent->p2p)
		return 0;
	agreed->p2p = true;
	agreed->rtr = rtr_choose(sent->rtr & reply->rtr);
	return agreed->rtr ? 0 : -ENOPROTOOPT;
}

/* Check revision and flags: does this Reply fit the Request? */
static int reply_check(const struct mpa_offer *sent,
		       const struct mpa_offer *reply)
{
	if (!rev_usable(sent, reply->rev))
		return -EPROTONOSUPPORT;
	if (reply->enhanced && !sent->enhanced)
		return -EPROTO;
	if (reply->reject)
		return -ECONNREFUSED;
	if (sent->enhanced && !reply->enhanced && reply->rev != MPA_REV_RDMAC)
		return -EPROTO;
	return 0;
}

/**
 * mpa_startup_conclude() - the Initiator's side of the negotiation
 * @sent: contents of our Request
 * @reply: the Reply, as read by mpa_startup_parse()
 * @agreed: set to the result of the negotiation; for -ENOBUFS and
 *          -ENOPROTOOPT its @rev, Markers and CRC are valid, because the
 *          Terminate that reports these errors is sent in Full Operation
 *
 * A depth that was not negotiated is that of @sent. R is checked before a
 * missing S bit, because a Responder without enhanced frames may refuse a
 * Request that it cannot read. A Reply of revision 0 means Markers and CRC both
 * ways, whatever the two frames say (RFC 5044 section C.2.5).
 *
 * Return: 0, or
 * -ECONNREFUSED: the Reply rejects the connection; the TCP connection stays
 * open for the ULP (RFC 5044 section 7.1.2, rule 3);
 * -EPROTONOSUPPORT: a revision above that of our Request, or 0 without
 * @sent->rdmac (MPA error 4; on 0 close in order: section C.2.2);
 * -EPROTO: an enhanced Reply to a Request that was not, or the other way
 * round (MPA error 4; RFC 6581 section 10);
 * -ENOBUFS: the Responder's ORD exceeds our IRD (send MPA_ERR_IRD);
 * -ENOPROTOOPT: no common RTR kind, or the Reply does not echo our
 * connection model (send MPA_ERR_RTR).
 */
int mpa_startup_conclude(const struct mpa_offer *sent,
			 const struct mpa_offer *reply,
			 struct mpa_agreed *agreed)
{
	int ret;

	memset(agreed, 0, sizeof(*agreed));
	ret = reply_check(sent, reply);
	if (ret)
		return ret;
	if (reply->rev == MPA_REV_RDMAC) {
		mpa_startup_rdmac(sent, agreed);
		return 0;
	}

	agreed->rev = reply->rev;
	agreed->tx_markers = reply->markers;
	agreed->rx_markers = sent->markers;
	agreed->crc = sent->crc || reply->crc;
	agreed->large = sent->large && reply->large;
	agreed->ird = sent->ird;
	agreed->ord = sent->ord;
	if (!reply->enhanced)
		return 0;
	ret = depths_conclude(sent, reply, agreed);
	if (ret)
		return ret;
	return rtr_conclude(sent, reply, agreed);
}

// SPDX-License-Identifier: GPL-2.0
#include "profiles.hpp"

#include <algorithm>
#include <stdexcept>

namespace peer {

/** The depths that the program on an RNIC asks for. */
static constexpr std::uint16_t programsDepth = 8;

static Bytes smbDirectDepths(std::uint32_t ird, std::uint32_t ord) {
  Bytes out;

  put<std::uint32_t>(out, ird);
  put<std::uint32_t>(out, ord);
  return out;
}

/* --- cxgb4 --- */

static constexpr std::uint16_t cxgb4Depth = 32;
/* Error type 3 where RFC 6581 section 8 has 0. */
static constexpr TermCode cxgb4Ird{2, 3, 0x06}, cxgb4Rtr{2, 3, 0x07};

/** The Reply names READ, which is what the module parameter p2p_type says, even if the Request named WRITE only. */
static std::optional<Enhanced> cxgb4Answer(const Enhanced& request) {
  const bool rtr = request.peerToPeer && (request.rtrWrite || request.rtrRead);

  return Enhanced{.peerToPeer = rtr,
                  .rtrRead = rtr,
                  .ird = std::max(programsDepth, std::min(request.ord, cxgb4Depth)),
                  .ord = std::min(programsDepth, request.ird)};
}

/** WRITE has priority in a Reply that names both, and is then not what p2p_type says. */
static Conclusion cxgb4Conclude(const Enhanced& sent, const Enhanced& reply) {
  if (!reply.peerToPeer || reply.rtrWrite || !reply.rtrRead)
    return {.terminate = cxgb4Rtr};
  if (reply.ord > std::max(sent.ird, cxgb4Depth))
    return {.terminate = cxgb4Ird};
  return {.rtr = {Rtr::Read}};
}

/* --- irdma --- */

static constexpr std::uint16_t irdmaIrd = 127, irdmaOrd = 255; /* of E810 */

/** The depths are the device's: those that the program passes with its accept are not used. */
static std::optional<Enhanced> irdmaAnswer(const Enhanced& request) {
  if (!request.peerToPeer || (!request.rtrRead && !request.rtrWrite))
    return {};
  const bool open = request.ird == notNegotiated || request.ord == notNegotiated;

  return Enhanced{.peerToPeer = true,
                  .rtrWrite = !request.rtrRead,
                  .rtrRead = request.rtrRead,
                  .ird = open                              ? notNegotiated
                         : !request.ord && request.rtrRead ? std::uint16_t{1}
                                                           : irdmaIrd,
                  .ord = open ? notNegotiated : std::min(irdmaOrd, request.ird)};
}

static Conclusion irdmaConclude(const Enhanced& sent, const Enhanced& reply) {
  const bool open = reply.ird == notNegotiated || reply.ord == notNegotiated;

  if (!reply.peerToPeer || (!reply.rtrRead && !reply.rtrWrite))
    return {.reset = true};
  if (!open && ((!reply.ird && reply.rtrRead) || reply.ord > sent.ird))
    return {.reset = true};
  return {.rtr = {reply.rtrRead ? Rtr::Read : Rtr::Write}};
}

/* --- qedr --- */

static constexpr std::uint16_t qedrDepth = 32;

/** Names what both sides have or, when that is nothing, what it has itself: all. */
static std::optional<Enhanced> qedrAnswer(const Enhanced& request) {
  const bool any = request.rtrSend || request.rtrWrite || request.rtrRead;

  return Enhanced{.peerToPeer = request.peerToPeer,
                  .rtrSend = request.peerToPeer && (request.rtrSend || !any),
                  .rtrWrite = request.peerToPeer && (request.rtrWrite || !any),
                  .rtrRead = request.peerToPeer && (request.rtrRead || !any),
                  .ird = programsDepth,
                  .ord = std::min({programsDepth, request.ird, qedrDepth})};
}

/** The firmware does this: here it follows RFC 6581. */
static Conclusion qedrConclude(const Enhanced& sent, const Enhanced& reply) {
  Conclusion c;

  if (reply.ord != notNegotiated && reply.ord > sent.ird)
    return {.terminate = TermCode{2, 0, 0x06}};
  if (reply.peerToPeer && reply.rtrSend)
    c.rtr.push_back(Rtr::Send);
  if (reply.peerToPeer && reply.rtrWrite)
    c.rtr.push_back(Rtr::Write);
  if (reply.peerToPeer && reply.rtrRead)
    c.rtr.push_back(Rtr::Read);
  if (c.rtr.empty())
    c.terminate = TermCode{2, 0, 0x07};
  return c;
}

/* --- all --- */

static const std::vector<Profile> table = {
    {.name = "cxgb4",
     .what = "Chelsio T4 to T6",
     .source = "drivers/infiniband/hw/cxgb4 of Linux 7.3: send_mpa_req(), send_mpa_reply(), process_mpa_request(),\n    "
               "process_mpa_reply(), c4iw_accept_cr(), build_rtr_msg(); STag 0: issue 21 of zrlio/softiwarp",
     .inference = "that a Responder takes the READ that its Reply names, although the driver tells the firmware to expect a WRITE",
     .revision = 2,
     .request = {.peerToPeer = true, .rtrRead = true, .ird = programsDepth, .ord = programsDepth},
     .largestPrivateData = 256,
     .rtrRead = {.sinkStag = 1, .sinkTo = 1, .sourceStag = 1, .sourceTo = 1},
     .refusesStagZero = true,
     .answer = cxgb4Answer,
     .conclude = cxgb4Conclude},
    {.name = "cxgb4-rev1",
     .what = "the same with mpa_rev=1, which was the default before Linux 4.3",
     .source = "as cxgb4; peer_abort() connects again with this revision after an RST",
     .inference = "that a Responder sends without having received an RTR, which revision 1 does not have",
     .revision = 1,
     .largestPrivateData = 256,
     .unaskedRtr = true,
     .rtrRead = {.sinkStag = 1, .sinkTo = 1, .sourceStag = 1, .sourceTo = 1},
     .refusesStagZero = true},
    {.name = "irdma",
     .what = "Intel X722 and E810",
     .source = "drivers/infiniband/hw/irdma of Linux 7.3: irdma_build_mpa_v2(), irdma_parse_mpa(),\n    "
               "irdma_negotiate_mpa_v2_ird_ord(), irdma_record_ird_ord(), irdma_sc_send_rtt(), irdma_sc_send_lsmm()",
     .inference = "the offsets of the RTR; that the device sends Markers, for which the driver only sets a bit",
     .revision = 2,
     .request = {.peerToPeer = true, .rtrWrite = true, .rtrRead = true, .ird = programsDepth, .ord = programsDepth},
     .rtrRead = {.sinkStag = 0xabcd, .sourceStag = 0x1234},
     .answer = irdmaAnswer,
     .conclude = irdmaConclude},
    {.name = "irdma-rev1",
     .what = "the same after an RST in place of a Reply",
     .source = "as irdma; irdma_handle_rst_pkt(), irdma_cm_event_connected()",
     .inference = "as irdma",
     .revision = 1,
     .unaskedRtr = true,
     .rtrRead = {.sinkStag = 0xabcd, .sourceStag = 0x1234}},
    {.name = "qedr",
     .what = "Marvell FastLinQ 41000 and 45000",
     .source = "drivers/net/ethernet/qlogic/qed/qed_iwarp.c of Linux 7.3: qed_iwarp_setup(), qed_iwarp_connect(),\n    "
               "qed_iwarp_accept(), qed_iwarp_mpa_received(), qed_iwarp_mpa_v2_set_private()",
     .inference =
         "the flags of its frames but S, which RTR it sends and with which STags, and what it does with a Reply that does\n    "
         "not suit it: the firmware does all this. It is not known whether it can send Markers",
     .revision = 2,
     .request =
         {.peerToPeer = true, .rtrSend = true, .rtrWrite = true, .rtrRead = true, .ird = programsDepth, .ord = programsDepth},
     .sendsMarkers = false,
     .answer = qedrAnswer,
     .conclude = qedrConclude},
    {.name = "smbd",
     .what = "an RNIC without RFC 6581 that carries SMB Direct",
     .source = "[MS-SMBD] section 6.1; fs/smb/smbdirect of Linux 7.3: smbdirect_connection_negotiate_rdma_resources()",
     .inference = "C, and the RST for a Request of revision 2",
     .revision = 1,
     .privateData = smbDirectDepths(programsDepth, programsDepth)},
};

std::optional<StartupFrame> Profile::makeReply(const StartupFrame& asked) const {
  StartupFrame f{.kind = FrameKind::Reply, .revision = asked.revision, .privateData = privateData};

  if (asked.revision > revision || asked.privateData.size() + (asked.enhanced ? 4 : 0) > largestPrivateData)
    return {};
  if (!asked.enhanced)
    return f;
  f.enhanced = answer(*asked.enhanced);
  return f.enhanced ? std::optional(f) : std::nullopt;
}

std::span<const Profile> profiles() {
  return table;
}

const Profile& profile(std::string_view name) {
  const auto it = std::ranges::find_if(table, [&](const Profile& p) { return p.name == name; });

  if (it == table.end())
    throw std::invalid_argument(std::string(name) + ": no profile; --profile list prints all");
  return *it;
}

} // namespace peer

// SPDX-License-Identifier: GPL-2.0
// The result of Request and Reply: RFC 5044 section 7.1 and Appendix C, RFC 6581 sections 9 and 10.
#include <gtest/gtest.h>

#include <cerrno>

#include "pure.hpp"

namespace unit {
namespace {

constexpr int send = MPA_RTR_SEND, write = MPA_RTR_WRITE, read = MPA_RTR_READ;
constexpr __u16 none = 0x3fff;

/** An enhanced offer in client-server mode. */
mpa_offer depths(__u16 ird, __u16 ord) {
  return {.rev = 2, .crc = true, .enhanced = true, .ird = ird, .ord = ord};
}

/** An enhanced offer in peer-to-peer mode. */
mpa_offer kinds(int rtr, __u16 ird = 8, __u16 ord = 8) {
  mpa_offer offer = depths(ird, ord);
  offer.p2p = true;
  offer.rtr = static_cast<__u8>(rtr);
  return offer;
}

mpa_offer plain(bool markers, bool crc, __u8 rev = 1) {
  return {.rev = rev, .markers = markers, .crc = crc, .ird = none, .ord = none};
}

struct Answer {
  int result;
  mpa_offer reply{};
  mpa_agreed agreed{};

  Answer(const mpa_offer& local, const mpa_offer& request) { result = mpa_startup_answer(&local, &request, &reply, &agreed); }
};

struct Conclusion {
  int result;
  mpa_agreed agreed{};

  Conclusion(const mpa_offer& sent, const mpa_offer& reply) { result = mpa_startup_conclude(&sent, &reply, &agreed); }
};

/** RFC 5044 Figure 14: an RDMA Consortium peer, and our side with rdmac=N and rdmac=Y. */
enum Kind { RDMAC, NON_PERMISSIVE, PERMISSIVE };

constexpr int CLOSE = -1;

struct FigureRow {
  Kind initiator;
  bool initiatorM;
  Kind responder;
  bool responderM;
  int version;
  bool toInitiator, toResponder;
};

const FigureRow figures[] = {
#define ROW(...) {__VA_ARGS__},
#include "kunit/vectors/figures.inc"
#undef ROW
};

std::ostream& operator<<(std::ostream& out, const FigureRow& row) {
  static const char* const names[] = {"RDMAC", "non-permissive", "permissive"};
  return out << names[row.initiator] << " M=" << row.initiatorM << " to " << names[row.responder] << " M=" << row.responderM;
}

mpa_offer rnic(Kind kind, bool markers, bool crc, __u8 rev) {
  mpa_offer offer = kind == RDMAC ? plain(true, true, 0) : plain(markers, crc, rev);
  offer.rdmac = kind == PERMISSIVE;
  offer.enhanced = kind != RDMAC && rev == 2;
  offer.ird = offer.ord = 8;
  return offer;
}

void expectFraming(const mpa_agreed& agreed, const FigureRow& row, bool isInitiator) {
  EXPECT_EQ(agreed.rev == 0, row.version == 0);
  EXPECT_EQ(agreed.rx_markers, isInitiator ? row.toInitiator : row.toResponder);
  EXPECT_EQ(agreed.tx_markers, isInitiator ? row.toResponder : row.toInitiator);
  if (row.version)
    return;
  EXPECT_TRUE(agreed.crc); // with any value of C
  EXPECT_FALSE(agreed.p2p);
  EXPECT_EQ(agreed.ird, 8);
  EXPECT_EQ(agreed.ord, 8);
}

/** Tests a row with us as Responder. An RDMAC Initiator accepts our answer only in revision 0. */
void figureAsResponder(const FigureRow& row, bool crc, __u8 rev) {
  const mpa_offer request = rnic(row.initiator, row.initiatorM, crc, rev);
  const Answer answer(rnic(row.responder, row.responderM, crc, 2), request);
  if (row.version == CLOSE) {
    EXPECT_EQ(answer.result, -EPROTONOSUPPORT);
    EXPECT_EQ(answer.reply.rev, 1); // section C.2.1
    EXPECT_TRUE(answer.reply.reject);
    EXPECT_FALSE(answer.reply.enhanced);
    EXPECT_EQ(answer.reply.markers, row.responderM);
    return;
  }
  ASSERT_EQ(answer.result, 0);
  EXPECT_EQ(answer.reply.rev, row.initiator == RDMAC ? 0 : rev);
  EXPECT_EQ(answer.reply.markers, row.initiator == RDMAC || row.responderM);
  EXPECT_EQ(answer.reply.crc, row.initiator == RDMAC || crc);
  EXPECT_FALSE(answer.reply.reject);
  expectFraming(answer.agreed, row, false);
  if (row.initiator == RDMAC)
    return;
  const Conclusion end(request, answer.reply);
  ASSERT_EQ(end.result, 0);
  expectFraming(end.agreed, row, true);
}

/** Tests a row with us as Initiator and an RDMAC Responder, which always answers the same. */
void figureAsInitiator(const FigureRow& row, bool crc, __u8 rev) {
  const Conclusion end(rnic(row.initiator, row.initiatorM, crc, rev), rnic(RDMAC, true, true, 0));
  EXPECT_EQ(end.result, row.version == CLOSE ? -EPROTONOSUPPORT : 0);
  if (row.version != CLOSE)
    expectFraming(end.agreed, row, true);
}

TEST(Negotiation, RDC_01_RDC_02_RDC_03_RDC_04_RDC_05_DDP_08_STA_02_MRK_10_MRK_11_Figures15To17) {
  for (const auto& row : figures)
    for (const __u8 rev : {1, 2})
      for (const bool crc : {false, true}) {
        SCOPED_TRACE(testing::Message() << row << " our revision " << int{rev} << " C=" << crc);
        if (row.responder == RDMAC)
          figureAsInitiator(row, crc, rev);
        else
          figureAsResponder(row, crc, rev);
      }
}

// A revision 0 frame without M or C: its sender uses both regardless (Figure 14).
TEST(Negotiation, RDC_01_RDC_03_FlagsOfRevision0DoNotCount) {
  for (const bool markers : {false, true})
    for (const bool crc : {false, true}) {
      const Answer answer(rnic(PERMISSIVE, false, false, 2), plain(markers, crc, 0));
      ASSERT_EQ(answer.result, 0);
      EXPECT_TRUE(answer.agreed.tx_markers && answer.agreed.rx_markers && answer.agreed.crc);
      const Conclusion end(rnic(PERMISSIVE, false, false, 2), plain(markers, crc, 0));
      ASSERT_EQ(end.result, 0);
      EXPECT_TRUE(end.agreed.tx_markers && end.agreed.rx_markers && end.agreed.crc);
    }
}

TEST(Negotiation, RDC_01_RDC_02_RejectOfRevision0) {
  mpa_offer local = rnic(PERMISSIVE, false, true, 2);
  local.reject = true;
  const Answer answer(local, plain(true, true, 0));
  EXPECT_EQ(answer.result, 0);
  EXPECT_EQ(answer.reply.rev, 0);
  EXPECT_TRUE(answer.reply.reject && answer.reply.markers && answer.reply.crc);
  EXPECT_EQ(Conclusion(rnic(PERMISSIVE, false, true, 2), answer.reply).result, -ECONNREFUSED);
}

TEST(Negotiation, RDC_06_NoFramesAtAll) {
  const mpa_offer local = rnic(NON_PERMISSIVE, false, false, 2);
  mpa_agreed agreed;
  mpa_startup_rdmac(&local, &agreed);
  EXPECT_EQ(agreed.rev, 0);
  EXPECT_TRUE(agreed.tx_markers && agreed.rx_markers && agreed.crc);
  EXPECT_FALSE(agreed.p2p);
  EXPECT_EQ(agreed.ird, 8);
  EXPECT_EQ(agreed.ord, 8);
}

TEST(Negotiation, CRC_07_STA_03_OneSideIsEnough) {
  for (const bool initiator : {false, true})
    for (const bool responder : {false, true}) {
      SCOPED_TRACE(testing::Message() << "C=" << initiator << "/" << responder);
      const mpa_offer request = plain(false, initiator);
      const Answer answer(plain(false, responder), request);
      const Conclusion end(request, answer.reply);
      EXPECT_EQ(answer.agreed.crc, initiator || responder);
      EXPECT_EQ(end.agreed.crc, initiator || responder);
      EXPECT_EQ(answer.reply.crc, initiator || responder);
      // A Responder that states only its own setting gives the same result.
      EXPECT_EQ(Conclusion(request, plain(false, responder)).agreed.crc, initiator || responder);
    }
}

mpa_offer withLarge(mpa_offer offer, bool large = true) {
  offer.large = large;
  return offer;
}

// In revisions 1 and 2; a Responder without the bit in its Reply, and one that sets it unasked, are peers of another kind.
TEST(Negotiation, STA_20_LargeFpdusNeedBothSides) {
  for (const auto& offer : {plain(false, true), depths(4, 4)})
    for (const bool initiator : {false, true})
      for (const bool responder : {false, true}) {
        SCOPED_TRACE(testing::Message() << "revision " << int{offer.rev} << ": " << initiator << "/" << responder);
        const bool both = initiator && responder;
        const mpa_offer request = withLarge(offer, initiator);
        const Answer answer(withLarge(depths(4, 4), responder), request);
        ASSERT_EQ(answer.result, 0);
        EXPECT_EQ(answer.reply.large, both);
        EXPECT_EQ(answer.agreed.large, both);
        EXPECT_EQ(Conclusion(request, answer.reply).agreed.large, both);
        EXPECT_EQ(Conclusion(request, withLarge(offer, responder)).agreed.large, both);
      }
}

TEST(Negotiation, STA_20_NoLargeFpdusInRevision0) {
  const mpa_offer ours = withLarge(rnic(PERMISSIVE, false, true, 2)), theirs = withLarge(plain(true, true, 0));
  const Answer answer(ours, theirs);
  ASSERT_EQ(answer.result, 0);
  EXPECT_FALSE(answer.agreed.large);
  const Conclusion end(ours, theirs);
  ASSERT_EQ(end.result, 0);
  EXPECT_FALSE(end.agreed.large);
}

TEST(Negotiation, ENH_01_ReplyIsAsEnhancedAsTheRequest) {
  const Answer unenhanced(kinds(write), plain(false, true));
  EXPECT_EQ(unenhanced.result, 0);
  EXPECT_FALSE(unenhanced.reply.enhanced);
  EXPECT_EQ(unenhanced.reply.rev, 1);
  EXPECT_FALSE(unenhanced.agreed.p2p);
  EXPECT_EQ(unenhanced.agreed.rtr, 0);

  // Revision 2 without S is the unenhanced protocol (RFC 6581 section 6).
  const Answer withoutS(kinds(write), plain(false, true, 2));
  EXPECT_FALSE(withoutS.reply.enhanced);
  EXPECT_EQ(withoutS.reply.rev, 1);
  EXPECT_EQ(withoutS.agreed.rev, 1);

  const Answer enhanced(plain(false, true, 2), depths(1, 1));
  EXPECT_TRUE(enhanced.reply.enhanced);
  EXPECT_EQ(enhanced.reply.rev, 2);
  EXPECT_EQ(enhanced.agreed.rev, 2);
}

TEST(Negotiation, STA_06_RevisionsThatCannotBeSpoken) {
  EXPECT_EQ(Answer(plain(false, true, 1), depths(1, 1)).result, -EPROTONOSUPPORT);
  EXPECT_EQ(Answer(plain(false, true, 2), plain(true, true, 0)).result, -EPROTONOSUPPORT);
  EXPECT_EQ(Answer(plain(false, true, 2), plain(false, true, 3)).result, -EPROTONOSUPPORT);
  EXPECT_EQ(Conclusion(plain(false, true, 1), plain(false, true, 2)).result, -EPROTONOSUPPORT);
  EXPECT_EQ(Conclusion(plain(false, true, 1), plain(true, true, 0)).result, -EPROTONOSUPPORT);
  EXPECT_EQ(Conclusion(plain(false, true, 2), plain(false, true, 1)).result, 0);
}

TEST(Negotiation, STA_10_STA_11_RejectIsCarriedAndSeen) {
  mpa_offer local = plain(true, true);
  local.reject = true;
  local.pd_len = 7;
  const Answer answer(local, plain(false, true));
  EXPECT_EQ(answer.result, 0);
  EXPECT_TRUE(answer.reply.reject);
  EXPECT_EQ(answer.reply.pd_len, 7);
  EXPECT_EQ(Conclusion(plain(false, true), answer.reply).result, -ECONNREFUSED);
}

TEST(Negotiation, ENH_01_ReplyMustMatchTheRequest) {
  mpa_offer refused = plain(false, true);
  refused.reject = true;
  mpa_offer refusedEnhanced = depths(1, 1);
  refusedEnhanced.reject = true;

  EXPECT_EQ(Conclusion(plain(false, true, 2), depths(1, 1)).result, -EPROTO);
  EXPECT_EQ(Conclusion(plain(false, true, 2), refusedEnhanced).result, -EPROTO);
  EXPECT_EQ(Conclusion(depths(1, 1), plain(false, true)).result, -EPROTO);
  EXPECT_EQ(Conclusion(depths(1, 1), plain(false, true, 2)).result, -EPROTO);
  EXPECT_EQ(Conclusion(depths(1, 1), refused).result, -ECONNREFUSED);
  EXPECT_EQ(Conclusion(depths(1, 1), refusedEnhanced).result, -ECONNREFUSED);
}

// Both sides' depths in one table: the Responder's answer, and the depths agreed on both sides.
TEST(Negotiation, ENH_03_ENH_04_Depths) {
  const struct {
    const char* what;
    __u16 initiatorIrd, initiatorOrd, responderIrd, responderOrd;
    __u16 replyIrd, replyOrd;
    __u16 gotResponderIrd, gotResponderOrd, gotInitiatorIrd, gotInitiatorOrd;
  } rows[] = {
#define ROW(...) {__VA_ARGS__},
#include "kunit/vectors/depths.inc"
#undef ROW
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const mpa_offer request = depths(row.initiatorIrd, row.initiatorOrd);
    const Answer answer(depths(row.responderIrd, row.responderOrd), request);
    ASSERT_EQ(answer.result, 0);
    EXPECT_EQ(answer.reply.ird, row.replyIrd);
    EXPECT_EQ(answer.reply.ord, row.replyOrd);
    EXPECT_EQ(answer.agreed.ird, row.gotResponderIrd);
    EXPECT_EQ(answer.agreed.ord, row.gotResponderOrd);
    const Conclusion end(request, answer.reply);
    ASSERT_EQ(end.result, 0);
    EXPECT_EQ(end.agreed.ird, row.gotInitiatorIrd);
    EXPECT_EQ(end.agreed.ord, row.gotInitiatorOrd);
  }
}

// The two rules of section 9.1, for all small depths.
TEST(Negotiation, ENH_03_OrdNeverExceedsThePeersIrd) {
  for (__u16 iIrd = 0; iIrd < 5; iIrd++)
    for (__u16 iOrd = 0; iOrd < 5; iOrd++)
      for (__u16 rIrd = 0; rIrd < 5; rIrd++)
        for (__u16 rOrd = 0; rOrd < 5; rOrd++) {
          const Answer answer(depths(rIrd, rOrd), depths(iIrd, iOrd));
          const Conclusion end(depths(iIrd, iOrd), answer.reply);
          ASSERT_EQ(end.result, 0);
          ASSERT_LE(end.agreed.ord, answer.agreed.ird);
          ASSERT_LE(answer.agreed.ord, end.agreed.ird);
          ASSERT_LE(end.agreed.ord, iOrd);
          ASSERT_LE(answer.agreed.ord, rOrd);
        }
}

TEST(Negotiation, ENH_08_ResponderOrdAboveOurIrd) {
  EXPECT_EQ(Conclusion(depths(4, 4), depths(4, 5)).result, -ENOBUFS);
  EXPECT_EQ(Conclusion(depths(4, 4), depths(4, 4)).result, 0);
  EXPECT_EQ(Conclusion(depths(0, 4), depths(4, 1)).result, -ENOBUFS);
  EXPECT_EQ(Conclusion(depths(4, 4), depths(4, none)).result, 0);
  EXPECT_EQ(Conclusion(depths(none, 4), depths(4, 0x3ffe)).result, 0);
}

TEST(Negotiation, ENH_08_TerminateGoesOutInFullOperation) {
  mpa_offer reply = depths(4, 5);
  reply.markers = true;
  const Conclusion end(depths(4, 4), reply);
  EXPECT_EQ(end.result, -ENOBUFS);
  EXPECT_EQ(end.agreed.rev, 2);
  EXPECT_TRUE(end.agreed.tx_markers);
  EXPECT_TRUE(end.agreed.crc);
}

TEST(Negotiation, ENH_06_ResponderNamesTheCommonKindsAndTheInitiatorChooses) {
  const struct {
    int initiator, responder;
    int named, chosen;
  } rows[] = {
#define ROW(...) {__VA_ARGS__},
#include "kunit/vectors/rtr.inc"
#undef ROW
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(testing::Message() << row.initiator << " and " << row.responder);
    const Answer answer(kinds(row.responder), kinds(row.initiator));
    ASSERT_EQ(answer.result, 0);
    EXPECT_TRUE(answer.reply.p2p);
    EXPECT_EQ(answer.reply.rtr, row.named);
    EXPECT_TRUE(answer.agreed.p2p);
    EXPECT_EQ(answer.agreed.rtr, row.named);
    const Conclusion end(kinds(row.initiator), answer.reply);
    EXPECT_EQ(end.result, 0);
    EXPECT_TRUE(end.agreed.p2p);
    EXPECT_EQ(end.agreed.rtr, row.chosen);
  }
}

TEST(Negotiation, ENH_06_ENH_08_NoCommonKind) {
  const Answer answer(kinds(write | read), kinds(send));
  ASSERT_EQ(answer.result, 0);
  EXPECT_TRUE(answer.reply.p2p);
  EXPECT_EQ(answer.reply.rtr, write | read); // at least one kind that the Responder has
  EXPECT_EQ(answer.agreed.rtr, 0);
  EXPECT_EQ(Conclusion(kinds(send), answer.reply).result, -ENOPROTOOPT);
  // A Request that names no kind.
  EXPECT_EQ(Answer(kinds(write), kinds(0)).reply.rtr, write);
}

TEST(Negotiation, ENH_06_ResponderNamesOneWhateverItsSetting) {
  const Answer answer(depths(8, 8), kinds(write | read));
  EXPECT_EQ(answer.reply.rtr, write);
  EXPECT_EQ(answer.agreed.rtr, write);
  EXPECT_NE(Answer(depths(8, 8), kinds(send)).reply.rtr, 0);
}

TEST(Negotiation, ENH_06_ResponderMayNameSeveral) {
  EXPECT_EQ(Conclusion(kinds(send | read), kinds(write | read)).agreed.rtr, read);
  EXPECT_EQ(Conclusion(kinds(send | write | read), kinds(send | write | read)).agreed.rtr, write);
}

TEST(Negotiation, ENH_05_ModelIsEchoed) {
  const Answer clientServer(kinds(write), depths(8, 8));
  EXPECT_FALSE(clientServer.reply.p2p);
  EXPECT_EQ(clientServer.reply.rtr, 0);
  EXPECT_FALSE(clientServer.agreed.p2p);
  EXPECT_EQ(Conclusion(depths(8, 8), clientServer.reply).result, 0);
  EXPECT_TRUE(Answer(depths(8, 8), kinds(write)).reply.p2p);
  // A Responder that does not echo A.
  EXPECT_EQ(Conclusion(kinds(write), depths(8, 8)).result, -ENOPROTOOPT);
  EXPECT_EQ(Conclusion(depths(8, 8), kinds(write)).result, -ENOPROTOOPT);
}

// Section 9.1: an IRD of 0 is raised when the RTR is a Read.
TEST(Negotiation, ENH_03_ENH_06_ReadAsRtrNeedsAPlace) {
  const Answer raised(kinds(read, 0, 0), kinds(read, 0, 0));
  EXPECT_EQ(raised.reply.ird, 1);
  EXPECT_EQ(raised.agreed.ird, 1);
  EXPECT_EQ(raised.reply.ord, 0);
  const Answer enough(kinds(read, 4, 4), kinds(read, 0, 0));
  EXPECT_EQ(enough.agreed.ird, 4);
  const Answer notRead(kinds(write, 0, 0), kinds(write, 0, 0));
  EXPECT_EQ(notRead.agreed.ird, 0);
  const Answer notNegotiated(kinds(read, 0, 0), kinds(read, none, none));
  EXPECT_EQ(notNegotiated.reply.ird, none);
  EXPECT_EQ(notNegotiated.agreed.ird, 1);
}

} // namespace
} // namespace unit

// SPDX-License-Identifier: GPL-2.0
// The wire peer's profiles of RNICs: frames and conclusions, by the text of the drivers.
#include <set>

#include <gtest/gtest.h>

#include "../peer/profiles.hpp"

namespace peer {
namespace {

constexpr Enhanced all{.peerToPeer = true, .rtrSend = true, .rtrWrite = true, .rtrRead = true, .ird = 16, .ord = 16};
constexpr Enhanced clientServer{.ird = 16, .ord = 16};

Enhanced offering(bool send, bool write, bool read) {
  return {.peerToPeer = true, .rtrSend = send, .rtrWrite = write, .rtrRead = read, .ird = 16, .ord = 16};
}

Enhanced depths(std::uint16_t ird, std::uint16_t ord) {
  Enhanced e = all;

  e.ird = ird;
  e.ord = ord;
  return e;
}

TEST(Profiles, AllAreWholeAndHaveNamesOfTheirOwn) {
  std::set<std::string> names;

  for (const auto& p : profiles()) {
    EXPECT_TRUE(names.insert(p.name).second) << p.name;
    EXPECT_EQ(&profile(p.name), &p);
    EXPECT_EQ(p.revision >= 2, p.answer && p.conclude) << p.name;
    for (const char* text : {p.what, p.source, p.inference})
      EXPECT_TRUE(text && *text) << p.name;
  }
  EXPECT_THROW(profile("none"), std::invalid_argument);
}

TEST(Profiles, Cxgb4NamesReadAndRaisesItsIrd) {
  const auto& p = profile("cxgb4");

  EXPECT_EQ(hex(p.request.encode()), "80084008");
  EXPECT_EQ(p.answer(all), (Enhanced{.peerToPeer = true, .rtrRead = true, .ird = 16, .ord = 8}));
  EXPECT_EQ(p.answer(offering(false, true, false))->rtrRead, true); // p2p_type, whatever the Request names
  EXPECT_FALSE(p.answer(offering(true, false, false))->peerToPeer);
  EXPECT_FALSE(p.answer(clientServer)->peerToPeer);
  EXPECT_EQ(p.answer(depths(3, 100))->ird, 32);
  EXPECT_EQ(p.answer(depths(3, 100))->ord, 3);
}

TEST(Profiles, Cxgb4TakesNoOtherRtrThanRead) {
  const auto& p = profile("cxgb4");

  EXPECT_EQ(p.conclude(p.request, offering(false, false, true)), (Conclusion{.rtr = {Rtr::Read}}));
  for (const auto& reply : {all, offering(false, true, false), offering(true, false, false), clientServer})
    EXPECT_EQ(p.conclude(p.request, reply).terminate, (TermCode{2, 3, 7}));
  Enhanced reply = offering(false, false, true);
  reply.ord = 32; // above its IRD, which it raises
  EXPECT_TRUE(p.conclude(p.request, reply).rtr.size());
  reply.ord = 33;
  EXPECT_EQ(p.conclude(p.request, reply).terminate, (TermCode{2, 3, 6}));
}

TEST(Profiles, Cxgb4HasRoomFor256OctetsOfPrivateData) {
  const auto& p = profile("cxgb4");
  StartupFrame request{.enhanced = all, .revision = 2, .privateData = Bytes(252)};

  EXPECT_TRUE(p.makeReply(request));
  request.privateData.resize(253);
  EXPECT_FALSE(p.makeReply(request));
  request.enhanced.reset();
  request.revision = 1;
  request.privateData.resize(256);
  EXPECT_TRUE(p.makeReply(request));
  EXPECT_EQ(p.makeReply(request)->revision, 1);
}

TEST(Profiles, RevisionAboveTheirOwnIsReset) {
  const StartupFrame request{.enhanced = all, .revision = 2};

  for (const auto& p : profiles())
    EXPECT_EQ(p.makeReply(request).has_value(), p.revision == 2) << p.name;
}

TEST(Profiles, IrdmaWantsPeerToPeerAndPrefersRead) {
  const auto& p = profile("irdma");

  EXPECT_EQ(hex(p.request.encode()), "8008c008");
  EXPECT_EQ(p.answer(all), (Enhanced{.peerToPeer = true, .rtrRead = true, .ird = 127, .ord = 16}));
  EXPECT_EQ(p.answer(offering(true, true, false)), (Enhanced{.peerToPeer = true, .rtrWrite = true, .ird = 127, .ord = 16}));
  EXPECT_FALSE(p.answer(offering(true, false, false)));
  EXPECT_FALSE(p.answer(clientServer));
  EXPECT_EQ(p.answer(depths(16, 0))->ird, 1);
  for (const auto& open : {depths(notNegotiated, 5), depths(5, notNegotiated)}) {
    EXPECT_EQ(p.answer(open)->ird, notNegotiated);
    EXPECT_EQ(p.answer(open)->ord, notNegotiated);
  }
}

TEST(Profiles, IrdmaResetsWhatDoesNotSuitIt) {
  const auto& p = profile("irdma");

  EXPECT_EQ(p.conclude(p.request, depths(16, 8)), (Conclusion{.rtr = {Rtr::Read}}));
  EXPECT_EQ(p.conclude(depths(16, 16), offering(false, true, false)), (Conclusion{.rtr = {Rtr::Write}}));
  EXPECT_EQ(p.conclude(p.request, depths(notNegotiated, 99)), (Conclusion{.rtr = {Rtr::Read}}));
  for (const auto& reply : {clientServer, offering(true, false, false), depths(0, 8), depths(16, 9)})
    EXPECT_EQ(p.conclude(p.request, reply), (Conclusion{.reset = true}));
}

TEST(Profiles, QedrNamesTheCommonRtrsOrAll) {
  const auto& p = profile("qedr");

  EXPECT_EQ(hex(p.request.encode()), "c008c008");
  EXPECT_EQ(p.answer(offering(true, false, true)),
            (Enhanced{.peerToPeer = true, .rtrSend = true, .rtrRead = true, .ird = 8, .ord = 8}));
  EXPECT_EQ(p.answer(offering(false, false, false)),
            (Enhanced{.peerToPeer = true, .rtrSend = true, .rtrWrite = true, .rtrRead = true, .ird = 8, .ord = 8}));
  EXPECT_EQ(p.answer(clientServer), (Enhanced{.ird = 8, .ord = 8}));
  EXPECT_EQ(p.answer(depths(3, 16))->ord, 3);
  EXPECT_EQ(p.conclude(p.request, depths(16, 8)), (Conclusion{.rtr = {Rtr::Send, Rtr::Write, Rtr::Read}}));
  EXPECT_EQ(p.conclude(p.request, depths(16, 9)).terminate, (TermCode{2, 0, 6}));
  EXPECT_EQ(p.conclude(p.request, {.ird = 8, .ord = 8}).terminate, (TermCode{2, 0, 7}));
}

// [MS-SMBD] section 6.1: IRD, then ORD, 32 bits each, in network order.
TEST(Profiles, SmbDirectHasItsDepthsInThePrivateData) {
  const auto& p = profile("smbd");

  EXPECT_EQ(hex(p.privateData), "0000000800000008");
  EXPECT_EQ(hex(p.makeReply({.revision = 1})->encode()).substr(32), "40010008"
                                                                    "0000000800000008");
}

} // namespace
} // namespace peer

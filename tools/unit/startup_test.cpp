// SPDX-License-Identifier: GPL-2.0
// Request and Reply frames on the wire: RFC 5044 section 7.1.1, RFC 6581 sections 6 and 9.
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "octets.hpp"
#include "pure.hpp"

namespace unit {
namespace {

const char* const requestKey = "4d 50 41 20 49 44 20 52 65 71 20 46 72 61 6d 65 ";
const char* const replyKey = "4d 50 41 20 49 44 20 52 65 70 20 46 72 61 6d 65 ";

Octets request(const std::string& rest) {
  return hex(requestKey + rest);
}
Octets reply(const std::string& rest) {
  return hex(replyKey + rest);
}

/** The result of mpa_startup_parse() for the first @p have octets; the parser gets no others. */
struct Parsed {
  int result;
  mpa_offer offer{};
  Octets privateData;

  Parsed(const Octets& stream, std::size_t have, bool isReply, std::uint8_t maxRev = 2) {
    const Exact octets(stream, have);
    result = mpa_startup_parse(octets.data(), static_cast<__u32>(have), isReply, maxRev, &offer);
    if (result > 0)
      privateData.assign(octets.data() + result - offer.pd_len, octets.data() + result);
  }
  Parsed(const Octets& stream, bool isReply, std::uint8_t maxRev = 2) : Parsed(stream, stream.size(), isReply, maxRev) {}
};

Octets built(bool isReply, const mpa_offer& offer, const Octets& privateData = {}) {
  Octets frame(MPA_STARTUP_MAX_LEN, 0xcc);
  const int length = mpa_startup_build(frame.data(), isReply, &offer, privateData.data());
  if (length < 0) {
    ADD_FAILURE() << "build: " << length;
    return {};
  }
  frame.resize(static_cast<std::size_t>(length));
  return frame;
}

Octets ascending(std::size_t length) {
  Octets out(length);
  for (std::size_t i = 0; i < length; i++)
    out[i] = static_cast<std::uint8_t>(i * 7 + 3);
  return out;
}

/** Every prefix of @p frame needs more octets, and the whole frame gives its own length with or without octets behind it. */
void expectCompleteAtTheEnd(const Octets& frame, bool isReply) {
  for (std::size_t have = 0; have < frame.size(); have++)
    ASSERT_EQ(Parsed(frame, have, isReply).result, -EAGAIN) << "after " << have << " octets";
  EXPECT_EQ(Parsed(frame, isReply).result, static_cast<int>(frame.size()));
  EXPECT_EQ(Parsed(frame + hex("00000000 002a 4143"), isReply).result, static_cast<int>(frame.size()));
}

/** The frame is refused with @p error at octet @p at (counted from 0), not earlier. */
void expectRefusedAt(const Octets& frame, bool isReply, std::size_t at, int error, std::uint8_t maxRev = 2) {
  for (std::size_t have = 0; have <= at; have++)
    ASSERT_EQ(Parsed(frame, have, isReply, maxRev).result, -EAGAIN) << "after " << have << " octets";
  for (std::size_t have = at + 1; have <= frame.size(); have++)
    ASSERT_EQ(Parsed(frame, have, isReply, maxRev).result, error) << "after " << have << " octets";
}

TEST(StartupBuild, STA_01_STA_02_STA_03_STA_04_STA_05_STA_20_HeaderOctets) {
  const struct {
    const char* what;
    bool isReply;
    mpa_offer offer;
    const char* rest;
  } rows[] = {
      {"plain", false, {.rev = 1}, "00 01 0000"},
      {"Markers", false, {.rev = 1, .markers = true}, "80 01 0000"},
      {"CRC", false, {.rev = 1, .crc = true}, "40 01 0000"},
      {"Markers and CRC", false, {.rev = 1, .markers = true, .crc = true}, "c0 01 0000"},
      {"R is zero in a Request", false, {.rev = 1, .crc = true, .reject = true}, "40 01 0000"},
      {"accepted", true, {.rev = 1, .crc = true}, "40 01 0000"},
      {"rejected", true, {.rev = 1, .markers = true, .crc = true, .reject = true}, "e0 01 0000"},
      {"revision 2 without S", false, {.rev = 2, .crc = true}, "40 02 0000"},
      {"revision 0", false, {.rev = 0, .markers = true, .crc = true}, "c0 00 0000"},
      {"STA-20 large FPDUs", false, {.rev = 1, .crc = true, .large = true}, "48 01 0000"},
      {"STA-20 large FPDUs, revision 2", true, {.rev = 2, .crc = true, .large = true}, "48 02 0000"},
      {"STA-20 not in revision 0", false, {.rev = 0, .markers = true, .crc = true, .large = true}, "c0 00 0000"},
      {"STA-20 not in a Reply of revision 0", true, {.rev = 0, .markers = true, .crc = true, .large = true}, "c0 00 0000"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(built(row.isReply, row.offer), row.isReply ? reply(row.rest) : request(row.rest)) << row.what;
}

TEST(StartupBuild, STA_08_PrivateDataFollowsTheHeader) {
  EXPECT_EQ(built(false, {.rev = 1, .pd_len = 3}, hex("aa bb cc")), request("00 01 0003 aa bb cc"));
  const Octets most = ascending(512);
  EXPECT_EQ(built(true, {.rev = 1, .pd_len = 512}, most), reply("00 01 0200") + most);
}

TEST(StartupBuild, STA_07_ENH_02_TooMuchPrivateData) {
  const Octets data = ascending(600);
  Octets frame(MPA_STARTUP_MAX_LEN);
  mpa_offer offer{.rev = 1, .pd_len = 513};
  EXPECT_EQ(mpa_startup_build(frame.data(), false, &offer, data.data()), -EMSGSIZE);
  offer = {.rev = 2, .enhanced = true, .pd_len = 509};
  EXPECT_EQ(mpa_startup_build(frame.data(), false, &offer, data.data()), -EMSGSIZE);
  offer.pd_len = 508;
  EXPECT_EQ(mpa_startup_build(frame.data(), false, &offer, data.data()), 532);
  offer.pd_len = 0xffff;
  EXPECT_EQ(mpa_startup_build(frame.data(), false, &offer, data.data()), -EMSGSIZE);
}

TEST(StartupBuild, STA_20_ENH_02_ENH_05_EnhancedOctets) {
  const struct {
    const char* what;
    mpa_offer offer;
    const char* rest;
  } rows[] = {
      {"client and server", {.rev = 2, .crc = true, .enhanced = true, .ird = 1, .ord = 2}, "50 02 0004 0001 0002"},
      {"widest depths", {.rev = 2, .enhanced = true, .ird = 0x3ffe, .ord = 0x3fff}, "10 02 0004 3ffe 3fff"},
      {"A without a kind", {.rev = 2, .enhanced = true, .p2p = true, .ird = 5, .ord = 6}, "10 02 0004 8005 0006"},
      {"B: Send", {.rev = 2, .enhanced = true, .p2p = true, .rtr = MPA_RTR_SEND, .ird = 5, .ord = 6}, "10 02 0004 c005 0006"},
      {"C: Write", {.rev = 2, .enhanced = true, .p2p = true, .rtr = MPA_RTR_WRITE, .ird = 5, .ord = 6}, "10 02 0004 8005 8006"},
      {"D: Read", {.rev = 2, .enhanced = true, .p2p = true, .rtr = MPA_RTR_READ, .ird = 5, .ord = 6}, "10 02 0004 8005 4006"},
      {"all", {.rev = 2, .enhanced = true, .p2p = true, .rtr = 7, .ird = 0x3fff, .ord = 0x3fff}, "10 02 0004 ffff ffff"},
      {"STA-20 beside S", {.rev = 2, .enhanced = true, .large = true, .ird = 1, .ord = 2}, "18 02 0004 0001 0002"},
      {"B, C, D are zero when A is", {.rev = 2, .enhanced = true, .rtr = 7, .ird = 5, .ord = 6}, "10 02 0004 0005 0006"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(built(false, row.offer), request(row.rest)) << row.what;
    EXPECT_EQ(built(true, row.offer), reply(row.rest)) << row.what;
  }
}

TEST(StartupBuild, ENH_02_EnhancedDataComesFirst) {
  EXPECT_EQ(built(false, {.rev = 2, .enhanced = true, .ird = 1, .ord = 2, .pd_len = 2}, hex("aabb")),
            request("10 02 0006 0001 0002 aabb"));
}

TEST(StartupBuild, ENH_02_RefusesWhatTheFrameCannotHold) {
  Octets frame(MPA_STARTUP_MAX_LEN);
  const mpa_offer rows[] = {
      {.rev = 1, .enhanced = true},
      {.rev = 0, .enhanced = true},
      {.rev = 3},
      {.rev = 2, .enhanced = true, .ird = 0x4000},
      {.rev = 2, .enhanced = true, .ord = 0x4000},
  };
  for (const mpa_offer& offer : rows)
    EXPECT_EQ(mpa_startup_build(frame.data(), false, &offer, nullptr), -EINVAL);
}

TEST(StartupParse, STA_09_STA_11_STA_19_CutAtEveryOctet) {
  for (const char* rest :
       {"00 01 0000", "c0 01 0001 aa", "40 01 000a 00010203040506070809", "50 02 0004 0001 0002", "50 02 0006 8001 8002 aabb"}) {
    SCOPED_TRACE(rest);
    expectCompleteAtTheEnd(request(rest), false);
    expectCompleteAtTheEnd(reply(rest), true);
  }
}

TEST(StartupParse, STA_15_NothingThereYet) {
  mpa_offer offer;
  EXPECT_EQ(mpa_startup_parse(nullptr, 0, true, 2, &offer), -EAGAIN);
}

TEST(StartupParse, STA_02_STA_03_STA_04_STA_05_STA_08_STA_20_ENH_02_ENH_05_ENH_06_GoodFrames) {
  const struct {
    const char *what, *frame;
    bool isReply, markers, crc, reject, enhanced, large, p2p;
    int rtr;
    __u16 ird, ord, pd_len;
  } rows[] = {
#define GOOD(...) {__VA_ARGS__},
#define BAD(...)
#include "kunit/vectors/startup.inc"
#undef GOOD
#undef BAD
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const Octets frame = hex(row.frame);
    expectCompleteAtTheEnd(frame, row.isReply);
    const Parsed parsed(frame, row.isReply);
    EXPECT_EQ(parsed.offer.markers, row.markers);
    EXPECT_EQ(parsed.offer.crc, row.crc);
    EXPECT_EQ(parsed.offer.reject, row.reject);
    EXPECT_EQ(parsed.offer.enhanced, row.enhanced);
    EXPECT_EQ(parsed.offer.large, row.large);
    EXPECT_EQ(parsed.offer.p2p, row.p2p);
    EXPECT_EQ(parsed.offer.rtr, row.rtr);
    EXPECT_EQ(parsed.offer.ird, row.ird);
    EXPECT_EQ(parsed.offer.ord, row.ord);
    EXPECT_EQ(parsed.privateData, Octets(frame.end() - row.pd_len, frame.end()));
  }
}

TEST(StartupParse, STA_01_STA_06_STA_07_STA_13_ENH_10_BadFrames) {
  const struct {
    const char *what, *frame;
    bool isReply;
    std::uint8_t maxRev;
    std::size_t at;
    int error;
  } rows[] = {
#define GOOD(...)
#define BAD(...) {__VA_ARGS__},
#include "kunit/vectors/startup.inc"
#undef GOOD
#undef BAD
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    expectRefusedAt(hex(row.frame), row.isReply, row.at, row.error, row.maxRev);
  }
}

TEST(StartupParse, STA_08_STA_15_CutAtEveryOctetOfTheLongest) {
  expectCompleteAtTheEnd(request("40 01 0200") + ascending(512), false);
  expectCompleteAtTheEnd(reply("50 02 0200 0001 0002") + ascending(508), true);
}

TEST(StartupParse, STA_08_PrivateDataReachesTheUlp) {
  for (const std::size_t length : {0u, 1u, 251u, 252u, 255u, 256u, 257u, 511u, 512u}) {
    const Octets data = ascending(length);
    const Parsed parsed(request("40 01") + bigEndian(length, 2) + data, false);
    EXPECT_EQ(parsed.result, static_cast<int>(20 + length));
    EXPECT_EQ(parsed.offer.pd_len, length);
    EXPECT_EQ(parsed.privateData, data);
  }
}

TEST(StartupParse, ENH_02_PrivateDataBehindTheEnhancedData) {
  for (const std::size_t length : {0u, 1u, 252u, 256u, 508u}) {
    const Octets data = ascending(length);
    const Parsed parsed(request("50 02") + bigEndian(length + 4, 2) + hex("0011 0022") + data, false);
    EXPECT_EQ(parsed.result, static_cast<int>(24 + length));
    EXPECT_EQ(parsed.offer.pd_len, length);
    EXPECT_EQ(parsed.privateData, data);
    EXPECT_EQ(parsed.offer.ird, 0x11);
    EXPECT_EQ(parsed.offer.ord, 0x22);
  }
}

TEST(StartupParse, STA_01_WrongKeyIsSeenAtItsFirstWrongOctet) {
  for (std::size_t i = 0; i < 16; i++)
    for (const std::uint8_t flip : {0x01, 0x20, 0x80, 0xff}) {
      // Octet 9 with its lowest bit flipped makes the other key, which has its own tests.
      if (i == 9 && flip == 0x01)
        continue;
      SCOPED_TRACE(testing::Message() << "octet " << i << " flipped by " << int{flip});
      Octets frame = request("40 01 0000");
      frame[i] ^= flip;
      expectRefusedAt(frame, false, i, -EPROTO);
      frame = reply("40 01 0000");
      frame[i] ^= flip;
      expectRefusedAt(frame, true, i, -EPROTO);
    }
}

TEST(StartupParse, STA_13_TwoInitiatorsAreTold) {
  expectRefusedAt(request("40 01 0000"), true, 9, -EISCONN);
  expectRefusedAt(request("40 01 0004 aabbccdd"), true, 9, -EISCONN);
}

TEST(StartupParse, STA_01_STA_14_ReplyWhereARequestIsExpected) {
  expectRefusedAt(reply("40 01 0000"), false, 9, -EPROTO);
}

TEST(StartupParse, ENB_01_ENB_02_OtherProtocolsAreRefusedAtOnce) {
  for (const std::string text : {"GET / HTTP/1.1\r\n", "HTTP/1.1 400 Bad Request\r\n", "SSH-2.0-OpenSSH_9.2\r\n",
                                 "220 mail ESMTP\r\n", "Tue Nov 21 06:56:42 2023\r\n", " !\"#$%&'()*+,-./0123456789"}) {
    const Octets octets(text.begin(), text.end());
    expectRefusedAt(octets, true, 0, -EPROTO);
    expectRefusedAt(octets, false, 0, -EPROTO);
  }
  const std::string monday = "Mon Nov 20 06:56:42 2023\r\n";
  expectRefusedAt(Octets(monday.begin(), monday.end()), true, 1, -EPROTO);
  const std::string nearly = "MPA id Req Frame";
  expectRefusedAt(Octets(nearly.begin(), nearly.end()), false, 4, -EPROTO);
  expectRefusedAt(hex("00 2a 4143"), true, 0, -EPROTO);  // an FPDU without startup
  expectRefusedAt(hex("e9 7a 3b 00"), true, 0, -EPROTO); // the time protocol
}

TEST(StartupParse, STA_06_RevisionIsCheckedAtItsOctet) {
  expectRefusedAt(request("40 03 0000"), false, 17, -EPROTONOSUPPORT);
  expectRefusedAt(request("40 ff 0000"), false, 17, -EPROTONOSUPPORT);
  expectRefusedAt(request("40 02 0000"), false, 17, -EPROTONOSUPPORT, 1);
  expectRefusedAt(reply("40 02 0000"), true, 17, -EPROTONOSUPPORT, 1);
  EXPECT_EQ(Parsed(request("40 02 0000"), false, 2).result, 20);
  EXPECT_EQ(Parsed(request("40 01 0000"), false, 1).result, 20);
}

TEST(StartupParse, STA_06_RefusedRevisionIsReported) {
  EXPECT_EQ(Parsed(request("c0 07 0000"), false).offer.rev, 7);
}

// Support for revision 0 is checked only when the whole frame has arrived, because a refusal is also an answer.
TEST(StartupParse, RDC_01_RDC_04_Revision0IsReadAnyhow) {
  expectCompleteAtTheEnd(request("c0 00 0003 aabbcc"), false);
  expectCompleteAtTheEnd(reply("c0 00 0000"), true);
  EXPECT_EQ(Parsed(request("c0 00 0000"), false, 1).offer.rev, 0);
}

TEST(StartupParse, STA_07_TooMuchPrivateData) {
  expectRefusedAt(request("40 01 0201"), false, 19, -EMSGSIZE);
  expectRefusedAt(request("40 01 02ff"), false, 19, -EMSGSIZE);
  expectRefusedAt(request("40 01 0300"), false, 18, -EMSGSIZE);
  expectRefusedAt(reply("40 01 ffff"), true, 18, -EMSGSIZE);
  expectRefusedAt(reply("50 02 0201 0001 0002"), true, 19, -EMSGSIZE);
}

TEST(StartupParse, ENH_10_NoRoomForTheEnhancedData) {
  for (const char* rest : {"50 02 0000", "50 02 0001 aa", "50 02 0002 aaaa", "50 02 0003 aaaaaa"}) {
    expectRefusedAt(request(rest), false, 19, -EPROTO);
    expectRefusedAt(reply(rest), true, 19, -EPROTO);
  }
}

TEST(StartupParse, STA_02_STA_03_STA_04_STA_05_STA_20_EveryFlagsOctet) {
  for (unsigned flags = 0; flags < 256; flags++) {
    SCOPED_TRACE(flags);
    const Octets rest = bigEndian(flags, 1) + hex("02 0004 0001 0002");
    const Parsed req(hex(requestKey) + rest, false);
    const Parsed rep(hex(replyKey) + rest, true);
    for (const Parsed* parsed : {&req, &rep}) {
      ASSERT_EQ(parsed->result, 24);
      EXPECT_EQ(parsed->offer.rev, 2);
      EXPECT_EQ(parsed->offer.markers, (flags & 0x80) != 0);
      EXPECT_EQ(parsed->offer.crc, (flags & 0x40) != 0);
      EXPECT_EQ(parsed->offer.enhanced, (flags & 0x10) != 0);
      EXPECT_EQ(parsed->offer.large, (flags & 0x08) != 0);
      EXPECT_EQ(parsed->offer.pd_len, flags & 0x10 ? 0 : 4);
    }
    EXPECT_FALSE(req.offer.reject); // not checked in a Request
    EXPECT_EQ(rep.offer.reject, (flags & 0x20) != 0);
  }
}

TEST(StartupParse, ENH_04_WithoutEnhancedDataNothingIsNegotiated) {
  const Parsed parsed(request("40 01 0004 0001 0002"), false);
  EXPECT_EQ(parsed.offer.ird, 0x3fff);
  EXPECT_EQ(parsed.offer.ord, 0x3fff);
}

TEST(StartupRoundTrip, STA_08_ENH_02_ParseReturnsWhatBuildWasGiven) {
  for (unsigned bits = 0; bits < 128; bits++)
    for (const __u16 length : {0, 1, 508}) {
      SCOPED_TRACE(testing::Message() << bits << ", " << length << " octets");
      const bool enhanced = bits & 1;
      const bool p2p = enhanced && bits & 2;
      const mpa_offer offer{.rev = static_cast<__u8>(enhanced ? 2 : 1),
                            .markers = (bits & 4) != 0,
                            .crc = (bits & 8) != 0,
                            .reject = (bits & 16) != 0,
                            .enhanced = enhanced,
                            .large = (bits & 32) != 0,
                            .p2p = p2p,
                            .rtr = static_cast<__u8>(p2p ? bits % 7 + 1 : 0),
                            .ird = static_cast<__u16>(enhanced ? bits * 128 : 0x3fff),
                            .ord = static_cast<__u16>(enhanced ? 0x3fff - bits : 0x3fff),
                            .pd_len = length};
      const Octets data = ascending(length);
      const Parsed parsed(built(true, offer, data), true);
      ASSERT_GT(parsed.result, 0);
      EXPECT_EQ(parsed.privateData, data);
      EXPECT_EQ(parsed.offer.rev, offer.rev);
      EXPECT_EQ(parsed.offer.markers, offer.markers);
      EXPECT_EQ(parsed.offer.crc, offer.crc);
      EXPECT_EQ(parsed.offer.reject, offer.reject);
      EXPECT_EQ(parsed.offer.enhanced, offer.enhanced);
      EXPECT_EQ(parsed.offer.large, offer.large);
      EXPECT_EQ(parsed.offer.p2p, offer.p2p);
      EXPECT_EQ(parsed.offer.rtr, offer.rtr);
      EXPECT_EQ(parsed.offer.ird, offer.ird);
      EXPECT_EQ(parsed.offer.ord, offer.ord);
      EXPECT_EQ(parsed.offer.pd_len, length);
    }
}

} // namespace
} // namespace unit

// SPDX-License-Identifier: GPL-2.0
// DDP segments: RFC 5041 sections 4, 5.2 and 7, RFC 5040 section 4. Each fault yields the code for the Terminate.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "octets.hpp"
#include "pure.hpp"

namespace unit {
namespace {

/** Layer, type and code of RFC 5040 Figure 9 and RFC 5041 section 7.2, as numbers. */
struct Code {
  int layer, etype, ecode;
};

constexpr Code unspecified{0, 2, 0xff};
constexpr Code rdmapVersion{0, 2, 0x05};
constexpr Code unexpectedOpcode{0, 2, 0x06};
constexpr Code taggedVersion{1, 1, 0x04};
constexpr Code invalidQn{1, 2, 0x01};
constexpr Code invalidMo{1, 2, 0x04};
constexpr Code tooLong{1, 2, 0x05};
constexpr Code untaggedVersion{1, 2, 0x06};

/** A segment that this file encodes field by field. */
struct Wire {
  int ddp_ctrl, rdmap_ctrl;
  std::uint32_t stag = 0;
  std::uint64_t to = 0;
  std::uint32_t qn = 0, msn = 1, mo = 0;
  std::size_t payload = 0;

  Octets octets() const {
    const auto control = static_cast<unsigned>(ddp_ctrl << 8 | rdmap_ctrl);
    const Octets head = bigEndian(control, 2) + bigEndian(stag, 4);
    const Octets rest = ddp_ctrl & 0x80 ? bigEndian(to, 8) : bigEndian(qn, 4) + bigEndian(msn, 4) + bigEndian(mo, 4);
    return head + rest + Octets(payload, 0xda);
  }
};

/** A valid last segment of each message (RFC 5040 Figure 4). */
Wire valid(int opcode) {
  Wire wire{.ddp_ctrl = 0x41, .rdmap_ctrl = 0x40 | opcode};
  switch (opcode) {
  case 0:
  case 2:
    wire.ddp_ctrl = 0xc1;
    wire.stag = 0x11223344;
    wire.to = 0x0102030405060708;
    wire.payload = 100;
    break;
  case 1:
    wire.qn = 1;
    wire.payload = 28;
    break;
  case 7:
    wire.qn = 2;
    wire.payload = 4;
    break;
  default:
    wire.payload = 24;
  }
  return wire;
}

struct Parsed {
  int result;
  ddp_segment segment{};
  rdmap_error error{0xee, 0xee, 0xee};

  /** @p ulpduLength octets, of which the parser gets the first 18 at most. */
  Parsed(const Octets& octets, std::size_t ulpduLength, std::uint8_t version = 1) {
    const Exact header(octets, std::min<std::size_t>(ulpduLength, 18));
    result = rdmap_segment_parse(header.data(), static_cast<__u32>(ulpduLength), version, &segment, &error);
  }
  explicit Parsed(const Wire& wire, std::uint8_t version = 1) : Parsed(wire.octets(), wire.octets().size(), version) {}
};

void expectCode(const Parsed& parsed, const Code& code) {
  EXPECT_EQ(parsed.result, -EPROTO);
  EXPECT_EQ(parsed.error.layer, code.layer);
  EXPECT_EQ(parsed.error.etype, code.etype);
  EXPECT_EQ(parsed.error.ecode, code.ecode);
}

bool isTagged(int opcode) {
  return opcode == 0 || opcode == 2;
}

TEST(DdpParse, RFC5040_4_EveryMessage) {
  for (int opcode = 0; opcode < 8; opcode++) {
    SCOPED_TRACE(opcode);
    const Wire wire = valid(opcode);
    const Parsed parsed(wire);
    ASSERT_EQ(parsed.result, 0);
    EXPECT_EQ(parsed.segment.opcode, opcode);
    EXPECT_EQ(parsed.segment.tagged, isTagged(opcode));
    EXPECT_TRUE(parsed.segment.last);
    EXPECT_EQ(parsed.segment.hdr_len, isTagged(opcode) ? 14 : 18);
    EXPECT_EQ(parsed.segment.payload_len, wire.payload);
    EXPECT_EQ(parsed.segment.stag, wire.stag);
    EXPECT_EQ(parsed.segment.to, wire.to);
    EXPECT_EQ(parsed.segment.qn, wire.qn);
    EXPECT_EQ(parsed.segment.msn, isTagged(opcode) ? 0 : 1);
    EXPECT_EQ(parsed.segment.mo, 0u);
  }
}

TEST(DdpParse, RFC5040_4_GoodSegments) {
  const struct {
    const char *what, *header;
    std::size_t length;
    std::uint8_t version;
    int opcode;
    bool tagged, last;
    std::uint32_t payload;
  } rows[] = {
#define GOOD(...) {__VA_ARGS__},
#define BAD(...)
#include "kunit/vectors/ddp.inc"
#undef GOOD
#undef BAD
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const Parsed parsed(hex(row.header) + Octets(18), row.length, row.version);
    ASSERT_EQ(parsed.result, 0);
    EXPECT_EQ(parsed.segment.opcode, row.opcode);
    EXPECT_EQ(parsed.segment.tagged, row.tagged);
    EXPECT_EQ(parsed.segment.last, row.last);
    EXPECT_EQ(parsed.segment.payload_len, row.payload);
  }
}

TEST(DdpParse, RFC5040_Figure9_RFC5041_7_2_BadSegments) {
  const struct {
    const char *what, *header;
    std::size_t length;
    std::uint8_t version;
    Code code;
  } rows[] = {
#define GOOD(...)
#define BAD(what, header, length, version, ...) {what, header, length, version, {__VA_ARGS__}},
#include "kunit/vectors/ddp.inc"
#undef GOOD
#undef BAD
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    expectCode(Parsed(hex(row.header) + Octets(18), row.length, row.version), row.code);
  }
}

TEST(DdpParse, RFC5041_4_FieldsOfAnUntaggedSegment) {
  const Octets octets = hex("01 46 deadbeef 00000000 fffffffe 80000001");
  const Parsed parsed(octets, 1500);
  ASSERT_EQ(parsed.result, 0);
  EXPECT_EQ(parsed.segment.opcode, RDMAP_SEND_SE_INVAL);
  EXPECT_FALSE(parsed.segment.tagged);
  EXPECT_FALSE(parsed.segment.last);
  EXPECT_EQ(parsed.segment.payload_len, 1482u);
  EXPECT_EQ(parsed.segment.stag, 0xdeadbeefu);
  EXPECT_EQ(parsed.segment.qn, 0u);
  EXPECT_EQ(parsed.segment.msn, 0xfffffffeu);
  EXPECT_EQ(parsed.segment.mo, 0x80000001u);
}

TEST(DdpParse, RFC5041_4_FieldsOfATaggedSegment) {
  const Parsed parsed(hex("81 42 cafef00d fedcba9876543210 00000000"), 64768);
  ASSERT_EQ(parsed.result, 0);
  EXPECT_EQ(parsed.segment.opcode, RDMAP_READ_RESPONSE);
  EXPECT_TRUE(parsed.segment.tagged);
  EXPECT_FALSE(parsed.segment.last);
  EXPECT_EQ(parsed.segment.payload_len, 64754u);
  EXPECT_EQ(parsed.segment.stag, 0xcafef00du);
  EXPECT_EQ(parsed.segment.to, 0xfedcba9876543210u);
}

TEST(DdpParse, RFC5044_Figure5) {
  const Parsed parsed(hex("41 43 00000000 00000000 00000001 00000000"), 42);
  ASSERT_EQ(parsed.result, 0);
  EXPECT_EQ(parsed.segment.opcode, RDMAP_SEND);
  EXPECT_EQ(parsed.segment.msn, 1u);
  EXPECT_EQ(parsed.segment.payload_len, 24u);
}

TEST(DdpParse, RFC5041_5_ZeroLengthMessages) {
  for (const int opcode : {0, 2, 3, 4, 5, 6}) {
    Wire wire = valid(opcode);
    wire.payload = 0;
    const Parsed parsed(wire);
    EXPECT_EQ(parsed.result, 0) << opcode;
    EXPECT_EQ(parsed.segment.payload_len, 0u) << opcode;
  }
}

TEST(DdpParse, RFC5040_4_ReservedBitsAreIgnored) {
  for (int opcode = 0; opcode < 8; opcode++) {
    Wire wire = valid(opcode);
    wire.ddp_ctrl |= 0x3c;
    wire.rdmap_ctrl |= 0x30;
    if (!isTagged(opcode))
      wire.stag = 0xffffffff; // ignored, or an Invalidate STag, which the caller checks
    const Parsed parsed(wire);
    EXPECT_EQ(parsed.result, 0) << opcode;
    EXPECT_EQ(parsed.segment.opcode, opcode);
  }
}

TEST(DdpParse, RFC5041_7_DdpVersion) {
  for (int opcode = 0; opcode < 8; opcode++)
    for (const int version : {0, 2, 3}) {
      SCOPED_TRACE(testing::Message() << "opcode " << opcode << " version " << version);
      Wire wire = valid(opcode);
      wire.ddp_ctrl = (wire.ddp_ctrl & ~3) | version;
      expectCode(Parsed(wire), isTagged(opcode) ? taggedVersion : untaggedVersion);
    }
}

TEST(DdpParse, RFC5040_4_8_RdmapVersion) {
  for (int opcode = 0; opcode < 8; opcode++)
    for (const int version : {0, 2, 3}) {
      SCOPED_TRACE(testing::Message() << "opcode " << opcode << " version " << version);
      Wire wire = valid(opcode);
      wire.rdmap_ctrl = version << 6 | opcode;
      expectCode(Parsed(wire), rdmapVersion);
    }
}

TEST(DdpParse, RFC5040_4_8_OpcodeThatDoesNotExist) {
  for (int opcode = 8; opcode < 16; opcode++)
    for (const int like : {0, 1, 3, 7}) {
      SCOPED_TRACE(testing::Message() << "opcode " << opcode << " in a header like that of " << like);
      Wire wire = valid(like);
      wire.rdmap_ctrl = 0x40 | opcode;
      expectCode(Parsed(wire), unexpectedOpcode);
    }
}

TEST(DdpParse, RFC5040_4_8_OpcodeInTheWrongBufferModel) {
  for (int opcode = 0; opcode < 8; opcode++) {
    SCOPED_TRACE(opcode);
    if (isTagged(opcode)) {
      for (const std::uint32_t qn : {0u, 1u, 2u})
        expectCode(Parsed(Wire{.ddp_ctrl = 0x41, .rdmap_ctrl = 0x40 | opcode, .qn = qn, .payload = 28}), unexpectedOpcode);
    } else {
      expectCode(Parsed(Wire{.ddp_ctrl = 0xc1, .rdmap_ctrl = 0x40 | opcode, .payload = 28}), unexpectedOpcode);
    }
  }
}

TEST(DdpParse, RFC5041_7_QueueThatDoesNotExist) {
  for (const int opcode : {1, 3, 4, 5, 6, 7})
    for (const std::uint32_t qn : {3u, 4u, 0x100u, 0x01000000u, 0xffffffffu}) {
      SCOPED_TRACE(testing::Message() << "opcode " << opcode << " queue " << qn);
      Wire wire = valid(opcode);
      wire.qn = qn;
      expectCode(Parsed(wire), invalidQn);
    }
}

TEST(DdpParse, RFC5040_4_8_OpcodeOnAnotherQueue) {
  for (const int opcode : {1, 3, 4, 5, 6, 7})
    for (const std::uint32_t qn : {0u, 1u, 2u}) {
      Wire wire = valid(opcode);
      if (wire.qn == qn)
        continue;
      SCOPED_TRACE(testing::Message() << "opcode " << opcode << " queue " << qn);
      wire.qn = qn;
      expectCode(Parsed(wire), unexpectedOpcode);
    }
}

TEST(DdpParse, RFC5041_4_ShorterThanTheHeader) {
  for (int opcode = 0; opcode < 8; opcode++) {
    const Octets octets = valid(opcode).octets();
    for (std::size_t length = 0; length < (isTagged(opcode) ? 14 : 18); length++) {
      SCOPED_TRACE(testing::Message() << "opcode " << opcode << ", " << length << " octets");
      expectCode(Parsed(octets, length), unspecified);
    }
  }
}

TEST(DdpParse, RFC5041_7_VersionCountsBeforeTheLength) {
  for (std::size_t length = 1; length < 18; length++) {
    expectCode(Parsed(hex("42 43") + Octets(16), length), untaggedVersion);
    expectCode(Parsed(hex("c2 40") + Octets(16), length), taggedVersion);
  }
}

TEST(DdpParse, RFC5040_4_4_ReadRequestLength) {
  for (std::size_t payload = 0; payload < 64; payload++) {
    SCOPED_TRACE(payload);
    Wire wire = valid(1);
    wire.payload = payload;
    const Parsed parsed(wire);
    if (payload == 28) {
      EXPECT_EQ(parsed.result, 0);
      continue;
    }
    expectCode(parsed, payload < 28 ? unspecified : tooLong);
  }
}

TEST(DdpParse, RFC5041_7_ReadRequestOffset) {
  for (const std::uint32_t mo : {1u, 27u, 28u, 0x01000000u, 0xffffffffu}) {
    Wire wire = valid(1);
    wire.mo = mo;
    SCOPED_TRACE(mo);
    expectCode(Parsed(wire), invalidMo);
  }
}

TEST(DdpParse, RFC5041_7_ReadRequestThatGoesOn) {
  Wire wire = valid(1);
  wire.ddp_ctrl = 0x01;
  expectCode(Parsed(wire), tooLong);
}

TEST(DdpParse, RFC5040_4_8_TerminateLength) {
  for (std::size_t payload = 0; payload < 64; payload++) {
    SCOPED_TRACE(payload);
    Wire wire = valid(7);
    wire.payload = payload;
    const Parsed parsed(wire);
    if (payload >= 4) {
      EXPECT_EQ(parsed.result, 0);
      continue;
    }
    expectCode(parsed, unspecified);
  }
}

TEST(DdpParse, RFC5041_7_TerminateInPieces) {
  Wire wire = valid(7);
  wire.mo = 4;
  expectCode(Parsed(wire), invalidMo);
  wire = valid(7);
  wire.ddp_ctrl = 0x01;
  expectCode(Parsed(wire), unspecified);
}

// With two faults, the lower layer's is reported.
TEST(DdpParse, RFC5040_7_2_DdpIsCheckedBeforeRdmap) {
  Wire wire{.ddp_ctrl = 0x42, .rdmap_ctrl = 0x8f, .qn = 9};
  expectCode(Parsed(wire), untaggedVersion);
  wire.ddp_ctrl = 0x41;
  expectCode(Parsed(wire), invalidQn);
  wire.qn = 1;
  wire.mo = 1;
  wire.payload = 29;
  expectCode(Parsed(wire), invalidMo);
  wire.mo = 0;
  expectCode(Parsed(wire), tooLong);
  wire.payload = 27;
  expectCode(Parsed(wire), rdmapVersion);
  wire.rdmap_ctrl = 0x4f;
  expectCode(Parsed(wire), unexpectedOpcode);
  wire.rdmap_ctrl = 0x41;
  expectCode(Parsed(wire), unspecified);
  wire.payload = 28;
  EXPECT_EQ(Parsed(wire).result, 0);
}

TEST(DdpParse, RDC_03_Version0) {
  EXPECT_EQ(Parsed(hex("40 03 00000000 00000000 00000001 00000000"), 42, 0).result, 0);
  EXPECT_EQ(Parsed(hex("c0 00 00000000 0000000000000000 00000000"), 42, 0).result, 0);
  expectCode(Parsed(hex("41 43 00000000 00000000 00000001 00000000"), 42, 0), untaggedVersion);
  expectCode(Parsed(hex("c1 40 00000000 0000000000000000 00000000"), 42, 0), taggedVersion);
  expectCode(Parsed(hex("40 43 00000000 00000000 00000001 00000000"), 42, 0), rdmapVersion);
  expectCode(Parsed(hex("40 03 00000000 00000000 00000001 00000000"), 42, 1), untaggedVersion);
}

// For all values of the two control octets and the queue number, every accepted segment complies with the rules.
TEST(DdpParse, RFC5040_4_EveryControlOctet) {
  for (int ddp = 0; ddp < 256; ddp++)
    for (int rdmap = 0; rdmap < 256; rdmap++)
      for (const std::uint32_t qn : {0u, 1u, 2u, 3u}) {
        const Parsed parsed(Wire{.ddp_ctrl = ddp, .rdmap_ctrl = rdmap, .qn = qn, .payload = 28});
        const bool tagged = ddp & 0x80;
        const int opcode = rdmap & 0xf;
        bool good = (ddp & 3) == 1 && rdmap >> 6 == 1 && opcode < 8 && isTagged(opcode) == tagged;
        if (!tagged)
          good = good && qn == (opcode == 1 ? 1u : opcode == 7 ? 2u : 0u) && (qn == 0 || ddp & 0x40);
        ASSERT_EQ(parsed.result, good ? 0 : -EPROTO) << std::hex << ddp << ' ' << rdmap << " queue " << qn;
        ASSERT_EQ(parsed.error.layer == 0xee, good);
      }
}

Octets built(const ddp_segment& segment, std::uint8_t version = 1) {
  Octets header(DDP_MAX_HDR_LEN, 0xcc);
  header.resize(rdmap_segment_build(header.data(), &segment, version));
  return header;
}

TEST(DdpBuild, RFC5041_4_RFC5040_4_Octets) {
  const struct {
    const char* what;
    ddp_segment segment;
    const char* octets;
  } rows[] = {
      {"Write",
       {.opcode = 0, .tagged = true, .last = true, .stag = 0x11223344, .to = 0x0102030405060708},
       "c1 40 11223344 0102030405060708"},
      {"Write, not last", {.opcode = 0, .tagged = true, .stag = 1, .to = 2}, "81 40 00000001 0000000000000002"},
      {"Read Request", {.opcode = 1, .last = true, .qn = 1, .msn = 7}, "41 41 00000000 00000001 00000007 00000000"},
      {"Read Response",
       {.opcode = 2, .tagged = true, .last = true, .stag = 0xffffffff, .to = 0xffffffffffffffff},
       "c1 42 ffffffff ffffffffffffffff"},
      {"Send (RFC 5044 Figure 5)", {.opcode = 3, .last = true, .msn = 1}, "41 43 00000000 00000000 00000001 00000000"},
      {"Send, not last", {.opcode = 3, .msn = 2, .mo = 1482}, "01 43 00000000 00000000 00000002 000005ca"},
      {"Send with Invalidate",
       {.opcode = 4, .last = true, .stag = 0xdeadbeef, .msn = 0xffffffff},
       "41 44 deadbeef 00000000 ffffffff 00000000"},
      {"Send with SE", {.opcode = 5, .last = true, .msn = 0}, "41 45 00000000 00000000 00000000 00000000"},
      {"Send with SE and Invalidate",
       {.opcode = 6, .last = true, .stag = 0x80000001, .msn = 1},
       "41 46 80000001 00000000 00000001 00000000"},
      {"Terminate", {.opcode = 7, .last = true, .qn = 2, .msn = 1}, "41 47 00000000 00000002 00000001 00000000"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(built(row.segment), hex(row.octets)) << row.what;
}

TEST(DdpBuild, RFC5040_4_1_InvalidateStagIsZeroElsewhere) {
  for (const __u8 opcode : {1, 3, 5, 7}) {
    const ddp_segment segment{.opcode = opcode, .last = true, .stag = 0xdeadbeef, .msn = 1};
    const Octets octets = built(segment);
    EXPECT_EQ(Octets(octets.begin() + 2, octets.begin() + 6), hex("00000000")) << int{opcode};
  }
}

TEST(DdpBuild, RDC_03_Version0) {
  EXPECT_EQ(built({.opcode = 3, .last = true, .msn = 1}, 0), hex("40 03 00000000 00000000 00000001 00000000"));
  EXPECT_EQ(built({.opcode = 0, .tagged = true, .last = true}, 0), hex("c0 00 00000000 0000000000000000"));
}

TEST(DdpBuild, RFC5041_4_UnalignedHeader) {
  const ddp_segment segment{.opcode = 3, .last = true, .qn = 0, .msn = 0x01020304, .mo = 0x05060708};
  for (std::size_t offset = 0; offset < 4; offset++) {
    Octets room(offset + 18, 0xcc);
    EXPECT_EQ(rdmap_segment_build(room.data() + offset, &segment, 1), 18u);
    EXPECT_EQ(Octets(room.begin() + static_cast<std::ptrdiff_t>(offset), room.end()),
              hex("41 43 00000000 00000000 01020304 05060708"));
  }
}

TEST(DdpBuild, RFC5041_4_ParseReturnsWhatBuildWasGiven) {
  for (const int opcode : {0, 1, 2, 3, 4, 5, 6, 7}) {
    const Parsed parsed(valid(opcode));
    ASSERT_EQ(parsed.result, 0);
    const Octets octets = valid(opcode).octets();
    EXPECT_EQ(built(parsed.segment), Octets(octets.begin(), octets.begin() + parsed.segment.hdr_len));
  }
}

} // namespace
} // namespace unit

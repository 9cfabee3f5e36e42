// SPDX-License-Identifier: GPL-2.0
// Coverage of the CRC: RFC 5044 section 4.4. The pure files' geometry gives the images, and an independent CRC32c is computed over
// them; KUnit tests mpa/crc.c, a wrapper of the kernel's crypto API, with the same vectors.
#include <gtest/gtest.h>

#include <cstring>

#include "pure.hpp"
#include "reference.hpp"

namespace unit {
namespace {

/** An FPDU built with mpa_marker_gap(), mpa_fpdu_pad() and mpa_marker_encode(), without its CRC field. */
Octets image(const Octets& ulpdu, std::uint32_t start) {
  const Octets content = bigEndian(ulpdu.size(), 2) + ulpdu + Octets(mpa_fpdu_pad(static_cast<std::uint32_t>(ulpdu.size())));
  Octets out;
  std::size_t done = 0;
  for (;;) {
    const auto position = static_cast<std::uint32_t>(start + out.size());
    if (mpa_marker_gap(position) == 0) { // also between the pad and the CRC field
      const __be32 marker = mpa_marker_encode(position, start);
      Octets octets(4);
      std::memcpy(octets.data(), &marker, 4);
      out = out + octets;
    }
    if (done == content.size())
      return out;
    out.push_back(content[done++]);
  }
}

const char* const zeros24 = "000000000000000000000000000000000000000000000000";

struct Vector {
  const char* id;
  std::uint32_t start;
  const char* ulpduHead;
  const char* image;
  const char* crc;
};

const Vector vectors[] = {
#define ROW(...) {__VA_ARGS__},
#include "kunit/vectors/crc.inc"
#undef ROW
};

TEST(Crc, CRC_01_PolynomialOfIscsi) {
  const std::string check = "123456789";
  EXPECT_EQ(crc32c(Octets(check.begin(), check.end())), 0xe3069283u);
  // RFC 3720 B.4: 32 octets of zeros, of ones, and ascending; the octets of the digest as they are sent.
  EXPECT_EQ(crcField(Octets(32, 0)), hex("aa 36 91 8a"));
  EXPECT_EQ(crcField(Octets(32, 0xff)), hex("43 ab a8 62"));
  Octets ascending;
  for (std::uint8_t i = 0; i < 32; i++)
    ascending.push_back(i);
  EXPECT_EQ(crcField(ascending), hex("4e 79 dd 46"));
}

TEST(Crc, CRC_02_CRC_03_CRC_04_CRC_05_Vectors) {
  for (const Vector& vector : vectors) {
    SCOPED_TRACE(vector.id);
    const Octets covered = hex(vector.image) + hex(zeros24);
    EXPECT_EQ(covered.size(), 48u);
    EXPECT_EQ(crcField(covered), hex(vector.crc));
    EXPECT_EQ(image(hex(vector.ulpduHead) + hex(zeros24), vector.start), covered);
    const Fpdu fpdu = Framer(true, vector.start).frame(hex(vector.ulpduHead) + hex(zeros24));
    EXPECT_EQ(fpdu.wire, covered + hex(vector.crc));
    EXPECT_EQ(mpa_fpdu_wire_len(42, true, vector.start), 52u);
  }
}

// The draft's vectors begin with the headers that DDP writes for a stream of version 0.
TEST(Crc, CRC_05_DDP_08_HeadersOfVersion0) {
  const struct {
    __u32 msn, start;
    const char* crc;
  } rows[] = {{1, 0, "4c 86 b3 84"}, {2, 512 - 20, "a1 9c d1 03"}};
  for (const auto& row : rows) {
    const ddp_segment segment{.opcode = RDMAP_SEND, .last = true, .msn = row.msn};
    Octets ulpdu(DDP_MAX_HDR_LEN);
    ulpdu.resize(rdmap_segment_build(ulpdu.data(), &segment, DDP_VERSION_RDMAC));
    const Fpdu fpdu = Framer(true, row.start).frame(ulpdu + Octets(24));
    EXPECT_EQ(Octets(fpdu.wire.end() - 4, fpdu.wire.end()), hex(row.crc)) << "MSN " << row.msn;
  }
}

TEST(Crc, CRC_02_MRK_06_MarkerBeforeTheLengthIsCovered) {
  const Octets covered = image(Octets(42), 512);
  EXPECT_EQ(Octets(covered.begin(), covered.begin() + 6), hex("00000000 002a"));
  EXPECT_EQ(covered, Framer(true, 512).frame(Octets(42)).crcImage);
}

TEST(Crc, CRC_02_MRK_07_MarkerBehindThePadIsCovered) {
  // 2 + 41 + 1 octets of pad end where the Marker lies.
  const Octets covered = image(Octets(41, 0xee), 512 - 44);
  EXPECT_EQ(covered.size(), 48u);
  EXPECT_EQ(Octets(covered.end() - 5, covered.end()), hex("00 0000 002c"));
  EXPECT_EQ(covered, Framer(true, 512 - 44).frame(Octets(41, 0xee)).crcImage);
}

TEST(Crc, CRC_02_MRK_06_MarkerBehindTheCrcFieldIsNot) {
  // 44 octets and the CRC field end at 512: the Marker there is the next FPDU's.
  const Octets covered = image(Octets(42, 0xee), 512 - 48);
  EXPECT_EQ(covered.size(), 44u);
  EXPECT_EQ(mpa_fpdu_wire_len(42, true, 512 - 48), 48u);
}

TEST(Crc, CRC_02_ImageEqualsReference) {
  for (std::uint32_t position = 0; position < 512; position += 4)
    for (const std::uint32_t ulpdu : {0u, 1u, 2u, 3u, 41u, 42u, 497u, 498u, 499u, 500u, 501u, 502u, 1442u}) {
      const Fpdu fpdu = Framer(true, position).frame(Octets(ulpdu, 0x5a));
      ASSERT_EQ(image(Octets(ulpdu, 0x5a), position), fpdu.crcImage) << "position " << position << " ULPDU " << ulpdu;
      ASSERT_EQ(fpdu.crcImage.size() + 4, mpa_fpdu_wire_len(ulpdu, true, position));
    }
}

// A change of any octet before the CRC field changes the CRC.
TEST(Crc, FRM_04_MRK_02_CRC_08_EveryOctetCounts) {
  const Fpdu fpdu = Framer(true, 512 - 20).frame(Octets(39, 0x11));
  for (std::size_t i = 0; i < fpdu.crcImage.size(); i++)
    for (int bit = 0; bit < 8; bit++) {
      Octets changed = fpdu.crcImage;
      changed[i] = static_cast<std::uint8_t>(changed[i] ^ 1 << bit);
      ASSERT_NE(crcField(changed), crcField(fpdu.crcImage)) << "octet " << i << " bit " << bit;
    }
}

} // namespace
} // namespace unit

// SPDX-License-Identifier: GPL-2.0
// Lengths of FPDUs and of ULPDUs: RFC 5044 sections 4.1, 4.3 and 4.5.
#include <gtest/gtest.h>

#include <map>

#include "pure.hpp"
#include "reference.hpp"

namespace unit {
namespace {

TEST(Fpdu, FRM_02_FRM_03_PadFillsFourOctets) {
  const struct {
    std::uint32_t ulpdu, pad, content;
  } rows[] = {
#define ROW(...) {__VA_ARGS__},
#include "kunit/vectors/pad.inc"
#undef ROW
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.ulpdu);
    EXPECT_EQ(mpa_fpdu_pad(row.ulpdu), row.pad);
    EXPECT_EQ(mpa_fpdu_content(row.ulpdu), row.content);
  }
}

TEST(Fpdu, FRM_03_FRM_05_ContentIsHeaderUlpduPadAndCrc) {
  for (std::uint32_t ulpdu = 0; ulpdu <= 65535; ulpdu++) {
    ASSERT_EQ(mpa_fpdu_content(ulpdu) % 4, 0u) << ulpdu;
    ASSERT_LE(mpa_fpdu_pad(ulpdu), 3u) << ulpdu;
    ASSERT_EQ(mpa_fpdu_content(ulpdu), 2 + ulpdu + mpa_fpdu_pad(ulpdu) + 4) << ulpdu;
  }
}

// Figures 4, 5 and 6 of the RFC, and the first FPDU that the text of Figure 6 mentions.
TEST(Fpdu, MRK_03_WireLengthOfTheFigures) {
  EXPECT_EQ(mpa_fpdu_wire_len(16, true, 500), 28u); // Figure 4: a Marker 12 octets in
  EXPECT_EQ(mpa_fpdu_wire_len(42, true, 0), 0x34u);
  EXPECT_EQ(mpa_fpdu_wire_len(42, true, 0x1ec), 0x220u - 0x1ecu);
  EXPECT_EQ(mpa_fpdu_wire_len(480, true, 0), 0x1ecu);
}

TEST(Fpdu, MRK_11_NoMarkersMeansContentAlone) {
  for (const std::uint32_t position : {0u, 4u, 508u, 512u, 0xfffffffcu})
    for (const std::uint32_t ulpdu : {0u, 1u, 500u, 1442u, 64768u})
      EXPECT_EQ(mpa_fpdu_wire_len(ulpdu, false, position), Framer(false, position).frame(Octets(ulpdu)).wire.size());
}

TEST(Fpdu, MRK_03_WireLengthEqualsReference) {
  for (std::uint32_t position = 0; position < 512; position += 4)
    for (std::uint32_t ulpdu = 0; ulpdu < 1100; ulpdu += ulpdu < 16 ? 1 : 7)
      ASSERT_EQ(mpa_fpdu_wire_len(ulpdu, true, position), Framer(true, position).frame(Octets(ulpdu)).wire.size())
          << "position " << position << " ULPDU " << ulpdu;
}

TEST(Fpdu, MRK_08_WireLengthOfLongFpdusEqualsReference) {
  for (std::uint32_t position = 0; position < 512; position += 36)
    for (const std::uint32_t ulpdu : {1442u, 1514u, 2026u, 4088u, 8950u, 32768u, 64767u, 64768u})
      ASSERT_EQ(mpa_fpdu_wire_len(ulpdu, true, position), Framer(true, position).frame(Octets(ulpdu)).wire.size())
          << "position " << position << " ULPDU " << ulpdu;
}

TEST(Fpdu, MRK_09_WireLengthAcrossTheSequenceWrap) {
  for (std::uint32_t position = 0u - 1536; position != 1536; position += 4)
    for (const std::uint32_t ulpdu : {0u, 2u, 42u, 494u, 498u, 502u, 506u, 1010u, 1442u})
      ASSERT_EQ(mpa_fpdu_wire_len(ulpdu, true, position), Framer(true, position).frame(Octets(ulpdu)).wire.size())
          << "position " << position << " ULPDU " << ulpdu;
}

TEST(Mulpdu, SIZ_01_SIZ_02_Formula) {
  const struct {
    std::uint32_t emss, withMarkers, without;
  } rows[] = {
#define ROW(...) {__VA_ARGS__},
#include "kunit/vectors/mulpdu.inc"
#undef ROW
  };
  for (const auto& row : rows) {
    EXPECT_EQ(mpa_fpdu_mulpdu(row.emss, true), row.withMarkers) << "EMSS " << row.emss;
    EXPECT_EQ(mpa_fpdu_mulpdu(row.emss, false), row.without) << "EMSS " << row.emss;
  }
}

TEST(Mulpdu, SIZ_03_NeverBelow128) {
  for (std::uint32_t emss = 0; emss < 134; emss++)
    EXPECT_EQ(mpa_fpdu_mulpdu(emss, false), 128u) << "EMSS " << emss;
  for (std::uint32_t emss = 0; emss < 138; emss++)
    EXPECT_EQ(mpa_fpdu_mulpdu(emss, true), 128u) << "EMSS " << emss;
  EXPECT_EQ(mpa_fpdu_mulpdu(138, false), 130u);
  EXPECT_EQ(mpa_fpdu_mulpdu(140, true), 130u);
}

TEST(Mulpdu, DDP_02_NeverAbove64768) {
  for (const std::uint32_t emss : {64776u, 65483u, 65535u, 65536u, 1u << 20}) {
    EXPECT_EQ(mpa_fpdu_mulpdu(emss, false), 64768u) << "EMSS " << emss;
    EXPECT_LE(mpa_fpdu_mulpdu(emss, true), 64768u) << "EMSS " << emss;
  }
  EXPECT_EQ(mpa_fpdu_mulpdu(65535, true), 64768u);
}

// SIZ-04 relies on this: for every EMSS, one FPDU of its MULPDU fits into one segment at every position.
TEST(Mulpdu, SIZ_04_FitsTheSegmentAtEveryPosition) {
  for (std::uint32_t emss = 144; emss < 9100; emss += emss < 1600 ? 1 : 97)
    for (std::uint32_t position = 0; position < 512; position += 4) {
      ASSERT_LE(mpa_fpdu_wire_len(mpa_fpdu_mulpdu(emss, true), true, position), emss) << emss << " at " << position;
      ASSERT_LE(mpa_fpdu_wire_len(mpa_fpdu_mulpdu(emss, false), false, position), emss) << emss << " at " << position;
    }
}

/** Octets of stream for FPDUs at @p position that are 8, 12, 16... octets long without Markers, counted word by word. */
std::map<std::uint32_t, std::uint32_t> streamLengths(std::uint32_t position, std::uint32_t limit) {
  std::map<std::uint32_t, std::uint32_t> lengths;
  std::uint32_t used = 0;
  for (std::uint32_t content = 4; content <= limit; content += 4) {
    if ((position + used) % 512 == 0)
      used += 4;
    used += 4;
    if (content >= 8)
      lengths[content] = used;
  }
  return lengths;
}

/** The largest ULPDU whose FPDU takes at most @p room octets of stream. */
std::uint32_t largestUlpdu(const std::map<std::uint32_t, std::uint32_t>& lengths, std::uint32_t room) {
  std::uint32_t best = 0;
  for (const auto& [content, used] : lengths)
    if (used <= room)
      best = content - 6;
  return best;
}

TEST(Room, SIZ_05_IsExactWithMarkers) {
  for (std::uint32_t position = 0; position < 512; position += 4) {
    const auto lengths = streamLengths(position, 1700);
    for (std::uint32_t room = 0; room < 1650; room += room < 24 ? 1 : 3)
      ASSERT_EQ(mpa_fpdu_room(room, true, position), largestUlpdu(lengths, room)) << "room " << room << " at " << position;
  }
}

TEST(Room, SIZ_05_IsExactWithoutMarkers) {
  for (std::uint32_t room = 0; room < 8; room++)
    EXPECT_EQ(mpa_fpdu_room(room, false, 0), 0u) << room;
  for (std::uint32_t room = 8; room < 3000; room++)
    ASSERT_EQ(mpa_fpdu_room(room, false, 508), room / 4 * 4 - 6) << room;
}

// Checks the property itself for rooms of many Markers: the ULPDU fits, and one with four octets more does not.
TEST(Room, SIZ_05_FourOctetsMoreDoNotFit) {
  for (std::uint32_t position = 0; position < 512; position += 4)
    for (std::uint32_t room = 16; room < 65000; room += room < 4200 ? 4 : 1021) {
      const std::uint32_t ulpdu = mpa_fpdu_room(room, true, position);
      ASSERT_LE(mpa_fpdu_wire_len(ulpdu, true, position), room) << "room " << room << " at " << position;
      ASSERT_GT(mpa_fpdu_wire_len(ulpdu + 4, true, position), room) << "room " << room << " at " << position;
    }
}

TEST(Room, DDP_02_NeverAbove64768) {
  for (const bool markers : {false, true})
    for (const std::uint32_t room : {65536u, 131072u, 1u << 24})
      EXPECT_EQ(mpa_fpdu_room(room, markers, 4), 64768u);
  EXPECT_EQ(mpa_fpdu_room(64776, false, 0), 64768u);
  EXPECT_EQ(mpa_fpdu_room(64775, false, 0), 64766u);
}

TEST(Room, MRK_09_AcrossTheSequenceWrap) {
  for (std::uint32_t back = 4; back <= 1024; back += 4)
    for (std::uint32_t room = 8; room < 1600; room += 4)
      ASSERT_EQ(mpa_fpdu_room(room, true, 0u - back), mpa_fpdu_room(room, true, 1024 - back)) << room << " at -" << back;
}

} // namespace
} // namespace unit

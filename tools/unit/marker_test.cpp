// SPDX-License-Identifier: GPL-2.0
// Positions and content of Markers: RFC 5044 sections 4.2 and 4.3.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "pure.hpp"
#include "reference.hpp"

namespace unit {
namespace {

Octets encoded(std::uint32_t position, std::uint32_t fpduStart) {
  const __be32 marker = mpa_marker_encode(position, fpduStart);
  Octets octets(sizeof(marker));
  std::memcpy(octets.data(), &marker, sizeof(marker));
  return octets;
}

bool accepted(const Octets& octets, std::uint32_t position, std::uint32_t fpduStart) {
  __be32 marker;
  std::memcpy(&marker, octets.data(), sizeof(marker));
  return mpa_marker_check(marker, position, fpduStart);
}

TEST(Marker, MRK_03_GapToTheNextMarker) {
  const struct {
    std::uint32_t position, gap;
  } rows[] = {{0, 0}, {4, 508}, {500, 12}, {508, 4}, {512, 0}, {516, 508}, {0xfffffffc, 4}, {0xfffffe00, 0}, {0xfffffe04, 508}};
  for (const auto& row : rows)
    EXPECT_EQ(mpa_marker_gap(row.position), row.gap) << row.position;
}

TEST(Marker, MRK_03_MRK_06_MRK_07_Count) {
  const struct {
    const char* what;
    std::uint32_t position, content, count;
  } rows[] = {
#define ROW(...) {__VA_ARGS__},
#include "kunit/vectors/marker_count.inc"
#undef ROW
  };
  for (const auto& row : rows)
    EXPECT_EQ(mpa_marker_count(row.position, row.content), row.count) << row.what;
}

TEST(Marker, MRK_01_MRK_04_MRK_05_MRK_06_MRK_07_MRK_08_MRK_09_Octets) {
  const struct {
    const char* what;
    std::uint32_t position, fpduStart, octets;
  } rows[] = {
#define ROW(...) {__VA_ARGS__},
#include "kunit/vectors/marker.inc"
#undef ROW
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    EXPECT_EQ(encoded(row.position, row.fpduStart), bigEndian(row.octets, 4));
    EXPECT_TRUE(accepted(bigEndian(row.octets, 4), row.position, row.fpduStart));
  }
}

TEST(Marker, MRK_07_BeforeTheCrcFieldPointsIntoItsOwnFpdu) {
  const Fpdu fpdu = Framer(true, 512 - 44).frame(Octets(42));
  EXPECT_EQ(fpdu.wire.size(), 52u);
  EXPECT_EQ(Octets(fpdu.wire.begin() + 44, fpdu.wire.begin() + 48), encoded(512, 512 - 44));
}

TEST(Marker, MRK_02_LowBitsAreZeroOnSend) {
  for (std::uint32_t start = 0; start < 512; start += 4)
    for (std::uint32_t position = start ? 512 : 0; position < 65000; position += 512)
      ASSERT_EQ(encoded(position, start).at(3) & 3, 0) << position << " from " << start;
}

TEST(Marker, MRK_01_MRK_02_ReservedBitsAreIgnoredOnReceive) {
  for (const char* octets : {"0000 0014", "ffff 0014", "8001 0014", "0000 0015", "0000 0016", "0000 0017", "ffff 0017"})
    EXPECT_TRUE(accepted(hex(octets), 0x200, 0x1ec)) << octets;
}

TEST(Marker, MRK_13_EveryOtherPointerIsRefused) {
  for (std::uint32_t pointer = 0; pointer <= 0xffff; pointer++)
    ASSERT_EQ(accepted(bigEndian(pointer, 4), 0x200, 0x1ec), pointer >= 0x14 && pointer <= 0x17) << pointer;
}

TEST(Marker, MRK_13_BetweenFpdusMustBeZero) {
  EXPECT_TRUE(accepted(hex("0000 0000"), 512, 512));
  EXPECT_TRUE(accepted(hex("ffff 0003"), 512, 512));
  EXPECT_FALSE(accepted(hex("0000 0004"), 512, 512));
  EXPECT_FALSE(accepted(hex("0000 0200"), 512, 512));
}

/** Compares all Markers of an FPDU at once; then each is corrupted in turn, in its significant bits. */
void compareAll(const Fpdu& fpdu, std::uint32_t position) {
  Octets wire = fpdu.wire;
  const auto good = [&] { return mpa_marker_check_all(wire.data(), wire.size(), position); };
  ASSERT_TRUE(good());
  for (const Fpdu::Marker& marker : fpdu.markers) {
    const auto at = wire.begin() + (marker.position - position);
    const Octets sent(at, at + 4);
    const Octets ignored = bigEndian(0xffff0003, 4);
    for (int i = 0; i < 4; i++)
      at[i] |= ignored[i];
    ASSERT_TRUE(good());
    for (const std::uint32_t pointer : {marker.pointer ^ 4, marker.pointer ^ 0x8000, marker.pointer + 4}) {
      std::ranges::copy(bigEndian(pointer & 0xffff, 4), at);
      ASSERT_FALSE(good()) << marker.position;
    }
    std::ranges::copy(sent, at);
  }
}

/** Compares all functions for the Markers of one FPDU with the reference. */
void compare(std::uint32_t position, std::uint32_t ulpdu) {
  SCOPED_TRACE(testing::Message() << "position " << position << " ULPDU " << ulpdu);
  const Fpdu fpdu = Framer(true, position).frame(Octets(ulpdu));
  ASSERT_EQ(mpa_marker_count(position, mpa_fpdu_content(ulpdu)), fpdu.markers.size());
  std::uint32_t next = position + mpa_marker_gap(position);
  for (const Fpdu::Marker& marker : fpdu.markers) {
    ASSERT_EQ(marker.position, next);
    const Octets octets = bigEndian(marker.pointer, 4);
    ASSERT_EQ(encoded(marker.position, position), octets);
    ASSERT_TRUE(accepted(octets, marker.position, position));
    ASSERT_FALSE(accepted(bigEndian(marker.pointer ^ 4, 4), marker.position, position));
    next += 512;
  }
  compareAll(fpdu, position);
}

TEST(MarkerReference, MRK_03_MRK_05_MRK_06_MRK_07_EveryPosition) {
  for (std::uint32_t position = 0; position < 512; position += 4)
    for (std::uint32_t ulpdu = 0; ulpdu < 1100; ulpdu += ulpdu < 16 ? 1 : 5)
      compare(position, ulpdu);
}

TEST(MarkerReference, MRK_08_LongFpdus) {
  for (std::uint32_t position = 0; position < 512; position += 28)
    for (const std::uint32_t ulpdu : {1442u, 4088u, 8950u, 64768u})
      compare(position, ulpdu);
}

TEST(MarkerReference, MRK_09_AcrossTheWrap) {
  for (std::uint32_t position = 0u - 2048; position != 512; position += 4)
    for (const std::uint32_t ulpdu : {0u, 2u, 42u, 498u, 502u, 506u, 1442u, 2026u})
      compare(position, ulpdu);
}

// A stream of FPDUs: each begins at the end of the one before it, and every 512th octet is a Marker.
TEST(MarkerReference, MRK_03_MRK_10_Stream) {
  Framer framer(true, 0u - 4096);
  std::uint32_t position = framer.position();
  std::uint32_t seed = 1;
  Octets stream;
  for (int i = 0; i < 400; i++) {
    seed = seed * 1664525 + 1013904223;
    const std::uint32_t ulpdu = seed >> 16 & 0x3ff;
    const Fpdu fpdu = framer.frame(Octets(ulpdu, 0xa5));
    ASSERT_EQ(fpdu.start, position);
    position += mpa_fpdu_wire_len(ulpdu, true, position);
    ASSERT_EQ(framer.position(), position);
    stream = stream + fpdu.wire;
  }
  for (std::size_t offset = 0; offset + 4 <= stream.size(); offset += 512) {
    EXPECT_EQ(stream[offset], 0) << offset;
    EXPECT_EQ(stream[offset + 1], 0) << offset;
  }
}

/* Every Marker of FPDUs of many lengths points to the start of its FPDU. */
TEST(Marker, RCV_04_FindsTheFpdu) {
  for (const std::uint32_t first : {0u, 8u, 508u, 0xfffff000u}) {
    Framer framer(true, first);
    for (std::uint32_t length = 0; length < 3000; length += 7) {
      Framer fresh(true, first);
      for (const Fpdu& fpdu : {framer.frame(Octets(length)), fresh.frame(Octets(length))})
        for (const auto& marker : fpdu.markers)
          /* The reserved half and the low bits are ignored. */
          for (const std::uint32_t noise : {0u, 3u, 0xffff0000u}) {
            std::uint32_t start = 1;
            EXPECT_TRUE(mpa_marker_find(cpu_to_be32(marker.pointer | noise), marker.position, &start));
            EXPECT_EQ(start, fpdu.start) << "Marker at " << marker.position << ", " << length << " octets";
          }
    }
  }
}

/* ULPDU_Length cannot be at the position of a Marker. */
TEST(Marker, RCV_04_PointerToAMarker) {
  std::uint32_t start;
  for (std::uint32_t pointer = 512; pointer < 0x10000; pointer += 512)
    EXPECT_FALSE(mpa_marker_find(cpu_to_be32(pointer), 0x20000, &start)) << pointer;
}

} // namespace
} // namespace unit

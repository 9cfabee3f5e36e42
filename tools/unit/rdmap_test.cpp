// SPDX-License-Identifier: GPL-2.0
// Read Request and Terminate headers: RFC 5040 sections 4.4 and 4.8.
#include <gtest/gtest.h>

#include <cerrno>

#include "octets.hpp"
#include "pure.hpp"

namespace unit {
namespace {

TEST(ReadRequest, RFC5040_4_4_Octets) {
  const rdmap_read request{.sink_stag = 0x11223344,
                           .sink_to = 0x0102030405060708,
                           .size = 0xfffefdfc,
                           .source_stag = 0x55667788,
                           .source_to = 0x8070605040302010};
  const Octets expected = hex("11223344 0102030405060708 fffefdfc 55667788 8070605040302010");
  for (std::size_t offset = 0; offset < 4; offset++) {
    Octets room(offset + 28, 0xcc);
    rdmap_read_build(room.data() + offset, &request);
    const Octets body(room.begin() + static_cast<std::ptrdiff_t>(offset), room.end());
    EXPECT_EQ(body, expected);
    rdmap_read parsed{};
    rdmap_read_parse(room.data() + offset, &parsed);
    EXPECT_EQ(parsed.sink_stag, 0x11223344u);
    EXPECT_EQ(parsed.sink_to, 0x0102030405060708u);
    EXPECT_EQ(parsed.size, 0xfffefdfcu);
    EXPECT_EQ(parsed.source_stag, 0x55667788u);
    EXPECT_EQ(parsed.source_to, 0x8070605040302010u);
  }
}

const Octets taggedHeader = hex("c1 40 11223344 0102030405060708");
const Octets untaggedHeader = hex("41 41 00000000 00000001 00000005 00000000");
const Octets readHeader = hex("11223344 0102030405060708 00001000 55667788 8070605040302010");

Octets terminate(const rdmap_error& error, const Octets* ddp, std::uint32_t length, const Octets* read) {
  Octets body(RDMAP_TERM_MAX_LEN, 0xcc);
  const rdmap_fault fault = {error, ddp ? ddp->data() : nullptr, length, read ? read->data() : nullptr};
  body.resize(rdmap_terminate_build(body.data(), &fault));
  return body;
}

TEST(Terminate, RFC5040_4_8_RFC5040_Figure10_Octets) {
  const struct {
    const char* what;
    rdmap_error error;
    const char* ddp;
    std::uint32_t length;
    const char *read, *expected;
  } rows[] = {
#define ROW(what, layer, etype, ecode, ...) {what, {layer, etype, ecode}, __VA_ARGS__},
#include "kunit/vectors/terminate.inc"
#undef ROW
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const Octets ddp = hex(row.ddp), read = hex(row.read);
    EXPECT_EQ(terminate(row.error, ddp.empty() ? nullptr : &ddp, row.length, read.empty() ? nullptr : &read), hex(row.expected));
  }
}

TEST(Terminate, RFC5040_4_8_LongestFillsTheRoom) {
  EXPECT_EQ(terminate({0, 1, 0x00}, &untaggedHeader, 46, &readHeader).size(), std::size_t{RDMAP_TERM_MAX_LEN});
  EXPECT_EQ(RDMAP_TERM_MAX_LEN, 52u);
}

// Figure 10: which of the available headers the Terminate includes.
TEST(Terminate, RFC5040_Figure10) {
  const struct {
    const char* what;
    int layer, etype;
    bool ddp, read;
  } rows[] = {
      {"RDMA, Local Catastrophic", 0, 0, false, false},
      {"RDMA, Remote Protection", 0, 1, true, true},
      {"RDMA, Remote Operation", 0, 2, true, false},
      {"DDP, Local Catastrophic (section 4.8: no header)", 1, 0, false, false},
      {"DDP, Tagged Buffer", 1, 1, true, false},
      {"DDP, Untagged Buffer", 1, 2, true, false},
      {"LLP, MPA", 2, 0, false, false},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const rdmap_error error{static_cast<__u8>(row.layer), static_cast<__u8>(row.etype), 0x05};
    const Octets body = terminate(error, &untaggedHeader, 0x1234, &readHeader);
    ASSERT_GE(body.size(), std::size_t{4});
    EXPECT_EQ(body[0], row.layer << 4 | row.etype);
    EXPECT_EQ(body[1], 5);
    EXPECT_EQ(body[2], (row.ddp ? 0xc0 : 0) | (row.read ? 0x20 : 0));
    EXPECT_EQ(body[3], 0);
    EXPECT_EQ(body.size(), std::size_t{4} + (row.ddp ? 20 : 0) + (row.read ? 28 : 0));
  }
}

TEST(Terminate, ERR_02_ERR_03_ENH_08_MpaErrors) {
  for (const __u8 code : {1, 2, 3, 4, 5, 6, 7})
    EXPECT_EQ(terminate({2, 0, code}, &taggedHeader, 1442, nullptr), hex("20") + bigEndian(code, 1) + hex("00 00")) << int{code};
}

TEST(Terminate, RFC5040_4_8_Parse) {
  const Exact body(hex("12 03 c0 00 002e"));
  for (std::uint32_t length = 4; length <= 6; length++) {
    rdmap_error error{};
    EXPECT_EQ(rdmap_terminate_parse(body.data(), length, &error), 0);
    EXPECT_EQ(error.layer, 1);
    EXPECT_EQ(error.etype, 2);
    EXPECT_EQ(error.ecode, 3);
  }
}

TEST(Terminate, RFC5040_4_8_ParseReadsNoFurther) {
  const Octets body = hex("12 03 c0 00");
  for (std::size_t length = 0; length <= 4; length++) {
    const Exact octets(body, length);
    rdmap_error error{};
    EXPECT_EQ(rdmap_terminate_parse(octets.data(), static_cast<__u32>(length), &error), length < 4 ? -EPROTO : 0);
  }
}

TEST(Terminate, RFC5040_4_8_ParseTakesEveryValue) {
  for (int first = 0; first < 256; first++) {
    const Exact body(bigEndian(static_cast<unsigned>(first), 1) + hex("fe ff ff"));
    rdmap_error error{};
    EXPECT_EQ(rdmap_terminate_parse(body.data(), 4, &error), 0);
    EXPECT_EQ(error.layer, first >> 4);
    EXPECT_EQ(error.etype, first & 0xf);
    EXPECT_EQ(error.ecode, 0xfe);
  }
}

} // namespace
} // namespace unit

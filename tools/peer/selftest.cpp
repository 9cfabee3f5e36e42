// SPDX-License-Identifier: GPL-2.0
#include "selftest.hpp"

#include <algorithm>

#include "../common/testcase.hpp"
#include "crc32c.hpp"
#include "fpdu.hpp"
#include "rdmap.hpp"
#include "startup.hpp"

namespace peer {

using test::expect;
using test::expectEqual;

static Bytes data(std::size_t length, std::uint64_t seed) {
  Bytes out(length);

  test::fill(out, seed);
  return out;
}

/** True when @p body throws ProtocolError. */
template <class F> static bool refused(F body) {
  try {
    body();
  } catch (const ProtocolError&) {
    return true;
  }
  return false;
}

/* --- CRC vectors --- */

static Segment figure(std::uint32_t msn, std::uint8_t version) {
  Segment s = makeSend(msn, Bytes(24));

  s.ddpVersion = s.rdmapVersion = version;
  return s;
}

/** Encodes a 24-octet Send at @p position with Markers and compares its CRC field. */
static void crcVector(std::uint64_t position, std::uint32_t msn, std::uint8_t version, const char* want) {
  FpduEncoder encoder({.markers = true, .crc = true});

  encoder.setPosition(position);
  const Bytes fpdu = encoder.encode(figure(msn, version).encode());
  const std::string got = hex(View(fpdu).last(4));
  expect(got == want, "CRC field is " + got + ", want " + want);
  expectEqual(fpdu.size(), 52u, "FPDU length");
}

static void crcFigure5(None&) {
  crcVector(0, 1, 1, "52239983");
}

static void crcFigure6(None&) {
  crcVector(0x1ec, 2, 1, "84925898");
}

static void crcDraft5(None&) {
  crcVector(0, 1, 0, "4c86b384");
}

static void crcDraft6(None&) {
  crcVector(0x1ec, 2, 0, "a19cd103");
}

/* --- Marker geometry: the rows of RFC 5044 §4.3 --- */

struct MarkerRow {
  std::uint64_t start;
  std::size_t ulpdu;
  std::vector<std::pair<std::size_t, std::uint16_t>> markers; /* offset in the FPDU's octets, FPDUPTR */
};

static const MarkerRow markerRows[] = {
    {0, 10, {{0, 0}}}, /* the first octets of Full Operation (MRK-04) */
    {4, 10, {}},
    {512, 10, {{0, 0}}},   /* between FPDUs (MRK-06) */
    {500, 16, {{12, 12}}}, /* Figure 4: within the ULPDU (MRK-05) */
    {504, 6, {{8, 8}}},    /* right after the ULPDU, no pad: before the CRC field (MRK-07) */
    {504, 5, {{8, 8}}},    /* right after the pad */
    {508, 2, {{4, 4}}},
    {4, 1500, {{508, 508}, {1020, 1020}}}, /* several Markers point to one FPDU (MRK-08) */
    {0, 1500, {{0, 0}, {512, 508}, {1024, 1020}}},
    {0xfffffffcULL, 8, {{4, 4}}}, /* position beyond 32 bits (MRK-09) */
};

static void markerRow(const MarkerRow& row) {
  FpduEncoder encoder({.markers = true, .crc = true});
  encoder.setPosition(row.start);
  const Bytes fpdu = encoder.encode(data(row.ulpdu, 7));

  expectEqual(encoder.markers(), row.markers.size(), "number of Markers");
  for (const auto& [offset, pointer] : row.markers)
    expectEqual(get<std::uint32_t>(fpdu, offset), pointer, test::format("Marker at %zu", offset));
  expectEqual(fpdu.size() % 4, 0u, "FPDU length modulo 4");
}

static void markerGeometry(None&) {
  for (const auto& row : markerRows)
    markerRow(row);
}

/* --- encoder against decoder --- */

static void roundTripAt(std::uint64_t position, std::size_t length, Framing framing) {
  FpduEncoder encoder(framing);
  FpduDecoder decoder(framing);

  /* Reach the position with a preceding FPDU, as in a stream. */
  for (std::uint64_t p = 0; p < position;) {
    decoder.feed(encoder.encode(Bytes(2)));
    expect(decoder.next().has_value(), "filler FPDU");
    p = encoder.position();
  }
  const Bytes ulpdu = data(length, position);
  decoder.feed(encoder.encode(ulpdu));
  const auto fpdu = decoder.next();
  expect(fpdu && fpdu->ulpdu == ulpdu, "ULPDU came back changed");
  expect(decoder.idle() && decoder.position() == encoder.position(), "positions differ");
}

static void roundTrip(None&) {
  for (const bool markers : {false, true})
    for (const bool crc : {false, true})
      for (std::uint64_t position = 0; position < 520; position += 4)
        for (const std::size_t length : {0u, 1u, 2u, 3u, 5u, 18u, 506u, 1030u})
          roundTripAt(position, length, {markers, crc});
}

static void cutAnywhere(None&) {
  FpduEncoder encoder({.markers = true, .crc = true});
  Bytes stream;
  for (const std::size_t length : {0u, 1u, 500u, 3u, 600u})
    append(stream, encoder.encode(data(length, length)));

  for (std::size_t cut = 0; cut <= stream.size(); cut++) {
    FpduDecoder decoder({.markers = true, .crc = true});
    std::size_t count = 0;
    decoder.feed(View(stream).first(cut));
    while (decoder.next())
      count++;
    decoder.feed(View(stream).subspan(cut));
    while (decoder.next())
      count++;
    expectEqual(count, 5u, test::format("FPDUs when cut at %zu", cut));
  }
}

/** Violations that the strict decoder must refuse. */
static void decoderRefuses(None&) {
  const std::pair<const char*, Faults> rows[] = {
      {"bad CRC", {.badCrc = true}},     {"bad Marker", {.marker = 0}},    {"second Marker bad", {.marker = 1}},
      {"RESERVED set", {.reserved = 1}}, {"low bits set", {.lowBits = 1}}, {"pad not zero", {.pad = 1}},
  };
  for (const auto& [what, faults] : rows) {
    FpduEncoder encoder({.markers = true, .crc = true});
    FpduDecoder decoder({.markers = true, .crc = true});
    decoder.feed(encoder.encode(data(601, 1), faults));
    expect(refused([&] { decoder.next(); }), std::string("decoder took: ") + what);
  }
}

/* --- startup frames --- */

static void startupFrames(None&) {
  const StartupFrame frame{.markers = true, .revision = 1, .privateData = data(512, 3)};
  const Bytes wire = frame.encode();
  expect(hex(View(wire).first(20)) == "4d504120494420526571204672616d65c0010200", "Request header: " + hex(wire, 20));

  const auto back = StartupFrame::decode(FrameKind::Request, wire);
  expect(back.markers && back.crc && back.privateData == frame.privateData, "Request came back changed");
  expect(refused([&] { StartupFrame::decode(FrameKind::Reply, wire); }), "a Request was taken for a Reply");
}

static void largeFrames(None&) {
  StartupFrame frame{.large = true};

  expectEqual(frame.encode()[16], 0x48, "flags of a Request");
  expect(StartupFrame::decode(FrameKind::Request, frame.encode()).large, "the bit of large FPDUs is lost");
  frame.reserved = 0x04;
  expect(refused([&] { StartupFrame::decode(FrameKind::Request, frame.encode()); }), "another reserved bit was taken");
}

static void enhancedFrames(None&) {
  const Enhanced e{.peerToPeer = true, .rtrSend = true, .rtrRead = true, .ird = 0x1234, .ord = 0x3fff};
  const StartupFrame frame{.kind = FrameKind::Reply, .enhanced = e, .revision = 2, .privateData = {1, 2}};
  const Bytes wire = frame.encode();
  expect(hex(View(wire).subspan(16)) == "50020006d2347fff0102", "enhanced Reply: " + hex(View(wire).subspan(16)));
  expect(StartupFrame::decode(FrameKind::Reply, wire).enhanced == e, "enhanced data came back changed");
}

/* --- segments and their order --- */

static void segments(None&) {
  const Segment write = makeWrite(0x11223344, 0x5566778899aabbccULL, data(3, 1));
  expect(hex(write.header()) == "c140112233445566778899aabbcc", "WRITE header: " + hex(write.header()));
  expect(Segment::decode(write.encode()).encode() == write.encode(), "WRITE came back changed");

  const Segment send = makeSend(9, data(3, 1), 0x10, false, opSendSolicited);
  expect(hex(send.header()) == "0145000000000000000000000009"
                               "00000010",
         "SEND header: " + hex(send.header()));
  Segment bad = send;
  bad.invalidate = 1;
  expect(refused([&] { Segment::decode(bad.encode()); }), "SEND with an Invalidate STag was taken");
}

static void terminates(None&) {
  Terminate t{.code = {1, 2, 5}, .segmentLength = 42, .ddpHeader = makeSend(1, {}).header(), .rdmapHeader = {}};
  const Terminate back = Terminate::decode(t.encode());
  expect(hex(View(t.encode()).first(6)) == "1205c000002a", "Terminate header: " + hex(t.encode()));
  expect(back.code == t.code && back.ddpHeader == t.ddpHeader && back.segmentLength == 42, "Terminate came back changed");
  expect(refused([&] { Terminate::decode(View(t.encode()).first(12)); }), "short Terminate was taken");
}

static void order(None&) {
  const auto refuses = [](std::initializer_list<Segment> list) {
    OrderChecker checker;
    return refused([&] {
      for (const auto& s : list)
        checker.check(s);
    });
  };
  const Bytes d = data(4, 0);
  expect(!refuses({makeSend(1, d), makeSend(2, d, 0, false), makeSend(2, d, 4), makeWrite(1, 0, d), makeSend(3, {})}),
         "legal stream");
  expect(refuses({makeSend(2, d)}), "MSN begins with 2");
  expect(refuses({makeSend(1, d), makeSend(1, d)}), "MSN repeated");
  expect(refuses({makeSend(1, d, 0, false), makeSend(1, d, 8)}), "gap in MO");
  expect(refuses({makeSend(1, d, 0, false), makeWrite(1, 0, d)}), "message within a message");
  expect(refuses({makeReadResponse(1, 0, d)}), "response without request");
  expect(refuses({makeTerminate({}), makeSend(1, d)}), "message after a Terminate");
}

static const test::Case<None> cases[] = {
    {"crc-figure-5", "CRC-03", "RFC 5044 Figure 5", crcFigure5},
    {"crc-figure-6", "CRC-04", "RFC 5044 Figure 6", crcFigure6},
    {"crc-draft-figure-5", "CRC-05", "Figure 5 with version-0 DDP control", crcDraft5},
    {"crc-draft-figure-6", "CRC-05", "Figure 6 with version-0 DDP control", crcDraft6},
    {"marker-geometry", "", "positions and content of the encoder's Markers", markerGeometry},
    {"round-trip", "", "encoder against decoder at every position of an interval", roundTrip},
    {"cut-anywhere", "", "the decoder returns the same FPDUs with any cut of the stream", cutAnywhere},
    {"decoder-refuses", "", "each violation by a sender is detected", decoderRefuses},
    {"startup-frames", "", "Request and Reply octet by octet", startupFrames},
    {"large-frames", "", "the reserved bit of large FPDUs, and no other", largeFrames},
    {"enhanced-frames", "", "RFC 6581 data octet by octet", enhancedFrames},
    {"segments", "", "DDP headers octet by octet", segments},
    {"terminates", "", "Terminate headers octet by octet", terminates},
    {"order", "", "wrong orders are detected", order},
};

int selftest(const std::vector<std::string>& patterns) {
  test::Report report;
  None none;

  for (const auto& table : {std::span<const test::Case<None>>(cases), captureSelftests()})
    for (const auto& c : table)
      if (test::selected(c.name, patterns))
        report.run(std::string("selftest/") + c.name, c.shows, [&] { c.run(none); });
  return report.finish();
}

} // namespace peer

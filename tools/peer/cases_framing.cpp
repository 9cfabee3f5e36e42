// SPDX-License-Identifier: GPL-2.0
/** @file cases_framing.cpp @brief FPDUs, Markers and CRC (RFC 5044 §4, §6, §8). */
#include <algorithm>
#include <functional>
#include <numeric>
#include <poll.h>
#include <random>

#include "cases.hpp"

namespace peer {

using test::expect;
using test::expectEqual;
using test::format;

/** Skips unless the device asks for Markers. */
static void needMarkersIn(const Session& s) {
  if (!s.remote.markers)
    throw test::Skip("the device does not ask for Markers");
}

/* --- the stream cut anywhere --- */

/** Several FPDUs, and the messages that the application must receive from them. */
struct Batch {
  Bytes octets;
  std::vector<Segment> sends;
};

/** SENDs of several lengths with a WRITE between them; when the last SEND has arrived, the WRITE has been placed. */
static Batch makeBatch(Session& s, std::uint64_t seed) {
  Batch b;
  const auto send = [&](std::size_t length) {
    b.sends.push_back(s.nextSend(length, seed + length));
    append(b.octets, s.frame(b.sends.back()));
  };

  send(0);
  send(1);
  append(b.octets, s.frame(makeWrite(s.region.stag, s.region.address + 77, patternData(61, seed))));
  send(38);
  send(7);
  return b;
}

static void expectBatch(Session& s, const Batch& b, std::uint64_t seed) {
  for (const auto& m : b.sends)
    s.expectRecv(m);
  s.expectMemory(77, patternData(61, seed), "checksum of the WRITE's data");
  s.postRecvs(static_cast<unsigned>(b.sends.size()));
}

/** One batch cut in two at every octet. */
static void cutTwo(Context& c) {
  Session s(c, Options(c.config));
  std::size_t length = 2;

  for (std::size_t cut = 1; cut < length; cut++) {
    const Batch b = makeBatch(s, cut);

    length = b.octets.size();
    s.sendRaw(b.octets, {cut, length});
    expectBatch(s, b, cut);
  }
}

static void singleOctets(Context& c) {
  Session s(c, Options(c.config));

  for (std::uint64_t seed = 0; seed < 3; seed++) {
    const Batch b = makeBatch(s, seed);

    s.sendRaw(b.octets, {1});
    expectBatch(s, b, seed);
  }
}

/** A longer FPDU with several Markers, cut around every boundary in it. */
static void cutLong(Context& c) {
  Session s(c, Options(c.config));
  std::vector<std::size_t> cuts = {1, 2, 3, 4, 5, 6, 8, 19, 20, 21, 22, 24};

  for (std::size_t at = 500; at <= 516; at++)
    cuts.push_back(at);
  for (const std::size_t at : {1019u, 1020u, 1022u, 1024u, 1025u, 1026u, 1027u, 1028u, 1029u, 1030u})
    cuts.push_back(at);
  for (const auto cut : cuts) {
    const Segment m = s.nextSend(1003, cut);

    s.sendRaw(s.frame(m), {cut, 100000});
    s.expectRecv(m);
    s.postRecvs(1);
  }
}

/** Many FPDUs in one write: some segments hold several, and some FPDUs span two segments. */
static void packed(Context& c) {
  Options o(c.config);
  o.recvs = 200;
  Session s(c, o);
  Bytes all;
  std::vector<Segment> sends;

  for (unsigned i = 0; i < 150; i++) {
    sends.push_back(s.nextSend(i * 7 % 301, i));
    append(all, s.frame(sends.back()));
  }
  s.sendRaw(all);
  for (const auto& m : sends)
    s.expectRecv(m);
}

static void randomCuts(Context& c) {
  std::mt19937_64 random(c.config.seed);
  Options o(c.config);
  o.recvs = 100;
  Session s(c, o);
  Bytes all;
  std::vector<Segment> sends;
  Cuts cuts;

  for (unsigned i = 0; i < 90; i++) {
    sends.push_back(s.nextSend(random() % 4097, i));
    append(all, s.frame(sends.back()));
  }
  for (unsigned i = 0; i < 997; i++)
    cuts.push_back(1 + (random() % 3 ? random() % 40 : random() % 3000));
  s.sendRaw(all, cuts);
  for (const auto& m : sends)
    s.expectRecv(m);
}

/** An FPDU may be larger than the receiver's window or segment (RFC 5044 A.5.2: no deadlock). */
static void hugeFpdu(Context& c) {
  Options o(c.config);
  o.recvSize = 65536;
  Session s(c, o);

  for (const std::size_t length : {8000u, 30000u, 64768u - 18, 65535u - 18}) {
    const Segment m = s.nextSend(length, length);

    s.send(m);
    s.expectRecv(m);
  }
}

/* --- legal, but unusual --- */

static void padIgnored(Context& c) {
  Session s(c, Options(c.config));

  for (const std::size_t length : {1u, 2u, 3u, 5u}) {
    const Segment m = s.nextSend(length, length);

    s.send(m, {.pad = 0xa5});
    s.expectRecv(m);
  }
}

static void markerBitsIgnored(Context& c) {
  Session s(c, Options(c.config));
  needMarkersIn(s);

  for (const Faults& f : {Faults{.reserved = 0xffff}, Faults{.lowBits = 3}}) {
    const Segment m = s.nextSend(1500, 1);

    s.send(m, f);
    s.expectRecv(m);
  }
}

/** Sends FPDUs until the next one begins with a Marker. */
static void seekMarker(Session& s) {
  static constexpr std::size_t empty = 24; /* octets of an FPDU with an empty SEND */

  while (const auto into = s.encoder.position() % 512) {
    const auto gap = 512 - into;
    const Segment m = s.nextSend(gap < empty ? 0 : gap - empty, 3);

    s.send(m);
    s.expectRecv(m);
    s.postRecvs(1);
  }
}

/** FPDUs that begin at each word of the interval: Markers between FPDUs, before the CRC, at each field. */
static void markerPlaces(Context& c) {
  Session s(c, Options(c.config));
  needMarkersIn(s);
  std::vector<bool> seen(128);

  /* Lengths that do not divide the interval reach all of its words except the second. That one follows the Marker, so that the CRC
   * field at the end of an FPDU cannot lie before it. */
  for (unsigned i = 0; std::count(seen.begin(), seen.end(), true) < 127; i++) {
    expect(i < 2000, "not every place was reached");
    seen[s.encoder.position() % 512 / 4] = true;
    const Segment m = s.nextSend(i % 60, i);

    s.send(m);
    s.expectRecv(m);
    s.postRecvs(1);
  }
  seekMarker(s);
  const Segment between = s.nextSend(20, 1);
  const Bytes fpdu = s.frame(between);
  expect(View(fpdu)[0] == 0 && View(fpdu)[3] == 0 && s.encoder.markers() == 1, "this FPDU should begin with a Marker");
  s.sendRaw(fpdu);
  s.expectRecv(between);
}

/** Every place of the interval in the other direction: the strict decoder checks each Marker. */
static void devicePlaces(Context& c) {
  Session s(c, Options(c.config));

  for (unsigned i = 0; i < 300; i++) {
    const std::size_t length = i % 3 ? i % 61 : i * 5;

    c.target.command(format("send %zu %u", length, i));
    expect(s.receiveMessage() == patternData(length, i), format("SEND of %zu octets came changed", length));
    s.expectCompletion("SEND");
  }
}

/** TCP's sequence number wraps within a Marker interval, within an FPDU and between FPDUs. */
static void sequenceWrap(Context& c) {
  for (const std::uint32_t before : {200u, 700u, 1200u}) {
    Options o(c.config);
    o.sequence = 0u - before;
    Session s(c, o);

    for (unsigned i = 0; i < 20; i++) {
      const Segment m = s.nextSend(100 + i, i);

      s.send(m);
      s.expectRecv(m);
      s.postRecvs(1);
    }
    expect(s.stream.sequence() < 100000, "the sequence number did not wrap");
  }
}

/* --- invalid FPDUs --- */

static void badCrcSend(Context& c) {
  for (const std::size_t length : {0u, 64u, 2000u}) {
    Session s(c, Options(c.config));
    needCrc(s);

    s.send(s.nextSend(length, 5), {.badCrc = true});
    s.expectRefused({term::crc}, nullptr);
  }
}

static void badCrcWrite(Context& c) {
  for (const std::size_t length : {1u, 64u, 5000u}) {
    Session s(c, Options(c.config));
    needCrc(s);

    s.send(makeWrite(s.region.stag, s.region.address, patternData(length, 5)), {.badCrc = true});
    s.expectRefused({term::crc}, nullptr);
  }
}

/** The same in pieces: no data may be placed while the FPDU is incomplete. */
static void badCrcWritePieces(Context& c) {
  Session s(c, Options(c.config));
  needCrc(s);

  s.sendRaw(s.frame(makeWrite(s.region.stag, s.region.address, patternData(3000, 5)), {.badCrc = true}), {500});
  s.expectRefused({term::crc}, nullptr);
}

/** An FPDU that never becomes complete does not change memory. */
static void partialWrite(Context& c) {
  Session s(c, Options(c.config));
  const Bytes fpdu = s.frame(makeWrite(s.region.stag, s.region.address, patternData(3000, 5)));

  s.sendRaw(View(fpdu).first(2900));
  s.expectSilence(test::milliseconds(300));
  s.expectMemoryUntouched();
  s.sendRaw(View(fpdu).subspan(2900));
  const Segment m = s.nextSend(1, 1);
  s.send(m);
  s.expectRecv(m);
  s.expectMemory(0, patternData(3000, 5), "checksum of the memory after the WRITE");
}

/** ERR-05: good FPDUs behind a bad one are not delivered, even from the same segment. */
static void nothingAfterError(Context& c) {
  Session s(c, Options(c.config));
  needCrc(s);
  Bytes all = s.frame(s.nextSend(64, 5), {.badCrc = true});

  append(all, s.frame(makeWrite(s.region.stag, s.region.address, patternData(64, 5))));
  append(all, s.frame(s.nextSend(64, 6)));
  s.sendRaw(all);
  s.expectTerminate({term::crc}, nullptr);
  s.expectDown();
  s.expectMemoryUntouched();
}

/** FRM-05: with CRCs off the field may hold anything. The encoder puts a constant there. */
static void crcOff(Context& c) {
  Options o(c.config);
  o.crc = false;
  Session s(c, o);

  if (s.remote.crc)
    throw test::Skip("the device asks for CRCs");
  const Segment m = s.nextSend(100, 5);
  s.send(m);
  s.expectRecv(m);
}

/** CRC-07: C=1 of one side is enough. */
static void crcOneSided(Context& c) {
  Options o(c.config);
  o.crc = false;
  Session s(c, o);

  if (!s.remote.crc)
    throw test::Skip("the device does not ask for CRCs");
  c.target.command("send 1000 4");
  expect(s.receiveMessage() == patternData(1000, 4), "SEND came changed"); /* its CRC is checked */
  s.expectCompletion("SEND");
  s.send(s.nextSend(64, 5), {.badCrc = true});
  s.expectRefused({term::crc}, nullptr);
}

static void badMarker(Context& c) {
  for (const unsigned which : {0u, 1u, 2u})
    for (const std::uint16_t change : {4, 0x8000}) {
      Session s(c, Options(c.config));
      needMarkersIn(s);

      s.send(makeWrite(s.region.stag, s.region.address, patternData(1600, 5)), {.marker = which, .markerXor = change});
      expect(s.encoder.markers() > which, "the FPDU has too few Markers");
      s.expectRefused({term::marker}, nullptr);
    }
}

static void badMarkerBetween(Context& c) {
  Session s(c, Options(c.config));
  needMarkersIn(s);

  seekMarker(s);
  s.send(s.nextSend(20, 5), {.marker = 0});
  expectEqual(s.encoder.markers(), 1u, "Markers in this FPDU");
  s.expectRefused({term::marker}, nullptr);
}

/**
 * An FPDU that is valid but too short for its opcode's header. No RFC defines a code for this; the device must still answer with a
 * Terminate, and must not use any of the FPDU.
 */
static void shortUlpdu(Context& c) {
  const std::vector<TermCode> any = {term::marker,      term::ddpCatastrophe, term::streamCatastrophe,
                                     term::unspecified, term::queue,          term::opcode};
  const auto truncated = [&](const Segment& m, std::size_t length) {
    Session s(c, Options(c.config));

    s.sendRaw(s.frameRaw(View(m.encode()).first(length)));
    s.expectRefused(any, nullptr);
  };
  for (const std::size_t length : {0u, 1u, 2u, 13u, 14u, 17u})
    truncated(makeSend(c.role == Role::Initiator ? 2 : 1, patternData(10, 1)), length);
  for (const std::size_t length : {2u, 13u})
    truncated(makeWrite(0, 0, patternData(10, 1)), length);
  for (const std::size_t length : {18u, 19u, 45u})
    truncated(makeReadRequest(1, {}), length);
  truncated(makeTerminate({}), 18);
}

/** ULPDU_Length is too small or too large: the CRC is then taken from the wrong octets, and data for the CRC field. */
static void wrongLength(Context& c) {
  for (const std::uint16_t length : {60, 100}) {
    Session s(c, Options(c.config));
    needCrc(s);
    Bytes all = s.frame(s.nextSend(64, 5), {.length = length});

    append(all, Bytes(200)); /* completes the FPDU with the larger length */
    s.sendRaw(all);
    s.expectTerminate({term::crc}, nullptr);
    s.expectDown();
  }
}

/* --- the device's sends against a closed window --- */

/** Waits without reading until no more octets arrive: the window is closed. Returns the number of waiting octets. */
static std::size_t shutWindow(const Stream& stream) {
  std::size_t before = 0;

  for (int quiet = 0; quiet < 10; ::poll(nullptr, 0, 50)) {
    const std::size_t now = stream.waiting();
    quiet = now && now == before ? quiet + 1 : 0;
    before = now;
  }
  return before;
}

/** Twice the peer stops reading until its window is closed, and then resumes: no data is lost, duplicated or changed. */
static void windowShut(Context& c) {
  constexpr std::size_t length = 1000000;
  Session s(c, Options(c.config));

  for (unsigned seed = 1; seed <= 2; seed++) {
    s.stream.receiveBuffer(50000);
    c.target.command(test::format("send %zu %u", length, seed));
    expect(shutWindow(s.stream) < length / 2, "the window did not shut");
    s.stream.receiveBuffer(1 << 20);
    expect(s.receiveMessage() == patternData(length, seed), "SEND came changed");
    s.expectCompletion("SEND");
  }
}

static const WireCase table[] = {
    {"fpdu-cut-two", asBoth, "RCV-03", "SENDs and a WRITE, cut in two at every octet", cutTwo},
    {"fpdu-single-octets", asBoth, "RCV-03", "the same octet by octet", singleOctets},
    {"fpdu-cut-long", asBoth, "RCV-03 MRK-08", "an FPDU of a thousand octets, cut at its boundaries", cutLong},
    {"fpdu-packed", asBoth, "RCV-03 TX-02", "150 FPDUs in one write", packed},
    {"fpdu-random-cuts", asBoth, "RCV-03", "random lengths, random cuts (--seed)", randomCuts},
    {"fpdu-huge", asBoth, "RCV-06", "FPDUs of up to 65535 octets", hugeFpdu},
    {"fpdu-partial-write", asBoth, "RCV-01 RCV-02", "an incomplete WRITE is not placed", partialWrite},
    {"fpdu-pad-ignored", asBoth, "FRM-04", "pad octets that are not zero", padIgnored},
    {"fpdu-short-ulpdu", asBoth, "", "ULPDUs too short for their opcode", shortUlpdu, "RFC5040-7"},
    {"fpdu-wrong-length", asBoth, "CRC-08", "a wrong ULPDU_Length", wrongLength, "CRC-08"},
    {"tx-window-shut", asBoth, "TX-03 TX-08", "the peer's window closes during a SEND, twice", windowShut},
    {"crc-bad-send", asBoth, "CRC-08 ERR-02 ERR-06", "bad CRC on a SEND", badCrcSend, "CRC-08 ERR-02"},
    {"crc-bad-write", asBoth, "CRC-08 ERR-02 RCV-01", "bad CRC on a WRITE: memory is unchanged", badCrcWrite, "CRC-08 ERR-02"},
    {"crc-bad-write-pieces", asBoth, "CRC-08 ERR-02 RCV-01", "bad CRC on a WRITE that arrives in pieces", badCrcWritePieces,
     "CRC-08 ERR-02"},
    {"crc-nothing-after", asBoth, "ERR-05", "nothing is delivered after a bad FPDU", nothingAfterError, "CRC-08 ERR-02"},
    {"crc-off", asBoth, "FRM-05 CRC-07", "no CRC when neither side requests it", crcOff},
    {"crc-one-sided", asBoth, "CRC-07", "CRCs both ways when one side requests them", crcOneSided},
    {"marker-places", asBoth, "MRK-06 MRK-07 MRK-03", "FPDUs that begin anywhere in a Marker interval", markerPlaces},
    {"marker-device-places", asBoth, "MRK-01 MRK-03 MRK-04 MRK-05 MRK-10 MRK-11", "the same from the device", devicePlaces},
    {"marker-bits-ignored", asBoth, "MRK-01 MRK-02", "RESERVED and the low bits of FPDUPTR", markerBitsIgnored},
    {"marker-sequence-wrap", asInitiator, "MRK-09", "the TCP sequence number wraps", sequenceWrap},
    {"marker-bad", asBoth, "MRK-13 ERR-03", "Markers that point elsewhere", badMarker, "MRK-13 ERR-03"},
    {"marker-bad-between", asBoth, "MRK-13 ERR-03 MRK-06", "a Marker between FPDUs that is not zero", badMarkerBetween},
};

std::span<const WireCase> framingCases() {
  return table;
}

} // namespace peer

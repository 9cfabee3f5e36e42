// SPDX-License-Identifier: GPL-2.0
/**
 * @file cases_segments.cpp
 * @brief TCP segments that no TCP sends: they overlap, contradict each other, and repeat octets that the device has placed.
 */
#include <random>

#include "cases.hpp"
#include "segments.hpp"

namespace peer {

using test::expect;
using test::format;

/** A WRITE of @p seed's data at @p offset of the region. */
static Segment writeAt(Session& s, std::size_t offset, std::size_t length, std::uint64_t seed) {
  return s.asSent(makeWrite(s.region.stag, s.region.address + offset, patternData(length, seed)));
}

/** Fails unless the memory holds the data of one seed, and not a mixture. */
static void expectOneOf(Session& s, std::size_t offset, std::size_t length, std::uint64_t one, std::uint64_t other) {
  const auto sum = s.memorySum(offset, length);

  expect(sum == test::checksum(patternData(length, one)) || sum == test::checksum(patternData(length, other)),
         format("the region holds neither WRITE at %zu", offset));
}

/** The peer's TCP takes the acknowledgments of @p octets, retransmits what the device has not got, and sends a SEND. */
static void catchUp(Session& s, View octets) {
  const Segment fence = s.nextSend(100, 5);

  s.stream.countAsSent(octets);
  s.send(fence);
  s.expectRecv(fence);
  s.talk();
}

/** Three WRITEs of 500 octets each: one at offset 0, and two for one place in the stream and in the region, at 4096. */
struct Contradiction {
  static constexpr std::uint64_t firstSeed = 41, heldSeed = 42, otherSeed = 43;
  Bytes first, held;
  Bytes both; /**< the first one, and that which contradicts the held one */

  explicit Contradiction(Session& s) : first(s.frame(writeAt(s, 0, 500, firstSeed))) {
    FpduEncoder again = s.encoder;

    held = s.frame(writeAt(s, 4096, 500, heldSeed));
    both = first;
    append(both, again.encode(writeAt(s, 4096, 500, otherSeed).encode()));
  }
};

/** A second FPDU at the place of one behind a gap comes with the octets that fill the gap. */
static void overlap(Context& c) {
  Session s(c, Options(c.config));
  const Segments raw(s.stream);
  const Contradiction w(s);

  raw.send(static_cast<std::uint32_t>(w.first.size()), w.held);
  raw.send(0, w.both);
  catchUp(s, w.both);
  s.expectMemory(0, patternData(500, w.firstSeed), "checksum of the WRITE before the gap");
  expectOneOf(s, 4096, 500, w.heldSeed, w.otherSeed);
}

/** The octets that fill the gap are an FPDU that reaches into the one behind it; the next one begins within it. */
static void otherBoundaries(Context& c) {
  Session s(c, Options(c.config));
  const Segments raw(s.stream);
  FpduEncoder guess = s.encoder;
  const Bytes shorter = guess.encode(writeAt(s, 0, 300, 44).encode());
  const Bytes held = guess.encode(writeAt(s, 4096, 500, 45).encode());
  Bytes real = s.frame(writeAt(s, 0, 500, 46));

  append(real, s.frame(writeAt(s, 8192, 600, 47)));
  raw.send(static_cast<std::uint32_t>(shorter.size()), held);
  raw.send(0, real);
  catchUp(s, real);
  s.expectMemory(0, patternData(500, 46), "checksum of the longer WRITE");
  s.expectMemory(8192, patternData(600, 47), "checksum of the WRITE within the one held");
}

/** A FIN comes behind a gap, and once more with the octets that fill it. */
static void finBehindGap(Context& c) {
  Session s(c, Options(c.config));
  const Segments raw(s.stream);
  const Bytes first = s.frame(writeAt(s, 0, 400, 48));
  const Segment message = s.nextSend(200, 49);
  const Bytes second = s.frame(message);
  Bytes both = first;

  append(both, second);
  raw.send(static_cast<std::uint32_t>(first.size()), second, true);
  raw.send(0, both, true);
  s.expectRecv(message);
  s.expectDown();
  s.stream.countAsSent(both); /* now the peer's TCP takes the device's FIN */
  s.stream.finish();
  s.expectMemory(0, patternData(400, 48), "checksum of the WRITE before the FIN");
}

/** WRITEs one behind the other, in the region and in the stream. */
static Bytes writes(Session& s, std::size_t count, std::size_t length, std::uint64_t seed) {
  const Bytes data = patternData(count * length, seed);
  Bytes octets;

  for (std::size_t i = 0; i < count; i++) {
    const View part = View(data).subspan(i * length, length);

    append(octets, s.frame(makeWrite(s.region.stag, s.region.address + i * length, part)));
  }
  return octets;
}

/**
 * Pieces of the stream come in any order, many of them twice, with any limits; the sequence numbers wrap. A new connection for
 * each round.
 */
static void shuffled(Context& c) {
  static constexpr std::size_t count = 12, length = 700;
  static constexpr unsigned rounds = 20;
  std::mt19937_64 random(c.config.seed);
  Options options(c.config);

  options.sequence = 0xffffffffu - 4000;
  for (unsigned round = 0; round < rounds; round++) {
    Session s(c, options);
    const Segments raw(s.stream);
    const Bytes octets = writes(s, count, length, 50 + round);

    for (unsigned i = 0; i < 60; i++) {
      const auto from = random() % octets.size();
      const auto size = std::min<std::size_t>(1 + random() % raw.largest(), octets.size() - from);

      raw.send(static_cast<std::uint32_t>(from), View(octets).subspan(from, size));
    }
    catchUp(s, octets);
    s.expectMemory(0, patternData(count * length, 50 + round), format("checksum of the WRITEs of round %u", round));
  }
}

/**
 * Segments of one octet, behind all that this case sends, fill the receive buffer, until TCP drops what it has acknowledged behind
 * a gap; then come other octets.
 */
static void reneged(Context& c) {
  static constexpr std::uint32_t segments = 3000;
  static constexpr std::uint8_t octet = 0;
  Session s(c, Options(c.config));
  const Segments raw(s.stream);
  const Contradiction w(s);

  raw.send(static_cast<std::uint32_t>(w.first.size()), w.held);
  for (std::uint32_t i = 0; i < segments; i++)
    raw.send(static_cast<std::uint32_t>(w.both.size()) + 1000 + 2 * i, View(&octet, 1));
  raw.send(0, w.first);
  catchUp(s, w.both);
  expectOneOf(s, 4096, 500, w.heldSeed, w.otherSeed);
}

static const WireCase table[] = {
    {"segments-overlap", asInitiator, "DDP-09 RCV-05", "two FPDUs at one place behind a gap: one of them is placed, whole",
     overlap},
    {"segments-boundaries", asInitiator, "DDP-09 RCV-05", "an FPDU reaches into one that was received behind a gap",
     otherBoundaries},
    {"segments-fin", asInitiator, "", "a FIN behind a gap, and again with the octets that fill it", finBehindGap},
    {"segments-shuffled", asInitiator, "RCV-05", "overlapping pieces of the stream in any order, sequence numbers that wrap",
     shuffled},
    {"segments-reneged", asInitiator, "DDP-09", "TCP drops octets behind a gap that it has acknowledged", reneged},
};

std::span<const WireCase> segmentCases() {
  return table;
}

} // namespace peer

// SPDX-License-Identifier: GPL-2.0
/** @file cases_early.cpp @brief Early placement. The caller holds back IPv4 packets of 352 to 383 octets. */
#include <cstdlib>
#include <functional>

#include "cases.hpp"

namespace peer {

using test::Deadline;
using test::expect;
using test::expectEqual;
using test::format;
using test::milliseconds;

/** Sends a WRITE that is held back and never arrives. */
static void openGap(Session& s) {
  s.send(makeWrite(s.region.stag, s.region.address, patternData(300, 30)));
}

/** Sends @p octets behind a gap; returns when the device's TCP has acknowledged them selectively. */
static void sendBehindGap(Session& s, View octets) {
  const std::size_t want = s.stream.sackedOctets() + octets.size();
  const Deadline deadline(milliseconds(10000));

  s.sendRaw(octets);
  while (s.stream.sackedOctets() < want)
    expect(!deadline.passed(), "the device's TCP does not report the octets behind the gap");
}

static void sendBehindGap(Session& s, const Segment& segment) {
  sendBehindGap(s, s.frame(segment));
}

static std::uint64_t sumOf(Context& c, unsigned index, std::size_t offset, std::size_t length) {
  return c.target.command(format("sum %u %zu %zu", index, offset, length)).number("sum");
}

static void heldWrite(Context& c) {
  Session s(c, Options(c.config));
  const Bytes data = patternData(2000, 31);
  const Deadline deadline(milliseconds(10000));

  openGap(s);
  sendBehindGap(s, makeWrite(s.region.stag, s.region.address + 8192, data));
  while (sumOf(c, 0, 8192, data.size()) != test::checksum(data))
    expect(!deadline.passed(), "a WRITE behind a gap was not placed");
}

/** A segment that must be refused, and its target. */
struct Refused {
  Segment segment;
  RemoteRegion region;
  std::size_t offset;
};

/**
 * Sends a segment that must not be placed behind a gap that is never filled. The segment does not hold its region, so that it can
 * be deregistered. A permitted WRITE behind it is not placed early either: the first segment that is not permitted ends early
 * placement.
 */
static void refuseBehindGap(Context& c, const std::function<Refused(Session&)>& make) {
  Session s(c, Options(c.config));
  const Refused bad = make(s);
  const auto other = RemoteRegion::parse(c.target.command("mr"));
  const auto before = sumOf(c, bad.region.index, bad.offset, 500), place = sumOf(c, other.index, 0, 2000);

  openGap(s);
  sendBehindGap(s, bad.segment);
  c.target.command(format("dereg %u", bad.region.index));
  expectEqual(sumOf(c, bad.region.index, bad.offset, 500), before, "memory that the segment has no right to");
  sendBehindGap(s, makeWrite(other.stag, other.address, patternData(2000, 31)));
  c.target.command(format("dereg %u", other.index));
  expectEqual(sumOf(c, other.index, 0, 2000), place, "memory of a WRITE behind a wrong guess");
}

static void heldChecks(Context& c) {
  const Bytes data = patternData(1000, 32);
  const auto writeTo = [&](Session& s, const char* region) {
    const auto r = RemoteRegion::parse(s.context.target.command(region));
    return Refused{makeWrite(r.stag, r.address, data), r, 0};
  };

  refuseBehindGap(c, [&](Session& s) {
    const std::size_t end = s.region.length - 500;
    return Refused{makeWrite(s.region.stag, s.region.address + end, data), s.region, end};
  });
  refuseBehindGap(
      c, [&](Session& s) { return Refused{makeReadResponse(s.region.stag, s.region.address + 4096, data), s.region, 4096}; });
  refuseBehindGap(c, [&](Session& s) { return Refused{makeWrite(s.region.stag ^ 0x5a5a00, s.region.address, data), s.region, 0}; });
  refuseBehindGap(c, [&](Session& s) { return writeTo(s, "mr access=r"); });
  refuseBehindGap(c, [&](Session& s) { return writeTo(s, "mr pd=other"); });
}

/** Closes or opens the gate. */
static void gate(Context& c, const char* what) {
  expectEqual(std::system((c.config.gate + " " + what).c_str()), 0, format("status of the gate's %s", what));
}

/** The device READs 300 octets; returns its Read Request. */
static ReadRequest deviceReads(Session& s) {
  s.context.target.command("read 300 0x1234 0x5678");
  return s.takeReadRequest(300);
}

/** A Response placed early for one READ must not serve a later READ into the same buffer that was requested after it arrived. */
static void heldResponse(Context& c) {
  if (c.config.gate.empty())
    throw test::Skip("there is no gate");
  Session s(c, Options(c.config));
  const Bytes response = patternData(300, 33), early = patternData(300, 34);
  const auto sink = [&] { return c.target.command("sink 300").number("sum"); };

  const auto first = deviceReads(s);
  const Segment head = makeReadResponse(first.sinkStag, first.sinkTo, View(early).first(200), false);
  s.send(makeReadResponse(first.sinkStag, first.sinkTo, response, true)); /* the gate holds it back */
  Bytes both = s.frame(head);
  append(both, s.frame(makeReadResponse(first.sinkStag, first.sinkTo + 200, View(early).subspan(200), true)));
  sendBehindGap(s, both);
  const Deadline deadline(milliseconds(10000));
  while (sink() != test::checksum(early))
    expect(!deadline.passed(), "a Response behind a gap was not placed");

  const auto second = deviceReads(s);
  expect(second.sinkStag == first.sinkStag && second.sinkTo == first.sinkTo, "the second READ has another sink");
  gate(c, "block");
  gate(c, "release");
  expectEqual(s.expectCompletion("READ").number("sum"), test::checksum(response), "checksum of the first READ");
  s.expectTerminate({term::opcode}, &head);
}

static const WireCase table[] = {
    {"held-write", asInitiator, "DDP-09 RCV-04", "a WRITE behind a gap is placed", heldWrite},
    {"held-checks", asInitiator, "DDP-09 RCV-04", "forbidden segments behind a gap: not placed, regions not held", heldChecks},
    {"held-response", asInitiator, "DDP-09", "a Response that was placed before its READ was requested: refused", heldResponse},
};

std::span<const WireCase> earlyCases() {
  return table;
}

} // namespace peer

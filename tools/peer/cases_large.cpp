// SPDX-License-Identifier: GPL-2.0
/**
 * @file cases_large.cpp
 * @brief FPDUs larger than a TCP segment: with large_fpdus=agreed the device sends them only if both startup frames have a bit that
 * RFC 5044 reserves. The device has that setting in all cases but no-large-unasked.
 */
#include "cases.hpp"

namespace peer {

using test::Deadline;
using test::expect;
using test::expectEqual;
using test::format;
using test::milliseconds;

/** Returns the largest FPDU of a message from the device that takes many segments. */
static std::size_t largestOf(Session& s) {
  static constexpr std::size_t length = 60000;

  s.context.target.command(format("send %zu 5", length));
  expect(s.receiveMessage() == patternData(length, 5), "SEND came changed");
  s.expectCompletion("SEND");
  return s.largestFpdu;
}

static void expectLarge(Session& s) {
  const auto largest = largestOf(s), segment = s.stream.segment();

  expect(largest > 10 * segment, format("the largest FPDU has %zu octets, a segment %zu", largest, segment));
}

static void expectFit(Session& s) {
  const auto largest = largestOf(s), segment = s.stream.segment();

  expect(largest <= segment, format("the largest FPDU has %zu octets, a segment %zu", largest, segment));
}

/** Both sides say so, in each revision that the peer can choose. */
static void agreed(Context& c) {
  for (const std::uint8_t revision : {1, 2}) {
    Options o(c.config);
    o.revision = revision;
    o.large = o.deviceLarge = true;
    Session s(c, o);

    expectLarge(s);
  }
}

/** The peer does not know the bit: it does not set it as Initiator, and as Responder ignores it. */
static void ignored(Context& c) {
  Options o(c.config);
  o.deviceLarge = c.role == Role::Responder;
  Session s(c, o);

  expectFit(s);
}

/** The device has another setting: it never sets the bit, whatever the peer says. */
static void unasked(Context& c) {
  for (const std::uint8_t revision : {1, 2}) {
    Options o(c.config);
    o.revision = revision;
    o.large = true;
    Session s(c, o);

    expectFit(s);
  }
}

/** In revision 0 the bit has no meaning, although the device's Request, of revision 2, has it. */
static void revision0(Context& c) {
  Options o(c.config);
  o.revision = 0;
  o.large = true;
  o.deviceLarge = c.role == Role::Responder;
  Session s(c, o);

  expectFit(s);
}

/** The peer closes at a Request with the bit. The second Request has none, and a Reply that has it does not count. */
static void closed(Context& c) {
  for (const End end : {End::Fin, End::Reset}) {
    Options o(c.config);
    o.firstAttempt = end;
    o.large = o.deviceLarge = true;
    Session s(c, o);

    expectEqual(s.remote.revision, 1, "revision of the second Request");
    expectFit(s);
  }
}

/** The peer rejects a Request with the bit: the application learns that, and there is no second attempt. */
static void rejectedWith(Context& c, const Bytes& privateData) {
  const auto& config = c.config;
  Bytes rest;

  Stream s = acceptDevice(c);
  StartupFrame f = replyTo(receiveStartup(s, FrameKind::Request, rest, c.trace, true), Options(config));
  f.reject = true;
  f.privateData = privateData;
  s.send(f.encode());
  const Line event = c.target.expectEvent("cm");
  expect(event.at("event") == "REJECTED", "in place of REJECTED: " + event.text);
}

static void rejected(Context& c) {
  rejectedWith(c, {});
}

static void rejectedByUlp(Context& c) {
  rejectedWith(c, patternData(40, 12));
}

static const WireCase table[] = {
    {"large-agreed", asBoth, "STA-20 SIZ-04", "both sides say that they take large FPDUs: they come", agreed},
    {"large-ignored", asBoth, "STA-20", "the peer does not know the bit: FPDUs fit a segment", ignored},
    {"large-rdmac", asBoth, "STA-20 RDC-01", "the bit in revision 0: FPDUs fit a segment", revision0},
    {"large-closed", asResponder, "STA-20", "FIN or RST in place of a Reply: again without the bit", closed},
    {"large-rejected", asResponder, "STA-20", "a reject of the Request with the bit", rejected},
    {"large-rejected-ulp", asResponder, "STA-20", "the same with Private Data: it is the ULP that rejects", rejectedByUlp},
    {"no-large-unasked", asBoth, "STA-05 STA-20", "the peer sets the bit, the device has another setting: FPDUs fit a segment",
     unasked},
};

std::span<const WireCase> largeCases() {
  return table;
}

} // namespace peer

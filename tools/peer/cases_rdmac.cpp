// SPDX-License-Identifier: GPL-2.0
/** @file cases_rdmac.cpp @brief Revision 0, the RDMA Consortium's (RFC 5044 Appendix C): the peer is an "upgraded RDMAC RNIC". */
#include "cases.hpp"

namespace peer {

using test::Deadline;
using test::expect;
using test::expectEqual;
using test::format;
using test::milliseconds;

static Options revision0(const Context& c) {
  Options o(c.config);

  o.revision = 0;
  return o;
}

/** The session's decoder requires Markers, CRC and version 0 in everything that the device sends. */
static void talk(Context& c) {
  Session s(c, revision0(c));

  if (c.role == Role::Initiator)
    expect(s.remote.privateData.empty() && !s.remote.enhanced, "more in the Reply than revision 0 has");
  s.exchange();
}

static void terminates(Context& c) {
  {
    Session s(c, revision0(c));
    const Segment bad = makeWrite(s.region.stag ^ 0x5a5a00, s.region.address, patternData(64, 1));

    s.send(bad);
    s.expectRefused({term::taggedStag}, &bad);
  }
  Session s(c, revision0(c));
  s.send(makeTerminate({.code = term::rdmapLocal}));
  s.expectFin();
  s.expectDown();
}

/** Versions must not mix: a header of version 1 is an error on such a connection, and the Terminate has version 0. */
static void mixed(Context& c) {
  const struct {
    bool tagged;
    std::uint8_t ddp, rdmap;
    TermCode want;
  } rows[] = {{false, 1, 1, term::untaggedVersion}, {true, 1, 1, term::taggedVersion}, {false, 1, 0, term::untaggedVersion},
              {false, 0, 1, term::rdmapVersion},    {true, 0, 1, term::rdmapVersion},  {true, 2, 0, term::taggedVersion}};

  for (const auto& row : rows) {
    Session s(c, revision0(c));
    Segment bad = row.tagged ? makeWrite(s.region.stag, s.region.address, patternData(64, 1)) : s.nextSend(64, 1);

    bad.ddpVersion = row.ddp;
    bad.rdmapVersion = row.rdmap;
    s.mixVersions = true;
    s.send(bad);
    s.expectRefused({row.want}, &bad);
  }
}

/** Revisions 1 and 2 do not use version 0. */
static void unasked(Context& c) {
  for (const bool tagged : {false, true}) {
    Options o(c.config);
    o.revision = 1;
    Session s(c, o);
    Segment bad = tagged ? makeWrite(s.region.stag, s.region.address, patternData(64, 1)) : s.nextSend(64, 1);

    bad.ddpVersion = bad.rdmapVersion = 0;
    s.send(bad);
    s.expectRefused({tagged ? term::taggedVersion : term::untaggedVersion}, &bad);
  }
}

static void rejected(Context& c) {
  const Bytes data = patternData(30, 12);
  Stream s = Stream::connect(c.config.address, c.config.port);
  Bytes rest;

  s.send(startupFrame(FrameKind::Request, revision0(c)).encode());
  c.target.expectEvent("cm");
  c.target.command("reject pd=" + hex(data, 1024));
  const auto reply = receiveStartup(s, FrameKind::Reply, rest, c.trace);
  expectEqual(reply.revision, 0, "revision of the Reply");
  expect(reply.reject && reply.markers && reply.crc, "R, M or C is 0");
  expect(reply.privateData == data, "Private Data of the reject came changed");
}

/* --- the non-permissive device: rdmac=N --- */

/** The device must send nothing but a FIN on @p s. */
static void expectFinOnly(Stream& s, const char* what) {
  Bytes octets;
  const End end = s.receive(octets, Deadline(milliseconds(10000)));

  expect(octets.empty(), format("%s: the device sent %s", what, hex(octets).c_str()));
  expect(end == End::Fin, format("%s: a FIN was due", what));
}

/** RFC 5044 §C.2.1. The rest of the Request arrives late, and must not turn the FIN into an RST. */
static void refusedRequest(Context& c) {
  for (const std::size_t length : {0u, 100u})
    for (const bool cut : {false, true}) {
      Options o = revision0(c);
      o.privateData = patternData(length, 3);
      const Bytes frame = startupFrame(FrameKind::Request, o).encode();
      Stream s = Stream::connect(c.config.address, c.config.port);
      Bytes rest;

      s.send(frame, cut ? Cuts{18, frame.size()} : Cuts{});
      const auto reply = receiveStartup(s, FrameKind::Reply, rest, c.trace);
      expectEqual(reply.revision, 1, "revision of the Reply");
      expect(reply.reject && !reply.enhanced, "the Reply accepts");
      expect(rest.empty(), "octets behind the Reply");
      expectFinOnly(s, "refused Request");
      expect(!c.target.event("cm", Deadline::exactly(milliseconds(50))), "the application got an event of a connection");
    }
}

/** RFC 5044 §C.2.2. */
static void refusedReply(Context& c) {
  Bytes rest;

  Stream s = acceptDevice(c);
  const auto request = receiveStartup(s, FrameKind::Request, rest, c.trace);
  s.send(replyTo(request, revision0(c)).encode());
  const Line event = c.target.expectEvent("cm");
  expect(event.at("event") != "ESTABLISHED", "the application got an event of a connection");
  expectFinOnly(s, "refused Reply");
}

static void refused(Context& c) {
  if (c.role == Role::Initiator)
    refusedRequest(c);
  else
    refusedReply(c);
}

static const WireCase table[] = {
    {"rdmac-talk", asBoth, "RDC-01 RDC-02 RDC-03 DDP-08 CRC-05", "revision 0: SEND, WRITE and READ both ways in version 0", talk},
    {"rdmac-terminates", asBoth, "RDC-01 DDP-08", "revision 0: Terminates of version 0, both ways", terminates},
    {"rdmac-mixed", asBoth, "RDC-01 DDP-08", "revision 0: other versions of DDP or RDMAP are refused", mixed},
    {"rdmac-unasked", asBoth, "DDP-08", "version 0 without revision 0 is refused", unasked},
    {"rdmac-rejects", asInitiator, "RDC-02 STA-10", "revision 0: a reject with Private Data", rejected},
    {"no-rdmac-refused", asBoth, "RDC-04 STA-06", "rdmac=N: revision 0 is answered with 1, then FIN; a Reply of 0 with FIN",
     refused},
};

std::span<const WireCase> rdmacCases() {
  return table;
}

} // namespace peer

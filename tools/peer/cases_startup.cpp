// SPDX-License-Identifier: GPL-2.0
/** @file cases_startup.cpp @brief MPA startup (RFC 5044 §7.1, RFC 6581): accepted, refused, and ended by timeout. */
#include <algorithm>
#include <functional>

#include "cases.hpp"

namespace peer {

using test::Deadline;
using test::expect;
using test::expectEqual;
using test::format;
using test::milliseconds;

/* --- startups that succeed --- */

static void basic(Context& c) {
  Session s(c, Options(c.config));
  s.talk();
}

static void revisions(Context& c) {
  for (const std::uint8_t revision : {1, 2}) {
    Options o(c.config);
    o.revision = revision;
    Session s(c, o);

    if (c.role == Role::Initiator) {
      expectEqual(s.remote.revision, revision, "revision of the Reply");
      expectEqual(s.remote.enhanced.has_value(), revision == 2, "S bit of the Reply");
    }
    s.talk();
  }
}

/** The Reply complies with its strict decoder and RFC 6581 section 6; the device may choose M and C. */
static void reply(Context& c) {
  for (const std::uint8_t revision : {1, 2})
    for (const bool set : {false, true}) {
      Options o(c.config);
      o.revision = revision;
      o.markers = o.crc = set;
      o.hello = false;
      Session s(c, o);

      expectEqual(s.remote.revision, revision, "revision of the Reply");
      expectEqual(s.remote.enhanced.has_value(), revision == 2, "S bit of the Reply");
    }
}

/** M=1: the device sends Markers; M=0: it sends none. The session's decoder checks both. */
static void markerBit(Context& c) {
  for (const bool markers : {false, true}) {
    Options o(c.config);
    o.markers = markers;
    Session s(c, o);
    s.talk();
  }
}

static void crcBit(Context& c) {
  for (const bool crc : {false, true}) {
    Options o(c.config);
    o.crc = crc;
    Session s(c, o);
    s.talk();
  }
}

static void reservedBits(Context& c) {
  /* Built by hand, because Session sends only correct frames. */
  if (c.role != Role::Initiator)
    throw test::Skip("shown as Initiator");
  Bytes rest;
  Stream s = Stream::connect(c.config.address, c.config.port);
  StartupFrame f = startupFrame(FrameKind::Request, Options(c.config));

  f.reserved = 0x0f;
  f.reject = true; /* "set to zero, and not checked on reception in the MPA Request Frame" */
  s.send(f.encode());
  const Line event = c.target.expectEvent("cm");
  expect(event.at("event") == "CONNECT_REQUEST", "in place of CONNECT_REQUEST: " + event.text);
  c.target.command("accept");
  expect(!receiveStartup(s, FrameKind::Reply, rest, c.trace).reject, "the device rejected the connection");
}

/* --- Private Data --- */

/** Private Data of @p length octets each way, compared. */
static void privateDataOf(Context& c, std::size_t length) {
  Options o(c.config);
  const std::string ours = hex(patternData(length, 11), 1024), theirs = hex(patternData(length, 12), 1024);

  o.privateData = patternData(length, 11);
  o.application = "pd=" + theirs;
  Session s(c, o);
  /* librdmacm may pad the passive side's data; shorter or different data is wrong. */
  expect(s.request.at("pd") == ours, format("%zu octets of Private Data: the application got %s", length, s.request.text.c_str()));
  expect(hex(s.remote.privateData, 1024) == theirs,
         format("%zu octets of Private Data: the peer got %zu", length, s.remote.privateData.size()));
}

static void privateData(Context& c) {
  for (const std::size_t length : {0u, 1u, 2u, 3u, 4u, 5u, 63u, 64u, 196u, 240u, 248u})
    privateDataOf(c, length);
}

/** The largest lengths that librdmacm's 8-bit field can express, and around them those with RFC 6581's four octets added. */
static void privateDataEdge(Context& c) {
  for (const std::size_t length : {251u, 252u, 253u, 254u, 255u})
    privateDataOf(c, length);
}

/**
 * Legal on the wire, but beyond the 8-bit lengths of iw_cm: either the application gets exactly this data, or the connection is
 * rejected or closed. The case detects a length that has wrapped.
 */
static void privateDataLarge(Context& c) {
  for (const std::size_t length : {256u, 260u, 300u, 508u}) {
    Stream s = Stream::connect(c.config.address, c.config.port);
    Options o(c.config);
    o.privateData = patternData(length, 11);
    s.send(startupFrame(FrameKind::Request, o).encode());
    Bytes answer;
    End end = End::Open;
    std::optional<Line> event;
    /* no answer arrives if the Request was delivered */
    for (const Deadline deadline(milliseconds(20000)); !event && (end == End::Open || end == End::Data) && !deadline.passed();) {
      end = s.receive(answer, Deadline::exactly(milliseconds(100)));
      event = c.target.event("cm", Deadline(milliseconds(0)));
    }
    if (event)
      expect(event->at("pd") == hex(o.privateData, 1024),
             format("%zu octets of Private Data became: %s", length, event->text.c_str()));
    else if (answer.size() >= startupHeader)
      expect(StartupFrame::decode(FrameKind::Reply, answer).reject, "an accepting Reply that no application gave");
    else
      expect(end == End::Fin || end == End::Reset, "the Request is neither delivered nor refused");
    c.target.command("reset");
    c.target.forget();
  }
}

/* --- startups that must be refused --- */

/** Sends @p octets as Initiator: the device must close soon, and the application must get no event. */
static void refusedRequest(Context& c, const Bytes& octets, const std::string& what, bool finish = false) {
  Stream s = Stream::connect(c.config.address, c.config.port);
  Bytes answer;

  s.send(octets);
  if (finish)
    s.finish();
  const End end = s.receive(answer, Deadline(milliseconds(5000)));
  expect(answer.empty(), what + ": the device answered " + hex(answer));
  expect(end == End::Fin || end == End::Reset, what + ": the device did not close");
  expect(!c.target.present() || !c.target.event("cm", Deadline::exactly(milliseconds(50))),
         what + ": the application got an event of a connection");
}

/** Answers the device's Request with @p octets: the device must close, and the application's connect must fail. */
static void refusedReply(Context& c, const Bytes& octets, const std::string& what, bool finish = false) {
  Bytes rest;

  Stream s = acceptDevice(c);
  receiveStartup(s, FrameKind::Request, rest, c.trace);
  s.send(octets);
  if (finish)
    s.finish();
  const Line event = c.target.expectEvent("cm");
  expect(event.at("event") != "ESTABLISHED", what + ": the application got an event of a connection");
  Bytes more;
  End end;
  do /* RFC 5040 allows a last Terminate; the case checks only the end */
    end = s.receive(more, Deadline(milliseconds(5000)));
  while (end == End::Data);
  expect(end != End::Open, what + ": the device did not close");
  c.target.command("reset");
  c.target.forget();
}

static StartupFrame ownFrame(Context& c) {
  return startupFrame(c.role == Role::Initiator ? FrameKind::Request : FrameKind::Reply, Options(c.config));
}

static void refused(Context& c, const Bytes& octets, const std::string& what, bool finish = false) {
  if (c.role == Role::Initiator)
    refusedRequest(c, octets, what, finish);
  else
    refusedReply(c, octets, what, finish);
}

static void wrongKey(Context& c) {
  for (const unsigned octet : {0u, 9u, 15u}) {
    StartupFrame f = ownFrame(c);

    f.keyOverride = startupKey(f.kind);
    (*f.keyOverride)[octet] ^= 0x20;
    refused(c, f.encode(), format("octet %u of the key changed", octet));
  }
}

/** Initiator against Initiator, and a Reply in place of a Request: the key reveals both. */
static void sameRole(Context& c) {
  StartupFrame f = ownFrame(c);

  f.kind = c.role == Role::Initiator ? FrameKind::Reply : FrameKind::Request;
  refused(c, f.encode(), "frame of the wrong kind");
}

static void otherProtocols(Context& c) {
  const std::string texts[] = {"GET / HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\n\r\n",
                               "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n", std::string(64, '\0')};

  for (const auto& text : texts)
    refused(c, Bytes(text.begin(), text.end()), "other protocol");
}

static void wrongRevision(Context& c) {
  for (const std::uint8_t revision : {3, 127, 255}) {
    StartupFrame f = ownFrame(c);

    f.revision = revision;
    refused(c, f.encode(), format("revision %u", revision));
  }
}

static void tooMuchPrivateData(Context& c) {
  for (const std::uint16_t length : {513, 4096, 65535}) {
    StartupFrame f = ownFrame(c);

    f.lengthOverride = length;
    refused(c, f.encode(), format("PD_Length %u", length)); /* refused before the whole frame has arrived */
  }
}

static void missingPrivateData(Context& c) {
  StartupFrame f = ownFrame(c);

  f.privateData = patternData(20, 1);
  f.lengthOverride = 64;
  refused(c, f.encode(), "less Private Data than PD_Length says, then FIN", true);
}

static void enhancedTooShort(Context& c) {
  if (c.config.revision < 2)
    throw test::Skip("revision 2");
  for (const std::size_t length : {0u, 3u}) {
    Bytes octets = ownFrame(c).encode();

    octets.resize(startupHeader + length);
    octets[19] = static_cast<std::uint8_t>(length);
    refused(c, octets, format("S=1 with %zu octets of Private Data", length));
  }
}

static void partialFrame(Context& c) {
  const Bytes whole = ownFrame(c).encode();

  /* A close without any octet in place of a Reply is tested by enhanced-fallback. */
  for (const std::size_t length : {c.role == Role::Initiator ? 0u : 2u, 1u, 16u, 19u})
    refused(c, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)), format("FIN after %zu octets", length),
            true);
}

/* --- rejects --- */

static void applicationRejects(Context& c) {
  const Bytes data = patternData(40, 12);
  Stream s = Stream::connect(c.config.address, c.config.port);
  Bytes rest;

  s.send(startupFrame(FrameKind::Request, Options(c.config)).encode());
  c.target.expectEvent("cm");
  c.target.command("reject pd=" + hex(data, 1024));
  const auto reply = receiveStartup(s, FrameKind::Reply, rest, c.trace);
  expect(reply.reject, "R is 0 in a Reply that rejects");
  expect(reply.privateData == data, "Private Data of the reject came changed");
}

static void peerRejects(Context& c) {
  const auto& config = c.config;
  Bytes rest;

  Stream s = acceptDevice(c);
  const auto request = receiveStartup(s, FrameKind::Request, rest, c.trace);
  StartupFrame f = replyTo(request, Options(config));
  f.reject = true;
  f.privateData = patternData(40, 12);
  s.send(f.encode());
  const Line event = c.target.expectEvent("cm");
  expect(event.at("event") == "REJECTED", "in place of REJECTED: " + event.text);
  expect(event.at("pd").starts_with(hex(f.privateData, 1024)), "Private Data of the reject: " + event.text);
}

static void rejects(Context& c) {
  if (c.role == Role::Initiator)
    applicationRejects(c);
  else
    peerRejects(c);
}

/* --- slow and cut startups --- */

/** The startup frame in two pieces, cut at every octet, and in single octets. */
static void cutRequest(Context& c) {
  Options o(c.config);
  o.privateData = patternData(5, 1);
  const Bytes frame = startupFrame(FrameKind::Request, o).encode();

  for (std::size_t cut = 1; cut < frame.size(); cut++) {
    Stream s = Stream::connect(c.config.address, c.config.port);
    Bytes rest;

    s.send(frame, cut == 1 ? Cuts{1} : Cuts{cut, frame.size()});
    const Line event = c.target.expectEvent("cm");
    expect(event.at("pd") == hex(o.privateData), "Private Data: " + event.text);
    c.target.command("accept");
    receiveStartup(s, FrameKind::Reply, rest, c.trace);
    c.target.command("reset");
    c.target.forget();
  }
}

/** The application gets one event for a Reply, when the whole Reply has arrived. */
static void cutReply(Context& c) {
  const auto& config = c.config;

  for (std::size_t cut = 1, length = 2; cut < length; cut++) {
    Bytes rest;

    Stream s = acceptDevice(c);
    StartupFrame f = replyTo(receiveStartup(s, FrameKind::Request, rest, c.trace), Options(config));
    f.privateData = patternData(5, 1);
    const Bytes frame = f.encode();
    length = frame.size();
    s.send(frame, cut == 1 ? Cuts{1} : Cuts{cut, length});
    const Line event = c.target.expectEvent("cm");
    expect(event.at("event") == "ESTABLISHED", format("a Reply cut at octet %zu: ", cut) + event.text);
    expect(event.at("pd").starts_with(hex(f.privateData, 1024)), "Private Data: " + event.text);
    c.target.command("reset");
    c.target.forget();
  }
}

static void cutFrame(Context& c) {
  if (c.role == Role::Initiator)
    cutRequest(c);
  else
    cutReply(c);
}

/** Waits up to the bound for the device to close @p s, and runs @p step every second meanwhile. */
static void expectCutOff(Context& c, Stream& s, const std::function<void()>& step) {
  const Deadline bound(c.config.startupBound);

  while (!bound.passed()) {
    Bytes octets;
    const End end = s.receive(octets, Deadline::exactly(milliseconds(1000)));

    expect(octets.empty(), "the device answered half a startup frame: " + hex(octets));
    if (end == End::Fin || end == End::Reset)
      return;
    try {
      step();
    } catch (const std::system_error&) {
      return; /* sending fails because the device has closed */
    }
  }
  throw test::Failure("the unfinished startup was not cut off in time");
}

static Stream reach(Context& c) {
  const auto& config = c.config;

  if (c.role == Role::Initiator)
    return Stream::connect(config.address, config.port);
  Bytes rest;
  Stream s = acceptDevice(c);
  receiveStartup(s, FrameKind::Request, rest, c.trace);
  return s;
}

static void expectConnectFailed(Context& c) {
  if (c.role == Role::Initiator)
    return;
  const Line event = c.target.expectEvent("cm");
  expect(event.at("event") != "ESTABLISHED", "the application got an event of a connection");
}

static void silent(Context& c) {
  Stream s = reach(c);

  expectCutOff(c, s, [] {});
  expectConnectFailed(c);
}

/** One octet per second: each is progress, but the startup as a whole has a time limit. */
static void drip(Context& c) {
  Options o(c.config);
  o.privateData = patternData(200, 1);
  const Bytes frame = startupFrame(c.role == Role::Initiator ? FrameKind::Request : FrameKind::Reply, o).encode();
  Stream s = reach(c);
  std::size_t at = 0;

  expectCutOff(c, s, [&] { s.send(View(frame).subspan(at++, 1)); });
  expectConnectFailed(c);
}

/* --- the first FPDU --- */

/** Finds out by a first connection whether the device asks for Markers; a legal peer learns that only from the startup frame. */
static Framing learnFraming(Context& c) {
  Session probe(c, Options(c.config));

  return probe.encoder.framing();
}

/** A Request and an FPDU behind it that the Initiator may not send yet (STA-19: not lost; and no stall in any case). */
static void behindRequest(Context& c, const Cuts& cuts) {
  const Framing framing = learnFraming(c);
  const Segment m = makeSend(1, patternData(50, 4));
  const Bytes request = startupFrame(FrameKind::Request, Options(c.config)).encode();
  Bytes all = request, rest;

  c.target.command("reset");
  c.target.forget();
  append(all, FpduEncoder(framing).encode(m.encode()));
  Stream s = Stream::connect(c.config.address, c.config.port);
  s.send(all, cuts.empty() ? cuts : Cuts{request.size(), all.size()});
  const Line event = c.target.expectEvent("cm");
  expect(event.at("event") == "CONNECT_REQUEST" && event.at("pd").empty(), "in place of CONNECT_REQUEST: " + event.text);
  c.target.command("accept");
  receiveStartup(s, FrameKind::Reply, rest, c.trace);
  const Line wc = c.target.expectEvent("wc");
  expect(wc.at("status") == "SUCCESS", "the FPDU behind the Request: " + wc.text);
  expectEqual(wc.number("sum"), test::checksum(m.payload), "checksum of its message");
}

/** A Reply and an FPDU behind it that the Responder should not send yet. */
static void behindReply(Context& c, const Cuts& cuts) {
  const auto& config = c.config;
  const Segment m = makeSend(1, patternData(50, 4));
  Bytes rest;

  Stream s = acceptDevice(c);
  const auto request = receiveStartup(s, FrameKind::Request, rest, c.trace);
  const StartupFrame f = replyTo(request, Options(config));
  Bytes all = f.encode();
  const auto first = all.size();
  append(all, FpduEncoder({request.markers, f.crc || request.crc}).encode(m.encode()));
  s.send(all, cuts.empty() ? cuts : Cuts{first, all.size()});
  const Line event = c.target.expectEvent("cm");
  expect(event.at("event") == "ESTABLISHED", "in place of ESTABLISHED: " + event.text);
  const Line wc = c.target.expectEvent("wc");
  expect(wc.at("status") == "SUCCESS", "the FPDU behind the Reply: " + wc.text);
  expectEqual(wc.number("sum"), test::checksum(m.payload), "checksum of its message");
}

static void firstSameSegment(Context& c) {
  if (c.role == Role::Initiator)
    behindRequest(c, {});
  else
    behindReply(c, {});
}

static void firstNextSegment(Context& c) {
  if (c.role == Role::Initiator)
    behindRequest(c, {1});
  else
    behindReply(c, {1});
}

/** STA-12: the Responder's application sends at once, but the device sends nothing before the Initiator's first FPDU. */
static void responderWaits(Context& c) {
  Options o(c.config);
  o.hello = false;
  Session s(c, o);

  c.target.command("send 100 3");
  s.expectSilence(milliseconds(700));
  const Segment m = s.nextSend(10, 1);
  s.send(m);
  expect(s.receiveMessage() == patternData(100, 3), "SEND came changed");
}

/** RFC 6581 §9.1: the Reply's depths comply with the Request's. */
static void depths(Context& c) {
  if (c.role != Role::Initiator || c.config.revision < 2)
    throw test::Skip("shown as Initiator in revision 2");
  Options o(c.config);
  o.enhanced = {.ird = 3, .ord = 5};
  o.application = "ird=5 ord=3";
  Session s(c, o);

  expect(s.remote.enhanced.has_value(), "no enhanced data in the Reply");
  expect(s.remote.enhanced->ord <= 3, format("the Responder's ORD is %u, the Initiator's IRD 3", s.remote.enhanced->ord));
  expect(s.remote.enhanced->ird >= 5, format("the Responder's IRD is %u, the Initiator's ORD 5", s.remote.enhanced->ird));
  expect(!s.remote.enhanced->peerToPeer, "A is not echoed");
  expectEqual(s.request.number("ird"), 5u, "responder_resources in the application's event");
  expectEqual(s.request.number("ord"), 3u, "initiator_depth in the application's event");
}

/* --- the peer-to-peer model --- */

/** The peer as Initiator: requests A=1 with @p offer, and sends @p segment as RTR. */
static void sendRtr(Context& c, const Enhanced& offer, const Segment& segment) {
  Options o(c.config);
  o.revision = 2;
  o.enhanced = offer;
  o.hello = false;
  Session s(c, o);

  expect(s.remote.enhanced && s.remote.enhanced->peerToPeer, "A is not echoed");
  const Enhanced& e = *s.remote.enhanced;
  expect((offer.rtrWrite && e.rtrWrite) || (offer.rtrRead && e.rtrRead) || (offer.rtrSend && e.rtrSend),
         "none of the offered RTR kinds was chosen");
  if (segment.opcode == opReadRequest)
    s.order.expectResponse(ReadRequest::decode(segment.payload));
  s.send(segment);
  if (segment.opcode == opReadRequest)
    expect(s.receiveMessage().empty(), "the response to an empty READ has data");
  c.target.command("send 100 3"); /* the Responder may send now */
  expect(s.receiveMessage() == patternData(100, 3), "SEND came changed");
}

static void rtr(Context& c) {
  if (c.role == Role::Initiator) {
    sendRtr(c, {.peerToPeer = true, .rtrWrite = true}, makeWrite(0, 0, {}));
    sendRtr(c, {.peerToPeer = true, .rtrRead = true}, makeReadRequest(1, {}));
    return;
  }
  for (const Rtr kind : {Rtr::Write, Rtr::Read}) {
    Options o(c.config);
    o.rtr = kind;
    Session s(c, o);

    if (!s.remote.enhanced || !s.remote.enhanced->peerToPeer)
      throw test::Skip("the device asks for the client-server model");
    s.talk();
  }
}

static const WireCase table[] = {
    {"startup-basic", asBoth, "STA-01 STA-09 STA-11", "a connection, one message each way", basic},
    {"startup-revisions", asBoth, "STA-06 ENH-01", "revisions 1 and 2", revisions},
    {"startup-reply", asInitiator, "STA-01 STA-06 ENH-01", "the Reply to revisions 1 and 2, M and C 0 and 1", reply,
     "STA-01 STA-06 ENH-01"},
    {"startup-marker-bit", asBoth, "STA-02 MRK-10 MRK-11", "M=0 and M=1", markerBit},
    {"startup-crc-bit", asBoth, "STA-03 CRC-07", "C=0 and C=1", crcBit},
    {"startup-reserved-bits", asInitiator, "STA-04 STA-05", "R and Res set in a Request", reservedBits},
    {"startup-depths", asInitiator, "ENH-02 ENH-03 ENH-05", "IRD and ORD", depths},
    {"startup-rtr", asBoth, "ENH-05 ENH-06 ENH-07", "peer-to-peer model with an empty WRITE or READ first", rtr},
    {"startup-private-data", asBoth, "STA-08 STA-17", "0 to 248 octets of Private Data each way", privateData},
    {"startup-private-data-edge", asBoth, "STA-08", "251 to 255 octets of Private Data", privateDataEdge},
    {"startup-private-data-large", asInitiator, "STA-08", "256 to 508 octets: more than the connection manager can carry",
     privateDataLarge},
    {"startup-cut", asBoth, "RCV-03", "the Request or the Reply cut at every octet", cutFrame},
    {"startup-first-same-segment", asBoth, "STA-19", "the first FPDU right behind the startup frame", firstSameSegment},
    {"startup-first-next-segment", asBoth, "STA-19", "the first FPDU in the next segment", firstNextSegment},
    {"startup-responder-waits", asInitiator, "STA-12", "the Responder sends nothing before the first FPDU", responderWaits},
    {"startup-rejects", asBoth, "STA-04 STA-10 STA-11", "a reject with Private Data", rejects},
    {"startup-wrong-key", asBoth, "STA-01 ERR-04", "wrong key", wrongKey, "STA-01 ERR-04"},
    {"startup-same-role", asBoth, "STA-13", "both are Initiator, or a Reply in place of a Request", sameRole, "STA-13"},
    {"startup-other-protocols", asBoth, "ENB-01 ENB-02", "HTTP, SSH and zeros", otherProtocols, "ENB-01 ENB-02"},
    {"startup-wrong-revision", asBoth, "STA-06", "revisions 3 and above", wrongRevision, "STA-06"},
    {"startup-too-much-data", asBoth, "STA-07", "PD_Length above 512", tooMuchPrivateData, "STA-07"},
    {"startup-missing-data", asBoth, "STA-07", "PD_Length above the octets sent", missingPrivateData, "STA-07"},
    {"startup-enhanced-short", asBoth, "ENH-10", "S=1 without room for IRD and ORD", enhancedTooShort, "ENH-10"},
    {"startup-partial", asBoth, "ERR-04", "FIN within the startup frame", partialFrame, "ERR-04"},
    {"startup-silent", asBoth, "STA-14 STA-15 ENB-03", "nothing is sent at all", silent, "STA-14 STA-15 ENB-03"},
    {"startup-drip", asBoth, "STA-15", "one octet a second", drip, "STA-15"},
};

std::span<const WireCase> startupCases() {
  return table;
}

} // namespace peer

// SPDX-License-Identifier: GPL-2.0
#include "session.hpp"

#include <algorithm>
#include <cinttypes>

namespace peer {

using test::Deadline;
using test::expect;
using test::expectEqual;
using test::Failure;
using test::format;
using test::milliseconds;

static constexpr milliseconds receiveBudget{15000};

/* --- trace --- */

void Trace::add(const std::string& line) {
  if (live_)
    std::printf("    %s\n", line.c_str());
  lines_.push_back(line);
}

void Trace::dump() const {
  static constexpr std::size_t shown = 40;

  if (live_)
    return;
  if (lines_.size() > shown)
    std::printf("    ... %zu earlier lines, --trace shows all\n", lines_.size() - shown);
  for (std::size_t i = lines_.size() > shown ? lines_.size() - shown : 0; i < lines_.size(); i++)
    std::printf("    %s\n", lines_[i].c_str());
}

static std::string describe(const StartupFrame& f) {
  return format("MPA %s M=%d C=%d R=%d S=%d large=%d rev=%u PD=%zu", f.kind == FrameKind::Request ? "Request" : "Reply", f.markers,
                f.crc, f.reject, f.enhanced.has_value(), f.large, f.revision, f.privateData.size());
}

/* --- startup --- */

Bytes patternData(std::size_t length, std::uint64_t seed) {
  Bytes out(length);

  test::fill(out, seed);
  return out;
}

RemoteRegion RemoteRegion::parse(const Line& line) {
  return {static_cast<unsigned>(line.number("mr")), static_cast<std::uint32_t>(line.number("rkey")), line.number("addr"),
          line.number("len")};
}

StartupFrame startupFrame(FrameKind kind, const Options& options) {
  StartupFrame f;

  f.kind = kind;
  f.markers = options.markers;
  f.crc = options.crc;
  f.large = options.large;
  f.revision = options.revision;
  f.privateData = options.privateData;
  if (options.revision == 0) /* RFC 5044 Figure 14: such a peer supports no other revision */
    f.markers = f.crc = true;
  if (options.revision >= 2)
    f.enhanced = options.enhanced;
  return f;
}

/** Sets the kinds that both sides support; only one of them when the options name it. */
static void chooseRtr(Enhanced& reply, const Enhanced& request, Rtr rtr) {
  reply.peerToPeer = request.peerToPeer;
  reply.rtrSend = request.peerToPeer && (rtr == Rtr::Any ? request.rtrSend : rtr == Rtr::Send);
  reply.rtrWrite = request.peerToPeer && (rtr == Rtr::Any ? request.rtrWrite : rtr == Rtr::Write);
  reply.rtrRead = request.peerToPeer && (rtr == Rtr::Any ? request.rtrRead : rtr == Rtr::Read);
}

StartupFrame replyTo(const StartupFrame& request, const Options& options) {
  Options o = options;

  o.revision = options.revision == 0 ? options.revision : request.revision;
  StartupFrame f = startupFrame(FrameKind::Reply, o);
  if (!request.enhanced || o.revision == 0) {
    f.enhanced.reset();
    return f;
  }
  const Enhanced& asked = *request.enhanced;
  f.enhanced->ird = asked.ord == notNegotiated ? notNegotiated : std::max(o.enhanced.ird, asked.ord);
  f.enhanced->ord = asked.ird == notNegotiated ? notNegotiated : std::min(o.enhanced.ord, asked.ird);
  chooseRtr(*f.enhanced, asked, options.rtr);
  return f;
}

static const char* endName(End end) {
  static const char* const names[] = {"no data arrived in time", "data", "FIN", "RST"};

  return names[static_cast<int>(end)];
}

Stream acceptDevice(Context& c) {
  c.target.command("connect " + c.config.listenAddress() + " " + c.listener.port());
  return c.listener.accept(Deadline(milliseconds(10000)));
}

StartupFrame receiveStartup(Stream& stream, FrameKind kind, Bytes& rest, Trace& trace, bool large) {
  const Deadline deadline(receiveBudget);
  Bytes octets;

  while (octets.size() < startupHeader || octets.size() < startupLength(octets)) {
    const End end = stream.receive(octets, deadline);

    if (end != End::Data)
      throw Failure(format("no startup frame: %s after %zu octets", endName(end), octets.size()));
  }
  const auto length = startupLength(octets);
  const auto frame = StartupFrame::decode(kind, View(octets).first(length));
  rest.assign(octets.begin() + static_cast<std::ptrdiff_t>(length), octets.end());
  trace.add("< " + describe(frame));
  expect(frame.large == large,
         large ? "the bit of large FPDUs is not set (STA-20)" : "the bit of large FPDUs, which is reserved, is set (STA-05)");
  return frame;
}

static std::string applicationOptions(const Options& o) {
  return format("recvs=%u size=%zu %s", o.recvs, o.recvSize, o.application.c_str());
}

Stream Session::openAsInitiator(const Options& options) {
  Target& target = context.target;
  Stream s = Stream::connect(context.config.address, context.config.port, options.sequence);

  local = startupFrame(FrameKind::Request, options);
  context.trace.add("> " + describe(local));
  s.send(local.encode());
  if (target.present()) {
    request = target.expectEvent("cm");
    expect(request.at("event") == "CONNECT_REQUEST", "in place of CONNECT_REQUEST: " + request.text);
    region = RemoteRegion::parse(target.command("accept " + applicationOptions(options)));
  }
  remote = receiveStartup(s, FrameKind::Reply, rest_, context.trace, options.deviceLarge);
  expect(rest_.empty(), "the Responder sent before it had received an FPDU (STA-12)");
  expect(!remote.reject, "the device rejected the connection");
  return s;
}

Stream Session::acceptRequest(bool large) {
  Stream s = context.listener.accept(Deadline(receiveBudget));

  remote = receiveStartup(s, FrameKind::Request, rest_, context.trace, large);
  expect(rest_.empty(), "the Initiator sent more before it had the Reply");
  return s;
}

Stream Session::openAsResponder(const Options& options) {
  Target& target = context.target;
  const auto& c = context.config;

  region = RemoteRegion::parse(
      target.command("connect " + c.listenAddress() + " " + context.listener.port() + " " + applicationOptions(options)));
  Stream s = acceptRequest(options.deviceLarge);
  if (options.firstAttempt != End::Open) {
    options.firstAttempt == End::Fin ? s.finish() : s.abort();
    Stream again = acceptRequest(false); /* nothing that RFC 5044 does not know */
    s = std::move(again);
  }
  local = options.answer ? options.answer(remote) : replyTo(remote, options);
  context.trace.add("> " + describe(local));
  s.send(local.encode());
  request = target.expectEvent("cm");
  expect(request.at("event") == "ESTABLISHED" && request.number("status") == 0, "in place of ESTABLISHED: " + request.text);
  return s;
}

Stream Session::open(const Options& options) {
  if (context.target.present()) {
    context.target.command("reset");
    context.target.forget();
  }
  return context.role == Role::Initiator ? openAsInitiator(options) : openAsResponder(options);
}

/** RFC 5044 §7.1.1: M applies to what its sender receives; C of either side turns CRCs on for both. Revision 0 uses both. */
Framing Session::framing(bool markers) const {
  return {markers || version() == 0, local.crc || remote.crc};
}

/** RFC 5044 §C.2.4: the Reply to a revision 0 Request. */
void Session::checkRevision0() const {
  if (context.role != Role::Initiator || local.revision)
    return;
  expectEqual(remote.revision, 0, "revision of the Reply");
  expect(remote.markers && remote.crc, "a Reply of revision 0 without M and C");
}

Session::Session(Context& c, const Options& options)
    : context(c), stream(open(options)), encoder(framing(remote.markers)), decoder(framing(local.markers)), posted_(options.recvs) {
  checkRevision0();
  if (!context.target.present()) {
    if (options.hello)
      helloAlone();
    return;
  }
  memory_ = context.target.command("sum 0").number("sum");
  if (context.role == Role::Responder && local.enhanced && local.enhanced->peerToPeer)
    expectRtr();
  if (options.hello)
    hello();
}

/** RFC 6581 §9.2: the first message must be empty, and of a kind that the Reply named. */
void Session::expectRtr() {
  const Segment s = rtr = receive();
  const Enhanced& e = *local.enhanced;

  if (s.opcode == opReadRequest && e.rtrRead) {
    const auto r = ReadRequest::decode(s.payload);
    expectEqual(r.size, 0u, "size of the READ that is the RTR");
    send(makeReadResponse(r.sinkStag, r.sinkTo, {}));
    return;
  }
  expect((s.opcode == opWrite && e.rtrWrite) || (s.opcode == opSend && e.rtrSend), "not a negotiated RTR: " + s.describe());
  expect(s.payload.empty() && s.last, "the RTR is not empty: " + s.describe());
}

/**
 * A Responder sends nothing, not even a Terminate, until it has validated an FPDU (RFC 5044 §7.1.2-4). An empty WRITE is harmless
 * with any STag but 0, which some RNICs refuse, and consumes none of the application's receives.
 */
void Session::helloAlone() {
  send(makeWrite(1, 0, {}));
}

/** RFC 5044 §7.1.2-4: the Responder may send only after it has received an FPDU. */
void Session::hello() {
  static constexpr std::size_t length = 8;

  if (context.role == Role::Initiator) {
    const Segment s = nextSend(length, 99);

    send(s);
    const Line established = context.target.expectEvent("cm");
    expect(established.at("event") == "ESTABLISHED", "in place of ESTABLISHED: " + established.text);
    expectRecv(s);
  } else {
    context.target.command(format("send %zu 99", length));
    expect(receiveMessage() == patternData(length, 99), "the application's first message came changed");
    expectCompletion("SEND");
  }
}

/* --- sending --- */

Bytes Session::frameRaw(View ulpdu, const Faults& faults) {
  const auto position = encoder.position();
  const Bytes octets = encoder.encode(ulpdu, faults);

  context.trace.add(format("> %8" PRIu64 " FPDU %zu ULPDU %zu Markers %u%s", position, octets.size(), ulpdu.size(),
                           encoder.markers(), faults.badCrc ? " bad CRC" : ""));
  return octets;
}

Bytes Session::frame(const Segment& segment, const Faults& faults) {
  const Segment sent = asSent(segment);
  const Bytes octets = frameRaw(sent.encode(), faults);

  context.trace.add("             " + sent.describe());
  return octets;
}

Segment Session::asSent(const Segment& segment) const {
  Segment out = segment;

  if (mixVersions)
    return out;
  if (out.ddpVersion == 1)
    out.ddpVersion = version();
  if (out.rdmapVersion == 1)
    out.rdmapVersion = version();
  return out;
}

void Session::sendRaw(View octets, const Cuts& cuts) {
  stream.send(octets, cuts);
}

Segment Session::nextSend(std::size_t length, std::uint64_t seed, std::uint8_t opcode) {
  return makeSend(takeMsn(), patternData(length, seed), 0, true, opcode);
}

void Session::sendMessage(const Segment& message) {
  const std::size_t segment = stream.segment(), room = segment - 32 - 4 * (segment / 512 + 1); /* less headers and Markers */
  const View all = message.payload;
  std::size_t offset = 0;

  do {
    const auto length = std::min(room, all.size() - offset);
    const View piece = all.subspan(offset, length);
    Segment s = message;

    s.payload.assign(piece.begin(), piece.end());
    s.last = offset + length == all.size();
    s.to += message.tagged ? offset : 0;
    s.mo += message.tagged ? 0 : static_cast<std::uint32_t>(offset);
    send(s);
    offset += length;
  } while (offset < all.size());
}

void Session::sendRtr(Rtr kind, const ReadRequest& read) {
  if (kind == Rtr::Send) {
    send(nextSend(0, 1));
  } else if (kind == Rtr::Write) {
    send(makeWrite(read.sinkStag, read.sinkTo, {}));
  } else {
    order.expectResponse(read);
    send(makeReadRequest(readMsn_++, read));
    expect(receiveMessage().empty(), "the response to an empty READ has data");
  }
}

/* --- receiving --- */

End Session::more(const Deadline& deadline) {
  Bytes octets = std::move(rest_);

  rest_.clear();
  const End end = octets.empty() ? stream.receive(octets, deadline) : End::Data;
  decoder.feed(octets);
  return end;
}

Segment Session::receive() {
  const Deadline deadline(receiveBudget);

  for (;;) {
    if (const auto fpdu = decoder.next()) {
      context.trace.add(format("< %8" PRIu64 " FPDU %zu ULPDU %zu Markers %u", fpdu->position, fpdu->wireLength, fpdu->ulpdu.size(),
                               fpdu->markers));
      largestFpdu = std::max(largestFpdu, fpdu->wireLength);
      const Segment s = Segment::decode(fpdu->ulpdu, version());

      context.trace.add("             " + s.describe());
      order.check(s);
      return s;
    }
    const End end = more(deadline);
    if (end == End::Data)
      continue;
    context.trace.add(std::string("< ") + endName(end));
    throw Failure(std::string("a segment from the device was due: ") + endName(end));
  }
}

Bytes Session::receiveMessage(Segment* first) {
  Segment s = receive();
  Bytes all = s.payload;

  if (first)
    *first = s;
  while (!s.last) {
    s = receive();
    append(all, s.payload);
  }
  return all;
}

ReadRequest Session::takeReadRequest(std::size_t length, Segment* request) {
  const Segment m = receive();

  expect(m.opcode == opReadRequest, "a READ request was due: " + m.describe());
  const auto r = ReadRequest::decode(m.payload);
  expectEqual(r.size, length, "RDMA Read Message Size");
  if (request)
    *request = m;
  return r;
}

void Session::expectSilence(milliseconds time) {
  Bytes octets;
  const End end = stream.receive(octets, Deadline::exactly(time));

  expect(decoder.idle() && end == End::Open, format("the device should be silent, but: %s %s", endName(end), hex(octets).c_str()));
}

void Session::expectFin() {
  const Deadline deadline(receiveBudget);
  Bytes octets;
  const End end = stream.receive(octets, deadline);

  context.trace.add(std::string("< ") + endName(end));
  expect(decoder.idle() && end == End::Fin, format("a FIN was due: %s %s", endName(end), hex(octets).c_str()));
}

End Session::drain(milliseconds budget) {
  const Deadline deadline(budget);
  std::size_t length = 0;
  End end;

  do { /* a device that sends without end counts as not closed */
    Bytes octets;

    end = stream.receive(octets, deadline);
    length += octets.size();
  } while (end == End::Data && !deadline.passed());
  context.trace.add(format("< %zu octets, then %s", length, endName(end)));
  return end == End::Data ? End::Open : end;
}

/* --- the application --- */

Line Session::expectCompletion(const std::string& op) {
  const Line wc = context.target.expectEvent("wc");

  expect(wc.at("op") == op && wc.at("status") == "SUCCESS", "a successful " + op + " was due: " + wc.text);
  return wc;
}

void Session::expectRecv(std::size_t length, std::uint64_t sum) {
  const Line wc = expectCompletion("RECV");

  consumed_++;
  expectEqual(wc.number("bytes"), length, "octets that the application received");
  expectEqual(wc.number("sum"), sum, "checksum of the data that the application received");
}

void Session::expectRecv(const Segment& sent) {
  expectRecv(sent.payload.size(), test::checksum(sent.payload));
}

void Session::expectDown() {
  if (!context.target.present())
    return;
  const Line event = context.target.expectEvent("cm");

  expect(event.at("event") == "DISCONNECTED", "in place of DISCONNECTED: " + event.text);
  for (; consumed_ < posted_; consumed_++) {
    const Line wc = context.target.expectEvent("wc");

    expect(wc.at("op") == "RECV" && wc.at("status") != "SUCCESS", "a flushed receive was due: " + wc.text);
  }
  if (!context.config.siw)
    expectEqual(context.target.command("state").number("state"), 6u, "QP state (6 is ERR)");
}

std::uint64_t Session::memorySum(std::size_t offset, std::size_t length) {
  return context.target.command(format("sum 0 %zu %zu", offset, length)).number("sum");
}

void Session::expectMemory(std::size_t offset, View data, const std::string& what) {
  expectEqual(memorySum(offset, data.size()), test::checksum(data), what);
}

void Session::expectMemoryUntouched() {
  if (!context.target.present())
    return;
  expectEqual(context.target.command("sum 0").number("sum"), memory_, "checksum of the application's memory");
}

void Session::talk(std::size_t toDevice, std::size_t fromDevice) {
  const Segment m = nextSend(toDevice, 6);

  send(m);
  expectRecv(m);
  context.target.command(test::format("send %zu 7", fromDevice));
  test::expect(receiveMessage() == patternData(fromDevice, 7), "SEND came changed");
  expectCompletion("SEND");
}

/* --- all operations, both ways --- */

static constexpr std::uint32_t sinkStag = 0x66554400;
static constexpr std::uint64_t sinkTo = 0x0102030405060000ULL;

void Session::peerWrites(std::size_t length) {
  const Bytes data = patternData(length, 21);

  sendMessage(makeWrite(region.stag, region.address + 100, data));
  const Segment fence = nextSend(1, 1);
  send(fence);
  expectRecv(fence);
  expectMemory(100, data, "checksum of the written data");
}

void Session::deviceWrites(std::size_t length) {
  Segment first;

  context.target.command(format("write %zu 22 %u %" PRIu64, length, sinkStag, sinkTo));
  expect(receiveMessage(&first) == patternData(length, 22), "WRITE came changed");
  expect(first.opcode == opWrite && first.stag == sinkStag && first.to == sinkTo,
         "not the WRITE that was posted: " + first.describe());
  expectCompletion("WRITE");
}

void Session::peerReads(std::size_t length) {
  const ReadRequest r{sinkStag, sinkTo, static_cast<std::uint32_t>(length), region.stag, region.address};

  context.target.command("fill 0 1");
  order.expectResponse(r);
  send(makeReadRequest(readMsn_++, r));
  expect(receiveMessage() == patternData(length, 1), "READ response came changed");
}

void Session::deviceReads(std::size_t length) {
  const Bytes data = patternData(length, 23);

  context.target.command(format("read %zu %u %" PRIu64, length, sinkStag, sinkTo));
  const auto r = takeReadRequest(length);
  sendMessage(makeReadResponse(r.sinkStag, r.sinkTo, data));
  const Line wc = expectCompletion("READ");
  expectEqual(wc.number("bytes"), length, "octets that were read");
  expectEqual(wc.number("sum"), test::checksum(data), "checksum of the data that was read");
}

void Session::exchange() {
  const Segment m = nextSend(3000, 6);

  sendMessage(m);
  expectRecv(m);
  context.target.command("send 5000 7");
  expect(receiveMessage() == patternData(5000, 7), "SEND came changed");
  expectCompletion("SEND");
  peerWrites(6000);
  deviceWrites(6000);
  peerReads(6000);
  deviceReads(6000);
}

void Session::postRecvs(unsigned count) {
  context.target.command(format("recv %u", count));
  posted_ += count;
}

/* --- Terminate --- */

/** siw's length excludes the headers, and for a Read Request all octets are header. */
static std::size_t quotedLength(const Segment& offender, bool siw) {
  if (!siw)
    return offender.encode().size();
  return offender.opcode == opReadRequest ? 0 : offender.payload.size();
}

/** Checks that the Terminate quotes the headers that RFC 5040 Figure 10 requires for its kind of error. */
static void checkQuotation(const Terminate& t, const Segment& offender, bool siw) {
  const bool ddp = t.code.layer == 1, rdmapRemote = t.code.layer == 0 && t.code.type != 0;

  if (!ddp && !rdmapRemote) {
    expect(t.ddpHeader.empty() && t.rdmapHeader.empty(), "Terminate quotes headers for an LLP or local error");
    return;
  }
  expect(t.ddpHeader == offender.header(),
         "Terminate quotes the DDP header " + hex(t.ddpHeader) + ", it was " + hex(offender.header()));
  expect(t.segmentLength.has_value(), "Terminate carries no DDP Segment Length");
  expectEqual(*t.segmentLength, quotedLength(offender, siw), "Terminate's DDP Segment Length");
  const bool readError = t.code.layer == 0 && t.code.type == 1 && offender.opcode == opReadRequest;
  const Bytes want = readError ? offender.payload : Bytes();
  expect(t.rdmapHeader == want, "Terminate quotes the RDMAP header " + hex(t.rdmapHeader) + ", want " + hex(want));
}

/** Converts siw's layout: layer and type are swapped, and HdrCt is at the wrong end of its octet. */
static Bytes fromSiw(Bytes payload) {
  if (payload.size() < 4)
    return payload;
  const std::uint8_t bits = payload[2];

  payload[0] = static_cast<std::uint8_t>(payload[0] << 4 | payload[0] >> 4);
  payload[2] = static_cast<std::uint8_t>((bits & 1) << 7 | (bits & 2) << 5 | (bits & 4) << 3);
  return payload;
}

void Session::expectTerminate(const std::vector<TermCode>& allowed, const Segment* offender) {
  checkTerminate(receive(), allowed, offender);
}

void Session::checkTerminate(const Segment& s, const std::vector<TermCode>& allowed, const Segment* offender) const {
  expect(s.opcode == opTerminate, "a Terminate was due: " + s.describe());
  const Terminate t = Terminate::decode(context.config.siw ? fromSiw(s.payload) : s.payload);
  std::string want;
  for (const auto& code : allowed)
    want += (want.empty() ? "" : " or ") + code.describe();
  expect(std::find(allowed.begin(), allowed.end(), t.code) != allowed.end(),
         "Terminate says " + t.code.describe() + ", want " + want);
  if (offender)
    checkQuotation(t, asSent(*offender), context.config.siw);
}

void Session::expectRefused(const std::vector<TermCode>& allowed, const Segment* offender) {
  expectTerminate(allowed, offender);
  expectFin();
  expectDown();
  expectMemoryUntouched();
}

} // namespace peer

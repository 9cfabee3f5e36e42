// SPDX-License-Identifier: GPL-2.0
/** @file cases_startup.cpp @brief Starting MPA on a stream, at an exact octet; refused startups; streams without MPA. */
#include <thread>

#include "socket.hpp"

namespace sockets {

using peer::End;
using peer::FpduDecoder;
using peer::FpduEncoder;
using peer::FrameKind;
using peer::StartupFrame;
using test::expect;
using test::expectEqual;

static void attachBoth(const Ends& e) {
  expectOk(e.client.attach(), "TCP_ULP");
  expectOk(e.server.attach(), "TCP_ULP");
}

static void expectData(const Socket& s, View want, const std::string& what) {
  const auto frame = s.peerFrame();

  expect(frame.has_value(), what + ": no MPA_PEER");
  expectEqual(frame->data_len, want.size(), what + ": octets of Private Data");
  expect(std::equal(want.begin(), want.end(), frame->data), what + ": other Private Data");
}

/* Both sides can still use the socket as plain TCP. */
static void expectStreaming(const Ends& e, const std::string& what) {
  const Bytes there = text("there"), back = text("and back");

  expectOk(e.client.send(there), what + ": send");
  expectOctets(e.server.receive(), there, what);
  expectOk(e.server.send(back), what + ": send");
  expectOctets(e.client.receive(), back, what);
  expectEqual(e.client.status().state, MPA_STATE_STREAMING, what + ": state");
}

/* Sends a ULPDU in each direction. */
static void expectFull(const Ends& e, std::uint64_t seed, const std::string& what) {
  const Bytes there = pattern(3000, seed), back = pattern(5000, seed + 1);

  expectOk(e.client.send(there), what + ": send");
  expectUlpdu(e.server.receive(), there, what);
  expectOk(e.server.send(back), what + ": send");
  expectUlpdu(e.client.receive(), back, what);
}

/* Private Data of every length in both directions, at the first octets of the connection (Figure 10). */
static void immediate(Context& c) {
  for (const std::size_t n : {0, 1, 4, 511, 512}) {
    const Ends e = connectEnds(c);
    const Bytes request = pattern(n, c.seed), reply = pattern(512 - n, c.seed + 1);

    attachBoth(e);
    expectOk(e.client.data(request), "MPA_PRIVATE_DATA");
    expectOk(e.server.data(reply), "MPA_PRIVATE_DATA");
    startBoth(e);
    expectData(e.server, request, "Request");
    expectData(e.client, reply, "Reply");
    expectFull(e, c.seed, "Full Operation");
  }
}

/* Figure 9: streaming, a last message from the Responder, then MPA. */
static void delayed(Context& c) {
  const Ends e = connectEnds(c);
  const Bytes hello = text("hello, MPA?\n"), ack = text("yes: hello\n");

  expectOk(e.client.send(hello), "streaming");
  expectOctets(e.server.receive(), hello, "streaming, before attaching");
  attachBoth(e);
  expectStreaming(e, "attached");

  Call responder(e, [&] { return e.server.start(MPA_RESPOND, ack); });
  expectOctets(e.client.receive(ack.size()), ack, "the last streaming message");
  e.client.nonBlocking(true);
  expectErrno(e.client.start(MPA_INITIATE), EINPROGRESS, "MPA_INITIATE");
  expectOk(responder.result(), "MPA_RESPOND");
  expectOk(e.server.start(MPA_ACCEPT), "MPA_ACCEPT");
  expect(e.client.poll(POLLOUT) & POLLOUT, "no room after startup");
  e.client.nonBlocking(false);
  expectFull(e, c.seed, "Full Operation");
}

/* A last message of the maximum length on a full socket: it is sent in full, before MPA starts. */
static void lastMessage(Context& c) {
  RawEnds e = connectRaw(c);
  const Bytes last = pattern(MPA_LAST_MESSAGE_MAX, c.seed);
  std::size_t streamed = 0;

  expectOk(e.socket.attach(), "TCP_ULP");
  e.socket.nonBlocking(true);
  expectErrno(e.socket.start(MPA_RESPOND, pattern(MPA_LAST_MESSAGE_MAX + 1, 0)), EMSGSIZE, "a longer one");
  for (ssize_t n; (n = e.socket.send(last, MSG_NOSIGNAL | MSG_DONTWAIT)) > 0;)
    streamed += static_cast<std::size_t>(n);
  expectErrno(e.socket.start(MPA_RESPOND, last), EINPROGRESS, "MPA_RESPOND");
  e.raw.read(streamed);
  expect(e.raw.read(last.size()) == last, "another last message");
  e.raw.send(StartupFrame{}.encode());
  expect(e.socket.poll(POLLIN) & POLLIN, "no Request");
  expectOk(e.socket.start(MPA_ACCEPT), "MPA_ACCEPT");
  e.raw.readFrame(FrameKind::Reply);
}

/* Streaming octets, the Request and FPDUs in one segment: each reaches its own receiver. */
static void oneSegmentResponder(Context& c) {
  RawEnds e = connectRaw(c);
  const Bytes line = text("MPA, please\n"), a = pattern(100, c.seed), b = pattern(0, 0), d = pattern(700, c.seed + 1);
  FpduEncoder encoder({.markers = true, .crc = true});
  Bytes all = line;

  expectOk(e.socket.attach(), "TCP_ULP");
  expectOk(e.socket.setOption(MPA_MARKERS, 1), "MPA_MARKERS");
  peer::append(all, StartupFrame{.privateData = line}.encode());
  for (const Bytes* ulpdu : {&a, &b, &d})
    peer::append(all, encoder.encode(*ulpdu));
  e.raw.send(all);
  expectOctets(e.socket.receive(line.size()), line, "streaming");
  expectOk(e.socket.start(MPA_RESPOND), "MPA_RESPOND");
  expectData(e.socket, line, "Request");
  expectOk(e.socket.start(MPA_ACCEPT), "MPA_ACCEPT");
  for (const Bytes* ulpdu : {&a, &b, &d})
    expectUlpdu(e.socket.receive(), *ulpdu, "ULPDU");
}

/* A Reply and FPDUs in one segment, optionally with the peer's FIN. */
static void oneSegmentInitiator(Context& c, bool finished) {
  RawEnds e = connectRaw(c);
  const Bytes a = pattern(100, c.seed), b = pattern(65000 - 300, c.seed + 1);
  FpduEncoder encoder({.markers = false, .crc = true});
  Bytes all = StartupFrame{.kind = FrameKind::Reply}.encode();

  expectOk(e.socket.attach(), "TCP_ULP");
  peer::append(all, encoder.encode(a));
  peer::append(all, encoder.encode(b));
  e.raw.send(all);
  if (finished) {
    e.raw.finish();
    expect(e.socket.poll(POLLRDHUP) & POLLRDHUP, "no FIN");
  }
  expectOk(e.socket.start(MPA_INITIATE), "MPA_INITIATE");
  expectUlpdu(e.socket.receive(), a, "first ULPDU");
  expectUlpdu(e.socket.receive(), b, "second ULPDU");
  if (finished)
    expectEqual(e.socket.receive().result, 0, "behind the last ULPDU");
}

/* The peer's stream has ended without a Reply: that is a lost connection, not a refusal. */
static void finishedBefore(Context& c) {
  RawEnds e = connectRaw(c);

  expectOk(e.socket.attach(), "TCP_ULP");
  e.raw.finish();
  expect(e.socket.poll(POLLRDHUP) & POLLRDHUP, "no FIN");
  expectErrno(e.socket.start(MPA_INITIATE), ECONNRESET, "MPA_INITIATE");
  expectEqual(e.socket.status().err, ECONNRESET, "MPA_STATUS errno");
  expectEqual(e.socket.status().error, 1, "RFC error");
}

/* The Responder refuses: both are streaming sockets again, and a second try succeeds. */
static void rejected(Context& c) {
  const Ends e = connectEnds(c);
  const Bytes why = text("not with this data");

  attachBoth(e);
  for (int i = 0; i < 3; i++) {
    Call initiator(e, [&] { return e.client.start(MPA_INITIATE); });

    expectOk(e.server.data(why), "MPA_PRIVATE_DATA");
    expectOk(e.server.start(MPA_RESPOND), "MPA_RESPOND");
    expectOk(e.server.start(MPA_REJECT), "MPA_REJECT");
    expectErrno(initiator.result(), ECONNREFUSED, "MPA_INITIATE");
    expectData(e.client, why, "Reply");
    expect(e.client.peerFrame()->flags & MPA_PEER_REJECT, "no R in the Reply");
    expectStreaming(e, "after a refusal");
    expectEqual(e.client.soError(), 0, "SO_ERROR");
  }
  startBoth(e);
  expectFull(e, c.seed, "Full Operation after all");
}

/* A Responder that has peeked at the Request still peeks at the next octet after it has refused. */
static void peeked(Context& c) {
  const Ends e = connectEnds(c);
  const Bytes hello = text("hello\n"), later = text("later\n");
  const std::size_t both = hello.size() + StartupFrame{}.encode().size();

  if (e.server.set(SOL_SOCKET, SO_PEEK_OFF, 0))
    throw test::Skip("this kernel's TCP has no SO_PEEK_OFF");
  attachBoth(e);
  expectOk(e.client.send(hello), "streaming");
  Call initiator(e, [&] { return e.client.start(MPA_INITIATE); });
  for (std::size_t seen = 0; seen < both;)
    seen += e.server.receive(both, MSG_PEEK).data.size();
  expectOctets(e.server.receive(hello.size()), hello, "streaming");
  expectOk(e.server.start(MPA_RESPOND), "MPA_RESPOND");
  expectOk(e.server.start(MPA_REJECT), "MPA_REJECT");
  expectErrno(initiator.result(), ECONNREFUSED, "MPA_INITIATE");
  expectOk(e.client.send(later), "streaming after the refusal");
  expect(e.server.poll(POLLIN) & POLLIN, "nothing came");
  expectOctets(e.server.receive(later.size(), MSG_PEEK | MSG_DONTWAIT), later, "MSG_PEEK");
}

/* A program that has not read SO_ERROR may also start again. */
static void againWithoutAsking(Context& c) {
  const Ends e = connectEnds(c);

  attachBoth(e);
  e.client.nonBlocking(true);
  for (const int answer : {MPA_REJECT, MPA_ACCEPT}) {
    expectErrno(e.client.start(MPA_INITIATE), EINPROGRESS, "MPA_INITIATE");
    expectOk(e.server.start(MPA_RESPOND), "MPA_RESPOND");
    expectOk(e.server.start(answer), "the answer");
    expect(e.client.poll(answer == MPA_REJECT ? POLLERR : POLLOUT), "nothing happened");
    expectEqual(e.client.status().err, answer == MPA_REJECT ? ECONNREFUSED : 0, "MPA_STATUS errno");
  }
  e.client.nonBlocking(false);
  expectFull(e, c.seed, "Full Operation after all");
}

/* R=1 with streaming octets right behind it in the segment; the Initiator is non-blocking. */
static void rejectedWithData(Context& c) {
  RawEnds e = connectRaw(c);
  const Bytes line = text("let us talk without MPA\n");
  Bytes all = StartupFrame{.kind = FrameKind::Reply, .reject = true}.encode();

  expectOk(e.socket.attach(), "TCP_ULP");
  const int lowat = 5;
  expectOk(e.socket.set(SOL_SOCKET, SO_RCVLOWAT, lowat), "SO_RCVLOWAT");
  e.socket.nonBlocking(true);
  expectErrno(e.socket.start(MPA_INITIATE), EINPROGRESS, "MPA_INITIATE");
  e.raw.readFrame(FrameKind::Request);
  peer::append(all, line);
  e.raw.send(all);
  expect(e.socket.poll(POLLIN) & (POLLIN | POLLERR), "nothing happened");
  expectEqual(e.socket.soError(), ECONNREFUSED, "SO_ERROR");
  expectOctets(e.socket.receive(), line, "streaming octets behind the Reply");
  expectEqual(e.socket.status().err, ECONNREFUSED, "MPA_STATUS errno");
  int now = 0;
  socklen_t length = sizeof(now);
  getsockopt(e.socket.fd(), SOL_SOCKET, SO_RCVLOWAT, &now, &length);
  expectEqual(now, lowat, "SO_RCVLOWAT after the refusal");
  expectOk(e.socket.send(line), "send");
  expect(e.raw.read(line.size()) == line, "other octets");
}

struct BadFrame {
  const char* what;
  StartupFrame frame;
  int error;
};

static std::vector<BadFrame> badFrames(FrameKind kind) {
  auto wrongKey = peer::startupKey(kind);
  wrongKey[15] ^= 1;

  return {
      {"wrong key", {.kind = kind, .keyOverride = wrongKey}, EPROTO},
      {"revision 3", {.kind = kind, .revision = 3}, EPROTONOSUPPORT},
      {"PD_Length 513", {.kind = kind, .lengthOverride = 513}, EMSGSIZE},
      {"PD_Length 65535", {.kind = kind, .lengthOverride = 65535}, EMSGSIZE},
  };
}

/* The socket ends as error 4 requires: TCP is reset, and every call returns the error. */
static void expectInvalid(RawEnds& e, const BadFrame& bad) {
  const mpa_status s = e.socket.status();
  Bytes rest;

  expectEqual(s.error, 4, std::string(bad.what) + ": RFC error");
  expectEqual(s.err, bad.error, std::string(bad.what) + ": errno");
  expectEqual(static_cast<int>(e.raw.readToEnd(rest)), static_cast<int>(End::Reset), std::string(bad.what) + ": end of TCP");
  expectErrno(e.socket.receive().result, bad.error, std::string(bad.what) + ": receive");
  expect(e.socket.poll(POLLIN) & POLLHUP, std::string(bad.what) + ": no POLLHUP");
}

static void invalidReply(Context& c) {
  for (const auto& bad : badFrames(FrameKind::Reply)) {
    RawEnds e = connectRaw(c);

    expectOk(e.socket.attach(), "TCP_ULP");
    e.raw.send(bad.frame.encode());
    expectErrno(e.socket.start(MPA_INITIATE), bad.error, bad.what);
    expectInvalid(e, bad);
  }
}

static void invalidRequest(Context& c) {
  for (const auto& bad : badFrames(FrameKind::Request)) {
    RawEnds e = connectRaw(c);

    expectOk(e.socket.attach(), "TCP_ULP");
    e.raw.send(bad.frame.encode());
    expectErrno(e.socket.start(MPA_RESPOND), bad.error, bad.what);
    expectErrno(e.socket.start(MPA_ACCEPT), bad.error, std::string(bad.what) + ": MPA_ACCEPT");
    expectInvalid(e, bad);
  }
}

/* The same on a non-blocking socket: SO_ERROR and poll() report the error. */
static void invalidLater(Context& c) {
  RawEnds e = connectRaw(c);

  expectOk(e.socket.attach(), "TCP_ULP");
  e.socket.nonBlocking(true);
  expectErrno(e.socket.start(MPA_INITIATE), EINPROGRESS, "MPA_INITIATE");
  expectErrno(e.socket.start(MPA_INITIATE), EALREADY, "a second one");
  expectEqual(e.socket.poll(POLLIN | POLLOUT, test::milliseconds(0)), 0, "events before the Reply");
  expectErrno(e.socket.send(text("x")), ENOTCONN, "send before the Reply");
  expectErrno(e.socket.receive().result, ENOTCONN, "receive before the Reply");
  e.raw.send(text("220 mail.example.org ESMTP\r\n"));
  expect(e.socket.poll(POLLIN) & POLLERR, "no POLLERR");
  expectEqual(e.socket.soError(), EPROTO, "SO_ERROR");
}

/* Sets an option, starts without waiting, and gets a Reply: SO_ERROR and poll() report @p error. */
static RawEnds failLater(Context& c, int option, int value, const StartupFrame& reply, int error) {
  RawEnds e = connectRaw(c);

  expectOk(e.socket.attach(), "TCP_ULP");
  expectOk(e.socket.setOption(option, value), "the option");
  e.socket.nonBlocking(true);
  expectErrno(e.socket.start(MPA_INITIATE), EINPROGRESS, "MPA_INITIATE");
  e.raw.send(reply.encode());
  expect(e.socket.poll(POLLIN) & POLLERR, "no POLLERR");
  expectEqual(e.socket.soError(), error, "SO_ERROR");
  return e;
}

/* A Reply of revision 0 ends TCP in order. */
static void refusedLater(Context& c) {
  failLater(c, MPA_RDMAC, 0, {.kind = FrameKind::Reply, .revision = 0}, EPROTONOSUPPORT);
}

/* A Reply asks for more Reads than this end takes: Full Operation follows all the same, for a Terminate. */
static void depthLater(Context& c) {
  const RawEnds e =
      failLater(c, MPA_REVISION, 2, {.kind = FrameKind::Reply, .enhanced = peer::Enhanced{.ord = 1}, .revision = 2}, ENOBUFS);

  expectEqual(e.socket.status().error, 6, "RFC error");
}

/* Two Initiators detect each other by the key, two Responders by the timeout. */
static void sameRole(Context& c) {
  const Ends initiators = connectEnds(c);

  attachBoth(initiators);
  Call other(initiators, [&] { return initiators.client.start(MPA_INITIATE); });
  const int second = initiators.server.start(MPA_INITIATE);
  const int first = other.result();
  expect((first == -EISCONN || first == -ECONNRESET) && (second == -EISCONN || second == -ECONNRESET) &&
             (first == -EISCONN || second == -EISCONN),
         test::format("two Initiators: %d and %d", first, second));

  const Ends responders = connectEnds(c);
  attachBoth(responders);
  expectOk(responders.client.setOption(MPA_STARTUP_TIMEOUT, 60000), "MPA_STARTUP_TIMEOUT");
  expectOk(responders.server.setOption(MPA_STARTUP_TIMEOUT, 300), "MPA_STARTUP_TIMEOUT");
  Call waiting(responders, [&] { return responders.client.start(MPA_RESPOND); });
  expectErrno(responders.server.start(MPA_RESPOND), ETIMEDOUT, "MPA_RESPOND");
  expectErrno(waiting.result(), ECONNRESET, "the other Responder");
  expectEqual(responders.server.status().error, 1, "RFC error of a timeout");
}

/* A peer that sends a frame octet by octet does not delay the timeout. */
static void drip(Context& c) {
  RawEnds e = connectRaw(c);
  const Bytes request = StartupFrame{.privateData = pattern(400, c.seed)}.encode();

  expectOk(e.socket.attach(), "TCP_ULP");
  expectOk(e.socket.setOption(MPA_STARTUP_TIMEOUT, 400), "MPA_STARTUP_TIMEOUT");
  Call responder(e.socket, [&] { return e.socket.start(MPA_RESPOND); });
  try {
    for (const auto octet : request) {
      e.raw.send(View(&octet, 1));
      std::this_thread::sleep_for(test::milliseconds(20));
    }
  } catch (const std::system_error&) {
    /* the expected reset, before the whole frame was sent */
  }
  expectErrno(responder.result(), ETIMEDOUT, "MPA_RESPOND");
}

/* The peer resets the connection while the Responder is undecided. */
static void goneWhileUndecided(Context& c) {
  RawEnds e = connectRaw(c);

  expectOk(e.socket.attach(), "TCP_ULP");
  e.raw.send(StartupFrame{}.encode());
  expectOk(e.socket.start(MPA_RESPOND), "MPA_RESPOND");
  expectEqual(e.socket.status().state, MPA_STATE_UNDECIDED, "state");
  e.raw.abort();
  expect(e.socket.poll(0) & POLLHUP, "no POLLHUP");
  expectErrno(e.socket.start(MPA_ACCEPT), ECONNRESET, "MPA_ACCEPT");
}

/* A Responder sends nothing before it has a valid FPDU; after that, a sleeping sender continues without a read. */
static void responderWaits(Context& c) {
  RawEnds e = respondRaw(c);
  const Bytes ulpdu = pattern(100, c.seed);
  FpduEncoder encoder({});
  FpduDecoder decoder({});

  expectErrno(e.socket.send(ulpdu, MSG_DONTWAIT), EAGAIN, "send before the first FPDU");
  expectEqual(e.socket.poll(POLLOUT, test::milliseconds(0)), 0, "POLLOUT before the first FPDU");
  expect(!(e.socket.status().flags & MPA_STATUS_SENDABLE), "MPA_STATUS_SENDABLE before the first FPDU");
  Call sender(e.socket, [&] { return e.socket.send(ulpdu); });
  e.raw.send(encoder.encode(pattern(10, c.seed)));
  expectEqual(sender.result(), ulpdu.size(), "send");
  expect(e.raw.readFpdu(decoder).ulpdu == ulpdu, "another ULPDU");
}

/* An FPDU with a wrong CRC does not permit the Responder to send. */
static void responderWaitsForValid(Context& c) {
  RawEnds e = respondRaw(c);
  FpduEncoder encoder({});
  Bytes rest;

  e.raw.send(encoder.encode(pattern(10, c.seed), {.badCrc = true}));
  expect(e.socket.poll(POLLIN) & POLLIN, "no event");
  expect(e.socket.poll(POLLOUT) & POLLOUT, "a call to send would wait");
  expectErrno(e.socket.send(text("x")), EPIPE, "send after a bad FPDU");
  expectErrno(e.socket.receive().result, EBADMSG, "receive");
  e.socket.close();
  expectEqual(static_cast<int>(e.raw.readToEnd(rest)), static_cast<int>(End::Fin), "end");
  expect(rest.empty(), "the Responder has sent something");
}

/* A peer that closes without a first FPDU ends the call that waits to send. */
static void responderPeerCloses(Context& c) {
  RawEnds e = respondRaw(c);
  Call waiter(e.socket, [&] { return e.socket.send(text("x")); });

  e.raw.finish();
  expectErrno(waiter.result(), EPIPE, "send");
  expect(e.socket.poll(POLLOUT) & POLLOUT, "a call to send would wait");
  expectEqual(e.socket.receive().result, 0, "receive");
}

/* No startup frames: Markers and CRC in both directions from an agreed octet on, DDP and RDMAP version 0; either side may begin. */
static void rdmac(Context& c) {
  const Ends e = connectEnds(c);
  RawEnds r = connectRaw(c);
  const Bytes line = text("now\n"), ulpdu = pattern(2000, c.seed);
  FpduEncoder encoder({.markers = true, .crc = true});
  FpduDecoder decoder({.markers = true, .crc = true});

  attachBoth(e);
  expectStreaming(e, "before");
  expectOk(e.server.start(MPA_START_RDMAC), "MPA_START_RDMAC");
  expectOk(e.client.start(MPA_START_RDMAC), "MPA_START_RDMAC");
  expectOk(e.server.send(ulpdu), "send");
  expectUlpdu(e.client.receive(), ulpdu, "the accepting side begins");
  expectFull(e, c.seed, "both ways");
  const auto s = e.client.status();
  expectEqual(s.revision, 0, "revision");
  expectEqual(s.version, 0, "version for DDP");
  expectEqual(s.flags & (MPA_STATUS_MARKERS_TX | MPA_STATUS_MARKERS_RX | MPA_STATUS_CRC),
              MPA_STATUS_MARKERS_TX | MPA_STATUS_MARKERS_RX | MPA_STATUS_CRC, "flags");

  expectOk(r.socket.attach(), "TCP_ULP");
  expectOk(r.socket.send(line), "streaming");
  expectOk(r.socket.start(MPA_START_RDMAC), "MPA_START_RDMAC");
  expectOk(r.socket.send(ulpdu), "send");
  expect(r.raw.read(line.size()) == line, "streaming octets");
  expect(r.raw.readFpdu(decoder).ulpdu == ulpdu, "another ULPDU on the wire");
  r.raw.send(encoder.encode(ulpdu));
  expectUlpdu(r.socket.receive(), ulpdu, "from the wire");
}

/* Revision 2 carries the depths, and has four octets less for Private Data. */
static void enhanced(Context& c) {
  const Ends e = connectEnds(c);
  const mpa_depths client{4, 12}, server{10, 3};

  attachBoth(e);
  for (const Socket* s : {&e.client, &e.server})
    expectOk(s->setOption(MPA_REVISION, 2), "MPA_REVISION");
  expectOk(e.client.set(SOL_MPA, MPA_DEPTHS, &client, sizeof(client)), "MPA_DEPTHS");
  expectOk(e.server.set(SOL_MPA, MPA_DEPTHS, &server, sizeof(server)), "MPA_DEPTHS");
  expectOk(e.client.data(pattern(509, c.seed)), "MPA_PRIVATE_DATA");
  expectErrno(e.client.start(MPA_INITIATE), EMSGSIZE, "509 octets of Private Data");
  expectOk(e.client.data(pattern(508, c.seed)), "MPA_PRIVATE_DATA");
  startBoth(e);
  expectData(e.server, pattern(508, c.seed), "Request");
  expectEqual(e.server.peerFrame()->ird, 4, "IRD of the Request");
  expectEqual(e.server.peerFrame()->ord, 12, "ORD of the Request");
  expectEqual(e.client.status().ord, 10, "the Initiator's ORD in force");
  expectEqual(e.client.status().revision, 2, "revision");
  expectEqual(e.server.status().ord, 3, "the Responder's ORD in force");
  expectFull(e, c.seed, "Full Operation");
}

/* Both frames determine the settings in force, and MPA_STATUS reports them. */
static void negotiated(Context& c) {
  for (int bits = 0; bits < 8; bits++) {
    const Settings w{.clientMarkers = !!(bits & 1), .serverMarkers = !!(bits & 2), .crc = !!(bits & 4)};
    const Ends e = startEnds(c, w);
    const auto client = e.client.status(), server = e.server.status();

    expectEqual(!!(client.flags & MPA_STATUS_MARKERS_RX), w.clientMarkers, "Markers to the Initiator");
    expectEqual(!!(client.flags & MPA_STATUS_MARKERS_TX), w.serverMarkers, "Markers from the Initiator");
    expectEqual(!!(server.flags & MPA_STATUS_MARKERS_RX), w.serverMarkers, "Markers to the Responder");
    expectEqual(!!(server.flags & MPA_STATUS_CRC), w.crc, "CRC");
    expectEqual(!!(client.flags & MPA_STATUS_INITIATOR), true, "the Initiator's role");
    expectEqual(!!(server.flags & MPA_STATUS_INITIATOR), false, "the Responder's role");
    expectEqual(client.state, MPA_STATE_FULL, "state");
    expectEqual(client.revision, 1, "revision");
    expectEqual(client.version, 1, "version for DDP");
    const auto markers = w.serverMarkers ? 4 * ((client.emss + 511) / 512) : 0;
    expectEqual(client.mulpdu, std::min<std::uint32_t>(client.emss - 6 - markers, MPA_ULPDU_MAX), "MULPDU");
    expectFull(e, c.seed, "Full Operation");
    expect(e.client.status().rx_position == e.server.status().tx_position, "positions disagree");
    expect(e.server.status().rx_position == e.client.status().tx_position, "positions disagree");
  }
}

std::span<const SocketCase> startupCases() {
  static const SocketCase cases[] = {
      {"start-immediate", "STA-08 STA-17 STA-09", "Private Data of 0 to 512 octets both ways", immediate},
      {"start-delayed", "STA-16 STA-18", "after streaming data, with a last streaming message (Figure 9)", delayed},
      {"start-last-message", "STA-18", "a last message of 64 KiB on a full socket", lastMessage},
      {"start-one-segment-r", "STA-16 STA-19", "streaming octets, Request and FPDUs in one segment", oneSegmentResponder},
      {"start-one-segment-i", "STA-19", "Reply and FPDUs in one segment", [](Context& c) { oneSegmentInitiator(c, false); }},
      {"start-finished-i", "STA-19 ERR-01", "the same, with a FIN before the Request",
       [](Context& c) { oneSegmentInitiator(c, true); }},
      {"start-finished", "ERR-01", "a FIN before the Request, and no Reply", finishedBefore},
      {"start-rejected", "STA-10 STA-11 STA-08", "refused three times, streaming between, then accepted", rejected},
      {"start-peeked", "STA-10", "refused by a Responder that uses SO_PEEK_OFF", peeked},
      {"start-again", "STA-10", "non-blocking, refused, SO_ERROR not read, then accepted", againWithoutAsking},
      {"start-rejected-data", "STA-11 STA-19", "streaming octets behind a Reply that refuses", rejectedWithData},
      {"start-invalid-reply", "STA-01 STA-06 STA-07 STA-11 ERR-04", "TCP is reset, error 4", invalidReply},
      {"start-invalid-request", "STA-01 STA-06 STA-07 STA-09 ERR-04", "TCP is reset, error 4", invalidRequest},
      {"start-refused-later", "", "non-blocking, with a Reply of revision 0", refusedLater},
      {"start-depth-later", "", "non-blocking, with a Reply that asks for too many Reads", depthLater},
      {"start-invalid-later", "ERR-04 ENB-01", "non-blocking, with a mail server's greeting", invalidLater},
      {"start-same-role", "STA-13 STA-14", "two Initiators, two Responders", sameRole},
      {"start-drip", "STA-15", "a Request sent octet by octet does not delay the timeout", drip},
      {"start-gone", "ERR-01", "the Initiator resets while the Responder is undecided", goneWhileUndecided},
      {"start-responder-waits", "STA-12", "the Responder sends no FPDU before it has received one", responderWaits},
      {"start-responder-valid", "STA-12 ERR-02", "nor after an invalid one", responderWaitsForValid},
      {"start-responder-mute", "STA-12", "nor after a FIN without a FPDU: a call to send ends", responderPeerCloses},
      {"start-rdmac", "RDC-06", "no frames: from an agreed octet, Markers and CRC both ways", rdmac},
      {"start-enhanced", "ENH-02 ENH-03 STA-08", "revision 2: depths, 508 octets of Private Data", enhanced},
      {"start-negotiated", "DDP-02 DDP-06 DDP-08 MRK-11 CRC-07 SIZ-01 SIZ-02", "every choice of Markers and CRC", negotiated},
  };
  return cases;
}

} // namespace sockets

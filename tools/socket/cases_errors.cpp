// SPDX-License-Identifier: GPL-2.0
/** @file cases_errors.cpp @brief The errors of RFC 5044 section 8, and the two kinds of end of a connection. */
#include "socket.hpp"

namespace sockets {

using peer::End;
using peer::FpduDecoder;
using peer::FpduEncoder;
using test::expect;
using test::expectEqual;

/* The receive direction has ended permanently: later FPDUs are not delivered, and each call returns the error. */
static void expectEnded(RawEnds& e, FpduEncoder& encoder, int error, int rfc, const std::string& what) {
  e.raw.send(encoder.encode(text("too late")));
  for (int i = 0; i < 3; i++)
    expectErrno(e.socket.receive().result, error, what);
  const auto s = e.socket.status();
  expectEqual(s.state, MPA_STATE_ENDED, what + ": state");
  expectEqual(s.error, rfc, what + ": RFC error");
  expectEqual(s.err, error, what + ": errno");
  expect(e.socket.poll(POLLIN) & POLLIN, what + ": no POLLIN");
}

/* TCP is still up, and one more message can be sent in the other direction. */
static void expectSendable(RawEnds& e, FpduDecoder& decoder, const std::string& what) {
  const Bytes last = text("terminate");

  expectEqual(e.socket.send(last), last.size(), what + ": send");
  expect(e.raw.readFpdu(decoder).ulpdu == last, what + ": another ULPDU");
}

struct Fault {
  const char* what;
  peer::Faults faults;
  int error;
  int rfc;
};

static void fault(Context& c, const Fault& f, std::size_t size) {
  for (const bool first : {true, false}) {
    RawEnds e = initiateRaw(c, {.clientMarkers = true, .serverMarkers = true});
    FpduEncoder encoder({.markers = true, .crc = true});
    FpduDecoder decoder({.markers = true, .crc = true});
    const Bytes good = pattern(size, c.seed);

    if (!first) {
      e.raw.send(encoder.encode(good));
      expectUlpdu(e.socket.receive(), good, "before the fault");
    }
    e.raw.send(encoder.encode(good, f.faults));
    expectEnded(e, encoder, f.error, f.rfc, f.what);
    expectSendable(e, decoder, f.what);
    e.raw.finish();
    expectErrno(e.socket.receive().result, f.error, "after the FIN");
  }
}

static void badCrc(Context& c) {
  for (const std::size_t n : {0, 10, 3000})
    fault(c, {"CRC", {.badCrc = true}, EBADMSG, 2}, n);
}

static void badMarker(Context& c) {
  fault(c, {"Marker", {.marker = 0}, EILSEQ, 3}, 1000);
  fault(c, {"Marker", {.marker = 3, .markerXor = 0x8000}, EILSEQ, 3}, 3000);
}

/* A wrong ULPDU_Length shows as a wrong CRC. */
static void badLength(Context& c) {
  fault(c, {"length", {.length = 90}, EBADMSG, 2}, 100);
}

static void finInside(Context& c) {
  for (const std::size_t have : {1, 2, 90}) {
    RawEnds e = initiateRaw(c);
    FpduEncoder encoder({});
    const Bytes good = pattern(100, c.seed);

    e.raw.send(encoder.encode(good));
    e.raw.send(View(encoder.encode(good)).first(have));
    e.raw.finish();
    expectUlpdu(e.socket.receive(), good, "in front of it");
    expectErrno(e.socket.receive().result, ECONNRESET, "FIN inside of an FPDU");
    expectEqual(e.socket.status().error, 1, "RFC error");
    FpduDecoder decoder({});
    Bytes rest;
    expectSendable(e, decoder, "sending still works");
    e.socket.close();
    expectEqual(static_cast<int>(e.raw.readToEnd(rest)), static_cast<int>(End::Fin), "our FIN");
  }
}

/*
 * The same when TCP is short of memory, so that the octets and the FIN leave its queue at once. The octets begin with a Marker, not
 * with ULPDU_Length, and the FIN takes a sequence number.
 */
static void finBehindStash(Context& c) {
  const Ends other = connectEnds(c);
  const Bytes much = pattern(6 << 20, c.seed);
  const TcpMemory little("1 1 1000000");

  expectOk(other.client.set(SOL_SOCKET, SO_SNDBUFFORCE, 64 << 20), "SO_SNDBUFFORCE");
  expectEqual(other.client.send(much, MSG_DONTWAIT | MSG_NOSIGNAL), much.size(), "octets that are not read");
  for (const bool crc : {true, false}) {
    RawEnds e = initiateRaw(c, {.clientMarkers = true, .serverMarkers = true, .crc = crc});
    FpduEncoder encoder({.markers = true, .crc = crc});

    e.raw.finishWith(View(encoder.encode(pattern(100, c.seed))).first(8));
    expectErrno(e.socket.receive().result, ECONNRESET, "FIN inside of an FPDU");
    expectEqual(e.socket.status().error, 1, "RFC error");
    expectEqual(e.socket.status().rx_position, 0u, "position of the next FPDU");
  }
}

/* FIN behind whole FPDUs: the program reads all of them, then an orderly end. */
static void orderly(Context& c) {
  RawEnds e = initiateRaw(c);
  FpduEncoder encoder({});
  FpduDecoder decoder({});

  for (int i = 0; i < 3; i++)
    e.raw.send(encoder.encode(pattern(100, c.seed + i)));
  e.raw.finish();
  expect(e.socket.poll(POLLRDHUP) & POLLRDHUP, "no POLLRDHUP");
  for (int i = 0; i < 3; i++)
    expectUlpdu(e.socket.receive(), pattern(100, c.seed + i), "ULPDU");
  for (int i = 0; i < 2; i++)
    expect(e.socket.receive().endOfStream(), "no end");
  const auto s = e.socket.status();
  expectEqual(s.error, 1, "RFC error");
  expectEqual(s.err, 0, "errno of an orderly end");
  expectSendable(e, decoder, "the other half");
  Bytes rest;
  e.socket.close();
  expectEqual(static_cast<int>(e.raw.readToEnd(rest)), static_cast<int>(End::Fin), "our FIN");
}

/* A reset differs from a FIN, even after the program has read SO_ERROR. */
static void reset(Context& c) {
  for (const bool asked : {false, true}) {
    RawEnds e = initiateRaw(c);
    FpduEncoder encoder({});
    const Bytes good = pattern(100, c.seed);

    e.raw.send(encoder.encode(good));
    expect(e.socket.poll(POLLIN) & POLLIN, "no data arrived");
    e.raw.abort();
    expect(e.socket.poll(0) & POLLHUP, "no POLLHUP");
    if (asked)
      expectEqual(e.socket.soError(), ECONNRESET, "SO_ERROR");
    expectUlpdu(e.socket.receive(), good, "the data before the reset");
    expectErrno(e.socket.receive().result, ECONNRESET, "reset");
    expectEqual(e.socket.status().error, 1, "RFC error");
    expectErrno(e.socket.send(good), EPIPE, "send");
  }
}

/* Closing with unread ULPDUs sends a reset, as with TCP: the peer learns that data was lost. */
static void unread(Context& c) {
  RawEnds e = initiateRaw(c);
  FpduEncoder encoder({});
  Bytes rest;

  e.raw.send(encoder.encode(pattern(100, c.seed)));
  expect(e.socket.poll(POLLIN) & POLLIN, "no data arrived");
  e.socket.close();
  expectEqual(static_cast<int>(e.raw.readToEnd(rest)), static_cast<int>(End::Reset), "end");
}

std::span<const SocketCase> errorCases() {
  static const SocketCase cases[] = {
      {"error-crc", "ERR-02 ERR-05 ERR-06 CRC-08 RCV-01", "error 2: EBADMSG, permanently; sending still works", badCrc},
      {"error-marker", "ERR-03 ERR-05 ERR-06 MRK-13", "error 3: EILSEQ, permanently; sending still works", badMarker},
      {"error-length", "ERR-02 ERR-05 ERR-06", "a wrong ULPDU_Length", badLength},
      {"error-fin-inside", "ERR-01", "FIN inside of an FPDU: ECONNRESET; sending still works", finInside},
      {"error-fin-stashed", "ERR-01 RCV-06", "the same, with TCP short of memory", finBehindStash},
      {"error-orderly", "END-01 END-02 DDP-07", "FIN behind whole FPDUs: all of them, then 0", orderly},
      {"error-reset", "ERR-01 END-02", "RST: the data before it, then ECONNRESET", reset},
      {"error-unread", "END-01", "closing with ULPDUs unread", unread},
  };
  return cases;
}

} // namespace sockets

// SPDX-License-Identifier: GPL-2.0
/** @file cases_teardown.cpp @brief The end of connections (RFC 5044 §7.2, §8). */
#include "cases.hpp"

namespace peer {

using test::expect;
using test::format;
using test::milliseconds;

/** The application disconnects: all data sent before it arrives, then a FIN. */
static void deviceCloses(Context& c) {
  Session s(c, Options(c.config));

  c.target.command("send 100000 4");
  c.target.command("disconnect");
  expect(s.receiveMessage() == patternData(100000, 4), "SEND came changed");
  s.expectFin();
  s.stream.finish();
  expect(c.target.expectEvent("cm").at("event") == "DISCONNECTED", "no DISCONNECTED");
}

/** The device has closed its half: the other half continues until the peer closes it. */
static void halfClosed(Context& c) {
  Session s(c, Options(c.config));

  c.target.command("disconnect");
  s.expectFin();
  for (unsigned i = 0; i < 3; i++) {
    const Segment m = s.nextSend(700 * i, i);

    s.send(m);
    s.expectRecv(m);
  }
  s.stream.finish();
  s.expectDown();
}

/** The peer closes between FPDUs: a graceful end, without a Terminate. */
static void peerCloses(Context& c) {
  Session s(c, Options(c.config));
  const Segment m = s.nextSend(100, 1);

  s.send(m);
  s.stream.finish();
  s.expectRecv(m);
  s.expectFin();
  s.expectDown();
}

/** A FIN in the same write as the last FPDU: the data is delivered. */
static void dataThenFin(Context& c) {
  for (unsigned i = 0; i < 5; i++) {
    Session s(c, Options(c.config));
    Bytes all;
    std::vector<Segment> sends;

    for (unsigned n = 0; n < 8; n++) {
      sends.push_back(s.nextSend(400 * n, n));
      append(all, s.frame(sends.back()));
    }
    s.sendRaw(all);
    s.stream.finish();
    for (const auto& m : sends)
      s.expectRecv(m);
    s.expectDown();
  }
}

static void finWithinFpdu(Context& c) {
  for (const std::size_t length : {1u, 2u, 10u, 24u, 90u}) {
    Session s(c, Options(c.config));
    const Bytes fpdu = s.frame(makeWrite(s.region.stag, s.region.address, patternData(80, 2)));

    s.sendRaw(View(fpdu).first(length));
    s.stream.finish();
    expect(s.drain(milliseconds(15000)) != End::Open, "the device did not close");
    s.expectDown();
    s.expectMemoryUntouched();
  }
}

static void reset(Context& c) {
  Session s(c, Options(c.config));

  s.stream.abort();
  s.expectDown();
}

static void resetWithinFpdu(Context& c) {
  Session s(c, Options(c.config));
  const Bytes fpdu = s.frame(makeWrite(s.region.stag, s.region.address, patternData(80, 2)));

  s.sendRaw(View(fpdu).first(50));
  s.stream.abort();
  s.expectDown();
  s.expectMemoryUntouched();
}

/** The peer resets the connection while the device has much data to send. */
static void resetWhileSending(Context& c) {
  Session s(c, Options(c.config));

  s.stream.receiveBuffer(4096);
  for (unsigned i = 0; i < 8; i++)
    c.target.command(format("send 1000000 %u", i));
  s.stream.abort();
  expect(c.target.expectEvent("cm").at("event") == "DISCONNECTED", "no DISCONNECTED");
  /* 8 sends and the receives: all of them complete, with success or an error. */
  const unsigned receives = c.role == Role::Initiator ? 15 : 16;
  for (unsigned i = 0; i < 8 + receives; i++)
    c.target.expectEvent("wc");
}

/** The application destroys its QP without a disconnect. */
static void applicationGoes(Context& c) {
  Session s(c, Options(c.config));

  c.target.command("reset");
  expect(s.drain(milliseconds(15000)) != End::Open, "the device did not close");
}

/**
 * The application gets its completion, disconnects and destroys its QP; the peer sends a message before all data has arrived. The
 * peer still gets all data, and the FIN. A socket without an owner would answer with an RST, and drop its unsent data.
 */
static void goneWithDataOnTheWay(Context& c) {
  Session s(c, Options(c.config));

  s.stream.receiveBuffer(4096); /* the rest stays in the device's TCP */
  c.target.command("send 30000 4");
  s.expectCompletion("SEND");
  c.target.command("disconnect");
  c.target.command("reset");
  s.send(s.nextSend(100, 1));
  s.stream.receiveBuffer(1 << 20);
  expect(s.receiveMessage() == patternData(30000, 4), "SEND came changed");
  s.expectFin();
}

/** The application destroys its QP after SENDs have completed for which the peer has no room yet: they arrive, and the FIN. */
static void diesWithDataOnTheWay(Context& c) {
  Session s(c, Options(c.config));

  s.stream.receiveBuffer(4096);
  for (unsigned i = 0; i < 5; i++) {
    c.target.command(format("send 8192 %u", i));
    s.expectCompletion("SEND"); /* the application uses the memory again */
  }
  c.target.command("reset");
  s.send(s.nextSend(100, 1));
  s.stream.receiveBuffer(1 << 20);
  for (unsigned i = 0; i < 5; i++)
    expect(s.receiveMessage() == patternData(8192, i), format("SEND %u came changed", i));
  s.expectFin();
}

/** The peer reads so slowly that the device stops waiting for its FIN: all data still arrives. */
static void slowReader(Context& c) {
  Session s(c, Options(c.config));

  s.stream.receiveBuffer(4096);
  c.target.command("send 30000 4");
  s.expectCompletion("SEND");
  c.target.command("disconnect");
  expect(c.target.expectEvent("cm").at("event") == "DISCONNECTED", "no DISCONNECTED");
  s.stream.receiveBuffer(1 << 20);
  expect(s.receiveMessage() == patternData(30000, 4), "SEND came changed");
  s.expectFin();
}

/** The peer has closed, and reads so slowly that the device stops waiting for it: all data still arrives. */
static void closedSlowReader(Context& c) {
  if (c.config.markers || !c.config.crc)
    throw test::Skip("seven seconds, with one framing only");
  Session s(c, Options(c.config));

  s.stream.receiveBuffer(4096);
  c.target.command("send 30000 4");
  s.expectCompletion("SEND");
  s.stream.finish();
  s.expectDown();
  /* Longer than IWM_CLOSE_MAX_MS: the end of the device's wait is not visible. */
  expect(!c.target.event("cm", test::Deadline::exactly(milliseconds(7000))), "a second event of the connection");
  s.stream.receiveBuffer(1 << 20);
  expect(s.receiveMessage() == patternData(30000, 4), "SEND came changed");
  s.expectFin();
}

static const WireCase table[] = {
    {"end-device-closes", asBoth, "END-01 END-02", "disconnect after 100000 octets: all of them, then FIN", deviceCloses},
    {"end-half-closed", asBoth, "END-01", "data after the device's FIN is received", halfClosed},
    {"end-peer-closes", asBoth, "END-02 DDP-07", "FIN between FPDUs", peerCloses},
    {"end-data-then-fin", asBoth, "END-02 ERR-01", "FIN right behind eight FPDUs", dataThenFin},
    {"end-fin-within", asBoth, "ERR-01", "FIN within an FPDU", finWithinFpdu, "ERR-01"},
    {"end-reset", asBoth, "ERR-01", "RST", reset},
    {"end-reset-within", asBoth, "ERR-01", "RST within an FPDU", resetWithinFpdu},
    {"end-reset-while-sending", asBoth, "ERR-01 TX-08", "RST while the device sends", resetWhileSending},
    {"end-gone-with-data", asBoth, "END-01 END-02", "the QP is destroyed with data in flight: it arrives", goneWithDataOnTheWay},
    {"end-dies-with-data", asBoth, "END-01", "the QP is destroyed in RTS with completed SENDs in flight: all of them arrive",
     diesWithDataOnTheWay},
    {"end-slow-reader", asInitiator, "END-01", "the device stops waiting for the peer's FIN: all data arrives", slowReader},
    {"end-closed-slow-reader", asInitiator, "END-01", "the same when the peer has closed first", closedSlowReader},
    {"end-application-goes", asBoth, "", "the application destroys its QP", applicationGoes},
};

std::span<const WireCase> teardownCases() {
  return table;
}

} // namespace peer

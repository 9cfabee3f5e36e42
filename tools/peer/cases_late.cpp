// SPDX-License-Identifier: GPL-2.0
/**
 * @file cases_late.cpp
 * @brief A SEND waits for a receive that the application posts later (RFC 5041 §7.1-2). The device's receive_wait must be long.
 */
#include "cases.hpp"

namespace peer {

using test::expect;
using test::milliseconds;

/** The application posts no receive but that for the first FPDU. */
static Options without(const Context& c) {
  Options o(c.config);

  o.recvs = c.role == Role::Initiator ? 1 : 0;
  return o;
}

/** SENDs of several segments wait, and a WRITE between them; each receive that is posted takes one of them. */
static void inOrder(Context& c) {
  Session s(c, without(c));
  std::vector<Segment> sends;

  for (unsigned i = 0; i < 4; i++) {
    sends.push_back(s.nextSend(1000 * i, i));
    s.sendMessage(sends.back());
    s.send(makeWrite(s.region.stag, s.region.address + 100 * i, patternData(100, i)));
  }
  for (unsigned i = 0; i < 4; i++) {
    s.postRecvs(1);
    s.expectRecv(sends[i]);
  }
  s.postRecvs(16);
  s.talk(); /* after it the last WRITE has been placed */
  for (unsigned i = 0; i < 4; i++)
    s.expectMemory(100 * i, patternData(100, i), "checksum of what was written");
}

/** A FIN behind the SEND waits with it. */
static void thenFin(Context& c) {
  Session s(c, without(c));
  const Segment m = s.nextSend(100, 1);

  s.send(m);
  s.stream.finish();
  s.postRecvs(1);
  s.expectRecv(m);
  s.expectFin();
  s.expectDown();
}

/** An RST ends the wait, and the SEND is lost. */
static void thenReset(Context& c) {
  for (unsigned i = 0; i < 5; i++) {
    Session s(c, without(c));

    s.sendMessage(s.nextSend(10000, 1));
    s.stream.abort();
    s.expectDown();
  }
}

/** The fault of an FPDU behind the SEND is found in its turn. */
static void thenBadCrc(Context& c) {
  Session s(c, without(c));
  const Segment m = s.nextSend(100, 1);

  needCrc(s);
  s.send(m);
  s.send(makeWrite(s.region.stag, s.region.address, patternData(100, 5)), {.badCrc = true});
  s.postRecvs(1);
  s.expectRecv(m);
  s.expectTerminate({term::crc}, nullptr);
  s.expectFin();
  s.stream.finish();
  s.expectDown();
  s.expectMemoryUntouched();
}

/** The application ends the connection while a SEND waits. A Terminate may precede the FIN of a disconnect. */
static void applicationLeaves(Context& c) {
  for (const char* command : {"error", "disconnect"}) {
    Session s(c, without(c));

    s.send(s.nextSend(100, 1));
    c.target.command(command);
    expect(s.drain(milliseconds(15000)) != End::Open, std::string(command) + ": the device did not close");
    s.stream.finish();
    s.expectDown();
  }
}

static const WireCase table[] = {
    {"late-in-order", asBoth, "", "SENDs and WRITEs wait for receives", inOrder},
    {"late-fin", asBoth, "", "a FIN behind a SEND that waits", thenFin},
    {"late-reset", asBoth, "", "an RST behind a SEND that waits", thenReset},
    {"late-bad-crc", asBoth, "CRC-08 RCV-01", "a bad CRC behind a SEND that waits", thenBadCrc},
    {"late-left", asBoth, "", "the application ends the connection while a SEND waits", applicationLeaves},
};

std::span<const WireCase> lateCases() {
  return table;
}

} // namespace peer

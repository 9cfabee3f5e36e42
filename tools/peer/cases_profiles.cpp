// SPDX-License-Identifier: GPL-2.0
/** @file cases_profiles.cpp @brief The peer starts a connection like an RNIC, in either role: see profiles.hpp. */
#include "cases.hpp"
#include "profiles.hpp"

namespace peer {

using test::expect;
using test::expectEqual;

static constexpr const char* noDepths = "ird=0 ord=0"; /* as the NFS server has its IRD */

/** The Private Data of SMB Direct belong to both programs: the one on the device says the same. */
static std::string programs(const Profile& p) {
  return p.privateData.empty() ? "" : "pd=" + hex(p.privateData);
}

static Options optionsOf(const Context& c, const Profile& p) {
  Options o(c.config);

  o.revision = p.revision;
  o.markers = false;
  o.crc = true;
  o.enhanced = p.request;
  o.privateData = p.privateData;
  o.application = programs(p);
  o.hello = c.role == Role::Responder && p.revision < 2; /* without an RTR the device sends first */
  o.firstAttempt = c.role == Role::Responder && p.revision < 2 ? End::Reset : End::Open;
  o.answer = [&p](const StartupFrame& request) {
    const auto reply = p.makeReply(request);

    expect(reply.has_value(), "this RNIC resets the connection instead of accepting such a Request");
    return *reply;
  };
  return o;
}

static void checkMarkers(const Session& s, const Profile& p) {
  if (s.remote.markers && !p.sendsMarkers)
    throw test::Skip("it is not known whether this RNIC can send Markers");
}

/** Some hardware refuses STag 0 where no receiver may check the STag. */
static void checkRtr(const Session& s, const Profile& p) {
  if (!p.refusesStagZero || !s.local.enhanced)
    return;
  expect(!s.rtr.tagged || s.rtr.stag, "the RTR has STag 0");
  if (s.rtr.opcode != opReadRequest)
    return;
  const auto read = ReadRequest::decode(s.rtr.payload);
  expect(read.sinkStag && read.sourceStag, "a READ that is the RTR has STag 0");
}

static void ends(Session& s) {
  s.stream.finish();
  s.expectDown();
}

/* --- the device is the Responder --- */

/** The messages that this RNIC may send as RTR after this Reply; none: it begins with a message of the program. */
static std::vector<Rtr> rtrsAfter(const Session& s, const Profile& p) {
  if (p.revision < 2)
    return p.unaskedRtr ? std::vector{Rtr::Read} : std::vector<Rtr>();
  expect(s.remote.enhanced.has_value(), "the Reply is not enhanced");
  const auto conclusion = p.conclude(p.request, *s.remote.enhanced);

  expect(!conclusion.rtr.empty(), "this RNIC refuses the Reply");
  return conclusion.rtr;
}

static void expectEstablished(Session& s) {
  expect(s.context.target.expectEvent("cm").at("event") == "ESTABLISHED", "no ESTABLISHED");
}

/** Connects, and sends RTR number @p kind of those that are possible. @returns their number */
static std::size_t initiate(Context& c, const Profile& p, std::size_t kind, const std::string& application,
                            const std::function<void(Session&)>& use) {
  Options o = optionsOf(c, p);
  o.application += " " + application;
  Session s(c, o);
  checkMarkers(s, p);
  const auto rtrs = rtrsAfter(s, p);

  expectEqual(s.remote.revision, p.revision, "revision of the Reply");
  expect(s.remote.crc, "the Reply does not ask for CRCs");
  expect(s.remote.privateData == p.privateData, "Private Data came changed");
  if (!rtrs.empty()) {
    s.sendRtr(rtrs.at(kind), p.rtrRead);
    expectEstablished(s);
    c.target.command("send 100 3"); /* the device may send as soon as it has the RTR */
    expect(s.receiveMessage() == patternData(100, 3), "SEND came changed");
    s.expectCompletion("SEND");
  } else {
    const Segment m = s.nextSend(100, 3);

    s.send(m);
    expectEstablished(s);
    s.expectRecv(m);
  }
  use(s);
  ends(s);
  return rtrs.size();
}

/** The RNIC refuses the Reply. */
static void giveUp(Context& c, const Profile& p) {
  const auto conclusion = p.conclude(p.request, {.ird = 1, .ord = 1}); /* no RTR */
  Session s(c, optionsOf(c, p));

  if (conclusion.reset) {
    s.stream.abort();
  } else {
    s.send(makeTerminate({.code = *conclusion.terminate}));
    s.expectFin();
  }
  expectEstablished(s);
  s.expectDown();
}

static void asRnicInitiator(Context& c, const Profile& p) {
  for (std::size_t kind = 0, kinds = 1; kind < kinds; kind++)
    kinds = initiate(c, p, kind, "", [](Session& s) { s.exchange(); });
  initiate(c, p, 0, noDepths, [](Session& s) { s.talk(); });
  if (p.conclude)
    giveUp(c, p);
}

/* --- the device is the Initiator --- */

static void respond(Context& c, const Profile& p, const Options& o, const std::function<void(Session&)>& use) {
  Session s(c, o);

  checkMarkers(s, p);
  checkRtr(s, p);
  use(s);
  ends(s);
}

/** All Private Data that rdma_cm can send. Where it is more than the RNIC takes in revision 2, it must arrive in revision 1. */
static void mostPrivateData(Context& c, const Profile& p) {
  const Bytes most = patternData(255, 5);
  Options o = optionsOf(c, p);

  o.application = "pd=" + hex(most, 255);
  if (most.size() + 4 > p.largestPrivateData && p.revision >= 2) {
    o.firstAttempt = End::Reset;
    o.hello = true;
  }
  respond(c, p, o, [&](Session& s) {
    expect(s.remote.privateData == most, "Private Data came changed");
    s.talk();
  });
}

static void asRnicResponder(Context& c, const Profile& p) {
  Options o = optionsOf(c, p);

  respond(c, p, o, [&](Session& s) {
    expect(s.remote.privateData == p.privateData, "Private Data came changed");
    s.exchange();
  });
  o.application += std::string(" ") + noDepths;
  respond(c, p, o, [](Session& s) { s.talk(); });
  mostPrivateData(c, p);
}

template <std::size_t index> static void run(Context& c) {
  const Profile& p = profiles()[index];

  if (c.role == Role::Initiator)
    asRnicInitiator(c, p);
  else
    asRnicResponder(c, p);
}

/* In the order of profiles(). irdma accepts revision 2, so that as Responder it gets no Request of revision 1. */
static const WireCase table[] = {
    {"profile-cxgb4", asBoth, "ENH-03 ENH-06 ENH-07 ENH-09", "like Chelsio T4 to T6: all operations, compared", run<0>},
    {"profile-cxgb4-rev1", asBoth, "ENH-01 ENH-09 STA-12", "the same with mpa_rev=1: a READ as RTR in revision 1", run<1>},
    {"profile-irdma", asBoth, "ENH-03 ENH-06 ENH-07", "like Intel X722 and E810", run<2>},
    {"profile-irdma-rev1", asInitiator, "ENH-01 STA-12", "the same after an RST: a READ as RTR in revision 1", run<3>},
    {"profile-qedr", asBoth, "ENH-03 ENH-06 ENH-07", "like Marvell FastLinQ: every RTR", run<4>},
    {"profile-smbd", asBoth, "ENH-01 ENH-09 STA-12", "like SMB Direct without RFC 6581: depths in the Private Data", run<5>},
};

std::span<const WireCase> profileCases() {
  return table;
}

} // namespace peer

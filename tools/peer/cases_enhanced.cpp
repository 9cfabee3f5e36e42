// SPDX-License-Identifier: GPL-2.0
/** @file cases_enhanced.cpp @brief RFC 6581: every ready-to-receive message, failed negotiations, peers of revision 1.
 */
#include "cases.hpp"

namespace peer {

using test::Deadline;
using test::expect;
using test::expectEqual;
using test::format;
using test::milliseconds;

static Options enhanced(const Context& c, const Enhanced& data = {}) {
  Options o(c.config);

  o.revision = 2;
  o.enhanced = data;
  return o;
}

/* --- RTR --- */

enum Kinds : unsigned { kindSend = 1, kindWrite = 2, kindRead = 4 };

static Enhanced offering(unsigned kinds) {
  return {.peerToPeer = true,
          .rtrSend = (kinds & kindSend) != 0,
          .rtrWrite = (kinds & kindWrite) != 0,
          .rtrRead = (kinds & kindRead) != 0};
}

static Rtr rtrOf(unsigned kind) {
  return kind == kindSend ? Rtr::Send : kind == kindWrite ? Rtr::Write : Rtr::Read;
}

/**
 * As Responder the device names every kind that the Request offers, and accepts any of them. The RTR is invisible to the
 * application: it may send, and its receives and completions are all for the peer's messages behind the RTR.
 */
static void takesEveryKind(Context& c) {
  for (unsigned offer = 1; offer < 8; offer++)
    for (const unsigned kind : {kindSend, kindWrite, kindRead}) {
      if (!(offer & kind))
        continue;
      Options o = enhanced(c, offering(offer));
      o.hello = false;
      o.recvs = 2;
      Session s(c, o);
      const Enhanced& e = *s.remote.enhanced;

      expect(e.peerToPeer, "A is not echoed");
      expect(e.rtrSend == o.enhanced.rtrSend && e.rtrWrite == o.enhanced.rtrWrite && e.rtrRead == o.enhanced.rtrRead,
             format("the Reply does not name the kinds that were offered: %u", offer));
      s.sendRtr(rtrOf(kind));
      c.target.command("send 100 3");
      expect(s.receiveMessage() == patternData(100, 3), "SEND came changed");
      s.expectCompletion("SEND");
      for (const std::size_t length : {0u, 20u}) { /* an empty SEND behind the RTR belongs to the ULP */
        const Segment m = s.nextSend(length, 4);

        s.send(m);
        s.expectRecv(m);
      }
    }
}

/** As Initiator the device offers every kind, sends the named one, and the best of several. */
static void sendsEveryKind(Context& c) {
  for (const Rtr kind : {Rtr::Any, Rtr::Send, Rtr::Write, Rtr::Read}) {
    Options o = enhanced(c);
    o.rtr = kind;
    Session s(c, o);
    const Enhanced& e = *s.remote.enhanced;

    expect(e.peerToPeer && e.rtrSend && e.rtrWrite && e.rtrRead, "the Request does not name all kinds");
    s.talk();
  }
}

static void rtrKinds(Context& c) {
  if (c.role == Role::Initiator)
    takesEveryKind(c);
  else
    sendsEveryKind(c);
}

/** An empty first SEND belongs to the ULP in the client-server model, and also when the device is the one that sends the RTR. */
static void emptySend(Context& c) {
  Options o = enhanced(c);
  o.hello = false;
  o.rtr = Rtr::Send;
  Session s(c, o);
  const Segment m = s.nextSend(0, 1);

  s.send(m);
  if (c.role == Role::Initiator)
    expect(c.target.expectEvent("cm").at("event") == "ESTABLISHED", "no ESTABLISHED");
  s.expectRecv(m);
}

/* --- failed negotiations --- */

/** A connecting device, and a Responder that this file plays by hand. */
class Answer {
public:
  Answer(Context& c, const char* options = "") : context_(c) {
    const auto& config = c.config;

    c.target.command("reset");
    c.target.forget();
    c.target.command("connect " + config.listenAddress() + " " + c.listener.port() + " " + options);
    accept();
  }

  void accept() {
    stream.emplace(context_.listener.accept(Deadline(milliseconds(10000))));
    request = receiveStartup(*stream, FrameKind::Request, rest_, context_.trace);
  }

  void reply(const StartupFrame& f) {
    local_ = f;
    stream->send(f.encode());
  }

  /** Expects this Terminate, then a FIN; and the application's connect must fail. */
  void expectTerminate(const TermCode& want) {
    FpduDecoder decoder({local_.markers, local_.crc || request.crc});
    std::optional<Fpdu> fpdu;
    Bytes octets;
    End end = End::Data;

    while (end == End::Data && !(fpdu = decoder.next())) {
      octets.clear();
      end = stream->receive(octets, Deadline(milliseconds(10000)));
      decoder.feed(octets);
    }
    expect(fpdu.has_value(), "no Terminate arrived");
    const Segment s = Segment::decode(fpdu->ulpdu);
    context_.trace.add("< " + s.describe());
    expect(s.opcode == opTerminate && s.msn == 1, "a Terminate was due: " + s.describe());
    const Terminate t = Terminate::decode(s.payload);
    expect(t.code == want, "Terminate says " + t.code.describe() + ", want " + want.describe());
    expectEnd(End::Fin);
    stream->finish();
    expectFailed();
  }

  void expectEnd(End want) {
    Bytes octets;
    const End end = stream->receive(octets, Deadline(milliseconds(10000)));

    expect(octets.empty() && end == want, "in place of the end: " + hex(octets));
  }

  void expectFailed() {
    const Line event = context_.target.expectEvent("cm");

    expect(event.at("event") != "ESTABLISHED" && event.at("event") != "DISCONNECTED", "the connect did not fail: " + event.text);
  }

  /** The device must make no second attempt to connect. */
  void expectNoOther() {
    try {
      context_.listener.accept(Deadline::exactly(milliseconds(300)));
    } catch (const std::exception&) {
      return;
    }
    throw test::Failure("the device connects again");
  }

  std::optional<Stream> stream;
  StartupFrame request;

private:
  Context& context_;
  StartupFrame local_;
  Bytes rest_;
};

/** The peer's ORD exceeds the device's IRD. */
static void insufficientIrd(Context& c) {
  for (const std::uint16_t above : {1, 100}) {
    Answer a(c, "ird=4 ord=4");
    StartupFrame f = replyTo(a.request, enhanced(c));

    expectEqual(a.request.enhanced->ird, 4u, "IRD of the Request");
    f.enhanced->ord = static_cast<std::uint16_t>(a.request.enhanced->ird + above);
    a.reply(f);
    a.expectTerminate(term::startupIrd);
  }
}

/** The application gets the depths that the Responder gave, and not only those in force. */
static void depthsOfReply(Context& c) {
  Answer a(c, "ird=16 ord=16");
  StartupFrame f = replyTo(a.request, enhanced(c));

  f.enhanced->ird = 20;
  f.enhanced->ord = 3;
  a.reply(f);
  const Line event = c.target.expectEvent("cm");
  expect(event.at("event") == "ESTABLISHED" && event.at("ird") == "3" && event.at("ord") == "20", event.text);
}

static void noCommonRtr(Context& c) {
  for (const bool model : {true, false}) { /* A set without a kind, and A not echoed */
    Answer a(c);
    StartupFrame f = replyTo(a.request, enhanced(c));

    f.enhanced->peerToPeer = model;
    f.enhanced->rtrSend = f.enhanced->rtrWrite = f.enhanced->rtrRead = false;
    a.reply(f);
    a.expectTerminate(term::startupRtr);
  }
}

/** A Reply whose Private Data the connection manager cannot carry: a limitation of the device. */
static void localCatastrophe(Context& c) {
  Answer a(c);
  StartupFrame f = replyTo(a.request, enhanced(c));

  f.privateData = patternData(300, 1);
  a.reply(f);
  a.expectTerminate(term::startupLocal);
}

/** The peer sends these Terminates: they end a connection that the application had seen established. */
static void terminated(Context& c) {
  for (const TermCode& code : {term::startupLocal, term::startupIrd, term::startupRtr}) {
    Options o = enhanced(c, offering(kindSend | kindWrite));
    o.hello = false;
    Session s(c, o);

    s.send(makeTerminate({.code = code}));
    s.expectFin();
    expect(c.target.expectEvent("cm").at("event") == "ESTABLISHED", "no ESTABLISHED");
    s.expectDown();
  }
}

/** With ORD 0 in force a READ fails locally and is not sent. */
static void noReads(Context& c) {
  Options o = enhanced(c);
  o.application = "ird=4 ord=0";
  if (c.role == Role::Initiator) {
    o.enhanced.ird = 0;
    o.application = "ird=8 ord=4";
  }
  Session s(c, o);

  expectEqual(s.remote.enhanced->ord, 0u, "the device's ORD");
  c.target.command("read 100 1 4096");
  const Line wc = c.target.expectEvent("wc");
  expect(wc.at("op") == "READ" && wc.at("status") == "LOC_QP_OP_ERR", "in place of a refused READ: " + wc.text);
  s.expectTerminate({term::rdmapLocal}, nullptr);
  s.expectFin();
}

/* --- peers that support revision 1 only --- */

/** RFC 6581 §10: a Responder of revision 1 closes the connection at an enhanced Request. The second attempt follows RFC 5044. */
static void fallback(Context& c) {
  for (const End end : {End::Fin, End::Reset}) {
    Options o(c.config);
    o.firstAttempt = end;
    o.application = "pd=" + hex(patternData(40, 5), 1024);
    Session s(c, o);

    expectEqual(s.remote.revision, 1, "revision of the second Request");
    expect(!s.remote.enhanced, "S is set in the second Request");
    expect(s.remote.privateData == patternData(40, 5), "Private Data of the second Request came changed");
    s.talk();
  }
}

/** The device makes only one more attempt, and only after a close in place of a Reply. */
static void fallbackOnce(Context& c) {
  {
    Answer a(c);
    a.stream->finish();
    a.accept();
    expectEqual(a.request.revision, 1, "revision of the second Request");
    a.stream->finish();
    a.expectFailed();
    a.expectNoOther();
  }
  {
    Answer a(c);
    a.stream->send(View(startupFrame(FrameKind::Reply, enhanced(c)).encode()).first(19));
    a.stream->finish();
    a.expectFailed();
    a.expectNoOther();
  }
  {
    Answer a(c);
    StartupFrame f = replyTo(a.request, enhanced(c));
    f.reject = true;
    a.reply(f);
    a.expectFailed();
    a.expectNoOther();
  }
  for (const bool reject : {true, false}) { /* Reply and RST: the device may see either first */
    Answer a(c);
    StartupFrame f = replyTo(a.request, enhanced(c));
    f.reject = reject;
    a.reply(f);
    a.stream->abort();
    a.expectNoOther();
  }
}

/** Revision 1 has no error 5: RDMAP's own code takes its place. */
static void fallbackCatastrophe(Context& c) {
  Answer a(c);

  a.stream->finish();
  a.accept();
  StartupFrame f = replyTo(a.request, Options(c.config));
  f.privateData = patternData(300, 1);
  a.reply(f);
  a.expectTerminate(term::rdmapLocal);
}

static const WireCase table[] = {
    {"enhanced-rtr", asBoth, "ENH-05 ENH-06 ENH-07", "empty SEND, WRITE and READ as RTR, in every combination", rtrKinds},
    {"enhanced-empty-send", asBoth, "ENH-06", "an empty first SEND that is not the RTR", emptySend},
    {"enhanced-depths", asResponder, "ENH-03", "the application gets IRD and ORD of the Reply", depthsOfReply},
    {"enhanced-ird", asResponder, "ENH-03 ENH-08", "the peer's ORD above the device's IRD: Terminate 6", insufficientIrd},
    {"enhanced-no-rtr", asResponder, "ENH-06 ENH-08", "no common RTR: Terminate 7", noCommonRtr},
    {"enhanced-local", asResponder, "ENH-08", "a Reply that the device cannot pass on: Terminate 5", localCatastrophe},
    {"enhanced-terminated", asInitiator, "ENH-08", "Terminates 5, 6 and 7 in place of the first message", terminated},
    {"enhanced-no-reads", asBoth, "ENH-03", "ORD 0: a READ fails, and none is sent", noReads},
    {"enhanced-fallback", asResponder, "ENH-09", "FIN or RST in place of a Reply: again with revision 1", fallback},
    {"enhanced-fallback-once", asResponder, "ENH-09", "no third attempt; no second after a partial or whole Reply", fallbackOnce},
    {"enhanced-fallback-local", asResponder, "ENH-08 ENH-09", "revision 1: RDMAP's code in place of error 5", fallbackCatastrophe},
};

std::span<const WireCase> enhancedCases() {
  return table;
}

} // namespace peer

// SPDX-License-Identifier: GPL-2.0
/** @file cases_rdmap.cpp @brief RDMAP: messages of every kind both ways, and messages that must be refused (RFC 5040 §7). */
#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <thread>

#include "cases.hpp"

namespace peer {

using test::expect;
using test::expectEqual;
using test::format;

static constexpr std::uint32_t sinkStag = 0x77665500;
static constexpr std::uint64_t sinkTo = 0x1122334455667000ULL;

static void refused(Context& c, const std::function<Segment(Session&)>& make, const std::vector<TermCode>& want) {
  Session s(c, Options(c.config));
  const Segment bad = make(s);

  s.send(bad);
  s.expectRefused(want, &bad);
}

/* --- READ, with the device as data source --- */

static ReadRequest readOf(const RemoteRegion& r, std::uint64_t offset, std::uint32_t size) {
  return {sinkStag, sinkTo, size, r.stag, r.address + offset};
}

/** Frames a Read Request whose Response expectRead() takes. */
static Bytes frameRead(Session& s, std::uint32_t msn, std::uint32_t offset, std::uint32_t size) {
  const auto request = readOf(s.region, offset, size);

  s.order.expectResponse(request);
  return s.frame(makeReadRequest(msn, request));
}

/** Compares the next Response with the pattern that fills the application's region. */
static void expectRead(Session& s, std::uint32_t offset, std::uint32_t size) {
  const Bytes all = patternData(offset + size, 1), got = s.receiveMessage();

  expect(std::equal(got.begin(), got.end(), all.begin() + offset, all.end()),
         format("READ of %u octets at %u came changed", size, offset));
}

static void readBack(Session& s, std::uint32_t msn, std::uint32_t offset, std::uint32_t size) {
  s.sendRaw(frameRead(s, msn, offset, size));
  expectRead(s, offset, size);
}

static void readRequest(Context& c) {
  Session s(c, Options(c.config));
  std::uint32_t msn = 1;

  s.context.target.command("fill 0 1");
  for (const std::uint32_t size : {1u, 2u, 3u, 64u, 1000u, 4096u, 65536u})
    for (const std::uint32_t offset : {0u, 1u, 4095u})
      if (offset + size <= s.region.length)
        readBack(s, msn++, offset, size);
  expectEqual(s.order.responsesDue(), 0u, "responses outstanding");
}

/** Several requests at once are answered in order (RFC 5040 §5.5-20). */
static void readMany(Context& c) {
  static constexpr unsigned count = 8; /* the peer's ORD */
  Session s(c, Options(c.config));
  Bytes requests;

  s.context.target.command("fill 0 1");
  for (unsigned i = 0; i < count; i++) {
    const auto r = readOf(s.region, 1000 * i, 900 + i);

    s.order.expectResponse(r);
    append(requests, s.frame(makeReadRequest(i + 1, r)));
  }
  s.sendRaw(requests);
  for (unsigned i = 0; i < count; i++)
    expectEqual(s.receiveMessage().size(), 900 + i, "READ response");
}

/** The longest header, cut in two at every octet. The second piece also has the next request. */
static void readCut(Context& c) {
  constexpr std::size_t crc = 4;
  Session s(c, Options(c.config));
  std::uint32_t msn = 1;

  s.context.target.command("fill 0 1");
  for (std::size_t cut = 1, header = 2; cut < header; cut++) {
    const auto at = static_cast<std::uint32_t>(cut);
    Bytes octets = frameRead(s, msn++, at, 100);

    header = octets.size() - crc;
    append(octets, frameRead(s, msn++, 2 * at, 50));
    s.sendRaw(octets, {cut, octets.size()});
    expectRead(s, at, 100);
    expectRead(s, 2 * at, 50);
  }
}

/** RFC 5040 §5.2.1: an empty READ is answered without a check of its STag. */
static void readEmpty(Context& c) {
  Session s(c, Options(c.config));
  const ReadRequest r{sinkStag, sinkTo, 0, 0xdeadbeef, ~0ULL};

  s.context.target.command("fill 0 1");
  s.order.expectResponse(r);
  s.send(makeReadRequest(1, r));
  expect(s.receiveMessage().empty(), "the response to an empty READ has data");
  readBack(s, 2, 0, 10);
}

static void readInvalidStag(Context& c) {
  refused(c, [](Session& s) { return makeReadRequest(1, {sinkStag, sinkTo, 64, s.region.stag ^ 0x5a5a00, s.region.address}); },
          {term::readStag});
}

static void readBounds(Context& c) {
  for (const std::int64_t offset : {65536L - 63, 65536L, -1L})
    refused(c, [&](Session& s) { return makeReadRequest(1, readOf(s.region, static_cast<std::uint64_t>(offset), 64)); },
            {term::readBounds});
  refused(c, [&](Session& s) { return makeReadRequest(1, readOf(s.region, 0, 0xffffffff)); }, {term::readBounds});
}

static void readWrap(Context& c) {
  refused(c, [](Session& s) { return makeReadRequest(1, {sinkStag, sinkTo, 64, s.region.stag, ~0ULL - 31}); }, {term::readWrap});
}

static void readNoRight(Context& c) {
  for (const char* access : {"w", "none"})
    refused(c,
            [&](Session& s) {
              return makeReadRequest(1,
                                     readOf(RemoteRegion::parse(s.context.target.command(format("mr access=%s", access))), 0, 64));
            },
            {term::readRights});
}

static void readOtherStream(Context& c) {
  refused(
      c, [](Session& s) { return makeReadRequest(1, readOf(RemoteRegion::parse(s.context.target.command("mr pd=other")), 0, 64)); },
      {term::readOtherStream});
}

static void readMsn(Context& c) {
  refused(c, [](Session& s) { return makeReadRequest(3, readOf(s.region, 0, 64)); }, {term::msnRange});
}

static void readOffset(Context& c) {
  refused(c,
          [](Session& s) {
            Segment r = makeReadRequest(1, readOf(s.region, 0, 64));
            r.mo = 4;
            return r;
          },
          {term::offset});
}

/** A request is 28 octets. A longer one does not fit the queue's buffer; no code is defined for a shorter one. */
static void readLength(Context& c) {
  Session s(c, Options(c.config));
  Segment r = makeReadRequest(1, readOf(s.region, 0, 64));

  r.payload.resize(32);
  s.send(r);
  s.expectRefused({term::tooLong, term::streamCatastrophe, term::unspecified, term::marker, term::ddpCatastrophe}, nullptr);
}

/* --- SEND --- */

static void sendKinds(Context& c) {
  Session s(c, Options(c.config));

  for (const auto opcode : {opSend, opSendSolicited})
    for (const std::size_t length : {0u, 1u, 5u, 1400u}) {
      const Segment m = s.nextSend(length, length, opcode);

      s.send(m);
      s.expectRecv(m);
    }
}

/**
 * RFC 5040 §5.3: either the application gets the message and the STag is invalid, or the device refuses to invalidate this kind of
 * memory with a Terminate. To ignore the request, or to leave the STag valid after success, is wrong.
 */
static void sendInvalidate(Context& c) {
  for (const auto opcode : {opSendInvalidate, opSendSolicitedInvalidate}) {
    Session s(c, Options(c.config));
    Segment m = s.nextSend(40, 3, opcode);

    m.invalidate = s.region.stag;
    s.send(m);
    const auto wc = c.target.event("wc", test::Deadline(test::milliseconds(15000)));
    expect(wc.has_value(), "no completion");
    if (wc->at("status") != "SUCCESS") {
      s.expectTerminate({term::cannotInvalidate}, nullptr);
      continue;
    }
    if (wc->values.contains("inv")) /* some user libraries do not report it */
      expectEqual(wc->number("inv"), s.region.stag, "invalidated STag in the completion");
    const Segment write = makeWrite(s.region.stag, s.region.address, patternData(64, 1));
    s.send(write);
    s.expectTerminate({term::taggedStag}, &write);
    s.expectMemoryUntouched();
  }
}

static void sendInvalidateUnknown(Context& c) {
  Session s(c, Options(c.config));
  Segment m = s.nextSend(40, 3, opSendInvalidate);

  m.invalidate = s.region.stag ^ 0x5a5a00;
  s.send(m);
  s.expectTerminate({term::readStag, term::cannotInvalidate}, &m);
  s.expectFin();
}

static void sendInvalidateOtherStream(Context& c) {
  Session s(c, Options(c.config));
  Segment m = s.nextSend(40, 3, opSendInvalidate);

  m.invalidate = RemoteRegion::parse(c.target.command("mr pd=other")).stag;
  s.send(m);
  s.expectTerminate({term::cannotInvalidate}, &m);
  s.expectFin();
}

/* --- opcodes and versions --- */

static void opcodeReserved(Context& c) {
  for (const std::uint8_t opcode : {8, 9, 15})
    for (const bool tagged : {false, true})
      refused(c,
              [&](Session& s) {
                Segment m = tagged ? makeWrite(s.region.stag, s.region.address, patternData(64, 5)) : s.nextSend(64, 5);
                m.opcode = opcode;
                return m;
              },
              {term::opcode});
}

/** A valid opcode with the wrong T bit (RFC 5040 Figure 4). */
static void opcodeTagged(Context& c) {
  for (const auto opcode : {opSend, opReadRequest, opTerminate})
    refused(c,
            [&](Session& s) {
              Segment m = makeWrite(s.region.stag, s.region.address, patternData(64, 5));
              m.opcode = opcode;
              return m;
            },
            {term::opcode});
  for (const auto opcode : {opWrite, opReadResponse})
    refused(c, [&](Session& s) { return s.nextSend(64, 5, opcode); }, {term::opcode});
}

static void rdmapVersion(Context& c) {
  for (const std::uint8_t version : {0, 2, 3})
    for (const bool tagged : {false, true})
      refused(c,
              [&](Session& s) {
                Segment m = tagged ? makeWrite(s.region.stag, s.region.address, patternData(64, 5)) : s.nextSend(64, 5);
                m.rdmapVersion = version;
                return m;
              },
              {term::rdmapVersion});
}

/** A READ response without a request: the opcode is unexpected, or no READ waits for its STag. */
static void responseUnexpected(Context& c) {
  refused(c, [](Session& s) { return makeReadResponse(s.region.stag, s.region.address, patternData(64, 5)); },
          {term::opcode, term::taggedStag});
}

/* --- the device as the active side --- */

/** The application sends; the peer's strict receiver checks every octet. */
static void deviceSends(Context& c) {
  Session s(c, Options(c.config));
  unsigned n = 0;

  for (const std::size_t length : {0u, 1u, 2u, 3u, 4u, 100u, 1400u, 1500u, 5000u, 100000u}) {
    Segment first;

    n++;
    c.target.command(format("send %zu %u %s", length, n, n % 2 ? "solicited" : ""));
    const Bytes got = s.receiveMessage(&first);
    expect(got == patternData(length, n), format("SEND of %zu octets came changed", length));
    expectEqual(first.opcode, n % 2 ? opSendSolicited : opSend, "opcode");
    s.expectCompletion("SEND");
  }
}

static void deviceWrites(Context& c) {
  Session s(c, Options(c.config));

  for (const std::size_t length : {0u, 1u, 3u, 1400u, 1500u, 100000u}) {
    Segment first;

    c.target.command(format("write %zu %zu 0x%x 0x%llx", length, length, sinkStag, static_cast<unsigned long long>(sinkTo)));
    const Bytes got = s.receiveMessage(&first);
    expect(first.opcode == opWrite && got == patternData(length, length), format("WRITE of %zu octets came changed", length));
    expectEqual(first.stag, sinkStag, "STag");
    expectEqual(first.to, sinkTo, "TO");
    s.expectCompletion("WRITE");
  }
}

static void deviceReads(Context& c) {
  Session s(c, Options(c.config));

  for (const std::size_t length : {0u, 1u, 3u, 1400u, 100000u}) {
    const Bytes data = patternData(length, length);

    c.target.command(format("read %zu 0x%x 0x%llx", length, sinkStag, static_cast<unsigned long long>(sinkTo)));
    const auto r = s.takeReadRequest(length);
    std::size_t at = 0;
    do {
      const auto part = std::min<std::size_t>(1333, length - at);
      s.send(makeReadResponse(r.sinkStag, r.sinkTo + at, View(data).subspan(at, part), at + part == length));
      at += part;
    } while (at < length);
    const Line wc = s.expectCompletion("READ");
    expectEqual(wc.number("sum"), test::checksum(data), "checksum of the data that the application read");
  }
}

/** The last segment of a response may be empty, like that of any message. */
static void deviceReadsEmptyLast(Context& c) {
  Session s(c, Options(c.config));
  const Bytes data = patternData(1000, 6);

  c.target.command(format("read 1000 0x%x 0x%llx", sinkStag, static_cast<unsigned long long>(sinkTo)));
  const auto r = s.takeReadRequest(data.size());
  s.send(makeReadResponse(r.sinkStag, r.sinkTo, data, false));
  s.send(makeReadResponse(r.sinkStag, r.sinkTo + data.size(), {}, true));
  const Line wc = s.expectCompletion("READ");
  expectEqual(wc.number("sum"), test::checksum(data), "checksum of the data that the application read");
  s.talk();
}

/** The maximum of READs is outstanding: a SEND without a fence does not wait for them. */
static void deviceSendsBesideReads(Context& c) {
  constexpr unsigned most = 128;
  Options o(c.config);
  o.application = "ird=1 ord=128";
  o.enhanced = {.ird = most, .ord = 1};
  Session s(c, o);

  if (!s.remote.enhanced)
    throw test::Skip("IRD is agreed on only in revision 2");
  for (unsigned i = 0; i < most; i++)
    c.target.command(format("read 1 0x%x 0x%llx", sinkStag, static_cast<unsigned long long>(sinkTo)));
  c.target.command("send 100 7");
  for (unsigned i = 0; i < most; i++)
    s.takeReadRequest(1);
  expect(s.receiveMessage() == patternData(100, 7), "SEND came changed");
}

/** The application's READ of 1000 octets is outstanding. */
static ReadRequest outstandingRead(Session& s) {
  s.context.target.command(format("read 1000 0x%x 0x%llx", sinkStag, static_cast<unsigned long long>(sinkTo)));
  return s.takeReadRequest(1000);
}

/** Sends segments that change the READ's memory, until TCP refuses, @p rounds are over, or @p stop is requested. */
static void attackSink(Session& s, const ReadRequest& r, unsigned rounds, const std::stop_token& stop = {}) {
  try {
    for (unsigned i = 0; i < rounds && !stop.stop_requested(); i++)
      s.send(makeWrite(r.sinkStag, r.sinkTo, patternData(1000, 100 + i)));
    s.send(makeReadResponse(r.sinkStag, r.sinkTo, patternData(1000, 99)));
  } catch (const std::system_error&) {
  }
}

/** The READ fails, and its memory does not change after its completion. */
static void expectSinkLeftAlone(Session& s, const ReadRequest& r) {
  Target& target = s.context.target;
  Line wc = target.expectEvent("wc");

  while (wc.at("op") == "RECV")
    wc = target.expectEvent("wc");
  expect(wc.at("status") == "WR_FLUSH_ERR", "the READ was to be flushed: " + wc.text);
  attackSink(s, r, 1);
  expect(target.expectEvent("cm").at("event") == "DISCONNECTED", "no DISCONNECTED");
  expectEqual(target.command("sink 1000").number("sum"), wc.number("sum"), "checksum of the READ's memory");
}

/** The device flushes a READ at the end of its connection, because the peer withholds the response. */
static void writeAfterFlush(Context& c) {
  Session s(c, Options(c.config));
  const auto r = outstandingRead(s);

  c.target.command("disconnect");
  expectSinkLeftAlone(s, r);
}

/** The same at the other ends, with WRITEs that arrive before, while and after the READ is flushed. */
static void writeAtEnds(Context& c) {
  const std::vector<std::function<void(Session&)>> ends = {
      [](Session& s) { s.context.target.command("error"); },
      [](Session& s) { s.send(makeTerminate({.code = term::tooLong})); },
      [](Session& s) { s.send(makeWrite(~s.region.stag, 0, patternData(10, 1))); },
      [](Session& s) {
        if (s.encoder.framing().crc)
          s.send(makeWrite(s.region.stag, s.region.address, patternData(10, 1)), {.badCrc = true});
        else
          s.send(makeWrite(~s.region.stag, 0, patternData(10, 1)));
      },
      [](Session& s) { s.stream.finish(); },
      [](Session& s) { s.stream.abort(); },
  };

  for (const auto& end : ends) {
    Session s(c, Options(c.config));
    const auto r = outstandingRead(s);

    for (unsigned i = 0; i < 64; i++)
      s.send(makeWrite(r.sinkStag, r.sinkTo, patternData(1000, i)));
    end(s);
    attackSink(s, r, 64);
    expectSinkLeftAlone(s, r);
  }
}

/**
 * The same when the device is removed while the peer writes until TCP refuses. The application gets no completion in this case; its
 * memory must not change after the removal has returned.
 */
static void writeAtRemoval(Context& c) {
  if (c.config.removal.empty())
    throw test::Skip("no command that removes the device");
  Session s(c, Options(c.config));
  const auto r = outstandingRead(s);
  const auto sum = [&] { return c.target.command("sink 1000").number("sum"); };
  const auto before = sum();
  std::atomic<bool> refused = false;
  const std::jthread peer([&](const std::stop_token& stop) {
    attackSink(s, r, std::numeric_limits<unsigned>::max(), stop);
    refused = true;
  });
  const test::Deadline placed(test::milliseconds(10000));

  while (sum() == before)
    expect(!placed.passed(), "the peer's WRITEs are not placed");
  expectEqual(std::system(c.config.removal.c_str()), 0, "status of the removal");
  const auto removed = sum();
  const test::Deadline over(test::milliseconds(10000));
  bool last;
  do {
    last = refused;
    expectEqual(sum(), removed, "checksum of the READ's memory after the removal");
    expect(!over.passed(), "TCP still takes WRITEs");
  } while (!last);
}

/** Answers a READ of 1000 octets with a response that @p spoil has changed; the device must not complete the READ. */
static void wrongResponse(Context& c, const std::function<void(Segment&)>& spoil, const std::vector<TermCode>& want) {
  Session s(c, Options(c.config));

  c.target.command(format("read 1000 0x%x 0x%llx", sinkStag, static_cast<unsigned long long>(sinkTo)));
  const auto r = s.takeReadRequest(1000);
  Segment m = makeReadResponse(r.sinkStag, r.sinkTo, patternData(1000, 4));
  spoil(m);
  s.send(m);
  s.expectTerminate(want, &m);
  const Line wc = c.target.expectEvent("wc");
  expect(wc.at("status") != "SUCCESS", "the READ was completed: " + wc.text);
  s.expectMemoryUntouched();
}

static void responseWrong(Context& c) {
  wrongResponse(c, [](Segment& m) { m.stag ^= 0x5a5a00; }, {term::taggedStag});
  wrongResponse(c, [](Segment& m) { m.to += 4; }, {term::taggedBounds});
  wrongResponse(c, [](Segment& m) { m.payload.resize(1004); }, {term::taggedBounds});
  wrongResponse(c, [](Segment& m) { m.payload.resize(996); }, {term::taggedBounds, term::unspecified, term::streamCatastrophe});
}

/**
 * A response that exceeds the READ's length by segments that are not the last: each has a correct place and length, but together
 * they are too long. The memory behind the sink has all access rights.
 */
static void responseOverrun(Context& c) {
  constexpr std::size_t length = 1000, whole = 3 * length;

  for (const std::size_t part : {400u, 1000u}) {
    Session s(c, Options(c.config));
    Bytes want(whole); /* the memory's expected content at the end */
    std::size_t at = 0;

    c.target.command(format("read %zu 0x%x 0x%llx", length, sinkStag, static_cast<unsigned long long>(sinkTo)));
    const auto r = s.takeReadRequest(length);
    for (; at + part <= length; at += part) {
      const Bytes data = patternData(part, at + 4);

      std::copy(data.begin(), data.end(), want.begin() + static_cast<std::ptrdiff_t>(at));
      s.send(makeReadResponse(r.sinkStag, r.sinkTo + at, data, false));
    }
    const Segment more = makeReadResponse(r.sinkStag, r.sinkTo + at, patternData(part, at + 4), false);
    s.send(more);
    s.expectTerminate({term::taggedBounds}, &more);
    const Line wc = c.target.expectEvent("wc");
    expect(wc.at("status") != "SUCCESS", "the READ was completed: " + wc.text);
    expectEqual(c.target.command(format("sink %zu", whole)).number("sum"), test::checksum(want), "checksum of the READ's memory");
  }
}

/** A response must only change memory that the READ named, even if other memory has all access rights. */
static void responseElsewhere(Context& c) {
  Session s(c, Options(c.config));

  c.target.command(format("read 64 0x%x 0x%llx", sinkStag, static_cast<unsigned long long>(sinkTo)));
  s.takeReadRequest(64);
  const Segment m = makeReadResponse(s.region.stag, s.region.address, patternData(64, 4));
  s.send(m);
  s.expectTerminate({term::taggedStag}, &m);
  s.expectMemoryUntouched();
}

/* --- Terminate --- */

static void terminateReceived(Context& c) {
  Session s(c, Options(c.config));
  const Segment quoted = makeSend(1, {});

  s.send(makeTerminate({.code = term::tooLong, .segmentLength = 18, .ddpHeader = quoted.header(), .rdmapHeader = {}}));
  s.expectFin(); /* without a Terminate in answer */
  s.expectDown();
}

static void terminateKinds(Context& c) {
  const std::vector<Terminate> kinds = {
      {.code = {0, 0, 0}},
      {.code = term::crc},
      {.code = {15, 15, 255}},
      {.code = term::readStag, .segmentLength = 46, .ddpHeader = makeReadRequest(1, {}).header(), .rdmapHeader = Bytes(28)},
  };
  for (const auto& t : kinds) {
    Session s(c, Options(c.config));

    s.send(makeTerminate(t));
    s.expectFin();
    s.expectDown();
  }
}

/** A Terminate that refuses the second of two READs does not give the first one an error of its own. */
static void terminateReadRefused(Context& c) {
  Options o(c.config);
  o.application = "ird=1 ord=2";
  o.enhanced = {.ird = 2, .ord = 1};
  o.recvs = c.role == Role::Initiator; /* for the first message only: flushed receives would complete between the READs */
  Session s(c, o);
  Segment m;

  if (!s.remote.enhanced)
    throw test::Skip("IRD is agreed on only in revision 2");
  for (int i = 0; i < 2; i++)
    c.target.command(format("read 100 0x%x 0x%llx", sinkStag, static_cast<unsigned long long>(sinkTo)));
  for (int i = 0; i < 2; i++)
    s.takeReadRequest(100, &m);
  s.send(makeTerminate({.code = term::readStag, .segmentLength = 46, .ddpHeader = m.header(), .rdmapHeader = m.payload}));
  for (const auto* status : {"WR_FLUSH_ERR", "REM_ACCESS_ERR"}) {
    const Line wc = c.target.expectEvent("wc");
    expect(wc.at("status") == status, std::string(status) + " was due: " + wc.text);
  }
  s.expectFin();
  s.expectDown();
}

/** RFC 5041 §7.1: the MSN of queue 2 is checked like any other. */
static void terminateMsn(Context& c) {
  refused(c,
          [](Session&) {
            Segment m = makeTerminate({.code = term::tooLong});
            m.msn = 2;
            return m;
          },
          {term::msnRange});
}

/** A Terminate that is too short for its own header, or for the headers that its HdrCt bits announce. */
static void terminateMalformed(Context& c) {
  const Bytes bad[] = {{}, {0x12}, {0x12, 0x05, 0xe0, 0x00}, {0x12, 0x05, 0xe0, 0x00, 0x00, 0x12, 0x41}};

  for (const auto& payload : bad) {
    Session s(c, Options(c.config));
    Segment m = makeTerminate({});

    m.payload = payload;
    s.send(m);
    s.drain(test::milliseconds(15000)); /* with or without a Terminate, the connection ends */
    s.expectDown();
    s.expectMemoryUntouched();
  }
}

/** Read Requests above the agreed number have no buffer on queue 1. */
static void readTooMany(Context& c) {
  Options o(c.config);
  o.application = "ird=2 ord=2";
  o.enhanced = {.ird = 2, .ord = 2};
  Session s(c, o);
  Bytes all;

  if (!s.remote.enhanced)
    throw test::Skip("IRD is agreed on only in revision 2");
  s.stream.receiveBuffer(4096); /* keeps the first response from leaving at once */
  for (unsigned i = 0; i < 64; i++)
    append(all, s.frame(makeReadRequest(i + 1, readOf(s.region, 0, 65536))));
  s.sendRaw(all);
  s.drain(test::milliseconds(30000));
  s.expectDown();
}

/**
 * The memory is deregistered while the device answers READs of it. The Terminate carries the READ that has failed, updated: only
 * what was not answered is left of it (RFC 5040 §4.8).
 */
static void readDeregistered(Context& c) {
  constexpr unsigned reads = 8;
  constexpr std::uint32_t size = 65536;
  Session s(c, Options(c.config));
  const auto r = RemoteRegion::parse(c.target.command("mr"));
  const ReadRequest whole = readOf(r, 0, size);
  Bytes requests;
  std::uint64_t answered = 0;

  s.stream.receiveBuffer(4096); /* the rest stays in the device */
  for (unsigned i = 0; i < reads; i++) {
    s.order.expectResponse(whole);
    append(requests, s.frame(makeReadRequest(i + 1, whole)));
  }
  s.sendRaw(requests);
  Segment m = s.receive();
  c.target.command(format("dereg %u", r.index));
  s.stream.receiveBuffer(1 << 20);
  for (; m.opcode == opReadResponse; m = s.receive())
    answered += m.payload.size();

  const auto done = static_cast<std::uint32_t>(answered % size);
  const ReadRequest rest = {whole.sinkStag, whole.sinkTo + done, size - done, whole.sourceStag, whole.sourceTo + done};
  const Segment failed = makeReadRequest(static_cast<std::uint32_t>(answered / size) + 1, rest);
  s.checkTerminate(m, {term::readStag}, &failed);
}

static const WireCase table[] = {
    {"rdmap-read", asBoth, "", "READs of 1 to 65536 octets from the device", readRequest},
    {"rdmap-read-many", asBoth, "", "eight READ requests at once, answered in order", readMany},
    {"rdmap-read-cut", asBoth, "RCV-03", "READ requests whose header is cut in two at every octet", readCut},
    {"rdmap-read-empty", asBoth, "", "empty READ with an STag that does not exist", readEmpty},
    {"rdmap-read-invalid-stag", asBoth, "", "READ from an STag that does not exist", readInvalidStag, "RFC5040-7"},
    {"rdmap-read-bounds", asBoth, "", "READ before, across and behind the end", readBounds},
    {"rdmap-read-wrap", asBoth, "", "READ whose TO wraps", readWrap},
    {"rdmap-read-no-right", asBoth, "", "READ from memory without remote read access", readNoRight},
    {"rdmap-read-other-stream", asBoth, "", "READ from another protection domain", readOtherStream},
    {"rdmap-read-msn", asBoth, "", "READ request that skips an MSN", readMsn, "RFC5041-7"},
    {"rdmap-read-mo", asBoth, "", "READ request with an MO", readOffset, "RFC5041-7"},
    {"rdmap-read-length", asBoth, "", "READ request of 32 octets", readLength, "RFC5041-7"},
    {"rdmap-read-too-many", asBoth, "", "more READ requests than agreed", readTooMany},
    {"rdmap-read-deregistered", asBoth, "", "READs whose memory is deregistered meanwhile", readDeregistered, "RFC5040-4.8"},
    {"rdmap-send-kinds", asBoth, "", "SEND with and without solicited event", sendKinds},
    {"rdmap-send-invalidate", asBoth, "", "SEND with Invalidate", sendInvalidate},
    {"rdmap-send-invalidate-unknown", asBoth, "", "SEND with Invalidate of an STag that does not exist", sendInvalidateUnknown},
    {"rdmap-send-invalidate-other-stream", asBoth, "", "SEND with Invalidate of another protection domain's STag",
     sendInvalidateOtherStream},
    {"rdmap-opcode-reserved", asBoth, "", "opcodes 8 to 15", opcodeReserved},
    {"rdmap-opcode-tagged", asBoth, "", "opcode with the wrong T bit", opcodeTagged},
    {"rdmap-version", asBoth, "", "RDMAP versions 0, 2 and 3", rdmapVersion},
    {"rdmap-response-unexpected", asBoth, "", "READ response without a request", responseUnexpected, "RFC5040-7"},
    {"rdmap-response-wrong", asBoth, "", "READ response with another STag, TO, length", responseWrong},
    {"rdmap-response-overrun", asBoth, "", "READ response that exceeds the READ's length", responseOverrun},
    {"rdmap-response-elsewhere", asBoth, "", "READ response to memory that the READ did not name", responseElsewhere},
    {"rdmap-device-sends", asBoth, "FRM-01 FRM-02 FRM-03 CRC-01 CRC-02", "the device SENDs 0 to 100000 octets", deviceSends},
    {"rdmap-device-writes", asBoth, "", "the device WRITEs 0 to 100000 octets", deviceWrites},
    {"rdmap-device-reads", asBoth, "", "the device READs 0 to 100000 octets", deviceReads},
    {"rdmap-device-reads-empty-last", asBoth, "", "the device READs, and the last segment of the response is empty",
     deviceReadsEmptyLast},
    {"rdmap-device-sends-beside-reads", asBoth, "", "the device SENDs with 128 READs outstanding", deviceSendsBesideReads},
    {"rdmap-write-after-flush", asInitiator, "", "WRITE to a READ's memory after the device has flushed the READ", writeAfterFlush},
    {"rdmap-write-at-ends", asBoth, "", "WRITEs to a READ's memory while it is flushed, for each kind of end", writeAtEnds},
    {"removal-write", asInitiator, "", "WRITEs to a READ's memory while the device is removed", writeAtRemoval},
    {"rdmap-terminate-msn", asBoth, "", "a Terminate that skips an MSN", terminateMsn, "RFC5041-7"},
    {"rdmap-terminate-received", asBoth, "", "a Terminate ends the connection and is not answered", terminateReceived,
     "RFC5040-4.8"},
    {"rdmap-terminate-kinds", asBoth, "", "Terminates with and without quotations, and with unknown codes", terminateKinds,
     "RFC5040-4.8"},
    {"rdmap-terminate-read", asBoth, "", "a Terminate that refuses the second of two READs", terminateReadRefused, "RFC5040-4.8"},
    {"rdmap-terminate-malformed", asBoth, "", "Terminates that are too short", terminateMalformed, "RFC5040-4.8"},
};

std::span<const WireCase> rdmapCases() {
  return table;
}

} // namespace peer

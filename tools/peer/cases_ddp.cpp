// SPDX-License-Identifier: GPL-2.0
/** @file cases_ddp.cpp @brief Segments that DDP must refuse (RFC 5041 §7), each with the exact Terminate. */
#include <functional>

#include "cases.hpp"

namespace peer {

using test::expect;
using test::format;

/** Sends the wrong segment of @p make on a connection of its own; the device must answer with @p want. */
static void refused(Context& c, const std::function<Segment(Session&)>& make, const std::vector<TermCode>& want,
                    const Options* options = nullptr) {
  Session s(c, options ? *options : Options(c.config));
  const Segment bad = make(s);

  s.send(bad);
  s.expectRefused(want, &bad);
}

static Segment writeTo(const RemoteRegion& r, std::uint64_t offset, std::size_t length) {
  return makeWrite(r.stag, r.address + offset, patternData(length, 5));
}

/* --- tagged --- */

static void writeInvalidStag(Context& c) {
  refused(c, [](Session& s) { return makeWrite(s.region.stag ^ 0x5a5a00, s.region.address, patternData(64, 5)); },
          {term::taggedStag});
}

static void writeStagKey(Context& c) {
  refused(c, [](Session& s) { return makeWrite(s.region.stag ^ 1, s.region.address, patternData(64, 5)); }, {term::taggedStag});
}

static void writeStagZero(Context& c) {
  refused(c, [](Session& s) { return makeWrite(0, s.region.address, patternData(64, 5)); }, {term::taggedStag});
}

static void writeDeregistered(Context& c) {
  refused(c,
          [](Session& s) {
            const auto r = RemoteRegion::parse(s.context.target.command("mr"));
            s.context.target.command(format("dereg %u", r.index));
            return writeTo(r, 0, 64);
          },
          {term::taggedStag});
}

static void writeOtherStream(Context& c) {
  refused(c, [](Session& s) { return writeTo(RemoteRegion::parse(s.context.target.command("mr pd=other")), 0, 64); },
          {term::taggedOtherStream});
}

/** DDP has no error code for access rights: "the STag has [no] buffer that allows Placement" is the closest one. */
static void writeNoRight(Context& c) {
  for (const char* access : {"r", "none"})
    refused(
        c,
        [&](Session& s) { return writeTo(RemoteRegion::parse(s.context.target.command(format("mr access=%s", access))), 0, 64); },
        {term::taggedStag, term::readRights});
}

static void writeBounds(Context& c) {
  refused(c, [](Session& s) { return writeTo(s.region, s.region.length - 63, 64); }, {term::taggedBounds});
  refused(c, [](Session& s) { return writeTo(s.region, s.region.length, 1); }, {term::taggedBounds});
  refused(c, [](Session& s) { return writeTo(s.region, static_cast<std::uint64_t>(-1), 64); }, {term::taggedBounds});
  refused(c, [](Session& s) { return writeTo(s.region, s.region.length + 4096, 64); }, {term::taggedBounds});
}

static void writeWrap(Context& c) {
  refused(c, [](Session& s) { return makeWrite(s.region.stag, ~0ULL - 31, patternData(64, 5)); }, {term::taggedWrap});
}

static void taggedVersion(Context& c) {
  for (const std::uint8_t version : {0, 2, 3})
    refused(c,
            [&](Session& s) {
              Segment w = writeTo(s.region, 0, 64);
              w.ddpVersion = version;
              return w;
            },
            {term::taggedVersion});
}

/** RFC 5041 §7.1 checks only segments that are not empty, and RFC 6581 uses an empty WRITE as RTR. */
static void writeEmpty(Context& c) {
  Session s(c, Options(c.config));

  s.send(makeWrite(0xdeadbeef, ~0ULL, {}));
  s.send(makeWrite(s.region.stag, s.region.address, {}));
  const Segment after = s.nextSend(40, 2);
  s.send(after);
  s.expectRecv(after);
  s.expectMemoryUntouched();
}

/** Reserved bits are "not checked on receive" (RFC 5041 §4.1, RFC 5040 §4.1). */
static void reservedBits(Context& c) {
  Session s(c, Options(c.config));
  Segment send = s.nextSend(40, 2);

  send.ddpReserved = 15;
  send.rdmapReserved = 3;
  send.invalidate = 0x12345678; /* "ignored by the receiver" in a plain SEND */
  s.send(send);
  s.expectRecv(send);
}

/** A correct WRITE changes exactly the memory that it names. */
static void writeExact(Context& c) {
  Session s(c, Options(c.config));
  const Bytes data = patternData(1000, 8);

  s.context.target.command("fill 0 1");
  Bytes want = patternData(s.region.length, 1);
  std::copy(data.begin(), data.end(), want.begin() + 4001);
  s.sendRaw(s.frame(makeWrite(s.region.stag, s.region.address + 4001, View(data).first(333), false)));
  s.sendRaw(s.frame(makeWrite(s.region.stag, s.region.address + 4334, View(data).subspan(333))));
  const Segment after = s.nextSend(1, 2);
  s.send(after);
  s.expectRecv(after);
  s.expectMemory(0, want, "checksum of the memory after the WRITE");
}

/* --- untagged --- */

static void invalidQueue(Context& c) {
  for (const std::uint32_t qn : {3u, 0xffffffffu})
    refused(c,
            [&](Session& s) {
              Segment m = s.nextSend(64, 5);
              m.qn = qn;
              return m;
            },
            {term::queue});
}

/** A valid queue, but not for this opcode: either layer may refuse it. */
static void wrongQueue(Context& c) {
  const auto move = [&](const Segment& segment, std::uint32_t qn) {
    refused(c,
            [&](Session&) {
              Segment m = segment;
              m.qn = qn;
              return m;
            },
            {term::queue, term::opcode});
  };
  move(makeSend(1, patternData(28, 5)), queueRead);
  move(makeSend(1, patternData(28, 5)), queueTerminate);
  move(makeReadRequest(2, {}), queueSend);
  move(makeTerminate({}), queueRead);
}

static void noBuffer(Context& c) {
  Options o(c.config);

  o.recvs = c.role == Role::Initiator ? 1 : 0; /* the first message uses it up if the peer sends that message */
  refused(c, [](Session& s) { return s.nextSend(64, 5); }, {term::noBuffer}, &o);
}

static void msnRange(Context& c) {
  const auto with = [&](std::uint32_t step) {
    refused(c,
            [&](Session& s) {
              Segment m = s.nextSend(64, 5);
              m.msn += step;
              return m;
            },
            {term::msnRange});
  };
  with(100);                            /* beyond the posted buffers */
  with(1);                              /* has a buffer, but TCP keeps order: a message is missing */
  with(static_cast<std::uint32_t>(-1)); /* that message is already complete */
  with(0x80000000);
}

static void offsetFirst(Context& c) {
  refused(c,
          [](Session& s) {
            Segment m = s.nextSend(64, 5);
            m.mo = 4;
            return m;
          },
          {term::offset});
}

static void offsetNext(Context& c) {
  for (const std::uint32_t mo : {0u, 60u, 68u, 5000u, 0xfffffff0u}) {
    Session s(c, Options(c.config));
    const auto msn = s.takeMsn();
    const Segment bad = makeSend(msn, patternData(64, 6), mo);

    s.send(makeSend(msn, patternData(64, 5), 0, false));
    s.send(bad);
    s.expectRefused({term::offset}, &bad);
  }
}

static void tooLong(Context& c) {
  Options o(c.config);

  o.recvSize = 128;
  refused(c, [](Session& s) { return s.nextSend(129, 5); }, {term::tooLong}, &o);
}

static void tooLongLater(Context& c) {
  Options o(c.config);
  o.recvSize = 128;
  Session s(c, o);
  const auto msn = s.takeMsn();
  const Segment bad = makeSend(msn, patternData(29, 6), 100);

  s.send(makeSend(msn, patternData(100, 5), 0, false));
  s.send(bad);
  s.expectRefused({term::tooLong}, &bad);
}

static void exactFit(Context& c) {
  Options o(c.config);
  o.recvSize = 128;
  Session s(c, o);

  for (const std::size_t length : {128u, 127u, 1u, 0u}) {
    const Segment m = s.nextSend(length, length);

    s.send(m);
    s.expectRecv(m);
  }
}

static void untaggedVersion(Context& c) {
  for (const std::uint8_t version : {0, 2, 3})
    refused(c,
            [&](Session& s) {
              Segment m = s.nextSend(64, 5);
              m.ddpVersion = version;
              return m;
            },
            {term::untaggedVersion});
}

/** Starts a message before the previous one is complete, which no legal sender does. */
static void messageWithinMessage(Context& c) {
  Session s(c, Options(c.config));
  const auto msn = s.takeMsn();
  const Segment bad = s.nextSend(64, 6);

  s.send(makeSend(msn, patternData(64, 5), 0, false));
  s.send(bad); /* has the next MSN, although the message before it is incomplete */
  s.expectRefused({term::msnRange}, &bad);
}

/** SEND and WRITE in several segments, as with a small MULPDU, arrive whole. */
static void manySegments(Context& c) {
  Session s(c, Options(c.config));
  const Bytes data = patternData(4000, 9);

  for (const std::size_t piece : {1u, 7u, 128u, 1999u, 4000u}) {
    const auto msn = s.takeMsn();
    Bytes stream;

    for (std::size_t at = 0; at < data.size(); at += piece) {
      const auto part = View(data).subspan(at, std::min(piece, data.size() - at));
      append(stream, s.frame(makeSend(msn, part, static_cast<std::uint32_t>(at), at + piece >= data.size())));
    }
    s.sendRaw(stream);
    s.expectRecv(data.size(), test::checksum(data));
  }
}

static const WireCase table[] = {
    {"ddp-write-exact", asBoth, "", "a WRITE in two segments changes only the memory that it names", writeExact},
    {"ddp-write-empty", asBoth, "", "an empty WRITE is accepted with any STag", writeEmpty},
    {"ddp-write-invalid-stag", asBoth, "", "WRITE to an STag that does not exist", writeInvalidStag, "RFC5041-7"},
    {"ddp-write-stag-key", asBoth, "", "WRITE to an STag with another key octet", writeStagKey},
    {"ddp-write-stag-zero", asBoth, "", "WRITE to STag 0", writeStagZero, "RFC5041-7"},
    {"ddp-write-deregistered", asBoth, "", "WRITE to memory that was deregistered", writeDeregistered},
    {"ddp-write-other-stream", asBoth, "", "WRITE to an STag of another protection domain", writeOtherStream},
    {"ddp-write-no-right", asBoth, "", "WRITE to memory without remote write access", writeNoRight},
    {"ddp-write-bounds", asBoth, "", "WRITE before, across and behind the end of a buffer", writeBounds},
    {"ddp-write-wrap", asBoth, "", "WRITE whose TO wraps", writeWrap},
    {"ddp-tagged-version", asBoth, "", "tagged segment with another DDP version", taggedVersion, "RFC5041-7"},
    {"ddp-reserved-bits", asBoth, "", "reserved bits are ignored", reservedBits},
    {"ddp-invalid-queue", asBoth, "", "queue number that does not exist", invalidQueue, "RFC5041-7"},
    {"ddp-wrong-queue", asBoth, "", "queue number that is not the opcode's", wrongQueue},
    {"ddp-no-buffer", asBoth, "", "SEND without a posted receive", noBuffer},
    {"ddp-msn-range", asBoth, "", "MSN ahead, one ahead, behind, far off", msnRange},
    {"ddp-mo-first", asBoth, "", "first segment with an MO", offsetFirst},
    {"ddp-mo-next", asBoth, "", "second segment with a gap, an overlap, out of bounds", offsetNext},
    {"ddp-too-long", asBoth, "", "SEND longer than the buffer", tooLong},
    {"ddp-too-long-later", asBoth, "", "SEND that outgrows the buffer in its second segment", tooLongLater},
    {"ddp-exact-fit", asBoth, "", "SENDs that just fit", exactFit},
    {"ddp-untagged-version", asBoth, "", "untagged segment with another DDP version", untaggedVersion, "RFC5041-7"},
    {"ddp-message-within-message", asBoth, "", "a new message before the last one has ended", messageWithinMessage},
    {"ddp-many-segments", asBoth, "DDP-05", "messages in segments of 1 to 4000 octets", manySegments},
};

std::span<const WireCase> ddpCases() {
  return table;
}

} // namespace peer

// SPDX-License-Identifier: GPL-2.0
#include "rdmap.hpp"

#include <algorithm>

#include "../common/testcase.hpp"

namespace peer {

using test::format;

/* --- DDP segments --- */

static const char* opcodeName(std::uint8_t opcode) {
  static const char* const names[] = {"WRITE", "READ_REQ", "READ_RESP", "SEND", "SEND_INV", "SEND_SE", "SEND_SE_INV", "TERMINATE"};
  return opcode < 8 ? names[opcode] : "?";
}

static bool isSend(std::uint8_t opcode) {
  return opcode >= opSend && opcode <= opSendSolicitedInvalidate;
}

static bool invalidates(std::uint8_t opcode) {
  return opcode == opSendInvalidate || opcode == opSendSolicitedInvalidate;
}

Bytes Segment::header() const {
  Bytes out;

  out.push_back(static_cast<std::uint8_t>(tagged << 7 | last << 6 | (ddpReserved & 15) << 2 | (ddpVersion & 3)));
  out.push_back(static_cast<std::uint8_t>((rdmapVersion & 3) << 6 | (rdmapReserved & 3) << 4 | (opcode & 15)));
  if (tagged) {
    put(out, stag);
    put(out, to);
  } else {
    put(out, invalidate);
    put(out, qn);
    put(out, msn);
    put(out, mo);
  }
  return out;
}

Bytes Segment::encode() const {
  Bytes out = header();

  append(out, payload);
  return out;
}

static void checkControl(const Segment& s, std::uint8_t version) {
  if (s.ddpReserved || s.rdmapReserved)
    throw ProtocolError("reserved bits are set in the DDP or RDMAP control field");
  if (s.ddpVersion != version || s.rdmapVersion != version)
    throw ProtocolError(format("DDP version %u, RDMAP version %u: want %u", s.ddpVersion, s.rdmapVersion, version));
  if (s.opcode > opTerminate)
    throw ProtocolError(format("opcode %u does not exist", s.opcode));
  const bool wantTagged = s.opcode == opWrite || s.opcode == opReadResponse;
  if (s.tagged != wantTagged)
    throw ProtocolError(format("%s with T=%d", opcodeName(s.opcode), s.tagged));
}

Segment Segment::decode(View ulpdu, std::uint8_t version) {
  const auto ddp = get<std::uint8_t>(ulpdu, 0), rdmap = get<std::uint8_t>(ulpdu, 1);
  Segment s;

  s.tagged = ddp & 0x80;
  s.last = ddp & 0x40;
  s.ddpReserved = ddp >> 2 & 15;
  s.ddpVersion = ddp & 3;
  s.rdmapVersion = rdmap >> 6;
  s.rdmapReserved = rdmap >> 4 & 3;
  s.opcode = rdmap & 15;
  checkControl(s, version);
  if (s.tagged) {
    s.stag = get<std::uint32_t>(ulpdu, 2);
    s.to = get<std::uint64_t>(ulpdu, 6);
  } else {
    s.invalidate = get<std::uint32_t>(ulpdu, 2);
    s.qn = get<std::uint32_t>(ulpdu, 6);
    s.msn = get<std::uint32_t>(ulpdu, 10);
    s.mo = get<std::uint32_t>(ulpdu, 14);
    if (s.invalidate && !invalidates(s.opcode))
      throw ProtocolError(format("%s with a non-zero Invalidate STag field", opcodeName(s.opcode)));
  }
  const View rest = ulpdu.subspan(s.tagged ? taggedHeader : untaggedHeader);
  s.payload.assign(rest.begin(), rest.end());
  return s;
}

std::string Segment::describe() const {
  std::string text = format("%s%s %zu octets", opcodeName(opcode), last ? " L" : "", payload.size());

  if (tagged)
    text += format(" stag=%08x to=%llx", stag, static_cast<unsigned long long>(to));
  else
    text += format(" qn=%u msn=%u mo=%u", qn, msn, mo);
  if (invalidate)
    text += format(" inv=%08x", invalidate);
  if (ddpVersion != 1 || rdmapVersion != 1)
    text += format(" dv=%u rv=%u", ddpVersion, rdmapVersion);
  if (opcode == opTerminate)
    text += " " + hex(payload);
  return text;
}

/* --- RDMAP headers --- */

Bytes ReadRequest::encode() const {
  Bytes out;

  put(out, sinkStag);
  put(out, sinkTo);
  put(out, size);
  put(out, sourceStag);
  put(out, sourceTo);
  return out;
}

ReadRequest ReadRequest::decode(View octets) {
  if (octets.size() != readHeader)
    throw ProtocolError(format("READ request header of %zu octets, want 28", octets.size()));
  return {.sinkStag = get<std::uint32_t>(octets, 0),
          .sinkTo = get<std::uint64_t>(octets, 4),
          .size = get<std::uint32_t>(octets, 12),
          .sourceStag = get<std::uint32_t>(octets, 16),
          .sourceTo = get<std::uint64_t>(octets, 20)};
}

std::string TermCode::describe() const {
  static const char* const layers[] = {"RDMAP", "DDP", "LLP"};

  return format("layer %u (%s) type %u code 0x%02x", layer, layer < 3 ? layers[layer] : "?", type, code);
}

Bytes Terminate::encode() const {
  const std::uint32_t control = static_cast<std::uint32_t>(code.layer) << 28 | static_cast<std::uint32_t>(code.type) << 24 |
                                static_cast<std::uint32_t>(code.code) << 16 | (segmentLength ? 1u << 15 : 0) |
                                (ddpHeader.empty() ? 0 : 1u << 14) | (rdmapHeader.empty() ? 0 : 1u << 13);
  Bytes out;

  put(out, control);
  if (segmentLength || !ddpHeader.empty())
    put<std::uint16_t>(out, segmentLength.value_or(0));
  append(out, ddpHeader);
  append(out, rdmapHeader);
  return out;
}

/** Takes @p count octets from the front of @p rest. */
static Bytes take(View& rest, std::size_t count, const char* what) {
  if (rest.size() < count)
    throw ProtocolError(format("Terminate ends within the %s", what));
  const Bytes out(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(count));
  rest = rest.subspan(count);
  return out;
}

Terminate Terminate::decode(View payload) {
  const auto control = get<std::uint32_t>(payload, 0);
  View rest = payload.subspan(4);
  Terminate t;

  t.code = {static_cast<std::uint8_t>(control >> 28), static_cast<std::uint8_t>(control >> 24 & 15),
            static_cast<std::uint8_t>(control >> 16)};
  if (control & 0x1fff)
    throw ProtocolError("reserved bits are set in a Terminate (RFC 5040 4.8)");
  const bool lengthValid = control & 1u << 15, ddp = control & 1u << 14, rdmap = control & 1u << 13;
  if (lengthValid || ddp) {
    const Bytes length = take(rest, 2, "DDP Segment Length");
    if (lengthValid)
      t.segmentLength = get<std::uint16_t>(length, 0);
  }
  if (ddp)
    t.ddpHeader = take(rest, !rest.empty() && rest[0] & 0x80 ? taggedHeader : untaggedHeader, "DDP header");
  if (rdmap)
    t.rdmapHeader = take(rest, readHeader, "RDMAP header");
  if (std::any_of(rest.begin(), rest.end(), [](auto octet) { return octet != 0; }))
    throw ProtocolError("Terminate carries octets that its HdrCt bits do not announce");
  return t;
}

/* --- making segments --- */

Segment makeWrite(std::uint32_t stag, std::uint64_t to, View data, bool last) {
  Segment s;

  s.opcode = opWrite;
  s.tagged = true;
  s.last = last;
  s.stag = stag;
  s.to = to;
  s.payload.assign(data.begin(), data.end());
  return s;
}

Segment makeReadResponse(std::uint32_t stag, std::uint64_t to, View data, bool last) {
  Segment s = makeWrite(stag, to, data, last);

  s.opcode = opReadResponse;
  return s;
}

Segment makeSend(std::uint32_t msn, View data, std::uint32_t mo, bool last, std::uint8_t opcode) {
  Segment s;

  s.opcode = opcode;
  s.last = last;
  s.qn = queueSend;
  s.msn = msn;
  s.mo = mo;
  s.payload.assign(data.begin(), data.end());
  return s;
}

Segment makeReadRequest(std::uint32_t msn, const ReadRequest& request) {
  Segment s;

  s.opcode = opReadRequest;
  s.qn = queueRead;
  s.msn = msn;
  s.payload = request.encode();
  return s;
}

Segment makeTerminate(const Terminate& terminate) {
  Segment s;

  s.opcode = opTerminate;
  s.qn = queueTerminate;
  s.msn = 1;
  s.payload = terminate.encode();
  return s;
}

/* --- order --- */

void OrderChecker::checkContinuation(const Segment& s) {
  const Segment& before = *open_;
  const auto done = before.payload.size();

  if (s.opcode != before.opcode || s.tagged != before.tagged)
    throw ProtocolError("a message begins before the last one has ended (RFC 5041 5.3)");
  if (s.tagged) {
    if (s.stag != before.stag || s.to != before.to + done)
      throw ProtocolError("tagged segment does not continue its message");
  } else if (s.qn != before.qn || s.msn != before.msn || s.mo != before.mo + done) {
    throw ProtocolError("untagged segment does not continue its message: " + s.describe());
  }
  if (before.payload.empty())
    throw ProtocolError("empty segment in the middle of a message");
}

void OrderChecker::checkUntagged(const Segment& s) {
  const std::uint32_t queue = isSend(s.opcode) ? queueSend : s.opcode == opReadRequest ? queueRead : queueTerminate;

  if (s.qn != queue)
    throw ProtocolError("wrong queue number: " + s.describe());
  if (open_)
    return;
  auto [next, fresh] = nextMsn_.try_emplace(s.qn, 1u);
  if (s.msn != next->second)
    throw ProtocolError(format("MSN %u on queue %u, want %u", s.msn, s.qn, next->second));
  if (s.mo)
    throw ProtocolError("first segment with a non-zero MO: " + s.describe());
  next->second++;
}

void OrderChecker::checkResponse(const Segment& s) {
  if (responses_.empty())
    throw ProtocolError("READ response without a request");
  const ReadRequest& r = responses_.front();
  if (s.stag != r.sinkStag || s.to != r.sinkTo + answered_ || answered_ + s.payload.size() > r.size)
    throw ProtocolError("READ response does not match its request: " + s.describe());
  answered_ += static_cast<std::uint32_t>(s.payload.size());
  if (!s.last)
    return;
  if (answered_ != r.size)
    throw ProtocolError(format("READ response of %u octets, %u were asked for", answered_, r.size));
  responses_.erase(responses_.begin());
  answered_ = 0;
}

void OrderChecker::check(const Segment& s) {
  if (terminated_)
    throw ProtocolError("a message after a Terminate (RFC 5040 5.4)");
  if (s.opcode == opTerminate)
    open_.reset(); /* a message stays without its end when its memory has become invalid */
  if (open_)
    checkContinuation(s);
  if (s.opcode == opReadResponse)
    checkResponse(s);
  else if (!s.tagged)
    checkUntagged(s);
  if ((s.opcode == opReadRequest || s.opcode == opTerminate) && !s.last)
    throw ProtocolError("a control message in more than one segment");
  terminated_ = s.opcode == opTerminate;
  open_ = s.last ? std::nullopt : std::optional(s);
}

} // namespace peer

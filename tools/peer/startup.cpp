// SPDX-License-Identifier: GPL-2.0
#include "startup.hpp"

#include <algorithm>

namespace peer {

static constexpr std::uint8_t flagM = 0x80, flagC = 0x40, flagR = 0x20, flagS = 0x10, flagLarge = 0x08, reservedBits = 0x0f;

std::array<std::uint8_t, 16> startupKey(FrameKind kind) {
  std::array<std::uint8_t, 16> key = {0x4d, 0x50, 0x41, 0x20, 0x49, 0x44, 0x20, 0x52,
                                      0x65, 0x71, 0x20, 0x46, 0x72, 0x61, 0x6d, 0x65};
  if (kind == FrameKind::Reply)
    key[9] = 0x70;
  return key;
}

Bytes Enhanced::encode() const {
  Bytes out;

  put<std::uint16_t>(out, static_cast<std::uint16_t>((ird & 0x3fff) | peerToPeer << 15 | rtrSend << 14));
  put<std::uint16_t>(out, static_cast<std::uint16_t>((ord & 0x3fff) | rtrWrite << 15 | rtrRead << 14));
  return out;
}

Enhanced Enhanced::decode(View octets) {
  const auto first = get<std::uint16_t>(octets, 0), second = get<std::uint16_t>(octets, 2);

  return {.peerToPeer = (first & 0x8000) != 0,
          .rtrSend = (first & 0x4000) != 0,
          .rtrWrite = (second & 0x8000) != 0,
          .rtrRead = (second & 0x4000) != 0,
          .ird = static_cast<std::uint16_t>(first & 0x3fff),
          .ord = static_cast<std::uint16_t>(second & 0x3fff)};
}

Bytes StartupFrame::encode() const {
  const auto key = keyOverride.value_or(startupKey(kind));
  Bytes out(key.begin(), key.end()), data;

  if (enhanced)
    data = enhanced->encode();
  append(data, privateData);
  out.push_back(static_cast<std::uint8_t>((markers ? flagM : 0) | (crc ? flagC : 0) | (reject ? flagR : 0) |
                                          (enhanced ? flagS : 0) | (large ? flagLarge : 0) | (reserved & reservedBits)));
  out.push_back(revision);
  put<std::uint16_t>(out, lengthOverride.value_or(static_cast<std::uint16_t>(data.size())));
  append(out, data);
  return out;
}

std::size_t startupLength(View header) {
  return startupHeader + get<std::uint16_t>(header, 18);
}

static void checkFlags(FrameKind kind, std::uint8_t flags, std::uint8_t revision) {
  if (kind == FrameKind::Request && flags & flagR)
    throw ProtocolError("R is set in a Request (STA-04)");
  if (flags & reservedBits & ~flagLarge) /* the caller knows whether that one may be set */
    throw ProtocolError("Res bits are set (STA-05)");
  if (flags & flagS && revision < 2)
    throw ProtocolError("S is set in revision 1 (ENH-01)");
}

static void checkEnhanced(const Enhanced& e) {
  if (!e.peerToPeer && (e.rtrSend || e.rtrWrite || e.rtrRead))
    throw ProtocolError("B, C or D is set although A is 0 (ENH-05)");
}

StartupFrame StartupFrame::decode(FrameKind expected, View frame) {
  const auto key = startupKey(expected);
  const auto flags = get<std::uint8_t>(frame, 16);
  StartupFrame f;

  if (!std::equal(key.begin(), key.end(), frame.begin()))
    throw ProtocolError("wrong key in a startup frame: " + hex(frame.first(16)) + " (STA-01)");
  if (frame.size() != startupLength(frame))
    throw ProtocolError("PD_Length does not match the frame (STA-07)");
  if (frame.size() > startupHeader + maxPrivateData)
    throw ProtocolError("more than 512 octets of Private Data (STA-07)");
  f.kind = expected;
  f.revision = frame[17];
  checkFlags(expected, flags, f.revision);
  f.markers = flags & flagM;
  f.crc = flags & flagC;
  f.reject = flags & flagR;
  f.large = flags & flagLarge;
  View data = frame.subspan(startupHeader);
  if (flags & flagS) {
    f.enhanced = Enhanced::decode(data);
    checkEnhanced(*f.enhanced);
    data = data.subspan(4);
  }
  f.privateData.assign(data.begin(), data.end());
  return f;
}

} // namespace peer

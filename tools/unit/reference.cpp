// SPDX-License-Identifier: GPL-2.0
#include "reference.hpp"

#include <array>

namespace unit {
namespace {

std::array<std::uint32_t, 256> makeTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; i++) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; bit++)
      value = value & 1 ? value >> 1 ^ 0x82f63b78u : value >> 1; // 0x1EDC6F41, bits reversed
    table[i] = value;
  }
  return table;
}

} // namespace

std::uint32_t crc32c(const Octets& octets) {
  static const auto table = makeTable();
  std::uint32_t crc = 0xffffffffu;
  for (const std::uint8_t octet : octets)
    crc = crc >> 8 ^ table[(crc ^ octet) & 0xff];
  return ~crc;
}

Octets crcField(const Octets& image) {
  const std::uint32_t crc = crc32c(image);
  return {static_cast<std::uint8_t>(crc), static_cast<std::uint8_t>(crc >> 8), static_cast<std::uint8_t>(crc >> 16),
          static_cast<std::uint8_t>(crc >> 24)};
}

void Framer::putMarker() {
  // Section 4.3: a Marker that comes before ULPDU_Length lies between FPDUs and holds zero.
  const std::uint32_t pointer = lengthSeen_ ? position_ - fpdu_.lengthPosition : 0;
  fpdu_.markers.push_back({position_, pointer});
  for (const std::uint8_t octet : bigEndian(pointer, 4))
    fpdu_.wire.push_back(octet);
  position_ += 4;
}

void Framer::put(std::uint8_t octet) {
  if (markers_ && position_ % 512 == 0)
    putMarker();
  if (!lengthSeen_) {
    fpdu_.lengthPosition = position_;
    lengthSeen_ = true;
  }
  fpdu_.wire.push_back(octet);
  position_++;
}

Fpdu Framer::frame(const Octets& ulpdu) {
  fpdu_ = {};
  fpdu_.start = position_;
  lengthSeen_ = false;
  for (const std::uint8_t octet : bigEndian(ulpdu.size(), 2))
    put(octet);
  for (const std::uint8_t octet : ulpdu)
    put(octet);
  for (std::size_t length = 2 + ulpdu.size(); length % 4; length++)
    put(0);
  // The CRC covers a Marker right behind the pad, so that Marker must precede the CRC.
  if (markers_ && position_ % 512 == 0)
    putMarker();
  fpdu_.crcImage = fpdu_.wire;
  for (const std::uint8_t octet : crcField(fpdu_.crcImage))
    put(octet);
  return fpdu_;
}

} // namespace unit

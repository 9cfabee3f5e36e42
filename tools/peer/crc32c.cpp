// SPDX-License-Identifier: GPL-2.0
#include "crc32c.hpp"

#include <array>

namespace peer {

/* The polynomial 0x1EDC6F41 with its bits reversed, because the register shifts towards its low end. */
static constexpr std::uint32_t polynomial = 0x82f63b78;

static constexpr std::array<std::uint32_t, 256> makeTable() {
  std::array<std::uint32_t, 256> table{};

  for (std::uint32_t i = 0; i < 256; i++) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; bit++)
      value = value & 1 ? (value >> 1) ^ polynomial : value >> 1;
    table[i] = value;
  }
  return table;
}

static constexpr auto table = makeTable();

void Crc32c::update(View octets) {
  for (const auto octet : octets)
    state_ = (state_ >> 8) ^ table[(state_ ^ octet) & 0xff];
}

Bytes Crc32c::field() const {
  const std::uint32_t crc = ~state_;
  Bytes out;

  /* A bit-reversed register is transmitted low octet first. */
  for (int shift = 0; shift < 32; shift += 8)
    out.push_back(static_cast<std::uint8_t>(crc >> shift));
  return out;
}

} // namespace peer

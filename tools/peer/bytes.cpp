// SPDX-License-Identifier: GPL-2.0
#include "bytes.hpp"

namespace peer {

std::string hex(View octets, std::size_t limit) {
  static const char digits[] = "0123456789abcdef";
  std::string s;

  for (std::size_t i = 0; i < octets.size() && i < limit; i++) {
    s += digits[octets[i] >> 4];
    s += digits[octets[i] & 15];
  }
  if (octets.size() > limit)
    s += "...";
  return s;
}

static unsigned nibble(char c) {
  if (c >= '0' && c <= '9')
    return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f')
    return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F')
    return static_cast<unsigned>(c - 'A' + 10);
  throw std::invalid_argument("not a hexadecimal digit");
}

Bytes fromHex(const std::string& text) {
  if (text.size() % 2)
    throw std::invalid_argument("odd number of hexadecimal digits");

  Bytes out;
  for (std::size_t i = 0; i < text.size(); i += 2)
    out.push_back(static_cast<std::uint8_t>(nibble(text[i]) << 4 | nibble(text[i + 1])));
  return out;
}

} // namespace peer

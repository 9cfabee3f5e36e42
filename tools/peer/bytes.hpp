// SPDX-License-Identifier: GPL-2.0
/**
 * @file bytes.hpp
 * @brief Octet strings and fields in network order.
 */
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace peer {

using Bytes = std::vector<std::uint8_t>;
using View = std::span<const std::uint8_t>;

/** The other side has violated the protocol; the text names the rule. */
class ProtocolError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/** Appends @p value, most significant octet first. */
template <std::unsigned_integral T> void put(Bytes& out, T value) {
  for (int shift = 8 * (static_cast<int>(sizeof(T)) - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<std::uint8_t>(value >> shift));
}

/** Reads a T at @p offset; throws ProtocolError when it would lie outside @p in. */
template <std::unsigned_integral T> T get(View in, std::size_t offset) {
  if (in.size() < sizeof(T) || offset > in.size() - sizeof(T))
    throw ProtocolError("field lies outside its frame");

  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); i++)
    value = static_cast<T>((value << 8) | in[offset + i]);
  return value;
}

inline void append(Bytes& out, View more) {
  out.insert(out.end(), more.begin(), more.end());
}

/** Up to @p limit octets in hexadecimal. */
std::string hex(View octets, std::size_t limit = 64);

/** The reverse of hex(); throws std::invalid_argument. */
Bytes fromHex(const std::string& text);

} // namespace peer

/* SPDX-License-Identifier: GPL-2.0 */
/**
 * @file octets.hpp
 * @brief Octet strings for tables of vectors.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace unit {

using Octets = std::vector<std::uint8_t>;

/** The octets of the hexadecimal @p text; blanks may separate digits anywhere. */
inline Octets hex(std::string_view text) {
  Octets out;
  int high = -1;
  for (const char c : text) {
    if (c == ' ')
      continue;
    const std::size_t digit = std::string_view("0123456789abcdef").find(c);
    if (digit == std::string_view::npos)
      throw std::invalid_argument("hex");
    if (high < 0) {
      high = static_cast<int>(digit);
      continue;
    }
    out.push_back(static_cast<std::uint8_t>(high << 4 | static_cast<int>(digit)));
    high = -1;
  }
  return out;
}

inline Octets operator+(Octets left, const Octets& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/** @p value in network order, @p width octets. */
inline Octets bigEndian(std::uint64_t value, std::size_t width) {
  Octets out(width);
  for (std::size_t i = 0; i < width; i++)
    out[width - 1 - i] = static_cast<std::uint8_t>(value >> (8 * i));
  return out;
}

/** A copy on the heap without slack behind its last octet, so that ASan detects every read beyond it. */
class Exact {
public:
  Exact(const Octets& from, std::size_t length) : octets_(new std::uint8_t[length]) {
    for (std::size_t i = 0; i < length; i++)
      octets_[i] = from.at(i);
  }
  explicit Exact(const Octets& from) : Exact(from, from.size()) {}

  const std::uint8_t* data() const { return octets_.get(); }

private:
  std::unique_ptr<std::uint8_t[]> octets_;
};

} // namespace unit

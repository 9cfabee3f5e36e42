/* SPDX-License-Identifier: GPL-2.0 */
/**
 * @file reference.hpp
 * @brief An independent, slow reference: RFC 5044's framing octet by octet, and CRC32c by table.
 *
 * Written from the RFC's text alone; it shares nothing with mpa/, not even constants.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "octets.hpp"

namespace unit {

/** CRC32c (polynomial 0x1EDC6F41, reflected, all ones before and after), as RFC 3720 defines it. */
std::uint32_t crc32c(const Octets& octets);

/** The CRC field of an FPDU: iSCSI's octet order puts the least significant octet first. */
Octets crcField(const Octets& image);

/** One FPDU as the stream carries it. */
struct Fpdu {
  struct Marker {
    std::uint32_t position;
    std::uint32_t pointer;
  };

  Octets wire;     ///< the whole FPDU with its CRC field
  Octets crcImage; ///< the octets that the CRC covers
  std::vector<Marker> markers;
  std::uint32_t start;          ///< stream position of wire's first octet
  std::uint32_t lengthPosition; ///< stream position of ULPDU_Length
};

/**
 * Puts ULPDUs into a stream. Positions count from the first octet of Full Operation; a Marker precedes every octet whose
 * position is a multiple of 512, modulo 2^32.
 */
class Framer {
public:
  explicit Framer(bool markers, std::uint32_t position = 0) : markers_(markers), position_(position) {}

  Fpdu frame(const Octets& ulpdu);
  std::uint32_t position() const { return position_; }

private:
  void put(std::uint8_t octet);
  void putMarker();

  bool markers_;
  std::uint32_t position_;
  Fpdu fpdu_;
  bool lengthSeen_ = false;
};

} // namespace unit

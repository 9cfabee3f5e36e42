// SPDX-License-Identifier: GPL-2.0
/**
 * @file crc32c.h
 * @brief CRC32c as iSCSI and MPA use it (RFC 5044 §4.4).
 */
#pragma once

#include "bytes.hpp"

namespace peer {

/** Accumulates CRC32c over pieces. */
class Crc32c {
public:
  void update(View octets);

  /** The CRC field's four octets in the order in which they go on the wire. */
  Bytes field() const;

private:
  std::uint32_t state_ = 0xffffffff;
};

} // namespace peer

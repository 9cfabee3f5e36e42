// SPDX-License-Identifier: GPL-2.0
/**
 * @file crc32c.hpp
 * @brief CRC32c as iSCSI and MPA use it (RFC 5044 §4.4).
 */
#pragma once

#include "bytes.hpp"

namespace peer {

/** Computes CRC32c over pieces of data. */
class Crc32c {
public:
  void update(View octets);

  /** The CRC field's four octets in wire order. */
  Bytes field() const;

private:
  std::uint32_t state_ = 0xffffffff;
};

} // namespace peer

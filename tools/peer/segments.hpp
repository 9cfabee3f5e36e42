// SPDX-License-Identifier: GPL-2.0
/**
 * @file segments.hpp
 * @brief TCP segments beside a connection's own TCP, which knows nothing of them: they arrive at the device in any order, overlap,
 * and may say two things about one octet.
 */
#pragma once

#include <netinet/in.h>

#include "stream.hpp"

namespace peer {

/**
 * Makes segments of a connection over IPv4. The peer's TCP drops what acknowledges octets that it has not sent; so a case calls
 * Stream::countAsSent() in the end. Needs CAP_NET_RAW and CAP_NET_ADMIN.
 */
class Segments {
public:
  /** Position 0 is the octet that @p stream sends next. Throws test::Skip over IPv6. */
  explicit Segments(const Stream& stream);

  /** Sends one segment, whose first octet has this position. */
  void send(std::uint32_t position, View octets, bool fin = false) const;

  /** The most octets that a segment takes. */
  std::size_t largest() const { return largest_; }

private:
  test::Fd fd_;
  sockaddr_in from_{}, to_{};
  std::uint32_t sequence_, acknowledged_;
  std::size_t largest_;
};

} // namespace peer

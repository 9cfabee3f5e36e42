// SPDX-License-Identifier: GPL-2.0
/**
 * @file pcap.hpp
 * @brief Reads TCP packets from capture files in the classic pcap format, as tcpdump -w writes them.
 */
#pragma once

#include <string>

#include "bytes.hpp"

namespace peer {

/** One IP packet with TCP, or a fragment of one. */
struct TcpPacket {
  std::uint64_t time = 0; /**< nanoseconds */
  std::size_t frame = 0;  /**< number in its file, from 1 */
  std::string from, to;   /**< address and port; only the address for a later fragment */
  bool fragment = false;
  bool df = false; /**< routers may not fragment it; always true for IPv6 */
  std::uint32_t seq = 0;
  bool syn = false, ack = false;
  std::uint16_t mss = 0; /**< option of a SYN, 0: none */
  Bytes payload = {};
};

/** All TCP packets of a capture file; throws std::runtime_error when it is not one, or contains truncated packets. */
std::vector<TcpPacket> parseCapture(View file);

/** The same for all files at @p paths together, in the order of time. */
std::vector<TcpPacket> readCaptures(const std::vector<std::string>& paths);

} // namespace peer

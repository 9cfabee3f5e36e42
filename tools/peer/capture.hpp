// SPDX-License-Identifier: GPL-2.0
/**
 * @file capture.hpp
 * @brief mpa-peer capture: how the FPDUs of captured connections lie in TCP segments (RFC 5044 §5.1, Appendix A).
 */
#pragma once

#include <map>
#include <string>

#include "pcap.hpp"

namespace peer {

/** A TCP segment with FPDUs in it. */
struct JudgedSegment {
  std::size_t frame = 0;      /**< of the capture */
  std::uint64_t position = 0; /**< stream position of its first octet, 0 at the start of Full Operation */
  std::size_t length = 0;
  bool again = false;      /**< all of it had been sent before */
  std::size_t fpdus = 0;   /**< that lie in it as a whole */
  std::string reason = {}; /**< why it is not aligned; empty: it starts with an FPDU and holds whole ones */

  bool aligned() const { return reason.empty(); }
};

/** One direction of a connection. */
struct Direction {
  std::string from, to;
  bool markers = false, crc = true;
  std::uint64_t octets = 0; /**< of Full Operation, each counted once */
  std::size_t fpdus = 0, largestUlpdu = 0, largestSegment = 0;
  std::size_t rest = 0;                /**< octets of an FPDU that the capture ends in */
  std::vector<JudgedSegment> segments; /**< in the order in which they were sent */
  std::size_t fragments = 0;           /**< IP packets that are fragments */
  std::size_t withoutDf = 0;           /**< IP packets that routers may cut */
  std::string error;                   /**< what the sender must not do */

  std::size_t unaligned() const;
  std::size_t again() const;
  std::size_t unalignedAgain() const;
  /** Runs of segments that are not aligned. */
  std::size_t losses() const;
  /** Aligned segments since the last one that is not. */
  std::size_t alignedSince() const;
  /** How many segments hold so many whole FPDUs. */
  std::map<std::size_t, std::size_t> distribution() const;
};

/** Both directions of every MPA connection whose beginning was captured. */
std::vector<Direction> judge(const std::vector<TcpPacket>& packets);

/** The command line after "mpa-peer", with "capture" in argv[0]; returns the exit status. */
int captureCommand(int argc, char** argv);

} // namespace peer

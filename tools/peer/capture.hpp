// SPDX-License-Identifier: GPL-2.0
/**
 * @file capture.hpp
 * @brief mpa-peer capture: the position of FPDUs in the TCP segments of captured connections (RFC 5044 §5.1, Appendix A).
 */
#pragma once

#include <map>
#include <string>

#include "pcap.hpp"

namespace peer {

/** A TCP segment with FPDUs in it. */
struct JudgedSegment {
  std::size_t frame = 0;      /**< its number in the capture */
  std::uint64_t position = 0; /**< stream position of its first octet, 0 at the start of Full Operation */
  std::size_t length = 0;
  bool again = false;      /**< a retransmission without any new octet */
  std::size_t fpdus = 0;   /**< whole FPDUs in it */
  std::string reason = {}; /**< why it is not aligned; empty: it starts with an FPDU and contains only whole FPDUs */

  bool aligned() const { return reason.empty(); }
};

/** One direction of a connection. */
struct Direction {
  std::string from, to;
  bool markers = false, crc = true;
  std::uint64_t octets = 0; /**< of Full Operation, each counted once */
  std::size_t fpdus = 0, largestUlpdu = 0, largestSegment = 0;
  std::size_t rest = 0;                /**< octets of the FPDU that is incomplete at the capture's end */
  std::vector<JudgedSegment> segments; /**< in the order in which they were sent */
  std::size_t fragments = 0;           /**< IP packets that are fragments */
  std::size_t withoutDf = 0;           /**< IP packets that routers may fragment */
  std::string error;                   /**< a violation by the sender */

  std::size_t unaligned() const;
  std::size_t again() const;
  std::size_t unalignedAgain() const;
  /** The number of runs of unaligned segments. */
  std::size_t losses() const;
  /** The number of aligned segments after the last unaligned one. */
  std::size_t alignedSince() const;
  /** The number of segments by their number of whole FPDUs. */
  std::map<std::size_t, std::size_t> distribution() const;
};

/** Both directions of every MPA connection whose beginning was captured. */
std::vector<Direction> judge(const std::vector<TcpPacket>& packets);

/** The command line after "mpa-peer", with "capture" in argv[0]; returns the exit status. */
int captureCommand(int argc, char** argv);

} // namespace peer

// SPDX-License-Identifier: GPL-2.0
/**
 * @file rdmap.hpp
 * @brief DDP segments (RFC 5041 §4) and the RDMAP headers in them (RFC 5040 §4).
 */
#pragma once

#include <map>
#include <optional>

#include "bytes.hpp"

namespace peer {

enum Opcode : std::uint8_t {
  opWrite = 0,
  opReadRequest = 1,
  opReadResponse = 2,
  opSend = 3,
  opSendInvalidate = 4,
  opSendSolicited = 5,
  opSendSolicitedInvalidate = 6,
  opTerminate = 7,
};

enum QueueNumber : std::uint32_t { queueSend = 0, queueRead = 1, queueTerminate = 2 };

inline constexpr std::size_t taggedHeader = 14, untaggedHeader = 18, readHeader = 28;

/** One DDP segment. Its fields are sent as they are, legal or not. */
struct Segment {
  std::uint8_t opcode = opSend;
  bool tagged = false;
  bool last = true;
  std::uint8_t ddpVersion = 1;
  std::uint8_t rdmapVersion = 1;
  std::uint8_t ddpReserved = 0;   /**< 4 bits */
  std::uint8_t rdmapReserved = 0; /**< 2 bits */

  std::uint32_t stag = 0; /**< tagged */
  std::uint64_t to = 0;

  std::uint32_t invalidate = 0; /**< untagged: Invalidate STag, zero unless the opcode uses it */
  std::uint32_t qn = 0;
  std::uint32_t msn = 0;
  std::uint32_t mo = 0;

  Bytes payload = {}; /**< the octets behind the DDP header, including the RDMAP header */

  /** The ULPDU. */
  Bytes encode() const;
  /** Only the DDP header, as a Terminate quotes it. */
  Bytes header() const;
  /** Strict about reserved fields and versions, which must both be @p version; throws ProtocolError. */
  static Segment decode(View ulpdu, std::uint8_t version = 1);
  /** One line for the trace. */
  std::string describe() const;
};

/** RFC 5040 §4.4. */
struct ReadRequest {
  std::uint32_t sinkStag = 0;
  std::uint64_t sinkTo = 0;
  std::uint32_t size = 0;
  std::uint32_t sourceStag = 0;
  std::uint64_t sourceTo = 0;

  Bytes encode() const;
  static ReadRequest decode(View octets);
};

/** Layer, error type and error code of a Terminate (RFC 5040 §4.8). */
struct TermCode {
  std::uint8_t layer = 0;
  std::uint8_t type = 0;
  std::uint8_t code = 0;

  bool operator==(const TermCode&) const = default;
  std::string describe() const;
};

/** RFC 5040 §4.8. */
struct Terminate {
  TermCode code;
  std::optional<std::uint16_t> segmentLength = {}; /**< the M bit */
  Bytes ddpHeader = {};                            /**< the D bit */
  Bytes rdmapHeader = {};                          /**< the R bit */

  Bytes encode() const;
  static Terminate decode(View payload);
};

/* The segments of RFC 5040 appendix A. */
Segment makeWrite(std::uint32_t stag, std::uint64_t to, View data, bool last = true);
Segment makeSend(std::uint32_t msn, View data, std::uint32_t mo = 0, bool last = true, std::uint8_t opcode = opSend);
Segment makeReadRequest(std::uint32_t msn, const ReadRequest& request);
Segment makeReadResponse(std::uint32_t stag, std::uint64_t to, View data, bool last = true);
Segment makeTerminate(const Terminate& terminate);

/**
 * Checks the order of a half connection's segments. The MSN counts from 1 on each queue, the MO has no gaps, messages
 * do not overlap, READ responses have the order of their requests, and nothing follows a Terminate.
 */
class OrderChecker {
public:
  /** Throws ProtocolError when @p segment is not a legal successor. */
  void check(const Segment& segment);

  /** Notes a READ request to the other side, so that its response is accepted. */
  void expectResponse(const ReadRequest& request) { responses_.push_back(request); }
  std::size_t responsesDue() const { return responses_.size(); }

private:
  void checkUntagged(const Segment& segment);
  void checkTagged(const Segment& segment);
  void checkResponse(const Segment& segment);
  void checkContinuation(const Segment& segment);

  std::map<std::uint32_t, std::uint32_t> nextMsn_;
  std::optional<Segment> open_; /* last segment of an unfinished message */
  std::vector<ReadRequest> responses_;
  std::uint32_t answered_ = 0; /* octets of responses_.front() that have arrived */
  bool terminated_ = false;
};

} // namespace peer

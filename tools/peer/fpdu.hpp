// SPDX-License-Identifier: GPL-2.0
/**
 * @file fpdu.hpp
 * @brief MPA Full Operation: ULPDUs to FPDUs and back, with Markers and CRC (RFC 5044 §4).
 */
#pragma once

#include <optional>

#include "bytes.hpp"

namespace peer {

/** The settings of one half connection. */
struct Framing {
  bool markers = false;
  bool crc = true;
};

/** Faults to inject into one FPDU. The CRC covers all of them, except a wrong CRC itself. */
struct Faults {
  bool badCrc = false;
  std::optional<std::uint16_t> length = {}; /**< ULPDU_Length in place of the true one */
  std::optional<unsigned> marker = {};      /**< which Marker of this FPDU to change */
  std::uint16_t markerXor = 4;              /**< XORed with its FPDUPTR */
  std::uint16_t reserved = 0;               /**< RESERVED of every Marker: receivers ignore it */
  std::uint16_t lowBits = 0;                /**< low two bits of every FPDUPTR: receivers ignore them */
  std::uint8_t pad = 0;                     /**< pad octets: receivers ignore them */
};

/** The sender of one half connection. */
class FpduEncoder {
public:
  explicit FpduEncoder(Framing framing) : framing_(framing) {}

  /** The octets of the FPDU that carries @p ulpdu, with the Markers due at this stream position. */
  Bytes encode(View ulpdu, const Faults& faults = {});

  /** Octets sent since Full Operation began. */
  std::uint64_t position() const { return position_; }
  void setPosition(std::uint64_t position) { position_ = position; }
  const Framing& framing() const { return framing_; }

  /** The number of Markers in the last encoded FPDU. */
  unsigned markers() const { return count_; }

private:
  void octet(Bytes& out, std::uint8_t value, const Faults& faults);
  void octets(Bytes& out, View values, const Faults& faults);
  void markerIfDue(Bytes& out, const Faults& faults, bool between);

  Framing framing_;
  std::uint64_t position_ = 0;
  std::uint64_t start_ = 0; /* of the current FPDU's ULPDU_Length */
  unsigned count_ = 0;
};

/** A received FPDU. */
struct Fpdu {
  std::uint64_t position = 0; /**< of its first octet, which may be part of a Marker */
  std::size_t wireLength = 0; /**< with Markers, pad and CRC */
  unsigned markers = 0;
  Bytes ulpdu = {};
};

/** The strict receiver of one half connection: throws ProtocolError at the first violation by the sender. */
class FpduDecoder {
public:
  explicit FpduDecoder(Framing framing) : framing_(framing) {}

  void feed(View octets) { append(buffer_, octets); }

  /** The next whole FPDU, or nothing while octets are missing. */
  std::optional<Fpdu> next();

  /** True when no part of an FPDU is buffered. */
  bool idle() const { return buffer_.empty(); }
  std::uint64_t position() const { return position_; }

private:
  class Walker;

  Framing framing_;
  Bytes buffer_;
  std::uint64_t position_ = 0;
};

/** Octets on the wire of an FPDU with @p ulpdu octets that starts at stream position @p position. */
std::size_t fpduLength(std::size_t ulpdu, std::uint64_t position, bool markers);

} // namespace peer

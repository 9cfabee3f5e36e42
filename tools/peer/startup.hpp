// SPDX-License-Identifier: GPL-2.0
/**
 * @file startup.hpp
 * @brief MPA Request and Reply frames (RFC 5044 §7.1.1, RFC 6581 §6 and §9).
 */
#pragma once

#include <array>
#include <optional>

#include "bytes.hpp"

namespace peer {

enum class FrameKind { Request, Reply };

inline constexpr std::size_t startupHeader = 20;
inline constexpr std::size_t maxPrivateData = 512;
inline constexpr std::uint16_t notNegotiated = 0x3fff; /**< IRD or ORD, RFC 6581 §9.1 */

/** The first 16 octets of a frame of this kind. */
std::array<std::uint8_t, 16> startupKey(FrameKind kind);

/** Enhanced connection establishment data: the first four octets of the Private Data when S is set. */
struct Enhanced {
  bool peerToPeer = false; /**< A */
  bool rtrSend = false;    /**< B */
  bool rtrWrite = false;   /**< C */
  bool rtrRead = false;    /**< D */
  std::uint16_t ird = 8;
  std::uint16_t ord = 8;

  Bytes encode() const;
  static Enhanced decode(View octets);
  bool operator==(const Enhanced&) const = default;
};

/** The Initiator's first message in the peer-to-peer model (RFC 6581 §9.2). */
enum class Rtr { Any, Send, Write, Read };

/** A startup frame. Its fields are sent as they are, legal or not. */
struct StartupFrame {
  FrameKind kind = FrameKind::Request;
  bool markers = false;                  /**< M: the sender of this frame wants Markers in what it receives */
  bool crc = true;                       /**< C */
  bool reject = false;                   /**< R */
  std::optional<Enhanced> enhanced = {}; /**< S, and its data at the head of the Private Data */
  bool large = false;                    /**< the first bit of Res, with which siw and iwmpa agree on large FPDUs */
  std::uint8_t reserved = 0;             /**< Res, 4 bits: must be ignored */
  std::uint8_t revision = 1;
  Bytes privateData = {}; /**< the ULP's part */

  std::optional<std::uint16_t> lengthOverride = {}; /**< PD_Length in place of the true one */
  std::optional<std::array<std::uint8_t, 16>> keyOverride = {};

  Bytes encode() const;

  /** Strict: throws ProtocolError on every violation by the sender. */
  static StartupFrame decode(FrameKind expected, View frame);
};

/** The length of the whole frame whose first startupHeader octets are @p header. */
std::size_t startupLength(View header);

} // namespace peer

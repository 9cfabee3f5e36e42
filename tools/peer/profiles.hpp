// SPDX-License-Identifier: GPL-2.0
/**
 * @file profiles.hpp
 * @brief What the startups of RNICs look like on the wire, by their drivers. Pure: a table, and functions from frame to frame.
 *
 * Documentation/rnics.md has each property with its source.
 */
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rdmap.hpp"
#include "startup.hpp"

namespace peer {

/** What an RNIC does as Initiator when it has the Reply. */
struct Conclusion {
  std::vector<Rtr> rtr = {};              /**< the RTR that it sends; several: the one that its firmware chooses */
  std::optional<TermCode> terminate = {}; /**< it refuses the Reply with this Terminate */
  bool reset = false;                     /**< it refuses the Reply with an RST */

  bool operator==(const Conclusion&) const = default;
};

/** An RNIC and its driver, with the driver's defaults. All of them ask for CRCs, and for no Markers. */
struct Profile {
  const char* name;
  const char* what;
  const char* source;    /**< the files and functions that say so */
  const char* inference; /**< what they do not say */

  std::uint8_t revision; /**< of its Request, and the highest that it accepts */
  Enhanced request = {}; /**< in its Request of revision 2 */
  Bytes privateData = {};
  std::size_t largestPrivateData = maxPrivateData; /**< PD_Length of frames that it accepts */
  bool unaskedRtr = false;                         /**< sends a READ as RTR in revision 1 too */
  ReadRequest rtrRead = {};                        /**< of the READ that is its RTR */
  bool refusesStagZero = false;                    /**< in tagged segments, even without payload */
  bool sendsMarkers = true;                        /**< when the other side asks for them; false: not known */

  /** Its answer to an enhanced Request; nothing: it resets the connection. */
  std::optional<Enhanced> (*answer)(const Enhanced& request) = nullptr;
  /** What it does with an enhanced Reply. */
  Conclusion (*conclude)(const Enhanced& sent, const Enhanced& reply) = nullptr;

  /** Its Reply; nothing: it resets the connection. */
  std::optional<StartupFrame> makeReply(const StartupFrame& request) const;
};

std::span<const Profile> profiles();
const Profile& profile(std::string_view name);

} // namespace peer

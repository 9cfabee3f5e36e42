// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * Projects the measured costs onto a machine with a real link: the tables of Documentation/design/scale.md.
 */
#pragma once

#include <iosfwd>
#include <string_view>

#include "results.hpp"

namespace bench {

/** Assumptions about a machine, which no program here measures. */
struct Machine {
  double instructionsPerSecond = 4.5e9; ///< of one core: 3 GHz, 1.5 instructions in each cycle
  double shareOfAnEnd = 0.5;            ///< one end's share of the cost of both
  double wireShare = 1428.0 / 1538.0;   ///< share of payload in a full frame on the wire, at MTU 1500
  double passes = 4;                    ///< over memory, for each octet that is sent or received
};

/**
 * Writes one table in Markdown: "scale-core", "scale-link", "scale-connections" or "scale-check".
 * @return false when the table does not exist
 */
bool writeScale(std::ostream& out, std::string_view name, const Results& results, const Machine& machine = {});

} // namespace bench

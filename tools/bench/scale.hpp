// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * What the measured costs mean for a machine with a real link: the tables of Documentation/design/scale.md.
 */
#pragma once

#include <iosfwd>
#include <string_view>

#include "results.hpp"

namespace bench {

/** What is assumed of a machine, because nothing here measures it. */
struct Machine {
  double instructionsPerSecond = 4.5e9; ///< of one core: 3 GHz, 1.5 instructions in each cycle
  double shareOfAnEnd = 0.5;            ///< of the cost of both ends
  double wireShare = 1428.0 / 1538.0;   ///< payload of a full frame at MTU 1500, of what it takes on the wire
  double passes = 4;                    ///< over memory, for each octet that is sent or received
};

/**
 * Writes one table in Markdown: "scale-core", "scale-link", "scale-connections" or "scale-check".
 * @return false when there is no such table
 */
bool writeScale(std::ostream& out, std::string_view name, const Results& results, const Machine& machine = {});

} // namespace bench

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
  double tcpGigabits = 42;            ///< what one core sends or receives over one TCP connection, as others have measured
  double instructionsPerSecond = 0;   ///< of one core; 0: as many as these Gbit/s take by our count of TCP's instructions
  double shareOfAnEnd = 0.5;          ///< one end's share of the cost of both
  double wireShare = 1428.0 / 1538.0; ///< share of payload in a full frame on the wire, at MTU 1500
};

/**
 * Writes one table in Markdown: "scale", what a core carries and how many fill a link, or "scale-check", whether guests with
 * several CPUs confirm it.
 * @return false when the table does not exist
 * @throws std::runtime_error when neither @p assumed nor the results tell the speed of a core
 */
bool writeScale(std::ostream& out, std::string_view name, const Results& results, const Machine& assumed = {});

} // namespace bench

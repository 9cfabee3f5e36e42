// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * The tables of a link as plots.
 */
#pragma once

#include <iosfwd>

#include "results.hpp"

namespace bench {

/**
 * Writes a gnuplot script that holds its data and writes TABLE.svg for each table of a link. A plot shows what an I/O costs over
 * iwmpa, divided by its cost over TCP, on the two kernels of the page that shows the plots.
 */
void writePlots(std::ostream& out, const Record& record);

} // namespace bench

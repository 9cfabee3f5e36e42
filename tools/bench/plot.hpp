// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * The results as plots.
 */
#pragma once

#include <iosfwd>
#include <map>
#include <string>

#include "results.hpp"

namespace bench {

/** Whether writePlots() makes a plot of a table alone. The link tables' plots show all kernels. */
bool hasPlot(const Table& table);

/**
 * Writes a gnuplot script that holds its data and writes TABLE.png and TABLE.svg for each table with values.
 * @param results the figures of all tables but those of a link
 * @param links the figures of the link tables, by kernel series
 */
void writePlots(std::ostream& out, const Results& results, const std::map<std::string, Results>& links);

} // namespace bench

// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * The results as tables for people, as a table for programs and as a plot.
 */
#pragma once

#include <iosfwd>
#include <string>

#include "results.hpp"

namespace bench {

enum class Format { Text, Markdown };

/** What the figures count, below the tables, once per report. */
struct Notes {
  std::string kernel; ///< the kernel release that was measured
};

/** The ratio of a row to the row of @p transport that it is compared with; 0 when there is none. */
double ratio(const Row& row, const Results& results, const std::string& transport);

/** All tables: the figures, the ratios, and what is to be known about them. */
void writeTables(std::ostream& out, const std::vector<Row>& rows, const Results& results, const Notes& notes, Format format);

/** One line per row with a value: tab-separated, with a header. */
void writeTsv(std::ostream& out, const std::vector<Row>& rows, const Results& results);

/** A gnuplot script that holds its data and writes @p stem .png and .svg. */
void writePlot(std::ostream& out, const Results& results, const std::string& stem);

/** The figure of a row in the form of the tables: two decimals per octet, grouped digits otherwise. */
std::string formatValue(const Operation& operation, double value);

} // namespace bench

// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * The results as tables for readers, and as a table for programs.
 */
#pragma once

#include <iosfwd>
#include <string>

#include "results.hpp"

namespace bench {

enum class Format { Text, Markdown };

/** Facts for the notes below the tables, once per report. */
struct Notes {
  std::string kernel; ///< the kernel release that was measured
};

/** The ratio of a row to the row of @p transport that it is compared with; 0 without such a row. */
double ratio(const Row& row, const Results& results, const std::string& transport);

/** All tables: the figures, the ratios, and remarks on them. */
void writeTables(std::ostream& out, const std::vector<Row>& rows, const Results& results, const Notes& notes, Format format);

/** One line per kernel series and row with a value: tab-separated, with a header. */
void writeTsv(std::ostream& out, const std::vector<Row>& rows, const Record& record);

/** One table with its ratios, without remarks. No output when no row of it has a value. */
void writeTable(std::ostream& out, const Table& table, const std::vector<Row>& rows, const Results& results, Format format);

/** The cells of a line. */
using Line = std::vector<std::string>;

/** Writes a table in Markdown: the heading, then lines of a text and figures. */
void writeFigures(std::ostream& out, const std::vector<Line>& lines);

/** The cost over iwmpa, rxe and siw, divided by TCP's over the same path: a line for each operation, MTU 1500, CRC on, no Markers.
 */
void writeCompared(std::ostream& out, const Record& record);

/** The time over iwmpa, siw and rxe, divided by TCP's beside it, with the numbers of CPUs that were measured. */
void writeTime(std::ostream& out, const Record& record);

/** What protection costs: the cost of I/O with it, divided by its cost over TCP without. */
void writeSecure(std::ostream& out, const Results& results);

/** What a connection costs and takes of memory, over iwmpa and siw. */
void writeConnections(std::ostream& out, const Results& results);

/**
 * The rows that cost more than in an earlier table.
 * @param tolerated as a share, such as 0.03
 * @return the number of these rows
 */
std::size_t writeWorse(std::ostream& out, const std::vector<Row>& rows, const Results& before, const Results& now,
                       double tolerated);

/** The figure of a row in the form of the tables: two decimals per octet, grouped digits otherwise. */
std::string formatValue(const Operation& operation, double value);

} // namespace bench

// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * What a guest has measured: its console output joined with what the plugin has counted.
 */
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "rows.hpp"

namespace bench {

/** One repeat of a row. */
struct Repeat {
  std::uint64_t tsc = 0; ///< advance of the time stamp counter: instructions and idle time; or a quantity that the guest tells
  std::uint64_t operations = 0;
  std::uint64_t octets = 0;
  std::uint64_t kernel = 0; ///< instructions that the plugin has counted
  std::uint64_t user = 0;
  bool told = false;      ///< the guest itself tells the figure, in tsc: the plugin's count is for a profile at most
  std::uint64_t idle = 0; ///< told: how much of it the CPUs had nothing to do
  std::string memoryOf;   ///< told: what the memory is of that it is a quantity of
  double latency = 0;     ///< fio's: nanoseconds from the call to the end of an operation, on average
  std::uint64_t segments = 0; ///< TCP segments that the guest sent, which is both ends

  std::uint64_t instructions() const { return kernel + user; }
};

/** The result of one row. */
struct Result {
  std::string failure; ///< why there is no value; empty when there is one
  double value = 0;    ///< the median of the repeats; the best where they are not the same at every run
  double min = 0;
  double max = 0;
  double idle = 0;      ///< share of the time that the CPU had nothing to do, of the median repeat
  double user = 0;      ///< share of the instructions that are user space's
  double latency = 0;   ///< nanoseconds of one operation, of the median repeat; 0: not known
  double segments = 0;  ///< TCP segments of one operation, both directions, of the median repeat; 0: not known
  bool measured = true; ///< false for a value that comes from an earlier run

  double spread() const { return value > 0 ? (max - min) / value : 0; }
};

/** Results by the text of their row. */
using Results = std::map<std::string, Result>;

/** The lines that guest-init and the programs print, one kind of line each. */
struct GuestLine {
  enum class Kind { Begin, Result, Skip, End, Other } kind = Kind::Other;
  std::string row;     ///< begin
  Repeat repeat;       ///< result
  std::string outcome; ///< end: empty for success, or what went wrong
};

/** Takes apart what a guest prints. fio's JSON stands in many lines, which make one result; a line "segments N" before it is of it. */
class GuestParser {
public:
  GuestLine feed(std::string line);

private:
  std::string json_;
  std::uint64_t segments_ = 0;
};

/** The result that fio's JSON tells: its virtual nanoseconds, which under -icount are instructions. */
Repeat parseFio(const std::string& json);

/** All repeats of each row of one guest, in the order in which they ran. */
struct RowRepeats {
  std::string row;
  std::vector<Repeat> repeats;
  std::string failure;
  bool skipped = false; ///< these modules have no such thing
};

/**
 * Reads what one guest has left behind.
 * @param console what it printed
 * @param counts the plugin's output; there need be none where the guest tells all figures
 * @throws std::runtime_error when the two do not belong together
 */
std::vector<RowRepeats> readGuest(const std::filesystem::path& console, const std::filesystem::path& counts);

/** The figures of a row. */
Result summarize(const Row& row, const RowRepeats& measured);

/**
 * Reads back a table of writeTsv(), every value marked as not measured. A missing file is an empty table. Columns are found by their
 * headings; delay, slot, latency and segments may be missing.
 */
Results readTsv(const std::filesystem::path& file);

} // namespace bench

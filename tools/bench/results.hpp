// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * The measurements of a guest: its console output joined with the plugin's counts.
 */
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rows.hpp"

namespace bench {

/** One repeat of a row. */
struct Repeat {
  std::uint64_t tsc = 0; ///< advance of the time stamp counter: instructions and idle time; or a quantity that the guest reports
  std::uint64_t operations = 0;
  std::uint64_t octets = 0;
  std::uint64_t kernel = 0; ///< instructions that the plugin has counted
  std::uint64_t user = 0;
  bool told = false;          ///< the guest itself reports the figure, in tsc: the plugin's count then serves profiles only
  std::uint64_t idle = 0;     ///< told: the CPUs' idle part of it
  std::string memoryOf;       ///< told, for memory: the measured kind of connection, such as "idle"
  double latency = 0;         ///< fio's: nanoseconds from the call to the end of an operation, on average
  std::size_t round = 0;      ///< how often its row had begun
  std::uint64_t segments = 0; ///< TCP segments that the guest, and thus both ends, sent
  std::uint64_t calls = 0;    ///< interrupts that a CPU of the guest sent to another
  std::uint64_t switches = 0; ///< context switches of the guest

  std::uint64_t instructions() const { return kernel + user; }
};

/** The result of one row. */
struct Result {
  std::string failure; ///< why there is no value; empty when there is one
  double value = 0;    ///< the median of the repeats; where runs are not repeatable, the best of the rounds' best
  double min = 0;
  double max = 0;
  double second = 0;    ///< where runs are not repeatable: the second best round; 0: there is one round only
  double idle = 0;      ///< the CPU's idle share of the time, of the median repeat
  double user = 0;      ///< user space's share of the instructions
  double latency = 0;   ///< nanoseconds of one operation, of the median repeat; 0: not known
  double segments = 0;  ///< TCP segments of one operation, both directions, of the median repeat; 0: not known
  double calls = 0;     ///< interrupts between CPUs of one operation, the median of the repeats
  double switches = 0;  ///< context switches of one operation, likewise; 0: not known
  bool measured = true; ///< false for a value that comes from an earlier run

  double spread() const { return value > 0 ? (max - min) / value : 0; }
};

/** Results by the text of their row. */
using Results = std::map<std::string, Result>;

/** Results by the series of their kernel, such as "6.12". */
using Record = std::map<std::string, Results>;

/** The result of a row; nullptr without a value. */
const Result* find(const Results& results, const std::string& row);

/** A line that guest-init or the programs print. */
struct GuestLine {
  enum class Kind { Begin, Result, Skip, End, Other } kind = Kind::Other;
  std::string row;     ///< begin
  Repeat repeat;       ///< result
  std::string outcome; ///< end: empty for success, or what went wrong
};

/** Parses the output of a guest. fio's JSON, of many lines, makes one result; counters of before and after its run precede it. */
class GuestParser {
public:
  /** @param timed the programs' time is the figure, not the count of instructions */
  explicit GuestParser(bool timed) : timed_(timed) {}
  GuestLine feed(std::string line);

private:
  bool timed_;
  /** A counter of the guest. */
  struct Counter {
    std::uint64_t last = 0;  ///< since the guest's start
    std::uint64_t since = 0; ///< between its last two values
    void feed(std::uint64_t value) { since = value - std::exchange(last, value); }
  };

  void addCounters(Repeat& repeat);

  std::string json_;
  Counter segments_, calls_, switches_;
};

/** The result in fio's JSON: its virtual nanoseconds, which under -icount are instructions. */
Repeat parseFio(const std::string& json);

/** All repeats of each row of one guest, in the order in which they ran. */
struct RowRepeats {
  std::string row;
  std::vector<Repeat> repeats;
  std::string failure;
  bool skipped = false; ///< these modules do not support it
};

/**
 * Reads the output of one guest.
 * @param console the guest's console output
 * @param counts the plugin's output; may be missing when the guest reports all figures; empty: the programs' time is the figure
 * @throws std::runtime_error when the two do not belong together
 */
std::vector<RowRepeats> readGuest(const std::filesystem::path& console, const std::filesystem::path& counts);

/** The figures of a row. */
Result summarize(const Row& row, const RowRepeats& measured);

/** Reads back a table of writeTsv(); every value is marked as not measured. A missing file is an empty table. */
Record readTsv(const std::filesystem::path& file);

} // namespace bench

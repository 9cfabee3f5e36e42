// SPDX-License-Identifier: GPL-2.0
/** @file kernels.hpp @brief The table of `make test SUITE=kernels`: what each stage has shown on each kernel. */
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "results.hpp"

namespace runner {

/** The tests of a stage in numbers. */
struct Total {
  std::string verdict = "skip"; ///< FAIL when any line says so
  unsigned passed = 0, failed = 0, skipped = 0;
  double seconds = 0;
};

/** Adds up @p lines. Of a line that counts requirements ("N passed, N failed, N not shown") these are the numbers. */
Total totalOf(const std::vector<Line>& lines);

/**
 * Adds up the checks of some scenarios. @p lines are those of the stage, @p taps is the folder of the scenarios' TAP. A scenario
 * that has recorded no check counts as one test, and as a failure when it has no line.
 */
Total totalOf(const std::vector<Line>& lines, const std::string& taps, const std::vector<std::string>& scenarios);

/** The latest total of each stage on each kernel. */
class KernelTable {
public:
  /** Reads the lines: kernel, stage, verdict, passed, failed, skipped, seconds. */
  explicit KernelTable(std::istream& in);

  void book(const std::string& kernel, const std::string& stage, const Total& total) { totals_[{kernel, stage}] = total; }
  std::string tsv() const;

  /**
   * The table: a column for each kernel, and behind these one for each that was booked for another architecture, as KERNEL/ARCH.
   * KUnit runs on the kernel @p once only.
   */
  std::string text(std::vector<std::string> kernels, const std::vector<std::string>& stages, const std::string& once) const;
  bool failed(const std::vector<std::string>& kernels) const;

private:
  std::map<std::pair<std::string, std::string>, Total> totals_;
};

} // namespace runner

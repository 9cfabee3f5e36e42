// SPDX-License-Identifier: GPL-2.0
/** @file results.hpp @brief The results of tests: files of TAP, and the lines that a stage prints for scripts/check. */
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "../common/junit.hpp"

namespace runner {

/** A line of a stage: verdict, name, seconds, number of tests, and the log of a failure or the reason of a skip. */
struct Line {
  std::string verdict; ///< ok, FAIL or skip
  std::string name;
  double seconds = 0;
  unsigned tests = 0;
  std::string more;
};

/** The words of a line between its tabs. */
std::vector<std::string> fields(const std::string& line);

/** Reads lines of a stage; ignores others, as scripts/check does. */
std::vector<Line> readLines(std::istream& in);

/** The last @p count lines of a file, or all; none of a file that cannot be read. */
std::string lastLines(const std::string& file, std::size_t count);

/** A line of a stage as text, with its end. */
std::string text(const Line& line);

/** Reads the tests of TAP, subtests included. Comments behind a failed test are its text. */
std::vector<test::Result> readTap(std::istream& in);

/** A stage's lines for the tests in TAP: one for all that passed, one for all that were skipped, and one for each that failed. */
std::vector<Line> linesOf(const std::vector<test::Result>& tests, const std::string& name, double seconds, const std::string& log);

/**
 * A stage's line for each test of TAP that is not in a subtest: the rows of a table. Its name is @p name "/" the test's. A comment
 * "# seconds: N" before a test says how long that took.
 */
std::vector<Line> rowsOf(std::istream& tap, const std::string& name, const std::string& log);

/**
 * TAP in which each test has failed that had passed. For when the whole ended with @p status for a reason without a line of its
 * own, such as a dirty kernel log. Changes nothing when the whole passed (0), was skipped (77), or ended with 1 because of a failed
 * test.
 */
std::string spoiled(const std::string& tap, int status);

/**
 * The suites of a report. @p lines has the lines of all stages, each with the stage's name before it and without the number of
 * tests. A suite for each stage, where the text of a failure is the end of its log. Then one for each of @p files of TAP, with its
 * name below @p root.
 */
std::vector<test::Suite> suites(std::istream& lines, const std::string& root, const std::vector<std::string>& files);

} // namespace runner

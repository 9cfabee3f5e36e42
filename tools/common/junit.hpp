// SPDX-License-Identifier: GPL-2.0
/** @file junit.hpp @brief Writes results as JUnit's XML, which CI systems read. */
#pragma once

#include "testcase.hpp"

namespace test {

/** Results under one heading. */
struct Suite {
  std::string name;
  std::vector<Result> results;
};

/**
 * The results as a document. The text of a failed test is its element's content, and the text's first line the message; of a
 * skipped test the text is the message. Control characters and octets outside of ASCII, which may not be valid in XML, become
 * question marks.
 */
std::string junit(const std::vector<Suite>& suites);

} // namespace test

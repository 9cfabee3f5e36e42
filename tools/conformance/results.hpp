// SPDX-License-Identifier: GPL-2.0
/** @file results.hpp @brief The results of a run of the tests. */
#pragma once

#include <map>
#include <set>
#include <string>

#include "table.hpp"

namespace conformance {

/** The tests of one requirement that have run. A test that ran several times counts as failed when any run failed. */
struct Shown {
  std::set<std::string> passed, failed;
};

/**
 * Reads all *.tap of @p folder and its subfolders. A test's IDs are in brackets after its name, or else in its name. Its full name
 * is its file's name and its own.
 */
std::map<std::string, Shown> readResults(const Table& table, const std::string& folder);

} // namespace conformance

// SPDX-License-Identifier: GPL-2.0
/** @file results.hpp @brief What a run of the tests has shown. */
#pragma once

#include <map>
#include <set>
#include <string>

#include "table.hpp"

namespace conformance {

/** The tests of one requirement that have run. One that ran several times has failed when it failed once. */
struct Shown {
  std::set<std::string> passed, failed;
};

/**
 * Reads all *.tsv of @p folder and the folders in it: a test per line as name, IDs, result (ok, FAIL, skip), text. Without IDs
 * they are taken from the name. A test is called by its file's name and its own.
 */
std::map<std::string, Shown> readResults(const Table& table, const std::string& folder);

} // namespace conformance

// SPDX-License-Identifier: GPL-2.0
/** @file sources.hpp @brief Finds in the tests' sources which tests carry a requirement's ID. */
#pragma once

#include <map>
#include <set>
#include <string>

#include "table.hpp"

namespace conformance {

/** Tests that carry an ID: by kind ("unit", "kunit", "wire", ...) the files or cases. */
using Carriers = std::map<std::string, std::set<std::string>>;

/** Searches the tests of the checkout at @p root; returns the carriers by ID. */
std::map<std::string, Carriers> findCarriers(const Table& table, const std::string& root);

} // namespace conformance

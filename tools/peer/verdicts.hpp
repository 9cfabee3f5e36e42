// SPDX-License-Identifier: GPL-2.0
/** @file verdicts.hpp @brief Formats the results of cases by requirement. */
#pragma once

#include "../common/testcase.hpp"

namespace peer {

/** A line per requirement with its cases: passed, FAILED (when one case failed) or not shown. */
std::vector<std::string> byRequirement(const std::vector<test::Result>& results);

} // namespace peer

// SPDX-License-Identifier: GPL-2.0
/** @file verdicts.hpp @brief Results of cases as others read them: by requirement, as TAP, as JUnit's XML. */
#pragma once

#include "../common/testcase.hpp"

namespace peer {

/** A line for each requirement: passed, FAILED (when one case failed) or not shown, and its cases. */
std::vector<std::string> byRequirement(const std::vector<test::Result>& results);

/** The lines of a case in TAP 13. */
std::string tap(unsigned number, const test::Result& result);

/** One suite. */
std::string junit(const std::string& suite, const std::vector<test::Result>& results);

} // namespace peer

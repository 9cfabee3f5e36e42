// SPDX-License-Identifier: GPL-2.0
/** @file selftest.hpp @brief The peer's own tests: vectors of the RFCs and mistakes that its checks must find. */
#pragma once

#include <string>
#include <vector>

namespace peer {

/** Runs the self tests whose names match @p patterns; returns the exit status. */
int selftest(const std::vector<std::string>& patterns, const std::string& tsv);

} // namespace peer

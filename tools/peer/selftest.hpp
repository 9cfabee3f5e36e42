// SPDX-License-Identifier: GPL-2.0
/** @file selftest.hpp @brief The peer's own tests: the RFCs' vectors, and violations that its checks must detect. */
#pragma once

#include <span>
#include <string>
#include <vector>

#include "../common/testcase.hpp"

namespace peer {

struct None {};

/** Cases for the reading and judging of captures. */
std::span<const test::Case<None>> captureSelftests();

/** Runs the self tests whose names match @p patterns; returns the exit status. */
int selftest(const std::vector<std::string>& patterns);

} // namespace peer

// SPDX-License-Identifier: GPL-2.0
/** @file guest.hpp @brief Runs a series: starts scripts/vm/run or scripts/uml/run, reads what the guest prints, and ends it. */
#pragma once

#include <filesystem>
#include <string>

#include "series.hpp"

namespace runner {

/**
 * Runs @p series. @p out has the guest's loop. It gets the next command (next), the time (own-time, written by the runner), and
 * end-NAME, which asks the loop to end a command. Prints each result, and other lines of the guest on standard error.
 * @return the exit status: 1 when a guest cannot begin
 * @throws std::runtime_error when a signal ends this process; the guest has ended then
 */
int run(Series& series, const std::filesystem::path& runner, const std::filesystem::path& out);

} // namespace runner

// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * Where the instructions of a row went: per function of the kernel, per mapped file of user space.
 */
#pragma once

#include <filesystem>
#include <iosfwd>

#include "results.hpp"

namespace bench {

/** The files that one guest leaves behind when it is profiled. */
struct ProfileFiles {
  std::filesystem::path console; ///< what the guest printed: rows, its modules' symbols and the programs' mappings
  std::filesystem::path counts;  ///< the plugin's output with blocks
  std::filesystem::path symbols; ///< the kernel's own symbols, as in /proc/kallsyms
};

/**
 * Writes the profile of the last repeat of every row of a guest.
 * @param functions how many functions to list
 */
void writeProfile(std::ostream& out, const std::vector<Row>& rows, const ProfileFiles& files, std::size_t functions);

} // namespace bench

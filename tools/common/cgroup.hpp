// SPDX-License-Identifier: GPL-2.0
/**
 * @file cgroup.hpp
 * @brief The files of a cgroup.
 */
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "testcase.hpp"

namespace test {

/** A file of a cgroup. */
class CgroupFile {
public:
  explicit CgroupFile(std::string path) : path_(std::move(path)) {}

  /** Returns whether the kernel has taken @p value. */
  bool write(const char* value) const { return static_cast<bool>(std::ofstream(path_) << value << std::flush); }
  /** Returns the number after @p key, or the first number without a key. Fails the case if the file has none. */
  std::uint64_t number(std::string_view key = {}) const {
    std::ifstream in(path_);
    std::uint64_t value = 0;

    for (std::string word; !key.empty() && word != key && in >> word;)
      ;
    expect(static_cast<bool>(in >> value), "no number in " + path_);
    return value;
  }

private:
  std::string path_;
};

/** The cgroup to which every process belongs at first: this process leaves its own for it. Returns whether it could. */
inline bool leaveCgroup() {
  return CgroupFile("/sys/fs/cgroup/cgroup.procs").write("0");
}

} // namespace test

// SPDX-License-Identifier: GPL-2.0
/** @file kernel_log.hpp @brief The kernel's log while faults are injected: which allocation failed, and everything else. */
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../common/fd.hpp"

namespace faults {

/** One injected failure of an allocation, as the kernel logs it: its stack, innermost function first. */
struct Site {
  std::vector<std::string> stack; /**< function+offset; functions of modules have " [module]" appended */
  std::string text = {};          /**< for a leak: the whole stack in one line */

  /** The innermost function of our modules; without one, the last function of the stack, "silent" without a stack. */
  std::string place() const;
  bool has(const std::string& function) const;
};

/**
 * Reads /dev/kmsg as it grows. Reports of injected faults become Sites; all other lines go to a file, which can be checked like any
 * kernel log.
 */
class KernelLog {
public:
  /** @param rest file for the other lines, empty: none */
  explicit KernelLog(const std::string& rest);
  ~KernelLog();
  KernelLog(const KernelLog&) = delete;
  KernelLog& operator=(const KernelLog&) = delete;

  /** The sites since the last call. */
  std::vector<Site> take();
  /** Lines of kernel faults since the last call. */
  std::vector<std::string> complaints();
  /** Writes the lines since the last call to the file, or drops them when their complaint is @p known. */
  void settle(bool known);

private:
  std::optional<std::string> line();
  void sort(const std::string& line);
  void keep(const std::string& line);

  test::Fd kmsg_;
  std::FILE* rest_;
  std::vector<Site> sites_;
  std::vector<std::string> complaints_, unsettled_;
  bool injected_ = false; /* the next lines describe an injected failure, up to its stack */
  bool stack_ = false;    /* the next lines are its stack */
  bool again_ = false;    /* that stack repeats one already recorded */
};

} // namespace faults

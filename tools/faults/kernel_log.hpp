// SPDX-License-Identifier: GPL-2.0
/** @file kernel_log.hpp @brief The kernel's log while faults are injected: which allocation failed, and everything else. */
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../common/fd.hpp"

namespace faults {

/** One allocation that was made to fail, from what the kernel prints of it: its stack, innermost function first. */
struct Site {
  std::vector<std::string> stack; /**< function+offset, with " [module]" behind those of modules */
  std::string text = {};          /**< or, of a leak, all of them in one line */

  /** The innermost function of our modules; what called it stands for it when there is none. */
  std::string place() const;
  bool has(const std::string& function) const;
};

/**
 * Reads /dev/kmsg as it grows. What injection prints becomes a Site; all other lines go to a file, which may be judged as any
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
  /** The lines since the last call go to the file, or (@p known) are left out, because what they complain of is known. */
  void settle(bool known);

private:
  std::optional<std::string> line();
  void sort(const std::string& line);
  void keep(const std::string& line);

  test::Fd kmsg_;
  std::FILE* rest_;
  std::vector<Site> sites_;
  std::vector<std::string> complaints_, unsettled_;
  bool injected_ = false; /* what follows is about an allocation that failed, up to its stack */
  bool stack_ = false;    /* what follows is its stack */
  bool again_ = false;    /* it has been told already */
};

} // namespace faults

// SPDX-License-Identifier: GPL-2.0
/** @file injector.hpp @brief The kernel's fault injection: which allocations may fail, and which of them does. */
#pragma once

#include <cstdint>
#include <string>

#include "../common/fd.hpp"

namespace faults {

/** Kernel code: addresses from start up to end. */
struct Text {
  std::uint64_t start = 0, end = 0;

  /** Of the loaded modules mpa and iwmpa, and what lies between them. */
  static Text ofModules();
  /** Of one of the kernel's own functions. */
  static Text ofFunction(const std::string& name);
};

/** What is made to fail. */
enum class Kind { Slab, Pages, UserCopy };

/**
 * Faults in allocations whose stack has a function of a Text, but none that bookkeeping of the kernel's own leak detector makes.
 * Nothing fails outside of arm and disarm.
 */
class Injector {
public:
  Injector();
  ~Injector();
  Injector(const Injector&) = delete;
  Injector& operator=(const Injector&) = delete;

  void restrictTo(const Text& text);

  /** The @p n-th (1 is the first) of the calling thread, of any kind. @param more also those that follow it at once */
  void armThread(unsigned n, bool more);
  /** Returns whether it came to that. */
  bool disarmThread();

  /** The @p n-th of this kind, whoever makes it: workers, softirqs, other threads. */
  void armAll(Kind kind, unsigned n);
  bool disarmAll(Kind kind);

private:
  test::Fd failNth_;
};

} // namespace faults

// SPDX-License-Identifier: GPL-2.0
/** @file injector.hpp @brief The kernel's fault injection: selects which allocations may fail, and which one does. */
#pragma once

#include <cstdint>
#include <string>

#include "../common/fd.hpp"

namespace faults {

/** Kernel code: addresses from start up to end. */
struct Text {
  std::uint64_t start = 0, end = 0;

  /** The range that covers the loaded modules mpa and iwmpa. */
  static Text ofModules();
  /** The range of one of the kernel's own functions. */
  static Text ofFunction(const std::string& name);
};

/** The kind of call that fails. */
enum class Kind { Slab, Pages, UserCopy };

/**
 * Injects faults into allocations whose stack has a function of a Text, except those of the kernel's own leak detector.
 * Injects only between arm and disarm.
 */
class Injector {
public:
  Injector();
  ~Injector();
  Injector(const Injector&) = delete;
  Injector& operator=(const Injector&) = delete;

  void restrictTo(const Text& text);

  /** Fails the calling thread's @p n-th allocation (1 is the first) of any kind. @param more fail the ones right after it, too */
  void armThread(unsigned n, bool more);
  /** Returns true when the fault was injected. */
  bool disarmThread();

  /** Fails the @p n-th allocation of this kind in any context: workers, softirqs, other threads. */
  void armAll(Kind kind, unsigned n);
  bool disarmAll(Kind kind);

private:
  test::Fd failNth_;
};

} // namespace faults

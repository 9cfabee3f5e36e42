// SPDX-License-Identifier: GPL-2.0
/**
 * @file guest.hpp
 * @brief Shared by the targets that fuzz the kernel: passes the modules' coverage of an input to libFuzzer, and keeps an input that
 * makes the kernel complain.
 */
#pragma once

#include <cstdint>
#include <fuzzer/FuzzedDataProvider.h>

#include "../../peer/rdmap.hpp"

namespace fuzz {

using Input = FuzzedDataProvider;

/** The device that all targets use, and its address: this process is both ends. */
inline constexpr const char *device = "rd0", *address = "10.8.0.1", *port = "7472";

/**
 * Runs one input; each target has its own. libFuzzer gets the modules' code coverage of this thread (KCOV). In it system calls may
 * fail, and a connection may end. A complaint by the kernel, or an expected event that does not arrive, ends the process, so that
 * the input is kept.
 */
void play(Input& in);

/** Ends the process, so that the input is kept. */
[[noreturn]] void fault(const std::string& why);

/** Returns one of a few interesting values, or any value. */
template <class T> T anyOf(Input& in, std::initializer_list<T> interesting) {
  const auto at = in.ConsumeIntegralInRange<std::size_t>(0, interesting.size());

  return at < interesting.size() ? interesting.begin()[at] : in.ConsumeIntegral<T>();
}

/** Octets of which the input gives only the first few: their number matters more than their content. */
peer::Bytes payload(Input& in, std::size_t most);

} // namespace fuzz

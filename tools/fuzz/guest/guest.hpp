// SPDX-License-Identifier: GPL-2.0
/**
 * @file guest.hpp
 * @brief What the targets share that fuzz the kernel: libFuzzer is shown which code of the modules an input ran, and keeps an input
 * that the kernel complains of.
 */
#pragma once

#include <cstdint>
#include <fuzzer/FuzzedDataProvider.h>

#include "../../peer/rdmap.hpp"

namespace fuzz {

using Input = FuzzedDataProvider;

/** Where the device is that all targets use: this process is both ends. */
inline constexpr const char *device = "rd0", *address = "10.8.0.1", *port = "7472";

/**
 * What a target does with an input; each has its own. libFuzzer is told which code of the modules this thread ran in it (KCOV). System
 * calls may fail in it, and a connection may end; that nothing comes which has to come, or that the kernel complains, ends the
 * process, so that the input is kept.
 */
void play(Input& in);

/** Ends the process, so that the input is kept. */
[[noreturn]] void fault(const std::string& why);

/** One of a few values that are worth trying, or any. */
template <class T> T anyOf(Input& in, std::initializer_list<T> interesting) {
  const auto at = in.ConsumeIntegralInRange<std::size_t>(0, interesting.size());

  return at < interesting.size() ? interesting.begin()[at] : in.ConsumeIntegral<T>();
}

/** Octets, of which the input has the first few: how many there are matters more than what they are. */
peer::Bytes payload(Input& in, std::size_t most);

} // namespace fuzz

// SPDX-License-Identifier: GPL-2.0
#include "guest.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "../../faults/kernel_log.hpp"

/* libFuzzer counts a change in one of these as new coverage. */
__attribute__((section("__libfuzzer_extra_counters"))) static std::array<std::uint8_t, 1 << 15> counters;

namespace fuzz {

namespace {

/** The kernel's coverage record of this thread. */
class Coverage {
public:
  Coverage() : fd_(::open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC)) {
    if (!fd_ || ioctl(fd_.get(), KCOV_INIT_TRACE, words))
      test::throwErrno("kcov");
    void* const area = mmap(nullptr, words * sizeof(*area_), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    if (area == MAP_FAILED || ioctl(fd_.get(), KCOV_ENABLE, KCOV_TRACE_PC))
      test::throwErrno("kcov");
    area_ = static_cast<std::uint64_t*>(area);
  }

  void begin() { __atomic_store_n(area_, 0, __ATOMIC_RELAXED); }
  /** Folds the edges into libFuzzer's counters; a pair of consecutive addresses stands for an edge. */
  void end() {
    const auto n = __atomic_load_n(area_, __ATOMIC_RELAXED);

    for (std::uint64_t i = 1, last = 0; i <= n; last = area_[i++])
      counters[((area_[i] >> 1) ^ (last >> 3)) % counters.size()]++;
  }

private:
  static constexpr unsigned long words = 1 << 18;
  test::Fd fd_;
  std::uint64_t* area_ = nullptr;
};

/** Plays the input, then evaluates its coverage and the kernel's log. */
void observe(Input in) {
  static Coverage coverage;
  static faults::KernelLog log("");

  coverage.begin();
  try {
    play(in);
  } catch (const test::Failure& e) {
    fault(e.what());
  } catch (const std::exception&) { /* system calls may fail */
  }
  coverage.end();
  log.take();
  if (const auto lines = log.complaints(); !lines.empty())
    fault("the kernel says: " + lines.front());
}

} // namespace

void fault(const std::string& why) {
  std::fprintf(stderr, "==FAULT== %s\n", why.c_str());
  std::abort();
}

peer::Bytes payload(Input& in, std::size_t most) {
  peer::Bytes octets = in.ConsumeBytes<std::uint8_t>(in.ConsumeIntegralInRange<std::size_t>(0, 48));

  octets.resize(anyOf<std::uint16_t>(in, {0, 1, 4, 28, 64, 1400, 4096}) % (most + 1));
  return octets;
}

} // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::observe({data, size});
  return 0;
}

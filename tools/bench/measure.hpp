// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * Shared by both guest programs: repeats, the measured region, the result line, memory and its pattern.
 */
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>

#include "../common/fd.hpp"
#include "../common/options.hpp"
#include "../common/testcase.hpp"

namespace bench {

/**
 * One measured region.
 *
 * Each end reads the time stamp counter, and executes a long NOP whose displacement insn_count.cpp
 * looks for. Under QEMU's -icount the counter advances by one for every instruction, and by the length
 * of every idle period. The NOP has no effect elsewhere. The wall clock is read outside of both ends.
 */
class Region {
public:
  Region() : start_(__rdtsc()) { asm volatile(".byte 0x0f, 0x1f, 0x80, 0x78, 0x56, 0x34, 0x12" ::: "memory"); }

  /** Ends the region. @return the counter's advance since its begin. */
  std::uint64_t stop() const {
    markEnd();
    return __rdtsc() - start_;
  }

  /** @return the time since the region's begin. */
  std::chrono::nanoseconds elapsed() const { return std::chrono::steady_clock::now() - began_; }

  /** Marks the end of a region that another process has begun. */
  static void markEnd() { asm volatile(".byte 0x0f, 0x1f, 0x80, 0x79, 0x56, 0x34, 0x12" ::: "memory"); }

private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::uint64_t start_;
};

/** Prints one repeat's result in the form that results.cpp reads; scripts/bench/native reads the time, if present. */
inline void printResult(std::uint64_t tsc, long operations, std::uint64_t octets, std::chrono::nanoseconds time = {}) {
  std::cout << "result tsc=" << tsc << " ops=" << operations << " octets=" << octets << " ns=" << time.count() << std::endl;
}

/** Prints the executable mappings of this process, for the profile of its user-space part. */
inline void printMaps() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(" r-xp ") != std::string::npos)
      std::cout << "map " << line << '\n';
  std::cout.flush();
}

/** Page-aligned memory that is present from the start, so that no page fault is measured. */
class Buffer {
public:
  explicit Buffer(std::size_t size) : memory_(map(size), Unmap{size}), size_(size) {}

  unsigned char* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }

  /** Fills the buffer with a pattern that depends on the position and on @p seed. */
  void fill(unsigned seed) const {
    for (std::size_t i = 0; i < size_; ++i)
      data()[i] = pattern(i, seed);
  }

  void clear() const { std::memset(data(), 0, size_); }

  /** @throws std::runtime_error unless the buffer holds the pattern of fill(@p seed). */
  void verify(unsigned seed) const {
    for (std::size_t i = 0; i < size_; ++i)
      if (data()[i] != pattern(i, seed))
        throw std::runtime_error("the data is wrong at octet " + std::to_string(i));
  }

private:
  static unsigned char pattern(std::size_t i, unsigned seed) {
    return static_cast<unsigned char>((i * 131 + (i >> 8) * 7 + seed) | 1);
  }

  static unsigned char* map(std::size_t size) {
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
      test::throwErrno("mmap of " + std::to_string(size) + " octets");
    return static_cast<unsigned char*>(memory);
  }

  struct Unmap {
    std::size_t size;
    void operator()(unsigned char* memory) const { munmap(memory, size); }
  };
  std::unique_ptr<unsigned char, Unmap> memory_;
  std::size_t size_;
};

/** The options that both programs share; each adds its own. */
struct Repeats {
  long count = 200;
  long warmup = 32;
  long repeats = 3;
  bool maps = false;

  /** Validates the combination of options. */
  void settle() {}
};

/**
 * Runs the operations, prints their cost, and checks that all data arrived and is new.
 * @param connection has run(), fill() for the octets that it sends, and verify() for those that arrived
 */
template <class Options, class Connection> void measure(const Options& o, Connection& connection, unsigned seed) {
  connection.fill(seed);
  const Region region;
  connection.run(o.count);
  const std::uint64_t tsc = region.stop();
  const std::chrono::nanoseconds time = region.elapsed();
  const long messages = o.roundTrips() ? 2 * o.count : o.count;
  printResult(tsc, o.count, static_cast<std::uint64_t>(messages) * o.size, time);
  connection.verify(seed);
}

/**
 * The body of main(): reads the options, and measures.
 * @tparam Options a Repeats with own(), the program's own options as a table, size, the octets of a message, and roundTrips()
 * @tparam Connection made anew from Options for each repeat: TCP may cut the stream of each connection in other places
 * @param about one line of help
 */
template <class Options, class Connection>
int measureRepeats(const std::string& program, const char* about, int argc, char** argv) {
  return test::guarded(program.c_str(), [&] {
    Options o;
    std::vector<test::Option> list = o.own();
    list.push_back({"count", "N", "messages, or round trips, per repeat (default 200)", test::number(o.count, 1), 'n'});
    list.push_back({"warmup", "N", "messages before each repeat is measured (default 32)", test::number(o.warmup), 'w'});
    list.push_back({"repeats", "N", "repeats, each on a connection of its own (default 3)", test::number(o.repeats, 1), 'r'});
    list.push_back({"maps", nullptr, "print this program's mappings, for a profile", test::flag(o.maps), 'm'});
    const std::string before = "usage: " + program + " [options]\n" + about + '\n';
    test::Options options(before.c_str(), list,
                          "Prints one line `result tsc=… ops=… octets=…` per repeat. The data is compared after each.\n");
    std::vector<std::string> operands;
    if (const auto status = options.parse(argc, argv, operands))
      return *status;
    if (!operands.empty())
      throw std::invalid_argument("unexpected argument '" + operands.front() + "': see " + program + " --help");
    o.settle();

    for (long i = 0; i < o.repeats; ++i) {
      Connection connection(o);
      connection.run(o.warmup);
      measure(o, connection, static_cast<unsigned>(i));
    }
    if (o.maps)
      printMaps();
    return 0;
  });
}

} // namespace bench

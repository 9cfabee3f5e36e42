// SPDX-License-Identifier: GPL-2.0
/**
 * @file testcase.hpp
 * @brief A small framework for tables of named test cases: failing, skipping, deadlines, selection, one line per result.
 */
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace test {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/** Thrown by a check that fails. */
class Failure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/** Thrown by a case that cannot run here; the text says what is missing. */
class Skip : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/** Fails the running case with @p what unless @p holds. */
inline void expect(bool holds, const std::string& what) {
  if (!holds)
    throw Failure(what);
}

/** printf into a std::string. */
[[gnu::format(printf, 1, 2)]] inline std::string format(const char* fmt, ...) {
  std::va_list args, again;

  va_start(args, fmt);
  va_copy(again, args);
  std::string s(static_cast<std::size_t>(std::max(std::vsnprintf(nullptr, 0, fmt, again), 0)), '\0');
  va_end(again);
  std::vsnprintf(s.data(), s.size() + 1, fmt, args); /* the terminator overwrites the string's own */
  va_end(args);
  return s;
}

/** Compares two integers and names both when they differ. */
template <class A, class B> void expectEqual(A got, B want, const std::string& what) {
  if (static_cast<std::uint64_t>(got) != static_cast<std::uint64_t>(want))
    throw Failure(format("%s: got %llu (0x%llx), want %llu (0x%llx)", what.c_str(), static_cast<unsigned long long>(got),
                         static_cast<unsigned long long>(got), static_cast<unsigned long long>(want),
                         static_cast<unsigned long long>(want)));
}

/** Factor for all timeouts. The scripts set PATIENCE according to the kernel and to leave room for a busy machine. */
inline int patience() {
  static const char* const text = std::getenv("PATIENCE");
  static const int times = text ? std::atoi(text) : 1;

  return times > 0 ? times : 1;
}

/** A point in time at which a wait ends; every wait in these programs has one. */
class Deadline {
public:
  explicit Deadline(milliseconds budget) : Deadline(Clock::now() + budget * patience()) {}

  /** For a wait whose length is given, or for an event that must not happen: PATIENCE does not stretch it. */
  static Deadline exactly(milliseconds time) { return Deadline(Clock::now() + time); }

  /** Milliseconds left for poll(2), rounded up; 0 when it has passed. */
  int left() const {
    const auto ms = std::chrono::ceil<milliseconds>(end_ - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(ms, 0, std::numeric_limits<int>::max()));
  }

  bool passed() const { return left() == 0; }

private:
  explicit Deadline(Clock::time_point end) : end_(end) {}

  Clock::time_point end_;
};

/** 64-bit FNV-1a: two processes compare memory by exchanging one number. */
inline std::uint64_t checksum(std::span<const std::uint8_t> data) {
  std::uint64_t h = 0xcbf29ce484222325ULL;

  for (const auto octet : data)
    h = (h ^ octet) * 0x100000001b3ULL;
  return h;
}

/** Octet @p i of the test pattern @p seed: neighbouring octets, pages and patterns all differ. */
inline std::uint8_t pattern(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15ULL + i * 0xbf58476d1ce4e5b9ULL;

  x ^= x >> 29;
  x *= 0x94d049bb133111ebULL;
  return static_cast<std::uint8_t>(x >> 56);
}

/** Writes pattern @p seed over @p memory. */
inline void fill(std::span<std::uint8_t> memory, std::uint64_t seed) {
  for (std::size_t i = 0; i < memory.size(); i++)
    memory[i] = pattern(seed, i);
}

/** One row of a case table; each case receives a @p Context from the program. */
template <class Context> struct Case {
  const char* name;  /**< its name on the command line */
  const char* shows; /**< requirement IDs, or "" */
  const char* what;  /**< one line for `list` */
  void (*run)(Context&);
};

/** The rows of all @p tables. */
template <class Row> std::vector<Row> joined(std::initializer_list<std::span<const Row>> tables) {
  std::vector<Row> all;

  for (const auto table : tables)
    all.insert(all.end(), table.begin(), table.end());
  return all;
}

/** The result of one case. */
struct Result {
  std::string name;
  std::string shows;   /**< requirement IDs */
  std::string verdict; /**< ok, FAIL or skip */
  std::string text;    /**< why it failed or was skipped */
  milliseconds took;
};

/** Runs @p body and returns its result. */
inline Result outcome(const std::string& name, const std::string& shows, const std::function<void()>& body) {
  const auto start = Clock::now();
  Result result{name, shows, "ok", {}, {}};

  try {
    body();
  } catch (const Skip& e) {
    result.verdict = "skip";
    result.text = e.what();
  } catch (const std::exception& e) {
    result.verdict = "FAIL";
    result.text = e.what();
  }
  result.took = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
  return result;
}

/** A case's result in TAP: a line with the IDs in brackets, and a second one that says why it failed. */
inline std::string tap(const Result& r) {
  const std::string line = (r.verdict == "FAIL" ? "not ok - " : "ok - ") + r.name + (r.shows.empty() ? "" : " [" + r.shows + "]");
  std::string text = r.text;

  std::ranges::replace(text, '\n', ' ');
  if (r.verdict == "skip")
    return line + " # SKIP " + text;
  return line + format(" # %lld ms", static_cast<long long>(r.took.count())) + (text.empty() ? "" : "\n# " + text);
}

/** Writes what was printed. Throws std::runtime_error if that fails. */
inline void flush() {
  if (std::fflush(stdout) || std::ferror(stdout))
    throw std::runtime_error("cannot write");
}

/** Prints a case's result, and flushes it: it remains if the next case crashes. */
inline void print(const Result& r) {
  std::puts(tap(r).c_str());
  flush();
}

/** Counts and prints results. */
class Report {
public:
  /** Runs @p body and records its result under @p name; returns false when it failed. */
  bool run(const std::string& name, const std::string& shows, const std::function<void()>& body) {
    const Result result = outcome(name, shows, body);

    (result.verdict == "ok" ? passed_ : result.verdict == "skip" ? skipped_ : failed_)++;
    print(result);
    return result.verdict != "FAIL";
  }

  /** Prints the plan and the totals; returns 0 when no case failed and one passed, 77 when all were skipped. */
  int finish() const {
    std::printf("1..%u\n# %u passed, %u failed, %u skipped\n", passed_ + failed_ + skipped_, passed_, failed_, skipped_);
    if (failed_)
      return 1;
    return passed_ ? 0 : 77;
  }

private:
  unsigned passed_ = 0, failed_ = 0, skipped_ = 0;
};

/** True when @p name is selected: no patterns select all, `pre*` selects every name that starts with pre. */
inline bool selected(std::string_view name, std::span<const std::string> patterns) {
  for (std::string_view p : patterns) {
    const bool prefix = !p.empty() && p.back() == '*';

    if (prefix ? name.starts_with(p.substr(0, p.size() - 1)) : name == p)
      return true;
  }
  return patterns.empty();
}

/** Prints a table of cases, one line each. */
template <class Cases> int list(const Cases& cases) {
  for (const auto& c : cases)
    std::printf("%-28s %s%s%s\n", c.name, c.what, *c.shows ? "  " : "", c.shows);
  return 0;
}

/** Runs the cases that @p patterns select and returns the exit status. */
template <class Cases, class Context> int run(const Cases& cases, std::span<const std::string> patterns, Context& context) {
  Report report;
  unsigned matched = 0;

  for (const auto& c : cases) {
    if (!selected(c.name, patterns))
      continue;
    matched++;
    report.run(c.name, c.shows, [&] { c.run(context); });
  }
  if (!matched)
    throw std::invalid_argument("no case matches; see the list");
  return report.finish();
}

/** The commands `list` and `run [CASE...]`. */
template <class Cases, class Context> int command(const Cases& cases, std::vector<std::string> words, Context& context) {
  const std::string name = words.empty() ? "" : words.front();

  if (name == "list")
    return list(cases);
  if (name != "run")
    throw std::invalid_argument("list or run; --help says more");
  words.erase(words.begin());
  return run(cases, words, context);
}

/** Runs the body of main(); returns 64 for wrong usage and 1 for any other failure, and prints a line with the reason. */
inline int guarded(const char* program, const std::function<int()>& body) {
  try {
    const int status = body();

    flush();
    return status;
  } catch (const std::invalid_argument& e) {
    std::fprintf(stderr, "%s: %s\n", program, e.what());
    return 64;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", program, e.what());
    return 1;
  }
}

} // namespace test

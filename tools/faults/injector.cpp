// SPDX-License-Identifier: GPL-2.0
#include "injector.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <vector>

#include "../common/testcase.hpp"

namespace faults {

using test::Failure;
using test::format;
using test::throwErrno;

/* --- whose allocations --- */

Text Text::ofModules() {
  std::ifstream list("/proc/modules");
  Text text{UINT64_MAX, 0};

  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::string name, users, state;
    std::uint64_t size, uses, at;

    words >> name >> size >> uses >> users >> state >> std::hex >> at;
    if (name == "mpa" || name == "iwmpa")
      text = {std::min(text.start, at), std::max(text.end, at + size)};
  }
  if (!text.end)
    throw Failure("mpa.ko is not loaded");
  return text;
}

Text Text::ofFunction(const std::string& name) {
  std::ifstream list("/proc/kallsyms");
  std::vector<std::uint64_t> all;
  Text text;

  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::uint64_t at;
    std::string type, symbol;

    words >> std::hex >> at >> type >> symbol;
    all.push_back(at);
    if (symbol == name)
      text.start = at;
  }
  if (!text.start)
    throw Failure("the kernel has no function " + name);
  std::ranges::sort(all);
  text.end = *std::ranges::upper_bound(all, text.start);
  return text;
}

/* --- debugfs --- */

static const char* folder(Kind kind) {
  static const std::array names{"failslab", "fail_page_alloc", "fail_usercopy"};

  return names[static_cast<std::size_t>(kind)];
}

static constexpr std::array kinds{Kind::Slab, Kind::Pages, Kind::UserCopy};

static std::string file(Kind kind, const char* name) {
  return std::string("/sys/kernel/debug/") + folder(kind) + "/" + name;
}

static void put(const std::string& path, const std::string& value) {
  const test::Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));

  if (!fd || ::write(fd.get(), value.data(), value.size()) != static_cast<ssize_t>(value.size()))
    throwErrno(path + ": '" + value + "'");
}

static void set(Kind kind, const char* name, std::uint64_t value) {
  put(file(kind, name), format("%" PRIu64, value));
}

static int times(Kind kind) {
  std::ifstream in(file(kind, "times"));
  int n;

  if (!(in >> n))
    throw Failure("cannot read " + file(kind, "times"));
  return n;
}

static void setAll(const char* name, std::uint64_t value) {
  for (const auto kind : kinds)
    set(kind, name, value);
}

Injector::Injector() {
  const Text detector = Text::ofFunction("__create_object"); /* kmemleak's: each failure there uses up an entry of its reserve */

  setAll("probability", 0);
  setAll("times", 0);
  setAll("interval", 1);
  setAll("verbose", 2);
  setAll("stacktrace-depth", 32);
  setAll("reject-start", detector.start);
  setAll("reject-end", detector.end);
  for (const auto kind : {Kind::Slab, Kind::Pages})
    put(file(kind, "ignore-gfp-wait"), "N");
  put(file(Kind::Pages, "ignore-gfp-highmem"), "N");
  set(Kind::Pages, "min-order", 0);
  failNth_ = test::Fd(::open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC));
  if (!failNth_)
    throwErrno("/proc/thread-self/fail-nth");
}

Injector::~Injector() {
  try {
    setAll("probability", 0);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
}

void Injector::restrictTo(const Text& text) {
  setAll("require-start", text.start);
  setAll("require-end", text.end);
}

/* --- one fault --- */

static void write(const test::Fd& fd, unsigned n) {
  const std::string text = std::to_string(n);

  if (::pwrite(fd.get(), text.data(), text.size(), 0) < 0)
    throwErrno("fail-nth");
}

/* When fail-nth's count has expired, debugfs's settings apply; task-filter restricts them to this thread. */
void Injector::armThread(unsigned n, bool more) {
  setAll("times", more ? 2 : 0);
  if (more) {
    put("/proc/thread-self/make-it-fail", "1");
    for (const auto kind : kinds)
      put(file(kind, "task-filter"), "Y");
    setAll("probability", 100);
  }
  write(failNth_, n);
}

bool Injector::disarmThread() {
  char left[16] = {};

  if (::pread(failNth_.get(), left, sizeof(left) - 1, 0) < 0)
    throwErrno("fail-nth");
  write(failNth_, 0);
  setAll("probability", 0);
  put("/proc/thread-self/make-it-fail", "0"); /* new threads inherit it */
  for (const auto kind : kinds)
    put(file(kind, "task-filter"), "N");
  return std::atoi(left) == 0;
}

void Injector::armAll(Kind kind, unsigned n) {
  set(kind, "interval", n);
  set(kind, "count", 0);
  set(kind, "times", 1);
  set(kind, "probability", 100);
}

bool Injector::disarmAll(Kind kind) {
  set(kind, "probability", 0);
  set(kind, "interval", 1);
  return times(kind) == 0;
}

} // namespace faults

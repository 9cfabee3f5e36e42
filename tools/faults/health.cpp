// SPDX-License-Identifier: GPL-2.0
#include "health.hpp"

#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "../common/testcase.hpp"

namespace faults {

using test::Deadline;
using test::Failure;
using test::milliseconds;

/* --- counts --- */

/* Words in pairs: a name, a number. */
static void pairs(std::vector<std::pair<std::string, long>>& to, const std::string& prefix, std::istream& words) {
  std::string name;

  for (long count; words >> name >> count;)
    to.emplace_back(prefix + name, count);
}

/* "0: rd0: pd 1 cq 2 ..." */
static void rdmaResources(std::vector<std::pair<std::string, long>>& to) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(popen("rdma resource show", "r"), pclose);
  char line[512];

  if (!out)
    throw Failure("rdma resource show");
  while (std::fgets(line, sizeof(line), out.get())) {
    std::istringstream words(line);
    std::string number, device;

    words >> number >> device;
    pairs(to, device + " ", words);
  }
}

/* "TCP: inuse 1 orphan 0 tw 3 ...": the first two pairs count sockets. */
static void sockets(std::vector<std::pair<std::string, long>>& to) {
  std::ifstream in("/proc/net/sockstat");

  for (std::string line; std::getline(in, line);)
    if (line.starts_with("TCP: ")) {
      std::istringstream words(line.substr(5, line.find(" tw ") - 5));

      pairs(to, "TCP ", words);
    }
}

static long firstNumber(const std::string& file, const std::string& key = {}) {
  std::ifstream in(file);

  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key))
      return std::atol(line.c_str() + key.size());
  return 0;
}

Resources::Resources() {
  rdmaResources(counts_);
  sockets(counts_);
  counts_.emplace_back("pinned KiB", firstNumber("/proc/self/status", "VmPin:"));
}

/* Devices come and go: a missing count is 0. */
std::string Resources::more(const Resources& now) const {
  std::string text;

  for (const auto& [name, count] : now.counts_) {
    long before = 0;

    for (const auto& [other, n] : counts_)
      if (other == name)
        before = n;
    if (count > before)
      text += test::format("%s%s %ld (%ld)", text.empty() ? "" : ", ", name.c_str(), count, before);
  }
  return text;
}

std::string Resources::waitUntilBack() const {
  const Deadline deadline(milliseconds(20000));

  for (;;) {
    const auto text = more(Resources());

    if (text.empty() || deadline.passed())
      return text;
    std::this_thread::sleep_for(milliseconds(20));
  }
}

/* --- kmemleak --- */

static void scan() {
  std::ofstream out("/sys/kernel/debug/kmemleak");

  if (!(out << "scan" << std::flush))
    throw Failure("kmemleak does not scan: it is off, or has switched itself off");
}

std::vector<std::string> leaks() {
  std::vector<std::string> list;

  std::this_thread::sleep_for(milliseconds(5100)); /* kmemleak does not report younger memory */
  scan();
  scan(); /* again, for memory that moved during the first scan */
  std::ifstream in("/sys/kernel/debug/kmemleak");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("unreferenced object"))
      list.emplace_back();
    if (const auto frame = line.find(">] "); !list.empty() && frame != std::string::npos)
      list.back() += " " + line.substr(frame + 3, line.find('/', frame) - frame - 3);
  }
  if (!list.empty())
    std::ofstream("/sys/kernel/debug/kmemleak") << "clear" << std::flush;
  return list;
}

} // namespace faults

// SPDX-License-Identifier: GPL-2.0
#include "kernel_log.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <regex>

namespace faults {

using test::throwErrno;

std::string Site::place() const {
  for (const auto& frame : stack)
    if (frame.ends_with("[mpa]") || frame.ends_with("[iwmpa]"))
      return frame;
  return stack.empty() ? "silent" : stack.back();
}

bool Site::has(const std::string& function) const {
  if (stack.empty() && text.empty())
    return function == "-";
  return text.find(" " + function + "+") != std::string::npos ||
         std::ranges::any_of(stack, [&](const auto& frame) { return frame.starts_with(function + "+"); });
}

KernelLog::KernelLog(const std::string& rest)
    : kmsg_(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)), rest_(rest.empty() ? nullptr : std::fopen(rest.c_str(), "w")) {
  if (!kmsg_)
    throwErrno("/dev/kmsg");
  if (!rest.empty() && !rest_)
    throwErrno(rest);
}

KernelLog::~KernelLog() {
  settle(false);
  if (rest_)
    std::fclose(rest_);
}

/* One record: "level,number,time,flags;text", and lines of a dictionary. */
std::optional<std::string> KernelLog::line() {
  std::array<char, 8192> record;

  for (;;) {
    const auto n = ::read(kmsg_.get(), record.data(), record.size());

    if (n < 0 && errno == EPIPE) /* the log has overwritten records that this program has not read, perhaps of a fault */
      throw test::Failure("the kernel's log ran over");
    if (n < 0 && errno == EAGAIN)
      return {};
    if (n < 0)
      throwErrno("/dev/kmsg");
    const std::string all(record.data(), static_cast<std::size_t>(n));
    const auto text = all.find(';');
    if (text != std::string::npos)
      return all.substr(text + 1, all.find('\n', text) - text - 1);
  }
}

void KernelLog::keep(const std::string& line) {
  /* A subset of scripts/vm/check-log's patterns; these are reported at once, next to the fault that caused them. */
  static const std::regex bad("\\bBUG\\b|WARNING:|KASAN: [a-z]|Oops|ODEBUG|UBSAN|INFO: possible|refcount_t");

  if (line.starts_with("kmemleak: ") && line.find("new suspected memory leaks") != std::string::npos)
    return; /* leaks() judges each by its stack */
  if (line.starts_with("memory allocation failure, unreliable refcount tracker"))
    return; /* the tracker only reports the injected failure */
  unsettled_.push_back(line);
  if (std::regex_search(line, bad))
    complaints_.push_back(line);
}

void KernelLog::sort(const std::string& line) {
  static const std::regex frame("^ \\[<[0-9a-f]+>\\] (\\? )?(\\S+)/0x[0-9a-f]+( \\[\\w+\\])?");
  std::smatch m;

  if (stack_ && std::regex_search(line, m, frame)) {
    if (!again_ && !m[1].matched)
      sites_.back().stack.push_back(m[2].str() + m[3].str());
    return;
  }
  stack_ = false;
  if (line.starts_with("FAULT_INJECTION: ")) {
    sites_.push_back({.stack = {}});
    injected_ = true;
    again_ = false;
  } else if (line.find(": vmalloc error: ") != std::string::npos ||
             (line.starts_with("kmem_cache_create") && line.find(" failed with error -") != std::string::npos)) {
    /* These print a stack, too. */
    injected_ = again_ = true;
  } else if (injected_) {
    stack_ = line.find("Call Trace:") != std::string::npos;
    injected_ = !stack_;
  } else {
    keep(line);
  }
}

std::vector<Site> KernelLog::take() {
  while (const auto l = line())
    sort(*l);
  return std::exchange(sites_, {});
}

std::vector<std::string> KernelLog::complaints() {
  return std::exchange(complaints_, {});
}

void KernelLog::settle(bool known) {
  for (const auto& line : std::exchange(unsettled_, {}))
    if (rest_ && !known)
      std::fprintf(rest_, "%s\n", line.c_str());
  if (rest_)
    std::fflush(rest_);
}

} // namespace faults

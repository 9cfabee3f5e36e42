// SPDX-License-Identifier: GPL-2.0
/** @file main.cpp @brief iwmpa-top: shows the activity of iwmpa's devices and connections. */
#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>

#include <unistd.h>

#include "../common/options.hpp"
#include "../common/testcase.hpp"
#include "output.hpp"
#include "screen.hpp"
#include "sources.hpp"

namespace {

using namespace top;
using std::chrono::steady_clock;

struct Arguments {
  bool json = false, csv = false, prometheus = false;
  double interval = 2;
  unsigned count = 0;
};

/** Returns the exit status when no snapshot is to be shown. */
std::optional<int> parse(int argc, char** argv, Arguments& a) {
  std::vector<std::string> operands;
  test::Options options("usage: iwmpa-top [OPTION]...\n\nShows the activity of iwmpa's devices and their connections.\n\n",
                        {{"json", nullptr, "one JSON object per snapshot and line", test::flag(a.json), 'j'},
                         {"csv", nullptr, "a line for each counter and each property of a connection", test::flag(a.csv), 'c'},
                         {"prometheus", nullptr, "counters in Prometheus' text format", test::flag(a.prometheus), 'p'},
                         {"interval", "SECONDS", "time between two snapshots (2)", test::number(a.interval, 0, 86400), 'i'},
                         {"count", "N", "end after N snapshots (1; on a terminal: until q)", test::number(a.count, 1), 'n'}},
                        "\nRates, and the share of time in which a connection was blocked, appear from the second snapshot on.\n"
                        "Keys: q quits, arrow and page keys scroll. iwmpa-top(8) explains the columns.\n"
                        "Exit status: 0, 1 when a snapshot failed, 64 usage.\n");

  if (const auto status = options.parse(argc, argv, operands))
    return status;
  if (!operands.empty())
    throw std::invalid_argument("'" + operands.front() + "' is not an option; see --help");
  if (a.json + a.csv + a.prometheus > 1)
    throw std::invalid_argument("--json, --csv or --prometheus: only one of them");
  if (a.interval < 0.1)
    throw std::invalid_argument("--interval wants 0.1 seconds or more");
  return {};
}

void print(const std::vector<std::string>& rows) {
  for (const auto& row : rows)
    std::puts(row.c_str());
}

class Program {
public:
  explicit Program(const Arguments& a)
      : arguments_(a), interactive_(!a.json && !a.csv && !a.prometheus && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {}

  int run() {
    const unsigned count = arguments_.count || interactive_ ? arguments_.count : 1;

    if (arguments_.csv)
      std::puts(csvHeader);
    for (unsigned n = 1;; n++) {
      /* A slow snapshot does not shift the later ones. Missed snapshots are not made up for: the program may have been stopped. */
      next_ += std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(arguments_.interval));
      next_ = std::max(next_, steady_clock::now());
      Sample now = takeSample();
      const bool last = n == count;

      if (!show(Change(before_ ? &*before_ : nullptr, now), last) || last)
        return 0;
      before_ = std::move(now);
    }
  }

private:
  /** Shows the change, and waits for the next snapshot unless it is the @p last; false when the user quits. */
  bool show(const Change& change, bool last) {
    if (interactive_) {
      if (!screen_)
        screen_ = std::make_unique<Screen>();
      return screen_->show(test::format("iwmpa-top: %zu devices, %zu queue pairs, every %g s   q: leave",
                                        change.now().devices.size(), change.now().connections.size(), arguments_.interval),
                           lines(change), next_);
    }
    if (arguments_.json)
      std::puts(json(change).dump().c_str());
    else
      print(arguments_.csv ? csv(change) : arguments_.prometheus ? prometheus(change.now()) : lines(change));
    test::flush();
    if (!last)
      std::this_thread::sleep_until(next_);
    return true;
  }

  const Arguments& arguments_;
  const bool interactive_;
  steady_clock::time_point next_ = steady_clock::now();
  std::optional<Sample> before_;
  std::unique_ptr<Screen> screen_; /* made after the first snapshot has succeeded, so that error messages stay readable */
};

} // namespace

int main(int argc, char** argv) {
  return test::guarded("iwmpa-top", [&] {
    Arguments arguments;
    const auto status = parse(argc, argv, arguments);

    return status ? *status : Program(arguments).run();
  });
}

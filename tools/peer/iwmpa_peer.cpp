// SPDX-License-Identifier: GPL-2.0
/**
 * @file iwmpa_peer.cpp
 * @brief iwmpa-peer: tests an iWARP device over the network, and reports by requirement. On the device it needs only a listener
 * that accepts.
 */
#include <csignal>
#include <fstream>

#include "../common/junit.hpp"
#include "../common/options.hpp"
#include "cases.hpp"
#include "verdicts.hpp"

namespace {

using namespace peer;

struct Arguments {
  Config config;
  std::string target, junit;
  bool list = false, tap = false;
  std::vector<std::string> patterns;
};

/** ADDRESS:PORT or [ADDRESS]:PORT. */
void splitTarget(Arguments& a) {
  const auto colon = a.target.rfind(':');

  if (colon == a.target.npos || colon == 0 || colon + 1 == a.target.size())
    throw std::invalid_argument("--target wants ADDRESS:PORT of a listener on the device");
  a.config.address = a.target.substr(0, colon);
  a.config.port = a.target.substr(colon + 1);
  std::erase_if(a.config.address, [](char c) { return c == '[' || c == ']'; });
}

/** Returns the exit status when no case is to be run. */
std::optional<int> parse(int argc, char** argv, Arguments& a) {
  auto& config = a.config;
  const auto bound = [&](const std::string& value) {
    unsigned seconds;

    test::number(seconds, 1, 3600)(value);
    config.startupBound = std::chrono::seconds(seconds);
  };
  test::Options options(R"(usage: iwmpa-peer --target ADDRESS:PORT [OPTION]... [CASE...]

Tests an iWARP device, and reports by requirement. A program that accepts connections must listen at the target, for instance
"rping -s -P" (port 7174). CASE is a name that --list prints, or a prefix and *; without CASE, all cases run.
It violates the protocols on purpose: do not use it on a device that others work with.

)",
                        {{"target", "ADDRESS:PORT", "listener on the device under test", test::text(a.target)},
                         {"list", nullptr, "print the cases and the requirements that they test", test::flag(a.list)},
                         {"tap", nullptr, "print the plan of TAP, and no table", test::flag(a.tap)},
                         {"junit", "FILE", "also write results as JUnit's XML", test::text(a.junit)},
                         {"markers", "0|1", "M bit to send: ask for Markers (0)", test::number(config.markers)},
                         {"crc", "0|1", "C bit to send: ask for CRCs (1)", test::number(config.crc)},
                         {"rev", "1|2", "MPA revision (2)", test::number(config.revision, 1, 2)},
                         {"startup-bound", "S", "seconds within which the device must end an unfinished startup (30)", bound},
                         {"siw", nullptr, "the device is siw: read Terminates in its bit order", test::flag(config.siw)},
                         {"trace", nullptr, "show every frame, not only those of failed cases", test::flag(config.trace)}},
                        R"(
See iwmpa-peer(8). Exit status: 0 passed, 1 failed, 77 no case could run, 64 usage.
)");

  if (const auto status = options.parse(argc, argv, a.patterns))
    return status;
  if (a.target.empty() && !a.list) {
    options.print(stderr);
    return 64;
  }
  if (!a.list)
    splitTarget(a);
  return {};
}

/** The selected cases that need no program on the device. */
std::vector<WireCase> wanted(const Arguments& a) {
  auto cases = allCases();

  std::erase_if(cases, [&](const WireCase& c) { return !c.alone || !test::selected(c.name, a.patterns); });
  if (cases.empty())
    throw std::invalid_argument("no case matches; see --list");
  return cases;
}

int list(const Arguments& a) {
  for (const auto& c : wanted(a))
    std::printf("%-28s %-20s %s\n", c.name, c.alone, c.what);
  return 0;
}

/** Fails early, with one line, without a listener. Makes a complete connection, because an aborted one ends siw's listener. */
void probe(Context& context, const std::string& target) {
  try {
    const Session session(context, Options(context.config));
  } catch (const std::exception& e) {
    throw std::runtime_error("cannot connect to " + target + ": " + e.what() + " (is a program listening there?)");
  }
  context.trace.clear();
}

int conclude(const Arguments& a, const std::vector<test::Result>& results) {
  const auto count = [&](const char* verdict) { return std::ranges::count(results, verdict, &test::Result::verdict); };

  if (!a.tap) {
    std::puts("");
    for (const auto& row : byRequirement(results))
      std::puts(row.c_str());
    std::printf("%td passed, %td failed, %td skipped\n", count("ok"), count("FAIL"), count("skip"));
  }
  if (!a.junit.empty() && !(std::ofstream(a.junit) << test::junit({{"iwmpa-peer " + a.target, results}}) << std::flush))
    throw std::runtime_error("cannot write " + a.junit);
  return count("FAIL") ? 1 : count("ok") ? 0 : 77;
}

int run(const Arguments& a) {
  const auto cases = wanted(a);
  std::vector<test::Result> results;
  Target nobody;
  Listener unused("0.0.0.0", "0");
  Trace trace(a.config.trace && !a.tap);
  Context context{a.config, Role::Initiator, nobody, unused, trace};

  probe(context, a.target);
  if (a.tap)
    std::printf("TAP version 13\n1..%zu\n", cases.size());
  for (const auto& c : cases) {
    results.push_back(test::outcome(c.name, c.alone, [&] { c.run(context); }));
    test::print(results.back());
    if (results.back().verdict == "FAIL" && !a.tap)
      trace.dump();
    trace.clear();
  }
  return conclude(a, results);
}

} // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  return test::guarded("iwmpa-peer", [&] {
    Arguments arguments;

    if (const auto status = parse(argc, argv, arguments))
      return *status;
    return arguments.list ? list(arguments) : run(arguments);
  });
}

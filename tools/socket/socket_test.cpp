// SPDX-License-Identifier: GPL-2.0
/**
 * @file socket_test.cpp
 * @brief socket-test: cases for TCP_ULP "mpa", both ends in one process, or one of them a raw TCP stream.
 */
#include <getopt.h>
#include <iostream>

#include "socket.hpp"

namespace {

const char* const help = R"(usage: socket-test list
       socket-test run [CASE...] [OPTIONS]

CASE is a name from `list`, or a prefix and *. Both ends run in this process.

  --addr A         address of this machine (127.0.0.1)
  --seed N         of everything random (1)
  --count N        how often, for cases that repeat something
  --tsv FILE       results, machine-readable
  --help

Exit status: 0 passed, 1 failed, 77 nothing could be run, 64 usage.
)";

struct Arguments {
  sockets::Context context;
  std::string tsv;
  std::vector<std::string> patterns;
};

bool setOption(Arguments& a, int option, const std::string& value) {
  switch (option) {
  case 'a':
    a.context.address = value;
    return true;
  case 's':
    a.context.seed = std::stoull(value, nullptr, 0);
    return true;
  case 'n':
    a.context.count = static_cast<unsigned>(std::stoul(value));
    return true;
  case 'f':
    a.tsv = value;
    return true;
  default:
    return false;
  }
}

/** Returns the exit status when there is nothing to run. */
std::optional<int> parse(int argc, char** argv, Arguments& a) {
  static const option options[] = {{"addr", 1, nullptr, 'a'}, {"seed", 1, nullptr, 's'}, {"count", 1, nullptr, 'n'},
                                   {"tsv", 1, nullptr, 'f'},  {"help", 0, nullptr, 'h'}, {nullptr, 0, nullptr, 0}};

  for (int o; (o = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
    if (o == 'h') {
      std::cout << help;
      return 0;
    }
    if (!setOption(a, o, optarg ? optarg : ""))
      return 64;
  }
  a.patterns.assign(argv + optind, argv + argc);
  return {};
}

std::vector<sockets::SocketCase> allCases() {
  std::vector<sockets::SocketCase> all;

  for (const auto table : {sockets::startupCases(), sockets::dataCases(), sockets::errorCases(), sockets::hostileCases()})
    all.insert(all.end(), table.begin(), table.end());
  return all;
}

int execute(Arguments& a) {
  const std::string command = a.patterns.empty() ? "" : a.patterns.front();

  if (command == "list")
    return test::list(allCases());
  if (command != "run")
    throw std::invalid_argument("list or run; --help says more");
  a.patterns.erase(a.patterns.begin());
  return test::run(allCases(), a.patterns, a.tsv, a.context);
}

} // namespace

int main(int argc, char** argv) {
  return test::guarded("socket-test", [&] {
    Arguments arguments;
    const auto status = parse(argc, argv, arguments);

    return status ? *status : execute(arguments);
  });
}

// SPDX-License-Identifier: GPL-2.0
/**
 * @file socket_test.cpp
 * @brief socket-test: cases for TCP_ULP "mpa", both ends in one process, or one of them a raw TCP stream.
 */
#include "../common/options.hpp"
#include "socket.hpp"

namespace {

struct Arguments {
  sockets::Context context;
  std::string tsv;
  std::vector<std::string> patterns;
};

/** Returns the exit status when no case is to be run. */
std::optional<int> parse(int argc, char** argv, Arguments& a) {
  return test::Options(R"(usage: socket-test list
       socket-test run [CASE...] [OPTIONS]

CASE is a name from `list`, or a prefix and *. Both ends run in this process.

)",
                       {{"addr", "A", "address of this machine (127.0.0.1)", test::text(a.context.address)},
                        {"seed", "N", "seed of all random values (1)", test::number(a.context.seed)},
                        {"count", "N", "number of repetitions, for cases that repeat", test::number(a.context.count)},
                        {"tsv", "FILE", "file for machine-readable results", test::text(a.tsv)}},
                       R"(
Exit status: 0 passed, 1 failed, 77 no case could run, 64 usage.
)")
      .parse(argc, argv, a.patterns);
}

std::vector<sockets::SocketCase> allCases() {
  return test::joined({sockets::startupCases(), sockets::dataCases(), sockets::errorCases(), sockets::hostileCases()});
}

} // namespace

int main(int argc, char** argv) {
  return test::guarded("socket-test", [&] {
    Arguments arguments;
    const auto status = parse(argc, argv, arguments);

    return status ? *status : test::command(allCases(), arguments.patterns, arguments.tsv, arguments.context);
  });
}

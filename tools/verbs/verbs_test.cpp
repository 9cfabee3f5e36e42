// SPDX-License-Identifier: GPL-2.0
/**
 * @file verbs_test.cpp
 * @brief verbs-test: cases for an RDMA device, driven through libibverbs and librdmacm, both ends in one process.
 */
#include "../common/options.hpp"
#include "verbs_cases.hpp"

namespace rdma {

void expectWc(const ibv_wc& wc, ibv_wc_status status, ibv_wc_opcode opcode, const std::string& what) {
  if (wc.status != status)
    throw test::Failure(what + ": completed with " + statusName(wc.status) + ", want " + statusName(status));
  if (status == IBV_WC_SUCCESS && wc.opcode != opcode)
    throw test::Failure(what + ": completed as " + opcodeName(wc.opcode) + ", want " + opcodeName(opcode));
}

void expectSame(std::span<const std::uint8_t> got, std::span<const std::uint8_t> want, const std::string& what) {
  test::expectEqual(got.size(), want.size(), what + ": length");
  for (std::size_t i = 0; i < got.size(); i++)
    if (got[i] != want[i])
      throw test::Failure(test::format("%s: octet %zu of %zu is %02x, want %02x", what.c_str(), i, got.size(), got[i], want[i]));
}

} // namespace rdma

namespace {

struct Arguments {
  rdma::Context context;
  std::string tsv;
  std::vector<std::string> patterns;
};

/** Returns the exit status when no case is to be run. */
std::optional<int> parse(int argc, char** argv, Arguments& a) {
  auto& place = a.context.place;

  place.port = "0";
  return test::Options(R"(usage: verbs-test list
       verbs-test run [CASE...] --addr A [OPTIONS]

CASE is a name from `list`, or a prefix and *. Both ends run in this process.

)",
                       {{"addr", "A", "address of an RDMA device: the server's", test::text(place.address)},
                        {"port", "P", "the server's port, 0: any (0)", test::text(place.port)},
                        {"server-ns", "N", "network namespace of the server", test::text(place.serverNs)},
                        {"client-ns", "N", "network namespace of the client", test::text(place.clientNs)},
                        {"seed", "N", "seed of all random values (1)", test::number(a.context.seed)},
                        {"count", "N", "number of repetitions, for cases that repeat", test::number(a.context.count)},
                        {"tsv", "FILE", "file for machine-readable results", test::text(a.tsv)}},
                       R"(
Exit status: 0 passed, 1 failed, 77 no case could run, 64 usage.
)")
      .parse(argc, argv, a.patterns);
}

std::vector<rdma::VerbsCase> allCases() {
  return test::joined({rdma::dataCases(), rdma::queueCases(), rdma::errorCases(), rdma::connectionCases(), rdma::hostileCases()});
}

int execute(Arguments& a) {
  if (!a.patterns.empty() && a.patterns.front() == "run" && a.context.place.address.empty())
    throw std::invalid_argument("run needs --addr");
  return test::command(allCases(), a.patterns, a.tsv, a.context);
}

} // namespace

int main(int argc, char** argv) {
  return test::guarded("verbs-test", [&] {
    Arguments arguments;
    const auto status = parse(argc, argv, arguments);

    return status ? *status : execute(arguments);
  });
}

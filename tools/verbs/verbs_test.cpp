// SPDX-License-Identifier: GPL-2.0
/**
 * @file verbs_test.cpp
 * @brief verbs-test: cases for an RDMA device, driven through libibverbs and librdmacm, both ends in one process.
 */
#include <fstream>
#include <thread>

#include "../common/case_program.hpp"
#include "verbs_cases.hpp"

namespace rdma {

std::uint64_t Counter::read() const {
  std::ifstream file("/sys/class/infiniband/" + std::string(ibv_get_device_name(context_->device)) + "/ports/1/hw_counters/" +
                     name_);
  std::uint64_t value = 0;

  test::expect(static_cast<bool>(file >> value), "the counter " + name_ + " cannot be read");
  return value;
}

void Counter::reach(unsigned more) const {
  const Deadline deadline(defaultBudget);

  while (read() < before_ + more) {
    test::expect(!deadline.passed(), test::format("%s has not grown by %u", name_.c_str(), more));
    std::this_thread::sleep_for(test::milliseconds(1));
  }
}

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

void postShared(ibv_srq* srq, std::uint64_t id, ibv_sge sge) {
  ibv_recv_wr wr{}, *bad;

  wr.wr_id = id;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  checkVerbs(ibv_post_srq_recv(srq, &wr, &bad), "ibv_post_srq_recv");
}

} // namespace rdma

int main(int argc, char** argv) {
  rdma::Context context;
  auto& place = context.place;

  place.port = "0";
  const test::CaseProgram<rdma::Context> program{
      .name = "verbs-test",
      .operands = "--addr A [OPTIONS]",
      .own = {{"addr", "A", "address of an RDMA device: the server's", test::text(place.address)},
              {"port", "P", "the server's port, 0: any (0)", test::text(place.port)},
              {"server-ns", "N", "network namespace of the server", test::text(place.serverNs)},
              {"client-ns", "N", "network namespace of the client", test::text(place.clientNs)}},
      .cases = test::joined({rdma::dataCases(), rdma::queueCases(), rdma::errorCases(), rdma::connectionCases(), rdma::handCases(),
                             rdma::hostileCases(), rdma::lateCases(), rdma::memoryCases()}),
      .beforeRun =
          [&] {
            if (place.address.empty())
              throw std::invalid_argument("run needs --addr");
          },
  };

  return program.main(argc, argv, context);
}

// SPDX-License-Identifier: GPL-2.0
/**
 * @file cases_memory.cpp
 * @brief The kernel's memory for a program: which cgroup is charged for it, and what happens when the cgroup is full.
 */
#include <fstream>
#include <poll.h>

#include "../common/cgroup.hpp"
#include "verbs_cases.hpp"

namespace rdma {

using test::CgroupFile;
using test::expect;
using test::expectEqual;
using test::format;

namespace {

/** A file of this process's memory cgroup. */
CgroupFile ofCgroup(const std::string& name) {
  std::ifstream self("/proc/self/cgroup");
  std::string group;

  if (!std::getline(self, group) || !group.starts_with("0::"))
    throw test::Skip("no cgroup v2 here");
  const std::string path = "/sys/fs/cgroup" + group.substr(3) + "/" + name;
  if (!std::ifstream(path))
    throw test::Skip("no memory cgroup of its own");
  return CgroupFile(path);
}

/** The kernel's memory for a user's objects is charged to that user; some may be missing: a CPU charges up to 64 pages at once. */
void accounted(Context& c) {
  const Pair pair(c.place);
  ibv_context* const device = pair.client->id->context();
  const CgroupFile charged = ofCgroup("memory.current");
  const auto expectCharged = [&charged](const char* what, std::uint64_t size, auto&& make) {
    const auto before = charged.number();
    const auto object = make();
    const auto after = charged.number();
    const auto missing = std::max<std::uint64_t>(size / 10, 64 * page);
    expect(after >= before + size - missing, format("%s of %llu octets is charged %lld", what,
                                                    static_cast<unsigned long long>(size), static_cast<long long>(after - before)));
  };
  constexpr unsigned entries = 1 << 20, shared = 65536, requests = 16384;
  const CqHandle cq(check(ibv_create_cq(device, 16, nullptr, nullptr, 0), "ibv_create_cq"));

  expectCharged("CQ", entries * 32ULL,
                [&] { return CqHandle(check(ibv_create_cq(device, entries, nullptr, nullptr, 0), "ibv_create_cq")); });
  expectCharged("SRQ", shared * 112ULL, [&] {
    ibv_srq_init_attr attr{};
    attr.attr = {.max_wr = shared, .max_sge = 1, .srq_limit = 0};
    return Srq(check(ibv_create_srq(pair.client->pd(), &attr), "ibv_create_srq"));
  });
  expectCharged("QP", requests * (120ULL + 112 + 40), [&] {
    ibv_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = cq.get();
    attr.cap = {.max_send_wr = requests, .max_recv_wr = requests, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    attr.qp_type = IBV_QPT_RC;
    return QpHandle(check(ibv_create_qp(pair.client->pd(), &attr), "ibv_create_qp"));
  });
}

/**
 * A worker tries again to send what the program's full cgroup has no memory for. It never calls the OOM killer, and it sends the
 * message when the limit is raised. This process leaves the cgroup before, so that the cgroup counts only what the worker does.
 */
void fullCgroup(Context& c) {
  constexpr std::size_t size = 256 << 10;
  const CgroupFile limit = ofCgroup("memory.max"), events = ofCgroup("memory.events");
  const Pair pair(c.place);
  Region from(pair.client->pd(), size), to(pair.server->pd(), size);

  test::fill(from.memory.span(), c.seed);
  pair.server->postRecv(1, {to.sge(0, size)});
  expect(test::leaveCgroup() && limit.write("0"), "cannot leave a full cgroup behind");
  pair.client->postSend(2, {from.sge(0, size)});
  const auto refused = events.number("max"), kills = events.number("oom");
  for (const Deadline deadline(defaultBudget); events.number("max") < refused + 4; ::poll(nullptr, 0, 10))
    expect(!deadline.passed(), "the worker does not try again");
  const auto killsNow = events.number("oom");
  expect(limit.write("max"), "cannot raise the limit");
  expectEqual(killsNow, kills, "calls of the OOM killer");
  expectWc(pair.client->sends().next(), IBV_WC_SUCCESS, IBV_WC_SEND, "SEND");
  expectWc(pair.server->recvs().next(), IBV_WC_SUCCESS, IBV_WC_RECV, "receive");
  expectSame(to.memory.span(), from.memory.span(), "the data");
}

const VerbsCase table[] = {
    {"accounted", "", "CQs, SRQs and QPs are charged to the process's memory cgroup", accounted},
    {"full-cgroup", "", "a process's memory cgroup is full", fullCgroup},
};

} // namespace

std::span<const VerbsCase> memoryCases() {
  return table;
}

} // namespace rdma

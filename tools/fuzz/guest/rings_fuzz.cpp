// SPDX-License-Identifier: GPL-2.0
// A program writes arbitrary octets into the rings that it shares with the device, mixed with doorbells and a peer's messages.
#include <fstream>
#include <rdma/siw-abi.h>
#include <sstream>

#include "../../verbs/pair.hpp"
#include "guest.hpp"

namespace fuzz {

namespace {

constexpr std::size_t page = 4096;

/** All device mappings of this process, including the peer's rings. */
std::vector<std::span<std::uint8_t>> rings() {
  std::vector<std::span<std::uint8_t>> found;
  std::ifstream maps("/proc/self/maps");

  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t from, to;

    if (line.find("uverbs") != std::string::npos && std::sscanf(line.c_str(), "%lx-%lx", &from, &to) == 2)
      found.push_back({reinterpret_cast<std::uint8_t*>(from), to - from});
  }
  return found;
}

/** The program under test, and its peer. */
class Scene {
public:
  Scene()
      : pair_({.address = address, .port = port}, options, options), mine_(pair_.client->pd(), 2 * page),
        theirs_(pair_.server->pd(), 2 * page), rings_(rings()) {}

  void step(Input& in) {
    switch (in.ConsumeIntegralInRange(0, 7)) {
    case 0:
      scribble(in);
      break;
    case 1:
    case 2:
      element(in);
      break;
    case 3:
      pair_.client->doorbell();
      break;
    case 4:
      receive(in);
      break;
    case 5:
      pair_.server->postSend(1, {theirs_.sge(0, in.ConsumeIntegralInRange<std::size_t>(0, page))});
      break;
    case 6:
      pair_.server->postWrite(2, {theirs_.sge(0, page)}, mine_.rkey(), mine_.memory.address());
      break;
    case 7:
      pair_.server->postRead(3, {theirs_.sge(0, page)}, mine_.rkey(), mine_.memory.address());
      break;
    }
  }

private:
  /** Writes arbitrary octets at an arbitrary place. */
  void scribble(Input& in) {
    const auto ring = rings_[in.ConsumeIntegralInRange<std::size_t>(0, rings_.size() - 1)];
    const auto octets = in.ConsumeBytes<std::uint8_t>(in.ConsumeIntegralInRange<std::size_t>(1, 128));
    const auto at = in.ConsumeIntegralInRange<std::size_t>(0, ring.size() - octets.size());

    std::copy(octets.begin(), octets.end(), ring.begin() + static_cast<std::ptrdiff_t>(at));
  }

  siw_sge sge(Input& in) {
    return {.laddr = anyOf<std::uint64_t>(in, {mine_.memory.address(), mine_.memory.address(page), 0, ~0ULL}),
            .length = anyOf(in, {0U, 1U, 64U, 4096U, 8192U, 8193U, ~0U}),
            .lkey = anyOf(in, {mine_.lkey(), theirs_.lkey(), 0U})};
  }

  /** Writes a nearly valid element of a send or receive queue, at an arbitrary place. */
  void element(Input& in) {
    const auto ring = rings_[in.ConsumeIntegralInRange<std::size_t>(0, rings_.size() - 1)];
    siw_sqe e{};

    e.id = in.ConsumeIntegral<std::uint16_t>();
    e.flags = anyOf<std::uint16_t>(in, {SIW_WQE_VALID, SIW_WQE_VALID | SIW_WQE_SIGNALLED, SIW_WQE_VALID | SIW_WQE_INLINE});
    e.num_sge = anyOf<std::uint8_t>(in, {0, 1, 2, 6, 7});
    e.opcode = anyOf<std::uint8_t>(
        in, {SIW_OP_WRITE, SIW_OP_READ, SIW_OP_SEND, SIW_OP_SEND_REMOTE_INV, SIW_OP_RECEIVE, SIW_OP_REG_MR, SIW_OP_INVAL_STAG});
    e.rkey = anyOf(in, {theirs_.rkey(), mine_.rkey(), 0U});
    e.raddr = anyOf<std::uint64_t>(in, {theirs_.memory.address(), theirs_.memory.address(page), ~0ULL});
    for (auto& s : e.sge)
      s = sge(in);
    const auto slots = ring.size() / sizeof(e);
    if (slots)
      std::memcpy(ring.data() + in.ConsumeIntegralInRange<std::size_t>(0, std::min<std::size_t>(slots, 32) - 1) * sizeof(e), &e,
                  sizeof(e));
  }

  void receive(Input& in) { pair_.server->postRecv(4, {theirs_.sge(0, in.ConsumeIntegralInRange<std::size_t>(0, page))}); }

  static inline const rdma::EndOptions options{.cap = {16, 16, 4, 4, 0}};
  rdma::Pair pair_;
  rdma::Region mine_, theirs_;
  std::vector<std::span<std::uint8_t>> rings_;
};

} // namespace

void play(Input& in) {
  Scene scene;

  while (in.remaining_bytes())
    scene.step(in);
}

} // namespace fuzz

// SPDX-License-Identifier: GPL-2.0
// A startup frame from a stranger: the parser stays within the octets it has, does not depend on how they were cut, and what it
// lets through can be answered, and comes back from build and parse unchanged.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "pure.hpp"

namespace {

void require(bool holds) {
  if (!holds)
    std::abort();
}

int parse(const std::vector<std::uint8_t>& octets, bool is_reply, mpa_offer& offer, const __u8*& pd) {
  return mpa_startup_parse(octets.data(), static_cast<__u32>(octets.size()), is_reply, MPA_REV_ENHANCED, &offer, &pd);
}

bool same(const mpa_offer& a, const mpa_offer& b) {
  return a.rev == b.rev && a.markers == b.markers && a.crc == b.crc && a.reject == b.reject && a.enhanced == b.enhanced &&
         a.p2p == b.p2p && a.rtr == b.rtr && a.ird == b.ird && a.ord == b.ord && a.pd_len == b.pd_len;
}

/** Revision 0: Markers and CRC both ways. */
bool as_rdmac(const mpa_agreed& a) {
  return !a.rev && a.tx_markers && a.rx_markers && a.crc;
}

void check_cuts(const std::vector<std::uint8_t>& octets, bool is_reply, int result) {
  bool decided = false;
  for (std::size_t have = 0; have < octets.size(); have++) {
    mpa_offer offer;
    const __u8* pd;
    const int now = parse({octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(have)}, is_reply, offer, pd);
    require(decided ? now == result : now == -EAGAIN || now == result);
    decided = now != -EAGAIN;
  }
}

void check_good(const std::vector<std::uint8_t>& octets, bool is_reply, int length, const mpa_offer& offer, const __u8* pd) {
  require(length >= 20 && static_cast<std::size_t>(length) <= octets.size() && length <= 532);
  require(pd + offer.pd_len == octets.data() + length);

  std::vector<std::uint8_t> frame(MPA_STARTUP_MAX_LEN);
  require(mpa_startup_build(frame.data(), is_reply, &offer, pd) == length);
  frame.resize(static_cast<std::size_t>(length));
  mpa_offer again;
  const __u8* pd_again;
  require(parse(frame, is_reply, again, pd_again) == length && same(offer, again));
  require(!std::memcmp(pd, pd_again, offer.pd_len));

  mpa_offer local{}, reply;
  mpa_agreed agreed;
  local.rev = 2;
  local.rdmac = true;
  local.ird = local.ord = 4;
  if (is_reply) {
    local.enhanced = offer.enhanced;
    local.p2p = offer.p2p;
    local.rtr = MPA_RTR_WRITE | MPA_RTR_READ;
    const int end = mpa_startup_conclude(&local, &offer, &agreed);
    require(end || agreed.ord <= 4);
    require(end || offer.rev || as_rdmac(agreed));
    return;
  }
  require(!mpa_startup_answer(&local, &offer, &reply, &agreed));
  require(reply.enhanced == offer.enhanced && agreed.ord <= 4);
  require(offer.rev ? agreed.rev == reply.rev : as_rdmac(agreed));
  require(mpa_startup_build(frame.data(), true, &reply, nullptr) >= 20);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 || size > 700)
    return 0;
  const bool is_reply = data[0] & 1;
  std::vector<std::uint8_t> octets(data + 1, data + size);
  octets.shrink_to_fit();
  // With half of the inputs the key is right, so that the rest is reached.
  if (data[0] & 2 && octets.size() >= 16)
    std::memcpy(octets.data(), is_reply ? "MPA ID Rep Frame" : "MPA ID Req Frame", 16);
  mpa_offer offer;
  const __u8* pd = nullptr;
  const int result = parse(octets, is_reply, offer, pd);
  check_cuts(octets, is_reply, result);
  if (result > 0)
    check_good(octets, is_reply, result, offer, pd);
  return 0;
}

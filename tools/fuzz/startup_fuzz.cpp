// SPDX-License-Identifier: GPL-2.0
// Fuzzes the parser of startup frames with arbitrary octets. It reads only the octets that it has, and its result does not depend
// on how they were cut. A frame that it accepts can be answered, and is rebuilt and reparsed unchanged.
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

int parse(const std::vector<std::uint8_t>& octets, bool isReply, mpa_offer& offer) {
  return mpa_startup_parse(octets.data(), static_cast<__u32>(octets.size()), isReply, MPA_REV_ENHANCED, &offer);
}

bool same(const mpa_offer& a, const mpa_offer& b) {
  return a.rev == b.rev && a.markers == b.markers && a.crc == b.crc && a.reject == b.reject && a.enhanced == b.enhanced &&
         a.large == b.large && a.p2p == b.p2p && a.rtr == b.rtr && a.ird == b.ird && a.ord == b.ord && a.pd_len == b.pd_len;
}

/** Revision 0: Markers and CRC both ways. */
bool asRdmac(const mpa_agreed& a) {
  return !a.rev && a.tx_markers && a.rx_markers && a.crc;
}

void checkCuts(const std::vector<std::uint8_t>& octets, bool isReply, int result) {
  bool decided = false;
  for (std::size_t have = 0; have < octets.size(); have++) {
    mpa_offer offer;
    const int now = parse({octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(have)}, isReply, offer);
    require(decided ? now == result : now == -EAGAIN || now == result);
    decided = now != -EAGAIN;
  }
}

void checkGood(const std::vector<std::uint8_t>& octets, bool isReply, int length, const mpa_offer& offer) {
  require(length >= 20 + offer.pd_len && static_cast<std::size_t>(length) <= octets.size() && length <= 532);
  const __u8* pd = octets.data() + length - offer.pd_len;

  std::vector<std::uint8_t> frame(MPA_STARTUP_MAX_LEN);
  require(mpa_startup_build(frame.data(), isReply, &offer, pd) == length);
  frame.resize(static_cast<std::size_t>(length));
  mpa_offer again;
  require(parse(frame, isReply, again) == length && same(offer, again));
  require(!std::memcmp(pd, frame.data() + length - offer.pd_len, offer.pd_len));

  mpa_offer local{}, reply;
  mpa_agreed agreed;
  local.rev = 2;
  local.rdmac = local.large = true;
  local.ird = local.ord = 4;
  if (isReply) {
    local.enhanced = offer.enhanced;
    local.p2p = offer.p2p;
    local.rtr = MPA_RTR_WRITE | MPA_RTR_READ;
    const int end = mpa_startup_conclude(&local, &offer, &agreed);
    require(end || agreed.ord <= 4);
    require(end || offer.rev || asRdmac(agreed));
    require(agreed.large == (!end && offer.large));
    return;
  }
  require(!mpa_startup_answer(&local, &offer, &reply, &agreed));
  require(reply.enhanced == offer.enhanced && agreed.ord <= 4);
  require(reply.large == offer.large && agreed.large == offer.large);
  require(offer.rev ? agreed.rev == reply.rev : asRdmac(agreed));
  require(mpa_startup_build(frame.data(), true, &reply, nullptr) >= 20);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 || size > 700)
    return 0;
  const bool isReply = data[0] & 1;
  std::vector<std::uint8_t> octets(data + 1, data + size);
  octets.shrink_to_fit();
  // Half of the inputs get the right key, so that the code behind the key's check is reached.
  if (data[0] & 2 && octets.size() >= 16)
    std::memcpy(octets.data(), isReply ? "MPA ID Rep Frame" : "MPA ID Req Frame", 16);
  mpa_offer offer;
  const int result = parse(octets, isReply, offer);
  checkCuts(octets, isReply, result);
  if (result > 0)
    checkGood(octets, isReply, result, offer);
  return 0;
}

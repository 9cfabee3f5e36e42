// SPDX-License-Identifier: GPL-2.0
// Fuzzes the parser of DDP segments with arbitrary octets. It reads at most min(ULPDU, 18) octets, and names a known code when it
// refuses. A segment that it accepts complies with RFC 5040's Figure 4, and is rebuilt unchanged but for reserved bits.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "pure.hpp"

namespace {

void require(bool holds) {
  if (!holds)
    std::abort();
}

void checkError(const rdmap_error& err) {
  if (err.layer == TERM_LAYER_RDMAP)
    require(err.etype == 2 && (err.ecode == 0x05 || err.ecode == 0x06 || err.ecode == 0xff));
  else if (err.etype == DDP_ETYPE_TAGGED)
    require(err.layer == TERM_LAYER_DDP && err.ecode == 0x04);
  else
    require(err.layer == TERM_LAYER_DDP && err.etype == 2 && err.ecode >= 1 && err.ecode <= 6);
}

void checkGood(const ddp_segment& segment, std::uint32_t ulpduLen, std::uint8_t version, const std::uint8_t* hdr) {
  require(segment.hdr_len + segment.payload_len == ulpduLen);
  require(segment.opcode < 8 && segment.tagged == (segment.opcode == 0 || segment.opcode == 2));
  if (!segment.tagged)
    require(segment.qn == (segment.opcode == 1 ? 1u : segment.opcode == 7 ? 2u : 0u));
  if (segment.opcode == 1)
    require(segment.payload_len == 28 && segment.mo == 0 && segment.last);

  std::uint8_t again[DDP_MAX_HDR_LEN];
  require(rdmap_segment_build(again, &segment, version) == segment.hdr_len);
  require(again[0] == (hdr[0] & 0xc3) && again[1] == (hdr[1] & 0xcf));
  const unsigned from = segment.tagged || rdmap_invalidates(segment.opcode) ? 2 : 6;
  require(!std::memcmp(again + from, hdr + from, segment.hdr_len - from));
}

void checkTerminate(const std::uint8_t* data, std::size_t size) {
  const auto copy = std::make_unique<std::uint8_t[]>(size);
  std::memcpy(copy.get(), data, size);
  rdmap_error err;
  require(rdmap_terminate_parse(copy.get(), static_cast<__u32>(size), &err) == (size < 4 ? -EPROTO : 0));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3)
    return 0;
  const std::uint8_t version = data[0] & 1;
  const std::uint32_t ulpduLen = static_cast<std::uint32_t>(data[1] << 8 | data[2]);
  data += 3;
  size -= 3;
  checkTerminate(data, size);

  const std::size_t need = ulpduLen < 18 ? ulpduLen : 18;
  if (size < need)
    return 0;
  const auto hdr = std::make_unique<std::uint8_t[]>(need);
  std::memcpy(hdr.get(), data, need);
  ddp_segment segment;
  rdmap_error err{0xff, 0xff, 0xff};
  const int result = rdmap_segment_parse(hdr.get(), ulpduLen, version, &segment, &err);
  require(result == 0 || result == -EPROTO);
  if (result)
    checkError(err);
  else
    checkGood(segment, ulpduLen, version, hdr.get());
  return 0;
}

// SPDX-License-Identifier: GPL-2.0
/** @file cases_early.cpp @brief What is placed before its turn. Whoever runs these holds back IPv4 packets of 352 to 383 octets. */
#include "cases.hpp"

namespace peer {

using test::Deadline;
using test::expect;
using test::expectEqual;
using test::format;
using test::milliseconds;

/** What does not pass delivery's checks is not placed early either: the last of the segments shows that all were looked at. */
static void heldChecks(Context& c) {
  Session s(c, Options(c.config));
  const auto sum = [&](unsigned index, std::size_t offset, std::size_t length) {
    return c.target.command(format("sum %u %zu %zu", index, offset, length)).number("sum");
  };
  const RemoteRegion readable = RemoteRegion::parse(c.target.command("mr access=r"));
  const RemoteRegion other = RemoteRegion::parse(c.target.command("mr pd=other"));
  const std::size_t end = s.region.length - 500;
  const auto start = s.region.address, unasked = sum(0, 4096, 1000), bounds = sum(0, end, 500), rights = sum(readable.index, 0, 1000),
             domain = sum(other.index, 0, 1000);
  const Bytes data = patternData(2000, 31), bad = patternData(1000, 32);
  const Deadline deadline(milliseconds(10000));

  const Bytes held = s.frame(makeWrite(s.region.stag, start, patternData(300, 30)));
  Bytes behind;
  for (const auto& segment : {makeReadResponse(s.region.stag, start + 4096, bad), makeWrite(s.region.stag, start + end, bad),
                              makeWrite(readable.stag, readable.address, bad), makeWrite(other.stag, other.address, bad),
                              makeWrite(s.region.stag, start + 8192, data)}) {
    const Bytes octets = s.frame(segment);
    behind.insert(behind.end(), octets.begin(), octets.end());
  }
  /* All at once: our own TCP must not hear of the loss before it has sent the rest. */
  s.sendRaw(held);
  s.sendRaw(behind);
  while (sum(0, 8192, data.size()) != test::checksum(data))
    expect(!deadline.passed(), "a WRITE behind a gap was not placed");
  expectEqual(sum(0, 4096, 1000), unasked, "memory of a Read Response that nobody asked for");
  expectEqual(sum(0, end, 500), bounds, "memory in front of a region's end");
  expectEqual(sum(readable.index, 0, 1000), rights, "memory that may only be read");
  expectEqual(sum(other.index, 0, 1000), domain, "memory of another protection domain");
}

static const WireCase table[] = {
    {"held-checks", asInitiator, "DDP-09 RCV-04", "behind a gap: a good WRITE is placed, segments that will be refused are not",
     heldChecks},
};

std::span<const WireCase> earlyCases() {
  return table;
}

} // namespace peer

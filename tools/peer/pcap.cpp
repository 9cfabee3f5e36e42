// SPDX-License-Identifier: GPL-2.0
#include "pcap.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <fstream>
#include <iterator>
#include <optional>

#include "../common/testcase.hpp"

namespace peer {

/* Link types (https://www.tcpdump.org/linktypes.html) */
static constexpr std::uint32_t linkEthernet = 1, linkCooked = 113, linkCooked2 = 276;
static constexpr std::uint16_t etherIp4 = 0x0800, etherIp6 = 0x86dd;
static constexpr std::uint8_t protocolTcp = 6, nextFragment = 44;
static constexpr std::size_t fileHeader = 24, recordHeader = 16;

/* --- the file's own fields, in the byte order of the machine that wrote it --- */

class FileReader {
public:
  explicit FileReader(View file) : file_(file) {
    const auto magic = get<std::uint32_t>(file, 0);

    swapped_ = magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1;
    nano_ = magic == 0xa1b23c4d || magic == 0x4d3cb2a1;
    if (!swapped_ && !nano_ && magic != 0xa1b2c3d4)
      throw std::runtime_error("not a pcap file (pcapng is not read: use tcpdump -w)");
    link_ = field(20) & 0xffff;
    if (link_ != linkEthernet && link_ != linkCooked && link_ != linkCooked2)
      throw std::runtime_error(test::format("link type %u: neither Ethernet nor Linux cooked", link_));
  }

  std::uint32_t link() const { return link_; }
  std::uint64_t time() const { return field(at_) * 1000000000ULL + field(at_ + 4) * (nano_ ? 1ULL : 1000ULL); }

  /** The next whole packet. A capture that was killed may end with a partial packet. */
  std::optional<View> next() {
    if (at_)
      at_ += recordHeader + field(at_ + 8);
    else
      at_ = fileHeader;
    if (at_ + recordHeader > file_.size() || at_ + recordHeader + field(at_ + 8) > file_.size())
      return {};
    if (field(at_ + 8) < field(at_ + 12))
      throw std::runtime_error("the capture holds packets that were cut: use tcpdump -s 0");
    return file_.subspan(at_ + recordHeader, field(at_ + 8));
  }

private:
  std::uint32_t field(std::size_t offset) const {
    const auto value = get<std::uint32_t>(file_, offset);
    return swapped_ ? __builtin_bswap32(value) : value;
  }

  View file_;
  bool swapped_, nano_;
  std::uint32_t link_;
  std::size_t at_ = 0;
};

/* --- packets --- */

static std::string address(int family, View octets) {
  char text[INET6_ADDRSTRLEN];
  return inet_ntop(family, octets.data(), text, sizeof(text));
}

static std::uint16_t mssOption(View options) {
  for (std::size_t i = 0; i < options.size() && options[i];) {
    if (options[i] == 2)
      return get<std::uint16_t>(options, i + 2);
    i += options[i] == 1 ? 1 : std::max<std::size_t>(get<std::uint8_t>(options, i + 1), 2);
  }
  return 0;
}

static void parseTcp(View tcp, TcpPacket& p) {
  const std::size_t header = 4u * (get<std::uint8_t>(tcp, 12) >> 4);
  const auto flags = get<std::uint8_t>(tcp, 13);

  if (header < 20 || header > tcp.size())
    throw ProtocolError("TCP header does not fit its packet");
  p.from += test::format(" %u", get<std::uint16_t>(tcp, 0));
  p.to += test::format(" %u", get<std::uint16_t>(tcp, 2));
  p.seq = get<std::uint32_t>(tcp, 4);
  p.syn = flags & 0x02;
  p.ack = flags & 0x10;
  if (p.syn)
    p.mss = mssOption(tcp.subspan(20, header - 20));
  p.payload.assign(tcp.begin() + static_cast<std::ptrdiff_t>(header), tcp.end());
}

static bool parseIp4(View ip, TcpPacket& p) {
  const std::size_t header = 4u * (get<std::uint8_t>(ip, 0) & 15), total = get<std::uint16_t>(ip, 2);
  const auto cut = get<std::uint16_t>(ip, 6);

  if (get<std::uint8_t>(ip, 9) != protocolTcp)
    return false;
  if (total < header || total > ip.size())
    throw ProtocolError("IP length does not fit its packet");
  p.from = address(AF_INET, ip.subspan(12, 4));
  p.to = address(AF_INET, ip.subspan(16, 4));
  p.df = cut & 0x4000;
  p.fragment = cut & 0x3fff;
  if (!p.fragment)
    parseTcp(ip.first(total).subspan(header), p);
  return true;
}

static bool parseIp6(View ip, TcpPacket& p) {
  const auto next = get<std::uint8_t>(ip, 6);
  const std::size_t total = 40u + get<std::uint16_t>(ip, 4);

  if (next == nextFragment ? get<std::uint8_t>(ip, 40) != protocolTcp : next != protocolTcp)
    return false;
  if (total > ip.size())
    throw ProtocolError("IP length does not fit its packet");
  p.from = address(AF_INET6, ip.subspan(8, 16));
  p.to = address(AF_INET6, ip.subspan(24, 16));
  p.df = true;
  p.fragment = next == nextFragment;
  if (!p.fragment)
    parseTcp(ip.first(total).subspan(40), p);
  return true;
}

/** False for packets other than TCP. */
static bool parseFrame(std::uint32_t link, View frame, TcpPacket& p) {
  const std::size_t type = link == linkEthernet ? 12 : link == linkCooked ? 14 : 0;
  const std::size_t header = link == linkEthernet ? 14 : link == linkCooked ? 16 : 20;

  if (frame.size() <= header)
    return false;
  switch (get<std::uint16_t>(frame, type)) {
  case etherIp4:
    return parseIp4(frame.subspan(header), p);
  case etherIp6:
    return parseIp6(frame.subspan(header), p);
  default:
    return false;
  }
}

std::vector<TcpPacket> parseCapture(View file) {
  std::vector<TcpPacket> all;
  FileReader reader(file);
  std::size_t frame = 0;

  while (const auto octets = reader.next()) {
    TcpPacket p;

    p.frame = ++frame;
    p.time = reader.time();
    if (parseFrame(reader.link(), *octets, p))
      all.push_back(std::move(p));
  }
  return all;
}

std::vector<TcpPacket> readCaptures(const std::vector<std::string>& paths) {
  std::vector<TcpPacket> all;

  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    if (!in)
      throw std::runtime_error("cannot read " + path);
    const Bytes file{std::istreambuf_iterator<char>(in), {}};
    auto packets = parseCapture(file);
    std::move(packets.begin(), packets.end(), std::back_inserter(all));
  }
  std::ranges::stable_sort(all, {}, &TcpPacket::time);
  return all;
}

} // namespace peer

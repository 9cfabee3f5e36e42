// SPDX-License-Identifier: GPL-2.0
#include "segments.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>

namespace peer {

static constexpr test::milliseconds sendBudget{10000};

/** The sum of RFC 1071, not yet inverted, over pairs of octets in network order. */
static std::uint32_t onesComplement(View octets, std::uint32_t sum) {
  for (std::size_t i = 0; i < octets.size(); i++)
    sum += i % 2 ? octets[i] : std::uint32_t{octets[i]} << 8;
  while (sum >> 16)
    sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

Segments::Segments(const Stream& stream)
    : fd_(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_TCP)), sequence_(stream.sequence()), acknowledged_(stream.received()),
      largest_(stream.segment()) {
  if (!fd_)
    test::throwErrno("raw socket");
  if (!stream.ends(from_, to_))
    throw test::Skip("only over IPv4");
}

void Segments::send(std::uint32_t position, View octets, bool fin) const {
  static constexpr std::uint8_t headerOctets = 20;
  const auto address = [](const sockaddr_in& a) { return ntohl(a.sin_addr.s_addr); };
  Bytes segment, pseudo;

  put(segment, ntohs(from_.sin_port));
  put(segment, ntohs(to_.sin_port));
  put(segment, sequence_ + position);
  put(segment, acknowledged_);
  put(segment, std::uint8_t{headerOctets / 4 << 4});
  put(segment, static_cast<std::uint8_t>(TH_ACK | TH_PUSH | (fin ? TH_FIN : 0)));
  put(segment, std::uint16_t{0xffff}); /* window */
  put(segment, std::uint32_t{0});      /* checksum, urgent pointer */
  append(segment, octets);

  put(pseudo, address(from_));
  put(pseudo, address(to_));
  put(pseudo, std::uint16_t{IPPROTO_TCP});
  put(pseudo, static_cast<std::uint16_t>(segment.size()));
  const auto sum = static_cast<std::uint16_t>(~onesComplement(segment, onesComplement(pseudo, 0)));
  segment[16] = static_cast<std::uint8_t>(sum >> 8);
  segment[17] = static_cast<std::uint8_t>(sum);

  /* A raw socket with a full send buffer does not block: it fails with ENOBUFS. The receiver's softirq empties it. */
  if (!test::waitFor(fd_.get(), POLLOUT, test::Deadline(sendBudget)))
    throw std::runtime_error("raw socket: the segments before are not received");

  sockaddr_in to = to_;
  to.sin_port = 0;
  if (::sendto(fd_.get(), segment.data(), segment.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof(to)) < 0)
    test::throwErrno("sendto a raw socket");
}

} // namespace peer

// SPDX-License-Identifier: GPL-2.0
/**
 * @file stream.hpp
 * @brief A TCP connection of the peer: every wait has a deadline, and a case can cut the stream at any place.
 */
#pragma once

#include <netinet/in.h>
#include <string>

#include "../common/fd.hpp"
#include "bytes.hpp"

namespace peer {

/**
 * The lengths of the pieces to send. Each piece is one write with Nagle off, and so has a segment (or several) of its own.
 * The list repeats when it is used up; an empty list means one write for all.
 */
using Cuts = std::vector<std::size_t>;

/** The result of a receive call. */
enum class End {
  Open, /**< nothing arrived before the deadline */
  Data,
  Fin,
  Reset,
};

/** A connected TCP socket. */
class Stream {
public:
  /**
   * @param sequence first sequence number to use, when not 0 (needs CAP_NET_ADMIN)
   * @param source local address, when not empty
   */
  static Stream connect(const std::string& address, const std::string& port, std::uint32_t sequence = 0,
                        const std::string& source = {});
  explicit Stream(test::Fd fd);

  /** Sends all octets; throws std::system_error when the connection has ended. */
  void send(View octets, const Cuts& cuts = {});

  /**
   * TCP counts the octets as sent, whatever its congestion window, and sends them only if the other side does not acknowledge them
   * (needs CAP_NET_ADMIN).
   */
  void countAsSent(View octets);

  /** Waits for data and appends it to @p out. */
  End receive(Bytes& out, const test::Deadline& deadline);

  /** Sends a FIN. */
  void finish();
  /** Sends a RST and closes. */
  void abort();
  /** The next sequence number that TCP will send (needs CAP_NET_ADMIN). */
  std::uint32_t sequence() const;
  /** The sequence number of the next octet that TCP will receive (needs CAP_NET_ADMIN). */
  std::uint32_t received() const;
  /** The addresses of this end and of the other; false unless they are IPv4. */
  bool ends(sockaddr_in& own, sockaddr_in& other) const;
  /** Limits the octets that the other side may have in flight; call before much data has arrived. */
  void receiveBuffer(int octets);
  /** Octets that the other side has received behind a gap, as TCP counts: in whole segments. */
  std::size_t sackedOctets() const;
  /** Octets of a TCP segment, by which both sides cut when their MTUs are equal. */
  std::size_t segment() const;
  /** Octets that wait to be received. */
  std::size_t waiting() const;

private:
  std::uint32_t queueSequence(int queue) const;

  test::Fd fd_;
};

/** A listening TCP socket. */
class Listener {
public:
  Listener(const std::string& address, const std::string& port);

  /** The port in use. */
  std::string port() const;
  Stream accept(const test::Deadline& deadline);

private:
  test::Fd fd_;
};

} // namespace peer

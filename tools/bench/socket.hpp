// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * TCP connections within one process.
 */
#pragma once

#include "measure.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace bench {

/** A TCP socket. */
class Socket {
public:
  explicit Socket(int fd) : fd_(fd) {
    if (!fd_)
      test::throwErrno("socket");
  }

  int fd() const { return fd_.get(); }

  void set(int level, int name, int value) const {
    if (setsockopt(fd(), level, name, &value, sizeof(value)))
      test::throwErrno("setsockopt");
  }

  /** Sends all of the octets. */
  void send(const unsigned char* data, std::size_t size) const {
    while (size) {
      const ssize_t n = ::send(fd(), data, size, MSG_NOSIGNAL);
      if (n < 0)
        test::throwErrno("send");
      data += n;
      size -= static_cast<std::size_t>(n);
    }
  }

  /** Receives exactly that many octets. */
  void receive(unsigned char* data, std::size_t size) const {
    while (size) {
      const ssize_t n = ::recv(fd(), data, size, 0);
      if (n < 0)
        test::throwErrno("recv");
      if (!n)
        throw std::runtime_error("the peer has closed the connection");
      data += n;
      size -= static_cast<std::size_t>(n);
    }
  }

private:
  test::Fd fd_;
};

inline Socket makeSocket() {
  return Socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

/** Connects @p client to a listener of this process. @return the accepted socket. */
inline Socket connectTo(const Socket& client, const std::string& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1)
    throw std::invalid_argument("'" + host + "' is not an IPv4 address");
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  const Socket listener = makeSocket();
  listener.set(SOL_SOCKET, SO_REUSEADDR, 1);
  if (bind(listener.fd(), generic, sizeof(address)) || listen(listener.fd(), 1))
    test::throwErrno("listen on " + host);
  if (::connect(client.fd(), generic, sizeof(address)))
    test::throwErrno("connect to " + host);
  return Socket(accept(listener.fd(), nullptr, nullptr));
}

} // namespace bench

// SPDX-License-Identifier: GPL-2.0
#include "stream.hpp"

#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace peer {

using test::Fd;
using test::throwErrno;

static constexpr test::milliseconds connectBudget{10000};

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

static AddressList resolve(const std::string& address, const std::string& port, int flags) {
  addrinfo hints{}, *list = nullptr;

  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  const int error = getaddrinfo(address.empty() ? nullptr : address.c_str(), port.c_str(), &hints, &list);
  if (error)
    throw std::runtime_error("address " + address + " port " + port + ": " + gai_strerror(error));
  return {list, &freeaddrinfo};
}

static Fd makeSocket(const addrinfo& a) {
  Fd fd(::socket(a.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));

  if (!fd)
    throwErrno("socket");
  return fd;
}

static void setOption(const Fd& fd, int level, int name, int value, const char* what) {
  if (setsockopt(fd.get(), level, name, &value, sizeof(value)))
    throwErrno(what);
}

/** Within its scope the socket is in repair mode, and its options and data are those of one queue. */
class Repair {
public:
  Repair(const Fd& fd, int queue) : fd_(fd) {
    setOption(fd_, IPPROTO_TCP, TCP_REPAIR, 1, "TCP_REPAIR");
    setOption(fd_, IPPROTO_TCP, TCP_REPAIR_QUEUE, queue, "TCP_REPAIR_QUEUE");
  }
  ~Repair() {
    const int off = -1; /* without a window probe */

    setsockopt(fd_.get(), IPPROTO_TCP, TCP_REPAIR, &off, sizeof(off));
  }
  Repair(const Repair&) = delete;
  Repair& operator=(const Repair&) = delete;

private:
  const Fd& fd_;
};

/** TCP's initial sequence number is the write sequence that was set in repair mode. */
static void presetSequence(const Fd& fd, std::uint32_t sequence) {
  const Repair repair(fd, TCP_SEND_QUEUE);

  setOption(fd, IPPROTO_TCP, TCP_QUEUE_SEQ, static_cast<int>(sequence), "TCP_QUEUE_SEQ");
}

static void bindTo(const Fd& fd, const std::string& source) {
  const auto list = resolve(source, "0", AI_NUMERICHOST);

  if (::bind(fd.get(), list->ai_addr, list->ai_addrlen))
    throwErrno("bind");
}

static void checkConnected(const Fd& fd) {
  int error = 0;
  socklen_t length = sizeof(error);

  if (!test::waitFor(fd.get(), POLLOUT, test::Deadline(connectBudget)))
    throw std::runtime_error("connect: no answer");
  getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error)
    throw std::system_error(error, std::generic_category(), "connect");
}

Stream::Stream(Fd fd) : fd_(std::move(fd)) {
  setOption(fd_, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
}

Stream Stream::connect(const std::string& address, const std::string& port, std::uint32_t sequence, const std::string& source) {
  const auto list = resolve(address, port, 0);
  Fd fd = makeSocket(*list);

  if (!source.empty())
    bindTo(fd, source);
  if (sequence)
    presetSequence(fd, sequence);
  if (::connect(fd.get(), list->ai_addr, list->ai_addrlen) && errno != EINPROGRESS)
    throwErrno("connect");
  checkConnected(fd);
  return Stream(std::move(fd));
}

static void sendPiece(const Fd& fd, View piece) {
  const test::Deadline deadline(connectBudget);

  while (!piece.empty()) {
    const auto n = ::send(fd.get(), piece.data(), piece.size(), MSG_NOSIGNAL);

    if (n > 0)
      piece = piece.subspan(static_cast<std::size_t>(n));
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
      throwErrno("send");
    else if (!test::waitFor(fd.get(), POLLOUT, deadline))
      throw std::runtime_error("send: the other side does not read");
  }
}

void Stream::send(View octets, const Cuts& cuts) {
  for (std::size_t i = 0; !octets.empty(); i++) {
    const auto want = cuts.empty() ? octets.size() : cuts[i % cuts.size()];
    const auto piece = octets.first(std::min(octets.size(), want ? want : octets.size()));

    sendPiece(fd_, piece);
    octets = octets.subspan(piece.size());
  }
}

void Stream::countAsSent(View octets) {
  const Repair repair(fd_, TCP_SEND_QUEUE);

  sendPiece(fd_, octets);
}

End Stream::receive(Bytes& out, const test::Deadline& deadline) {
  std::uint8_t chunk[65536];

  if (!test::waitFor(fd_.get(), POLLIN, deadline))
    return End::Open;
  const auto n = ::recv(fd_.get(), chunk, sizeof(chunk), 0);
  if (n > 0)
    append(out, View(chunk, static_cast<std::size_t>(n)));
  if (n < 0 && errno == EAGAIN)
    return End::Open;
  if (n < 0 && errno != ECONNRESET && errno != EPIPE)
    throwErrno("recv");
  return n > 0 ? End::Data : n == 0 ? End::Fin : End::Reset;
}

void Stream::finish() {
  if (shutdown(fd_.get(), SHUT_WR) && errno != ENOTCONN)
    throwErrno("shutdown");
}

void Stream::abort() {
  const linger now{1, 0};

  setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  fd_.close();
}

std::uint32_t Stream::queueSequence(int queue) const {
  const Repair repair(fd_, queue);
  std::uint32_t value = 0;
  socklen_t length = sizeof(value);

  getsockopt(fd_.get(), IPPROTO_TCP, TCP_QUEUE_SEQ, &value, &length);
  return value;
}

std::uint32_t Stream::sequence() const {
  return queueSequence(TCP_SEND_QUEUE);
}

std::uint32_t Stream::received() const {
  return queueSequence(TCP_RECV_QUEUE);
}

bool Stream::ends(sockaddr_in& own, sockaddr_in& other) const {
  socklen_t length = sizeof(own);

  if (getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&own), &length))
    throwErrno("getsockname");
  length = sizeof(other);
  if (getpeername(fd_.get(), reinterpret_cast<sockaddr*>(&other), &length))
    throwErrno("getpeername");
  return own.sin_family == AF_INET;
}

void Stream::receiveBuffer(int octets) {
  setOption(fd_, SOL_SOCKET, SO_RCVBUF, octets, "SO_RCVBUF");
}

std::size_t Stream::sackedOctets() const {
  tcp_info info{};
  socklen_t length = sizeof(info);

  if (getsockopt(fd_.get(), IPPROTO_TCP, TCP_INFO, &info, &length))
    throwErrno("TCP_INFO");
  return std::size_t{info.tcpi_sacked} * info.tcpi_snd_mss;
}

std::size_t Stream::segment() const {
  int octets = 0;
  socklen_t length = sizeof(octets);

  if (getsockopt(fd_.get(), IPPROTO_TCP, TCP_MAXSEG, &octets, &length))
    throwErrno("TCP_MAXSEG");
  return static_cast<std::size_t>(octets);
}

std::size_t Stream::waiting() const {
  int octets = 0;

  if (ioctl(fd_.get(), FIONREAD, &octets))
    throwErrno("FIONREAD");
  return static_cast<std::size_t>(octets);
}

Listener::Listener(const std::string& address, const std::string& port) : fd_(-1) {
  const auto list = resolve(address, port, AI_PASSIVE);

  fd_ = makeSocket(*list);
  setOption(fd_, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
  if (bind(fd_.get(), list->ai_addr, list->ai_addrlen))
    throwErrno("bind");
  if (listen(fd_.get(), 16))
    throwErrno("listen");
}

std::string Listener::port() const {
  sockaddr_storage a{};
  socklen_t length = sizeof(a);

  getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&a), &length);
  const auto port =
      a.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&a)->sin6_port : reinterpret_cast<sockaddr_in*>(&a)->sin_port;
  return std::to_string(ntohs(port));
}

Stream Listener::accept(const test::Deadline& deadline) {
  if (!test::waitFor(fd_.get(), POLLIN, deadline))
    throw test::Failure("no connection arrived");
  Fd fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd)
    throwErrno("accept");
  return Stream(std::move(fd));
}

} // namespace peer

// SPDX-License-Identifier: GPL-2.0
#include "socket.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fstream>
#include <linux/sockios.h>
#include <sys/ioctl.h>

namespace sockets {

using test::Deadline;
using test::Failure;
using test::Fd;
using test::format;
using test::throwErrno;

/* The system call's result, or a negative errno. */
template <class T> static T orErrno(T result) {
  return result < 0 ? static_cast<T>(-errno) : result;
}

int Socket::attach() const {
  return set(IPPROTO_TCP, TCP_ULP, "mpa", sizeof("mpa"));
}

int Socket::set(int level, int name, const void* value, std::size_t length) const {
  return orErrno(setsockopt(fd(), level, name, value, static_cast<socklen_t>(length)));
}

void Socket::nonBlocking(bool on) const {
  const int flags = fcntl(fd(), F_GETFL);

  if (fcntl(fd(), F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK))
    throwErrno("fcntl");
}

mpa_status Socket::status() const {
  mpa_status s{};
  socklen_t length = sizeof(s);

  if (getsockopt(fd(), SOL_MPA, MPA_STATUS, &s, &length))
    throwErrno("MPA_STATUS");
  test::expectEqual(length, sizeof(s), "octets of MPA_STATUS");
  return s;
}

std::optional<mpa_peer> Socket::peerFrame() const {
  mpa_peer p{};
  socklen_t length = sizeof(p);

  if (getsockopt(fd(), SOL_MPA, MPA_PEER, &p, &length))
    return {};
  return p;
}

ssize_t Socket::send(View octets, int flags) const {
  return orErrno(::send(fd(), octets.data(), octets.size(), flags));
}

Received Socket::receive(std::size_t room, int flags) const {
  Received r;
  iovec iov{};
  msghdr msg{};

  r.data.resize(room);
  iov = {r.data.data(), room};
  msg.msg_iov = &iov;
  msg.msg_iovlen = 1;
  r.result = orErrno(recvmsg(fd(), &msg, flags));
  r.flags = msg.msg_flags;
  r.data.resize(r.result < 0 ? 0 : std::min(static_cast<std::size_t>(r.result), room));
  return r;
}

short Socket::poll(short events, test::milliseconds budget) const {
  pollfd p{fd(), events, 0};

  if (::poll(&p, 1, static_cast<int>(budget.count())) < 0)
    throwErrno("poll");
  return p.revents;
}

int Socket::soError() const {
  int error = 0;
  socklen_t length = sizeof(error);

  getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &length);
  return error;
}

tcp_info Socket::tcpInfo() const {
  tcp_info info{};
  socklen_t length = sizeof(info);

  if (getsockopt(fd(), IPPROTO_TCP, TCP_INFO, &info, &length))
    test::throwErrno("TCP_INFO");
  return info;
}

int Socket::inQueue() const {
  int n = -1;

  return ioctl(fd(), FIONREAD, &n) ? -errno : n;
}

unsigned Socket::outQueue() const {
  int n = 0;

  if (ioctl(fd(), SIOCOUTQ, &n))
    test::throwErrno("SIOCOUTQ");
  return static_cast<unsigned>(n);
}

int Socket::shutdown(int how) const {
  return orErrno(::shutdown(fd(), how));
}

/* The context's address with port 0. */
static socklen_t address(const Context& c, sockaddr_storage& a) {
  auto* v4 = reinterpret_cast<sockaddr_in*>(&a);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&a);

  a = {};
  if (inet_pton(AF_INET, c.address.c_str(), &v4->sin_addr) == 1) {
    a.ss_family = AF_INET;
    return sizeof(*v4);
  }
  if (inet_pton(AF_INET6, c.address.c_str(), &v6->sin6_addr) != 1)
    throw std::invalid_argument("no address: " + c.address);
  a.ss_family = AF_INET6;
  return sizeof(*v6);
}

/* The option TCP_AO_ADD_KEY and its argument, struct tcp_ao_add. Headers of kernels before 6.7 lack both. */
static constexpr int addAoKey = 38;
struct AoKey {
  sockaddr_storage peer;
  char algorithm[64];
  __s32 interface;
  __u32 flags;
  __u16 reserved;
  __u8 prefix, sendId, receiveId, macLength, keyFlags, keyLength;
  __u8 key[80];
} __attribute__((aligned(8)));

static constexpr std::string_view key = "a key of both ends";

/* Has a socket sign its segments. Skips the case on a kernel that cannot. */
template <class Key> static void sign(const Fd& fd, int option, const Key& argument, const char* name) {
  if (!setsockopt(fd.get(), IPPROTO_TCP, option, &argument, sizeof(argument)))
    return;
  if (errno == ENOPROTOOPT)
    throw test::Skip(std::string("this kernel has no ") + name);
  throwErrno(name);
}

static void signByMd5(const Fd& fd, const sockaddr_storage& peer) {
  tcp_md5sig signature{};

  std::memcpy(&signature.tcpm_addr, &peer, sizeof(peer));
  signature.tcpm_keylen = key.copy(reinterpret_cast<char*>(signature.tcpm_key), sizeof(signature.tcpm_key));
  sign(fd, TCP_MD5SIG, signature, "TCP_MD5SIG");
}

static void signByAo(const Fd& fd, const sockaddr_storage& peer) {
  AoKey ao{};

  ao.peer = peer;
  std::string_view("hmac(sha1)").copy(ao.algorithm, sizeof(ao.algorithm));
  ao.prefix = peer.ss_family == AF_INET ? 32 : 128;
  ao.sendId = ao.receiveId = 1;
  ao.keyLength = static_cast<__u8>(key.copy(reinterpret_cast<char*>(ao.key), sizeof(ao.key)));
  sign(fd, addAoKey, ao, "TCP_AO_ADD_KEY");
}

/* The two ends of a TCP connection: the connecting one, then the accepted one. */
static std::pair<Fd, Fd> connectFds(const Context& c) {
  sockaddr_storage a;
  socklen_t length = address(c, a);
  auto* sa = reinterpret_cast<sockaddr*>(&a);
  Fd listener(socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0)), client(socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));

  for (const Fd* fd : {&listener, &client})
    if (c.signature == Signature::Md5)
      signByMd5(*fd, a);
    else if (c.signature == Signature::Ao)
      signByAo(*fd, a);
  if (bind(listener.get(), sa, length) || listen(listener.get(), 1) || getsockname(listener.get(), sa, &length))
    throwErrno("listen on " + c.address);
  if (connect(client.get(), sa, length))
    throwErrno("connect to " + c.address);
  Fd server(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!server)
    throwErrno("accept");
  return {std::move(client), std::move(server)};
}

Ends connectEnds(const Context& c) {
  auto [client, server] = connectFds(c);

  return {Socket(std::move(client)), Socket(std::move(server))};
}

/* Stream requires non-blocking reads. */
RawEnds connectRaw(const Context& c) {
  auto [client, server] = connectFds(c);

  if (fcntl(server.get(), F_SETFL, O_NONBLOCK))
    throwErrno("fcntl");
  return {Socket(std::move(client)), Raw(std::move(server))};
}

static void setAll(const Socket& s, bool markers, const Settings& settings) {
  expectOk(s.attach(), "TCP_ULP");
  expectOk(s.setOption(MPA_MARKERS, markers), "MPA_MARKERS");
  expectOk(s.setOption(MPA_CRC, settings.crc), "MPA_CRC");
  expectOk(s.setOption(MPA_REVISION, settings.revision), "MPA_REVISION");
}

void startBoth(const Ends& ends) {
  Call initiator(ends, [&] { return ends.client.start(MPA_INITIATE); });
  const int responded = ends.server.start(MPA_RESPOND);
  const int accepted = responded ? responded : ends.server.start(MPA_ACCEPT);

  expectOk(responded, "MPA_RESPOND");
  expectOk(accepted, "MPA_ACCEPT");
  expectOk(initiator.result(), "MPA_INITIATE");
}

Ends startEnds(const Context& c, const Settings& settings) {
  Ends ends = connectEnds(c);

  setAll(ends.client, settings.clientMarkers, settings);
  setAll(ends.server, settings.serverMarkers, settings);
  startBoth(ends);
  return ends;
}

Ends fullEnds(const Context& c, const Settings& settings) {
  Ends ends = startEnds(c, settings);

  greet(ends);
  return ends;
}

void greet(const Ends& ends) {
  const Bytes hello = text("hello");

  expectOk(ends.client.send(hello), "send");
  expectUlpdu(ends.server.receive(), hello, "first ULPDU");
}

RawEnds initiateRaw(const Context& c, const Settings& settings) {
  RawEnds ends = connectRaw(c);

  setAll(ends.socket, settings.clientMarkers, settings);
  ends.raw.send(
      peer::StartupFrame{.kind = peer::FrameKind::Reply, .markers = settings.serverMarkers, .crc = settings.crc}.encode());
  expectOk(ends.socket.start(MPA_INITIATE), "MPA_INITIATE");
  ends.raw.readFrame(peer::FrameKind::Request);
  return ends;
}

RawEnds respondRaw(const Context& c, const Settings& settings) {
  RawEnds ends = connectRaw(c);

  setAll(ends.socket, settings.serverMarkers, settings);
  ends.raw.send(peer::StartupFrame{.markers = settings.clientMarkers, .crc = settings.crc}.encode());
  expectOk(ends.socket.start(MPA_RESPOND), "MPA_RESPOND");
  expectOk(ends.socket.start(MPA_ACCEPT), "MPA_ACCEPT");
  ends.raw.readFrame(peer::FrameKind::Reply);
  return ends;
}

void Raw::urgent(View octets) {
  expectOk(orErrno(::send(number_, octets.data(), octets.size(), MSG_OOB | MSG_NOSIGNAL)), "MSG_OOB");
}

void Raw::finishWith(View octets) {
  test::expectEqual(orErrno(::send(number_, octets.data(), octets.size(), MSG_MORE | MSG_NOSIGNAL)), octets.size(), "send");
  finish();
}

Bytes Raw::read(std::size_t n) {
  const Deadline deadline(patience);

  while (left_.size() < n) {
    const auto end = stream_.receive(left_, deadline);

    if (end != peer::End::Data)
      throw Failure(format("the raw stream ended (%d) after %zu octets of %zu", static_cast<int>(end), left_.size(), n));
  }
  Bytes out(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(n));
  left_.erase(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(n));
  return out;
}

peer::StartupFrame Raw::readFrame(peer::FrameKind kind) {
  Bytes frame = read(peer::startupHeader);

  peer::append(frame, read(peer::startupLength(frame) - peer::startupHeader));
  return peer::StartupFrame::decode(kind, frame);
}

peer::Fpdu Raw::readFpdu(peer::FpduDecoder& decoder) {
  for (;;) {
    if (auto fpdu = decoder.next())
      return *fpdu;
    decoder.feed(read(std::max<std::size_t>(left_.size(), 1)));
  }
}

peer::End Raw::readToEnd(Bytes& out) {
  const Deadline deadline(patience);

  out = std::move(left_);
  left_.clear();
  for (;;) {
    const auto end = stream_.receive(out, deadline);

    if (end != peer::End::Data)
      return end;
  }
}

static constexpr const char* tcpMemory = "/proc/sys/net/ipv4/tcp_mem";

TcpMemory::TcpMemory(const char* limits) {
  std::getline(std::ifstream(tcpMemory), before_);
  if (!(std::ofstream(tcpMemory) << limits << std::flush))
    throw test::Skip(std::string("cannot write ") + tcpMemory);
}

TcpMemory::~TcpMemory() {
  std::ofstream(tcpMemory) << before_;
}

Bytes pattern(std::size_t n, std::uint64_t seed) {
  Bytes b(n);

  test::fill(b, seed);
  return b;
}

Bytes text(const char* s) {
  return Bytes(s, s + std::strlen(s));
}

void expectErrno(ssize_t got, int want, const std::string& what) {
  if (got != -want)
    throw Failure(format("%s: got %zd%s%s, want -%d (%s)", what.c_str(), got, got < 0 ? " " : "",
                         got < 0 ? std::strerror(static_cast<int>(-got)) : "", want, std::strerror(want)));
}

void expectOk(ssize_t got, const std::string& what) {
  if (got < 0)
    throw Failure(what + ": " + std::strerror(static_cast<int>(-got)));
}

void expectOctets(const Received& got, View want, const std::string& what) {
  expectOk(got.result, what);
  test::expectEqual(got.data.size(), want.size(), what + ": octets");
  test::expect(std::equal(want.begin(), want.end(), got.data.begin()), what + ": other octets");
}

void expectUlpdu(const Received& got, View want, const std::string& what) {
  expectOk(got.result, what);
  test::expectEqual(got.result, want.size(), what + ": octets");
  test::expect(got.flags & MSG_EOR, what + ": no MSG_EOR");
  test::expect(!(got.flags & MSG_TRUNC), what + ": MSG_TRUNC");
  expectOctets(got, want, what);
}

} // namespace sockets

// SPDX-License-Identifier: GPL-2.0
/** @file cases_data.cpp @brief Full Operation: one ULPDU per call, in both directions, blocking and non-blocking. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <netinet/ip_icmp.h>
#include <numeric>
#include <random>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <thread>

#include "socket.hpp"

namespace sockets {

using peer::End;
using peer::FpduDecoder;
using peer::FpduEncoder;
using test::expect;
using test::expectEqual;

/* Sizes around every boundary, in every mode. */
static void records(Context& c) {
  static const std::size_t sizes[] = {0,    1,    2,    3,    4,    5,     127,   128,   500,   502,          503,
                                      504,  505,  506,  507,  508,  509,   510,   511,   512,   513,          1014,
                                      1015, 1016, 1436, 1437, 1438, 1440,  1441,  1448,  1460,  2000,         4095,
                                      4096, 4097, 8192, 9000, 9001, 32767, 32768, 64535, 64767, MPA_ULPDU_MAX};

  for (int bits = 0; bits < 8; bits++) {
    const Ends e = fullEnds(c, {.clientMarkers = !!(bits & 1), .serverMarkers = !!(bits & 2), .crc = !!(bits & 4)});

    for (const auto n : sizes) {
      const Bytes there = pattern(n, c.seed + n), back = pattern(n, c.seed - n);

      expectEqual(e.client.send(there), n, "send");
      expectUlpdu(e.server.receive(), there, test::format("%zu octets", n));
      expectEqual(e.server.send(back), n, "send");
      expectUlpdu(e.client.receive(), back, test::format("%zu octets back", n));
    }
  }
}

/* As with SOCK_SEQPACKET: the part of a ULPDU that does not fit is dropped; MSG_PEEK takes nothing. */
static void truncation(Context& c) {
  const Ends e = fullEnds(c, {.serverMarkers = true});
  const Bytes a = pattern(5000, c.seed), b = pattern(10, c.seed + 1);

  for (int i = 0; i < 5; i++)
    expectOk(e.client.send(a), "send");
  expectOk(e.client.send(b), "send");
  expectOk(e.client.send({}), "send nothing");
  expectOk(e.client.send(b, MSG_NOSIGNAL | MSG_WAITALL), "send, with the flag that io_uring passes on");

  const View head = View(a).first(1000);
  for (int i = 0; i < 2; i++) {
    const auto looked = e.server.receive(1000, MSG_PEEK);
    expectOctets(looked, head, "MSG_PEEK");
    expect((looked.flags & (MSG_TRUNC | MSG_EOR)) == (MSG_TRUNC | MSG_EOR), "MSG_PEEK: flags");
  }
  expectEqual(e.server.receive(1000, MSG_PEEK | MSG_TRUNC).result, a.size(), "MSG_PEEK|MSG_TRUNC");
  const auto cut = e.server.receive(1000);
  expectOctets(cut, head, "cut");
  expect((cut.flags & (MSG_TRUNC | MSG_EOR)) == (MSG_TRUNC | MSG_EOR), "cut: flags");
  const auto all = e.server.receive(1000, MSG_TRUNC);
  expectEqual(all.result, a.size(), "MSG_TRUNC");
  expect(std::equal(head.begin(), head.end(), all.data.begin()), "MSG_TRUNC: other octets");
  expectEqual(e.server.receive(0, MSG_TRUNC).result, a.size(), "no room at all");
  expectUlpdu(e.server.receive(a.size()), a, "exact room");
  expectUlpdu(e.server.receive(70000, MSG_WAITALL), a, "MSG_WAITALL");
  expectUlpdu(e.server.receive(), b, "the next one");
  expectUlpdu(e.server.receive(), {}, "an empty one");
  expectUlpdu(e.server.receive(), b, "the last one");
  expectErrno(e.server.receive(10, MSG_DONTWAIT).result, EAGAIN, "nothing left");
}

static void tooLong(Context& c) {
  const Ends e = fullEnds(c);
  const auto before = e.client.status().tx_position;
  const Bytes most = pattern(MPA_ULPDU_MAX, c.seed), mulpdu = pattern(e.client.status().mulpdu, c.seed);

  expectErrno(e.client.send(pattern(MPA_ULPDU_MAX + 1, 0)), EMSGSIZE, "64769 octets");
  expectErrno(e.client.send(pattern(1 << 20, 0)), EMSGSIZE, "1 MiB");
  expectEqual(e.client.status().tx_position, before, "stream position after refused ULPDUs");
  expectOk(e.client.send(most), "64768 octets");
  expectUlpdu(e.server.receive(), most, "64768 octets");
  expectOk(e.client.send(mulpdu), "MULPDU");
  expectUlpdu(e.server.receive(), mulpdu, "MULPDU");
  for (const std::size_t length : {MPA_ULPDU_MAX + 1, MPA_ULPDU_RECV_MAX}) { /* of a peer that has no such limit */
    RawEnds raw = initiateRaw(c);
    FpduEncoder encoder({.crc = true});
    const Bytes longer = pattern(length, c.seed);

    raw.raw.send(encoder.encode(longer));
    expectUlpdu(raw.socket.receive(MPA_ULPDU_RECV_MAX), longer, test::format("%zu octets of a peer", length));
  }
}

/* Scattered memory on both sides makes one ULPDU. */
static void scattered(Context& c) {
  const Ends e = fullEnds(c, {.serverMarkers = true});
  Bytes out = pattern(3000, c.seed), in(3000);
  iovec from[] = {{out.data(), 1}, {out.data() + 1, 0}, {out.data() + 1, 1999}, {out.data() + 2000, 1000}};
  iovec to[] = {{in.data(), 507}, {in.data() + 507, 1}, {in.data() + 508, 2492}};

  expectEqual(writev(e.client.fd(), from, 4), 3000, "writev");
  expectEqual(readv(e.server.fd(), to, 3), 3000, "readv");
  expect(in == out, "other octets");
}

/* Random sizes at full speed in both directions at once, compared. */
static void stream(const Ends& e, std::uint64_t seed, unsigned count) {
  const auto sender = [&](const Socket& s, std::uint64_t mine) {
    std::mt19937_64 random(mine);

    for (unsigned i = 0; i < count; i++) {
      const std::size_t n = random() % (random() % 4 ? 3000 : MPA_ULPDU_MAX + 1);
      expectEqual(s.send(pattern(n, mine + i), MSG_NOSIGNAL | (random() % 3 ? MSG_MORE : 0)), n, "send");
    }
    expectOk(s.shutdown(SHUT_WR), "shutdown");
  };
  const auto receiver = [&](const Socket& s, std::uint64_t other) {
    std::mt19937_64 random(other);

    for (unsigned i = 0; i < count; i++) {
      const std::size_t n = random() % (random() % 4 ? 3000 : MPA_ULPDU_MAX + 1);
      expectUlpdu(s.receive(), pattern(n, other + i), test::format("ULPDU %u", i));
      random();
    }
    expect(s.receive().endOfStream(), "no end");
  };
  Call there(e, [&] { sender(e.client, seed); });
  Call arrives(e, [&] { receiver(e.server, seed); });
  Call back(e, [&] { sender(e.server, seed + 1000); });
  Call returns(e, [&] { receiver(e.client, seed + 1000); });
  there.result();
  arrives.result();
  back.result();
  returns.result();
}

static void transfer(Context& c) {
  for (int bits = 0; bits < 8; bits++)
    stream(fullEnds(c, {.clientMarkers = !!(bits & 1), .serverMarkers = !!(bits & 2), .crc = !!(bits & 4)}), c.seed + 7 * bits,
           c.count ? c.count : 300);
}

/* The key must be there before TCP connects; MPA starts afterwards, and has 16 or 20 octets less in a segment. */
template <Signature signature> static void signedSegments(Context& c) {
  Context withKey = c;

  withKey.signature = signature;
  stream(fullEnds(withKey), c.seed, c.count ? c.count : 300);
}

/* Number of segments with data so far, without retransmissions: a slow machine retransmits some. */
static std::uint32_t segmentsOut(const Socket& s) {
  const tcp_info info = s.tcpInfo();

  return info.tcpi_data_segs_out - info.tcpi_total_retrans;
}

/* Number of segments for @p n short ULPDUs; all but the last are sent with @p flags. */
static std::uint32_t segmentsFor(const Context& c, unsigned n, bool packing, int noDelay, int cork, int flags) {
  const Ends e = connectEnds(c);

  for (const Socket* s : {&e.client, &e.server}) {
    expectOk(s->attach(), "TCP_ULP");
    expectOk(s->setOption(MPA_PACKING, packing), "MPA_PACKING");
  }
  startBoth(e);
  greet(e);
  expectOk(e.client.set(IPPROTO_TCP, TCP_NODELAY, noDelay), "TCP_NODELAY");
  expectOk(e.client.set(IPPROTO_TCP, TCP_CORK, cork), "TCP_CORK");
  while (e.client.tcpInfo().tcpi_unacked) /* an acknowledgement would release octets that MSG_MORE holds back */
    std::this_thread::sleep_for(test::milliseconds(1));
  const auto before = segmentsOut(e.client);
  for (unsigned i = 0; i < n; i++)
    expectOk(e.client.send(pattern(20, i), MSG_NOSIGNAL | (i + 1 < n ? flags : 0)), "send");
  expectOk(e.client.set(IPPROTO_TCP, TCP_CORK, 0), "TCP_CORK");
  for (unsigned i = 0; i < n; i++)
    expectUlpdu(e.server.receive(), pattern(20, i), "ULPDU");
  return segmentsOut(e.client) - before;
}

/* The program decides in how many segments short ULPDUs are sent. */
static void packing(Context& c) {
  expectEqual(segmentsFor(c, 40, true, 1, 0, 0), 40, "segments with TCP_NODELAY");
  expectEqual(segmentsFor(c, 40, true, 1, 0, MSG_MORE), 1, "segments with MSG_MORE");
  expectEqual(segmentsFor(c, 40, true, 1, 1, 0), 1, "segments with TCP_CORK");
  expect(segmentsFor(c, 40, true, 0, 0, 0) <= 40, "segments with Nagle");
  expectEqual(segmentsFor(c, 40, false, 1, 0, MSG_MORE), 40, "segments without packing");
}

/* A full non-blocking socket does not sleep, reports when it has room, and loses nothing. */
static void nonBlocking(Context& c) {
  const Ends e = fullEnds(c, {.serverMarkers = true});
  unsigned sent = 0, received = 0;

  e.client.nonBlocking(true);
  expectErrno(e.client.receive().result, EAGAIN, "receive");
  for (int round = 0; round < 3; round++) {
    ssize_t n;

    while ((n = e.client.send(pattern(30000, sent))) > 0)
      sent++;
    expectErrno(n, EAGAIN, "send to a full socket");
    expectEqual(e.client.poll(POLLOUT, test::milliseconds(0)), 0, "POLLOUT of a full socket");
    Call reader(e, [&] {
      for (; received < sent; received++)
        expectUlpdu(e.server.receive(), pattern(30000, received), test::format("ULPDU %u", received));
    });
    expect(e.client.poll(POLLOUT) & POLLOUT, "no room after reading");
    reader.result();
  }
  expect(sent > 3, "the socket was never full");
}

/* The signals of a socket with O_ASYNC, sent to the thread that makes this object, which must not end by them. */
class Signals {
public:
  explicit Signals(const Socket& socket) {
    const f_owner_ex owner{F_OWNER_TID, gettid()};

    sigemptyset(&set_);
    for (const int n : {SIGRTMIN, SIGIO}) /* SIGIO when the queue is full */
      sigaddset(&set_, n);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    expectOk(fcntl(socket.fd(), F_SETSIG, SIGRTMIN), "F_SETSIG");
    expectOk(fcntl(socket.fd(), F_SETOWN_EX, &owner), "F_SETOWN_EX");
    expectOk(fcntl(socket.fd(), F_SETFL, O_NONBLOCK | O_ASYNC), "O_ASYNC");
  }
  /** Forgets the signals that have come. */
  void forget() {
    const timespec none{};

    while (sigtimedwait(&set_, nullptr, &none) > 0) {
    }
  }
  /** Waits for the signal that says that the socket has room. */
  void room() {
    const test::Deadline deadline(patience);

    for (;;) {
      const int left = deadline.left();
      const timespec time{left / 1000, left % 1000 * 1000000L};
      siginfo_t info{};

      expect(sigtimedwait(&set_, &info, &time) > 0 || errno == EINTR, "no signal says that there is room");
      if (info.si_signo == SIGIO || (info.si_signo == SIGRTMIN && info.si_code == POLL_OUT))
        return;
    }
  }

private:
  sigset_t set_{};
};

/* A program that sends again only when a signal tells it of room. */
static void signalled(Context& c) {
  const Ends e = fullEnds(c);
  Signals signals(e.client);
  unsigned sent = 0;
  ssize_t n;

  while ((n = e.client.send(pattern(60000, sent))) > 0)
    sent++;
  const unsigned all = sent + 60;
  Call reader(e, [&] {
    for (unsigned i = 0; i < all; i++)
      expectUlpdu(e.server.receive(), pattern(60000, i), test::format("ULPDU %u", i));
  });
  while (sent < all) {
    signals.forget();
    if ((n = e.client.send(pattern(60000, sent))) > 0) {
      sent++;
      continue;
    }
    expectErrno(n, EAGAIN, "send to a full socket");
    signals.room();
  }
  reader.result();
}

/* The same for a sender that sleeps, and for one that sleeps until a timeout. */
static void blocking(Context& c) {
  const Ends e = fullEnds(c);
  const timeval limit{0, 100000};
  unsigned sent = 0;

  expectOk(e.client.set(SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)), "SO_SNDTIMEO");
  expectOk(e.client.set(SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), "SO_RCVTIMEO");
  expectErrno(e.client.receive().result, EAGAIN, "SO_RCVTIMEO");
  ssize_t n;
  while ((n = e.client.send(pattern(60000, sent))) > 0)
    sent++;
  expectErrno(n, EAGAIN, "SO_SNDTIMEO");
  const timeval none{};
  expectOk(e.client.set(SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none)), "SO_SNDTIMEO");
  Call sender(e, [&] { return e.client.send(pattern(60000, sent)); });
  for (unsigned i = 0; i <= sent; i++)
    expectUlpdu(e.server.receive(), pattern(60000, i), "ULPDU");
  expectEqual(sender.result(), 60000, "the send that waited");
}

/* Accepted octets arrive before the FIN, even if TCP's buffer was full. */
static void closeLosesNothing(Context& c) {
  for (const bool shut : {false, true}) {
    Ends e = fullEnds(c);
    unsigned sent = 0;

    expectOk(e.client.set(SOL_SOCKET, SO_SNDBUF, 20000), "SO_SNDBUF");
    while (e.client.send(pattern(MPA_ULPDU_MAX, sent), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
      sent++;
    if (shut)
      expectOk(e.client.shutdown(SHUT_WR), "shutdown");
    else
      e.client.close();
    for (unsigned i = 0; i < sent; i++)
      expectUlpdu(e.server.receive(), pattern(MPA_ULPDU_MAX, i), test::format("ULPDU %u of %u", i, sent));
    expect(e.server.receive().endOfStream(), "no end");
    if (!shut)
      continue;
    expectErrno(e.client.send(text("x")), EPIPE, "send after shutdown");
    expectOk(e.server.send(text("still here")), "the other half");
    expectUlpdu(e.client.receive(), text("still here"), "the other half");
  }
}

/* The sequence number of the client's first unacknowledged octet, computed from TCP_INFO. */
class Acknowledged {
public:
  /** @p socket is plain TCP and idle. */
  explicit Acknowledged(const Socket& socket) : socket_(socket) {
    socklen_t length = sizeof(number_);

    expectOk(socket.set(IPPROTO_TCP, TCP_REPAIR, TCP_REPAIR_ON), "TCP_REPAIR");
    expectOk(socket.set(IPPROTO_TCP, TCP_REPAIR_QUEUE, TCP_SEND_QUEUE), "TCP_REPAIR_QUEUE");
    getsockopt(socket.fd(), IPPROTO_TCP, TCP_QUEUE_SEQ, &number_, &length);
    expectOk(socket.set(IPPROTO_TCP, TCP_REPAIR, TCP_REPAIR_OFF_NO_WP), "TCP_REPAIR");
    number_ -= octets();
  }

  std::uint32_t number() const { return number_ + octets(); }

private:
  std::uint32_t octets() const { return static_cast<std::uint32_t>(socket_.tcpInfo().tcpi_bytes_acked); }

  const Socket& socket_;
  std::uint32_t number_ = 0;
};

/* Sends @p socket an ICMP message that its peer's host is unreachable, as a router would. */
static void unreachable(const Socket& socket, std::uint32_t sequence) {
  struct {
    icmphdr icmp{.type = ICMP_DEST_UNREACH, .code = ICMP_HOST_UNREACH, .checksum = 0, .un = {}};
    iphdr ip{};
    std::uint16_t from = 0, to = 0;
    std::uint32_t sequence = 0;
  } message;
  sockaddr_in local{}, remote{};
  socklen_t length = sizeof(local);
  const test::Fd fd(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP));

  if (!fd || getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&local), &length) ||
      getpeername(socket.fd(), reinterpret_cast<sockaddr*>(&remote), &length))
    test::throwErrno("ICMP");
  message.ip.version = 4;
  message.ip.ihl = 5;
  message.ip.protocol = IPPROTO_TCP;
  message.ip.saddr = local.sin_addr.s_addr;
  message.ip.daddr = remote.sin_addr.s_addr;
  message.from = local.sin_port;
  message.to = remote.sin_port;
  message.sequence = htonl(sequence);
  std::array<std::uint16_t, sizeof(message) / 2> words{};
  std::memcpy(words.data(), &message, sizeof(message));
  const std::uint32_t sum = std::accumulate(words.begin(), words.end(), 0U);
  message.icmp.checksum = static_cast<std::uint16_t>(~((sum & 0xffff) + (sum >> 16)));
  local.sin_port = 0;
  if (sendto(fd.get(), &message, sizeof(message), 0, reinterpret_cast<sockaddr*>(&local), sizeof(local)) < 0)
    test::throwErrno("ICMP");
}

/*
 * Does the rest of a ULPDU wait, and TCP neither ask for more nor expect an ACK? Then the kernel has nothing to do. status() is the
 * last call, because it waits for a worker that has just filled TCP.
 */
static bool isFull(const Socket& socket) {
  const bool quiet = socket.tcpInfo().tcpi_unacked == 0;
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t length = sizeof(memory);

  expectOk(getsockopt(socket.fd(), SOL_SOCKET, SO_MEMINFO, memory.data(), &length), "SO_MEMINFO");
  const bool full = memory[SK_MEMINFO_WMEM_QUEUED] * 3 >= memory[SK_MEMINFO_SNDBUF] * 2;
  const mpa_status now = socket.status();
  return full && quiet && now.tx_position > now.tx_accepted;
}

/* Sends until TCP does not take all of the last ULPDU; returns the number of ULPDUs. */
static unsigned sendUntilFull(const Socket& socket) {
  const test::Deadline deadline(patience);
  unsigned sent = 0;

  do {
    expect(!deadline.passed(), "TCP takes everything");
    while (socket.send(pattern(MPA_ULPDU_MAX, sent)) > 0)
      sent++;
  } while (!isFull(socket));
  return sent;
}

/* An ICMP message sets the socket's error (IP_RECVERR), but TCP continues: so does MPA, through startup and up to both FINs. */
static void icmpErrors(Context& c) {
  const Ends e = connectEnds(c);
  const Acknowledged acknowledged(e.client);

  expectOk(e.client.set(IPPROTO_IP, IP_RECVERR, 1), "IP_RECVERR");
  expectOk(e.client.set(SOL_SOCKET, SO_SNDBUF, 20000), "SO_SNDBUF");
  expectOk(e.client.attach(), "TCP_ULP");
  expectOk(e.server.attach(), "TCP_ULP");
  e.client.nonBlocking(true);
  expectErrno(e.client.start(MPA_INITIATE), EINPROGRESS, "MPA_INITIATE");
  expectOk(e.server.start(MPA_RESPOND), "MPA_RESPOND");
  unreachable(e.client, acknowledged.number());
  expect(e.client.poll(0) & POLLERR, "no error in startup");
  expectOk(e.server.start(MPA_ACCEPT), "MPA_ACCEPT");
  for (const test::Deadline deadline(patience); e.client.status().state == MPA_STATE_WAIT_REPLY;)
    expect(!deadline.passed(), "no end of startup");
  expectEqual(e.client.soError(), EHOSTUNREACH, "SO_ERROR");
  e.client.receive(1, MSG_ERRQUEUE);
  unreachable(e.client, acknowledged.number());
  expect(e.client.poll(0) & POLLERR, "no error after startup");
  expectErrno(e.client.receive().result, EHOSTUNREACH, "receive");
  e.client.receive(1, MSG_ERRQUEUE);
  expectEqual(e.client.poll(0, test::milliseconds(0)) & POLLERR, 0, "POLLERR after a call has reported the error");
  for (const bool last : {false, true}) {
    const unsigned sent = sendUntilFull(e.client);
    unreachable(e.client, acknowledged.number());
    expect(e.client.poll(0) & POLLERR, "no error behind a full socket");
    if (last)
      expectOk(e.client.shutdown(SHUT_WR), "shutdown");
    for (unsigned i = 0; i < sent; i++)
      expectUlpdu(e.server.receive(), pattern(MPA_ULPDU_MAX, i), test::format("ULPDU %u of %u", i, sent));
    expectErrno(e.client.receive().result, EHOSTUNREACH, "receive after the kernel has sent the rest");
    e.client.receive(1, MSG_ERRQUEUE);
  }
  expect(e.server.receive().endOfStream(), "no end");
  unreachable(e.client, acknowledged.number());
  expect(e.client.poll(0) & POLLERR, "no error before the other FIN");
  expectErrno(e.client.receive().result, EHOSTUNREACH, "receive before the other FIN");
  expectOk(e.server.shutdown(SHUT_WR), "shutdown");
  e.client.nonBlocking(false);
  expect(e.client.receive().endOfStream(), "no end of the other direction");
}

/* Several ULPDUs in one call. */
static void batch(Context& c) {
  const Ends e = fullEnds(c);
  std::array<Bytes, 3> ulpdus{pattern(1, c.seed), pattern(0, 0), pattern(5000, c.seed)};
  std::array<iovec, 3> parts{};
  std::array<mmsghdr, 3> messages{};

  for (std::size_t i = 0; i < ulpdus.size(); i++) {
    parts[i] = {ulpdus[i].data(), ulpdus[i].size()};
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  expectEqual(sendmmsg(e.client.fd(), messages.data(), messages.size(), MSG_NOSIGNAL), 3, "sendmmsg");
  for (const Bytes& ulpdu : ulpdus)
    expectUlpdu(e.server.receive(), ulpdu, "ULPDU");
}

/* FIONREAD returns the length of the ULPDU that can be read. */
static void queued(Context& c) {
  RawEnds e = respondRaw(c, {.serverMarkers = true});
  FpduEncoder encoder({.markers = true, .crc = true});
  const Bytes a = encoder.encode(pattern(1000, c.seed)), b = encoder.encode(pattern(7, c.seed));

  expectEqual(e.socket.inQueue(), 0, "FIONREAD of nothing");
  e.raw.send(View(a).first(900));
  expectEqual(e.socket.poll(POLLIN, test::milliseconds(50)), 0, "POLLIN of a part");
  expectEqual(e.socket.inQueue(), 0, "FIONREAD of a part");
  e.raw.send(View(a).subspan(900));
  e.raw.send(b);
  expect(e.socket.poll(POLLIN) & POLLIN, "no POLLIN");
  expectEqual(e.socket.inQueue(), 1000, "FIONREAD");
  e.socket.receive();
  expect(e.socket.poll(POLLIN) & POLLIN, "no POLLIN for the second one");
  expectEqual(e.socket.inQueue(), 7, "FIONREAD of the second one");
}

/* FPDUs in segments of any length, and one FPDU larger than any window. */
static void anyCut(Context& c) {
  for (const std::size_t cut : {1, 2, 3, 7, 511, 513}) {
    RawEnds e = respondRaw(c, {.serverMarkers = true});
    FpduEncoder encoder({.markers = true, .crc = true});

    for (std::size_t n : {0, 1, 600}) {
      const Bytes ulpdu = pattern(n, c.seed + n);

      e.raw.send(encoder.encode(ulpdu), {cut});
      expectUlpdu(e.socket.receive(), ulpdu, test::format("%zu octets in pieces of %zu", n, cut));
    }
  }
}

static void smallWindow(Context& c) {
  const Ends e = connectEnds(c);

  for (const Socket* s : {&e.client, &e.server})
    expectOk(s->attach(), "TCP_ULP");
  expectOk(e.server.set(SOL_SOCKET, SO_RCVBUF, 8192), "SO_RCVBUF");
  expectOk(e.client.set(SOL_SOCKET, SO_SNDBUF, 8192), "SO_SNDBUF");
  startBoth(e);
  const Bytes longest = pattern(MPA_ULPDU_MAX, 7);
  const auto acked = [&] { return e.client.tcpInfo().tcpi_bytes_acked; };
  const auto before = acked();
  auto now = before;
  unsigned rest = 0;
  expectEqual(e.client.send(longest, MSG_DONTWAIT), MPA_ULPDU_MAX, "send");
  do {
    now = acked();
    rest = e.client.outQueue();
  } while (acked() != now);
  expectEqual(now - before + rest, FpduEncoder({.crc = true}).encode(longest).size(), "octets acknowledged, and of SIOCOUTQ");
  expectUlpdu(e.server.receive(), longest, "longer than both buffers");
  for (unsigned i = 0; i < 2; i++) {
    Call sender(e, [&] { return e.client.send(pattern(MPA_ULPDU_MAX, i)); });
    expectUlpdu(e.server.receive(), pattern(MPA_ULPDU_MAX, i), "longer than the window");
    expectEqual(sender.result(), MPA_ULPDU_MAX, "send");
  }
}

/* Edge-triggered epoll: one event for the data that has arrived, and another for later data. */
static void epollEdge(Context& c) {
  const Ends e = fullEnds(c);
  test::Fd ep(epoll_create1(0));
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {}}, got{};

  e.server.nonBlocking(true);
  expectOk(epoll_ctl(ep.get(), EPOLL_CTL_ADD, e.server.fd(), &event), "epoll_ctl");
  expectEqual(epoll_wait(ep.get(), &got, 1, 0), 0, "events before any data");
  for (int i = 0; i < 3; i++) {
    expectOk(e.client.send(text("one")), "send");
    expectEqual(epoll_wait(ep.get(), &got, 1, 20000), 1, "events");
    expect(got.events & EPOLLIN, "no EPOLLIN");
    expectUlpdu(e.server.receive(), text("one"), "ULPDU");
    expectErrno(e.server.receive().result, EAGAIN, "a second one");
    expectEqual(epoll_wait(ep.get(), &got, 1, 0), 0, "events after reading");
  }
  expectOk(e.client.shutdown(SHUT_WR), "shutdown");
  expectEqual(epoll_wait(ep.get(), &got, 1, 20000), 1, "events at the end");
  expect(e.server.receive().endOfStream(), "no end");
}

std::span<const SocketCase> dataCases() {
  static const SocketCase cases[] = {
      {"data-records", "DDP-01 DDP-05 FRM-02 FRM-03 MRK-12 CRC-09", "each size around a boundary, every mode", records},
      {"data-truncation", "DDP-01 DDP-05", "MSG_TRUNC, MSG_PEEK, MSG_EOR, empty ULPDUs", truncation},
      {"data-too-long", "DDP-03 DDP-04", "64769 octets are refused, 64768 are not; a peer may send 65535", tooLong},
      {"data-scattered", "DDP-01", "scattered memory is one ULPDU", scattered},
      {"data-batch", "DDP-01", "sendmmsg", batch},
      {"data-icmp", "TX-08 END-01", "ICMP errors (IP_RECVERR) in startup and before each FIN", icmpErrors},
      {"data-transfer", "RCV-03 TX-08 DDP-05", "random sizes both ways at once, every mode", transfer},
      {"data-md5", "", "random sizes both ways, TCP's segments have MD5 signatures", signedSegments<Signature::Md5>},
      {"data-ao", "", "random sizes both ways, TCP's segments have its Authentication Option", signedSegments<Signature::Ao>},
      {"data-packing", "TX-02 TX-06 TX-09 RDC-07", "segments with TCP_NODELAY, MSG_MORE, TCP_CORK, no packing", packing},
      {"data-signals", "TX-08", "a full socket with O_ASYNC: a signal tells of room", signalled},
      {"data-nonblocking", "TX-03 TX-08", "a full non-blocking socket, poll, no data lost", nonBlocking},
      {"data-blocking", "TX-03", "a full blocking socket; SO_SNDTIMEO, SO_RCVTIMEO", blocking},
      {"data-close", "TX-08 END-01", "accepted octets arrive before the FIN", closeLosesNothing},
      {"data-queued", "RCV-02 DDP-05", "FIONREAD and poll count whole ULPDUs only", queued},
      {"data-any-cut", "RCV-03 RCV-02", "segments of 1 to 513 octets", anyCut},
      {"data-small-window", "RCV-06", "ULPDUs of 64768 octets, a window of a few KiB", smallWindow},
      {"data-epoll-edge", "DDP-05", "edge-triggered epoll", epollEdge},
  };
  return cases;
}

} // namespace sockets

// SPDX-License-Identifier: GPL-2.0
/** @file cases_hostile.cpp @brief Programs that misuse the API: wrong moments, wrong lengths, concurrent threads. */
#include <atomic>
#include <fcntl.h>
#include <linux/sockios.h>
#include <random>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <thread>

#include "memory.hpp"

namespace sockets {

using peer::FpduEncoder;
using peer::StartupFrame;
using test::expect;
using test::expectEqual;

/* Sockets that MPA cannot be attached to, and sockets that already have it. */
static void attaching(Context& c) {
  const Socket fresh(test::Fd(socket(AF_INET, SOCK_STREAM, 0)));
  const Socket listener(test::Fd(socket(AF_INET, SOCK_STREAM, 0)));
  const Ends e = connectEnds(c);

  expectErrno(fresh.attach(), ENOTCONN, "a socket that is not connected");
  expectOk(listen(listener.fd(), 1), "listen");
  expectErrno(listener.attach(), ENOTCONN, "a listening socket");
  expect(e.client.setOption(MPA_CRC, 1) < 0, "an option without MPA");
  expectOk(e.client.attach(), "TCP_ULP");
  expectErrno(e.client.attach(), EEXIST, "twice");
  char name[16] = {};
  socklen_t length = sizeof(name);
  expectOk(getsockopt(e.client.fd(), IPPROTO_TCP, TCP_ULP, name, &length), "TCP_ULP");
  expect(!std::strcmp(name, "mpa"), "another ULP");
  expectOk(e.server.shutdown(SHUT_WR), "shutdown");
  expect(e.client.receive().result == 0, "no end of the stream");
  expectErrno(e.client.attach(), EEXIST, "after the peer's FIN");
}

/* Each option with invalid values and lengths. */
static void wrongOptions(Context& c) {
  const Ends e = connectEnds(c);
  const Socket& s = e.client;
  const mpa_depths deep{0x3fff, 1}, wide{1, 0x4000};
  const Bytes big(600);
  const Hole hole;

  expectOk(s.attach(), "TCP_ULP");
  for (const int name : {MPA_MARKERS, MPA_CRC, MPA_RDMAC, MPA_PACKING}) {
    for (const int value : {2, -1, 256})
      expectErrno(s.setOption(name, value), EINVAL, "neither 0 nor 1");
    for (const std::size_t n : {0, 1, 3, 5, 8})
      expectErrno(s.set(SOL_MPA, name, big.data(), n), EINVAL, "length of an int");
    expectErrno(s.set(SOL_MPA, name, hole.before(2), 4), EFAULT, "memory that ends");
  }
  for (const int value : {0, 3, -1})
    expectErrno(s.setOption(MPA_REVISION, value), EINVAL, "revision");
  for (const int value : {0, -1, 3600001})
    expectErrno(s.setOption(MPA_STARTUP_TIMEOUT, value), EINVAL, "timeout");
  expectErrno(s.set(SOL_MPA, MPA_DEPTHS, &deep, sizeof(deep)), EINVAL, "IRD");
  expectErrno(s.set(SOL_MPA, MPA_DEPTHS, &wide, sizeof(wide)), EINVAL, "ORD");
  expectErrno(s.set(SOL_MPA, MPA_DEPTHS, &deep, 3), EINVAL, "length of depths");
  expectErrno(s.data(View(big).first(513)), EMSGSIZE, "513 octets of Private Data");
  expectErrno(s.set(SOL_MPA, MPA_PRIVATE_DATA, hole.before(8), 9), EFAULT, "Private Data that ends");
  expectErrno(s.set(SOL_MPA, MPA_RESPOND, hole.before(8), 9), EFAULT, "a last message that ends");
  expectEqual(s.status().state, MPA_STATE_STREAMING, "state");
  for (const int name : {MPA_INITIATE, MPA_ACCEPT, MPA_REJECT, MPA_START_RDMAC})
    expectErrno(s.start(name, View(big).first(4)), EINVAL, "a value where none exists");
  for (const int name : {0, 9, 15, 21, MPA_STATUS, MPA_PEER, -1, 1 << 30})
    expectErrno(s.setOption(name, 0), ENOPROTOOPT, "no such option");
  expectErrno(s.start(MPA_ACCEPT), ENOTCONN, "MPA_ACCEPT of nothing");
  expectErrno(s.start(MPA_REJECT), ENOTCONN, "MPA_REJECT of nothing");
}

static int get(const Socket& s, int name, void* value, socklen_t& length) {
  return getsockopt(s.fd(), SOL_MPA, name, value, &length) ? -errno : 0;
}

/* A value is cut to the length of the caller's buffer; nothing behind the buffer is written. */
static void wrongReads(Context& c) {
  const Ends e = connectEnds(c);
  const Hole hole;
  Bytes room(1000, 0xee);

  expectOk(e.client.attach(), "TCP_ULP");
  for (const int name : {MPA_MARKERS, MPA_CRC, MPA_DEPTHS, MPA_STATUS}) {
    for (const socklen_t n : {0, 1, 3, 4, 1000}) {
      socklen_t length = n;

      std::fill(room.begin(), room.end(), 0xee);
      expectOk(get(e.client, name, room.data(), length), "getsockopt");
      expect(length <= n, "longer than the room");
      expect(std::all_of(room.begin() + length, room.end(), [](auto o) { return o == 0xee; }), "written behind the end");
    }
    socklen_t length = 4;
    expectErrno(get(e.client, name, hole.before(1), length), EFAULT, "memory that ends");
    length = static_cast<socklen_t>(-1);
    expectErrno(get(e.client, name, room.data(), length), EINVAL, "a negative length");
  }
  socklen_t length = 1000;
  expectErrno(get(e.client, MPA_PEER, room.data(), length), ENOTCONN, "MPA_PEER before the peer's frame");
  expectErrno(get(e.client, MPA_INITIATE, room.data(), length), ENOPROTOOPT, "reading an action");
}

/* Each action in each state. */
static void wrongMoments(Context& c) {
  const Ends e = fullEnds(c);

  for (const int name : {MPA_INITIATE, MPA_RESPOND, MPA_START_RDMAC})
    expectErrno(e.client.start(name), EISCONN, "a start in Full Operation");
  for (const int name : {MPA_ACCEPT, MPA_REJECT})
    expectErrno(e.client.start(name), EINVAL, "an answer in Full Operation");
  expectErrno(e.client.setOption(MPA_MARKERS, 1), EBUSY, "an option in Full Operation");
  expectErrno(e.client.data(text("x")), EBUSY, "Private Data in Full Operation");

  RawEnds r = connectRaw(c);
  expectOk(r.socket.attach(), "TCP_ULP");
  r.socket.nonBlocking(true);
  expectErrno(r.socket.start(MPA_RESPOND), EINPROGRESS, "MPA_RESPOND");
  expectErrno(r.socket.start(MPA_ACCEPT), EINVAL, "MPA_ACCEPT before the Request");
  expectErrno(r.socket.start(MPA_INITIATE), EALREADY, "MPA_INITIATE of a Responder");
  r.raw.send(StartupFrame{}.encode());
  expect(r.socket.poll(POLLIN) & POLLIN, "no Request");
  expectErrno(r.socket.receive().result, ENOTCONN, "receive while undecided");
  expectErrno(r.socket.send(text("x")), ENOTCONN, "send while undecided");
  expectOk(r.socket.data(text("late, but in time")), "Private Data while undecided");
  expectOk(r.socket.shutdown(SHUT_WR), "shutdown");
  expect(r.socket.start(MPA_ACCEPT) < 0, "MPA_ACCEPT after a shutdown");

  const Ends shut = connectEnds(c);
  expectOk(shut.client.attach(), "TCP_ULP");
  expectOk(shut.client.shutdown(SHUT_WR), "shutdown");
  expectErrno(shut.client.start(MPA_INITIATE), ENOTCONN, "MPA_INITIATE after a shutdown");
}

/* CRCs can be turned off only if the administrator has allowed it, or by a privileged program. */
static void crcPermission(Context& c) {
  const Ends e = connectEnds(c);

  expectOk(e.client.attach(), "TCP_ULP");
  const pid_t child = fork();
  expect(child >= 0, "fork");
  if (!child)
    _exit(setuid(65534) ? 2 : e.client.setOption(MPA_CRC, 0) != -EPERM ? 3 : e.client.setOption(MPA_CRC, 1) != 0 ? 4 : 0);
  int status = -1;
  waitpid(child, &status, 0);
  expectEqual(status, 0, "an unprivileged program (wait status)");
  expectOk(e.client.setOption(MPA_CRC, 0), "a privileged one");
}

/* Asks for a timestamp of one record: 0 or a negative errno. */
static int sendWithTimestamp(const Socket& socket) {
  char octet = 'x';
  iovec iov{&octet, 1};
  alignas(cmsghdr) std::uint8_t control[CMSG_SPACE(sizeof(std::uint32_t))] = {};
  msghdr msg{};

  msg.msg_iov = &iov;
  msg.msg_iovlen = 1;
  msg.msg_control = control;
  msg.msg_controllen = sizeof(control);
  cmsghdr* cmsg = CMSG_FIRSTHDR(&msg);
  cmsg->cmsg_level = SOL_SOCKET;
  cmsg->cmsg_type = SO_TIMESTAMPING;
  cmsg->cmsg_len = CMSG_LEN(sizeof(std::uint32_t));
  return sendmsg(socket.fd(), &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* In Full Operation other calls on a TCP socket either work or are refused. */
static void otherCalls(Context& c) {
  const Ends e = fullEnds(c);
  test::Fd zero(open("/dev/zero", O_RDONLY));
  int pipes[2];
  sockaddr unspecified{};

  expectErrno(e.client.send(text("x"), MSG_OOB), EOPNOTSUPP, "MSG_OOB");
  expectErrno(e.client.send(text("x"), MSG_ZEROCOPY), EOPNOTSUPP, "MSG_ZEROCOPY");
  expectErrno(sendWithTimestamp(e.client), EOPNOTSUPP, "control data");
  expectErrno(e.client.receive(10, MSG_OOB).result, EOPNOTSUPP, "recv MSG_OOB");
  expectErrno(e.client.receive(10, MSG_ERRQUEUE).result, EAGAIN, "MSG_ERRQUEUE");
  expectOk(pipe(pipes), "pipe");
  const test::Fd out(pipes[0]), in(pipes[1]);
  expectOk(write(in.get(), "abc", 3), "write");
  expectErrno(splice(out.get(), nullptr, e.client.fd(), nullptr, 3, 0) < 0 ? -errno : 0, EOPNOTSUPP, "splice to it");
  expectErrno(splice(e.client.fd(), nullptr, in.get(), nullptr, 3, SPLICE_F_NONBLOCK) < 0 ? -errno : 0, EOPNOTSUPP,
              "splice from it");
  expectErrno(e.client.set(SOL_SOCKET, SO_RCVLOWAT, 10), EOPNOTSUPP, "SO_RCVLOWAT");
  expectErrno(e.client.set(IPPROTO_TCP, TCP_REPAIR, 1), EBUSY, "TCP_REPAIR");
  tcp_zerocopy_receive z{};
  socklen_t length = sizeof(z);
  expectErrno(getsockopt(e.client.fd(), IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &z, &length) ? -errno : 0, EOPNOTSUPP,
              "TCP_ZEROCOPY_RECEIVE");
  unspecified.sa_family = AF_UNSPEC;
  expectErrno(connect(e.client.fd(), &unspecified, sizeof(unspecified)) ? -errno : 0, EOPNOTSUPP, "disconnecting");
  expect(listen(e.client.fd(), 1) < 0, "listen");
  expectErrno(e.client.shutdown(5), EINVAL, "shutdown of nothing");
  expectOk(e.client.send(text("still there")), "send");
  expectUlpdu(e.server.receive(), text("still there"), "after all that");
}

/* In streaming mode TCP handles all of these calls. */
static void streamingCalls(Context& c) {
  const Ends e = connectEnds(c);
  int pipes[2];
  char buffer[16];

  expectOk(e.client.attach(), "TCP_ULP");
  expectOk(e.server.attach(), "TCP_ULP");
  expectOk(pipe(pipes), "pipe");
  const test::Fd out(pipes[0]), in(pipes[1]);
  expectOk(write(in.get(), "abc", 3), "write");
  expectEqual(splice(out.get(), nullptr, e.client.fd(), nullptr, 3, 0), 3, "splice to it");
  expect(e.server.poll(POLLIN) & POLLIN, "no POLLIN");
  expectEqual(e.server.inQueue(), 3, "FIONREAD");
  expectEqual(splice(e.server.fd(), nullptr, in.get(), nullptr, 3, 0), 3, "splice from it");
  expectEqual(read(out.get(), buffer, 3), 3, "read");
  expectOk(e.client.set(SOL_SOCKET, SO_RCVLOWAT, 1), "SO_RCVLOWAT");
  expectOk(e.client.send(text("!"), MSG_OOB), "MSG_OOB");
  expectEqual(e.server.poll(POLLPRI) & POLLPRI, POLLPRI, "POLLPRI");
}

/* The peer's urgent data is an ordinary octet of the stream. */
static void urgent(Context& c) {
  RawEnds e = initiateRaw(c, {.clientMarkers = true});
  FpduEncoder encoder({.markers = true, .crc = true});
  const Bytes ulpdu = pattern(2000, c.seed), wire = encoder.encode(ulpdu);

  e.raw.send(View(wire).first(1000));
  e.raw.urgent(View(wire).subspan(1000, 1));
  e.raw.send(View(wire).subspan(1001));
  e.raw.send(encoder.encode(ulpdu));
  expectUlpdu(e.socket.receive(), ulpdu, "with an urgent octet");
  expectUlpdu(e.socket.receive(), ulpdu, "the next one");
}

/* A call within TCP could take octets that belong to MPA: MPA does not start until the call has returned. */
static void busyStream(Context& c) {
  const Ends e = connectEnds(c);
  const test::Deadline deadline(patience);

  expectOk(e.client.attach(), "TCP_ULP");
  /* A start fails because of too much Private Data until the reader has entered its call. */
  expectOk(e.client.setOption(MPA_REVISION, 2), "MPA_REVISION");
  expectOk(e.client.data(pattern(509, c.seed)), "MPA_PRIVATE_DATA");
  Call reader(e, [&] { return e.client.receive(); });
  int result;
  while ((result = e.client.start(MPA_INITIATE)) == -EMSGSIZE && !deadline.passed())
    std::this_thread::yield();
  expectErrno(result, EBUSY, "MPA_INITIATE while a thread reads");
  expectErrno(e.client.start(MPA_START_RDMAC), EBUSY, "MPA_START_RDMAC while a thread reads");
  expectEqual(e.client.status().state, MPA_STATE_STREAMING, "state");
  expectOk(e.server.send(text("go on")), "send");
  expectOctets(reader.result(), text("go on"), "the reader's data");
  expectOk(e.client.start(MPA_START_RDMAC), "MPA_START_RDMAC");
}

/* A failing start does not affect other calls: to them the socket is a streaming one throughout. */
static void failingStarts(Context& c) {
  const Ends e = connectEnds(c);
  std::atomic<bool> done = false;

  expectOk(e.client.attach(), "TCP_ULP");
  expectOk(e.client.setOption(MPA_REVISION, 2), "MPA_REVISION");
  expectOk(e.client.data(pattern(509, c.seed)), "MPA_PRIVATE_DATA");
  Call starter(e, [&] {
    while (!done) {
      const int result = e.client.start(MPA_INITIATE);

      expect(result == -EMSGSIZE || result == -EBUSY, test::format("MPA_INITIATE: %d", result));
    }
  });
  for (unsigned i = 0; i < (c.count ? c.count : 2000); i++) {
    expectErrno(e.client.receive(1, MSG_DONTWAIT).result, EAGAIN, "receive");
    expectEqual(e.client.inQueue(), 0, "FIONREAD of nothing");
    expectOk(e.server.send(text("in")), "send of the peer");
    expect(e.client.poll(POLLIN) & POLLIN, "no POLLIN");
    expectEqual(e.client.inQueue(), 2, "FIONREAD");
    expectOctets(e.client.receive(2), text("in"), "receive");
    expectOk(e.client.send(text("out")), "send");
    expectOctets(e.server.receive(3), text("out"), "receive of the peer");
  }
  done = true;
  starter.result();
}

/* Another thread's shutdown wakes threads that wait, and so does the peer's end. */
static void wokenByShutdown(Context& c) {
  for (const int how : {SHUT_RD, SHUT_RDWR}) {
    const Ends e = fullEnds(c);
    Call reader(e, [&] { return e.client.receive(); });

    e.client.poll(POLLIN, test::milliseconds(20));
    expectOk(e.client.shutdown(how), "shutdown");
    expect(reader.result().endOfStream(), "no end of the stream");
  }
  RawEnds part = respondRaw(c);
  const auto before = part.socket.tcpInfo().tcpi_bytes_received;
  part.raw.send(View(FpduEncoder({.crc = true}).encode(pattern(1000, 0))).first(900));
  for (const test::Deadline deadline(patience); part.socket.tcpInfo().tcpi_bytes_received == before;)
    expect(!deadline.passed(), "no part of an FPDU comes");
  expectOk(part.socket.shutdown(SHUT_RD), "shutdown within an FPDU");
  expect(part.socket.receive().endOfStream(), "no end of the stream within an FPDU");
  const Ends e = fullEnds(c);
  while (e.client.send(pattern(60000, 0), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
    ;
  Call sender(e, [&] { /* a full socket gets room again when the peer's TCP takes octets */
                       auto result = e.client.send(pattern(60000, 0));

                       while (result > 0)
                         result = e.client.send(pattern(60000, 0));
                       return result;
  });
  e.client.poll(POLLIN, test::milliseconds(20));
  expectOk(e.client.shutdown(SHUT_WR), "shutdown");
  expectErrno(sender.result(), EPIPE, "send");
}

/* Close the socket while other threads are in calls, at any moment of a connection's life. */
static void closedUnderThreads(Context& c) {
  std::mt19937_64 random(c.seed);

  for (unsigned i = 0; i < (c.count ? c.count : 40); i++) {
    Ends e = random() % 2 ? fullEnds(c) : connectEnds(c);
    const Socket copy(test::Fd(dup(e.client.fd())));
    const auto pause = std::chrono::microseconds(random() % 3000);
    Call reader(copy, [&] { copy.receive(); });
    Call writer(copy, [&] {
      while (copy.send(pattern(50000, 0)) > 0)
        ;
    });
    Call starter(copy, [&] {
      copy.attach();
      copy.start(MPA_START_RDMAC);
    });

    std::this_thread::sleep_for(pause);
    e.client.close();
    e.server.close(); /* this ends the other threads' calls */
    starter.result();
    reader.result();
    writer.result();
  }
}

/*
 * Repeated startups with a peer that does not read: the octets that they send are kept in pages, and the number of pages is
 * limited by the socket's send buffer.
 */
static void untakenStartups(Context& c) {
  RawEnds e = connectRaw(c);
  std::size_t octets = 0;
  int room = 0, waiting = 1;
  socklen_t length = sizeof(room);
  const Bytes some = pattern(65536, c.seed), last = text("x"), request = StartupFrame{}.encode();

  expectOk(e.socket.attach(), "TCP_ULP");
  e.socket.nonBlocking(true);
  expectOk(e.socket.set(SOL_SOCKET, SO_SNDBUF, 65536), "SO_SNDBUF");
  getsockopt(e.socket.fd(), SOL_SOCKET, SO_SNDBUF, &room, &length);
  for (ssize_t n; (n = e.socket.send(some, MSG_NOSIGNAL | MSG_DONTWAIT)) > 0;)
    octets += static_cast<std::size_t>(n);
  for (int pages = 0;; pages += 2) {
    const int result = e.socket.start(MPA_RESPOND, last);

    if (result == -ENOBUFS)
      break;
    expectErrno(result, EINPROGRESS, "MPA_RESPOND");
    expect(pages * 4096 < room, "the pages have no limit");
    e.raw.send(request);
    expect(e.socket.poll(POLLIN) & POLLIN, "no Request");
    expectOk(e.socket.start(MPA_REJECT), "MPA_REJECT");
    octets += last.size() + request.size();
  }
  e.raw.read(octets);
  for (const test::Deadline deadline(patience); waiting;)
    expect(!ioctl(e.socket.fd(), SIOCOUTQ, &waiting) && !deadline.passed(), "TCP keeps what has arrived");
  expectErrno(e.socket.start(MPA_RESPOND, last), EINPROGRESS, "MPA_RESPOND when all was taken");
}

/* A child that has inherited the socket receives the data that the parent does not. */
static void forked(Context& c) {
  const Ends e = fullEnds(c);
  const Bytes ulpdu = pattern(100, c.seed);
  const pid_t child = fork();

  if (!child) {
    const auto r = e.server.receive();
    _exit(r.data == ulpdu && e.server.send(ulpdu) == 100 ? 0 : 1);
  }
  expectOk(e.client.send(ulpdu), "send");
  int status = 1;
  waitpid(child, &status, 0);
  expectEqual(status, 0, "the child's result");
  expectUlpdu(e.client.receive(), ulpdu, "from the child");
  expectOk(e.server.send(ulpdu), "send of the parent");
  expectUlpdu(e.client.receive(), ulpdu, "from the parent");
}

/* IPV6_ADDRFORM would replace the socket's functions. */
static void addressForm(Context& c) {
  Context mapped = c;

  mapped.address = "::ffff:127.0.0.1";
  const Ends e = connectEnds(mapped);
  expectOk(e.client.attach(), "TCP_ULP");
  expectErrno(e.client.set(IPPROTO_IPV6, IPV6_ADDRFORM, AF_INET), EBUSY, "IPV6_ADDRFORM");
  expectOk(e.server.attach(), "TCP_ULP");
  startBoth(e);
  expectOk(e.client.send(text("mapped")), "send");
  expectUlpdu(e.server.receive(), text("mapped"), "mapped address");
}

/* Makes one random call on a socket. */
static void anything(const Socket& s, std::mt19937_64& random, const Bytes& memory) {
  const auto some = [&](std::size_t most) { return View(memory).first(random() % (most + 1)); };
  static const int actions[] = {MPA_INITIATE, MPA_RESPOND, MPA_ACCEPT, MPA_REJECT, MPA_START_RDMAC};
  std::uint8_t room[700];
  socklen_t length = static_cast<socklen_t>(random() % sizeof(room));

  switch (random() % 12) {
  case 0:
    s.attach();
    break;
  case 1:
    s.setOption(static_cast<int>(1 + random() % 6), static_cast<int>(random() % 3));
    break;
  case 2:
    s.set(SOL_MPA, static_cast<int>(random() % 40), memory.data(), random() % 600);
    break;
  case 3:
  case 4:
    s.start(actions[random() % 5], random() % 4 ? View() : some(3000));
    break;
  case 5:
    getsockopt(s.fd(), SOL_MPA, static_cast<int>(random() % 40), room, &length);
    break;
  case 6:
  case 7:
    s.send(some(random() % 4 ? 300 : 66000), MSG_NOSIGNAL | MSG_DONTWAIT | (random() % 2 ? MSG_MORE : 0));
    break;
  case 8:
  case 9:
    s.receive(random() % 70000, MSG_DONTWAIT | (random() % 4 ? 0 : MSG_PEEK) | (random() % 4 ? 0 : MSG_TRUNC));
    break;
  case 10:
    s.poll(POLLIN | POLLOUT, test::milliseconds(random() % 3));
    s.inQueue();
    break;
  case 11:
    if (random() % 20 == 0)
      s.shutdown(static_cast<int>(random() % 3));
    else
      s.soError();
    break;
  }
}

/* Random calls in random order on both ends: none has to succeed, and none may break the kernel. */
static void randomCalls(Context& c) {
  const Bytes memory = pattern(70000, c.seed);

  for (unsigned i = 0; i < (c.count ? c.count : 200); i++) {
    std::mt19937_64 random(c.seed * 1000003 + i);
    const Ends e = random() % 3 ? connectEnds(c) : startEnds(c, {.clientMarkers = !!(random() % 2)});

    e.client.nonBlocking(true);
    e.server.nonBlocking(true);
    if (random() % 2) {
      e.client.attach();
      e.server.attach();
    }
    for (unsigned n = random() % 60; n; n--)
      anything(random() % 2 ? e.client : e.server, random, memory);
  }
}

std::span<const SocketCase> hostileCases() {
  static const SocketCase cases[] = {
      {"hostile-attach", "", "sockets that MPA cannot be attached to", attaching},
      {"hostile-options", "STA-08", "options with invalid values and lengths", wrongOptions},
      {"hostile-reads", "", "getsockopt with buffers of any length", wrongReads},
      {"hostile-moments", "", "each action in the wrong state", wrongMoments},
      {"hostile-crc", "CRC-06", "CRCs off: by permission of the administrator only", crcPermission},
      {"hostile-calls", "", "other calls on a TCP socket", otherCalls},
      {"hostile-streaming", "STA-16", "the same in streaming mode, where it works", streamingCalls},
      {"hostile-urgent", "MRK-03", "urgent data inside of an FPDU", urgent},
      {"hostile-busy", "STA-16", "a start while another thread reads the stream", busyStream},
      {"hostile-failing", "STA-16", "starts that fail beside calls on the stream", failingStarts},
      {"hostile-shutdown", "END-01", "shutdown wakes waiting threads", wokenByShutdown},
      {"hostile-close", "", "closing under calls of other threads", closedUnderThreads},
      {"hostile-startups", "", "startups with a peer that does not read", untakenStartups},
      {"hostile-fork", "", "a child that has inherited the socket", forked},
      {"hostile-addrform", "", "an IPv6 socket that would become IPv4", addressForm},
      {"hostile-random", "", "random calls by a seed", randomCalls},
  };
  return cases;
}

} // namespace sockets

// SPDX-License-Identifier: GPL-2.0
/** @file cases_hostile.cpp @brief Programs that misuse the API: wrong moments, wrong lengths, bad memory, concurrent threads. */
#include <atomic>
#include <fcntl.h>
#include <future>
#include <linux/kcm.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <linux/userfaultfd.h>
#include <random>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>

#include "../common/bpf.hpp"
#include "../common/cgroup.hpp"
#include "socket.hpp"

namespace sockets {

using peer::End;
using peer::FpduEncoder;
using peer::FrameKind;
using peer::StartupFrame;
using test::expect;
using test::expectEqual;

/* Waits until @p done returns true. */
template <class F> static void await(const Socket& s, const std::string& what, F done) {
  for (const test::Deadline deadline(patience); !done(); s.poll(0, test::milliseconds(10)))
    expect(!deadline.passed(), what);
}

/* An inaccessible page behind an accessible one. */
class Hole {
public:
  Hole() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    base_ = mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED || mprotect(static_cast<char*>(base_) + page_, page_, PROT_NONE))
      test::throwErrno("mmap");
  }
  ~Hole() { munmap(base_, 2 * page_); }
  Hole(const Hole&) = delete;
  Hole& operator=(const Hole&) = delete;

  /** The last @p n accessible octets. */
  void* before(std::size_t n) const { return static_cast<char*>(base_) + page_ - n; }

private:
  std::size_t page_;
  void* base_;
};

/* A page that is missing until come() provides it: a call that reads it sleeps until then. */
class Missing {
public:
  Missing()
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        fd_(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK))) {
    uffdio_api api{};
    uffdio_register range{};

    base_ = mmap(nullptr, page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!fd_ && errno == ENOSYS)
      throw test::Skip("no userfaultfd");
    api.api = UFFD_API;
    range.range = this->range();
    range.mode = UFFDIO_REGISTER_MODE_MISSING;
    if (base_ == MAP_FAILED || !fd_ || ioctl(fd_.get(), UFFDIO_API, &api) || ioctl(fd_.get(), UFFDIO_REGISTER, &range))
      test::throwErrno("userfaultfd");
  }
  ~Missing() {
    come();
    munmap(base_, page_);
  }
  Missing(const Missing&) = delete;
  Missing& operator=(const Missing&) = delete;

  void* address() const { return base_; }

  /** Waits until @p n threads sleep on the page. */
  void awaitSleepers(unsigned n) const {
    const test::Deadline deadline(patience);
    uffd_msg message;

    while (n) {
      expect(test::waitFor(fd_.get(), POLLIN, deadline), "not all calls sleep");
      if (read(fd_.get(), &message, sizeof(message)) == sizeof(message))
        n--;
    }
  }

  void come() const {
    uffdio_zeropage zero{};

    zero.range = range();
    ioctl(fd_.get(), UFFDIO_ZEROPAGE, &zero);
  }

private:
  uffdio_range range() const { return {reinterpret_cast<std::uintptr_t>(base_), page_}; }

  std::size_t page_;
  test::Fd fd_;
  void* base_;
};

/* Binds this thread and those that it starts to one CPU. */
class OneProcessor {
public:
  OneProcessor() {
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
    if (sched_getaffinity(0, sizeof(before_), &before_) || sched_setaffinity(0, sizeof(one), &one))
      test::throwErrno("sched_setaffinity");
  }
  ~OneProcessor() { sched_setaffinity(0, sizeof(before_), &before_); }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

private:
  cpu_set_t before_;
};

static Ends fullEnds(const Context& c, const Settings& settings = {}) {
  Ends e = startEnds(c, settings);

  expectOk(e.client.send(text("hello")), "send");
  expectUlpdu(e.server.receive(), text("hello"), "first ULPDU");
  return e;
}

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

/* Memory that faults in the middle of a ULPDU: no part of it is sent, and no data is lost. */
static void faults(Context& c) {
  for (const bool markers : {false, true}) {
    const Ends e = fullEnds(c, {.serverMarkers = markers});
    const Bytes ulpdu = pattern(3000, c.seed);
    const Hole hole;

    for (const std::size_t there : {0, 1, 600, 2999}) {
      expectErrno(::send(e.client.fd(), hole.before(there), 3000, MSG_NOSIGNAL) < 0 ? -errno : 0, EFAULT, "send");
      expectEqual(e.client.send(ulpdu), ulpdu.size(), "send after a fault");
      expectErrno(::recv(e.server.fd(), hole.before(there), 3000, 0) < 0 ? -errno : 0, EFAULT, "recv");
      expectUlpdu(e.server.receive(), ulpdu, "the ULPDU after a fault");
    }
    expectEqual(e.client.status().tx_position, e.server.status().rx_position, "stream positions");
  }
}

/*
 * recvmmsg() sets the socket's error, here EFAULT, while another thread's send() sleeps. TCP is intact, and the record is sent
 * once, without any help of the peer.
 */
static void errorWithinSend(Context& c) {
  const Ends e = fullEnds(c);
  const int stamps = SOF_TIMESTAMPING_TX_ACK | SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_TSONLY;
  const Missing page;
  const Hole hole;

  expectOk(e.client.set(SOL_SOCKET, SO_TIMESTAMPING, stamps), "SO_TIMESTAMPING");
  expectOk(e.client.send(text("with a timestamp")), "send");
  expectUlpdu(e.server.receive(), text("with a timestamp"), "the first record");
  Call call(e, [&] { return ::send(e.client.fd(), page.address(), 3000, MSG_NOSIGNAL); });
  page.awaitSleepers(1);
  auto* const headers = static_cast<mmsghdr*>(hole.before(sizeof(mmsghdr)));
  await(e.client, "no timestamp", [&] { return recvmmsg(e.client.fd(), headers, 2, MSG_ERRQUEUE, nullptr) == 1; });
  page.come();
  expectEqual(call.result(), 3000, "send");
  expectUlpdu(e.server.receive(), Bytes(3000), "the record");
  expect(e.client.poll(POLLOUT) & POLLOUT, "no POLLOUT");
  expectEqual(e.client.status().tx_position, e.server.status().rx_position, "stream positions");
}

/*
 * A peer on this machine sends an FPDU from a page that it keeps, closes, and then makes the FPDU longer than what has been sent.
 * The program gets the end all the same.
 */
static void longerLater(Context& c) {
  const Ends e = connectEnds(c);
  const Bytes reply = StartupFrame{.kind = FrameKind::Reply}.encode();
  const Bytes fpdu = FpduEncoder({}).encode(pattern(100, c.seed));
  auto* const page = static_cast<std::uint8_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const iovec part{page, fpdu.size()};
  int pipes[2];

  expect(page != MAP_FAILED, "mmap");
  expectOk(pipe(pipes), "pipe");
  const test::Fd out(pipes[0]), in(pipes[1]);
  expectOk(e.client.attach(), "TCP_ULP");
  expectEqual(send(e.server.fd(), reply.data(), reply.size(), 0), reply.size(), "the Reply");
  expectOk(e.client.start(MPA_INITIATE), "MPA_INITIATE");
  std::ranges::copy(fpdu, page);
  expectEqual(vmsplice(in.get(), &part, 1, 0), fpdu.size(), "vmsplice");
  expectEqual(splice(out.get(), nullptr, e.server.fd(), nullptr, fpdu.size(), 0), fpdu.size(), "splice");
  expect(e.client.poll(POLLIN) & POLLIN, "no data arrived");
  expectOk(e.server.shutdown(SHUT_WR), "shutdown");
  page[0] = 0x40;
  expectErrno(e.client.receive().result, ECONNRESET, "FIN inside of the longer FPDU");
  munmap(page, 4096);
}

/* In Full Operation other calls on a TCP socket either work or are refused. */
static void otherCalls(Context& c) {
  const Ends e = fullEnds(c);
  test::Fd zero(open("/dev/zero", O_RDONLY));
  int pipes[2];
  sockaddr unspecified{};

  expectErrno(e.client.send(text("x"), MSG_OOB), EOPNOTSUPP, "MSG_OOB");
  expectErrno(e.client.send(text("x"), MSG_ZEROCOPY), EOPNOTSUPP, "MSG_ZEROCOPY");
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

/* An Initiator whose peer does not answer. */
static Ends unanswered(const Context& c, int timeout) {
  Ends e = connectEnds(c);

  expectOk(e.client.attach(), "TCP_ULP");
  expectOk(e.client.setOption(MPA_STARTUP_TIMEOUT, timeout), "MPA_STARTUP_TIMEOUT");
  e.client.nonBlocking(true);
  expectErrno(e.client.start(MPA_INITIATE), EINPROGRESS, "MPA_INITIATE");
  return e;
}

static void expectTimedOut(const Socket& s, const char* what) {
  expect(s.poll(0) & POLLHUP, std::string(what) + " has not ended");
  expectEqual(s.status().err, ETIMEDOUT, std::string(what) + ": errno of the startup");
}

/* A program may sleep with its socket locked for any time. Startups of other sockets on that CPU continue. */
static void heldSockets(Context& c) {
  static constexpr int timeout = 2000;
  const unsigned count = c.count ? c.count : 300;
  const OneProcessor one;
  std::vector<Ends> held;
  std::vector<std::jthread> holders;
  const Missing page;

  for (unsigned i = 0; i < count; i++) {
    held.push_back(unanswered(c, timeout));
    holders.emplace_back([&page, fd = held.back().client.fd()] { setsockopt(fd, IPPROTO_IP, IP_OPTIONS, page.address(), 4); });
  }
  page.awaitSleepers(count);
  expectTimedOut(unanswered(c, timeout).client, "the last startup");
  /* The held sockets' timeouts have also expired. */
  fullEnds(c);
  page.come();
  for (const auto& e : held)
    expectTimedOut(e.client, "a startup on a socket that was held");
}

/* A call that sleeps while it reads an option's value does not block other calls on the socket. */
static void missingValue(Context& c) {
  const Ends e = connectEnds(c);
  std::vector<std::jthread> setters;
  std::future<mpa_status> status;
  const Missing page;

  expectOk(e.client.attach(), "TCP_ULP");
  for (const int name : {MPA_MARKERS, MPA_DEPTHS, MPA_PRIVATE_DATA, MPA_RESPOND})
    setters.emplace_back([&, name] { e.client.set(SOL_MPA, name, page.address(), 4); });
  page.awaitSleepers(static_cast<unsigned>(setters.size()));
  status = std::async(std::launch::async, [&] { return e.client.status(); });
  const bool came = status.wait_for(patience * test::patience()) == std::future_status::ready;
  page.come();
  expect(came, "the socket is locked");
  expectEqual(status.get().state, MPA_STATE_STREAMING, "state");
  expectOk(e.server.shutdown(SHUT_RDWR), "shutdown"); /* MPA_RESPOND waits for a Request */
}

/* No octets are in flight, and the window does not allow any. */
static bool windowIsShut(const Socket& s) {
  const tcp_info info = s.tcpInfo();

  return !info.tcpi_unacked && !info.tcpi_snd_wnd;
}

/* Fill a streaming socket beyond its buffer size; its peer does not read. This also updates the counter of TCP's memory. */
static void fillBuffer(const Socket& s) {
  const test::Deadline deadline(patience);
  const Bytes much = pattern(6 << 20, 0);

  expectOk(s.set(SOL_SOCKET, SO_SNDBUFFORCE, 64 << 20), "SO_SNDBUFFORCE");
  expectEqual(s.send(much, MSG_DONTWAIT | MSG_NOSIGNAL), much.size(), "octets sent");
  while (!windowIsShut(s)) {
    expect(!deadline.passed(), "the peer's window stays open");
    s.poll(POLLIN, test::milliseconds(10));
  }
}

/* Use up the memory that the socket has already been granted. */
static void useUpMemory(const Socket& s) {
  ssize_t n;

  while ((n = s.send(text("x"), MSG_DONTWAIT | MSG_NOSIGNAL)) > 0)
    ;
  expectErrno(n, EAGAIN, "send without memory");
}

/* Blocking calls return ENOMEM when memory is short: EAGAIN would mean that the socket is non-blocking. */
static void noMemory(Context& c) {
  const Ends e = connectEnds(c);

  expectOk(e.client.attach(), "TCP_ULP");
  fillBuffer(e.client);
  const TcpMemory none("1 1 1");
  useUpMemory(e.client);
  expectErrno(e.client.start(MPA_RESPOND, text("READY\n")), ENOMEM, "MPA_RESPOND");
  expectEqual(e.client.status().state, MPA_STATE_STREAMING, "state");
  expectErrno(e.client.start(MPA_INITIATE), ENOMEM, "MPA_INITIATE");
  expectEqual(e.client.status().err, ENOMEM, "errno of the startup");
  expect(e.client.poll(0) & POLLHUP, "still connected");
}

/** A memory cgroup with a limit. This process belongs to it between enter() and test::leaveCgroup(). */
class MemoryCgroup {
public:
  explicit MemoryCgroup(const char* limit) {
    if (mkdir(path_, 0755) || !file("memory.max").write(limit))
      throw test::Skip("cannot make a memory cgroup");
  }
  ~MemoryCgroup() {
    test::leaveCgroup();
    rmdir(path_);
  }
  MemoryCgroup(const MemoryCgroup&) = delete;
  MemoryCgroup& operator=(const MemoryCgroup&) = delete;

  void enter() const { expect(file("cgroup.procs").write("0"), "the cgroup takes no process"); }
  /** The maximum of octets charged so far. */
  std::uint64_t peak() const { return file("memory.peak").number(); }
  /** The number of charges that the limit has refused. */
  std::uint64_t refused() const { return file("memory.events").number("max"); }

private:
  static test::CgroupFile file(const char* name) { return test::CgroupFile(std::string(path_) + "/" + name); }

  static constexpr const char* path_ = "/sys/fs/cgroup/socket-test";
};

static bool allAcknowledged(const Socket& s) {
  int waiting = 1;

  return !ioctl(s.fd(), SIOCOUTQ, &waiting) && !waiting;
}

/*
 * Frames longer than the window, each on its own connection; together their beginnings exceed the limit of the program's cgroup.
 * The excess stays with the peers. A connection that waits for memory still notices a reset, and continues when other connections
 * have been closed.
 */
static void fullCgroup(Context& c) {
  static constexpr std::size_t limit = 4 << 20, first = 8400, second = 30000, left = 20;
  const Bytes ulpdu = pattern(MPA_ULPDU_MAX, c.seed);
  const Bytes frame = FpduEncoder({.markers = true, .crc = true}).encode(ulpdu);
  const MemoryCgroup group("4M");
  std::vector<Ends> ends;

  for (unsigned i = 0; i < (c.count ? c.count : 200); i++) {
    ends.push_back(connectEnds(c));
    expectOk(ends.back().client.attach(), "TCP_ULP");
    expectOk(ends.back().client.set(SOL_SOCKET, SO_RCVBUF, 8192), "SO_RCVBUF");
    expectOk(ends.back().server.set(SOL_SOCKET, SO_SNDBUFFORCE, 1 << 20), "SO_SNDBUFFORCE");
  }
  group.enter();
  for (const Ends& e : ends)
    expectOk(e.client.start(MPA_START_RDMAC), "MPA_START_RDMAC");
  expect(test::leaveCgroup(), "cannot leave the cgroup");
  for (const Ends& e : ends)
    expectEqual(e.server.send(View(frame).first(first)), first, "send");
  for (const Ends& e : ends)
    await(e.client, "octets that fit are not accepted", [&] { return allAcknowledged(e.server); });

  for (const Ends& e : ends)
    expectEqual(e.server.send(View(frame).subspan(first, second)), second, "send");
  await(ends[0].client, "nothing is refused", [&] { return group.refused() > 0; });
  const linger reset{1, 0};
  expectOk(ends[0].server.set(SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), "SO_LINGER");
  ends[0].server.close();
  expectErrno(ends[0].client.receive().result, ECONNRESET, "a reset without memory");

  ends.erase(ends.begin(), ends.end() - left);
  for (const Ends& e : ends)
    expectEqual(e.server.send(View(frame).subspan(first + second)), frame.size() - first - second, "send");
  for (const Ends& e : ends)
    expectUlpdu(e.client.receive(), ulpdu, "behind a wait for memory");
  expect(group.peak() <= limit, "more is charged than the cgroup may have");
}

/* Memory runs out within a last message: the connection must end, so that the peer does not take the part for a message. */
static void partOfMessage(Context& c) {
  Ends e = connectEnds(c);

  expectOk(e.client.attach(), "TCP_ULP");
  fillBuffer(e.client);
  {
    const TcpMemory none("1 1 1");

    expectErrno(e.client.start(MPA_RESPOND, pattern(MPA_LAST_MESSAGE_MAX, c.seed)), ENOMEM, "MPA_RESPOND");
  }
  expect(e.client.poll(0) & POLLHUP, "still connected");
  expect(e.server.poll(0) & POLLHUP, "the peer is still connected");
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

/* Connects a plain TCP socket to a listener on this machine, which the caller has not bound yet, and accepts it. */
static Ends acceptFrom(const Socket& listener) {
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof(address);

  expectOk(bind(listener.fd(), name, length), "bind");
  expectOk(listen(listener.fd(), 1), "listen");
  expectOk(getsockname(listener.fd(), name, &length), "getsockname");
  Socket client(test::Fd(socket(AF_INET, SOCK_STREAM, 0)));
  expectOk(connect(client.fd(), name, length), "connect");
  return {std::move(client), Socket(test::Fd(accept(listener.fd(), nullptr, nullptr)))};
}

/*
 * SMC gives programs a TCP socket of its own when the peer speaks plain TCP, and keeps using that socket itself.
 * TCP_FASTOPEN_NO_COOKIE makes it abandon SMC at once: its callbacks then stay in the sockets that TCP accepts.
 */
static void expectSmcRefused(Socket (*makeListener)()) {
  for (const bool at_once : {false, true}) {
    const Socket listener = makeListener();

    if (at_once)
      expectOk(listener.set(IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, 1), "TCP_FASTOPEN_NO_COOKIE");
    expectErrno(acceptFrom(listener).server.attach(), EBUSY, "TCP_ULP");
  }
}

static Socket smcSocket() {
  Socket s(test::Fd(socket(AF_SMC, SOCK_STREAM, 0)));

  if (s.fd() < 0)
    throw test::Skip("no AF_SMC in this kernel");
  return s;
}

/* A TCP socket that SMC replaces. The kernel loads SMC for a socket of AF_SMC, also when a user makes it. */
static Socket replacedBySmc() {
  const Socket loads = smcSocket();
  Socket s(test::Fd(socket(AF_INET, SOCK_STREAM, 0)));

  if (s.set(IPPROTO_TCP, TCP_ULP, "smc", 3))
    throw test::Skip("no TCP_ULP smc in this kernel");
  return s;
}

static void smcChild(Context&) {
  expectSmcRefused(smcSocket);
}
static void smcUlpChild(Context&) {
  expectSmcRefused(replacedBySmc);
}

/* A listener of MPTCP whose peer speaks plain TCP gives the program an ordinary TCP socket. */
static void mptcpChild(Context& c) {
  const Socket listener(test::Fd(socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP)));

  if (listener.fd() < 0)
    throw test::Skip("no MPTCP in this kernel");
  expect(listener.attach() < 0, "TCP_ULP of a socket of MPTCP");
  const Ends e = acceptFrom(listener);
  expectOk(e.server.attach(), "TCP_ULP");
  expectOk(e.client.attach(), "TCP_ULP");
  expectOk(e.server.start(MPA_START_RDMAC), "MPA_START_RDMAC");
  expectOk(e.client.start(MPA_START_RDMAC), "MPA_START_RDMAC");
  expectOk(e.client.send(pattern(3000, c.seed)), "send");
  expectUlpdu(e.server.receive(), pattern(3000, c.seed), "the ULPDU");
}

/* Another user of sockets cannot take a socket that MPA starts on, or runs on: @p take returns @p refusal. */
template <class F> static void expectNotTaken(const Ends& e, int refusal, F take) {
  e.client.nonBlocking(true);
  expectErrno(e.client.start(MPA_INITIATE), EINPROGRESS, "MPA_INITIATE");
  expectErrno(take(), refusal, "taking a socket during a start");
  expectOk(e.server.start(MPA_RESPOND), "MPA_RESPOND");
  expectOk(e.server.start(MPA_ACCEPT), "MPA_ACCEPT");
  expect(e.client.poll(POLLOUT) & POLLOUT, "no POLLOUT");
  expectErrno(take(), refusal, "taking a socket in Full Operation");
  expectOk(e.client.send(text("still there")), "send");
  expectUlpdu(e.server.receive(), text("still there"), "the ULPDU");
}

/* BPF's maps of sockets take no socket with the ULP, and MPA takes none that is in a map. */
static void sockmap(Context& c) {
  for (const auto verdict : test::Sockhash::verdicts) {
    const Ends e = connectEnds(c);
    test::Sockhash map(verdict);

    expectOk(map.put(e.client.fd()), "a socket into the map");
    expectErrno(e.client.attach(), EBUSY, "TCP_ULP of a socket in a map");
    expectOk(map.remove(), "out of the map");
    expectOk(e.client.attach(), "TCP_ULP");
    expectOk(e.server.attach(), "TCP_ULP");
    expectErrno(map.put(e.client.fd()), EINVAL, "a socket with the ULP into the map");
    expectNotTaken(e, EINVAL, [&] { return map.put(e.client.fd()); });
  }
}

/* KCM takes a socket with the ULP until MPA starts. MPA neither attaches to a socket of KCM nor starts there. */
static void kcm(Context& c) {
  const Ends e = connectEnds(c);
  const test::Fd mux(socket(AF_KCM, SOCK_DGRAM, KCMPROTO_CONNECTED));
  const test::Fd parser = test::bpfPass(BPF_PROG_TYPE_SOCKET_FILTER);
  const auto attach = [&] {
    const kcm_attach info{e.client.fd(), parser.get()};

    return ioctl(mux.get(), SIOCKCMATTACH, &info) ? -errno : 0;
  };
  const auto detach = [&] {
    const kcm_unattach info{e.client.fd()};

    return ioctl(mux.get(), SIOCKCMUNATTACH, &info) ? -errno : 0;
  };

  if (!mux)
    throw test::Skip("no AF_KCM in this kernel");
  expectOk(attach(), "SIOCKCMATTACH");
  expectErrno(e.client.attach(), EBUSY, "TCP_ULP of a socket of KCM");
  expectOk(detach(), "SIOCKCMUNATTACH");
  expectOk(e.client.attach(), "TCP_ULP");
  expectOk(e.server.attach(), "TCP_ULP");
  expectOk(attach(), "SIOCKCMATTACH before a start");
  expectErrno(e.client.start(MPA_INITIATE), EBUSY, "MPA_INITIATE on a socket of KCM");
  expectOk(detach(), "SIOCKCMUNATTACH");
  expectNotTaken(e, EALREADY, attach);
}

/* A socket has one ULP. */
static void otherUlp(Context& c) {
  const Ends e = connectEnds(c);

  if (e.client.set(IPPROTO_TCP, TCP_ULP, "tls", 3))
    throw test::Skip("no TCP_ULP tls in this kernel");
  expectErrno(e.client.attach(), EEXIST, "TCP_ULP mpa after tls");
  expectOk(e.server.attach(), "TCP_ULP");
  expectErrno(e.server.set(IPPROTO_TCP, TCP_ULP, "tls", 3), EEXIST, "TCP_ULP tls after mpa");
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
      {"hostile-faults", "TX-08", "memory that faults within a ULPDU", faults},
      {"hostile-error", "TX-08", "an error of recvmmsg() within send()", errorWithinSend},
      {"hostile-calls", "", "other calls on a TCP socket", otherCalls},
      {"hostile-streaming", "STA-16", "the same in streaming mode, where it works", streamingCalls},
      {"hostile-urgent", "MRK-03", "urgent data inside of an FPDU", urgent},
      {"hostile-busy", "STA-16", "a start while another thread reads the stream", busyStream},
      {"hostile-failing", "STA-16", "starts that fail beside calls on the stream", failingStarts},
      {"hostile-shutdown", "END-01", "shutdown wakes waiting threads", wokenByShutdown},
      {"hostile-close", "", "closing under calls of other threads", closedUnderThreads},
      {"hostile-held", "", "a startup beside hundreds of sockets that stay locked", heldSockets},
      {"hostile-value", "", "option values whose page is missing", missingValue},
      {"hostile-memory", "", "blocking calls without memory for TCP", noMemory},
      {"hostile-spliced", "ERR-01", "an FPDU whose sender makes it longer afterwards", longerLater},
      {"hostile-cgroup", "RCV-06", "a memory cgroup full of received data", fullCgroup},
      {"hostile-startups", "", "startups with a peer that does not read", untakenStartups},
      {"hostile-part", "", "memory runs out within the last streaming message", partOfMessage},
      {"hostile-fork", "", "a child that has inherited the socket", forked},
      {"hostile-addrform", "", "an IPv6 socket that would become IPv4", addressForm},
      {"hostile-smc", "", "a kernel socket that AF_SMC gives to a program", smcChild},
      {"hostile-smc-ulp", "", "the same for a TCP socket that SMC replaces", smcUlpChild},
      {"hostile-mptcp", "", "a TCP socket that a listener of MPTCP accepts", mptcpChild},
      {"hostile-sockmap", "", "BPF's maps of sockets: before, during and after a start", sockmap},
      {"hostile-kcm", "", "the same with AF_KCM", kcm},
      {"hostile-tls", "", "TCP_ULP tls before and after mpa", otherUlp},
      {"hostile-random", "", "random calls by a seed", randomCalls},
  };
  return cases;
}

} // namespace sockets

// SPDX-License-Identifier: GPL-2.0
/** @file cases_memory.cpp @brief Memory that faults, is missing, changes or is short. */
#include <future>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/stat.h>
#include <thread>

#include "../common/cgroup.hpp"
#include "memory.hpp"

namespace sockets {

using peer::FpduEncoder;
using peer::FrameKind;
using peer::StartupFrame;
using test::expect;
using test::expectEqual;

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

/*
 * While a call sleeps with the socket locked, the peer sends as much of an FPDU as the window allows. TCP must open the window
 * again when the call ends: the peer's TCP asks only when its timer expires, which the scenario makes longer than the case waits.
 */
static void windowBehindSleep(Context& c) {
  RawEnds e = respondRaw(c);
  const Missing page;
  const Bytes first = text("hello"), ulpdu = pattern(MPA_ULPDU_MAX, c.seed);
  FpduEncoder encoder({.crc = true});

  e.raw.send(encoder.encode(first));
  expectUlpdu(e.socket.receive(), first, "first ULPDU");
  Call call(e.socket, [&] { return ::send(e.socket.fd(), page.address(), 100, MSG_NOSIGNAL); });
  page.awaitSleepers(1);
  e.raw.send(encoder.encode(ulpdu));
  page.come();
  expectEqual(call.result(), 100, "send");
  expect(e.socket.poll(POLLIN) & POLLIN, "the window stays shut");
  expectUlpdu(e.socket.receive(), ulpdu, "the ULPDU");
}

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

std::span<const SocketCase> memoryCases() {
  static const SocketCase cases[] = {
      {"hostile-faults", "TX-08", "memory that faults within a ULPDU", faults},
      {"hostile-window", "RCV-06", "the window shuts while a call sleeps on its memory", windowBehindSleep},
      {"hostile-error", "TX-08", "an error of recvmmsg() within send()", errorWithinSend},
      {"hostile-held", "", "a startup beside hundreds of sockets that stay locked", heldSockets},
      {"hostile-value", "", "option values whose page is missing", missingValue},
      {"hostile-memory", "", "blocking calls without memory for TCP", noMemory},
      {"hostile-spliced", "ERR-01", "an FPDU whose sender makes it longer afterwards", longerLater},
      {"hostile-cgroup", "RCV-06", "a memory cgroup full of received data", fullCgroup},
      {"hostile-part", "", "memory runs out within the last streaming message", partOfMessage},
  };
  return cases;
}

} // namespace sockets

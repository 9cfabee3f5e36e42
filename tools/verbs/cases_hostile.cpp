// SPDX-License-Identifier: GPL-2.0
/**
 * @file cases_hostile.cpp
 * @brief Misuse: memory that may not be registered, invalid keys, overflows, a peer that dies, a QP of another user. In each case
 * another connection on the same device keeps transferring correct data.
 */
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <grp.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/siw-abi.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>

#include "verbs_cases.hpp"

namespace rdma {

using test::expect;
using test::expectEqual;
using test::format;

namespace {

/** The other connection. */
class Bystander {
public:
  explicit Bystander(const Context& c) : pair_(c.place), from_(pair_.client->pd(), 16 * page), to_(pair_.server->pd(), 16 * page) {
    exchange();
  }

  /** Transfers a WRITE and a message with new data, and compares them. */
  void exchange() {
    test::fill(from_.memory.span(), ++seed_);
    pair_.client->postWrite(1, {from_.sge(0, 16 * page)}, to_.rkey(), to_.memory.address());
    expectWc(pair_.client->sends().next(), IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE, "the other connection's WRITE");
    pair_.sync();
    expectSame(to_.memory.span(), from_.memory.span(), "the other connection's data");
  }

  ibv_context* context() const { return pair_.client->id->context(); }

private:
  Pair pair_;
  Region from_, to_;
  std::uint64_t seed_ = 0;
};

/* --- registration --- */

/** Octets that the kernel accounts to this process as pinned. */
std::uint64_t pinned() {
  std::ifstream status("/proc/self/status");

  for (std::string word; status >> word;)
    if (word == "VmPin:" && status >> word)
      return std::stoull(word) * 1024;
  throw test::Failure("/proc/self/status has no VmPin");
}

/** Sets a limit on locked memory for this process during its own lifetime. */
class Limited {
public:
  explicit Limited(std::uint64_t octets) {
    if (getrlimit(RLIMIT_MEMLOCK, &before_))
      test::throwErrno("getrlimit");
    const rlimit limit{octets, before_.rlim_max};

    if (setrlimit(RLIMIT_MEMLOCK, &limit))
      test::throwErrno("setrlimit");
  }
  ~Limited() { setrlimit(RLIMIT_MEMLOCK, &before_); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

private:
  rlimit before_;
};

/** A process with CAP_IPC_LOCK has no limit, and cannot drop it: the device refuses a process whose credentials change. */
bool mayLockAll() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};

  if (syscall(SYS_capget, &header, data))
    test::throwErrno("capget");
  return data[0].effective & CAP_TO_MASK(CAP_IPC_LOCK);
}

/** Registers memory; returns 0 with the region in @p mr, or the error. */
int tryRegister(ibv_pd* pd, Memory& memory, int access, MrHandle& mr) {
  errno = 0;
  mr.reset(ibv_reg_mr(pd, memory.data(), memory.size(), access));
  return mr ? 0 : errno;
}

void memlock(Context& c) {
  if (mayLockAll())
    throw test::Skip("to be run without CAP_IPC_LOCK");
  Bystander bystander(c);
  Pair pair(c.place);
  Memory eight(8 * page), another(8 * page), one(page), large(100 * page);
  MrHandle a, b, none;
  const auto before = pinned();
  const Limited limited(before + 16 * page);
  ibv_pd* const pd = pair.server->pd();

  expectEqual(tryRegister(pd, large, remoteAll, none), ENOMEM, "more than the limit: error");
  expectEqual(pinned(), before, "pinned after a refusal");
  expectEqual(tryRegister(pd, eight, remoteAll, a), 0, "8 pages of 16: error");
  expectEqual(tryRegister(pd, another, remoteAll, b), 0, "8 more: error");
  expectEqual(pinned(), before + 16 * page, "pinned");
  expectEqual(tryRegister(pd, one, remoteAll, none), ENOMEM, "one more: error");
  a.reset();
  expectEqual(pinned(), before + 8 * page, "pinned when the first is given back");
  expectEqual(tryRegister(pd, one, remoteAll, none), 0, "one page now: error");
  pair.sync();
  bystander.exchange();
  b.reset();
  none.reset();
  expectEqual(pinned(), before, "pinned at the end");
}

/** Memory that this process may only read cannot be registered for writing by peers. */
void readOnlyMapping(Context& c) {
  Bystander bystander(c);
  Pair pair(c.place);
  Memory memory(2 * page);
  Region client(pair.client->pd(), 2 * page);
  MrHandle mr;

  test::fill(memory.span(), 5);
  expect(!mprotect(memory.data(), memory.size(), PROT_READ), "mprotect");
  for (const int access : {localOnly, remoteAll})
    expectEqual(tryRegister(pair.server->pd(), memory, access, mr), EFAULT, "registered for writing: error");
  expectEqual(tryRegister(pair.server->pd(), memory, IBV_ACCESS_REMOTE_READ, mr), 0, "registered for reading: error");
  pair.client->postRead(1, {client.sge(0, 2 * page)}, mr->rkey, memory.address());
  expectWc(pair.client->sends().next(), IBV_WC_SUCCESS, IBV_WC_RDMA_READ, "READ of it");
  expectSame(client.memory.span(), memory.span(), "the data that was read");
  test::fill(client.memory.span(), 6);
  pair.client->postWrite(2, {client.sge(0, page)}, mr->rkey, memory.address());
  pair.expectDown();
  test::fill(client.memory.span(), 5);
  expectSame(memory.span(), client.memory.span(), "read-only memory");
  bystander.exchange();
}

/* --- keys --- */

/** READ and WRITE of @p length octets are refused, each on its own connection. */
void expectRefused(const Context& c, ibv_mr* (*make)(ibv_pd*, Memory&), std::uint64_t address, std::size_t length,
                   bool revoke = false) {
  for (const bool read : {true, false}) {
    Pair pair(c.place);
    Region client(pair.client->pd(), 2 * page);
    Memory memory(page);
    MrHandle mr(check(make(pair.server->pd(), memory), "ibv_reg_mr"));
    const auto rkey = mr->rkey;

    test::fill(client.memory.span(), 1);
    if (revoke)
      mr.reset();
    const auto at = address ? address : memory.address();
    if (read) {
      pair.client->postRead(1, {client.sge(0, length)}, rkey, at);
      expectWc(pair.client->sends().next(), IBV_WC_REM_ACCESS_ERR, IBV_WC_RDMA_READ, format("READ of %zu", length));
    } else {
      pair.client->postWrite(1, {client.sge(0, length)}, rkey, at);
    }
    pair.expectDown();
    expect(std::ranges::all_of(memory.span(), [](auto octet) { return !octet; }), "memory was written");
  }
}

ibv_mr* plainRegion(ibv_pd* pd, Memory& memory) {
  return ibv_reg_mr(pd, memory.data(), memory.size(), remoteAll);
}

/** A region whose last octet has the highest address. */
ibv_mr* topRegion(ibv_pd* pd, Memory& memory) {
  return ibv_reg_mr_iova(pd, memory.data(), memory.size(), std::uint64_t{0} - page, remoteAll);
}

void keys(Context& c) {
  Bystander bystander(c);

  expectRefused(c, plainRegion, 0, 64, true);
  expectRefused(c, plainRegion, std::uint64_t{0} - 32, 64);
  expectRefused(c, topRegion, std::uint64_t{0} - 1, 2);
  bystander.exchange();
}

/** Access up to the highest address succeeds. */
void lastAddress(Context& c) {
  Pair pair(c.place);
  Region client(pair.client->pd(), page);
  Memory memory(page);
  MrHandle mr(check(topRegion(pair.server->pd(), memory), "ibv_reg_mr_iova"));

  test::fill(client.memory.span(), 3);
  pair.client->postWrite(1, {client.sge(0, page)}, mr->rkey, std::uint64_t{0} - page);
  expectWc(pair.client->sends().next(), IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE, "WRITE up to the last address");
  pair.sync();
  expectSame(memory.span(), client.memory.span(), "the data that was written");
  Region back(pair.client->pd(), page);
  pair.client->postRead(2, {back.sge(0, 1)}, mr->rkey, std::uint64_t{0} - 1);
  expectWc(pair.client->sends().next(), IBV_WC_SUCCESS, IBV_WC_RDMA_READ, "READ of the last octet");
  expectSame(back.memory.span(0, 1), client.memory.span(page - 1, 1), "the last octet");
}

/**
 * An STag cannot be derived from another (RFC 5040 §8.1.1-8): consecutive registrations get STags that are far apart, and no STag
 * is reused at once.
 */
void stags(Context& c) {
  constexpr unsigned count = 256, near = 1 << 16;
  const Pair pair(c.place);
  Memory memory(page);
  const auto index = [&] {
    const MrHandle mr(check(plainRegion(pair.server->pd(), memory), "ibv_reg_mr"));
    return static_cast<std::int64_t>(mr->rkey >> 8);
  };
  unsigned neighbours = 0, again = 0;
  auto last = index();

  for (unsigned i = 0; i < count; i++) {
    const auto next = index();
    neighbours += std::abs(next - last) < near;
    again += next == last;
    last = next;
  }
  /* About two of 256 are neighbours by chance. */
  expect(neighbours < count / 8, format("%u of %u STags are near the one before", neighbours, count));
  expectEqual(again, 0U, "STags that are reused at once");
}

/* --- queues --- */

constexpr unsigned overflowEntries = 16;

/** More WRITEs than the queue has room for. */
void overflow(End& end, const Region& from, const Region& to) {
  for (unsigned i = 0; i < 4 * overflowEntries; i++)
    end.postWrite(i, {from.sge(0, 64)}, to.rkey(), to.memory.address());
}

/**
 * Work requests in the queue, and new ones, succeed or are flushed. The flush after the overflow may continue after DISCONNECTED
 * and lose the completion of a work request posted meanwhile: then it is posted again.
 */
void expectFlushed(End& end, const Region& memory) {
  constexpr std::uint64_t last = 1000;
  const Deadline deadline(defaultBudget);

  do {
    end.postSend(last, {memory.sge(0, 64)});
    do {
      end.sends().arm();
      for (const ibv_wc& wc : end.sends().poll()) {
        if (wc.wr_id == last)
          return expectWc(wc, IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, "a SEND that is posted afterwards");
        expect(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_WR_FLUSH_ERR, statusName(wc.status));
      }
    } while (end.sends().notified(Deadline::exactly(milliseconds(100))));
  } while (!deadline.passed());
  throw test::Failure("a SEND that is posted afterwards does not complete");
}

/** A lost completion moves only its own QP to error: other QPs on the same CQ continue. */
void cqOverflow(Context& c) {
  Bystander bystander(c);
  Pair user(c.place);
  Cq small(user.client->id->context(), overflowEntries);
  Pair victim(c.place, {.cq = &small}), neighbour(c.place, {.cq = &small});
  Region from(victim.client->pd(), page), to(victim.server->pd(), page);
  Region theirs(neighbour.client->pd(), page), ours(neighbour.server->pd(), page);

  overflow(*victim.client, from, to);
  expect(waitAsync(victim.client->id->context(), IBV_EVENT_CQ_ERR), "no CQ_ERR event");
  victim.expectDown();
  expectEqual(victim.client->state(), int{IBV_QPS_ERR}, "state of the QP");
  expectEqual(user.client->state(), int{IBV_QPS_RTS}, "state of a QP with another queue");
  expectFlushed(*victim.client, from);
  expect(!waitAsync(victim.client->id->context(), IBV_EVENT_CQ_ERR, Deadline::exactly(milliseconds(200))), "a second CQ_ERR event");
  neighbour.server->postRead(1, {ours.sge(0, 64)}, theirs.rkey(), theirs.memory.address());
  expectWc(neighbour.server->sends().next(), IBV_WC_SUCCESS, IBV_WC_RDMA_READ, "READ from the QP that shares the queue");
  user.sync();
  bystander.exchange();
}

/** A Send whose completion is lost is the last one: none after it completes with success, although the queue has room again. */
void cqOverflowReceives(Context& c) {
  constexpr unsigned receives = 120;
  const unsigned count = c.count ? c.count : 20;
  Bystander bystander(c);
  const Pair other(c.place);

  for (unsigned round = 0; round < count; round++) {
    Cq small(other.server->id->context(), 1);
    Pair victim(c.place, {}, {.cq = &small});
    const Region from(victim.client->pd(), page), to(victim.server->pd(), page);
    std::uint64_t next = 0;

    for (unsigned i = 0; i < receives; i++)
      victim.server->postRecv(i, {to.sge(0, 8)});
    const std::jthread sender([&] { victim.client->postSends(std::vector(receives, from.sge(0, 8))); });
    for (bool down = false; !down && next < receives;) { /* a program that is fast enough loses none */
      down = victim.server->state() == IBV_QPS_ERR;
      for (unsigned spin = 0; spin < 100; spin++)
        for (const ibv_wc& wc : small.poll()) {
          if (wc.status == IBV_WC_SUCCESS)
            expectEqual(wc.wr_id, next++, "receive that completes with success");
          else
            down = true;
        }
    }
  }
  bystander.exchange();
}

/** Destroys the QPs and their queue while the overflow is handled, before its event or after. */
void cqOverflowDestroy(Context& c) {
  const unsigned count = c.count ? c.count : 20;
  Bystander bystander(c);

  for (unsigned round = 0; round < count; round++) {
    Cq small(bystander.context(), overflowEntries);
    Pair victim(c.place, {.cq = &small}), neighbour(c.place, {.cq = &small});
    Region from(victim.client->pd(), page), to(victim.server->pd(), page);

    overflow(*victim.client, from, to);
    if (round % 2)
      expect(waitAsync(bystander.context(), IBV_EVENT_CQ_ERR), "no CQ_ERR event");
  }
  bystander.exchange();
}

/** Without a receive and with receive_wait=0 the connection ends (RFC 5041 §7.1-2); the sender's work requests are flushed. */
void receiverNotReady(Context& c) {
  Bystander bystander(c);
  Pair pair(c.place);
  Region from(pair.client->pd(), page), to(pair.server->pd(), page);

  pair.server->postRecv(1, {to.sge(0, 64)});
  pair.client->postRecv(70, {from.sge(64, 64)});
  pair.client->postSend(1, {from.sge(0, 64)});
  expectWc(pair.server->recvs().next(), IBV_WC_SUCCESS, IBV_WC_RECV, "a receive was posted");
  pair.client->postSend(2, {from.sge(0, 64)});
  pair.expectDown();
  pair.client->postSend(3, {from.sge(0, 64)});
  const auto list = pair.client->sends().wait(3);
  expectWc(list[0], IBV_WC_SUCCESS, IBV_WC_SEND, "the SEND with a receive");
  expectWc(list[2], IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, "a SEND behind the one without");
  expectWc(pair.client->recvs().next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, "the sender's own receive");
  expect(waitAsync(pair.server->id->context(), IBV_EVENT_QP_REQ_ERR), "no QP_REQ_ERR event at the receiver");
  bystander.exchange();
}

/* --- rings --- */

/** A connection's QP whose rings this program writes directly. No other rings in this process have the same sizes in pages. */
class Scribbler {
public:
  explicit Scribbler(const Context& c)
      : pair(c.place,
             {.cap = {.max_send_wr = sends, .max_recv_wr = receives, .max_send_sge = 6, .max_recv_sge = 6, .max_inline_data = 0}}),
        region(pair.client->pd(), page), sends_(ring<siw_sqe>(sends)), receives_(ring<siw_rqe>(receives)) {}

  /** Stores @p entry at the device's next position, and rings the doorbell. Only once per Scribbler. */
  void send(siw_sqe entry) {
    hand(sends_, entry);
    if (!pair.client->doorbell())
      test::throwErrno("doorbell");
  }
  /** As send(), for the receive queue, which has no doorbell. */
  void receive(siw_rqe entry) { hand(receives_, entry); }

  siw_sge sge(std::uint32_t length) const { return {.laddr = region.memory.address(), .length = length, .lkey = region.lkey()}; }

  Pair pair;
  Region region;

private:
  static constexpr unsigned sends = 4096, receives = 8192;

  template <typename Entry> static Entry* ring(std::size_t entries) {
    std::ifstream maps("/proc/self/maps");
    const std::size_t size = (entries * sizeof(Entry) + page - 1) / page * page;
    Entry* found = nullptr;

    for (std::string line; std::getline(maps, line);) {
      std::uintptr_t from, to;
      if (line.find("uverbs") == std::string::npos || std::sscanf(line.c_str(), "%lx-%lx", &from, &to) != 2 || to - from != size)
        continue;
      expect(!found, "two rings of a size");
      found = reinterpret_cast<Entry*>(from);
    }
    expect(found, "a ring is not mapped");
    return found;
  }

  /** Stores the flag VALID, which passes the entry to the device, last. */
  template <typename Entry> static void hand(Entry* ring, Entry entry) {
    const auto flags = static_cast<std::uint16_t>(entry.flags | SIW_WQE_VALID);

    entry.flags = 0;
    *ring = entry;
    std::atomic_ref(ring->flags).store(flags, std::memory_order_release);
  }

  siw_sqe* sends_;
  siw_rqe* receives_;
};

/** Work requests that no library writes: each ends its own connection, with the right error. */
void malformedSends(Context& c) {
  constexpr std::uint64_t id = 77, nowhere = 0xdead000000000100;
  struct Row {
    const char* what;
    std::uint8_t opcode, elements;
    std::uint16_t flags;
    std::uint32_t length;
    ibv_wc_status want;
  };
  static const Row rows[] = {
      {"local invalidation, which is the kernel's", SIW_OP_INVAL_STAG, 0, 0, 0, IBV_WC_LOC_QP_OP_ERR},
      {"registration, with an address in the kernel", SIW_OP_REG_MR, 0, 0, 0, IBV_WC_LOC_QP_OP_ERR},
      {"READ with invalidation, which is the kernel's", SIW_OP_READ_LOCAL_INV, 1, 0, 8, IBV_WC_LOC_QP_OP_ERR},
      {"a receive", SIW_OP_RECEIVE, 1, 0, 8, IBV_WC_LOC_QP_OP_ERR},
      {"an operation that does not exist", 255, 1, 0, 8, IBV_WC_LOC_QP_OP_ERR},
      {"one element too many", SIW_OP_SEND, SIW_MAX_SGE + 1, 0, 8, IBV_WC_LOC_QP_OP_ERR},
      {"255 elements", SIW_OP_SEND, 255, 0, 8, IBV_WC_LOC_QP_OP_ERR},
      {"a WRITE of 255 elements", SIW_OP_WRITE, 255, 0, 8, IBV_WC_LOC_QP_OP_ERR},
      {"a READ of 255 elements", SIW_OP_READ, 255, 0, 8, IBV_WC_LOC_QP_OP_ERR},
      {"one octet inline too many", SIW_OP_SEND, 1, SIW_WQE_INLINE, SIW_MAX_INLINE + 1, IBV_WC_LOC_LEN_ERR},
      {"4 GiB inline", SIW_OP_SEND, 1, SIW_WQE_INLINE, ~0U, IBV_WC_LOC_LEN_ERR},
      {"a READ inline", SIW_OP_READ, 1, SIW_WQE_INLINE, 8, IBV_WC_LOC_QP_OP_ERR},
      {"six elements of 4 GiB", SIW_OP_SEND, SIW_MAX_SGE, 0, ~0U, IBV_WC_LOC_PROT_ERR},
  };
  Bystander bystander(c);

  for (const Row& row : rows) {
    Scribbler s(c);
    siw_sqe entry{.id = id,
                  .flags = row.flags,
                  .num_sge = row.elements,
                  .opcode = row.opcode,
                  .rkey = s.region.rkey(),
                  .raddr = nowhere,
                  .sge = {}};

    for (auto& sge : entry.sge)
      sge = s.sge(row.length);
    s.send(entry);
    const ibv_wc wc = s.pair.client->sends().next();
    expect(wc.status == row.want, format("%s: %s", row.what, statusName(wc.status).c_str()));
    expectEqual(wc.wr_id, id, "the work request's id");
    s.pair.expectDown();
  }
  bystander.exchange();
}

/** Receives that no library writes: each ends its own connection, unless the peer's message fits. */
void malformedReceives(Context& c) {
  constexpr std::uint64_t id = 78;
  struct Row {
    const char* what;
    std::uint8_t elements;
    std::uint32_t length;
    ibv_wc_status want;
  };
  static const Row rows[] = {
      {"one element too many", SIW_MAX_SGE + 1, 8, IBV_WC_LOC_QP_OP_ERR},
      {"255 elements", 255, 8, IBV_WC_LOC_QP_OP_ERR},
      {"no element", 0, 8, IBV_WC_LOC_LEN_ERR},
      {"six elements of nothing", SIW_MAX_SGE, 0, IBV_WC_LOC_LEN_ERR},
      {"six elements of 4 GiB", SIW_MAX_SGE, ~0U, IBV_WC_SUCCESS},
  };
  Bystander bystander(c);

  for (const Row& row : rows) {
    Scribbler s(c);
    const Region from(s.pair.server->pd(), page);
    siw_rqe entry{.id = id, .flags = 0, .num_sge = row.elements, .opcode = 0, .unused = 0, .sge = {}};

    for (auto& sge : entry.sge)
      sge = s.sge(row.length);
    s.receive(entry);
    s.pair.server->postSend(1, {from.sge(0, 64)});
    const ibv_wc wc = s.pair.client->recvs().next();
    expect(wc.status == row.want, format("%s: %s", row.what, statusName(wc.status).c_str()));
    expectEqual(wc.wr_id, id, "the work request's id");
    if (wc.status != IBV_WC_SUCCESS)
      s.pair.expectDown();
  }
  bystander.exchange();
}

/* --- other processes --- */

template <typename T> void put(int fd, const T& value) {
  if (write(fd, &value, sizeof(value)) != sizeof(value))
    test::throwErrno("write to the other process");
}

template <typename T> T get(int fd, const Deadline& deadline) {
  T value;

  if (!test::waitFor(fd, POLLIN, deadline) || read(fd, &value, sizeof(value)) != sizeof(value))
    throw test::Failure("the other process says nothing");
  return value;
}

/** A child process, connected to this one by a socket. The destructor kills it. */
class Process {
public:
  /** Create it before this process uses the device. @p run gets the socket. */
  template <typename Function> explicit Process(Function run) {
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
      test::throwErrno("socketpair");
    link_ = test::Fd(ends[0]);
    const test::Fd other(ends[1]);
    pid_ = fork();
    if (pid_ < 0)
      test::throwErrno("fork");
    if (!pid_)
      child(run, ends[1]);
  }
  ~Process() { kill(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void kill() {
    if (pid_ <= 0)
      return;
    ::kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, -1), nullptr, 0);
  }

  template <typename T> void tell(const T& value) { put(link_.get(), value); }
  template <typename T> T hear() { return get<T>(link_.get(), Deadline(defaultBudget)); }

private:
  template <typename Function> [[noreturn]] static void child(Function run, int link) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      run(link);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "the other process: %s\n", e.what());
      _exit(1);
    }
    for (;;)
      pause();
  }

  test::Fd link_;
  pid_t pid_;
};

std::uint16_t portOf(const Server& server) {
  return static_cast<std::uint16_t>(std::stoul(server.port()));
}

/** Accepts a connection, posts receives and waits until it is killed. */
void victim(Place place, int link) {
  place.port = "0";
  Server server(place);
  put(link, portOf(server));
  End end(std::make_unique<Id>(server.request().id), {});
  const Region memory(end.pd(), 16 * page);
  rdma_conn_param param = connectParam({});

  for (unsigned i = 0; i < 8; i++)
    end.postRecv(i, {memory.sge(0, 64)});
  check(rdma_accept(end.id->get(), &param), "rdma_accept");
  for (;;)
    pause();
}

/** A client that is about to connect to @p port. */
std::unique_ptr<End> aboutToConnect(const Place& place, Channel& channel, const std::string& port) {
  const InNamespace here(place.clientNs);
  Address address(place.address, port);
  auto id = std::make_unique<Id>(channel);

  resolve(*id, channel, address);
  return std::make_unique<End>(std::move(id), EndOptions{});
}

void peerKilled(Context& c) {
  Process other([&](int link) { victim(c.place, link); });
  Bystander bystander(c);
  Channel channel;
  const auto client = aboutToConnect(c.place, channel, std::to_string(other.hear<std::uint16_t>()));
  End& end = *client;
  rdma_conn_param param = connectParam({});
  const Region memory(end.pd(), page);
  for (unsigned i = 0; i < 8; i++)
    end.postRecv(i, {memory.sge(0, 64)});
  check(rdma_connect(end.id->get(), &param), "rdma_connect");
  channel.expect(RDMA_CM_EVENT_ESTABLISHED);
  end.postSend(1, {memory.sge(0, 64)});
  expectWc(end.sends().next(), IBV_WC_SUCCESS, IBV_WC_SEND, "SEND to the other process");
  other.kill();
  channel.expect(RDMA_CM_EVENT_DISCONNECTED);
  for (const auto& wc : end.recvs().wait(8))
    expectWc(wc, IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, "receive");
  end.postSend(2, {memory.sge(0, 64)});
  expectWc(end.sends().next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, "SEND to a peer that is dead");
  bystander.exchange();
}

/* --- another user's QP --- */

/** A place with both users on the server's device. */
Place serverOnly(const Context& c) {
  Place place = c.place;

  place.clientNs = place.serverNs;
  place.port = "0";
  return place;
}

/** Enters the server's namespace permanently, as a user without privileges. */
void becomeNobody(Place& place) {
  constexpr uid_t nobody = 65534;

  (void)std::make_unique<InNamespace>(place.serverNs).release();
  place.clientNs = place.serverNs = "";
  if (setgroups(0, nullptr) || setresgid(nobody, nobody, nobody) || setresuid(nobody, nobody, nobody))
    test::throwErrno("setresuid");
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* the change of user has cleared it */
}

/** Makes a call with another user's QP number, on an id without a QP; sends the result to the parent. */
template <typename Function> void nameIt(Function call, const Id& id, std::uint32_t qpn, int link) {
  rdma_conn_param param = connectParam({});

  param.qp_num = qpn;
  put(link, call(id.get(), &param) ? errno : 0);
}

/** Gets a port and a QP number from the parent, and connects. */
void connectForeign(Place place, int link) {
  becomeNobody(place);
  const Deadline deadline(defaultBudget);
  Address address(place.address, std::to_string(get<std::uint16_t>(link, deadline)));
  const auto qpn = get<std::uint32_t>(link, deadline);
  Channel channel;
  const Id id(channel);

  resolve(id, channel, address);
  nameIt(rdma_connect, id, qpn, link);
}

/** Sends its port to the parent, gets a QP number, and accepts. */
void acceptForeign(Place place, int link) {
  becomeNobody(place);
  Server server(place);
  put(link, portOf(server));
  const auto qpn = get<std::uint32_t>(link, Deadline(defaultBudget));
  const Id id(server.request().id);

  nameIt(rdma_accept, id, qpn, link);
}

/** The QP is unchanged, and its owner can connect it. */
void expectUntouched(End& end, Channel& channel, Server& server) {
  rdma_conn_param param = connectParam({});

  expectEqual(end.state(), int{IBV_QPS_INIT}, "state of the QP");
  check(rdma_connect(end.id->get(), &param), "rdma_connect");
  End answer(std::make_unique<Id>(server.request().id), {});
  answer.postRecv(1, {});
  check(rdma_accept(answer.id->get(), &param), "rdma_accept");
  channel.expect(RDMA_CM_EVENT_ESTABLISHED);
  end.postSend(1, {});
  expectWc(answer.recvs().next(), IBV_WC_SUCCESS, IBV_WC_RECV, "receive");
}

void foreignConnect(Context& c) {
  const Place place = serverOnly(c);
  Process stranger([&](int link) { connectForeign(place, link); });
  Server server(place);
  Channel channel;
  const auto end = aboutToConnect(place, channel, server.port());

  stranger.tell(portOf(server));
  stranger.tell(end->qp()->qp_num);
  expectEqual(stranger.hear<int>(), EPERM, "another user's connect: error");
  expectUntouched(*end, channel, server);
}

void foreignAccept(Context& c) {
  const Place place = serverOnly(c);
  Process stranger([&](int link) { acceptForeign(place, link); });
  Server server(place);
  Channel channel, callerChannel;
  const auto end = aboutToConnect(place, channel, server.port());
  const auto caller = aboutToConnect(place, callerChannel, std::to_string(stranger.hear<std::uint16_t>()));
  rdma_conn_param param = connectParam({});

  check(rdma_connect(caller->id->get(), &param), "rdma_connect");
  stranger.tell(end->qp()->qp_num);
  expectEqual(stranger.hear<int>(), EPERM, "another user's accept: error");
  expectEqual(-callerChannel.expect(RDMA_CM_EVENT_REJECTED).status, ECONNREFUSED, "the caller's answer");
  expectUntouched(*end, channel, server);
}

/** A message to iw_cm, as its port mapper sends them. */
class MapperMessage {
public:
  explicit MapperMessage(int operation) : octets_(NLMSG_HDRLEN) {
    header().nlmsg_type = static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_IWCM, operation));
    header().nlmsg_flags = NLM_F_REQUEST;
  }

  template <typename Value> void add(std::uint16_t type, const Value& value) {
    const nlattr attribute{static_cast<std::uint16_t>(NLA_HDRLEN + sizeof(value)), type};
    const std::size_t at = octets_.size();

    octets_.resize(at + NLA_ALIGN(attribute.nla_len));
    std::memcpy(&octets_[at], &attribute, sizeof(attribute));
    std::memcpy(&octets_[at + NLA_HDRLEN], &value, sizeof(value));
  }

  /** The kernel has processed it when this returns. */
  void send() {
    const test::Fd socket(::socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA));
    sockaddr_nl kernel{};

    kernel.nl_family = AF_NETLINK;
    header().nlmsg_len = static_cast<std::uint32_t>(octets_.size());
    if (sendto(socket.get(), octets_.data(), octets_.size(), 0, reinterpret_cast<sockaddr*>(&kernel), sizeof(kernel)) < 0)
      test::throwErrno("sendto");
  }

private:
  nlmsghdr& header() { return *reinterpret_cast<nlmsghdr*>(octets_.data()); }

  Bytes octets_;
};

sockaddr_storage storageOf(const sockaddr* address) {
  sockaddr_storage storage{};

  std::memcpy(&storage, address, address->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
  return storage;
}

/** Tells iw_cm that the connection from @p client to @p server comes from @p other. The kernel lets every user do this. */
void claimClient(const sockaddr_storage& server, const sockaddr_storage& client, const sockaddr_storage& other) {
  MapperMessage message(RDMA_NL_IWPM_REMOTE_INFO);

  message.add(IWPM_NLA_RQUERY_MAPPING_SEQ, std::uint32_t{1});
  message.add(IWPM_NLA_RQUERY_LOCAL_ADDR, server);
  message.add(IWPM_NLA_RQUERY_REMOTE_ADDR, other);
  message.add(IWPM_NLA_RQUERY_MAPPED_LOC_ADDR, server);
  message.add(IWPM_NLA_RQUERY_MAPPED_REM_ADDR, client);
  message.add(IWPM_NLA_RQUERY_MAPPING_ERR, std::uint16_t{0});
  message.send();
}

void forgedClient(Context& c) {
  const Place place = serverOnly(c);
  Server server(place);
  Channel channel;
  const auto end = aboutToConnect(place, channel, server.port());
  const sockaddr_storage client = storageOf(rdma_get_local_addr(end->id->get()));
  sockaddr_storage other = client;
  rdma_conn_param param = connectParam({});

  reinterpret_cast<sockaddr_in*>(&other)->sin_port ^= htons(0x4000);
  claimClient(storageOf(rdma_get_peer_addr(end->id->get())), client, other);
  check(rdma_connect(end->id->get(), &param), "rdma_connect");
  const Id id(server.request().id);
  const sockaddr_storage seen = storageOf(rdma_get_peer_addr(id.get()));
  expect(!std::memcmp(&seen, &client, sizeof(seen)), "the server sees another client than TCP");
}

/** The number of one-page rings that can be mapped through @p fd, an open device. */
unsigned ringsOf(int fd) {
  constexpr off_t offsets = 4096;
  unsigned found = 0;

  for (off_t at = 0; at < offsets; at++) {
    void* const ring = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at * static_cast<off_t>(page));
    if (ring == MAP_FAILED)
      continue;
    munmap(ring, page);
    found++;
  }
  return found;
}

/** When the parent asks, counts the mappable rings of all devices. Opens them anew: those open in librdmacm may be the parent's. */
void mapForeign(Place place, int link) {
  becomeNobody(place);
  get<char>(link, Deadline(defaultBudget));
  ibv_device** const devices = check(ibv_get_device_list(nullptr), "ibv_get_device_list");
  unsigned found = 0;

  for (ibv_device** device = devices; *device; device++) {
    ibv_context* const context = check(ibv_open_device(*device), "ibv_open_device");
    found += ringsOf(context->cmd_fd);
    ibv_close_device(context);
  }
  ibv_free_device_list(devices);
  put(link, found);
}

/** The offsets of rings can be guessed, but they can be mapped only through the process's own device file. */
void foreignRings(Context& c) {
  const Place place = serverOnly(c);
  Process stranger([&](int link) { mapForeign(place, link); });
  Address address(place.address, "1");
  const InNamespace here(place.serverNs);
  Channel channel;
  const Id id(channel);

  resolve(id, channel, address);
  const Cq ring(id.context(), 16);
  expect(ringsOf(id.context()->cmd_fd) > 0, "a process does not find its own ring");
  stranger.tell('?');
  expectEqual(stranger.hear<unsigned>(), 0U, "rings of other processes that can be mapped");
}

const VerbsCase table[] = {
    {"memlock", "", "registration beyond RLIMIT_MEMLOCK, and its accounting", memlock},
    {"read-only-mapping", "", "a read-only mapping registered for writing, and for reading", readOnlyMapping},
    {"keys", "", "keys: revoked, and beyond the last address", keys},
    {"stags", "", "STags cannot be derived from one another", stags},
    {"last-address", "", "a region that ends with the last address", lastAddress},
    {"cq-overflow", "", "a completion queue overflows", cqOverflow},
    {"cq-overflow-receives", "", "a queue of receive completions overflows", cqOverflowReceives},
    {"cq-overflow-destroy", "", "its QPs and the queue are destroyed during the overflow", cqOverflowDestroy},
    {"malformed-sends", "", "send queue entries that no library writes", malformedSends},
    {"malformed-receives", "", "receive queue entries that no library writes", malformedReceives},
    {"receiver-not-ready", "", "a SEND without a receive, after one with a receive", receiverNotReady},
    {"peer-killed", "", "the other process is killed", peerKilled},
    {"foreign-connect", "", "another user connects with a QP that is not its own", foreignConnect},
    {"foreign-accept", "", "another user accepts with a QP that is not its own", foreignAccept},
    {"forged-client", "", "iw_cm is told that another client connects", forgedClient},
    {"foreign-rings", "", "another process looks for rings to map", foreignRings},
};

} // namespace

std::span<const VerbsCase> hostileCases() {
  return table;
}

} // namespace rdma

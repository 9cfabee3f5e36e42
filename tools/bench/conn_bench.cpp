// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * conn_bench: the cost of connections and registrations, in instructions and in memory.
 *
 * Both ends of all connections are in this process. All share one protection domain, and each side has one completion queue,
 * unless --own-queues gives each end its own.
 */
#include "../common/rdma.hpp"
#include "measure.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <thread>

#include <netinet/in.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace bench {
namespace {

using rdma::check;
using rdma::checkVerbs;

enum class Op { Connect, Register, Idle, HalfOpen };

struct Options {
  std::string address = "10.9.0.1";
  std::string port = "7471";
  Op op = Op::Connect;
  std::size_t count = 200;
  std::size_t warmup = 20;
  std::size_t size = 4096;
  std::size_t busy = 0;
  unsigned capacity = 16;
  unsigned settle = 3;
  bool ownQueues = false;
  bool slabs = false;
  bool maps = false;
};

/** Octets of memory by their use. */
struct Usage {
  std::map<std::string, long> kinds;
  std::map<std::string, long> slabs;

  static Usage now() {
    Usage u;
    std::map<std::string, long> info;
    std::ifstream meminfo("/proc/meminfo");
    for (std::string line; std::getline(meminfo, line);) {
      std::istringstream in(line);
      std::string name;
      long kib = 0;
      in >> name >> kib;
      info[name] = kib * 1024;
    }
    // The kernel has the memory that is neither free nor page cache nor a program's own. It includes the rings that programs map.
    u.kinds["kernel"] =
        info["MemTotal:"] - info["MemFree:"] - freeOnProcessors() - info["Buffers:"] - info["Cached:"] - info["AnonPages:"];
    u.kinds["slab"] = info["Slab:"];
    u.kinds["vmalloc"] = info["VmallocUsed:"];
    u.kinds["page-tables"] = info["PageTables:"];
    u.kinds["per-cpu"] = info["Percpu:"];
    u.kinds["program"] = info["AnonPages:"];
    std::ifstream slabinfo("/proc/slabinfo");
    for (std::string line; std::getline(slabinfo, line);) {
      std::istringstream in(line);
      std::string name;
      long active, total, size;
      if (in >> name >> active >> total >> size)
        u.slabs[name] = active * size;
    }
    return u;
  }

  /** Free pages in the per-CPU lists, which MemFree does not count. */
  static long freeOnProcessors() {
    std::ifstream zones("/proc/zoneinfo");
    long pages = 0;
    for (std::string line; std::getline(zones, line);) {
      std::istringstream in(line);
      std::string name;
      long value;
      if (in >> name >> value && name == "count:")
        pages += value;
    }
    return pages * sysconf(_SC_PAGESIZE);
  }

  /** Prints the growth since @p before, divided by @p n. */
  void printSince(const Usage& before, const char* of, std::size_t n, bool bySlab) const {
    const auto share = [n](long octets) { return static_cast<double>(octets) / static_cast<double>(n); };
    std::cout << "memory of=" << of << " n=" << n;
    for (const auto& [kind, octets] : kinds)
      std::cout << ' ' << kind << '=' << static_cast<long>(share(octets - before.kinds.at(kind)));
    std::cout << std::endl;
    for (const auto& [name, octets] : slabs)
      if (const auto old = before.slabs.find(name); bySlab && old != before.slabs.end() && share(octets - old->second) >= 16)
        std::cout << "slab " << name << ' ' << share(octets - old->second) << std::endl;
  }
};

/** Memory use after deferred frees have finished. */
Usage settled(const Options& options) {
  std::this_thread::sleep_for(std::chrono::seconds(options.settle));
  return Usage::now();
}

/** Objects that all connections of one side share; the first connection creates them. */
class Side {
public:
  void open(ibv_context* context, const Options& options) {
    if (pd_)
      return;
    pd_.reset(check(ibv_alloc_pd(context), "ibv_alloc_pd"));
    region_.emplace(pd_.get(), std::max<std::size_t>(options.size, options.busy));
    if (!options.ownQueues)
      cq_.emplace(context, completions);
  }
  ibv_pd* pd() const { return pd_.get(); }
  rdma::Region& region() { return *region_; }
  rdma::Cq* cq() { return cq_ ? &*cq_ : nullptr; }

private:
  /**
   * So many that the mapping of the first queue, which has the lowest offset, extends beyond 0x90000 (SIW_INVAL_UOBJ_KEY). siw
   * assigns that offset like any other, and soon would, but libsiw refuses a queue that begins there.
   */
  static constexpr int completions = 1 << 16;

  rdma::Pd pd_;
  std::optional<rdma::Region> region_;
  std::optional<rdma::Cq> cq_;
};

/** One end of a connection. */
class End {
public:
  End(rdma::Id id, Side& side, const Options& options) : id_(std::move(id)), side_(side) {
    side_.open(id_.context(), options);
    if (options.ownQueues)
      own_.emplace(id_.context(), static_cast<int>(2 * options.capacity));
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = cq().get();
    attributes.qp_type = IBV_QPT_RC;
    attributes.sq_sig_all = 1;
    attributes.cap = {options.capacity, options.capacity, 1, 1, 0};
    id_.createQp(side_.pd(), attributes);
  }
  End(End&&) = default;

  rdma_cm_id* id() const { return id_.get(); }
  void destroyQp() { id_.destroyQp(); }

  void receive(std::size_t length) {
    ibv_sge sge = side_.region().sge(0, length);
    ibv_recv_wr wr{0, nullptr, &sge, 1}, *bad;
    checkVerbs(ibv_post_recv(id_.qp(), &wr, &bad), "ibv_post_recv");
  }
  void send(std::size_t length) {
    ibv_sge sge = side_.region().sge(0, length);
    ibv_send_wr wr{}, *bad;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_SEND;
    checkVerbs(ibv_post_send(id_.qp(), &wr, &bad), "ibv_post_send");
  }
  /** Waits for one completion of any connection of this side. */
  void reap() {
    if (const ibv_wc wc = cq().next(); wc.status != IBV_WC_SUCCESS)
      throw std::runtime_error("completion with error: " + rdma::statusName(wc.status));
  }

private:
  rdma::Cq& cq() { return own_ ? *own_ : *side_.cq(); }

  rdma::Id id_;
  Side& side_;
  std::optional<rdma::Cq> own_;
};

struct Pair {
  End client;
  End server;

  /** Sends a message in each direction. */
  void talk(std::size_t length) {
    server.receive(length);
    client.receive(length);
    client.send(length);
    server.reap();
    server.send(length);
    client.reap();
    client.reap();
    server.reap();
  }
};

/** The connections, and the objects that they are made from. */
class Connections {
public:
  explicit Connections(const Options& options) : options_(options), address_(options.address, options.port), listener_(events_) {
    check(rdma_bind_addr(listener_.get(), address_.get()), "rdma_bind_addr");
    check(rdma_listen(listener_.get(), 1024), "rdma_listen");
    pairs_.reserve(options.count + options.warmup);
  }

  void connect(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      connectOne();
  }

  void disconnectAll() {
    for (Pair& pair : pairs_)
      disconnect(pair);
    pairs_.clear();
  }

  std::vector<Pair>& pairs() { return pairs_; }
  sockaddr* address() { return address_.get(); }

private:
  void connectOne() {
    rdma_conn_param parameters = rdma::connectParam({});
    rdma::Id id(events_);
    rdma::resolve(id, events_, address_);
    End client(std::move(id), clients_, options_);
    check(rdma_connect(client.id(), &parameters), "rdma_connect");
    End server(rdma::Id(events_.expect(RDMA_CM_EVENT_CONNECT_REQUEST).id), servers_, options_);
    check(rdma_accept(server.id(), &parameters), "rdma_accept");
    for (int end = 0; end < 2; ++end)
      events_.expect(RDMA_CM_EVENT_ESTABLISHED);
    pairs_.push_back({std::move(client), std::move(server)});
  }

  void disconnect(Pair& pair) {
    check(rdma_disconnect(pair.client.id()), "rdma_disconnect");
    for (int end = 0; end < 2; ++end)
      events_.expect(RDMA_CM_EVENT_DISCONNECTED);
    pair.client.destroyQp();
    pair.server.destroyQp();
  }

  const Options& options_;
  rdma::Channel events_;
  rdma::Address address_;
  rdma::Id listener_;
  Side clients_, servers_;
  std::vector<Pair> pairs_;
};

/** Prints the cost of @p work, which performs @p options.count operations. */
template <typename Work> void printCost(const Options& options, Work&& work) {
  const Region region;
  work();
  printResult(region.stop(), static_cast<long>(options.count), 0);
}

/** Connecting, from the ids on, then disconnecting: two results. */
void measureConnects(const Options& options) {
  Connections connections(options);
  connections.connect(options.warmup);
  connections.disconnectAll();
  printCost(options, [&] { connections.connect(options.count); });
  printCost(options, [&] { connections.disconnectAll(); });
}

/** Registering, then deregistering: two results. */
void measureRegistrations(const Options& options) {
  Connections connections(options);
  connections.connect(1);
  ibv_pd* const pd = connections.pairs().front().client.id()->qp->pd;
  const Buffer buffer(options.size);
  const auto enroll = [&](std::size_t n, std::vector<rdma::MrHandle>& regions) {
    for (std::size_t i = 0; i < n; ++i)
      regions.emplace_back(check(ibv_reg_mr(pd, buffer.data(), buffer.size(), rdma::remoteAll), "ibv_reg_mr"));
  };
  std::vector<rdma::MrHandle> regions;
  regions.reserve(std::max(options.count, options.warmup));
  enroll(options.warmup, regions);
  regions.clear();
  printCost(options, [&] { enroll(options.count, regions); });
  printCost(options, [&] { regions.clear(); });
}

/** Memory of connections before and after they have carried data, and the cost of a round trip on each and on one of them. */
void measureIdle(const Options& options) {
  Connections connections(options);
  connections.connect(options.warmup);
  const Usage before = settled(options);
  connections.connect(options.count);
  settled(options).printSince(before, "idle", 2 * options.count, options.slabs);
  for (Pair& pair : connections.pairs())
    pair.talk(std::max<std::size_t>(options.busy, 64));
  settled(options).printSince(before, "once-busy", 2 * options.count, options.slabs);
  Region all;
  for (Pair& pair : connections.pairs())
    pair.talk(64);
  printResult(all.stop(), static_cast<long>(connections.pairs().size()), 0);
  Pair& one = connections.pairs().front();
  one.talk(64);
  const Region roundTrips;
  for (int i = 0; i < 1000; ++i)
    one.talk(64);
  printResult(roundTrips.stop(), 1000, 0);
  connections.disconnectAll();
}

/** Memory of TCP connections on which no Request arrives, with both ends. */
void measureHalfOpen(const Options& options) {
  Connections connections(options);
  std::vector<test::Fd> sockets;
  const auto open = [&](std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      sockets.emplace_back(::socket(connections.address()->sa_family, SOCK_STREAM, 0));
      if (!sockets.back() || ::connect(sockets.back().get(), connections.address(), sizeof(sockaddr_in)))
        test::throwErrno("connect");
    }
  };
  connections.connect(1);
  open(options.warmup);
  const Usage before = settled(options);
  open(options.count);
  settled(options).printSince(before, "half-open", options.count, options.slabs);
}

/** Raises the limit of descriptors to the maximum for root. */
void raiseLimits(std::size_t count) {
  const rlimit limit{count + 1024, count + 1024};
  check(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

int run(int argc, char** argv) {
  Options o;
  test::Options options(
      "usage: conn_bench [options]\nMeasures connections of an RDMA device within this process.\n",
      {{"address", "ADDR", "an address of the RDMA link (default 10.9.0.1)", test::text(o.address), 'a'},
       {"port", "PORT", "port to listen on (default 7471)", test::text(o.port), 'p'},
       {"op", "OP",
        "connect: connect, then disconnect; register: register, then deregister;\nidle: memory of connections and round "
        "trips on them; half-open: memory of silent\nTCP connections (default connect)",
        test::choice(o.op, {{"connect", Op::Connect}, {"register", Op::Register}, {"idle", Op::Idle}, {"half-open", Op::HalfOpen}}),
        'o'},
       {"count", "N", "connections, or registrations (default 200)", test::number(o.count, 1), 'n'},
       {"warmup", "N", "number of them before the measurement (default 20)", test::number(o.warmup), 'w'},
       {"size", "N", "octets of a registration (default 4096)", test::number(o.size, 1), 's'},
       {"busy", "N", "idle: octets that each end sends once (default 64)", test::number(o.busy), 'b'},
       {"capacity", "N", "work requests in each queue (default 16)", test::number(o.capacity, 1), 'c'},
       {"settle", "SECONDS", "wait before memory is measured (default 3)", test::number(o.settle), 't'},
       {"own-queues", nullptr, "a completion queue for each end", test::flag(o.ownQueues), 'q'},
       {"slabs", nullptr, "also print memory by slab", test::flag(o.slabs), 'S'},
       {"maps", nullptr, "print this program's mappings, for a profile", test::flag(o.maps), 'm'}},
      "Prints `result tsc=… ops=… octets=0` for each measured part, and `memory of=… n=…` with octets for each of n:\n"
      "kernel (all of its memory, with the rings that programs map), of that slab, vmalloc, page-tables and per-cpu, and "
      "program.\n");
  std::vector<std::string> operands;
  if (const auto status = options.parse(argc, argv, operands))
    return *status;
  if (!operands.empty())
    throw std::invalid_argument("unexpected argument '" + operands.front() + "': see conn_bench --help");
  raiseLimits(o.count + o.warmup);
  // Wait until the kernel's random numbers are seeded: until then each costs several times as much.
  check(getrandom(&o, 0, 0) < 0, "getrandom");
  switch (o.op) {
  case Op::Connect:
    measureConnects(o);
    break;
  case Op::Register:
    measureRegistrations(o);
    break;
  case Op::Idle:
    measureIdle(o);
    break;
  case Op::HalfOpen:
    measureHalfOpen(o);
    break;
  }
  if (o.maps)
    printMaps();
  return 0;
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  return test::guarded("conn_bench", [&] { return bench::run(argc, argv); });
}

// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * parallel_bench: the throughput of a number of connections in a given time; each end has its own thread.
 *
 * Both ends of all connections are in this process. The output has the time, the octets of all connections together, and the
 * CPUs' idle time.
 */
#include "end.hpp"
#include "socket.hpp"

#include <atomic>
#include <thread>

namespace bench {
namespace {

enum class Op { Write, Send };
enum class Transport { Rdma, Tcp };

constexpr std::chrono::milliseconds longestWarmup{100};

struct Options {
  std::string address = "10.9.0.1";
  Transport transport = Transport::Rdma;
  Op op = Op::Write;
  std::size_t size = 65536;
  long depth = 16;
  int connections = 1;
  int milliseconds = 500;
  std::uint64_t octets = 0;

  std::chrono::milliseconds warmup() const { return std::min(std::chrono::milliseconds(milliseconds) / 5, longestWarmup); }
};

/** State that all threads of a run share. */
struct Run {
  std::atomic<bool> over = false;
  std::atomic<std::uint64_t> octets = 0;
};

/** One connection with a thread at either end, or at only one when the other end has no work. */
class Flow {
public:
  virtual ~Flow() = default;
  virtual void start(Run& run) = 0;
  /** Once the run is over, stops the threads and waits for them. */
  virtual void finish() = 0;
};

/** A TCP connection: one thread sends, the other receives and counts. */
class TcpFlow : public Flow {
public:
  TcpFlow(const Options& options, std::uint16_t port)
      : client_(makeSocket()), server_(connectTo(client_, options.address, port)), source_(options.size), sink_(options.size) {
    client_.set(IPPROTO_TCP, TCP_NODELAY, 1);
    source_.fill(1);
  }

  void start(Run& run) override {
    sender_ = std::jthread([&] {
      while (!run.over)
        client_.send(source_.data(), source_.size());
      shutdown(client_.fd(), SHUT_WR);
    });
    receiver_ = std::jthread([&] {
      for (ssize_t n; (n = recv(server_.fd(), sink_.data(), sink_.size(), 0)) > 0;)
        run.octets += run.over ? 0 : static_cast<std::uint64_t>(n);
    });
  }

  void finish() override {
    sender_.join();
    receiver_.join();
  }

private:
  Socket client_;
  Socket server_;
  Buffer source_;
  Buffer sink_;
  std::jthread sender_;
  std::jthread receiver_;
};

/** An RDMA connection: one thread keeps WRITEs or SENDs in progress; for SENDs another keeps receives posted. */
class RdmaFlow : public Flow {
public:
  RdmaFlow(const Options& options, std::uint16_t port)
      : options_(options), ends_(options.address, std::to_string(port), {options.size, options.depth}) {
    client_.buffer().fill(1);
    if (options.op == Op::Write)
      client_.prepare(IBV_WR_RDMA_WRITE, server_);
  }

  void start(Run& run) override {
    const bool sends = options_.op == Op::Send;
    if (sends) {
      server_.postReceives(options_.depth);
      receiver_ = std::jthread([&] { receive(); });
    }
    sender_ = std::jthread([this, &run] { send(run); });
  }

  void finish() override {
    sender_.join();
    if (receiver_.joinable())
      receiver_.join();
    rdma_disconnect(client_.id());
  }

private:
  /** Keeps the depth of messages in progress. SENDs may outrun the posted receives: the peer's credits bound them. */
  void send(Run& run) {
    long outstanding = 0;
    const bool sends = options_.op == Op::Send;
    std::uint64_t posted = 0;
    while (!run.over) {
      while (outstanding < options_.depth && (!sends || posted < received_ + static_cast<std::uint64_t>(options_.depth))) {
        client_.postSends(1);
        ++outstanding;
        ++posted;
      }
      if (!outstanding) {
        received_.wait(posted - static_cast<std::uint64_t>(options_.depth));
        continue;
      }
      const long n = client_.reap(true);
      outstanding -= n;
      run.octets += run.over ? 0 : static_cast<std::uint64_t>(n) * options_.size;
    }
    while (outstanding)
      outstanding -= client_.reap(true);
    if (!sends)
      return;
    // The receiver is blocked until a message arrives: send one more. It knows the total, so it stops after this one.
    for (std::uint64_t seen; (seen = received_) < posted;)
      received_.wait(seen);
    total_ = posted + 1;
    client_.postSends(1);
    client_.reap(true);
  }

  /** Takes messages and reposts as many receives, until the sender's last message. */
  void receive() {
    std::uint64_t received = 0;
    while (received < total_) {
      const long n = server_.reap(true);
      server_.postReceives(n);
      received += static_cast<std::uint64_t>(n);
      received_ = received;
      received_.notify_one();
    }
  }

  const Options& options_;
  Ends ends_;
  End& client_ = ends_.client();
  End& server_ = ends_.server();
  std::atomic<std::uint64_t> received_ = 0;
  std::atomic<std::uint64_t> total_ = ~std::uint64_t{}; ///< messages in total, once known
  std::jthread sender_;
  std::jthread receiver_;
};

/** Ticks of all CPUs since boot: idle, and all. */
struct CpuTime {
  std::uint64_t idle = 0;
  std::uint64_t all = 0;

  static CpuTime now() {
    CpuTime time;
    std::ifstream stat("/proc/stat");
    std::string name;
    stat >> name;
    // user nice system idle iowait irq softirq steal
    for (int i = 0; i < 8; ++i) {
      std::uint64_t ticks = 0;
      stat >> ticks;
      time.all += ticks;
      time.idle += i == 3 || i == 4 ? ticks : 0;
    }
    return time;
  }
};

/** Waits until the time is over, or as many octets as wanted have been moved since there were @p before. */
void await(const Options& options, const Run& run, std::uint64_t before) {
  constexpr std::chrono::milliseconds step{10};
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(options.milliseconds);
  if (!options.octets)
    return std::this_thread::sleep_until(end);
  while (std::chrono::steady_clock::now() < end && run.octets - before < options.octets)
    std::this_thread::sleep_for(step);
}

void measure(const Options& options) {
  Run run;
  std::vector<std::unique_ptr<Flow>> flows;
  for (int i = 0; i < options.connections; ++i) {
    const auto port = static_cast<std::uint16_t>(7500 + i);
    if (options.transport == Transport::Tcp)
      flows.push_back(std::make_unique<TcpFlow>(options, port));
    else
      flows.push_back(std::make_unique<RdmaFlow>(options, port));
  }
  for (const auto& flow : flows)
    flow->start(run);

  // Let TCP's windows open and the threads settle.
  std::this_thread::sleep_for(options.warmup());
  const CpuTime before = CpuTime::now();
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t octets = run.octets;
  await(options, run, octets);
  const std::uint64_t moved = run.octets - octets;
  const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - start;
  const CpuTime after = CpuTime::now();
  run.over = true;
  for (const auto& flow : flows)
    flow->finish();

  if (!moved)
    throw std::runtime_error("no data was transferred");
  const auto ns = static_cast<std::uint64_t>(elapsed.count());
  const std::uint64_t ticks = std::max<std::uint64_t>(1, after.all - before.all);
  std::cout << "result told=" << ns << " ops=" << moved / options.size << " octets=" << moved
            << " idle=" << ns * (after.idle - before.idle) / ticks << std::endl;
}

int run(int argc, char** argv) {
  Options o;
  test::Options options(
      "usage: parallel_bench [options]\nMeasures the throughput of connections within this process.\n",
      {{"address", "ADDR", "an IPv4 address, of the RDMA link (default 10.9.0.1)", test::text(o.address), 'a'},
       {"transport", "NAME", "rdma or tcp (default rdma)",
        test::choice(o.transport, {{"rdma", Transport::Rdma}, {"tcp", Transport::Tcp}}), 't'},
       {"op", "OP", "write or send (default write; tcp: send)", test::choice(o.op, {{"write", Op::Write}, {"send", Op::Send}}),
        'o'},
       {"size", "N", "octets per message (default 65536)", test::number(o.size, 1), 's'},
       {"depth", "N", "messages outstanding on each connection (default 16)", test::number(o.depth, 1), 'd'},
       {"connections", "N", "number of connections (default 1)", test::number(o.connections, 1, 1000), 'c'},
       {"milliseconds", "N", "length of the measurement (default 500)", test::number(o.milliseconds, 1), 'm'},
       {"octets", "N", "end earlier, once N octets have been moved (default 0: do not)", test::number(o.octets), 'n'}},
      "Prints one line `result told=… ops=… octets=… idle=…`: nanoseconds, and a CPU's average idle time in them.\n");
  std::vector<std::string> operands;
  if (const auto status = options.parse(argc, argv, operands))
    return *status;
  if (!operands.empty())
    throw std::invalid_argument("unexpected argument '" + operands.front() + "': see parallel_bench --help");
  measure(o);
  return 0;
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  return test::guarded("parallel_bench", [&] { return bench::run(argc, argv); });
}

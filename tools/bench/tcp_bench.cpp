// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * tcp_bench: the same fixed work as rdma_bench, over a plain TCP connection within this process.
 * Its cost is the minimum for a transport over the kernel's TCP.
 */
#include "socket.hpp"

#include <vector>

namespace bench {
namespace {

enum class Op { Send, Pingpong };

struct Options : Repeats {
  std::string address = "10.9.0.1";
  std::uint16_t port = 7480;
  Op op = Op::Send;
  std::size_t size = 65536;
  long depth = 1;

  bool roundTrips() const { return op == Op::Pingpong; }
  std::vector<test::Option> own() {
    return {
        {"address", "ADDR", "an IPv4 address of this host (default 10.9.0.1)", test::text(address), 'a'},
        {"port", "PORT", "port to listen on (default 7480)", test::number(port, 1), 'p'},
        {"op", "OP", "send or pingpong (default send)", test::choice(op, {{"send", Op::Send}, {"pingpong", Op::Pingpong}}), 'o'},
        {"size", "N", "octets per message (default 65536)", test::number(size, 1), 's'},
        {"depth", "N", "send N messages, one call each, before they are received (default 1)", test::number(depth, 1), 'd'}};
  }
};

/** An established connection with both its ends. */
class Connection {
public:
  explicit Connection(const Options& options)
      : options_(options), client_(makeSocket()), server_(connectTo(client_, options.address, options.port)), source_(options.size),
        sink_(options.size * static_cast<std::size_t>(options.depth)) {
    for (const Socket* socket : {&client_, &server_})
      socket->set(IPPROTO_TCP, TCP_NODELAY, 1);
  }

  /** Runs @p n operations. */
  void run(long n) {
    if (options_.roundTrips())
      return pingpong(n);
    for (long sent = 0; sent < n;) {
      const long batch = std::min(options_.depth, n - sent);
      for (long i = 0; i < batch; ++i)
        client_.send(source_.data(), source_.size());
      server_.receive(sink_.data(), source_.size() * static_cast<std::size_t>(batch));
      sent += batch;
    }
  }

  void fill(unsigned seed) const {
    source_.fill(seed);
    sink_.clear();
  }

  void verify(unsigned /*seed*/) const {
    if (std::memcmp(source_.data(), sink_.data(), source_.size()))
      throw std::runtime_error("the data is wrong");
  }

private:
  void pingpong(long n) {
    for (long i = 0; i < n; ++i) {
      client_.send(source_.data(), source_.size());
      server_.receive(sink_.data(), source_.size());
      server_.send(sink_.data(), source_.size());
      client_.receive(source_.data(), source_.size());
    }
  }

  const Options& options_;
  Socket client_;
  Socket server_;
  Buffer source_;
  Buffer sink_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  return bench::measureRepeats<bench::Options, bench::Connection>(
      "tcp_bench", "Measures messages over a TCP connection to this process itself.", argc, argv);
}

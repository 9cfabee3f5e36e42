// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * tcp_bench: the same fixed work as rdma_bench over a plain TCP connection to this process itself,
 * which is the least that a transport over the kernel's TCP can cost.
 */
#include "measure.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace bench {
namespace {

constexpr char usage[] =
    R"(usage: tcp_bench [options]
Measures messages over a TCP connection to this process itself.
  -a, --address ADDR   an IPv4 address of this host (default 10.9.0.1)
  -p, --port PORT      port to listen on (default 7480)
  -o, --op OP          send or pingpong (default send)
  -s, --size N         octets per message (default 65536)
  -d, --depth N        send N messages, one call each, before they are received (default 1)
  -n, --count N        messages, or round trips, per repeat (default 200)
  -w, --warmup N       messages before each repeat is measured (default 32)
  -r, --repeats N      repeats, each on a connection of its own (default 3)
  -m, --maps           print this program's mappings, for a profile
  -h, --help           this text
Prints one line `result tsc=… ops=… octets=…` per repeat. The data is compared after each.
)";

enum class Op { Send, Pingpong };

struct Options {
  std::string address = "10.9.0.1";
  std::uint16_t port = 7480;
  Op op = Op::Send;
  std::size_t size = 65536;
  long depth = 1;
  long count = 200;
  long warmup = 32;
  long repeats = 3;
  bool maps = false;
};

/** A TCP socket. */
class Socket {
public:
  explicit Socket(int fd) : fd_(fd) {
    if (fd_ < 0)
      throwErrno("socket");
  }
  ~Socket() {
    if (fd_ >= 0)
      close(fd_);
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket& operator=(Socket&&) = delete;

  int fd() const { return fd_; }

  void set(int level, int name, int value) const {
    if (setsockopt(fd_, level, name, &value, sizeof(value)))
      throwErrno("setsockopt");
  }

  /** Sends all of the octets. */
  void send(const unsigned char* data, std::size_t size) const {
    while (size) {
      const ssize_t n = ::send(fd_, data, size, MSG_NOSIGNAL);
      if (n < 0)
        throwErrno("send");
      data += n;
      size -= static_cast<std::size_t>(n);
    }
  }

  /** Receives exactly that many octets. */
  void receive(unsigned char* data, std::size_t size) const {
    while (size) {
      const ssize_t n = ::recv(fd_, data, size, 0);
      if (n < 0)
        throwErrno("recv");
      if (!n)
        throw std::runtime_error("the peer has closed the connection");
      data += n;
      size -= static_cast<std::size_t>(n);
    }
  }

private:
  int fd_;
};

/** An established connection with both its ends. */
class Connection {
public:
  explicit Connection(const Options& options)
      : options_(options), client_(make()), server_(connect(options)), source_(options.size),
        sink_(options.size * static_cast<std::size_t>(options.depth)) {
    for (const Socket* socket : {&client_, &server_})
      socket->set(IPPROTO_TCP, TCP_NODELAY, 1);
  }

  /** Runs @p n operations. */
  void run(long n) {
    if (options_.op == Op::Pingpong)
      return pingpong(n);
    for (long sent = 0; sent < n;) {
      const long batch = std::min(options_.depth, n - sent);
      for (long i = 0; i < batch; ++i)
        client_.send(source_.data(), source_.size());
      server_.receive(sink_.data(), source_.size() * static_cast<std::size_t>(batch));
      sent += batch;
    }
  }

  /** Runs @p n operations, prints what they cost, and checks that the data came, all of it new. */
  void measure(long n, unsigned seed) {
    source_.fill(seed);
    sink_.clear();
    const Region region;
    run(n);
    const std::uint64_t tsc = region.stop();
    const long messages = options_.op == Op::Pingpong ? 2 * n : n;
    printResult(tsc, n, static_cast<std::uint64_t>(messages) * options_.size);
    if (std::memcmp(source_.data(), sink_.data(), source_.size()))
      throw std::runtime_error("the data is wrong");
  }

private:
  static Socket make() { return Socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

  /** Connects client_ to a listener of this process. @return the accepted socket. */
  Socket connect(const Options& options) const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options.port);
    if (inet_pton(AF_INET, options.address.c_str(), &address.sin_addr) != 1)
      throw std::invalid_argument("'" + options.address + "' is not an IPv4 address");
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    const Socket listener = make();
    listener.set(SOL_SOCKET, SO_REUSEADDR, 1);
    if (bind(listener.fd(), generic, sizeof(address)) || listen(listener.fd(), 1))
      throwErrno("listen on " + options.address);
    if (::connect(client_.fd(), generic, sizeof(address)))
      throwErrno("connect to " + options.address);
    return Socket(accept(listener.fd(), nullptr, nullptr));
  }

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

Op parseOp(std::string_view text) {
  if (text == "send")
    return Op::Send;
  if (text == "pingpong")
    return Op::Pingpong;
  throw std::invalid_argument("--op wants send or pingpong, not '" + std::string(text) + "'");
}

/** @return the options, or nothing after --help. */
std::optional<Options> parseOptions(int argc, char** argv) {
  static constexpr option names[] = {{"address", required_argument, nullptr, 'a'},
                                     {"port", required_argument, nullptr, 'p'},
                                     {"op", required_argument, nullptr, 'o'},
                                     {"size", required_argument, nullptr, 's'},
                                     {"depth", required_argument, nullptr, 'd'},
                                     {"count", required_argument, nullptr, 'n'},
                                     {"warmup", required_argument, nullptr, 'w'},
                                     {"repeats", required_argument, nullptr, 'r'},
                                     {"maps", no_argument, nullptr, 'm'},
                                     {"help", no_argument, nullptr, 'h'},
                                     {}};
  Options options;
  for (int c; (c = getopt_long(argc, argv, "a:p:o:s:d:n:w:r:mh", names, nullptr)) != -1;) {
    switch (c) {
    case 'a':
      options.address = optarg;
      break;
    case 'p':
      options.port = static_cast<std::uint16_t>(parseNumber("--port", optarg, 1));
      break;
    case 'o':
      options.op = parseOp(optarg);
      break;
    case 's':
      options.size = parseNumber("--size", optarg, 1);
      break;
    case 'd':
      options.depth = parseNumber("--depth", optarg, 1);
      break;
    case 'n':
      options.count = parseNumber("--count", optarg, 1);
      break;
    case 'w':
      options.warmup = parseNumber("--warmup", optarg, 0);
      break;
    case 'r':
      options.repeats = parseNumber("--repeats", optarg, 1);
      break;
    case 'm':
      options.maps = true;
      break;
    case 'h':
      std::cout << usage;
      return std::nullopt;
    default:
      throw std::invalid_argument("see tcp_bench --help");
    }
  }
  if (optind != argc)
    throw std::invalid_argument(std::string("what is '") + argv[optind] + "'? See tcp_bench --help");
  return options;
}

void run(const Options& options) {
  // A connection each: how TCP has cut its stream in one need not be how it does in the next.
  for (long i = 0; i < options.repeats; ++i) {
    Connection connection(options);
    connection.run(options.warmup);
    connection.measure(options.count, static_cast<unsigned>(i));
  }
  if (options.maps)
    printMaps();
}

} // namespace
} // namespace bench

int main(int argc, char** argv) try {
  if (const auto options = bench::parseOptions(argc, argv))
    bench::run(*options);
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "tcp_bench: " << error.what() << '\n';
  return 64;
} catch (const std::exception& error) {
  std::cerr << "tcp_bench: " << error.what() << '\n';
  return 1;
}

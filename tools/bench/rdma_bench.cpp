// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * rdma_bench: a fixed amount of work over one RC connection whose two ends are both in this process.
 *
 * One process, one thread and completions by event: on one CPU the order of events is then always
 * the same. So the instructions that both sides need, from the application down to the device, can
 * be counted and compared between transports.
 */
#include "end.hpp"

#include <array>
#include <vector>

namespace bench {
namespace {

enum class Op { Write, Read, Send, Pingpong };

struct Options : Repeats {
  std::string address = "10.9.0.1";
  std::string port = "7471";
  Op op = Op::Write;
  std::size_t size = 65536;
  long depth = 16;
  long list = 1;

  std::vector<test::Option> own() {
    return {{"address", "ADDR", "an address of the RDMA link (default 10.9.0.1)", test::text(address), 'a'},
            {"port", "PORT", "port to listen on (default 7471)", test::text(port), 'p'},
            {"op", "OP", "write, read, send, or pingpong (default write)",
             test::choice(op, {{"write", Op::Write}, {"read", Op::Read}, {"send", Op::Send}, {"pingpong", Op::Pingpong}}), 'o'},
            {"size", "N", "octets per message (default 65536)", test::number(size, 1), 's'},
            {"depth", "N", "messages outstanding (default 16; read: at most 16)", test::number(depth, 1), 'd'},
            {"list", "N", "post N work requests in one call (default 1; divides the depth)", test::number(list, 1), 'l'}};
  }

  void settle() {
    if (op == Op::Read)
      depth = std::min<long>(depth, maxReads);
    if (depth % list)
      throw std::invalid_argument("--list has to divide --depth");
  }

  bool roundTrips() const { return op == Op::Pingpong; }
  bool sends() const { return op == Op::Send || op == Op::Pingpong; }

  ibv_wr_opcode opcode() const {
    static constexpr std::array opcodes{IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND, IBV_WR_SEND};
    return opcodes[static_cast<std::size_t>(op)];
  }
  EndOptions end() const { return {size, depth, list}; }
};

constexpr std::chrono::milliseconds goodbyeTimeout{2000};

/** An established connection with both its ends. */
class Connection {
public:
  explicit Connection(const Options& options) : options_(options), ends_(options.address, options.port, options.end()) {
    client_.prepare(options.opcode(), server_);
    fillReceives();
  }

  ~Connection() { sayGoodbye(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /** Moves @p n messages with the depth and the list length of the options. */
  void stream(long n) {
    const bool twoSided = options_.sends();
    long posted = 0, sent = 0, received = 0;

    while (sent < n || (twoSided && received < n)) {
      const long oldest = twoSided ? std::min(sent, received) : sent;
      posted = post(posted, std::min(n, oldest + options_.depth), n);
      if (twoSided)
        received += consume(received < posted);
      sent += client_.reap(sent < posted && (!twoSided || received == posted));
    }
  }

  /** @p n round trips of one message there and one back. */
  void pingpong(long n) {
    for (long i = 0; i < n; ++i) {
      client_.postSends(1);
      server_.reap(true);
      server_.postReceives(1);
      server_.postSends(1);
      for (long done = 0; done < 2;) // our send, and the answer
        done += client_.reap(true);
      client_.postReceives(1);
      server_.reap(true); // the server's send
    }
  }

  void run(long n) { options_.roundTrips() ? pingpong(n) : stream(n); }

  void fill(unsigned seed) const {
    source().buffer().fill(seed);
    sink().buffer().clear();
  }

  void verify(unsigned seed) const { sink().buffer().verify(seed); }

private:
  const End& source() const { return options_.op == Op::Read ? server_ : client_; }
  const End& sink() const { return options_.op == Op::Read ? client_ : server_; }

  /** Posts receives for the first messages; consume() posts those for later messages. */
  void fillReceives() {
    if (options_.op == Op::Send)
      server_.postReceives(options_.depth);
    if (options_.op == Op::Pingpong) {
      server_.postReceives(1);
      client_.postReceives(1);
    }
  }

  /** Disconnects, and waits a bounded time for the events of both sides. */
  void sayGoodbye() noexcept try {
    if (rdma_disconnect(client_.id()))
      return;
    for (int closed = 0; closed < 2;) {
      const auto event = ends_.events().next(rdma::Deadline(goodbyeTimeout));
      if (!event)
        return;
      closed += event->type == RDMA_CM_EVENT_DISCONNECTED;
    }
  } catch (const std::exception&) {
  }

  /**
   * Posts messages in full lists; only the last list of all may be shorter.
   * @param posted number of messages already posted
   * @param end number that may be posted by now
   * @param total number of all messages
   * @return the new number of posted messages
   */
  long post(long posted, long end, long total) {
    while (posted < end) {
      const long n = std::min(options_.list, total - posted);
      if (posted + n > end)
        break;
      client_.postSends(n);
      posted += n;
    }
    return posted;
  }

  /** Takes the messages that the server has received and reposts as many receives. */
  long consume(bool wait) {
    const long n = server_.reap(wait);
    if (options_.list > 1 && n)
      server_.postReceives(n);
    else
      for (long i = 0; i < n; ++i)
        server_.postReceives(1);
    return n;
  }

  const Options& options_;
  Ends ends_;
  End& client_ = ends_.client();
  End& server_ = ends_.server();
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  return bench::measureRepeats<bench::Options, bench::Connection>(
      "rdma_bench", "Measures one operation over an RC connection to this process itself.", argc, argv);
}

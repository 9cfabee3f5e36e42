// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * rdma_bench: fixed work over one RC connection whose two ends are both in this process.
 *
 * One process, one thread and completions by event: on one CPU the order of things is then always
 * the same, and the instructions that the work costs on both sides, from the application down to
 * the device, can be counted and compared between transports.
 */
#include "../common/rdma.hpp"
#include "measure.hpp"

#include <array>
#include <optional>
#include <vector>

namespace bench {
namespace {

constexpr int maxReads = 16;

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

  bool sends() const { return op == Op::Send || op == Op::Pingpong; }
};

constexpr std::chrono::milliseconds goodbyeTimeout{2000};

using rdma::check;
using rdma::checkVerbs;

/** One end of the connection: its identifier, queue pair, completion queue and memory. */
class End {
public:
  End(rdma::Id id, const Options& options)
      : id_(std::move(id)), buffer_(options.size), pd_(check(ibv_alloc_pd(id_.context()), "ibv_alloc_pd")),
        channel_(check(ibv_create_comp_channel(id_.context()), "ibv_create_comp_channel")),
        cq_(check(ibv_create_cq(id_.context(), static_cast<int>(2 * options.depth + 16), nullptr, channel_.get(), 0),
                  "ibv_create_cq")),
        mr_(check(ibv_reg_mr(pd_.get(), buffer_.data(), buffer_.size(), rdma::remoteAll), "ibv_reg_mr")),
        sends_(static_cast<std::size_t>(options.list)), receives_(static_cast<std::size_t>(options.depth)) {
    ibv_qp_init_attr attributes{};
    attributes.send_cq = cq_.get();
    attributes.recv_cq = cq_.get();
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap.max_send_wr = static_cast<std::uint32_t>(options.depth + 2);
    attributes.cap.max_recv_wr = static_cast<std::uint32_t>(options.depth + 2);
    attributes.cap.max_send_sge = 1;
    attributes.cap.max_recv_sge = 1;
    id_.createQp(pd_.get(), attributes);
  }
  ~End() { id_.destroyQp(); } // what it uses goes after it

  rdma_cm_id* id() const { return id_.get(); }
  const Buffer& buffer() const { return buffer_; }

  /** Prepares the list of work requests that postSends() takes its part of. */
  void prepare(Op op, const End& peer) {
    static constexpr std::array opcodes{IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND, IBV_WR_SEND};
    sge_ = {reinterpret_cast<std::uintptr_t>(buffer_.data()), static_cast<std::uint32_t>(buffer_.size()), mr_->lkey};
    for (ibv_send_wr& wr : sends_) {
      wr = {};
      wr.sg_list = &sge_;
      wr.num_sge = 1;
      wr.opcode = opcodes[static_cast<std::size_t>(op)];
      wr.send_flags = IBV_SEND_SIGNALED;
      wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(peer.buffer_.data());
      wr.wr.rdma.rkey = peer.mr_->rkey;
    }
    for (ibv_recv_wr& wr : receives_) {
      wr = {};
      wr.sg_list = &sge_;
      wr.num_sge = 1;
    }
  }

  /** Posts @p n work requests in one call, n at most the list's length. */
  void postSends(long n) {
    ibv_send_wr* bad;
    chain(sends_, n);
    checkVerbs(ibv_post_send(id_.qp(), sends_.data(), &bad), "ibv_post_send");
  }

  /** Posts @p n receives in one call, n at most the depth. */
  void postReceives(long n) {
    ibv_recv_wr* bad;
    chain(receives_, n);
    checkVerbs(ibv_post_recv(id_.qp(), receives_.data(), &bad), "ibv_post_recv");
  }

  /**
   * Takes completions.
   * @param wait wait for an event when there is none
   * @return how many there were; at least one with @p wait
   */
  long reap(bool wait) {
    for (;;) {
      if (const long n = poll(); n || !wait)
        return n;
      checkVerbs(ibv_req_notify_cq(cq_.get(), 0), "ibv_req_notify_cq");
      if (const long n = poll())
        return n;
      ibv_cq* cq;
      void* context;
      check(ibv_get_cq_event(channel_.get(), &cq, &context), "ibv_get_cq_event");
      ibv_ack_cq_events(cq, 1);
    }
  }

private:
  template <class WorkRequest> static void chain(std::vector<WorkRequest>& list, long n) {
    for (long i = 0; i < n; ++i)
      list[static_cast<std::size_t>(i)].next = i + 1 < n ? &list[static_cast<std::size_t>(i) + 1] : nullptr;
  }

  long poll() {
    std::array<ibv_wc, 32> completions;
    const int n = ibv_poll_cq(cq_.get(), completions.size(), completions.data());
    if (n < 0)
      test::throwErrno("ibv_poll_cq");
    for (int i = 0; i < n; ++i)
      if (const ibv_wc& wc = completions[static_cast<std::size_t>(i)]; wc.status != IBV_WC_SUCCESS)
        throw std::runtime_error(std::string("completion with error: ") + ibv_wc_status_str(wc.status));
    return n;
  }

  // Released from the last to the first.
  rdma::Id id_;
  Buffer buffer_;
  rdma::Pd pd_;
  rdma::CompChannel channel_;
  rdma::CqHandle cq_;
  rdma::MrHandle mr_;
  ibv_sge sge_{};
  std::vector<ibv_send_wr> sends_;
  std::vector<ibv_recv_wr> receives_;
};

/** An established connection with both its ends, and what is measured on it. */
class Connection {
public:
  explicit Connection(const Options& options) : options_(options), listener_(events_) {
    rdma::Address address(options.address, options.port);
    check(rdma_bind_addr(listener_.get(), address.get()), "rdma_bind_addr");
    check(rdma_listen(listener_.get(), 1), "rdma_listen");
    rdma::Id id(events_);
    rdma::resolve(id, events_, address);
    client_.emplace(std::move(id), options);
    establish();
    client_->prepare(options.op, *server_);
    server_->prepare(options.op, *client_);
    greet();
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
      sent += client_->reap(sent < posted && (!twoSided || received == posted));
    }
  }

  /** @p n round trips of one message there and one back. */
  void pingpong(long n) {
    for (long i = 0; i < n; ++i) {
      client_->postSends(1);
      server_->reap(true);
      server_->postReceives(1);
      server_->postSends(1);
      for (long done = 0; done < 2;) // the own send, and the answer
        done += client_->reap(true);
      client_->postReceives(1);
      server_->reap(true); // its send
    }
  }

  void run(long n) { options_.op == Op::Pingpong ? pingpong(n) : stream(n); }

  /** Runs @p n operations, prints what they cost, and checks that the data came, all of it new. */
  void measure(long n, unsigned seed) {
    const End& source = options_.op == Op::Read ? *server_ : *client_;
    const End& sink = options_.op == Op::Read ? *client_ : *server_;
    source.buffer().fill(seed);
    sink.buffer().clear();
    const Region region;
    run(n);
    const std::uint64_t tsc = region.stop();
    const long messages = options_.op == Op::Pingpong ? 2 * n : n;
    printResult(tsc, n, static_cast<std::uint64_t>(messages) * options_.size);
    sink.buffer().verify(seed);
  }

private:
  void establish() {
    rdma_conn_param parameters = rdma::connectParam({.responderResources = maxReads, .initiatorDepth = maxReads});
    check(rdma_connect(client_->id(), &parameters), "rdma_connect");
    server_.emplace(rdma::Id(events_.expect(RDMA_CM_EVENT_CONNECT_REQUEST).id), options_);
    check(rdma_accept(server_->id(), &parameters), "rdma_accept");
    for (int end = 0; end < 2; ++end)
      events_.expect(RDMA_CM_EVENT_ESTABLISHED);
  }

  /** The first message comes from the initiator of an iWARP connection, and is a SEND. */
  void greet() {
    client_->prepare(Op::Send, *server_);
    server_->postReceives(1);
    client_->postSends(1);
    server_->reap(true);
    client_->reap(true);
    client_->prepare(options_.op, *server_);
  }

  /** Receives for the first messages; the later ones are posted as each is consumed. */
  void fillReceives() {
    if (options_.op == Op::Send)
      server_->postReceives(options_.depth);
    if (options_.op == Op::Pingpong) {
      server_->postReceives(1);
      client_->postReceives(1);
    }
  }

  /** Disconnects and waits a bounded time for both sides to say so. */
  void sayGoodbye() noexcept try {
    if (!client_ || rdma_disconnect(client_->id()))
      return;
    for (int closed = 0; closed < 2;) {
      const auto event = events_.next(rdma::Deadline(goodbyeTimeout));
      if (!event)
        return;
      closed += event->type == RDMA_CM_EVENT_DISCONNECTED;
    }
  } catch (const std::exception&) {
  }

  /**
   * Posts messages in whole lists; only the very last list may be shorter.
   * @param posted how many were posted before
   * @param end how many may be posted now
   * @param total how many there are
   * @return how many are posted
   */
  long post(long posted, long end, long total) {
    while (posted < end) {
      const long n = std::min(options_.list, total - posted);
      if (posted + n > end)
        break;
      client_->postSends(n);
      posted += n;
    }
    return posted;
  }

  /** Takes what the server has received and posts as many receives anew. */
  long consume(bool wait) {
    const long n = server_->reap(wait);
    if (options_.list > 1 && n)
      server_->postReceives(n);
    else
      for (long i = 0; i < n; ++i)
        server_->postReceives(1);
    return n;
  }

  const Options& options_;
  rdma::Channel events_;
  rdma::Id listener_;
  std::optional<End> server_;
  std::optional<End> client_;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  return bench::measureRepeats<bench::Options, bench::Connection>(
      "rdma_bench", "Measures one operation over an RC connection to this process itself.", argc, argv);
}

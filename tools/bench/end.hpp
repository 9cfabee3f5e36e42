// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * One end of an RDMA connection, for the benchmark's programs.
 */
#pragma once

#include "../common/rdma.hpp"
#include "measure.hpp"

#include <array>
#include <optional>
#include <vector>

namespace bench {

/** The properties of an end. */
struct EndOptions {
  std::size_t size; ///< octets of its buffer, all of which each message carries
  long depth;       ///< messages outstanding
  long list = 1;    ///< work requests posted in one call, at most
};

/** One end of a connection: its identifier, queue pair, completion queue and memory. */
class End {
public:
  End(rdma::Id id, const EndOptions& options)
      : id_(std::move(id)), buffer_(options.size), pd_(rdma::check(ibv_alloc_pd(id_.context()), "ibv_alloc_pd")),
        channel_(rdma::check(ibv_create_comp_channel(id_.context()), "ibv_create_comp_channel")),
        cq_(rdma::check(ibv_create_cq(id_.context(), static_cast<int>(2 * options.depth + 16), nullptr, channel_.get(), 0),
                        "ibv_create_cq")),
        mr_(rdma::check(ibv_reg_mr(pd_.get(), buffer_.data(), buffer_.size(), rdma::remoteAll), "ibv_reg_mr")),
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
  ~End() { id_.destroyQp(); } // before the objects that it uses

  rdma_cm_id* id() const { return id_.get(); }
  const Buffer& buffer() const { return buffer_; }

  /** Prepares the list of work requests from which postSends() posts. */
  void prepare(ibv_wr_opcode opcode, const End& peer) {
    sge_ = {reinterpret_cast<std::uintptr_t>(buffer_.data()), static_cast<std::uint32_t>(buffer_.size()), mr_->lkey};
    for (ibv_send_wr& wr : sends_) {
      wr = {};
      wr.sg_list = &sge_;
      wr.num_sge = 1;
      wr.opcode = opcode;
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
    rdma::checkVerbs(ibv_post_send(id_.qp(), sends_.data(), &bad), "ibv_post_send");
  }

  /** Posts @p n receives in one call, n at most the depth. */
  void postReceives(long n) {
    ibv_recv_wr* bad;
    chain(receives_, n);
    rdma::checkVerbs(ibv_post_recv(id_.qp(), receives_.data(), &bad), "ibv_post_recv");
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
      rdma::checkVerbs(ibv_req_notify_cq(cq_.get(), 0), "ibv_req_notify_cq");
      if (const long n = poll())
        return n;
      ibv_cq* cq;
      void* context;
      rdma::check(ibv_get_cq_event(channel_.get(), &cq, &context), "ibv_get_cq_event");
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

  // Destroyed in reverse order.
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

constexpr int maxReads = 16;

/** Both ends of an established connection, which can carry SENDs. */
class Ends {
public:
  Ends(const std::string& host, const std::string& port, const EndOptions& options) : listener_(events_) {
    rdma::Address address(host, port);
    rdma::check(rdma_bind_addr(listener_.get(), address.get()), "rdma_bind_addr");
    rdma::check(rdma_listen(listener_.get(), 1), "rdma_listen");
    rdma::Id id(events_);
    rdma::resolve(id, events_, address);
    client_.emplace(std::move(id), options);
    rdma_conn_param parameters = rdma::connectParam({.responderResources = maxReads, .initiatorDepth = maxReads});
    rdma::check(rdma_connect(client_->id(), &parameters), "rdma_connect");
    server_.emplace(rdma::Id(events_.expect(RDMA_CM_EVENT_CONNECT_REQUEST).id), options);
    rdma::check(rdma_accept(server_->id(), &parameters), "rdma_accept");
    for (int end = 0; end < 2; ++end)
      events_.expect(RDMA_CM_EVENT_ESTABLISHED);
    client_->prepare(IBV_WR_SEND, *server_);
    server_->prepare(IBV_WR_SEND, *client_);
    greet();
  }

  rdma::Channel& events() { return events_; }
  End& client() { return *client_; }
  End& server() { return *server_; }

private:
  /** On an iWARP connection the initiator sends first, and that message is a SEND. */
  void greet() {
    server_->postReceives(1);
    client_->postSends(1);
    server_->reap(true);
    client_->reap(true);
  }

  rdma::Channel events_;
  rdma::Id listener_;
  std::optional<End> server_;
  std::optional<End> client_;
};

} // namespace bench

// SPDX-License-Identifier: GPL-2.0
/**
 * @file pair.hpp
 * @brief Two connected QPs in one process, each in a network namespace of its choice.
 */
#pragma once

#include "../common/rdma.hpp"

namespace rdma {

/** The addresses and namespaces of the two ends. */
struct Place {
  std::string address;            /**< the server's */
  std::string port = "7472";      /**< the server's */
  std::string clientNs, serverNs; /**< names below /run/netns, empty: the process's own namespace */
};

/** Moves the calling thread into a network namespace during this object's lifetime. */
class InNamespace {
public:
  explicit InNamespace(const std::string& name);
  ~InNamespace();
  InNamespace(const InNamespace&) = delete;
  InNamespace& operator=(const InNamespace&) = delete;

private:
  test::Fd before_;
};

/** A work request without elements and addresses. */
ibv_send_wr workRequest(std::uint64_t id, ibv_wr_opcode opcode, unsigned flags = IBV_SEND_SIGNALED);
/** Posts one work request with these elements; returns the errno value. */
int tryPost(ibv_qp* qp, ibv_send_wr wr, std::vector<ibv_sge> sges);
/** As tryPost(), but throws. */
void post(ibv_qp* qp, ibv_send_wr wr, std::vector<ibv_sge> sges);
/** Posts a receive into these elements. */
void postRecv(ibv_qp* qp, std::uint64_t id, std::vector<ibv_sge> sges);

/** Properties of an end. */
struct EndOptions {
  ibv_qp_cap cap = {128, 128, 6, 6, 0};
  bool signalAll = true;
  ibv_pd* pd = nullptr;   /**< of another end, to share */
  Cq* cq = nullptr;       /**< of another end, for both queues */
  ibv_srq* srq = nullptr; /**< of another end's PD, or of this one's */
  ConnectOptions connect = {};
};

/** One end: id, QP, PD and CQs, and short forms for posting. */
class End {
public:
  End(std::unique_ptr<Id> id, const EndOptions& options);

  ibv_pd* pd() const { return sharedPd_ ? sharedPd_ : pd_.get(); }
  ibv_qp* qp() const { return id->qp(); }
  Cq& sends() { return sharedCq_ ? *sharedCq_ : *sendCq_; }
  Cq& recvs() { return sharedCq_ ? *sharedCq_ : *recvCq_; }

  /** As the functions of these names, to this end's QP. */
  void post(ibv_send_wr wr, std::vector<ibv_sge> sges) { rdma::post(qp(), wr, std::move(sges)); }
  int tryPost(ibv_send_wr wr, std::vector<ibv_sge> sges) { return rdma::tryPost(qp(), wr, std::move(sges)); }
  void postSend(std::uint64_t id, std::vector<ibv_sge> sges, unsigned flags = IBV_SEND_SIGNALED);
  /** Posts a signalled SEND of each element in one call, so that the peer gets them at once. Their ids count from 0. */
  void postSends(std::vector<ibv_sge> sges);
  void postWrite(std::uint64_t id, std::vector<ibv_sge> sges, std::uint32_t rkey, std::uint64_t address,
                 unsigned flags = IBV_SEND_SIGNALED);
  void postRead(std::uint64_t id, std::vector<ibv_sge> sges, std::uint32_t rkey, std::uint64_t address,
                unsigned flags = IBV_SEND_SIGNALED);
  /** @param sges may be empty: a receive of no data */
  void postRecv(std::uint64_t id, std::vector<ibv_sge> sges);
  void disconnect();
  int state() const;
  /** Makes the device look at the send queue, whatever its content, as libsiw does; false when the call fails, with errno set. */
  bool doorbell() const;
  /** Moves the QP to the error state. */
  void fail();

private:
  Pd pd_;
  ibv_pd* sharedPd_;
  std::unique_ptr<Cq> sendCq_, recvCq_;
  Cq* sharedCq_;
  std::unique_ptr<Region> nothing_; /* for receives without data */

public:
  std::unique_ptr<Id> id; /* last, so that its QP is destroyed first */
};

/** A listener that creates server ends. */
class Server {
public:
  explicit Server(const Place& place);

  Channel channel;
  std::string port() const;

  /** Waits for a CONNECT_REQUEST. */
  Event request(const Deadline& deadline = Deadline(defaultBudget));

private:
  std::unique_ptr<Id> listener_;
};

/** A connected pair. */
class Pair {
public:
  explicit Pair(const Place& place, const EndOptions& client = {}, const EndOptions& server = {});

  /** Both ends get the event of the connection's end. */
  void expectDown();
  /** Sends one message each way: everything sent before them has then been placed at both ends. */
  void sync();

  Server listener;
  Channel clientChannel;
  std::unique_ptr<End> client, server;
  Event request;  /**< the server's CONNECT_REQUEST */
  Event accepted; /**< the client's event with the answer */
};

/** Waits for an asynchronous event of this type on the device; others are dropped. */
bool waitAsync(ibv_context* context, ibv_event_type type, const Deadline& deadline = Deadline(defaultBudget));

} // namespace rdma

// SPDX-License-Identifier: GPL-2.0
/**
 * @file hand.hpp
 * @brief Queue pairs that are connected by hand: with ibv_modify_qp() alone, as programs for InfiniBand do.
 */
#pragma once

#include "pair.hpp"

namespace rdma {

/** What a program passes to ibv_modify_qp(), beside its peer. */
struct HandOptions {
  unsigned timeout = 14, retries = 7, rnrRetry = 7, minRnrTimer = 12;
  unsigned reads = 16;         /**< both directions */
  unsigned access = remoteAll; /**< what the peer may do */
};

/** A device, opened by an address of its netdev, and the index of that address among its GIDs. */
class HandDevice {
public:
  explicit HandDevice(const std::string& address);

  ibv_context* context() const { return context_.get(); }
  const ibv_gid& gid() const { return gid_; }
  unsigned gidIndex() const { return index_; }

private:
  std::unique_ptr<ibv_context, Closer<ibv_close_device>> context_;
  ibv_gid gid_;
  unsigned index_ = 0;
};

/** A queue pair with its queues, and memory for messages. */
class HandEnd {
public:
  /** @param ns network namespace of the program; @param address an address of the device's netdev */
  HandEnd(const std::string& ns, const std::string& address, const HandOptions& options = {}, unsigned depth = 64);

  ibv_qp* qp() const { return qp_.get(); }
  std::uint32_t number() const { return qp()->qp_num; }
  const std::string& address() const { return address_; }
  const HandDevice& device() const { return device_; }
  /** The side that connects has the lower address, or then the lower number. */
  bool isInitiatorTo(const HandEnd& peer) const;

  /** INIT, and RTR with a peer. */
  void readyToReceive(const HandEnd& peer) { readyToReceive(peer.device().gid(), peer.number()); }
  void readyToReceive(const ibv_gid& gid, std::uint32_t number) { checkVerbs(tryReady(gid, number, device_.gidIndex()), "RTR"); }
  /** As readyToReceive(), with a GID of one's own; returns the errno value. */
  int tryReady(const ibv_gid& gid, std::uint32_t number, unsigned gidIndex);
  void readyToSend();
  /** As readyToReceive() and readyToSend(). */
  void connect(const HandEnd& peer);
  ibv_qp_attr query() const;
  void destroy() { qp_.reset(); }

  void postSend(std::uint64_t id, std::size_t offset, std::size_t length);
  void postRecv(std::uint64_t id, std::size_t offset, std::size_t length);
  void postRdma(std::uint64_t id, ibv_wr_opcode opcode, const HandEnd& peer, std::size_t length,
                unsigned flags = IBV_SEND_SIGNALED);

private:
  std::string ns_, address_;
  HandOptions options_;
  HandDevice device_;
  Pd pd_;

public:
  Cq sends, recvs;
  Region memory;

private:
  QpHandle qp_;
};

/** The address from which a program in a namespace reaches @p to. */
std::string ownAddress(const std::string& ns, const std::string& to);

} // namespace rdma

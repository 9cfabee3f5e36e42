// SPDX-License-Identifier: GPL-2.0
/**
 * @file rdma.hpp
 * @brief Owning wrappers around libibverbs and librdmacm, with a deadline on every wait.
 */
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <rdma/rdma_cma.h>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "fd.hpp"
#include "testcase.hpp"

namespace rdma {

using test::Deadline;
using test::milliseconds;
using Bytes = std::vector<std::uint8_t>;

/** The deadline of every wait that does not name its own. */
inline constexpr milliseconds defaultBudget{20000};

template <auto Function> struct Closer {
  template <class T> void operator()(T* p) const { Function(p); }
};

using EventChannel = std::unique_ptr<rdma_event_channel, Closer<rdma_destroy_event_channel>>;
using Pd = std::unique_ptr<ibv_pd, Closer<ibv_dealloc_pd>>;
using MrHandle = std::unique_ptr<ibv_mr, Closer<ibv_dereg_mr>>;
using CqHandle = std::unique_ptr<ibv_cq, Closer<ibv_destroy_cq>>;
using QpHandle = std::unique_ptr<ibv_qp, Closer<ibv_destroy_qp>>;
using CompChannel = std::unique_ptr<ibv_comp_channel, Closer<ibv_destroy_comp_channel>>;
using Srq = std::unique_ptr<ibv_srq, Closer<ibv_destroy_srq>>;

/** Throws errno with @p what when @p p is null. */
template <class T> T* check(T* p, const char* what) {
  if (!p)
    test::throwErrno(what);
  return p;
}

/** Throws when an rdma_cm call (-1 and errno) failed. */
inline void check(int result, const char* what) {
  if (result)
    test::throwErrno(what);
}

/** Throws when a verbs call (an errno value) failed. Inline, as check(): the benchmark counts the instructions of its calls. */
inline void checkVerbs(int error, const char* what) {
  if (error)
    throw std::system_error(error, std::generic_category(), what);
}

/** Makes calls on @p fd return at once; throws std::system_error if it cannot. */
void setNonBlocking(int fd);
/** Sets a state for which modify_qp needs no other attribute. */
void setState(ibv_qp* qp, ibv_qp_state state);

/** Page-aligned memory with a number of pages. */
class Memory {
public:
  explicit Memory(std::size_t length);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::uint8_t* data() const { return base_; }
  std::size_t size() const { return length_; }
  std::span<std::uint8_t> span() const { return {base_, length_}; }
  /** @throws std::out_of_range when the range is not within the memory */
  std::span<std::uint8_t> span(std::size_t offset, std::size_t length) const {
    if (offset > length_ || length > length_ - offset)
      throw std::out_of_range(std::to_string(length) + " octets at " + std::to_string(offset) + " are not within " +
                              std::to_string(length_));
    return span().subspan(offset, length);
  }
  std::uint64_t address(std::size_t offset = 0) const { return reinterpret_cast<std::uintptr_t>(base_) + offset; }

private:
  std::uint8_t* base_;
  std::size_t length_;
};

inline constexpr int localOnly = IBV_ACCESS_LOCAL_WRITE;
inline constexpr int remoteAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

/** Memory and its registration. */
class Region {
public:
  Region(ibv_pd* pd, std::size_t length, int access = remoteAll);

  Memory memory;
  std::uint32_t lkey() const { return mr_->lkey; }
  std::uint32_t rkey() const { return mr_->rkey; }
  ibv_sge sge(std::size_t offset, std::size_t length) const;
  /** Deregisters the memory and keeps it allocated. */
  void deregister() { mr_.reset(); }

private:
  MrHandle mr_;
};

/** A completion queue with its channel. */
class Cq {
public:
  Cq(ibv_context* context, int entries);

  ibv_cq* get() const { return cq_.get(); }
  int fd() const { return channel_->fd; }
  /** Returns the completions that are in the queue now, at most @p limit. */
  std::vector<ibv_wc> poll(int limit = 16);
  /** Waits, by notification, for exactly @p count completions. */
  std::vector<ibv_wc> wait(std::size_t count, const Deadline& deadline = Deadline(defaultBudget));
  /** One completion. */
  ibv_wc next() { return wait(1).front(); }
  void arm(bool solicitedOnly = false);
  /** Waits for a notification and consumes it; false when the deadline passed. */
  bool notified(const Deadline& deadline);

private:
  CompChannel channel_;
  CqHandle cq_;
};

/** A connection manager event, copied so that it can be acknowledged at once. */
struct Event {
  rdma_cm_event_type type = RDMA_CM_EVENT_TIMEWAIT_EXIT;
  int status = 0;
  rdma_cm_id* id = nullptr;
  Bytes privateData;
  unsigned responderResources = 0, initiatorDepth = 0;

  std::string name() const { return rdma_event_str(type); }
};

/** rdma_cm ids report here. */
class Channel {
public:
  Channel();

  rdma_event_channel* get() const { return channel_.get(); }
  int fd() const { return channel_->fd; }
  std::optional<Event> next(const Deadline& deadline);
  /** Waits for an event of this type; throws test::Failure on any other. */
  Event expect(rdma_cm_event_type type, const Deadline& deadline = Deadline(defaultBudget));

private:
  EventChannel channel_;
};

/** An rdma_cm id and the QP on it. */
class Id {
public:
  explicit Id(const Channel& channel, rdma_port_space space = RDMA_PS_TCP);
  /** Takes ownership of an id that arrived with a CONNECT_REQUEST. */
  explicit Id(rdma_cm_id* id) : id_(id) {}

  rdma_cm_id* get() const { return id_.get(); }
  ibv_context* context() const { return id_->verbs; }
  ibv_qp* qp() const { return id_->qp; }
  void createQp(ibv_pd* pd, ibv_qp_init_attr attr);
  void destroyQp();

private:
  /** Destroys the QP before the id. */
  struct Destroy {
    void operator()(rdma_cm_id* id) const;
  };
  std::unique_ptr<rdma_cm_id, Destroy> id_;
};

/** Resolved numeric address and port. */
class Address {
public:
  Address(const std::string& host, const std::string& port);
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage_); }

private:
  sockaddr_storage storage_{};
};

/** Calls rdma_resolve_addr and rdma_resolve_route and waits for both. */
void resolve(const Id& id, Channel& channel, Address& to, Address* from = nullptr);

/** rdma_connect/rdma_accept parameters. */
struct ConnectOptions {
  Bytes privateData = {};
  std::uint8_t responderResources = 16, initiatorDepth = 16;
};
rdma_conn_param connectParam(const ConnectOptions& options);

/** "SUCCESS", "WR_FLUSH_ERR", ... */
std::string statusName(ibv_wc_status status);
/** "RECV", "SEND", "WRITE", "READ", ... */
std::string opcodeName(ibv_wc_opcode opcode);
/** "QP_FATAL", ... */
std::string asyncName(ibv_event_type type);

} // namespace rdma

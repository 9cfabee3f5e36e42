// SPDX-License-Identifier: GPL-2.0
#include "rdma.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <sys/mman.h>

namespace rdma {

using test::throwErrno;

void setNonBlocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);

  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
    throwErrno("fcntl");
}

void setState(ibv_qp* qp, ibv_qp_state state) {
  ibv_qp_attr attr{};

  attr.qp_state = state;
  checkVerbs(ibv_modify_qp(qp, &attr, IBV_QP_STATE), "ibv_modify_qp");
}

/* --- memory --- */

Memory::Memory(std::size_t length) : length_(length) {
  void* p = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (p == MAP_FAILED)
    throwErrno("mmap");
  base_ = static_cast<std::uint8_t*>(p);
}

Memory::~Memory() {
  munmap(base_, length_);
}

Region::Region(ibv_pd* pd, std::size_t length, int access)
    : memory(length), mr_(check(ibv_reg_mr(pd, memory.data(), length, access), "ibv_reg_mr")) {}

ibv_sge Region::sge(std::size_t offset, std::size_t length) const {
  return {memory.address(offset), static_cast<std::uint32_t>(length), lkey()};
}

/* --- completions --- */

Cq::Cq(ibv_context* context, int entries)
    : channel_(check(ibv_create_comp_channel(context), "ibv_create_comp_channel")),
      cq_(check(ibv_create_cq(context, entries, nullptr, channel_.get(), 0), "ibv_create_cq")) {
  setNonBlocking(channel_->fd);
}

std::vector<ibv_wc> Cq::poll(int limit) {
  std::vector<ibv_wc> list(static_cast<std::size_t>(limit));
  const int n = ibv_poll_cq(cq_.get(), limit, list.data());

  if (n < 0)
    throw test::Failure("ibv_poll_cq failed");
  list.resize(static_cast<std::size_t>(n));
  return list;
}

void Cq::arm(bool solicitedOnly) {
  checkVerbs(ibv_req_notify_cq(cq_.get(), solicitedOnly), "ibv_req_notify_cq");
}

bool Cq::notified(const Deadline& deadline) {
  ibv_cq* cq;
  void* context;

  if (!test::waitFor(fd(), POLLIN, deadline))
    return false;
  check(ibv_get_cq_event(channel_.get(), &cq, &context), "ibv_get_cq_event");
  ibv_ack_cq_events(cq, 1);
  return true;
}

std::vector<ibv_wc> Cq::wait(std::size_t count, const Deadline& deadline) {
  std::vector<ibv_wc> all;

  for (bool armed = false; all.size() < count;) {
    const auto some = poll(static_cast<int>(count - all.size()));

    all.insert(all.end(), some.begin(), some.end());
    if (!some.empty() || all.size() == count)
      continue;
    if (!armed) { /* arm first, then poll again: completions added before arming raise no notification */
      arm();
      armed = true;
      continue;
    }
    if (!notified(deadline))
      throw test::Failure(test::format("%zu of %zu completions came in time", all.size(), count));
    armed = false;
  }
  return all;
}

/* --- connection manager --- */

Channel::Channel() : channel_(check(rdma_create_event_channel(), "rdma_create_event_channel")) {
  setNonBlocking(fd());
}

static Event copyEvent(const rdma_cm_event& from) {
  const auto& p = from.param.conn;
  Event e;

  e.type = from.event;
  e.status = from.status;
  e.id = from.id;
  e.responderResources = p.responder_resources;
  e.initiatorDepth = p.initiator_depth;
  if (p.private_data) {
    const auto* data = static_cast<const std::uint8_t*>(p.private_data);
    e.privateData.assign(data, data + p.private_data_len);
  }
  return e;
}

std::optional<Event> Channel::next(const Deadline& deadline) {
  rdma_cm_event* event;

  if (!test::waitFor(fd(), POLLIN, deadline))
    return {};
  check(rdma_get_cm_event(channel_.get(), &event), "rdma_get_cm_event");
  const Event copy = copyEvent(*event);
  check(rdma_ack_cm_event(event), "rdma_ack_cm_event");
  return copy;
}

Event Channel::expect(rdma_cm_event_type type, const Deadline& deadline) {
  const auto event = next(deadline);

  if (!event)
    throw test::Failure(std::string("no ") + rdma_event_str(type));
  if (event->type != type)
    throw test::Failure(test::format("%s (status %d) in place of %s", event->name().c_str(), event->status, rdma_event_str(type)));
  return *event;
}

Id::Id(const Channel& channel, rdma_port_space space) {
  rdma_cm_id* id;

  check(rdma_create_id(channel.get(), &id, nullptr, space), "rdma_create_id");
  id_.reset(id);
}

void Id::Destroy::operator()(rdma_cm_id* id) const {
  if (id->qp)
    rdma_destroy_qp(id);
  rdma_destroy_id(id);
}

void Id::createQp(ibv_pd* pd, ibv_qp_init_attr attr) {
  check(rdma_create_qp(id_.get(), pd, &attr), "rdma_create_qp");
}

void Id::destroyQp() {
  if (id_->qp)
    rdma_destroy_qp(id_.get());
}

Address::Address(const std::string& host, const std::string& port) {
  addrinfo hints{}, *list = nullptr;

  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &list))
    throw std::invalid_argument("address " + host + " port " + port + ": " + gai_strerror(error));
  std::memcpy(&storage_, list->ai_addr, list->ai_addrlen);
  freeaddrinfo(list);
}

void resolve(const Id& id, Channel& channel, Address& to, Address* from) {
  check(rdma_resolve_addr(id.get(), from ? from->get() : nullptr, to.get(), 2000), "rdma_resolve_addr");
  channel.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  check(rdma_resolve_route(id.get(), 2000), "rdma_resolve_route");
  channel.expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
}

rdma_conn_param connectParam(const ConnectOptions& options) {
  rdma_conn_param p{};

  p.private_data = options.privateData.empty() ? nullptr : options.privateData.data();
  p.private_data_len = static_cast<std::uint8_t>(options.privateData.size());
  p.responder_resources = options.responderResources;
  p.initiator_depth = options.initiatorDepth;
  p.retry_count = 7;
  p.rnr_retry_count = 7;
  return p;
}

/* --- names --- */

std::string statusName(ibv_wc_status status) {
  static const char* const names[] = {"SUCCESS",        "LOC_LEN_ERR",     "LOC_QP_OP_ERR",  "LOC_EEC_OP_ERR",
                                      "LOC_PROT_ERR",   "WR_FLUSH_ERR",    "MW_BIND_ERR",    "BAD_RESP_ERR",
                                      "LOC_ACCESS_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR", "REM_OP_ERR"};

  if (static_cast<std::size_t>(status) < std::size(names))
    return names[status];
  return status == IBV_WC_GENERAL_ERR ? "GENERAL_ERR" : "STATUS_" + std::to_string(status);
}

std::string opcodeName(ibv_wc_opcode opcode) {
  switch (opcode) {
  case IBV_WC_SEND:
    return "SEND";
  case IBV_WC_RDMA_WRITE:
    return "WRITE";
  case IBV_WC_RDMA_READ:
    return "READ";
  case IBV_WC_RECV:
    return "RECV";
  case IBV_WC_LOCAL_INV:
    return "LOCAL_INV";
  default:
    return "OPCODE_" + std::to_string(opcode);
  }
}

std::string asyncName(ibv_event_type type) {
  static const char* const names[] = {
      "CQ_ERR",      "QP_FATAL",     "QP_REQ_ERR",   "QP_ACCESS_ERR",     "COMM_EST",           "SQ_DRAINED",
      "PATH_MIG",    "PATH_MIG_ERR", "DEVICE_FATAL", "PORT_ACTIVE",       "PORT_ERR",           "LID_CHANGE",
      "PKEY_CHANGE", "SM_CHANGE",    "SRQ_ERR",      "SRQ_LIMIT_REACHED", "QP_LAST_WQE_REACHED"};

  return static_cast<std::size_t>(type) < std::size(names) ? names[type] : "EVENT_" + std::to_string(type);
}

} // namespace rdma

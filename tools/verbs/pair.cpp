// SPDX-License-Identifier: GPL-2.0
#include "pair.hpp"

#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <sched.h>
#include <unistd.h>

namespace rdma {

using test::throwErrno;

static test::Fd openNamespace(const std::string& path) {
  test::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));

  if (!fd)
    throwErrno(path);
  return fd;
}

InNamespace::InNamespace(const std::string& name) {
  if (name.empty())
    return;
  before_ = openNamespace("/proc/thread-self/ns/net");
  if (setns(openNamespace("/run/netns/" + name).get(), CLONE_NEWNET))
    throwErrno("setns " + name);
}

InNamespace::~InNamespace() {
  if (before_ && setns(before_.get(), CLONE_NEWNET))
    std::abort(); /* the process cannot go on in the wrong namespace */
}

/* --- posting --- */

ibv_send_wr workRequest(std::uint64_t id, ibv_wr_opcode opcode, unsigned flags) {
  ibv_send_wr wr{};

  wr.wr_id = id;
  wr.opcode = opcode;
  wr.send_flags = flags;
  return wr;
}

int tryPost(ibv_qp* qp, ibv_send_wr wr, std::vector<ibv_sge> sges) {
  ibv_send_wr* bad;

  wr.sg_list = sges.data();
  wr.num_sge = static_cast<int>(sges.size());
  return ibv_post_send(qp, &wr, &bad);
}

void post(ibv_qp* qp, ibv_send_wr wr, std::vector<ibv_sge> sges) {
  checkVerbs(tryPost(qp, wr, std::move(sges)), "ibv_post_send");
}

void postRecv(ibv_qp* qp, std::uint64_t id, std::vector<ibv_sge> sges) {
  ibv_recv_wr wr{}, *bad;

  wr.wr_id = id;
  wr.sg_list = sges.data();
  wr.num_sge = static_cast<int>(sges.size());
  checkVerbs(ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
}

/* --- one end --- */

End::End(std::unique_ptr<Id> i, const EndOptions& o) : sharedPd_(o.pd), sharedCq_(o.cq), id(std::move(i)) {
  const int depth = static_cast<int>(std::max(o.cap.max_send_wr, o.cap.max_recv_wr)) + 16;
  ibv_qp_init_attr attr{};

  if (!sharedPd_)
    pd_.reset(check(ibv_alloc_pd(id->context()), "ibv_alloc_pd"));
  if (!sharedCq_) {
    sendCq_ = std::make_unique<Cq>(id->context(), depth);
    recvCq_ = std::make_unique<Cq>(id->context(), depth);
  }
  nothing_ = std::make_unique<Region>(pd(), 4096, localOnly);
  attr.send_cq = sends().get();
  attr.recv_cq = recvs().get();
  attr.srq = o.srq;
  attr.cap = o.cap;
  attr.qp_type = IBV_QPT_RC;
  attr.sq_sig_all = o.signalAll;
  id->createQp(pd(), attr);
}

void End::postSend(std::uint64_t id, std::vector<ibv_sge> sges, unsigned flags) {
  post(workRequest(id, IBV_WR_SEND, flags), std::move(sges));
}

void End::postSends(std::vector<ibv_sge> sges) {
  std::vector<ibv_send_wr> list(sges.size());
  ibv_send_wr* bad;

  for (std::size_t i = 0; i < list.size(); i++) {
    list[i] = workRequest(i, IBV_WR_SEND, IBV_SEND_SIGNALED);
    list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
    list[i].sg_list = &sges[i];
    list[i].num_sge = 1;
  }
  checkVerbs(ibv_post_send(qp(), list.data(), &bad), "ibv_post_send");
}

void End::postWrite(std::uint64_t id, std::vector<ibv_sge> sges, std::uint32_t rkey, std::uint64_t address, unsigned flags) {
  ibv_send_wr wr = workRequest(id, IBV_WR_RDMA_WRITE, flags);

  wr.wr.rdma = {address, rkey};
  post(wr, std::move(sges));
}

void End::postRead(std::uint64_t id, std::vector<ibv_sge> sges, std::uint32_t rkey, std::uint64_t address, unsigned flags) {
  ibv_send_wr wr = workRequest(id, IBV_WR_RDMA_READ, flags);

  wr.wr.rdma = {address, rkey};
  post(wr, std::move(sges));
}

void End::postRecv(std::uint64_t wrId, std::vector<ibv_sge> sges) {
  if (sges.empty()) /* the user library takes no receive without an SGE */
    sges.push_back(nothing_->sge(0, 0));
  rdma::postRecv(qp(), wrId, std::move(sges));
}

void End::disconnect() {
  check(rdma_disconnect(id->get()), "rdma_disconnect");
}

int End::state() const {
  ibv_qp_attr attr;
  ibv_qp_init_attr init;

  checkVerbs(ibv_query_qp(qp(), &attr, IBV_QP_STATE, &init), "ibv_query_qp");
  return attr.qp_state;
}

bool End::doorbell() const {
  struct {
    ib_uverbs_cmd_hdr header;
    ib_uverbs_post_send body;
  } command{};
  ib_uverbs_post_send_resp answer{};

  command.header = {.command = IB_USER_VERBS_CMD_POST_SEND, .in_words = sizeof(command) / 4, .out_words = sizeof(answer) / 4};
  command.body.response = reinterpret_cast<std::uintptr_t>(&answer);
  command.body.qp_handle = qp()->handle;
  command.body.wqe_size = sizeof(ib_uverbs_send_wr);
  return ::write(id->context()->cmd_fd, &command, sizeof(command)) == sizeof(command);
}

void End::fail() {
  setState(qp(), IBV_QPS_ERR);
}

/* --- two ends --- */

Server::Server(const Place& place) {
  const InNamespace here(place.serverNs);
  Address address(place.address, place.port);

  listener_ = std::make_unique<Id>(channel);
  check(rdma_bind_addr(listener_->get(), address.get()), "rdma_bind_addr");
  check(rdma_listen(listener_->get(), 16), "rdma_listen");
}

std::string Server::port() const {
  return std::to_string(ntohs(rdma_get_src_port(listener_->get())));
}

Event Server::request(const Deadline& deadline) {
  return channel.expect(RDMA_CM_EVENT_CONNECT_REQUEST, deadline);
}

static std::unique_ptr<End> makeClient(const Place& place, Channel& channel, const std::string& port, const EndOptions& options) {
  const InNamespace here(place.clientNs);
  Address address(place.address, port);
  auto id = std::make_unique<Id>(channel);
  rdma_conn_param param = connectParam(options.connect);

  resolve(*id, channel, address);
  auto end = std::make_unique<End>(std::move(id), options);
  check(rdma_connect(end->id->get(), &param), "rdma_connect");
  return end;
}

Pair::Pair(const Place& place, const EndOptions& clientOptions, const EndOptions& serverOptions)
    : listener(place), client(makeClient(place, clientChannel, listener.port(), clientOptions)), request(listener.request()) {
  rdma_conn_param param = connectParam(serverOptions.connect);

  server = std::make_unique<End>(std::make_unique<Id>(request.id), serverOptions);
  check(rdma_accept(server->id->get(), &param), "rdma_accept");
  accepted = clientChannel.expect(RDMA_CM_EVENT_ESTABLISHED);
  listener.channel.expect(RDMA_CM_EVENT_ESTABLISHED);
}

void Pair::expectDown() {
  clientChannel.expect(RDMA_CM_EVENT_DISCONNECTED);
  listener.channel.expect(RDMA_CM_EVENT_DISCONNECTED);
}

static void expectSuccess(const ibv_wc& wc, const char* what) {
  if (wc.status != IBV_WC_SUCCESS)
    throw test::Failure(std::string(what) + ": " + statusName(wc.status));
}

void Pair::sync() {
  client->postRecv(0, {});
  server->postRecv(0, {});
  client->postSend(0, {});
  expectSuccess(server->recvs().next(), "message to the server");
  server->postSend(0, {});
  expectSuccess(client->recvs().next(), "message to the client");
  expectSuccess(client->sends().next(), "client's send");
  expectSuccess(server->sends().next(), "server's send");
}

bool waitAsync(ibv_context* context, ibv_event_type type, const Deadline& deadline) {
  setNonBlocking(context->async_fd);
  while (test::waitFor(context->async_fd, POLLIN, deadline)) {
    ibv_async_event event;

    if (ibv_get_async_event(context, &event))
      continue;
    ibv_ack_async_event(&event);
    if (event.event_type == type)
      return true;
  }
  return false;
}

} // namespace rdma

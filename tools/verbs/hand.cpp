// SPDX-License-Identifier: GPL-2.0
#include "hand.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

namespace rdma {

using test::throwErrno;

static ibv_gid gidOf(const std::string& address) {
  ibv_gid gid{};

  if (inet_pton(AF_INET6, address.c_str(), gid.raw) == 1)
    return gid;
  gid.raw[10] = gid.raw[11] = 0xff;
  if (inet_pton(AF_INET, address.c_str(), gid.raw + 12) != 1)
    throw std::invalid_argument("no IP address: " + address);
  return gid;
}

std::string ownAddress(const std::string& ns, const std::string& to) {
  const InNamespace here(ns);
  Address remote(to, "9");
  sockaddr_storage own{};
  socklen_t length = sizeof(own);
  const test::Fd fd(::socket(remote.get()->sa_family, SOCK_DGRAM, 0));
  char text[NI_MAXHOST];

  if (::connect(fd.get(), remote.get(), sizeof(own)) || ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &length))
    throwErrno("no route to " + to);
  if (getnameinfo(reinterpret_cast<sockaddr*>(&own), length, text, sizeof(text), nullptr, 0, NI_NUMERICHOST))
    throw std::runtime_error("getnameinfo");
  return text;
}

HandDevice::HandDevice(const std::string& address) : gid_(gidOf(address)) {
  const std::unique_ptr<ibv_device*, Closer<ibv_free_device_list>> list(check(ibv_get_device_list(nullptr), "devices"));

  for (ibv_device** device = list.get(); *device; device++) {
    ibv_port_attr port;

    context_.reset(check(ibv_open_device(*device), "ibv_open_device"));
    checkVerbs(ibv_query_port(context(), 1, &port), "ibv_query_port");
    for (int i = 0; i < port.gid_tbl_len; i++) {
      ibv_gid gid;

      if (ibv_query_gid(context(), 1, i, &gid) == 0 && std::equal(gid.raw, gid.raw + sizeof(gid.raw), gid_.raw)) {
        index_ = static_cast<unsigned>(i);
        return;
      }
    }
  }
  throw test::Failure("no device has the GID of " + address);
}

HandEnd::HandEnd(const std::string& ns, const std::string& address, const HandOptions& options, unsigned depth)
    : ns_(ns), address_(address), options_(options), device_(address), pd_(check(ibv_alloc_pd(device_.context()), "ibv_alloc_pd")),
      sends(device_.context(), static_cast<int>(2 * depth)), recvs(device_.context(), static_cast<int>(2 * depth)),
      memory(pd_.get(), 1 << 18) {
  ibv_qp_init_attr attr{};

  attr.send_cq = sends.get();
  attr.recv_cq = recvs.get();
  attr.cap = {depth, depth, 4, 4, 0};
  attr.qp_type = IBV_QPT_RC;
  qp_.reset(check(ibv_create_qp(pd_.get(), &attr), "ibv_create_qp"));
}

bool HandEnd::isInitiatorTo(const HandEnd& peer) const {
  const int order = memcmp(device_.gid().raw, peer.device_.gid().raw, sizeof(device_.gid().raw));

  return order ? order < 0 : number() < peer.number();
}

int HandEnd::tryReady(const ibv_gid& gid, std::uint32_t number, unsigned gidIndex) {
  const InNamespace here(ns_);
  ibv_qp_attr attr{};

  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = options_.access;
  checkVerbs(ibv_modify_qp(qp(), &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");
  attr = {};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = number;
  attr.rq_psn = 0x123456;
  attr.max_dest_rd_atomic = static_cast<std::uint8_t>(options_.reads);
  attr.min_rnr_timer = static_cast<std::uint8_t>(options_.minRnrTimer);
  attr.ah_attr.is_global = 1;
  attr.ah_attr.grh.dgid = gid;
  attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(gidIndex);
  attr.ah_attr.grh.hop_limit = 64;
  attr.ah_attr.port_num = 1;
  return ibv_modify_qp(qp(), &attr,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                           IBV_QP_MIN_RNR_TIMER);
}

void HandEnd::readyToSend() {
  ibv_qp_attr attr{};

  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = static_cast<std::uint8_t>(options_.timeout);
  attr.retry_cnt = static_cast<std::uint8_t>(options_.retries);
  attr.rnr_retry = static_cast<std::uint8_t>(options_.rnrRetry);
  attr.sq_psn = 0x654321;
  attr.max_rd_atomic = static_cast<std::uint8_t>(options_.reads);
  checkVerbs(
      ibv_modify_qp(qp(), &attr,
                    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
      "RTS");
}

void HandEnd::connect(const HandEnd& peer) {
  readyToReceive(peer);
  readyToSend();
}

ibv_qp_attr HandEnd::query() const {
  ibv_qp_attr attr;
  ibv_qp_init_attr init;

  checkVerbs(ibv_query_qp(qp(), &attr, 0x1fffff, &init), "ibv_query_qp");
  return attr;
}

void HandEnd::postSend(std::uint64_t id, std::size_t offset, std::size_t length) {
  post(qp(), workRequest(id, IBV_WR_SEND), {memory.sge(offset, length)});
}

void HandEnd::postRdma(std::uint64_t id, ibv_wr_opcode opcode, const HandEnd& peer, std::size_t length, unsigned flags) {
  ibv_send_wr wr = workRequest(id, opcode, flags);

  wr.wr.rdma = {peer.memory.memory.address(), peer.memory.rkey()};
  post(qp(), wr, {memory.sge(0, length)});
}

void HandEnd::postRecv(std::uint64_t id, std::size_t offset, std::size_t length) {
  rdma::postRecv(qp(), id, {memory.sge(offset, length)});
}

} // namespace rdma

// SPDX-License-Identifier: GPL-2.0
#include "netlink.hpp"

#include <array>
#include <linux/netlink.h>
#include <optional>
#include <rdma/rdma_netlink.h>
#include <span>
#include <sys/socket.h>
#include <vector>

namespace faults {

using test::throwErrno;

static constexpr std::size_t align4(std::size_t n) {
  return (n + 3) & ~std::size_t{3};
}

/* A message and its attributes. */
class RdmaNetlink::Request {
public:
  Request(unsigned command, unsigned flags) : octets_(sizeof(nlmsghdr)) {
    header().nlmsg_type = static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
    header().nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
  }

  Request& add(unsigned type, std::span<const std::uint8_t> value) {
    const nlattr head{static_cast<std::uint16_t>(sizeof(nlattr) + value.size()), static_cast<std::uint16_t>(type)};
    const auto* p = reinterpret_cast<const std::uint8_t*>(&head);

    octets_.insert(octets_.end(), p, p + sizeof(head));
    octets_.insert(octets_.end(), value.begin(), value.end());
    octets_.resize(align4(octets_.size()));
    header().nlmsg_len = static_cast<std::uint32_t>(octets_.size());
    return *this;
  }
  Request& add(unsigned type, const std::string& text) {
    return add(type, std::span(reinterpret_cast<const std::uint8_t*>(text.c_str()), text.size() + 1));
  }
  Request& add(unsigned type, std::uint32_t number) {
    return add(type, std::span(reinterpret_cast<const std::uint8_t*>(&number), sizeof(number)));
  }

  std::span<const std::uint8_t> octets() const { return octets_; }

private:
  nlmsghdr& header() { return *reinterpret_cast<nlmsghdr*>(octets_.data()); }

  std::vector<std::uint8_t> octets_;
};

RdmaNetlink::RdmaNetlink() : socket_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA)) {
  if (!socket_)
    throwErrno("NETLINK_RDMA");
}

/* The answer is an NLMSG_ERROR; 0 is the acknowledgement. */
int RdmaNetlink::ask(const Request& request) {
  alignas(nlmsghdr) std::array<std::uint8_t, 8192> answer;

  if (::send(socket_.get(), request.octets().data(), request.octets().size(), 0) < 0)
    return errno;
  if (!test::waitFor(socket_.get(), POLLIN, test::Deadline(test::milliseconds(10000))))
    throw test::Failure("no answer by the RDMA core");
  if (::recv(socket_.get(), answer.data(), answer.size(), 0) < 0)
    throwErrno("NETLINK_RDMA");
  const auto* head = reinterpret_cast<const nlmsghdr*>(answer.data());
  if (head->nlmsg_type != NLMSG_ERROR)
    throw test::Failure("no acknowledgement by the RDMA core");
  return -static_cast<const nlmsgerr*>(NLMSG_DATA(head))->error;
}

int RdmaNetlink::addLink(const std::string& device, const std::string& type, const std::string& netdev) {
  return ask(Request(RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK)
                 .add(RDMA_NLDEV_ATTR_DEV_NAME, device)
                 .add(RDMA_NLDEV_ATTR_LINK_TYPE, type)
                 .add(RDMA_NLDEV_ATTR_NDEV_NAME, netdev));
}

int RdmaNetlink::deleteLink(std::uint32_t index) {
  return ask(Request(RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK).add(RDMA_NLDEV_ATTR_DEV_INDEX, index));
}

/* One attribute of a message, or nothing. */
static std::span<const std::uint8_t> attribute(const nlmsghdr& head, unsigned type) {
  const auto* at = reinterpret_cast<const std::uint8_t*>(&head) + NLMSG_HDRLEN;
  const auto* end = reinterpret_cast<const std::uint8_t*>(&head) + head.nlmsg_len;

  while (at + sizeof(nlattr) <= end) {
    const auto* a = reinterpret_cast<const nlattr*>(at);

    if ((a->nla_type & NLA_TYPE_MASK) == type)
      return std::span(at, a->nla_len).subspan(NLA_HDRLEN);
    at += NLA_ALIGN(a->nla_len);
  }
  return {};
}

std::uint32_t RdmaNetlink::indexOf(const std::string& device) {
  alignas(nlmsghdr) std::array<std::uint8_t, 32768> answer;
  const Request request = Request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP).add(RDMA_NLDEV_ATTR_DEV_NAME, device);
  std::optional<std::uint32_t> index;

  if (::send(socket_.get(), request.octets().data(), request.octets().size(), 0) < 0)
    throwErrno("NETLINK_RDMA");
  for (bool more = true; more;) {
    auto left = ::recv(socket_.get(), answer.data(), answer.size(), 0);

    if (left < 0)
      throwErrno("NETLINK_RDMA");
    for (auto* head = reinterpret_cast<const nlmsghdr*>(answer.data()); NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
      more = head->nlmsg_type != NLMSG_DONE && head->nlmsg_type != NLMSG_ERROR;
      if (!more)
        break;
      const auto name = attribute(*head, RDMA_NLDEV_ATTR_DEV_NAME), number = attribute(*head, RDMA_NLDEV_ATTR_DEV_INDEX);
      if (!name.empty() && !number.empty() && device == reinterpret_cast<const char*>(name.data()))
        std::memcpy(&index.emplace(), number.data(), sizeof(*index));
    }
  }
  if (!index)
    throw test::Failure("there is no device " + device);
  return *index;
}

} // namespace faults

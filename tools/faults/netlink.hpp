// SPDX-License-Identifier: GPL-2.0
/** @file netlink.hpp @brief What "rdma link add" and "rdma link delete" ask the kernel, in the calling thread. */
#pragma once

#include <cstdint>
#include <string>

#include "../common/fd.hpp"

namespace faults {

/** Requests to the RDMA core. Each is one sendmsg(2), in which the kernel does the work. */
class RdmaNetlink {
public:
  RdmaNetlink();

  /** @return 0 or an errno value */
  int addLink(const std::string& device, const std::string& type, const std::string& netdev);
  /** @param index of the device, from indexOf() */
  int deleteLink(std::uint32_t index);
  /** Number of a device; throws test::Failure when there is none of this name. */
  std::uint32_t indexOf(const std::string& device);

private:
  class Request;

  int ask(const Request& request);

  test::Fd socket_;
};

} // namespace faults

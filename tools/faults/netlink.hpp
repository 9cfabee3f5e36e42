// SPDX-License-Identifier: GPL-2.0
/** @file netlink.hpp @brief The requests of "rdma link add" and "rdma link delete", made by the calling thread. */
#pragma once

#include <cstdint>
#include <string>

#include "../common/fd.hpp"

namespace faults {

/** Requests to the RDMA core. Each is one sendmsg(2), within which the kernel does the work. */
class RdmaNetlink {
public:
  RdmaNetlink();

  /** @return 0 or an errno value */
  int addLink(const std::string& device, const std::string& type, const std::string& netdev);
  /** @param index of the device, from indexOf() */
  int deleteLink(std::uint32_t index);
  /** Index of a device; throws test::Failure when no device has this name. */
  std::uint32_t indexOf(const std::string& device);

private:
  class Request;

  int ask(const Request& request);

  test::Fd socket_;
};

} // namespace faults

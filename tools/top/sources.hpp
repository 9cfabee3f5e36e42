// SPDX-License-Identifier: GPL-2.0
/**
 * @file sources.hpp
 * @brief The sources of a sample: `rdma` for counters, devices and queue pairs, `ss` for TCP's view of them.
 *
 * sysfs has the counters in the initial network namespace only.
 */
#pragma once

#include <string_view>

#include "model.hpp"

namespace top {

/** The devices that count FPDUs. @param statistics output of `rdma -j statistic show link DEVICE/1` */
std::vector<Device> readDevices(std::string_view statistics);

/** Adds netdev and state to @p devices. @param links output of `rdma -j link show DEVICE/1` */
void addLinks(std::vector<Device>& devices, std::string_view links);

/**
 * The queue pairs of @p device.
 * @param qps output of `rdma -j -dd resource show qp link DEVICE/1`; members that are not the core's are the driver's
 * @param ids output of `rdma -j resource show cm_id link DEVICE/1`: addresses
 * @throws std::runtime_error when one of them is not valid JSON
 */
std::vector<Connection> readConnections(const std::string& device, std::string_view qps, std::string_view ids);

/**
 * Replaces the driver's numbers: rdma prints them as 32 bits with a sign in JSON, and completely as text.
 * @param connections queue pairs of one device
 * @param qps output of `rdma -dd resource show qp link DEVICE/1`
 */
void addLargeNumbers(std::vector<Connection>& connections, std::string_view qps);

/** Adds TCP's times to @p connections. @param sockets output of `ss -tniOH` */
void addTimes(std::vector<Connection>& connections, std::string_view sockets);

/** All of them, now; objects that disappear meanwhile are left out. @throws std::runtime_error with the missing tool or data */
Sample takeSample();

} // namespace top

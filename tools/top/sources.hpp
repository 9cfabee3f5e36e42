// SPDX-License-Identifier: GPL-2.0
/**
 * @file sources.hpp
 * @brief Where a sample comes from: `rdma` for counters, devices and queue pairs, `ss` for TCP's view of them.
 *
 * sysfs has the counters in the initial network namespace only.
 */
#pragma once

#include <string_view>

#include "model.hpp"

namespace top {

/** The devices that count FPDUs. @param statistics what `rdma -j statistic show link DEVICE/1` prints */
std::vector<Device> readDevices(std::string_view statistics);

/** Adds netdev and state to @p devices. @param links what `rdma -j link show DEVICE/1` prints */
void addLinks(std::vector<Device>& devices, std::string_view links);

/**
 * The queue pairs of @p device.
 * @param qps what `rdma -j -dd resource show qp link DEVICE/1` prints; members that are not the core's own are the driver's
 * @param ids what `rdma -j resource show cm_id link DEVICE/1` prints: addresses
 * @throws std::runtime_error when one of them is no JSON
 */
std::vector<Connection> readConnections(const std::string& device, std::string_view qps, std::string_view ids);

/** Adds TCP's times to @p connections. @param sockets what `ss -tniOH` prints */
void addTimes(std::vector<Connection>& connections, std::string_view sockets);

/** All of them, now; without those that go meanwhile. @throws std::runtime_error with what is missing */
Sample takeSample();

} // namespace top

// SPDX-License-Identifier: GPL-2.0
/**
 * @file model.hpp
 * @brief The data that iwmpa-top shows: devices and connections at one moment, and the changes since the previous moment.
 */
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace top {

using Json = nlohmann::ordered_json;

/** An RDMA device and the counters of its port. */
struct Device {
  std::string name;
  std::string netdev = {}; /**< empty where it belongs to another network namespace */
  std::string state = {};
  std::map<std::string, std::uint64_t> counters = {};
};

/** Times since the connection began, in milliseconds, as TCP counts them. */
struct Times {
  std::uint64_t busy = 0;    /**< with data to send */
  std::uint64_t window = 0;  /**< of these, with the peer's window closed */
  std::uint64_t sending = 0; /**< of these, with a full send buffer */

  std::uint64_t blocked() const { return window + sending; }
};

/** A queue pair and its connection. */
struct Connection {
  std::string device;
  std::uint64_t qp = 0;
  std::string state = {};              /**< of the queue pair */
  std::string process = {};            /**< its owner; with the process id when it is a program */
  std::string local = {}, remote = {}; /**< address and port; empty until they are resolved */
  std::optional<Times> times = {};     /**< when its socket is in this network namespace */
  Json driver = Json::object();        /**< further details from the driver, by name */
};

/** One moment. */
struct Sample {
  std::chrono::system_clock::time_point at = std::chrono::system_clock::now();
  std::chrono::steady_clock::time_point tick = std::chrono::steady_clock::now(); /**< the same, on a monotonic clock */
  std::vector<Device> devices = {};
  std::vector<Connection> connections = {};
};

/** Two moments; rates need the earlier one. */
class Change {
public:
  Change(const Sample* before, const Sample& now) : before_(before), now_(now) {}

  const Sample& now() const { return now_; }
  /** The growth of the counter per second. Nothing for a new counter or one that was reset: the device was replaced. */
  std::optional<double> rate(const Device& device, const std::string& counter) const;
  /** The growth of @p counter divided by that of @p per: between the two moments, or without the earlier one from the beginning. */
  std::optional<double> ratio(const Device& device, const std::string& counter, const std::string& per) const;
  /** The share of the time, 0 to 1, in which the connection had data to send and could not send it. */
  std::optional<double> blocked(const Connection& connection) const;

private:
  const Device* earlier(const Device& device) const;
  double seconds() const;

  const Sample* before_;
  const Sample& now_;
};

/** True when @p counter counts errors. */
bool isError(const std::string& counter);

} // namespace top

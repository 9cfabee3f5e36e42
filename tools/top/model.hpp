// SPDX-License-Identifier: GPL-2.0
/**
 * @file model.hpp
 * @brief What iwmpa-top shows: devices and connections at one moment, and what has changed since the moment before.
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

/** Milliseconds since the connection began, as TCP counts them. */
struct Times {
  std::uint64_t busy = 0;    /**< with something to send */
  std::uint64_t window = 0;  /**< of these, with the peer's window shut */
  std::uint64_t sending = 0; /**< of these, with a full send buffer */

  std::uint64_t blocked() const { return window + sending; }
};

/** A queue pair, and what it is connected to. */
struct Connection {
  std::string device;
  std::uint64_t qp = 0;
  std::string state = {};              /**< of the queue pair */
  std::string process = {};            /**< its owner, with the process id where it is a program */
  std::string local = {}, remote = {}; /**< address and port; empty before it is connected */
  std::optional<Times> times = {};     /**< where its socket is in this network namespace */
  Json driver = Json::object();        /**< what the driver says beyond that, by name */
};

/** One moment. */
struct Sample {
  std::chrono::system_clock::time_point at = std::chrono::system_clock::now();
  std::chrono::steady_clock::time_point tick = std::chrono::steady_clock::now(); /**< the same, on a clock that nobody sets */
  std::vector<Device> devices = {};
  std::vector<Connection> connections = {};
};

/** Two moments: rates are known when there is an earlier one. */
class Change {
public:
  Change(const Sample* before, const Sample& now) : before_(before), now_(now) {}

  const Sample& now() const { return now_; }
  /** How much the counter grew in a second. Nothing when it is new or began anew: the device is another one. */
  std::optional<double> rate(const Device& device, const std::string& counter) const;
  /** How many of @p counter came for each of @p per: between the two moments, or else from the beginning. */
  std::optional<double> ratio(const Device& device, const std::string& counter, const std::string& per) const;
  /** The part of the time, 0 to 1, in which the connection had something to send and could not. */
  std::optional<double> blocked(const Connection& connection) const;

private:
  const Device* earlier(const Device& device) const;
  double seconds() const;

  const Sample* before_;
  const Sample& now_;
};

/** Whether @p counter counts what should not happen. */
bool isError(const std::string& counter);

} // namespace top

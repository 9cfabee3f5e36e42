// SPDX-License-Identifier: GPL-2.0
#include "output.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "../common/testcase.hpp"

namespace top {

using test::format;

namespace {

constexpr auto deviceRow = "%-16s %-15s %-7s %5s %9s %9s %9s %9s %8s %8s %9s %7s";
constexpr auto connectionRow = "%-16s %9s %-5s %-27s %-27s %-22s %8s";

std::size_t connectionsOf(const Sample& sample, const Device& device) {
  return static_cast<std::size_t>(
      std::ranges::count_if(sample.connections, [&](const Connection& c) { return c.device == device.name && c.state == "RTS"; }));
}

std::uint64_t errorsOf(const Device& device) {
  std::uint64_t sum = 0;

  for (const auto& [name, value] : device.counters)
    sum += isError(name) ? value : 0;
  return sum;
}

std::string tableRow(const Change& change, const Device& d) {
  const auto rate = [&](const char* counter) { return human(change.rate(d, counter)); };

  return format(deviceRow, d.name.c_str(), d.netdev.c_str(), d.state.c_str(),
                std::to_string(connectionsOf(change.now(), d)).c_str(), rate("rx_octets").c_str(), rate("tx_octets").c_str(),
                rate("rx_fpdus").c_str(), rate("tx_fpdus").c_str(), human(change.ratio(d, "rx_fpdus", "rx_passes")).c_str(),
                human(change.ratio(d, "tx_fpdus", "tx_batches")).c_str(), rate("tx_blocked").c_str(),
                human(static_cast<double>(errorsOf(d))).c_str());
}

/** Lists the errors that make up the sum; empty without errors. */
std::string errorRow(const Device& d) {
  std::string row;

  for (const auto& [name, value] : d.counters)
    if (isError(name) && value)
      row += "  " + name + " " + std::to_string(value);
  return row;
}

std::string percent(std::optional<double> part) {
  return part ? format("%.0f%%", *part * 100) : "-";
}

std::string tableRow(const Change& change, const Connection& c) {
  std::string row = format(connectionRow, c.device.c_str(), std::to_string(c.qp).c_str(), c.state.c_str(), c.local.c_str(),
                           c.remote.c_str(), c.process.c_str(), percent(change.blocked(c)).c_str());

  for (const auto& [name, value] : c.driver.items())
    row += "  " + name + " " + (value.is_string() ? value.get<std::string>() : value.dump());
  return row;
}

std::string timestamp(const Sample& sample) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(sample.at);
  char text[32];

  std::strftime(text, sizeof(text), "%FT%TZ", std::gmtime(&seconds));
  return text;
}

Json orNull(std::optional<double> value) {
  return value ? Json(*value) : Json();
}

Json deviceJson(const Change& change, const Device& d) {
  Json rates = Json::object();

  for (const auto& [name, value] : d.counters)
    rates[name] = orNull(change.rate(d, name));
  return {{"name", d.name},
          {"netdev", d.netdev},
          {"state", d.state},
          {"connections", connectionsOf(change.now(), d)},
          {"errors", errorsOf(d)},
          {"rx_batch", orNull(change.ratio(d, "rx_fpdus", "rx_passes"))},
          {"tx_batch", orNull(change.ratio(d, "tx_fpdus", "tx_batches"))},
          {"counters", d.counters},
          {"rates", rates}};
}

Json timesJson(const Connection& c) {
  if (!c.times)
    return {};
  return {{"busy_ms", c.times->busy}, {"rwnd_limited_ms", c.times->window}, {"sndbuf_limited_ms", c.times->sending}};
}

Json connectionJson(const Change& change, const Connection& c) {
  return {{"device", c.device}, {"qp", c.qp},           {"state", c.state},    {"local", c.local},
          {"remote", c.remote}, {"process", c.process}, {"tcp", timesJson(c)}, {"blocked", orNull(change.blocked(c))},
          {"driver", c.driver}};
}

/** A field of CSV, RFC 4180. */
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos)
    return text;
  std::string quoted = "\"";

  for (const char c : text)
    quoted += c == '"' ? "\"\"" : std::string{c};
  return quoted + "\"";
}

std::string field(const Json& value) {
  return value.is_null() ? "" : field(value.is_string() ? value.get<std::string>() : value.dump());
}

/** The value of a label of Prometheus. */
std::string label(const std::string& text) {
  std::string quoted = "\"";

  for (const char c : text)
    quoted += c == '\n' ? "\\n" : c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return quoted + "\"";
}

} // namespace

std::string human(std::optional<double> value) {
  static constexpr const char* units[] = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t unit = 0;

  if (!value)
    return "-";
  while (*value >= 999.5 && unit + 1 < std::size(units)) {
    *value /= 1000;
    unit++;
  }
  const bool whole = *value == std::floor(*value) && unit == 0;
  return format("%.*f%s", whole || *value >= 99.95 ? 0 : *value >= 9.995 ? 1 : 2, *value, units[unit]);
}

std::vector<std::string> lines(const Change& change) {
  std::vector<std::string> list;

  if (change.now().devices.empty())
    return {"There is no device: rdma link add NAME type iwmpa netdev NETDEV makes one."};
  list.push_back(format(deviceRow, "DEVICE", "NETDEV", "STATE", "CONNS", "RX B/s", "TX B/s", "RX FPDU/s", "TX FPDU/s", "RX BATCH",
                        "TX BATCH", "BLOCKED/s", "ERRORS"));
  for (const auto& device : change.now().devices) {
    list.push_back(tableRow(change, device));
    if (const auto errors = errorRow(device); !errors.empty())
      list.push_back(errors);
  }
  list.emplace_back();
  list.push_back(format(connectionRow, "DEVICE", "QP", "STATE", "LOCAL", "REMOTE", "PROCESS", "BLOCKED"));
  for (const auto& connection : change.now().connections)
    list.push_back(tableRow(change, connection));
  return list;
}

Json json(const Change& change) {
  Json devices = Json::array(), connections = Json::array();

  for (const auto& device : change.now().devices)
    devices.push_back(deviceJson(change, device));
  for (const auto& connection : change.now().connections)
    connections.push_back(connectionJson(change, connection));
  return {{"time", timestamp(change.now())}, {"devices", devices}, {"connections", connections}};
}

std::vector<std::string> csv(const Change& change) {
  const std::string time = timestamp(change.now());
  std::vector<std::string> rows;

  for (const auto& d : change.now().devices)
    for (const auto& [name, value] : d.counters)
      rows.push_back(time + "," + field(d.name) + ",," + name + "," + std::to_string(value) + "," +
                     field(orNull(change.rate(d, name))));
  for (const auto& c : change.now().connections) {
    const Json facts = connectionJson(change, c).flatten();

    for (const auto& [name, value] : facts.items())
      if (name != "/device" && name != "/qp")
        rows.push_back(time + "," + field(c.device) + "," + std::to_string(c.qp) + "," + field(name.substr(name.rfind('/') + 1)) +
                       "," + field(value) + ",");
  }
  return rows;
}

std::vector<std::string> prometheus(const Sample& sample) {
  std::map<std::string, std::vector<std::string>> families; // a family's samples follow its type

  for (const auto& d : sample.devices) {
    const std::string labels = "{device=" + label(d.name) + ",netdev=" + label(d.netdev) + "} ";
    const auto add = [&](const std::string& family, const char* type, std::uint64_t value) {
      auto& rows = families[family];

      if (rows.empty())
        rows.push_back("# TYPE " + family + " " + type);
      rows.push_back(family + labels + std::to_string(value));
    };

    for (const auto& [name, value] : d.counters)
      add("iwmpa_" + name + "_total", "counter", value);
    add("iwmpa_open_connections", "gauge", connectionsOf(sample, d));
    add("iwmpa_port_active", "gauge", d.state == "ACTIVE");
  }
  std::vector<std::string> list;

  for (const auto& [family, rows] : families)
    list.insert(list.end(), rows.begin(), rows.end());
  return list;
}

} // namespace top

// SPDX-License-Identifier: GPL-2.0
#include "sources.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include <sys/wait.h>

namespace top {

namespace {

constexpr auto showCounters = "rdma -j statistic show";
constexpr auto showLinks = "rdma -j link show";
constexpr auto showQps = "rdma -j -d resource show qp";
constexpr auto showIds = "rdma -j resource show cm_id";
constexpr auto showSockets = "ss -tniOH";

/** What @p command prints. */
std::string output(const std::string& command) {
  std::FILE* const pipe = popen((command + " 2>/dev/null").c_str(), "re");
  char chunk[4096];
  std::string text;

  if (!pipe)
    throw std::runtime_error("cannot run " + command);
  for (std::size_t n; (n = std::fread(chunk, 1, sizeof(chunk), pipe)) > 0;)
    text.append(chunk, n);
  const int status = pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw std::runtime_error(command.substr(0, command.find(' ')) + " is missing: install iproute2");
  if (status)
    throw std::runtime_error("'" + command + "' fails: run it by hand to see why");
  return text;
}

Json parse(std::string_view text, const char* command) {
  const auto json = text.find_first_not_of(" \n") == text.npos ? Json::array() : Json::parse(text, nullptr, false);

  if (!json.is_array())
    throw std::runtime_error(std::string("'") + command + "' prints no JSON that this program understands");
  return json;
}

/** A member as text; empty when there is none. */
std::string text(const Json& object, const char* name) {
  const auto it = object.find(name);

  if (it == object.end())
    return {};
  return it->is_string() ? it->get<std::string>() : it->dump();
}

std::uint64_t number(const Json& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_number_unsigned() ? it->get<std::uint64_t>() : 0;
}

/** ADDRESS:PORT as ss and rdma both have it: without brackets, and an IPv4 address as such. */
std::string endpoint(std::string address) {
  std::erase_if(address, [](char c) { return c == '[' || c == ']'; });
  return address.starts_with("::ffff:") ? address.substr(7) : address;
}

std::string owner(const Json& object) {
  const std::string pid = text(object, "pid"), name = text(object, "comm");
  return pid.empty() ? name : name + "[" + pid + "]";
}

/** Members that the RDMA core gives every queue pair. */
bool isCore(const std::string& name) {
  static constexpr std::array<std::string_view, 16> names{"ifindex", "ifname", "port",   "lqpn", "rqpn",           "type",
                                                          "state",   "rq-psn", "sq-psn", "pdn",  "path-mig-state", "subtype",
                                                          "pid",     "comm",   "wqn",    "srqn"};

  return std::ranges::find(names, name) != names.end();
}

/** The milliseconds behind @p name in a line of ss, as in "busy:52ms". */
std::uint64_t milliseconds(std::string_view line, std::string_view name) {
  const auto at = line.find(" " + std::string(name) + ":");
  std::uint64_t value = 0;

  if (at != line.npos)
    std::from_chars(line.data() + at + name.size() + 2, line.data() + line.size(), value);
  return value;
}

} // namespace

std::vector<Device> readDevices(std::string_view statistics) {
  std::vector<Device> devices;

  for (const auto& entry : parse(statistics, showCounters)) {
    Device device{.name = text(entry, "ifname")};

    for (const auto& [name, value] : entry.items())
      if (value.is_number_unsigned() && name != "ifindex" && name != "port")
        device.counters[name] = value;
    if (device.counters.contains("rx_fpdus"))
      devices.push_back(std::move(device));
  }
  return devices;
}

void addLinks(std::vector<Device>& devices, std::string_view links) {
  for (const auto& link : parse(links, showLinks)) {
    const auto device = std::ranges::find(devices, text(link, "ifname"), &Device::name);

    if (device != devices.end()) {
      device->netdev = text(link, "netdev");
      device->state = text(link, "state");
    }
  }
}

std::vector<Connection> readConnections(const std::vector<Device>& devices, std::string_view qps, std::string_view ids) {
  const Json addresses = parse(ids, showIds);
  std::vector<Connection> connections;

  for (const auto& qp : parse(qps, showQps)) {
    Connection c{.device = text(qp, "ifname"), .qp = number(qp, "lqpn"), .state = text(qp, "state"), .process = owner(qp)};

    if (std::ranges::find(devices, c.device, &Device::name) == devices.end())
      continue;
    for (const auto& id : addresses)
      if (id.contains("lqpn") && number(id, "lqpn") == c.qp && text(id, "ifname") == c.device) {
        c.local = endpoint(text(id, "src-addr"));
        c.remote = endpoint(text(id, "dst-addr"));
      }
    for (const auto& [name, value] : qp.items())
      if (!isCore(name))
        c.driver[name] = value;
    connections.push_back(std::move(c));
  }
  return connections;
}

void addTimes(std::vector<Connection>& connections, std::string_view sockets) {
  std::istringstream in{std::string(sockets)};

  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string state, received, sent, local, remote;

    words >> state >> received >> sent >> local >> remote;
    for (auto& c : connections)
      if (!c.local.empty() && c.local == endpoint(local) && c.remote == endpoint(remote))
        c.times = {milliseconds(line, "busy"), milliseconds(line, "rwnd_limited"), milliseconds(line, "sndbuf_limited")};
  }
}

Sample takeSample() {
  Sample sample{.devices = readDevices(output(showCounters))};

  if (sample.devices.empty())
    return sample;
  addLinks(sample.devices, output(showLinks));
  sample.connections = readConnections(sample.devices, output(showQps), output(showIds));
  if (!sample.connections.empty())
    addTimes(sample.connections, output(showSockets));
  return sample;
}

} // namespace top

// SPDX-License-Identifier: GPL-2.0
#include "sources.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <unordered_map>

#include <sys/wait.h>

namespace top {

namespace {

/* Run for each device, with its name appended: for all devices at once, rdma fails if one has no counters or has disappeared. */
constexpr auto showCounters = "rdma -j statistic show link ";
constexpr auto showLink = "rdma -j link show ";
constexpr auto showQps = "rdma -j -dd resource show qp link ";
constexpr auto showQpsAsText = "rdma -dd resource show qp link ";
constexpr auto showIds = "rdma -j resource show cm_id link ";
constexpr auto showSockets = "ss -tniOH";
constexpr auto devicesFolder = "/sys/class/infiniband";

/** Returns the output of @p command; nothing when it fails. */
std::optional<std::string> run(const std::string& command) {
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
  return status ? std::nullopt : std::optional(text);
}

/** The same for a command that must not fail. */
std::string output(const std::string& command) {
  if (const auto text = run(command))
    return *text;
  throw std::runtime_error("'" + command + "' fails: run it by hand to see why");
}

/** Returns the output of @p command for the port @p link; nothing when the port lacks this data, or is gone. */
std::string ofLink(const char* command, const std::string& link) {
  return run(command + link).value_or("");
}

/** Quotes @p name for the shell. */
std::string quoted(std::string name) {
  for (std::size_t i = 0; (i = name.find('\'', i)) != name.npos; i += 4)
    name.replace(i, 1, "'\\''");
  return "'" + name + "'";
}

/**
 * A program's name can contain any octets, and rdma prints most of them unchanged. Removes those that JSON does not allow and those
 * that control a terminal.
 */
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c - ' ') >= '\x7f' - ' ')
      c = c == '\n' ? ' ' : '?';
  return text;
}

Json parse(std::string_view text, const char* command) {
  const bool none = text.find_first_not_of(" \n") == text.npos;
  Json json = none ? Json::array() : Json::parse(printable(std::string(text)), nullptr, false);

  if (!json.is_array())
    throw std::runtime_error(std::string("'") + command + "' prints no JSON that this program understands");
  return json;
}

/** A member as text; empty when there is none. */
std::string text(const Json& object, const char* name) {
  const auto it = object.find(name);

  if (it == object.end())
    return {};
  return it->is_string() ? printable(it->get<std::string>()) : it->dump();
}

std::uint64_t number(const Json& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_number_unsigned() ? it->get<std::uint64_t>() : 0;
}

/**
 * ADDRESS:PORT in a form common to ss and rdma: without brackets, without the netdev to which the socket is bound
 * (ADDRESS%NETDEV:PORT), and without the IPv6 mapping of an IPv4 address.
 */
std::string endpoint(std::string address) {
  const auto netdev = address.find('%'), port = address.rfind(':');

  if (netdev != std::string::npos && port != std::string::npos && netdev < port)
    address.erase(netdev, port - netdev);
  std::erase_if(address, [](char c) { return c == '[' || c == ']'; });
  return address.starts_with("::ffff:") ? address.substr(7) : address;
}

std::string owner(const Json& object) {
  const std::string pid = text(object, "pid"), name = text(object, "comm");
  return pid.empty() ? name : name + "[" + pid + "]";
}

/** True for members that the RDMA core reports for every queue pair. */
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
  for (const auto& link : parse(links, showLink)) {
    const auto device = std::ranges::find(devices, text(link, "ifname"), &Device::name);

    if (device != devices.end()) {
      device->netdev = text(link, "netdev");
      device->state = text(link, "state");
    }
  }
}

std::vector<Connection> readConnections(const std::string& device, std::string_view qps, std::string_view ids) {
  std::unordered_map<std::uint64_t, Json> addresses;
  std::vector<Connection> connections;

  for (auto& id : parse(ids, showIds))
    if (id.contains("lqpn") && text(id, "ifname") == device)
      addresses[number(id, "lqpn")] = id;
  for (const auto& qp : parse(qps, showQps)) {
    Connection c{.device = text(qp, "ifname"), .qp = number(qp, "lqpn"), .state = text(qp, "state"), .process = owner(qp)};

    if (c.device != device)
      continue;
    if (const auto id = addresses.find(c.qp); id != addresses.end()) {
      c.local = endpoint(text(id->second, "src-addr"));
      c.remote = endpoint(text(id->second, "dst-addr"));
    }
    for (const auto& [name, value] : qp.items())
      if (!isCore(name))
        c.driver[name] = value;
    connections.push_back(std::move(c));
  }
  return connections;
}

void addLargeNumbers(std::vector<Connection>& connections, std::string_view qps) {
  std::istringstream in{std::string(qps)};
  auto c = connections.end();

  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string link, name, value;
    std::uint64_t qp = 0, number = 0;

    /* A line that begins with white space continues the one before: iproute2 6.15 folds long lines. */
    if (!line.starts_with(' ') && !line.starts_with('\t')) {
      words >> link >> link >> name >> qp;
      c = name == "lqpn" ? std::ranges::find(connections, qp, &Connection::qp) : connections.end();
    }
    if (c == connections.end())
      continue;
    while (words >> name)
      if (const auto it = c->driver.find(name);
          it != c->driver.end() && it->is_number() && words >> value &&
          std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc())
        *it = number;
  }
}

void addTimes(std::vector<Connection>& connections, std::string_view sockets) {
  std::unordered_map<std::string, std::string> lines; /* by both addresses */
  std::istringstream in{std::string(sockets)};

  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string state, received, sent, local, remote;

    words >> state >> received >> sent >> local >> remote;
    lines[endpoint(local) + " " + endpoint(remote)] = line;
  }
  for (auto& c : connections)
    if (const auto line = lines.find(c.local + " " + c.remote); !c.local.empty() && line != lines.end())
      c.times = {milliseconds(line->second, "busy"), milliseconds(line->second, "rwnd_limited"),
                 milliseconds(line->second, "sndbuf_limited")};
}

Sample takeSample() {
  Sample sample;
  std::error_code none;

  for (const auto& entry : std::filesystem::directory_iterator(devicesFolder, none)) {
    const std::string name = entry.path().filename(), link = quoted(name + "/1");
    auto devices = readDevices(ofLink(showCounters, link));

    if (devices.empty())
      continue;
    addLinks(devices, ofLink(showLink, link));
    std::ranges::move(devices, std::back_inserter(sample.devices));
    auto connections = readConnections(printable(name), ofLink(showQps, link), ofLink(showIds, link));
    if (!connections.empty())
      addLargeNumbers(connections, ofLink(showQpsAsText, link));
    std::ranges::move(connections, std::back_inserter(sample.connections));
  }
  std::ranges::sort(sample.devices, {}, &Device::name);
  std::ranges::stable_sort(sample.connections, {}, &Connection::device);
  if (!sample.connections.empty())
    addTimes(sample.connections, output(showSockets));
  return sample;
}

} // namespace top

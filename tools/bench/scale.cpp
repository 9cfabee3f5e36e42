// SPDX-License-Identifier: GPL-2.0
#include "scale.hpp"

#include <array>
#include <cmath>
#include <iomanip>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "report.hpp"

namespace bench {
namespace {

/** A kind of load: the rows that give its cost, for each transport, and the octets of one operation. */
struct Load {
  std::string_view title;
  std::string_view operation;
  std::string_view tcp; ///< TCP's operation
  double octets;        ///< of one operation; 1: the cost is per octet
};

constexpr std::array loads{
    Load{"WRITE, 64 KiB", "write", "send", 1},
    Load{"READ, 64 KiB", "read", "send", 1},
    Load{"SEND, 64 B", "send64", "send64", 64},
    Load{"NVMe read, 4 KiB, depth 32", "nvme-read-4k-32", "nvme-read-4k-32", 4096},
    Load{"NVMe read, 128 KiB, depth 8", "nvme-read-128k-8", "nvme-read-128k-8", 131072},
    Load{"NVMe write, 128 KiB, depth 8", "nvme-write-128k-8", "nvme-write-128k-8", 131072},
    Load{"NFS read, 1 MiB, depth 4", "nfs-read-1m-4", "nfs-read-1m-4", 1048576},
};

/** A transport in a configuration, as a column. */
struct Column {
  std::string_view title;
  Configuration configuration;
};

const std::array columns{
    Column{"TCP", {"tcp", 1500, {}, {}}},
    Column{"siw", {"siw", 1500, true, {}}},
    Column{"iwmpa", {"iwmpa", 1500, true, false}},
    Column{"iwmpa, no CRC", {"iwmpa", 1500, false, false}},
};

constexpr std::array links{25, 100, 400};
constexpr std::array connectionCounts{10, 1000, 100000};

std::optional<double> valueOf(const Results& results, const Configuration& configuration, std::string_view operation) {
  const Result* const result = find(results, configuration.text() + " " + std::string(operation));
  return result ? std::optional(result->value) : std::nullopt;
}

/** Instructions of both ends for one operation of a load. NVMe/TCP is taken with digests, which serve the same purpose as CRCs. */
std::optional<double> costOf(const Results& results, const Column& column, const Load& load) {
  if (column.configuration.transport != "tcp")
    return valueOf(results, column.configuration, load.operation);
  Configuration digests = column.configuration;
  digests.crc = true;
  const auto with = valueOf(results, digests, load.tcp);
  return with ? with : valueOf(results, column.configuration, load.tcp);
}

/** Three significant digits, with k or M. */
std::string rounded(double value) {
  const char* const unit = value >= 1e6 ? " M" : value >= 1e4 ? " k" : "";
  value /= value >= 1e6 ? 1e6 : value >= 1e4 ? 1e3 : 1;
  std::ostringstream out;
  out << std::fixed << std::setprecision(value >= 100 ? 0 : value >= 10 ? 1 : 2) << value << unit;
  return out.str();
}

/** Operations per second of one core that does no other work. */
double rate(double cost, const Machine& machine) {
  return machine.instructionsPerSecond / (cost * machine.shareOfAnEnd);
}

/** The machine, with the speed of a core that makes TCP's transfers as fast as others have measured. */
Machine calibrated(const Results& results, Machine machine) {
  if (machine.instructionsPerSecond > 0)
    return machine;
  const auto cost = valueOf(results, columns[0].configuration, loads[0].tcp);
  if (!cost)
    throw std::runtime_error("no figure of TCP's transfers tells the speed of a core");
  machine.instructionsPerSecond = machine.tcpGigabits * 1e9 / 8 * *cost * machine.shareOfAnEnd;
  return machine;
}

double gigabits(double octets) {
  return octets * 8 / 1e9;
}

/** Writes the heading and the line of dashes below it: a first column of text and others of figures. */
void writeHeading(std::ostream& out, const std::string& first, const std::vector<std::string>& rest) {
  out << "| " << first << " |";
  for (const std::string& title : rest)
    out << ' ' << title << " |";
  out << "\n|---|";
  for (std::size_t i = 0; i < rest.size(); ++i)
    out << "--:|";
  out << '\n';
}

void writeCore(std::ostream& out, const Results& results, const Machine& machine) {
  out << "A core executes " << rounded(machine.instructionsPerSecond / 1e9) << " · 10⁹ instructions a second.\n\n";
  std::vector<std::string> titles;
  for (const Column& column : columns)
    titles.emplace_back(column.title);
  writeHeading(out, "one end on one core, per second", titles);
  for (const Load& load : loads) {
    out << "| " << load.title << " |";
    for (const Column& column : columns) {
      const auto cost = costOf(results, column, load);
      out << ' ';
      if (!cost)
        out << "-";
      else if (load.octets > 1)
        out << rounded(rate(*cost, machine)) << ", " << rounded(gigabits(rate(*cost, machine) * load.octets)) << " Gbit";
      else
        out << rounded(gigabits(rate(*cost, machine))) << " Gbit";
      out << " |";
    }
    out << '\n';
  }
}

void writeLink(std::ostream& out, const Results& results, const Machine& machine) {
  const std::array compared{columns[0], columns[2]};
  std::vector<std::string> titles;
  for (const int link : links)
    for (const Column& column : compared)
      titles.push_back(std::to_string(link) + " GbE, " + std::string(column.title));
  writeHeading(out, "cores of one end that fill a link", titles);
  for (const Load& load : loads) {
    out << "| " << load.title << " |";
    for (const int link : links)
      for (const Column& column : compared) {
        const auto cost = costOf(results, column, load);
        if (!cost)
          out << " - |";
        else
          out << ' ' << rounded(link * machine.wireShare / gigabits(rate(*cost, machine) * load.octets)) << " |";
      }
    out << '\n';
  }
  out << "| memory bandwidth, GB/s |";
  for (const int link : links)
    for (std::size_t i = 0; i < compared.size(); ++i)
      out << ' ' << rounded(link * machine.wireShare / 8 * machine.passes) << " |";
  out << '\n';
}

void writeConnections(std::ostream& out, const Results& results, const Machine& machine) {
  std::vector<std::string> titles;
  for (const int count : connectionCounts)
    titles.push_back(std::to_string(count) + " connections");
  writeHeading(out, "one end", titles);
  for (const Column& column : {columns[1], columns[2]}) {
    struct Line {
      std::string_view operation;
      std::string_view title;
      double scale;
      std::string_view unit;
    };
    const std::array lines{
        Line{"connect", "to connect all, one core", machine.shareOfAnEnd / machine.instructionsPerSecond, " s"},
        Line{"idle", "kernel memory, idle", 1.0 / (1 << 20), " MiB"},
        Line{"once-busy", "kernel memory, each once busy", 1.0 / (1 << 20), " MiB"},
        Line{"register", "to register 4 KiB for each, one core", 1 / machine.instructionsPerSecond, " s"},
    };
    for (const Line& line : lines) {
      const auto cost = valueOf(results, column.configuration, line.operation);
      if (!cost)
        continue;
      out << "| " << column.title << ": " << line.title << " |";
      for (const int count : connectionCounts)
        out << ' ' << rounded(*cost * line.scale * count) << line.unit << " |";
      out << '\n';
    }
  }
}

/** The ratio to TCP as the instruction counts predict it for one CPU, and as measured in guests with several. */
void writeCheck(std::ostream& out, const Results& results) {
  writeHeading(out, "iwmpa / TCP, no CRC", {"by instructions", "1 CPU", "2 CPUs", "4 CPUs", "4 CPUs, 8 connections"});
  const Configuration iwmpa{"iwmpa", 1500, false, false}, tcp{"tcp", 1500, {}, {}};
  for (const std::string operation : {"write", "send"}) {
    const auto own = valueOf(results, iwmpa, operation), theirs = valueOf(results, tcp, "send");
    out << "| " << operation << " | " << (own && theirs ? rounded(*own / *theirs) : "-") << " |";
    for (const auto& [count, connections] : {std::pair(1, "1"), {2, "1"}, {4, "1"}, {4, "8"}}) {
      Configuration mine = iwmpa, other = tcp;
      mine.cpus = other.cpus = count;
      const auto time = valueOf(results, mine, "cpus-" + operation + "-" + connections);
      const auto tcpTime = valueOf(results, other, std::string("cpus-send-") + connections);
      out << ' ' << (time && tcpTime ? rounded(*time / *tcpTime) : "-") << " |";
    }
    out << '\n';
  }
}

} // namespace

bool writeScale(std::ostream& out, std::string_view name, const Results& results, const Machine& assumed) {
  const Machine machine = calibrated(results, assumed);
  if (name == "scale-core")
    writeCore(out, results, machine);
  else if (name == "scale-link")
    writeLink(out, results, machine);
  else if (name == "scale-connections")
    writeConnections(out, results, machine);
  else if (name == "scale-check")
    writeCheck(out, results);
  else
    return false;
  return true;
}

} // namespace bench

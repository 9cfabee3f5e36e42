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

/** The columns of a link. */
const std::array linked{&columns[0], &columns[2]};
constexpr double link = 100; // Gbit/s

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

/** Operations or octets a second of one core, and the octets in Gbit. */
std::string carried(const Load& load, double perSecond) {
  const std::string octets = rounded(gigabits(perSecond * load.octets)) + " Gbit";
  return load.octets > 1 ? rounded(perSecond) + ", " + octets : octets;
}

void writeCores(std::ostream& out, const Results& results, const Machine& machine) {
  out << "A core executes " << rounded(machine.instructionsPerSecond / 1e9) << " · 10⁹ instructions a second.\n\n";
  std::vector<Line> lines{{"one end on one core, per second"}};
  for (const Column& column : columns)
    lines.front().emplace_back(column.title);
  for (const Column* column : linked)
    lines.front().push_back("cores for " + rounded(link) + " GbE, " + std::string(column->title));
  for (const Load& load : loads) {
    lines.push_back({std::string(load.title)});
    for (const Column& column : columns) {
      const auto cost = costOf(results, column, load);
      lines.back().push_back(cost ? carried(load, rate(*cost, machine)) : "-");
    }
    for (const Column* column : linked) {
      const auto cost = costOf(results, *column, load);
      lines.back().push_back(cost ? rounded(link * machine.wireShare / gigabits(rate(*cost, machine) * load.octets)) : "-");
    }
  }
  writeFigures(out, lines);
}

/** The ratio to TCP as the instruction counts predict it for one CPU, and as measured in guests with several. */
void writeCheck(std::ostream& out, const Results& results) {
  std::vector<Line> lines{{"iwmpa / TCP, no CRC", "by instructions", "1 CPU", "2 CPUs", "4 CPUs", "4 CPUs, 8 connections"}};
  const Configuration iwmpa{"iwmpa", 1500, false, false}, tcp{"tcp", 1500, {}, {}};
  const auto quotient = [](std::optional<double> own, std::optional<double> theirs) {
    return own && theirs ? rounded(*own / *theirs) : "-";
  };
  for (const std::string operation : {"write", "send"}) {
    lines.push_back({operation, quotient(valueOf(results, iwmpa, operation), valueOf(results, tcp, "send"))});
    for (const auto& [count, connections] : {std::pair(1, "1"), {2, "1"}, {4, "1"}, {4, "8"}}) {
      Configuration mine = iwmpa, other = tcp;
      mine.cpus = other.cpus = count;
      lines.back().push_back(quotient(valueOf(results, mine, "cpus-" + operation + "-" + connections),
                                      valueOf(results, other, std::string("cpus-send-") + connections)));
    }
  }
  writeFigures(out, lines);
}

} // namespace

bool writeScale(std::ostream& out, std::string_view name, const Results& results, const Machine& assumed) {
  if (name == "scale")
    writeCores(out, results, calibrated(results, assumed));
  else if (name == "scale-check")
    writeCheck(out, results);
  else
    return false;
  return true;
}

} // namespace bench

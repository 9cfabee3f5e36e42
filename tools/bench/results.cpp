// SPDX-License-Identifier: GPL-2.0
#include "results.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace bench {
namespace {

std::ifstream open(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in)
    throw std::runtime_error("cannot read " + file.string());
  return in;
}

/** The number behind NAME= in a line, or 0. */
std::uint64_t field(const std::string& line, const std::string& name) {
  const std::size_t at = line.find(name + "=");
  return at == std::string::npos ? 0 : std::stoull("0" + line.substr(at + name.size() + 1));
}

double figure(const Operation& operation, const Repeat& repeat) {
  return static_cast<double>(repeat.instructions()) / static_cast<double>(operation.perOctet ? repeat.octets : repeat.operations);
}

} // namespace

GuestLine parseGuestLine(std::string line) {
  while (!line.empty() && line.back() == '\r')
    line.pop_back();

  GuestLine result;
  if (line.starts_with("begin ")) {
    result.kind = GuestLine::Kind::Begin;
    result.row = line.substr(6);
  } else if (line.starts_with("result ")) {
    result.kind = GuestLine::Kind::Result;
    result.repeat = {field(line, "tsc"), field(line, "ops"), field(line, "octets"), 0, 0};
  } else if (line == "end" || line.starts_with("end ")) {
    result.kind = GuestLine::Kind::End;
    result.outcome = line.size() > 4 ? line.substr(4) : "";
  }
  return result;
}

std::vector<RowRepeats> readGuest(const std::filesystem::path& console, const std::filesystem::path& counts) {
  std::vector<RowRepeats> rows;
  std::vector<Repeat*> byRegion;
  std::size_t region = 0;

  std::ifstream in = open(console);
  for (std::string text; std::getline(in, text);) {
    GuestLine line = parseGuestLine(text);
    if (line.kind == GuestLine::Kind::Begin)
      rows.push_back({line.row, {}, "the guest ended while it ran", region + 1});
    else if (line.kind == GuestLine::Kind::Result && !rows.empty())
      rows.back().repeats.push_back(line.repeat), ++region;
    else if (line.kind == GuestLine::Kind::End && !rows.empty())
      rows.back().failure = line.outcome;
  }
  for (RowRepeats& row : rows)
    for (Repeat& repeat : row.repeats)
      byRegion.push_back(&repeat);

  std::ifstream counted = open(counts);
  for (std::string line; std::getline(counted, line);) {
    std::istringstream fields(line);
    std::string kind, kernel, user;
    std::size_t number = 0;
    Repeat repeat;
    if (!line.starts_with("region ") || !(fields >> kind >> number >> kernel >> repeat.kernel >> user >> repeat.user))
      continue;
    if (number < 1 || number > byRegion.size())
      throw std::runtime_error("the plugin has counted more regions than the guest has reported");
    byRegion[number - 1]->kernel = repeat.kernel;
    byRegion[number - 1]->user = repeat.user;
  }
  for (const Repeat* repeat : byRegion)
    if (!repeat->instructions() || static_cast<double>(repeat->instructions()) > 1.01 * static_cast<double>(repeat->tsc))
      throw std::runtime_error("the plugin's counts do not fit what the guest has reported");
  return rows;
}

Result summarize(const Row& row, const RowRepeats& measured) {
  Result result;
  result.failure = measured.failure;
  if (result.failure.empty() && measured.repeats.empty())
    result.failure = "printed no result";
  if (!result.failure.empty())
    return result;

  std::vector<Repeat> repeats = measured.repeats;
  std::ranges::sort(repeats, {}, &Repeat::instructions);
  const Repeat& median = repeats[(repeats.size() - 1) / 2];
  const double instructions = static_cast<double>(median.instructions());
  result.value = figure(*row.operation, median);
  result.min = figure(*row.operation, repeats.front());
  result.max = figure(*row.operation, repeats.back());
  result.idle = std::max(0.0, 1 - instructions / static_cast<double>(median.tsc));
  result.user = static_cast<double>(median.user) / instructions;
  return result;
}

Results readTsv(const std::filesystem::path& file) {
  Results results;
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    Configuration configuration;
    std::string crc, markers, operation;
    Result result;
    if (!(fields >> configuration.transport >> configuration.mtu >> crc >> markers >> operation >> result.value >> result.min >>
          result.max))
      continue;
    if (crc != "-")
      configuration.crc = crc == "on";
    if (markers != "-")
      configuration.markers = markers == "on";
    result.measured = false;
    results[configuration.text() + " " + operation] = result;
  }
  return results;
}

} // namespace bench

// SPDX-License-Identifier: GPL-2.0
#include "results.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

namespace bench {
namespace {

constexpr int outSegs = 12; // the word of the counter OutSegs in the line Tcp of /proc/net/snmp

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
  const std::uint64_t count = repeat.told ? repeat.tsc : repeat.instructions();
  return static_cast<double>(count) / static_cast<double>(operation.perOctet ? repeat.octets : repeat.operations);
}

/** The word behind NAME= in a line. */
std::string word(const std::string& line, const std::string& name) {
  const std::size_t at = line.find(name + "=") + name.size() + 1;
  return line.substr(at, line.find(' ', at) - at);
}

/** The median of a quantity for each operation. */
double medianOf(const std::vector<Repeat>& repeats, std::uint64_t Repeat::* quantity) {
  std::vector<double> values;
  for (const Repeat& repeat : repeats)
    values.push_back(repeat.operations ? static_cast<double>(repeat.*quantity) / static_cast<double>(repeat.operations) : 0);
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

/** The repeats of a row that belong to its operation: see Operation::part. */
std::vector<Repeat> repeatsOf(const Operation& operation, const std::vector<Repeat>& all) {
  if (operation.part.empty())
    return all;
  std::vector<Repeat> counted, result;
  std::ranges::copy_if(all, std::back_inserter(counted), [](const Repeat& repeat) { return repeat.memoryOf.empty(); });
  if (operation.part == "first" && !counted.empty())
    result.push_back(counted.front());
  else if (operation.part == "second" && counted.size() > 1)
    result.push_back(counted[1]);
  else
    std::ranges::copy_if(all, std::back_inserter(result), [&](const Repeat& repeat) { return repeat.memoryOf == operation.part; });
  return result;
}

/** Adds the plugin's counts, region by region, to the repeats in the order in which they ran. */
void addCounts(const std::vector<Repeat*>& repeats, const std::filesystem::path& file) {
  std::ifstream counted = open(file);
  for (std::string line; std::getline(counted, line);) {
    std::istringstream fields(line);
    std::string kind, kernel, user;
    std::size_t number = 0;
    Repeat repeat;
    if (!line.starts_with("region ") || !(fields >> kind >> number >> kernel >> repeat.kernel >> user >> repeat.user))
      continue;
    if (number < 1 || number > repeats.size())
      throw std::runtime_error("the plugin has counted more regions than the guest has reported");
    repeats[number - 1]->kernel = repeat.kernel;
    repeats[number - 1]->user = repeat.user;
  }
}

std::vector<std::string> fieldsOf(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> fields;
  for (std::string text; std::getline(in, text, '\t');)
    fields.push_back(text);
  return fields;
}

/** The fields of a table's line, by the table's headings. */
class TsvLine {
public:
  TsvLine(const std::filesystem::path& file, const std::vector<std::string>& heading, const std::vector<std::string>& fields)
      : file_(file), heading_(heading), fields_(fields) {}

  const std::string& operator[](const std::string& name) const {
    const auto found = std::ranges::find(heading_, name);
    if (found == heading_.end())
      throw std::runtime_error(file_.string() + ": there is no column " + name);
    return fields_[static_cast<std::size_t>(found - heading_.begin())];
  }

private:
  const std::filesystem::path& file_;
  const std::vector<std::string>& heading_;
  const std::vector<std::string>& fields_;
};

} // namespace

const Result* find(const Results& results, const std::string& row) {
  const auto found = results.find(row);
  return found == results.end() || !found->second.failure.empty() ? nullptr : &found->second;
}

Repeat parseFio(const std::string& text) {
  const nlohmann::json job = nlohmann::json::parse(text).at("jobs").at(0);
  if (job.at("error") != 0)
    throw std::runtime_error("fio's job has failed");
  const nlohmann::json& done = job.at(job.at("read").at("total_ios") > 0 ? "read" : "write");
  Repeat result;
  result.told = true;
  result.tsc = done.at("runtime").get<std::uint64_t>() * 1'000'000;
  result.operations = done.at("total_ios");
  result.octets = done.at("io_bytes");
  result.latency = done.at("lat_ns").at("mean");
  if (!result.tsc || !result.operations)
    throw std::runtime_error("fio has done nothing");
  return result;
}

void GuestParser::addCounters(Repeat& repeat) {
  repeat.segments = std::exchange(segments_.since, 0);
  repeat.calls = std::exchange(calls_.since, 0);
  repeat.switches = std::exchange(switches_.since, 0);
}

GuestLine GuestParser::feed(std::string line) {
  while (!line.empty() && line.back() == '\r')
    line.pop_back();

  GuestLine result;
  if (line == "{" || !json_.empty()) {
    json_ += line + '\n';
    if (line != "}")
      return result;
    result.kind = GuestLine::Kind::Result;
    result.repeat = parseFio(std::exchange(json_, {}));
    addCounters(result.repeat);
  } else if (line.starts_with("Tcp: ")) {
    std::istringstream words(line);
    std::string sent;
    for (int i = 0; i < outSegs; ++i)
      words >> sent;
    segments_.feed(std::stoull("0" + sent));
  } else if (line.starts_with("Cpus: ")) {
    calls_.feed(field(line, "calls"));
    switches_.feed(field(line, "switches"));
  } else if (line.starts_with("begin ")) {
    result.kind = GuestLine::Kind::Begin;
    result.row = line.substr(6);
  } else if (line.starts_with("result ")) {
    result.kind = GuestLine::Kind::Result;
    result.repeat.told = timed_ || line.find(" told=") != std::string::npos;
    result.repeat.tsc = field(line, timed_ ? "ns" : result.repeat.told ? "told" : "tsc");
    result.repeat.operations = field(line, "ops");
    result.repeat.octets = field(line, "octets");
    result.repeat.idle = field(line, "idle");
    result.repeat.latency = static_cast<double>(field(line, "p99"));
    addCounters(result.repeat);
  } else if (line.starts_with("memory of=")) {
    result.kind = GuestLine::Kind::Result;
    result.repeat.told = true;
    result.repeat.memoryOf = word(line, "of");
    result.repeat.tsc = field(line, " kernel");
    result.repeat.operations = 1;
  } else if (line == "skip") {
    result.kind = GuestLine::Kind::Skip;
  } else if (line == "end" || line.starts_with("end ")) {
    result.kind = GuestLine::Kind::End;
    result.outcome = line.size() > 4 ? line.substr(4) : "";
  }
  return result;
}

std::vector<RowRepeats> readGuest(const std::filesystem::path& console, const std::filesystem::path& counts) {
  std::vector<RowRepeats> rows;
  std::vector<std::pair<std::size_t, std::size_t>> order; // row and repeat, in the order of execution
  std::size_t current = 0;
  std::map<std::string, std::size_t> rounds;

  std::ifstream in = open(console);
  GuestParser parser(counts.empty());
  for (std::string text; std::getline(in, text);) {
    const GuestLine line = parser.feed(text);
    if (line.kind == GuestLine::Kind::Begin) {
      current = static_cast<std::size_t>(std::ranges::find(rows, line.row, &RowRepeats::row) - rows.begin());
      if (current == rows.size())
        rows.push_back({line.row, {}, ""});
      ++rounds[line.row];
      rows[current].failure = "the guest ended while it ran";
    } else if (rows.empty()) {
      continue;
    } else if (line.kind == GuestLine::Kind::Result) {
      if (line.repeat.memoryOf.empty()) // a quantity without a region
        order.emplace_back(current, rows[current].repeats.size());
      rows[current].repeats.push_back(line.repeat);
      rows[current].repeats.back().round = rounds[rows[current].row];
    } else if (line.kind == GuestLine::Kind::End) {
      rows[current].failure = line.outcome;
    } else if (line.kind == GuestLine::Kind::Skip) {
      rows[current].failure.clear();
      rows[current].skipped = true;
    }
  }

  std::vector<Repeat*> repeats;
  for (const auto& [row, repeat] : order)
    repeats.push_back(&rows[row].repeats[repeat]);
  const bool allTold = std::ranges::all_of(repeats, [](const Repeat* repeat) { return repeat->told; });
  if (!allTold || std::filesystem::exists(counts))
    addCounts(repeats, counts);
  for (const Repeat* repeat : repeats)
    if (!repeat->told &&
        (!repeat->instructions() || static_cast<double>(repeat->instructions()) > 1.01 * static_cast<double>(repeat->tsc)))
      throw std::runtime_error("the plugin's counts do not match the guest's report");
  return rows;
}

Result summarize(const Row& row, const RowRepeats& measured) {
  Result result;
  result.failure = measured.failure;
  std::vector<Repeat> repeats = repeatsOf(*row.operation, measured.repeats);
  if (result.failure.empty() && repeats.empty())
    result.failure = "printed no result";
  if (!result.failure.empty())
    return result;

  const Operation& operation = *row.operation;
  const auto value = [&](const Repeat& repeat) { return figure(operation, repeat); };
  result.calls = medianOf(repeats, &Repeat::calls);
  result.switches = medianOf(repeats, &Repeat::switches);
  std::ranges::sort(repeats, {}, value);
  if (!operation.table->repeatable) { // the best of each round
    std::set<std::size_t> seen;
    std::erase_if(repeats, [&](const Repeat& repeat) { return !seen.insert(repeat.round).second; });
    result.second = repeats.size() > 1 ? value(repeats[1]) : 0;
  }
  const bool isMedian = operation.table->repeatable || operation.table->group == "native";
  const Repeat& chosen = repeats[isMedian ? (repeats.size() - 1) / 2 : 0];
  const double instructions = static_cast<double>(chosen.instructions()), whole = static_cast<double>(chosen.tsc);
  result.value = value(chosen);
  result.min = value(repeats.front());
  result.max = value(repeats.back());
  if (chosen.told)
    result.idle = whole > 0 ? static_cast<double>(chosen.idle) / whole : 0;
  else
    result.idle = std::max(0.0, 1 - instructions / whole);
  result.latency = chosen.latency;
  result.segments = chosen.operations ? static_cast<double>(chosen.segments) / static_cast<double>(chosen.operations) : 0;
  result.user = instructions > 0 ? static_cast<double>(chosen.user) / instructions : 0;
  return result;
}

Record readTsv(const std::filesystem::path& file) {
  Record record;
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> heading = fieldsOf(line);
  while (std::getline(in, line)) {
    const std::vector<std::string> fields = fieldsOf(line);
    if (fields.size() != heading.size())
      throw std::runtime_error(file.string() + ": a line has " + std::to_string(fields.size()) + " fields: " + line);
    const TsvLine at(file, heading, fields);
    const auto setting = [&](const char* name) { return at[name] == "-" ? std::optional<bool>{} : at[name] == "on"; };
    const auto numberOr0 = [&](const char* name) { return at[name] == "-" ? 0 : std::stod(at[name]); };

    Configuration configuration{at["transport"],    std::stoi(at["mtu"]),  setting("crc"),
                                setting("markers"), std::stoi(at["cpus"]), at["large"] == "on"};
    if (at["delay"] != "-")
      configuration.delay = std::stoi(at["delay"]);
    configuration.slot = static_cast<int>(numberOr0("slot"));
    Result result;
    result.value = std::stod(at["value"]);
    result.min = std::stod(at["min"]);
    result.max = std::stod(at["max"]);
    result.user = std::stod(at["user"]);
    result.idle = std::stod(at["idle"]);
    result.latency = numberOr0("latency");
    result.segments = numberOr0("segments");
    result.measured = false;
    record[at["kernel"]][configuration.text() + " " + at["op"]] = result;
  }
  return record;
}

} // namespace bench

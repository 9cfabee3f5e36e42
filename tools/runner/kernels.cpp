// SPDX-License-Identifier: GPL-2.0
#include "kernels.hpp"

#include <fstream>

namespace runner {

using test::format;

Total totalOf(const std::vector<Line>& lines) {
  Total total;

  for (const auto& line : lines) {
    unsigned passed, failed, skipped;
    const std::size_t colon = line.name.find(": ");

    total.seconds += line.seconds;
    if (line.verdict == "FAIL" || total.verdict == "skip")
      total.verdict = line.verdict;
    if (colon != line.name.npos &&
        std::sscanf(line.name.c_str() + colon, ": %u passed, %u failed, %u not shown", &passed, &failed, &skipped) == 3) {
      total.passed += passed;
      total.failed += failed;
      total.skipped += skipped;
    } else {
      (line.verdict == "ok" ? total.passed : line.verdict == "skip" ? total.skipped : total.failed) += line.tests;
    }
  }
  return total;
}

Total totalOf(const std::vector<Line>& lines, const std::string& taps, const std::vector<std::string>& scenarios) {
  std::vector<Line> checks;

  for (const auto& name : scenarios) {
    const auto line = std::ranges::find(lines, name, &Line::name);

    if (line == lines.end()) {
      checks.push_back({"FAIL", name + " did not run", 0, 1, ""});
      continue;
    }
    std::ifstream tap(taps + "/" + name + ".tap");
    const auto said = linesOf(readTap(tap), name, 0, "");
    checks.insert(checks.end(), said.begin(), said.end());
    checks.push_back({line->verdict, name, line->seconds, said.empty() ? 1U : 0U, ""});
  }
  return totalOf(checks);
}

KernelTable::KernelTable(std::istream& in) {
  for (std::string line; std::getline(in, line);) {
    auto f = fields(line);
    f.resize(7);
    const auto number = [&](int i) { return static_cast<unsigned>(std::atoi(f[i].c_str())); };
    totals_[{f[0], f[1]}] = {f[2], number(3), number(4), number(5), std::atof(f[6].c_str())};
  }
}

std::string KernelTable::tsv() const {
  std::string out;

  for (const auto& [key, t] : totals_)
    out += format("%s\t%s\t%s\t%u\t%u\t%u\t%.0f\n", key.first.c_str(), key.second.c_str(), t.verdict.c_str(), t.passed, t.failed,
                  t.skipped, t.seconds);
  return out;
}

std::string KernelTable::text(std::vector<std::string> kernels, const std::vector<std::string>& stages,
                              const std::string& once) const {
  std::string out = "passed/failed/skipped; of conformance: requirements passed/failed/not shown\n" + format("%-12s", "stage");

  const auto named = kernels;
  for (const auto& [key, total] : totals_)
    if (std::ranges::find(kernels, key.first) == kernels.end() &&
        std::ranges::find(named, key.first.substr(0, key.first.find('/'))) != named.end())
      kernels.push_back(key.first);
  for (const auto& kernel : kernels)
    out += format(" %-16s", kernel.c_str());
  for (const auto& stage : stages) {
    out += "\n" + format("%-12s", stage.c_str());
    for (const auto& kernel : kernels) {
      const auto total = totals_.find({kernel, stage});
      std::string cell = stage == "kunit" && kernel != once ? "in " + once + " only" : "not run";

      if (total != totals_.end())
        cell =
            format("%s %u/%u/%u", total->second.verdict.c_str(), total->second.passed, total->second.failed, total->second.skipped);
      out += format(" %-16s", cell.c_str());
    }
  }
  return out + "\n";
}

bool KernelTable::failed(const std::vector<std::string>& kernels) const {
  return std::ranges::any_of(totals_, [&](const auto& entry) {
    return entry.second.verdict == "FAIL" && std::ranges::find(kernels, entry.first.first) != kernels.end();
  });
}

} // namespace runner

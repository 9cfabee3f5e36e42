// SPDX-License-Identifier: GPL-2.0
#include "verdicts.hpp"

#include <map>
#include <sstream>

namespace peer {

using test::format;
using test::Result;

namespace {

struct Requirement {
  bool passed = false, failed = false;
  std::string cases;
};

} // namespace

std::vector<std::string> byRequirement(const std::vector<Result>& results) {
  std::map<std::string, Requirement> requirements;
  std::vector<std::string> rows;

  for (const auto& r : results) {
    std::istringstream ids(r.shows);

    for (std::string id; ids >> id;) {
      auto& requirement = requirements[id];
      requirement.passed |= r.verdict == "ok";
      requirement.failed |= r.verdict == "FAIL";
      requirement.cases += " " + r.name;
    }
  }
  for (const auto& [id, r] : requirements)
    rows.push_back(format("%-12s %-9s%s", id.c_str(), r.failed ? "FAILED" : r.passed ? "passed" : "not shown", r.cases.c_str()));
  return rows;
}

} // namespace peer

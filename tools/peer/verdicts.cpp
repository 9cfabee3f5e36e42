// SPDX-License-Identifier: GPL-2.0
#include "verdicts.hpp"

#include <algorithm>
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

std::string escaped(const std::string& text) {
  std::string out;

  for (const char c : text)
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c >= 0x20 && c < 0x7f ? c : '?';
    }
  return out;
}

std::string seconds(test::milliseconds time) {
  return format("%.3f", static_cast<double>(time.count()) / 1000);
}

std::string testcase(const std::string& suite, const Result& r) {
  const std::string name = r.name + (r.shows.empty() ? "" : " [" + r.shows + "]");
  std::string element = format("    <testcase classname=\"%s\" name=\"%s\" time=\"%s\"", escaped(suite).c_str(),
                               escaped(name).c_str(), seconds(r.took).c_str());

  if (r.verdict == "ok")
    return element + "/>\n";
  return element +
         format("><%s message=\"%s\"/></testcase>\n", r.verdict == "skip" ? "skipped" : "failure", escaped(r.text).c_str());
}

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

std::string junit(const std::string& suite, const std::vector<Result>& results) {
  const auto count = [&](const char* verdict) { return std::to_string(std::ranges::count(results, verdict, &Result::verdict)); };
  std::string cases;
  test::milliseconds time{};

  for (const auto& r : results) {
    cases += testcase(suite, r);
    time += r.took;
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"" + escaped(suite) + "\" tests=\"" +
         std::to_string(results.size()) + "\" failures=\"" + count("FAIL") + "\" skipped=\"" + count("skip") + "\" time=\"" +
         seconds(time) + "\">\n" + cases + "  </testsuite>\n</testsuites>\n";
}

} // namespace peer

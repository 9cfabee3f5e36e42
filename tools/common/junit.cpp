// SPDX-License-Identifier: GPL-2.0
#include "junit.hpp"

namespace test {

namespace {

std::string escaped(std::string_view text) {
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
      out += c == '\n' || c == '\t' || (c >= 0x20 && c < 0x7f) ? c : '?';
    }
  return out;
}

std::string seconds(milliseconds time) {
  return format("%.3f", static_cast<double>(time.count()) / 1000);
}

std::string testcase(const std::string& suite, const Result& r) {
  const std::string name = r.name + (r.shows.empty() ? "" : " [" + r.shows + "]");
  const std::string element = format("    <testcase classname=\"%s\" name=\"%s\" time=\"%s\"", escaped(suite).c_str(),
                                     escaped(name).c_str(), seconds(r.took).c_str());

  if (r.verdict == "ok")
    return element + "/>\n";
  if (r.verdict == "skip")
    return element + "><skipped message=\"" + escaped(r.text) + "\"/></testcase>\n";
  return element + "><failure message=\"" + escaped(r.text.substr(0, r.text.find('\n'))) + "\">" + escaped(r.text) +
         "</failure></testcase>\n";
}

} // namespace

std::string junit(const std::vector<Suite>& suites) {
  std::string document = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";

  for (const auto& [name, results] : suites) {
    const auto count = [&](const char* verdict) { return std::ranges::count(results, verdict, &Result::verdict); };
    std::string cases;
    milliseconds time{};

    for (const auto& r : results) {
      cases += testcase(name, r);
      time += r.took;
    }
    document += format("  <testsuite name=\"%s\" tests=\"%zu\" failures=\"%td\" skipped=\"%td\" time=\"%s\">\n",
                       escaped(name).c_str(), results.size(), count("FAIL"), count("skip"), seconds(time).c_str()) +
                cases + "  </testsuite>\n";
  }
  return document + "</testsuites>\n";
}

} // namespace test

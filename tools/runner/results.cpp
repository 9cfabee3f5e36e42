// SPDX-License-Identifier: GPL-2.0
#include "results.hpp"

#include <deque>
#include <fstream>
#include <optional>
#include <sstream>

namespace runner {

using test::Result;
using test::Suite;

namespace {

constexpr std::size_t shownLines = 25; ///< of a failed test's log

std::string_view withoutBlanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

bool skip(std::string_view& text, std::string_view word) {
  const bool there = text.starts_with(word);

  text.remove_prefix(there ? word.size() : 0);
  return there;
}

/** The test of a line "[not ]ok [NUMBER] [- ]NAME[ # DIRECTIVE]"; nothing for another line. */
std::optional<Result> parseTest(std::string_view line) {
  line = withoutBlanks(line);
  const bool failed = skip(line, "not ");

  if (!skip(line, "ok ") && line != "ok")
    return {};
  line.remove_prefix(std::min(line.find_first_not_of("0123456789"), line.size()));
  line = withoutBlanks(line);
  skip(line, "- ");
  const std::size_t directive = std::min(line.find(" # "), line.size());
  std::string_view reason = line.substr(directive);
  const bool skipped = skip(reason, " # SKIP");

  return Result{std::string(line.substr(0, directive)),
                "",
                skipped  ? "skip"
                : failed ? "FAIL"
                         : "ok",
                skipped ? std::string(withoutBlanks(reason)) : "",
                {}};
}

Suite& suiteOf(std::vector<Suite>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Suite::name);

  return found == all.end() ? all.emplace_back(Suite{name, {}}) : *found;
}

} // namespace

std::vector<std::string> fields(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> list;

  for (std::string field; std::getline(in, field, '\t');)
    list.push_back(field);
  return list;
}

std::string lastLines(const std::string& file, std::size_t count) {
  std::ifstream in(file);
  std::deque<std::string> lines;
  std::string end;

  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
    if (lines.size() > count)
      lines.pop_front();
  }
  for (const auto& line : lines)
    end += line + "\n";
  return end;
}

std::vector<Line> readLines(std::istream& in) {
  std::vector<Line> lines;

  for (std::string line; std::getline(in, line);) {
    auto f = fields(line);
    f.resize(5);
    if (f[0] == "ok" || f[0] == "FAIL" || f[0] == "skip")
      lines.push_back({f[0], f[1], std::atof(f[2].c_str()), static_cast<unsigned>(std::atoi(f[3].c_str())), f[4]});
  }
  return lines;
}

std::string text(const Line& line) {
  return line.verdict + '\t' + line.name + '\t' + test::format("%.1f", line.seconds) + '\t' + std::to_string(line.tests) + '\t' +
         line.more + '\n';
}

std::vector<Result> readTap(std::istream& in) {
  std::vector<Result> tests;
  bool comments = false; // of the last test

  for (std::string line; std::getline(in, line);) {
    if (auto result = parseTest(line)) {
      tests.push_back(*result);
      comments = result->verdict == "FAIL";
      continue;
    }
    std::string_view rest = withoutBlanks(line);
    comments = comments && skip(rest, "#");
    if (comments)
      tests.back().text += std::string(withoutBlanks(rest)) + "\n";
  }
  return tests;
}

std::vector<Line> linesOf(const std::vector<Result>& tests, const std::string& name, double seconds, const std::string& log) {
  const auto count = [&](const char* verdict) {
    return static_cast<unsigned>(std::ranges::count(tests, verdict, &Result::verdict));
  };
  std::vector<Line> lines;

  for (const auto& one : tests)
    if (one.verdict == "FAIL") {
      lines.push_back({"FAIL", name + ": " + one.name, seconds, 1, log});
      std::ranges::replace(lines.back().name, '\t', ' ');
    }
  if (count("ok"))
    lines.push_back({"ok", name, seconds, count("ok"), ""});
  if (count("skip"))
    lines.push_back({"skip", name, seconds, count("skip"), "says so itself"});
  return lines;
}

std::vector<Line> rowsOf(std::istream& tap, const std::string& name, const std::string& log) {
  constexpr std::string_view took = "# seconds: ";
  std::vector<Line> lines;
  double seconds = 0;

  for (std::string line; std::getline(tap, line);) {
    if (line.starts_with(took))
      seconds = std::atof(line.c_str() + took.size());
    const auto row = line.starts_with(' ') ? std::nullopt : parseTest(line);
    if (!row)
      continue;
    lines.push_back({row->verdict, name + "/" + row->name, seconds, 1, row->verdict == "FAIL" ? log : row->text});
    seconds = 0;
  }
  return lines;
}

std::string spoiled(const std::string& tap, int status) {
  std::istringstream in(tap);
  std::string changed;
  bool failed = false;

  for (std::string line; std::getline(in, line);) {
    const auto result = parseTest(line);

    failed |= result && result->verdict == "FAIL";
    if (result && result->verdict == "ok")
      line = line.insert(line.find("ok"), "not ") + test::format("\n# the whole ended with status %d", status);
    changed += line + "\n";
  }
  return status == 0 || status == 77 || (status == 1 && failed) ? tap : changed;
}

std::vector<Suite> suites(std::istream& lines, const std::string& root, const std::vector<std::string>& files) {
  std::vector<Suite> all;

  for (std::string line; std::getline(lines, line);) {
    auto f = fields(line);
    f.resize(5);
    const auto took = std::chrono::duration_cast<test::milliseconds>(std::chrono::duration<double>(std::atof(f[3].c_str())));
    suiteOf(all, f[0]).results.push_back({f[2], "", f[1], f[1] == "FAIL" ? lastLines(f[4], shownLines) : f[4], took});
  }
  for (const auto& file : files) {
    std::ifstream in(file);
    std::string_view name = file;

    skip(name, root + "/");
    name.remove_suffix(name.ends_with(".tap") ? 4 : 0);
    if (auto tests = readTap(in); !tests.empty())
      all.push_back({std::string(name), std::move(tests)});
  }
  return all;
}

} // namespace runner

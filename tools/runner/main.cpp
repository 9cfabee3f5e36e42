// SPDX-License-Identifier: GPL-2.0
/** @file main.cpp @brief test-runner: what thinks in the scripts that run tests: guests, results, reports. scripts/lib.sh builds
 * it. */
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "guest.hpp"
#include "kernels.hpp"

namespace {

using namespace runner;
using Words = std::vector<std::string>;

const char* const help = R"(usage:
  test-runner series SLOWNESS RUNNER OUT [CLAIMS] <LIST         runs commands in guests: see scripts/series
  test-runner count TAP NAME SECONDS [LOG]                      prints a stage's lines for the tests of a file of TAP
  test-runner rows TAP NAME LOG                                 prints a stage's line for each test of TAP that is not in a subtest
  test-runner spoil TAP STATUS                                  fails the tests of TAP, when the whole has ended with STATUS
  test-runner junit LINES FOLDER [TAP]...                       prints a report as XML: the lines of all stages, and files below FOLDER
  test-runner book TABLE KERNEL STAGE LINES [TAPS SCENARIO...]  adds up lines of a stage, or checks of scenarios; puts them into TABLE
  test-runner table TABLE KERNELS STAGES ONCE                   prints TABLE; fails when it has a failure of one of KERNELS
)";

std::ifstream open(const std::string& file) {
  std::ifstream in(file);

  if (!in)
    throw std::runtime_error("cannot read " + file);
  return in;
}

std::string read(const std::string& file) {
  auto in = open(file);

  return {std::istreambuf_iterator(in), {}};
}

/** Replaces a file as a whole, so that one that is interrupted leaves the old. */
void replace(const std::string& file, const std::string& text) {
  if (!(std::ofstream(file + ".new") << text << std::flush))
    throw std::runtime_error("cannot write " + file + ".new");
  std::filesystem::rename(file + ".new", file);
}

Words words(const std::string& text) {
  std::istringstream in(text);

  return {std::istream_iterator<std::string>(in), {}};
}

/** A folder in CLAIMS is a command that a series has taken. */
Claim claim(const Words& w) {
  if (w.size() < 4)
    return [](const std::string&) { return true; };
  return
      [claims = std::filesystem::path(w[3])](const std::string& name) { return std::filesystem::create_directory(claims / name); };
}

int count(const Words& w) {
  auto tap = open(w[0]);

  for (const auto& line : linesOf(readTap(tap), w[1], std::stod(w[2]), w.size() > 3 ? w[3] : ""))
    std::cout << text(line);
  return 0;
}

int rows(const Words& w) {
  auto tap = open(w[0]);

  for (const auto& line : rowsOf(tap, w[1], w[2]))
    std::cout << text(line);
  return 0;
}

int junit(const Words& w) {
  auto lines = open(w[0]);

  std::cout << test::junit(suites(lines, w[1], {w.begin() + 2, w.end()}));
  return 0;
}

int book(const Words& w) {
  auto table = open(w[0]), in = open(w[3]);
  KernelTable all(table);
  const auto lines = readLines(in);

  all.book(w[1], w[2], w.size() > 4 ? totalOf(lines, w[4], {w.begin() + 5, w.end()}) : totalOf(lines));
  replace(w[0], all.tsv());
  return 0;
}

int table(const Words& w) {
  auto in = open(w[0]);
  const KernelTable all(in);

  std::cout << all.text(words(w[1]), words(w[2]), w[3]);
  return all.failed(words(w[1])) ? 1 : 0;
}

int execute(Words w) {
  const std::string command = w.empty() ? "" : w.front() + " " + std::to_string(std::min(w.size() - 1, std::size_t{5}));

  if (!w.empty())
    w.erase(w.begin());
  if (command == "series 3" || command == "series 4") {
    Series series(std::cin, std::stoi(w[0]), claim(w));
    return run(series, w[1], w[2]);
  }
  if (command == "count 3" || command == "count 4")
    return count(w);
  if (command == "rows 3")
    return rows(w);
  if (command == "spoil 2") {
    replace(w[0], spoiled(read(w[0]), std::stoi(w[1])));
    return 0;
  }
  if (command.starts_with("junit ") && w.size() > 1)
    return junit(w);
  if (command.starts_with("book ") && w.size() > 3)
    return book(w);
  if (command == "table 4")
    return table(w);
  std::cerr << help;
  return 64;
}

} // namespace

int main(int argc, char** argv) {
  return test::guarded("test-runner", [&] { return execute({argv + 1, argv + argc}); });
}

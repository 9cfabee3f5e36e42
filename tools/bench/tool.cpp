// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * bench_tool: the host's part of the benchmark. It says what a guest has to run, shows how far it
 * is, and makes tables, a plot and profiles of what the guests have left behind in one folder.
 */
#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <optional>
#include <stdexcept>

#include "../common/options.hpp"
#include "../common/testcase.hpp"
#include "profile.hpp"
#include "report.hpp"
#include "results.hpp"
#include "rows.hpp"

namespace bench {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string command;
  fs::path dir = ".";
  std::vector<std::string> transports;
  std::vector<std::string> selections;
  int repeats = 3;
  std::string kernel = "(release not given)";
  fs::path baseline;
  std::size_t functions = 40;
  Format format = Format::Text;
  bool profiled = false;

  std::vector<Row> rows() const { return selectRows(transports, selections); }
  fs::path file(const std::string& transport, const char* extension) const { return dir / (transport + extension); }
};

std::ofstream create(const fs::path& file) {
  std::ofstream out(file);
  if (!out)
    throw std::runtime_error("cannot write " + file.string());
  return out;
}

void close(std::ofstream& out, const fs::path& file) {
  out.close();
  if (!out)
    throw std::runtime_error("cannot write " + file.string() + " (is the disk full?)");
}

void plan(const Options& options) {
  const std::vector<Row> rows = options.rows();
  if (rows.empty())
    throw std::invalid_argument("no row is selected");
  for (const std::string& transport : options.transports) {
    if (!std::ranges::count(rows, transport, [](const Row& row) { return row.configuration.transport; }))
      continue;
    const fs::path file = options.file(transport, ".plan");
    std::ofstream out = create(file);
    writePlan(out, rows, transport, options.repeats, options.profiled);
    close(out, file);
    std::cout << transport << '\n';
  }
}

void list(const Options& options) {
  for (const Row& row : options.rows())
    std::cout << row.text() << '\n';
}

void progress(const Options& options) {
  const std::string transport = options.transports.front();
  const fs::path file = options.file(transport, ".console");
  const std::vector<Row> rows = selectRows({transport}, options.selections);
  std::ofstream copy = create(file);
  const Row* row = nullptr;
  std::size_t number = 0;
  double value = 0;

  for (std::string text; std::getline(std::cin, text);) {
    copy << text << std::endl;
    const GuestLine line = parseGuestLine(text);
    if (line.kind == GuestLine::Kind::Begin) {
      const auto found = std::ranges::find(rows, line.row, &Row::text);
      row = found == rows.end() ? nullptr : &*found;
      ++number;
    } else if (line.kind == GuestLine::Kind::Result && row) {
      const Repeat& repeat = line.repeat;
      value = static_cast<double>(repeat.tsc) /
              static_cast<double>(std::max<std::uint64_t>(1, row->operation->perOctet ? repeat.octets : repeat.operations));
    } else if (line.kind == GuestLine::Kind::End && row) {
      std::cerr << "  [" << std::setw(2) << number << '/' << rows.size() << "] " << std::left << std::setw(40) << row->text()
                << std::right
                << (line.outcome.empty() ? formatValue(*row->operation, value) + " / " + std::string(row->operation->unit)
                                         : "FAILED: " + line.outcome)
                << std::endl;
      row = nullptr;
    }
  }
  close(copy, file);
}

/** The results of every guest that has run. */
Results collect(const Options& options, const std::vector<Row>& rows) {
  Results results;
  for (const std::string& transport : options.transports) {
    const fs::path console = options.file(transport, ".console");
    if (!fs::exists(console))
      continue;
    std::vector<RowRepeats> measured;
    try {
      measured = readGuest(console, options.file(transport, ".counts"));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(transport + ": " + error.what());
    }
    for (const RowRepeats& repeats : measured)
      if (const auto row = std::ranges::find(rows, repeats.row, &Row::text); row != rows.end())
        results[row->text()] = summarize(*row, repeats);
    for (const Row& row : rows)
      if (row.configuration.transport == transport && !results.contains(row.text()))
        results[row.text()].failure = "the guest ended before it";
  }
  return results;
}

/** @return 0, or 1 when a row has failed. */
int report(const Options& options) {
  const std::vector<Row> rows = options.rows();
  Results results = collect(options, rows);
  if (!options.baseline.empty()) {
    Results known = readTsv(options.baseline);
    std::erase_if(known, [](const auto& entry) { return entry.first.starts_with("iwmpa "); });
    results.merge(known);
  }

  const fs::path table = options.dir / "bench.tsv";
  std::ofstream tsv = create(table);
  writeTsv(tsv, rows, results);
  close(tsv, table);
  const fs::path plot = options.dir / "bench.gp";
  std::ofstream gnuplot = create(plot);
  writePlot(gnuplot, results, "bench");
  close(gnuplot, plot);

  writeTables(std::cout, rows, results, {options.kernel}, options.format);
  return std::ranges::any_of(results, [](const auto& entry) { return !entry.second.failure.empty(); });
}

void profile(const Options& options) {
  const std::vector<Row> rows = options.rows();
  for (const std::string& transport : options.transports)
    if (fs::exists(options.file(transport, ".console")))
      writeProfile(std::cout, rows,
                   {options.file(transport, ".console"), options.file(transport, ".counts"), options.dir / "kernel.symbols"},
                   options.functions);
}

/** Returns the exit status when there is nothing to do. */
std::optional<int> parse(int argc, char** argv, Options& o) {
  test::Options options(
      R"(usage: bench_tool COMMAND [options]
  plan       write DIR/TRANSPORT.plan, the commands for each guest that has rows to run; print those transports
  list       print the selected rows
  progress   copy a guest's output from stdin to DIR/TRANSPORT.console, and show each row's result as it comes
  report     print the tables; write DIR/bench.tsv and DIR/bench.gp
  profile    print where the instructions of each row went
Options:
)",
      {{"dir", "DIR", "the folder of all files (default .)", test::text(o.dir), 'd'},
       {"transport", "NAME", "tcp, siw or iwmpa; may be repeated (default: all)",
        [&](const std::string& value) { o.transports.push_back(value); }, 't'},
       {"rows", "SELECTION", "words that a row has to have, such as \"iwmpa 1500 crc=1 markers=0 write\"; may be repeated",
        [&](const std::string& value) { o.selections.push_back(value); }, 'r'},
       {"repeats", "N", "measure each row N times (default 3)", test::number(o.repeats, 1, 1000), 'n'},
       {"kernel", "RELEASE", "the kernel release, for the report", test::text(o.kernel), 'k'},
       {"baseline", "TSV", "an earlier table: siw and TCP for the ratios of rows that were measured alone", test::text(o.baseline),
        'b'},
       {"functions", "N", "length of a profile (default 40)", test::number(o.functions, 1, 1000), 'f'},
       {"markdown", nullptr, "tables in Markdown", [&](const std::string&) { o.format = Format::Markdown; }, 'M'},
       {"profiled", nullptr, "plan for a profile", test::flag(o.profiled), 'P'}},
      "");
  std::vector<std::string> operands;

  if (const auto status = options.parse(argc, argv, operands))
    return status;
  if (operands.size() != 1)
    throw std::invalid_argument("one command is wanted: see bench_tool --help");
  o.command = operands.front();
  if (o.transports.empty())
    o.transports = {"tcp", "siw", "iwmpa"};
  return {};
}

int run(const Options& options) {
  if (options.command == "plan")
    plan(options);
  else if (options.command == "list")
    list(options);
  else if (options.command == "progress")
    progress(options);
  else if (options.command == "report")
    return report(options);
  else if (options.command == "profile")
    profile(options);
  else
    throw std::invalid_argument("there is no command '" + options.command + "': see bench_tool --help");
  return 0;
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  return test::guarded("bench_tool", [&] {
    bench::Options options;
    const auto status = bench::parse(argc, argv, options);

    return status ? *status : bench::run(options);
  });
}

// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * bench_tool: the host's part of the benchmark. It writes the plans for the guests, shows their progress,
 * and makes tables, plots and profiles from the files that the guests have left in one folder.
 */
#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "../common/options.hpp"
#include "../common/testcase.hpp"
#include "document.hpp"
#include "plot.hpp"
#include "profile.hpp"
#include "report.hpp"
#include "results.hpp"
#include "rows.hpp"
#include "scale.hpp"

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr double tolerated = 0.03;
constexpr std::string_view firstSeries = "6.1"; // the only kernel of some tables: it has siw, and a profile by layer

struct Options {
  std::string command;
  std::vector<std::string> operands; ///< guests, or the documents of record
  fs::path dir = ".";
  std::vector<std::string> selections;
  int repeats = 0;
  std::string kernel;
  fs::path committed;
  std::string series;
  fs::path layerTable;
  std::size_t functions = 40;
  Format format = Format::Text;
  bool profiled = false;

  std::vector<Row> rows() const { return selectRows(selections); }
  fs::path file(const std::string& guest, const char* extension) const { return dir / (guest + extension); }
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
  for (const std::string& guest : guestsOf(rows)) {
    const fs::path file = options.file(guest, ".plan");
    std::ofstream out = create(file);
    writePlan(out, rows, guest, options.repeats, options.profiled);
    close(out, file);
    std::cout << guest << '\n';
  }
}

void list(const Options& options) {
  for (const Row& row : options.rows())
    std::cout << row.text() << '\n';
}

void progress(const Options& options) {
  if (options.operands.size() != 1)
    throw std::invalid_argument("progress wants a guest");
  const std::string& guest = options.operands.front();
  const fs::path file = options.file(guest, ".console");
  std::vector<Row> rows = options.rows();
  std::erase_if(rows, [&](const Row& row) { return row.guest() != guest; });
  std::ofstream copy = create(file);
  GuestParser parser(guest.starts_with("native"));
  const Row* row = nullptr;
  double value = 0;

  for (std::string text; std::getline(std::cin, text);) {
    copy << text << std::endl;
    const GuestLine line = parser.feed(text);
    if (line.kind == GuestLine::Kind::Begin) {
      const auto found = std::ranges::find(rows, line.row, &Row::text);
      row = found == rows.end() ? nullptr : &*found;
    } else if (line.kind == GuestLine::Kind::Result && row) {
      const Repeat& repeat = line.repeat;
      value = static_cast<double>(repeat.tsc) /
              static_cast<double>(std::max<std::uint64_t>(1, row->operation->perOctet ? repeat.octets : repeat.operations));
    } else if (line.kind == GuestLine::Kind::End && row) {
      // When one run has the results of several rows, only the report tells which result belongs to which row.
      const Operation& operation = *row->operation;
      const std::string outcome =
          operation.part.empty() ? formatValue(operation, value) + " / " + std::string(operation.unit) : "measured";
      const auto number = row - rows.data() + 1; // rows of the table cpus come once in each round
      std::cerr << "  [" << std::setw(2) << number << '/' << rows.size() << "] " << std::left << std::setw(72) << row->text()
                << std::right << (line.outcome.empty() ? outcome : "FAILED: " + line.outcome) << std::endl;
      row = nullptr;
    }
  }
  close(copy, file);
}

/** The results of all guests that have run. */
Results collect(const Options& options, const std::vector<Row>& rows) {
  Results results;
  for (const std::string& guest : options.operands) {
    const fs::path console = options.file(guest, ".console");
    if (!fs::exists(console))
      continue;
    std::vector<RowRepeats> measured;
    try {
      measured = readGuest(console, guest.starts_with("native") ? fs::path() : options.file(guest, ".counts"));
    } catch (const std::exception& error) {
      throw std::runtime_error(guest + ": " + error.what());
    }
    std::set<std::string> skipped;
    for (const RowRepeats& repeats : measured)
      if (repeats.skipped)
        skipped.insert(repeats.row);
      else if (const auto row = std::ranges::find(rows, repeats.row, &Row::text); row != rows.end())
        results[row->text()] = summarize(*row, repeats);
    for (const Row& row : rows)
      if (row.guest() == guest && !results.contains(row.text()) && !skipped.contains(row.text()))
        results[row.text()].failure = "the guest ended before it";
  }
  return results;
}

/** The current measurements: written to DIR/bench.tsv, and read again by compare and record. */
Results measuredNow(const Options& options) {
  Results results = readTsv(options.dir / "bench.tsv")[options.series];
  for (auto& [row, result] : results)
    result.measured = true;
  return results;
}

/** The committed figures of all kernels. */
fs::path recordFile(const Options& options) {
  return options.committed / "performance.tsv";
}

/** @return 0, or 1 when a row failed. */
int report(const Options& options) {
  const std::vector<Row> rows = options.rows();
  const Results measured = collect(options, rows);
  const fs::path table = options.dir / "bench.tsv";
  std::ofstream tsv = create(table);
  writeTsv(tsv, rows, {{options.series, measured}});
  close(tsv, table);

  Results results = measured;
  if (!options.committed.empty()) {
    Results known = readTsv(recordFile(options))[options.series];
    std::erase_if(known, [](const auto& entry) { return entry.first.starts_with("iwmpa "); });
    results.merge(known);
  }
  writeTables(std::cout, rows, results, {options.kernel}, options.format);
  return std::ranges::any_of(results, [](const auto& entry) { return !entry.second.failure.empty(); });
}

Layers readLayers(const Options& options) {
  std::ifstream in(options.layerTable);
  if (!in)
    throw std::runtime_error("cannot read the table of layers '" + options.layerTable.string() + "'");
  return Layers(in);
}

void profile(const Options& options) {
  const std::vector<Row> rows = options.rows();
  const Layers layers = readLayers(options);
  std::map<std::string, LayerCosts> costs;
  for (const std::string& guest : options.operands)
    if (fs::exists(options.file(guest, ".console")))
      costs.merge(writeProfile(std::cout, rows,
                               {options.file(guest, ".console"), options.file(guest, ".counts"), options.dir / "kernel.symbols"},
                               options.functions, layers));
  const fs::path file = options.dir / "layers.tsv";
  std::ofstream out = create(file);
  writeLayersTsv(out, costs);
  close(out, file);
}

/** @return 0, or 1 when a row got worse. */
int compare(const Options& options) {
  const Results before = readTsv(recordFile(options))[options.series];
  return writeWorse(std::cout, options.rows(), before, measuredNow(options), tolerated) > 0;
}

std::string readAll(const fs::path& file) {
  std::ifstream in(file);
  if (!in)
    throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

/** The rows that match any of the selections, of every table: not only of those measured by default. */
std::vector<Row> everyRow(std::vector<std::string> selections = {}) {
  std::vector<std::string> named;
  if (selections.empty())
    selections = {""};
  for (const Table& table : tables())
    for (const std::string& selection : selections)
      named.push_back(selection + ' ' + std::string(table.name));
  return selectRows(named);
}

/** Prints the recorded figures of a kernel series, or of those that begin with it ("7": 7.3); without one, of all. */
void showTables(const Options& options) {
  const std::vector<Row> rows = everyRow(options.selections);
  const std::string& wanted = options.series;
  bool known = false;
  for (const auto& [series, results] : readTsv(recordFile(options))) {
    if (!wanted.empty() && series != wanted && !series.starts_with(wanted + '.'))
      continue;
    known = true;
    std::cout << (options.format == Format::Markdown ? "## " : "") << "Linux " << series << "\n\n";
    for (const Table& table : tables())
      writeTable(std::cout, table, rows, results, options.format);
  }
  if (!known)
    throw std::runtime_error("the record has no figures of Linux " + wanted);
}

std::map<std::string, LayerCosts> recordLayers(const Options& options) {
  const fs::path file = options.committed / "performance.layers.tsv";
  std::map<std::string, LayerCosts> costs;
  if (options.series == firstSeries)
    costs = readLayersTsv(options.dir / "layers.tsv");
  costs.merge(readLayersTsv(file));
  std::ofstream out = create(file);
  writeLayersTsv(out, costs);
  close(out, file);
  return costs;
}

/** Merges the new measurements with the committed figures, and regenerates the documents. */
void record(const Options& options) {
  const std::vector<Row> rows = everyRow();
  const Layers layers = readLayers(options);
  const std::map<std::string, LayerCosts> costs = recordLayers(options);
  Record known = readTsv(recordFile(options));
  Results measured = measuredNow(options);
  measured.merge(known[options.series]);
  known[options.series] = std::move(measured);
  std::ofstream tsv = create(recordFile(options));
  writeTsv(tsv, rows, known);
  close(tsv, recordFile(options));

  known = readTsv(recordFile(options)); // the documents show what is recorded
  const fs::path plot = options.dir / "bench.gp";
  std::ofstream gnuplot = create(plot);
  writePlots(gnuplot, known);
  close(gnuplot, plot);

  const Results& first = known[std::string(firstSeries)];
  const auto make = [&](const std::string& name) {
    std::ostringstream out;
    if (name == "compared-all")
      writeCompared(out, known);
    else if (name == "time")
      writeTime(out, known);
    else if (name == "secure")
      writeSecure(out, known["6.12"]);
    else if (name == "connections")
      writeConnections(out, first);
    else if (name == "layers")
      writeLayersTable(out, rows, costs, layers);
    else if (!writeScale(out, name, first))
      throw std::runtime_error("there is no table '" + name + "'");
    return out.str();
  };
  for (const fs::path document : options.operands) {
    const std::string text = replaceParts(readAll(document), make);
    std::ofstream out = create(document);
    out << text;
    close(out, document);
  }
}

/** Returns the exit status when no work is left to do. */
std::optional<int> parse(int argc, char** argv, Options& o) {
  test::Options options(
      R"(usage: bench_tool COMMAND [options]
  plan               write DIR/GUEST.plan, the commands for each guest that has rows to run; print those guests
  list               print the selected rows
  progress GUEST     copy a guest's output from stdin to DIR/GUEST.console, and show each row's result when it arrives
  report GUEST...    print the tables; write DIR/bench.tsv
  profile GUEST...   print the instructions of each row by layer and by function; write DIR/layers.tsv
  compare            print the rows of DIR/bench.tsv that cost over 3 % more than in the committed table; 1 when there are any
  tables             print the tables of the committed figures: with --series, of that kernel only
  record FILE...     join DIR/bench.tsv and DIR/layers.tsv with the committed tables; write DIR/bench.gp, and the tables in
                     each document anew
Options:
)",
      {{"dir", "DIR", "the folder of all files (default .)", test::text(o.dir), 'd'},
       {"rows", "SELECTION", "words that a row must have, such as \"iwmpa 1500 crc=1 markers=0 write\"; may be repeated",
        [&](const std::string& value) { o.selections.push_back(value); }, 'r'},
       {"repeats", "N", "measure each row N times (default 3; table cpus: 5)", test::number(o.repeats, 1, 1000), 'n'},
       {"kernel", "RELEASE", "the kernel release, for the report", test::text(o.kernel), 'k'},
       {"committed", "FOLDER",
        "where performance.tsv is: siw and TCP for the ratios of rows that were measured alone; what compare compares with, what "
        "tables shows, what record joins",
        test::text(o.committed), 'c'},
       {"series", "SERIES", "the series of the kernel that was measured, such as 6.12", test::text(o.series), 's'},
       {"layers", "FILE", "the table of functions and their layers, for profile and record", test::text(o.layerTable), 'L'},
       {"functions", "N", "length of a profile (default 40)", test::number(o.functions, 1, 1000), 'f'},
       {"markdown", nullptr, "tables in Markdown", [&](const std::string&) { o.format = Format::Markdown; }, 'M'},
       {"profiled", nullptr, "plan for a profile", test::flag(o.profiled), 'P'}},
      "");

  if (const auto status = options.parse(argc, argv, o.operands))
    return status;
  if (o.operands.empty())
    throw std::invalid_argument("no command given: see bench_tool --help");
  o.command = o.operands.front();
  o.operands.erase(o.operands.begin());
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
  else if (options.command == "compare")
    return compare(options);
  else if (options.command == "tables")
    showTables(options);
  else if (options.command == "record")
    record(options);
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

// SPDX-License-Identifier: GPL-2.0
#include "plot.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <ostream>
#include <vector>

#include "report.hpp"

namespace bench {
namespace {

/** Bars of one colour. */
struct Series {
  std::string_view title;
  std::string_view colour;
  Configuration configuration;
};

const std::array allSeries{
    Series{"no delay", "#a6d8c8", {"iwmpa", 1500, true, false, 1, false, 0}},
    Series{"20 µs each way", "#1b9e77", {"iwmpa", 1500, true, false, 1, false, 20}},
    Series{"100 µs each way", "#0b5345", {"iwmpa", 1500, true, false, 1, false, 100}},
    Series{"20 µs, packets in bunches", "#f6c28b", {"iwmpa", 1500, true, false, 1, false, 20, 20}},
    Series{"20 µs, MTU 9000", "#d95f02", {"iwmpa", 9000, true, false, 1, false, 20}},
    Series{"20 µs, large FPDUs", "#7570b3", {"iwmpa", 1500, true, false, 1, true, 20}},
};

constexpr std::array<std::string_view, 2> kernels{"6.1", "6.12"};

/** The bars of one kernel. */
struct Chart {
  std::string_view kernel;
  std::vector<std::array<double, allSeries.size()>> figures; ///< by operation and series; 0: none

  bool has(std::size_t series) const {
    return std::ranges::any_of(figures, [&](const auto& bars) { return bars[series] > 0; });
  }
};

Chart makeChart(std::string_view kernel, const std::vector<const Operation*>& operations, const Results& results) {
  Chart chart{kernel, {}};
  for (const Operation* operation : operations) {
    auto& bars = chart.figures.emplace_back();
    std::ranges::transform(allSeries, bars.begin(),
                           [&](const Series& series) { return ratio({0, series.configuration, operation}, results, "tcp"); });
  }
  return chart;
}

std::string labelOf(const Operation& operation) {
  const Io io = ioOf(operation).value();
  return io.octets + ' ' + io.direction + "\\ndepth " + io.depth;
}

/** Writes one plot: its charts side by side, and one legend for all. No output without a figure. */
void writePlot(std::ostream& out, const Table& table, const Record& record) {
  std::vector<const Operation*> shown;
  for (const Operation& operation : operations())
    if (operation.table == &table)
      shown.push_back(&operation);
  std::vector<Chart> charts;
  for (const std::string_view kernel : kernels)
    if (const auto results = record.find(std::string(kernel)); results != record.end())
      charts.push_back(makeChart(kernel, shown, results->second));
  std::vector<std::size_t> used;
  for (std::size_t k = 0; k < allSeries.size(); ++k)
    if (std::ranges::any_of(charts, [&](const Chart& chart) { return chart.has(k); }))
      used.push_back(k);
  std::erase_if(charts, [&](const Chart& chart) { return std::ranges::none_of(used, [&](auto k) { return chart.has(k); }); });
  if (charts.empty())
    return;

  for (std::size_t i = 0; i < charts.size(); ++i) {
    out << "$chart" << i << " << EOD\n";
    for (std::size_t group = 0; group < shown.size(); ++group) {
      out << '"' << labelOf(*shown[group]) << '"';
      for (const std::size_t k : used) {
        const double figure = charts[i].figures[group][k];
        figure > 0 ? out << ' ' << figure : out << " ?";
      }
      out << '\n';
    }
    out << "EOD\n";
  }
  // A label is up to 130 pixels wide.
  out << "set terminal svg size " << std::max<std::size_t>(1600, 130 * charts.size() * shown.size()) << ",520 background 'white'\n"
      << "set output '" << table.name << ".svg'\nset multiplot layout 1," << charts.size()
      << "\nset margins -1, -1, -1, -1\nset bmargin at screen 0.2\nset yrange [0:1.1<*]\n";
  const auto style = [](std::size_t k) { return " lc rgb '" + std::string(allSeries[k].colour) + '\''; };
  const std::string line = " with lines lc rgb '#555555' dt 2";
  for (std::size_t i = 0; i < charts.size(); ++i) {
    out << "set title 'Linux " << charts[i].kernel << ": cost of an I/O over iwmpa, TCP = 1'\nplot ";
    for (std::size_t k = 0; k < used.size(); ++k)
      if (charts[i].has(used[k]))
        out << "$chart" << i << " using " << k + 2 << ":xtic(1)" << style(used[k]) << ", \\\n  ";
    out << '1' << line << '\n';
  }
  // The legend is a plot of its own, because a plot's legend is not wider than its axes.
  out << "set key center horizontal maxrows 1\nunset title\nunset border\nunset tics\nset margins 0, 0, 0, 0\n"
         "set size 1,0.1\nset origin 0,0\nplot [0:1][0:1] ";
  for (const std::size_t k : used)
    out << "NaN with boxes" << style(k) << " title '" << allSeries[k].title << "', \\\n  ";
  out << "NaN" << line << " title '" << (table.subject() == "nvme" ? "TCP with digests" : "TCP")
      << "'\nunset multiplot\nset output\nset border\nset tics\nunset key\n";
}

} // namespace

void writePlots(std::ostream& out, const Record& record) {
  out << std::fixed << std::setprecision(4)
      << "set encoding utf8\nset datafile missing '?'\nset style data histograms\nset style histogram clustered gap 1\n"
         "set style fill solid 0.9 border -1\nset format y '%.10g'\nset grid ytics\nunset key\n";
  for (const Table& table : tables())
    if (table.group == "link")
      writePlot(out, table, record);
}

} // namespace bench

// SPDX-License-Identifier: GPL-2.0
#include "plot.hpp"

#include <algorithm>
#include <functional>
#include <iomanip>
#include <iterator>
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

const std::vector<Series> transportSeries{
    {"TCP", "#999999", {"tcp", 0, {}, {}}},
    {"TCP", "#999999", {"tcp", 0, false, {}}},
    {"TCP, digests", "#555555", {"tcp", 0, true, {}}},
    {"siw", "#f6c28b", {"siw", 0, false, {}}},
    {"siw, CRC", "#d95f02", {"siw", 0, true, {}}},
    {"iwmpa", "#a6d8c8", {"iwmpa", 0, false, false}},
    {"iwmpa, CRC", "#1b9e77", {"iwmpa", 0, true, false}},
    {"iwmpa, CRC and Markers", "#0b5345", {"iwmpa", 0, true, true}},
    {"iwmpa, CRC, large FPDUs", "#7570b3", {"iwmpa", 0, true, false, 1, true}},
};

const std::vector<Series> linkSeries{
    {"no delay", "#a6d8c8", {"iwmpa", 1500, true, false, 1, false, 0}},
    {"20 µs each way", "#1b9e77", {"iwmpa", 1500, true, false, 1, false, 20}},
    {"100 µs each way", "#0b5345", {"iwmpa", 1500, true, false, 1, false, 100}},
    {"20 µs, packets in bunches", "#f6c28b", {"iwmpa", 1500, true, false, 1, false, 20, 20}},
    {"20 µs, MTU 9000", "#d95f02", {"iwmpa", 9000, true, false, 1, false, 20}},
    {"20 µs, large FPDUs", "#7570b3", {"iwmpa", 1500, true, false, 1, true, 20}},
};

/** Bars of one operation. */
struct Group {
  std::string_view operation;
  std::string_view label = {}; ///< empty: made of the operation's name
};

/** Groups side by side below one title. */
struct Panel {
  std::string_view table;
  std::string_view title;
  std::vector<Group> groups;
  int mtu = 1500;
  int cpus = 1;
};

const std::vector<Group> bulk{{"write", "WRITE 64 KiB"}, {"read", "READ 64 KiB"}, {"send", "SEND 64 KiB"}};
const std::vector<Group> small{{"send64", "SEND"},
                               {"list64", "lists of\\nSENDs"},
                               {"rtt64", "round trip"},
                               {"k64", "SEND,\\nkernel"},
                               {"krtt", "round trip,\\nkernel"}};
const std::vector<Group> memory{
    {"idle", "idle, one end"}, {"once-busy", "once busy, one end"}, {"half-open", "half-open, both ends"}};
const std::vector<Group> parallel{{"cpus-write-1", "WRITE\\n1 connection"},
                                  {"cpus-write-8", "WRITE\\n8 connections"},
                                  {"cpus-send-1", "SEND\\n1 connection"},
                                  {"cpus-send-8", "SEND\\n8 connections"}};

const std::vector<Panel> allPanels{
    {"verbs", "MTU 1500: instructions per octet", bulk},
    {"verbs", "MTU 65536: instructions per octet", bulk, 65536},
    {"verbs", "64 B, MTU 1500: instructions each", small},
    {"nvme",
     "NVMe, 4 KiB: instructions per I/O",
     {{"nvme-read-4k-1"}, {"nvme-read-4k-32"}, {"nvme-write-4k-1"}, {"nvme-write-4k-32"}}},
    {"nvme", "NVMe, 128 KiB: instructions per I/O", {{"nvme-read-128k-8"}, {"nvme-write-128k-8"}}},
    {"nfs", "NFS, 4 KiB: instructions per I/O", {{"nfs-read-4k-1"}, {"nfs-read-4k-16"}, {"nfs-write-4k-1"}, {"nfs-write-4k-16"}}},
    {"nfs", "NFS, 1 MiB: instructions per I/O", {{"nfs-read-1m-4"}, {"nfs-write-1m-4"}}},
    {"connections", "A connection: instructions", {{"connect", "connect"}, {"disconnect", "disconnect"}}},
    {"connections", "Memory of 4 KiB: instructions", {{"register", "register"}, {"deregister", "deregister"}}},
    {"memory", "A connection: octets of kernel memory", memory},
    {"cpus", "64 KiB, 1 CPU: ns per octet", parallel},
    {"cpus", "64 KiB, 2 CPUs: ns per octet", parallel, 1500, 2},
    {"cpus", "64 KiB, 4 CPUs: ns per octet", parallel, 1500, 4},
};

/** A panel with its figures; 0: none. */
struct Chart {
  std::string title;
  std::vector<std::string> labels;
  std::vector<std::vector<double>> figures; ///< by group and series
};

std::string labelOf(const Group& group) {
  const auto operation = std::ranges::find(operations(), group.operation, &Operation::name);
  if (!group.label.empty())
    return std::string(group.label);
  const Io io = ioOf(*operation).value();
  return io.octets + ' ' + io.direction + "\\ndepth " + io.depth;
}

/** @param figure the figure of a configuration and an operation */
Chart makeChart(const std::string& title, const std::vector<Group>& groups, const std::vector<Series>& series,
                const std::function<double(Configuration, std::string_view operation)>& figure) {
  Chart chart{title, {}, {}};
  for (const Group& group : groups) {
    chart.labels.push_back(labelOf(group));
    chart.figures.emplace_back();
    for (const Series& s : series)
      chart.figures.back().push_back(figure(s.configuration, group.operation));
  }
  return chart;
}

/**
 * Writes one plot: its charts side by side, and one legend for all. No output without a figure.
 * @param baseline title of a line at 1; empty: no line
 */
void writePlot(std::ostream& out, std::string_view name, std::vector<Chart> charts, const std::vector<Series>& series,
               const std::string& baseline = "") {
  const auto shown = [&](std::size_t k) {
    return [k](const Chart& chart) { return std::ranges::any_of(chart.figures, [k](const auto& row) { return row[k] > 0; }); };
  };
  std::vector<std::size_t> used;
  for (std::size_t k = 0; k < series.size(); ++k)
    if (std::ranges::any_of(charts, shown(k)))
      used.push_back(k);
  std::erase_if(charts, [&](const Chart& chart) { return std::ranges::none_of(used, [&](auto k) { return shown(k)(chart); }); });
  if (charts.empty())
    return;

  const auto block = [&](std::size_t chart) {
    std::string text = "$" + std::string(name) + std::to_string(chart);
    std::ranges::replace(text, '-', '_');
    return text;
  };
  for (std::size_t i = 0; i < charts.size(); ++i) {
    out << block(i) << " << EOD\n";
    for (std::size_t group = 0; group < charts[i].labels.size(); ++group) {
      out << '"' << charts[i].labels[group] << '"';
      for (const std::size_t k : used) {
        const double figure = charts[i].figures[group][k];
        figure > 0 ? out << ' ' << figure : out << " ?";
      }
      out << '\n';
    }
    out << "EOD\n";
  }
  std::size_t labels = 0;
  for (const Chart& chart : charts)
    labels += chart.labels.size();
  // A label is up to 130 pixels wide.
  const std::string size = std::to_string(std::max<std::size_t>(1600, 130 * labels)) + ",520";
  out << "do for [kind in \"png svg\"] {\n"
         "if (kind eq 'png') { set terminal png size "
      << size << " } else { set terminal svg size " << size << " background 'white' }\n"
      << "set output '" << name << ".'.kind\nset multiplot layout 1," << charts.size()
      << "\nset margins -1, -1, -1, -1\nset bmargin at screen 0.2\nset yrange [0:" << (baseline.empty() ? "*]\n" : "1.1<*]\n");
  const auto plot = [&](const char* options, std::vector<std::string> parts) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      out << (i ? ", \\\n  " : options) << parts[i];
    out << '\n';
  };
  const auto style = [&](std::size_t k) { return " lc rgb '" + std::string(series[k].colour) + '\''; };
  const std::string line = " with lines lc rgb '#555555' dt 2";
  for (std::size_t i = 0; i < charts.size(); ++i) {
    std::vector<std::string> parts;
    for (std::size_t k = 0; k < used.size(); ++k)
      if (shown(used[k])(charts[i]))
        parts.push_back(block(i) + " using " + std::to_string(k + 2) + ":xtic(1)" + style(used[k]));
    if (!baseline.empty())
      parts.push_back("1" + line);
    out << "set title '" << charts[i].title << "'\n";
    plot("plot ", parts);
  }
  // The legend is a plot of its own, because a plot's legend is not wider than its axes.
  std::vector<std::string> parts;
  for (const std::size_t k : used)
    parts.push_back("NaN with boxes" + style(k) + " title '" + std::string(series[k].title) + '\'');
  if (!baseline.empty())
    parts.push_back("NaN" + line + " title '" + baseline + '\'');
  out << "set key center horizontal maxrows 1\nunset title\nunset border\nunset tics\nset margins 0, 0, 0, 0\n"
         "set size 1,0.1\nset origin 0,0\n";
  plot("plot [0:1][0:1] ", parts);
  out << "unset multiplot\nset output\nset border\nset tics\nunset key\n}\n";
}

} // namespace

bool hasPlot(const Table& table) {
  return std::ranges::any_of(allPanels, [&](const Panel& panel) { return panel.table == table.name; });
}

void writePlots(std::ostream& out, const Results& results, const std::map<std::string, Results>& links) {
  out << std::fixed << std::setprecision(4)
      << "set encoding utf8\nset datafile missing '?'\nset style data histograms\nset style histogram clustered gap 1\n"
         "set style fill solid 0.9 border -1\nset format y '%.10g'\nset grid ytics\nunset key\n";
  for (const Table& table : tables()) {
    std::vector<Chart> charts;
    for (const Panel& panel : allPanels)
      if (panel.table == table.name)
        charts.push_back(makeChart(std::string(panel.title), panel.groups, transportSeries, [&](Configuration c, auto operation) {
          c.mtu = panel.mtu;
          c.cpus = panel.cpus;
          const Result* const result = find(results, c.text() + " " + std::string(operation));
          return result ? result->value : 0;
        }));
    writePlot(out, table.name, charts, transportSeries);
    if (table.group != "link")
      continue;
    std::vector<Group> groups;
    for (const Operation& operation : operations())
      if (operation.table == &table)
        groups.push_back({operation.name});
    for (const auto& [kernel, figures] : links)
      charts.push_back(makeChart("Linux " + kernel + ": cost of an I/O over iwmpa, TCP = 1", groups, linkSeries,
                                 [&](const Configuration& c, auto operation) {
                                   return ratio({0, c, &*std::ranges::find(operations(), operation, &Operation::name)}, figures,
                                                "tcp");
                                 }));
    writePlot(out, table.name, charts, linkSeries, table.subject() == "nvme" ? "TCP with digests" : "TCP");
  }
}

} // namespace bench

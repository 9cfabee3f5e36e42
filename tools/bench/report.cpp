// SPDX-License-Identifier: GPL-2.0
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace bench {
namespace {

constexpr double toleratedSpread = 0.01; // plus or minus 0.5 %
constexpr double notableIdle = 0.02;

using Line = std::vector<std::string>;

std::string fixed(double value, int decimals) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(decimals) << value;
  return out.str();
}

std::string percent(double share) {
  return fixed(100 * share, 1) + " %";
}

std::string setting(std::optional<bool> value) {
  return value ? (*value ? "on" : "off") : "-";
}

/** The characters of a UTF-8 text, which is what a column's width counts. */
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

constexpr std::size_t textColumns = 4; // transport, MTU, CRC, Markers: the figures follow

Line heading() {
  Line line{"transport", "MTU", "CRC", "Markers"};
  for (const Operation& operation : operations())
    line.emplace_back(operation.heading);
  return line;
}

void writeText(std::ostream& out, const std::vector<Line>& lines) {
  std::vector<std::size_t> widths(lines.front().size());
  for (const Line& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], width(line[i]));
  for (const Line& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string pad(widths[i] - width(line[i]), ' ');
      text += (i ? "  " : "") + (i >= textColumns || i == 1 ? pad + line[i] : line[i] + pad);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << '\n';
  }
}

void writeMarkdown(std::ostream& out, const std::vector<Line>& lines) {
  const auto write = [&](const Line& line) {
    for (const std::string& cell : line)
      out << "| " << cell << ' ';
    out << "|\n";
  };
  write(lines.front());
  for (std::size_t i = 0; i < lines.front().size(); ++i)
    out << (i >= textColumns || i == 1 ? "|--:" : "|---");
  out << "|\n";
  std::for_each(lines.begin() + 1, lines.end(), write);
}

void writeGrid(std::ostream& out, const std::string& title, const std::vector<Line>& lines, Format format) {
  if (lines.size() < 2)
    return;
  out << (format == Format::Markdown ? "**" + title + "**\n\n" : title + "\n");
  format == Format::Markdown ? writeMarkdown(out, lines) : writeText(out, lines);
  out << '\n';
}

/** The configurations of the rows: first the small MTU with all transports, then the next. */
std::vector<Configuration> configurationsOf(const std::vector<Row>& rows) {
  std::vector<Configuration> result;
  for (const Row& row : rows)
    if (!std::ranges::count(result, row.configuration))
      result.push_back(row.configuration);
  std::ranges::stable_sort(result, {}, &Configuration::mtu);
  return result;
}

/**
 * One line per configuration, one cell per operation.
 * @param cell makes the text of a cell; a line of which all cells are empty is left out
 */
template <class Cell> std::vector<Line> makeGrid(const std::vector<Row>& rows, Cell cell) {
  std::vector<Line> lines{heading()};
  for (const Configuration& c : configurationsOf(rows)) {
    Line line{c.transport, std::to_string(c.mtu), setting(c.crc), setting(c.markers)};
    bool empty = true;
    for (const Operation& operation : operations()) {
      const auto row = std::ranges::find_if(rows, [&](const Row& r) { return r.configuration == c && r.operation == &operation; });
      const std::string text = row == rows.end() ? "" : cell(*row);
      empty = empty && text.empty();
      line.push_back(text.empty() ? "-" : text);
    }
    if (!empty)
      lines.push_back(line);
  }
  return lines;
}

const Result* find(const Results& results, const std::string& row) {
  const auto found = results.find(row);
  return found == results.end() || !found->second.failure.empty() ? nullptr : &found->second;
}

/** Says what a reader has to know about single rows: failures, spread, idle time, values from before. */
void writeRemarks(std::ostream& out, const std::vector<Row>& rows, const Results& results) {
  const Row* widest = nullptr;
  double spread = 0;
  for (const Row& row : rows) {
    const auto found = results.find(row.text());
    if (found == results.end())
      continue;
    const Result& result = found->second;
    if (!result.failure.empty())
      out << "failed: " << row.text() << ": " << result.failure << '\n';
    else if (result.spread() > toleratedSpread)
      out << "unsteady: " << row.text() << ": its repeats lie " << percent(result.spread()) << " apart\n";
    if (result.failure.empty() && result.idle > notableIdle)
      out << "idle: " << row.text() << ": the CPU waited " << percent(result.idle) << " of the time, which is not counted\n";
    if (result.failure.empty() && (!widest || result.spread() > spread))
      widest = &row, spread = result.spread();
  }
  if (widest)
    out << "The repeats of a row lie at most " << fixed(100 * spread, 2) << " % apart (" << widest->text() << ").\n";
}

} // namespace

std::string formatValue(const Operation& operation, double value) {
  if (operation.perOctet)
    return fixed(value, 2);
  std::string digits = std::to_string(std::llround(value));
  for (std::size_t at = digits.size(); at > 3; at -= 3)
    digits.insert(at - 3, ",");
  return digits;
}

double ratio(const Row& row, const Results& results, const std::string& transport) {
  Configuration other = row.configuration;
  std::string operation(row.operation->name);
  other.transport = transport;
  other.markers.reset();
  if (transport == "tcp") {
    other.crc.reset();
    operation = row.operation->tcpPeer;
  }
  const Result* const own = find(results, row.text());
  const Result* const theirs = find(results, other.text() + " " + operation);
  return own && theirs && (other.crc || transport == "tcp") ? own->value / theirs->value : 0;
}

void writeTables(std::ostream& out, const std::vector<Row>& rows, const Results& results, const Notes& notes, Format format) {
  const auto value = [&](const Row& row) -> std::string {
    const auto found = results.find(row.text());
    if (found == results.end())
      return "";
    return found->second.failure.empty() ? formatValue(*row.operation, found->second.value) : "failed";
  };
  const auto compared = [&](const std::string& own, const std::string& other) {
    return [&, own, other](const Row& row) -> std::string {
      const double r = row.configuration.transport == own ? ratio(row, results, other) : 0;
      return r > 0 ? fixed(r, 2) : "";
    };
  };

  writeGrid(out, "Instructions of both ends together: per octet of 64 KiB transfers, per 64 B message, per round trip of 64 B",
            makeGrid(rows, value), format);
  writeGrid(out, "iwmpa / siw", makeGrid(rows, compared("iwmpa", "siw")), format);
  writeGrid(out, "iwmpa / TCP", makeGrid(rows, compared("iwmpa", "tcp")), format);
  writeGrid(out, "siw / TCP", makeGrid(rows, compared("siw", "tcp")), format);

  out << "Linux " << notes.kernel
      << ", one emulated CPU with PCLMULQDQ and SSE4.2; rows that TCP does not have are compared with its "
      << "SEND.\n";
  if (std::ranges::any_of(rows, [&](const Row& row) {
        const Result* const result = find(results, row.text());
        return result && !result->measured;
      }))
    out << "What was not measured now is compared with its figure of the last complete run.\n";
  writeRemarks(out, rows, results);
}

void writeTsv(std::ostream& out, const std::vector<Row>& rows, const Results& results) {
  const auto orDash = [](double value) { return value > 0 ? fixed(value, 4) : "-"; };

  out << "transport\tmtu\tcrc\tmarkers\top\tvalue\tmin\tmax\tunit\tratio_siw\tratio_tcp\tuser\tidle\n";
  for (const Row& row : rows) {
    const Result* const result = find(results, row.text());
    if (!result)
      continue;
    const Configuration& c = row.configuration;
    const int decimals = row.operation->perOctet ? 4 : 1;
    out << c.transport << '\t' << c.mtu << '\t' << setting(c.crc) << '\t' << setting(c.markers) << '\t' << row.operation->name
        << '\t' << fixed(result->value, decimals) << '\t' << fixed(result->min, decimals) << '\t' << fixed(result->max, decimals)
        << "\tinstructions/" << row.operation->unit << '\t' << orDash(ratio(row, results, "siw")) << '\t'
        << orDash(ratio(row, results, "tcp")) << '\t' << fixed(result->user, 4) << '\t' << fixed(result->idle, 4) << '\n';
  }
}

void writePlot(std::ostream& out, const Results& results, const std::string& stem) {
  struct Series {
    std::string title;
    std::string colour;
    Configuration configuration;
  };
  struct Panel {
    std::string title;
    int mtu;
    bool perOctet;
  };
  const std::vector<Series> allSeries{
      {"TCP", "#999999", {"tcp", 0, {}, {}}},
      {"siw", "#f6c28b", {"siw", 0, false, {}}},
      {"siw, CRC", "#d95f02", {"siw", 0, true, {}}},
      {"iwmpa", "#a6d8c8", {"iwmpa", 0, false, false}},
      {"iwmpa, CRC", "#1b9e77", {"iwmpa", 0, true, false}},
      {"iwmpa, CRC and Markers", "#0b5345", {"iwmpa", 0, true, true}},
  };
  const std::vector<Panel> panels{
      {"MTU 1500, 64 KiB: instructions per octet", 1500, true},
      {"MTU 65536, 64 KiB: instructions per octet", 65536, true},
      {"MTU 1500, 64 B: instructions each", 1500, false},
  };
  const auto value = [&](const Series& series, int mtu, const Operation& operation) {
    Configuration configuration = series.configuration;
    configuration.mtu = mtu;
    return find(results, configuration.text() + " " + std::string(operation.name));
  };

  std::vector<Series> shown;
  for (const Series& series : allSeries)
    if (std::ranges::any_of(panels, [&](const Panel& panel) {
          return std::ranges::any_of(operations(), [&](const Operation& operation) { return value(series, panel.mtu, operation); });
        }))
      shown.push_back(series);

  for (std::size_t i = 0; i < panels.size(); ++i) {
    out << "$panel" << i << " << EOD\nop";
    for (const Series& series : shown)
      out << " \"" << series.title << '"';
    for (const Operation& operation : operations()) {
      if (operation.perOctet != panels[i].perOctet)
        continue;
      out << "\n\"" << operation.heading << '"';
      for (const Series& series : shown) {
        const Result* const result = value(series, panels[i].mtu, operation);
        out << ' ' << (result ? fixed(result->value, 4) : "?");
      }
    }
    out << "\nEOD\n";
  }
  out << "set datafile missing '?'\nset style data histograms\nset style histogram clustered gap 1\n"
         "set style fill solid 0.9 border -1\nset yrange [0:*]\nset grid ytics\nset key below\n"
         "do for [kind in \"png svg\"] {\n"
         "if (kind eq 'png') { set terminal png size 1600,520 } else { set terminal svg size 1600,520 }\n"
      << "set output '" << stem << ".'.kind\nset multiplot layout 1," << panels.size() << '\n';
  for (std::size_t i = 0; i < panels.size(); ++i) {
    out << "set title '" << panels[i].title << "'\nplot ";
    for (std::size_t k = 0; k < shown.size(); ++k)
      out << (k ? ", \\\n  " : "") << "$panel" << i << " using " << k + 2 << ":xtic(1) title columnheader(" << k + 2 << ") lc rgb '"
          << shown[k].colour << '\'';
    out << '\n';
  }
  out << "unset multiplot\nset output\n}\n";
}

} // namespace bench

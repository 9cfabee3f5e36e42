// SPDX-License-Identifier: GPL-2.0
#include "report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <tuple>
#include <utility>

namespace bench {
namespace {

constexpr double toleratedSpread = 0.01; // plus or minus 0.5 %
constexpr double notableIdle = 0.02;

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

std::string microseconds(int count) {
  return std::to_string(count) + " µs";
}

/** The number of characters of a UTF-8 text, for the widths of columns. */
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

/** The first columns; the figures follow. large: FPDUs larger than a TCP segment. */
constexpr std::array settingColumns{"transport", "MTU", "CRC", "Markers", "large", "CPUs", "delay", "bunches"};

bool isFigure(const Line& heading, std::size_t column) {
  const std::string& name = heading[column];
  return name == "MTU" || name == "CPUs" || name == "delay" || name == "bunches" || !std::ranges::count(settingColumns, name);
}

/** Removes the settings that no line has, and the CPU column when every line has one CPU. */
std::vector<Line> withoutIdleColumns(std::vector<Line> lines) {
  for (std::size_t column = settingColumns.size(); column-- > 1;) {
    const std::string idle = lines[0][column] == "CPUs" ? "1" : "-";
    if (std::all_of(lines.begin() + 1, lines.end(), [&](const Line& line) { return line[column] == idle; }))
      for (Line& line : lines)
        line.erase(line.begin() + static_cast<std::ptrdiff_t>(column));
  }
  return lines;
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
      text += (i ? "  " : "") + (isFigure(lines.front(), i) ? pad + line[i] : line[i] + pad);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << '\n';
  }
}

/** @param isRight whether the column with this index is aligned to the right */
void writeMarkdown(std::ostream& out, const std::vector<Line>& lines, const std::function<bool(std::size_t)>& isRight) {
  const auto write = [&](const Line& line) {
    for (const std::string& cell : line)
      out << "| " << cell << ' ';
    out << "|\n";
  };
  write(lines.front());
  for (std::size_t i = 0; i < lines.front().size(); ++i)
    out << (isRight(i) ? "|--:" : "|---");
  out << "|\n";
  std::for_each(lines.begin() + 1, lines.end(), write);
}

void writeGrid(std::ostream& out, const std::string& title, const std::vector<Line>& lines, Format format) {
  if (lines.size() < 2)
    return;
  out << (format == Format::Markdown ? "**" + title + "**\n\n" : title + "\n");
  if (format == Format::Markdown)
    writeMarkdown(out, lines, [&](std::size_t column) { return isFigure(lines.front(), column); });
  else
    writeText(out, lines);
  out << '\n';
}

/** The configurations of a table's rows: all transports with the smallest MTU and the fewest CPUs first. */
std::vector<Configuration> configurationsOf(const Table& table, const std::vector<Row>& rows) {
  std::vector<Configuration> result;
  for (const Row& row : rows)
    if (row.operation->table == &table && !std::ranges::count(result, row.configuration))
      result.push_back(row.configuration);
  std::ranges::stable_sort(result, {}, [](const Configuration& c) { return std::tuple(c.mtu, c.cpus, c.delay, c.slot, c.large); });
  return result;
}

/**
 * One line per configuration, one cell per operation of the table.
 * @param cell makes the text of a cell; a line is omitted when all its cells are empty
 */
template <class Cell> std::vector<Line> makeGrid(const Table& table, const std::vector<Row>& rows, Cell cell) {
  std::vector<Line> lines{Line(settingColumns.begin(), settingColumns.end())};
  for (const Operation& operation : operations())
    if (operation.table == &table)
      lines.front().emplace_back(operation.heading);
  for (const Configuration& c : configurationsOf(table, rows)) {
    Line line{c.transport,
              std::to_string(c.mtu),
              setting(c.crc),
              setting(c.markers),
              c.large ? "on" : "-",
              std::to_string(c.cpus),
              c.delay ? microseconds(*c.delay) : "-",
              c.slot ? microseconds(c.slot) : "-"};
    bool empty = true;
    for (const Operation& operation : operations()) {
      if (operation.table != &table)
        continue;
      const auto row = std::ranges::find_if(rows, [&](const Row& r) { return r.configuration == c && r.operation == &operation; });
      const std::string text = row == rows.end() ? "" : cell(*row);
      empty = empty && text.empty();
      line.push_back(text.empty() ? "-" : text);
    }
    if (!empty)
      lines.push_back(line);
  }
  return withoutIdleColumns(std::move(lines));
}

/** Writes remarks on single rows: failures, spread, idle time, values of earlier runs. */
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
    else if (row.operation->table->repeatable && result.spread() > toleratedSpread)
      out << "unsteady: " << row.text() << ": its repeats lie " << percent(result.spread()) << " apart\n";
    if (result.failure.empty() && row.operation->table->repeatable && result.idle > notableIdle)
      out << "idle: " << row.text() << ": the CPU waited " << percent(result.idle) << " of the time, which is not counted\n";
    if (result.failure.empty() && row.operation->table->repeatable && (!widest || result.spread() > spread))
      widest = &row, spread = result.spread();
  }
  if (widest)
    out << "The repeats of a row lie at most " << fixed(100 * spread, 2) << " % apart (" << widest->text() << ").\n";
}

/** A column of a comparison with TCP. */
struct ComparedColumn {
  std::string_view heading;
  std::string_view transport;
  std::string_view series; ///< of the kernel on which it was measured beside TCP
  std::string_view path;   ///< what the names of its tables begin with
  int cpus = 1;
};

/** rxe has no device on lo, and siw was measured there only. */
constexpr std::array comparedColumns{
    ComparedColumn{"iwmpa, 6.12", "iwmpa", "6.12", "veth-"},
    ComparedColumn{"rxe, 6.12", "rxe", "6.12", "veth-"},
    ComparedColumn{"iwmpa, 6.1", "iwmpa", "6.1", "veth-"},
    ComparedColumn{"rxe, 6.1", "rxe", "6.1", "veth-"},
    ComparedColumn{"siw, 6.1", "siw", "6.1", ""},
};

/** The same in time, over lo. */
constexpr std::array timeColumns{
    ComparedColumn{"iwmpa, 1 CPU", "iwmpa", "7.3", "native-"},
    ComparedColumn{"iwmpa, 2 CPUs", "iwmpa", "7.3", "native-", 2},
    ComparedColumn{"siw, 2 CPUs", "siw", "7.3", "native-", 2},
    ComparedColumn{"rxe, 2 CPUs", "rxe", "7.3", "native-", 2},
};

/** A line of a table of transports. */
struct TransportLine {
  std::string_view operation;  ///< its name without the path
  std::string_view title = {}; ///< empty: the operation in words
};

constexpr std::array comparedLines{
    TransportLine{"nvme-read-4k-1"},
    TransportLine{"nvme-read-4k-32"},
    TransportLine{"nvme-read-128k-8"},
    TransportLine{"nvme-write-4k-1"},
    TransportLine{"nvme-write-4k-32"},
    TransportLine{"nvme-write-128k-8"},
    TransportLine{"nfs-read-4k-1"},
    TransportLine{"nfs-read-4k-16"},
    TransportLine{"nfs-read-1m-4"},
    TransportLine{"nfs-write-4k-1"},
    TransportLine{"nfs-write-4k-16"},
    TransportLine{"nfs-write-1m-4"},
    TransportLine{"write", "RDMA WRITE of 64 KiB"},
    TransportLine{"read", "RDMA READ of 64 KiB"},
    TransportLine{"send64", "SEND of 64 B, 32 at once"},
    TransportLine{"rtt64", "round trip of 64 B"},
    TransportLine{"loss-0.1", "RDMA WRITE of 64 KiB, 0.1 % loss"},
    TransportLine{"loss-1", "RDMA WRITE of 64 KiB, 1 % loss"},
};

constexpr std::array timeLines{
    TransportLine{"nvme-read-4k-1"},
    TransportLine{"nvme-read-4k-32"},
    TransportLine{"nvme-read-128k-8"},
    TransportLine{"nvme-write-4k-32"},
    TransportLine{"spin-read-4k-8", "NVMe, read of 4 KiB, depth 8, beside programs"},
    TransportLine{"nfs-read-4k-16"},
    TransportLine{"nfs-read-1m-4"},
    TransportLine{"nfs-write-1m-4"},
    TransportLine{"k64", "kernel SEND of 64 B, 32 at once"},
    TransportLine{"krtt", "kernel round trip of 64 B"},
};

/** What protects the data, for a line of the table of protections. NFS over TCP has no digests. */
struct SecureLine {
  std::string_view title;
  std::string_view transport;
  bool crc = false; ///< or digests
};

constexpr std::array secureLines{
    SecureLine{"TCP, digests", "tcp", true},
    SecureLine{"iwmpa, CRC", "iwmpa", true},
    SecureLine{"TCP, krb5i", "tcp-krb5i"},
    SecureLine{"TCP, krb5p", "tcp-krb5p"},
    SecureLine{"TCP, TLS", "tcp-tls"},
    SecureLine{"TCP through ESP", "tcp-esp"},
    SecureLine{"iwmpa through ESP", "iwmpa-esp"},
    SecureLine{"TCP through WireGuard", "tcp-wireguard"},
    SecureLine{"iwmpa through WireGuard", "iwmpa-wireguard"},
};

struct SecureColumn {
  std::string_view heading;
  std::string_view operation;
};

constexpr std::array secureColumns{
    SecureColumn{"NVMe read 4K, depth 1", "secure-nvme-read-4k-1"},
    SecureColumn{"4K, depth 32", "secure-nvme-read-4k-32"},
    SecureColumn{"128K", "secure-nvme-read-128k-8"},
    SecureColumn{"write 128K", "secure-nvme-write-128k-8"},
    SecureColumn{"NFS read 4K, depth 16", "secure-nfs-read-4k-16"},
    SecureColumn{"1M", "secure-nfs-read-1m-4"},
    SecureColumn{"write 1M", "secure-nfs-write-1m-4"},
};

/** Lines with the figures themselves, because TCP has no counterpart. */
constexpr std::array connectionLines{
    TransportLine{"connect", "connect"},         TransportLine{"disconnect", "disconnect"},
    TransportLine{"register", "register 4 KiB"}, TransportLine{"deregister", "deregister 4 KiB"},
    TransportLine{"idle", "memory of one end"},  TransportLine{"half-open", "memory of both ends, half-open"},
};

/**
 * The row of an operation over a transport with MTU 1500, CRC, no Markers and FPDUs that fit a segment. Of
 * several with this number of CPUs, the first; empty if there is none.
 */
std::optional<Row> plainRow(const std::string& name, std::string_view transport, int cpus = 1) {
  const auto operation = std::ranges::find(operations(), name, &Operation::name);
  if (operation == operations().end())
    return {};
  for (const Configuration& c : configurations(*operation->table, transport))
    if (c.mtu == 1500 && c.cpus == cpus && c.crc.value_or(false) && !c.markers.value_or(false) && !c.large)
      return Row{0, c, &*operation};
  return {};
}

/** A line for each operation with the ratios of its figures to TCP's. */
void writeRatios(std::ostream& out, const Record& record, std::span<const TransportLine> tableLines,
                 std::span<const ComparedColumn> columns) {
  std::vector<Line> lines{{"TCP = 1"}};
  for (const ComparedColumn& column : columns)
    lines.front().push_back(std::string(column.heading));
  for (const TransportLine& line : tableLines) {
    const auto named = [&](std::string_view path) { return std::string(path) + std::string(line.operation); };
    lines.push_back({line.title.empty() ? inWords(*std::ranges::find(operations(), named(columns.front().path), &Operation::name))
                                        : std::string(line.title)});
    for (const ComparedColumn& column : columns) {
      const auto results = record.find(std::string(column.series));
      const auto row = plainRow(named(column.path), column.transport, column.cpus);
      const double r = row && results != record.end() ? ratio(*row, results->second, "tcp") : 0;
      lines.back().push_back(r > 0 ? fixed(r, 2) : "-");
    }
  }
  writeFigures(out, lines);
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
  other.large = false;
  const bool isTcp = transport.starts_with("tcp");
  if (isTcp) {
    if (!row.operation->tcpPeer.empty())
      operation = row.operation->tcpPeer;
    const auto known = configurations(*row.operation->table, transport);
    if (!std::ranges::count(known, other))
      other.crc.reset();
  }
  const Result* const own = find(results, row.text());
  const Result* const theirs = find(results, other.text() + " " + operation);
  return own && theirs && (other.crc || isTcp) ? own->value / theirs->value : 0;
}

void writeTable(std::ostream& out, const Table& table, const std::vector<Row>& rows, const Results& results, Format format) {
  const auto value = [&](const Row& row) -> std::string {
    const auto found = results.find(row.text());
    if (found == results.end())
      return "";
    return found->second.failure.empty() ? formatValue(*row.operation, found->second.value) : "failed";
  };
  const auto idle = [&](const Row& row) -> std::string {
    const Result* const result = find(results, row.text());
    return result ? fixed(result->idle, 2) : "";
  };
  const auto latency = [&](const Row& row) -> std::string {
    const Result* const result = find(results, row.text());
    return result && result->latency > 0 ? formatValue(*row.operation, result->latency) : "";
  };
  const auto segments = [&](const Row& row) -> std::string {
    const Result* const result = find(results, row.text());
    return result && result->segments > 0 ? fixed(result->segments, 1) : "";
  };
  const auto counted = [&](double Result::* quantity) {
    return [&, quantity](const Row& row) -> std::string {
      const Result* const result = find(results, row.text());
      return result && result->switches > 0 ? fixed(result->*quantity, 2) : "";
    };
  };
  const auto rounds = [&](const Row& row) -> std::string {
    const Result* const result = find(results, row.text());
    if (!result || !result->second)
      return "";
    return percent(result->second / result->value - 1) + ", " + percent(result->max / result->value - 1);
  };
  const auto range = [&](const Row& row) -> std::string {
    const Result* const result = find(results, row.text());
    return result ? percent(result->min / result->value - 1) + ", +" + percent(result->max / result->value - 1) : "";
  };
  const auto compared = [&](const std::string& own, const std::string& other) {
    return [&, own, other](const Row& row) -> std::string {
      const double r = row.configuration.transport == own ? ratio(row, results, other) : 0;
      return r > 0 ? fixed(r, 2) : "";
    };
  };

  writeGrid(out, std::string(table.title), makeGrid(table, rows, value), format);
  writeGrid(out, "iwmpa / siw", makeGrid(table, rows, compared("iwmpa", "siw")), format);
  writeGrid(out, "iwmpa / TCP", makeGrid(table, rows, compared("iwmpa", "tcp")), format);
  writeGrid(out, "siw / TCP", makeGrid(table, rows, compared("siw", "tcp")), format);
  writeGrid(out, "rxe / TCP", makeGrid(table, rows, compared("rxe", "tcp")), format);
  writeGrid(out, "iwmpa / rxe", makeGrid(table, rows, compared("iwmpa", "rxe")), format);
  if (table.repeatable && !table.group.empty()) {
    writeGrid(out, "Latency: ns from the call to the end of an I/O", makeGrid(table, rows, latency), format);
    writeGrid(out, "TCP segments for each I/O, both directions", makeGrid(table, rows, segments), format);
  }
  if (table.name == "cpus-nvme" || table.group == "native") {
    writeGrid(out, "Interrupts between CPUs for each I/O", makeGrid(table, rows, counted(&Result::calls)), format);
    writeGrid(out, "Context switches for each I/O", makeGrid(table, rows, counted(&Result::switches)), format);
  }
  if (table.group == "native") {
    writeGrid(out, "The fastest and the slowest round, against the median", makeGrid(table, rows, range), format);
    writeGrid(out, "ns from the call to the end, for 99 of 100 I/Os", makeGrid(table, rows, latency), format);
  } else if (table.name == "cpus-nvme")
    writeGrid(out, "How much longer the second best round and the worst round took", makeGrid(table, rows, rounds), format);
  else if (!table.repeatable)
    writeGrid(out, "Share of their time that the CPUs had nothing to do", makeGrid(table, rows, idle), format);
}

void writeTables(std::ostream& out, const std::vector<Row>& rows, const Results& results, const Notes& notes, Format format) {
  for (const Table& table : tables())
    writeTable(out, table, rows, results, format);

  if (!notes.kernel.empty())
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

void writeTsv(std::ostream& out, const std::vector<Row>& rows, const Record& record) {
  const auto orDash = [](double value) { return value > 0 ? fixed(value, 4) : "-"; };
  const auto write = [&](const Line& fields) {
    for (const std::string& field : fields)
      out << field << (&field == &fields.back() ? '\n' : '\t');
  };

  write({"kernel", "transport", "mtu",       "crc",       "markers", "cpus", "large", "op",   "value",   "min",
         "max",    "unit",      "ratio_siw", "ratio_tcp", "user",    "idle", "delay", "slot", "latency", "segments"});
  for (const auto& [series, results] : record)
    for (const Row& row : rows) {
      const Result* const result = find(results, row.text());
      if (!result)
        continue;
      const Configuration& c = row.configuration;
      const Operation& operation = *row.operation;
      const int decimals = operation.perOctet ? 4 : 1;
      write({series,
             c.transport,
             std::to_string(c.mtu),
             setting(c.crc),
             setting(c.markers),
             std::to_string(c.cpus),
             c.large ? "on" : "-",
             std::string(operation.name),
             fixed(result->value, decimals),
             fixed(result->min, decimals),
             fixed(result->max, decimals),
             std::string(operation.table->quantity) + "/" + std::string(operation.unit),
             orDash(ratio(row, results, "siw")),
             orDash(ratio(row, results, "tcp")),
             fixed(result->user, 4),
             fixed(result->idle, 4),
             c.delay ? std::to_string(*c.delay) : "-",
             c.slot ? std::to_string(c.slot) : "-",
             orDash(result->latency),
             orDash(result->segments)});
    }
}

void writeFigures(std::ostream& out, const std::vector<Line>& lines) {
  writeMarkdown(out, lines, [](std::size_t column) { return column > 0; });
}

void writeCompared(std::ostream& out, const Record& record) {
  writeRatios(out, record, comparedLines, comparedColumns);
}

void writeTime(std::ostream& out, const Record& record) {
  writeRatios(out, record, timeLines, timeColumns);
}

void writeSecure(std::ostream& out, const Results& results) {
  std::vector<Line> lines{{"TCP without more = 1"}};
  for (const SecureColumn& column : secureColumns)
    lines.front().emplace_back(column.heading);
  for (const SecureLine& line : secureLines) {
    lines.push_back({std::string(line.title)});
    for (const SecureColumn& column : secureColumns) {
      const Operation& operation = *std::ranges::find(operations(), column.operation, &Operation::name);
      const auto result = [&](std::string_view transport, bool crc) -> const Result* {
        for (const Configuration& c : configurations(*operation.table, transport))
          if (c.crc.value_or(false) == crc)
            return find(results, Row{0, c, &operation}.text());
        return nullptr;
      };
      const Result *const plain = result("tcp", false), *const own = result(line.transport, line.crc);
      lines.back().push_back(plain && own ? fixed(own->value / plain->value, 2) : "-");
    }
  }
  writeFigures(out, lines);
}

void writeConnections(std::ostream& out, const Results& results) {
  std::vector<Line> lines{{"", "iwmpa", "siw"}};
  for (const TransportLine& line : connectionLines) {
    lines.push_back({std::string(line.title)});
    for (const std::string_view transport : {"iwmpa", "siw"}) {
      const Row row = plainRow(std::string(line.operation), transport).value();
      const Result* const result = find(results, row.text());
      lines.back().push_back(result ? formatValue(*row.operation, result->value) : "-");
    }
  }
  writeFigures(out, lines);
}

std::size_t writeWorse(std::ostream& out, const std::vector<Row>& rows, const Results& before, const Results& now,
                       double tolerated) {
  std::size_t worse = 0, compared = 0;
  for (const Row& row : rows) {
    const Result *const old = find(before, row.text()), *const fresh = find(now, row.text());
    if (!row.operation->table->repeatable || !old || !fresh || !fresh->measured)
      continue;
    ++compared;
    const double change = fresh->value / old->value - 1;
    if (change <= tolerated)
      continue;
    ++worse;
    out << "worse: " << row.text() << ": " << formatValue(*row.operation, old->value) << " -> "
        << formatValue(*row.operation, fresh->value) << ", +" << percent(change) << " (its repeats lie " << percent(fresh->spread())
        << " apart)\n";
  }
  out << worse << " of " << compared << " rows cost over " << fixed(100 * tolerated, 0) << " % more than in the committed table\n";
  return worse;
}

} // namespace bench

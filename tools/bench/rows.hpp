// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * The measured rows: one row is one operation over one transport in one configuration. Rows belong to tables.
 */
#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/** A table of the report, and the kind of guest that its rows are measured in. */
struct Table {
  std::string_view name;       ///< as in selections
  std::string_view title;      ///< describes its figures
  std::string_view guest;      ///< the names of its guests begin with this; empty for the counting guests
  std::string_view quantity;   ///< the unit of its figures
  bool byDefault;              ///< measured without a selection
  bool repeatable;             ///< the same at every run: compared with the committed table
  std::string_view group = {}; ///< the word that selects it with others; its name begins so

  /** The table's subject: its name without the group's. */
  std::string_view subject() const { return group.empty() ? name : name.substr(group.size() + 1); }
};

/** All tables, in the order of the report. */
std::span<const Table> tables();

/** An operation: its name in tables, how it is run, and what its figure counts. */
struct Operation {
  const Table* table;
  std::string_view name;    ///< as in the TSV and in selections
  std::string_view heading; ///< as in tables
  std::string_view command; ///< the guest's command over RDMA
  std::string_view tcp;     ///< the same over TCP; empty where TCP has no counterpart
  std::string_view tcpPeer; ///< the operation with TCP's figure for the comparison
  std::string_view unit;    ///< the unit that the instructions are divided by
  bool perOctet;            ///< the count is divided by octets, else by operations
  /** Selects one of the results of a run: "first", "second", or a line `memory of=PART`; empty: each result is a repeat. */
  std::string_view part = {};
  std::string_view program = {}; ///< runs the command; empty: the table's program
};

/** All operations, in the order of the tables. */
std::span<const Operation> operations();

/** What an I/O of fio does, as parts of its operation's name: "link-nvme-read-4k-32". */
struct Io {
  std::string direction; ///< read or write
  std::string octets;    ///< such as "4 KiB"
  std::string depth;
};

/** Empty for operations of other tables than those of storage. */
std::optional<Io> ioOf(const Operation& operation);

/** Such an operation as the README calls it: "NVMe, read of 4 KiB, depth 32". */
std::string inWords(const Operation& operation);

/** A configuration. Settings that the transport or the table lacks are empty. */
struct Configuration {
  std::string transport;
  int mtu = 0;
  std::optional<bool> crc; ///< for NVMe/TCP: header and data digests
  std::optional<bool> markers;
  int cpus = 1;
  bool large = false;            ///< FPDUs larger than a TCP segment; without Markers
  std::optional<int> delay = {}; ///< one-way delay of a packet in microseconds; empty: no link is made
  int slot = 0;                  ///< microseconds from one bunch of packets to the next; 0: single packets

  auto operator<=>(const Configuration&) const = default;

  /** The settings as words, such as "siw 1500 crc=1", which is also what a selection matches. */
  std::string text() const;
};

struct Row {
  int id = 0;
  Configuration configuration;
  const Operation* operation = nullptr;

  std::string text() const;
  /** The name of the guest that measures this row. */
  std::string guest() const;
};

/** The configurations of a table for a transport, in the order that needs the fewest changes in the guest. */
std::vector<Configuration> configurations(const Table& table, std::string_view transport);

/**
 * The rows that match any of the selections.
 * @param selections each a list of words that must all match: a table, a transport, an MTU, crc=0|1, markers=0|1, large=1, cpus=N,
 *        delay=N, slot=N, an operation. An empty list selects all tables that are measured by default; others must be named.
 * @throws std::invalid_argument for an unknown word.
 */
std::vector<Row> selectRows(const std::vector<std::string>& selections);

/** The guests that rows need, in the order of the rows. */
std::vector<std::string> guestsOf(const std::vector<Row>& rows);

/**
 * Writes the rows of one guest as the shell commands that its script defines.
 * @param repeats number of repeats of each row; 0: the table's default
 */
void writePlan(std::ostream& out, const std::vector<Row>& rows, std::string_view guest, int repeats, bool profiled);

} // namespace bench

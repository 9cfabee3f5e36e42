// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * What is measured: one row is one operation over one transport in one configuration.
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

/** An operation: its name in tables, how it is run, and what its figure counts. */
struct Operation {
  std::string_view name;    ///< as in the TSV and in selections
  std::string_view heading; ///< as in tables
  std::string_view rdma;    ///< arguments of rdma_bench
  std::string_view tcp;     ///< arguments of tcp_bench; empty where TCP has no such thing
  std::string_view tcpPeer; ///< the operation that TCP's figure for the comparison comes from
  std::string_view unit;    ///< what the instructions are counted per
  bool perOctet;            ///< the count is divided by octets, else by operations
};

/** All operations, in the order of the tables. */
std::span<const Operation> operations();

/** A configuration. CRC and Markers are empty where the transport has none. */
struct Configuration {
  std::string transport;
  int mtu = 0;
  std::optional<bool> crc;
  std::optional<bool> markers;

  auto operator<=>(const Configuration&) const = default;

  /** The settings as words, such as "siw 1500 crc=1", which is also what a selection matches. */
  std::string text() const;
};

struct Row {
  int id = 0;
  Configuration configuration;
  const Operation* operation = nullptr;

  std::string text() const;
};

/** The configurations that belong to a transport, in the order that needs the fewest changes in the guest. */
std::vector<Configuration> configurations(std::string_view transport);

/**
 * The rows of the transports that any of the selections matches.
 * @param selections each a list of words that all have to match: a transport, an MTU, crc=0|1, markers=0|1, an operation.
 *        None selects everything.
 * @throws std::invalid_argument for a word that is none of these.
 */
std::vector<Row> selectRows(const std::vector<std::string>& transports, const std::vector<std::string>& selections);

/** Writes the rows of one transport as the shell commands that guest-init defines. */
void writePlan(std::ostream& out, const std::vector<Row>& rows, std::string_view transport, int repeats, bool maps);

} // namespace bench

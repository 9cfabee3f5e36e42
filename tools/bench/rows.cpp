// SPDX-License-Identifier: GPL-2.0
#include "rows.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <sstream>
#include <stdexcept>

namespace bench {
namespace {

// The counts make each repeat some ten million instructions at least, in which a timer tick is lost.
constexpr std::array allOperations{
    Operation{"write", "WRITE", "--op write --count 400 --warmup 64", "", "send", "octet", true},
    Operation{"read", "READ", "--op read --count 400 --warmup 64", "", "send", "octet", true},
    Operation{"send", "SEND", "--op send --count 400 --warmup 64", "--op send --count 400 --warmup 64", "send", "octet", true},
    Operation{"send64", "64 B SEND", "--op send --size 64 --depth 32 --count 3200 --warmup 640",
              "--op send --size 64 --depth 32 --count 3200 --warmup 640", "send64", "message", false},
    Operation{"list64", "in lists", "--op send --size 64 --depth 32 --list 32 --count 3200 --warmup 640", "", "send64", "message",
              false},
    Operation{"rtt64", "round trip", "--op pingpong --size 64 --depth 2 --count 2000 --warmup 200",
              "--op pingpong --size 64 --count 2000 --warmup 200", "rtt64", "round trip", false},
};

constexpr std::array mtus{1500, 65536};

std::vector<std::string> wordsOf(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    words.push_back(word);
  return words;
}

/** Every word that some row has, so that a misspelt one is told from one that selects nothing here. */
bool isKnown(const std::string& word) {
  for (const std::string_view transport : {"tcp", "siw", "iwmpa"})
    for (const Configuration& configuration : configurations(transport))
      for (const Operation& operation : allOperations)
        if (std::ranges::count(wordsOf(Row{0, configuration, &operation}.text()), word))
          return true;
  return false;
}

bool matches(const Row& row, const std::vector<std::string>& selection) {
  const std::vector<std::string> words = wordsOf(row.text());
  return std::ranges::all_of(selection, [&](const std::string& word) { return std::ranges::count(words, word); });
}

} // namespace

std::span<const Operation> operations() {
  return allOperations;
}

std::string Configuration::text() const {
  std::string text = transport + " " + std::to_string(mtu);
  if (crc)
    text += *crc ? " crc=1" : " crc=0";
  if (markers)
    text += *markers ? " markers=1" : " markers=0";
  return text;
}

std::string Row::text() const {
  return configuration.text() + " " + std::string(operation->name);
}

std::vector<Configuration> configurations(std::string_view transport) {
  using Setting = std::optional<bool>;
  const bool isTcp = transport == "tcp";
  const std::vector<Setting> crcs = isTcp ? std::vector<Setting>{{}} : std::vector<Setting>{false, true};
  const std::vector<Setting> markers = transport == "iwmpa" ? std::vector<Setting>{false, true} : std::vector<Setting>{{}};

  std::vector<Configuration> result;
  for (const Setting crc : crcs)
    for (const Setting marker : markers)
      for (const int mtu : mtus)
        result.push_back({std::string(transport), mtu, crc, marker});
  return result;
}

std::vector<Row> selectRows(const std::vector<std::string>& transports, const std::vector<std::string>& selections) {
  std::vector<std::vector<std::string>> wanted;
  for (const std::string& selection : selections) {
    wanted.push_back(wordsOf(selection));
    for (const std::string& word : wanted.back())
      if (!isKnown(word))
        throw std::invalid_argument("no row has '" + word +
                                    "': a selection is made of tcp|siw|iwmpa, 1500|65536, crc=0|1, markers=0|1 and "
                                    "write|read|send|send64|list64|rtt64");
  }

  std::vector<Row> rows;
  for (const std::string& transport : transports)
    for (const Configuration& configuration : configurations(transport))
      for (const Operation& operation : allOperations) {
        if (transport == "tcp" && operation.tcp.empty())
          continue;
        Row row{static_cast<int>(rows.size()) + 1, configuration, &operation};
        if (wanted.empty() || std::ranges::any_of(wanted, [&](const auto& selection) { return matches(row, selection); }))
          rows.push_back(std::move(row));
      }
  return rows;
}

void writePlan(std::ostream& out, const std::vector<Row>& rows, std::string_view transport, int repeats, bool maps) {
  const auto flag = [](std::optional<bool> setting) { return setting ? (*setting ? "1" : "0") : "-"; };

  for (const Row& row : rows) {
    const Configuration& c = row.configuration;
    if (c.transport != transport)
      continue;
    const bool isTcp = c.transport == "tcp";
    out << "row '" << row.text() << "' " << c.transport << ' ' << c.mtu << ' ' << flag(c.crc) << ' ' << flag(c.markers) << ' '
        << (isTcp ? "tcp_bench " : "rdma_bench ") << (isTcp ? row.operation->tcp : row.operation->rdma) << " --repeats " << repeats
        << (maps ? " --maps" : "") << '\n';
  }
}

} // namespace bench

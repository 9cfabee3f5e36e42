// SPDX-License-Identifier: GPL-2.0
/** @file table.hpp @brief The table of requirements, Documentation/conformance.rows. */
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace conformance {

/** One requirement. */
struct Row {
  std::string id;      /**< such as "MRK-07" */
  std::string level;   /**< M must, S should, O optional, I informative */
  std::string section; /**< its section in the RFC */
  std::string group;   /**< the heading above it */
  std::string text;    /**< the requirement in short words */
  std::string how;     /**< how the modules meet it */
  std::string open;    /**< the missing part; empty: the requirement is met */
};

/** The rows, in the order of the file. */
class Table {
public:
  /** Reads @p file; throws std::runtime_error, which names the line, when the file is malformed. */
  explicit Table(const std::string& file);

  const std::vector<Row>& rows() const { return rows_; }

  /**
   * The IDs in a test's name or in its list of IDs: MRK-07, MRK_07 and mrk_07 are the same; mrk_05_to_mrk_08 is four.
   * Throws std::runtime_error for a word that looks like an ID but is not in the table.
   */
  std::set<std::string> idsIn(std::string_view text) const;

private:
  void check() const;

  std::string file_;
  std::vector<Row> rows_;
  std::set<std::string> ids_, prefixes_;
};

} // namespace conformance

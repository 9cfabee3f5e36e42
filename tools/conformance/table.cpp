// SPDX-License-Identifier: GPL-2.0
/** @file table.cpp @brief Reads the table of requirements. */
#include "table.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>
#include <stdexcept>

namespace conformance {

namespace {

/** Joins the lines of a text that spans several lines. */
void append(std::string& text, const std::string& line) {
  if (!text.empty())
    text += ' ';
  text += line;
}

std::string upper(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return std::toupper(c); });
  return s;
}

} // namespace

Table::Table(const std::string& file) : file_(file) {
  static const std::regex head(R"(([A-Z]{2,3}-\d\d) ([MSOI–]+(?:/[MSOI])?) (.+))");
  std::ifstream in(file);
  std::string line, group;
  std::smatch m;

  if (!in)
    throw std::runtime_error("cannot read " + file);
  for (unsigned number = 1; std::getline(in, line); number++) {
    if (line.empty() || line[0] == '#')
      continue;
    if (line.starts_with("== "))
      group = line.substr(3);
    else if (std::regex_match(line, m, head))
      rows_.push_back({m[1], m[2], m[3], group, {}, {}, {}});
    else if (rows_.empty())
      throw std::runtime_error(file + ":" + std::to_string(number) + ": no row has begun");
    else if (line.starts_with("> "))
      append(rows_.back().how, line.substr(2));
    else if (line.starts_with("! "))
      append(rows_.back().open, line.substr(2));
    else
      append(rows_.back().text, line);
  }
  for (const auto& row : rows_) {
    if (!ids_.insert(row.id).second)
      throw std::runtime_error(file + ": " + row.id + " is there twice");
    prefixes_.insert(row.id.substr(0, row.id.find('-')));
  }
  check();
}

void Table::check() const {
  if (rows_.empty())
    throw std::runtime_error(file_ + ": no rows");
  for (const auto& row : rows_) {
    if (row.group.empty() || row.text.empty())
      throw std::runtime_error(file_ + ": " + row.id + " wants a heading above it and the requirement's words");
    if (row.how.empty() && row.open.empty())
      throw std::runtime_error(file_ + ": " + row.id + " has neither how it is met nor an open part");
  }
}

std::set<std::string> Table::idsIn(std::string_view text) const {
  static const std::regex pattern(R"((^|[^A-Za-z0-9])([A-Za-z]{2,3})[-_](\d\d)(?:_to_([A-Za-z]{2,3})_(\d\d))?(?![0-9]))");
  const std::string whole(text);
  std::set<std::string> found;

  for (std::sregex_iterator i(whole.begin(), whole.end(), pattern), end; i != end; ++i) {
    const std::string prefix = upper((*i)[2]);
    const int first = std::stoi((*i)[3]), last = (*i)[5].matched ? std::stoi((*i)[5]) : first;

    if (!prefixes_.contains(prefix))
      continue; /* "rev_02" is not an ID */
    for (int n = first; n <= last; n++) {
      const std::string id = prefix + (n < 10 ? "-0" : "-") + std::to_string(n);

      if (!ids_.contains(id))
        throw std::runtime_error("'" + whole + "' names " + id + ", which " + file_ + " does not have");
      found.insert(id);
    }
  }
  return found;
}

} // namespace conformance

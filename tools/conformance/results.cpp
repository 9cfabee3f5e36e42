// SPDX-License-Identifier: GPL-2.0
/** @file results.cpp @brief Reads the results that the stages have written. */
#include "results.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace conformance {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> list(1);

  for (const char c : line)
    if (c == '\t')
      list.emplace_back();
    else
      list.back() += c;
  return list;
}

void readFile(const Table& table, const fs::path& file, std::map<std::string, Shown>& shown) {
  std::ifstream in(file);
  std::string line;

  while (std::getline(in, line)) {
    const auto field = fields(line);

    if (field.size() < 3 || (field[2] != "ok" && field[2] != "FAIL" && field[2] != "skip"))
      throw std::runtime_error(file.string() + ": not a result: " + line);
    if (field[2] == "skip")
      continue;
    for (const auto& id : table.idsIn(field[1].empty() ? field[0] : field[1])) {
      auto& row = shown[id];

      (field[2] == "ok" ? row.passed : row.failed).insert(file.stem().string() + ": " + field[0]);
    }
  }
}

} // namespace

std::map<std::string, Shown> readResults(const Table& table, const std::string& folder) {
  std::map<std::string, Shown> shown;

  if (fs::is_directory(folder))
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file() && entry.path().extension() == ".tsv")
        readFile(table, entry.path(), shown);
  return shown;
}

} // namespace conformance

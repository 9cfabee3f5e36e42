// SPDX-License-Identifier: GPL-2.0
/** @file results.cpp @brief Reads the results that the stages have written. */
#include "results.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

namespace conformance {

namespace fs = std::filesystem;

namespace {

void readFile(const Table& table, const fs::path& file, std::map<std::string, Shown>& shown) {
  static const std::regex result(R"( *(not )?ok (?:\d+ )?(?:- )?(.*?)(?: \[([A-Z]{2,3}-\d\d[^\]]*)\].*| # .*)?)");
  std::ifstream in(file);
  std::string line;
  std::smatch m;

  while (std::getline(in, line)) {
    line.resize(std::min(line.size(), std::size_t{1000})); /* std::regex recurses for each character */
    if (!std::regex_match(line, m, result) || line.find(" # SKIP") != line.npos)
      continue;
    for (const auto& id : table.idsIn(m[m[3].matched ? 3 : 2].str())) {
      auto& row = shown[id];

      (m[1].matched ? row.failed : row.passed).insert(file.stem().string() + ": " + m[2].str());
    }
  }
}

} // namespace

std::map<std::string, Shown> readResults(const Table& table, const std::string& folder) {
  std::map<std::string, Shown> shown;

  if (fs::is_directory(folder))
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file() && entry.path().extension() == ".tap")
        readFile(table, entry.path(), shown);
  return shown;
}

} // namespace conformance

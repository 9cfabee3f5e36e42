// SPDX-License-Identifier: GPL-2.0
/** @file sources.cpp @brief Finds the tests that carry IDs: names of GoogleTest and KUnit cases, tables of cases, checks of
 * scenarios. */
#include "sources.hpp"

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace conformance {

namespace fs = std::filesystem;

namespace {

std::string read(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;

  text << in.rdbuf();
  return text.str();
}

/** "rx_kunit" without "_kunit" is "rx". */
std::string without(std::string name, const std::string& suffix) {
  if (name.ends_with(suffix))
    name.resize(name.size() - suffix.size());
  return name;
}

class Finder {
public:
  Finder(const Table& table, const fs::path& root) : table_(table), root_(root) {}

  std::map<std::string, Carriers> run() {
    static const std::regex gtest(R"(\nTEST(?:_[FP])?\(\w+,\s*(\w+)\))");
    static const std::regex kunit(R"(\bKUNIT_CASE(?:_PARAM|_SLOW)?\((\w+))");
    static const std::regex scenario(R"( \[([A-Z]{2,3}-\d\d(?: [A-Z]{2,3}-\d\d)*)\]")");

    for (const auto& file : files("tools/unit", ".cpp"))
      byName(file, gtest, "unit", without(file.stem(), "_test"));
    for (const auto& file : files("kunit", ".c"))
      byName(file, kunit, "kunit", without(file.stem(), "_kunit"));
    for (const auto& file : files("tests/scenarios", ".sh"))
      byName(file, scenario, "scenario", file.stem());
    for (const auto& folder : fs::directory_iterator(root_ / "tools"))
      if (folder.is_directory())
        for (const auto& file : files(fs::path("tools") / folder.path().filename(), ".cpp"))
          cases(file, folder.path().filename());
    return found_;
  }

private:
  std::set<fs::path> files(const fs::path& folder, const std::string& extension) const {
    std::set<fs::path> list;

    if (fs::is_directory(root_ / folder))
      for (const auto& entry : fs::directory_iterator(root_ / folder))
        if (entry.is_regular_file() && entry.path().extension() == extension)
          list.insert(entry.path());
    return list;
  }

  void add(const std::string& ids, const std::string& kind, const std::string& name) {
    for (const auto& id : table_.idsIn(ids))
      found_[id][kind].insert(name);
  }

  /** The pattern's first group holds the IDs; @p carrier is the name of the test that carries them. */
  void byName(const fs::path& file, const std::regex& pattern, const std::string& kind, const std::string& carrier) {
    const std::string text = read(file);

    for (std::sregex_iterator i(text.begin(), text.end(), pattern), end; i != end; ++i)
      add((*i)[1], kind, carrier);
  }

  /** Rows of a table of cases: {"name", [roles,] "IDs", ...}. Omits the wire peer's selftest, which does not test the modules. */
  void cases(const fs::path& file, const std::string& folder) {
    static const std::regex row(R"re(\{"([a-z0-9-]+)",\s*(?:as\w+,\s*)?"([A-Z]{2,3}-\d\d[^"]*)")re");
    const std::string text = read(file), kind = folder == "peer" ? "wire" : folder;

    if (file.stem() == "selftest")
      return;
    for (std::sregex_iterator i(text.begin(), text.end(), row), end; i != end; ++i)
      add((*i)[2], kind, (*i)[1]);
  }

  const Table& table_;
  const fs::path root_;
  std::map<std::string, Carriers> found_;
};

} // namespace

std::map<std::string, Carriers> findCarriers(const Table& table, const std::string& root) {
  return Finder(table, root).run();
}

} // namespace conformance

// SPDX-License-Identifier: GPL-2.0
/**
 * @file main.cpp
 * @brief conformance: prints the table of requirements as a document, or with the results of the tests.
 */
#include <cstdio>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "results.hpp"
#include "sources.hpp"
#include "table.hpp"

namespace {

using namespace conformance;

const char* const help = R"(usage: conformance document ROWS CHECKOUT       Markdown, on standard output
       conformance report ROWS RESULTS TSV       a table, a line per requirement; TSV gets ID, level, result, tests

A requirement has passed when a test that carries its ID passed and none failed. report exits with status 1 when one has failed,
or when the table says that it is met but no test has shown it.
)";

/* --- the document --- */

const char* const introduction = R"(<!-- SPDX-License-Identifier: GPL-2.0 -->
<!-- Made by `make documents` from conformance.rows and the names of the tests. Do not edit. -->
# Conformance

The requirements of RFC 5044, of RFC 6581 and of the drafts culley-iwarp-mpa-01 and elzur-iwarp-mpa-tcp-analysis-00, how
the modules meet them, and which tests carry their IDs. The RFC's text is the authority. Suite `conformance` runs the tests
and prints for each row whether it has passed; `build/conformance.tsv` names every single test.

- **level**: M must, S should, O optional, I informative, – test vector.
- **tests**: `unit` `tools/unit/NAME_test.cpp`; `kunit` `kunit/NAME_kunit.c`; `wire` cases of `mpa-peer`; `verbs` cases of
  `verbs-test`; `socket` cases of `socket-test`; `scenario` `tests/scenarios/NAME.sh`. See [testing](testing.md).

DDP and RDMAP have no numbered list here. Their tests name the section: `RFC5040_4_8`, `RFC5041_7` (`tools/unit/ddp_test.cpp`,
`rdmap_test.cpp`, `kunit/ddp_kunit.c`), the wire cases `ddp-*` and `rdmap-*`.
)";

/** Escapes a text so that it does not end its cell. */
std::string cell(const std::string& text) {
  std::string out;

  for (const char c : text) {
    if (c == '|')
      out += '\\';
    out += c;
  }
  return out;
}

std::string testsOf(const Carriers& carriers) {
  std::string text;

  for (const auto& [kind, names] : carriers) {
    text += (text.empty() ? "" : "; ") + kind + ":";
    for (const auto& name : names)
      text += (name == *names.begin() ? " " : ", ") + name;
  }
  return text.empty() ? "–" : text;
}

std::string howOf(const Row& row) {
  if (row.open.empty())
    return row.how;
  return row.how + (row.how.empty() ? "" : " ") + "**Open:** " + row.open;
}

int document(const Table& table, const std::string& root) {
  const auto carriers = findCarriers(table, root);
  std::string group;

  std::cout << introduction;
  for (const auto& row : table.rows()) {
    if (row.group != group) {
      group = row.group;
      std::cout << "\n## " << group << "\n\n| ID | section | level | requirement, in short | how it is met | tests |\n"
                << "|---|---|---|---|---|---|\n";
    }
    const auto tests = carriers.find(row.id);
    std::cout << "| " << row.id << " | " << cell(row.section) << " | " << row.level << " | " << cell(row.text) << " | "
              << cell(howOf(row)) << " | " << testsOf(tests == carriers.end() ? Carriers{} : tests->second) << " |\n";
  }
  return 0;
}

/* --- the report --- */

enum Verdict { passed, failed, notShown };
const char* const words[] = {"passed", "failed", "not shown"};

/** An open row never counts as passed, even when a test of its other parts passed. */
Verdict verdictOf(const Row& row, const Shown& shown) {
  if (!shown.failed.empty())
    return failed;
  return shown.passed.empty() || !row.open.empty() ? notShown : passed;
}

std::string joined(const std::set<std::string>& names) {
  std::string text;

  for (const auto& name : names)
    text += (text.empty() ? "" : "; ") + name;
  return text;
}

/** The first name, and the number of the others. */
std::string shortly(const std::set<std::string>& names) {
  if (names.empty())
    return "";
  return *names.begin() + (names.size() > 1 ? " (+" + std::to_string(names.size() - 1) + ")" : "");
}

/** A test may pass for a part of an open row. If the row is closed meanwhile, the table is out of date. */
std::string remark(const Row& row, const std::set<std::string>& tests) {
  return "open: " + row.open + (tests.empty() ? "" : "; passed all the same: " + shortly(tests));
}

int report(const Table& table, const std::string& results, const std::string& tsvName) {
  auto all = readResults(table, results);
  std::ofstream tsv(tsvName);
  unsigned count[3] = {};
  std::string faults;

  for (const auto& row : table.rows()) {
    const auto& shown = all[row.id];
    const Verdict verdict = verdictOf(row, shown);
    const auto& tests = verdict == failed ? shown.failed : shown.passed;
    const bool claimed = row.open.empty();

    count[verdict]++;
    std::printf("%-7s %-3s  %-9s  %s\n", row.id.c_str(), row.level.c_str(), words[verdict],
                (claimed || verdict == failed ? shortly(tests) : remark(row, tests)).c_str());
    tsv << row.id << '\t' << row.level << '\t' << words[verdict] << '\t' << joined(tests) << '\n';
    if (verdict == failed)
      faults += row.id + ": failed: " + joined(tests) + "\n";
    else if (verdict == notShown && claimed)
      faults += row.id + ": said to be met, and no test has shown it\n";
  }
  tsv.flush();
  if (!tsv)
    throw std::runtime_error("cannot write " + tsvName);
  std::printf("%s%u passed, %u failed, %u not shown\n", faults.empty() ? "" : ("\n" + faults).c_str(), count[passed], count[failed],
              count[notShown]);
  return faults.empty() ? 0 : 1;
}

int execute(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";

  if (command == "document" && argc == 4)
    return document(Table(argv[2]), argv[3]);
  if (command == "report" && argc == 5)
    return report(Table(argv[2]), argv[3], argv[4]);
  std::cerr << help;
  return 64;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return execute(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "conformance: " << e.what() << '\n';
    return 1;
  }
}

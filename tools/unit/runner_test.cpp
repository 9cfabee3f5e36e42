// SPDX-License-Identifier: GPL-2.0
// What the scripts' program thinks: the results of tests, the table of kernels, and a series of commands in guests.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>

#include "../runner/kernels.hpp"
#include "../runner/series.hpp"

namespace runner {
namespace {

std::string count(const std::string& tap) {
  std::istringstream in(tap);
  std::string out;

  for (const auto& line : linesOf(readTap(in), "peer", 1.5, "a.log"))
    out += text(line);
  return out;
}

/** A file that is removed at the end. */
class File {
public:
  explicit File(const std::string& text) {
    name_ = std::filesystem::temp_directory_path() / "runner_test.XXXXXX.tap";
    close(mkstemps(name_.data(), 4));
    std::ofstream(name_) << text;
  }
  ~File() { std::remove(name_.c_str()); }

  std::string name_;
};

/* --- results --- */

const std::string mixed = "# what it tests\n"
                          "    ok - a case [TX-01 TX-02] # 3 ms\n"
                          "    # fast\n"
                          "    not ok - an\tother # 4 ms\n"
                          "    # why <it> did\n"
                          "    #more\n"
                          "a line between\n"
                          "# not of a test\n"
                          "    ok 3 - a third # SKIP no \"device\"\n"
                          "okay - no test\n"
                          "ok\n"
                          "not ok 1 - cases\n"
                          "1..1\n";

TEST(Results, CountsTestsAndSubtests) {
  EXPECT_EQ(count(mixed), "FAIL\tpeer: an other\t1.5\t1\ta.log\nFAIL\tpeer: cases\t1.5\t1\ta.log\nok\tpeer\t1.5\t2\t\n"
                          "skip\tpeer\t1.5\t1\tsays so itself\n");
  EXPECT_EQ(count("1..0 # SKIP no network\n"), "");
}

TEST(Results, KeepsTheCommentsBehindAFailureOnly) {
  std::istringstream in(mixed);
  const auto tests = readTap(in);

  ASSERT_EQ(tests.size(), 5u);
  EXPECT_EQ(tests[0].name, "a case [TX-01 TX-02]");
  EXPECT_EQ(tests[0].text, "");
  EXPECT_EQ(tests[1].text, "why <it> did\nmore\n");
  EXPECT_EQ(tests[2].text, "no \"device\"");
}

TEST(Results, ALongLineIsNoProblem) {
  EXPECT_EQ(count("ok 1 - " + std::string(1000000, ' ') + "\n"), "ok\tpeer\t1.5\t1\t\n");
}

TEST(Results, ReadsTheLinesOfAStage) {
  std::istringstream in("ok\tgood\t1.5\t3\t\nnoise\nFAIL\tbad\t2\t1\ta.log\nFAIL\tshort\n");
  const auto lines = readLines(in);

  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(text(lines[0]), "ok\tgood\t1.5\t3\t\n");
  EXPECT_EQ(lines[1].more, "a.log");
  EXPECT_EQ(lines[2].tests, 0u);
}

TEST(Results, ARowOfATableIsATestThatIsNoSubtest) {
  std::istringstream tap("# a: text\n    ok 1 - a step\n    not ok 2 - another\n# seconds: 3\nnot ok 1 - a: text\n"
                         "# seconds: 4\nok 2 - b: text\nok 3 - c: text # SKIP no tool\n1..3\n");
  std::string out;

  for (const auto& line : rowsOf(tap, "links", "a.log"))
    out += text(line);
  EXPECT_EQ(out, "FAIL\tlinks/a: text\t3.0\t1\ta.log\n"
                 "ok\tlinks/b: text\t4.0\t1\t\n"
                 "skip\tlinks/c: text\t0.0\t1\tno tool\n");
}

TEST(Results, ADirtyLogFailsWhatHasPassed) {
  EXPECT_EQ(spoiled("ok 1 - ok\n    ok - sub\nok 2 - left # SKIP out\n", 123),
            "not ok 1 - ok\n# the whole ended with status 123\n    not ok - sub\n# the whole ended with status 123\n"
            "ok 2 - left # SKIP out\n");
}

TEST(Results, AFailedTestIsReasonEnoughForStatus1) {
  const std::string tap = "ok 1 - a\nnot ok 2 - b\n";

  EXPECT_EQ(spoiled(tap, 1), tap);
  EXPECT_NE(spoiled(tap, 124), tap);
  EXPECT_NE(spoiled("ok 1 - a\n", 1), "ok 1 - a\n");
}

TEST(Results, ASuccessOrASkipSpoilsNothing) {
  EXPECT_EQ(spoiled("ok 1 - a\n", 0), "ok 1 - a\n");
  EXPECT_EQ(spoiled("ok 1 - a\n", 77), "ok 1 - a\n");
}

TEST(Results, AReportHasASuiteForEachStageAndFile) {
  std::string log;
  for (int i = 1; i <= 30; i++)
    log += std::to_string(i) + "\n";
  const File file(log), tap(mixed);
  std::istringstream lines("unit\tok\tgood\t1.5\t\nkunit\tFAIL\tbad\t2\t" + file.name_ + "\nunit\tskip\tleft out\t0\tno device\n");
  const std::string root = tap.name_.substr(0, tap.name_.rfind('/'));
  const auto all = suites(lines, root, {tap.name_});

  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "unit");
  ASSERT_EQ(all[0].results.size(), 2u);
  EXPECT_EQ(all[0].results[0].took, test::milliseconds(1500));
  EXPECT_EQ(all[0].results[1].text, "no device");
  EXPECT_EQ(all[1].results[0].text, log.substr(log.find("6\n"))) << "the last 25 lines";
  EXPECT_EQ(all[2].name + ".tap", tap.name_.substr(root.size() + 1));
  EXPECT_EQ(all[2].results.size(), 5u);
}

/* --- the table of kernels --- */

Total total(const std::string& lines) {
  std::istringstream in(lines);
  return totalOf(readLines(in));
}

TEST(Kernels, AddsUpTheLinesOfAStage) {
  const auto t = total("ok\ta\t1.5\t3\t\nskip\tb\t0\t1\t\nFAIL\tc\t2\t1\tx\nok\td\t1\t2\t\n");

  EXPECT_EQ(t.verdict, "FAIL");
  EXPECT_EQ(t.passed, 5u);
  EXPECT_EQ(t.failed, 1u);
  EXPECT_EQ(t.skipped, 1u);
  EXPECT_EQ(t.seconds, 4.5);
  EXPECT_EQ(total("skip\tb\t0\t1\t\n").verdict, "skip");
  EXPECT_EQ(total("skip\tb\t0\t1\t\nok\ta\t1\t1\t\nskip\tb\t0\t1\t\n").verdict, "ok");
}

TEST(Kernels, ConformanceCountsRequirements) {
  const auto t = total("FAIL\trequirements: 101 passed, 0 failed, 3 not shown\t2\t1\ta.log\n");

  EXPECT_EQ(t.verdict, "FAIL") << "the stage says so, although none has failed";
  EXPECT_EQ(t.passed, 101u);
  EXPECT_EQ(t.failed, 0u);
  EXPECT_EQ(t.skipped, 3u);
  EXPECT_EQ(total("FAIL\trequirements: it broke off\t2\t1\ta.log\n").failed, 1u);
}

TEST(Kernels, AddsUpTheChecksOfScenarios) {
  const File tap("ok 1 - a\nok 2 - b\nok 3 - c # SKIP x\n");
  const std::size_t slash = tap.name_.rfind('/');
  const std::string taps = tap.name_.substr(0, slash), name = tap.name_.substr(slash + 1, tap.name_.size() - slash - 5);
  const std::vector<Line> lines = {{"ok", name, 7, 1, ""}, {"skip", "none", 1, 1, ""}, {"FAIL", "other", 1, 1, ""}};
  const auto t = totalOf(lines, taps, {name, "none"});

  EXPECT_EQ(t.verdict, "ok");
  EXPECT_EQ(t.passed, 2u);
  EXPECT_EQ(t.skipped, 2u);
  EXPECT_EQ(t.seconds, 8);
  EXPECT_EQ(totalOf(lines, taps, {"missing"}).failed, 1u) << "did not run";
}

TEST(Kernels, TheTableKeepsTheLatestResults) {
  std::istringstream in("6.1\tnfs\tok\t5\t0\t1\t60\n6.12\tnfs\tFAIL\t4\t1\t1\t61\n");
  KernelTable table(in);

  EXPECT_TRUE(table.failed({"6.1", "6.12"}));
  EXPECT_FALSE(table.failed({"6.1"}));
  table.book("6.12", "nfs", {"ok", 5, 0, 2, 62.4});
  table.book("7", "kunit", {"ok", 9, 0, 0, 1});
  EXPECT_FALSE(table.failed({"6.1", "6.12", "7"}));
  table.book("7", "conformance", {"FAIL", 101, 0, 3, 1});
  EXPECT_TRUE(table.failed({"7"})) << "a requirement is not shown";
  table.book("7", "conformance", {"ok", 101, 0, 3, 1});
  EXPECT_EQ(table.tsv(),
            "6.1\tnfs\tok\t5\t0\t1\t60\n6.12\tnfs\tok\t5\t0\t2\t62\n7\tconformance\tok\t101\t0\t3\t1\n7\tkunit\tok\t9\t0\t0\t1\n");
  EXPECT_EQ(table.text({"6.1", "6.12"}, {"nfs", "kunit"}, "6.1"),
            "passed/failed/skipped; of conformance: requirements passed/failed/not shown\n"
            "stage        6.1              6.12            \n"
            "nfs          ok 5/0/1         ok 5/0/2        \n"
            "kunit        not run          in 6.1 only     \n");
}

TEST(Kernels, AnotherArchitectureHasItsOwnColumn) {
  std::istringstream in("6.1\tnfs\tok\t5\t0\t1\t60\n6.1/arm64\tnfs\tFAIL\t4\t1\t1\t61\n6.12/arm64\tnfs\tok\t4\t0\t1\t61\n");
  const KernelTable table(in);
  const std::string head = "passed/failed/skipped; of conformance: requirements passed/failed/not shown\n";

  EXPECT_EQ(table.text({"6.1"}, {"nfs"}, "6.1"), head + "stage        6.1              6.1/arm64       \n"
                                                        "nfs          ok 5/0/1         FAIL 4/1/1      \n");
  EXPECT_EQ(table.text({"6.12/arm64"}, {"nfs"}, "6.1"), head + "stage        6.12/arm64      \n"
                                                               "nfs          ok 4/0/1        \n");
  EXPECT_FALSE(table.failed({"6.1", "6.12"})) << "it has not run now";
  EXPECT_TRUE(table.failed({"6.1/arm64"}));
}

/* --- a series --- */

using Kind = Series::Kind;
using Step = Series::Step;
using Outcome = Series::Outcome;

/** Two commands that may print nothing for a second. */
class SeriesTest : public testing::Test {
protected:
  SeriesTest() : list("a\t1\ttrue\nb\t1\tfalse\tx\n"), series(list, 1, [this](auto& name) { return free.erase(name) == 1; }) {
    series.take();
    series.boots();
  }
  std::string next() {
    const auto* const command = series.take();
    return command ? command->line : "";
  }
  Kind start(const std::string& name, OwnTime now) {
    series.take();
    return series.line("start " + name, now);
  }

  std::set<std::string> free{"a", "b"}; ///< those that no series has taken
  std::istringstream list;
  Series series;
};

TEST_F(SeriesTest, CommandsEndInOrder) {
  EXPECT_EQ(series.guestSeconds(), 1200 + 2 * (10 + 60));
  EXPECT_EQ(series.current(), nullptr);
  EXPECT_EQ(series.line("ready", 4), Kind::Ready);
  EXPECT_EQ(next(), "a\t1\ttrue");
  EXPECT_EQ(series.line("start a", 5), Kind::Start);
  EXPECT_EQ(series.current()->name, "a");
  EXPECT_EQ(series.line("ready", 5), Kind::Other) << "it is not";
  EXPECT_EQ(series.line("something else", 5), Kind::Other);
  EXPECT_EQ(series.line("end\ta\t77\t0.3", 6), Kind::End);
  EXPECT_EQ(series.result(), "a\t77\t0.3");
  EXPECT_EQ(series.current(), nullptr);
  EXPECT_EQ(series.ends(7), Outcome::Between) << "it left a module behind, for instance";
  EXPECT_EQ(next(), "b\t1\tfalse\tx") << "the guest's loop gets the line as it is";
  series.boots();
  EXPECT_EQ(next(), "b\t1\tfalse\tx") << "the command that was taken before it booted";
  EXPECT_EQ(series.line("start b", 5), Kind::Start);
  EXPECT_EQ(series.line("end\tb\t0\t0.3", 6), Kind::End);
  EXPECT_EQ(next(), "");
}

TEST_F(SeriesTest, LinesThatDoNotFitAreNotBelieved) {
  EXPECT_EQ(series.line("start b", 0), Kind::Other);
  EXPECT_EQ(series.line("end\ta\t0\t0.3", 0), Kind::Other);
  series.line("start a", 0);
  EXPECT_EQ(series.line("end\tb\t0\t0.3", 0), Kind::Other);
  EXPECT_EQ(series.current()->name, "a");
}

TEST_F(SeriesTest, WhatAnotherSeriesHasTakenIsNotExecuted) {
  free.erase("b");
  EXPECT_EQ(start("a", 0), Kind::Start);
  EXPECT_EQ(series.line("end\ta\t0\t0.3", 1), Kind::End);
  EXPECT_EQ(series.line("start b", 2), Kind::Other);
  EXPECT_EQ(next(), "");
}

TEST_F(SeriesTest, ASilentCommandIsAskedToEnd) {
  series.line("start a", 10000);
  EXPECT_EQ(series.step(10999, 0), Step::Wait);
  EXPECT_EQ(series.step(11000, 0), Step::Ask);
  EXPECT_EQ(series.step(12000, 0), Step::Wait) << "asked once";
  EXPECT_EQ(series.line("end\ta\t124\t1.5", 12500), Kind::End);
}

TEST_F(SeriesTest, ACommandThatDoesNotEndTakesItsGuestWithIt) {
  series.line("start a", 0);
  EXPECT_EQ(series.step(1000, 0), Step::Ask);
  EXPECT_EQ(series.step(60999, 7), Step::Wait);
  EXPECT_EQ(series.step(61000, 8), Step::Kill) << "although it prints";
  EXPECT_EQ(series.ends(61000), Outcome::Under);
  EXPECT_EQ(series.result(), "a\t124\t61");
  EXPECT_EQ(series.take()->name, "b");
}

TEST_F(SeriesTest, ACommandThatPrintsMayRunForTenTimesItsLimit) {
  series.line("start a", 0);
  for (OwnTime now = 900; now < 10000; now += 900)
    EXPECT_EQ(series.step(now, static_cast<std::uintmax_t>(now)), Step::Wait) << now;
  EXPECT_EQ(series.step(10000, 10000), Step::Ask);
}

TEST_F(SeriesTest, ALimitBeginsAnewWithEachCommand) {
  series.line("start a", 0);
  EXPECT_EQ(series.step(1000, 0), Step::Ask);
  series.line("end\ta\t124\t1", 1500);
  start("b", 1600);
  EXPECT_EQ(series.step(2599, 0), Step::Wait);
  EXPECT_EQ(series.step(2600, 0), Step::Ask);
}

TEST_F(SeriesTest, TheKernelDiesUnderACommand) {
  series.line("start a", 1000);
  EXPECT_EQ(series.ends(3500), Outcome::Under);
  EXPECT_EQ(series.result(), "a\t125\t2");
  series.boots();
  EXPECT_EQ(start("b", 0), Kind::Start) << "the others run in a new guest";
}

TEST_F(SeriesTest, AGuestThatBeginsNoCommandEndsTheSeries) {
  EXPECT_EQ(series.step(119999, 0), Step::Wait);
  EXPECT_EQ(series.step(120000, 0), Step::Kill);
  EXPECT_EQ(series.ends(120000), Outcome::Useless);
}

TEST_F(SeriesTest, AGuestThatHangsBetweenCommandsIsKilled) {
  series.line("start a", 0);
  series.line("end\ta\t0\t1", 1000);
  EXPECT_EQ(series.step(120999, 0), Step::Wait);
  EXPECT_EQ(series.step(121000, 0), Step::Kill);
  EXPECT_EQ(series.ends(121000), Outcome::Between);
}

TEST(Series, ASlowKernelGetsMoreTime) {
  std::istringstream list("a\t10\ttrue\n");
  Series series(list, 10, [](auto&) { return true; });

  series.take();
  series.boots();
  EXPECT_EQ(series.step(1199999, 0), Step::Wait);
  series.line("start a", 0);
  EXPECT_EQ(series.step(10000, 0), Step::Ask) << "the list has the limits of that kernel";
  EXPECT_EQ(series.step(609999, 0), Step::Wait);
  EXPECT_EQ(series.step(610000, 0), Step::Kill);
}

} // namespace
} // namespace runner

// SPDX-License-Identifier: GPL-2.0
// Formats of iwmpa-peer's results: table, TAP and XML.
#include <gtest/gtest.h>

#include "../common/junit.hpp"
#include "../peer/verdicts.hpp"

namespace peer {
namespace {

using test::milliseconds;

const std::vector<test::Result> results = {
    {"a", "X-1 X-2", "ok", "", milliseconds(1500)},
    {"b", "X-2", "FAIL", "got <1> & \"2\"\n\x01", milliseconds(20)},
    {"c", "X-3", "skip", "no Markers", milliseconds(0)},
};

TEST(Verdicts, OneFailureFailsARequirement) {
  EXPECT_EQ(byRequirement(results),
            (std::vector<std::string>{"X-1          passed    a", "X-2          FAILED    a b", "X-3          not shown c"}));
}

TEST(Verdicts, Tap) {
  EXPECT_EQ(test::tap(results[0]), "ok - a [X-1 X-2] # 1500 ms");
  EXPECT_EQ(test::tap({"b", "", "FAIL", "why\nit did", milliseconds(2)}), "not ok - b # 2 ms\n# why it did");
  EXPECT_EQ(test::tap(results[2]), "ok - c [X-3] # SKIP no Markers");
}

TEST(Verdicts, OutputThatCannotBeWrittenIsAFailure) {
  const auto run = [](bool flushed) {
    if (!std::freopen("/dev/full", "w", stdout))
      std::abort();
    std::exit(test::guarded("program", [&] {
      flushed ? test::print(results[0]) : static_cast<void>(std::puts("text"));
      return 0;
    }));
  };

  EXPECT_EXIT(run(true), testing::ExitedWithCode(1), "program: cannot write");
  EXPECT_EXIT(run(false), testing::ExitedWithCode(1), "program: cannot write");
}

TEST(Verdicts, JunitCountsAndEscapes) {
  const std::string xml = test::junit({{"peer", results}});

  EXPECT_NE(xml.find(R"(name="peer" tests="3" failures="1" skipped="1" time="1.520")"), std::string::npos) << xml;
  EXPECT_NE(xml.find(R"(name="a [X-1 X-2]" time="1.500"/>)"), std::string::npos) << xml;
  EXPECT_NE(xml.find("<failure message=\"got &lt;1&gt; &amp; &quot;2&quot;\">got &lt;1&gt; &amp; &quot;2&quot;\n?</failure>"),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find(R"(<skipped message="no Markers"/>)"), std::string::npos) << xml;
}

} // namespace
} // namespace peer

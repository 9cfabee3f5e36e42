// SPDX-License-Identifier: GPL-2.0
// The benchmark's host part: the output of guests and of fio, selections, profiles by layer, and the documents' tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "../bench/document.hpp"
#include "../bench/plot.hpp"
#include "../bench/profile.hpp"
#include "../bench/report.hpp"
#include "../bench/results.hpp"
#include "../bench/rows.hpp"
#include "../bench/scale.hpp"

namespace bench {
namespace {

/** The fields of fio's report that bench_tool reads. */
std::string fioReport(const std::string& error, int reads, int writes) {
  const auto direction = [](int ios) {
    return R"({"total_ios" : )" + std::to_string(ios) + R"(, "runtime" : 300, "io_bytes" : )" + std::to_string(4096 * ios) +
           R"(, "lat_ns" : {"mean" : 7500.5}})";
  };
  return "{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : [\n{\n\"error\" : " + error + ", \"read\" : " + direction(reads) +
         ", \"write\" : " + direction(writes) + "}\n  ]\n}";
}

std::vector<std::string> textsOf(const std::vector<Row>& rows) {
  std::vector<std::string> texts;
  for (const Row& row : rows)
    texts.push_back(row.text());
  return texts;
}

/** A temporary folder, removed with the test. */
class Folder {
public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "bench-test.XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

private:
  std::filesystem::path path_;
};

TEST(Fio, TakesTheDirectionThatHasRun) {
  const Repeat read = parseFio(fioReport("0", 4000, 0)), write = parseFio(fioReport("0", 0, 3000));
  EXPECT_TRUE(read.told);
  EXPECT_EQ(read.tsc, 300'000'000u);
  EXPECT_EQ(read.operations, 4000u);
  EXPECT_EQ(read.octets, 4096u * 4000);
  EXPECT_EQ(write.operations, 3000u);
  EXPECT_EQ(write.latency, 7500.5);
}

TEST(Fio, RefusesAJobThatFailedOrDidNothing) {
  EXPECT_THROW(parseFio(fioReport("5", 10, 0)), std::runtime_error);
  EXPECT_THROW(parseFio(fioReport("0", 0, 0)), std::runtime_error);
  EXPECT_THROW(parseFio("{}"), std::exception);
  EXPECT_THROW(parseFio(fioReport("0", 10, 0) + "}"), std::exception);
}

TEST(Guest, JoinsCountsWithRowsInTheOrderOfTheirRegions) {
  const Folder folder;
  const auto console =
      folder.write("console", "begin a\r\nresult tsc=1000 ops=10 octets=100\r\nend\r\nbegin b\nresult tsc=500 ops=1 "
                              "octets=1\nend status 1: no\nbegin a\nresult tsc=2000 ops=10 octets=100\nend\nbegin c\n");
  const auto counts =
      folder.write("counts", "region 1 kernel 900 user 90\nregion 2 kernel 400 user 0\nregion 3 kernel 1900 user 0\n");
  const std::vector<RowRepeats> rows = readGuest(console, counts);
  ASSERT_EQ(rows.size(), 3u);
  ASSERT_EQ(rows[0].repeats.size(), 2u);
  EXPECT_EQ(rows[0].repeats[0].instructions(), 990u);
  EXPECT_EQ(rows[0].repeats[1].instructions(), 1900u);
  EXPECT_EQ(rows[0].failure, "");
  EXPECT_EQ(rows[1].failure, "status 1: no");
  EXPECT_NE(rows[2].failure, "");
}

TEST(Guest, WhatItTellsItselfNeedsNoCounts) {
  const Folder folder;
  const auto console = folder.write("console", "begin a\n" + fioReport("0", 4000, 0) +
                                                   "\nend\nbegin b\nresult told=70 ops=1 octets=7 idle=14\nend\n");
  const std::vector<RowRepeats> rows = readGuest(console, folder / "none");
  const Row row = selectRows({"iwmpa nvme-read-4k-1 markers=1"}).at(0), cpus = selectRows({"cpus=4 iwmpa cpus-write-8"}).at(0);
  EXPECT_EQ(summarize(row, rows.at(0)).value, 75000);
  EXPECT_EQ(summarize(cpus, rows.at(1)).value, 10);
  EXPECT_NEAR(summarize(cpus, rows.at(1)).idle, 0.2, 1e-9);
}

TEST(Guest, SegmentsAreOfTheReportBehindThem) {
  const Folder folder;
  const auto console = folder.write(
      "console", "begin a\nTcp: 1 200 120000 -1 7 7 0 0 2 99 1000 3 0 0 0\r\nTcp: 1 200 120000 -1 7 7 0 0 2 99 10000 3 0 0 0\r\n" +
                     fioReport("0", 4000, 0) + "\nend\nbegin b\n" + fioReport("0", 0, 100) + "\nend\n");
  const std::vector<RowRepeats> rows = readGuest(console, folder / "none");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].repeats.at(0).segments, 9000u);
  EXPECT_EQ(rows[1].repeats.at(0).segments, 0u);
  const Result result = summarize(selectRows({"link iwmpa delay=20 link-nvme-read-4k-1"}).at(0), rows[0]);
  EXPECT_EQ(result.value, 75000);
  EXPECT_EQ(result.segments, 2.25);
  EXPECT_EQ(result.latency, 7500.5);
}

TEST(Guest, CountsOfCpusAreMediansForEachOperation) {
  const Folder folder;
  std::string text = "Cpus: calls=70 switches=7900\n";
  for (const int calls : {90, 190, 8190}) // 20, 100 and 8000 more than before, for 4,000 operations
    text += "begin a\nCpus: calls=" + std::to_string(calls) + " switches=" + std::to_string(900 + 100 * calls) + "\n" +
            fioReport("0", 4000, 0) + "\nend\n";
  const std::vector<RowRepeats> rows = readGuest(folder.write("console", text), "");
  ASSERT_EQ(rows.size(), 1u);
  const Result result = summarize(selectRows({"iwmpa cpus=2 cpus-nvme-read-4k-1"}).at(0), rows[0]);
  EXPECT_EQ(result.calls, 100 / 4000.0);
  EXPECT_EQ(result.switches, 10000 / 4000.0);
}

TEST(Guest, OneRunMayHaveTheResultsOfSeveralRows) {
  const Folder folder;
  const auto console = folder.write("console", "begin a\nmemory of=idle n=4 kernel=9000 slab=70\nmemory of=once-busy n=4 "
                                               "kernel=10000\nresult tsc=500 ops=1 octets=0\nresult tsc=700 ops=2 octets=0\nend\n");
  const auto counts = folder.write("counts", "region 1 kernel 400 user 90\nregion 2 kernel 600 user 0\n");
  const RowRepeats measured = readGuest(console, counts).at(0);
  const auto value = [&](const std::string& selection) { return summarize(selectRows({selection}).at(0), measured).value; };
  EXPECT_EQ(value("iwmpa idle"), 9000);
  EXPECT_EQ(value("iwmpa once-busy"), 10000);
  EXPECT_EQ(value("iwmpa connect"), 490);
  EXPECT_EQ(value("iwmpa disconnect"), 300);
  EXPECT_EQ(summarize(selectRows({"iwmpa half-open"}).at(0), measured).failure, "printed no result");
}

TEST(Guest, ANativeRowIsTheMedianTimeOfItsRounds) {
  const Folder folder;
  std::string text;
  for (const int ns : {500, 400, 900})
    text += "begin a\nresult ops=10 ns=" + std::to_string(ns) + " p50=40 p99=77 p999=99\nend\n";
  const RowRepeats measured = readGuest(folder.write("console", text), {}).at(0);
  const Row row = selectRows({"native iwmpa cpus=2 delay=20 native-nvme-read-4k-1"}).at(0);
  EXPECT_EQ(row.guest(), "native-2");
  const Result result = summarize(row, measured);
  EXPECT_EQ(result.value, 50);
  EXPECT_EQ(result.latency, 77);
  std::ostringstream out;
  writeTable(out, *row.operation->table, {row}, {{row.text(), result}}, Format::Text);
  EXPECT_NE(out.str().find("-20.0 %, +80.0 %"), std::string::npos) << out.str();
}

TEST(Guest, WhatModulesDoNotHaveIsNoFailure) {
  const Folder folder;
  const RowRepeats row = readGuest(folder.write("console", "begin a\nskip\n"), folder / "none").at(0);
  EXPECT_TRUE(row.skipped);
  EXPECT_EQ(row.failure, "");
}

TEST(Guest, CountsThatDoNotFitAreRefused) {
  const Folder folder;
  const auto console = folder.write("console", "begin a\nresult tsc=1000 ops=10 octets=100\nend\n");
  EXPECT_THROW(readGuest(console, folder.write("more", "region 1 kernel 9 user 0\nregion 2 kernel 9 user 0\n")),
               std::runtime_error);
  EXPECT_THROW(readGuest(console, folder.write("none", "")), std::runtime_error);
  EXPECT_THROW(readGuest(console, folder.write("much", "region 1 kernel 1100 user 0\n")), std::runtime_error);
}

TEST(Selection, TakesTheRowsThatHaveAllWords) {
  EXPECT_EQ(textsOf(selectRows({"iwmpa 1500 crc=1 markers=0 write"})),
            std::vector<std::string>{"iwmpa 1500 crc=1 markers=0 write"});
  EXPECT_EQ(textsOf(selectRows({"tcp nvme-read-4k-1", "tcp 1500 send"})),
            (std::vector<std::string>{"tcp 1500 send", "tcp 1500 crc=0 nvme-read-4k-1", "tcp 1500 crc=1 nvme-read-4k-1"}));
  EXPECT_THROW(selectRows({"iwmpa wirte"}), std::invalid_argument);
}

TEST(Selection, ATableThatIsNotMeasuredByDefaultHasToBeNamed) {
  const auto hasCpus = [](const std::vector<Row>& rows) {
    return std::ranges::any_of(rows, [](const Row& row) { return row.operation->table->name == "cpus"; });
  };
  EXPECT_FALSE(hasCpus(selectRows({})));
  EXPECT_FALSE(hasCpus(selectRows({"iwmpa"})));
  EXPECT_TRUE(hasCpus(selectRows({"cpus"})));
  EXPECT_EQ(guestsOf(selectRows({"nfs", "cpus cpus=2"})),
            (std::vector<std::string>{"storage-tcp", "storage-siw", "storage-iwmpa", "cpus-2", "queues-2"}));
}

TEST(Selection, TheTablesOfALinkHaveAWordInCommon) {
  const std::vector<Row> link = selectRows({"link"});
  const auto of = [](const std::string& table) { return [&](const Row& row) { return row.operation->table->name == table; }; };
  EXPECT_TRUE(std::ranges::any_of(link, of("link-nvme")));
  EXPECT_TRUE(std::ranges::any_of(link, of("link-nfs")));
  EXPECT_TRUE(std::ranges::none_of(selectRows({"nvme"}), of("link-nvme")));
  EXPECT_TRUE(std::ranges::all_of(selectRows({"link nvme"}), of("link-nvme")));
  EXPECT_EQ(textsOf(selectRows({"link iwmpa delay=20 slot=20 link-nfs-read-1m-4"})),
            std::vector<std::string>{"iwmpa 1500 crc=1 markers=0 delay=20 slot=20 link-nfs-read-1m-4"});
  EXPECT_EQ(textsOf(selectRows({"link iwmpa crc=1 large=1 link-nfs-read-1m-4"})),
            std::vector<std::string>{"iwmpa 1500 crc=1 large=1 delay=20 link-nfs-read-1m-4"});
  EXPECT_EQ(textsOf(selectRows({"link iwmpa crc=0 link-nfs-read-1m-4"})),
            (std::vector<std::string>{"iwmpa 1500 crc=0 markers=0 delay=20 link-nfs-read-1m-4",
                                      "iwmpa 1500 crc=0 large=1 delay=20 link-nfs-read-1m-4"}));
}

TEST(Selection, AProtectionIsMeasuredInItsTablesOnly) {
  const auto isSecure = [](const Row& row) { return row.operation->table->group == "secure"; };
  EXPECT_TRUE(std::ranges::all_of(selectRows({"tcp-tls", "tcp-tls secure", "iwmpa-esp link", "iwmpa-esp secure"}), isSecure));
  EXPECT_EQ(textsOf(selectRows({"secure secure-nvme-read-4k-32"})),
            (std::vector<std::string>{
                "tcp 1500 crc=0 delay=20 secure-nvme-read-4k-32", "tcp 1500 crc=1 delay=20 secure-nvme-read-4k-32",
                "tcp-tls 1500 delay=20 secure-nvme-read-4k-32", "tcp-esp 1500 delay=20 secure-nvme-read-4k-32",
                "tcp-wireguard 1500 delay=20 secure-nvme-read-4k-32", "iwmpa 1500 crc=1 markers=0 delay=20 secure-nvme-read-4k-32",
                "iwmpa-esp 1500 crc=0 markers=0 delay=20 secure-nvme-read-4k-32",
                "iwmpa-wireguard 1500 crc=0 markers=0 delay=20 secure-nvme-read-4k-32"}));
  EXPECT_EQ(textsOf(selectRows({"secure tcp-krb5i secure-nfs-read-1m-4", "secure tcp secure-nfs-read-1m-4"})),
            (std::vector<std::string>{"tcp 1500 delay=20 secure-nfs-read-1m-4", "tcp-krb5i 1500 delay=20 secure-nfs-read-1m-4"}));
}

TEST(Plan, RowsOfALinkSayWhatItIsLike) {
  const std::vector<Row> rows = selectRows({"link tcp crc=1 slot=20 link-nvme-read-4k-1"});
  std::ostringstream out;
  writePlan(out, rows, "link-tcp", 0, false);
  EXPECT_EQ(out.str(),
            "over 20 20 row 'tcp 1500 crc=1 delay=20 slot=20 link-nvme-read-4k-1' tcp 1500 1 - 0 nvme randread 4k 1 4000\n");
}

TEST(Selection, RxeIsMeasuredOverAVethPairOnly) {
  const std::vector<Row> rows = selectRows({"rxe", "veth rxe"});
  EXPECT_FALSE(rows.empty());
  EXPECT_TRUE(std::ranges::all_of(rows, [](const Row& row) { return row.operation->table->group == "veth"; }));
  EXPECT_EQ(guestsOf(rows), (std::vector<std::string>{"rxe", "veth-rxe"}));
  EXPECT_EQ(guestsOf(selectRows({"veth"})),
            (std::vector<std::string>{"tcp", "iwmpa", "rxe", "veth-tcp", "veth-iwmpa", "veth-rxe"}));
}

TEST(Plan, RowsOverAVethPairSaySo) {
  const auto planOf = [](const std::string& selection) {
    const std::vector<Row> rows = selectRows({selection});
    std::ostringstream out;
    writePlan(out, rows, rows.at(0).guest(), 1, false);
    return out.str();
  };
  EXPECT_EQ(planOf("rxe veth-send"), "over_veth row 'rxe 1500 crc=1 veth-send' rxe 1500 1 - 0 rdma_bench --op send --count 400 "
                                     "--warmup 64 --repeats 1\n");
  EXPECT_EQ(planOf("tcp veth-loss-0.1"), "over 20 0 row 'tcp 1500 delay=20 veth-loss-0.1' tcp 1500 - - 0 loss 0.1 --op send "
                                         "--milliseconds 60000 --octets 150000000\n");
}

TEST(Plan, WhatIsComparedStandsSideBySide) {
  const std::vector<Row> rows = selectRows({"cpus cpus=2 cpus-send-1", "cpus cpus=2 cpus-send-8"});
  std::ostringstream plan;
  writePlan(plan, rows, "cpus-2", 2, false);
  std::istringstream lines(plan.str());
  std::string order;
  for (std::string line; std::getline(lines, line);)
    order += line.substr(5, 1) + line.substr(line.size() - 1);
  EXPECT_EQ(order, "t1s1i1t8s8i8t1s1i1t8s8i8");
}

TEST(Plan, StorageWithSeveralCpusTakesTurns) {
  std::ostringstream plan;
  writePlan(plan, selectRows({"cpus cpus=4 cpus-nvme-read-4k-32"}), "queues-4", 2, false);
  const std::string round =
      "over 200 0 row 'tcp 1500 crc=1 cpus=4 delay=200 cpus-nvme-read-4k-32' tcp 1500 1 - 0 nvme randread 4k 32 2000\n"
      "over 200 0 row 'iwmpa 1500 crc=1 markers=0 cpus=4 delay=200 cpus-nvme-read-4k-32' iwmpa 1500 1 0 0 nvme randread 4k 32 "
      "2000\n"
      "over 200 0 row 'rxe 1500 crc=1 cpus=4 delay=200 cpus-nvme-read-4k-32' rxe 1500 1 - 0 nvme randread 4k 32 2000\n";
  EXPECT_EQ(plan.str(), round + round);
}

TEST(Plan, TransportsOfNativeRowsTakeTurnsByRounds) {
  std::ostringstream plan;
  writePlan(plan, selectRows({"native cpus=1 native-k64", "native cpus=1 native-krtt"}), "native-1", 2, false);
  std::istringstream lines(plan.str());
  std::string order;
  for (std::string line; std::getline(lines, line);)
    order += line.substr(std::string("over 0 0 row '").size(), 1);
  EXPECT_EQ(order, "ttssiirrttssiirr");
  EXPECT_EQ(plan.str().substr(0, plan.str().find('\n')),
            "over 0 0 row 'tcp 1500 delay=0 native-k64' tcp 1500 - - 0 kernel --op send --size 64 --depth 32 --count 300000 "
            "--warmup 60000");
}

TEST(Layers, TheFirstLineThatFitsCounts) {
  std::istringstream table("# comment\niwmpa *\\[mpa\\] *\\[iwmpa\\] # ours\ncopy *copy*\ntcp tcp_*\niwmpa user:ours\n");
  const Layers layers(table);
  EXPECT_EQ(layers.of("copy_all [mpa]"), "iwmpa");
  EXPECT_EQ(layers.of("_copy_to_iter"), "copy");
  EXPECT_EQ(layers.of("tcp_copy"), "copy");
  EXPECT_EQ(layers.of("tcp_ack"), "tcp");
  EXPECT_EQ(layers.of("user: ours"), "iwmpa");
  EXPECT_EQ(layers.of("schedule"), "other");
  EXPECT_EQ(layers.names(), (std::vector<std::string>{"iwmpa", "copy", "tcp", "other"}));
}

TEST(Layers, ATableComesBackAsItWasWritten) {
  const Folder folder;
  const std::map<std::string, LayerCosts> costs{{"tcp 1500 send", {{"TCP/IP", 0.3261}, {"copy", 0.5}}},
                                                {"iwmpa 1500 crc=1 markers=0 write", {{"CRC", 0.25}, {"copy", 0}}}};
  std::ostringstream tsv;
  writeLayersTsv(tsv, costs);
  EXPECT_TRUE(tsv.str().starts_with("row\tCRC\tTCP/IP\tcopy\niwmpa 1500 crc=1 markers=0 write\t0.2500\t-\t0.0000\n")) << tsv.str();
  EXPECT_EQ(readLayersTsv(folder.write("layers.tsv", tsv.str())), costs);
  EXPECT_TRUE(readLayersTsv(folder / "none").empty());
}

TEST(Report, ATableComesBackAsItWasWritten) {
  const Folder folder;
  const std::vector<Row> rows = selectRows({"tcp", "iwmpa markers=1", "iwmpa large=1", "cpus iwmpa cpus=4"});
  Results results;
  for (const Row& row : rows)
    results[row.text()].value = results[row.text()].min = results[row.text()].max = row.id, results[row.text()].idle = 0.25;
  Record written{{"6.1", results}};
  written["6.12"][rows[0].text()].value = 7;
  std::ostringstream tsv;
  writeTsv(tsv, rows, written);
  const Record record = readTsv(folder.write("bench.tsv", tsv.str()));
  ASSERT_EQ(record.size(), 2u);
  EXPECT_EQ(record.at("6.12").at(rows[0].text()).value, 7);
  const Results& back = record.at("6.1");
  ASSERT_EQ(back.size(), results.size());
  for (const auto& [row, result] : back) {
    EXPECT_EQ(result.value, results.at(row).value) << row;
    EXPECT_EQ(result.idle, 0.25) << row;
    EXPECT_FALSE(result.measured);
  }
}

TEST(Report, ALinkComesBackWithItsDelay) {
  const Folder folder;
  const std::vector<Row> rows = selectRows({"link 1500", "link 9000"});
  Results results;
  for (const Row& row : rows) {
    Result& result = results[row.text()];
    result.value = result.min = result.max = row.id;
    result.latency = row.id + 0.5;
    result.segments = 3.25;
  }
  std::ostringstream tsv;
  writeTsv(tsv, rows, {{"6.12", results}});
  const Results back = readTsv(folder.write("bench.tsv", tsv.str())).at("6.12");
  ASSERT_EQ(back.size(), rows.size());
  for (const auto& [row, result] : back) {
    EXPECT_EQ(result.value, results.at(row).value) << row;
    EXPECT_EQ(result.latency, results.at(row).latency) << row;
    EXPECT_EQ(result.segments, 3.25) << row;
  }
}

TEST(Report, ATableWithoutAColumnIsRefused) {
  const Folder folder;
  EXPECT_TRUE(readTsv(folder / "none").empty());
  EXPECT_THROW(readTsv(folder.write("short.tsv", "kernel\ttransport\n6.1\n")), std::runtime_error);
  EXPECT_THROW(readTsv(folder.write("strange.tsv", "kernel\ttransport\n6.1\tiwmpa\n")), std::runtime_error);
}

TEST(Report, TheComparisonHasEachTransportOverItsOwnPath) {
  Record record;
  const auto set = [&](const std::string& kernel, const std::string& row, double value) { record[kernel][row].value = value; };
  set("6.12", "tcp 1500 crc=1 delay=20 veth-nvme-read-4k-32", 50);
  set("6.12", "iwmpa 1500 crc=1 markers=0 delay=20 veth-nvme-read-4k-32", 25);
  set("6.12", "rxe 1500 crc=1 delay=20 veth-nvme-read-4k-32", 75);
  set("6.12", "tcp 1500 delay=20 veth-loss-1", 10);
  set("6.12", "iwmpa 1500 crc=1 markers=0 delay=20 veth-loss-1", 15);
  set("6.1", "tcp 1500 veth-send", 2);
  set("6.1", "iwmpa 1500 crc=1 markers=0 veth-write", 3);
  set("6.1", "iwmpa 1500 crc=1 markers=0 write", 300);
  set("6.1", "tcp 1500 send", 1);
  set("6.1", "siw 1500 crc=1 write", 8);
  set("6.1", "siw 1500 crc=1 read", 9);
  std::ostringstream out;
  writeCompared(out, record);
  const std::string table = out.str();
  EXPECT_TRUE(table.starts_with("| TCP = 1 | iwmpa, 6.12 | rxe, 6.12 | iwmpa, 6.1 | rxe, 6.1 | siw, 6.1 |\n|---|--:|")) << table;
  EXPECT_NE(table.find("\n| NVMe, read of 4 KiB, depth 32 | 0.50 | 1.50 | - | - | - |\n"), std::string::npos) << table;
  EXPECT_NE(table.find("\n| RDMA WRITE of 64 KiB | - | - | 1.50 | - | 8.00 |\n"), std::string::npos) << table;
  EXPECT_NE(table.find("1 % loss | 1.50 | - | - | - | - |\n"), std::string::npos) << table;
  EXPECT_NE(table.find("\n| RDMA READ of 64 KiB | - | - | - | - | 9.00 |\n"), std::string::npos);
}

TEST(Report, AProtectionIsComparedWithTcpWithoutOne) {
  Results results;
  const auto set = [&](const std::string& row, double value) { results[row].value = value; };
  set("tcp 1500 crc=0 delay=20 secure-nvme-read-4k-1", 10);
  set("tcp 1500 crc=1 delay=20 secure-nvme-read-4k-1", 15);
  set("iwmpa 1500 crc=1 markers=0 delay=20 secure-nvme-read-4k-1", 5);
  set("iwmpa-esp 1500 crc=0 markers=0 delay=20 secure-nvme-read-4k-1", 20);
  set("tcp 1500 delay=20 secure-nfs-read-1m-4", 100);
  set("tcp-krb5i 1500 delay=20 secure-nfs-read-1m-4", 400);
  std::ostringstream out;
  writeSecure(out, results);
  const std::string table = out.str();
  EXPECT_NE(table.find("\n| TCP, digests | 1.50 | - | - | - | - | - | - |"), std::string::npos) << table;
  EXPECT_NE(table.find("\n| iwmpa, CRC | 0.50 |"), std::string::npos) << table;
  EXPECT_NE(table.find("\n| iwmpa through ESP | 2.00 |"), std::string::npos) << table;
  EXPECT_NE(table.find("\n| TCP, krb5i | - | - | - | - | - | 4.00 | - |"), std::string::npos) << table;
}

TEST(Report, TheComparisonInTimeHasEachNumberOfCpus) {
  Record record;
  const auto set = [&](const std::string& row, double value) { record["7.3"][row].value = value; };
  set("tcp 1500 crc=1 delay=0 native-nvme-read-4k-32", 10);
  set("iwmpa 1500 crc=1 markers=0 delay=0 native-nvme-read-4k-32", 4);
  set("iwmpa 1500 crc=1 markers=0 delay=20 native-nvme-read-4k-32", 9);
  set("tcp 1500 crc=1 cpus=2 delay=0 native-nvme-read-4k-32", 8);
  set("iwmpa 1500 crc=1 markers=0 cpus=2 delay=0 native-nvme-read-4k-32", 6);
  set("tcp 1500 cpus=2 delay=0 native-krtt", 2);
  set("rxe 1500 crc=1 cpus=2 delay=0 native-krtt", 3);
  std::ostringstream out;
  writeTime(out, record);
  const std::string table = out.str();
  EXPECT_NE(table.find("\n| NVMe, read of 4 KiB, depth 32 | 0.40 | 0.75 | - | - |\n"), std::string::npos) << table;
  EXPECT_NE(table.find("round trip of 64 B | - | - | - | 1.50 |\n"), std::string::npos) << table;
}

TEST(Report, AConnectionCostsOfSiwStandBesideOurs) {
  Results results;
  results["siw 1500 crc=1 connect"].value = 300000;
  results["iwmpa 1500 crc=1 markers=0 idle"].value = 20000;
  std::ostringstream out;
  writeConnections(out, results);
  EXPECT_NE(out.str().find("\n| connect | - | 300,000 |\n"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("\n| memory of one end | 20,000 | - |\n"), std::string::npos) << out.str();
}

TEST(Report, OnlyALinkHasLatencyInItsTable) {
  const auto tableOf = [](const std::string& selection) {
    const std::vector<Row> rows = selectRows({selection});
    Results results;
    for (const Row& row : rows)
      results[row.text()] = {"", 100, 100, 100, 0, 0, 0, 1234, 5.67};
    std::ostringstream out;
    writeTable(out, *rows.at(0).operation->table, rows, results, Format::Text);
    return out.str();
  };
  const std::string link = tableOf("link iwmpa slot=20 link-nvme-read-4k-1"), plain = tableOf("iwmpa nvme-read-4k-1");
  EXPECT_NE(link.find("1,234"), std::string::npos);
  EXPECT_NE(link.find("5.7"), std::string::npos);
  EXPECT_NE(link.find("20 µs"), std::string::npos);
  EXPECT_EQ(plain.find("1,234"), std::string::npos);
  EXPECT_EQ(plain.find("delay"), std::string::npos);
}

TEST(Plot, ALinkHasAPanelForEachKernelWithItsRatiosToTcp) {
  Record record;
  for (const std::string kernel : {"6.1", "6.12", "7.3"}) {
    record[kernel]["iwmpa 1500 crc=1 markers=0 delay=100 link-nvme-read-4k-32"].value = 30;
    record[kernel]["tcp 1500 crc=1 delay=100 link-nvme-read-4k-32"].value = 40;
  }
  const auto plotsOf = [](const Record& figures) {
    std::ostringstream out;
    writePlots(out, figures);
    return out.str();
  };
  const auto has = [](const std::string& plots, const char* text) { return plots.find(text) != std::string::npos; };
  const std::string both = plotsOf(record);
  EXPECT_TRUE(has(both, "$chart1 << EOD\n\"4 KiB read\\ndepth 1\" ?\n\"4 KiB read\\ndepth 32\" 0.7500\n")) << both;
  EXPECT_TRUE(has(both, "set multiplot layout 1,2\n"));
  EXPECT_TRUE(has(both, "title '100 µs each way'"));
  EXPECT_FALSE(has(both, "20 µs")); // without a figure
  EXPECT_FALSE(has(both, "link-nfs.svg"));
  EXPECT_FALSE(has(both, "Linux 7.3"));
  record.erase("6.1");
  EXPECT_TRUE(has(plotsOf(record), "set multiplot layout 1,1\n"));
}

TEST(Report, RatiosAreToWhatDoesTheSame) {
  Results results;
  results["tcp 1500 crc=1 delay=20 link-nvme-read-4k-1"].value = 7.5;
  results["tcp 1500 crc=1 delay=100 link-nvme-read-4k-1"].value = 1;
  results["tcp 1500 send"].value = 2;
  results["tcp 1500 crc=0 nvme-read-4k-1"].value = 3;
  results["tcp 1500 crc=1 nvme-read-4k-1"].value = 4;
  results["tcp 1500 nfs-read-4k-1"].value = 5;
  results["tcp 1500 cpus=4 cpus-send-2"].value = 6;
  const auto over = [&](const std::string& selection) {
    const Row row = selectRows({selection}).at(0);
    results[row.text()].value = 60;
    return ratio(row, results, "tcp");
  };
  EXPECT_EQ(over("iwmpa 1500 crc=1 markers=1 write"), 30);
  EXPECT_EQ(over("iwmpa crc=0 nvme-read-4k-1"), 20);
  EXPECT_EQ(over("iwmpa crc=1 markers=1 nvme-read-4k-1"), 15);
  EXPECT_EQ(over("iwmpa crc=1 markers=0 nfs-read-4k-1"), 12);
  EXPECT_EQ(over("iwmpa cpus=4 cpus-write-2"), 10);
  EXPECT_EQ(over("iwmpa delay=20 large=1 link-nvme-read-4k-1"), 8);
  results["tcp 1500 veth-send"].value = 12;
  EXPECT_EQ(over("rxe veth-write"), 5);
  results["iwmpa 1500 crc=1 markers=0 veth-write"].value = 15;
  EXPECT_EQ(ratio(selectRows({"iwmpa veth-write"}).at(0), results, "rxe"), 0.25);
}

TEST(Report, WorseIsWhatCostsMoreThanTolerated) {
  const std::vector<Row> rows = selectRows({"iwmpa 1500 crc=1 markers=0 verbs", "cpus"});
  Results before, now;
  for (const Row& row : rows) {
    before[row.text()].value = 100;
    now[row.text()].value = row.operation->name == "read" ? 103.5 : row.operation->name == "send" ? 50 : 102.5;
  }
  now["iwmpa 1500 crc=0 markers=0 cpus-write-1"].value = 1000; // not repeatable
  std::ostringstream out;
  EXPECT_EQ(writeWorse(out, rows, before, now, 0.03), 1u);
  EXPECT_NE(out.str().find("worse: iwmpa 1500 crc=1 markers=0 read: 100.00 -> 103.50"), std::string::npos) << out.str();
}

TEST(Scale, CoresAreTheLinkByWhatOneCarries) {
  Results results;
  results["iwmpa 1500 crc=1 markers=0 write"].value = 2; // one end: 1; a core of 1e9 instructions carries 8 Gbit/s
  results["tcp 1500 crc=0 nvme-read-4k-32"].value = 1;
  results["tcp 1500 crc=1 nvme-read-4k-32"].value = 4000; // 500,000 a second, 16.384 Gbit/s
  const Machine machine{.instructionsPerSecond = 1e9, .wireShare = 1};
  std::ostringstream out;
  EXPECT_TRUE(writeScale(out, "scale", results, machine));
  EXPECT_NE(out.str().find("| WRITE, 64 KiB | - | - | 8.00 Gbit | - | - | 12.5 |"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("| NVMe read, 4 KiB, depth 32 | 500 k, 16.4 Gbit | - | - | - | 6.10 | - |"), std::string::npos)
      << out.str();
  EXPECT_FALSE(writeScale(out, "scale-core", results, machine));
}

TEST(Scale, ACoreIsAsFastAsItsTcp) {
  Results results;
  std::ostringstream out;
  EXPECT_THROW(writeScale(out, "scale", results), std::runtime_error);
  results["tcp 1500 send"].value = 0.8; // one end: 0.4; 10 Gbit/s are 1.25e9 octets a second
  results["iwmpa 1500 crc=1 markers=0 write"].value = 1.6;
  EXPECT_TRUE(writeScale(out, "scale", results, {.tcpGigabits = 10}));
  EXPECT_NE(out.str().find("A core executes 0.50 · 10⁹ instructions a second."), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("| WRITE, 64 KiB | 10.0 Gbit | - | 5.00 Gbit | - | 9.28 | 18.6 |"), std::string::npos) << out.str();
}

TEST(Scale, TheCheckDividesTheTimesOfEqualNumbersOfCpus) {
  Results results;
  results["iwmpa 1500 crc=0 markers=0 write"].value = 3;
  results["tcp 1500 send"].value = 2;
  results["iwmpa 1500 crc=0 markers=0 cpus=4 cpus-write-8"].value = 4;
  results["tcp 1500 cpus=4 cpus-send-8"].value = 5;
  std::ostringstream out;
  EXPECT_TRUE(writeScale(out, "scale-check", results));
  EXPECT_NE(out.str().find("| write | 1.50 | - | - | - | 0.80 |"), std::string::npos) << out.str();
}

TEST(Document, OnlyTheGeneratedPartsChange) {
  const auto make = [](const std::string& name) { return name == "a" ? std::string("new\n") : std::string(); };
  EXPECT_EQ(replaceParts("x\n<!-- bench: a -->\nold\nold\n<!-- /bench -->\ny\n<!-- bench: b -->\nkept\n<!-- /bench -->\n", make),
            "x\n<!-- bench: a -->\nnew\n<!-- /bench -->\ny\n<!-- bench: b -->\nkept\n<!-- /bench -->\n");
  EXPECT_THROW(replaceParts("<!-- bench: a -->\nold\n", make), std::runtime_error);
}

} // namespace
} // namespace bench

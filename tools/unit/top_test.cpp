// SPDX-License-Identifier: GPL-2.0
// iwmpa-top: parsing the output of rdma and ss, rates between two snapshots, and the output formats.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "../top/output.hpp"
#include "../top/sources.hpp"

namespace top {
namespace {

using std::chrono::milliseconds;

// In the format of iproute2 6.1; rd9 is not an iwmpa device, and the last three members are a driver's.
constexpr auto qps = R"([{"ifindex":0,"ifname":"rd1","port":1,"lqpn":77,"rqpn":0,"type":"RC","state":"RTS","rq-psn":0,"sq-psn":0,
"path-mig-state":"MIGRATED","pdn":1,"pid":166,"comm":"rping","mpa_rev":2,"crc":1,"note":"a b"},
{"ifindex":0,"ifname":"rd1","port":1,"lqpn":78,"type":"RC","state":"INIT","comm":"nvme_rdma"},
{"ifindex":5,"ifname":"rd9","port":1,"lqpn":77,"type":"RC","state":"RTS","pid":1,"comm":"x"}])";
constexpr auto ids = R"([{"ifindex":0,"ifname":"rd1","port":1,"cm-idn":0,"lqpn":77,"qp-type":"RC","state":"CONNECT","ps":"TCP",
"pid":166,"comm":"rping","src-addr":"10.9.0.1:42829","dst-addr":"10.9.0.2:7174"},
{"ifindex":0,"ifname":"rd1","cm-idn":1,"state":"LISTEN","src-addr":"0.0.0.0:7174","dst-addr":"0.0.0.0:0"}])";
constexpr auto sockets = "ESTAB 0 84 10.9.0.9:42829 10.9.0.2:7174 cubic busy:9ms\n"
                         "ESTAB 0 84 [::ffff:10.9.0.1]:42829 [::ffff:10.9.0.2]:7174 cubic rto:204 rtt:0.59/0.559 app_limited "
                         "busy:5200ms rwnd_limited:1000ms(19.2%) sndbuf_limited:500ms(9.6%) unacked:1\n";

std::vector<Connection> connections() {
  auto list = readConnections("rd1", qps, ids);

  addTimes(list, sockets);
  return list;
}

Sample sample(milliseconds at, std::uint64_t octets, std::uint64_t fpdus, std::uint64_t passes, std::uint64_t blockedMs) {
  Sample s{.tick = std::chrono::steady_clock::time_point(at)};

  s.devices = {{.name = "rd1",
                .netdev = "eth0",
                .state = "ACTIVE",
                .counters = {{"rx_octets", octets}, {"rx_fpdus", fpdus}, {"rx_passes", passes}, {"rx_crc_errors", 2}}}};
  s.connections = {{.device = "rd1", .qp = 77, .state = "RTS", .remote = "peer", .times = Times{9000, blockedMs, 100}},
                   {.device = "rd1", .qp = 78, .state = "ERR", .remote = "peer"}};
  return s;
}

TEST(TopSources, AQueuePairWithItsAddressesOwnerAndDriverAttributes) {
  const auto list = connections();

  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].qp, 77u);
  EXPECT_EQ(list[0].state, "RTS");
  EXPECT_EQ(list[0].local, "10.9.0.1:42829");
  EXPECT_EQ(list[0].remote, "10.9.0.2:7174");
  EXPECT_EQ(list[0].process, "rping[166]");
  EXPECT_EQ(list[0].driver.dump(), R"({"mpa_rev":2,"crc":1,"note":"a b"})");
  EXPECT_EQ(list[1].process, "nvme_rdma");
  EXPECT_EQ(list[1].local, "");
  EXPECT_FALSE(list[1].times);
}

TEST(TopSources, TimesAreThoseOfTheSocketWithBothAddresses) {
  const auto list = connections();

  ASSERT_TRUE(list[0].times);
  EXPECT_EQ(list[0].times->busy, 5200u);
  EXPECT_EQ(list[0].times->window, 1000u);
  EXPECT_EQ(list[0].times->sending, 500u);
}

TEST(TopSources, NumbersOfTheDriverHave64Bits) {
  auto list = readConnections(
      "rd1",
      R"([{"ifname":"rd1","lqpn":77,"comm":"x","drv_role":"Initiator","drv_rx_octets":-1073741824},{"ifname":"rd1","lqpn":78}])",
      "");

  addLargeNumbers(list,
                  "link rd1/1 lqpn 77 type RC state RTS comm x drv_role Initiator drv_rx_octets 3221225472 \n"
                  "link rd1/1 lqpn 78 type RC state INIT comm x drv_rx_octets 7\nlink rd1/1 lqpn 79 drv_rx_octets 5\n\nrubbish\n");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].driver.dump(), R"({"drv_role":"Initiator","drv_rx_octets":3221225472})");
  EXPECT_TRUE(list[1].driver.empty());
}

TEST(TopSources, NumbersOfTheDriverAreInFoldedLinesToo) {
  auto list = readConnections(
      "rd1", R"([{"ifname":"rd1","lqpn":77,"drv_rx_octets":-1,"drv_tx_octets":-1},{"ifname":"rd1","lqpn":78,"drv_rx_octets":-1}])",
      "");

  addLargeNumbers(list, "link rd1/1 lqpn 77 type RC state RTS comm x \n    drv_role Initiator drv_rx_octets 4294967295 \n"
                        "\tdrv_tx_octets 5 \nlink rd1/1 lqpn 79 type RC \n    drv_tx_octets 6\n"
                        "link rd1/1 lqpn 78 type RC \n    drv_rx_octets 4294967296 \n");
  EXPECT_EQ(list[0].driver.dump(), R"({"drv_rx_octets":4294967295,"drv_tx_octets":5})");
  EXPECT_EQ(list[1].driver.dump(), R"({"drv_rx_octets":4294967296})");
}

TEST(TopSources, TheNetdevOfASocketIsNoPartOfItsAddress) {
  std::vector<Connection> list = {{.device = "rd1", .local = "10.9.0.1:42829", .remote = "10.9.0.2:7174"},
                                  {.device = "rd1", .local = "fe80::1:42829", .remote = "fe80::2:7174"}};

  addTimes(list, "ESTAB 0 0 10.9.0.1%blue:42829 10.9.0.2:7174 cubic busy:7ms\n"
                 "ESTAB 0 0 [fe80::1]%wire.5:42829 [fe80::2]:7174 cubic busy:8ms\n");
  ASSERT_TRUE(list[0].times && list[1].times);
  EXPECT_EQ(list[0].times->busy, 7u);
  EXPECT_EQ(list[1].times->busy, 8u);
}

TEST(TopSources, NothingIsAnEmptyListAndRubbishAnError) {
  EXPECT_TRUE(readConnections("rd1", "", "\n").empty());
  EXPECT_THROW(readConnections("rd1", "error: what", "[]"), std::runtime_error);
  EXPECT_THROW(readConnections("rd1", "[]", "{}"), std::runtime_error);
}

TEST(TopSources, ANameOfAnyOctetsIsShownWithoutThem) {
  const auto list = readConnections("rd1", "[{\"ifname\":\"rd1\",\"lqpn\":3,\"comm\":\"a\xff\x1b[2J\\n\\u001b\\b\"}]", "");

  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].process, "a??[2J ??");
}

TEST(TopSources, DevicesAreThoseThatCountFpdus) {
  auto devices = readDevices(R"([{"ifindex":0,"ifname":"rd1","port":1,"rx_fpdus":17,"tx_fpdus":4},
    {"ifindex":1,"ifname":"mlx5_0","port":1,"out_of_buffer":3}])");

  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].counters, (std::map<std::string, std::uint64_t>{{"rx_fpdus", 17}, {"tx_fpdus", 4}}));
  addLinks(devices, R"([{"ifname":"mlx5_0"},{"ifindex":0,"ifname":"rd1","port":1,"state":"DOWN","netdev":"eth0"}])");
  EXPECT_EQ(devices[0].netdev, "eth0");
  EXPECT_EQ(devices[0].state, "DOWN");
  EXPECT_TRUE(readDevices("[]").empty());
}

TEST(TopChange, RatesArePerSecond) {
  const Sample before = sample(milliseconds(1000), 500, 10, 5, 0), now = sample(milliseconds(3000), 4500, 40, 15, 500);
  const Change change(&before, now);
  const Device& d = now.devices[0];

  EXPECT_DOUBLE_EQ(change.rate(d, "rx_octets").value(), 2000);
  EXPECT_DOUBLE_EQ(change.ratio(d, "rx_fpdus", "rx_passes").value(), 3);
  EXPECT_DOUBLE_EQ(change.blocked(now.connections[0]).value(), 0.25);
  EXPECT_FALSE(change.rate(d, "no_such"));
}

TEST(TopChange, WithoutABeforeThereAreBatchesButNoRates) {
  const Sample now = sample(milliseconds(3000), 4500, 40, 16, 500);
  const Change change(nullptr, now);

  EXPECT_FALSE(change.rate(now.devices[0], "rx_octets"));
  EXPECT_FALSE(change.blocked(now.connections[0]));
  EXPECT_DOUBLE_EQ(change.ratio(now.devices[0], "rx_fpdus", "rx_passes").value(), 2.5);
}

TEST(TopChange, ADeviceOrConnectionThatBeganAnewHasNoRate) {
  const Sample before = sample(milliseconds(1000), 5000, 10, 5, 700), now = sample(milliseconds(3000), 4500, 40, 5, 500);
  const Change change(&before, now);

  EXPECT_FALSE(change.rate(now.devices[0], "rx_octets"));
  EXPECT_FALSE(change.ratio(now.devices[0], "rx_fpdus", "rx_passes")); // 0 / 0
  EXPECT_FALSE(change.blocked(now.connections[0]));
}

TEST(TopOutput, NumbersFitTheirColumns) {
  EXPECT_EQ(human({}), "-");
  EXPECT_EQ(human(0), "0");
  EXPECT_EQ(human(999), "999");
  EXPECT_EQ(human(2.5), "2.50");
  EXPECT_EQ(human(999.7), "1.00k");
  EXPECT_EQ(human(12345), "12.3k");
  EXPECT_EQ(human(123456789), "123M");
}

TEST(TopOutput, TheTableNamesTheErrors) {
  Sample now = sample(milliseconds(3000), 4500, 40, 16, 500);
  now.connections[0].driver["mulpdu"] = 1432;
  const auto list = lines(Change(nullptr, now));

  ASSERT_EQ(list.size(), 7u);
  EXPECT_EQ(list[1].substr(0, 10), "rd1       ");
  EXPECT_EQ(list[2], "  rx_crc_errors 2");
  EXPECT_NE(list[5].find("  mulpdu 1432"), std::string::npos);
  EXPECT_EQ(lines(Change(nullptr, Sample{})).size(), 1u); // tells the user how to make a device
}

TEST(TopOutput, JsonHoldsAllAndNullForWhatIsNotKnown) {
  const Sample before = sample(milliseconds(1000), 500, 10, 5, 0), now = sample(milliseconds(3000), 4500, 40, 15, 500);
  const Json first = json(Change(nullptr, now)), second = Json::parse(json(Change(&before, now)).dump());

  EXPECT_TRUE(first["devices"][0]["rates"]["rx_octets"].is_null());
  EXPECT_EQ(second["devices"][0]["rates"]["rx_octets"], 2000);
  EXPECT_EQ(second["devices"][0]["counters"]["rx_octets"], 4500);
  EXPECT_EQ(second["devices"][0]["connections"], 1);
  EXPECT_EQ(second["devices"][0]["errors"], 2);
  EXPECT_EQ(second["connections"][0]["tcp"]["rwnd_limited_ms"], 500);
  EXPECT_EQ(second["connections"][0]["blocked"], 0.25);
}

TEST(TopOutput, CsvHasSixColumnsAndQuotes) {
  Sample now = sample(milliseconds(3000), 4500, 40, 15, 500);
  now.connections[0].process = "a,\"b";
  const auto rows = csv(Change(nullptr, now));
  const auto has = [&](const std::string& end) {
    return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.ends_with(end); });
  };

  EXPECT_TRUE(has(",rd1,,rx_octets,4500,"));
  EXPECT_TRUE(has(",rd1,77,rwnd_limited_ms,500,"));
  EXPECT_TRUE(has(",rd1,77,process,\"a,\"\"b\","));
}

TEST(TopOutput, PrometheusHasOneTypeForTheSamplesOfAllDevices) {
  Sample now = sample(milliseconds(3000), 4500, 40, 15, 500);
  now.devices.push_back({"rd\"2\\\n", "", "DOWN", {{"rx_octets", 7}}});
  const auto rows = prometheus(now);
  const auto at = std::ranges::find(rows, "# TYPE iwmpa_rx_octets_total counter");

  ASSERT_GE(rows.end() - at, 3);
  EXPECT_EQ(at[1], "iwmpa_rx_octets_total{device=\"rd1\",netdev=\"eth0\"} 4500");
  EXPECT_EQ(at[2], "iwmpa_rx_octets_total{device=\"rd\\\"2\\\\\\n\",netdev=\"\"} 7");
  EXPECT_EQ(std::ranges::count(rows, "iwmpa_port_active{device=\"rd1\",netdev=\"eth0\"} 1"), 1);
  EXPECT_EQ(std::ranges::count(rows, "iwmpa_open_connections{device=\"rd1\",netdev=\"eth0\"} 1"), 1);
  EXPECT_TRUE(prometheus(Sample{}).empty());
}

} // namespace
} // namespace top

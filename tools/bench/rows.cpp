// SPDX-License-Identifier: GPL-2.0
#include "rows.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace bench {
namespace {

// Those with a dash have a protection that TCP or iwmpa does not have itself.
constexpr std::array<std::string_view, 11> transports{
    "tcp", "tcp-krb5i", "tcp-krb5p", "tcp-tls", "tcp-esp", "tcp-wireguard", "siw", "iwmpa", "iwmpa-esp", "iwmpa-wireguard", "rxe"};
constexpr std::array mtus{1500, 65536};
constexpr std::array cpuCounts{1, 2, 4};
constexpr std::array delays{0, 20, 100};
constexpr int ownDelay = 20; // for rows that differ from the others in another setting
// For an emulator with several CPUs, which executes about a tenth of the instructions in the same time.
constexpr int emulatedDelay = 10 * ownDelay;

constexpr std::array allTables{
    Table{"verbs", "Instructions of both ends together: per octet of 64 KiB transfers, per 64 B message, per round trip of 64 B",
          "", "instructions", true, true},
    Table{"nvme", "NVMe, fio: instructions of both ends for each I/O; CRC for TCP: digests", "storage-", "instructions", true,
          true},
    Table{"nfs", "NFS 4.2, fio, O_DIRECT: instructions of both ends for each I/O", "storage-", "instructions", true, true},
    Table{"connections", "Instructions of both ends for each connection, and for each registration of 4 KiB", "", "instructions",
          true, true},
    Table{"memory", "Octets of kernel memory for each end of a connection; half-open: for both ends of one without a Request", "",
          "octets", true, true},
    Table{"cpus", "64 KiB transfers, one to eight connections at once: nanoseconds per octet, of an emulator", "cpus-", "ns", false,
          false},
    Table{"cpus-nvme", "NVMe, CRC and digests, each end on half of the CPUs: nanoseconds for each I/O, of an emulator", "queues-",
          "ns", false, false, "cpus"},
    Table{"link-nvme", "NVMe over a link: ns of the CPU of both ends and of waiting for each I/O; CRC for TCP: digests", "link-",
          "ns", false, true, "link"},
    Table{"link-nfs", "NFS 4.2 over a link, O_DIRECT: ns of the CPU of both ends and of waiting for each I/O", "link-", "ns", false,
          true, "link"},
    Table{"veth-verbs",
          "Over a veth pair: instructions of both ends together, per octet of 64 KiB transfers, per 64 B message, per round trip",
          "", "instructions", false, true, "veth"},
    Table{"veth-nvme", "NVMe over a veth pair: ns of the CPU of both ends and of waiting for each I/O; CRC for TCP: digests",
          "veth-", "ns", false, true, "veth"},
    Table{"veth-nfs", "NFS 4.2 over a veth pair, O_DIRECT: ns of the CPU of both ends and of waiting for each I/O", "veth-", "ns",
          false, true, "veth"},
    Table{"veth-loss", "WRITE of 64 KiB, depth 16, over a veth pair that loses packets: ns for each octet", "veth-", "ns", false,
          false, "veth"},
    Table{"secure-nvme", "NVMe, protected, over a veth pair: ns of the CPU of both ends and of waiting for each I/O", "secure-",
          "ns", false, true, "secure"},
    Table{"secure-nfs", "NFS 4.2, protected, over a veth pair: ns of the CPU of both ends and of waiting for each I/O", "secure-",
          "ns", false, true, "secure"},
    Table{"native-nvme", "NVMe: nanoseconds for each I/O; CRC for TCP: digests", "native-", "ns", false, false, "native"},
    Table{"native-nfs", "NFS 4.2, O_DIRECT: nanoseconds for each I/O", "native-", "ns", false, false, "native"},
    Table{"native-spin", "NVMe, a program spins on each CPU: nanoseconds for each I/O; CRC for TCP: digests", "native-", "ns",
          false, false, "native"},
    Table{"native-kernel", "Kernel consumers: nanoseconds for each message or round trip", "native-", "ns", false, false, "native"},
};
constexpr const Table &verbs = allTables[0], &nvme = allTables[1], &nfs = allTables[2], &connections = allTables[3],
                      &memory = allTables[4], &cpus = allTables[5], &cpusNvme = allTables[6], &linkNvme = allTables[7],
                      &linkNfs = allTables[8], &vethVerbs = allTables[9], &vethNvme = allTables[10], &vethNfs = allTables[11],
                      &vethLoss = allTables[12], &secureNvme = allTables[13], &secureNfs = allTables[14],
                      &nativeNvme = allTables[15], &nativeNfs = allTables[16], &nativeSpin = allTables[17],
                      &nativeKernel = allTables[18];

// Commands of several tables.
constexpr std::string_view writes = "--op write --count 400 --warmup 64", reads = "--op read --count 400 --warmup 64",
                           sends = "--op send --count 400 --warmup 64",
                           smallSends = "--op send --size 64 --depth 32 --count 3200 --warmup 640",
                           kernelTcpSends = "--tcp 1 --op send --size 64 --depth 32 --count 3200 --warmup 640",
                           roundTrips = "--op pingpong --size 64 --depth 2 --count 2000 --warmup 200",
                           tcpRoundTrips = "--op pingpong --size 64 --count 2000 --warmup 200",
                           kernelTcpRoundTrips = "--tcp 1 --op pingpong --size 64 --count 2000 --warmup 200",
                           nativeSends = "--op send --size 64 --depth 32 --count 300000 --warmup 60000",
                           nativePages = "--op send --size 4096 --depth 32 --count 100000 --warmup 20000",
                           nativeRoundTrips = "--op pingpong --size 64 --count 100000 --warmup 20000";

/** An I/O of fio, the same over RDMA and TCP. */
constexpr Operation storage(const Table& table, std::string_view name, std::string_view heading, std::string_view io) {
  return {&table, name, heading, io, io, "", "I/O", false};
}

// With these counts each repeat has at least some ten million instructions, so that a timer tick is negligible. fio reports whole
// milliseconds: with these counts, rounding is 0.5 % at most.
constexpr std::array allOperations{
    Operation{&verbs, "write", "WRITE", writes, "", "send", "octet", true},
    Operation{&verbs, "read", "READ", reads, "", "send", "octet", true},
    Operation{&verbs, "send", "SEND", sends, sends, "send", "octet", true},
    Operation{&verbs, "send64", "64 B SEND", smallSends, smallSends, "send64", "message", false},
    Operation{&verbs, "list64", "in lists", "--op send --size 64 --depth 32 --list 32 --count 3200 --warmup 640", "", "send64",
              "message", false},
    Operation{&verbs, "rtt64", "round trip", roundTrips, tcpRoundTrips, "rtt64", "round trip", false},
    Operation{&verbs, "k64", "kernel 64 B", smallSends, kernelTcpSends, "k64", "message", false, "", "kernel_bench "},
    Operation{&verbs, "krtt", "kernel round trip", tcpRoundTrips, kernelTcpRoundTrips, "krtt", "round trip", false, "",
              "kernel_bench "},

    // Arguments: direction, octets, depth, count.
    storage(nvme, "nvme-read-4k-1", "read 4K, depth 1", "randread 4k 1 4000"),
    storage(nvme, "nvme-read-4k-32", "depth 32", "randread 4k 32 4000"),
    storage(nvme, "nvme-read-128k-8", "128K, depth 8", "randread 128k 8 500"),
    storage(nvme, "nvme-write-4k-1", "write 4K, depth 1", "randwrite 4k 1 4000"),
    storage(nvme, "nvme-write-4k-32", "depth 32", "randwrite 4k 32 4000"),
    storage(nvme, "nvme-write-128k-8", "128K, depth 8", "randwrite 128k 8 500"),

    storage(nfs, "nfs-read-4k-1", "read 4K, depth 1", "randread 4k 1 2000"),
    storage(nfs, "nfs-read-4k-16", "depth 16", "randread 4k 16 4000"),
    storage(nfs, "nfs-read-1m-4", "1M, depth 4", "randread 1m 4 64"),
    storage(nfs, "nfs-write-4k-1", "write 4K, depth 1", "randwrite 4k 1 2000"),
    storage(nfs, "nfs-write-4k-16", "depth 16", "randwrite 4k 16 4000"),
    storage(nfs, "nfs-write-1m-4", "1M, depth 4", "randwrite 1m 4 64"),

    Operation{&connections, "connect", "connect", "--op connect", "", "", "connection", false, "first"},
    Operation{&connections, "disconnect", "disconnect", "--op connect", "", "", "connection", false, "second"},
    Operation{&connections, "register", "register", "--op register", "", "", "registration", false, "first"},
    Operation{&connections, "deregister", "deregister", "--op register", "", "", "registration", false, "second"},

    Operation{&memory, "idle", "idle", "--op idle", "", "", "end", false, "idle"},
    Operation{&memory, "once-busy", "once busy", "--op idle --busy 65536", "", "", "end", false, "once-busy"},
    Operation{&memory, "half-open", "half-open", "--op half-open", "", "", "connection", false, "half-open"},

    // TCP is measured as often as the others, because it is compared with the rows measured next to it.
    Operation{&cpus, "cpus-write-1", "WRITE 1", "--op write --connections 1", "", "cpus-send-1", "octet", true},
    Operation{&cpus, "cpus-write-2", "2", "--op write --connections 2", "", "cpus-send-2", "octet", true},
    Operation{&cpus, "cpus-write-4", "4", "--op write --connections 4", "", "cpus-send-4", "octet", true},
    Operation{&cpus, "cpus-write-8", "8", "--op write --connections 8", "", "cpus-send-8", "octet", true},
    Operation{&cpus, "cpus-send-1", "SEND 1", "--op send --connections 1", "--op send --connections 1", "", "octet", true},
    Operation{&cpus, "cpus-send-2", "2", "--op send --connections 2", "--op send --connections 2", "", "octet", true},
    Operation{&cpus, "cpus-send-4", "4", "--op send --connections 4", "--op send --connections 4", "", "octet", true},
    Operation{&cpus, "cpus-send-8", "8", "--op send --connections 8", "--op send --connections 8", "", "octet", true},

    // Arguments as those of nvme; the count is of each job, of which there are half as many as CPUs.
    storage(cpusNvme, "cpus-nvme-read-4k-1", "read 4K, depth 1", "randread 4k 1 1000"),
    storage(cpusNvme, "cpus-nvme-read-4k-32", "depth 32", "randread 4k 32 2000"),
    storage(cpusNvme, "cpus-nvme-read-128k-8", "128K, depth 8", "randread 128k 8 200"),
    storage(cpusNvme, "cpus-nvme-write-4k-1", "write 4K, depth 1", "randwrite 4k 1 1000"),
    storage(cpusNvme, "cpus-nvme-write-4k-32", "depth 32", "randwrite 4k 32 2000"),
    storage(cpusNvme, "cpus-nvme-write-128k-8", "128K, depth 8", "randwrite 128k 8 200"),

    storage(linkNvme, "link-nvme-read-4k-1", "read 4K, depth 1", "randread 4k 1 4000"),
    storage(linkNvme, "link-nvme-read-4k-32", "depth 32", "randread 4k 32 4000"),
    storage(linkNvme, "link-nvme-read-128k-8", "128K, depth 8", "randread 128k 8 500"),
    storage(linkNvme, "link-nvme-write-4k-1", "write 4K, depth 1", "randwrite 4k 1 4000"),
    storage(linkNvme, "link-nvme-write-4k-32", "depth 32", "randwrite 4k 32 4000"),
    storage(linkNvme, "link-nvme-write-128k-8", "128K, depth 8", "randwrite 128k 8 500"),
    storage(linkNfs, "link-nfs-read-4k-1", "read 4K, depth 1", "randread 4k 1 2000"),
    storage(linkNfs, "link-nfs-read-4k-16", "depth 16", "randread 4k 16 4000"),
    storage(linkNfs, "link-nfs-read-1m-4", "1M, depth 4", "randread 1m 4 64"),
    storage(linkNfs, "link-nfs-write-4k-1", "write 4K, depth 1", "randwrite 4k 1 2000"),
    storage(linkNfs, "link-nfs-write-4k-16", "depth 16", "randwrite 4k 16 4000"),
    storage(linkNfs, "link-nfs-write-1m-4", "1M, depth 4", "randwrite 1m 4 64"),

    Operation{&vethVerbs, "veth-write", "WRITE", writes, "", "veth-send", "octet", true},
    Operation{&vethVerbs, "veth-read", "READ", reads, "", "veth-send", "octet", true},
    Operation{&vethVerbs, "veth-send", "SEND", sends, sends, "", "octet", true},
    Operation{&vethVerbs, "veth-send64", "64 B SEND", smallSends, smallSends, "", "message", false},
    Operation{&vethVerbs, "veth-rtt64", "round trip", roundTrips, tcpRoundTrips, "", "round trip", false},
    storage(vethNvme, "veth-nvme-read-4k-1", "read 4K, depth 1", "randread 4k 1 4000"),
    storage(vethNvme, "veth-nvme-read-4k-32", "depth 32", "randread 4k 32 4000"),
    storage(vethNvme, "veth-nvme-read-128k-8", "128K, depth 8", "randread 128k 8 500"),
    storage(vethNvme, "veth-nvme-write-4k-1", "write 4K, depth 1", "randwrite 4k 1 4000"),
    storage(vethNvme, "veth-nvme-write-4k-32", "depth 32", "randwrite 4k 32 4000"),
    storage(vethNvme, "veth-nvme-write-128k-8", "128K, depth 8", "randwrite 128k 8 500"),
    storage(vethNfs, "veth-nfs-read-4k-1", "read 4K, depth 1", "randread 4k 1 2000"),
    storage(vethNfs, "veth-nfs-read-4k-16", "depth 16", "randread 4k 16 4000"),
    storage(vethNfs, "veth-nfs-read-1m-4", "1M, depth 4", "randread 1m 4 64"),
    storage(vethNfs, "veth-nfs-write-4k-1", "write 4K, depth 1", "randwrite 4k 1 2000"),
    storage(vethNfs, "veth-nfs-write-4k-16", "depth 16", "randwrite 4k 16 4000"),
    storage(vethNfs, "veth-nfs-write-1m-4", "1M, depth 4", "randwrite 1m 4 64"),
    // Arguments: percentage of lost packets, the program's options. The time is virtual; most rows end earlier, after 100,000
    // packets.
    Operation{&vethLoss, "veth-loss-none", "no loss", "0 --op write --milliseconds 60000 --octets 150000000",
              "0 --op send --milliseconds 60000 --octets 150000000", "", "octet", true},
    Operation{&vethLoss, "veth-loss-0.1", "0.1 %", "0.1 --op write --milliseconds 60000 --octets 150000000",
              "0.1 --op send --milliseconds 60000 --octets 150000000", "", "octet", true},
    Operation{&vethLoss, "veth-loss-1", "1 %", "1 --op write --milliseconds 60000 --octets 150000000",
              "1 --op send --milliseconds 60000 --octets 150000000", "", "octet", true},

    storage(secureNvme, "secure-nvme-read-4k-1", "read 4K, depth 1", "randread 4k 1 2000"),
    storage(secureNvme, "secure-nvme-read-4k-32", "depth 32", "randread 4k 32 2000"),
    storage(secureNvme, "secure-nvme-read-128k-8", "128K, depth 8", "randread 128k 8 200"),
    storage(secureNvme, "secure-nvme-write-128k-8", "write 128K, depth 8", "randwrite 128k 8 200"),
    storage(secureNfs, "secure-nfs-read-4k-16", "read 4K, depth 16", "randread 4k 16 2000"),
    storage(secureNfs, "secure-nfs-read-1m-4", "1M, depth 4", "randread 1m 4 64"),
    storage(secureNfs, "secure-nfs-write-1m-4", "write 1M, depth 4", "randwrite 1m 4 64"),

    // Arguments: direction, octets, depth, milliseconds.
    storage(nativeNvme, "native-nvme-read-4k-1", "read 4K, depth 1", "randread 4k 1 300"),
    storage(nativeNvme, "native-nvme-read-4k-32", "depth 32", "randread 4k 32 300"),
    storage(nativeNvme, "native-nvme-read-128k-8", "128K, depth 8", "randread 128k 8 300"),
    storage(nativeNvme, "native-nvme-write-4k-1", "write 4K, depth 1", "randwrite 4k 1 300"),
    storage(nativeNvme, "native-nvme-write-4k-32", "depth 32", "randwrite 4k 32 300"),
    storage(nativeNvme, "native-nvme-write-128k-8", "128K, depth 8", "randwrite 128k 8 300"),
    storage(nativeNfs, "native-nfs-read-4k-1", "read 4K, depth 1", "randread 4k 1 300"),
    storage(nativeNfs, "native-nfs-read-4k-16", "depth 16", "randread 4k 16 300"),
    storage(nativeNfs, "native-nfs-read-1m-4", "1M, depth 4", "randread 1m 4 300"),
    storage(nativeNfs, "native-nfs-write-4k-1", "write 4K, depth 1", "randwrite 4k 1 300"),
    storage(nativeNfs, "native-nfs-write-4k-16", "depth 16", "randwrite 4k 16 300"),
    storage(nativeNfs, "native-nfs-write-1m-4", "1M, depth 4", "randwrite 1m 4 300"),
    storage(nativeSpin, "native-spin-read-4k-1", "read 4K, depth 1", "randread 4k 1 300"),
    storage(nativeSpin, "native-spin-read-4k-8", "depth 8", "randread 4k 8 300"),
    storage(nativeSpin, "native-spin-read-4k-32", "depth 32", "randread 4k 32 300"),
    storage(nativeSpin, "native-spin-write-4k-32", "write 4K, depth 32", "randwrite 4k 32 300"),
    Operation{&nativeKernel, "native-k64", "64 B", nativeSends, nativeSends, "", "message", false},
    Operation{&nativeKernel, "native-k4096", "4 KiB", nativePages, nativePages, "", "message", false},
    Operation{&nativeKernel, "native-krtt", "round trip of 64 B", nativeRoundTrips, nativeRoundTrips, "", "round trip", false},
};

std::vector<std::string> wordsOf(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    words.push_back(word);
  return words;
}

std::vector<std::string> wordsOf(const Row& row) {
  std::vector<std::string> words = wordsOf(row.text());
  const Table& table = *row.operation->table;
  words.emplace_back(table.name);
  words.push_back("cpus=" + std::to_string(row.configuration.cpus));
  if (!table.group.empty()) {
    words.emplace_back(table.group);
    words.emplace_back(table.subject());
  }
  return words;
}

/** All rows. */
std::vector<Row> allRows() {
  std::vector<Row> rows;
  for (const Table& table : allTables)
    for (const std::string_view transport : transports)
      for (const Configuration& configuration : configurations(table, transport))
        for (const Operation& operation : allOperations)
          if (operation.table == &table && (transport != "tcp" || !operation.tcp.empty()))
            rows.push_back({static_cast<int>(rows.size()) + 1, configuration, &operation});
  return rows;
}

bool matches(const Row& row, const std::vector<std::string>& selection) {
  const std::vector<std::string> words = wordsOf(row);
  const auto has = [&](const std::string& word) { return std::ranges::count(words, word) > 0; };
  const Table& table = *row.operation->table;
  const auto names = [&](std::string_view word) { return std::ranges::count(selection, word) > 0; };
  const bool asked =
      table.byDefault || names(table.name) || names(row.operation->name) || (!table.group.empty() && names(table.group));
  return asked && std::ranges::all_of(selection, has);
}

/** Is time measured, in a kernel that this machine's CPUs run? */
bool isNative(const Table& table) {
  return table.group == nativeNvme.group;
}

/** Are there guests with several CPUs? Their rows run in rounds, and the transports take turns. */
bool isParallel(const Table& table) {
  return &table == &cpus || &table == &cpusNvme || isNative(table);
}

bool isCounting(const Table& table) {
  return table.guest.empty();
}

/** Configurations over a veth pair: what rxe is compared with, and rxe, whose packets always have a CRC. */
std::vector<Configuration> vethConfigurations(const Table& table, const std::string& transport) {
  std::vector<Configuration> result;
  if (transport == "iwmpa")
    result = {{transport, 1500, true, false}};
  else if (transport == "rxe")
    result = {{transport, 1500, true, {}}};
  else if (transport == "tcp" && &table == &vethNvme)
    result = {{transport, 1500, false, {}}, {transport, 1500, true, {}}};
  else if (transport == "tcp")
    result = {{transport, 1500, {}, {}}};
  if (&table != &vethVerbs)
    for (Configuration& c : result)
      c.delay = ownDelay;
  return result;
}

/** With one protection: of TCP none, for NVMe also digests; of iwmpa the CRC; else what the transport's name says, without CRC. */
std::vector<Configuration> secureConfigurations(const Table& table, const std::string& transport) {
  const bool isNvme = &table == &secureNvme;
  if (transport == "siw" || transport == "rxe" || (isNvme && transport.starts_with("tcp-krb5")))
    return {};
  Configuration c{transport, 1500, {}, {}, 1, false, ownDelay};
  if (transport.starts_with("iwmpa")) {
    c.crc = transport == "iwmpa";
    c.markers = false;
  } else if (transport == "tcp" && isNvme) {
    Configuration digests = c;
    c.crc = false;
    digests.crc = true;
    return {c, digests};
  }
  return {c};
}

/** One CPU and two, each with a link's delay for those that are compared most. */
std::vector<Configuration> nativeConfigurations(const Table& table, const std::string& transport) {
  const bool isIwmpa = transport == "iwmpa", isTcp = transport == "tcp";
  std::vector<Configuration> result;
  Configuration c{transport, 1500, isTcp && (&table == &nativeNfs || &table == &nativeKernel) ? std::optional<bool>{} : true,
                  isIwmpa ? std::optional<bool>{false} : std::optional<bool>{}};
  for (c.cpus = 1; c.cpus <= 2; ++c.cpus) {
    const bool isCompared = (&table == &nativeNvme || &table == &nativeNfs) && (isIwmpa || isTcp);
    for (const int delay : delays)
      if (!delay || isCompared) {
        c.delay = delay;
        result.push_back(c);
      }
  }
  return result;
}

/** NVMe and NFS: as most others, and without CRC; for iwmpa also with Markers, and with large FPDUs. */
std::vector<Configuration> storageConfigurations(const Table& table, const std::string& transport) {
  if (transport == "iwmpa")
    return {{transport, 1500, true, false},
            {transport, 1500, true, true},
            {transport, 1500, false, false},
            {transport, 1500, true, false, 1, true}};
  if (transport == "tcp" && &table == &nfs)
    return {{transport, 1500, {}, {}}};
  return {{transport, 1500, false, {}}, {transport, 1500, true, {}}};
}

/**
 * Configurations of a link: each delay, packets in bunches, MTU 9000; for iwmpa also without CRC and with large FPDUs. None for
 * siw.
 */
std::vector<Configuration> linkConfigurations(const Table& table, const std::string& transport) {
  const bool isIwmpa = transport == "iwmpa";
  std::vector<Configuration> variants, result;
  if (isIwmpa)
    variants = {{transport, 1500, true, false}};
  else if (transport == "tcp" && &table == &linkNfs)
    variants = {{transport, 1500, {}, {}}};
  else if (transport == "tcp")
    variants = {{transport, 1500, false, {}}, {transport, 1500, true, {}}};

  for (Configuration c : variants) {
    for (const int delay : delays) {
      c.delay = delay;
      result.push_back(c);
    }
    c.delay = ownDelay;
    c.slot = ownDelay;
    result.push_back(c);
    c.slot = 0;
    c.mtu = 9000;
    result.push_back(c);
  }
  if (isIwmpa) {
    result.push_back({transport, 1500, false, false, 1, false, ownDelay});
    for (const bool crc : {true, false})
      result.push_back({transport, 1500, crc, false, 1, true, ownDelay});
  }
  return result;
}

} // namespace

std::span<const Table> tables() {
  return allTables;
}

std::span<const Operation> operations() {
  return allOperations;
}

std::optional<Io> ioOf(const Operation& operation) {
  const std::string name(operation.name), subject(operation.table->subject());
  if (subject != nvme.name && subject != nfs.name)
    return {};
  std::string parts = name.substr(name.find(subject) + subject.size() + 1); // such as read-4k-32
  std::ranges::replace(parts, '-', ' ');
  Io io;
  std::istringstream(parts) >> io.direction >> io.octets >> io.depth;
  io.octets.replace(io.octets.size() - 1, 1, io.octets.ends_with('k') ? " KiB" : " MiB");
  return io;
}

std::string inWords(const Operation& operation) {
  const Io io = ioOf(operation).value();
  return (operation.table->subject() == nvme.name ? "NVMe, " : "NFS, ") + io.direction + " of " + io.octets + ", depth " + io.depth;
}

std::string Configuration::text() const {
  std::string text = transport + " " + std::to_string(mtu);
  if (crc)
    text += *crc ? " crc=1" : " crc=0";
  if (markers && !large)
    text += *markers ? " markers=1" : " markers=0";
  if (cpus > 1)
    text += " cpus=" + std::to_string(cpus);
  if (large)
    text += " large=1";
  if (delay)
    text += " delay=" + std::to_string(*delay);
  if (slot)
    text += " slot=" + std::to_string(slot);
  return text;
}

std::string Row::text() const {
  return configuration.text() + " " + std::string(operation->name);
}

std::string Row::guest() const {
  const Table& table = *operation->table;
  return std::string(table.guest) + (isParallel(table) ? std::to_string(configuration.cpus) : configuration.transport);
}

std::vector<Configuration> configurations(const Table& table, std::string_view transport) {
  using Setting = std::optional<bool>;
  const std::string name(transport);
  const bool isTcp = transport == "tcp", isIwmpa = transport == "iwmpa";

  if (table.group == secureNvme.group)
    return secureConfigurations(table, name);
  if (transport.find('-') != transport.npos)
    return {};
  if (table.group == vethVerbs.group)
    return vethConfigurations(table, name);
  if (&table == &linkNvme || &table == &linkNfs)
    return linkConfigurations(table, name);
  if (isNative(table))
    return nativeConfigurations(table, name);
  std::vector<Configuration> result;
  if (&table == &cpusNvme) {
    for (const int count : cpuCounts)
      if (count > 1 && (isTcp || isIwmpa || name == "rxe"))
        result.push_back({name, 1500, true, isIwmpa ? Setting{false} : Setting{}, count, false, emulatedDelay});
    return result;
  }
  if (name == "rxe")
    return {};
  if (&table == &cpus) {
    for (const int count : cpuCounts)
      result.push_back({name, 1500, isTcp ? Setting{} : false, isIwmpa ? Setting{false} : Setting{}, count});
    return result;
  }
  if (&table == &connections || &table == &memory)
    return {{name, 1500, isTcp ? Setting{} : true, isIwmpa ? Setting{false} : Setting{}}};
  if (!isCounting(table))
    return storageConfigurations(table, name);

  const std::vector<Setting> crcs = isTcp ? std::vector<Setting>{{}} : std::vector<Setting>{false, true};
  const std::vector<Setting> markers = isIwmpa ? std::vector<Setting>{false, true} : std::vector<Setting>{{}};
  for (const Setting crc : crcs)
    for (const Setting marker : markers)
      for (const int mtu : mtus)
        result.push_back({name, mtu, crc, marker});
  if (isIwmpa)
    for (const bool crc : {false, true})
      result.push_back({name, 1500, crc, false, 1, true});
  return result;
}

std::vector<Row> selectRows(const std::vector<std::string>& selections) {
  std::vector<Row> rows = allRows();
  std::vector<std::vector<std::string>> wanted;
  for (const std::string& selection : selections) {
    wanted.push_back(wordsOf(selection));
    for (const std::string& word : wanted.back())
      if (std::ranges::none_of(rows, [&](const Row& row) { return std::ranges::count(wordsOf(row), word) > 0; }))
        throw std::invalid_argument(
            "no row has '" + word +
            "': a selection is made of verbs|nvme|nfs|connections|memory|cpus|link|veth|secure|native, a transport, "
            "1500|9000|65536, crc=0|1, markers=0|1, large=1, cpus=1|2|4, delay=0|20|100|200, slot=20 and operations: see --list");
  }
  if (wanted.empty())
    wanted.emplace_back();
  std::erase_if(rows, [&](const Row& row) {
    return std::ranges::none_of(wanted, [&](const auto& selection) { return matches(row, selection); });
  });
  return rows;
}

std::vector<std::string> guestsOf(const std::vector<Row>& rows) {
  std::vector<std::string> guests;
  for (const Row& row : rows)
    if (!std::ranges::count(guests, row.guest()))
      guests.push_back(row.guest());
  return guests;
}

void writePlan(std::ostream& out, const std::vector<Row>& rows, std::string_view guest, int repeats, bool profiled) {
  const auto flag = [](std::optional<bool> setting) { return setting ? (*setting ? "1" : "0") : "-"; };
  std::vector<Row> planned;
  std::ranges::copy_if(rows, std::back_inserter(planned), [&](const Row& row) { return row.guest() == guest; });

  const bool isTimed = guest.starts_with(nativeNvme.guest), isCpus = guest.starts_with(cpus.guest);
  const bool isRounds = isCpus || isTimed || guest.starts_with(cpusNvme.guest);
  if (!repeats)
    repeats = isRounds ? 5 : 3;
  // Rows that are compared run next to each other, unless a connection takes longer than a row.
  if (isRounds && !isTimed)
    std::ranges::stable_sort(planned, {}, [](const Row& row) { return std::tuple(row.configuration.mtu, row.operation); });
  for (int round = 0; round < (isRounds ? repeats : 1); ++round)
    for (const Row& row : planned) {
      const Configuration& c = row.configuration;
      const Operation& operation = *row.operation;
      const bool isTcp = c.transport == "tcp";
      const bool isVerbs = operation.table == &verbs || operation.table == &vethVerbs;
      if (operation.table == &vethVerbs)
        out << "over_veth ";
      if (c.delay)
        out << "over " << *c.delay << ' ' << c.slot << ' ';
      out << "row '" << row.text() << "' " << c.transport << ' ' << c.mtu << ' ' << flag(c.crc) << ' ' << flag(c.markers) << ' '
          << c.large << ' ';
      if (!operation.program.empty())
        out << operation.program;
      else if (isVerbs)
        out << (isTcp ? "tcp_bench " : "rdma_bench ");
      else if (isCounting(*operation.table))
        out << "conn_bench ";
      else if (!isCpus)
        out << operation.table->subject() << ' ';
      out << (isTcp ? operation.tcp : operation.command);
      if (isVerbs)
        out << " --repeats " << repeats;
      if (isCounting(*operation.table) && profiled)
        out << " --maps";
      out << '\n';
    }
}

} // namespace bench

// SPDX-License-Identifier: GPL-2.0
#include <algorithm>
#include <cstdio>

#include "../common/options.hpp"
#include "../common/testcase.hpp"
#include "capture.hpp"

namespace peer {

using test::format;

static unsigned long long number(std::uint64_t n) {
  return n;
}

/** Requirements for every selected direction. */
struct CaptureOptions {
  std::string to, from;           /**< only directions from or to this address */
  std::string tsv;                /**< file for a row per direction */
  bool allAligned = false;        /**< --expect all-aligned */
  std::size_t regained = 0;       /**< minimum of aligned segments at the end, 0: none */
  double leastAligned = 0;        /**< per cent of the segments */
  std::size_t leastSegments = 1;  /**< in the largest direction: a capture with fewer shows nothing */
  std::size_t mostSegments = 0;   /**< in each direction, 0: any number */
  std::size_t mostFpdus = 0;      /**< in each segment, 0: any number */
  std::size_t mostLosses = ~0ULL; /**< runs of unaligned segments */
  bool quiet = false;             /**< do not list unaligned segments */
};

/* --- figures --- */

std::size_t Direction::unaligned() const {
  return static_cast<std::size_t>(std::ranges::count_if(segments, [](const auto& s) { return !s.aligned(); }));
}

std::size_t Direction::again() const {
  return static_cast<std::size_t>(std::ranges::count_if(segments, &JudgedSegment::again));
}

std::size_t Direction::unalignedAgain() const {
  return static_cast<std::size_t>(std::ranges::count_if(segments, [](const auto& s) { return s.again && !s.aligned(); }));
}

std::size_t Direction::losses() const {
  std::size_t n = 0;

  for (std::size_t i = 0; i < segments.size(); i++)
    n += !segments[i].aligned() && (!i || segments[i - 1].aligned());
  return n;
}

std::size_t Direction::alignedSince() const {
  std::size_t n = 0;

  while (n < segments.size() && segments[segments.size() - 1 - n].aligned())
    n++;
  return n;
}

std::map<std::size_t, std::size_t> Direction::distribution() const {
  std::map<std::size_t, std::size_t> count;

  for (const auto& s : segments)
    count[s.fpdus]++;
  return count;
}

static double share(const Direction& d) {
  return d.segments.empty() ? 100 : 100.0 - 100.0 * static_cast<double>(d.unaligned()) / static_cast<double>(d.segments.size());
}

/* --- output --- */

static void printLosses(const Direction& d) {
  static constexpr std::size_t most = 20;
  std::size_t shown = 0;

  for (std::size_t i = 0; i < d.segments.size() && shown < most; i++) {
    const auto& s = d.segments[i];
    std::size_t until = i;

    if (s.aligned())
      continue;
    while (until < d.segments.size() && !d.segments[until].aligned())
      until++;
    std::printf("  lost at segment %zu (frame %zu, position %llu, %zu octets%s): it %s; ", i, s.frame, number(s.position), s.length,
                s.again ? ", sent again" : "", s.reason.c_str());
    if (until == d.segments.size())
      std::printf("not regained\n");
    else
      std::printf("regained %zu segments later\n", until - i);
    i = until;
    shown++;
  }
  if (d.losses() > most)
    std::printf("  ... %zu times in all\n", d.losses());
}

static void print(const Direction& d, bool quiet) {
  std::printf("%s > %s  Markers %d, CRC %d\n", d.from.c_str(), d.to.c_str(), d.markers, d.crc);
  std::printf("  %llu octets, %zu FPDUs, the largest ULPDU %zu octets\n", number(d.octets), d.fpdus, d.largestUlpdu);
  std::printf("  %zu segments, the largest %zu octets, %zu sent again\n", d.segments.size(), d.largestSegment, d.again());
  std::printf("  aligned %.2f %%: %zu; not aligned: %zu, of these sent again: %zu\n", share(d), d.segments.size() - d.unaligned(),
              d.unaligned(), d.unalignedAgain());
  std::printf("  whole FPDUs in a segment:");
  for (const auto& [fpdus, count] : d.distribution())
    std::printf(" %zu in %zu", fpdus, count);
  std::printf("\n  IP: %zu fragments, %zu packets without DF\n", d.fragments, d.withoutDf);
  if (d.rest)
    std::printf("  the capture ends %zu octets into an FPDU\n", d.rest);
  if (!quiet)
    printLosses(d);
}

static void writeTsv(const std::string& path, const std::vector<Direction>& all) {
  std::FILE* out = std::fopen(path.c_str(), "w");

  if (!out)
    throw std::runtime_error("cannot write " + path);
  std::fprintf(out, "from\tto\tmarkers\tcrc\toctets\tfpdus\tlargest_ulpdu\tsegments\tlargest_segment\tunaligned\tagain\t"
                    "unaligned_again\tlosses\taligned_since\tmost_fpdus\tfragments\twithout_df\terror\n");
  for (const auto& d : all) {
    const auto count = d.distribution();

    std::fprintf(out, "%s\t%s\t%d\t%d\t%llu\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%s\n", d.from.c_str(),
                 d.to.c_str(), d.markers, d.crc, number(d.octets), d.fpdus, d.largestUlpdu, d.segments.size(), d.largestSegment,
                 d.unaligned(), d.again(), d.unalignedAgain(), d.losses(), d.alignedSince(),
                 count.empty() ? 0 : count.rbegin()->first, d.fragments, d.withoutDf, d.error.c_str());
  }
  std::fclose(out);
}

/* --- requirements --- */

/** The requirements that a direction violates; empty without any. */
static std::vector<std::string> faults(const Direction& d, const CaptureOptions& o) {
  std::vector<std::string> list;
  const auto count = d.distribution();

  if (!d.error.empty())
    list.push_back(d.error);
  if (d.fragments || d.withoutDf)
    list.push_back(format("%zu IP fragments, %zu packets without DF (TX-07)", d.fragments, d.withoutDf));
  if (o.allAligned && d.unaligned())
    list.push_back(format("%zu segments are not aligned (TX-01)", d.unaligned()));
  if (d.unaligned() && d.alignedSince() < o.regained)
    list.push_back(
        format("alignment is not regained: %zu aligned segments at the end, want %zu (TX-05)", d.alignedSince(), o.regained));
  if (share(d) < o.leastAligned)
    list.push_back(format("%.2f %% of the segments are aligned, want %.2f", share(d), o.leastAligned));
  if (d.losses() > o.mostLosses)
    list.push_back(format("alignment is lost %zu times", d.losses()));
  if (o.mostSegments && d.segments.size() > o.mostSegments)
    list.push_back(format("%zu segments, want %zu at most (TX-09)", d.segments.size(), o.mostSegments));
  if (o.mostFpdus && !count.empty() && count.rbegin()->first > o.mostFpdus)
    list.push_back(format("%zu FPDUs in one segment, want %zu at most", count.rbegin()->first, o.mostFpdus));
  return list;
}

static bool wanted(const Direction& d, const CaptureOptions& o) {
  return (o.from.empty() || d.from.starts_with(o.from + " ")) && (o.to.empty() || d.to.starts_with(o.to + " "));
}

static int capture(const std::vector<std::string>& files, const CaptureOptions& options) {
  auto all = judge(readCaptures(files));
  std::size_t most = 0;
  bool bad = false;

  std::erase_if(all, [&](const auto& d) { return !wanted(d, options); });
  for (const auto& d : all) {
    most = std::max(most, d.segments.size());
    print(d, options.quiet);
    for (const auto& text : faults(d, options)) {
      std::printf("  FAIL: %s\n", text.c_str());
      bad = true;
    }
  }
  if (!options.tsv.empty())
    writeTsv(options.tsv, all);
  if (most < options.leastSegments) {
    std::printf("FAIL: no more than %zu segments with FPDUs in %zu directions of MPA connections, want %zu\n", most, all.size(),
                options.leastSegments);
    bad = true;
  }
  return bad;
}

int captureCommand(int argc, char** argv) {
  CaptureOptions o;
  const auto expect = [&](const std::string& value) {
    if (value == "all-aligned")
      o.allAligned = true;
    else if (value == "regained")
      o.regained = 10;
    else
      throw std::invalid_argument("all-aligned or regained");
  };
  test::Options options(
      R"(usage: mpa-peer capture FILE... [OPTIONS]

Reads captures of tcpdump -s 0 -w, Ethernet or Linux cooked, decodes their MPA connections as strictly as a receiver can
(Markers, CRC, lengths), and reports for each TCP segment whether it starts with an FPDU and holds whole FPDUs. The capture must
include a connection's SYN. Capture behind the sender's TSO, where TCP's segments have their final size.

)",
      {{"expect", "WHAT",
        "all-aligned: no segment is unaligned; regained: 10 or more aligned segments follow the last unaligned one", expect},
       {"least-aligned", "P", "minimum of aligned segments of a direction, in per cent", test::number(o.leastAligned)},
       {"most-losses", "N", "maximum of runs of unaligned segments", test::number(o.mostLosses)},
       {"most-segments", "N", "maximum of segments in a direction", test::number(o.mostSegments)},
       {"most-fpdus", "N", "maximum of whole FPDUs in a segment", test::number(o.mostFpdus)},
       {"least-segments", "N", "minimum of segments in the largest direction (1)", test::number(o.leastSegments)},
       {"from", "A", "only directions from this address", test::text(o.from)},
       {"to", "A", "only directions to this address", test::text(o.to)},
       {"tsv", "FILE", "file for a row per direction, after a row of names", test::text(o.tsv)},
       {"quiet", nullptr, "do not list unaligned segments", test::flag(o.quiet)}},
      R"(
Requirements apply to each direction. Octets that violate the protocol, IP fragments and packets without DF always fail.
Exit status: 0 requirements met, 1 not met, 64 usage.
)");
  std::vector<std::string> files;

  if (const auto status = options.parse(argc, argv, files))
    return *status;
  if (files.empty()) {
    options.print(stderr);
    return 64;
  }
  return capture(files, o);
}

} // namespace peer

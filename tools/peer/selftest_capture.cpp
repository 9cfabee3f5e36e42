// SPDX-License-Identifier: GPL-2.0
/** @file selftest_capture.cpp @brief Hand-made captures with known verdicts. */
#include "../common/testcase.hpp"
#include "capture.hpp"
#include "fpdu.hpp"
#include "selftest.hpp"
#include "startup.hpp"

namespace peer {

using test::expect;
using test::expectEqual;

enum class Link { Ethernet, Cooked, Cooked2 };

/** The format of the file and its packets. */
struct Style {
  Link link = Link::Ethernet;
  bool ipv6 = false;
  bool df = true;
  bool bigEndian = false;
};

/** A capture of one connection, packet by packet. */
class Maker {
public:
  explicit Maker(Style style = {}) : style_(style) {
    word(0xa1b2c3d4);
    half(2), half(4), word(0), word(0), word(262144);
    word(style.link == Link::Ethernet ? 1 : style.link == Link::Cooked ? 113 : 276);
  }

  /** Handshake and startup frames; the Initiator's FPDUs have Markers when @p markers is set. */
  void start(bool markers, std::uint16_t mss = 1460, std::uint32_t isn = 0xffffff00) {
    next_[0] = isn;
    next_[1] = 77;
    packet(0, {}, next_[0]++, true, false, mss);
    packet(1, {}, next_[1]++, true, true, mss);
    send(0, StartupFrame{.kind = FrameKind::Request}.encode());
    send(1, StartupFrame{.kind = FrameKind::Reply, .markers = markers}.encode());
  }

  /** Adds a segment with the next octets of one side. */
  void send(unsigned side, View octets) {
    packet(side, octets, next_[side]);
    next_[side] += static_cast<std::uint32_t>(octets.size());
  }

  /** Adds a retransmission that starts @p back octets before the Initiator's next octet. */
  void sendAgain(View octets, std::uint32_t back) { packet(0, octets, next_[0] - back); }

  /** Skips octets of the Initiator, which are then missing in the capture. */
  void lose(std::uint32_t octets) { next_[0] += octets; }

  void packet(unsigned side, View octets, std::uint32_t seq, bool syn = false, bool ack = true, std::uint16_t mss = 0) {
    Bytes tcp;
    put<std::uint16_t>(tcp, side ? 7471 : 40000);
    put<std::uint16_t>(tcp, side ? 40000 : 7471);
    put<std::uint32_t>(tcp, seq);
    put<std::uint32_t>(tcp, 0);
    put<std::uint16_t>(tcp, static_cast<std::uint16_t>((mss ? 0x6000 : 0x5000) | (syn ? 2 : 0) | (ack ? 16 : 0)));
    put<std::uint16_t>(tcp, 1000);
    put<std::uint32_t>(tcp, 0);
    if (mss)
      put<std::uint32_t>(tcp, 0x02040000u | mss);
    append(tcp, octets);
    frame(link(ip(side, tcp)));
  }

  const Bytes& file() const { return file_; }
  std::vector<Direction> judged() const { return judge(parseCapture(file_)); }

private:
  template <class T> void fileField(T value) {
    const Bytes field = [&] {
      Bytes b;
      put<T>(b, value);
      return b;
    }();
    style_.bigEndian ? file_.insert(file_.end(), field.begin(), field.end())
                     : file_.insert(file_.end(), field.rbegin(), field.rend());
  }
  void word(std::uint32_t value) { fileField(value); }
  void half(std::uint16_t value) { fileField(value); }

  Bytes ip(unsigned side, View tcp) const {
    Bytes out;
    if (style_.ipv6) {
      put<std::uint32_t>(out, 6u << 28);
      put<std::uint16_t>(out, static_cast<std::uint16_t>(tcp.size()));
      put<std::uint16_t>(out, 6 << 8 | 64);
      for (const unsigned host : {side, !side + 0u}) {
        put<std::uint64_t>(out, 0xfd09000000000000);
        put<std::uint64_t>(out, 1 + host);
      }
    } else {
      put<std::uint32_t>(out, 0x45000000u + 20 + static_cast<std::uint32_t>(tcp.size()));
      put<std::uint32_t>(out, style_.df ? 0x4000 : 0);
      put<std::uint32_t>(out, 64u << 24 | 6 << 16);
      put<std::uint32_t>(out, 0x0a090001 + side);
      put<std::uint32_t>(out, 0x0a090001 + !side);
    }
    append(out, tcp);
    return out;
  }

  Bytes link(View packet) const {
    const std::uint16_t type = style_.ipv6 ? 0x86dd : 0x0800;
    Bytes out(style_.link == Link::Ethernet ? 12 : style_.link == Link::Cooked ? 14 : 0);
    put<std::uint16_t>(out, type);
    if (style_.link == Link::Cooked2)
      out.resize(20);
    append(out, packet);
    if (style_.link == Link::Ethernet)
      out.resize(std::max<std::size_t>(out.size(), 60)); /* Ethernet's padding is not payload */
    return out;
  }

  void frame(const Bytes& octets) {
    word(++seconds_), word(0);
    word(static_cast<std::uint32_t>(octets.size()));
    word(static_cast<std::uint32_t>(octets.size()));
    append(file_, octets);
  }

  Style style_;
  Bytes file_;
  std::uint32_t next_[2] = {}, seconds_ = 0;
};

static Bytes data(std::size_t length, std::uint64_t seed) {
  Bytes out(length);

  test::fill(out, seed);
  return out;
}

static Bytes both(View a, View b) {
  Bytes out(a.begin(), a.end());

  append(out, b);
  return out;
}

/** The Initiator's direction. */
static Direction initiator(const Maker& maker) {
  const auto all = maker.judged();

  expectEqual(all.size(), 2u, "directions");
  expect(all[0].error.empty(), "error: " + all[0].error);
  return all[0];
}

/** Two segments of one and two FPDUs, in every kind of file. */
static void kinds(None&) {
  for (const auto link : {Link::Ethernet, Link::Cooked, Link::Cooked2})
    for (const bool ipv6 : {false, true})
      for (const bool bigEndian : {false, true}) {
        FpduEncoder encoder({.markers = true, .crc = true});
        Maker maker({.link = link, .ipv6 = ipv6, .bigEndian = bigEndian});
        maker.start(true);
        maker.send(0, encoder.encode(data(1400, 1)));
        const Bytes two = encoder.encode(data(3, 2));
        maker.send(0, both(two, encoder.encode(data(600, 3))));

        const Direction d = initiator(maker);
        expect(d.markers && d.crc, "framing");
        expect(d.from == (ipv6 ? "fd09::1 40000" : "10.9.0.1 40000"), "from " + d.from);
        expectEqual(d.segments.size(), 2u, "segments");
        expectEqual(d.fpdus, 3u, "FPDUs");
        expectEqual(d.unaligned(), 0u, "unaligned");
        expectEqual(d.octets, encoder.position(), "octets");
        expectEqual(d.largestUlpdu, 1400u, "largest ULPDU");
        expect(d.distribution() == std::map<std::size_t, std::size_t>{{1, 1}, {2, 1}}, "distribution");
        expectEqual(d.withoutDf + d.fragments + d.rest, 0u, "faults");
      }
}

/** FPDUs behind a startup frame in its own segment. */
static void behindStartup(None&) {
  FpduEncoder encoder({.markers = false, .crc = true});
  Maker maker;
  maker.start(false);
  const Direction none = initiator(maker);
  expectEqual(none.segments.size(), 0u, "segments of startup alone");

  Maker more;
  more.start(false);
  more.sendAgain(both(StartupFrame{.kind = FrameKind::Request}.encode(), encoder.encode(data(10, 1))), startupHeader);
  const Direction d = initiator(more);
  expectEqual(d.segments.size(), 1u, "segments");
  expect(d.segments[0].aligned() && d.segments[0].position == 0 && !d.segments[0].again, "the FPDU behind the Request");
}

/** Loses alignment for two segments: one ends in an FPDU, one starts and ends in one, the next starts in one. */
static Maker shifted() {
  FpduEncoder encoder({.markers = false, .crc = true});
  Maker maker;
  maker.start(false);
  Bytes stream;
  for (unsigned i = 0; i < 3; i++)
    append(stream, encoder.encode(data(1002, i)));
  maker.send(0, View(stream).first(900));
  maker.send(0, View(stream).subspan(900, 1000));
  maker.send(0, View(stream).subspan(1900));
  maker.send(0, encoder.encode(data(1002, 9)));
  return maker;
}

static void lostAndRegained(None&) {
  const Direction d = initiator(shifted());

  expectEqual(d.unaligned(), 3u, "unaligned");
  expectEqual(d.losses(), 1u, "losses");
  expectEqual(d.alignedSince(), 1u, "aligned at the end");
  expect(d.segments[0].reason == "ends 900 octets into an FPDU", d.segments[0].reason);
  expect(d.segments[1].reason == "starts 900 octets into an FPDU", d.segments[1].reason);
  expect(d.segments[2].reason == "starts 892 octets into an FPDU", d.segments[2].reason);
}

/** A Marker before ULPDU_Length belongs to the FPDU: the segment starts with it. */
static void startsWithMarker(None&) {
  FpduEncoder encoder({.markers = true, .crc = true});
  Maker maker;
  maker.start(true);
  maker.send(0, encoder.encode(data(502, 1))); /* 4 + 2 + 502 + 4: the next FPDU starts at 512 */
  expectEqual(encoder.position(), 512u, "position");
  maker.send(0, encoder.encode(data(10, 2)));
  expectEqual(initiator(maker).unaligned(), 0u, "unaligned");
}

static void sentAgain(None&) {
  FpduEncoder encoder({.markers = false, .crc = true});
  Maker maker;
  maker.start(false);
  const Bytes a = encoder.encode(data(1002, 1)), b = encoder.encode(data(1002, 2));
  maker.send(0, a);
  maker.send(0, b);
  maker.sendAgain(a, 2016);
  maker.sendAgain(View(b).first(500), 1008); /* a retransmission cut short */
  const Direction d = initiator(maker);
  expectEqual(d.again(), 2u, "sent again");
  expectEqual(d.unalignedAgain(), 1u, "unaligned of these");
  expectEqual(d.octets, 2016u, "octets");

  Bytes other = a;
  other[100] ^= 1;
  maker.sendAgain(other, 2016);
  expect(maker.judged()[0].error.find("other contents") != std::string::npos, "altered octets: " + maker.judged()[0].error);
}

/** The capture has a later segment first, or lacks one. */
static void outOfOrder(None&) {
  FpduEncoder encoder({.markers = false, .crc = true});
  Maker maker;
  maker.start(false);
  const Bytes a = encoder.encode(data(1002, 1)), b = encoder.encode(data(1002, 2));
  maker.lose(static_cast<std::uint32_t>(a.size()));
  maker.send(0, b);
  try {
    maker.judged();
    throw test::Failure("a hole was not noticed");
  } catch (const std::runtime_error& e) {
    expect(std::string(e.what()).find("not in the capture") != std::string::npos, e.what());
  }
  maker.sendAgain(a, 2016);
  const Direction d = initiator(maker);
  expectEqual(d.fpdus, 2u, "FPDUs");
  expectEqual(d.unaligned() + d.again(), 0u, "unaligned or sent again");
}

static void strict(None&) {
  const std::pair<const char*, Faults> rows[] = {
      {"CRC", {.badCrc = true}}, {"FPDUPTR", {.marker = 0}}, {"RESERVED", {.reserved = 1}}, {"pad", {.pad = 1}}};
  for (const auto& [text, faults] : rows) {
    FpduEncoder encoder({.markers = true, .crc = true});
    Maker maker;
    maker.start(true);
    maker.send(0, encoder.encode(data(1001, 1), faults));
    expect(maker.judged()[0].error.find(text) != std::string::npos, std::string(text) + ": " + maker.judged()[0].error);
  }

  Maker super;
  super.start(false, 1000);
  super.send(0, FpduEncoder({}).encode(data(1002, 1)));
  expect(super.judged()[0].error.find("before TCP segments were made") != std::string::npos, "a segment over the MSS");

  Maker withoutDf({.df = false});
  withoutDf.start(false);
  expectEqual(withoutDf.judged()[0].withoutDf, 2u, "packets without DF");
}

/** Packets without an MPA connection, or with only a part of one. */
static void nothingThere(None&) {
  Maker maker;
  maker.packet(0, data(1000, 1), 5);
  expectEqual(maker.judged().size(), 0u, "connections without a SYN");
  Maker other;
  other.packet(0, {}, 5, true, false, 1460);
  other.packet(0, data(1000, 1), 6);
  expectEqual(other.judged().size(), 0u, "connections that are not MPA's");

  bool refused = false;
  try {
    parseCapture(data(100, 1));
  } catch (const std::runtime_error&) {
    refused = true;
  }
  expect(refused, "a file that is not a capture was accepted");
}

static const test::Case<None> cases[] = {
    {"capture-kinds", "", "Ethernet and cooked, IPv4 and IPv6, both byte orders, sequence numbers that wrap", kinds},
    {"capture-behind-startup", "", "startup frames do not count as FPDUs", behindStartup},
    {"capture-lost", "", "segments that start or end within an FPDU", lostAndRegained},
    {"capture-marker-first", "", "a Marker between FPDUs starts the next one", startsWithMarker},
    {"capture-sent-again", "", "retransmissions, also cut and altered", sentAgain},
    {"capture-order", "", "segments out of order, and missing ones", outOfOrder},
    {"capture-strict", "", "octets that violate the protocol, super-packets, DF", strict},
    {"capture-nothing", "", "captures without MPA", nothingThere},
};

std::span<const test::Case<None>> captureSelftests() {
  return cases;
}

} // namespace peer

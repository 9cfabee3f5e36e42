// SPDX-License-Identifier: GPL-2.0
#include "capture.hpp"

#include <algorithm>
#include <memory>

#include "../common/testcase.hpp"
#include "fpdu.hpp"
#include "startup.hpp"

namespace peer {

using test::format;

static unsigned long long number(std::uint64_t n) {
  return n;
}

/* --- one direction of a TCP connection --- */

/** The octets of one direction, and the position of each segment in them. */
class HalfStream {
public:
  struct Segment {
    std::size_t frame;
    std::uint64_t begin, end;
    bool again;
  };

  void begin(std::uint32_t initialSequence) { next_ = initialSequence + 1; }

  void add(const TcpPacket& p) {
    /* As in TCP itself, positions are within 2^31 octets of the stream's end. */
    const auto at = static_cast<std::int64_t>(octets_.size()) + static_cast<std::int32_t>(p.seq - next_);

    if (p.payload.empty() || at < 0)
      return;
    const auto begin = static_cast<std::uint64_t>(at), end = begin + p.payload.size();
    segments_.push_back({p.frame, begin, end, end <= octets_.size()});
    insert(begin, p.payload);
  }

  const Bytes& octets() const { return octets_; }
  const std::vector<Segment>& segments() const { return segments_; }

  /** Throws when the capture lacks octets of the stream. */
  void complete() const {
    if (!early_.empty())
      throw std::runtime_error(
          format("octets %zu to %llu of the stream are not in the capture", octets_.size(), number(early_.begin()->first)));
  }

private:
  void insert(std::uint64_t begin, View payload) {
    if (begin > octets_.size()) {
      early_[begin].assign(payload.begin(), payload.end());
      return;
    }
    const std::size_t known = std::min<std::size_t>(octets_.size() - begin, payload.size());
    if (!std::ranges::equal(payload.first(known), View(octets_).subspan(begin, known)))
      throw ProtocolError(format("octets from %llu on were sent a second time with other contents (TX-03)", number(begin)));
    append(octets_, payload.subspan(known));
    next_ += static_cast<std::uint32_t>(payload.size() - known);
    if (const auto it = early_.begin(); it != early_.end() && it->first <= octets_.size()) {
      const auto [later, more] = *it;
      early_.erase(it);
      insert(later, more);
    }
  }

  std::uint32_t next_ = 0; /* sequence number behind octets_ */
  Bytes octets_;
  std::vector<Segment> segments_;
  std::map<std::uint64_t, Bytes> early_;
};

/** Both directions: 0 is the Initiator's. */
struct Conversation {
  std::string end[2];
  HalfStream half[2];
  std::uint16_t mss[2] = {}; /* announced by this end */
  std::size_t fragments[2] = {}, withoutDf[2] = {};
  std::string error[2];

  void add(const TcpPacket& p, unsigned way) {
    fragments[way] += p.fragment;
    withoutDf[way] += !p.df;
    if (p.syn) {
      half[way].begin(p.seq);
      mss[way] = p.mss;
    } else if (error[way].empty()) {
      add(p.payload.size(), p, way);
    }
  }

private:
  void add(std::size_t length, const TcpPacket& p, unsigned way) {
    if (mss[!way] && length > mss[!way]) {
      error[way] = format("frame %zu holds %zu octets, the receiver's MSS is %u: captured before TCP segments were made of it",
                          p.frame, length, mss[!way]);
      return;
    }
    try {
      half[way].add(p);
    } catch (const ProtocolError& e) {
      error[way] = e.what();
    }
  }
};

/** Sorts packets into conversations. Conversations without a SYN are omitted. */
static std::vector<std::unique_ptr<Conversation>> conversations(const std::vector<TcpPacket>& packets) {
  std::vector<std::unique_ptr<Conversation>> all;
  std::map<std::pair<std::string, std::string>, std::pair<Conversation*, unsigned>> known;

  for (const auto& p : packets) {
    if (p.syn && !p.ack && !(known.contains({p.from, p.to}) && known[{p.from, p.to}].first->half[0].octets().empty())) {
      auto c = std::make_unique<Conversation>();
      c->end[0] = p.from;
      c->end[1] = p.to;
      known[{p.from, p.to}] = {c.get(), 0};
      known[{p.to, p.from}] = {c.get(), 1};
      all.push_back(std::move(c));
    }
    const auto it = known.find({p.from, p.to});
    if (it != known.end())
      it->second.first->add(p, it->second.second);
  }
  return all;
}

/** Fragments have no ports: each is counted for every connection of its addresses. */
static void addFragments(const std::vector<TcpPacket>& packets, std::vector<std::unique_ptr<Conversation>>& all) {
  for (const auto& p : packets)
    for (auto& c : all)
      for (unsigned way = 0; p.fragment && way < 2; way++)
        c->fragments[way] += c->end[way].starts_with(p.from + " ") && c->end[!way].starts_with(p.to + " ");
}

/* --- MPA --- */

/** The startup frame at the head of a stream, and its length. Nothing when the stream is not MPA or has no whole frame. */
static std::optional<std::pair<StartupFrame, std::size_t>> startupFrame(FrameKind kind, View octets) {
  const auto key = startupKey(kind);

  if (octets.size() < startupHeader || !std::equal(key.begin(), key.end(), octets.begin()))
    return {};
  const std::size_t length = startupLength(octets);
  if (octets.size() < length)
    return {};
  return {{StartupFrame::decode(kind, octets.first(length)), length}};
}

/** The stream positions where FPDUs start, and the end of the last one. */
static std::vector<std::uint64_t> decode(View stream, Direction& d) {
  static constexpr std::size_t step = 16384; /* the decoder is efficient with small pieces only */
  FpduDecoder decoder({d.markers, d.crc});
  std::vector<std::uint64_t> starts{0};

  try {
    for (std::size_t at = 0; at < stream.size(); at += step) {
      decoder.feed(stream.subspan(at, std::min(step, stream.size() - at)));
      while (const auto fpdu = decoder.next()) {
        starts.push_back(fpdu->position + fpdu->wireLength);
        d.largestUlpdu = std::max(d.largestUlpdu, fpdu->ulpdu.size());
      }
    }
  } catch (const ProtocolError& e) {
    d.error = e.what();
  }
  d.fpdus = starts.size() - 1;
  d.rest = stream.size() - starts.back();
  return starts;
}

static void judgeSegment(const std::vector<std::uint64_t>& starts, JudgedSegment& s) {
  const auto end = s.position + s.length;
  const auto first = std::ranges::lower_bound(starts, s.position), behind = std::ranges::upper_bound(starts, end);

  s.fpdus = behind > first ? static_cast<std::size_t>(behind - first) - 1 : 0;
  if (first == starts.end() || *first != s.position)
    s.reason = format("starts %llu octets into an FPDU", number(s.position - *std::prev(first)));
  else if (behind == starts.begin() || *std::prev(behind) != end)
    s.reason = format("ends %llu octets into an FPDU", number(end - *std::prev(behind)));
}

static void judgeSegments(const HalfStream& half, std::size_t startup, Direction& d) {
  const auto starts = decode(View(half.octets()).subspan(startup), d);

  d.octets = half.octets().size() - startup;
  for (const auto& s : half.segments()) {
    if (s.end <= startup)
      continue;
    /* When a segment begins with the startup frame, judge only the part behind the frame. */
    const auto begin = std::max<std::uint64_t>(s.begin, startup);
    JudgedSegment judged{s.frame, begin - startup, static_cast<std::size_t>(s.end - begin), s.again};

    judgeSegment(starts, judged);
    d.largestSegment = std::max(d.largestSegment, judged.length);
    d.segments.push_back(std::move(judged));
  }
}

static Direction judgeDirection(const Conversation& c, unsigned way, const StartupFrame* frame, std::size_t startup) {
  Direction d;

  d.from = c.end[way];
  d.to = c.end[!way];
  d.fragments = c.fragments[way];
  d.withoutDf = c.withoutDf[way];
  d.error = c.error[way];
  d.markers = frame[!way].markers;
  d.crc = frame[0].crc || frame[1].crc;
  if (d.error.empty())
    judgeSegments(c.half[way], startup, d);
  return d;
}

std::vector<Direction> judge(const std::vector<TcpPacket>& packets) {
  auto list = conversations(packets);
  std::vector<Direction> all;

  addFragments(packets, list);
  for (const auto& c : list) {
    const auto request = startupFrame(FrameKind::Request, c->half[0].octets());
    const auto reply = startupFrame(FrameKind::Reply, c->half[1].octets());

    if (!request || !reply || reply->first.reject)
      continue;
    const StartupFrame frames[] = {request->first, reply->first};
    for (auto& half : c->half)
      half.complete();
    all.push_back(judgeDirection(*c, 0, frames, request->second));
    all.push_back(judgeDirection(*c, 1, frames, reply->second));
  }
  return all;
}

} // namespace peer

// SPDX-License-Identifier: GPL-2.0
/** @file cases_data.cpp @brief Data arrives unchanged. */
#include <algorithm>
#include <deque>

#include "verbs_cases.hpp"

namespace rdma {

using test::expect;
using test::format;

namespace {

/* --- every offset across a page boundary --- */

enum class Op { Send, Write, Read };

ibv_wc_opcode completionOf(Op op) {
  return op == Op::Send ? IBV_WC_SEND : op == Op::Write ? IBV_WC_RDMA_WRITE : IBV_WC_RDMA_READ;
}

/** One payload: where it starts in its source slot and in its sink slot. A slot is two pages. */
struct Piece {
  std::size_t length, source, sink;
};

/** All payloads of 1 to 64 octets that touch or cross the page boundary in source or sink, at every position. */
std::vector<Piece> boundaryPieces() {
  std::vector<Piece> all;

  for (std::size_t length = 1; length <= 64; length++)
    for (std::size_t k = 0; k <= length; k++) {
      const std::size_t other = (5 * k + length) % (length + 1);

      all.push_back({length, page - k, page - other});
      all.push_back({length, page - other, page - k});
    }
  return all;
}

/** A batch of pieces in flight at once; each has its own slots. */
class Boundary {
public:
  static constexpr std::size_t depth = 32, window = 160;
  static inline const std::size_t slot = 2 * page;

  Boundary(Pair& pair, Op op)
      : pair_(pair), op_(op), client_(pair.client->pd(), depth * slot), server_(pair.server->pd(), depth * slot) {
    test::fill(source().memory.span(), 3);
  }

  void run(std::span<const Piece> pieces) {
    for (std::size_t i = 0; i < pieces.size(); i++)
      clear(i);
    for (std::size_t i = 0; i < pieces.size(); i++)
      post(i, pieces[i]);
    for (const auto& wc : pair_.client->sends().wait(pieces.size()))
      expectWc(wc, IBV_WC_SUCCESS, completionOf(op_), "work request");
    if (op_ == Op::Send)
      receives(pieces);
    if (op_ == Op::Write)
      pair_.sync(); /* the arrival of a message shows that the WRITEs before it have been placed */
    for (std::size_t i = 0; i < pieces.size(); i++)
      compare(i, pieces[i]);
  }

private:
  Region& source() { return op_ == Op::Read ? server_ : client_; }
  Region& sink() { return op_ == Op::Read ? client_ : server_; }

  /** The part of a slot that a piece can reach, with a margin on both sides. */
  std::span<std::uint8_t> around(Region& region, std::size_t i) { return region.memory.span(i * slot + page - window, 2 * window); }

  void clear(std::size_t i) { std::ranges::fill(around(sink(), i), 0xee); }

  void post(std::size_t i, const Piece& p) {
    const auto at = i * slot;

    if (op_ == Op::Send) {
      pair_.server->postRecv(i, {server_.sge(at + p.sink, p.length)});
      pair_.client->postSend(i, {client_.sge(at + p.source, p.length)});
    } else if (op_ == Op::Write) {
      pair_.client->postWrite(i, {client_.sge(at + p.source, p.length)}, server_.rkey(), server_.memory.address(at + p.sink));
    } else {
      pair_.client->postRead(i, {client_.sge(at + p.sink, p.length)}, server_.rkey(), server_.memory.address(at + p.source));
    }
  }

  void receives(std::span<const Piece> pieces) {
    const auto list = pair_.server->recvs().wait(pieces.size());

    for (std::size_t i = 0; i < pieces.size(); i++) {
      expectWc(list[i], IBV_WC_SUCCESS, IBV_WC_RECV, "receive");
      test::expectEqual(list[i].wr_id, i, "order of receives");
      test::expectEqual(list[i].byte_len, pieces[i].length, "octets received");
    }
  }

  void compare(std::size_t i, const Piece& p) {
    std::vector<std::uint8_t> want(2 * window, 0xee);
    const auto data = source().memory.span(i * slot + p.source, p.length);

    std::copy(data.begin(), data.end(), want.begin() + static_cast<std::ptrdiff_t>(window + p.sink - page));
    expectSame(around(sink(), i), want, format("%zu octets, source %zu, sink %zu", p.length, p.source, p.sink));
  }

  Pair& pair_;
  Op op_;
  Region client_, server_;
};

void boundary(Context& c, Op op) {
  Pair pair(c.place);
  Boundary boundary(pair, op);
  const auto pieces = boundaryPieces();

  for (std::size_t at = 0; at < pieces.size(); at += Boundary::depth)
    boundary.run(std::span(pieces).subspan(at, std::min(Boundary::depth, pieces.size() - at)));
}

void boundarySend(Context& c) {
  boundary(c, Op::Send);
}
void boundaryWrite(Context& c) {
  boundary(c, Op::Write);
}
void boundaryRead(Context& c) {
  boundary(c, Op::Read);
}

/* --- sizes --- */

constexpr std::size_t sizes[] = {0,    1,    2,    3,    4,    5,    63,    1000,  1385,   1386,
                                 1448, 1460, 4095, 4096, 4097, 8960, 65535, 65536, 100001, 1 << 20};

/** Transfers @p length octets between odd offsets, and compares them. */
void transfer(Pair& pair, Op op, Region& client, Region& server, std::size_t length, std::uint64_t seed) {
  Region& source = op == Op::Read ? server : client;
  Region& sink = op == Op::Read ? client : server;
  const std::size_t from = seed % 61, to = seed % 59;

  test::fill(source.memory.span(from, length), seed);
  std::ranges::fill(sink.memory.span(to, length), 0);
  if (op == Op::Send) {
    pair.server->postRecv(1, {server.sge(to, length)});
    pair.client->postSend(2, {client.sge(from, length)});
    expectWc(pair.server->recvs().next(), IBV_WC_SUCCESS, IBV_WC_RECV, format("receive of %zu octets", length));
  } else if (op == Op::Write) {
    pair.client->postWrite(2, {client.sge(from, length)}, server.rkey(), server.memory.address(to));
  } else {
    pair.client->postRead(2, {client.sge(to, length)}, server.rkey(), server.memory.address(from));
  }
  expectWc(pair.client->sends().next(), IBV_WC_SUCCESS, completionOf(op), format("transfer of %zu octets", length));
  if (op == Op::Write)
    pair.sync();
  expectSame(sink.memory.span(to, length), source.memory.span(from, length), format("%zu octets", length));
}

void allSizes(Context& c) {
  Pair pair(c.place);
  Region client(pair.client->pd(), (1 << 20) + page), server(pair.server->pd(), (1 << 20) + page);
  std::uint64_t seed = c.seed;

  for (const Op op : {Op::Send, Op::Write, Op::Read})
    for (const auto size : sizes)
      transfer(pair, op, client, server, size, seed++);
}

/* --- random traffic --- */

/** A transfer in flight, and its expected result. */
struct Pending {
  std::size_t sink, length;
  std::uint64_t seed;
};

/** Random SENDs, WRITEs and READs, 16 in flight, each compared. */
void integrity(Context& c) {
  constexpr std::size_t depth = 16;
  const std::size_t slot = 65536 + page;
  Pair pair(c.place);
  Region client(pair.client->pd(), depth * slot), server(pair.server->pd(), depth * slot);
  std::mt19937_64 random(c.seed);
  const unsigned rounds = c.count ? c.count : 20;

  for (unsigned round = 0; round < rounds; round++) {
    std::vector<std::pair<Op, Pending>> list;
    unsigned receives = 0;

    for (std::size_t i = 0; i < depth; i++) {
      const auto op = static_cast<Op>(random() % 3);
      const std::size_t length = random() % 4 ? random() % 3000 : random() % 65537;
      const Pending p{i * slot + random() % page, length, random()};
      const std::size_t from = i * slot + random() % page;
      Region& source = op == Op::Read ? server : client;
      Region& sink = op == Op::Read ? client : server;

      test::fill(source.memory.span(from, length), p.seed);
      std::ranges::fill(sink.memory.span(p.sink, length), 0);
      if (op == Op::Send) {
        receives++;
        pair.server->postRecv(i, {server.sge(p.sink, length)});
        pair.client->postSend(i, {client.sge(from, length)});
      } else if (op == Op::Write) {
        pair.client->postWrite(i, {client.sge(from, length)}, server.rkey(), server.memory.address(p.sink));
      } else {
        pair.client->postRead(i, {client.sge(p.sink, length)}, server.rkey(), server.memory.address(from));
      }
      list.emplace_back(op, p);
    }
    for (const auto& wc : pair.client->sends().wait(depth))
      expectWc(wc, IBV_WC_SUCCESS, wc.opcode, format("transfer in round %u", round));
    for (const auto& wc : pair.server->recvs().wait(receives))
      expectWc(wc, IBV_WC_SUCCESS, IBV_WC_RECV, format("receive in round %u", round));
    pair.sync();
    for (const auto& [op, p] : list) {
      Bytes want(p.length);

      test::fill(want, p.seed);
      expectSame((op == Op::Read ? client : server).memory.span(p.sink, p.length), want,
                 format("round %u, %zu octets", round, p.length));
    }
  }
}

/** Both sides send at once: neither may wait until the other receives. */
void bothWays(Context& c) {
  constexpr std::size_t length = 256 * 1024, count = 8;
  Pair pair(c.place);
  Region client(pair.client->pd(), 2 * length), server(pair.server->pd(), 2 * length);

  test::fill(client.memory.span(0, length), 1);
  test::fill(server.memory.span(0, length), 2);
  for (std::size_t i = 0; i < count; i++) {
    pair.client->postWrite(i, {client.sge(0, length)}, server.rkey(), server.memory.address(length));
    pair.server->postWrite(i, {server.sge(0, length)}, client.rkey(), client.memory.address(length));
  }
  for (auto* end : {pair.client.get(), pair.server.get()})
    for (const auto& wc : end->sends().wait(count))
      expectWc(wc, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE, "WRITE");
  pair.sync();
  expectSame(server.memory.span(length, length), client.memory.span(0, length), "to the server");
  expectSame(client.memory.span(length, length), server.memory.span(0, length), "to the client");
}

/** One direction at a time, more than TCP accepts at once. */
void bulk(Context& c) {
  constexpr std::size_t length = 512 * 1024;
  Pair pair(c.place);
  Region client(pair.client->pd(), length + page), server(pair.server->pd(), length + page);

  for (const Op op : {Op::Send, Op::Write, Op::Read})
    transfer(pair, op, client, server, length, c.seed);
}

/* --- inline data, lists of SGEs, no data --- */

void inlineData(Context& c) {
  EndOptions options;
  options.cap.max_inline_data = 80;
  Pair pair(c.place, options);
  Region server(pair.server->pd(), page);
  Bytes data(81);

  for (std::uint32_t length = 0; length <= 80; length++) {
    const ibv_sge sge{reinterpret_cast<std::uintptr_t>(data.data()), length, 0}; /* no key: posting copies the data */

    test::fill(data, length);
    const Bytes want(data.begin(), data.begin() + length);
    pair.server->postRecv(length, {server.sge(0, 128)});
    pair.client->postSend(length, {sge}, IBV_SEND_INLINE | IBV_SEND_SIGNALED);
    pair.client->postWrite(length, {sge}, server.rkey(), server.memory.address(1000), IBV_SEND_INLINE | IBV_SEND_SIGNALED);
    std::ranges::fill(data, 0);
    expectWc(pair.server->recvs().next(), IBV_WC_SUCCESS, IBV_WC_RECV, format("inline SEND of %u octets", length));
    expectSame(server.memory.span(0, length), want, format("inline SEND of %u octets", length));
    pair.client->sends().wait(2);
    pair.sync();
    expectSame(server.memory.span(1000, length), want, format("inline WRITE of %u octets", length));
  }
  ibv_send_wr wr{};
  wr.opcode = IBV_WR_SEND;
  wr.send_flags = IBV_SEND_INLINE;
  expect(pair.client->tryPost(wr, {{reinterpret_cast<std::uintptr_t>(data.data()), 81, 0}}) != 0, "81 octets inline were taken");
}

/** Gathers from up to six pieces, and scatters to up to six pieces of other lengths. */
void sgeLists(Context& c) {
  Pair pair(c.place);
  Region client(pair.client->pd(), 16 * page), server(pair.server->pd(), 16 * page);
  std::mt19937_64 random(c.seed);

  test::fill(client.memory.span(), 4);
  for (unsigned n = 0; n < 60; n++) {
    std::vector<ibv_sge> from, to;
    Bytes want;
    const std::size_t pieces = 1 + n % 6;

    for (std::size_t i = 0; i < pieces; i++) {
      const std::size_t offset = i * 2 * page + random() % page, length = random() % 5 ? random() % 1500 : 0;
      const auto data = client.memory.span(offset, length);

      from.push_back(client.sge(offset, length));
      want.insert(want.end(), data.begin(), data.end());
    }
    std::size_t left = want.size();
    for (std::size_t i = 0; i < 6; i++) {
      const std::size_t length = i == 5 ? left : random() % (left + 1);

      to.push_back(server.sge(i * 2 * page + 64 * i, length));
      left -= length;
    }
    pair.server->postRecv(n, to);
    pair.client->postSend(n, from);
    const auto wc = pair.server->recvs().next();
    expectWc(wc, IBV_WC_SUCCESS, IBV_WC_RECV, "receive");
    test::expectEqual(wc.byte_len, want.size(), "octets received");
    expectWc(pair.client->sends().next(), IBV_WC_SUCCESS, IBV_WC_SEND, "SEND");
    Bytes got;
    for (const auto& sge : to) {
      const auto* data = reinterpret_cast<const std::uint8_t*>(sge.addr);
      got.insert(got.end(), data, data + sge.length);
    }
    expectSame(got, want, format("%zu pieces to 6", pieces));
  }
}

/** Operations without data: no SGE at all, an SGE of length 0, and remote keys, which are then ignored. */
void zeroLength(Context& c) {
  Pair pair(c.place);
  Region client(pair.client->pd(), page), server(pair.server->pd(), page);

  pair.server->postRecv(1, {});
  pair.server->postRecv(2, {server.sge(0, 100)});
  pair.client->postSend(1, {});
  pair.client->postSend(2, {client.sge(0, 0)});
  pair.client->postWrite(3, {}, server.rkey(), server.memory.address());
  pair.client->postWrite(4, {client.sge(0, 0)}, 0xdeadbeef, 0);
  pair.client->postRead(5, {client.sge(0, 0)}, server.rkey(), server.memory.address());
  for (std::uint64_t id = 1; id <= 5; id++) {
    const auto wc = pair.client->sends().next();
    expectWc(wc, IBV_WC_SUCCESS, wc.opcode, format("operation %llu", static_cast<unsigned long long>(id)));
    test::expectEqual(wc.wr_id, id, "order of completions");
  }
  for (const auto& wc : pair.server->recvs().wait(2)) {
    expectWc(wc, IBV_WC_SUCCESS, IBV_WC_RECV, "receive");
    test::expectEqual(wc.byte_len, 0u, "octets received");
  }
  pair.sync();
}

const VerbsCase table[] = {
    {"boundary-send", "MRK-12 RCV-03", "1 to 64 octets at every offset across a page boundary: SEND", boundarySend},
    {"boundary-write", "MRK-12 RCV-03", "the same: WRITE", boundaryWrite},
    {"boundary-read", "MRK-12 RCV-03", "the same: READ", boundaryRead},
    {"sizes", "DDP-05 MRK-12", "0 octets to 1 MiB: SEND, WRITE, READ", allSizes},
    {"integrity", "", "random operations of random lengths, 16 in flight (--count rounds, --seed)", integrity},
    {"bulk", "", "512 KiB each by SEND, WRITE and READ", bulk},
    {"both-ways", "", "2 MiB of WRITEs each way at once", bothWays},
    {"inline", "", "0 to 80 octets inline; 81 are refused", inlineData},
    {"sge-lists", "", "gather from 1 to 6 pieces, scatter to 6", sgeLists},
    {"zero-length", "", "SEND, WRITE and READ without data", zeroLength},
};

} // namespace

std::span<const VerbsCase> dataCases() {
  return table;
}

} // namespace rdma

// SPDX-License-Identifier: GPL-2.0
/**
 * @file cases_late.cpp
 * @brief A SEND meets no receive: it waits, with all that the peer sends behind it, until a receive comes or the connection ends.
 */
#include "verbs_cases.hpp"

namespace rdma {

using test::expect;
using test::expectEqual;
using test::format;

namespace {

/** The SENDs of a device that wait, or have waited, from now on. */
class Waits : public Counter {
public:
  explicit Waits(const End& end) : Counter(end.id->context(), "rx_waits") {}
};

/** A pair whose client has sent a message that waits at the server. */
struct Waiting {
  static constexpr std::size_t length = 20000; /* several segments */

  explicit Waiting(const Context& c)
      : pair(c.place), waits(*pair.server), client(pair.client->pd(), 2 * length), server(pair.server->pd(), 2 * length) {
    test::fill(client.memory.span(), 1);
    pair.client->postSend(1, {client.sge(0, length)});
    waits.reach(1);
  }

  void expectMessage() {
    const ibv_wc wc = pair.server->recvs().next();

    expectWc(wc, IBV_WC_SUCCESS, IBV_WC_RECV, "the late receive");
    expectEqual(wc.byte_len, length, "octets received");
    expectSame(server.memory.span(0, length), client.memory.span(0, length), "message");
  }

  Pair pair;
  Waits waits;
  Region client, server;
};

/** The device places a WRITE, and answers a READ, only after the SEND in front of them has got its receive. */
void lateReceive(Context& c) {
  const unsigned rounds = c.count ? c.count : 20;
  Waiting w(c);
  Region target(w.pair.server->pd(), page);

  for (unsigned i = 0; i < rounds; i++) {
    test::fill(w.client.memory.span(), i + 1);
    test::fill(target.memory.span(), 99);
    const auto before = test::checksum(target.memory.span());
    if (i)
      w.pair.client->postSend(1, {w.client.sge(0, w.length)});
    w.waits.reach(i + 1);
    w.pair.client->postWrite(2, {w.client.sge(0, page)}, target.rkey(), target.memory.address());
    w.pair.client->postRead(3, {w.client.sge(w.length, 64)}, target.rkey(), target.memory.address());
    for (unsigned sent = 0; sent < 2; sent++) /* TCP takes both */
      expectWc(w.pair.client->sends().next(), IBV_WC_SUCCESS, sent ? IBV_WC_RDMA_WRITE : IBV_WC_SEND, "client's request");
    expectEqual(test::checksum(target.memory.span()), before, "checksum of the memory that the WRITE behind it names");
    w.pair.server->postRecv(i, {w.server.sge(0, 100), w.server.sge(100, 2 * w.length - 100)});
    w.expectMessage();
    expectWc(w.pair.client->sends().next(), IBV_WC_SUCCESS, IBV_WC_RDMA_READ, "the READ behind it");
    expectSame(w.client.memory.span(w.length, 64), w.client.memory.span(0, 64), "what was READ");
  }
}

/** Both ends send first and post their receives then, as programs for InfiniBand do. */
void lateBothWays(Context& c) {
  Waiting w(c);
  const Waits atClient(*w.pair.client);

  w.pair.server->postSend(1, {w.server.sge(0, 64)});
  atClient.reach(1);
  w.pair.client->postRecv(1, {w.client.sge(w.length, 64)});
  expectWc(w.pair.client->recvs().next(), IBV_WC_SUCCESS, IBV_WC_RECV, "the client's receive");
  w.pair.server->postRecv(1, {w.server.sge(0, w.length)});
  w.expectMessage();
}

/**
 * Many more messages than receives, which are posted one by one when a message has arrived: the window shuts and opens. The
 * messages' data tells their order.
 */
void lateStream(Context& c) {
  const unsigned count = c.count ? c.count : 300;
  Pair pair(c.place, {}, {.cap = {128, 2, 6, 6, 0}});
  Region from(pair.client->pd(), count * page), to(pair.server->pd(), page);
  unsigned sent = 0, done = 0;
  const auto send = [&] {
    for (; sent < count && sent - done < 100; sent++)
      pair.client->postSend(sent, {from.sge(sent * page, page)});
    for (const auto& wc : pair.client->sends().poll()) {
      expectWc(wc, IBV_WC_SUCCESS, IBV_WC_SEND, "SEND");
      done++;
    }
  };

  test::fill(from.memory.span(), 5);
  for (unsigned i = 0; i < count; i++) {
    send();
    pair.server->postRecv(i, {to.sge(0, page)});
    expectEqual(pair.server->recvs().next().wr_id, i, "receive");
    expectSame(to.memory.span(), from.memory.span(i * page, page), format("message %u", i));
  }
}

/** Connections that wait for an SRQ get its receives, each one message, however few are posted at once. */
void lateShared(Context& c) {
  const unsigned connections = c.count ? c.count : 8, rounds = 4;
  const Pair probe(c.place);
  ibv_srq_init_attr init{};
  init.attr = {connections, 1, 0};
  const Srq srq(check(ibv_create_srq(probe.server->pd(), &init), "ibv_create_srq"));
  EndOptions options;
  options.srq = srq.get();
  options.pd = probe.server->pd();
  Cq cq(probe.server->id->context(), 64);
  options.cq = &cq;
  std::vector<std::unique_ptr<Pair>> pairs(connections);
  std::vector<std::unique_ptr<Region>> from(connections);
  Region to(probe.server->pd(), connections * page);

  for (unsigned i = 0; i < connections; i++) {
    pairs[i] = std::make_unique<Pair>(c.place, EndOptions{}, options);
    from[i] = std::make_unique<Region>(pairs[i]->client->pd(), page);
    test::fill(from[i]->memory.span(), i + 1);
  }
  for (unsigned round = 0; round < rounds; round++) {
    const Waits waits(*probe.server);
    std::vector<bool> seen(connections);

    for (unsigned i = 0; i < connections; i++)
      pairs[i]->client->postSend(round, {from[i]->sge(0, page)});
    waits.reach(connections);
    for (unsigned next = 0, n; next < connections; next += n) {
      n = std::min(round + 1, connections - next); /* receives posted at once */
      for (unsigned i = next; i < next + n; i++)
        postShared(srq.get(), i, to.sge(i * page, page));
      for (const auto& wc : cq.wait(n)) {
        expectWc(wc, IBV_WC_SUCCESS, IBV_WC_RECV, "shared receive");
        unsigned sender = 0;
        while (sender < connections && pairs[sender]->server->qp()->qp_num != wc.qp_num)
          sender++;
        expect(sender < connections && !seen[sender], "a second message of one connection");
        seen[sender] = true;
        expectSame(to.memory.span(wc.wr_id * page, page), from[sender]->memory.span(), "message");
      }
    }
  }
}

/** The peer closes in order behind a SEND that waits: the SEND arrives, and the end is reported after it. */
void lateClosed(Context& c) {
  Waiting w(c);

  expectWc(w.pair.client->sends().next(), IBV_WC_SUCCESS, IBV_WC_SEND, "SEND");
  w.pair.client->disconnect();
  expectEqual(w.pair.server->state(), int{IBV_QPS_RTS}, "state of the server's QP");
  w.pair.server->postRecv(1, {w.server.sge(0, w.length)});
  w.expectMessage();
  w.pair.expectDown();
}

/** The consumer at which a SEND waits ends the connection itself, in each way. */
void lateLeft(Context& c) {
  {
    Waiting w(c);
    w.pair.server->id->destroyQp();
    w.pair.clientChannel.expect(RDMA_CM_EVENT_DISCONNECTED);
  }
  {
    Waiting w(c);
    w.pair.server->fail();
    w.pair.expectDown();
    w.pair.server->postRecv(7, {w.server.sge(0, w.length)});
    w.pair.server->fail(); /* a call that flushes receives posted later */
    expectWc(w.pair.server->recvs().next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, "a receive after the end");
  }
  {
    Waiting w(c);
    w.pair.server->disconnect(); /* it posts no receives any more */
    w.pair.expectDown();
  }
}

/** Without a receive in time the connection ends (RFC 5041 §7.1-2), and the sender's work requests are flushed. */
void lateNever(Context& c) {
  Waiting w(c);

  w.pair.client->postRecv(70, {w.client.sge(w.length, 64)});
  expect(waitAsync(w.pair.server->id->context(), IBV_EVENT_QP_REQ_ERR), "no QP_REQ_ERR event at the receiver");
  w.pair.expectDown();
  w.pair.client->postSend(3, {w.client.sge(0, 64)});
  const auto list = w.pair.client->sends().wait(2);
  expectWc(list[0], IBV_WC_SUCCESS, IBV_WC_SEND, "the SEND without a receive, which TCP has taken");
  expectWc(list[1], IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, "a SEND after the end");
  expectWc(w.pair.client->recvs().next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, "the sender's own receive");
}

/** The program posts its receive when its READ is complete, whose Response stands behind the SEND: only the time ends that. */
void lateDeadlock(Context& c) {
  Waiting w(c);

  w.pair.server->postRead(1, {w.server.sge(0, 64)}, w.client.rkey(), w.client.memory.address());
  expectWc(w.pair.server->sends().next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_RDMA_READ, "the READ");
  w.pair.expectDown();
}

const VerbsCase table[] = {
    {"late-receive", "", "a SEND of several segments waits, a WRITE and a READ behind it (--count)", lateReceive},
    {"late-both-ways", "", "a SEND waits at each end", lateBothWays},
    {"late-stream", "", "300 messages, a receive at a time (--count)", lateStream},
    {"late-srq", "", "8 connections wait for one SRQ (--count)", lateShared},
    {"late-closed", "", "the peer disconnects behind a SEND that waits", lateClosed},
    {"late-left", "", "destroy, error and disconnect at the end where a SEND waits", lateLeft},
    {"late-never", "", "a SEND that waits in vain; receive_wait must be short", lateNever},
    {"late-deadlock", "", "a receive that is posted after a READ; likewise", lateDeadlock},
};

} // namespace

std::span<const VerbsCase> lateCases() {
  return table;
}

} // namespace rdma

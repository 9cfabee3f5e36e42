// SPDX-License-Identifier: GPL-2.0
/** @file cases_queues.cpp @brief Queues, completions and their notification. */
#include <algorithm>
#include <cstdio>
#include <map>

#include "verbs_cases.hpp"

namespace rdma {

using test::Deadline;
using test::expect;
using test::expectEqual;
using test::format;

namespace {

/** A CQ armed for solicited messages raises a notification only for these. */
void solicited(Context& c) {
  Pair pair(c.place);
  Region client(pair.client->pd(), page), server(pair.server->pd(), page);
  Cq& cq = pair.server->recvs();

  for (unsigned i = 0; i < 4; i++)
    pair.server->postRecv(i, {server.sge(0, 64)});
  cq.arm(true);
  pair.client->postSend(1, {client.sge(0, 8)});
  expect(!cq.notified(Deadline::exactly(test::milliseconds(500))), "notified of a message that was not solicited");
  pair.client->postSend(2, {client.sge(0, 8)}, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
  expect(cq.notified(Deadline(defaultBudget)), "not notified of a solicited message");
  expectEqual(cq.wait(2).size(), 2u, "completions");
  cq.arm(false);
  pair.client->postSend(3, {client.sge(0, 8)});
  expect(cq.notified(Deadline(defaultBudget)), "not notified of the next message");
  cq.arm(true);
  pair.server->fail(); /* an error always raises a notification: the last receive is flushed */
  expect(cq.notified(Deadline(defaultBudget)), "not notified of an error");
}

/** One arming raises one notification, however many messages arrive. */
void armedOnce(Context& c) {
  Pair pair(c.place);
  Region client(pair.client->pd(), page), server(pair.server->pd(), page);
  Cq& cq = pair.server->recvs();

  for (unsigned i = 0; i < 8; i++)
    pair.server->postRecv(i, {server.sge(0, 64)});
  cq.arm();
  for (unsigned i = 0; i < 8; i++)
    pair.client->postSend(i, {client.sge(0, 8)});
  expect(cq.notified(Deadline(defaultBudget)), "not notified");
  pair.client->sends().wait(8);
  expect(!cq.notified(Deadline::exactly(test::milliseconds(300))), "notified twice for one arming");
  expectEqual(cq.wait(8).size(), 8u, "completions");
}

/** Unsignalled work requests free their ring entries without completions; the ring wraps many times. */
void unsignalled(Context& c) {
  EndOptions options;
  options.signalAll = false;
  options.cap.max_send_wr = 16;
  Pair pair(c.place, options);
  Region client(pair.client->pd(), page), server(pair.server->pd(), page);

  for (unsigned round = 0; round < 40; round++) {
    for (unsigned i = 0; i < 7; i++)
      pair.client->postWrite(i, {client.sge(0, 8)}, server.rkey(), server.memory.address(8 * i), 0);
    pair.client->postWrite(1000 + round, {client.sge(0, 8)}, server.rkey(), server.memory.address(64));
    const auto wc = pair.client->sends().next();
    expectWc(wc, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE, "WRITE");
    expectEqual(wc.wr_id, 1000 + round, "the signalled request's id");
  }
  expect(pair.client->sends().poll().empty(), "an unsignalled request completed");
}

/** A full send queue refuses further work requests, and loses none that it accepted. */
void queueFull(Context& c) {
  EndOptions options;
  options.cap.max_send_wr = 8;
  Pair pair(c.place, options);
  Region client(pair.client->pd(), 1 << 20), server(pair.server->pd(), 1 << 20);
  ibv_send_wr wr{};
  std::size_t taken = 0;

  wr.opcode = IBV_WR_RDMA_READ;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.rdma = {server.memory.address(), server.rkey()};
  for (; taken < 100000; taken++) {
    wr.wr_id = taken;
    if (pair.client->tryPost(wr, {client.sge(0, 1 << 20)}))
      break;
  }
  expect(taken >= 8 && taken < 100000, format("%zu requests were taken", taken));
  std::uint64_t id = 0;
  for (const auto& wc : pair.client->sends().wait(taken)) {
    expectWc(wc, IBV_WC_SUCCESS, IBV_WC_RDMA_READ, "READ");
    expectEqual(wc.wr_id, id++, "order of completions");
  }
  pair.sync();
}

void receiveQueueFull(Context& c) {
  EndOptions options;
  options.cap.max_recv_wr = 8;
  Pair pair(c.place, {}, options);
  Region server(pair.server->pd(), page);
  ibv_sge sge = server.sge(0, 8);
  ibv_recv_wr wr{}, *bad;
  std::size_t taken = 0;

  wr.sg_list = &sge;
  wr.num_sge = 1;
  while (taken < 1000 && !ibv_post_recv(pair.server->qp(), &wr, &bad))
    taken++;
  expect(taken >= 8 && taken < 1000, format("%zu receives were taken", taken));
}

/** More READs than the peer allows outstanding are posted: they wait, and complete in order. */
void manyReads(Context& c) {
  EndOptions few;
  few.connect = {.responderResources = 4, .initiatorDepth = 4};
  Pair pair(c.place, few, few);
  constexpr std::size_t length = 3000, count = 100;
  Region client(pair.client->pd(), count * page), server(pair.server->pd(), count * page);

  test::fill(server.memory.span(), 9);
  for (std::size_t i = 0; i < count; i++)
    pair.client->postRead(i, {client.sge(i * page, length)}, server.rkey(), server.memory.address(i * page));
  std::uint64_t id = 0;
  for (const auto& wc : pair.client->sends().wait(count)) {
    expectWc(wc, IBV_WC_SUCCESS, IBV_WC_RDMA_READ, "READ");
    expectEqual(wc.wr_id, id++, "order of completions");
  }
  for (std::size_t i = 0; i < count; i++)
    expectSame(client.memory.span(i * page, length), server.memory.span(i * page, length), format("READ %zu", i));
}

/** READ depths belong to the connection: changing them afterwards has no effect, in particular not on outstanding READs. */
void depthsStay(Context& c) {
  constexpr unsigned depth = 4, count = 60;
  EndOptions few;
  few.connect = {.responderResources = depth, .initiatorDepth = depth};
  Pair pair(c.place, few, few);
  Region client(pair.client->pd(), page), server(pair.server->pd(), page);

  test::fill(server.memory.span(), 3);
  for (unsigned i = 0; i < count; i++) {
    pair.client->postRead(i, {client.sge(0, page)}, server.rkey(), server.memory.address());
    for (End* end : {pair.client.get(), pair.server.get()}) {
      ibv_qp_attr attr{};
      attr.max_rd_atomic = attr.max_dest_rd_atomic = static_cast<std::uint8_t>(i);
      (void)ibv_modify_qp(end->qp(), &attr, IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC); /* may be refused */
    }
  }
  for (const auto& wc : pair.client->sends().wait(count))
    expectWc(wc, IBV_WC_SUCCESS, IBV_WC_RDMA_READ, "READ");
  expectSame(client.memory.span(), server.memory.span(), "the data that was read");
  for (End* end : {pair.client.get(), pair.server.get()}) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    checkVerbs(ibv_query_qp(end->qp(), &attr, IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC, &init), "ibv_query_qp");
    expectEqual(unsigned{attr.max_rd_atomic}, depth, "ORD");
    expectEqual(unsigned{attr.max_dest_rd_atomic}, depth, "IRD");
  }
}

/** A work request behind a READ completes after it, even if it was executed earlier. */
void readOrder(Context& c) {
  Pair pair(c.place);
  Region client(pair.client->pd(), 1 << 20), server(pair.server->pd(), 1 << 20);

  for (unsigned n = 0; n < 5; n++) {
    pair.server->postRecv(n, {});
    pair.client->postRead(1, {client.sge(0, 300000)}, server.rkey(), server.memory.address());
    pair.client->postWrite(2, {client.sge(0, 8)}, server.rkey(), server.memory.address(400000));
    pair.client->postSend(3, {});
    pair.client->postRead(4, {client.sge(0, 8)}, server.rkey(), server.memory.address());
    std::uint64_t id = 1;
    for (const auto& wc : pair.client->sends().wait(4)) {
      expectWc(wc, IBV_WC_SUCCESS, wc.opcode, "request");
      expectEqual(wc.wr_id, id++, "order of completions");
    }
    pair.server->recvs().next();
  }
}

/** A fenced WRITE does not overtake the READ before it. */
void fence(Context& c) {
  constexpr std::size_t length = 500000;
  Pair pair(c.place);
  Region client(pair.client->pd(), 2 << 20), server(pair.server->pd(), 1 << 20);

  for (unsigned n = 0; n < 5; n++) {
    test::fill(server.memory.span(0, length), n);
    test::fill(client.memory.span(1 << 20, length), 100 + n);
    Bytes before(length);
    test::fill(before, n);
    pair.client->postRead(1, {client.sge(0, length)}, server.rkey(), server.memory.address());
    pair.client->postWrite(2, {client.sge(1 << 20, length)}, server.rkey(), server.memory.address(),
                           IBV_SEND_SIGNALED | IBV_SEND_FENCE);
    for (const auto& wc : pair.client->sends().wait(2))
      expectWc(wc, IBV_WC_SUCCESS, wc.opcode, "request");
    expectSame(client.memory.span(0, length), before, "READ before the fenced WRITE");
    pair.sync();
    expectSame(server.memory.span(0, length), client.memory.span(1 << 20, length), "fenced WRITE");
  }
}

/** Both queues of two connections on one CQ. */
void sharedCq(Context& c) {
  Pair first(c.place);
  Cq cq(first.server->id->context(), 256);
  EndOptions options;
  options.cq = &cq;
  Pair a(c.place, {}, options), b(c.place, {}, options);
  std::map<std::uint32_t, unsigned> receives, sends;

  for (auto* pair : {&a, &b})
    for (unsigned i = 0; i < 20; i++) {
      pair->server->postRecv(i, {});
      pair->client->postRecv(i, {});
      pair->client->postSend(i, {});
    }
  for (auto* pair : {&a, &b})
    for (unsigned i = 0; i < 20; i++)
      pair->server->postSend(i, {});
  for (const auto& wc : cq.wait(80)) {
    expectWc(wc, IBV_WC_SUCCESS, wc.opcode, "request");
    (wc.opcode == IBV_WC_RECV ? receives : sends)[wc.qp_num]++;
  }
  for (auto* pair : {&a, &b}) {
    expectEqual(receives[pair->server->qp()->qp_num], 20u, "receives of a QP");
    expectEqual(sends[pair->server->qp()->qp_num], 20u, "sends of a QP");
  }
}

/**
 * A QP in error raises an event when it takes no more from its SRQ. A program that drains it waits for that, from any state. It
 * gets the event once, even if it resets the QP: the kernel keeps events that are not read, and does not charge them.
 */
void lastOfShared(Context& c) {
  Pair pair(c.place);
  const CqHandle cq(check(ibv_create_cq(pair.server->id->context(), 16, nullptr, nullptr, 0), "ibv_create_cq"));
  ibv_srq_init_attr shared{};
  ibv_qp_init_attr init{};
  auto* context = pair.server->id->context();

  shared.attr = {.max_wr = 16, .max_sge = 1, .srq_limit = 0};
  const Srq srq(check(ibv_create_srq(pair.server->pd(), &shared), "ibv_create_srq"));
  init.send_cq = init.recv_cq = cq.get();
  init.srq = srq.get();
  init.cap = {.max_send_wr = 16, .max_recv_wr = 0, .max_send_sge = 1, .max_recv_sge = 0, .max_inline_data = 0};
  init.qp_type = IBV_QPT_RC;
  const QpHandle qp(check(ibv_create_qp(pair.server->pd(), &init), "ibv_create_qp"));
  setState(qp.get(), IBV_QPS_ERR);
  expect(waitAsync(context, IBV_EVENT_QP_LAST_WQE_REACHED), "no QP_LAST_WQE_REACHED");
  for (int i = 0; i < 3; i++) {
    setState(qp.get(), IBV_QPS_RESET);
    setState(qp.get(), IBV_QPS_ERR);
  }
  expect(!waitAsync(context, IBV_EVENT_QP_LAST_WQE_REACHED, Deadline::exactly(test::milliseconds(0))),
         "a second QP_LAST_WQE_REACHED");
}

/**
 * A program arms a CQ and gets a completion, again and again, and reads no event. The kernel queues each event. With
 * Documentation/kernel/uverbs-unread-events.patch it queues one. The events are counted, a later one arrives, all can be destroyed.
 */
void unreadEvents(Context& c) {
  const unsigned rounds = c.count ? c.count : 100;
  Pair pair(c.place);
  Cq& cq = pair.client->sends();
  const auto now = Deadline::exactly(test::milliseconds(0));
  unsigned events = 0;
  const auto armAndComplete = [&] {
    const Deadline deadline(defaultBudget);

    cq.arm();
    pair.client->postSend(1, {});
    while (cq.poll().empty())
      expect(!deadline.passed(), "a SEND on a QP in error does not complete");
  };

  pair.client->fail();
  for (unsigned i = 0; i < rounds; i++)
    armAndComplete();
  while (cq.notified(now))
    events++;
  expect(events == 1 || events == rounds, format("%u events of %u rounds", events, rounds));
  std::printf("# %u rounds: %s\n", rounds, events == 1 ? "one event" : "as many events");
  armAndComplete();
  expect(cq.notified(Deadline(defaultBudget)), "no event after the others were read");
}

/** A shared receive queue for two connections, its limit event, and a late refill. */
void sharedReceives(Context& c) {
  Pair probe(c.place);
  ibv_srq_init_attr attr{};
  attr.attr = {64, 1, ~0U}; /* ibv_create_srq(3): the limit is irrelevant here */
  Srq srq(check(ibv_create_srq(probe.server->pd(), &attr), "ibv_create_srq"));
  EndOptions options;
  options.srq = srq.get();
  options.pd = probe.server->pd();
  Region server(probe.server->pd(), 64 * page);
  const auto post = [&](unsigned i) { postShared(srq.get(), i, server.sge(i * page, page)); };
  {
    Pair a(c.place, {}, options), b(c.place, {}, options);
    Region fromA(a.client->pd(), page), fromB(b.client->pd(), page);
    ibv_srq_attr limit{};

    test::fill(fromA.memory.span(), 1);
    test::fill(fromB.memory.span(), 2);
    for (unsigned i = 0; i < 32; i++)
      post(i);
    limit.srq_limit = 8;
    checkVerbs(ibv_modify_srq(srq.get(), &limit, IBV_SRQ_LIMIT), "ibv_modify_srq");
    for (unsigned i = 0; i < 13; i++) {
      a.client->postSend(i, {fromA.sge(0, 100)});
      b.client->postSend(i, {fromB.sge(0, 200)});
    }
    std::vector<bool> used(64);
    const auto receive = [&](Pair& pair, Region& from, std::size_t length, std::size_t count) {
      for (const auto& wc : pair.server->recvs().wait(count)) {
        expectWc(wc, IBV_WC_SUCCESS, IBV_WC_RECV, "receive");
        expectEqual(wc.byte_len, length, "octets received");
        expect(!used.at(wc.wr_id), "a receive was used twice");
        used[wc.wr_id] = true;
        expectSame(server.memory.span(wc.wr_id * page, length), from.memory.span(0, length), "message");
      }
    };
    receive(a, fromA, 100, 13);
    receive(b, fromB, 200, 13);
    expect(waitAsync(probe.server->id->context(), IBV_EVENT_SRQ_LIMIT_REACHED), "no SRQ_LIMIT_REACHED below the limit");
    for (unsigned i = 32; i < 64; i++)
      post(i);
    for (unsigned i = 0; i < 15; i++) {
      a.client->postSend(i, {fromA.sge(0, 100)});
      b.client->postSend(i, {fromB.sge(0, 200)});
    }
    receive(a, fromA, 100, 15);
    receive(b, fromB, 200, 15);
  }
}

/** The limit of an SRQ that is empty already: the event arrives with the message that finds no receive. */
void sharedEmpty(Context& c) {
  const Pair probe(c.place);
  ibv_srq_init_attr init{};
  ibv_srq_attr limit{};
  init.attr = {16, 1, 1};
  const Srq srq(check(ibv_create_srq(probe.server->pd(), &init), "ibv_create_srq"));
  EndOptions options;
  options.srq = srq.get();
  options.pd = probe.server->pd();
  Pair pair(c.place, {}, options);
  const Region client(pair.client->pd(), page);

  limit.srq_limit = 1;
  checkVerbs(ibv_modify_srq(srq.get(), &limit, IBV_SRQ_LIMIT), "ibv_modify_srq");
  pair.client->postSend(1, {client.sge(0, 64)});
  expect(waitAsync(probe.server->id->context(), IBV_EVENT_SRQ_LIMIT_REACHED), "no SRQ_LIMIT_REACHED of an empty queue");
  pair.expectDown();
}

/** An SRQ keeps its size: a request for another size is refused, and all posted receives are used. */
void sharedKeepsSize(Context& c) {
  constexpr unsigned entries = 16;
  const Pair probe(c.place);
  ibv_srq_init_attr init{};
  init.attr = {entries, 1, 0};
  const Srq srq(check(ibv_create_srq(probe.server->pd(), &init), "ibv_create_srq"));
  EndOptions options;
  options.srq = srq.get();
  options.pd = probe.server->pd();
  Pair pair(c.place, {}, options);
  const Region client(pair.client->pd(), page), server(probe.server->pd(), page);
  ibv_srq_attr attr{};

  for (unsigned i = 0; i < entries; i++)
    postShared(srq.get(), i, server.sge(0, page));
  for (const unsigned size : {1U, 2 * entries, ~0U}) {
    attr = {.max_wr = size, .max_sge = 1, .srq_limit = 0};
    expect(ibv_modify_srq(srq.get(), &attr, IBV_SRQ_MAX_WR) != 0, format("an SRQ has become one of %u", size));
  }
  for (unsigned i = 0; i < entries; i++)
    pair.client->postSend(i, {client.sge(0, 64)});
  for (const auto& wc : pair.server->recvs().wait(entries))
    expectWc(wc, IBV_WC_SUCCESS, IBV_WC_RECV, "receive");
}

/** Receive buffers must be in the SRQ's protection domain; the QP's own does not matter. */
void sharedElsewhere(Context& c) {
  Pair probe(c.place);
  ibv_srq_init_attr attr{};
  attr.attr = {16, 1, 0};
  const Srq srq(check(ibv_create_srq(probe.server->pd(), &attr), "ibv_create_srq"));
  EndOptions options;
  options.srq = srq.get();
  Pair pair(c.place, {}, options);
  const Region own(probe.server->pd(), page), foreign(pair.server->pd(), page), client(pair.client->pd(), page);
  const auto send = [&](const Region& to) {
    postShared(srq.get(), 0, to.sge(0, page));
    pair.client->postSend(0, {client.sge(0, page)});
    return pair.server->recvs().next();
  };

  test::fill(client.memory.span(), 1);
  expectWc(send(own), IBV_WC_SUCCESS, IBV_WC_RECV, "into the SRQ's domain");
  expectSame(own.memory.span(), client.memory.span(), "message");
  expectWc(send(foreign), IBV_WC_LOC_PROT_ERR, IBV_WC_RECV, "into the QP's domain");
}

/** Single messages, each awaited by notification: a lost wake-up stalls this. */
void pingPong(Context& c) {
  Pair pair(c.place);
  Region client(pair.client->pd(), page), server(pair.server->pd(), page);
  const unsigned count = c.count ? c.count : 500;

  pair.server->postRecv(0, {server.sge(0, 64)});
  for (unsigned i = 0; i < count; i++) {
    pair.client->postRecv(i, {client.sge(64, 64)});
    test::fill(client.memory.span(0, 64), i);
    pair.client->postSend(i, {client.sge(0, 64)});
    expectWc(pair.server->recvs().next(), IBV_WC_SUCCESS, IBV_WC_RECV, "ping");
    pair.server->postRecv(i, {server.sge(0, 64)});
    pair.server->postSend(i, {server.sge(0, 64)});
    expectWc(pair.client->recvs().next(), IBV_WC_SUCCESS, IBV_WC_RECV, "pong");
    expectSame(client.memory.span(64, 64), client.memory.span(0, 64), "pong");
    expectWc(pair.client->sends().next(), IBV_WC_SUCCESS, IBV_WC_SEND, "ping's send");
    expectWc(pair.server->sends().next(), IBV_WC_SUCCESS, IBV_WC_SEND, "pong's send");
  }
}

/** Small SENDs posted in one call. A capture shows in how few TCP segments they leave. */
void postedTogether(Context& c) {
  constexpr unsigned count = 64;
  constexpr std::size_t length = 64;
  Pair pair(c.place);
  Region client(pair.client->pd(), count * length), server(pair.server->pd(), count * length);
  std::vector<ibv_sge> sges;

  test::fill(client.memory.span(), 1);
  for (unsigned i = 0; i < count; i++) {
    pair.server->postRecv(i, {server.sge(i * length, length)});
    sges.push_back(client.sge(i * length, length));
  }
  pair.client->postSends(std::move(sges));
  for (const auto& wc : pair.server->recvs().wait(count))
    expectWc(wc, IBV_WC_SUCCESS, IBV_WC_RECV, "receive");
  for (const auto& wc : pair.client->sends().wait(count))
    expectWc(wc, IBV_WC_SUCCESS, IBV_WC_SEND, "send");
  expectSame(server.memory.span(), client.memory.span(), "64 messages");
}

const VerbsCase table[] = {
    {"solicited", "", "notification of solicited messages only", solicited},
    {"armed-once", "", "one notification for one arming", armedOnce},
    {"unsignalled", "", "requests without completions", unsignalled},
    {"send-queue-full", "", "a full send queue refuses more and loses no request", queueFull},
    {"receive-queue-full", "", "a full receive queue refuses more", receiveQueueFull},
    {"many-reads", "ENH-03", "100 READs where 4 may be outstanding", manyReads},
    {"depths-stay", "", "a program that sets other READ depths while READs are outstanding", depthsStay},
    {"read-order", "", "completions in order behind READs", readOrder},
    {"fence", "", "a fenced WRITE waits for the READ before it", fence},
    {"shared-cq", "", "one CQ for both queues of two connections", sharedCq},
    {"srq-last", "", "LAST_WQE_REACHED of a QP that was never connected", lastOfShared},
    {"srq-domain", "", "an SRQ of another protection domain than the QP's", sharedElsewhere},
    {"srq-size", "", "a request for another size of an SRQ", sharedKeepsSize},
    {"unread-events", "", "a CQ is armed again and again, and its events are not read", unreadEvents},
    {"srq-empty", "", "the limit event of an SRQ that is empty already", sharedEmpty},
    {"srq", "", "one SRQ for two connections, with its limit event", sharedReceives},
    {"posted-together", "TX-02 TX-09", "64 SENDs of 64 octets posted in one call", postedTogether},
    {"ping-pong", "", "messages one by one, by notification (--count)", pingPong},
};

} // namespace

std::span<const VerbsCase> queueCases() {
  return table;
}

} // namespace rdma

// SPDX-License-Identifier: GPL-2.0
/** @file cases_errors.cpp @brief Errors are reported to both sides with the right status, and memory stays unchanged. */
#include <algorithm>
#include <functional>
#include <thread>

#include "verbs_cases.hpp"

namespace rdma {

using test::expect;
using test::expectEqual;
using test::format;

namespace {

/** A pair for the cases to break; each end has a page of memory and a posted receive. */
struct Victim {
  explicit Victim(const Context& c, const EndOptions& clientOptions = {}, const EndOptions& serverOptions = {})
      : pair(c.place, clientOptions, serverOptions), client(pair.client->pd(), 2 * page), server(pair.server->pd(), 2 * page) {
    test::fill(client.memory.span(), 1);
    test::fill(server.memory.span(), 2);
    untouched = test::checksum(server.memory.span());
    pair.client->postRecv(70, {client.sge(0, 64)});
    pair.server->postRecv(71, {server.sge(0, 64)});
  }

  /** Both ends get an event, both receives are flushed, both QPs are in error, and the server's memory is unchanged. */
  void expectEnd(ibv_wc_status serverReceive = IBV_WC_WR_FLUSH_ERR) {
    pair.expectDown();
    expectWc(pair.client->recvs().next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, "the client's receive");
    expectWc(pair.server->recvs().next(), serverReceive, IBV_WC_RECV, "the server's receive");
    expectEqual(pair.client->state(), int{IBV_QPS_ERR}, "state of the client's QP");
    expectEqual(pair.server->state(), int{IBV_QPS_ERR}, "state of the server's QP");
    expectEqual(test::checksum(server.memory.span()), untouched, "checksum of the server's memory");
  }

  Pair pair;
  Region client, server;
  std::uint64_t untouched;
};

/**
 * A WRITE that the other side refuses: it may have completed when TCP took it (RFC 5040 §5.5-14), but a work request posted after
 * the error is flushed.
 */
void refusedWrite(Context& c, const std::function<void(Victim&)>& post) {
  Victim v(c);

  post(v);
  const auto wc = v.pair.client->sends().next();
  expect(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_REM_ACCESS_ERR, "WRITE: " + statusName(wc.status));
  v.expectEnd();
  v.pair.client->postSend(9, {v.client.sge(0, 8)});
  expectWc(v.pair.client->sends().next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, "SEND after the error");
}

/** A READ that the other side refuses completes with an error status; the work requests behind it are flushed. */
void refusedRead(Context& c, const std::function<void(Victim&)>& post) {
  Victim v(c);

  post(v);
  v.pair.client->postRead(9, {v.client.sge(0, 8)}, v.server.rkey(), v.server.memory.address());
  v.pair.client->postSend(10, {v.client.sge(0, 8)});
  expectWc(v.pair.client->sends().next(), IBV_WC_REM_ACCESS_ERR, IBV_WC_RDMA_READ, "the READ");
  expectWc(v.pair.client->sends().next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_RDMA_READ, "the READ behind it");
  expectWc(v.pair.client->sends().next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, "the SEND behind both");
  v.expectEnd();
}

void wrongKey(Context& c) {
  for (const std::uint32_t change : {0x1u, 0x5a5a00u}) {
    refusedWrite(c, [&](Victim& v) {
      v.pair.client->postWrite(1, {v.client.sge(0, 64)}, v.server.rkey() ^ change, v.server.memory.address());
    });
    refusedRead(c, [&](Victim& v) {
      v.pair.client->postRead(1, {v.client.sge(0, 64)}, v.server.rkey() ^ change, v.server.memory.address());
    });
  }
}

void bounds(Context& c) {
  for (const std::uint64_t offset : {2 * page - 63, 2 * page, std::uint64_t{0} - 1, 20 * page}) {
    refusedWrite(c, [&](Victim& v) {
      v.pair.client->postWrite(1, {v.client.sge(0, 64)}, v.server.rkey(), v.server.memory.address() + offset);
    });
    refusedRead(c, [&](Victim& v) {
      v.pair.client->postRead(1, {v.client.sge(0, 64)}, v.server.rkey(), v.server.memory.address() + offset);
    });
  }
}

void rights(Context& c) {
  Victim v(c);
  const Region readOnly(v.pair.server->pd(), page, IBV_ACCESS_REMOTE_READ);

  v.pair.client->postWrite(1, {v.client.sge(0, 64)}, readOnly.rkey(), readOnly.memory.address());
  v.expectEnd();
  expect(std::ranges::all_of(readOnly.memory.span(), [](auto octet) { return octet == 0; }), "read-only memory was written");
}

/** Memory of another protection domain of the same process. */
void otherDomain(Context& c) {
  Victim v(c);
  Pd other(check(ibv_alloc_pd(v.pair.server->id->context()), "ibv_alloc_pd"));
  const Region foreign(other.get(), page);

  v.pair.client->postRead(1, {v.client.sge(0, 64)}, foreign.rkey(), foreign.memory.address());
  expectWc(v.pair.client->sends().next(), IBV_WC_REM_ACCESS_ERR, IBV_WC_RDMA_READ, "READ from another domain");
  v.expectEnd();
}

/* --- local mistakes --- */

void localKey(Context& c) {
  Victim v(c);
  ibv_sge sge = v.client.sge(0, 64);

  sge.lkey ^= 0x5a5a00;
  v.pair.client->postSend(1, {sge});
  expectWc(v.pair.client->sends().next(), IBV_WC_LOC_PROT_ERR, IBV_WC_SEND, "SEND with a wrong lkey");
  v.expectEnd();
}

void localBounds(Context& c) {
  Victim v(c);
  ibv_sge sge = v.client.sge(0, 64);

  sge.addr += 2 * page - 63;
  v.pair.client->postSend(1, {sge});
  expectWc(v.pair.client->sends().next(), IBV_WC_LOC_PROT_ERR, IBV_WC_SEND, "SEND from behind the end");
  v.expectEnd();
}

/** A receive whose memory may not be used: it completes with an error, and the sender's connection ends. */
void receiveKey(Context& c) {
  Pair pair(c.place);
  Region client(pair.client->pd(), page), server(pair.server->pd(), page);
  ibv_sge sge = server.sge(0, 64);

  sge.lkey ^= 0x5a5a00;
  pair.server->postRecv(1, {sge});
  pair.client->postSend(1, {client.sge(0, 64)});
  expectWc(pair.server->recvs().next(), IBV_WC_LOC_PROT_ERR, IBV_WC_RECV, "receive with a wrong lkey");
  pair.expectDown();
}

/** The sink of a READ is registered without local write access. */
void readSinkRights(Context& c) {
  Pair pair(c.place);
  Region readOnly(pair.client->pd(), page, IBV_ACCESS_REMOTE_READ), server(pair.server->pd(), page);

  test::fill(server.memory.span(), 3);
  pair.client->postRead(1, {readOnly.sge(0, 64)}, server.rkey(), server.memory.address());
  const auto wc = pair.client->sends().next();
  expect(wc.status == IBV_WC_LOC_PROT_ERR || wc.status == IBV_WC_LOC_ACCESS_ERR,
         "READ into read-only memory: " + statusName(wc.status));
  expect(std::ranges::all_of(readOnly.memory.span(), [](auto octet) { return octet == 0; }), "read-only memory was written");
}

/* --- the receiver's queue --- */

/** A message longer than the receive that it consumes. */
void tooLong(Context& c) {
  Victim v(c);

  v.pair.client->postSend(1, {v.client.sge(0, 65)});
  v.pair.client->sends().next();
  v.expectEnd(IBV_WC_LOC_LEN_ERR);
}

/* --- memory that is deregistered in use --- */

/** After ibv_dereg_mr() has returned, none of the other side's WRITEs is placed. */
void deregister(Context& c) {
  constexpr std::size_t length = 65536;
  Pair pair(c.place);
  Region client(pair.client->pd(), length), server(pair.server->pd(), length);

  const auto rkey = server.rkey();

  for (unsigned i = 0; i < 40; i++)
    pair.client->postWrite(i, {client.sge(0, length)}, rkey, server.memory.address());
  server.deregister();
  const auto before = test::checksum(server.memory.span());
  test::fill(client.memory.span(), 1); /* so that data placed from now on is visible */
  pair.client->postWrite(50, {client.sge(0, length)}, rkey, server.memory.address());
  pair.expectDown();
  expectEqual(test::checksum(server.memory.span()), before, "memory after its registration was taken away");
}

/**
 * Regions in sequence, each used and deregistered at once: more than any cache of lookups holds, so that a stale entry would be
 * found again. A WRITE to the last region is refused, as to any before it.
 */
void deregisterMany(Context& c) {
  constexpr std::size_t length = 4096;
  Pair pair(c.place);
  Region client(pair.client->pd(), length);
  std::uint32_t rkey = 0;
  std::uint64_t address = 0;

  for (unsigned i = 0; i < 600; i++) {
    Region server(pair.server->pd(), length);

    rkey = server.rkey();
    address = server.memory.address();
    test::fill(client.memory.span(), i);
    pair.client->postWrite(i, {client.sge(0, length)}, rkey, address);
    expectWc(pair.client->sends().next(), IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE, "WRITE");
    pair.sync();
    expectSame(server.memory.span(), client.memory.span(), "data of a WRITE");
  }
  pair.client->postWrite(600, {client.sge(0, length)}, rkey, address);
  pair.expectDown();
}

/** The source of pending WRITEs is deregistered: each completes, with success or an error, and nothing is leaked. */
void deregisterSource(Context& c) {
  constexpr std::size_t length = 1 << 20;
  Pair pair(c.place);
  Region client(pair.client->pd(), length), server(pair.server->pd(), length);

  for (unsigned i = 0; i < 8; i++)
    pair.client->postWrite(i, {client.sge(0, length)}, server.rkey(), server.memory.address());
  client.deregister();
  std::uint64_t id = 0;
  for (const auto& wc : pair.client->sends().wait(8))
    expectEqual(wc.wr_id, id++, "order of completions");
}

/* --- flushing --- */

void flush(Context& c) {
  Victim v(c);

  for (unsigned i = 0; i < 20; i++) {
    v.pair.client->postRecv(i, {v.client.sge(0, 64)});
    v.pair.server->postRecv(i, {v.server.sge(0, 64)});
  }
  v.pair.client->disconnect();
  v.expectEnd();
  for (unsigned i = 0; i < 20; i++) {
    const auto wc = v.pair.client->recvs().next();

    expectWc(wc, IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, "receive");
    expectEqual(wc.wr_id, i, "order of flushed receives");
  }
  v.pair.client->postSend(51, {v.client.sge(0, 64)});
  expectWc(v.pair.client->sends().next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, "SEND posted afterwards");
  v.pair.client->postRecv(52, {v.client.sge(0, 64)}); /* the library rings no doorbell for it */
  expectWc(v.pair.client->recvs().next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, "receive posted afterwards");
}

/** One thread refills the receive queue of a QP in error, and two ask for its flush: each receive is flushed once, in order. */
void flushRefilled(Context& c) {
  constexpr std::uint64_t count = 1000, depth = 128;
  Pair pair(c.place);
  End& end = *pair.client;
  const Region memory(end.pd(), page);
  std::uint64_t posted = 0;

  end.fail();
  pair.expectDown();
  const auto ask = [&](const std::stop_token& over) {
    while (!over.stop_requested())
      setState(end.qp(), IBV_QPS_SQD);
  };
  const std::jthread first(ask), second(ask);
  for (std::uint64_t id = 0; id < count; id++) {
    for (; posted < count && posted - id < depth; posted++)
      end.postRecv(posted, {memory.sge(0, 64)});
    const auto wc = end.recvs().next();

    expectWc(wc, IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, "receive");
    expectEqual(wc.wr_id, id, "order of flushed receives");
  }
}

/** The QP is moved to the error state while many READs are outstanding: all complete in order, and no success follows an error. */
void errorUnderLoad(Context& c) {
  constexpr std::size_t length = 1 << 20, count = 40;
  Pair pair(c.place);
  Region client(pair.client->pd(), length), server(pair.server->pd(), length);
  bool failed = false;
  std::uint64_t id = 0;

  for (std::size_t i = 0; i < count; i++)
    pair.client->postRead(i, {client.sge(0, length)}, server.rkey(), server.memory.address());
  pair.client->fail();
  for (const auto& wc : pair.client->sends().wait(count)) {
    expectEqual(wc.wr_id, id++, "order of completions");
    expect(!failed || wc.status != IBV_WC_SUCCESS, "a success behind a failure");
    failed = wc.status != IBV_WC_SUCCESS;
  }
  expect(failed, "40 MiB were read in no time?");
  pair.expectDown();
}

/** A peer may invalidate only kernel consumers' regions: regions of user space stay valid, and the stream ends (RFC 5040 §5.3). */
void sendInvalidate(Context& c) {
  Victim v(c);
  ibv_send_wr wr{};
  const auto from = v.client.memory.span(), to = v.server.memory.span();
  std::vector<std::uint8_t> after(to.begin(), to.end()); /* the message itself is placed */
  std::copy_n(from.begin(), 8, after.begin());
  const auto received = test::checksum(after);

  wr.opcode = IBV_WR_SEND_WITH_INV;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.invalidate_rkey = v.server.rkey();
  wr.wr.rdma.rkey = v.server.rkey(); /* siw's user library takes the key from here */
  if (v.pair.client->tryPost(wr, {v.client.sge(0, 8)}))
    throw test::Skip("the user library refuses IBV_WR_SEND_WITH_INV");
  expectWc(v.pair.client->sends().next(), IBV_WC_SUCCESS, IBV_WC_SEND, "SEND with Invalidate");
  v.untouched = received;
  v.expectEnd(IBV_WC_REM_INV_REQ_ERR);
}

const VerbsCase table[] = {
    {"wrong-rkey", "", "WRITE and READ with a wrong rkey", wrongKey},
    {"bounds", "", "WRITE and READ before, across and behind the end", bounds},
    {"rights", "", "WRITE to memory for remote reading only", rights},
    {"other-domain", "", "READ from another protection domain", otherDomain},
    {"local-key", "", "SEND with a wrong lkey", localKey},
    {"local-bounds", "", "SEND from behind the end", localBounds},
    {"receive-key", "", "receive with a wrong lkey", receiveKey},
    {"read-sink-rights", "", "READ into memory without local write access", readSinkRights},
    {"too-long", "", "SEND longer than the receive", tooLong},
    {"deregister", "", "the sink of WRITEs is deregistered", deregister},
    {"deregister-many", "", "600 sinks, each used and deregistered", deregisterMany},
    {"deregister-source", "", "the source of WRITEs is deregistered", deregisterSource},
    {"flush", "", "flushed receives, and posting afterwards", flush},
    {"flush-refilled", "", "receives posted while other threads ask for the flush", flushRefilled},
    {"error-under-load", "", "40 MiB of READs outstanding when the QP fails", errorUnderLoad},
    {"send-invalidate", "", "SEND with Invalidate of a user region is refused", sendInvalidate},
};

} // namespace

std::span<const VerbsCase> errorCases() {
  return table;
}

} // namespace rdma

// SPDX-License-Identifier: GPL-2.0
/**
 * @file cases_hand.cpp
 * @brief Queue pairs that are connected by hand: the rendezvous, its ends, and strangers at its port.
 */
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <sys/socket.h>

#include "hand.hpp"
#include "verbs_cases.hpp"

namespace rdma {

using test::expect;
using test::expectEqual;
using test::format;

namespace {

constexpr std::size_t half = 1 << 17; /* octets of an end's memory: the first half is sent, the second receives */
constexpr const char* rendezvous = "299";

/** Two ends that are not connected, the client at the address from which it reaches the server's. */
struct Ends {
  explicit Ends(const Context& c, const HandOptions& options = {})
      : client(c.place.clientNs, ownAddress(c.place.clientNs, c.place.address), options),
        server(c.place.serverNs, c.place.address, options) {
    test::fill(client.memory.memory.span(), 1);
    test::fill(server.memory.memory.span(), 2);
  }

  HandEnd& initiator() { return client.isInitiatorTo(server) ? client : server; }
  HandEnd& responder() { return client.isInitiatorTo(server) ? server : client; }

  void connect() {
    client.connect(server);
    server.connect(client);
  }

  /** A message each way, compared. */
  void talk(std::size_t length = 5000) {
    for (auto [from, to] : {std::pair{&client, &server}, std::pair{&server, &client}}) {
      to->postRecv(7, half, length);
      from->postSend(8, 0, length);
      expectMessage(*from, *to, length);
    }
  }

  static void expectMessage(HandEnd& from, HandEnd& to, std::size_t length) {
    const ibv_wc wc = to.recvs.next();

    expectWc(wc, IBV_WC_SUCCESS, IBV_WC_RECV, "receive");
    expectEqual(wc.byte_len, length, "octets received");
    expectSame(to.memory.memory.span(half, length), from.memory.memory.span(0, length), "message");
    expectWc(from.sends.next(), IBV_WC_SUCCESS, IBV_WC_SEND, "SEND");
  }

  HandEnd client, server;
};

/** All operations, and the attributes that ibv_query_qp() returns. */
void connectByHand(Context& c) {
  Ends e(c);

  e.connect();
  e.talk();
  e.client.postRdma(1, IBV_WR_RDMA_WRITE, e.server, 70000);
  expectWc(e.client.sends.next(), IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE, "WRITE");
  e.talk(1); /* behind the WRITE */
  expectSame(e.server.memory.memory.span(0, 70000), e.client.memory.memory.span(0, 70000), "what was written");
  test::fill(e.server.memory.memory.span(), 5);
  e.client.postRdma(2, IBV_WR_RDMA_READ, e.server, 70000);
  expectWc(e.client.sends.next(), IBV_WC_SUCCESS, IBV_WC_RDMA_READ, "READ");
  expectSame(e.client.memory.memory.span(0, 70000), e.server.memory.memory.span(0, 70000), "what was read");

  const ibv_qp_attr attr = e.client.query();
  expectEqual(int{attr.qp_state}, int{IBV_QPS_RTS}, "state");
  expectEqual(attr.dest_qp_num, e.server.number(), "dest_qp_num");
  expectEqual(attr.rq_psn, 0x123456U, "rq_psn");
  expectEqual(attr.sq_psn, 0x654321U, "sq_psn");
  expectEqual(unsigned{attr.timeout}, 14U, "timeout");
  expectEqual(unsigned{attr.retry_cnt}, 7U, "retry_cnt");
  expectEqual(unsigned{attr.rnr_retry}, 7U, "rnr_retry");
  expectEqual(unsigned{attr.min_rnr_timer}, 12U, "min_rnr_timer");
  expectEqual(int{attr.path_mtu}, int{IBV_MTU_1024}, "path_mtu");
  expectEqual(unsigned{attr.max_rd_atomic}, 16U, "max_rd_atomic");
  expectEqual(unsigned{attr.max_dest_rd_atomic}, 16U, "max_dest_rd_atomic");
  expectSame(attr.ah_attr.grh.dgid.raw, e.server.device().gid().raw, "dgid");
}

/**
 * As on InfiniBand, a WRITE that has completed is in the peer's memory, and so are those before it, which may not be signalled. A
 * SEND behind them completes after them. READs between them, and depths of 1 and 0, change nothing.
 */
void placedWhenComplete(Context& c) {
  const unsigned rounds = c.count ? c.count : 10;

  for (const unsigned reads : {16U, 1U, 0U}) {
    Ends e(c, {.reads = reads});
    const auto expectPlaced = [&](const char* what, ibv_wc_opcode opcode, std::size_t length) {
      const ibv_wc wc = e.client.sends.next();
      const bool same = std::ranges::equal(e.server.memory.memory.span(0, length), e.client.memory.memory.span(0, length));

      expectWc(wc, IBV_WC_SUCCESS, opcode, what);
      expect(same, what);
    };

    e.connect();
    for (unsigned i = 0; i < rounds; i++) {
      const std::size_t length = i % 2 ? half : 8;
      test::fill(e.client.memory.memory.span(0, half), 10 * i + reads);
      e.client.postRdma(1, IBV_WR_RDMA_WRITE, e.server, length);
      expectPlaced("a WRITE", IBV_WC_RDMA_WRITE, length);

      test::fill(e.client.memory.memory.span(0, half), 10 * i + reads + 1);
      e.client.postRdma(2, IBV_WR_RDMA_WRITE, e.server, length, 0);
      if (reads && i % 3 == 0) { /* into the memory that was written, of what was written */
        e.client.postRdma(3, IBV_WR_RDMA_READ, e.server, length, 0);
        e.client.postRdma(2, IBV_WR_RDMA_WRITE, e.server, length, 0);
      }
      e.client.postRdma(4, IBV_WR_RDMA_WRITE, e.server, 0);
      expectPlaced("an empty WRITE behind others", IBV_WC_RDMA_WRITE, length);

      test::fill(e.client.memory.memory.span(0, half), 10 * i + reads + 2);
      e.client.postRdma(5, IBV_WR_RDMA_WRITE, e.server, length, 0);
      e.server.postRecv(6, half, 8);
      e.client.postSend(6, 0, 8);
      expectPlaced("a SEND behind a WRITE", IBV_WC_SEND, length);
      expectWc(e.server.recvs.next(), IBV_WC_SUCCESS, IBV_WC_RECV, "receive");
    }
  }
}

/** Either side comes first. What it sends meanwhile arrives; its receives wait. */
void inAnyOrder(Context& c) {
  for (const bool initiatorFirst : {true, false}) {
    Ends e(c);
    HandEnd& first = initiatorFirst ? e.initiator() : e.responder();
    HandEnd& second = initiatorFirst ? e.responder() : e.initiator();
    const Counter retries(first.device().context(), "hand_retries");

    first.connect(second);
    expectEqual(int{first.query().qp_state}, int{IBV_QPS_RTS}, "state before the peer comes");
    expectEqual(unsigned{first.query().max_rd_atomic}, 16U, "max_rd_atomic before the peer comes");
    first.postRecv(1, half, 1000);
    first.postSend(2, 0, 1000);
    if (initiatorFirst)
      retries.reach(3);
    second.postRecv(3, half, 1000);
    second.connect(first);
    Ends::expectMessage(first, second, 1000);
    second.postSend(4, 0, 1000);
    Ends::expectMessage(second, first, 1000);
  }
}

/** A program that only receives may stay in RTR. */
void staysInRtr(Context& c) {
  for (const bool initiatorStays : {true, false}) {
    Ends e(c);
    HandEnd& stays = initiatorStays ? e.initiator() : e.responder();
    HandEnd& sends = initiatorStays ? e.responder() : e.initiator();

    stays.readyToReceive(sends);
    stays.postRecv(1, half, 1000);
    sends.connect(stays);
    sends.postSend(2, 0, 1000);
    Ends::expectMessage(sends, stays, 1000);
    expectEqual(int{stays.query().qp_state}, int{IBV_QPS_RTR}, "state");
  }
}

/** Many queue pairs between the same two addresses find each its own peer. */
void many(Context& c) {
  const unsigned count = c.count ? c.count : 64;
  std::vector<std::unique_ptr<Ends>> ends;

  for (unsigned i = 0; i < count; i++) {
    ends.push_back(std::make_unique<Ends>(c));
    test::fill(ends.back()->client.memory.memory.span(0, half), 100 + i);
    ends.back()->client.connect(ends.back()->server);
  }
  for (unsigned i = count; i-- > 0;)
    ends[i]->server.connect(ends[i]->client);
  for (auto& e : ends)
    e->talk();
}

/** A queue pair is its own peer, as some programs use one to flush or to talk to themselves. */
void itsOwnPeer(Context& c) {
  HandEnd end(c.place.serverNs, c.place.address);
  const std::size_t length = 100000;

  test::fill(end.memory.memory.span(), 3);
  end.connect(end);
  for (unsigned i = 0; i < 20; i++) {
    end.memory.memory.span(0, 1)[0] = static_cast<std::uint8_t>(i);
    end.postRecv(1, half, length);
    end.postSend(2, 0, length);
    Ends::expectMessage(end, end, length);
  }
  end.postRdma(3, IBV_WR_RDMA_READ, end, 1000);
  expectWc(end.sends.next(), IBV_WC_SUCCESS, IBV_WC_RDMA_READ, "READ");
  end.postSend(4, 0, 100); /* waits for its receive */
  end.postRecv(5, half, 100);
  Ends::expectMessage(end, end, 100);
  setState(end.qp(), IBV_QPS_ERR);
  expectEqual(int{end.query().qp_state}, int{IBV_QPS_ERR}, "state");
}

/** Nobody comes: what is posted fails, the first request with an error of its own. */
void givesUp(Context& c) {
  for (const bool initiator : {true, false}) {
    Ends e(c, {.timeout = 1, .retries = 0});
    HandEnd& end = initiator ? e.initiator() : e.responder();
    HandEnd& peer = initiator ? e.responder() : e.initiator();

    end.connect(peer);
    end.postRecv(1, half, 100);
    end.postSend(2, 0, 100);
    end.postSend(3, 0, 100);
    expectWc(end.sends.next(), IBV_WC_GENERAL_ERR, IBV_WC_SEND, "first SEND");
    expectWc(end.sends.next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, "second SEND");
    expectWc(end.recvs.next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, "receive");
    expectEqual(int{end.query().qp_state}, int{IBV_QPS_ERR}, "state");
  }
}

/** Has a connection of the rendezvous port got the peer's FIN, in this namespace? */
bool finHasCome(const std::string& ns) {
  const InNamespace here(ns);

  for (const char* name : {"/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"}) {
    std::ifstream table(name);
    std::string line, slot, local, remote, state;

    while (std::getline(table, line)) {
      std::istringstream(line) >> slot >> local >> remote >> state;
      if (state == "08" && (local.ends_with(":012B") || remote.ends_with(":012B"))) /* CLOSE_WAIT, 299 */
        return true;
    }
  }
  return false;
}

void expectFin(const std::string& ns) {
  const Deadline deadline(defaultBudget);

  while (!finHasCome(ns))
    expect(!deadline.passed(), "no FIN comes");
}

/** The peer destroys its queue pair: this side notices when it sends. */
void peerLeaves(Context& c) {
  for (const bool initiator : {true, false}) {
    Ends e(c);
    HandEnd& end = initiator ? e.initiator() : e.responder();
    HandEnd& peer = initiator ? e.responder() : e.initiator();

    e.connect();
    end.postRecv(1, half, 100);
    peer.postSend(2, 0, 100);
    peer.sends.next();
    peer.destroy();
    expectWc(end.recvs.next(), IBV_WC_SUCCESS, IBV_WC_RECV, "the last message");
    end.postRecv(3, half, 100);
    expectFin(&end == &e.server ? c.place.serverNs : c.place.clientNs);
    expect(end.recvs.poll().empty(), "a receive has completed although nothing was sent");
    expectEqual(int{end.query().qp_state}, int{IBV_QPS_RTS}, "state");
    end.postSend(4, 0, 100);
    expectWc(end.sends.next(), IBV_WC_GENERAL_ERR, IBV_WC_SEND, "SEND");
    expectWc(end.recvs.next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, "receive");
    expectEqual(int{end.query().qp_state}, int{IBV_QPS_ERR}, "state");
    for (unsigned id = 5; id < 25; id++) { /* nothing tells the kernel */
      end.postRecv(id, half, 100);
      expectWc(end.recvs.next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, "receive posted afterwards");
    }
  }
}

/** TCP in this namespace resets the connections of queue pairs that were connected by hand. */
void resetConnections(const std::string& ns) {
  const InNamespace here(ns);
  const std::string command = format("ss -K -t '( sport = :%s or dport = :%s )' >/dev/null", rendezvous, rendezvous);

  expectEqual(std::system(command.c_str()), 0, "status of ss");
}

/**
 * The peer ends, in order or by a reset, while a WRITE waits behind a SEND without a receive. The WRITE has an error of its own,
 * although TCP has taken it; what follows is flushed.
 */
void writeIsLost(Context& c) {
  for (const bool reset : {false, true}) {
    Ends e(c);

    e.connect();
    e.client.postSend(0, 0, 100);
    e.client.postRdma(1, IBV_WR_RDMA_WRITE, e.server, 1000);
    e.client.postSend(3, 0, 100);
    expectWc(e.client.sends.next(), IBV_WC_SUCCESS, IBV_WC_SEND, "the SEND without a receive");
    if (reset)
      resetConnections(c.place.serverNs);
    e.server.destroy();
    e.client.postSend(2, 0, 100);
    expectWc(e.client.sends.next(), IBV_WC_GENERAL_ERR, IBV_WC_RDMA_WRITE, reset ? "WRITE before a reset" : "WRITE");
    expectWc(e.client.sends.next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, "the SEND behind it");
    expectWc(e.client.sends.next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, "the SEND after the end");
  }
}

/**
 * The peer refuses a WRITE or a READ: this work request has a status that says so, as on InfiniBand. Those before it have
 * completed, and those behind it are flushed.
 */
void refused(Context& c) {
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
    const ibv_wc_opcode completes = opcode == IBV_WR_RDMA_READ ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE;
    ibv_send_wr wrong = workRequest(2, opcode);
    Ends e(c);

    e.connect();
    e.talk();
    e.client.postRdma(1, IBV_WR_RDMA_WRITE, e.server, 1000);
    if (opcode == IBV_WR_RDMA_WRITE) /* it would share the confirmation of the one that is refused */
      expectWc(e.client.sends.next(), IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE, "the WRITE before it");
    wrong.wr.rdma = {e.server.memory.memory.address(), e.server.memory.rkey() ^ 1};
    post(e.client.qp(), wrong, {e.client.memory.sge(0, 1000)});
    e.client.postSend(3, 0, 100);
    if (opcode == IBV_WR_RDMA_READ)
      expectWc(e.client.sends.next(), IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE, "the WRITE before it");
    expectWc(e.client.sends.next(), IBV_WC_REM_ACCESS_ERR, completes, "the work request that the peer refuses");
    expectWc(e.client.sends.next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, "the SEND behind it");
  }
}

/** The peer's queue pair permits READs alone, or WRITEs alone, whatever its memory permits. */
void forbidden(Context& c) {
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
    const bool write = opcode == IBV_WR_RDMA_WRITE;
    const ibv_wc_opcode completes = write ? IBV_WC_RDMA_WRITE : IBV_WC_RDMA_READ;
    Ends e(c, {.access = write ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE});
    Bytes before;

    expectEqual(e.server.query().qp_access_flags, unsigned{IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ},
                "access flags before they are set");
    e.connect();
    expectEqual(e.server.query().qp_access_flags, unsigned{write ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE},
                "access flags");
    e.talk();
    e.client.postRdma(1, write ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, e.server, 70000);
    expectWc(e.client.sends.next(), IBV_WC_SUCCESS, write ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE,
             "the operation that the peer permits");
    test::fill(e.client.memory.memory.span(0, half), 9);
    HandEnd& target = write ? e.server : e.client;
    before.assign(target.memory.memory.span().begin(), target.memory.memory.span().end());
    e.client.postRdma(2, opcode, e.server, 70000);
    expectWc(e.client.sends.next(), IBV_WC_REM_ACCESS_ERR, completes, "the operation that the peer forbids");
    expectSame(target.memory.memory.span(), before, "the memory");
  }
}

/** A TCP connection to the rendezvous port, from an address of the namespace. */
test::Fd stranger(const std::string& ns, const std::string& to) {
  const InNamespace here(ns);
  Address remote(to, rendezvous);
  test::Fd fd(::socket(remote.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));

  if (::connect(fd.get(), remote.get(), sizeof(sockaddr_storage)))
    fd.close();
  return fd;
}

/** Waits until nobody listens at the rendezvous port. */
void expectClosed(const HandEnd& end, const std::string& ns) {
  const Deadline deadline(defaultBudget);

  while (stranger(ns, end.address()))
    expect(!deadline.passed(), "the listener is still there");
}

/** A queue pair whose peer does not come is ended in each way, in either role. */
void endsAlone(Context& c) {
  for (const bool initiator : {true, false})
    for (const int way : {0, 1, 2}) {
      Ends e(c);
      HandEnd& end = initiator ? e.initiator() : e.responder();
      HandEnd& peer = initiator ? e.responder() : e.initiator();

      end.connect(peer);
      end.postRecv(1, half, 100);
      if (way == 0) {
        end.destroy();
      } else {
        setState(end.qp(), way == 1 ? IBV_QPS_ERR : IBV_QPS_RESET);
        expectWc(end.recvs.next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, "receive");
      }
      expectClosed(e.responder(), c.place.serverNs);
    }
}

/** Peers that cannot be reached in this way. */
void badPeers(Context& c) {
  Ends e(c);
  const ibv_gid gid = e.server.device().gid();
  ibv_gid other = gid;

  expectEqual(e.client.tryReady(gid, e.server.number(), 0), EINVAL, "with a GID that is no IP address");
  other.raw[10] = 1; /* IPv6, if it was IPv4 */
  if (other.raw[11] == 0xff)
    expectEqual(e.client.tryReady(other, e.server.number(), e.client.device().gidIndex()), EINVAL, "with a peer of another family");
  expectEqual(e.client.query().dest_qp_num, 0U, "dest_qp_num after a refusal");
  HandEnd elsewhere(c.place.serverNs, e.client.address());
  expectEqual(elsewhere.tryReady(gid, e.server.number(), elsewhere.device().gidIndex()), ENETUNREACH, "from another namespace");
  e.connect(); /* each attempt has left nothing behind */
  e.talk();
}

/** rnr_retry decides for how long a SEND waits for a receive, whatever the device's setting. */
void rnrRetry(Context& c) {
  {
    Ends e(c, {.rnrRetry = 7});
    const Counter waits(e.server.device().context(), "rx_waits");

    e.connect();
    e.client.postSend(1, 0, 100);
    waits.reach(1);
    e.server.postRecv(2, half, 100);
    Ends::expectMessage(e.client, e.server, 100);
  }
  Ends e(c, {.rnrRetry = 0});
  e.connect();
  e.talk();
  e.client.postRecv(3, half, 100);
  e.client.postSend(4, 0, 100);
  expectWc(e.client.recvs.next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, "the sender's receive");
}

/** receive_wait limits for how long a SEND that has no receive holds up the answer to the receiver's READ. */
void rnrHoldsUpRead(Context& c) {
  Ends e(c, {.rnrRetry = 7});

  e.connect();
  e.talk();
  e.client.postSend(1, 0, 100);
  e.client.sends.next();
  e.server.postRdma(2, IBV_WR_RDMA_READ, e.client, 100);
  expectWc(e.server.sends.next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_RDMA_READ, "READ");
}

/* --- strangers --- */

/** Bits of the flags octet, RFC 5044 §7.1.1 and RFC 6581 §9. */
constexpr std::uint8_t flagCrc = 0x40, flagReject = 0x20, flagEnhanced = 0x10;
/** Octets in front of the Private Data: the frame's fields, and the depths of revision 2. */
constexpr std::size_t frameHead = 24;

/** An MPA frame of revision 2 with this Private Data; it asks for, or chooses, an RDMA Write as the RTR (RFC 6581 §9). */
Bytes frameOf(const char* key, const Bytes& privateData, std::uint8_t flags) {
  const std::size_t length = privateData.size() + 4;
  Bytes frame(key, key + 16);

  frame.insert(frame.end(),
               {flags, 2, static_cast<std::uint8_t>(length >> 8), static_cast<std::uint8_t>(length), 0x80, 1, 0x80, 1});
  frame.insert(frame.end(), privateData.begin(), privateData.end());
  return frame;
}

Bytes request(const Bytes& privateData) {
  return frameOf("MPA ID Req Frame", privateData, flagCrc | flagEnhanced);
}

Bytes reply(const Bytes& privateData, std::uint8_t flags = 0) {
  return frameOf("MPA ID Rep Frame", privateData, flagCrc | flagEnhanced | flags);
}

Bytes hello(std::uint32_t from, std::uint32_t to, std::uint32_t version = 1) {
  Bytes octets = {'i', 'W', 'Q', 'P'};

  for (const std::uint32_t word : {version, from, to})
    for (int shift = 24; shift >= 0; shift -= 8)
      octets.push_back(static_cast<std::uint8_t>(word >> shift));
  return octets;
}

/** Sends @p frame; fails unless the answer is a Reply that rejects, or nothing but the end. */
void expectRejected(const test::Fd& fd, const Bytes& frame, const std::string& what) {
  std::uint8_t reply[256];
  std::size_t got = 0;
  ssize_t n;

  expect(static_cast<bool>(fd), what + ": no connection");
  expectEqual(::send(fd.get(), frame.data(), frame.size(), MSG_NOSIGNAL), static_cast<ssize_t>(frame.size()), what + ": send");
  while (got < sizeof(reply) && test::waitFor(fd.get(), POLLIN, Deadline(defaultBudget)) &&
         (n = ::recv(fd.get(), reply + got, sizeof(reply) - got, 0)) > 0)
    got += static_cast<std::size_t>(n);
  expect(got == 0 || (got >= 20 && reply[16] & flagReject), what + ": the Reply does not reject");
}

/** Others connect to the port: with wrong numbers, from a wrong address, with something else. The right peer still gets through. */
void strangers(Context& c) {
  Ends e(c);
  HandEnd& waits = e.responder();
  const std::uint32_t from = e.initiator().number(), to = waits.number();
  const std::string& peerNs = &waits == &e.server ? c.place.clientNs : c.place.serverNs;
  const std::string& ownNs = &waits == &e.server ? c.place.serverNs : c.place.clientNs;
  const struct {
    const char* what;
    Bytes frame;
  } frames[] = {
      {"another number of this side", request(hello(from, to + 1))},
      {"another number of the peer", request(hello(from + 1, to))},
      {"the numbers exchanged", request(hello(to, from))},
      {"another version", request(hello(from, to, 2))},
      {"no Private Data", request({})},
      {"one octet less", request(Bytes(15, 0))},
      {"one octet more", request(Bytes(17, 0))},
  };

  waits.connect(e.initiator());
  for (const auto& f : frames)
    expectRejected(stranger(peerNs, waits.address()), f.frame, f.what);
  if (e.client.address() != e.server.address())
    expectRejected(stranger(ownNs, waits.address()), request(hello(from, to)), "another address");
  const test::Fd silent = stranger(peerNs, waits.address()), partial = stranger(peerNs, waits.address());
  expectEqual(::send(partial.get(), "MPA ID", 6, MSG_NOSIGNAL), ssize_t{6}, "half a Request");
  e.initiator().connect(waits);
  e.talk();
  expectClosed(waits, peerNs);
}

/** A stranger who knows both numbers, and has the peer's address, comes first, and leaves: the right peer still gets through. */
void impostor(Context& c) {
  const unsigned rounds = c.count ? c.count : 20;
  Ends e(c);
  HandEnd& waits = e.responder();
  const std::string& peerNs = &waits == &e.server ? c.place.clientNs : c.place.serverNs;
  const Bytes frame = request(hello(e.initiator().number() + 1, waits.number()));

  waits.connect(e.initiator());
  for (unsigned i = 0; i < rounds; i++) { /* a reset at any moment */
    const test::Fd fd = stranger(peerNs, waits.address());
    const linger reset{1, 0};

    ::send(fd.get(), frame.data(), frame.size() - i % 4, MSG_NOSIGNAL);
    ::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
  }
  e.initiator().connect(waits);
  e.talk();
}

/** A listener at the rendezvous port of an address, as root of that host may have. */
class FalseResponder {
public:
  FalseResponder(const std::string& ns, const std::string& address) {
    const InNamespace here(ns);
    Address local(address, rendezvous);
    const int on = 1;

    listener_ = test::Fd(::socket(local.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (::bind(listener_.get(), local.get(), sizeof(sockaddr_storage)) || ::listen(listener_.get(), 16))
      test::throwErrno("port " + std::string(rendezvous));
  }

  /** The next Request's Private Data, which must be @p want; its connection. */
  test::Fd takeRequest(const Bytes& want) {
    Bytes got(frameHead + want.size());

    expect(test::waitFor(listener_.get(), POLLIN, Deadline(defaultBudget)), "no connection comes");
    test::Fd fd(::accept(listener_.get(), nullptr, nullptr));
    expectEqual(::recv(fd.get(), got.data(), got.size(), MSG_WAITALL), static_cast<ssize_t>(got.size()), "octets of the Request");
    expectSame(std::span(got).subspan(frameHead), want, "Private Data");
    return fd;
  }

private:
  test::Fd listener_;
};

void answer(const test::Fd& fd, const Bytes& frame) {
  expectEqual(::send(fd.get(), frame.data(), frame.size(), MSG_NOSIGNAL), static_cast<ssize_t>(frame.size()), "the Reply");
}

/** Another listener is at the peer's address. When it rejects or closes, the Initiator tries again; a Reply that names another peer
 * ends it. */
void falseResponder(Context& c) {
  for (const bool accepts : {false, true}) {
    Ends e(c);
    HandEnd& asks = e.initiator();
    HandEnd& peer = e.responder();
    const Bytes wanted = hello(asks.number(), peer.number());

    {
      FalseResponder other(&peer == &e.server ? c.place.serverNs : c.place.clientNs, peer.address());
      asks.postRecv(1, half, 5000);
      asks.connect(peer);
      answer(other.takeRequest(wanted), reply({}, flagReject));
      other.takeRequest(wanted);
      const test::Fd fd = other.takeRequest(wanted);
      if (accepts) {
        answer(fd, reply(hello(peer.number() + 1, asks.number())));
        expectWc(asks.recvs.next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, "receive");
        expectEqual(int{asks.query().qp_state}, int{IBV_QPS_ERR}, "state");
        continue;
      }
    }
    peer.connect(asks);
    peer.postSend(2, 0, 5000);
    Ends::expectMessage(peer, asks, 5000);
  }
}

const VerbsCase table[] = {
    {"hand-connect", "", "queue pairs connected by hand: all operations, attributes", connectByHand},
    {"hand-placed", "", "a WRITE completes when the peer has placed it (--count)", placedWhenComplete},
    {"hand-lost", "", "the peer ends before it has placed a WRITE", writeIsLost},
    {"hand-refused", "", "the peer refuses a WRITE or a READ", refused},
    {"hand-forbidden", "", "the peer's queue pair forbids WRITEs, or READs", forbidden},
    {"hand-order", "", "either side comes first, and sends", inAnyOrder},
    {"hand-rtr", "", "a program that only receives stays in RTR", staysInRtr},
    {"hand-many", "", "many queue pairs between two addresses", many},
    {"hand-itself", "", "a queue pair is its own peer", itsOwnPeer},
    {"hand-gives-up", "", "nobody comes", givesUp},
    {"hand-peer-leaves", "", "the peer destroys its queue pair", peerLeaves},
    {"hand-ends", "", "a queue pair whose peer does not come is ended", endsAlone},
    {"hand-bad-peers", "", "peers that cannot be reached", badPeers},
    {"hand-rnr", "", "rnr_retry", rnrRetry},
    {"hand-rnr-read", "", "rnr_retry, and a READ behind the SEND; receive_wait is 500", rnrHoldsUpRead},
    {"hand-strangers", "", "strangers at the rendezvous port", strangers},
    {"hand-false-responder", "", "another listener at the peer's address", falseResponder},
    {"hand-resets", "", "strangers that reset their connections", impostor},
};

} // namespace

std::span<const VerbsCase> handCases() {
  return table;
}

} // namespace rdma

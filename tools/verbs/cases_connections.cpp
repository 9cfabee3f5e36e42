// SPDX-License-Identifier: GPL-2.0
/** @file cases_connections.cpp @brief Connections through librdmacm: made, refused, ended. */
#include <netinet/in.h>

#include "../common/bpf.hpp"
#include "verbs_cases.hpp"

namespace rdma {

using test::Deadline;
using test::expect;
using test::expectEqual;
using test::format;
using test::milliseconds;

namespace {

Bytes pattern(std::size_t length, std::uint64_t seed) {
  Bytes data(length);

  test::fill(data, seed);
  return data;
}

/** Private Data of every length that rdma_conn_param can express, in each direction. */
void privateData(Context& c) {
  for (const std::size_t length : {0u, 1u, 4u, 56u, 196u, 248u, 251u, 252u, 255u}) {
    EndOptions client, server;

    client.connect.privateData = pattern(length, 1);
    server.connect.privateData = pattern(length, 2);
    Pair pair(c.place, client, server);
    expect(pair.request.privateData == client.connect.privateData, format("%zu octets to the server came changed", length));
    expect(pair.accepted.privateData == server.connect.privateData, format("%zu octets to the client came changed", length));
    pair.sync();
  }
}

/** A client that starts to connect to @p port. */
std::unique_ptr<End> tryConnect(Context& c, Channel& channel, const std::string& port) {
  const InNamespace here(c.place.clientNs);
  Address address(c.place.address, port);
  auto id = std::make_unique<Id>(channel);
  rdma_conn_param param = connectParam({});

  resolve(*id, channel, address);
  auto end = std::make_unique<End>(std::move(id), EndOptions{});
  check(rdma_connect(end->id->get(), &param), "rdma_connect");
  return end;
}

void reject(Context& c) {
  Server server(c.place);
  Channel channel;
  const Bytes data = pattern(30, 5);

  const auto end = tryConnect(c, channel, server.port());
  const Event request = server.request();
  const Id id(request.id);
  check(rdma_reject(id.get(), data.data(), static_cast<std::uint8_t>(data.size())), "rdma_reject");
  const Event event = channel.expect(RDMA_CM_EVENT_REJECTED);
  expect(event.privateData == data, format("Private Data of the reject: %zu octets", event.privateData.size()));
}

/** The server's program ends between the Request and its answer. */
void serverGoes(Context& c) {
  Channel channel;
  std::unique_ptr<End> end;
  {
    Server server(c.place);

    end = tryConnect(c, channel, server.port());
    const Id id(server.request().id);
  }
  const auto event = channel.next(Deadline(defaultBudget));
  expect(event && event->type != RDMA_CM_EVENT_ESTABLISHED, "the client got no event");
}

/** The client's program ends before it is answered. */
void clientGoes(Context& c) {
  Server server(c.place);
  std::unique_ptr<Id> id;
  {
    Channel channel;

    const auto end = tryConnect(c, channel, server.port());
    id = std::make_unique<Id>(server.request().id);
  }
  End answer(std::move(id), {});
  rdma_conn_param param = connectParam({});
  if (rdma_accept(answer.id->get(), &param))
    return;  /* the call itself reports the end */
  for (;;) { /* ESTABLISHED may come first; an event for the end must follow */
    const auto event = server.channel.next(Deadline(defaultBudget));
    expect(event.has_value(), "the server got no event");
    if (event->type != RDMA_CM_EVENT_ESTABLISHED)
      return;
  }
}

void nobodyListens(Context& c) {
  Channel channel;
  std::string port;
  {
    const Server gone(c.place);
    port = gone.port();
  }
  const auto end = tryConnect(c, channel, port);
  const auto event = channel.next(Deadline(defaultBudget));
  expect(event && event->type != RDMA_CM_EVENT_ESTABLISHED, "connected without a listener");
}

/**
 * The ring is the program's: work requests that it writes there before it connects wait until startup has ended and the peer's
 * limit of outstanding READs is known.
 */
void postedEarly(Context& c) {
  Pair other(c.place); /* owns a region that the peer can READ before the connection is requested */
  Region source(other.server->pd(), page);
  EndOptions serverOptions;
  Channel channel;
  Server server(c.place);
  const InNamespace here(c.place.clientNs);
  Address address(c.place.address, server.port());
  auto id = std::make_unique<Id>(channel);
  rdma_conn_param param = connectParam({});
  ibv_send_wr read{};

  test::fill(source.memory.span(), 9);
  resolve(*id, channel, address);
  End client(std::move(id), {});
  Region sink(client.pd(), page);
  read.opcode = IBV_WR_RDMA_READ;
  read.send_flags = IBV_SEND_SIGNALED;
  read.wr.rdma = {source.memory.address(), source.rkey()};
  expect(client.tryPost(read, {sink.sge(0, page)}) != 0, "a doorbell before the connect was answered");
  check(rdma_connect(client.id->get(), &param), "rdma_connect");
  serverOptions.pd = other.server->pd();
  End answer(std::make_unique<Id>(server.request().id), serverOptions);
  check(rdma_accept(answer.id->get(), &param), "rdma_accept");
  channel.expect(RDMA_CM_EVENT_ESTABLISHED);
  expectWc(client.sends().next(), IBV_WC_SUCCESS, IBV_WC_RDMA_READ, "the READ");
  expectSame(sink.memory.span(), source.memory.span(), "the data that was read");
}

/** Everything posted before a disconnect arrives. */
void graceful(Context& c) {
  constexpr std::size_t length = 100000;
  Pair pair(c.place);
  Region client(pair.client->pd(), length), server(pair.server->pd(), length);

  test::fill(client.memory.span(), 7);
  pair.server->postRecv(1, {server.sge(0, length)});
  pair.client->postSend(1, {client.sge(0, length)});
  expectWc(pair.client->sends().next(), IBV_WC_SUCCESS, IBV_WC_SEND, "SEND");
  pair.client->disconnect();
  expectWc(pair.server->recvs().next(), IBV_WC_SUCCESS, IBV_WC_RECV, "receive");
  expectSame(server.memory.span(), client.memory.span(), "message before the disconnect");
  pair.expectDown();
}

/** Both ends of a plain TCP connection within the calling thread's namespace. */
std::pair<test::Fd, test::Fd> tcpConnection() {
  test::Fd listener(socket(AF_INET, SOCK_STREAM, 0)), client(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  socklen_t length = sizeof(address);
  auto* const name = reinterpret_cast<sockaddr*>(&address);

  if (listen(listener.get(), 1) || getsockname(listener.get(), name, &length) || connect(client.get(), name, length))
    test::throwErrno("a TCP connection");
  return {std::move(client), test::Fd(accept(listener.get(), nullptr, nullptr))};
}

/** BPF on the host puts each TCP connection into a map as soon as it is established, but none of the device's. */
void sockmap(Context& c) {
  for (const auto verdict : test::Sockhash::verdicts) {
    const test::SockhashOfAll map(verdict);
    Pair pair(c.place);

    expect(!map.holdsAny(), "the map has a socket of the device");
    pair.sync();
    pair.client->disconnect();
    pair.expectDown();
    const InNamespace there(c.place.clientNs);
    const auto plain = tcpConnection();
    expect(map.holdsAny(), "the map does not have a program's connection");
  }
}

/** The QP is destroyed without a disconnect: the other side still gets an event. */
void abortive(Context& c) {
  Pair pair(c.place);

  pair.server->postRecv(1, {});
  pair.client->id->destroyQp();
  pair.listener.channel.expect(RDMA_CM_EVENT_DISCONNECTED);
  expectWc(pair.server->recvs().next(), IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, "the server's receive");
}

void bothDisconnect(Context& c) {
  for (unsigned i = 0; i < 5; i++) {
    Pair pair(c.place);

    pair.client->disconnect();
    pair.server->disconnect();
    pair.expectDown();
  }
}

/** The server's place with the wildcard address of its family. */
Place wildcardPlace(const Context& c) {
  Place any = c.place;

  any.address = c.place.address.find(':') == std::string::npos ? "0.0.0.0" : "::";
  return any;
}

/** The wildcard address, of either family. */
void wildcard(Context& c) {
  Server server(wildcardPlace(c));
  Channel channel;

  const auto end = tryConnect(c, channel, server.port());
  End answer(std::make_unique<Id>(server.request().id), {});
  rdma_conn_param param = connectParam({});
  check(rdma_accept(answer.id->get(), &param), "rdma_accept");
  channel.expect(RDMA_CM_EVENT_ESTABLISHED);
}

std::unique_ptr<Id> udpId(const Channel& channel, const Place& place, const std::string& port) {
  const InNamespace here(place.serverNs);
  Address address(place.address, port);
  auto id = std::make_unique<Id>(channel, RDMA_PS_UDP);

  check(rdma_bind_addr(id->get(), address.get()), "rdma_bind_addr");
  return id;
}

/** rdma_cm's port spaces are separate: an id with the same port in another space gets none of a server's Requests. */
void otherSpace(Context& c) {
  Channel channel, clients;
  Place any = wildcardPlace(c);
  any.port = Server(any).port();

  const auto wild = udpId(channel, any, any.port);
  check(rdma_listen(wild->get(), 16), "rdma_listen on the wildcard address");
  Server server(any);
  const auto end = tryConnect(c, clients, any.port);
  const Id asked(server.request().id);
  const auto id = udpId(channel, c.place, "0");
  expect(rdma_listen(id->get(), 16) && errno == EPROTONOSUPPORT, "a listener without a TCP port");
}

/** Makes and ends connections, alternately from either side, with one message each. */
void cycles(Context& c) {
  const unsigned count = c.count ? c.count : 50;

  for (unsigned i = 0; i < count; i++) {
    Pair pair(c.place);
    Region client(pair.client->pd(), page), server(pair.server->pd(), page);

    pair.server->postRecv(1, {server.sge(0, 64)});
    pair.client->postSend(1, {client.sge(0, 64)});
    expectWc(pair.server->recvs().next(), IBV_WC_SUCCESS, IBV_WC_RECV, "receive");
    (i % 2 ? pair.client : pair.server)->disconnect();
    pair.expectDown();
  }
}

/** Many connections at once through one listener. */
void manyConnections(Context& c) {
  const unsigned count = c.count ? c.count : 50;
  Server server(c.place);
  Channel channel;
  std::vector<std::unique_ptr<End>> clients(count), servers;

  for (auto& end : clients) {
    end = tryConnect(c, channel, server.port());
    servers.push_back(std::make_unique<End>(std::make_unique<Id>(server.request().id), EndOptions{}));
    rdma_conn_param param = connectParam({});
    check(rdma_accept(servers.back()->id->get(), &param), "rdma_accept");
    channel.expect(RDMA_CM_EVENT_ESTABLISHED);
    server.channel.expect(RDMA_CM_EVENT_ESTABLISHED);
  }
  for (unsigned i = 0; i < count; i++) {
    servers[i]->postRecv(i, {});
    clients[i]->postSend(i, {});
  }
  for (unsigned i = 0; i < count; i++)
    expectWc(servers[i]->recvs().next(), IBV_WC_SUCCESS, IBV_WC_RECV, "receive");
}

const VerbsCase table[] = {
    {"private-data", "STA-08", "0 to 255 octets of Private Data each way", privateData},
    {"reject", "STA-10 STA-11", "a reject with Private Data", reject},
    {"server-goes", "ERR-01", "the server's program ends before it answers", serverGoes},
    {"client-goes", "ERR-01", "the client's program ends before the answer", clientGoes},
    {"nobody-listens", "", "connect to a port without a listener", nobodyListens},
    {"posted-early", "ENH-03", "a READ in the ring before the connect", postedEarly},
    {"graceful", "END-01 END-02", "data sent before a disconnect arrives", graceful},
    {"sockmap", "", "BPF that puts each TCP connection into a map", sockmap},
    {"abortive", "", "the QP is destroyed without a disconnect", abortive},
    {"both-disconnect", "END-01", "both sides disconnect at once", bothDisconnect},
    {"wildcard", "", "a listener on the wildcard address", wildcard},
    {"other-space", "", "a listener with the same port in another port space", otherSpace},
    {"cycles", "", "connect, one message, disconnect (--count)", cycles},
    {"many-connections", "", "50 connections through one listener (--count)", manyConnections},
};

} // namespace

std::span<const VerbsCase> connectionCases() {
  return table;
}

} // namespace rdma

// SPDX-License-Identifier: GPL-2.0
/** @file operations_sockets.cpp @brief MPA on programs' sockets. */
#include "../socket/socket.hpp"
#include "operations.hpp"

namespace faults {

using namespace sockets;
using test::Failure;

namespace {

/** In this file this name is the sockets' context. */
const sockets::Context local{};

int errnoOf(ssize_t result) {
  return result < 0 ? static_cast<int>(-result) : 0;
}

using Shared = std::shared_ptr<Ends>;

Shared plain() {
  return std::make_shared<Ends>(connectEnds(local));
}

Shared attached() {
  auto e = plain();

  expectOk(e->client.attach(), "TCP_ULP");
  expectOk(e->server.attach(), "TCP_ULP");
  return e;
}

Shared started() {
  return std::make_shared<Ends>(startEnds(local));
}

/** Sends one ULPDU each way, the Initiator's first. */
void exchange(const Ends& e) {
  const auto octets = pattern(3000, 1);

  expectOk(e.client.send(octets), "send by the Initiator");
  expectUlpdu(e.server.receive(), octets, "receive by the Responder");
  expectOk(e.server.send(octets), "send by the Responder");
  expectUlpdu(e.client.receive(), octets, "receive by the Initiator");
}

/** Sets TCP_ULP. After a failure both ends can still attach and start. */
Attempt attach(const faults::Context&) {
  auto e = plain();

  return {.call = [e] { return errnoOf(e->client.attach()); },
          .succeeded =
              [e] {
                expectOk(e->server.attach(), "TCP_ULP");
                startBoth(*e);
                exchange(*e);
              },
          .failed = [e] { /* it is still a TCP socket and can attach again */
                          expectOk(e->client.attach(), "TCP_ULP again");
                          expectOk(e->server.attach(), "TCP_ULP");
                          startBoth(*e);
                          exchange(*e);
          }};
}

Attempt privateData(const faults::Context&) {
  auto e = attached();

  return {.call = [e] { return errnoOf(e->client.data(pattern(512, 1))); }};
}

/* The peer's side of a startup runs in a thread of its own, where nothing fails. */
template <class F> struct WithPeer {
  WithPeer(Shared ends, F f) : e(std::move(ends)), call(*e, std::move(f)) {}

  Shared e;
  Call<F> call;
};

template <class F> auto withPeer(Shared e, F f) {
  return std::make_shared<WithPeer<F>>(std::move(e), std::move(f));
}

int respond(const Shared& e) {
  const int error = e->server.start(MPA_RESPOND);

  return error ? error : e->server.start(MPA_ACCEPT);
}

Attempt initiate(const faults::Context&) {
  auto e = attached();
  auto peer = withPeer(e, [e] { return respond(e); });

  return {.call = [e] { return errnoOf(e->client.start(MPA_INITIATE)); },
          .succeeded =
              [e, peer] {
                expectOk(peer->call.result(), "MPA_RESPOND");
                exchange(*e);
              },
          .failed =
              [e, peer] {
                e->client.close();
                peer->call.result(); /* any result: the call must return */
              }};
}

/* With a last streaming message before the Reply. */
Attempt responding(const faults::Context&) {
  auto e = attached();
  auto peer = withPeer(e, [e] {
    const auto last = e->client.receive(60000, MSG_WAITALL);

    return last.result < 0 ? static_cast<int>(last.result) : e->client.start(MPA_INITIATE);
  });

  return {.call = [e] { return errnoOf(e->server.start(MPA_RESPOND, pattern(60000, 1))); },
          .succeeded =
              [e, peer] {
                expectOk(e->server.start(MPA_ACCEPT), "MPA_ACCEPT");
                expectOk(peer->call.result(), "MPA_INITIATE");
                exchange(*e);
              },
          .failed =
              [e, peer] {
                e->server.close();
                e->client.shutdown(SHUT_RDWR); /* without memory for a reset the client does not notice the end */
                peer->call.result();
              }};
}

/* The Responder has received the Request, and decides. */
template <int Answer> Attempt answer(const faults::Context&) {
  auto e = attached();
  auto peer = withPeer(e, [e] { return e->client.start(MPA_INITIATE); });

  expectOk(e->server.start(MPA_RESPOND), "MPA_RESPOND");
  return {.call = [e] { return errnoOf(e->server.start(Answer)); },
          .succeeded =
              [e, peer] {
                const int initiated = peer->call.result();

                if (Answer == MPA_REJECT)
                  return expectErrno(initiated, ECONNREFUSED, "MPA_INITIATE");
                expectOk(initiated, "MPA_INITIATE");
                exchange(*e);
              },
          .failed =
              [e, peer] {
                e->server.close();
                peer->call.result();
              }};
}

/* A ULPDU that a failed send did not take can be sent again. */
Attempt send(const faults::Context&) {
  auto e = started();
  const auto octets = pattern(30000, 7);
  const auto check = [e, octets] { expectUlpdu(e->server.receive(), octets, "receive"); };

  return {.call = [e, octets] { return errnoOf(e->client.send(octets)); },
          .succeeded = check,
          .failed =
              [e, octets, check] {
                expectOk(e->client.send(octets), "send again");
                check();
              }};
}

/* Data that a failed receive did not return can be received again. */
Attempt receive(const faults::Context&) {
  auto e = started();
  const auto octets = pattern(30000, 7);
  auto got = std::make_shared<Received>();

  expectOk(e->client.send(octets), "send");
  return {.call =
              [e, got] {
                *got = e->server.receive();
                return errnoOf(got->result);
              },
          .succeeded = [e, got, octets] { expectUlpdu(*got, octets, "receive"); },
          .failed = [e, octets] { expectUlpdu(e->server.receive(), octets, "receive again"); }};
}

Attempt close(const faults::Context&) {
  auto e = started();

  exchange(*e);
  return {.call =
              [e] {
                e->client.close();
                return 0;
              },
          .succeeded =
              [e] {
                if (!e->server.poll(POLLIN))
                  throw Failure("the peer does not learn of it");
                const auto end = e->server.receive();

                if (!end.endOfStream() && end.result >= 0)
                  throw Failure("the peer does not learn of it");
              }};
}

/* An FPDU larger than the receive buffer must be taken out of it in pieces. */
Attempt stash(const faults::Context&) {
  auto e = std::make_shared<RawEnds>(respondRaw(local));
  const auto octets = pattern(60000, 9);
  const int small = 2304;

  expectOk(e->socket.set(SOL_SOCKET, SO_RCVBUF, small), "SO_RCVBUF");
  auto sender = std::make_shared<std::future<void>>(std::async(std::launch::async, [e, octets] {
    peer::FpduEncoder encoder({});

    e->raw.send(encoder.encode(octets));
  }));
  auto got = std::make_shared<Received>();
  return {.call =
              [e, sender, got] {
                *got = e->socket.receive();
                return errnoOf(got->result);
              },
          .succeeded = [got, octets] { expectUlpdu(*got, octets, "receive"); },
          .failed = [e, octets] { expectUlpdu(e->socket.receive(), octets, "receive again"); }};
}

/* Both ends from start to end, with data in between. */
Attempt life(const faults::Context&) {
  return {.call = [] {
    const auto e = plain();

    for (const auto* socket : {&e->client, &e->server})
      if (const int error = socket->attach())
        return -error;
    {
      Call peer(*e, [e] {
        const int error = respond(e);

        if (error)
          e->server.shutdown(SHUT_RDWR);
        return error;
      });
      const int error = e->client.start(MPA_INITIATE);
      if (error)
        e->client.shutdown(SHUT_RDWR);
      if (const int theirs = peer.result(); error || theirs)
        return errnoOf(error ? error : theirs);
    }
    const auto octets = pattern(30000, 3);
    for (const auto& [from, to] : {std::pair(&e->client, &e->server), std::pair(&e->server, &e->client)}) {
      if (const auto sent = from->send(octets); sent < 0)
        return errnoOf(sent);
      const auto got = to->receive();
      if (got.result < 0)
        return errnoOf(got.result);
      expectUlpdu(got, octets, "receive");
    }
    return 0;
  }};
}

} // namespace

std::span<const Operation> socketOperations() {
  static const Operation operations[] = {
      {"ulp-attach", "TCP_ULP \"mpa\"", Scope::Thread, true, attach},
      {"ulp-private-data", "MPA_PRIVATE_DATA", Scope::Thread, true, privateData},
      {"ulp-initiate", "MPA_INITIATE", Scope::Thread, true, initiate},
      {"ulp-respond", "MPA_RESPOND with a last streaming message", Scope::Thread, true, responding},
      {"ulp-accept", "MPA_ACCEPT", Scope::Thread, true, answer<MPA_ACCEPT>},
      {"ulp-reject", "MPA_REJECT", Scope::Thread, true, answer<MPA_REJECT>},
      {"ulp-send", "send of a ULPDU", Scope::Thread, true, send},
      {"ulp-receive", "receive of a ULPDU", Scope::Thread, true, receive},
      {"ulp-stash", "receive of one that is larger than the buffer", Scope::Thread, true, stash},
      {"ulp-close", "close", Scope::Thread, false, close},
      {"ulp-life", "both ends: start, data, end", Scope::Anywhere, true, life},
  };
  return operations;
}

} // namespace faults

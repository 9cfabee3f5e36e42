// SPDX-License-Identifier: GPL-2.0
/** @file operations_connections.cpp @brief Listening, connecting, accepting, posting, closing; whole connections. */
#include <algorithm>
#include <fstream>

#include "../verbs/pair.hpp"
#include "operations.hpp"

namespace faults {

using namespace rdma;
using test::Failure;

namespace {

constexpr std::size_t size = 256 << 10;

Place place(const Context& c) {
  return {.address = c.address, .port = "0", .clientNs = {}, .serverNs = {}};
}

/** As Channel::expect(), but any other event counts as the connection's end. */
Event hear(Channel& channel, rdma_cm_event_type type) {
  const auto event = channel.next(Deadline(defaultBudget));

  if (!event)
    throw Failure(std::string("no ") + rdma_event_str(type));
  if (event->type != type)
    throw Ended(event->name());
  return *event;
}

/** Takes one completion; an unsuccessful one counts as the connection's end. */
void completed(Cq& cq, const char* what) {
  const auto wc = cq.next();

  if (wc.status != IBV_WC_SUCCESS)
    throw Ended(std::string(what) + ": " + statusName(wc.status));
}

void same(const Region& a, const Region& b, const char* what) {
  const auto x = a.memory.span(), y = b.memory.span();
  const auto at = std::ranges::mismatch(x, y).in1 - x.begin();

  if (at != std::ssize(x))
    throw Failure(test::format("%s: other octets from %zd of %zu on", what, at, x.size()));
}

/** Both ends of a connection that is made step by step. Members are destroyed in reverse order. */
struct Making {
  explicit Making(const Context& c) : listener(std::make_unique<Server>(place(c))) {
    Address address(c.address, listener->port());
    auto id = std::make_unique<Id>(channel);

    resolve(*id, channel, address);
    client = std::make_unique<End>(std::move(id), EndOptions{});
  }

  int connect() {
    auto param = connectParam({});

    return rdma_connect(client->id->get(), &param) ? errno : 0;
  }
  void request() {
    pollfd both[] = {{listener->channel.fd(), POLLIN, 0}, {channel.fd(), POLLIN, 0}};

    if (poll(both, 2, static_cast<int>(defaultBudget.count())) < 0)
      test::throwErrno("poll");
    if (both[1].revents) /* the client failed before the Request arrived */
      throw Ended(channel.next(Deadline(defaultBudget))->name());
    const auto event = hear(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);

    server = std::make_unique<End>(std::make_unique<Id>(event.id), EndOptions{});
  }
  int accept() {
    auto param = connectParam({});

    return rdma_accept(server->id->get(), &param) ? errno : 0;
  }
  void established() {
    hear(channel, RDMA_CM_EVENT_ESTABLISHED);
    hear(listener->channel, RDMA_CM_EVENT_ESTABLISHED);
  }
  /** Allocates memory for transfers; the two ends have different octets. */
  void memory() {
    near = std::make_unique<Region>(client->pd(), size);
    far = std::make_unique<Region>(server->pd(), size);
    test::fill(near->memory.span(), 1);
    test::fill(far->memory.span(), 2);
  }
  void send() {
    server->postRecv(1, {far->sge(0, size)});
    client->postSend(1, {near->sge(0, size)});
  }
  void sent() {
    completed(server->recvs(), "receive");
    completed(client->sends(), "send");
    same(*near, *far, "send");
  }
  void write() { client->postWrite(2, {near->sge(0, size)}, far->rkey(), far->memory.address()); }
  void read() { client->postRead(3, {near->sge(0, size)}, far->rkey(), far->memory.address()); }
  void done(const char* what) { completed(client->sends(), what); }
  /** Sends a message and compares it. */
  void message() {
    test::fill(far->memory.span(), 3);
    send();
    sent();
  }
  void disconnected() {
    hear(channel, RDMA_CM_EVENT_DISCONNECTED);
    hear(listener->channel, RDMA_CM_EVENT_DISCONNECTED);
  }

  std::unique_ptr<Server> listener;
  Channel channel; /* the client's */
  std::unique_ptr<End> client, server;
  std::unique_ptr<Region> near, far; /* of the ends' PDs */
};

using Ends = std::shared_ptr<Making>;

/** Throws the errno value that a call returned. */
void orThrow(int error, const char* what) {
  if (error)
    throw std::system_error(error, std::generic_category(), what);
}

Ends requested(const Context& c) {
  auto e = std::make_shared<Making>(c);

  orThrow(e->connect(), "rdma_connect");
  e->request();
  return e;
}

Ends connected(const Context& c) {
  auto e = requested(c);

  orThrow(e->accept(), "rdma_accept");
  e->established();
  e->memory();
  return e;
}

/** Completes an accepted connection, and uses it. */
void works(const Ends& e) {
  e->established();
  e->memory();
  e->message();
}

/**
 * After a failure at the server the client must get an event other than success; success may come before it. A client that was
 * reset tries once more with revision 1; the listener must be closed so that this attempt ends.
 */
void clientLearns(const Ends& e) {
  e->server.reset();
  e->listener.reset();
  for (auto event = e->channel.next(Deadline(defaultBudget)); event; event = e->channel.next(Deadline(defaultBudget)))
    if (event->type != RDMA_CM_EVENT_ESTABLISHED)
      return;
  throw Failure("the client does not learn of it");
}

/* --- one call --- */

struct Listening {
  Channel channel;
  std::unique_ptr<Id> id = std::make_unique<Id>(channel);
};

std::shared_ptr<Listening> bound(const Context& c) {
  auto l = std::make_shared<Listening>();
  Address address(c.address, "0");

  check(rdma_bind_addr(l->id->get(), address.get()), "rdma_bind_addr");
  return l;
}

Attempt listen(const Context& c) {
  return {.call = [l = bound(c)] { return rdma_listen(l->id->get(), 16) ? errno : 0; }};
}

Attempt unlisten(const Context& c) {
  auto l = bound(c);

  check(rdma_listen(l->id->get(), 16), "rdma_listen");
  return {.call = [l] {
    l->id.reset();
    return 0;
  }};
}

Attempt connect(const Context& c) {
  auto e = std::make_shared<Making>(c);

  return {.call = [e] { return e->connect(); },
          .succeeded =
              [e] {
                e->request();
                orThrow(e->accept(), "rdma_accept");
                works(e);
              }};
}

Attempt accept(const Context& c) {
  auto e = requested(c);

  return {.call = [e] { return e->accept(); }, .succeeded = [e] { works(e); }, .failed = [e] { clientLearns(e); }};
}

Attempt reject(const Context& c) {
  auto e = requested(c);

  return {.call = [e] { return rdma_reject(e->server->id->get(), "no", 2) ? errno : 0; },
          .succeeded = [e] { clientLearns(e); },
          .failed = [e] { clientLearns(e); }};
}

Attempt disconnect(const Context& c) {
  auto e = connected(c);

  return {.call = [e] { return rdma_disconnect(e->client->id->get()) ? errno : 0; }, .succeeded = [e] { e->disconnected(); }};
}

Attempt destroyConnected(const Context& c) {
  auto e = connected(c);

  return {.call =
              [e] {
                e->far.reset();
                e->server.reset();
                return 0;
              },
          /* TCP sends its reset once, and not at all without memory; it answers the client's next segment with another reset. */
          .succeeded =
              [e] {
                e->client->postWrite(1, {e->near->sge(0, 1)}, 0, 0);
                hear(e->channel, RDMA_CM_EVENT_DISCONNECTED);
              }};
}

/** Posts in the thread that gets the faults; retries are made by another thread. */
Attempt posting(const Context& c, void (*post)(Making&), void (*check)(Making&)) {
  auto e = connected(c);

  return {.call =
              [e, post] {
                post(*e);
                return 0;
              },
          .succeeded = [e, check] { check(*e); }};
}

Attempt postSend(const Context& c) {
  return posting(c, [](Making& e) { e.send(); }, [](Making& e) { e.sent(); });
}

void placed(Making& e, const char* what) {
  e.done(what);
  e.server->postRecv(9, {});
  e.client->postSend(9, {}); /* the arrival of a message shows that the Write before it has been placed */
  completed(e.server->recvs(), what);
  e.done(what);
  same(*e.near, *e.far, what);
}

Attempt postWrite(const Context& c) {
  return posting(c, [](Making& e) { e.write(); }, [](Making& e) { placed(e, "write"); });
}

Attempt postRead(const Context& c) {
  return posting(c, [](Making& e) { e.read(); }, [](Making& e) { placed(e, "read"); });
}

/* --- whole connections --- */

Attempt life(const Context& c) {
  return {.call = [c] {
    transfer(c);
    return 0;
  }};
}

/** Keeps TCP's window so small that parts of FPDUs must be taken out of the receive queue. */
class SmallBuffers {
public:
  SmallBuffers() {
    std::ifstream in(path);

    std::getline(in, before_);
    put("2304 2304 2304");
  }
  ~SmallBuffers() { put(before_); }
  SmallBuffers(const SmallBuffers&) = delete;
  SmallBuffers& operator=(const SmallBuffers&) = delete;

private:
  static constexpr const char* path = "/proc/sys/net/ipv4/tcp_rmem";

  static void put(const std::string& value) { std::ofstream(path) << value << std::flush; }

  std::string before_;
};

Attempt pressed(const Context& c) {
  return {.call = [c, small = std::make_shared<SmallBuffers>()] {
    transfer(c);
    return 0;
  }};
}

} // namespace

void transfer(const Context& c) {
  const auto e = connected(c);

  e->message();
  test::fill(e->near->memory.span(), 4);
  e->write();
  placed(*e, "write");
  test::fill(e->far->memory.span(), 5);
  e->read();
  placed(*e, "read");
  if (rdma_disconnect(e->client->id->get()))
    test::throwErrno("rdma_disconnect");
  e->disconnected();
}

std::span<const Operation> connectionOperations() {
  static const Operation operations[] = {
      {"listen", "rdma_listen", Scope::Thread, true, listen},
      {"unlisten", "rdma_destroy_id of a listener", Scope::Thread, false, unlisten},
      {"connect", "rdma_connect", Scope::Thread, true, connect},
      {"accept", "rdma_accept", Scope::Thread, true, accept},
      {"reject", "rdma_reject", Scope::Thread, true, reject},
      {"disconnect", "rdma_disconnect", Scope::Thread, false, disconnect},
      {"destroy-connected", "rdma_destroy_qp, rdma_destroy_id of a connection", Scope::Thread, false, destroyConnected},
      {"post-send", "ibv_post_send: Send of 256 KiB", Scope::Thread, false, postSend},
      {"post-write", "ibv_post_send: RDMA Write", Scope::Thread, false, postWrite},
      {"post-read", "ibv_post_send: RDMA Read", Scope::Thread, false, postRead},
      {"life", "a connection, Send, Write and Read, its end", Scope::Anywhere, true, life},
      {"pressure", "the same with TCP's smallest receive buffer", Scope::Anywhere, true, pressed},
  };
  return operations;
}

} // namespace faults

// SPDX-License-Identifier: GPL-2.0
/** @file cases_owners.cpp @brief Sockets that others own or want to own: SMC, MPTCP, BPF's maps, KCM, another ULP. */
#include <linux/kcm.h>
#include <sys/ioctl.h>

#include "../common/bpf.hpp"
#include "socket.hpp"

namespace sockets {

using test::expect;

/* Connects a plain TCP socket to a listener on this machine, which the caller has not bound yet, and accepts it. */
static Ends acceptFrom(const Socket& listener) {
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof(address);

  expectOk(bind(listener.fd(), name, length), "bind");
  expectOk(listen(listener.fd(), 1), "listen");
  expectOk(getsockname(listener.fd(), name, &length), "getsockname");
  Socket client(test::Fd(socket(AF_INET, SOCK_STREAM, 0)));
  expectOk(connect(client.fd(), name, length), "connect");
  return {std::move(client), Socket(test::Fd(accept(listener.fd(), nullptr, nullptr)))};
}

/*
 * SMC gives programs a TCP socket of its own when the peer speaks plain TCP, and keeps using that socket itself.
 * TCP_FASTOPEN_NO_COOKIE makes it abandon SMC at once: its callbacks then stay in the sockets that TCP accepts.
 */
static void expectSmcRefused(Socket (*makeListener)()) {
  for (const bool at_once : {false, true}) {
    const Socket listener = makeListener();

    if (at_once)
      expectOk(listener.set(IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, 1), "TCP_FASTOPEN_NO_COOKIE");
    expectErrno(acceptFrom(listener).server.attach(), EBUSY, "TCP_ULP");
  }
}

static Socket smcSocket() {
  Socket s(test::Fd(socket(AF_SMC, SOCK_STREAM, 0)));

  if (s.fd() < 0)
    throw test::Skip("no AF_SMC in this kernel");
  return s;
}

/* A TCP socket that SMC replaces. The kernel loads SMC for a socket of AF_SMC, also when a user makes it. */
static Socket replacedBySmc() {
  const Socket loads = smcSocket();
  Socket s(test::Fd(socket(AF_INET, SOCK_STREAM, 0)));

  if (s.set(IPPROTO_TCP, TCP_ULP, "smc", 3))
    throw test::Skip("no TCP_ULP smc in this kernel");
  return s;
}

static void smcChild(Context&) {
  expectSmcRefused(smcSocket);
}

static void smcUlpChild(Context&) {
  expectSmcRefused(replacedBySmc);
}

/* A listener of MPTCP whose peer speaks plain TCP gives the program an ordinary TCP socket. */
static void mptcpChild(Context& c) {
  const Socket listener(test::Fd(socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP)));

  if (listener.fd() < 0)
    throw test::Skip("no MPTCP in this kernel");
  expect(listener.attach() < 0, "TCP_ULP of a socket of MPTCP");
  const Ends e = acceptFrom(listener);
  expectOk(e.server.attach(), "TCP_ULP");
  expectOk(e.client.attach(), "TCP_ULP");
  expectOk(e.server.start(MPA_START_RDMAC), "MPA_START_RDMAC");
  expectOk(e.client.start(MPA_START_RDMAC), "MPA_START_RDMAC");
  expectOk(e.client.send(pattern(3000, c.seed)), "send");
  expectUlpdu(e.server.receive(), pattern(3000, c.seed), "the ULPDU");
}

/* Another user of sockets cannot take a socket that MPA starts on, or runs on: @p take returns @p refusal. */
template <class F> static void expectNotTaken(const Ends& e, int refusal, F take) {
  e.client.nonBlocking(true);
  expectErrno(e.client.start(MPA_INITIATE), EINPROGRESS, "MPA_INITIATE");
  expectErrno(take(), refusal, "taking a socket during a start");
  expectOk(e.server.start(MPA_RESPOND), "MPA_RESPOND");
  expectOk(e.server.start(MPA_ACCEPT), "MPA_ACCEPT");
  expect(e.client.poll(POLLOUT) & POLLOUT, "no POLLOUT");
  expectErrno(take(), refusal, "taking a socket in Full Operation");
  expectOk(e.client.send(text("still there")), "send");
  expectUlpdu(e.server.receive(), text("still there"), "the ULPDU");
}

/* BPF's maps of sockets take no socket with the ULP, and MPA takes none that is in a map. */
static void sockmap(Context& c) {
  for (const auto verdict : test::Sockhash::verdicts) {
    const Ends e = connectEnds(c);
    test::Sockhash map(verdict);

    expectOk(map.put(e.client.fd()), "a socket into the map");
    expectErrno(e.client.attach(), EBUSY, "TCP_ULP of a socket in a map");
    expectOk(map.remove(), "out of the map");
    expectOk(e.client.attach(), "TCP_ULP");
    expectOk(e.server.attach(), "TCP_ULP");
    expectErrno(map.put(e.client.fd()), EINVAL, "a socket with the ULP into the map");
    expectNotTaken(e, EINVAL, [&] { return map.put(e.client.fd()); });
  }
}

/* KCM takes a socket with the ULP until MPA starts. MPA neither attaches to a socket of KCM nor starts there. */
static void kcm(Context& c) {
  const Ends e = connectEnds(c);
  const test::Fd mux(socket(AF_KCM, SOCK_DGRAM, KCMPROTO_CONNECTED));
  const test::Fd parser = test::bpfPass(BPF_PROG_TYPE_SOCKET_FILTER);
  const auto attach = [&] {
    const kcm_attach info{e.client.fd(), parser.get()};

    return ioctl(mux.get(), SIOCKCMATTACH, &info) ? -errno : 0;
  };
  const auto detach = [&] {
    const kcm_unattach info{e.client.fd()};

    return ioctl(mux.get(), SIOCKCMUNATTACH, &info) ? -errno : 0;
  };

  if (!mux)
    throw test::Skip("no AF_KCM in this kernel");
  expectOk(attach(), "SIOCKCMATTACH");
  expectErrno(e.client.attach(), EBUSY, "TCP_ULP of a socket of KCM");
  expectOk(detach(), "SIOCKCMUNATTACH");
  expectOk(e.client.attach(), "TCP_ULP");
  expectOk(e.server.attach(), "TCP_ULP");
  expectOk(attach(), "SIOCKCMATTACH before a start");
  expectErrno(e.client.start(MPA_INITIATE), EBUSY, "MPA_INITIATE on a socket of KCM");
  expectOk(detach(), "SIOCKCMUNATTACH");
  expectNotTaken(e, EALREADY, attach);
}

/* A socket has one ULP. */
static void otherUlp(Context& c) {
  const Ends e = connectEnds(c);

  if (e.client.set(IPPROTO_TCP, TCP_ULP, "tls", 3))
    throw test::Skip("no TCP_ULP tls in this kernel");
  expectErrno(e.client.attach(), EEXIST, "TCP_ULP mpa after tls");
  expectOk(e.server.attach(), "TCP_ULP");
  expectErrno(e.server.set(IPPROTO_TCP, TCP_ULP, "tls", 3), EEXIST, "TCP_ULP tls after mpa");
}

std::span<const SocketCase> ownerCases() {
  static const SocketCase cases[] = {
      {"hostile-smc", "", "a kernel socket that AF_SMC gives to a program", smcChild},
      {"hostile-smc-ulp", "", "the same for a TCP socket that SMC replaces", smcUlpChild},
      {"hostile-mptcp", "", "a TCP socket that a listener of MPTCP accepts", mptcpChild},
      {"hostile-sockmap", "", "BPF's maps of sockets: before, during and after a start", sockmap},
      {"hostile-kcm", "", "the same with AF_KCM", kcm},
      {"hostile-tls", "", "TCP_ULP tls before and after mpa", otherUlp},
  };
  return cases;
}

} // namespace sockets

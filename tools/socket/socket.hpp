// SPDX-License-Identifier: GPL-2.0
/**
 * @file socket.hpp
 * @brief A program's socket with TCP_ULP "mpa" (linux/mpa.h), and code that the cases share.
 *
 * Calls return the system call's result, or a negative errno, because most cases check the exact errno.
 */
#pragma once

#include <future>
#include <linux/mpa.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>

#include "../common/fd.hpp"
#include "../common/testcase.hpp"
#include "../peer/fpdu.hpp"
#include "../peer/startup.hpp"
#include "../peer/stream.hpp"

namespace sockets {

using peer::Bytes;
using peer::View;

/** How TCP signs segments: not, by MD5 (RFC 2385), or by its Authentication Option (RFC 5925). */
enum class Signature { None, Md5, Ao };

/** Parameters of every case. */
struct Context {
  std::string address = "127.0.0.1";
  std::uint64_t seed = 1;
  unsigned count = 0; /**< of --count, 0: the case's own choice */
  Signature signature = Signature::None;
};

using SocketCase = test::Case<Context>;

std::span<const SocketCase> startupCases();
std::span<const SocketCase> dataCases();
std::span<const SocketCase> errorCases();
std::span<const SocketCase> hostileCases();
std::span<const SocketCase> memoryCases();
std::span<const SocketCase> ownerCases();

/** The maximum length of any wait in these cases. */
inline constexpr test::milliseconds patience{20000};

/** The result of a receive call. */
struct Received {
  ssize_t result = 0; /**< octets, or a negative errno */
  int flags = 0;      /**< msg_flags */
  Bytes data = {};    /**< the octets in the buffer */

  /** True for an orderly end, false for an empty ULPDU. */
  bool endOfStream() const { return result == 0 && !(flags & MSG_EOR); }
};

/** A connected TCP socket on which MPA can be started. */
class Socket {
public:
  explicit Socket(test::Fd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  void close() { fd_.close(); }

  int attach() const;
  int set(int level, int name, const void* value, std::size_t length) const;
  int set(int level, int name, int value) const { return set(level, name, &value, sizeof(value)); }
  /** Sets an int option of level SOL_MPA. */
  int setOption(int name, int value) const { return set(SOL_MPA, name, value); }
  int data(View octets) const { return set(SOL_MPA, MPA_PRIVATE_DATA, octets.data(), octets.size()); }
  /** Sets MPA_INITIATE or another option that starts or answers. */
  int start(int name, View value = {}) const { return set(SOL_MPA, name, value.data(), value.size()); }
  void nonBlocking(bool on) const;

  mpa_status status() const;
  /** The peer's frame, or nothing with errno set. */
  std::optional<mpa_peer> peerFrame() const;

  ssize_t send(View octets, int flags = MSG_NOSIGNAL) const;
  Received receive(std::size_t room = 70000, int flags = 0) const;

  /** Waits for one of @p events; returns the result of poll(), 0 at the end of @p budget. */
  short poll(short events, test::milliseconds budget = patience * test::patience()) const;
  int soError() const;
  /** TCP_INFO; throws std::system_error when getsockopt() fails. */
  tcp_info tcpInfo() const;
  int inQueue() const;
  /** Octets of frames that the peer has not acknowledged. */
  unsigned outQueue() const;
  int shutdown(int how) const;

private:
  test::Fd fd_;
};

/** Both ends of a TCP connection. */
struct Ends {
  Socket client, server;
};

/**
 * A call that may sleep, in a thread of its own. result() waits for it, and rethrows its exception. When a case fails before
 * result(), or the call itself throws, the sockets are shut down to end every call that sleeps on them.
 */
template <class F> class Call {
public:
  Call(const Socket& socket, F f) : Call({&socket, &socket}, std::move(f)) {}
  Call(const Ends& ends, F f) : Call({&ends.client, &ends.server}, std::move(f)) {}
  ~Call() {
    if (result_.valid())
      shutdown(sockets_);
  } /* the future waits for the thread */
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  auto result() { return result_.get(); }

private:
  using Sockets = std::pair<const Socket*, const Socket*>;

  Call(Sockets sockets, F f)
      : sockets_(sockets), result_(std::async(std::launch::async, [sockets, f = std::move(f)] {
          try {
            return f();
          } catch (const std::exception& e) {
            std::fprintf(stderr, "in a thread: %s\n", e.what()); /* the case may fail before it calls result() */
            shutdown(sockets);
            throw;
          }
        })) {}

  static void shutdown(const Sockets& sockets) {
    sockets.first->shutdown(SHUT_RDWR);
    sockets.second->shutdown(SHUT_RDWR);
  }

  Sockets sockets_;
  std::future<std::invoke_result_t<F>> result_;
};

template <class F> Call(const Socket&, F) -> Call<F>;
template <class F> Call(const Ends&, F) -> Call<F>;

/** A TCP connection over the context's address, plain. */
Ends connectEnds(const Context& c);

/** The options of an MPA connection between two sockets. */
struct Settings {
  bool clientMarkers = false, serverMarkers = false; /**< M of the two frames */
  bool crc = true;
  int revision = 1;
};

/** An MPA connection in Full Operation: the client is the Initiator. The Responder has not received an FPDU yet. */
Ends startEnds(const Context& c, const Settings& settings = {});

/** As startEnds(), followed by greet(). */
Ends fullEnds(const Context& c, const Settings& settings = {});

/** Sends a ULPDU from the client to the server, so that the server may send, too. */
void greet(const Ends& ends);

/** Starts MPA on the Responder's and the Initiator's side; fails the case unless both succeed. */
void startBoth(const Ends& ends);

/** A raw TCP stream driven by the wire peer's classes, which share no code with the kernel. */
class Raw {
public:
  explicit Raw(test::Fd fd) : number_(fd.get()), stream_(std::move(fd)) {}

  void send(View octets, const peer::Cuts& cuts = {}) { stream_.send(octets, cuts); }
  /** Sends octets; TCP marks the last one as urgent. */
  void urgent(View octets);
  void finish() { stream_.finish(); }
  /** Sends octets and the FIN in one segment. */
  void finishWith(View octets);
  void abort() { stream_.abort(); }
  /** Reads exactly @p n octets. */
  Bytes read(std::size_t n);
  peer::StartupFrame readFrame(peer::FrameKind kind);
  /** Reads the next FPDU of a half connection with strict checks. */
  peer::Fpdu readFpdu(peer::FpduDecoder& decoder);
  /** Reads until the stream ends, and returns the kind of end. */
  peer::End readToEnd(Bytes& out);

private:
  int number_; /* of the file descriptor that stream owns */
  peer::Stream stream_;
  Bytes left_;
};

/** One end is a socket under test, the other a raw TCP stream. */
struct RawEnds {
  Socket socket;
  Raw raw;
};

RawEnds connectRaw(const Context& c);

/** Full Operation against a raw Responder, with @p settings of both ends. */
RawEnds initiateRaw(const Context& c, const Settings& settings = {});
/** Full Operation against a raw Initiator. */
RawEnds respondRaw(const Context& c, const Settings& settings = {});

/** Waits until @p done returns true. After @p patience the case fails with the message @p what. */
template <class F> void await(const Socket& s, const std::string& what, F done) {
  for (const test::Deadline deadline(patience); !done(); s.poll(0, test::milliseconds(10)))
    test::expect(!deadline.passed(), what);
}

/** Changes the limits of TCP's memory (tcp_mem) during its lifetime; skips the case when they cannot be set. */
class TcpMemory {
public:
  explicit TcpMemory(const char* limits);
  ~TcpMemory();
  TcpMemory(const TcpMemory&) = delete;
  TcpMemory& operator=(const TcpMemory&) = delete;

private:
  std::string before_;
};

/** @p n octets of the pattern @p seed. */
Bytes pattern(std::size_t n, std::uint64_t seed);
Bytes text(const char* s);

void expectErrno(ssize_t got, int want, const std::string& what);
void expectOk(ssize_t got, const std::string& what);
/** Octets of a stream, all in one piece. */
void expectOctets(const Received& got, View want, const std::string& what);
/** A whole ULPDU equal to @p want, with MSG_EOR and without MSG_TRUNC. */
void expectUlpdu(const Received& got, View want, const std::string& what);

} // namespace sockets

// SPDX-License-Identifier: GPL-2.0
/**
 * @file mpa_copy.cpp
 * @brief mpa-copy: moves a file over MPA (mpa(7)). A CRC32c protects every record.
 *
 *   mpa-copy receive PORT FILE             waits for one file
 *   mpa-copy send ADDRESS PORT FILE
 *
 * The two sides first talk in plain text ("PUT octets"), then start MPA on the same connection, as in RFC 5044 Figure 9. The
 * receiver answers "OK" as its last streaming message and is the Responder; the sender is the Initiator. From then on, one recv()
 * returns exactly the octets of one send(). The receiver sends a single record, "done".
 */
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <linux/mpa.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

/** Ends the program with errno's text unless @p result is good. */
template <class T> static T must(T result, const char* what) {
  if (result >= 0)
    return result;
  std::perror(what);
  std::exit(1);
}

/** Ends the program with the text of @p error unless @p good. */
static void expect(bool good, const char* what, int error = EPROTO) {
  errno = error;
  must(good ? 0 : -1, what);
}

/** Sets one of the options that start MPA: MPA_INITIATE, MPA_RESPOND, MPA_ACCEPT. */
static void start(int fd, int name, const std::string& value = "") {
  must(setsockopt(fd, SOL_MPA, name, value.data(), static_cast<socklen_t>(value.size())), "starting MPA");
}

/** Attaches the ULP. The connection is still plain TCP; MPA can now be started on it. */
static void attach(int fd) {
  must(setsockopt(fd, IPPROTO_TCP, TCP_ULP, "mpa", sizeof("mpa")), "TCP_ULP mpa (is mpa.ko loaded?)");
}

/** Reads octet by octet, because the octets behind the line belong to MPA. No line of this protocol is longer than 32. */
static std::string readLine(int fd) {
  std::string line;

  for (char c; line.size() < 32 && must(recv(fd, &c, 1, 0), "recv") == 1 && c != '\n';)
    line += c;
  return line;
}

static in_port_t portNumber(const char* text) {
  char* end;
  const auto number = std::strtoul(text, &end, 10);

  expect(*text && !*end && number && number <= UINT16_MAX, text, EINVAL);
  return static_cast<in_port_t>(number);
}

static int listenAndAccept(const char* port) {
  const int listener = must(socket(AF_INET6, SOCK_STREAM, 0), "socket"), on = 1;
  sockaddr_in6 address{};

  address.sin6_family = AF_INET6;
  address.sin6_port = htons(portNumber(port));
  must(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), "SO_REUSEADDR");
  must(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), "bind");
  must(listen(listener, 1), "listen");
  return must(accept(listener, nullptr, nullptr), "accept");
}

static int connectTo(const char* host, const char* port) {
  addrinfo hints{}, *list = nullptr;

  hints.ai_socktype = SOCK_STREAM;
  if (const int error = getaddrinfo(host, port, &hints, &list)) {
    std::fprintf(stderr, "%s: %s\n", host, gai_strerror(error));
    std::exit(1);
  }
  const int fd = must(socket(list->ai_family, SOCK_STREAM, 0), "socket");
  must(connect(fd, list->ai_addr, list->ai_addrlen), "connect");
  freeaddrinfo(list);
  return fd;
}

static void receiveFile(int fd, const char* file) {
  long long octets = -1, left;
  std::vector<char> record(MPA_ULPDU_RECV_MAX);

  expect(std::sscanf(readLine(fd).c_str(), "PUT %lld", &octets) == 1, "PUT octets");
  const int out = must(open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644), file);
  attach(fd);
  start(fd, MPA_RESPOND, "OK\n"); /* returns when the Request has arrived */
  start(fd, MPA_ACCEPT);
  for (left = octets; left > 0;) {
    const auto n = must(recv(fd, record.data(), record.size(), 0), "a record");

    expect(n, "the sender has stopped", ECONNRESET);
    expect(must(write(out, record.data(), static_cast<size_t>(n)), "write") == n, "write", ENOSPC);
    left -= n;
  }
  /* The last record is empty. To close a socket with a record in it would reset the connection, and "done" could be lost. */
  expect(must(recv(fd, record.data(), record.size(), 0), "the last record") == 0, "the last record");
  must(send(fd, "done", 4, 0), "send");
  std::printf("%lld octets\n", octets);
}

static void sendFile(int fd, const char* file) {
  const int in = must(open(file, O_RDONLY), file);
  std::vector<char> record(MPA_ULPDU_MAX);
  struct stat st{};

  must(fstat(in, &st), file);
  const std::string line = "PUT " + std::to_string(st.st_size) + "\n";
  must(send(fd, line.data(), line.size(), 0), "send");
  expect(readLine(fd) == "OK", "the receiver refuses");
  attach(fd);
  start(fd, MPA_INITIATE); /* returns when the Reply has arrived */
  ssize_t n;
  do { /* the last record is empty: a Responder may send only after it has received one, and an empty file has no other */
    n = must(read(in, record.data(), record.size()), "read");
    must(send(fd, record.data(), static_cast<size_t>(n), 0), "send");
  } while (n > 0);
  expect(must(recv(fd, record.data(), record.size(), 0), "recv") == 4, "the receiver did not write all of it", EIO);
  std::printf("%lld octets\n", static_cast<long long>(st.st_size));
}

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";

  std::signal(SIGPIPE, SIG_IGN); /* send() says so */
  if (command == "receive" && argc == 4)
    receiveFile(listenAndAccept(argv[2]), argv[3]);
  else if (command == "send" && argc == 5)
    sendFile(connectTo(argv[2], argv[3]), argv[4]);
  else
    return std::fprintf(stderr, "usage: mpa-copy receive PORT FILE | mpa-copy send ADDRESS PORT FILE\n"), 64;
}

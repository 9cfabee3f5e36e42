// SPDX-License-Identifier: GPL-2.0
/**
 * @file flood.cpp
 * @brief mpa-flood: any number of TCP connections to one listener that never complete a startup.
 */
#include <fcntl.h>
#include <iostream>
#include <sstream>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

#include "startup.hpp"
#include "stream.hpp"

namespace {

using test::Deadline;
using test::format;
using test::milliseconds;

const char* const help = R"(usage: mpa-flood ADDR PORT < COMMANDS

One command per line, one answer per command: "= ok open=N ended=N answered=N" or "= error TEXT". ended: closed or reset by the
other side since the previous command; answered: those that received data before.

  open N [ADDR]   open N more connections in sequence, from local address ADDR; send nothing on them
  close N         close the N oldest with a FIN
  wait N SECONDS  wait until at most N are open
  drip SECONDS    send one more octet of a correct Request on each, once a second, while any is open
)";

/** One connection, and the number of octets of the Request that it has sent. */
struct Victim {
  peer::Stream stream;
  std::size_t sent = 0;
};

class Flood {
public:
  Flood(std::string address, std::string port) : address_(std::move(address)), port_(std::move(port)) {
    peer::StartupFrame frame;

    frame.kind = peer::FrameKind::Request;
    frame.revision = 1;
    frame.privateData = peer::Bytes(512);
    request_ = frame.encode();
  }

  std::string execute(const std::string& line) {
    std::istringstream words(line);
    std::string name, source;
    unsigned a = 0, b = 0;

    words >> name >> a;
    if (name == "open")
      words >> source;
    else
      words >> b;
    ended_ = answered_ = 0;
    if (name == "open")
      open(a, source);
    else if (name == "close")
      close(a);
    else if (name == "wait")
      wait(a, milliseconds(1000 * b));
    else if (name == "drip")
      drip(milliseconds(1000 * a));
    else
      throw std::invalid_argument("no such command");
    look();
    return format("open=%zu ended=%u answered=%u", victims_.size(), ended_, answered_);
  }

private:
  void open(unsigned count, const std::string& source) {
    while (count--)
      try {
        victims_.push_back({peer::Stream::connect(address_, port_, 0, source)});
      } catch (const std::system_error& e) {
        if (e.code().value() != ECONNRESET)
          throw;
        ended_++; /* the listener reset it within connect() */
      }
  }

  void close(unsigned count) {
    victims_.erase(victims_.begin(), victims_.begin() + std::min<std::ptrdiff_t>(count, std::ssize(victims_)));
  }

  /** Drops the connections that the other side has ended. */
  void look() {
    std::erase_if(victims_, [this](Victim& v) {
      peer::Bytes answer;
      const auto end = v.stream.receive(answer, Deadline(milliseconds(0)));

      answered_ += !answer.empty();
      ended_ += end == peer::End::Fin || end == peer::End::Reset;
      return end == peer::End::Fin || end == peer::End::Reset;
    });
  }

  void wait(std::size_t most, milliseconds budget) {
    const Deadline deadline(budget);

    for (look(); victims_.size() > most; look()) {
      if (deadline.passed())
        throw std::runtime_error(format("%zu are open still", victims_.size()));
      std::this_thread::sleep_for(milliseconds(50)); /* no poll(2): that is slow with thousands of descriptors */
    }
  }

  void drip(milliseconds budget) {
    const Deadline deadline(budget);

    for (look(); !victims_.empty() && !deadline.passed(); look()) {
      for (auto& v : victims_)
        sendOctet(v);
      std::this_thread::sleep_for(milliseconds(1000));
    }
  }

  void sendOctet(Victim& v) {
    try {
      v.stream.send(peer::View(request_).subspan(v.sent++ % request_.size(), 1));
    } catch (const std::system_error&) {
      /* the connection has ended: look() will drop it */
    }
  }

  const std::string address_, port_;
  peer::Bytes request_;
  std::vector<Victim> victims_;
  unsigned ended_ = 0, answered_ = 0;
};

/** Raises the limit of descriptors to its maximum. */
void raiseLimit() {
  rlimit limit;

  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << help;
    return 64;
  }
  raiseLimit();
  Flood flood(argv[1], argv[2]);
  for (std::string line; std::getline(std::cin, line);)
    try {
      std::cout << "= ok " << flood.execute(line) << std::endl;
    } catch (const std::exception& e) {
      std::cout << "= error " << e.what() << std::endl;
    }
  return 0;
}

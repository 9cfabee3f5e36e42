// SPDX-License-Identifier: GPL-2.0
/**
 * @file rdma_stream.cpp
 * @brief rdma-stream: a continuous transfer between two processes, compared on arrival, for tests that remove a device or a module
 * meanwhile.
 */
#include <algorithm>
#include <csignal>
#include <iostream>

#include "../common/options.hpp"
#include "pair.hpp"

namespace {

using test::Deadline;
using test::format;
using test::milliseconds;

struct Arguments {
  std::string command, address, port;
  std::size_t size = 16384;
  unsigned depth = 16, seconds = 0;
  std::uint64_t messages = 0;
  bool reverse = false, stubborn = false;
};

/** Returns the exit status when no transfer is to be run. */
std::optional<int> parse(int argc, char** argv, Arguments& a) {
  test::Options options(
      R"(usage: rdma-stream listen ADDR PORT [OPTIONS]
       rdma-stream connect ADDR PORT [OPTIONS]

The connecting side SENDs; the listening side compares the messages that it receives.

)",
      {{"size", "N", "octets of a message, the same on both sides (16384)", test::number(a.size)},
       {"depth", "N", "messages outstanding; an even number, the same on both sides (16)", test::number(a.depth)},
       {"seconds", "N", "time for which the sending side sends, 0: until the connection ends (0)", test::number(a.seconds)},
       {"messages", "N",
        "messages that the sending side sends, a multiple of half the depth, 0: no limit (0); it ends when all are compared",
        test::number(a.messages)},
       {"reverse", nullptr, "the same on both sides: the listening side sends", test::flag(a.reverse)},
       {"stubborn", nullptr, "when the connection or the device is gone, keep all objects and continue to poll, until killed",
        test::flag(a.stubborn)}},
      R"(
Prints "first" when the first message has arrived or left, and the reason for the end: time, sent, disconnected, removed, or a
completion's status. SIGINT ends the sending side as --messages does: after all messages that it has sent are compared.
Exit status: 0 orderly end, 1 data differs or an error without a removal as its cause, 64 usage.
)");
  std::vector<std::string> operands;

  if (const auto status = options.parse(argc, argv, operands))
    return status;
  if (operands.size() != 3 || (operands[0] != "listen" && operands[0] != "connect")) {
    options.print(stderr);
    return 64;
  }
  a.command = operands[0];
  a.address = operands[1];
  a.port = operands[2];
  return {};
}

volatile std::sig_atomic_t interrupted;

/** A shell that is not interactive ignores SIGINT in the programs that it starts in the background; this handler replaces that. */
void catchInterrupt() {
  struct sigaction action = {};

  action.sa_handler = [](int) { interrupted = 1; };
  sigaction(SIGINT, &action, nullptr);
}

/** Messages cycle through a few contents, so that a lost or duplicated one is detected. */
constexpr unsigned contents = 7;

/**
 * One side of the stream. A message without a receive would wait, or end the connection. So the listener grants credits: one empty
 * message for each half of the ring whose receives it has posted again.
 */
class Side {
public:
  Side(const Arguments& a, rdma::Channel& channel, std::unique_ptr<rdma::Id> id, bool sending)
      : arguments_(a), channel_(channel), sending_(sending), cq_(id->context(), static_cast<int>(4 * a.depth + 16)),
        end_(std::move(id), {.cq = &cq_}), region_(end_.pd(), a.depth * a.size, rdma::localOnly), last_(a.messages) {
    for (unsigned i = 0; i < contents; i++) {
      messages_[i].resize(a.size);
      test::fill(messages_[i], i);
    }
    for (unsigned i = 0; i < a.depth; i++)
      sending_ ? end_.postRecv(control, {}) : postRecv(i);
  }

  rdma_cm_id* id() const { return end_.id->get(); }
  std::uint64_t count() const { return done_; }
  void disconnect() { end_.disconnect(); }

  /** Runs until the time is over or the connection ends; returns the reason. */
  std::string run() {
    const Deadline limit = Deadline::exactly(milliseconds(arguments_.seconds ? arguments_.seconds * 1000 : 1 << 30));

    for (unsigned i = 0; sending_ && i < arguments_.depth; i++)
      postSend(i);
    cq_.arm();
    for (;;) {
      const auto list = cq_.poll();
      const std::string why = completions(list);
      if (!why.empty())
        return why;
      if (sending_ && interrupted)
        last_ = sent_;
      if (sending_ && last_ && confirmed_ >= last_) {
        done_ = confirmed_; /* the last completions may not have been polled yet */
        return "sent";
      }
      if (limit.passed())
        return "time";
      if (!list.empty())
        continue; /* poll again, because more may have completed */
      const std::string event = wait(limit);
      if (!event.empty())
        return event;
    }
  }

  /** Keeps all objects, like a program that only polls its completion queue. */
  [[noreturn]] void pollForEver() {
    for (;;) {
      cq_.poll();
      ::poll(nullptr, 0, 10);
    }
  }

private:
  static constexpr std::uint64_t control = 1ULL << 40; /* id of messages without data */

  std::span<std::uint8_t> slot(std::uint64_t i) { return region_.memory.span(i * arguments_.size, arguments_.size); }
  ibv_sge sge(std::uint64_t i) { return region_.sge(i * arguments_.size, arguments_.size); }

  void postRecv(std::uint64_t i) { end_.postRecv(i, {sge(i)}); }

  void postSend(std::uint64_t i) {
    if (last_ && sent_ == last_)
      return;
    std::ranges::copy(messages_[sent_++ % contents], slot(i).begin());
    end_.postSend(i, {sge(i)});
  }

  /** The sending side: half of the other side's receives are posted again, so their slots here are free. */
  void takeCredit() {
    end_.postRecv(control, {});
    confirmed_ += arguments_.depth / 2;
    for (unsigned i = 0; i < arguments_.depth / 2; i++)
      postSend(next_++ % arguments_.depth);
  }

  void receive(const ibv_wc& wc) {
    if (!std::ranges::equal(slot(wc.wr_id).first(wc.byte_len), messages_[done_ % contents]))
      throw test::Failure(format("message %llu came changed", static_cast<unsigned long long>(done_)));
    if (!done_++)
      std::cout << "first" << std::endl;
    postRecv(wc.wr_id);
    if (done_ % (arguments_.depth / 2) == 0)
      end_.postSend(control, {});
  }

  void complete(const ibv_wc& wc) {
    const bool isControl = wc.wr_id == control;

    if (!sending_ && !isControl)
      receive(wc);
    else if (sending_ && isControl)
      takeCredit();
    else if (sending_ && !done_++)
      std::cout << "first" << std::endl;
  }

  std::string completions(const std::vector<ibv_wc>& list) {
    for (const auto& wc : list) {
      if (wc.status != IBV_WC_SUCCESS)
        return rdma::statusName(wc.status);
      complete(wc);
    }
    return "";
  }

  /** Waits for a completion, or for a connection manager event that ends the stream. */
  std::string wait(const Deadline& limit) {
    pollfd fds[] = {{cq_.fd(), POLLIN, 0}, {channel_.fd(), POLLIN, 0}};

    if (::poll(fds, 2, limit.left()) < 0 && errno != EINTR)
      test::throwErrno("poll");
    if (fds[0].revents & (POLLERR | POLLHUP)) /* the queue's device has been removed */
      return "removed";
    if (fds[0].revents & POLLIN && cq_.notified(Deadline(milliseconds(0))))
      cq_.arm();
    const auto event = fds[1].revents ? channel_.next(Deadline(milliseconds(0))) : std::nullopt;
    if (event && event->type == RDMA_CM_EVENT_DISCONNECTED)
      return "disconnected";
    return event && event->type == RDMA_CM_EVENT_DEVICE_REMOVAL ? "removed" : "";
  }

  const Arguments& arguments_;
  rdma::Channel& channel_;
  bool sending_;
  rdma::Cq cq_;
  rdma::End end_;
  rdma::Region region_;
  rdma::Bytes messages_[contents];
  std::uint64_t last_; /* messages to send, 0: no limit */
  std::uint64_t sent_ = 0, done_ = 0, next_ = 0, confirmed_ = 0;
};

/** Returns the reason for the end. After the removal of a device a refused post may be the first sign of it. */
std::string runToEnd(Side& side) {
  try {
    return side.run();
  } catch (const std::system_error& e) {
    return std::string("refused: ") + e.what();
  }
}

int finish(const Arguments& a, Side& side) {
  const std::string why = runToEnd(side);

  std::cout << "ended: " << why << " after " << side.count() << " messages" << std::endl;
  if (why == "time" || why == "sent")
    side.disconnect();
  else if (a.stubborn)
    side.pollForEver();
  return 0;
}

int listen(const Arguments& a) {
  rdma::Server server({a.address, a.port, {}, {}});
  const auto request = server.request(Deadline(milliseconds(1 << 30)));
  rdma_conn_param param = rdma::connectParam({});
  Side side(a, server.channel, std::make_unique<rdma::Id>(request.id), a.reverse);

  rdma::check(rdma_accept(side.id(), &param), "rdma_accept");
  server.channel.expect(RDMA_CM_EVENT_ESTABLISHED);
  return finish(a, side);
}

int connect(const Arguments& a) {
  rdma::Channel channel;
  rdma::Address address(a.address, a.port);
  auto id = std::make_unique<rdma::Id>(channel);
  rdma_conn_param param = rdma::connectParam({});

  rdma::resolve(*id, channel, address);
  Side side(a, channel, std::move(id), !a.reverse);
  rdma::check(rdma_connect(side.id(), &param), "rdma_connect");
  channel.expect(RDMA_CM_EVENT_ESTABLISHED);
  return finish(a, side);
}

} // namespace

int main(int argc, char** argv) {
  Arguments arguments;

  try {
    if (const auto status = parse(argc, argv, arguments))
      return *status;
    if ((arguments.command == "connect") != arguments.reverse)
      catchInterrupt();
    return arguments.command == "listen" ? listen(arguments) : connect(arguments);
  } catch (const std::invalid_argument& e) {
    std::cerr << "rdma-stream: " << e.what() << std::endl;
    return 64;
  } catch (const std::exception& e) {
    std::cout << "rdma-stream: " << e.what() << std::endl;
    return 1;
  }
}

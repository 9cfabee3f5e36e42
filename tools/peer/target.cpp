// SPDX-License-Identifier: GPL-2.0
#include "target.hpp"

#include <csignal>
#include <fcntl.h>
#include <sstream>
#include <sys/wait.h>

namespace peer {

using test::Deadline;
using test::Fd;
using test::throwErrno;

static constexpr test::milliseconds answerBudget{15000};

Line Line::parse(const std::string& text) {
  Line line;
  std::istringstream words(text.substr(std::min<std::size_t>(2, text.size())));
  std::string word;

  line.text = text;
  words >> line.kind;
  while (words >> word) {
    const auto equals = word.find('=');

    if (equals != std::string::npos)
      line.values[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return line;
}

std::string Line::at(const std::string& key) const {
  const auto it = values.find(key);

  if (it == values.end())
    throw test::Failure("no " + key + " in: " + text);
  return it->second;
}

std::uint64_t Line::number(const std::string& key) const {
  return std::stoull(at(key), nullptr, 0);
}

static std::pair<Fd, Fd> makePipe() {
  int ends[2];

  if (pipe2(ends, O_CLOEXEC))
    throwErrno("pipe");
  return {Fd(ends[0]), Fd(ends[1])};
}

Target::Target(const std::string& command) {
  auto [childIn, ourOut] = makePipe();
  auto [ourIn, childOut] = makePipe();

  child_ = fork();
  if (child_ < 0)
    throwErrno("fork");
  if (child_ == 0) {
    dup2(childIn.get(), 0);
    dup2(childOut.get(), 1);
    execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), nullptr);
    _exit(127);
  }
  in_ = std::move(ourIn);
  out_ = std::move(ourOut);
}

Target::~Target() {
  out_.close(); /* end of input: rdma-target cleans up and exits */
  in_.close();
  if (child_ > 0)
    waitpid(child_, nullptr, 0);
}

bool Target::readLine(const Deadline& deadline) {
  char chunk[4096];

  if (!present())
    throw test::Skip("needs rdma-target on the device");
  if (!test::waitFor(in_.get(), POLLIN, deadline))
    return false;
  const auto n = ::read(in_.get(), chunk, sizeof(chunk));
  if (n <= 0)
    throw test::Failure("rdma-target has exited");
  partial_.append(chunk, static_cast<std::size_t>(n));
  for (std::size_t end; (end = partial_.find('\n')) != std::string::npos; partial_.erase(0, end + 1)) {
    const Line line = Line::parse(partial_.substr(0, end));

    (line.text.starts_with("= ") ? answers_ : events_).push_back(line);
  }
  return true;
}

Line Target::command(const std::string& command) {
  const std::string line = command + "\n";
  const Deadline deadline(answerBudget);

  if (!present())
    throw test::Skip("needs rdma-target on the device");
  if (::write(out_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw test::Failure("rdma-target takes no commands");
  while (answers_.empty())
    if (!readLine(deadline))
      throw test::Failure("rdma-target does not answer: " + command);
  const Line answer = answers_.front();
  answers_.pop_front();
  if (answer.kind != "ok")
    throw test::Failure("rdma-target: " + command + ": " + answer.text);
  return answer;
}

std::optional<Line> Target::takeEvent(const std::string& kind) {
  for (auto it = events_.begin(); it != events_.end(); ++it) {
    if (it->kind == kind) {
      const Line line = *it;

      events_.erase(it);
      return line;
    }
  }
  return {};
}

std::optional<Line> Target::event(const std::string& kind, const Deadline& deadline) {
  for (;;) {
    if (auto line = takeEvent(kind))
      return line;
    if (!readLine(deadline))
      return {};
  }
}

Line Target::expectEvent(const std::string& kind) {
  const auto line = event(kind, Deadline(answerBudget));

  if (line)
    return *line;
  std::string others;
  for (const auto& e : events_)
    others += " [" + e.text + "]";
  throw test::Failure("the application saw no " + kind + "; it saw:" + (others.empty() ? " nothing" : others));
}

} // namespace peer

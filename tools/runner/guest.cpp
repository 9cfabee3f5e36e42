// SPDX-License-Identifier: GPL-2.0
#include "guest.hpp"

#include <csignal>
#include <fstream>
#include <iostream>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/fd.hpp"
#include "results.hpp"

namespace runner {

namespace fs = std::filesystem;

namespace {

volatile std::sig_atomic_t signalled;

/** A handler, and not SIG_IGN, because a program that is started keeps ignored signals. */
void catchSignals() {
  struct sigaction action = {};

  action.sa_handler = [](int number) { signalled = number; };
  for (const int number : {SIGHUP, SIGINT, SIGTERM, SIGPIPE})
    sigaction(number, &action, nullptr);
}

void must(int error, const char* what) {
  if (error)
    throw std::system_error(error, std::generic_category(), what);
}

/** A runner in a session of its own: one that does not react is killed with all that it has started. */
class Guest {
public:
  Guest(std::vector<std::string> command, const std::string& errors) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    std::vector<char*> words;
    int ends[2];

    must(pipe2(ends, O_CLOEXEC) ? errno : 0, "pipe");
    output_ = test::Fd(ends[0]);
    const test::Fd input(ends[1]);
    for (auto& word : command)
      words.push_back(word.data());
    words.push_back(nullptr);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    posix_spawn_file_actions_addopen(&files, 2, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    const int error = posix_spawn(&pid_, words[0], &files, &attributes, words.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    must(error, words[0]);
  }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  /** Ends what still runs: asks first. The group's number stays taken until its first process is reaped. */
  ~Guest() {
    if (!closed_)
      kill(-pid_, SIGTERM);
    for (int i = 0; i < 100 && !ended(); i++)
      usleep(100000);
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  enum class Event { Line, Quiet, Closed };
  /** Waits up to a second for a line. A part of a line remains for later. */
  Event wait(std::string& line) {
    for (;;) {
      if (const std::size_t end = read_.find('\n'); end != read_.npos) {
        line = read_.substr(0, end);
        read_.erase(0, end + 1);
        return Event::Line;
      }
      pollfd ready{output_.get(), POLLIN, 0};
      const int count = poll(&ready, 1, 1000);
      if (signalled)
        throw std::runtime_error("ended by signal " + std::to_string(signalled));
      if (count <= 0)
        return Event::Quiet;
      char part[4096];
      const ssize_t n = ::read(output_.get(), part, sizeof(part));
      closed_ = n <= 0;
      if (closed_)
        return Event::Closed;
      read_.append(part, static_cast<std::size_t>(n));
    }
  }

private:
  bool ended() const {
    siginfo_t info = {};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
  }

  pid_t pid_ = -1;
  test::Fd output_;
  std::string read_;
  bool closed_ = false;
};

/** Milliseconds of the guest's time. The runner replaces the file's text now and then; an empty file is about to get it. */
class Watch {
public:
  explicit Watch(const fs::path& out) : file_(out / "own-time") { fs::remove(file_); }
  OwnTime now() {
    OwnTime read;
    if (std::ifstream in(file_); in >> read)
      now_ = read;
    return now_;
  }

private:
  const fs::path file_;
  OwnTime now_ = 0;
};

std::uintmax_t length(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  return error ? 0 : size;
}

/** Gives the guest the next command, or an empty file when none is left. The guest may look at any time: the file appears whole. */
void giveNext(Series& series, const fs::path& out) {
  const Command* const command = series.take();

  if (!(std::ofstream(out / "next.new") << (command ? command->line : "") << std::flush))
    throw std::runtime_error("cannot write " + (out / "next.new").string());
  fs::rename(out / "next.new", out / "next");
}

/** Takes what the guest does, until it has ended or must be ended. */
void follow(Series& series, Guest& guest, Watch& watch, const fs::path& out) {
  std::string line;

  for (auto event = guest.wait(line); event != Guest::Event::Closed; event = guest.wait(line)) {
    const Command* const current = series.current();

    if (event == Guest::Event::Line) {
      const auto kind = series.line(line, watch.now());
      if (kind == Series::Kind::Ready)
        giveNext(series, out);
      else if (kind == Series::Kind::End)
        std::cout << series.result() << std::endl;
      else if (kind == Series::Kind::Other)
        std::cerr << line << std::endl;
      continue;
    }
    const auto step = series.step(watch.now(), length(out / (current ? current->name + ".log" : "console")));
    if (step == Series::Step::Kill)
      return;
    if (step == Series::Step::Ask)
      std::ofstream(out / ("end-" + current->name));
  }
}

/** Runs commands in a guest, as far as it goes; returns false when it has not begun one. */
bool runGuest(Series& series, const fs::path& runner, const fs::path& out, const std::string& console) {
  Watch watch(out);
  std::error_code none;

  fs::remove(out / "next");
  series.boots();
  {
    Guest guest({runner, "-n", "-t", std::to_string(series.guestSeconds()), "-o", out, "--", "bash /run/vm/loop"}, out / "runner");
    follow(series, guest, watch, out);
  }
  fs::rename(out / "console", console, none);
  const std::string said = "\n" + lastLines(out / "runner", 40) + lastLines(console, 40);
  const std::string name = series.current() ? series.current()->name : "";
  switch (series.ends(watch.now())) {
  case Series::Outcome::Between:
    return true;
  case Series::Outcome::Under:
    std::ofstream(out / (name + ".log"), std::ios::app) << said;
    std::cout << series.result() << std::endl;
    return true;
  default:
    std::cerr << said;
    return false;
  }
}

} // namespace

int run(Series& series, const fs::path& runner, const fs::path& out) {
  catchSignals();
  for (int guest = 1; series.take(); guest++)
    if (!runGuest(series, runner, out, (out / "console.").string() + std::to_string(guest)))
      return 1;
  return 0;
}

} // namespace runner

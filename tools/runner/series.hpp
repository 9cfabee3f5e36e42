// SPDX-License-Identifier: GPL-2.0
/** @file series.hpp @brief A series of commands in few guests: what becomes of each command, and when to end a guest. */
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <istream>
#include <optional>
#include <string>

namespace runner {

/** Milliseconds of the guest's own time: see scripts/own-time-lib.sh. */
using OwnTime = std::int64_t;

/** A command for the guest. */
struct Command {
  std::string name;
  OwnTime limit;    ///< for which it may print nothing
  std::string line; ///< the line of the list, as the guest's loop reads it
};

/** Takes the command NAME from a list that several series share; false when another series has taken it. */
using Claim = std::function<bool(const std::string& name)>;

/**
 * Decides. The caller starts guests and passes on what they print; it knows their time. A guest prints "ready", gets a command, and
 * prints "start NAME" and "end<tab>NAME<tab>STATUS<tab>SECONDS" for it. It ends after a command that must not have others behind
 * it.
 */
class Series {
public:
  /**
   * @param list lines of NAME<tab>SECONDS<tab>COMMAND
   * @param slowness factor of the time that the kernel takes between commands
   * @param claim is called once for each command, before it is executed
   */
  Series(std::istream& list, int slowness, Claim claim);

  /** Takes the next command; the same again while it has not ended. nullptr: none is left, and no guest needs to boot. */
  const Command* take();

  /** The command that the guest executes; nullptr: none. */
  const Command* current() const { return running_ ? &left_.front() : nullptr; }

  /** The most seconds of its own time that the next guest may need for all commands that are left. */
  OwnTime guestSeconds() const;

  /** A new guest boots. */
  void boots();

  enum class Kind { Other, Ready, Start, End };
  /** The guest has printed @p line. Returns what it means: Ready: give it take(); End: the command's result is in result(). */
  Kind line(const std::string& line, OwnTime now);
  /** NAME<tab>STATUS<tab>SECONDS */
  const std::string& result() const { return result_; }

  enum class Step { Wait, Ask, Kill };
  /**
   * Call it now and then. A command is late when nothing was printed for its limit, or when it has run for ten times as long: it is
   * asked to end. The guest is killed when that has not helped after a minute, or when the kernel itself is late.
   * @param printed the length of the log of the command, or without one of the kernel's
   */
  Step step(OwnTime now, std::uintmax_t printed);

  enum class Outcome { Between, Under, Useless };
  /**
   * The guest has ended: between commands, or under one, whose status is then 125 (the kernel died) or 124 (step() has returned
   * Kill). A guest that has not begun a single command is useless, and another would be, too.
   */
  Outcome ends(OwnTime now);

private:
  void limitNext(OwnTime limit, OwnTime now);
  void drop();

  const Claim claim_;
  std::deque<Command> left_; ///< the first is taken when taken_ is set; another series may have taken any other
  bool taken_ = false;
  const OwnTime kernelLimit_, askedLimit_;
  bool running_ = false, worked_ = false, killed_ = false;
  std::string result_;
  OwnTime limit_ = 0, begun_ = 0, progress_ = 0; ///< of the command, or of the kernel between two
  std::optional<OwnTime> asked_;
  std::uintmax_t printed_ = 0;
};

} // namespace runner

// SPDX-License-Identifier: GPL-2.0
/**
 * @file target.hpp
 * @brief The RDMA application on the device under test (`rdma-target`), run as a child and spoken to in lines.
 *
 * A command is one line and gets one answer, "= key=value ..." or "= error TEXT". Whatever happens unasked comes as
 * events: "! KIND key=value ...". tools/verbs/rdma_target.cpp lists both.
 */
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>

#include "../common/fd.hpp"
#include "bytes.hpp"

namespace peer {

/** An answer or an event, taken apart. */
struct Line {
  std::string kind; /**< first word: of an event its kind, of an answer "ok" or "error" */
  std::map<std::string, std::string> values;
  std::string text; /**< the whole line */

  static Line parse(const std::string& text);
  /** The value of @p key; throws test::Failure when there is none. */
  std::string at(const std::string& key) const;
  std::uint64_t number(const std::string& key) const;
};

/** A child process that speaks the line protocol. */
class Target {
public:
  /** Nobody: a listener that accepts by itself. What asks it for anything is skipped. */
  Target() = default;
  /** @param command shell command that runs rdma-target where the device under test is */
  explicit Target(const std::string& command);
  ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  /** False: only the wire can be looked at. */
  bool present() const { return child_ > 0; }

  /** Sends @p command; returns the answer, throws test::Failure when it is an error. */
  Line command(const std::string& command);

  /**
   * Takes the first event of @p kind out of the queue, waiting for it. Events of other kinds stay.
   * @returns nothing when the deadline passed
   */
  std::optional<Line> event(const std::string& kind, const test::Deadline& deadline);

  /** As event(), but of those that have come. */
  std::optional<Line> takeEvent(const std::string& kind);

  /** As event(), but its absence fails the case. */
  Line expectEvent(const std::string& kind);

  /** Drops all events that came so far. */
  void forget() { events_.clear(); }

private:
  bool readLine(const test::Deadline& deadline);

  pid_t child_ = -1;
  test::Fd in_, out_;
  std::string partial_;
  std::deque<Line> answers_, events_;
};

} // namespace peer

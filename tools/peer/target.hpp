// SPDX-License-Identifier: GPL-2.0
/**
 * @file target.hpp
 * @brief The RDMA application on the device under test (`rdma-target`), a child process that communicates in lines.
 *
 * A command is one line and gets one answer, "= key=value ..." or "= error TEXT". Unsolicited lines are
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

/** A parsed answer or event. */
struct Line {
  std::string kind; /**< first word: an event's kind; "ok" or "error" for an answer */
  std::map<std::string, std::string> values;
  std::string text; /**< the whole line */

  static Line parse(const std::string& text);
  /** The value of @p key; throws test::Failure without it. */
  std::string at(const std::string& key) const;
  std::uint64_t number(const std::string& key) const;
};

/** A child process that speaks the line protocol. */
class Target {
public:
  /** No child process: the device has a listener that accepts by itself. A case that sends a command is skipped. */
  Target() = default;
  /** @param command shell command that runs rdma-target on the device under test */
  explicit Target(const std::string& command);
  ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  /** False when only the wire can be observed. */
  bool present() const { return child_ > 0; }

  /** Sends @p command; returns the answer, throws test::Failure when it is an error. */
  Line command(const std::string& command);

  /**
   * Waits for the first event of @p kind and takes it out of the queue. Events of other kinds stay.
   * @returns nothing when the deadline has passed
   */
  std::optional<Line> event(const std::string& kind, const test::Deadline& deadline);

  /** As event(), but only for events that have already arrived. */
  std::optional<Line> takeEvent(const std::string& kind);

  /** As event(), but fails the case without the event. */
  Line expectEvent(const std::string& kind);

  /** Drops all events that have arrived so far. */
  void forget() { events_.clear(); }

private:
  bool readLine(const test::Deadline& deadline);

  pid_t child_ = -1;
  test::Fd in_, out_;
  std::string partial_;
  std::deque<Line> answers_, events_;
};

} // namespace peer

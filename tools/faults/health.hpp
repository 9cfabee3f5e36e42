// SPDX-License-Identifier: GPL-2.0
/** @file health.hpp @brief What must be as it was when an operation has been made to fail in every way. */
#pragma once

#include <string>
#include <vector>

namespace faults {

/** What the system counts: objects of the RDMA core, TCP sockets, pinned pages. */
class Resources {
public:
  /** What is counted now. */
  Resources();

  /** Waits until the counts are these again; returns what is left over at the end of the wait, "" when nothing is. */
  std::string waitUntilBack() const;

private:
  std::string more(const Resources& now) const;

  std::vector<std::pair<std::string, long>> counts_;
};

/** Memory that nothing points to: the stack that allocated it, for each of kmemleak's reports. Takes five seconds, the age that it
 * wants. */
std::vector<std::string> leaks();

} // namespace faults

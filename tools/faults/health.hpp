// SPDX-License-Identifier: GPL-2.0
/** @file health.hpp @brief Resources that must be back to their counts after an operation has failed in every way. */
#pragma once

#include <string>
#include <vector>

namespace faults {

/** The system's counts: objects of the RDMA core, TCP sockets, pinned pages. */
class Resources {
public:
  /** Takes the counts now. */
  Resources();

  /** Waits until the counts are these again; returns the excess at the end of the wait, "" without any. */
  std::string waitUntilBack() const;

private:
  std::string more(const Resources& now) const;

  std::vector<std::pair<std::string, long>> counts_;
};

/** Memory without any pointer to it: for each of kmemleak's reports the stack that allocated it. Takes five seconds, the minimum
 * age for a report. */
std::vector<std::string> leaks();

} // namespace faults

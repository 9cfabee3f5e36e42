// SPDX-License-Identifier: GPL-2.0
/**
 * @file fd.hpp
 * @brief A file descriptor that closes itself, and poll(2) with a deadline.
 */
#pragma once

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "testcase.hpp"

namespace test {

/** Throws errno as a std::system_error; @p what names the operation that failed. */
[[noreturn]] inline void throwErrno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/** Owns a file descriptor. */
class Fd {
public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close() {
    if (fd_ >= 0)
      ::close(std::exchange(fd_, -1));
  }

private:
  int fd_;
};

/** Waits until @p fd has one of @p events; false when the deadline passed. */
inline bool waitFor(int fd, short events, const Deadline& deadline) {
  pollfd p{fd, events, 0};

  for (;;) {
    const int n = ::poll(&p, 1, deadline.left());

    if (n > 0)
      return true;
    if (n == 0)
      return false;
    if (errno != EINTR)
      throwErrno("poll");
  }
}

} // namespace test

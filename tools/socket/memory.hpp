// SPDX-License-Identifier: GPL-2.0
/** @file memory.hpp @brief Memory of a program that a call cannot read, or not yet. */
#pragma once

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "socket.hpp"

namespace sockets {

/** An inaccessible page behind an accessible one. */
class Hole {
public:
  Hole() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    base_ = mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED || mprotect(static_cast<char*>(base_) + page_, page_, PROT_NONE))
      test::throwErrno("mmap");
  }
  ~Hole() { munmap(base_, 2 * page_); }
  Hole(const Hole&) = delete;
  Hole& operator=(const Hole&) = delete;

  /** The last @p n accessible octets. */
  void* before(std::size_t n) const { return static_cast<char*>(base_) + page_ - n; }

private:
  std::size_t page_;
  void* base_;
};

/** A page that is missing until come() provides it: a call that reads it sleeps until then. */
class Missing {
public:
  Missing()
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        fd_(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK))) {
    uffdio_api api{};
    uffdio_register range{};

    base_ = mmap(nullptr, page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!fd_ && errno == ENOSYS)
      throw test::Skip("no userfaultfd");
    api.api = UFFD_API;
    range.range = this->range();
    range.mode = UFFDIO_REGISTER_MODE_MISSING;
    if (base_ == MAP_FAILED || !fd_ || ioctl(fd_.get(), UFFDIO_API, &api) || ioctl(fd_.get(), UFFDIO_REGISTER, &range))
      test::throwErrno("userfaultfd");
  }
  ~Missing() {
    come();
    munmap(base_, page_);
  }
  Missing(const Missing&) = delete;
  Missing& operator=(const Missing&) = delete;

  void* address() const { return base_; }

  /** Waits until @p n threads sleep on the page. */
  void awaitSleepers(unsigned n) const {
    const test::Deadline deadline(patience);
    uffd_msg message;

    while (n) {
      test::expect(test::waitFor(fd_.get(), POLLIN, deadline), "not all calls sleep");
      if (read(fd_.get(), &message, sizeof(message)) == sizeof(message))
        n--;
    }
  }

  void come() const {
    uffdio_zeropage zero{};

    zero.range = range();
    ioctl(fd_.get(), UFFDIO_ZEROPAGE, &zero);
  }

private:
  uffdio_range range() const { return {reinterpret_cast<std::uintptr_t>(base_), page_}; }

  std::size_t page_;
  test::Fd fd_;
  void* base_;
};

} // namespace sockets

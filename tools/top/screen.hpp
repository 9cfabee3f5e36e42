// SPDX-License-Identifier: GPL-2.0
/** @file screen.hpp @brief The terminal while the program uses it. */
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace top {

/** A screen full of lines; arrow and page keys scroll. The destructor restores the terminal. */
class Screen {
public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /** Shows @p title and @p lines until @p end; returns false when the user quits. */
  bool show(const std::string& title, const std::vector<std::string>& lines, std::chrono::steady_clock::time_point end);

private:
  void draw(const std::string& title, const std::vector<std::string>& lines);

  std::size_t first_ = 0; /* line at the top */
  std::size_t left_ = 0;  /* column at the left */
};

} // namespace top

// SPDX-License-Identifier: GPL-2.0
#include "screen.hpp"

#include <algorithm>
#include <clocale>

#include <curses.h>

namespace top {

Screen::Screen() {
  std::setlocale(LC_CTYPE, "");
  initscr(); /* also restores the terminal when a signal ends the program */
  cbreak();
  noecho();
  curs_set(0);
  keypad(stdscr, TRUE);
}

Screen::~Screen() {
  endwin();
}

void Screen::draw(const std::string& title, const std::vector<std::string>& lines) {
  const auto room = static_cast<std::size_t>(std::max(0, LINES - 1));

  std::size_t width = 0;
  for (const auto& line : lines)
    width = std::max(width, line.size());
  first_ = std::min(first_, lines.size() > room ? lines.size() - room : 0);
  left_ = std::min(left_, width - std::min<std::size_t>(width, 1));
  erase();
  attron(A_REVERSE);
  mvaddnstr(0, 0, title.c_str(), COLS);
  attroff(A_REVERSE);
  for (std::size_t i = 0; i < room && first_ + i < lines.size(); i++)
    if (const auto& line = lines[first_ + i]; left_ < line.size())
      mvaddnstr(static_cast<int>(i) + 1, 0, line.c_str() + left_, COLS);
  refresh();
}

static constexpr std::size_t columns = 8; /* that an arrow key scrolls */

bool Screen::show(const std::string& title, const std::vector<std::string>& lines, std::chrono::steady_clock::time_point end) {
  for (;;) {
    draw(title, lines);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    timeout(static_cast<int>(std::max<decltype(left)>(left, 0))); /* read pending keys even after the deadline */
    const auto page = static_cast<std::size_t>(std::max(1, LINES - 2));
    switch (getch()) {
    case ERR: /* timeout */
      return true;
    case 'q':
      return false;
    case KEY_DOWN:
      first_++;
      break;
    case KEY_UP:
      first_ -= std::min<std::size_t>(first_, 1);
      break;
    case KEY_RIGHT:
      left_ += columns;
      break;
    case KEY_LEFT:
      left_ -= std::min(left_, columns);
      break;
    case KEY_NPAGE:
      first_ += page;
      break;
    case KEY_PPAGE:
      first_ -= std::min(first_, page);
      break;
    default: /* the window was resized, or the key has no function */
      break;
    }
  }
}

} // namespace top

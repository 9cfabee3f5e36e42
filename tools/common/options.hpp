// SPDX-License-Identifier: GPL-2.0
/**
 * @file options.hpp
 * @brief The options of a program as one table: getopt_long(3) parses by it, and --help prints it.
 */
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <getopt.h>

namespace test {

/** One option. */
struct Option {
  const char* name;
  const char* value; /**< name of its value in --help; nullptr: it takes none */
  const char* help;
  /** Stores the value; throws std::invalid_argument with a description of the values that are valid. */
  std::function<void(const std::string& value)> set;
  char letter = 0; /**< its short form */

  /** Its names, as --help shows them. */
  std::string heading() const {
    return (letter ? std::string{'-', letter} + ", --" : "--") + name + (value ? std::string(" ") + value : "");
  }
};

inline auto flag(bool& target) {
  return [&target](const std::string&) { target = true; };
}

template <class T> auto text(T& target) {
  return [&target](const std::string& value) { target = value; };
}

/** Parses a decimal number; an integer may also be hexadecimal with 0x. */
template <class T>
auto number(T& target, std::type_identity_t<T> least = 0, std::type_identity_t<T> most = std::numeric_limits<T>::max()) {
  return [&target, least, most](const std::string& text) {
    std::conditional_t<std::is_floating_point_v<T>, double, unsigned long long> value{};
    using Value = decltype(value);
    const char *begin = text.data(), *end = begin + text.size();
    std::from_chars_result result;

    if constexpr (std::is_floating_point_v<T>)
      result = std::from_chars(begin, end, value);
    else
      result = text.starts_with("0x") ? std::from_chars(begin + 2, end, value, 16) : std::from_chars(begin, end, value);
    if (result.ec != std::errc{} || result.ptr != end ||
        !(value >= static_cast<Value>(least) && value <= static_cast<Value>(most)) /* nor NaN */)
      throw std::invalid_argument("a number from " + std::to_string(static_cast<unsigned long long>(least)) +
                                  (sizeof(T) > 2 && most == std::numeric_limits<T>::max()
                                       ? " on"
                                       : " to " + std::to_string(static_cast<unsigned long long>(most))));
    target = static_cast<T>(value);
  };
}

/** Parses one of a few words; each stands for a value. */
template <class T> auto choice(T& target, std::vector<std::pair<std::string, std::type_identity_t<T>>> words) {
  return [&target, words](const std::string& text) {
    std::string list;

    for (std::size_t i = 0; i < words.size(); i++) {
      if (words[i].first == text) {
        target = words[i].second;
        return;
      }
      list += (!i ? "" : i + 1 < words.size() ? ", " : " or ") + words[i].first;
    }
    throw std::invalid_argument(list);
  };
}

/** All options of a program, and --help (also -h when the other options have short forms). */
class Options {
public:
  /** @param before text that --help prints before the list @param after text that it prints after the list */
  Options(const char* before, std::vector<Option> list, const char* after)
      : before_(before), list_(std::move(list)), after_(after) {
    const bool letters = std::ranges::any_of(list_, &Option::letter);

    list_.push_back({"help", nullptr, "this text", [this](const std::string&) { helped_ = true; }, letters ? 'h' : '\0'});
  }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  /**
   * Parses the command line and sets the options.
   * @param operands gets the arguments that are not options
   * @return the exit status when the program must end: it has printed the help, or getopt_long has refused an option
   * @throws std::invalid_argument for a value that does not fit
   */
  std::optional<int> parse(int argc, char** argv, std::vector<std::string>& operands) {
    std::vector<option> longs;
    std::string letters;

    for (const auto& o : list_) {
      longs.push_back({o.name, o.value ? required_argument : no_argument, nullptr, 0});
      if (o.letter)
        letters += std::string{o.letter} + (o.value ? ":" : "");
    }
    longs.push_back({});
    for (int c, index = 0; (c = getopt_long(argc, argv, letters.c_str(), longs.data(), &index)) != -1;) {
      const auto found = c ? std::ranges::find(list_, c, &Option::letter) : list_.begin() + index;

      if (found == list_.end())
        return 64;
      set(*found, optarg ? optarg : "");
      if (helped_) {
        print(stdout);
        return 0;
      }
    }
    operands.assign(argv + optind, argv + argc);
    return {};
  }

  /** Prints the help. */
  void print(std::FILE* out) const {
    std::size_t width = 0;

    for (const auto& o : list_)
      width = std::max(width, o.heading().size());
    std::fputs(before_, out);
    for (const auto& o : list_) {
      std::string help = o.help;

      for (std::size_t at = 0; (at = help.find('\n', at)) != std::string::npos; at++)
        help.insert(at + 1, width + 6, ' ');
      std::fprintf(out, "  %-*s    %s\n", static_cast<int>(width), o.heading().c_str(), help.c_str());
    }
    std::fputs(after_, out);
  }

private:
  static void set(const Option& o, const std::string& value) {
    try {
      o.set(value);
    } catch (const std::invalid_argument& e) {
      throw std::invalid_argument(std::string("--") + o.name + " wants " + e.what() + ", not '" + value + "'");
    }
  }

  const char* before_;
  std::vector<Option> list_;
  const char* after_;
  bool helped_ = false;
};

} // namespace test

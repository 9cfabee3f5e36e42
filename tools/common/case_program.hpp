// SPDX-License-Identifier: GPL-2.0
/**
 * @file case_program.hpp
 * @brief A program that is a table of cases: `list`, `run [CASE...]`, and the options that all these programs have.
 */
#pragma once

#include "options.hpp"
#include "testcase.hpp"

namespace test {

/** @tparam Context has the fields seed and count */
template <class Context> struct CaseProgram {
  const char* name;
  const char* operands; /**< of `run`, behind the cases, for --help */
  std::vector<Option> own;
  std::vector<Case<Context>> cases;
  std::function<void()> beforeRun = [] {}; /**< throws std::invalid_argument when `run` lacks an option */

  /** Parses the command line, runs or lists the cases, and returns the exit status. */
  int main(int argc, char** argv, Context& context) const {
    return guarded(name, [&] {
      std::vector<std::string> words;
      std::vector<Option> list = own;

      list.push_back({"seed", "N", "seed of all random values (1)", number(context.seed)});
      list.push_back({"count", "N", "number of repetitions, for cases that repeat", number(context.count)});
      if (const auto status = Options(before().c_str(), std::move(list), after).parse(argc, argv, words))
        return *status;
      if (!words.empty() && words.front() == "run")
        beforeRun();
      return command(cases, words, context);
    });
  }

private:
  std::string before() const {
    return "usage: " + std::string(name) + " list\n       " + name + " run [CASE...] " + operands +
           "\n\nCASE is a name from `list`, or a prefix and *. Both ends run in this process.\n\n";
  }

  static constexpr const char* after = "\nExit status: 0 passed, 1 failed, 77 no case could run, 64 usage.\n";
};

} // namespace test

// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * bench_mark: begins or ends a measured region around another program, for a profile of that program.
 */
#include <cstring>

#include "measure.hpp"

int main(int argc, char** argv) {
  if (argc == 2 && !std::strcmp(argv[1], "begin"))
    bench::Region();
  else if (argc == 2 && !std::strcmp(argv[1], "end"))
    bench::Region::markEnd();
  else
    return 64;
  return 0;
}

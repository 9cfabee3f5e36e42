# SPDX-License-Identifier: GPL-2.0
#
# The language and the warnings of all programs here. bench, conformance and fuzz can also be configured on their own.
include_guard(GLOBAL)

set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# A package must also build with a compiler that has more warnings: debian/rules turns this off.
option(WERROR "A warning fails the build" ON)
add_library(tools_warnings INTERFACE)
target_compile_options(tools_warnings INTERFACE -Wall -Wextra $<$<BOOL:${WERROR}>:-Werror>)

// SPDX-License-Identifier: GPL-2.0
/**
 * @file socket_test.cpp
 * @brief socket-test: cases for TCP_ULP "mpa", both ends in one process, or one of them a raw TCP stream.
 */
#include "../common/case_program.hpp"
#include "socket.hpp"

int main(int argc, char** argv) {
  sockets::Context context;

  const test::CaseProgram<sockets::Context> program{
      .name = "socket-test",
      .operands = "[OPTIONS]",
      .own = {{"addr", "A", "address of this machine (127.0.0.1)", test::text(context.address)}},
      .cases = test::joined({sockets::startupCases(), sockets::dataCases(), sockets::errorCases(), sockets::hostileCases(),
                             sockets::memoryCases(), sockets::ownerCases()}),
  };

  return program.main(argc, argv, context);
}

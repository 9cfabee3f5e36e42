// SPDX-License-Identifier: GPL-2.0
#include <net/tcp.h>
#include "surroundings.h"

/* So that a case can say what the device has sent when TCP is called. */
#define tcp_sendpage_locked(sk, page, off, size, flags) \
	sock_kunit_sendpage(sk, page, off, size, flags)
#include "../mpa/sock.c"

// SPDX-License-Identifier: GPL-2.0
#include "../mpa/compat.h"
#include "surroundings.h"

/* So that a case can say what the device has sent when TCP is called. */
#define mpa_tcp_send_page(sk, page, off, len, flags) \
	sock_kunit_send_page(sk, page, off, len, flags)
#include "../mpa/sock.c"

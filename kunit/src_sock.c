// SPDX-License-Identifier: GPL-2.0
#include "../mpa/compat.h"
#include "surroundings.h"

/* Lets a case choose what the device has sent when TCP is called. */
#define mpa_tcp_send_pages(sk, vec, num, len, flags) \
	sock_kunit_send_pages(sk, vec, num, len, flags)
/* Lets a case see each change of a static key's count. */
#undef static_branch_inc
#undef static_branch_dec
#define static_branch_inc(key) sock_kunit_count(1)
#define static_branch_dec(key) sock_kunit_count(-1)
#include "../mpa/sock.c"

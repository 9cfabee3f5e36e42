// SPDX-License-Identifier: GPL-2.0
#include "../mpa/compat.h"
#include "no_exports.h"
#include "surroundings.h"

/* Lets a case have buffers in a device's memory. */
#define skb_frags_readable(skb) rx_kunit_readable(skb)
#include "../mpa/cursor.c"

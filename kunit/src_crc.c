// SPDX-License-Identifier: GPL-2.0
#include <linux/init.h>

/* The suite calls it when the module's init section may have been freed. */
#undef __init
#define __init
#include "../mpa/crc.c"

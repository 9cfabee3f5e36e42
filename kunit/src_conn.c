// SPDX-License-Identifier: GPL-2.0
#include <linux/init.h>
#include "no_exports.h"

/* Suites run when the init section may have been freed. */
#undef __init
#define __init
#include "../mpa/conn.c"

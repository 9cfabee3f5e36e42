// SPDX-License-Identifier: GPL-2.0
#include <linux/init.h>
#include "surroundings.h"

/* A case sees the queues go, and suites run when a module is loaded already. */
#define destroy_workqueue(wq) work_kunit_destroy(wq)
#undef __init
#define __init
#include "../mpa/work.c"

// SPDX-License-Identifier: GPL-2.0
#include <linux/init.h>
#include "surroundings.h"

/*
 * Lets a case see when the queues are destroyed. Suites run when the init
 * section may have been freed.
 */
#define destroy_workqueue(wq) work_kunit_destroy(wq)
#undef __init
#define __init
#include "../mpa/work.c"

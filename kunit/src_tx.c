// SPDX-License-Identifier: GPL-2.0
#include <linux/skbuff.h>
#include "no_exports.h"
#include "../mpa/tx.c"

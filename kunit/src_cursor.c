// SPDX-License-Identifier: GPL-2.0
#include "no_exports.h"
#include "../mpa/cursor.c"

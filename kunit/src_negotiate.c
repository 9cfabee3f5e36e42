// SPDX-License-Identifier: GPL-2.0
#include "../mpa/negotiate.c"

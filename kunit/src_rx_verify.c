// SPDX-License-Identifier: GPL-2.0
#include "../mpa/rx_verify.c"

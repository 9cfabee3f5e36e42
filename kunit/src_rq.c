// SPDX-License-Identifier: GPL-2.0
#include "../ddp_glue/rq.c"

// SPDX-License-Identifier: GPL-2.0
#include "../mpa/compat.h"
#include "fake_tcp.h"

/* Lets a case choose how the kernel's TCP takes pages. */
#undef MPA_FRAG_IS_PAGE
#define MPA_FRAG_IS_PAGE fake_tcp.paged
#include "../mpa/tx_plan.c"

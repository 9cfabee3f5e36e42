// SPDX-License-Identifier: GPL-2.0
/*
 * The tracepoints of mpa.ko, in tracefs as events/mpa/.
 */
#define CREATE_TRACE_POINTS
#include "trace.h"

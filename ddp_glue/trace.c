// SPDX-License-Identifier: GPL-2.0
/*
 * The tracepoints of iwmpa.ko, in tracefs as events/iwmpa/.
 */
#define CREATE_TRACE_POINTS
#include "trace.h"

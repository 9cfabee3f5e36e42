/* SPDX-License-Identifier: GPL-2.0 */
/**
 * @file pure.hpp
 * @brief The headers of the pure files, as C++ sees them.
 */
#pragma once

extern "C" {
#include <user/pure_user.h>

#include <ddp/rdmap.h>
#include <ddp/wire.h>
#include <mpa/wire.h>

#include "ddp_glue/ddp.h"
#include "ddp_glue/rdmap.h"
#include "mpa/fpdu.h"
#include "mpa/negotiate.h"
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The compiler keywords that the wire headers take from the kernel, for user
 * space. Compiles as C and as C++.
 */
#ifndef USER_WIRE_USER_H
#define USER_WIRE_USER_H

#include <assert.h>
#include <linux/types.h>
#include <stdbool.h>

#ifndef __packed
#define __packed __attribute__((packed))
#endif

#endif /* USER_WIRE_USER_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Includes of the pure files: the kernel's headers in the kernel, the same
 * names from libc in user space.
 *
 * tests/prove/headers.eva.c shows that the pure files do nothing undefined.
 */
#ifndef MPA_PURE_H
#define MPA_PURE_H

#ifdef __KERNEL__
#include <asm/byteorder.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>
#include <mpa/compat.h>
#else
#include <user/pure_user.h>
#endif

#endif /* MPA_PURE_H */

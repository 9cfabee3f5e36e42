/* SPDX-License-Identifier: GPL-2.0 */
/*
 * User-space replacement for mpa/pure.h: byte order, unaligned access, memory
 * functions and error numbers from libc. Compiles as C and as C++.
 */
#ifndef USER_PURE_USER_H
#define USER_PURE_USER_H

#include <endian.h>
#include <errno.h>
#include <string.h>

#include <user/wire_user.h>

#define cpu_to_be16(x) htobe16(x)
#define cpu_to_be32(x) htobe32(x)
#define cpu_to_be64(x) htobe64(x)
#define be16_to_cpu(x) be16toh(x)
#define be32_to_cpu(x) be32toh(x)
#define be64_to_cpu(x) be64toh(x)

#define PURE_UNALIGNED(bits)                                               \
	static inline __u##bits get_unaligned_be##bits(const void *p)      \
	{                                                                  \
		__u##bits v;                                               \
									   \
		memcpy(&v, p, sizeof(v));                                  \
		return be##bits##toh(v);                                   \
	}                                                                  \
									   \
	static inline void put_unaligned_be##bits(__u##bits v, void *p)    \
	{                                                                  \
		v = htobe##bits(v);                                        \
		memcpy(p, &v, sizeof(v));                                  \
	}

PURE_UNALIGNED(16)
PURE_UNALIGNED(32)
PURE_UNALIGNED(64)

#undef PURE_UNALIGNED

#endif /* USER_PURE_USER_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For Frama-C, whose C library lacks the functions of <endian.h>. For WP the
 * machine is big-endian: octets in network order are the number.
 */
#ifndef PROVE_BYTEORDER_H
#define PROVE_BYTEORDER_H

#include <stdint.h>

#ifdef PROVE_BIG_ENDIAN
#define be16toh(v) (v)
#define be32toh(v) (v)
#define be64toh(v) (v)
#else
static inline uint16_t be16toh(uint16_t v)
{
	return (v & 0xff) << 8 | v >> 8;
}

static inline uint32_t be32toh(uint32_t v)
{
	return (uint32_t)be16toh(v & 0xffff) << 16 | be16toh(v >> 16);
}

static inline uint64_t be64toh(uint64_t v)
{
	return (uint64_t)be32toh(v & 0xffffffff) << 32 | be32toh(v >> 32);
}
#endif

#define htobe16(v) be16toh(v)
#define htobe32(v) be32toh(v)
#define htobe64(v) be64toh(v)

#endif /* PROVE_BYTEORDER_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of crc.h, with the kernel library's crc32c().
 */
#ifndef MPA_CRC_LIBRARY_H
#define MPA_CRC_LIBRARY_H

#include <asm/byteorder.h>
#include <linux/crc32.h>
#include <linux/types.h>

union mpa_crc {
	u32 state;
};

static inline int mpa_crc_module_init(void)
{
	return 0;
}

static inline void mpa_crc_module_exit(void)
{
}

static inline void mpa_crc_start(union mpa_crc *crc)
{
	crc->state = ~0;
}

static inline void mpa_crc_add(union mpa_crc *crc, const void *data, u32 len)
{
	crc->state = crc32c(crc->state, data, len);
}

/* The field has iSCSI's octet order. */
static inline __be32 mpa_crc_finish(union mpa_crc *crc)
{
	return (__force __be32)cpu_to_le32(~crc->state);
}

static inline __be32 mpa_crc_digest(const void *data, u32 len)
{
	union mpa_crc crc;

	mpa_crc_start(&crc);
	mpa_crc_add(&crc, data, len);
	return mpa_crc_finish(&crc);
}

#endif /* MPA_CRC_LIBRARY_H */

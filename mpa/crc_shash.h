/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of crc.h, with the crypto API's "crc32c".
 */
#ifndef MPA_CRC_SHASH_H
#define MPA_CRC_SHASH_H

#include <crypto/hash.h>
#include <linux/static_call.h>

/* State of a "crc32c" driver: one CRC. Checked when the module loads. */
#define MPA_CRC_STATE	sizeof(u32)

/*
 * A small descriptor: SHASH_DESC_ON_STACK(), which libcrc32c() uses, has room
 * for any hash and is cleared at every call.
 */
union mpa_crc {
	struct shash_desc desc;
	char room[sizeof(struct shash_desc) + MPA_CRC_STATE];
};

int mpa_crc_module_init(void);
void mpa_crc_module_exit(void);
void mpa_crc_start(union mpa_crc *crc);
void mpa_crc_add(union mpa_crc *crc, const void *data, u32 len);
__be32 mpa_crc_finish(union mpa_crc *crc);

extern struct crypto_shash *mpa_crc_tfm;
DECLARE_STATIC_CALL(mpa_crc_whole, crypto_shash_digest);

/* The CRC field of an FPDU whose other octets lie in one piece. */
static inline __be32 mpa_crc_digest(const void *data, u32 len)
{
	union mpa_crc crc;
	__be32 field;

	crc.desc.tfm = mpa_crc_tfm;
	static_call(mpa_crc_whole)(&crc.desc, data, len, (u8 *)&field);
	return field;
}

#endif /* MPA_CRC_SHASH_H */

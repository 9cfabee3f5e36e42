// SPDX-License-Identifier: GPL-2.0
/*
 * CRC32c of an FPDU (RFC 5044 section 4.4) on kernels whose library has no
 * crc32c() that uses the CPU's instructions: crc_shash.h.
 *
 * The result is the CRC field's four octets as they stand in the stream. The
 * field has iSCSI's octet order, which is how "crc32c" stores its digest.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/printk.h>
#include "compat.h"
#include "crc.h"

struct crypto_shash *mpa_crc_tfm;

/*
 * Targets of the calls: the crypto API's wrappers, or the driver's functions.
 * @mpa_crc_tfm keeps the driver loaded. The calls fail only when a required
 * key is missing, and CRC32c requires none.
 */
DEFINE_STATIC_CALL(mpa_crc_init, crypto_shash_init);
DEFINE_STATIC_CALL(mpa_crc_update, crypto_shash_update);
DEFINE_STATIC_CALL(mpa_crc_final, crypto_shash_final);
DEFINE_STATIC_CALL(mpa_crc_whole, crypto_shash_digest);

/* Bypass the wrappers, unless the driver needs aligned octets or a key. */
static void __init use_driver(struct crypto_shash *tfm)
{
	const struct shash_alg *alg = crypto_shash_alg(tfm);

	if (crypto_shash_alignmask(tfm) ||
	    (crypto_shash_get_flags(tfm) & CRYPTO_TFM_NEED_KEY))
		return;
	static_call_update(mpa_crc_init, alg->init);
	static_call_update(mpa_crc_update, alg->update);
	static_call_update(mpa_crc_final, alg->final);
	static_call_update(mpa_crc_whole, alg->digest);
}

int __init mpa_crc_module_init(void)
{
	struct crypto_shash *tfm = crypto_alloc_shash("crc32c", 0, 0);

	if (IS_ERR(tfm)) {
		pr_err("mpa: the kernel has no crc32c (CONFIG_CRYPTO_CRC32C): error %ld\n",
		       PTR_ERR(tfm));
		return PTR_ERR(tfm);
	}
	if (crypto_shash_descsize(tfm) > MPA_CRC_STATE) {
		pr_err("mpa: the driver of crc32c keeps an unexpected state of %u octets\n",
		       crypto_shash_descsize(tfm));
		crypto_free_shash(tfm);
		return -EINVAL;
	}
	use_driver(tfm);
	mpa_crc_tfm = tfm;
	return 0;
}

void mpa_crc_module_exit(void)
{
	crypto_free_shash(mpa_crc_tfm);
}

void mpa_crc_start(union mpa_crc *crc)
{
	crc->desc.tfm = mpa_crc_tfm;
	static_call(mpa_crc_init)(&crc->desc);
}

void mpa_crc_add(union mpa_crc *crc, const void *data, u32 len)
{
	static_call(mpa_crc_update)(&crc->desc, data, len);
}

__be32 mpa_crc_finish(union mpa_crc *crc)
{
	__be32 field;

	static_call(mpa_crc_final)(&crc->desc, (u8 *)&field);
	return field;
}

MODULE_SOFTDEP("pre: crc32c");

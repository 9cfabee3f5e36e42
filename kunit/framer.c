// SPDX-License-Identifier: GPL-2.0
#include <linux/bug.h>
#include <linux/crc32c.h>
#include <mpa/compat.h>
#include "framer.h"

static void put_raw(struct framer *f, u8 octet)
{
	if (WARN_ON_ONCE(f->len == f->size))
		return;
	f->out[f->len++] = octet;
	f->pos++;
}

static void put_marker(struct framer *f)
{
	u32 ptr = f->in_fpdu ? f->pos - f->length_pos : 0;
	int i;

	for (i = 24; i >= 0; i -= 8)
		put_raw(f, ptr >> i);
}

static void put_octet(struct framer *f, u8 octet)
{
	if (f->markers && f->pos % 512 == 0)
		put_marker(f);
	if (!f->in_fpdu) {
		f->in_fpdu = true;
		f->length_pos = f->pos;
	}
	put_raw(f, octet);
}

/* The CRC over all octets of the last FPDU that are there up to @end. */
static u32 crc_of_fpdu(const struct framer *f, u32 end)
{
	return ~crc32c(~0, f->out + f->fpdu, end - f->fpdu);
}

/**
 * framer_put() - append an FPDU
 * @f: the stream
 * @ulpdu: octets
 * @len: number of octets
 *
 * Return: octets of the FPDU with its Markers.
 */
u32 framer_put(struct framer *f, const u8 *ulpdu, u32 len)
{
	u32 i, crc;

	f->fpdu = f->len;
	f->in_fpdu = false;
	put_octet(f, len >> 8);
	put_octet(f, len);
	for (i = 0; i < len; i++)
		put_octet(f, ulpdu[i]);
	for (i = 2 + len; i % 4; i++)
		put_octet(f, 0);
	if (f->markers && f->pos % 512 == 0)
		put_marker(f);
	crc = f->crc ? crc_of_fpdu(f, f->len) : 0;
	for (i = 0; i < 32; i += 8)
		put_raw(f, crc >> i);
	return f->len - f->fpdu;
}

/* Correct the last FPDU's CRC after a change. */
void framer_seal(struct framer *f)
{
	put_unaligned_le32(crc_of_fpdu(f, f->len - 4), f->out + f->len - 4);
}

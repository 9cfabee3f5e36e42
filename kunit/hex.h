/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decodes the hexadecimal octets of the vector tables.
 */
#ifndef KUNIT_HEX_H
#define KUNIT_HEX_H

#include <linux/types.h>

/* hex_to_bin() is in different headers of old and new kernels. */
static inline u8 hex_digit(char c)
{
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Returns the number of octets; blanks in @text are skipped. */
static inline u32 hex_decode(u8 *out, const char *text)
{
	u32 len = 0;

	while (*text) {
		if (*text == ' ') {
			text++;
			continue;
		}
		out[len++] = hex_digit(text[0]) << 4 | hex_digit(text[1]);
		text += 2;
	}
	return len;
}

#endif /* KUNIT_HEX_H */

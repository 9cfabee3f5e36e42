/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An independent implementation of RFC 5044's framing: octet by octet, written
 * from the RFC's text alone. It shares no code with mpa/.
 */
#ifndef KUNIT_FRAMER_H
#define KUNIT_FRAMER_H

#include <linux/types.h>

/**
 * struct framer - puts ULPDUs into a stream
 * @markers: a Marker precedes each octet whose position is a multiple of 512
 * @crc: the CRC field holds a CRC; otherwise zero
 * @pos: stream position of the next octet
 * @out: the stream
 * @len: octets in @out
 * @size: room in @out
 * @fpdu: index in @out of the last FPDU's first octet
 * @length_pos: stream position of that FPDU's ULPDU_Length
 * @in_fpdu: @length_pos is known
 */
struct framer {
	bool markers;
	bool crc;
	u32 pos;
	u8 *out;
	u32 len;
	u32 size;
	u32 fpdu;
	u32 length_pos;
	bool in_fpdu;
};

u32 framer_put(struct framer *f, const u8 *ulpdu, u32 len);
void framer_seal(struct framer *f);

#endif /* KUNIT_FRAMER_H */

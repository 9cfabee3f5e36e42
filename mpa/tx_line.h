/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing an FPDU that lies in one piece of memory. The caller has counted its
 * octets, Markers included. It passes @markers as a constant, so that the code
 * without Markers has no tests for them.
 */
#ifndef MPA_TX_LINE_H
#define MPA_TX_LINE_H

#include <mpa/compat.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "fpdu.h"

/**
 * struct mpa_line - the writer's place in its FPDU
 * @out: next octet
 * @pos: its stream position
 * @length: stream position of ULPDU_Length, to which Markers point
 */
struct mpa_line {
	u8 *out;
	u32 pos;
	u32 length;
};

static __always_inline void mpa_line_advance(struct mpa_line *line, u32 len)
{
	line->out += len;
	line->pos += len;
}

/* Write the Marker that is due here, inside the FPDU. */
static __always_inline void mpa_line_marker(struct mpa_line *line)
{
	put_unaligned_be32((line->pos - line->length) & MPA_FPDUPTR_MASK,
			   line->out);
	mpa_line_advance(line, MPA_MARKER_LEN);
}

/* Write the next octets, with the Markers before and between them. */
static __always_inline void mpa_line_put(struct mpa_line *line,
					 const void *src, u32 len,
					 const bool markers)
{
	u32 n = markers ? min(len, mpa_marker_gap(line->pos)) : len;

	memcpy(line->out, src, n);
	mpa_line_advance(line, n);
	if (!markers)
		return;
	while (len > n) {
		src += n;
		len -= n;
		mpa_line_marker(line);
		n = min(len, MPA_MARKER_SPAN);
		/* A constant length: the compiler inlines the copy */
		if (likely(n == MPA_MARKER_SPAN))
			memcpy(line->out, src, MPA_MARKER_SPAN);
		else
			memcpy(line->out, src, n);
		mpa_line_advance(line, n);
	}
}

/*
 * Write a Marker if one is due in front, ULPDU_Length, and the first octets of
 * the ULPDU, up to MPA_TX_HDR_SIZE. @hdr must have that many readable octets,
 * and @line room for them, whatever @hdr_len is.
 */
static __always_inline void mpa_line_head(struct mpa_line *line, u32 ulpdu_len,
					  const u8 *hdr, u32 hdr_len,
					  const bool markers)
{
	if (markers && unlikely(!mpa_marker_gap(line->pos))) {
		put_unaligned_be32(0, line->out);
		mpa_line_advance(line, MPA_MARKER_LEN);
	}
	line->length = line->pos;
	put_unaligned_be16(ulpdu_len, line->out);
	mpa_line_advance(line, MPA_HDR_LEN);
	if (markers && unlikely(hdr_len > mpa_marker_gap(line->pos))) {
		mpa_line_put(line, hdr, hdr_len, true);
		return;
	}
	/* A constant length again; the excess is overwritten later */
	memcpy(line->out, hdr, MPA_TX_HDR_SIZE);
	mpa_line_advance(line, hdr_len);
}

/* Write the pad. Return: the address of the CRC field. */
static __always_inline u8 *mpa_line_end(struct mpa_line *line, u32 ulpdu_len,
					const bool markers)
{
	/* No Marker lies in the pad; the CRC field overwrites the excess */
	put_unaligned(0, (u32 *)line->out);
	mpa_line_advance(line, mpa_fpdu_pad(ulpdu_len));
	if (markers && unlikely(!mpa_marker_gap(line->pos)))
		mpa_line_marker(line);
	return line->out;
}

#endif /* MPA_TX_LINE_H */

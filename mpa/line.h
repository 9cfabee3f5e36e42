/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing an FPDU that lies in one piece of memory. The caller has counted its
 * octets, Markers included, and says whether there are Markers by a constant,
 * so that nothing is asked for each octet when there are none.
 */
#ifndef MPA_LINE_H
#define MPA_LINE_H

#include <mpa/compat.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "fpdu.h"

/**
 * struct mpa_line - where in its FPDU the writer is
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

/* The Marker that is due here, in the FPDU and not in front of it. */
static __always_inline void mpa_line_marker(struct mpa_line *line)
{
	put_unaligned_be32((line->pos - line->length) & MPA_FPDUPTR_MASK,
			   line->out);
	mpa_line_advance(line, MPA_MARKER_LEN);
}

/* The next octets, and the Markers before and between them. */
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
		/* A number that the compiler knows: no call */
		if (likely(n == MPA_MARKER_SPAN))
			memcpy(line->out, src, MPA_MARKER_SPAN);
		else
			memcpy(line->out, src, n);
		mpa_line_advance(line, n);
	}
}

/*
 * A Marker when one is due in front, ULPDU_Length, and the first octets of the
 * ULPDU: up to MPA_TX_HDR_SIZE, which can be read and for which there is room
 * in any case.
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
	/* What is too much is written again: no call here either */
	memcpy(line->out, hdr, MPA_TX_HDR_SIZE);
	mpa_line_advance(line, hdr_len);
}

/* Pad; returns where the CRC field is. */
static __always_inline u8 *mpa_line_end(struct mpa_line *line, u32 ulpdu_len,
					const bool markers)
{
	/* No Marker is in it, and the CRC field is behind it */
	put_unaligned(0, (u32 *)line->out);
	mpa_line_advance(line, mpa_fpdu_pad(ulpdu_len));
	if (markers && unlikely(!mpa_marker_gap(line->pos)))
		mpa_line_marker(line);
	return line->out;
}

#endif /* MPA_LINE_H */

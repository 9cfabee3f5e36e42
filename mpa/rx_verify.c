// SPDX-License-Identifier: GPL-2.0
/*
 * Length, CRC and Markers of an FPDU at a cursor (RFC 5044 section 6). No FPDU
 * is placed before it is verified.
 */
#include <mpa/compat.h>
#include "crc.h"
#include "cursor.h"
#include "fpdu.h"
#include "rx.h"
#include "rx_verify.h"

/**
 * mpa_rx_peek() - how long is the FPDU that starts here?
 * @at: cursor at the FPDU's first octet
 * @avail: octets received from there on
 * @ulpdu_len: set to ULPDU_Length when the FPDU is complete
 * @need: set to the octets that must arrive before the next call can find more
 *
 * Context: socket lock held.
 * Return: octets of the complete FPDU with its Markers; 0 when it is not
 * complete. If its length cannot be read, a length that counts as complete:
 * mpa_rx_verify() then fails.
 */
u32 mpa_rx_peek(const struct mpa_cursor *at, u32 avail, u32 *ulpdu_len,
		u32 *need)
{
	u32 head = mpa_cursor_at_marker(at) ? MPA_MARKER_LEN : 0;
	u32 wire;

	*need = head + MPA_HDR_LEN;
	*ulpdu_len = 0;
	if (avail < *need)
		return 0;
	if (likely(at->left >= *need)) {
		*ulpdu_len = get_unaligned_be16(at->ptr + head);
	} else {
		struct mpa_cursor cur = *at;
		__be16 len;

		mpa_cursor_skip(&cur, head);
		/* These octets cannot be read: mpa_rx_verify() fails. */
		if (mpa_cursor_read(&cur, &len, MPA_HDR_LEN))
			return *need;
		*ulpdu_len = be16_to_cpu(len);
	}
	barrier();	/* the compiler must not read the length again */
	wire = mpa_fpdu_wire_len(*ulpdu_len, at->markers, at->pos);
	*need = wire;
	return avail < wire ? 0 : wire;
}

/* Check the CRC of an FPDU that lies in several pieces. */
static bool crc_is_good_in_pieces(struct mpa_cursor cur, u32 len)
{
	union mpa_crc crc;
	__be32 field;

	mpa_crc_start(&crc);
	while (len) {
		u32 n;

		if (!mpa_cursor_fill(&cur))
			return false;
		n = min(len, cur.left);
		mpa_crc_add(&crc, cur.ptr, n);
		mpa_cursor_step(&cur, n);
		len -= n;
	}
	return !mpa_cursor_read(&cur, &field, MPA_CRC_LEN) &&
	       mpa_crc_finish(&crc) == field;
}

/* Can all octets be read? Without a CRC check no other code finds out. */
static bool is_readable(struct mpa_cursor cur, u32 len)
{
	return !mpa_cursor_read(&cur, NULL, len);
}

/* Check the Markers of an FPDU that lies in several pieces. */
static bool markers_are_good_in_pieces(const struct mpa_cursor *at,
				       u32 wire_len)
{
	u32 gap = mpa_marker_gap(at->pos), left = wire_len;
	struct mpa_cursor cur = *at;

	while (gap < left) {
		u32 pos = cur.pos + gap;
		__be32 marker;

		mpa_cursor_skip(&cur, gap);
		if (mpa_cursor_read(&cur, &marker, MPA_MARKER_LEN) ||
		    !mpa_marker_check(marker, pos, at->pos))
			return false;
		left -= gap + MPA_MARKER_LEN;
		gap = MPA_MARKER_SPAN;
	}
	return true;
}

/**
 * mpa_rx_verify() - check CRC and Markers of a complete FPDU
 * @rx: the connection's receive direction
 * @at: cursor at the FPDU's first octet
 * @wire_len: octets of the FPDU, Markers included
 *
 * The CRC is checked first: damaged octets are error 2 even if a Marker is
 * among them. Octets that cannot be read count as damaged.
 * Context: socket lock held. RFC 5044 sections 4.4, 6 and 8.
 *
 * Return: MPA_ERR_NONE, MPA_ERR_CRC or MPA_ERR_MARKER.
 */
enum mpa_error mpa_rx_verify(const struct mpa_rx *rx,
			     const struct mpa_cursor *at, u32 wire_len)
{
	if (likely(at->left >= wire_len))
		return mpa_rx_verify_whole(rx, at->ptr, wire_len, at->pos);
	if (!rx->crc && !is_readable(*at, wire_len))
		return MPA_ERR_CRC;
	if (rx->crc && !crc_is_good_in_pieces(*at, wire_len - MPA_CRC_LEN))
		return MPA_ERR_CRC;
	if (rx->markers && !markers_are_good_in_pieces(at, wire_len))
		return MPA_ERR_MARKER;
	return MPA_ERR_NONE;
}

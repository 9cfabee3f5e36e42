// SPDX-License-Identifier: GPL-2.0
/*
 * FPDU and Marker geometry, as far as it is not inline: the Markers of a
 * received FPDU, and lengths (RFC 5044 sections 4.2, 4.3 and 4.5).
 */
#include "fpdu.h"

/**
 * mpa_marker_check_all() - check the Markers of an FPDU that lies in one piece
 * @fpdu: its first octet, any alignment
 * @wire_len: octets of it, Markers included
 * @pos: stream position of its first octet
 *
 * As mpa_marker_check() for each of them, but the loop does not stop at a wrong
 * one: they are few, and hardly ever wrong.
 *
 * Return: whether all of them point to the FPDU's ULPDU_Length.
 */
bool mpa_marker_check_all(const __u8 *fpdu, __u32 wire_len, __u32 pos)
{
	__u32 off = mpa_marker_gap(pos), lead = 0, wrong = 0;

	if (!off) {
		wrong = get_unaligned_be32(fpdu);
		lead = MPA_MARKER_LEN;	/* FPDUPTR does not count this one */
		off = MPA_MARKER_INTERVAL;
	}
	for (; off < wire_len; off += MPA_MARKER_INTERVAL)
		wrong |= get_unaligned_be32(fpdu + off) ^ (off - lead);
	return !(wrong & MPA_FPDUPTR_MASK);
}

/**
 * mpa_marker_content() - room in a piece of the stream without its Markers
 * @room: octets of the piece
 * @pos: stream position of its first octet
 *
 * Return: octets of the piece that do not belong to a Marker.
 */
__u32 mpa_marker_content(__u32 room, __u32 pos)
{
	__u32 gap = mpa_marker_gap(pos);
	__u32 full, tail;

	if (room <= gap)
		return room;
	full = (room - gap) / MPA_MARKER_INTERVAL;
	tail = (room - gap) % MPA_MARKER_INTERVAL;
	if (tail <= MPA_MARKER_LEN)
		tail = MPA_MARKER_LEN;
	return gap + full * MPA_MARKER_SPAN + tail - MPA_MARKER_LEN;
}

/**
 * mpa_fpdu_mulpdu() - the MULPDU of section 4.5
 * @emss: TCP's effective maximum segment size in octets
 * @markers: whether this direction carries Markers
 *
 * Return: octets, MPA_MIN_MULPDU..MPA_MAX_ULPDU. The section's formula holds
 * for any stream position, so that an FPDU of this size always fits into
 * one segment of @emss octets.
 */
__u32 mpa_fpdu_mulpdu(__u32 emss, bool markers)
{
	__u32 overhead = MPA_HDR_LEN + MPA_CRC_LEN + emss % 4;

	if (markers)
		overhead += MPA_MARKER_LEN *
			    ((emss + MPA_MARKER_INTERVAL - 1) /
			     MPA_MARKER_INTERVAL);
	if (emss < overhead + MPA_MIN_MULPDU)
		return MPA_MIN_MULPDU;
	if (emss - overhead > MPA_MAX_ULPDU)
		return MPA_MAX_ULPDU;
	return emss - overhead;
}

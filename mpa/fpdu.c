// SPDX-License-Identifier: GPL-2.0
/*
 * How much an FPDU can hold (RFC 5044 sections 4.1 and 4.5).
 */
#include "fpdu.h"

/**
 * mpa_fpdu_room() - the largest ULPDU that fits into a piece of the stream
 * @room: octets of the stream that the FPDU may take, Markers included
 * @markers: whether this direction carries Markers
 * @pos: stream position of the first octet
 *
 * Return: octets of ULPDU, at most MPA_MAX_ULPDU. When not even an FPDU with
 * an empty ULPDU fits, 0.
 */
__u32 mpa_fpdu_room(__u32 room, bool markers, __u32 pos)
{
	__u32 gap = mpa_marker_gap(pos);
	__u32 content = room;

	if (markers && room > gap) {
		__u32 rest = room - gap;
		__u32 full = rest / MPA_MARKER_INTERVAL;
		__u32 tail = rest % MPA_MARKER_INTERVAL;

		content = gap + full * MPA_MARKER_SPAN;
		if (tail > MPA_MARKER_LEN)
			content += tail - MPA_MARKER_LEN;
	}
	content &= ~3u;
	if (content < MPA_HDR_LEN + MPA_CRC_LEN)
		return 0;
	content -= MPA_HDR_LEN + MPA_CRC_LEN;
	return content < MPA_MAX_ULPDU ? content : MPA_MAX_ULPDU;
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

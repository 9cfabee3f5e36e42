// SPDX-License-Identifier: GPL-2.0
/*
 * Markers (RFC 5044 sections 4.2 and 4.3).
 */
#include "fpdu.h"

/**
 * mpa_marker_count() - Markers within an FPDU
 * @pos: stream position of the FPDU's first octet
 * @content: octets of the FPDU without Markers, at least 1
 *
 * A Marker that would follow the last octet belongs to the next FPDU and is
 * not counted; one that lies at @pos itself is.
 *
 * Return: number of Markers.
 */
__u32 mpa_marker_count(__u32 pos, __u32 content)
{
	__u32 gap = mpa_marker_gap(pos);

	if (content <= gap)
		return 0;
	return (content - gap + MPA_MARKER_SPAN - 1) / MPA_MARKER_SPAN;
}

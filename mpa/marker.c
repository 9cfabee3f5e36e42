// SPDX-License-Identifier: GPL-2.0
/*
 * Markers (RFC 5044 sections 4.2 and 4.3).
 */
#include "fpdu.h"
#include <mpa/pure.h>

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

/**
 * mpa_marker_encode() - the Marker to send at a stream position
 * @pos: stream position of the Marker
 * @fpdu_start: stream position of the FPDU's first octet. When a Marker lies
 *              before ULPDU_Length, this is the position of that Marker
 *
 * FPDUPTR counts from ULPDU_Length. A Marker that lies at the FPDU's first
 * octet is "between FPDUs" and holds 0.
 *
 * Return: the Marker's four octets in network order.
 */
__be32 mpa_marker_encode(__u32 pos, __u32 fpdu_start)
{
	__u32 ptr = pos - fpdu_start;

	if (ptr && !mpa_marker_gap(fpdu_start))
		ptr -= MPA_MARKER_LEN;	/* the leading Marker is not counted */
	return cpu_to_be32(ptr & 0xffff);
}

/**
 * mpa_marker_check() - compare a received Marker with the known FPDU start
 * @marker: the four octets as received
 * @pos: stream position of the Marker
 * @fpdu_start: as for mpa_marker_encode()
 *
 * The reserved half and the low two bits of FPDUPTR are not looked at
 * (section 4.2).
 *
 * Return: whether the Marker points to the FPDU's ULPDU_Length.
 */
bool mpa_marker_check(__be32 marker, __u32 pos, __u32 fpdu_start)
{
	__u32 want = be32_to_cpu(mpa_marker_encode(pos, fpdu_start));

	return (be32_to_cpu(marker) & MPA_FPDUPTR_MASK) == want;
}

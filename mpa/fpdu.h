/* SPDX-License-Identifier: GPL-2.0 */
/*
 * FPDU and Marker geometry (RFC 5044 sections 4.1 to 4.3 and 4.5).
 *
 * Pure: no socket, buffer, lock or allocation. A stream position is the
 * number of octets since the first octet of Full Operation, modulo 2^32.
 * A Marker starts wherever the position is a multiple of 512 (which divides
 * 2^32, so that the wrap of TCP's sequence numbers needs no care). With
 * Markers in use positions between FPDUs are multiples of 4.
 *
 * tests/prove/geometry.wp.c has proved contracts for all of these functions.
 */
#ifndef MPA_FPDU_H
#define MPA_FPDU_H

#include <mpa/pure.h>
#include <mpa/wire.h>

/* Octets of pad behind a ULPDU of @len octets: 0 to 3. */
static inline __u32 mpa_fpdu_pad(__u32 len)
{
	return -(MPA_HDR_LEN + len) & 3;
}

/* Octets of an FPDU without its Markers: header, ULPDU, pad and CRC. */
static inline __u32 mpa_fpdu_content(__u32 len)
{
	return ((MPA_HDR_LEN + len + 3) & ~3u) + MPA_CRC_LEN;
}

/* Octets from @pos to the next Marker: 0 when one starts at @pos itself. */
static inline __u32 mpa_marker_gap(__u32 pos)
{
	return -pos & (MPA_MARKER_INTERVAL - 1);
}

/**
 * mpa_marker_count() - Markers within an FPDU
 * @pos: stream position of the FPDU's first octet
 * @content: octets of the FPDU without Markers, at least 1
 *
 * A Marker that would follow the last octet belongs to the next FPDU and is
 * not counted; a Marker at @pos itself is counted.
 *
 * Return: number of Markers.
 */
static inline __u32 mpa_marker_count(__u32 pos, __u32 content)
{
	__u32 gap = mpa_marker_gap(pos);

	if (content <= gap)
		return 0;
	return (content - gap + MPA_MARKER_SPAN - 1) / MPA_MARKER_SPAN;
}

bool mpa_marker_check_all(const __u8 *fpdu, __u32 wire_len, __u32 pos);
__u32 mpa_marker_content(__u32 room, __u32 pos);
__u32 mpa_fpdu_mulpdu(__u32 emss, bool markers);

/**
 * mpa_fpdu_wire_len() - length of an FPDU in the TCP stream
 * @ulpdu_len: octets of the ULPDU, 0..65535
 * @markers: whether this direction carries Markers
 * @pos: stream position of the first octet, which is a Marker when the
 *       position is a multiple of 512
 *
 * Return: octets from @pos to the end of the CRC field, Markers included
 * (a Marker right before the FPDU too, section 4.3).
 */
static inline __u32 mpa_fpdu_wire_len(__u32 ulpdu_len, bool markers, __u32 pos)
{
	__u32 content = mpa_fpdu_content(ulpdu_len);

	if (!markers)
		return content;
	return content + MPA_MARKER_LEN * mpa_marker_count(pos, content);
}

/**
 * mpa_fpdu_room() - the largest ULPDU that fits into a piece of the stream
 * @room: octets of the stream that the FPDU may take, Markers included
 * @markers: whether this direction carries Markers
 * @pos: stream position of the first octet
 *
 * Return: octets of ULPDU, at most MPA_MAX_ULPDU; 0 also when not even an FPDU
 * with an empty ULPDU fits.
 */
static inline __u32 mpa_fpdu_room(__u32 room, bool markers, __u32 pos)
{
	__u32 content = (markers ? mpa_marker_content(room, pos) : room) & ~3u;

	if (content < MPA_HDR_LEN + MPA_CRC_LEN)
		return 0;
	content -= MPA_HDR_LEN + MPA_CRC_LEN;
	return content < MPA_MAX_ULPDU ? content : MPA_MAX_ULPDU;
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
static inline __be32 mpa_marker_encode(__u32 pos, __u32 fpdu_start)
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
 * The reserved half and the low two bits of FPDUPTR are ignored (section 4.2).
 *
 * Return: whether the Marker points to the FPDU's ULPDU_Length.
 */
static inline bool mpa_marker_check(__be32 marker, __u32 pos,
				    __u32 fpdu_start)
{
	__u32 want = be32_to_cpu(mpa_marker_encode(pos, fpdu_start));

	return (be32_to_cpu(marker) & MPA_FPDUPTR_MASK) == want;
}

/**
 * mpa_marker_find() - the FPDU that a received Marker points to
 * @marker: the four octets as received
 * @pos: stream position of the Marker
 * @start: set to the stream position of that FPDU's first octet, as for
 *	mpa_marker_encode()
 *
 * The caller must verify the FPDU before it trusts the Marker.
 *
 * Return: whether an FPDU can start there at all.
 */
static inline bool mpa_marker_find(__be32 marker, __u32 pos, __u32 *start)
{
	__u32 ptr = be32_to_cpu(marker) & MPA_FPDUPTR_MASK;

	*start = pos - ptr;
	if (!ptr)
		return true;
	/* The Marker points to ULPDU_Length, where no Marker can lie. */
	if (!mpa_marker_gap(*start))
		return false;
	if (!mpa_marker_gap(*start - MPA_MARKER_LEN))
		*start -= MPA_MARKER_LEN;
	return true;
}

#endif /* MPA_FPDU_H */

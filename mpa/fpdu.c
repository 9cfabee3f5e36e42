// SPDX-License-Identifier: GPL-2.0
/*
 * MULPDU (RFC 5044 section 4.5).
 */
#include "fpdu.h"

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

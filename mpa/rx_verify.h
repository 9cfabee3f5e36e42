/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Length, CRC and Markers of an FPDU that has been received.
 */
#ifndef MPA_RX_VERIFY_H
#define MPA_RX_VERIFY_H

#include <linux/types.h>
#include <mpa/compat.h>
#include "crc.h"
#include "fpdu.h"
#include "rx.h"

struct mpa_cursor;

u32 mpa_rx_peek(const struct mpa_cursor *at, u32 avail, u32 *ulpdu_len,
		u32 *need);
enum mpa_error mpa_rx_verify(const struct mpa_rx *rx,
			     const struct mpa_cursor *at, u32 wire_len);

/*
 * mpa_rx_verify() for an FPDU in one piece, at @fpdu and stream position @pos.
 */
static inline enum mpa_error mpa_rx_verify_whole(const struct mpa_rx *rx,
						 const u8 *fpdu, u32 wire_len,
						 u32 pos)
{
	u32 len = wire_len - MPA_CRC_LEN;

	if (rx->crc && mpa_crc_digest(fpdu, len) !=
		       get_unaligned((__be32 *)(fpdu + len)))
		return MPA_ERR_CRC;
	if (rx->markers && !mpa_marker_check_all(fpdu, wire_len, pos))
		return MPA_ERR_MARKER;
	return MPA_ERR_NONE;
}

#endif /* MPA_RX_VERIFY_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Length, CRC and Markers of an FPDU that has been received.
 */
#ifndef MPA_VERIFY_H
#define MPA_VERIFY_H

#include <linux/types.h>
#include <mpa/wire.h>

struct mpa_cursor;
struct mpa_rx;

u32 mpa_rx_peek(const struct mpa_cursor *at, u32 avail, u32 *ulpdu_len,
		u32 *need);
enum mpa_error mpa_rx_verify(const struct mpa_rx *rx,
			     const struct mpa_cursor *at, u32 wire_len);

#endif /* MPA_VERIFY_H */

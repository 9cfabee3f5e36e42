/* SPDX-License-Identifier: GPL-2.0 */
/* Octets between memory regions and connections. */
#ifndef IWM_PLACE_H
#define IWM_PLACE_H

#include "types.h"

int iwm_place(struct iwm_mr *mr, u64 addr, struct mpa_cursor *cur, u32 len);
int iwm_gather(struct iwm_mr *mr, u64 addr, struct mpa_conn *conn, u32 len);

#endif /* IWM_PLACE_H */

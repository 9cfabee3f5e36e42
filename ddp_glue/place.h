/* SPDX-License-Identifier: GPL-2.0 */
/* Octets of memory regions. */
#ifndef IWM_PLACE_H
#define IWM_PLACE_H

#include "types.h"

int iwm_place(struct iwm_mr *mr, u64 addr, struct mpa_cursor *cur, u32 len);
u32 iwm_mr_span(const struct iwm_mr *mr, u64 addr, u32 len, void **at);

#endif /* IWM_PLACE_H */

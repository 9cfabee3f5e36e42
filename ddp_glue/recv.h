/* SPDX-License-Identifier: GPL-2.0 */
/* The receive side of a queue pair. */
#ifndef IWM_RECV_H
#define IWM_RECV_H

#include "types.h"

int iwm_rx_create(struct iwm_qp *qp);
void iwm_rx_destroy(struct iwm_qp *qp);
u32 iwm_rx_segments(const struct iwm_qp *qp);
int iwm_receive(void *consumer, struct mpa_cursor *cur, u32 len);
int iwm_place_early(struct iwm_qp *qp, struct mpa_cursor *cur, u32 len,
		    u8 *hdr);
void iwm_receive_done(void *consumer);
void iwm_rx_flush(struct iwm_qp *qp);

#endif /* IWM_RECV_H */

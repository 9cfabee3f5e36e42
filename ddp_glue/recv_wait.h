/* SPDX-License-Identifier: GPL-2.0 */
/* A Send that waits for a receive work request: see recv_wait.c */
#ifndef DDP_GLUE_RECV_WAIT_H
#define DDP_GLUE_RECV_WAIT_H

#include "types.h"

void iwm_rx_wait_init(struct iwm_qp *qp);
void iwm_rx_wait_stop(struct iwm_qp *qp);
bool iwm_rx_wait(struct iwm_qp *qp);
void iwm_rx_wait_end(struct iwm_qp *qp, bool found);
void iwm_rx_wait_late(struct iwm_qp *qp);
void iwm_rx_look_now(struct iwm_qp *qp);

/*
 * The Send has got a receive, or waits no longer. Context: socket lock held, or
 * no upcall can run any more.
 */
static inline void iwm_rx_wait_over(struct iwm_qp *qp, bool found)
{
	if (unlikely(qp->rx_waits))
		iwm_rx_wait_end(qp, found);
}

/* Receives may have been posted to the QP's own ring. Context: any. */
static inline void iwm_rx_wake(struct iwm_qp *qp)
{
	if (unlikely(READ_ONCE(qp->rx_waits)))
		iwm_rx_look_now(qp);
}

#endif /* DDP_GLUE_RECV_WAIT_H */

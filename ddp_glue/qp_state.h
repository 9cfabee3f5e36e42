/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States of queue pairs, for qp.c, qp_conn.c and the transmit and the receive
 * side.
 */
#ifndef DDP_GLUE_QP_STATE_H
#define DDP_GLUE_QP_STATE_H

#include "types.h"

#define IWM_CLOSE_MAX_MS	5000	/* longest wait for the peer to close */

static inline bool iwm_qp_is_up(enum iwm_qp_state state)
{
	return state == IWM_QP_RTS || state == IWM_QP_CLOSING;
}

/* Does the QP's program connect it by hand, and has its peer not come yet? */
static inline bool iwm_qp_starts_by_hand(const struct iwm_qp *qp)
{
	if (READ_ONCE(qp->state) != IWM_QP_IDLE)
		return false;
	/* Pairs with take_on_cep(): by_hand is set */
	return smp_load_acquire(&qp->cep) && READ_ONCE(qp->by_hand);
}

/* Any context that does not hold qp->lock. */
bool iwm_qp_move(struct iwm_qp *qp, enum iwm_qp_state to,
		 enum iwm_qp_state *from);
int iwm_qp_enter_rts(struct iwm_qp *qp, u16 ird, u16 ord, u8 rtr);
void iwm_qp_leave_rts(struct iwm_qp *qp);
void iwm_qp_refuse(struct iwm_qp *qp, const struct iwm_cep *cep,
		   const struct rdmap_fault *fault);
struct iwm_cep *iwm_qp_cep_get(struct iwm_qp *qp);
struct iwm_cep *iwm_qp_take_cep(struct iwm_qp *qp);
int iwm_qp_post_early(struct iwm_qp *qp);
void iwm_qp_event(struct iwm_qp *qp, enum ib_event_type type);
void iwm_qp_tell_cm(struct iwm_qp *qp, int status);
void iwm_qp_finish(struct iwm_qp *qp, int status);
bool iwm_qp_flush_rq(struct iwm_qp *qp);
void iwm_qp_queue_close_jiffies(struct iwm_qp *qp, unsigned long delay);
void iwm_qp_queue_close(struct iwm_qp *qp, unsigned int ms);

void iwm_qp_error(struct iwm_qp *qp, const struct rdmap_fault *fault);
void iwm_qp_local_error(struct iwm_qp *qp);
void iwm_qp_terminated(struct iwm_qp *qp);
void iwm_qp_terminate_received(struct iwm_qp *qp,
			       const struct rdmap_error *err);

/* Process context, conn_lock held. */
void iwm_qp_send_fin(struct iwm_qp *qp);

#endif /* DDP_GLUE_QP_STATE_H */

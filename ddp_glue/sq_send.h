/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The transmit owner of a queue pair (sq_owner.c), sending (sq_send.c), the choice of
 * the next message (sq_message.c), and posting (sq_post.c). See sq.h.
 */
#ifndef DDP_GLUE_SQ_SEND_H
#define DDP_GLUE_SQ_SEND_H

#include "sq.h"

/* sq_post.c */
int iwm_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);

/* sq_owner.c */
void iwm_sq_doorbell(struct iwm_qp *qp);
u32 iwm_sq_run_atomic(struct iwm_qp *qp, enum sq_context context);
void iwm_sq_work(struct work_struct *work);

/* Keep the owner off qp->conn, for good or for a moment. Context: process. */
void iwm_sq_stop(struct iwm_qp *qp, bool flush);
void iwm_sq_pause(struct iwm_qp *qp);
void iwm_sq_resume(struct iwm_qp *qp);

/* Delay before the next attempt after a failed allocation; it may double */
#define IWM_SQ_NO_MEMORY_NS	(10 * NSEC_PER_MSEC)
#define IWM_SQ_MAX_DOUBLINGS	7

/* Delay before the next round of flushing a program's ring */
#define IWM_SQ_REFLUSH_NS	(100 * NSEC_PER_MSEC)

enum tx_result {
	TX_IDLE,	/* nothing more to send */
	TX_BLOCKED,	/* an upcall will kick the owner */
	TX_BUDGET,	/* there may be more, but other tasks come first */
	TX_RETRY,	/* the retry timer will kick the owner */
};

/* sq_send.c; transmit owner */
enum tx_result iwm_sq_transmit(struct iwm_qp *qp, struct mpa_conn *conn);
bool iwm_sq_send_terminate(struct iwm_qp *qp, struct mpa_conn *conn);

enum next_msg {
	NEXT_NONE,
	NEXT_READY,	/* iwm_sq.msg */
	NEXT_WORKER,	/* the next work request needs an owner that may sleep */
};

/* sq_message.c; transmit owner */
enum next_msg iwm_msg_next(struct iwm_qp *qp);
bool iwm_msg_wait_read(struct iwm_qp *qp);
void iwm_msg_local_error(struct iwm_qp *qp, u32 wqe,
			 enum siw_wc_status status);

#endif /* DDP_GLUE_SQ_SEND_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of queue pairs share. What others call is in iwmpa.h.
 *
 * qp.c       verbs: create, modify, query, destroy, post_recv
 * qp_conn.c  connecting, closing, upcalls of MPA
 * qp_state.c states and ends, errors
 */
#ifndef IWM_QP_H
#define IWM_QP_H

#include "iwmpa.h"

/* qp_conn.c, process context: these take conn_lock and the socket lock. */
int iwm_qp_reset(struct iwm_qp *qp);
int iwm_qp_close(struct iwm_qp *qp);
void iwm_qp_die(struct iwm_qp *qp);
void iwm_qp_close_work(struct work_struct *work);

/* qp_conn.c, any context; takes the locks of the receive ring and its CQ. */
void iwm_qp_flush_rq(struct iwm_qp *qp);

#endif /* IWM_QP_H */

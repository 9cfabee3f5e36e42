/* SPDX-License-Identifier: GPL-2.0 */
/* The end of a connection. */
#ifndef DDP_GLUE_QP_END_H
#define DDP_GLUE_QP_END_H

#include "types.h"

/* Process context, may sleep: these take conn_lock and the socket lock. */
void iwm_qp_disconnect(struct iwm_qp *qp, bool reset, int status);
void iwm_qp_reset(struct iwm_qp *qp);
int iwm_qp_close(struct iwm_qp *qp);
void iwm_qp_die(struct iwm_qp *qp);
void iwm_qp_close_work(struct work_struct *work);

/* conn_lock held */
void iwm_qp_drop_conn(struct iwm_qp *qp);

/* Upcalls, and what they share. Context: socket lock held. */
void iwm_qp_upcall_closed(void *consumer, enum mpa_error err, int status);
void iwm_qp_upcall_gone(void *consumer);
void iwm_qp_rx_end(struct iwm_qp *qp);

#endif /* DDP_GLUE_QP_END_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connect and close queue pairs. Process context, may sleep: these functions
 * take conn_lock and the socket lock.
 */
#ifndef IWM_QP_CONN_H
#define IWM_QP_CONN_H

#include "types.h"

/* The answer to the Request of an undecided connection. */
struct iwm_answer {
	struct mpa_conn *conn;
	struct mpa_params params;
	const void *pd;
	u16 pd_len;
};

int iwm_qp_connect(struct iwm_qp *qp, struct iwm_cep *cep,
		   const struct mpa_attempt *attempt);
int iwm_qp_fallback(struct iwm_qp *qp, struct iwm_cep *cep,
		    struct mpa_attempt *attempt);
int iwm_qp_accept(struct iwm_qp *qp, struct iwm_cep *cep,
		  const struct iwm_answer *answer);
void iwm_qp_disconnect(struct iwm_qp *qp, bool reset, int status);

/* For modify_qp and destroy_qp. */
void iwm_qp_reset(struct iwm_qp *qp);
int iwm_qp_close(struct iwm_qp *qp);
void iwm_qp_die(struct iwm_qp *qp);
void iwm_qp_close_work(struct work_struct *work);

/* Any context; takes the locks of the receive ring and its CQ. */
void iwm_qp_flush_rq(struct iwm_qp *qp);

#endif /* IWM_QP_CONN_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connect queue pairs. Process context, may sleep: these functions take
 * conn_lock and the socket lock.
 */
#ifndef DDP_GLUE_QP_CONN_H
#define DDP_GLUE_QP_CONN_H

#include "types.h"

int iwm_qp_connect(struct iwm_qp *qp, struct iwm_cep *cep,
		   const struct mpa_attempt *attempt);
int iwm_qp_fallback(struct iwm_qp *qp, struct iwm_cep *cep,
		    struct mpa_attempt *attempt);
int iwm_qp_accept(struct iwm_qp *qp, struct iwm_cep *cep,
		  struct mpa_conn *conn, const struct mpa_answer *answer);

/* For hand.c */
int iwm_qp_expect(struct iwm_qp *qp, struct iwm_cep *cep,
		  const struct mpa_params *params);
int iwm_qp_answer(struct iwm_qp *qp, struct iwm_cep *cep,
		  struct mpa_conn *conn, const struct mpa_answer *answer);
int iwm_qp_try_again(struct iwm_qp *qp, struct iwm_cep *cep,
		     const struct mpa_attempt *attempt);

#endif /* DDP_GLUE_QP_CONN_H */

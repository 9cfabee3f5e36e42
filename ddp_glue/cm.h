/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connection management: between iw_cm and MPA.
 *
 * cm.c        connect, accept, reject, and their parameters; work of ceps
 * cm_listen.c shared TCP listeners, dispatch of requests to devices
 */
#ifndef DDP_GLUE_CM_H
#define DDP_GLUE_CM_H

#include "types.h"

/* cm.c */
int iwm_cm_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int iwm_cm_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int iwm_cm_reject(struct iw_cm_id *id, const void *pd, u8 pd_len);
void iwm_cm_work(struct work_struct *work);
void iwm_cm_end_gone(struct iwm_cep *cep);
void iwm_cm_params(struct mpa_params *params, const struct iwm_qp *qp);
DECLARE_PER_CPU(struct mpa_mib, iwm_listen_mib);
extern const struct mpa_params iwm_cm_listen_params;
bool iwm_cm_is_foreign(const struct iw_cm_id *id, const struct net *net);
bool iwm_cm_is_tcp(const struct iw_cm_id *id);
u8 iwm_cm_tos(const struct iw_cm_id *id);

/* cm_listen.c */
int iwm_cm_create_listen(struct iw_cm_id *id, int backlog);
int iwm_cm_destroy_listen(struct iw_cm_id *id);

#endif /* DDP_GLUE_CM_H */

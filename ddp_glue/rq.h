/* SPDX-License-Identifier: GPL-2.0 */
/* Receive rings of queue pairs, and SRQs. */
#ifndef DDP_GLUE_RQ_H
#define DDP_GLUE_RQ_H

#include "types.h"

int iwm_rq_init(struct iwm_rq *rq, u32 num, u32 max_sge, bool user);
void iwm_rq_free(struct iwm_rq *rq);
int iwm_rq_post(struct iwm_rq *rq, const struct iwm_qp *qp,
		const struct ib_recv_wr *wr, const struct ib_recv_wr **bad_wr);
int iwm_rq_take(struct iwm_rq *rq, struct iwm_rwr *rwr);
bool iwm_rq_has_entry(struct iwm_rq *rq);
void iwm_srq_wait(struct iwm_srq *srq, struct iwm_rx_wait *wait);
void iwm_srq_wait_over(struct iwm_srq *srq, struct iwm_rx_wait *wait);
int iwm_srq_take(struct iwm_srq *srq, struct iwm_rwr *rwr);
int iwm_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr,
		   struct ib_udata *udata);
int iwm_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		   enum ib_srq_attr_mask mask, struct ib_udata *udata);
int iwm_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int iwm_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int iwm_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr);

#endif /* DDP_GLUE_RQ_H */

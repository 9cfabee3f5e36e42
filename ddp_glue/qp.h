/* SPDX-License-Identifier: GPL-2.0 */
/* Queue pairs: ib_device_ops. */
#ifndef DDP_GLUE_QP_H
#define DDP_GLUE_QP_H

#include "types.h"

int iwm_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		  struct ib_udata *udata);
int iwm_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata);
int iwm_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init_attr);
int iwm_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int iwm_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);

#endif /* DDP_GLUE_QP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Attributes that "rdma resource" shows beyond those of verbs. */
#ifndef DDP_GLUE_RESOURCE_H
#define DDP_GLUE_RESOURCE_H

#include "types.h"

int iwm_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);

#endif /* DDP_GLUE_RESOURCE_H */

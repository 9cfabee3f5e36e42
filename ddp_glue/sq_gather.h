/* SPDX-License-Identifier: GPL-2.0 */
/* How a kernel consumer's posts are sent (sq_gather.c). */
#ifndef DDP_GLUE_SQ_GATHER_H
#define DDP_GLUE_SQ_GATHER_H

#include "sq.h"

bool iwm_gather_lease(struct iwm_gather *gather);
void iwm_gather_send(struct iwm_gather *gather, bool now);
void iwm_gather_put(struct iwm_gather *gather);
void iwm_gather_init(struct iwm_qp *qp);

#endif /* DDP_GLUE_SQ_GATHER_H */

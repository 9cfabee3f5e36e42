/* SPDX-License-Identifier: GPL-2.0 */
/* When a kernel consumer's posts are sent (sq_gather.c). */
#ifndef DDP_GLUE_SQ_GATHER_H
#define DDP_GLUE_SQ_GATHER_H

#include "sq.h"

void iwm_gather_posted(struct iwm_qp *qp);	/* any context */

void iwm_gather_init(struct iwm_qp *qp);
void iwm_gather_stop(struct iwm_qp *qp);
int iwm_gather_module_init(void);
void iwm_gather_module_exit(void);

#endif /* DDP_GLUE_SQ_GATHER_H */

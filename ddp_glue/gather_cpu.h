/* SPDX-License-Identifier: GPL-2.0 */
/* Queues that wait for a CPU to have nothing else to do (gather_cpu.c). */
#ifndef DDP_GLUE_GATHER_CPU_H
#define DDP_GLUE_GATHER_CPU_H

#include "sq.h"

void iwm_gather_link(struct iwm_gather *gather);
void iwm_gather_stop(struct iwm_qp *qp);
int iwm_gather_module_init(void);
void iwm_gather_module_exit(void);

#endif /* DDP_GLUE_GATHER_CPU_H */

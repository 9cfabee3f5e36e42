/* SPDX-License-Identifier: GPL-2.0 */
/* Counters for "rdma statistic": ib_device_ops. */
#ifndef DDP_GLUE_STATS_H
#define DDP_GLUE_STATS_H

#include "types.h"

struct rdma_hw_stats *iwm_alloc_hw_stats(struct ib_device *ibdev,
					 u32 port_num);
int iwm_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		     u32 port_num, int index);

#endif /* DDP_GLUE_STATS_H */

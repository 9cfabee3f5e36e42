// SPDX-License-Identifier: GPL-2.0
/* Counters for "rdma statistic": those of mpa.ko, then the device's own. */
#include "cm.h"
#include "stats.h"

static const struct rdma_stat_desc stat_descs[] = {
#define MPA_COUNTER(id, counter, proc_name, text)	{ .name = #counter },
#include <mpa/counters.h>
#define IWM_COUNTER(id, counter, text)	{ .name = #counter },
#include "counters.h"
};

/**
 * iwm_alloc_hw_stats() - describe a port's counters to the core
 * @ibdev: device
 * @port_num: its only port
 *
 * Context: process.
 * Return: the description, which the core frees; NULL without memory.
 */
struct rdma_hw_stats *iwm_alloc_hw_stats(struct ib_device *ibdev,
					 u32 port_num)
{
	return rdma_alloc_hw_stats_struct(stat_descs,
					  ARRAY_SIZE(stat_descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/**
 * iwm_get_hw_stats() - sum a port's counters over the CPUs
 * @ibdev: device
 * @stats: set to the sums
 * @port_num: its only port
 * @index: ignored: all are summed
 *
 * Context: process.
 * Return: number of counters.
 */
int iwm_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		     u32 port_num, int index)
{
	struct iwm_dev *dev = to_iwm_dev(ibdev);
	int cpu, i;

	memset(stats->value, 0,
	       ARRAY_SIZE(stat_descs) * sizeof(stats->value[0]));
	for_each_possible_cpu(cpu) {
		const struct mpa_mib *mpa = per_cpu_ptr(dev->mpa_mib, cpu);
		const struct mpa_mib *all = per_cpu_ptr(&iwm_listen_mib, cpu);
		const struct iwm_mib *iwm = per_cpu_ptr(dev->mib, cpu);

		/* Before its Request a connection belongs to no device. */
		for (i = 0; i < MPA_NUM_STATS; i++)
			stats->value[i] += READ_ONCE(mpa->v[i]) +
					   READ_ONCE(all->v[i]);
		for (i = 0; i < IWM_NUM_STATS; i++)
			stats->value[MPA_NUM_STATS + i] +=
				READ_ONCE(iwm->v[i]);
	}
	return ARRAY_SIZE(stat_descs);
}

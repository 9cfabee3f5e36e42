// SPDX-License-Identifier: GPL-2.0
/* Counters for "rdma statistic": those of mpa.ko, then the device's own. */
#include "cm.h"
#include "stats.h"

#define IWM_STAT(stat)	(MPA_NUM_STATS + IWM_STAT_##stat)

static const struct rdma_stat_desc stat_descs[] = {
	[MPA_STAT_RX_FPDUS].name = "rx_fpdus",
	[MPA_STAT_RX_OCTETS].name = "rx_octets",
	[MPA_STAT_RX_PASSES].name = "rx_passes",
	[MPA_STAT_RX_STASHED].name = "rx_stashed",
	[MPA_STAT_RX_PLACED_EARLY].name = "rx_placed_early",
	[MPA_STAT_RX_CRC_ERRORS].name = "rx_crc_errors",
	[MPA_STAT_RX_MARKER_ERRORS].name = "rx_marker_errors",
	[MPA_STAT_TX_FPDUS].name = "tx_fpdus",
	[MPA_STAT_TX_OCTETS].name = "tx_octets",
	[MPA_STAT_TX_BATCHES].name = "tx_batches",
	[MPA_STAT_TX_BLOCKED].name = "tx_blocked",
	[MPA_STAT_TX_UNALIGNED].name = "tx_unaligned",
	[MPA_STAT_STARTUP_ERRORS].name = "startup_errors",
	[MPA_STAT_STARTUP_TIMEOUTS].name = "startup_timeouts",
	[MPA_STAT_STARTUP_REFUSED].name = "startup_refused",
	[MPA_STAT_CONNECTIONS].name = "connections",
	[IWM_STAT(RX_SENDS)].name = "rx_sends",
	[IWM_STAT(RX_WRITES)].name = "rx_writes",
	[IWM_STAT(RX_READ_REQUESTS)].name = "rx_read_requests",
	[IWM_STAT(RX_READ_RESPONSES)].name = "rx_read_responses",
	[IWM_STAT(RX_TERMINATES)].name = "rx_terminates",
	[IWM_STAT(TX_SENDS)].name = "tx_sends",
	[IWM_STAT(TX_WRITES)].name = "tx_writes",
	[IWM_STAT(TX_READ_REQUESTS)].name = "tx_read_requests",
	[IWM_STAT(TX_READ_RESPONSES)].name = "tx_read_responses",
	[IWM_STAT(TX_TERMINATES)].name = "tx_terminates",
	[IWM_STAT(RX_DDP_ERRORS)].name = "rx_ddp_errors",
	[IWM_STAT(RX_RDMAP_ERRORS)].name = "rx_rdmap_errors",
	[IWM_STAT(RNR)].name = "rx_no_buffer",
	[IWM_STAT(LOCAL_ERRORS)].name = "local_errors",
	[IWM_STAT(CQ_OVERFLOWS)].name = "cq_overflows",
	[IWM_STAT(DOORBELLS)].name = "doorbells",
	[IWM_STAT(CM_REFUSED)].name = "cm_refused",
	[IWM_STAT(CM_FALLBACKS)].name = "cm_fallbacks",
};

static_assert(ARRAY_SIZE(stat_descs) == MPA_NUM_STATS + IWM_NUM_STATS,
	      "every counter has a name");

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
 * @stats: where they go
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

		/* Before its Request a connection is no device's, or all's. */
		for (i = 0; i < MPA_NUM_STATS; i++)
			stats->value[i] += READ_ONCE(mpa->v[i]) +
					   READ_ONCE(all->v[i]);
		for (i = 0; i < IWM_NUM_STATS; i++)
			stats->value[MPA_NUM_STATS + i] +=
				READ_ONCE(iwm->v[i]);
	}
	return ARRAY_SIZE(stat_descs);
}

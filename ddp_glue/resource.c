// SPDX-License-Identifier: GPL-2.0
/*
 * Attributes of a queue pair that "rdma -dd resource show qp" shows beyond
 * those of verbs: what its connection has agreed on, and its counters.
 */
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>
#include "qp_ref.h"
#include "resource.h"
#include "sq.h"

static const char *const blocked_names[IWM_SQ_NUM_BLOCKED] = {
	[IWM_SQ_BLOCKED_NOT] = "no",
	[IWM_SQ_BLOCKED_TCP] = "tcp",
	[IWM_SQ_BLOCKED_STARTUP] = "startup",
	[IWM_SQ_BLOCKED_READ] = "read",
	[IWM_SQ_BLOCKED_MEMORY] = "memory",
};

static int fill_agreed(struct sk_buff *msg, const struct iwm_qp *qp,
		       const struct mpa_conn_info *info)
{
	const struct mpa_agreed *agreed = &qp->agreed;
	const char *role = qp->responder ? "Responder" : "Initiator";

	if (rdma_nl_put_driver_string(msg, "role", role) ||
	    rdma_nl_put_driver_u32(msg, "revision", agreed->rev) ||
	    rdma_nl_put_driver_u32(msg, "tx_markers", agreed->tx_markers) ||
	    rdma_nl_put_driver_u32(msg, "rx_markers", agreed->rx_markers) ||
	    rdma_nl_put_driver_u32(msg, "crc", agreed->crc) ||
	    rdma_nl_put_driver_u32(msg, "ird", READ_ONCE(qp->ird)) ||
	    rdma_nl_put_driver_u32(msg, "ord", READ_ONCE(qp->ord)) ||
	    rdma_nl_put_driver_u32(msg, "emss", info->emss) ||
	    rdma_nl_put_driver_u32(msg, "mulpdu", info->mulpdu) ||
	    rdma_nl_put_driver_u32(msg, "large_fpdus", info->large))
		return -EMSGSIZE;
	return 0;
}

static int fill_counts(struct sk_buff *msg, const struct mpa_conn_info *info,
		       enum sq_blocked why)
{
	u64 us = div_u64(info->tx_blocked_ns, NSEC_PER_USEC);

	if (rdma_nl_put_driver_u64(msg, "rx_fpdus", info->rx_fpdus) ||
	    rdma_nl_put_driver_u64(msg, "rx_octets", info->rx_octets) ||
	    rdma_nl_put_driver_u64(msg, "tx_fpdus", info->tx_fpdus) ||
	    rdma_nl_put_driver_u64(msg, "tx_octets", info->tx_octets) ||
	    rdma_nl_put_driver_u64(msg, "tx_batches", info->tx_batches) ||
	    rdma_nl_put_driver_u64(msg, "tx_blocked", info->tx_blocked) ||
	    rdma_nl_put_driver_u64(msg, "tx_blocked_us", us) ||
	    rdma_nl_put_driver_string(msg, "blocked", blocked_names[why]))
		return -EMSGSIZE;
	return 0;
}

static int fill_table(struct sk_buff *msg, const struct iwm_qp *qp,
		      const struct mpa_conn_info *info)
{
	struct nlattr *table = nla_nest_start_noflag(msg,
						     RDMA_NLDEV_ATTR_DRIVER);

	if (!table)
		return -EMSGSIZE;
	if (fill_agreed(msg, qp, info) ||
	    fill_counts(msg, info, READ_ONCE(qp->sq->blocked))) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}

static int fill_qp(struct sk_buff *msg, struct iwm_qp *qp)
{
	struct mpa_conn *conn = iwm_qp_conn_get(qp);
	struct mpa_conn_info info;

	if (!conn)
		return 0;
	mpa_conn_info(conn, &info);
	mpa_conn_put(conn);
	return info.emss ? fill_table(msg, qp, &info) : 0;
}

/**
 * iwm_fill_res_qp_entry() - ib_device_ops.fill_res_qp_entry
 * @msg: netlink message
 * @ibqp: queue pair. The core keeps its memory, but not all kernels prevent its
 *	destruction meanwhile; a reference does
 *
 * Context: process, may sleep.
 * Return: 0, or -EMSGSIZE. Adds nothing when there is no connection in Full
 * Operation.
 */
int iwm_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct iwm_qp *qp = iwm_qp_get(to_iwm_dev(ibqp->device), ibqp->qp_num);
	int ret = 0;

	if (!qp)
		return 0;
	if (&qp->ibqp == ibqp)
		ret = fill_qp(msg, qp);
	iwm_qp_put(qp);
	return ret;
}

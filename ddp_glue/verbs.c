// SPDX-License-Identifier: GPL-2.0
/*
 * Answers to the RDMA core about a device: attributes, user contexts,
 * protection domains.
 */
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/uverbs_ioctl.h>
#include "netdev.h"
#include "verbs.h"

int iwm_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		     struct ib_udata *udata)
{
	struct iwm_dev *dev = to_iwm_dev(ibdev);

	/* Newer cores pass no udata when it would be empty. */
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;

	memset(attr, 0, sizeof(*attr));
	addrconf_addr_eui48((u8 *)&attr->sys_image_guid, dev->mac);
	attr->vendor_id = IWM_VENDOR_ID;
	attr->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	attr->atomic_cap = IB_ATOMIC_NONE;
	attr->page_size_cap = ~(u64)(PAGE_SIZE - 1);
	attr->max_mr_size = (u64)IWM_MAX_MR_PAGES << PAGE_SHIFT;
	attr->max_qp = IWM_MAX_QP;
	attr->max_qp_wr = IWM_MAX_QP_WR;
	/* uverbs reports to programs the smaller of the two: a ring entry's */
	attr->max_send_sge = IWM_MAX_SEND_SGE;
	attr->max_recv_sge = IWM_MAX_SGE;
	attr->max_sge_rd = IWM_MAX_SGE_RD;
	attr->max_cq = IWM_MAX_CQ;
	attr->max_cqe = IWM_MAX_CQE;
	attr->max_mr = IWM_MAX_MR;
	attr->max_pd = IWM_MAX_PD;
	attr->max_srq = IWM_MAX_SRQ;
	attr->max_srq_wr = IWM_MAX_SRQ_WR;
	attr->max_srq_sge = IWM_MAX_SGE;
	attr->max_qp_rd_atom = IWM_MAX_IRD;
	attr->max_qp_init_rd_atom = IWM_MAX_ORD;
	attr->max_res_rd_atom = IWM_MAX_QP * IWM_MAX_IRD;
	attr->max_fast_reg_page_list_len = IWM_MAX_PBL;
	return 0;
}

static void port_speed(u32 mbit, struct ib_port_attr *attr)
{
	static const struct {
		u32 mbit;
		u8 width;
		u8 speed;
	} table[] = {
		{ 1000, IB_WIDTH_1X, IB_SPEED_SDR },
		{ 10000, IB_WIDTH_1X, IB_SPEED_FDR10 },
		{ 20000, IB_WIDTH_4X, IB_SPEED_DDR },
		{ 25000, IB_WIDTH_1X, IB_SPEED_EDR },
		{ 40000, IB_WIDTH_4X, IB_SPEED_FDR10 },
		{ 50000, IB_WIDTH_1X, IB_SPEED_HDR },
		{ 100000, IB_WIDTH_4X, IB_SPEED_EDR },
		{ 200000, IB_WIDTH_4X, IB_SPEED_HDR },
		{ U32_MAX, IB_WIDTH_4X, IB_SPEED_NDR },
	};
	int i = 0;

	while (mbit > table[i].mbit)
		i++;
	attr->active_width = table[i].width;
	attr->active_speed = table[i].speed;
}

/*
 * iWARP has no partitions, but rdma_cm looks for a key for 127.0.0.1 in the core's
 * cache, which is filled at registration. Afterwards an RNIC shows none: libfabric
 * would take each IPv6 GID, with a key, for an address of InfiniBand's.
 */
static u16 num_pkeys(const struct iwm_dev *dev)
{
	return READ_ONCE(dev->registered) &&
	       READ_ONCE(dev->ibdev.node_type) == RDMA_NODE_RNIC ? 0 : 1;
}

int iwm_query_port(struct ib_device *ibdev, u32 port_num,
		   struct ib_port_attr *attr)
{
	struct iwm_dev *dev = to_iwm_dev(ibdev);
	const struct net_device *netdev;
	bool up = false;

	memset(attr, 0, sizeof(*attr));
	attr->max_mtu = IB_MTU_256;
	rcu_read_lock();
	netdev = rcu_dereference(dev->netdev);
	if (netdev) {
		up = netif_running(netdev) && netif_carrier_ok(netdev);
		attr->max_mtu = ib_mtu_int_to_enum(READ_ONCE(netdev->mtu));
	}
	rcu_read_unlock();

	attr->active_mtu = attr->max_mtu;
	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP :
				IB_PORT_PHYS_STATE_DISABLED;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = IWM_MAX_MSG;
	attr->gid_tbl_len = IWM_NUM_GIDS;
	attr->pkey_tbl_len = num_pkeys(dev);
	port_speed(READ_ONCE(dev->speed), attr);
	return 0;
}

/* Otherwise the core would derive it from the node type: see settings.c. */
enum rdma_link_layer iwm_get_link_layer(struct ib_device *ibdev, u32 port_num)
{
	return IB_LINK_LAYER_ETHERNET;
}

int iwm_get_port_immutable(struct ib_device *ibdev, u32 port_num,
			   struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = IWM_NUM_GIDS;
	immutable->pkey_tbl_len = 1;
	immutable->core_cap_flags = RDMA_CORE_PORT_IWARP;
	return 0;
}

/*
 * 0: the netdev's GID; 1: lo's, or zero (no GID) for a device on lo; the others:
 * the netdev's IP addresses. IB_EVENT_GID_CHANGE follows a change.
 */
int iwm_query_gid(struct ib_device *ibdev, u32 port_num, int index,
		  union ib_gid *gid)
{
	if (index < 0 || index >= IWM_NUM_GIDS)
		return -EINVAL;
	*gid = to_iwm_dev(ibdev)->gids[index];
	return 0;
}

/* See num_pkeys(). */
int iwm_query_pkey(struct ib_device *ibdev, u32 port_num, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

struct net_device *iwm_get_netdev(struct ib_device *ibdev, u32 port_num)
{
	return iwm_dev_get_netdev(to_iwm_dev(ibdev));
}

int iwm_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata)
{
	struct siw_uresp_alloc_ctx resp = {};

	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	resp.dev_id = ibctx->device->index;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

void iwm_dealloc_ucontext(struct ib_ucontext *ibctx)
{
}

/*
 * The core destroys the context's objects itself, and mappings of rings hold
 * the pages, so this has nothing to do. But without this function a device
 * could neither be deleted nor moved to another namespace while it is open.
 */
void iwm_disassociate_ucontext(struct ib_ucontext *ibctx)
{
}

int iwm_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return iwm_claim(&to_iwm_dev(ibpd->device)->num_pd, IWM_MAX_PD);
}

int iwm_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	atomic_dec(&to_iwm_dev(ibpd->device)->num_pd);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What the RDMA core asks of a device: attributes, user contexts, protection
 * domains, and the table of all operations.
 */
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/uverbs_ioctl.h>

#include "iwmpa.h"

static int iwm_query_device(struct ib_device *ibdev,
			    struct ib_device_attr *attr,
			    struct ib_udata *udata)
{
	struct iwm_dev *dev = to_iwm_dev(ibdev);

	if (udata->inlen || udata->outlen)
		return -EINVAL;

	memset(attr, 0, sizeof(*attr));
	addrconf_addr_eui48((u8 *)&attr->sys_image_guid, dev->mac);
	attr->vendor_id = IWM_VENDOR_ID;
	attr->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	attr->atomic_cap = IB_ATOMIC_NONE;
	attr->page_size_cap = ~(u64)(PAGE_SIZE - 1);
	attr->max_mr_size = U64_MAX;
	attr->max_qp = IWM_MAX_QP;
	attr->max_qp_wr = IWM_MAX_QP_WR;
	attr->max_send_sge = IWM_MAX_SGE;
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

static void iwm_port_speed(u32 mbit, struct ib_port_attr *attr)
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

static int iwm_query_port(struct ib_device *ibdev, u32 port_num,
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
	attr->pkey_tbl_len = 1;
	iwm_port_speed(READ_ONCE(dev->speed), attr);
	return 0;
}

static int iwm_get_port_immutable(struct ib_device *ibdev, u32 port_num,
				  struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = IWM_NUM_GIDS;
	immutable->pkey_tbl_len = 1;
	immutable->core_cap_flags = RDMA_CORE_PORT_IWARP;
	return 0;
}

static int iwm_query_gid(struct ib_device *ibdev, u32 port_num, int index,
			 union ib_gid *gid)
{
	return iwm_dev_query_gid(to_iwm_dev(ibdev), index, gid);
}

/* iWARP knows no partitions, but rdma_cm looks one up for 127.0.0.1. */
static int iwm_query_pkey(struct ib_device *ibdev, u32 port_num, u16 index,
			  u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

static struct net_device *iwm_get_netdev(struct ib_device *ibdev, u32 port_num)
{
	return iwm_dev_get_netdev(to_iwm_dev(ibdev));
}

static int iwm_alloc_ucontext(struct ib_ucontext *ibctx,
			      struct ib_udata *udata)
{
	struct siw_uresp_alloc_ctx resp = {};

	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	resp.dev_id = ibctx->device->index;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static void iwm_dealloc_ucontext(struct ib_ucontext *ibctx)
{
}

/*
 * The core destroys the context's objects itself. Rings that stay mapped
 * consist of pages that the mappings hold: nothing to be done, but without
 * this function a device could neither be deleted nor moved while it is open.
 */
static void iwm_disassociate_ucontext(struct ib_ucontext *ibctx)
{
}

static int iwm_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return iwm_claim(&to_iwm_dev(ibpd->device)->num_pd, IWM_MAX_PD);
}

static int iwm_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	atomic_dec(&to_iwm_dev(ibpd->device)->num_pd);
	return 0;
}

const struct ib_device_ops iwm_device_ops = {
	.owner = THIS_MODULE,
	/* Debian's libsiw is to drive this device: its id, its ABI. */
	.driver_id = RDMA_DRIVER_SIW,
	.uverbs_abi_ver = SIW_ABI_VERSION,

	.alloc_hw_port_stats = iwm_alloc_hw_stats,
	.alloc_mr = iwm_alloc_mr,
	.alloc_pd = iwm_alloc_pd,
	.alloc_ucontext = iwm_alloc_ucontext,
	.create_cq = iwm_create_cq,
	.create_qp = iwm_create_qp,
	.create_srq = iwm_create_srq,
	.dealloc_driver = iwm_dev_dealloc,
	.dealloc_pd = iwm_dealloc_pd,
	.dealloc_ucontext = iwm_dealloc_ucontext,
	.dereg_mr = iwm_dereg_mr,
	.destroy_cq = iwm_destroy_cq,
	.destroy_qp = iwm_destroy_qp,
	.destroy_srq = iwm_destroy_srq,
	.disassociate_ucontext = iwm_disassociate_ucontext,
	.get_dma_mr = iwm_get_dma_mr,
	.get_hw_stats = iwm_get_hw_stats,
	.get_netdev = iwm_get_netdev,
	.get_port_immutable = iwm_get_port_immutable,
	.iw_accept = iwm_cm_accept,
	.iw_add_ref = iwm_iw_add_ref,
	.iw_connect = iwm_cm_connect,
	.iw_create_listen = iwm_cm_create_listen,
	.iw_destroy_listen = iwm_cm_destroy_listen,
	.iw_get_qp = iwm_iw_get_qp,
	.iw_reject = iwm_cm_reject,
	.iw_rem_ref = iwm_iw_rem_ref,
	.map_mr_sg = iwm_map_mr_sg,
	.mmap = iwm_mmap,
	.mmap_free = iwm_mmap_free,
	.modify_cq = iwm_modify_cq,
	.modify_qp = iwm_modify_qp,
	.modify_srq = iwm_modify_srq,
	.poll_cq = iwm_poll_cq,
	.post_recv = iwm_post_recv,
	.post_send = iwm_post_send,
	.post_srq_recv = iwm_post_srq_recv,
	.pre_destroy_cq = iwm_notify_stop,
	.query_device = iwm_query_device,
	.query_gid = iwm_query_gid,
	.query_pkey = iwm_query_pkey,
	.query_port = iwm_query_port,
	.query_qp = iwm_query_qp,
	.query_srq = iwm_query_srq,
	.reg_user_mr = iwm_reg_user_mr,
	.req_notify_cq = iwm_req_notify_cq,
	.resize_cq = iwm_resize_cq,

	INIT_RDMA_OBJ_SIZE(ib_cq, iwm_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, iwm_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, iwm_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, iwm_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, iwm_ucontext, ibctx),
};

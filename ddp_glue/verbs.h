/* SPDX-License-Identifier: GPL-2.0 */
/* Answers to the RDMA core about a device: ib_device_ops. */
#ifndef DDP_GLUE_VERBS_H
#define DDP_GLUE_VERBS_H

#include "types.h"

int iwm_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		     struct ib_udata *udata);
int iwm_query_port(struct ib_device *ibdev, u32 port_num,
		   struct ib_port_attr *attr);
enum rdma_link_layer iwm_get_link_layer(struct ib_device *ibdev, u32 port_num);
int iwm_get_port_immutable(struct ib_device *ibdev, u32 port_num,
			   struct ib_port_immutable *immutable);
int iwm_query_gid(struct ib_device *ibdev, u32 port_num, int index,
		  union ib_gid *gid);
int iwm_query_pkey(struct ib_device *ibdev, u32 port_num, u16 index, u16 *pkey);
struct net_device *iwm_get_netdev(struct ib_device *ibdev, u32 port_num);
int iwm_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata);
void iwm_dealloc_ucontext(struct ib_ucontext *ibctx);
void iwm_disassociate_ucontext(struct ib_ucontext *ibctx);
int iwm_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int iwm_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);

#endif /* DDP_GLUE_VERBS_H */

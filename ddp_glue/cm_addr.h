/* SPDX-License-Identifier: GPL-2.0 */
/* Local addresses: their netdev, their VRF, and rdma_cm's device for them. */
#ifndef DDP_GLUE_CM_ADDR_H
#define DDP_GLUE_CM_ADDR_H

#include "types.h"

bool iwm_addr_is_any(const struct sockaddr_storage *addr);
bool iwm_addr_is_loopback(const struct sockaddr_storage *addr);
bool iwm_addr_equal(const struct sockaddr_storage *a,
		    const struct sockaddr_storage *b);
const struct net_device *
iwm_addr_owner(struct net *net, const struct sockaddr_storage *addr);
bool iwm_cma_knows_netdevs(struct iwm_dev *dev);
bool iwm_addr_served(struct iwm_dev *dev, const struct net_device *owner);
int iwm_addr_vrf(const struct iwm_dev *dev, struct net *net,
		 const struct sockaddr_storage *addr);

#endif /* DDP_GLUE_CM_ADDR_H */

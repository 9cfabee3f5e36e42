/* SPDX-License-Identifier: GPL-2.0 */
/* A device's netdev and namespace for all layers. */
#ifndef DDP_GLUE_NETDEV_H
#define DDP_GLUE_NETDEV_H

#include "types.h"

/* With a reference, or NULL: release with put_net() and dev_put(). */
struct net *iwm_dev_net(struct iwm_dev *dev);
struct net_device *iwm_dev_get_netdev(struct iwm_dev *dev);
bool iwm_dev_going(struct iwm_dev *dev);
bool iwm_dev_is_added(struct iwm_dev *dev);

#endif /* DDP_GLUE_NETDEV_H */

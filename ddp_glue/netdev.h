/* SPDX-License-Identifier: GPL-2.0 */
/* Facts about a device for all layers, and the queue that work runs on. */
#ifndef IWM_NETDEV_H
#define IWM_NETDEV_H

#include "types.h"

extern struct workqueue_struct *iwm_wq;	/* WQ_MEM_RECLAIM */
extern struct workqueue_struct *iwm_user_wq;

/*
 * Where work for a program or a kernel consumer is queued. A program's may wait
 * for memory of its cgroup, in TCP too: storage does not wait for that.
 */
static inline struct workqueue_struct *iwm_work_queue(bool user)
{
	return user ? iwm_user_wq : iwm_wq;
}

struct net *iwm_dev_net(struct iwm_dev *dev);	/* put_net() it; or NULL */
struct net_device *iwm_dev_get_netdev(struct iwm_dev *dev); /* dev_put() */
bool iwm_dev_going(struct iwm_dev *dev);

#endif /* IWM_NETDEV_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* A device's netdev and namespace for all layers, and the work queues. */
#ifndef IWM_NETDEV_H
#define IWM_NETDEV_H

#include "types.h"

extern struct workqueue_struct *iwm_wq;	/* WQ_MEM_RECLAIM */
extern struct workqueue_struct *iwm_user_wq;

/*
 * The work queue of a program's or a kernel consumer's work. Work for a program
 * may wait for memory of its cgroup, even within TCP. Storage must not wait for
 * that, so kernel consumers have a queue of their own.
 */
static inline struct workqueue_struct *iwm_work_queue(bool user)
{
	return user ? iwm_user_wq : iwm_wq;
}

/* With a reference, or NULL: release with put_net() and dev_put(). */
struct net *iwm_dev_net(struct iwm_dev *dev);
struct net_device *iwm_dev_get_netdev(struct iwm_dev *dev);
bool iwm_dev_going(struct iwm_dev *dev);

#endif /* IWM_NETDEV_H */

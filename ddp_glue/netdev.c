// SPDX-License-Identifier: GPL-2.0
/*
 * Facts about a device for all layers: its netdev, the network namespace, and
 * whether it is going; and the queue that work runs on.
 */
#include <net/net_namespace.h>
#include "netdev.h"

struct workqueue_struct *iwm_wq;
struct workqueue_struct *iwm_user_wq;

/**
 * iwm_dev_get_netdev() - the netdev of a device
 * @dev: device
 *
 * Context: any.
 * Return: the netdev, to be given back with dev_put(); NULL once it is going
 * away.
 */
struct net_device *iwm_dev_get_netdev(struct iwm_dev *dev)
{
	struct net_device *netdev;

	rcu_read_lock();
	netdev = rcu_dereference(dev->netdev);
	dev_hold(netdev);
	rcu_read_unlock();
	return netdev;
}

/**
 * iwm_dev_net() - the network namespace that a device's connections live in
 * @dev: device
 *
 * Context: any.
 * Return: the namespace of the netdev, to be given back with put_net(); NULL
 * once one of the two is going away.
 */
struct net *iwm_dev_net(struct iwm_dev *dev)
{
	const struct net_device *netdev;
	struct net *net = NULL;

	rcu_read_lock();
	netdev = rcu_dereference(dev->netdev);
	if (netdev)
		net = maybe_get_net(dev_net(netdev));
	rcu_read_unlock();
	return net;
}

/**
 * iwm_dev_going() - does the core take its clients from a device?
 * @dev: device
 *
 * It does so when the device is unregistered, and when it changes its network
 * namespace, before it calls anything of the driver: the lock is all that
 * shows it, and is held for nothing else.
 *
 * Context: any. Return: a hint: it may be over, or have begun, meanwhile.
 */
bool iwm_dev_going(struct iwm_dev *dev)
{
	return mutex_is_locked(&dev->ibdev.unregistration_lock);
}

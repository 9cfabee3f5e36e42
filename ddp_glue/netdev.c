// SPDX-License-Identifier: GPL-2.0
/*
 * A device's netdev and network namespace for all layers, and whether the device
 * is being removed.
 */
#include <net/net_namespace.h>
#include "netdev.h"

/**
 * iwm_dev_get_netdev() - get the netdev of a device
 * @dev: device
 *
 * Context: any.
 * Return: the netdev, release it with dev_put(); NULL once it is being
 * unregistered.
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
 * iwm_dev_net() - get the network namespace of a device's connections
 * @dev: device
 *
 * Context: any.
 * Return: the namespace of the netdev, release it with put_net(); NULL once the
 * netdev or the namespace is being removed.
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
 * iwm_dev_going() - is the core removing its clients from a device?
 * @dev: device
 *
 * The core does so when the device is unregistered or changes its network
 * namespace, before it calls the driver. Only its lock shows that, and the core
 * holds the lock for nothing else.
 *
 * Context: any. Return: a hint, which may be out of date.
 */
bool iwm_dev_going(struct iwm_dev *dev)
{
	return mutex_is_locked(&dev->ibdev.unregistration_lock);
}

/**
 * iwm_dev_is_added() - is the core adding a device to its clients?
 * @dev: device
 *
 * The core does so when the device is registered, and when it has changed its
 * network namespace.
 *
 * Context: any. Return: a hint, true also while the device is being removed.
 */
bool iwm_dev_is_added(struct iwm_dev *dev)
{
	return !READ_ONCE(dev->registered) || iwm_dev_going(dev);
}

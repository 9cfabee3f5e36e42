// SPDX-License-Identifier: GPL-2.0
/*
 * Local addresses: which netdev has one, in which VRF it is, and which device
 * rdma_cm takes for it.
 *
 * When a Request arrives, rdma_cm itself looks for the device of the local
 * address. It prefers the device of the listener to which the Request was
 * offered. The ids of a wildcard listener have no port number, so for such a
 * listener it takes the device that was created first. The program then makes
 * its QP on that device, and iw_cm looks for the QP on the listener's device:
 * the two must be the same.
 */
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <rdma/ib_cache.h>
#include "cm_addr.h"

bool iwm_addr_is_any(const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *a6 = (const void *)addr;
	const struct sockaddr_in *a4 = (const void *)addr;

	return addr->ss_family == AF_INET6 ? ipv6_addr_any(&a6->sin6_addr) :
					     !a4->sin_addr.s_addr;
}

bool iwm_addr_is_loopback(const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *a6 = (const void *)addr;
	const struct sockaddr_in *a4 = (const void *)addr;

	if (addr->ss_family == AF_INET6)
		return ipv6_addr_loopback(&a6->sin6_addr);
	return ipv4_is_loopback(a4->sin_addr.s_addr);
}

bool iwm_addr_equal(const struct sockaddr_storage *a,
		    const struct sockaddr_storage *b)
{
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return a4->sin_port == b4->sin_port &&
		       a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return a6->sin6_port == b6->sin6_port &&
	       a6->sin6_scope_id == b6->sin6_scope_id &&
	       ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr);
}

static const struct net_device *addr_owner4(struct net *net,
					    const struct sockaddr_in *addr)
{
	return __ip_dev_find(net, addr->sin_addr.s_addr, false);
}

static const struct net_device *addr_owner6(struct net *net,
					    const struct sockaddr_in6 *addr)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct net_device *netdev;

	for_each_netdev_rcu(net, netdev)
		if (ipv6_chk_addr(net, &addr->sin6_addr, netdev, 1))
			return netdev;
#endif
	return NULL;
}

/**
 * iwm_addr_owner() - find the netdev that rdma_cm takes for a local address's
 * @net: namespace
 * @addr: address; its scope is ignored, as rdma_cm ignores it
 *
 * Of several netdevs with this address (link-local ones, or in several VRFs)
 * rdma_cm takes the first that it meets. This looks in the same order.
 *
 * Context: any, within an RCU read section.
 * Return: the netdev, or NULL.
 */
const struct net_device *
iwm_addr_owner(struct net *net, const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET6)
		return addr_owner6(net, (const void *)addr);
	return addr_owner4(net, (const void *)addr);
}

/**
 * iwm_cma_knows_netdevs() - does this kernel's rdma_cm compare netdevs?
 * @dev: device that is registered
 *
 * It then ignores GIDs. Older ones compare only GIDs.
 *
 * Context: any. Return: whether it does.
 */
bool iwm_cma_knows_netdevs(struct iwm_dev *dev)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(&dev->ibdev, 1, 0);
	bool knows;

	if (IS_ERR(attr))
		return false;
	knows = rcu_access_pointer(attr->ndev);
	rdma_put_gid_attr(attr);
	return knows;
}

static bool is_vlan_of(const struct net_device *vlan,
		       const struct net_device *under)
{
	return is_vlan_dev(vlan) && vlan_dev_real_dev(vlan) == under;
}

/**
 * iwm_addr_served() - does rdma_cm take a device for that of an address?
 * @dev: device
 * @owner: what iwm_addr_owner() has returned
 *
 * For an address of lo, an rdma_cm that compares only link addresses takes any
 * device of the namespace (see device.c), and one that compares netdevs takes
 * lo's.
 *
 * Context: any, within an RCU read section. Return: whether it does.
 */
bool iwm_addr_served(struct iwm_dev *dev, const struct net_device *owner)
{
	const struct net_device *netdev = rcu_dereference(dev->netdev);
	bool vlan, same_gid;

	if (netdev == owner)
		return true;
	if (owner->flags & IFF_LOOPBACK)
		return !iwm_cma_knows_netdevs(dev);
	if (!netdev)
		return false;
	vlan = is_vlan_of(netdev, owner) || is_vlan_of(owner, netdev);
	same_gid = !memcmp(netdev->dev_addr, owner->dev_addr,
			   sizeof(union ib_gid));
	if (vlan == same_gid)
		return vlan;
	return iwm_cma_knows_netdevs(dev) ? vlan : same_gid;
}

/* Do sockets that are bound to no netdev take connections from all VRFs? */
static bool tcp_crosses_vrfs(const struct net *net)
{
#ifdef CONFIG_NET_L3_MASTER_DEV
	return READ_ONCE(net->ipv4.sysctl_tcp_l3mdev_accept);
#else
	return false;
#endif
}

/* The netdev whose VRF decides, or NULL. */
static const struct net_device *vrf_netdev(const struct iwm_dev *dev,
					   struct net *net,
					   const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *a6 = (const void *)addr;

	if (iwm_addr_is_any(addr))
		return rcu_dereference(dev->netdev);
	if (addr->ss_family == AF_INET6 && a6->sin6_scope_id &&
	    ipv6_addr_type(&a6->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		return dev_get_by_index_rcu(net, a6->sin6_scope_id);
	return iwm_addr_owner(net, addr);
}

/**
 * iwm_addr_vrf() - find the VRF that a socket at a local address belongs in
 * @dev: device
 * @net: namespace of @addr
 * @addr: address to bind the socket to, or a wildcard
 *
 * A netdev may enter or leave a VRF at any time: the result is that of now.
 *
 * Context: any. Return: for &mpa_params.vrf.
 */
int iwm_addr_vrf(const struct iwm_dev *dev, struct net *net,
		 const struct sockaddr_storage *addr)
{
	const struct net_device *netdev;
	int vrf = 0;

	if (iwm_addr_is_any(addr) && tcp_crosses_vrfs(net))
		return MPA_ANY_VRF;
	rcu_read_lock();
	netdev = vrf_netdev(dev, net, addr);
	if (netdev)
		vrf = l3mdev_master_ifindex_rcu(netdev);
	rcu_read_unlock();
	return vrf;
}

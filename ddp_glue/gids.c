// SPDX-License-Identifier: GPL-2.0
/*
 * GIDs for the IP addresses of a device's netdev: programs that connect queue
 * pairs by hand exchange them. An IPv4 address is mapped into IPv6 (::ffff:0/96),
 * as in RoCE. device.c has the GIDs for link addresses, which rdma_cm looks for.
 */
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include "gids.h"

/* The GIDs of a netdev's first addresses: those that the table has room for */
struct addr_gids {
	unsigned int num;
	union ib_gid gid[IWM_NUM_ADDR_GIDS];
};

static void add_gid(struct addr_gids *found, const struct in6_addr *addr)
{
	if (found->num < IWM_NUM_ADDR_GIDS)
		memcpy(&found->gid[found->num++], addr, sizeof(*addr));
}

static void find_addrs4(struct net_device *netdev, struct addr_gids *found)
{
	const struct in_device *in_dev = __in_dev_get_rtnl(netdev);
	const struct in_ifaddr *ifa;
	struct in6_addr mapped;

	if (!in_dev)
		return;
	in_dev_for_each_ifa_rtnl(ifa, in_dev) {
		ipv6_addr_set_v4mapped(ifa->ifa_local, &mapped);
		add_gid(found, &mapped);
	}
}

static void find_addrs6(struct net_device *netdev, struct addr_gids *found)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct inet6_dev *in6_dev = __in6_dev_get(netdev);
	const struct inet6_ifaddr *ifa;

	if (!in6_dev)
		return;
	read_lock_bh(&in6_dev->lock);
	list_for_each_entry(ifa, &in6_dev->addr_list, if_list)
		if (!(ifa->flags & IFA_F_DADFAILED))
			add_gid(found, &ifa->addr);
	read_unlock_bh(&in6_dev->lock);
#endif
}

/* Is @gid one of @num? Context: any. */
bool iwm_has_gid(const union ib_gid *gids, unsigned int num,
		 const union ib_gid *gid)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		if (!memcmp(&gids[i], gid, sizeof(*gid)))
			return true;
	return false;
}

/**
 * iwm_gids_follow() - bring GIDs up to date with a netdev's addresses
 * @netdev: netdev
 * @gids: IWM_NUM_ADDR_GIDS of them, zero where there is none. An address keeps
 *	its place as long as the netdev has it
 *
 * Context: rtnl held.
 */
void iwm_gids_follow(struct net_device *netdev, union ib_gid *gids)
{
	struct addr_gids found = { };
	unsigned int i, slot = 0;

	ASSERT_RTNL();
	find_addrs4(netdev, &found);
	find_addrs6(netdev, &found);
	for (i = 0; i < IWM_NUM_ADDR_GIDS; i++)
		if (!iwm_has_gid(found.gid, found.num, &gids[i]))
			gids[i] = zgid;
	for (i = 0; i < found.num; i++) {
		if (iwm_has_gid(gids, IWM_NUM_ADDR_GIDS, &found.gid[i]))
			continue;
		while (!rdma_is_zero_gid(&gids[slot]))
			slot++;
		gids[slot] = found.gid[i];
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Devices: "rdma link add NAME type iwmpa netdev DEV" makes one. "rdma link
 * delete", the removal of its netdev, or unloading the module removes it.
 *
 * The driver id is siw's. An in-tree siw looks up devices by netdev and that id,
 * so this file never sets the netdev in the core (get_netdev returns it), and
 * finds devices in its own list. But when siw is unloaded, the core removes all
 * devices of the id.
 *
 * Lock order: rtnl -> a netdev's own lock -> devices_lock. Some notifiers run
 * within the second.
 *
 * rdma_cm picks a device by comparing a GID with the first 16 octets of the
 * link address of the netdev that has the local IP address. For 127.0.0.1 and
 * ::1 that netdev is lo, whichever device the connection uses, and lo's link
 * address is zero, which no GID may be. However, a link address has
 * MAX_ADDR_LEN octets of storage, of which addr_len are the address: only
 * rdma_cm sees the others. So this file writes a tag behind a zero link address
 * (the address itself does not change) and gives each device the tagged address
 * of its namespace's lo as a second GID. The tag is random, so that the lo of
 * two namespaces differ. Unloading the module removes it. Netdevs without any
 * link address (ARPHRD_NONE), and ipvlan ones, which share theirs, are tagged in
 * the same way.
 */
#define pr_fmt(fmt) "iwmpa: " fmt

#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/net_namespace.h>
#include <net/rtnetlink.h>
#include <rdma/ib_cache.h>
#include <rdma/iw_portmap.h>
#include <rdma/rdma_netlink.h>
#include "cep.h"
#include "cm.h"
#include "cm_addr.h"
#include "cq.h"
#include "gather_cpu.h"
#include "gids.h"
#include "mem.h"
#include "mmap.h"
#include "netdev.h"
#include "settings.h"
#include "qp.h"
#include "qp_ref.h"
#include "resource.h"
#include "rq.h"
#include "sq_send.h"
#include "stats.h"
#include "verbs.h"
#include "work.h"

#define IWM_TAG_OFF	8
#define IWM_TAG_LEN	8
#define IWM_TAG_MAGIC	"iw"	/* first octets of a tag, to recognise it */

static LIST_HEAD(devices);	/* devices_lock to change; RCU */
static DEFINE_MUTEX(devices_lock);

static bool addr_tagged(const struct net_device *netdev)
{
	return netdev->addr_len <= IWM_TAG_OFF &&
	       !memcmp(netdev->dev_addr + IWM_TAG_OFF, IWM_TAG_MAGIC,
		       strlen(IWM_TAG_MAGIC));
}

static void addr_tag(struct net_device *netdev)
{
	u8 tag[IWM_TAG_LEN];

	get_random_bytes(tag, sizeof(tag));
	memcpy(tag, IWM_TAG_MAGIC, strlen(IWM_TAG_MAGIC));
	dev_addr_mod(netdev, IWM_TAG_OFF, tag, sizeof(tag));
}

static void addr_untag(struct net_device *netdev)
{
	static const u8 none[IWM_TAG_LEN];

	dev_addr_mod(netdev, IWM_TAG_OFF, none, sizeof(none));
}

/* All ipvlan netdevs have the link address of the netdev under them. */
static bool is_ipvlan(const struct net_device *netdev)
{
	const struct rtnl_link_ops *ops = netdev->rtnl_link_ops;

	return ops && (!strcmp(ops->kind, "ipvlan") ||
		       !strcmp(ops->kind, "ipvtap"));
}

static bool needs_tag(const struct net_device *netdev)
{
	return !memchr_inv(netdev->dev_addr, 0, netdev->addr_len) ||
	       is_ipvlan(netdev);
}

/* GID that rdma_cm looks for when @netdev has the local address: see above */
static void netdev_gid(struct net_device *netdev, union ib_gid *gid)
{
	ASSERT_RTNL();

	if (addr_tagged(netdev) && !needs_tag(netdev))
		addr_untag(netdev);	/* it now has a real address */
	else if (!addr_tagged(netdev) && needs_tag(netdev))
		addr_tag(netdev);
	memcpy(gid, netdev->dev_addr, sizeof(*gid));
}

static void addr_untag_all(void)
{
	struct net_device *netdev;
	struct net *net;

	rtnl_lock();
	down_read(&net_rwsem);
	for_each_net(net)
		for_each_netdev(net, netdev)
			if (addr_tagged(netdev))
				addr_untag(netdev);
	up_read(&net_rwsem);
	rtnl_unlock();
}

/* @gids: of link addresses; those of IP addresses stay in their places */
static void dev_gids(struct net_device *netdev, union ib_gid *gids)
{
	struct net_device *lo = dev_net(netdev)->loopback_dev;

	memset(gids, 0, IWM_NUM_LINK_GIDS * sizeof(*gids));
	netdev_gid(netdev, &gids[0]);
	if (netdev != lo)
		netdev_gid(lo, &gids[1]);
	iwm_gids_follow(netdev, gids + IWM_NUM_LINK_GIDS);
}

/* Context: rtnl held, devices_lock not, because this takes the netdev's lock. */
static void dev_set_speed(struct iwm_dev *dev, struct net_device *netdev)
{
	struct ethtool_link_ksettings link;
	u32 speed = 0;

	ASSERT_RTNL();

	if (!__ethtool_get_link_ksettings(netdev, &link) &&
	    link.base.speed != (u32)SPEED_UNKNOWN)
		speed = link.base.speed;
	WRITE_ONCE(dev->speed, speed);
}

static enum ib_port_state netdev_port_state(const struct net_device *netdev)
{
	return netif_running(netdev) && netif_carrier_ok(netdev) ?
		IB_PORT_ACTIVE : IB_PORT_DOWN;
}

/* Does @netdev carry TCP/IP itself, and does rdma_cm support its type? */
static int netdev_check(struct net_device *netdev)
{
	switch (netdev->type) {
	case ARPHRD_ETHER:
	case ARPHRD_IEEE802:
	case ARPHRD_LOOPBACK:
	case ARPHRD_NONE:	/* WireGuard, tun: gets a tag, as lo does */
		break;
	default:
		pr_err_ratelimited("%s: link type %u cannot carry iWARP, use an Ethernet-like netdev\n",
				   netdev->name, netdev->type);
		return -EOPNOTSUPP;
	}
	if (netif_is_bond_slave(netdev) || netif_is_team_port(netdev) ||
	    netif_is_bridge_port(netdev)) {
		pr_err_ratelimited("%s: is a port of another netdev, use that one\n",
				   netdev->name);
		return -EINVAL;
	}
	return 0;
}

static struct net_device *dev_netdev(const struct iwm_dev *dev)
{
	return rcu_dereference_protected(dev->netdev,
					 lockdep_is_held(&devices_lock));
}

static struct iwm_dev *dev_find(const struct net_device *netdev)
{
	struct iwm_dev *dev;

	lockdep_assert_held(&devices_lock);

	list_for_each_entry(dev, &devices, entry)
		if (dev_netdev(dev) == netdev)
			return dev;
	return NULL;
}

/*
 * An rdma_cm that compares GIDs takes the first device that has the right one,
 * of whatever namespace. Root of a container may choose link addresses, and so
 * could take the place of the host's device. Therefore a container's device
 * does not use a GID of a device of the host, or of an older one.
 */
static bool gid_is_taken(const struct iwm_dev *dev, struct net *net,
			 const union ib_gid *gid)
{
	const struct iwm_dev *other;
	bool older = true;

	lockdep_assert_held(&devices_lock);

	if (net->user_ns == &init_user_ns)
		return false;
	list_for_each_entry(other, &devices, entry) {
		const struct net_device *netdev = dev_netdev(other);

		if (other == dev)
			older = false;
		else if (netdev && !net_eq(dev_net(netdev), net) &&
			 (older || dev_net(netdev)->user_ns == &init_user_ns) &&
			 iwm_has_gid(other->gids, IWM_NUM_LINK_GIDS, gid))
			return true;
	}
	return false;
}

static void drop_taken_gids(const struct iwm_dev *dev, struct net *net,
			    union ib_gid *gids)
{
	int i;

	for (i = 0; i < IWM_NUM_LINK_GIDS; i++) {
		if (rdma_is_zero_gid(&gids[i]) ||
		    !gid_is_taken(dev, net, &gids[i]))
			continue;
		pr_warn_ratelimited("%s: a device of another network namespace has the same link address, so rdma_cm will not use this one\n",
				    dev->ibdev.name);
		gids[i] = zgid;
	}
}

/* Queue dev_changed(), unless the device is not registered. */
static void dev_queue_change(struct iwm_dev *dev)
{
	if (ib_device_try_get(&dev->ibdev) &&
	    !queue_work(iwm_dev_wq, &dev->change_work))
		ib_device_put(&dev->ibdev);
}

/*
 * The GIDs of a device have changed: another may have to give its up. The
 * host's devices never have to: a container can cause no work for them.
 */
static void devices_changed(void)
{
	struct iwm_dev *dev;

	lockdep_assert_held(&devices_lock);

	list_for_each_entry(dev, &devices, entry) {
		const struct net_device *netdev = dev_netdev(dev);

		if (netdev && dev_net(netdev)->user_ns != &init_user_ns)
			dev_queue_change(dev);
	}
}

/**
 * dev_dealloc() - ib_device_ops.dealloc_driver: free a device's resources
 * @ibdev: device that is not registered (any more); it may be incomplete
 *
 * Context: process.
 */
static void dev_dealloc(struct ib_device *ibdev)
{
	struct iwm_dev *dev = to_iwm_dev(ibdev);
	struct net_device *netdev;

	iwm_cep_dev_exit(dev);

	mutex_lock(&devices_lock);
	netdev = dev_netdev(dev);
	RCU_INIT_POINTER(dev->netdev, NULL);
	mutex_unlock(&devices_lock);
	netdev_put(netdev, &dev->netdev_tracker);

	WARN_ON(!xa_empty(&dev->qps));
	xa_destroy(&dev->qps);
	iwm_mr_exit(dev);
	free_percpu(dev->mib);
	free_percpu(dev->mpa_mib);

	/* Last: unload waits for the devices in the list. */
	mutex_lock(&devices_lock);
	list_del_rcu(&dev->entry);	/* the core frees it after RCU */
	devices_changed();
	mutex_unlock(&devices_lock);
}

/*
 * The netdev was removed. rtnl is not held here, so this can wait for
 * connections. If ib_device_try_get() fails, the device is being moved to
 * another namespace, which unregisters it for a moment and is waited for; or it
 * is unregistered already.
 */
static void dev_remove(struct work_struct *work)
{
	struct iwm_dev *dev = container_of(work, struct iwm_dev, remove_work);

	iwm_cep_dev_gone(dev);
	if (ib_device_try_get(&dev->ibdev)) {
		ib_unregister_device_queued(&dev->ibdev);
		ib_device_put(&dev->ibdev);
	} else {
		ib_unregister_device(&dev->ibdev);
	}
	put_device(&dev->ibdev.dev);
}

static void dev_queue_remove(struct iwm_dev *dev)
{
	get_device(&dev->ibdev.dev);
	if (!queue_work(iwm_dev_wq, &dev->remove_work))
		put_device(&dev->ibdev.dev);
}

static void port_event(struct iwm_dev *dev, enum ib_event_type type)
{
	struct ib_event event = {
		.event = type,
		.device = &dev->ibdev,
		.element.port_num = 1,
	};

	ib_dispatch_event(&event);
}

/*
 * An rdma_cm that compares netdevs ignores GIDs, and the event would let it
 * crash: the core removes the netdev from the old GID for a moment, for which
 * rdma_cm does not check. There the GIDs stay as they were at registration.
 */
static void dev_follow_gids(struct iwm_dev *dev, struct net_device *netdev)
{
	union ib_gid gids[IWM_NUM_GIDS];

	if (iwm_cma_knows_netdevs(dev))
		return;
	memcpy(gids, dev->gids, sizeof(gids));
	dev_gids(netdev, gids);
	drop_taken_gids(dev, dev_net(netdev), gids);
	if (!memcmp(dev->gids, gids, sizeof(gids)))
		return;
	memcpy(dev->gids, gids, sizeof(gids));
	port_event(dev, IB_EVENT_GID_CHANGE);
	devices_changed();
}

/* Take over changes of the netdev, and raise events for them. */
static void dev_follow(struct iwm_dev *dev, struct net_device *netdev)
{
	enum ib_port_state state = netdev_port_state(netdev);

	lockdep_assert_held(&devices_lock);

	dev_follow_gids(dev, netdev);
	if (state == dev->port_state)
		return;
	dev->port_state = state;
	port_event(dev, state == IB_PORT_ACTIVE ? IB_EVENT_PORT_ACTIVE :
						      IB_EVENT_PORT_ERR);
}

/*
 * The netdev has changed. Not done in the notifier: a netdev that is deleted
 * goes down first, and the core would query a port whose netdev is already
 * removed, and complain. This waits for rtnl, which is released after both.
 */
static void dev_changed(struct work_struct *work)
{
	struct iwm_dev *dev = container_of(work, struct iwm_dev, change_work);
	struct net_device *netdev;

	rtnl_lock();
	netdev = iwm_dev_get_netdev(dev);
	if (netdev) {
		dev_set_speed(dev, netdev);
		mutex_lock(&devices_lock);
		dev_follow(dev, netdev);
		mutex_unlock(&devices_lock);
		dev_put(netdev);
	}
	rtnl_unlock();
	ib_device_put(&dev->ibdev);
}

/*
 * The device is registered, or has moved to another namespace. Meanwhile
 * dev_queue_change() could take no reference.
 */
static int dev_enabled(struct ib_device *ibdev)
{
	dev_queue_change(to_iwm_dev(ibdev));
	return 0;
}

static const struct ib_device_ops device_ops = {
	.owner = THIS_MODULE,
	/* The id and ABI of siw, so that Debian's libsiw drives this device */
	.driver_id = RDMA_DRIVER_SIW,
	.uverbs_abi_ver = SIW_ABI_VERSION,

	.alloc_hw_port_stats = iwm_alloc_hw_stats,
	.alloc_mr = iwm_alloc_mr,
	.alloc_pd = iwm_alloc_pd,
	.alloc_ucontext = iwm_alloc_ucontext,
	.create_cq = iwm_create_cq,
	.create_qp = iwm_create_qp,
	.create_srq = iwm_create_srq,
	.dealloc_driver = dev_dealloc,
	.dealloc_pd = iwm_dealloc_pd,
	.dealloc_ucontext = iwm_dealloc_ucontext,
	.dereg_mr = iwm_dereg_mr,
	.destroy_cq = iwm_destroy_cq,
	.destroy_qp = iwm_destroy_qp,
	.destroy_srq = iwm_destroy_srq,
	.device_group = &iwm_settings_group,
	.disassociate_ucontext = iwm_disassociate_ucontext,
	.enable_driver = dev_enabled,
	.fill_res_qp_entry = iwm_fill_res_qp_entry,
	.get_dma_mr = iwm_get_dma_mr,
	.get_hw_stats = iwm_get_hw_stats,
	.get_link_layer = iwm_get_link_layer,
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
	IWM_PRE_DESTROY_CQ(iwm_notify_stop)
	.query_device = iwm_query_device,
	.query_gid = iwm_query_gid,
	.query_pkey = iwm_query_pkey,
	.query_port = iwm_query_port,
	.query_qp = iwm_query_qp,
	.query_srq = iwm_query_srq,
	.reg_user_mr = iwm_reg_user_mr,
	.req_notify_cq = iwm_req_notify_cq,
	IWM_RESIZE_CQ(iwm_resize_cq)

	INIT_RDMA_OBJ_SIZE(ib_cq, iwm_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, iwm_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, iwm_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, iwm_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, iwm_ucontext, ibctx),
};

static struct iwm_dev *dev_alloc(void)
{
	struct iwm_dev *dev = ib_alloc_device(iwm_dev, ibdev);

	if (!dev)
		return NULL;
	ib_set_device_ops(&dev->ibdev, &device_ops);
	INIT_LIST_HEAD(&dev->entry);
	INIT_WORK(&dev->remove_work, dev_remove);
	INIT_WORK(&dev->change_work, dev_changed);
	dev->completion_lost = iwm_sq_break;
	xa_init_flags(&dev->qps, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	dev->next_qpn = get_random_u32() >> 8;	/* 24 bits */
	iwm_mr_init(dev);
	iwm_settings_init(dev);

	dev->mpa_mib = alloc_percpu(struct mpa_mib);
	dev->mib = alloc_percpu(struct iwm_mib);
	if (!dev->mpa_mib || !dev->mib) {
		ib_dealloc_device(&dev->ibdev);
		return NULL;
	}
	return dev;
}

static void dev_describe(struct iwm_dev *dev, struct net_device *netdev)
{
	struct ib_device *ibdev = &dev->ibdev;

	ASSERT_RTNL();

	if (netdev->addr_len == ETH_ALEN &&
	    !is_zero_ether_addr(netdev->dev_addr))
		ether_addr_copy(dev->mac, netdev->dev_addr);
	else
		eth_random_addr(dev->mac);
	dev_gids(netdev, dev->gids);
	dev->port_state = netdev_port_state(netdev);

	ibdev->node_type = RDMA_NODE_RNIC;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_online_cpus();
	ibdev->iw_driver_flags = IW_F_NO_PORT_MAP;
	/* The doorbell of user space */
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND);
	addrconf_addr_eui48((u8 *)&ibdev->node_guid, dev->mac);
	strscpy(ibdev->node_desc, SIW_NODE_DESC_COMMON,
		sizeof(ibdev->node_desc));
	strscpy(ibdev->iw_ifname, netdev->name, sizeof(ibdev->iw_ifname));
}

/* Bind @dev to @netdev. From then on the notifier finds it. */
static int dev_attach(struct iwm_dev *dev, struct net_device *netdev)
{
	struct iwm_dev *other;
	int ret = 0;

	rtnl_lock();
	if (netdev->reg_state != NETREG_REGISTERED) {
		pr_err_ratelimited("%s: is just going away\n", netdev->name);
		ret = -ENODEV;
		goto out_rtnl;
	}
	dev_set_speed(dev, netdev);
	mutex_lock(&devices_lock);
	other = dev_find(netdev);
	if (other) {
		pr_err_ratelimited("%s: already carries %s\n", netdev->name,
				   other->ibdev.name[0] ? other->ibdev.name :
				   "a device");
		ret = -EEXIST;
		goto out_unlock;
	}
	dev_describe(dev, netdev);
	netdev_hold(netdev, &dev->netdev_tracker, GFP_KERNEL);
	rcu_assign_pointer(dev->netdev, netdev);
	list_add_tail_rcu(&dev->entry, &devices);
	devices_changed();
out_unlock:
	mutex_unlock(&devices_lock);
out_rtnl:
	rtnl_unlock();
	return ret;
}

/* Was the netdev deleted before @dev was registered? */
static int dev_settle(struct iwm_dev *dev)
{
	int ret = 0;

	mutex_lock(&devices_lock);
	if (!dev_netdev(dev)) {
		dev_queue_remove(dev);
		ret = -ENODEV;
	}
	mutex_unlock(&devices_lock);
	return ret;
}

/*
 * iw_cm neither connects nor listens on a device with a longer name. rdma_cm
 * would then refuse wildcard listeners, on all devices.
 */
static int name_check(const char *name)
{
	if (strlen(name) < IWPM_DEVNAME_SIZE)
		return 0;
	pr_err_ratelimited("%s: the name has more than %d characters\n", name,
			   IWPM_DEVNAME_SIZE - 1);
	return -ENAMETOOLONG;
}

static int link_new(const char *name, struct net_device *netdev)
{
	struct iwm_dev *dev;
	int ret;

	ret = name_check(name);
	if (ret)
		return ret;
	ret = netdev_check(netdev);
	if (ret)
		return ret;
	dev = dev_alloc();
	if (!dev) {
		pr_err_ratelimited("%s: no memory for it\n", name);
		return -ENOMEM;
	}
	ret = dev_attach(dev, netdev);
	if (ret)
		goto err_free_dev;

	/* Once registered the device can be deleted at any time. */
	get_device(&dev->ibdev.dev);
	ret = ib_register_device(&dev->ibdev, name, NULL);
	if (ret)
		goto err_put_dev;
	WRITE_ONCE(dev->registered, true);
	ret = dev_settle(dev);
	if (ret)
		pr_err_ratelimited("%s: its netdev %s has just gone away\n",
				   name, netdev->name);
	put_device(&dev->ibdev.dev);
	return ret;

err_put_dev:
	if (ret == -ENFILE) {
		pr_err_ratelimited("%s: an RDMA device of this name exists, choose another\n",
				   name);
		ret = -EEXIST;
	} else {
		pr_err_ratelimited("%s: cannot be registered on %s: error %d\n",
				   name, netdev->name, ret);
	}
	put_device(&dev->ibdev.dev);
err_free_dev:
	ib_dealloc_device(&dev->ibdev);
	return ret;
}

static struct rdma_link_ops link_ops = {
	.type = "iwmpa",
	.newlink = link_new,
};

/* Release the netdev at once, and queue the removal of the device. */
static void netdev_gone(struct iwm_dev *dev, struct net_device *netdev)
{
	RCU_INIT_POINTER(dev->netdev, NULL);
	netdev_put(netdev, &dev->netdev_tracker);
	dev_queue_remove(dev);
}

/* lo's link address is a GID of all devices in its namespace: update them. */
static void lo_changed(const struct net_device *lo)
{
	struct net_device *netdev;
	struct iwm_dev *dev;

	list_for_each_entry(dev, &devices, entry) {
		netdev = dev_netdev(dev);
		if (netdev && net_eq(dev_net(netdev), dev_net(lo)))
			dev_queue_change(dev);
	}
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *info)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(info);
	struct iwm_dev *dev;

	mutex_lock(&devices_lock);
	dev = dev_find(netdev);
	switch (event) {
	case NETDEV_CHANGEADDR:
		if (netdev->flags & IFF_LOOPBACK)
			lo_changed(netdev);
		fallthrough;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		if (dev)
			dev_queue_change(dev);
		break;
	case NETDEV_UNREGISTER:
		if (dev)
			netdev_gone(dev, netdev);
		break;
	}
	mutex_unlock(&devices_lock);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

/* The netdev has got or lost an IP address. Context: any, IPv6 in softirq. */
static void netdev_addrs_changed(const struct net_device *netdev)
{
	struct iwm_dev *dev;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &devices, entry)
		if (rcu_access_pointer(dev->netdev) == netdev)
			dev_queue_change(dev);
	rcu_read_unlock();
}

static int addr4_event(struct notifier_block *nb, unsigned long event,
		       void *info)
{
	const struct in_ifaddr *ifa = info;

	netdev_addrs_changed(ifa->ifa_dev->dev);
	return NOTIFY_DONE;
}

static struct notifier_block addr4_notifier = {
	.notifier_call = addr4_event,
};

static int addr6_event(struct notifier_block *nb, unsigned long event,
		       void *info)
{
	const struct inet6_ifaddr *ifa = info;

	netdev_addrs_changed(ifa->idev->dev);
	return NOTIFY_DONE;
}

static struct notifier_block addr6_notifier = {
	.notifier_call = addr6_event,
};

/* For all three: the chains differ in how they are called. */
static int notifiers_register(void)
{
	int ret;

	ret = register_netdevice_notifier(&netdev_notifier);
	if (ret)
		return ret;
	ret = register_inetaddr_notifier(&addr4_notifier);
	if (ret)
		goto err_netdev;
	ret = register_inet6addr_notifier(&addr6_notifier);
	if (ret)
		goto err_addr4;
	return 0;

err_addr4:
	unregister_inetaddr_notifier(&addr4_notifier);
err_netdev:
	unregister_netdevice_notifier(&netdev_notifier);
	return ret;
}

static void notifiers_unregister(void)
{
	unregister_inet6addr_notifier(&addr6_notifier);
	unregister_inetaddr_notifier(&addr4_notifier);
	unregister_netdevice_notifier(&netdev_notifier);
}

static struct iwm_dev *dev_first(void)
{
	struct iwm_dev *dev;

	mutex_lock(&devices_lock);
	dev = list_first_entry_or_null(&devices, struct iwm_dev, entry);
	if (dev)
		get_device(&dev->ibdev.dev);
	mutex_unlock(&devices_lock);
	return dev;
}

/* ib_unregister_device() also waits when another context removes the device. */
static void dev_remove_all(void)
{
	struct iwm_dev *dev;

	while ((dev = dev_first())) {
		ib_unregister_device(&dev->ibdev);
		put_device(&dev->ibdev.dev);
	}
}

static int __init iwmpa_init(void)
{
	int ret;

	ret = iwm_work_init();
	if (ret)
		return ret;
	ret = iwm_gather_module_init();
	if (ret)
		goto err_exit_work;
	ret = notifiers_register();
	if (ret)
		goto err_exit_gather;
	rdma_link_register(&link_ops);
	return 0;

err_exit_gather:
	iwm_gather_module_exit();
err_exit_work:
	iwm_work_exit();
	return ret;
}

static void __exit iwmpa_exit(void)
{
	/* 1. no new devices, 2. remove the present ones, 3. their resources */
	rdma_link_unregister(&link_ops);
	dev_remove_all();
	notifiers_unregister();
	iwm_gather_module_exit();
	iwm_work_exit();
	addr_untag_all();
	/* Wait for RCU callbacks of this module */
	rcu_barrier();
}

module_init(iwmpa_init);
module_exit(iwmpa_exit);

MODULE_DESCRIPTION("iWARP (RFC 5040, RFC 5041) on software MPA");
MODULE_VERSION(IWMPA_VERSION);
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(MPA_NS);
MODULE_ALIAS_RDMA_LINK("iwmpa");

// SPDX-License-Identifier: GPL-2.0
/*
 * Listening: shared TCP listeners, and the choice of a request's device.
 *
 * rdma_cm makes one listener per device for a wildcard address, all with the
 * same port. They share one TCP listener per namespace, address and port. Each
 * connection goes to the device whose netdev owns the local address, or to the
 * device that rdma_cm takes for that one.
 */
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <mpa/negotiate.h>
#include <rdma/ib_cache.h>
#include "cep.h"
#include "cm.h"
#include "netdev.h"
#include "settings.h"

/**
 * struct iwm_port - a shared TCP listener
 * @entry: in ports (ports_mutex)
 * @net: namespace
 * @addr: local address and port
 * @subs: subscriptions of its listeners (ports_mutex to change, and subs_lock)
 * @mpa: the listener
 */
struct iwm_port {
	struct list_head entry;
	struct net *net;
	struct sockaddr_storage addr;
	struct list_head subs;
	struct mpa_listener *mpa;
};

/**
 * struct iwm_subscription - one iw_cm listener's share in a port's Requests
 * @entry: in @port->subs
 * @port: NULL when the subscription is not in use
 * @listen: the listener
 */
struct iwm_subscription {
	struct list_head entry;
	struct iwm_port *port;
	struct iwm_listen *listen;
};

/**
 * struct iwm_listen - provider_data of a listening iw_cm_id
 * @id: with a reference
 * @dev: device
 * @ready: the listener gets Requests (subs_lock)
 * @subs: the second is for IPv4 when "::" takes both families; none for an id
 *	of another namespace
 */
struct iwm_listen {
	struct iw_cm_id *id;
	struct iwm_dev *dev;
	bool ready;
	struct iwm_subscription subs[2];
};

static LIST_HEAD(ports);
static DEFINE_MUTEX(ports_mutex);
static DEFINE_SPINLOCK(subs_lock);

/*
 * Counters of startups. Several devices share a listener, so a connection
 * counts for a device only after accept.
 */
DEFINE_PER_CPU(struct mpa_mib, iwm_listen_mib);

/* The netdev that owns a local address, or NULL. */
static const struct net_device *addr_owner4(struct net *net,
					    const struct sockaddr_in *addr)
{
	return __ip_dev_find(net, addr->sin_addr.s_addr, false);
}

static const struct net_device *addr_owner6(struct net *net,
					    const struct sockaddr_in6 *addr)
{
#if IS_ENABLED(CONFIG_IPV6)
	/* Link-local addresses are unique only on their link. */
	if (ipv6_addr_type(&addr->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		return dev_get_by_index_rcu(net, addr->sin6_scope_id);
	return ipv6_dev_find(net, &addr->sin6_addr, NULL);
#else
	return NULL;
#endif
}

static const struct net_device *addr_owner(struct net *net,
					   const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET6)
		return addr_owner6(net, (const void *)addr);
	return addr_owner4(net, (const void *)addr);
}

/* Does rdma_cm compare netdevs? Older ones compare only link addresses. */
static bool cma_knows_netdevs(struct iwm_dev *dev)
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

/* Does rdma_cm take @dev for the device of @owner's addresses? */
static bool cma_takes(struct iwm_dev *dev, const struct net_device *owner)
{
	const struct net_device *netdev = rcu_dereference(dev->netdev);
	bool vlan, same_gid;

	if (!netdev)
		return false;
	if (netdev == owner)
		return true;
	vlan = is_vlan_of(netdev, owner) || is_vlan_of(owner, netdev);
	same_gid = !memcmp(netdev->dev_addr, owner->dev_addr,
			   sizeof(union ib_gid));
	if (vlan == same_gid)
		return vlan;
	return cma_knows_netdevs(dev) ? vlan : same_gid;
}

/*
 * Several devices may match the local address in rdma_cm: for an address of lo,
 * all in the namespace. rdma_cm uses the one that was made first, so this must
 * choose the same. rdma_cm's listeners, and thus the subscriptions, are in the
 * order of the devices.
 */
static bool subscription_serves(const struct iwm_subscription *sub,
				const struct net_device *owner)
{
	return owner->flags & IFF_LOOPBACK ||
	       cma_takes(sub->listen->dev, owner);
}

/* The listener for this local address, or NULL. */
static struct iwm_listen *find_listen(struct iwm_port *port,
				      const struct sockaddr_storage *local)
{
	const struct net_device *owner;
	struct iwm_listen *listen = NULL;
	struct iwm_subscription *sub;

	lockdep_assert_held(&subs_lock);
	rcu_read_lock();
	owner = addr_owner(port->net, local);
	if (!owner)
		goto out;
	list_for_each_entry(sub, &port->subs, entry) {
		if (sub->listen->ready && subscription_serves(sub, owner)) {
			listen = sub->listen;
			break;
		}
	}
out:
	rcu_read_unlock();
	return listen;
}

/* Do the device's settings permit the Request's revision? They can forbid 0. */
static bool is_served(const struct iwm_listen *listen,
		      const struct mpa_offer *peer)
{
	return peer->rev != MPA_REV_RDMAC ||
	       iwm_settings(listen->dev).rdmac;
}

/* mpa_consumer_ops.request. Context: socket locked, softirq or process. */
static int port_request(void *consumer, struct mpa_conn *conn,
			const struct mpa_offer *peer, const void *pd)
{
	struct cep_request req = { .conn = conn, .peer = peer, .pd = pd };
	struct iwm_port *port = consumer;
	struct iwm_listen *listen;
	int ret = -EADDRNOTAVAIL;

	mpa_conn_addrs(conn, &req.local, &req.remote);
	spin_lock_bh(&subs_lock);
	listen = find_listen(port, &req.local);
	if (listen && !is_served(listen, peer))
		ret = -EPROTONOSUPPORT;
	else if (listen)
		ret = iwm_cep_offer(listen->id, &req, iwm_cm_work);
	spin_unlock_bh(&subs_lock);
	return ret;
}

static const struct mpa_consumer_ops port_ops = {
	.request = port_request,
};

static bool addr_equal(const struct sockaddr_storage *a,
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

static struct iwm_port *port_find(struct net *net,
				  const struct sockaddr_storage *addr)
{
	struct iwm_port *port;

	lockdep_assert_held(&ports_mutex);
	list_for_each_entry(port, &ports, entry)
		if (net_eq(port->net, net) && addr_equal(&port->addr, addr))
			return port;
	return NULL;
}

/*
 * Does a listener on this device have the port already? A second one would get
 * no Requests. rdma_cm does not try it: within a port space a port belongs to
 * one id.
 */
static bool port_is_taken(const struct iwm_port *port,
			  const struct iwm_dev *dev)
{
	const struct iwm_subscription *sub;

	lockdep_assert_held(&ports_mutex);
	list_for_each_entry(sub, &port->subs, entry)
		if (sub->listen->dev == dev)
			return true;
	return false;
}

static void port_subscribe(struct iwm_subscription *sub, struct iwm_port *port)
{
	spin_lock_bh(&subs_lock);
	list_add_tail(&sub->entry, &port->subs);
	sub->port = port;
	spin_unlock_bh(&subs_lock);
}

static void port_unsubscribe(struct iwm_subscription *sub)
{
	spin_lock_bh(&subs_lock);
	list_del(&sub->entry);
	sub->port = NULL;
	spin_unlock_bh(&subs_lock);
}

/* The errno does not name the port's owner, and some consumers hide it. */
static void warn_in_use(struct iwm_dev *dev,
			const struct sockaddr_storage *addr)
{
	ibdev_warn_ratelimited(&dev->ibdev,
			       "cannot listen on %pISpc: a TCP socket has this port (ss -ltn), close it or use another port\n",
			       addr);
}

/* Make a port, and subscribe @sub before the first Request can arrive. */
static int port_create(struct iwm_subscription *sub, struct net *net,
		       const struct sockaddr_storage *addr, int backlog)
{
	struct iwm_port *port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	struct mpa_params params = iwm_cm_listen_params;
	struct mpa_consumer consumer = {
		.ops = &port_ops,
		.arg = port,
		.mib = &iwm_listen_mib,
	};

	lockdep_assert_held(&ports_mutex);
	if (!port)
		return -ENOMEM;
	port->net = net;
	port->addr = *addr;
	INIT_LIST_HEAD(&port->subs);
	port_subscribe(sub, port);
	params.tos = iwm_cm_tos(sub->listen->id);
	port->mpa = mpa_listen(net, (struct sockaddr *)&port->addr, backlog,
			       &params, &consumer);
	if (IS_ERR(port->mpa)) {
		int ret = PTR_ERR(port->mpa);

		if (ret == -EADDRINUSE)
			warn_in_use(sub->listen->dev, addr);
		port_unsubscribe(sub);
		kfree(port);
		return ret;
	}
	list_add_tail(&port->entry, &ports);
	return 0;
}

static int subscription_open(struct iwm_subscription *sub,
			     struct iwm_listen *listen,
			     const struct sockaddr_storage *addr, int backlog)
{
	struct net *net = iwm_dev_net(listen->dev);
	struct iwm_port *port;
	int ret = 0;

	if (!net)
		return -ENODEV;
	sub->listen = listen;
	mutex_lock(&ports_mutex);
	port = port_find(net, addr);
	if (!port)
		ret = port_create(sub, net, addr, backlog);
	else if (port_is_taken(port, listen->dev))
		ret = -EADDRINUSE;
	else
		port_subscribe(sub, port);
	mutex_unlock(&ports_mutex);
	/* The listening socket holds the namespace. */
	put_net(net);
	return ret;
}

static void subscription_close(struct iwm_subscription *sub)
{
	struct iwm_port *port = sub->port;

	if (!port)
		return;
	mutex_lock(&ports_mutex);
	port_unsubscribe(sub);
	if (list_empty(&port->subs)) {
		list_del(&port->entry);
		mpa_listener_destroy(port->mpa);
		kfree(port);
	}
	mutex_unlock(&ports_mutex);
}

static bool is_wildcard(const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *a6 = (const void *)addr;
	const struct sockaddr_in *a4 = (const void *)addr;

	return addr->ss_family == AF_INET6 ? ipv6_addr_any(&a6->sin6_addr) :
					     !a4->sin_addr.s_addr;
}

static bool takes_both_families(const struct iw_cm_id *id)
{
	return id->m_local_addr.ss_family == AF_INET6 && !id->afonly &&
	       is_wildcard(&id->m_local_addr);
}

/*
 * With RDMA devices shared by all namespaces, a wildcard rdma_cm id also
 * listens on devices of other namespaces. It could not accept connections
 * there, and it must not: it would take them from a listener in that namespace.
 */
static bool listen_is_foreign(const struct iwm_listen *listen)
{
	struct net *net = iwm_dev_net(listen->dev);
	bool foreign;

	if (!net)
		return true;	/* the netdev is gone: no Request can arrive */
	foreign = iwm_cm_is_foreign(listen->id, net);
	put_net(net);
	return foreign;
}

static int listen_open(struct iwm_listen *listen, int backlog)
{
	const struct sockaddr_storage *addr = &listen->id->m_local_addr;
	struct sockaddr_in any4 = { .sin_family = AF_INET };
	struct sockaddr_storage addr4 = { };
	int ret;

	if (listen_is_foreign(listen))
		return 0;
	/* A wildcard id may use its port space on other devices. */
	if (!iwm_cm_is_tcp(listen->id))
		return is_wildcard(addr) ? 0 : -EPROTONOSUPPORT;
	ret = subscription_open(&listen->subs[0], listen, addr, backlog);
	if (ret || !takes_both_families(listen->id))
		return ret;
	any4.sin_port = ((const struct sockaddr_in6 *)addr)->sin6_port;
	memcpy(&addr4, &any4, sizeof(any4));
	ret = subscription_open(&listen->subs[1], listen, &addr4, backlog);
	if (ret)
		subscription_close(&listen->subs[0]);
	return ret;
}

/*
 * From now on the listener gets Requests, and its creation must not fail any
 * more: rdma_cm holds a lock that the handler of a Request waits for, and after
 * a failure it would destroy the id and wait for that handler.
 */
static void listen_begin(struct iwm_listen *listen)
{
	spin_lock_bh(&subs_lock);
	listen->ready = true;
	spin_unlock_bh(&subs_lock);
}

/**
 * iwm_cm_create_listen() - ib_device_ops.iw_create_listen
 * @id: with the local address, which may be a wildcard
 * @backlog: of the TCP socket
 *
 * Succeeds without listening for an id of a namespace other than the device's,
 * and for a wildcard id of a port space other than RDMA_PS_TCP.
 *
 * Context: process, may sleep.
 * Return: 0; -EADDRINUSE: a TCP socket or another id has the port;
 * -EPROTONOSUPPORT: the id's port is not a TCP port; or another errno.
 */
int iwm_cm_create_listen(struct iw_cm_id *id, int backlog)
{
	struct iwm_listen *listen;
	int ret;

	might_sleep();
	listen = kzalloc(sizeof(*listen), GFP_KERNEL_ACCOUNT);
	if (!listen)
		return -ENOMEM;
	listen->dev = to_iwm_dev(id->device);
	listen->id = id;
	id->add_ref(id);
	ret = listen_open(listen, backlog);
	if (ret) {
		id->rem_ref(id);
		kfree(listen);
		return ret;
	}
	id->provider_data = listen;
	listen_begin(listen);
	return 0;
}

/**
 * iwm_cm_destroy_listen() - ib_device_ops.iw_destroy_listen
 * @id: listening id
 *
 * The consumer keeps the requests that it got. Requests that iw_cm drops are
 * dropped here at their deadline.
 *
 * Context: process, may sleep; takes socket locks.
 * Return: 0.
 */
int iwm_cm_destroy_listen(struct iw_cm_id *id)
{
	struct iwm_listen *listen = id->provider_data;

	might_sleep();
	if (!listen)
		return 0;
	id->provider_data = NULL;
	subscription_close(&listen->subs[0]);
	subscription_close(&listen->subs[1]);
	id->rem_ref(id);
	kfree(listen);
	return 0;
}

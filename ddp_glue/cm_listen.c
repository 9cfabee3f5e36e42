// SPDX-License-Identifier: GPL-2.0
/*
 * Listening: shared TCP listeners, and the choice of a request's device.
 *
 * rdma_cm makes one listener per device for a wildcard address, all with the
 * same port. They share one TCP listener per namespace, VRF, address and port.
 * Each connection goes to the device that rdma_cm takes for the local address.
 */
#define pr_fmt(fmt) "iwmpa: " fmt

#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <net/netns/hash.h>
#include <net/ipv6.h>
#include <mpa/negotiate.h>
#include "cep.h"
#include "cm.h"
#include "cm_addr.h"
#include "netdev.h"
#include "settings.h"

/**
 * struct iwm_port - a shared TCP listener
 * @entry: in ports, in one bucket with those that differ only in @vrf
 * @net: namespace
 * @vrf: as mpa_params.vrf
 * @addr: local address and port
 * @subs: subscriptions of its listeners (ports_mutex to change, and subs_lock)
 * @mpa: the listener
 */
struct iwm_port {
	struct hlist_node entry;
	struct net *net;
	int vrf;
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
 * @order: place in the order in which rdma_cm knows the devices: it makes an
 *	id's listeners in that order, and one when a device is added
 * @ready: the listener gets Requests (subs_lock)
 * @mapped: iw_cm's local address of the port mapper: see hide_from_mapper()
 * @subs: the second is for IPv4 when "::" takes both families; none for an id
 *	of another namespace
 */
struct iwm_listen {
	struct iw_cm_id *id;
	struct iwm_dev *dev;
	u64 order;
	bool ready;
	struct sockaddr_storage mapped;
	struct iwm_subscription subs[2];
};

/*
 * ports_mutex to change, and subs_lock. A table, because a user may have a
 * listener on each port, and each Request looks for its listener.
 */
static DEFINE_HASHTABLE(ports, 12);
static DEFINE_MUTEX(ports_mutex);
static DEFINE_SPINLOCK(subs_lock);

/* The bucket's key of a port: see struct iwm_port. */
static u32 port_key(const struct net *net, const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *a6 = (const void *)addr;
	const struct sockaddr_in *a4 = (const void *)addr;
	static u32 secret __read_mostly;

	net_get_random_once(&secret, sizeof(secret));
	if (addr->ss_family == AF_INET)
		return jhash_3words((__force u32)a4->sin_addr.s_addr,
				    (__force u32)a4->sin_port, net_hash_mix(net),
				    secret);
	return jhash_2words(__ipv6_addr_jhash(&a6->sin6_addr, secret),
			    (__force u32)a6->sin6_port, net_hash_mix(net));
}

/* The first listener of a port whose device rdma_cm takes, or NULL. */
static struct iwm_listen *port_listen(const struct iwm_port *port,
				      const struct net_device *owner)
{
	const struct iwm_subscription *sub;

	lockdep_assert_held(&subs_lock);
	list_for_each_entry(sub, &port->subs, entry)
		if (sub->listen->ready &&
		    iwm_addr_served(sub->listen->dev, owner))
			return sub->listen;
	return NULL;
}

static bool same_but_for_vrf(const struct iwm_port *a, const struct iwm_port *b)
{
	return net_eq(a->net, b->net) && iwm_addr_equal(&a->addr, &b->addr);
}

/*
 * The listener for a local address that @owner has, or NULL. A wildcard listener
 * has a port for each VRF, and rdma_cm ignores VRFs: take the first device that
 * it would take.
 */
static struct iwm_listen *find_listen(const struct iwm_port *port,
				      const struct net_device *owner)
{
	struct iwm_listen *listen = port_listen(port, owner), *candidate;
	const struct iwm_port *other;

	if (listen && !iwm_addr_is_any(&port->addr))
		return listen;
	hash_for_each_possible(ports, other, entry,
			       port_key(port->net, &port->addr)) {
		if (!same_but_for_vrf(port, other))
			continue;
		candidate = port_listen(other, owner);
		if (candidate &&
		    (!listen || candidate->order < listen->order))
			listen = candidate;
	}
	return listen;
}

/* Nothing else tells why: the peer only sees that the connection is refused. */
static void warn_refused(const struct sockaddr_storage *local,
			 const struct net_device *owner)
{
	static DEFINE_RATELIMIT_STATE(limit, 60 * HZ, 5);

	if (!__ratelimit(&limit))
		return;
	if (owner)
		pr_warn("refused a connection to %pISpc: rdma_cm looks for a device on %s, and this listener is on none there\n",
			local, owner->name);
	else
		pr_warn("refused a connection to %pISpc: no netdev has the address now\n",
			local);
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
	const struct net_device *owner;
	struct iwm_port *port = consumer;
	struct iwm_listen *listen;
	int ret = -EADDRNOTAVAIL;

	mpa_conn_addrs(conn, &req.local, &req.remote);
	rcu_read_lock();
	owner = iwm_addr_owner(port->net, &req.local);
	spin_lock_bh(&subs_lock);
	listen = owner ? find_listen(port, owner) : NULL;
	if (listen && !is_served(listen, peer))
		ret = -EPROTONOSUPPORT;
	else if (listen)
		ret = iwm_cep_offer(listen->id, &req, iwm_cm_work);
	spin_unlock_bh(&subs_lock);
	if (!listen)
		warn_refused(&req.local, owner);
	rcu_read_unlock();
	return ret;
}

static const struct mpa_consumer_ops port_ops = {
	.request = port_request,
};

/* 0 and MPA_ANY_VRF are both sockets without a VRF, of which TCP allows one. */
static bool port_has_vrf(const struct iwm_port *port, int vrf)
{
	return port->vrf == vrf || (port->vrf <= 0 && vrf <= 0);
}

static struct iwm_port *port_find(struct net *net, int vrf,
				  const struct sockaddr_storage *addr)
{
	struct iwm_port *port;

	lockdep_assert_held(&ports_mutex);
	hash_for_each_possible(ports, port, entry, port_key(net, addr))
		if (net_eq(port->net, net) && port_has_vrf(port, vrf) &&
		    iwm_addr_equal(&port->addr, addr))
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
static int port_create(struct iwm_subscription *sub, struct net *net, int vrf,
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
	port->vrf = vrf;
	port->addr = *addr;
	INIT_LIST_HEAD(&port->subs);
	port_subscribe(sub, port);
	params.tos = iwm_cm_tos(sub->listen->id);
	params.vrf = vrf;
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
	spin_lock_bh(&subs_lock);
	hash_add(ports, &port->entry, port_key(net, addr));
	spin_unlock_bh(&subs_lock);
	return 0;
}

static int subscription_open(struct iwm_subscription *sub,
			     struct iwm_listen *listen,
			     const struct sockaddr_storage *addr, int backlog)
{
	struct net *net = iwm_dev_net(listen->dev);
	struct iwm_port *port;
	int ret = 0, vrf;

	if (!net)
		return -ENODEV;
	sub->listen = listen;
	vrf = iwm_addr_vrf(listen->dev, net, addr);
	mutex_lock(&ports_mutex);
	port = port_find(net, vrf, addr);
	if (!port)
		ret = port_create(sub, net, vrf, addr, backlog);
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
		spin_lock_bh(&subs_lock);
		hash_del(&port->entry);
		spin_unlock_bh(&subs_lock);
		mpa_listener_destroy(port->mpa);
		kfree(port);
	}
	mutex_unlock(&ports_mutex);
}

static bool takes_both_families(const struct iw_cm_id *id)
{
	return id->local_addr.ss_family == AF_INET6 && !id->afonly &&
	       iwm_addr_is_any(&id->local_addr);
}

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

/*
 * With RDMA devices shared by all namespaces, an rdma_cm id of a wildcard or
 * loopback address also listens on devices of other namespaces. It could not
 * accept connections there, and it must not: it would take them from a listener
 * in that namespace. For another address, old rdma_cms find a device by the link
 * address alone, which netdevs of two namespaces may share.
 */
static int listen_foreign(const struct iwm_listen *listen)
{
	const struct sockaddr_storage *addr = &listen->id->local_addr;

	if (iwm_addr_is_any(addr) || iwm_addr_is_loopback(addr) ||
	    !rcu_access_pointer(listen->dev->netdev))
		return 0;
	ibdev_warn_ratelimited(&listen->dev->ibdev,
			       "cannot listen on %pISpc: it was asked for in another network namespace than the netdev's\n",
			       addr);
	return -EADDRNOTAVAIL;
}

static int listen_open(struct iwm_listen *listen, int backlog)
{
	const struct sockaddr_storage *addr = &listen->id->local_addr;
	struct sockaddr_in any4 = { .sin_family = AF_INET };
	struct sockaddr_storage addr4 = { };
	int ret;

	if (listen_is_foreign(listen))
		return listen_foreign(listen);
	/* A wildcard id may use its port space on other devices. */
	if (!iwm_cm_is_tcp(listen->id))
		return iwm_addr_is_any(addr) ? 0 : -EPROTONOSUPPORT;
	ret = subscription_open(&listen->subs[0], listen, addr, backlog);
	/*
	 * No Requests come here: the program may not leave another VRF, or the
	 * netdev is going. It listens on other devices all the same.
	 */
	if ((ret == -EADDRNOTAVAIL || ret == -ENODEV) && iwm_addr_is_any(addr))
		return 0;
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
 * Every user can send iw_cm a message of the port mapper, which says that a
 * connection to this listener's mapped address comes from another client than
 * the one that TCP knows. iw_cm believes it, and NFS grants access by the
 * client's address. So iw_cm gets a mapped address that no user can guess.
 */
static void hide_from_mapper(struct iwm_listen *listen)
{
	struct sockaddr_in6 nowhere = { .sin6_family = AF_INET6 };

	get_random_bytes(&nowhere.sin6_addr, sizeof(nowhere.sin6_addr));
	listen->mapped = listen->id->m_local_addr;
	memcpy(&listen->id->m_local_addr, &nowhere, sizeof(nowhere));
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

/*
 * While rdma_cm adds a device, it makes a listener on it for each of its
 * wildcard ids. If one of these fails, rdma_cm ignores the device, and no
 * program can connect through it. So report success, even if another socket has
 * the port: this listener then gets no Requests.
 * Return: 0, or @err.
 */
static int listen_failed(struct iwm_dev *dev, const struct iw_cm_id *id,
			 int err)
{
	if (!iwm_addr_is_any(&id->local_addr) || !iwm_dev_is_added(dev))
		return err;
	ibdev_warn_ratelimited(&dev->ibdev,
			       "the listener on %pISpc is not on this device: error %d\n",
			       &id->local_addr, err);
	return 0;
}

/**
 * iwm_cm_create_listen() - ib_device_ops.iw_create_listen
 * @id: with the local address, which may be a wildcard
 * @backlog: of the TCP socket
 *
 * Succeeds without listening for a wildcard id of a namespace other than the
 * device's, of a program that is confined to another VRF, and of a port space
 * other than RDMA_PS_TCP; and for any wildcard id while rdma_cm adds the device.
 *
 * Context: process, may sleep.
 * Return: 0; -EADDRINUSE: a TCP socket or another id has the port;
 * -EADDRNOTAVAIL: the address is not the program's to use; -EPROTONOSUPPORT: the
 * id's port is not a TCP port; or another errno.
 */
int iwm_cm_create_listen(struct iw_cm_id *id, int backlog)
{
	struct iwm_dev *dev = to_iwm_dev(id->device);
	static atomic64_t last_order;
	struct iwm_listen *listen;
	int ret;

	might_sleep();
	listen = kzalloc(sizeof(*listen), GFP_KERNEL_ACCOUNT);
	if (!listen)
		return listen_failed(dev, id, -ENOMEM);
	listen->dev = dev;
	listen->id = id;
	listen->order = atomic64_inc_return(&last_order);
	id->add_ref(id);
	ret = listen_open(listen, backlog);
	if (ret) {
		id->rem_ref(id);
		kfree(listen);
		return listen_failed(dev, id, ret);
	}
	id->provider_data = listen;
	hide_from_mapper(listen);
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
	id->m_local_addr = listen->mapped;	/* iw_cm removes its mapping */
	id->rem_ref(id);
	kfree(listen);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A queue pair that is connected by hand waits here for its peer. Those of one
 * network namespace, VRF and address share a listener, and the last one to leave
 * closes it.
 *
 * A Request is taken only when a queue pair waits for it: the connection comes
 * from the address that the program has named, and its Private Data names both
 * numbers. All others are rejected alike, so that a stranger does not learn which
 * numbers exist. The peer of a queue pair that is not ready yet tries again.
 *
 * Lock order: hand_ports_mutex -> socket lock; socket lock -> hand_lock ->
 * cep->lock.
 */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/net.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include "cep.h"
#include "cm.h"
#include "cm_addr.h"
#include "hand.h"

/**
 * struct hand_port - a listener
 * @entry: in hand_ports
 * @net: namespace; the listening socket holds it
 * @vrf: as mpa_params.vrf
 * @addr: local address and port
 * @users: queue pairs that wait (hand_ports_mutex)
 * @mpa: the listener
 */
struct hand_port {
	struct list_head entry;
	struct net *net;
	int vrf;
	struct sockaddr_storage addr;
	unsigned int users;
	struct mpa_listener *mpa;
};

static LIST_HEAD(hand_ports);
static DEFINE_MUTEX(hand_ports_mutex);

/* The queue pairs that wait, by their number */
static DEFINE_HASHTABLE(hands, 10);
static DEFINE_SPINLOCK(hand_lock);

/* The secret keeps a program from filling one bucket. */
static u32 hand_key(__be32 qpn)
{
	static u32 secret __read_mostly;

	net_get_random_once(&secret, sizeof(secret));
	return jhash_1word((__force u32)qpn, secret);
}

/* The queue pair that waits for this peer, or NULL. */
static struct iwm_hand *hand_find(const struct hand_port *port,
				  const struct hand_hello *hello,
				  const union ib_gid *from)
{
	struct iwm_hand *hand;

	lockdep_assert_held(&hand_lock);
	hash_for_each_possible(hands, hand, entry, hand_key(hello->to))
		if (hand->port == port &&
		    hand_hello_equal(&hand->cep->hello, hello,
				     sizeof(*hello)) &&
		    !memcmp(&hand->dgid, from, sizeof(*from)))
			return hand;
	return NULL;
}

/* mpa_consumer_ops.request. Context: socket locked, softirq or process. */
static int hand_request(void *consumer, struct mpa_conn *conn,
			const struct mpa_offer *peer, const void *pd)
{
	struct sockaddr_storage local, remote;
	struct hand_hello hello;
	struct iwm_hand *hand;
	union ib_gid from;
	int ret = -ECONNREFUSED;

	if (peer->pd_len != sizeof(hello) || peer->rev != MPA_REV_ENHANCED)
		return ret;
	memcpy(&hello, pd, sizeof(hello));
	mpa_conn_addrs(conn, &local, &remote);
	rdma_ip2gid((struct sockaddr *)&remote, &from);
	spin_lock_bh(&hand_lock);
	hand = hand_find(consumer, &hello, &from);
	if (hand)
		ret = iwm_cep_take_peer(hand->cep, conn, peer);
	spin_unlock_bh(&hand_lock);
	return ret;
}

static const struct mpa_consumer_ops hand_port_ops = {
	.request = hand_request,
};

static struct hand_port *hand_port_find(const struct net *net, int vrf,
					const struct sockaddr_storage *addr)
{
	struct hand_port *port;

	lockdep_assert_held(&hand_ports_mutex);
	list_for_each_entry(port, &hand_ports, entry)
		if (net_eq(port->net, net) && port->vrf == vrf &&
		    iwm_addr_equal(&port->addr, addr))
			return port;
	return NULL;
}

/*
 * The port is below 1024, so that no user of this host can take it first and
 * answer in place of the kernel. The program itself may not bind there: do it
 * with the kernel's credentials, but in the program's cgroup, whose rules apply.
 */
static struct mpa_listener *hand_port_listen(struct hand_port *port)
{
	struct mpa_consumer consumer = {
		.ops = &hand_port_ops,
		.arg = port,
		.mib = &iwm_listen_mib,
	};
	struct mpa_params params = iwm_cm_listen_params;
	struct cred *kernel = prepare_kernel_cred(&init_task);
	struct mpa_listener *mpa;
	const struct cred *own;

	if (!kernel)
		return ERR_PTR(-ENOMEM);
	params.settings.rdmac = false;
	params.vrf = port->vrf;
	own = override_creds(kernel);
	mpa = mpa_listen(port->net, (struct sockaddr *)&port->addr, SOMAXCONN,
			 &params, &consumer);
	revert_creds(own);
	put_cred(kernel);
	return mpa;
}

static struct hand_port *hand_port_create(struct net *net, int vrf,
					  const struct sockaddr_storage *addr)
{
	struct hand_port *port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	int ret;

	lockdep_assert_held(&hand_ports_mutex);
	if (!port)
		return ERR_PTR(-ENOMEM);
	port->net = net;
	port->vrf = vrf;
	port->addr = *addr;
	port->mpa = hand_port_listen(port);
	if (IS_ERR(port->mpa)) {
		ret = PTR_ERR(port->mpa);
		kfree(port);
		return ERR_PTR(ret);
	}
	list_add(&port->entry, &hand_ports);
	return port;
}

/**
 * iwm_hand_listen() - have a listener at a queue pair's address
 * @hand: queue pair; iwm_hand_leave() must follow
 * @net: namespace
 * @vrf: as mpa_params.vrf
 *
 * Context: process, may sleep.
 * Return: 0; -EADDRINUSE when a TCP socket has the port; -EADDRNOTAVAIL when the
 * address is not this host's; -ENOMEM; or another errno of bind().
 */
int iwm_hand_listen(struct iwm_hand *hand, struct net *net, int vrf)
{
	const struct sockaddr_in *remote = (void *)&hand->remote;
	struct sockaddr_storage addr = hand->local;
	struct hand_port *port;

	mpa_addr_set_port(&addr, remote->sin_port);
	mutex_lock(&hand_ports_mutex);
	port = hand_port_find(net, vrf, &addr);
	if (!port)
		port = hand_port_create(net, vrf, &addr);
	if (!IS_ERR(port)) {
		port->users++;
		hand->port = port;
	}
	mutex_unlock(&hand_ports_mutex);
	return PTR_ERR_OR_ZERO(port);
}

/*
 * From now on the peer's Request is taken. It fails, and the peer tries again, as
 * long as the QP does not have the cep. Context: process.
 */
void iwm_hand_wait(struct iwm_hand *hand)
{
	spin_lock_bh(&hand_lock);
	hash_add(hands, &hand->entry, hand_key(hand->hello.from));
	spin_unlock_bh(&hand_lock);
}

/**
 * iwm_hand_leave() - take no Request any more, and release the listener
 * @hand: queue pair; nothing happens when it does not wait
 *
 * Context: process, may sleep; takes socket locks.
 */
void iwm_hand_leave(struct iwm_hand *hand)
{
	struct hand_port *port = hand->port;

	if (!port)
		return;
	spin_lock_bh(&hand_lock);
	hash_del(&hand->entry);
	spin_unlock_bh(&hand_lock);
	mutex_lock(&hand_ports_mutex);
	hand->port = NULL;
	if (!--port->users) {
		list_del(&port->entry);
		mpa_listener_destroy(port->mpa);
		kfree(port);
	}
	mutex_unlock(&hand_ports_mutex);
}

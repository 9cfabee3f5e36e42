// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners: accepted TCP connections wait here for a valid Request.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include "conn.h"
#include "events.h"
#include "half_open.h"
#include "handshake.h"
#include "owner.h"
#include "sock.h"
#include "work.h"

/* Delay before a listener tries again after it could not accept. */
#define ACCEPT_AGAIN_MS		100
/* Connections accepted in one run, so that other work gets its turn. */
#define ACCEPT_BUDGET		64

/**
 * struct mpa_listener - a listening socket
 * @sock: its socket, whose sk_user_data points to this
 * @consumer: of the connections, until they are accepted
 * @params: those of the connections
 * @work: accepts connections; only it adds to @half_open
 * @half_open: connections that wait for their Request
 */
struct mpa_listener {
	struct socket *sock;
	struct mpa_consumer consumer;
	struct mpa_params params;
	struct delayed_work work;
	struct mpa_half_open half_open;
};

/*
 * TCP calls this for a child, under the child's lock, so sk_callback_lock of
 * the listening socket guards its sk_user_data. Context: softirq.
 */
static void listener_data_ready(struct sock *sk)
{
	struct mpa_listener *listener;

	read_lock_bh(&sk->sk_callback_lock);
	listener = sk->sk_user_data;
	if (listener && sk->sk_state == TCP_LISTEN)
		mod_delayed_work(mpa_wq, &listener->work, 0);
	read_unlock_bh(&sk->sk_callback_lock);
}

static const struct mpa_callbacks listener_callbacks = {
	.data_ready = listener_data_ready,
};

/*
 * Children inherit the callback and sk_user_data, which keeps BPF's sockmap
 * from taking them before they are accepted. A child may outlive the listener:
 * nothing follows its pointer.
 */
static void listener_attach(struct mpa_listener *listener)
{
	mpa_owner_take(listener->sock->sk, NULL, listener, &listener_callbacks);
}

/* Context: process. Afterwards no listener_data_ready() runs. */
static void listener_detach(struct mpa_listener *listener)
{
	mpa_owner_release(listener->sock->sk, listener, &listener_callbacks);
}

/*
 * Reset a connection, unless it has left the listener. Drops the caller's
 * reference. With @refuse first look once more for its Request, which may be
 * queued and wait for the worker.
 */
static void half_open_drop(struct mpa_conn *conn, bool refuse)
{
	struct sock *sk = conn->sk;
	bool ours;

	lock_sock(sk);
	if (refuse && conn->half_open)
		mpa_handshake_step(conn);
	if (refuse && conn->half_open && conn->state == MPA_WAIT_REQUEST)
		mpa_count(conn, MPA_STAT_STARTUP_REFUSED, 1);
	ours = conn->half_open && mpa_conn_let_go(conn);
	release_sock(sk);
	if (ours)
		mpa_conn_put(conn);
	mpa_conn_put(conn);
}

/* Context: process, socket lock held. Return: as mpa_conn_attach(). */
static bool listener_take(struct mpa_listener *listener, struct mpa_conn *conn,
			  struct mpa_source *source)
{
	conn->state = MPA_WAIT_REQUEST;
	conn->ops = listener->consumer.ops;
	conn->consumer = listener->consumer.arg;
	if (!mpa_conn_attach(conn, listener))
		return false;
	mpa_half_open_add(&listener->half_open, source, conn);
	mpa_conn_start_timer(conn);
	mpa_conn_get(conn);
	return true;
}

static void listener_incoming(struct mpa_listener *listener,
			      struct socket *sock)
{
	struct mpa_mib __percpu *mib = listener->consumer.mib;
	struct mpa_conn *conn, *other;
	struct sock *sk = sock->sk;
	struct mpa_source *source;
	bool taken;

	conn = mpa_conn_alloc(sk, sock, &listener->params, mib, mpa_conn_work);
	if (!conn) {
		this_cpu_inc(mib->v[MPA_STAT_STARTUP_REFUSED]);
		mpa_sock_reset(sock);
		return;
	}
	source = mpa_half_open_source(&listener->half_open, sk);
	while ((other = mpa_half_open_surplus(&listener->half_open,
					      source)))
		half_open_drop(other, true);
	lock_sock(sk);
	taken = listener_take(listener, conn, source);
	release_sock(sk);
	if (!taken) {
		this_cpu_inc(mib->v[MPA_STAT_STARTUP_REFUSED]);
		conn->reset = true;
		mpa_conn_put(conn);
		return;
	}
	/* The Request may have come before our callback: look for it now. */
	mpa_conn_work(&conn->work);
}

/* Is the queue empty, and does TCP call back for the next connection? */
static bool listener_all_accepted(const struct mpa_listener *listener, int ret)
{
	return ret == -EAGAIN ||
	       inet_sk_state_load(listener->sock->sk) != TCP_LISTEN;
}

/*
 * Any other error, such as no memory, leaves a connection in the queue for
 * which TCP does not call back again.
 */
static void listener_work(struct work_struct *work)
{
	struct mpa_listener *listener = container_of(to_delayed_work(work),
						     struct mpa_listener,
						     work);
	/* The peer may need this connection to write memory out. */
	unsigned int noio = memalloc_noio_save();
	unsigned long delay = 0;
	struct socket *sock;
	int ret = 0, i;

	for (i = 0; i < ACCEPT_BUDGET && !ret; i++) {
		ret = kernel_accept(listener->sock, &sock, O_NONBLOCK);
		if (!ret)
			listener_incoming(listener, sock);
	}
	memalloc_noio_restore(noio);
	if (ret)
		delay = msecs_to_jiffies(ACCEPT_AGAIN_MS);
	if (!listener_all_accepted(listener, ret))
		queue_delayed_work(mpa_wq, &listener->work, delay);
}

static int listener_bind(struct socket *sock, const struct sockaddr *local,
			 int backlog)
{
	int len = sizeof(struct sockaddr_in);
	int ret;

	sock_set_reuseaddr(sock->sk);
	if (local->sa_family == AF_INET6) {
		/* An IPv4 listener may have the same port. */
		ret = ip6_sock_set_v6only(sock->sk);
		if (ret)
			return ret;
		len = sizeof(struct sockaddr_in6);
	}
	ret = kernel_bind(sock, (struct sockaddr_unsized *)local, len);
	if (ret)
		return ret;
	return kernel_listen(sock, backlog);
}

/**
 * mpa_listen() - wait for Initiators
 * @net: network namespace
 * @local: address and port; an IPv6 wildcard covers IPv6 only
 * @backlog: of the TCP socket
 * @params: those of the connections
 * @consumer: its request() takes a connection over, and its counters count
 *	startups. Not used after the call
 *
 * Context: process, may sleep. Return: the listener or an ERR_PTR.
 */
struct mpa_listener *mpa_listen(struct net *net, const struct sockaddr *local,
				int backlog, const struct mpa_params *params,
				const struct mpa_consumer *consumer)
{
	struct mpa_listener *listener;
	int ret;

	might_sleep();
	listener = kzalloc(sizeof(*listener), GFP_KERNEL_ACCOUNT);
	if (!listener)
		return ERR_PTR(-ENOMEM);
	listener->consumer = *consumer;
	listener->params = *params;
	mpa_half_open_init(&listener->half_open);
	INIT_DELAYED_WORK(&listener->work, listener_work);

	ret = mpa_sock_create(net, local->sa_family, params, &listener->sock);
	if (ret)
		goto err_free_listener;
	listener_attach(listener);
	ret = listener_bind(listener->sock, local, backlog);
	if (ret)
		goto err_release_sock;
	return listener;

err_release_sock:
	listener_detach(listener);
	sock_release(listener->sock);
err_free_listener:
	kfree(listener);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_NS_GPL(mpa_listen, MPA_NS);

/**
 * mpa_listener_destroy() - stop listening
 * @listener: listener; gone afterwards
 *
 * Connections that the consumer has stay; half-open ones are reset. No
 * request() runs after this.
 * Context: process, may sleep; takes socket locks.
 */
void mpa_listener_destroy(struct mpa_listener *listener)
{
	struct mpa_conn *conn;

	might_sleep();
	/* 1: accept no more connections */
	listener_detach(listener);
	cancel_delayed_work_sync(&listener->work);
	sock_release(listener->sock);
	/* 2: reset the half-open ones */
	while ((conn = mpa_half_open_first(&listener->half_open)))
		half_open_drop(conn, false);
	kfree(listener);
}
EXPORT_SYMBOL_NS_GPL(mpa_listener_destroy, MPA_NS);

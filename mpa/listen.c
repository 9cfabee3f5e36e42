// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners: accepted TCP connections wait here for a valid Request.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include "conn.h"
#include "sock.h"

/* How long to leave a listener alone that cannot accept. */
#define ACCEPT_AGAIN_MS		100

/* Context: softirq, sk_callback_lock held. */
void mpa_listener_incoming(struct mpa_listener *listener)
{
	mod_delayed_work(mpa_wq, &listener->work, 0);
}

/* Take a connection off its listener. Context: its socket lock held. */
void mpa_listener_forget(struct mpa_conn *conn)
{
	struct mpa_listener *listener = conn->listener;

	spin_lock_bh(&listener->lock);
	list_del_init(&conn->entry);
	listener->num_half_open--;
	spin_unlock_bh(&listener->lock);
	conn->listener = NULL;
}

/* Half-open startups cost memory: a peer may not have any number of them. */
static bool half_open_add(struct mpa_listener *listener,
			  struct mpa_conn *conn)
{
	bool ok;

	spin_lock_bh(&listener->lock);
	ok = listener->num_half_open < READ_ONCE(mpa_max_half_open);
	if (ok) {
		listener->num_half_open++;
		list_add_tail(&conn->entry, &listener->half_open);
		conn->listener = listener;
	}
	spin_unlock_bh(&listener->lock);
	return ok;
}

static void incoming(struct mpa_listener *listener, struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct mpa_conn *conn;

	lock_sock(sk);
	sk->sk_data_ready = listener->saved_data_ready;	/* not inherited */
	release_sock(sk);
	conn = mpa_conn_alloc(sk, sock, &listener->params, listener->mib);
	if (!conn) {
		mpa_sock_close(sock, true);
		return;
	}
	lock_sock(sk);
	conn->state = MPA_WAIT_REQUEST;
	conn->ops = listener->ops;
	conn->ulp = listener->ulp;
	if (!half_open_add(listener, conn)) {
		mpa_count(conn, MPA_STAT_STARTUP_REFUSED, 1);
		conn->reset = true;
		release_sock(sk);
		mpa_conn_put(conn);
		return;
	}
	mpa_sock_attach(conn);
	mpa_conn_start_timer(conn);
	/* The Request may have come before our callback. */
	mpa_conn_queue(conn);
	release_sock(sk);
}

/* Is the queue empty, and will TCP tell when it no longer is? */
static bool all_accepted(const struct mpa_listener *listener, int err)
{
	return err == -EAGAIN ||
	       inet_sk_state_load(listener->sock->sk) != TCP_LISTEN;
}

/*
 * Any other error, want of memory for one, leaves somebody in the queue whom
 * TCP does not tell of again.
 */
static void listener_work(struct work_struct *work)
{
	struct mpa_listener *listener = container_of(to_delayed_work(work),
						     struct mpa_listener,
						     work);
	/* Who reconnects may do so to write memory out. */
	unsigned int noio = memalloc_noio_save();
	struct socket *sock;
	int err;

	while (!(err = kernel_accept(listener->sock, &sock, O_NONBLOCK)))
		incoming(listener, sock);
	memalloc_noio_restore(noio);
	if (!all_accepted(listener, err))
		queue_delayed_work(mpa_wq, &listener->work,
				   msecs_to_jiffies(ACCEPT_AGAIN_MS));
}

static int bind_and_listen(struct socket *sock, const struct sockaddr *local,
			   int backlog)
{
	int len = sizeof(struct sockaddr_in);
	int ret;

	sock_set_reuseaddr(sock->sk);
	if (local->sa_family == AF_INET6) {
		/* Both families can be listened on at once. */
		ret = ip6_sock_set_v6only(sock->sk);
		if (ret)
			return ret;
		len = sizeof(struct sockaddr_in6);
	}
	ret = kernel_bind(sock, (struct sockaddr *)local, len);
	if (ret)
		return ret;
	return kernel_listen(sock, backlog);
}

/**
 * mpa_listen() - wait for Initiators
 * @net: network namespace
 * @local: address and port; an IPv6 wildcard covers IPv6 only
 * @backlog: of the TCP socket
 * @params: policy of the connections
 * @ops: upcalls; request() hands a connection over
 * @ulp: their argument
 * @mib: counters of startups
 *
 * Context: process, may sleep. Return: the listener or an ERR_PTR.
 */
struct mpa_listener *mpa_listen(struct net *net, const struct sockaddr *local,
				int backlog, const struct mpa_params *params,
				const struct mpa_ulp_ops *ops, void *ulp,
				struct mpa_mib __percpu *mib)
{
	struct mpa_listener *listener;
	int ret;

	might_sleep();
	listener = kzalloc(sizeof(*listener), GFP_KERNEL);
	if (!listener)
		return ERR_PTR(-ENOMEM);
	listener->ops = ops;
	listener->ulp = ulp;
	listener->mib = mib;
	listener->params = *params;
	spin_lock_init(&listener->lock);
	INIT_LIST_HEAD(&listener->half_open);
	INIT_DELAYED_WORK(&listener->work, listener_work);

	ret = mpa_sock_create(net, local->sa_family, &listener->sock);
	if (ret)
		goto err_free;
	mpa_sock_attach_listener(listener, listener->sock);
	ret = bind_and_listen(listener->sock, local, backlog);
	if (ret)
		goto err_sock;
	return listener;

err_sock:
	mpa_sock_detach_listener(listener, listener->sock);
	sock_release(listener->sock);
err_free:
	kfree(listener);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_NS_GPL(mpa_listen, IWMPA);

/* The oldest half-open connection with a reference, or NULL. */
static struct mpa_conn *half_open_first(struct mpa_listener *listener)
{
	struct mpa_conn *conn;

	spin_lock_bh(&listener->lock);
	conn = list_first_entry_or_null(&listener->half_open,
					struct mpa_conn, entry);
	if (conn)
		mpa_conn_get(conn);
	spin_unlock_bh(&listener->lock);
	return conn;
}

/**
 * mpa_listener_destroy() - stop listening
 * @listener: listener; gone afterwards
 *
 * Connections that the consumer has got stay; half-open ones are reset. No
 * request() runs or comes after this.
 * Context: process, may sleep; takes socket locks.
 */
void mpa_listener_destroy(struct mpa_listener *listener)
{
	struct mpa_conn *conn;

	might_sleep();
	/* 1: no new ones */
	mpa_sock_detach_listener(listener, listener->sock);
	cancel_delayed_work_sync(&listener->work);
	sock_release(listener->sock);
	/* 2: those that have not handed their Request over */
	while ((conn = half_open_first(listener))) {
		struct sock *sk = mpa_conn_sk(conn);
		bool ours;

		lock_sock(sk);
		ours = conn->listener && mpa_conn_let_go(conn);
		release_sock(sk);
		if (ours)
			mpa_conn_put(conn);
		mpa_conn_put(conn);
	}
	kfree(listener);
}
EXPORT_SYMBOL_NS_GPL(mpa_listener_destroy, IWMPA);

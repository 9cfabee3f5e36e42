// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners: accepted TCP connections wait here for a valid Request.
 *
 * Such half-open startups cost memory, so that their number has a limit, and
 * who is silent may not keep others out: for a newcomer the one that has
 * waited longest is reset. Nobody is to make others' wait short by coming
 * often: of each source only so many may wait.
 */
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include "conn.h"
#include "linger.h"
#include "params.h"
#include "sock.h"
#include "work.h"

/* How long to leave a listener alone that cannot accept. */
#define ACCEPT_AGAIN_MS		100
/* Connections accepted in one go: what was begun is to go on as well. */
#define ACCEPT_BUDGET		64
/* A source may have this part of the half-open startups. */
#define SOURCE_SHARE		8

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
	list_del_init(&conn->source_entry);
	conn->source->num_half_open--;
	spin_unlock_bh(&listener->lock);
	conn->listener = NULL;
}

static void half_open_add(struct mpa_listener *listener,
			  struct mpa_source *source, struct mpa_conn *conn)
{
	conn->listener = listener;
	conn->source = source;
	spin_lock_bh(&listener->lock);
	list_add_tail(&conn->entry, &listener->half_open);
	listener->num_half_open++;
	list_add_tail(&conn->source_entry, &source->half_open);
	source->num_half_open++;
	spin_unlock_bh(&listener->lock);
}

/*
 * An IPv4 address is one source, and so is an IPv6 network: who has one has 64
 * bits of addresses.
 */
static struct mpa_source *source_of(struct mpa_listener *listener,
				    const struct sock *sk)
{
	u64 hash = siphash_1u32((__force u32)sk->sk_daddr,
				&listener->source_key);

#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		hash = siphash_2u32((__force u32)sk->sk_v6_daddr.s6_addr32[0],
				    (__force u32)sk->sk_v6_daddr.s6_addr32[1],
				    &listener->source_key);
#endif
	return &listener->source[hash % MPA_SOURCES];
}

/* Who has waited longest, with a reference; or NULL. */
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

/* Who has to go for a newcomer from @source, with a reference; or NULL. */
static struct mpa_conn *half_open_surplus(struct mpa_listener *listener,
					  struct mpa_source *source)
{
	unsigned int max = READ_ONCE(mpa_max_half_open);
	struct mpa_conn *conn = NULL;

	spin_lock_bh(&listener->lock);
	if (source->num_half_open >= DIV_ROUND_UP(max, SOURCE_SHARE))
		conn = list_first_entry(&source->half_open, struct mpa_conn,
					source_entry);
	else if (listener->num_half_open >= max)
		conn = list_first_entry(&listener->half_open, struct mpa_conn,
					entry);
	if (conn)
		mpa_conn_get(conn);
	spin_unlock_bh(&listener->lock);
	return conn;
}

/*
 * Reset a connection, unless it has left the listener. Takes a reference. With
 * @refuse it gets a last chance: its Request may be here, and only wait for
 * the worker.
 */
static void half_open_drop(struct mpa_conn *conn, bool refuse)
{
	struct sock *sk = conn->sk;
	bool ours;

	lock_sock(sk);
	if (refuse && conn->listener)
		mpa_handshake_step(conn);
	if (refuse && conn->listener && conn->state == MPA_WAIT_REQUEST)
		mpa_count(conn, MPA_STAT_STARTUP_REFUSED, 1);
	ours = conn->listener && mpa_conn_let_go(conn);
	release_sock(sk);
	if (ours)
		mpa_conn_put(conn);
	mpa_conn_put(conn);
}

static void incoming(struct mpa_listener *listener, struct socket *sock)
{
	struct mpa_conn *conn, *other;
	struct sock *sk = sock->sk;
	struct mpa_source *source;

	lock_sock(sk);
	sk->sk_data_ready = listener->saved_data_ready;	/* not inherited */
	release_sock(sk);
	conn = mpa_conn_alloc(sk, sock, &listener->params, listener->mib);
	if (!conn) {
		this_cpu_inc(listener->mib->v[MPA_STAT_STARTUP_REFUSED]);
		mpa_linger_close(sock, true);
		return;
	}
	source = source_of(listener, sk);
	while ((other = half_open_surplus(listener, source)))
		half_open_drop(other, true);
	lock_sock(sk);
	conn->state = MPA_WAIT_REQUEST;
	conn->ops = listener->ops;
	conn->consumer = listener->consumer;
	half_open_add(listener, source, conn);
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
	unsigned long delay = 0;
	struct socket *sock;
	int err = 0, i;

	for (i = 0; i < ACCEPT_BUDGET && !err; i++) {
		err = kernel_accept(listener->sock, &sock, O_NONBLOCK);
		if (!err)
			incoming(listener, sock);
	}
	memalloc_noio_restore(noio);
	if (err)
		delay = msecs_to_jiffies(ACCEPT_AGAIN_MS);
	if (!all_accepted(listener, err))
		queue_delayed_work(mpa_wq, &listener->work, delay);
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
 * @consumer: their argument
 * @mib: counters of startups
 *
 * Context: process, may sleep. Return: the listener or an ERR_PTR.
 */
struct mpa_listener *mpa_listen(struct net *net, const struct sockaddr *local,
				int backlog, const struct mpa_params *params,
				const struct mpa_consumer_ops *ops, void *consumer,
				struct mpa_mib __percpu *mib)
{
	struct mpa_listener *listener;
	int i, ret;

	might_sleep();
	listener = kzalloc(sizeof(*listener), GFP_KERNEL);
	if (!listener)
		return ERR_PTR(-ENOMEM);
	listener->ops = ops;
	listener->consumer = consumer;
	listener->mib = mib;
	listener->params = *params;
	spin_lock_init(&listener->lock);
	INIT_LIST_HEAD(&listener->half_open);
	get_random_bytes(&listener->source_key, sizeof(listener->source_key));
	for (i = 0; i < MPA_SOURCES; i++)
		INIT_LIST_HEAD(&listener->source[i].half_open);
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
	while ((conn = half_open_first(listener)))
		half_open_drop(conn, false);
	kfree(listener);
}
EXPORT_SYMBOL_NS_GPL(mpa_listener_destroy, IWMPA);

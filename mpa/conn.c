// SPDX-License-Identifier: GPL-2.0
/*
 * Connections as objects: allocation, references, timer, queueing the worker.
 */
#include <linux/memcontrol.h>
#include <linux/slab.h>
#include <net/tcp.h>
#include "conn.h"
#include "linger.h"
#include "params.h"
#include "rx.h"
#include "trace.h"
#include "tx.h"
#include "work.h"

static struct kmem_cache *mpa_conn_cache;

/* Delay before a retry without memory; each further retry doubles it. */
#define MPA_RETRY_MS		10
#define MPA_RETRY_DOUBLINGS	7u
/* A connection that wrote under MPA_TX_LARGE octets between checks is idle. */
#define MPA_WATCH_MS		400

/*
 * Set the parameters. Settings that the consumer does not have are those of the
 * module.
 * Context: the process whose cgroup is charged.
 */
void mpa_conn_set_params(struct mpa_conn *conn,
			 const struct mpa_params *params)
{
	/* workqueue_of() may see the old or the new value. */
	data_race(conn->params = *params);
	if (!params->own_settings)
		conn->params.settings = mpa_default_settings();
	if (params->account && !conn->memcg)
		conn->memcg = get_mem_cgroup_from_mm(NULL);
}

/* Context: process. Return: 0 or -ENOMEM. */
int __init mpa_conn_module_init(void)
{
	mpa_conn_cache = KMEM_CACHE(mpa_conn, 0);
	return mpa_conn_cache ? 0 : -ENOMEM;
}

/* No connection is left. Context: process. */
void mpa_conn_module_exit(void)
{
	kmem_cache_destroy(mpa_conn_cache);
}

static void conn_timeout(struct work_struct *work)
{
	struct mpa_conn *conn = container_of(to_delayed_work(work),
					     struct mpa_conn, timer);

	set_bit(MPA_CONN_TIMED_OUT, &conn->flags);
	mpa_conn_queue(conn);
	mpa_conn_put(conn);
}

static void conn_push_timeout(struct work_struct *work)
{
	struct mpa_conn *conn = container_of(to_delayed_work(work),
					     struct mpa_conn, push_timer);

	mpa_conn_queue(conn);
	mpa_conn_put(conn);
}

/**
 * mpa_conn_alloc() - make a connection object around a socket
 * @sk: TCP socket
 * @sock: its socket, which the connection owns from here on; NULL when it
 *	belongs to a program
 * @params: the consumer's
 * @mib: counters
 * @work: function of the connection's work, which owns a reference
 *
 * Return: the connection with one reference, or NULL: then the caller still
 * owns @sock.
 */
struct mpa_conn *mpa_conn_alloc(struct sock *sk, struct socket *sock,
				const struct mpa_params *params,
				struct mpa_mib __percpu *mib,
				work_func_t work)
{
	gfp_t gfp = params->account ? GFP_KERNEL_ACCOUNT : GFP_KERNEL;
	struct mpa_conn *conn = kmem_cache_zalloc(mpa_conn_cache, gfp);

	if (!conn)
		return NULL;
	kref_init(&conn->ref);
	sock_hold(sk);
	conn->sk = sk;
	conn->sock = sock;
	mpa_conn_set_params(conn, params);
	conn->mib = mib;
	INIT_LIST_HEAD(&conn->entry);
	INIT_WORK(&conn->work, work);
	INIT_DELAYED_WORK(&conn->timer, conn_timeout);
	INIT_DELAYED_WORK(&conn->push_timer, conn_push_timeout);
	return conn;
}

/* Work that is charged to a cgroup may wait for memory: not on mpa_wq. */
static struct workqueue_struct *workqueue_of(const struct mpa_conn *conn)
{
	bool account = READ_ONCE(conn->params.account);

	return conn->sock && !account ? mpa_wq : mpa_user_wq;
}

static void conn_free(struct kref *ref)
{
	struct mpa_conn *conn = container_of(ref, struct mpa_conn, ref);

	might_sleep();
	if (conn->sock && conn->reset)
		mpa_sock_reset(conn->sock);
	else if (conn->sock)
		mpa_linger_close(conn->sock, workqueue_of(conn),
				 !conn->started);
	sock_put(conn->sk);
	mpa_tx_free(&conn->tx);
	mpa_rx_free(&conn->rx);
	mem_cgroup_put(conn->memcg);
	kfree(conn->frame);
	kmem_cache_free(mpa_conn_cache, conn);
}

/**
 * mpa_conn_get() - take a reference
 * @conn: connection
 *
 * The reference may outlive mpa_destroy(), after which TCP gets no more FPDUs.
 * Context: any.
 */
void mpa_conn_get(struct mpa_conn *conn)
{
	kref_get(&conn->ref);
}
EXPORT_SYMBOL_NS_GPL(mpa_conn_get, MPA_NS);

/**
 * mpa_conn_put() - return a reference
 * @conn: connection, freed with the last reference
 *
 * Context: any; process, may sleep, if this may be the last reference.
 */
void mpa_conn_put(struct mpa_conn *conn)
{
	kref_put(&conn->ref, conn_free);
}
EXPORT_SYMBOL_NS_GPL(mpa_conn_put, MPA_NS);

/* Queue the connection's work. Context: any; the caller holds a reference. */
void mpa_conn_queue(struct mpa_conn *conn)
{
	mpa_conn_get(conn);
	if (!queue_work(workqueue_of(conn), &conn->work))
		mpa_conn_put(conn);
}

/* Arm a timer, unless it is armed already. */
static void conn_arm_timer(struct mpa_conn *conn, struct delayed_work *timer,
			   unsigned int ms)
{
	mpa_conn_get(conn);
	if (!queue_delayed_work(workqueue_of(conn), timer,
				msecs_to_jiffies(ms)))
		mpa_conn_put(conn);
}

/**
 * mpa_conn_queue_push() - have the connection's work hand over waiting FPDUs
 * @conn: connection in Full Operation; TCP has called sk_write_space()
 *
 * TCP also calls sk_write_space() within a hand-over, when it has no memory for
 * its only buffer. The work then runs after a delay; otherwise it would spin.
 * Context: socket lock held; the caller holds a reference.
 */
void mpa_conn_queue_push(struct mpa_conn *conn)
{
	if (conn->tx.pushing)
		conn_arm_timer(conn, &conn->push_timer, MPA_RETRY_MS);
	else
		mpa_conn_queue(conn);
}

/**
 * mpa_conn_push_later() - have the connection's work try again to hand over
 * @conn: program's connection in Full Operation, whose hand-over has failed
 *
 * The program decides how long the error lasts: the worker must not spin.
 * Context: socket lock held; the caller holds a reference.
 */
void mpa_conn_push_later(struct mpa_conn *conn)
{
	set_bit(MPA_CONN_PUSH_WANTED, &conn->flags);
	conn_arm_timer(conn, &conn->push_timer, MPA_RETRY_MS);
}

/**
 * mpa_conn_retry() - run the connection's work after a delay
 * @conn: connection in Full Operation that lacks memory for its stash
 *
 * The work may find no memory either, and must not spin. Each try may run a
 * full cgroup reclaim, so each delay is longer than the one before. It also
 * replaces the delay of mpa_conn_watch().
 * Context: any; the caller holds a reference.
 */
void mpa_conn_retry(struct mpa_conn *conn)
{
	unsigned int ms = MPA_RETRY_MS <<
			  min(conn->rx.tries++, MPA_RETRY_DOUBLINGS);

	mpa_conn_get(conn);
	if (mod_delayed_work(workqueue_of(conn), &conn->timer,
			     msecs_to_jiffies(ms)))
		mpa_conn_put(conn);
}

/**
 * mpa_conn_watch() - have the work check whether the connection is idle
 * @conn: connection in Full Operation that has memory to give back
 *
 * If mpa_conn_retry() has armed the timer, the work checks sooner.
 * Context: any; the caller holds a reference and excludes mpa_destroy().
 */
void mpa_conn_watch(struct mpa_conn *conn)
{
	conn_arm_timer(conn, &conn->timer, MPA_WATCH_MS);
}

/**
 * mpa_conn_released() - queue work that found a program's socket locked
 * @conn: connection
 *
 * A worker that finds the socket locked sets MPA_CONN_WORK_WANTED under the
 * socket's spinlock. Context: within release_sock(), that spinlock held.
 */
void mpa_conn_released(struct mpa_conn *conn)
{
	if (unlikely(test_bit(MPA_CONN_WORK_WANTED, &conn->flags))) {
		clear_bit(MPA_CONN_WORK_WANTED, &conn->flags);
		mpa_conn_queue(conn);
	}
}

void mpa_conn_start_timer(struct mpa_conn *conn)
{
	unsigned int ms = conn->params.startup_ms;

	if (!ms)
		ms = READ_ONCE(mpa_startup_timeout) * MSEC_PER_SEC;
	conn->deadline = jiffies + msecs_to_jiffies(ms);
	conn_arm_timer(conn, &conn->timer, ms);
}

/**
 * mpa_startup_left() - time that an Initiator's startup still has
 * @conn: connection of mpa_connect()
 *
 * For a consumer that tries again on another connection. Context: any.
 * Return: milliseconds, 0 when the time is over.
 */
unsigned int mpa_startup_left(const struct mpa_conn *conn)
{
	long left = conn->deadline - jiffies;

	return left > 0 ? jiffies_to_msecs(left) : 0;
}
EXPORT_SYMBOL_NS_GPL(mpa_startup_left, MPA_NS);

/* Context: the caller holds a reference beside the timers'. */
void mpa_conn_stop_timers(struct mpa_conn *conn)
{
	if (cancel_delayed_work(&conn->timer))
		mpa_conn_put(conn);
	if (cancel_delayed_work(&conn->push_timer))
		mpa_conn_put(conn);
}

/**
 * mpa_conn_end() - tell the consumer that nothing more will be received
 * @conn: connection that the consumer knows
 * @err: RFC 5044 section 8
 * @status: 0 for an orderly FIN, else a negative errno
 *
 * Further calls do nothing. Context: socket lock held.
 */
void mpa_conn_end(struct mpa_conn *conn, enum mpa_error err, int status)
{
	if (conn->state == MPA_ENDED)
		return;
	conn->state = MPA_ENDED;
	conn->rx.stopped = true;
	trace_mpa_end(conn, err, status);
	if (err == MPA_ERR_CRC)
		mpa_count(conn, MPA_STAT_RX_CRC_ERRORS, 1);
	if (err == MPA_ERR_MARKER)
		mpa_count(conn, MPA_STAT_RX_MARKER_ERRORS, 1);
	conn->ops->closed(conn->consumer, err, status);
}

/**
 * mpa_conn_set_consumer() - give the upcalls to another consumer
 * @conn: connection
 * @ops: upcalls
 * @consumer: their argument
 *
 * Context: inside of an upcall, or while no upcall can come.
 */
void mpa_conn_set_consumer(struct mpa_conn *conn,
			   const struct mpa_consumer_ops *ops,
			   void *consumer)
{
	conn->ops = ops;
	conn->consumer = consumer;
}
EXPORT_SYMBOL_NS_GPL(mpa_conn_set_consumer, MPA_NS);

/**
 * mpa_peer_has_closed() - has TCP received the peer's FIN?
 * @conn: connection
 *
 * Also after an error, when no upcall reports it. Context: any; a snapshot.
 */
bool mpa_peer_has_closed(const struct mpa_conn *conn)
{
	return READ_ONCE(conn->sk->sk_shutdown) & RCV_SHUTDOWN;
}
EXPORT_SYMBOL_NS_GPL(mpa_peer_has_closed, MPA_NS);

/**
 * mpa_conn_addrs() - the addresses of a connection
 * @conn: connected connection
 * @local: set to our address and port
 * @remote: set to the peer's
 *
 * Context: any; does not take the socket lock.
 */
void mpa_conn_addrs(struct mpa_conn *conn, struct sockaddr_storage *local,
		    struct sockaddr_storage *remote)
{
	const struct sock *sk = conn->sk;
	const struct inet_sock *inet = inet_sk(sk);

	memset(local, 0, sizeof(*local));
	memset(remote, 0, sizeof(*remote));
	local->ss_family = sk->sk_family;
	remote->ss_family = sk->sk_family;
	if (sk->sk_family == AF_INET) {
		struct sockaddr_in *l = (struct sockaddr_in *)local;
		struct sockaddr_in *r = (struct sockaddr_in *)remote;

		l->sin_port = inet->inet_sport;
		l->sin_addr.s_addr = inet->inet_saddr;
		r->sin_port = inet->inet_dport;
		r->sin_addr.s_addr = inet->inet_daddr;
#if IS_ENABLED(CONFIG_IPV6)
	} else {
		struct sockaddr_in6 *l = (struct sockaddr_in6 *)local;
		struct sockaddr_in6 *r = (struct sockaddr_in6 *)remote;

		l->sin6_port = inet->inet_sport;
		l->sin6_addr = sk->sk_v6_rcv_saddr;
		l->sin6_scope_id = ipv6_iface_scope_id(&l->sin6_addr,
						       sk->sk_bound_dev_if);
		r->sin6_port = inet->inet_dport;
		r->sin6_addr = sk->sk_v6_daddr;
		r->sin6_scope_id = ipv6_iface_scope_id(&r->sin6_addr,
						       sk->sk_bound_dev_if);
#endif
	}
}
EXPORT_SYMBOL_NS_GPL(mpa_conn_addrs, MPA_NS);

/**
 * mpa_conn_bound() - the netdev that a connection's socket is bound to
 * @conn: connection
 *
 * Context: any; does not take the socket lock. Return: interface index, or 0.
 */
int mpa_conn_bound(const struct mpa_conn *conn)
{
	return READ_ONCE(conn->sk->sk_bound_dev_if);
}
EXPORT_SYMBOL_NS_GPL(mpa_conn_bound, MPA_NS);

/**
 * mpa_wait_upcalls() - wait for the upcalls that are under way
 * @conn: connection
 *
 * Later upcalls see everything that the consumer has written before this call.
 *
 * Context: process, may sleep; takes the socket lock.
 */
void mpa_wait_upcalls(struct mpa_conn *conn)
{
	lock_sock(conn->sk);
	release_sock(conn->sk);
}
EXPORT_SYMBOL_NS_GPL(mpa_wait_upcalls, MPA_NS);

/* Returns a value because data_race() takes an expression that has one. */
static int read_info(struct mpa_conn *conn, struct mpa_conn_info *info)
{
	const struct mpa_tx *tx = &conn->tx;
	u64 blocked_at;

	info->emss = tx->plan.emss;
	info->mulpdu = mpa_conn_mulpdu(conn);
	info->large = tx->large;
	info->rx_fpdus = conn->rx.fpdus;
	info->rx_octets = conn->rx.octets;
	info->tx_fpdus = tx->counts.fpdus;
	info->tx_octets = tx->plan.accepted;
	info->tx_batches = tx->counts.batches;
	info->tx_blocked = tx->counts.blocked;
	/* In this order, a block that ends meanwhile is not counted twice. */
	info->tx_blocked_ns = READ_ONCE(tx->counts.blocked_ns);
	blocked_at = READ_ONCE(tx->blocked_at);
	if (blocked_at)
		info->tx_blocked_ns += ktime_get_ns() - blocked_at;
	return 0;
}

/**
 * mpa_conn_info() - report the figures of a connection
 * @conn: connection; before Full Operation all figures are zero
 * @info: filled. The figures of a busy connection are not of the same moment
 *
 * Every user may ask for the figures of other users' connections, and could
 * keep the socket lock for long by a task of low priority.
 *
 * Context: any; does not take the socket lock.
 */
void mpa_conn_info(struct mpa_conn *conn, struct mpa_conn_info *info)
{
	memset(info, 0, sizeof(*info));
	/* Pairs with mpa_conn_begin_full() */
	if (smp_load_acquire(&conn->started))
		data_race(read_info(conn, info)); /* no figure can be torn */
}
EXPORT_SYMBOL_NS_GPL(mpa_conn_info, MPA_NS);

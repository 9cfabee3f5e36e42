// SPDX-License-Identifier: GPL-2.0
/*
 * Lingering: sockets of connections that were closed in order, but whose last
 * octets are not acknowledged yet.
 *
 * When octets come for a released socket, TCP sends an RST and discards all
 * octets that it has not sent. Peers send until they have seen our FIN:
 * credits, or the answer to the first half of our last message. So the socket
 * stays and drops incoming octets, until the peer has acknowledged the FIN or
 * has closed.
 */
#include <linux/slab.h>
#include <net/tcp.h>
#include "linger.h"
#include "owner.h"
#include "sock.h"
#include "work.h"

/* Limit for a peer that neither acknowledges nor closes: TCP goes on alone. */
#define LINGER_MAX_MS	20000

/*
 * Refused startups that may linger at a time. Any peer can cause them, and they
 * count neither as half-open nor as TCP's orphans. Above the limit the socket is
 * released at once, and TCP completes the close by itself (tcp_max_orphans).
 */
#define LINGER_MAX_REFUSED	1024

/**
 * struct lingering - a socket that waits for its end
 * @entry: in the list of all
 * @end: releases it: when the wait is over, or after LINGER_MAX_MS
 * @wq: of @end; programs' sockets do not keep those of storage waiting
 * @refused: the connection has never been in Full Operation
 * @sock: the socket, which @end releases
 */
struct lingering {
	struct list_head entry;
	struct delayed_work end;
	struct workqueue_struct *wq;
	bool refused;
	struct socket *sock;
};

/*
 * All guarded by linger_lock. While unloading, no socket is added, the work of
 * all others is queued already, and callbacks queue nothing.
 */
static LIST_HEAD(linger_list);
static unsigned int linger_refused;
static bool linger_unloading;
static DEFINE_SPINLOCK(linger_lock);

/* Has the peer neither acknowledged our last octets nor closed? */
static bool fin_is_on_its_way(const struct sock *sk)
{
	return sk->sk_state == TCP_FIN_WAIT1;
}

/* TCP's callbacks. Context: softirq or process, socket lock held. */
static void lingering_data_ready(struct sock *sk)
{
	mpa_sock_drop_queued(sk);
}

static void lingering_state_change(struct sock *sk)
{
	struct lingering *l = sk->sk_user_data;

	if (fin_is_on_its_way(sk))
		return;
	spin_lock_bh(&linger_lock);
	if (!linger_unloading)
		mod_delayed_work(l->wq, &l->end, 0);
	spin_unlock_bh(&linger_lock);
}

static const struct mpa_callbacks lingering_callbacks = {
	.state_change = lingering_state_change,
	.data_ready = lingering_data_ready,
};

/* False: BPF's sockmap has taken it since its connection was detached. */
static bool lingering_attach(struct lingering *l)
{
	return mpa_owner_take(l->sock->sk, NULL, l, &lingering_callbacks);
}

/* Context: process, socket lock held. */
static void lingering_detach(struct lingering *l)
{
	mpa_owner_release(l->sock->sk, l, &lingering_callbacks);
}

static void linger_end(struct work_struct *work)
{
	struct lingering *l = container_of(to_delayed_work(work),
					   struct lingering, end);

	spin_lock_bh(&linger_lock);
	list_del(&l->entry);
	linger_refused -= l->refused;
	spin_unlock_bh(&linger_lock);
	lock_sock(l->sock->sk);
	lingering_detach(l);
	release_sock(l->sock->sk);
	/* A callback may have queued the work again; now none can. */
	cancel_delayed_work(&l->end);
	sock_release(l->sock);
	kfree(l);
}

static bool lingering_add(struct lingering *l)
{
	bool added;

	spin_lock_bh(&linger_lock);
	added = !linger_unloading &&
		!(l->refused && linger_refused >= LINGER_MAX_REFUSED);
	if (added) {
		linger_refused += l->refused;
		list_add(&l->entry, &linger_list);
		queue_delayed_work(l->wq, &l->end,
				   msecs_to_jiffies(LINGER_MAX_MS));
	}
	spin_unlock_bh(&linger_lock);
	return added;
}

/**
 * mpa_linger_close() - close a socket in order, and release it afterwards
 * @sock: socket without our callbacks
 * @wq: work queue to release it from
 * @refused: its connection has never been in Full Operation
 *
 * Without memory, and when too many refused ones linger, the socket is released
 * now: TCP goes on alone, as after any close().
 *
 * Context: process, may sleep; takes the socket lock. Does not wait for the
 * FIN's acknowledgment.
 */
void mpa_linger_close(struct socket *sock, struct workqueue_struct *wq,
		      bool refused)
{
	struct lingering *l = kmalloc(sizeof(*l), GFP_NOIO);
	struct sock *sk = sock->sk;
	bool lingers = false;

	might_sleep();
	mpa_sock_shutdown(sock);
	if (l) {
		l->sock = sock;
		l->wq = wq;
		l->refused = refused;
		INIT_DELAYED_WORK(&l->end, linger_end);
		lock_sock(sk);
		mpa_sock_drop_queued(sk);
		lingers = fin_is_on_its_way(sk) && lingering_attach(l);
		if (lingers && !lingering_add(l)) {
			lingering_detach(l);
			lingers = false;
		}
		release_sock(sk);
	}
	if (lingers)
		return;
	kfree(l);
	sock_release(sock);
}

/**
 * mpa_linger_exit() - have all lingering sockets released now
 *
 * They are gone when the workqueues have been destroyed. Context: process.
 */
void mpa_linger_exit(void)
{
	struct lingering *l;

	spin_lock_bh(&linger_lock);
	linger_unloading = true;
	list_for_each_entry(l, &linger_list, entry)
		mod_delayed_work(l->wq, &l->end, 0);
	spin_unlock_bh(&linger_lock);
}

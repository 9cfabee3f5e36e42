// SPDX-License-Identifier: GPL-2.0
/*
 * Who owns a TCP socket: its sk_user_data and its callbacks.
 *
 * A kernel user of a socket replaces callbacks that find its context in
 * sk_user_data. Either may be left without the other: children of a listener
 * get its callbacks, but not always its sk_user_data. So a socket is TCP's alone
 * only if sk_user_data is NULL and all callbacks are TCP's own.
 */
#include <linux/net.h>
#include <net/sock.h>
#include "owner.h"

/* TCP's own callbacks, the same for IPv4 and IPv6; most are not exported. */
struct mpa_callbacks mpa_tcp_callbacks __ro_after_init;
static void (*tcp_error_report)(struct sock *sk) __ro_after_init;

/* Copy TCP's own callbacks from a new socket. */
int __init mpa_owner_module_init(void)
{
	struct socket *sock;
	int ret = sock_create_kern(&init_net, AF_INET, SOCK_STREAM,
				   IPPROTO_TCP, &sock);

	if (ret)
		return ret;
	mpa_tcp_callbacks.state_change = sock->sk->sk_state_change;
	mpa_tcp_callbacks.data_ready = sock->sk->sk_data_ready;
	mpa_tcp_callbacks.write_space = sock->sk->sk_write_space;
	tcp_error_report = sock->sk->sk_error_report;
	sock_release(sock);
	return 0;
}

/* Is the socket TCP's alone? Context: sk_callback_lock held. */
bool mpa_owner_is_tcp(const struct sock *sk)
{
	return !sk->sk_user_data &&
	       sk->sk_state_change == mpa_tcp_callbacks.state_change &&
	       sk->sk_data_ready == mpa_tcp_callbacks.data_ready &&
	       sk->sk_write_space == mpa_tcp_callbacks.write_space &&
	       sk->sk_error_report == tcp_error_report;
}

static void set_callbacks(struct sock *sk, const struct mpa_callbacks *own)
{
	const struct mpa_callbacks *tcps = &mpa_tcp_callbacks;

	sk->sk_state_change = own->state_change ?: tcps->state_change;
	sk->sk_data_ready = own->data_ready ?: tcps->data_ready;
	sk->sk_write_space = own->write_space ?: tcps->write_space;
}

/**
 * mpa_owner_take() - take over a socket
 * @sk: socket
 * @from: its present owner in this module, or NULL: it must be TCP's alone
 * @owner: for sk_user_data. Without flags, so children of a listener inherit it
 * @own: callbacks
 *
 * Undone by mpa_owner_release(). Context: any; socket lock held, unless @sk is
 * new.
 * Return: false when the socket has another user.
 */
bool mpa_owner_take(struct sock *sk, const void *from, void *owner,
		    const struct mpa_callbacks *own)
{
	bool ret;

	write_lock_bh(&sk->sk_callback_lock);
	ret = from ? sk->sk_user_data == from : mpa_owner_is_tcp(sk);
	if (ret) {
		sk->sk_user_data = owner;
		set_callbacks(sk, own);
	}
	write_unlock_bh(&sk->sk_callback_lock);
	return ret;
}

/* Return: false when another user has replaced @own; NULL was not ours. */
static bool restore_callback(void (**callback)(struct sock *sk),
			     void (*own)(struct sock *sk),
			     void (*tcps)(struct sock *sk))
{
	if (*callback != own)
		return !own;
	*callback = tcps;
	return true;
}

/**
 * mpa_owner_release() - give a socket back to TCP
 * @sk: socket
 * @owner: as for mpa_owner_take()
 * @own: likewise
 *
 * Not every kernel user looks whether the socket has another one. What such a
 * user has replaced stays its own. Context: any; socket lock held.
 */
void mpa_owner_release(struct sock *sk, const void *owner,
		       const struct mpa_callbacks *own)
{
	const struct mpa_callbacks *tcps = &mpa_tcp_callbacks;
	bool intact;

	write_lock_bh(&sk->sk_callback_lock);
	intact = sk->sk_user_data == owner;
	if (intact)
		sk->sk_user_data = NULL;
	intact &= restore_callback(&sk->sk_state_change, own->state_change,
				   tcps->state_change);
	intact &= restore_callback(&sk->sk_data_ready, own->data_ready,
				   tcps->data_ready);
	intact &= restore_callback(&sk->sk_write_space, own->write_space,
				   tcps->write_space);
	write_unlock_bh(&sk->sk_callback_lock);
	if (!intact)
		pr_warn_ratelimited("mpa: a TCP socket of MPA's was taken by another kernel module\n");
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Connections of kernel consumers: connect, accept, reject.
 */
#include <net/tcp.h>
#include "conn.h"
#include "events.h"
#include "handshake.h"
#include "sock.h"

static int addr_len(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
					     sizeof(struct sockaddr_in);
}

/**
 * mpa_connect() - start as Initiator
 * @attempt: addresses, settings and Private Data; not used after the call
 * @consumer: the connection's; its reply() reports the result. Not used after
 *	the call
 *
 * Context: process, may sleep for memory, not for the network.
 * Return: the connection, with a reference that mpa_destroy() drops, or an
 * ERR_PTR, after which no upcall comes.
 */
struct mpa_conn *mpa_connect(const struct mpa_attempt *attempt,
			     const struct mpa_consumer *consumer)
{
	struct sockaddr_storage remote = attempt->remote;
	struct mpa_conn *conn;
	struct socket *sock;
	int ret;

	might_sleep();
	ret = mpa_sock_create(attempt->net, attempt->remote.ss_family,
			      &attempt->params, &sock);
	if (ret)
		return ERR_PTR(ret);
	conn = mpa_conn_alloc(sock->sk, sock, &attempt->params, consumer->mib,
			      mpa_conn_work);
	if (!conn) {
		sock_release(sock);
		return ERR_PTR(-ENOMEM);
	}
	ret = mpa_handshake_initiate(conn, attempt->pd, attempt->pd_len);
	if (ret)
		goto err_put_conn;
	sock_set_reuseaddr(sock->sk);
	ret = kernel_bind(sock, (struct sockaddr_unsized *)&attempt->local,
			  addr_len(&attempt->local));
	if (ret)
		goto err_put_conn;
	if (attempt->params.self)
		mpa_addr_set_port(&remote, inet_sk(sock->sk)->inet_sport);

	lock_sock(sock->sk);
	conn->ops = consumer->ops;
	conn->consumer = consumer->arg;
	mpa_conn_attach(conn, NULL);
	release_sock(sock->sk);
	if (attempt->params.memalloc)
		mpa_sock_use_reserves(sock->sk);

	ret = kernel_connect(sock, (struct sockaddr_unsized *)&remote,
			     addr_len(&remote), O_NONBLOCK);
	if (ret && ret != -EINPROGRESS)
		goto err_let_go;
	/* Not earlier: an attempt that fails above must get no upcall. */
	mpa_conn_start_timer(conn);
	mpa_conn_queue(conn);
	return conn;

err_let_go:
	lock_sock(sock->sk);
	mpa_conn_let_go(conn);
	release_sock(sock->sk);
err_put_conn:
	mpa_conn_put(conn);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_NS_GPL(mpa_connect, MPA_NS);

/**
 * mpa_accept() - answer a Request and enter Full Operation
 * @conn: connection that mpa_consumer_ops.request() handed over
 * @answer: our offer and Private Data; not used after the call
 * @consumer: the connection's from now on; must be ready for ULPDUs before this
 *	is called. Not used after the call
 * @agreed: set to the result of the negotiation, before the first upcall of
 *	@consumer
 *
 * RFC 5044 section 7.1.2: FPDUs are sent only after one has been received.
 * Context: process, may sleep; takes the socket lock.
 * Return: 0; -ECONNRESET when the connection has ended meanwhile; -EMSGSIZE
 * for too much Private Data, -ENOMEM, or another errno. On failure the old
 * upcalls stay, and the caller must still destroy the connection.
 */
int mpa_accept(struct mpa_conn *conn, const struct mpa_answer *answer,
	       const struct mpa_consumer *consumer, struct mpa_agreed *agreed)
{
	struct sock *sk = conn->sk;
	int ret;

	might_sleep();
	lock_sock(sk);
	mpa_conn_set_params(conn, &answer->params);
	ret = mpa_handshake_answer(conn, false, answer->pd, answer->pd_len);
	if (!ret) {
		conn->ops = consumer->ops;
		conn->consumer = consumer->arg;
		conn->mib = consumer->mib;
		*agreed = conn->agreed;
		mpa_conn_begin_full(conn);
	}
	release_sock(sk);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(mpa_accept, MPA_NS);

/**
 * mpa_reject() - answer a Request with R=1
 * @conn: connection that mpa_consumer_ops.request() handed over
 * @pd: Private Data of the Reply
 * @pd_len: octets of @pd
 *
 * mpa_destroy() then closes TCP in order, so that the Reply arrives.
 * Context: process, may sleep; takes the socket lock.
 * Return: 0, -ECONNRESET when the connection has ended, or another errno.
 */
int mpa_reject(struct mpa_conn *conn, const void *pd, u16 pd_len)
{
	struct sock *sk = conn->sk;
	int ret;

	might_sleep();
	lock_sock(sk);
	ret = mpa_handshake_answer(conn, true, pd, pd_len);
	release_sock(sk);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(mpa_reject, MPA_NS);

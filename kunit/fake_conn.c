// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/net.h>
#include <net/sock.h>
#include "conn.h"
#include "fake_conn.h"

/* Returns the connection, whose other fields are zero, or an ERR_PTR(). */
struct mpa_conn *fake_conn_create(struct kunit *test)
{
	struct mpa_conn *conn = kunit_kzalloc(test, sizeof(*conn), GFP_KERNEL);
	int ret;

	if (!conn)
		return ERR_PTR(-ENOMEM);
	ret = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &conn->sock);
	if (ret)
		return ERR_PTR(ret);
	conn->sk = conn->sock->sk;
	conn->mib = alloc_percpu(struct mpa_mib);
	if (!conn->mib) {
		sock_release(conn->sock);
		return ERR_PTR(-ENOMEM);
	}
	return conn;
}

/* The receive queue may hold buffers that a test made. */
void fake_conn_destroy(struct mpa_conn *conn)
{
	__skb_queue_purge(&conn->sk->sk_receive_queue);
	sock_release(conn->sock);
	free_percpu(conn->mib);
}

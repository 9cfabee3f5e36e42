// SPDX-License-Identifier: GPL-2.0
/*
 * Messages between two kernel sockets of TCP for the benchmark; the counterpart
 * of tools/bench/tcp_bench.cpp, which uses sockets of a program.
 */
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/sock.h>
#include "kverbs.h"

static struct socket *client, *server;
static u8 *source, *sink;

static void check(struct kv_bench *b, int ret, const char *what)
{
	kv_expect(&b->t, ret >= 0, "%s: error %d", what, ret);
}

static struct socket *make_socket(struct kv_bench *b)
{
	struct socket *sock = NULL;

	if (!b->t.failed)
		check(b, sock_create_kern(&init_net, AF_INET, SOCK_STREAM,
					  IPPROTO_TCP, &sock), "socket");
	return sock;
}

static void listen_at(struct kv_bench *b, struct socket *sock,
		      struct sockaddr_in *at)
{
	check(b, kernel_bind(sock, (struct sockaddr_unsized *)at, sizeof(*at)),
	      "bind");
	check(b, kernel_listen(sock, 1), "listen");
	check(b, kernel_getsockname(sock, (struct sockaddr *)at),
	      "getsockname");
}

static void connect_to(struct kv_bench *b, struct socket *listener,
		       struct sockaddr_in *at)
{
	int ret = kernel_connect(client, (struct sockaddr_unsized *)at,
				 sizeof(*at), 0);

	check(b, ret, "connect");
	if (!ret)
		check(b, kernel_accept(listener, &server, 0), "accept");
	if (b->t.failed)
		return;
	tcp_sock_set_nodelay(client->sk);
	tcp_sock_set_nodelay(server->sk);
}

static void open_tcp(struct kv_bench *b)
{
	struct sockaddr_in at = kv_address();
	struct socket *listener = make_socket(b);

	client = make_socket(b);
	if (!b->t.failed)
		listen_at(b, listener, &at);
	if (!b->t.failed)
		connect_to(b, listener, &at);
	if (listener)
		sock_release(listener);
	source = kmalloc(b->size, GFP_KERNEL);
	sink = kmalloc_array(b->depth, b->size, GFP_KERNEL);
	kv_expect(&b->t, source && sink, "no memory");
	if (!b->t.failed)
		memset(source, 0x5a, b->size);
}

static void send_octets(struct kv_bench *b, struct socket *sock, void *data,
			size_t n)
{
	struct kvec vec = { data, n };
	struct msghdr msg = { };
	int ret = kernel_sendmsg(sock, &msg, &vec, 1, n);

	kv_expect(&b->t, ret == n, "send: %d", ret);
}

static void receive_octets(struct kv_bench *b, struct socket *sock, void *data,
			   size_t n)
{
	struct kvec vec = { data, n };
	struct msghdr msg = { };
	int ret = kernel_recvmsg(sock, &msg, &vec, 1, n, MSG_WAITALL);

	kv_expect(&b->t, ret == n, "receive: %d", ret);
}

static void run_pingpong(struct kv_bench *b, unsigned int n)
{
	while (n-- && !b->t.failed) {
		send_octets(b, client, source, b->size);
		receive_octets(b, server, sink, b->size);
		send_octets(b, server, sink, b->size);
		receive_octets(b, client, source, b->size);
	}
}

static void run_tcp(struct kv_bench *b, unsigned int n)
{
	unsigned int i, batch;

	if (b->pingpong) {
		run_pingpong(b, n);
		return;
	}
	for (; n && !b->t.failed; n -= batch) {
		batch = min(b->depth, n);
		for (i = 0; i < batch; i++)
			send_octets(b, client, source, b->size);
		receive_octets(b, server, sink, batch * b->size);
	}
}

static void close_tcp(struct kv_bench *b)
{
	if (!b->t.failed)
		kv_expect(&b->t, !memcmp(source, sink, b->size), "other octets");
	if (client)
		sock_release(client);
	if (server)
		sock_release(server);
	client = NULL;
	server = NULL;
	kfree(source);
	kfree(sink);
}

const struct kv_engine kv_tcp_engine = {
	.open = open_tcp,
	.run = run_tcp,
	.close = close_tcp,
};

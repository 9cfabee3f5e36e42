// SPDX-License-Identifier: GPL-2.0
/*
 * Half-open startups: connections of a listener that wait for their Request.
 *
 * They cost memory, so their number is limited. So that silent peers do not
 * keep others out, a new connection at the limit resets the one that has waited
 * longest. A limit per source keeps one peer from resetting those of others.
 */
#include <linux/random.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include "conn.h"
#include "half_open.h"
#include "params.h"

/* A source may have 1/SOURCE_SHARE of the half-open startups. */
#define SOURCE_SHARE		8

/* Make an empty set. */
void mpa_half_open_init(struct mpa_half_open *half_open)
{
	int i;

	spin_lock_init(&half_open->lock);
	INIT_LIST_HEAD(&half_open->conns);
	get_random_bytes(&half_open->source_key, sizeof(half_open->source_key));
	for (i = 0; i < MPA_SOURCES; i++)
		INIT_LIST_HEAD(&half_open->source[i].conns);
}

/**
 * mpa_half_open_add() - add a connection that waits for its Request
 * @half_open: the listener's
 * @source: from mpa_half_open_source()
 * @conn: connection
 *
 * Context: process, socket lock of @conn held.
 */
void mpa_half_open_add(struct mpa_half_open *half_open,
		       struct mpa_source *source, struct mpa_conn *conn)
{
	conn->half_open = half_open;
	conn->source = source;
	spin_lock_bh(&half_open->lock);
	list_add_tail(&conn->entry, &half_open->conns);
	half_open->num_conns++;
	list_add_tail(&conn->source_entry, &source->conns);
	source->num_conns++;
	spin_unlock_bh(&half_open->lock);
}

/**
 * mpa_half_open_forget() - remove a connection that no longer waits
 * @conn: connection with @half_open
 *
 * Context: process, socket lock of @conn held.
 */
void mpa_half_open_forget(struct mpa_conn *conn)
{
	struct mpa_half_open *half_open = conn->half_open;

	spin_lock_bh(&half_open->lock);
	list_del_init(&conn->entry);
	half_open->num_conns--;
	list_del_init(&conn->source_entry);
	conn->source->num_conns--;
	spin_unlock_bh(&half_open->lock);
	conn->half_open = NULL;
}

/**
 * mpa_half_open_source() - the source of a connection's peer
 * @half_open: the listener's
 * @sk: the connection's socket
 *
 * An IPv4 address is one source, and so is a /64 of IPv6, because one owner has
 * all of its addresses. Context: any.
 */
struct mpa_source *mpa_half_open_source(struct mpa_half_open *half_open,
					const struct sock *sk)
{
	u64 hash = siphash_1u32((__force u32)sk->sk_daddr,
				&half_open->source_key);

#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		hash = siphash_2u32((__force u32)sk->sk_v6_daddr.s6_addr32[0],
				    (__force u32)sk->sk_v6_daddr.s6_addr32[1],
				    &half_open->source_key);
#endif
	return &half_open->source[hash % MPA_SOURCES];
}

/**
 * mpa_half_open_first() - find the connection that has waited longest
 * @half_open: the listener's
 *
 * Context: process. Return: the connection with a reference, or NULL.
 */
struct mpa_conn *mpa_half_open_first(struct mpa_half_open *half_open)
{
	struct mpa_conn *conn;

	spin_lock_bh(&half_open->lock);
	conn = list_first_entry_or_null(&half_open->conns,
					struct mpa_conn, entry);
	if (conn)
		mpa_conn_get(conn);
	spin_unlock_bh(&half_open->lock);
	return conn;
}

/**
 * mpa_half_open_surplus() - find the connection to reset for a new one
 * @half_open: the listener's
 * @source: the new connection's
 *
 * Context: process. Return: the connection with a reference, or NULL.
 */
struct mpa_conn *mpa_half_open_surplus(struct mpa_half_open *half_open,
				       struct mpa_source *source)
{
	unsigned int max = READ_ONCE(mpa_max_half_open);
	struct mpa_conn *conn = NULL;

	spin_lock_bh(&half_open->lock);
	if (source->num_conns >= DIV_ROUND_UP(max, SOURCE_SHARE))
		conn = list_first_entry(&source->conns, struct mpa_conn,
					source_entry);
	else if (half_open->num_conns >= max)
		conn = list_first_entry(&half_open->conns, struct mpa_conn,
					entry);
	if (conn)
		mpa_conn_get(conn);
	spin_unlock_bh(&half_open->lock);
	return conn;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections of a listener that wait for their Request.
 */
#ifndef MPA_HALF_OPEN_H
#define MPA_HALF_OPEN_H

#include <linux/list.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>

struct sock;
struct mpa_conn;

#define MPA_SOURCES	64

/**
 * struct mpa_source - half-open startups of the peers whose addresses have
 *	the same hash
 * @conns: the oldest first
 * @num_conns: number of them
 */
struct mpa_source {
	struct list_head conns;
	unsigned int num_conns;
};

/**
 * struct mpa_half_open - half-open startups of one listener
 * @lock: guards @conns, @num_conns and @source; inside of socket locks
 * @conns: connections in MPA_WAIT_REQUEST, the oldest first
 * @num_conns: number of them
 * @source_key: key of the hash, so that no peer can choose its source
 * @source: the same connections by the peer's address
 */
struct mpa_half_open {
	spinlock_t lock;		/* see above */
	struct list_head conns;
	unsigned int num_conns;
	siphash_key_t source_key;
	struct mpa_source source[MPA_SOURCES];
};

void mpa_half_open_init(struct mpa_half_open *half_open);
void mpa_half_open_add(struct mpa_half_open *half_open,
		       struct mpa_source *source, struct mpa_conn *conn);
void mpa_half_open_forget(struct mpa_conn *conn);
struct mpa_source *mpa_half_open_source(struct mpa_half_open *half_open,
					const struct sock *sk);
struct mpa_conn *mpa_half_open_first(struct mpa_half_open *half_open);
struct mpa_conn *mpa_half_open_surplus(struct mpa_half_open *half_open,
				       struct mpa_source *source);

#endif /* MPA_HALF_OPEN_H */

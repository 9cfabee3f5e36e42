/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who owns a TCP socket: its sk_user_data and its callbacks.
 */
#ifndef MPA_OWNER_H
#define MPA_OWNER_H

#include <linux/types.h>

struct sock;

/**
 * struct mpa_callbacks - callbacks of a socket
 * @state_change: for sk_state_change
 * @data_ready: for sk_data_ready
 * @write_space: for sk_write_space
 *
 * NULL stands for TCP's own.
 */
struct mpa_callbacks {
	void (*state_change)(struct sock *sk);
	void (*data_ready)(struct sock *sk);
	void (*write_space)(struct sock *sk);
};

extern struct mpa_callbacks mpa_tcp_callbacks;

int mpa_owner_module_init(void);
bool mpa_owner_is_tcp(const struct sock *sk);
bool mpa_owner_take(struct sock *sk, const void *from, void *owner,
		    const struct mpa_callbacks *own);
void mpa_owner_release(struct sock *sk, const void *owner,
		       const struct mpa_callbacks *own);

#endif /* MPA_OWNER_H */

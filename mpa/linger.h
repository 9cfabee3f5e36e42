/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Closing sockets whose last octets are not acknowledged yet.
 */
#ifndef MPA_LINGER_H
#define MPA_LINGER_H

#include <linux/types.h>

struct socket;
struct workqueue_struct;

void mpa_linger_close(struct socket *sock, struct workqueue_struct *wq,
		      bool refused);
void mpa_linger_exit(void);

#endif /* MPA_LINGER_H */

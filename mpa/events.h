/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of a connection, between TCP and the consumer.
 */
#ifndef MPA_EVENTS_H
#define MPA_EVENTS_H

#include <linux/gfp_types.h>
#include <linux/types.h>

struct mpa_conn;
struct work_struct;

void mpa_conn_work(struct work_struct *work);
void mpa_conn_receive(struct mpa_conn *conn, u32 budget, gfp_t gfp);
bool mpa_conn_attach(struct mpa_conn *conn, const void *from);
bool mpa_conn_let_go(struct mpa_conn *conn);

#endif /* MPA_EVENTS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Startup on a socket, driven by the connection's work, up to the beginning of
 * Full Operation.
 */
#ifndef MPA_HANDSHAKE_H
#define MPA_HANDSHAKE_H

#include <linux/types.h>
#include <mpa/negotiate.h>
#include "conn.h"

int mpa_handshake_send(struct mpa_conn *conn, const void *octets, u32 len);
void mpa_handshake_step(struct mpa_conn *conn);
int mpa_handshake_initiate(struct mpa_conn *conn, const void *pd, u16 pd_len);
int mpa_handshake_answer(struct mpa_conn *conn, bool reject, const void *pd,
			 u16 pd_len);
void mpa_conn_begin_full(struct mpa_conn *conn);

/**
 * mpa_conn_begin_rdmac() - the RDMA Consortium's original start
 * @conn: connection before Full Operation; the caller must call
 *	mpa_conn_begin_full() next
 *
 * There are no startup frames: both ULPs know the octet at which Full
 * Operation begins (draft-culley-iwarp-mpa-01 section 8.1). Markers and CRC
 * are on both ways, and the protocols above use version 0. The ULPs also decide
 * which side sends first: the draft has no rule like RFC 5044 7.1.2 rule 4, and
 * without a Request and a Reply no side is the Responder that would wait.
 *
 * Context: process, socket lock held.
 */
static inline void mpa_conn_begin_rdmac(struct mpa_conn *conn)
{
	const struct mpa_offer local = {
		.ird = conn->params.ird,
		.ord = conn->params.ord,
	};

	mpa_startup_rdmac(&local, &conn->agreed);
	WRITE_ONCE(conn->tx.allowed, true);
}

#endif /* MPA_HANDSHAKE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receive: whole FPDUs out of TCP's receive queue.
 */
#ifndef MPA_RX_H
#define MPA_RX_H

#include <linux/sizes.h>
#include <linux/types.h>
#include <mpa/wire.h>

struct mpa_early;
struct sk_buff;
struct sock;

/* Octets per pass in TCP's callbacks, so that no flow starves the others. */
#define MPA_SOFTIRQ_BUDGET	SZ_256K
/*
 * Octets that an FPDU takes of a budget besides its own, because even an empty
 * one takes time: TCP's callbacks deliver less than 1,024 FPDUs in a pass.
 */
#define MPA_FPDU_COST		256
/*
 * More buffers in TCP's queue are left to the worker, because each takes time,
 * and a peer may send a single octet in each. The longest FPDU is in 46 segments
 * of Ethernet's.
 */
#define MPA_SOFTIRQ_BUFFERS	128

/**
 * struct mpa_rx - receive direction of a connection; socket lock
 * @start: TCP sequence number of the first octet of Full Operation, for early
 *	placement
 * @markers: the peer puts Markers into its stream
 * @crc: CRCs are checked
 * @stopped: an error or the consumer ended it: incoming octets are dropped
 * @held: a whole FPDU waits for a consumer that takes ULPDUs itself
 * @put_off: the consumer has put off the next FPDU
 * @need: octets needed to complete the next FPDU, as far as known
 * @stash: octets of an incomplete FPDU that had to be taken out of TCP's
 *	queue to keep its window open (RFC 5044 A.5.2); NULL when there are none
 * @stash_len: octets in @stash
 * @charged: socket that @stash and the notes of @early are charged to; NULL when
 *	a program's cgroup is
 * @tries: successive tries that found no memory for @stash
 * @early: early placement; NULL when it is not in use
 * @fpdus: FPDUs delivered
 * @octets: octets of the stream in @fpdus
 */
struct mpa_rx {
	u32 start;
	bool markers;
	bool crc;
	bool stopped;
	bool held;
	bool put_off;
	u32 need;
	struct sk_buff *stash;
	u32 stash_len;
	struct sock *charged;
	unsigned int tries;
	struct mpa_early *early;
	u64 fpdus;
	u64 octets;
};

/* Result of a pass over the queue. */
enum mpa_rx_result {
	MPA_RX_IDLE,		/* nothing complete is left */
	MPA_RX_MORE,		/* the budget ran out */
	MPA_RX_NO_MEMORY,	/* idle, and no memory to stash the rest */
	MPA_RX_HELD,		/* an FPDU waits for the consumer, or is put off */
	MPA_RX_ENDED,		/* stopped in this pass, see *err */
};

struct mpa_conn;
struct mpa_cursor;

/*
 * The stream position of the first FPDU that is not delivered. It cannot be
 * taken from TCP's copied_seq, because the FIN has a sequence number, too.
 */
static inline u32 mpa_rx_position(const struct mpa_rx *rx)
{
	return rx->octets;
}

u32 mpa_rx_head(struct mpa_conn *conn, struct mpa_cursor *cur);
void mpa_rx_consume(struct mpa_conn *conn, u32 fpdus, u32 octets);
bool mpa_rx_is_for_worker(const struct mpa_conn *conn);
enum mpa_rx_result mpa_rx_pass(struct mpa_conn *conn, u32 budget, gfp_t gfp,
			       enum mpa_error *err);
void mpa_rx_drop_all(struct mpa_conn *conn);
void mpa_rx_free(struct mpa_rx *rx);

#endif /* MPA_RX_H */

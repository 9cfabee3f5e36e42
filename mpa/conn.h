/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections, inside of mpa.ko.
 *
 * The socket lock (lock_sock() or bh_lock_sock()) guards a connection, except
 * for the fields of struct mpa_tx that the transmit owner writes. References:
 * the consumer's, the socket's (sk_user_data), the queued work's and the armed
 * timer's.
 */
#ifndef MPA_CONN_H
#define MPA_CONN_H

#include <linux/kref.h>
#include <linux/net.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#include <mpa/mpa.h>
#include <mpa/negotiate.h>
#include "rx.h"
#include "tx.h"

enum mpa_state {
	MPA_CONNECTING,		/* TCP handshake */
	MPA_WAIT_REPLY,		/* Initiator, Request sent */
	MPA_WAIT_REQUEST,	/* Responder, accepted from a listener */
	MPA_UNDECIDED,		/* Responder, the consumer has the Request */
	MPA_FULL,		/* Full Operation */
	MPA_ENDED,		/* ended; the consumer, if any, is notified */
};

/* Bits of mpa_conn.flags */
enum {
	MPA_CONN_TIMED_OUT,	/* mpa_conn.timer has fired */
	MPA_CONN_FIN_WANTED,	/* shut down once everything is handed over */
	MPA_CONN_GONE,		/* the consumer knows that TCP is closed */
	MPA_CONN_PUSH_WANTED,	/* hand over written FPDUs (programs) */
	MPA_CONN_WORK_WANTED,	/* the socket's owner has to queue the work */
	MPA_CONN_AGAIN,		/* the consumer can take the ULPDU it put off */
};

/**
 * struct mpa_conn - one MPA connection
 * @ref: references, see above
 * @sk: the TCP socket; the connection holds a reference
 * @sock: the socket that the connection releases; NULL: it is a program's
 * @ops: upcalls, NULL after mpa_conn_let_go()
 * @consumer: the consumer's argument
 * @mib: the consumer's counters
 * @half_open: of a Responder: its listener's half-open startups, until the
 *	consumer has the connection
 * @entry: in the list of @half_open (its lock)
 * @source: source of the peer's address, while @half_open is set
 * @source_entry: in the list of @source (the lock of @half_open)
 * @state: enum mpa_state
 * @initiator: we sent or will send the Request
 * @started: Full Operation has begun, and may have ended
 * @reset: end TCP with an RST instead of a FIN
 * @params: the consumer's, and the settings in force
 * @memcg: cgroup charged for memory of FPDUs, with a reference, or NULL.
 *	Set before Full Operation
 * @offer: contents of our startup frame
 * @peer: contents of the peer's startup frame
 * @agreed: the result of the negotiation
 * @frame: our Request until TCP is connected, or NULL
 * @frame_len: octets of @frame
 * @work: everything that needs process context
 * @timer: limits the whole startup; in Full Operation it queues @work later: to
 *	stash again, or to look whether the connection is idle
 * @push_timer: queues @work later, for another hand-over
 * @deadline: jiffies at which the startup ends
 * @flags: atomic bits
 * @rx: receive direction
 * @tx: transmit direction
 */
struct mpa_conn {
	struct kref ref;
	struct sock *sk;
	struct socket *sock;
	const struct mpa_consumer_ops *ops;
	void *consumer;
	struct mpa_mib __percpu *mib;
	struct mpa_half_open *half_open;
	struct list_head entry;
	struct mpa_source *source;
	struct list_head source_entry;

	enum mpa_state state;
	bool initiator;
	bool started;
	bool reset;
	struct mpa_params params;
	struct mem_cgroup *memcg;
	struct mpa_offer offer;
	struct mpa_offer peer;
	struct mpa_agreed agreed;
	u8 *frame;
	u32 frame_len;

	struct work_struct work;
	struct delayed_work timer;
	struct delayed_work push_timer;
	unsigned long deadline;
	unsigned long flags;

	struct mpa_rx rx;
	struct mpa_tx tx;
};

static inline void mpa_count(const struct mpa_conn *conn, enum mpa_stat stat,
			     u64 n)
{
	this_cpu_add(conn->mib->v[stat], n);
}

int mpa_conn_module_init(void);
void mpa_conn_module_exit(void);
struct mpa_conn *mpa_conn_alloc(struct sock *sk, struct socket *sock,
				const struct mpa_params *params,
				struct mpa_mib __percpu *mib,
				work_func_t work);
void mpa_conn_set_params(struct mpa_conn *conn,
			 const struct mpa_params *params);
void mpa_conn_queue(struct mpa_conn *conn);
void mpa_conn_queue_push(struct mpa_conn *conn);
void mpa_conn_push_later(struct mpa_conn *conn);
void mpa_conn_retry(struct mpa_conn *conn);
void mpa_conn_watch(struct mpa_conn *conn);
void mpa_conn_released(struct mpa_conn *conn);
void mpa_conn_start_timer(struct mpa_conn *conn);
void mpa_conn_stop_timers(struct mpa_conn *conn);
void mpa_conn_end(struct mpa_conn *conn, enum mpa_error err, int status);

/*
 * Flags for an allocation that @memcg, a program's cgroup, is charged for. No
 * limit on CPU time applies to a worker: it does not reclaim a full cgroup for
 * long, nor kill the cgroup's processes.
 */
static inline gfp_t mpa_worker_gfp(const struct mem_cgroup *memcg)
{
	return memcg && current->flags & PF_KTHREAD ?
	       __GFP_NORETRY | __GFP_NOWARN : 0;
}

#endif /* MPA_CONN_H */

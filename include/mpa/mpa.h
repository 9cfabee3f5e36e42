/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MPA connections (RFC 5044) for kernel consumers such as DDP.
 *
 * A connection is made with mpa_connect() or comes out of mpa_listen(). It
 * runs through startup by itself and calls the consumer back through struct
 * mpa_consumer_ops. Nothing here blocks on the network.
 *
 * Locking: every upcall runs with the connection's socket locked, in softirq
 * or in process context. An upcall must not sleep and must not call a
 * function of this header whose "Context" says that it takes the socket lock.
 * Locks that the consumer takes in an upcall rank below the socket lock and
 * must be taken with bottom halves off elsewhere.
 */
#ifndef MPA_MPA_H
#define MPA_MPA_H

#include <linux/percpu.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <mpa/compat.h>
#include <mpa/wire.h>

struct kvec;
struct module;
struct net;
struct mpa_agreed;
struct mpa_conn;
struct mpa_cursor;
struct mpa_listener;
struct mpa_offer;

enum mpa_stat {
#define MPA_COUNTER(id, name, proc_name, text)	MPA_STAT_##id,
#include <mpa/counters.h>
	MPA_NUM_STATS
};

struct mpa_mib {
	u64 v[MPA_NUM_STATS];
};

/* Where FPDUs may be larger than a TCP segment. */
enum mpa_large {
	MPA_LARGE_NEVER,
	MPA_LARGE_LOCAL,	/* the route does not leave this host's stack */
	MPA_LARGE_ALWAYS,
	MPA_NUM_LARGE
};

extern const char *const mpa_large_names[MPA_NUM_LARGE];

/**
 * struct mpa_policy - what the administrator has a say in
 * @markers: require Markers in what we receive
 * @crc: use CRCs; they are off only when the peer wants that too
 * @rdmac: serve peers of revision 0 (RFC 5044 Appendix C), the "permissive"
 *	mode
 * @packing: several FPDUs may share a TCP segment
 * @early: place what TCP holds out of order, when there are Markers and CRCs
 *	and the consumer can
 * @large: FPDUs need not fit TCP's segments (RFC 5044 section 4.5 and 5.1 say
 *	they SHOULD). Not on programs' sockets
 */
struct mpa_policy {
	bool markers;
	bool crc;
	bool rdmac;
	bool packing;
	bool early;
	enum mpa_large large;
};

/**
 * struct mpa_params - what one connection or listener is to do
 * @max_rev: highest MPA revision to speak, MPA_REV_IETF or MPA_REV_ENHANCED
 * @own_policy: @policy is the caller's; otherwise that of the administrator
 *	(module parameters of mpa.ko) counts, as it is when the connection
 *	starts
 * @policy: see there
 * @p2p: as Initiator ask for the peer-to-peer model of RFC 6581
 * @memalloc: as Initiator: storage that memory may be written out to. The
 *	socket, and what is allocated for it, may use memory reserves
 * @ird: inbound RDMA Read depth to offer, 0..0x3ffe
 * @ord: outbound RDMA Read depth to offer, 0..0x3ffe
 * @startup_ms: time for the whole startup in milliseconds, 0: the default
 * @tos: type of service of its packets (IPv4), or their traffic class (IPv6),
 *	but for the ECN bits, which are TCP's. A listener's connections have
 *	that of the listener, unless TCP reflects the peer's
 *	(net.ipv4.tcp_reflect_tos)
 * @account: what the connection buffers in either direction is charged to the
 *	memory cgroup of the caller of mpa_connect() or mpa_accept(): the active
 *	one (set_active_memcg()), or else the process's. For what a program
 *	has asked for. Without effect on a listener
 */
struct mpa_params {
	u8 max_rev;
	bool own_policy;
	struct mpa_policy policy;
	bool p2p;
	bool memalloc;
	u16 ird;
	u16 ord;
	unsigned int startup_ms;
	u8 tos;
	bool account;
};

/**
 * struct mpa_attempt - to connect, as Initiator
 * @net: network namespace
 * @local: address to bind to, port 0 for any
 * @remote: the peer's address
 * @params: policy
 * @pd: Private Data, copied
 * @pd_len: octets of @pd: up to 512, or 508 with max_rev MPA_REV_ENHANCED
 */
struct mpa_attempt {
	struct net *net;
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	struct mpa_params params;
	const void *pd;
	u16 pd_len;
};

/* Octets of a ULPDU that are kept when its payload is placed early. */
#define MPA_PLACED_HDR_MAX	24

/**
 * struct mpa_consumer_ops - what the consumer of a connection provides
 * @request: Responder: a valid Request has arrived; @consumer is the
 *	listener's. The consumer keeps @conn and answers later, outside of the
 *	upcall, with mpa_accept(), mpa_reject() or mpa_destroy(). A negative
 *	return refuses: MPA drops the connection and its reference. With
 *	-EPROTONOSUPPORT, for a peer of revision 0, a Reply says so first
 * @reply: Initiator: startup has ended. @status is 0 when the peer accepted;
 *	-ECONNREFUSED when it rejected (@pd holds its Private Data), or TCP was
 *	refused, or closed before the Request (@peer is NULL); -ECONNRESET when
 *	it closed TCP in place of a Reply, as those do that know revision 1
 *	only (RFC 6581 section 10).
 *	-ENOBUFS (its ORD exceeds our IRD) and -ENOPROTOOPT (no common RTR)
 *	want a Terminate with MPA_ERR_IRD or MPA_ERR_RTR: with these, as with
 *	0, Full Operation begins when this returns, and only then @agreed is
 *	not NULL. Any other errno: @peer is NULL
 * @receive: one verified ULPDU of @len octets, to be read with
 *	mpa_cursor_copy() of <mpa/cursor.h>. Non-zero stops the receive
 *	direction: all that follows is dropped. NULL on a program's socket,
 *	which takes ULPDUs out of TCP's queue itself
 * @place: one verified ULPDU of @len octets that has come before its turn,
 *	because octets in front of it are missing still. The consumer may put
 *	its payload where it belongs, and nothing else: no state changes, no
 *	error is one yet (RFC 5041 section 5.3). A positive return says that
 *	this was done, and how many octets in front of the payload the consumer
 *	has put into @hdr, as it has read them, MPA_PLACED_HDR_MAX at most:
 *	when its turn comes receive() gets the ULPDU with these octets, and
 *	copies of what is behind them do nothing. What place() leaves in
 *	@cur->cookie receive() finds there. On any other return receive()
 *	gets all of it. A negative one says that the peer may not do this: it
 *	gets nothing placed early any more. Optional
 * @receive_done: a pass that called receive() or place() has ended: the
 *	place for wake-ups that can be per batch, and to let go of what was
 *	held for the pass. Optional, but when @receive is NULL: then a whole
 *	FPDU waits
 * @writable: room for transmission has appeared (Full Operation began, the
 *	first FPDU arrived at a Responder, or TCP took or freed something)
 * @idle: nothing was sent for half a second or more: the transmit owner should
 *	call mpa_tx_rest(). Context: process, socket lock held. Optional
 * @closed: the receive direction has ended: @err is the RFC's error number;
 *	@status is 0 for the peer's orderly FIN, else a negative errno. At
 *	most once, after the last receive; also before Full Operation, for an
 *	accepted or still undecided connection, and for a Responder that had
 *	no listener
 * @gone: TCP is closed in both directions: nothing can be sent any more, and
 *	mpa_destroy() cuts nothing off. At most once, after @closed. Optional
 */
struct mpa_consumer_ops {
	int (*request)(void *consumer, struct mpa_conn *conn,
		       const struct mpa_offer *peer, const void *pd);
	void (*reply)(void *consumer, int status, const struct mpa_offer *peer,
		      const struct mpa_agreed *agreed, const void *pd);
	int (*receive)(void *consumer, struct mpa_cursor *cur, u32 len);
	int (*place)(void *consumer, struct mpa_cursor *cur, u32 len, u8 *hdr);
	void (*receive_done)(void *consumer);
	void (*writable)(void *consumer);
	void (*idle)(void *consumer);
	void (*closed)(void *consumer, enum mpa_error err, int status);
	void (*gone)(void *consumer);
};

/* Octets that can be read where a ULPDU's header is. */
#define MPA_TX_HDR_SIZE		24

/**
 * struct mpa_ulpdu - a ULPDU to be sent
 * @hdr: its first octets; MPA_TX_HDR_SIZE can be read, whatever @hdr_len is
 * @hdr_len: number of these, 0..MPA_TX_HDR_SIZE
 * @src: where those behind them lie. What has been sent is taken away, so that
 *	a message's next ULPDU goes on from here
 * @len: number of these
 */
struct mpa_ulpdu {
	const u8 *hdr;
	u32 hdr_len;
	struct kvec *src;
	u32 len;
};

/**
 * struct mpa_loan - memory that a peer can take away, in any context
 * @valid: it may be read
 * @readers: CPUs that are copying from it. They have bottom halves and
 *	preemption off, so that mpa_loan_end() can wait for them in softirq
 */
struct mpa_loan {
	bool valid;
	atomic_t readers;
};

/**
 * mpa_loan_end() - take lent memory away
 * @loan: the memory; no octet is read from it any more when this returns
 *
 * Waits for one FPDU to be copied at most, on each CPU. Context: any.
 */
static inline void mpa_loan_end(struct mpa_loan *loan)
{
	WRITE_ONCE(loan->valid, false);
	/* Pairs with loans_begin(): they see the flag, or are seen here */
	smp_mb();
	while (atomic_read(&loan->readers))
		cpu_relax();
	smp_mb();	/* what they read is read before what follows */
}

/**
 * struct mpa_message - a message to be sent, in as many ULPDUs as it takes
 * @hdr: header of the next one, which tells its place in the message
 * @hdr_len: octets of it, up to MPA_TX_HDR_SIZE
 * @last: bits of @hdr[0] that are set in the last one only
 * @offset_at: where in @hdr a number is to which each one's payload is added
 * @offset_is_64: that has 64 bits, and not 32
 * @cut: the payload at @src goes out although it is too little for a ULPDU
 * @max_fpdus: return after so many, at least 1
 * @left: octets of payload that have not been sent
 * @avail: those of them that are at @src
 * @src: where the next ones lie; moved on
 * @lent: loans that the payload is in; a ULPDU is copied only if all are valid
 * @num_lent: elements in it
 */
struct mpa_message {
	u8 hdr[MPA_TX_HDR_SIZE];
	u8 hdr_len;
	u8 last;
	u8 offset_at;
	bool offset_is_64;
	bool cut;
	u32 max_fpdus;
	u32 left;
	u32 avail;
	struct kvec *src;
	struct mpa_loan *const *lent;
	u32 num_lent;
};

/**
 * struct mpa_conn_info - what can be told of a connection in Full Operation
 * @emss: octets of TCP's effective maximum segment size, a multiple of 4
 * @mulpdu: octets of the largest ULPDU that fits into a TCP segment
 * @large: octets of the stream that an FPDU may take across segments; 0: it has
 *	to fit one
 * @rx_fpdus: FPDUs received
 * @rx_octets: octets of the stream in them
 * @tx_fpdus: FPDUs sent
 * @tx_octets: octets of the stream that TCP has taken
 * @tx_batches: hand-overs to TCP
 * @tx_blocked: those that met a full socket
 * @tx_blocked_ns: time until TCP had taken all that waited, and that of a wait
 *	that goes on
 */
struct mpa_conn_info {
	u32 emss;
	u32 mulpdu;
	u32 large;
	u64 rx_fpdus;
	u64 rx_octets;
	u64 tx_fpdus;
	u64 tx_octets;
	u64 tx_batches;
	u64 tx_blocked;
	u64 tx_blocked_ns;
};

/* The administrator's policy for a connection that starts now */
struct mpa_policy mpa_policy(void);

/* Startup */
struct mpa_conn *mpa_connect(const struct mpa_attempt *attempt,
			     const struct mpa_consumer_ops *ops, void *consumer,
			     struct mpa_mib __percpu *mib);
struct mpa_listener *mpa_listen(struct net *net, const struct sockaddr *local,
				int backlog, const struct mpa_params *params,
				const struct mpa_consumer_ops *ops, void *consumer,
				struct mpa_mib __percpu *mib);
void mpa_listener_destroy(struct mpa_listener *listener);
unsigned int mpa_startup_left(const struct mpa_conn *conn);

int mpa_accept(struct mpa_conn *conn, const struct mpa_params *params,
	       const void *pd, u16 pd_len, const struct mpa_consumer_ops *ops,
	       void *consumer, struct mpa_mib __percpu *mib,
	       struct mpa_agreed *agreed);
int mpa_reject(struct mpa_conn *conn, const void *pd, u16 pd_len);

/* Another consumer: inside of an upcall, or while no upcall can come */
void mpa_conn_set_consumer(struct mpa_conn *conn,
			   const struct mpa_consumer_ops *ops,
			   void *consumer);

/* Ends */
void mpa_shutdown(struct mpa_conn *conn);
void mpa_abort(struct mpa_conn *conn);
void mpa_wait_upcalls(struct mpa_conn *conn);
void mpa_destroy(struct mpa_conn *conn);
void mpa_conn_get(struct mpa_conn *conn);
void mpa_conn_put(struct mpa_conn *conn);

/* Facts about a connection */
void mpa_conn_addrs(struct mpa_conn *conn, struct sockaddr_storage *local,
		    struct sockaddr_storage *remote);
u32 mpa_conn_mulpdu(struct mpa_conn *conn);
void mpa_conn_info(struct mpa_conn *conn, struct mpa_conn_info *info);

/*
 * Transmit. One context at a time may use these, and mpa_shutdown(), on a
 * connection: the consumer's transmit owner. They do not take the socket lock
 * but for mpa_tx_flush() and mpa_shutdown().
 */
u32 mpa_tx_room(struct mpa_conn *conn, u32 min);
int mpa_tx_fpdu(struct mpa_conn *conn, struct mpa_ulpdu *ulpdu);
int mpa_tx_message(struct mpa_conn *conn, struct mpa_message *msg);
int mpa_tx_flush(struct mpa_conn *conn, bool more);
void mpa_tx_set_atomic(struct mpa_conn *conn, bool atomic);
void mpa_tx_rest(struct mpa_conn *conn);
u64 mpa_tx_written(const struct mpa_conn *conn);
u64 mpa_tx_accepted(const struct mpa_conn *conn);

#endif /* MPA_MPA_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MPA connections (RFC 5044) for kernel consumers such as DDP.
 *
 * mpa_connect() makes a connection; a listener (mpa_listen()) makes one for
 * each peer that connects. The connection performs startup by itself and calls
 * the consumer back through struct mpa_consumer_ops. No function here waits for
 * the network.
 *
 * Locking: every upcall runs with the connection's socket locked, in softirq
 * or in process context. An upcall must not sleep, and must not call a function
 * whose "Context" says that it takes the socket lock. Locks that the consumer
 * takes in an upcall nest inside the socket lock; elsewhere the consumer must
 * take them with bottom halves disabled.
 */
#ifndef MPA_MPA_H
#define MPA_MPA_H

#include <linux/in.h>
#include <linux/in6.h>
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
	MPA_LARGE_AGREED,	/* both sides have said so: MPA_FLAG_LARGE */
	MPA_NUM_LARGE
};

extern const char *const mpa_large_names[MPA_NUM_LARGE];

/**
 * struct mpa_settings - settings of a connection, the administrator's or its own
 * @markers: require Markers from the peer
 * @crc: use CRCs; they are off only if the peer does not want them either
 * @rdmac: serve peers of revision 0 (RFC 5044 Appendix C), the "permissive"
 *	mode
 * @packing: several FPDUs may share a TCP segment
 * @early: place FPDUs that TCP holds out of order, if the peer sends Markers
 *	and CRCs, and the consumer has a place()
 * @large: FPDUs need not fit into TCP's segments (RFC 5044 sections 4.5 and 5.1
 *	say they SHOULD). Not for programs' sockets
 */
struct mpa_settings {
	bool markers;
	bool crc;
	bool rdmac;
	bool packing;
	bool early;
	enum mpa_large large;
};

/**
 * struct mpa_params - what a consumer passes for one connection or listener
 * @max_rev: highest MPA revision to speak, MPA_REV_IETF or MPA_REV_ENHANCED
 * @own_settings: use @settings; otherwise the connection takes the module
 *	parameters of mpa.ko when it starts
 * @settings: the consumer's, with @own_settings
 * @p2p: as Initiator, ask for the peer-to-peer model of RFC 6581
 * @self: as Initiator: the connection's peer is itself. Its socket connects to
 *	its own address and port, and gets what it sends. There are no startup
 *	frames: reply() gets the consumer's own offer and Private Data. @p2p must
 *	not be set, and @ord not exceed @ird
 * @memalloc: as Initiator: the peer is storage that memory reclaim may write
 *	to. The socket, and allocations for it, may use memory reserves
 * @ird: inbound RDMA Read depth to offer, 0..0x3ffe
 * @ord: outbound RDMA Read depth to offer, 0..0x3ffe
 * @startup_ms: time for the whole startup in milliseconds; 0: the default
 * @tos: type of service (IPv4) or traffic class (IPv6) of its packets, without
 *	the ECN bits, which belong to TCP. A listener's connections inherit the
 *	listener's, unless TCP reflects the peer's (net.ipv4.tcp_reflect_tos)
 * @vrf: interface index of the VRF, or of the netdev, that its socket is bound
 *	to, 0 for none, or MPA_ANY_VRF: the socket is not bound, and TCP's
 *	settings decide. A program that is confined to another VRF (ip vrf exec)
 *	fails with -EADDRNOTAVAIL
 * @account: charge the connection's buffers, in both directions, to the memory
 *	cgroup of the caller of mpa_connect() or mpa_accept(): the active one
 *	(set_active_memcg()), or else the process's. For connections that a
 *	program has asked for. No effect on a listener
 */
struct mpa_params {
	u8 max_rev;
	bool own_settings;
	struct mpa_settings settings;
	bool p2p;
	bool self;
	bool memalloc;
	u16 ird;
	u16 ord;
	unsigned int startup_ms;
	u8 tos;
	int vrf;
	bool account;
};

#define MPA_ANY_VRF	(-1)

/**
 * struct mpa_attempt - a connection for mpa_connect() to make
 * @net: network namespace
 * @local: address to bind to, port 0 for any
 * @remote: the peer's address
 * @params: the connection's
 * @pd: Private Data; mpa_connect() copies it
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

/**
 * struct mpa_answer - how mpa_accept() answers a Request
 * @params: our offer: IRD and ORD
 * @pd: Private Data of the Reply
 * @pd_len: octets of @pd: up to 512, 508 when the Request was enhanced
 */
struct mpa_answer {
	struct mpa_params params;
	const void *pd;
	u16 pd_len;
};

/* Octets of a ULPDU's header that MPA keeps when its payload is placed early */
#define MPA_PLACED_HDR_MAX	24

/**
 * struct mpa_consumer_ops - upcalls that the consumer of a connection provides
 * @request: Responder: a valid Request has arrived; @consumer is the
 *	listener's. The consumer keeps @conn and answers later, outside the
 *	upcall, with mpa_accept(), mpa_reject() or mpa_destroy(). To refuse, it
 *	returns a negative errno: MPA then sends a rejecting Reply, of revision
 *	1 with -EPROTONOSUPPORT for a peer of revision 0, and drops the
 *	connection and its reference
 * @reply: Initiator: startup has ended. @status is 0 when the peer accepted;
 *	-ECONNREFUSED when the peer rejected (@pd holds its Private Data), or
 *	when TCP was refused, or closed before the Request (@peer is NULL);
 *	-ECONNRESET when the peer closed TCP instead of sending a Reply, as
 *	peers do that know revision 1 only (RFC 6581 section 10).
 *	-ENOBUFS (the peer's ORD exceeds our IRD) and -ENOPROTOOPT (no common
 *	RTR) require the consumer to send a Terminate with MPA_ERR_IRD or
 *	MPA_ERR_RTR. With these two and with 0, Full Operation begins when the
 *	upcall returns; otherwise @agreed is NULL. With any other errno @peer is
 *	NULL
 * @receive: one verified ULPDU of @len octets; the consumer reads it with
 *	mpa_cursor_copy() of <mpa/cursor.h>. -EAGAIN puts the ULPDU off: it and
 *	all octets behind it stay in TCP's queue, where the peer meets the
 *	window, until mpa_receive_again(). MPA verifies it anew then. Any other
 *	non-zero return stops the receive direction: MPA drops all following
 *	octets. NULL on a program's socket, which takes ULPDUs out of TCP's
 *	queue itself
 * @place: one verified ULPDU of @len octets that arrived early: octets in front
 *	of it are still missing. The consumer may place its payload and do
 *	nothing else: it changes no state and reports no error (RFC 5041 section
 *	5.3). A positive return says that the payload is placed, and how many
 *	octets in front of the payload, at most MPA_PLACED_HDR_MAX, the consumer
 *	has copied to @hdr. When the turn of the ULPDU comes, receive() reads
 *	these octets and the value that place() stored in @cur->cookie; copying
 *	the octets behind them does nothing. After any other return receive()
 *	gets the whole ULPDU. A negative return says that the peer was not
 *	permitted this access: MPA places nothing early for it any more.
 *	Optional
 * @receive_done: a pass that called receive() or place() has ended: the
 *	consumer can do its wake-ups for the whole batch here, and release what
 *	it holds for the pass. Optional, except when @receive is NULL: the call
 *	then means that a whole FPDU waits
 * @writable: transmission may continue: Full Operation began, the first FPDU
 *	arrived at a Responder, or TCP took or freed octets
 * @idle: hardly any FPDU was written between two checks, 0.4 s apart: the owner
 *	should call mpa_tx_rest(). Context: process, socket lock held. Optional
 * @closed: the receive direction has ended. @err is the RFC's error number;
 *	@status is 0 for the peer's orderly FIN, else a negative errno. Called
 *	at most once, after the last receive(); also before Full Operation, for
 *	an accepted or still undecided connection, and for a Responder that had
 *	no listener. The FIN behind a ULPDU that was put off waits with it; when
 *	TCP closes in both directions meanwhile, the ULPDU is lost
 * @gone: TCP is closed in both directions: nothing can be sent any more, and
 *	mpa_destroy() loses no octets. Called at most once, after @closed.
 *	Optional
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

/**
 * struct mpa_consumer - the consumer of a connection or listener
 * @ops: its upcalls
 * @arg: their first argument
 * @mib: its counters
 */
struct mpa_consumer {
	const struct mpa_consumer_ops *ops;
	void *arg;
	struct mpa_mib __percpu *mib;
};

/* Size of the buffer that holds a ULPDU's header */
#define MPA_TX_HDR_SIZE		24

/**
 * struct mpa_ulpdu - a ULPDU to be sent
 * @hdr: header; MPA_TX_HDR_SIZE octets are readable, whatever @hdr_len is
 * @hdr_len: octets of the header, 0..MPA_TX_HDR_SIZE
 * @src: where the octets behind the header lie. Sending advances it, so that
 *	the message's next ULPDU continues from here
 * @len: octets behind the header
 */
struct mpa_ulpdu {
	const u8 *hdr;
	u32 hdr_len;
	struct kvec *src;
	u32 len;
};

/**
 * struct mpa_loan - memory whose loan may end at any time, in any context
 * @valid: the memory may be read
 * @readers: CPUs that are copying from it, with bottom halves and preemption
 *	disabled, so that mpa_loan_end() can wait for them in softirq
 */
struct mpa_loan {
	bool valid;
	atomic_t readers;
};

/**
 * mpa_loan_end() - end a loan
 * @loan: the memory; after the return MPA reads no octet of it
 *
 * Waits for the copy of at most one FPDU on each CPU. Context: process or
 * softirq.
 */
static inline void mpa_loan_end(struct mpa_loan *loan)
{
	WRITE_ONCE(loan->valid, false);
	/* Pairs with loans_acquire(): a reader sees the flag, or is seen */
	smp_mb();
	while (atomic_read(&loan->readers))
		cpu_relax();
	smp_mb();	/* the readers' loads precede the caller's accesses */
}

/**
 * struct mpa_message - a message to be sent, in as many ULPDUs as it takes
 * @hdr: header of the next ULPDU
 * @hdr_len: octets of the header, up to MPA_TX_HDR_SIZE
 * @last: bits of @hdr[0] that are set in the last ULPDU only
 * @offset_at: index in @hdr of the offset of the ULPDU's payload, which
 *	advances with each ULPDU
 * @offset_is_64: the offset has 64 bits, not 32
 * @cut: send the payload at @src even if it does not fill a ULPDU
 * @max_fpdus: return after this many FPDUs, at least 1
 * @left: octets of payload that have not been sent
 * @avail: octets of payload at @src
 * @src: where the next octets of payload lie; sending advances it
 * @lent: loans of the payload's memory; a ULPDU is copied only if all are valid
 * @num_lent: elements of @lent
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
 * struct mpa_conn_info - figures of a connection in Full Operation
 * @emss: octets of TCP's effective maximum segment size, a multiple of 4
 * @mulpdu: octets of the largest ULPDU that fits into a TCP segment
 * @large: octets of the stream that an FPDU may take across segments; 0: an
 *	FPDU must fit into one segment
 * @rx_fpdus: FPDUs received
 * @rx_octets: octets of the stream in them
 * @tx_fpdus: FPDUs sent
 * @tx_octets: octets of the stream that TCP has taken
 * @tx_batches: hand-overs to TCP
 * @tx_blocked: hand-overs that met a full socket
 * @tx_blocked_ns: total time of the waits until TCP had taken all octets,
 *	including a wait that still lasts
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

/* Set the port of an address of either family. */
static inline void mpa_addr_set_port(struct sockaddr_storage *addr, __be16 port)
{
	if (addr->ss_family == AF_INET6)
		((struct sockaddr_in6 *)addr)->sin6_port = port;
	else
		((struct sockaddr_in *)addr)->sin_port = port;
}

/* The settings of a connection that starts now and has none of its own */
struct mpa_settings mpa_default_settings(void);

/* Startup */
struct mpa_conn *mpa_connect(const struct mpa_attempt *attempt,
			     const struct mpa_consumer *consumer);
struct mpa_listener *mpa_listen(struct net *net, const struct sockaddr *local,
				int backlog, const struct mpa_params *params,
				const struct mpa_consumer *consumer);
void mpa_listener_destroy(struct mpa_listener *listener);
unsigned int mpa_startup_left(const struct mpa_conn *conn);
int mpa_conn_bound(const struct mpa_conn *conn);

int mpa_accept(struct mpa_conn *conn, const struct mpa_answer *answer,
	       const struct mpa_consumer *consumer, struct mpa_agreed *agreed);
int mpa_reject(struct mpa_conn *conn, const void *pd, u16 pd_len);

/* Change the consumer: inside an upcall, or while no upcall can come */
void mpa_conn_set_consumer(struct mpa_conn *conn,
			   const struct mpa_consumer_ops *ops,
			   void *consumer);

/* Receive again after receive() has returned -EAGAIN */
void mpa_receive_again(struct mpa_conn *conn);

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
bool mpa_peer_has_closed(const struct mpa_conn *conn);

/*
 * Transmit. Only one context at a time may call these functions and
 * mpa_shutdown() on a connection: the consumer's transmit owner. Only
 * mpa_tx_flush() and mpa_shutdown() take the socket lock.
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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TCP_ULP "mpa": MPA on a program's socket.
 */
#ifndef MPA_USER_H
#define MPA_USER_H

#include <net/inet_connection_sock.h>
#include <net/tcp.h>
#include <uapi/linux/mpa.h>
#include "conn.h"

/**
 * struct mpa_user - context of a program's socket
 * @rcu: for kfree_rcu(), because sock_diag reads without a lock
 * @sk: the socket
 * @prot: TCP's own functions
 * @ops: the socket's own functions
 * @conn: MPA has the stream; NULL while it is a plain TCP socket. Changes under
 *	the socket lock
 * @streaming: number of calls that run in TCP's own functions, and may take or
 *	add octets: MPA begins only when there are none. MPA_HAS_STREAM, set
 *	under the socket lock as long as @conn is set, lets none in
 * @waiters: calls that wait for the startup's outcome
 * @startup_pages: octets of pages that startups have used since the peer had
 *	acknowledged everything
 * @rcvlowat: SO_RCVLOWAT of the plain socket
 * @urginline: SO_OOBINLINE of the plain socket
 * @params: the program's settings, as far as @chosen is set
 * @chosen: bits 1 << MPA_MARKERS and so on: options set by the program
 * @error: RFC error number of the last end
 * @startup: result of the last startup: 0 or a negative errno
 * @status: errno of the receive direction's end
 * @state: MPA_STATE_*, for readers without the lock
 * @readable: poll(): a call to receive does not wait
 * @sendable: poll(): MPA has nothing that TCP has not taken
 * @mute: poll(): a Responder whose peer has ended without a valid first FPDU
 *	may never send
 * @aborting: TCP is being reset: poll() waits for the error.
 *	mpa_user_wake_all() follows
 * @has_peer: @peer is valid
 * @peer: the peer's frame
 * @data_len: octets in @data
 * @data: Private Data to send
 *
 * The socket lock guards all members without another rule.
 */
struct mpa_user {
	struct rcu_head rcu;
	struct sock *sk;
	struct proto *prot;
	const struct proto_ops *ops;
	struct mpa_conn *conn;
	atomic_t streaming;
	unsigned int waiters;
	int startup_pages;
	int rcvlowat;
	bool urginline;

	struct mpa_params params;
	u8 chosen;
	enum mpa_error error;
	int startup;
	int status;
	u8 state;
	bool readable;
	bool sendable;
	bool mute;
	bool aborting;
	bool has_peer;
	struct mpa_peer peer;
	u16 data_len;
	u8 data[MPA_PRIVATE_DATA_MAX];
};

/* Value of mpa_user.streaming while MPA has the stream */
#define MPA_HAS_STREAM	(-1)

static inline struct mpa_user *mpa_user_get(const struct sock *sk)
{
	smp_rmb();	/* pairs with user_init(): functions, then context */
	return (__force struct mpa_user *)READ_ONCE(inet_csk(sk)->icsk_ulp_data);
}

/* The setting that one of the first four options sets; else NULL. */
static inline bool *mpa_user_setting(struct mpa_settings *settings, int optname)
{
	switch (optname) {
#define MPA_OPTION(id, field, name, type, preset, text)			\
	case MPA_##id:							\
		return &settings->field;
#include <mpa/settings.h>
	default:
		return NULL;
	}
}

/* Has Full Operation begun? It may have ended since. */
static inline bool mpa_user_began(const struct mpa_conn *conn)
{
	return conn->started;
}

/* user.c: attaching, and the socket's functions */
int mpa_user_register(void);
void mpa_user_unregister(void);

/* user_start.c: startup, upcalls, back to streaming */
int mpa_user_initiate(struct mpa_user *user);
int mpa_user_respond(struct mpa_user *user, void *last, u32 len);
int mpa_user_accept(struct mpa_user *user);
int mpa_user_reject(struct mpa_user *user);
int mpa_user_start_rdmac(struct mpa_user *user);
void mpa_user_leave(struct mpa_user *user);
struct mpa_settings mpa_user_settings(const struct mpa_user *user);

/* user_state.c: state for poll() and sock_diag, and wake-ups */
void mpa_user_refresh(struct mpa_user *user);
void mpa_user_wake_all(struct mpa_user *user);

/* user_opt.c: options of level SOL_MPA */
int mpa_user_setsockopt(struct mpa_user *user, int optname, sockptr_t optval,
			unsigned int optlen);
int mpa_user_getsockopt(struct mpa_user *user, int optname,
			char __user *optval, int __user *optlen);

/* user_rx.c, user_tx.c: ULPDUs */
int mpa_user_recvmsg(struct mpa_user *user, struct msghdr *msg, size_t len,
		     int flags);
int mpa_user_inq(struct mpa_user *user);
int mpa_user_outq(struct mpa_user *user, const u32 *from);
int mpa_user_sendmsg(struct mpa_user *user, struct msghdr *msg, size_t size);
int mpa_user_finish(struct mpa_user *user);

/* user_stats.c: /proc/net/mpa_stat */
int mpa_stats_register(void);
void mpa_stats_unregister(void);
struct mpa_mib __percpu *mpa_stats_of(struct net *net);

#endif /* MPA_USER_H */

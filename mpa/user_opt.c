// SPDX-License-Identifier: GPL-2.0
/*
 * Options of level SOL_MPA.
 */
#include <linux/capability.h>
#include <linux/slab.h>
#include "conn.h"
#include "params.h"
#include "tx.h"
#include "user.h"

#define MPA_STARTUP_TIMEOUT_MAX	3600000

/*
 * RFC 5044 section 7.1: the administrator, not the program, decides whether to
 * do without CRCs.
 */
static bool may_drop_crc(const struct mpa_user *user)
{
	return !mpa_default_settings().crc ||
	       ns_capable(sock_net(user->sk)->user_ns, CAP_NET_ADMIN);
}

static int set_bool_option(struct mpa_user *user, int optname, int val)
{
	if (val != 0 && val != 1)
		return -EINVAL;
	if (optname == MPA_CRC && !val && !may_drop_crc(user))
		return -EPERM;
	*mpa_user_setting(&user->params.settings, optname) = val;
	return 0;
}

static int set_int_option(struct mpa_user *user, int optname, int val)
{
	struct mpa_params *params = &user->params;
	int ret = 0;

	switch (optname) {
	case MPA_MARKERS ... MPA_PACKING:
		ret = set_bool_option(user, optname, val);
		break;
	case MPA_STARTUP_TIMEOUT:
		if (val < 1 || val > MPA_STARTUP_TIMEOUT_MAX)
			return -EINVAL;
		params->startup_ms = val;
		break;
	case MPA_REVISION:
		if (val != MPA_REV_IETF && val != MPA_REV_ENHANCED)
			return -EINVAL;
		params->max_rev = val;
		break;
	}
	if (!ret)
		user->chosen |= BIT(optname);
	return ret;
}

static int set_depths(struct mpa_user *user, const struct mpa_depths *depths)
{
	if (depths->ird >= MPA_ENH_NO_DEPTH || depths->ord >= MPA_ENH_NO_DEPTH)
		return -EINVAL;
	user->params.ird = depths->ird;
	user->params.ord = depths->ord;
	return 0;
}

/* The value that setsockopt() gets, unless it is a last message. */
union mpa_setting {
	int value;
	struct mpa_depths depths;
	u8 data[MPA_PRIVATE_DATA_MAX];
};

static int copy_setting(union mpa_setting *set, int optname, sockptr_t optval,
			unsigned int optlen)
{
	switch (optname) {
	case MPA_DEPTHS:
		if (optlen != sizeof(set->depths))
			return -EINVAL;
		break;
	case MPA_PRIVATE_DATA:
		if (optlen > sizeof(set->data))
			return -EMSGSIZE;
		break;
	default:
		if (optlen != sizeof(set->value))
			return -EINVAL;
	}
	return copy_from_sockptr(set, optval, optlen) ? -EFAULT : 0;
}

/*
 * Allowed in streaming mode, and while a Request is undecided: otherwise the
 * old value may be on the wire. Context: socket lock held.
 */
static int apply_setting(struct mpa_user *user, int optname,
			 const union mpa_setting *set, unsigned int optlen)
{
	if (user->conn && user->conn->state != MPA_UNDECIDED)
		return -EBUSY;
	switch (optname) {
	case MPA_DEPTHS:
		return set_depths(user, &set->depths);
	case MPA_PRIVATE_DATA:
		memcpy(user->data, set->data, optlen);
		user->data_len = optlen;
		return 0;
	default:
		return set_int_option(user, optname, set->value);
	}
}

static int set_before_start(struct mpa_user *user, int optname,
			    sockptr_t optval, unsigned int optlen)
{
	union mpa_setting set;
	int ret;

	ret = copy_setting(&set, optname, optval, optlen);
	if (ret)
		return ret;
	lock_sock(user->sk);
	ret = apply_setting(user, optname, &set, optlen);
	release_sock(user->sk);
	return ret;
}

static int start_responder(struct mpa_user *user, sockptr_t optval,
			   unsigned int optlen)
{
	void *last = NULL;
	int ret;

	if (optlen > MPA_LAST_MESSAGE_MAX)
		return -EMSGSIZE;
	if (optlen) {
		last = kvmalloc(optlen, GFP_KERNEL_ACCOUNT);
		if (!last)
			return -ENOMEM;
		if (copy_from_sockptr(last, optval, optlen)) {
			kvfree(last);
			return -EFAULT;
		}
	}
	lock_sock(user->sk);
	ret = mpa_user_respond(user, last, optlen);
	release_sock(user->sk);
	kvfree(last);
	return ret;
}

/* Context: socket lock held. */
static int start_locked(struct mpa_user *user, int optname)
{
	switch (optname) {
	case MPA_INITIATE:
		return mpa_user_initiate(user);
	case MPA_ACCEPT:
		return mpa_user_accept(user);
	case MPA_REJECT:
		return mpa_user_reject(user);
	default:
		return mpa_user_start_rdmac(user);
	}
}

static int start_option(struct mpa_user *user, int optname, sockptr_t optval,
			unsigned int optlen)
{
	int ret;

	if (optname == MPA_RESPOND)
		return start_responder(user, optval, optlen);
	if (optlen)
		return -EINVAL;
	lock_sock(user->sk);
	ret = start_locked(user, optname);
	release_sock(user->sk);
	return ret;
}

/**
 * mpa_user_setsockopt() - setsockopt() of level SOL_MPA
 * @user: the socket's context
 * @optname: option
 * @optval: value
 * @optlen: octets of it
 *
 * The value is copied before the lock is taken, as a page fault may take long.
 * Context: process, takes the socket lock. Return: 0 or a negative errno.
 */
int mpa_user_setsockopt(struct mpa_user *user, int optname, sockptr_t optval,
			unsigned int optlen)
{
	switch (optname) {
	case MPA_MARKERS ... MPA_PRIVATE_DATA:
		return set_before_start(user, optname, optval, optlen);
	case MPA_INITIATE ... MPA_START_RDMAC:
		return start_option(user, optname, optval, optlen);
	default:
		return -ENOPROTOOPT;
	}
}

static void status_of_conn(struct mpa_conn *conn, struct mpa_status *status)
{
	const struct mpa_agreed *agreed = &conn->agreed;

	if (conn->initiator)
		status->flags |= MPA_STATUS_INITIATOR;
	if (!mpa_user_began(conn))
		return;
	if (agreed->tx_markers)
		status->flags |= MPA_STATUS_MARKERS_TX;
	if (agreed->rx_markers)
		status->flags |= MPA_STATUS_MARKERS_RX;
	if (agreed->crc)
		status->flags |= MPA_STATUS_CRC;
	if (conn->tx.ready && conn->tx.allowed)
		status->flags |= MPA_STATUS_SENDABLE;
	status->revision = agreed->rev;
	status->version = agreed->rev == MPA_REV_RDMAC ? 0 : 1;
	status->ird = agreed->ird;
	status->ord = agreed->ord;
	mpa_tx_update_emss(conn);
	status->mulpdu = mpa_conn_mulpdu(conn);
	status->emss = conn->tx.plan.emss;
	status->rx_position = mpa_rx_position(&conn->rx);
	status->tx_position = conn->tx.written;
	status->tx_accepted = conn->tx.plan.accepted;
}

/* Fill in MPA's state on a socket. Context: socket lock held. */
static void user_status(struct mpa_user *user, struct mpa_status *status)
{
	memset(status, 0, sizeof(*status));
	mpa_user_refresh(user);
	status->state = user->state;
	status->error = user->error;
	status->err = user->status ? -user->status : -user->startup;
	if (user->conn)
		status_of_conn(user->conn, status);
}

static int get_int_option(const struct mpa_user *user, int optname)
{
	struct mpa_settings settings;

	switch (optname) {
	case MPA_MARKERS ... MPA_PACKING:
		settings = mpa_user_settings(user);
		return *mpa_user_setting(&settings, optname);
	case MPA_STARTUP_TIMEOUT:
		return user->params.startup_ms ? :
		       READ_ONCE(mpa_startup_timeout) * MSEC_PER_SEC;
	default:
		return user->params.max_rev;
	}
}

/* The value that getsockopt() returns. */
union mpa_option {
	int value;
	struct mpa_depths depths;
	u8 data[MPA_PRIVATE_DATA_MAX];
	struct mpa_status status;
	struct mpa_peer peer;
};

/* Context: socket lock held. Return: octets in @opt, or a negative errno. */
static int fetch_option(struct mpa_user *user, int optname,
			union mpa_option *opt)
{
	switch (optname) {
	case MPA_MARKERS ... MPA_REVISION:
		opt->value = get_int_option(user, optname);
		return sizeof(opt->value);
	case MPA_DEPTHS:
		opt->depths.ird = user->params.ird;
		opt->depths.ord = user->params.ord;
		return sizeof(opt->depths);
	case MPA_PRIVATE_DATA:
		memcpy(opt->data, user->data, user->data_len);
		return user->data_len;
	case MPA_STATUS:
		user_status(user, &opt->status);
		return sizeof(opt->status);
	case MPA_PEER:
		if (!user->has_peer)
			return -ENOTCONN;
		opt->peer = user->peer;
		return sizeof(opt->peer);
	default:
		return -ENOPROTOOPT;
	}
}

/**
 * mpa_user_getsockopt() - getsockopt() of level SOL_MPA
 * @user: the socket's context
 * @optname: option
 * @optval: where to put the value, which is cut to @optlen
 * @optlen: octets that fit; set to the octets that were put
 *
 * Context: process, takes the socket lock. Return: 0 or a negative errno.
 */
int mpa_user_getsockopt(struct mpa_user *user, int optname,
			char __user *optval, int __user *optlen)
{
	union mpa_option opt;
	int len, ret;

	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	lock_sock(user->sk);
	ret = fetch_option(user, optname, &opt);
	release_sock(user->sk);
	if (ret < 0)
		return ret;
	len = min(len, ret);
	if (put_user(len, optlen) || copy_to_user(optval, &opt, len))
		return -EFAULT;
	return 0;
}

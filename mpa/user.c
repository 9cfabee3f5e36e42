// SPDX-License-Identifier: GPL-2.0
/*
 * TCP_ULP "mpa": attaching to a program's socket, and the socket's functions.
 * Until MPA is started, and after a refusal, they only call TCP's own.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/sockios.h>
#include <net/netlink.h>
#include <asm/ioctls.h>
#include "compat.h"
#include "conn.h"
#include "events.h"
#include "owner.h"
#include "user.h"

/**
 * struct mpa_functions - TCP's functions with ours among them
 * @lock: guards building them
 * @base: TCP's functions from which they were built
 * @prot: for struct sock
 * @ops: for struct socket
 */
struct mpa_functions {
	struct mutex lock;	/* see above */
	struct proto *base;
	struct proto prot;
	const struct proto_ops *ops;
};

static struct mpa_functions user_functions[2] = {
	{ .lock = __MUTEX_INITIALIZER(user_functions[0].lock) },	/* IPv4 */
	{ .lock = __MUTEX_INITIALIZER(user_functions[1].lock) },	/* IPv6 */
};

/*
 * Begin a call in TCP's own functions, unless MPA has the stream. A start that
 * fails also takes it for a moment.
 * Return: true when in streaming mode: MPA does not start before
 * stream_leave().
 */
static bool stream_try_enter(struct mpa_user *user)
{
	return atomic_inc_unless_negative(&user->streaming);
}

/*
 * Begin a call in TCP's own functions, or in ours. Under the lock no start is
 * half done, so the second try is final.
 * Context: process. Return: true when in streaming mode: MPA does not start
 * before stream_leave(); false with the socket lock held when MPA has the
 * stream.
 */
static bool stream_enter_or_lock(struct mpa_user *user)
{
	if (stream_try_enter(user))
		return true;
	lock_sock(user->sk);
	if (!stream_try_enter(user))
		return false;
	release_sock(user->sk);
	return true;
}

/* The same for calls that MPA does not support: false without the lock. */
static bool stream_enter(struct mpa_user *user)
{
	if (stream_enter_or_lock(user))
		return true;
	release_sock(user->sk);
	return false;
}

static void stream_leave(struct mpa_user *user)
{
	atomic_dec(&user->streaming);
}

static int user_sendmsg(struct sock *sk, struct msghdr *msg, size_t size)
{
	struct mpa_user *user = mpa_user_get(sk);
	int ret;

	if (stream_enter_or_lock(user)) {
		ret = user->prot->sendmsg(sk, msg, size);
		stream_leave(user);
	} else {
		ret = mpa_user_sendmsg(user, msg, size);
		release_sock(sk);
	}
	return ret;
}

static int user_recvmsg(struct sock *sk, struct msghdr *msg, size_t len,
			MPA_RECVMSG_FLAGS)
{
	struct mpa_user *user = mpa_user_get(sk);
	int ret;

	/* The error queue is not part of the stream. */
	if (flags & MSG_ERRQUEUE)
		return mpa_proto_recvmsg(user->prot, sk, msg, len);
	if (stream_enter_or_lock(user)) {
		ret = mpa_proto_recvmsg(user->prot, sk, msg, len);
		stream_leave(user);
	} else {
		ret = mpa_user_recvmsg(user, msg, len, flags);
		release_sock(sk);
	}
	return ret;
}

/*
 * Refused by MPA, because splice() and sendfile() know no borders of ULPDUs.
 * On newer kernels mpa_user_sendmsg() refuses MSG_SPLICE_PAGES instead.
 */
static int user_sendpage(struct sock *sk, struct page *page, int offset,
			 size_t size, int flags)
{
	struct mpa_user *user = mpa_user_get(sk);
	int ret;

	if (!stream_enter(user))
		return -EOPNOTSUPP;
	ret = mpa_proto_sendpage(user->prot, sk, page, offset, size, flags);
	stream_leave(user);
	return ret;
}

static ssize_t user_splice_read(struct socket *sock, loff_t *ppos,
				struct pipe_inode_info *pipe, size_t len,
				unsigned int flags)
{
	struct mpa_user *user = mpa_user_get(sock->sk);
	ssize_t ret;

	if (!stream_enter(user))
		return -EOPNOTSUPP;
	ret = user->ops->splice_read(sock, ppos, pipe, len, flags);
	stream_leave(user);
	return ret;
}

/* Context: socket lock held. */
static int user_read_sock(struct sock *sk, read_descriptor_t *desc,
			  sk_read_actor_t recv_actor)
{
	struct mpa_user *user = mpa_user_get(sk);
	int ret;

	if (!stream_try_enter(user))
		return -EOPNOTSUPP;
	ret = user->ops->read_sock(sk, desc, recv_actor);
	stream_leave(user);
	return ret;
}

static int user_setsockopt(struct sock *sk, int level, int optname,
			   sockptr_t optval, unsigned int optlen)
{
	struct mpa_user *user = mpa_user_get(sk);
	int ret;

	if (level == SOL_MPA)
		return mpa_user_setsockopt(user, optname, optval, optlen);
	/* TCP_REPAIR can move the stream's positions. */
	if (level != SOL_TCP || optname != TCP_REPAIR)
		return user->prot->setsockopt(sk, level, optname, optval,
					      optlen);
	if (!stream_enter(user))
		return -EBUSY;
	ret = user->prot->setsockopt(sk, level, optname, optval, optlen);
	stream_leave(user);
	return ret;
}

static int user_getsockopt(struct sock *sk, int level, int optname,
			   char __user *optval, int __user *optlen)
{
	struct mpa_user *user = mpa_user_get(sk);
	int ret;

	if (level == SOL_MPA)
		return mpa_user_getsockopt(user, optname, optval, optlen);
	if (level != SOL_TCP || optname != TCP_ZEROCOPY_RECEIVE)
		return user->prot->getsockopt(sk, level, optname, optval,
					      optlen);
	if (!stream_enter(user))
		return -EOPNOTSUPP;
	ret = user->prot->getsockopt(sk, level, optname, optval, optlen);
	stream_leave(user);
	return ret;
}

static int user_ioctl(struct sock *sk, int cmd, MPA_IOCTL_ARG)
{
	struct mpa_user *user = mpa_user_get(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!READ_ONCE(user->conn))
		return user->prot->ioctl(sk, cmd, arg);
	switch (cmd) {
	case SIOCINQ:
		return mpa_ioctl_put(mpa_user_inq(user), arg);
	case SIOCOUTQ:
		return mpa_ioctl_put(mpa_user_outq(user, &tp->snd_una), arg);
	case SIOCOUTQNSD:
		return mpa_ioctl_put(mpa_user_outq(user, &tp->snd_nxt), arg);
	default:
		return user->prot->ioctl(sk, cmd, arg);
	}
}

/* Context: within release_sock(), spinlock of the socket held. */
static void user_release_cb(struct sock *sk)
{
	struct mpa_user *user = mpa_user_get(sk);

	user->prot->release_cb(sk);
	if (user->conn)
		mpa_conn_released(user->conn);
}

/* Not supported, as in other ULPs: the stream cannot begin again. */
static int user_disconnect(struct sock *sk, int flags)
{
	return -EOPNOTSUPP;
}

static int user_set_rcvlowat(struct sock *sk, int val)
{
	struct mpa_user *user = mpa_user_get(sk);

	if (READ_ONCE(user->conn))
		return -EOPNOTSUPP;
	return user->ops->set_rcvlowat(sk, val);
}

static int user_peek_len(struct socket *sock)
{
	struct mpa_user *user = mpa_user_get(sock->sk);

	if (READ_ONCE(user->conn))
		return mpa_user_inq(user);
	return user->ops->peek_len(sock);
}

static bool user_is_writable(const struct mpa_user *user)
{
	return READ_ONCE(user->mute) ||
	       (READ_ONCE(user->sendable) && sk_stream_is_writeable(user->sk));
}

static __poll_t poll_out(const struct mpa_user *user)
{
	struct sock *sk = user->sk;

	if (READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN || user_is_writable(user))
		return EPOLLOUT | EPOLLWRNORM;
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	/* Look again: room that came before the bit was set wakes no poller. */
	smp_mb__after_atomic();
	return user_is_writable(user) ? EPOLLOUT | EPOLLWRNORM : 0;
}

static __poll_t user_poll(struct file *file, struct socket *sock,
			  poll_table *wait)
{
	struct sock *sk = sock->sk;
	const struct mpa_user *user = mpa_user_get(sk);
	__poll_t mask = 0;
	u8 shutdown;

	if (!READ_ONCE(user->conn))
		return user->ops->poll(file, sock, wait);
	sock_poll_wait(file, sock, wait);
	/* Look again: a start may have failed before we were in the queue. */
	if (!READ_ONCE(user->conn))
		return user->ops->poll(file, sock, NULL);
	shutdown = READ_ONCE(sk->sk_shutdown);
	if (shutdown == SHUTDOWN_MASK ||
	    inet_sk_state_load(sk) == TCP_CLOSE)
		mask |= EPOLLHUP;
	if (READ_ONCE(user->readable))
		mask |= EPOLLIN | EPOLLRDNORM;
	if ((shutdown & RCV_SHUTDOWN) ||
	    READ_ONCE(user->state) == MPA_STATE_ENDED)
		mask |= EPOLLRDHUP;
	mask |= poll_out(user);
	smp_rmb();	/* as tcp_poll() */
	if (READ_ONCE(sk->sk_err) ||
	    !skb_queue_empty_lockless(&sk->sk_error_queue))
		mask |= EPOLLERR;
	smp_rmb();	/* pairs with end_tcp(): report no half-done reset */
	return READ_ONCE(user->aborting) ? 0 : mask;
}

/* ULPDUs that were sent before go in front of the FIN. */
static int user_shutdown(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	struct mpa_user *user = mpa_user_get(sk);
	int ret = 0;

	if (stream_enter_or_lock(user)) {
		ret = user->ops->shutdown(sock, how);
		stream_leave(user);
		return ret;
	}
	if (how == SHUT_WR || how == SHUT_RDWR) {
		ret = mpa_user_finish(user);
		/* No call may send between this and TCP's FIN. */
		if (!ret && sk->sk_state != TCP_CLOSE)
			WRITE_ONCE(sk->sk_shutdown,
				   sk->sk_shutdown | SEND_SHUTDOWN);
	}
	release_sock(sk);
	return ret ? ret : user->ops->shutdown(sock, how);
}

/* A ULPDU that TCP does not take resets the connection: no silent loss. */
static void user_close_conn(struct mpa_user *user)
{
	struct mpa_conn *conn = user->conn;
	struct sock *sk = user->sk;

	if (mpa_user_finish(user) || conn->rx.stash_len) {
		sk->sk_lingertime = 0;
		sock_set_flag(sk, SOCK_LINGER);
	}
	mpa_conn_let_go(conn);
	WRITE_ONCE(user->conn, NULL);
	mpa_user_refresh(user);
	mpa_conn_put(conn);
}

static void user_close(struct sock *sk, long timeout)
{
	struct mpa_user *user = mpa_user_get(sk);
	struct proto *prot = user->prot;

	lock_sock(sk);
	if (user->conn)
		user_close_conn(user);
	write_lock_bh(&sk->sk_callback_lock);
	WRITE_ONCE(sk->sk_prot, prot);
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
	prot->close(sk, timeout);
}

static void fill_own_ops(struct proto_ops *ops, const struct proto_ops *base)
{
	*ops = *base;
	ops->owner = THIS_MODULE;
	ops->poll = user_poll;
	ops->shutdown = user_shutdown;
	ops->splice_read = user_splice_read;
	ops->read_sock = user_read_sock;
	ops->read_skb = NULL;
	ops->peek_len = user_peek_len;
	ops->set_rcvlowat = user_set_rcvlowat;
}

static int functions_build(struct mpa_functions *f, struct proto *prot,
			   const struct proto_ops *base)
{
	void *ops;

	if (prot->recvmsg != tcp_prot.recvmsg || prot->close != tcp_prot.close)
		return -EOPNOTSUPP;
	ops = kmalloc(sizeof(*base), GFP_KERNEL);
	if (!ops)
		return -ENOMEM;
	fill_own_ops(ops, base);
	f->ops = ops;
	f->prot = *prot;
	f->prot.close = user_close;
	f->prot.disconnect = user_disconnect;
	f->prot.ioctl = user_ioctl;
	f->prot.setsockopt = user_setsockopt;
	f->prot.getsockopt = user_getsockopt;
	f->prot.recvmsg = user_recvmsg;
	f->prot.sendmsg = user_sendmsg;
	mpa_proto_set_sendpage(&f->prot, user_sendpage);
	f->prot.release_cb = user_release_cb;
	f->base = prot;
	return 0;
}

/*
 * Fails when the socket's functions are not TCP's own: another user has it.
 * Context: process, socket lock held.
 */
static struct mpa_functions *functions_of(const struct sock *sk)
{
	struct mpa_functions *f = &user_functions[sk->sk_family == AF_INET6];
	struct proto *prot = READ_ONCE(sk->sk_prot);
	int ret = 0;

	mutex_lock(&f->lock);
	if (!f->base)
		ret = functions_build(f, prot, sk->sk_socket->ops);
	else if (f->base != prot)
		ret = -EOPNOTSUPP;
	mutex_unlock(&f->lock);
	return ret ? ERR_PTR(ret) : f;
}

static struct tcp_ulp_ops mpa_tcp_ulp __read_mostly;

/*
 * When the peer speaks plain TCP, SMC gives the file of its own socket a TCP
 * socket. It goes on to use the TCP socket, and takes it back with the close.
 */
static bool file_is_sockets_own(struct socket *sock)
{
	return sock->file && file_inode(sock->file) == SOCK_INODE(sock);
}

static int user_init(struct sock *sk)
{
	struct mpa_functions *f;
	struct mpa_user *user;

	sock_owned_by_me(sk);
	if (sk->sk_state != TCP_ESTABLISHED)
		return -ENOTCONN;
	if (sk->sk_user_data || !file_is_sockets_own(sk->sk_socket))
		return -EBUSY;
	f = functions_of(sk);
	if (IS_ERR(f))
		return PTR_ERR(f);
	user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
	if (!user)
		return -ENOMEM;
	user->sk = sk;
	user->prot = f->base;
	user->ops = sk->sk_socket->ops;
	user->params.max_rev = MPA_REV_IETF;

	write_lock_bh(&sk->sk_callback_lock);
	/* BPF programs add sockets to a sockmap without the socket lock. */
	if (!mpa_owner_is_tcp(sk) || sk->sk_prot != f->base) {
		write_unlock_bh(&sk->sk_callback_lock);
		kfree(user);
		return -EBUSY;
	}
	inet_csk(sk)->icsk_ulp_ops = &mpa_tcp_ulp;
	rcu_assign_pointer(inet_csk(sk)->icsk_ulp_data, user);
	smp_wmb();	/* context before functions: see mpa_user_get() */
	WRITE_ONCE(sk->sk_prot, &f->prot);
	WRITE_ONCE(sk->sk_socket->ops, f->ops);
	write_unlock_bh(&sk->sk_callback_lock);
	/*
	 * TCP drops the ULP's reference within user_close(). That of the
	 * functions' owner is dropped when the call has returned.
	 */
	__module_get(THIS_MODULE);
	module_put(user->ops->owner);
	return 0;
}

/* The socket is being destroyed. Context: any. */
static void user_release(struct sock *sk)
{
	struct mpa_user *user = mpa_user_get(sk);

	RCU_INIT_POINTER(inet_csk(sk)->icsk_ulp_data, NULL);
	kfree_rcu(user, rcu);
}

static int user_get_info(mpa_info_sock *sk, MPA_INFO_SKB)
{
	const struct mpa_user *user;
	int ret = 0;

	rcu_read_lock();
	user = rcu_dereference(inet_csk(sk)->icsk_ulp_data);
	if (user)
		ret = nla_put_u8(skb, MPA_ULP_INFO_STATE,
				 READ_ONCE(user->state));
	rcu_read_unlock();
	return ret;
}

static size_t user_get_info_size(MPA_INFO_SOCK)
{
	return nla_total_size(sizeof(u8));
}

static struct tcp_ulp_ops mpa_tcp_ulp __read_mostly = {
	.name = "mpa",
	.owner = THIS_MODULE,
	.init = user_init,
	.release = user_release,
	.get_info = user_get_info,
	.get_info_size = user_get_info_size,
};

int mpa_user_register(void)
{
	return tcp_register_ulp(&mpa_tcp_ulp);
}

/* No socket is attached any more: each would hold the module. */
void mpa_user_unregister(void)
{
	unsigned int i;

	tcp_unregister_ulp(&mpa_tcp_ulp);
	for (i = 0; i < ARRAY_SIZE(user_functions); i++)
		kfree(user_functions[i].ops);
}

MODULE_ALIAS_TCP_ULP("mpa");

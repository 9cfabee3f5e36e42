/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As <mpa/compat.h>, for mpa.ko alone: giving pages to TCP, and the functions
 * of struct proto and of struct tcp_ulp_ops.
 */
#ifndef MPA_TCP_COMPAT_H
#define MPA_TCP_COMPAT_H

#include <linux/bvec.h>
#include <linux/net.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <net/sock.h>
#include <net/tcp.h>

#include <mpa/compat.h>

/*
 * Option space of Accurate ECN in the next segment, which has room for @left
 * octets of options. If the peer knows the option, every segment has it, unless
 * the administrator wants it only when the counters have changed.
 */
#ifdef HAVE_TCP_ACCECN_OPTION
#include <net/tcp_ecn.h>

static inline u32 mpa_tcp_accecn_space(const struct sock *sk, u32 left)
{
	u8 option = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_ecn_option);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_ecn_mode_accecn(tp) || !tp->saw_accecn_opt ||
	    option == TCP_ACCECN_OPTION_DISABLED ||
	    (option == TCP_ACCECN_OPTION_MINIMUM && !tp->accecn_opt_demand) ||
	    (option != TCP_ACCECN_OPTION_PERSIST &&
	     tcp_accecn_opt_fail_send(tp)))
		return 0;
	return min_t(u32, ALIGN(TCP_ACCECN_MAXSIZE, 4), ALIGN_DOWN(left, 4));
}
#else
static inline u32 mpa_tcp_accecn_space(const struct sock *sk, u32 left)
{
	return 0;
}
#endif

/*
 * MPA_MSG_NOT_LAST: a hint that more octets follow under this hold of the
 * socket lock, so that TCP need not push these.
 *
 * MPA_FRAG_IS_PAGE: a fragment of TCP's buffers holds at most one page, so that
 * a buffer of pages may run out of fragments before it is full.
 */
#ifdef HAVE_PROTO_SENDPAGE
#define MPA_MSG_NOT_LAST	MSG_SENDPAGE_NOTLAST
#define MPA_FRAG_IS_PAGE	false

/* TCP takes one page in a call: @vec has one element. */
static inline int mpa_tcp_send_pages(struct sock *sk, const struct bio_vec *vec,
				     unsigned int num, u32 len, int flags)
{
	return tcp_sendpage_locked(sk, vec->bv_page, vec->bv_offset, len,
				   flags);
}
#else
#define MPA_MSG_NOT_LAST	0
#define MPA_FRAG_IS_PAGE	true

static inline int mpa_tcp_send_pages(struct sock *sk, const struct bio_vec *vec,
				     unsigned int num, u32 len, int flags)
{
	struct msghdr msg = { .msg_flags = flags | MSG_SPLICE_PAGES };

	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, vec, num, len);
	return tcp_sendmsg_locked(sk, &msg, len);
}
#endif

/* Newer kernels have no sendpage(): sendmsg() gets MSG_SPLICE_PAGES. */
#ifdef HAVE_PROTO_SENDPAGE
#define mpa_proto_sendpage(prot, sk, page, off, len, flags) \
	((prot)->sendpage(sk, page, off, len, flags))
#define mpa_proto_set_sendpage(prot, function) ((prot)->sendpage = (function))
#else
#define mpa_proto_sendpage(prot, sk, page, off, len, flags)	(-EOPNOTSUPP)
#define mpa_proto_set_sendpage(prot, function) ((void)(function))
#endif

/* Where ioctl() puts its result */
#ifdef HAVE_PROTO_IOCTL_POINTER
#define MPA_IOCTL_ARG	int *arg

static inline int mpa_ioctl_put(int value, int *arg)
{
	*arg = value;
	return 0;
}
#else
#define MPA_IOCTL_ARG	unsigned long arg

static inline int mpa_ioctl_put(int value, unsigned long arg)
{
	return put_user(value, (int __user *)arg);
}
#endif

/*
 * Newer kernels' recvmsg() has no addr_len. mpa_proto_recvmsg() passes the
 * caller's arguments on to TCP's recvmsg().
 */
#ifdef HAVE_PROTO_RECVMSG_ADDR_LEN
#define MPA_RECVMSG_FLAGS	int flags, int *addr_len
#define mpa_proto_recvmsg(prot, sk, msg, len) \
	((prot)->recvmsg(sk, msg, len, flags, addr_len))
#else
#define MPA_RECVMSG_FLAGS	int flags
#define mpa_proto_recvmsg(prot, sk, msg, len) \
	((prot)->recvmsg(sk, msg, len, flags))
#endif

/* In a few kernels get_info() may not change the socket. */
#ifdef HAVE_ULP_INFO_CONST_SOCK
#define mpa_info_sock	const struct sock
#else
#define mpa_info_sock	struct sock
#endif

/* Newer kernels tell get_info() whether the caller has CAP_NET_ADMIN. */
#ifdef HAVE_ULP_INFO_NET_ADMIN
#define MPA_INFO_SKB	struct sk_buff *skb, bool net_admin
#define MPA_INFO_SOCK	const struct sock *sk, bool net_admin
#else
#define MPA_INFO_SKB	struct sk_buff *skb
#define MPA_INFO_SOCK	const struct sock *sk
#endif

/* Keep TCP from the task's page frag, which a reclaiming task may be using. */
#ifdef HAVE_SK_USE_TASK_FRAG
static inline void mpa_sock_use_own_frag(struct sock *sk)
{
	sk->sk_use_task_frag = false;
}
#else
/* sk_page_frag() decides by sk_allocation, which is GFP_NOIO. */
static inline void mpa_sock_use_own_frag(struct sock *sk)
{
}
#endif

#ifndef HAVE_SKB_FRAGS_READABLE
/* Without devmem TCP the CPU can read all of TCP's buffers. */
static inline bool skb_frags_readable(const struct sk_buff *skb)
{
	return true;
}
#endif

#ifndef HAVE_SHASH_ALIGNMASK
/* Newer kernels' hash drivers need no alignment. */
#define crypto_shash_alignmask(tfm)	0
#endif

#endif /* MPA_TCP_COMPAT_H */

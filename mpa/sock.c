// SPDX-License-Identifier: GPL-2.0
/*
 * Towards TCP: making sockets, ending them, and handing octets over.
 */
#include <linux/ipv6.h>
#include <net/inet_connection_sock.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/l3mdev.h>
#include <net/tcp.h>
#include "compat.h"
#include "conn.h"
#include "sock.h"

static struct lock_class_key mpa_slock_key[2];
static struct lock_class_key mpa_lock_key[2];

/* Our sockets live below file systems: lockdep must not mix them with users'. */
static void reclassify_lock(struct sock *sk)
{
	int i = sk->sk_family == AF_INET6;

	if (!sock_allow_reclassification(sk))
		return;
	sock_lock_init_class_and_name(sk, i ? "slock-AF_INET6-MPA" :
					      "slock-AF_INET-MPA",
				      &mpa_slock_key[i],
				      i ? "sk_lock-AF_INET6-MPA" :
					  "sk_lock-AF_INET-MPA",
				      &mpa_lock_key[i]);
}

/*
 * Call before the first segment. The ECN bits belong to TCP. IPv6 has a field
 * of its own; ip_sock_set_tos() also sets the socket's priority.
 */
static void set_tos(struct sock *sk, u8 tos)
{
	struct ipv6_pinfo *np = inet6_sk(sk);

	ip_sock_set_tos(sk, tos);
	if (sk->sk_family == AF_INET6)
		np->tclass = (np->tclass & INET_ECN_MASK) |
			     (tos & ~INET_ECN_MASK);
}

/*
 * A BPF program of the caller's cgroup may have bound the socket already (ip
 * vrf exec): that confines the caller, so its socket must not get elsewhere.
 */
static int bind_to_vrf(struct sock *sk, int vrf)
{
	int bound = READ_ONCE(sk->sk_bound_dev_if);

	if (vrf == MPA_ANY_VRF)
		return 0;
	if (!bound)
		return vrf ? sock_bindtoindex(sk, vrf, true) : 0;
	if (bound != vrf &&
	    l3mdev_master_ifindex_by_index(sock_net(sk), bound) != vrf)
		return -EADDRNOTAVAIL;
	return 0;
}

/**
 * mpa_sock_create() - make a TCP socket for MPA
 * @net: network namespace; the socket holds a reference on it, so that TCP
 *	keeps its timers after close and delivers the last octets
 * @family: AF_INET or AF_INET6
 * @params: its type of service and VRF are used
 * @sock: set to the socket
 *
 * Context: process, may sleep.
 * Return: 0; -EADDRNOTAVAIL when the caller may not use the VRF; or another
 * negative errno.
 */
int mpa_sock_create(struct net *net, int family,
		    const struct mpa_params *params, struct socket **sock)
{
	int ret;

	ret = __sock_create(net, family, SOCK_STREAM, IPPROTO_TCP, sock, 0);
	if (ret)
		return ret;
	reclassify_lock((*sock)->sk);
	ret = bind_to_vrf((*sock)->sk, params->vrf);
	if (ret) {
		sock_release(*sock);
		return ret;
	}
	if (params->tos)
		set_tos((*sock)->sk, params->tos);
	return 0;
}

/* Set the options of our own sockets. Context: socket lock held. */
void mpa_sock_tune(struct sock *sk)
{
	/* Reclaim may use this socket: no I/O, and not the task's page frag. */
	sk->sk_allocation = GFP_NOIO;
	mpa_sock_use_own_frag(sk);
	tcp_sk(sk)->nonagle |= TCP_NAGLE_OFF;
	/* Urgent data would shift copied_seq, and so the Markers. */
	sock_set_flag(sk, SOCK_URGINLINE);
}

static unsigned long reserves_used;	/* bit 0: memalloc_socks_key is held */

/**
 * mpa_sock_use_reserves() - let a socket use memory reserves
 * @sk: socket
 *
 * As sk_set_memalloc(), except for the static key. Changing the key's count
 * waits for CPU hotplug, which may wait for memory, which may wait for storage
 * to reconnect. So the first of all sockets takes the key, until the module is
 * unloaded.
 *
 * Never clear the flag. TCP may outlive the connection, and sk_clear_memalloc()
 * changes TCP's account without the socket lock. With the lock held, packets
 * from reserves may be in the backlog: without the flag they trigger a BUG.
 *
 * Context: process, may sleep.
 */
void mpa_sock_use_reserves(struct sock *sk)
{
	sock_set_flag(sk, SOCK_MEMALLOC);
	sk->sk_allocation |= __GFP_MEMALLOC;
	if (!test_and_set_bit(0, &reserves_used))
		static_branch_inc(&memalloc_socks_key);
}

/* No connection is left. Context: process, may sleep. */
void mpa_sock_module_exit(void)
{
	if (test_and_clear_bit(0, &reserves_used))
		static_branch_dec(&memalloc_socks_key);
}

/**
 * mpa_sock_abort() - reset TCP, as tcp_abort() does
 * @sk: socket
 * @sk_err: errno for the program
 *
 * tcp_abort() would wait for the socket lock. A caller with the lock can use
 * tcp_disconnect(), which sends the RST, but prepares for another connect().
 * Context: process, socket lock held.
 */
void mpa_sock_abort(struct sock *sk, int sk_err)
{
	sock_owned_by_me(sk);
	if (sk->sk_state == TCP_CLOSE)
		return;
	/* TCP's own errno must not be seen in between. */
	local_bh_disable();
	bh_lock_sock(sk);
	/* Set before the state, for poll(), and again, as TCP overwrites it. */
	WRITE_ONCE(sk->sk_err, sk_err);
	tcp_prot.disconnect(sk, 0);
	WRITE_ONCE(sk->sk_err, sk_err);
	/* The rest of tcp_done(), which newer kernels do not export. */
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	sk->sk_state_change(sk);
	bh_unlock_sock(sk);
	local_bh_enable();
}

/*
 * As inet_shutdown(), but under one hold of the lock: incoming segments change
 * TCP's state even if it could not send the FIN.
 */
static void send_fin(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	const u32 end = tp->write_seq;

	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | SEND_SHUTDOWN);
	tcp_prot.shutdown(sk, SEND_SHUTDOWN);
	if (likely(tp->write_seq != end)) {
		sk->sk_state_change(sk);
		return;
	}
	/* In this state tcp_disconnect() sends an RST only if octets wait. */
	if (sk->sk_state == TCP_LAST_ACK)
		WRITE_ONCE(tp->write_seq, end + 1);
	mpa_sock_abort(sk, ENOBUFS);
}

/* Drop a connection (RST) and release its socket. Context: process, may sleep. */
void mpa_sock_reset(struct socket *sock)
{
	sock_no_linger(sock->sk);
	sock_release(sock);
}

/**
 * mpa_sock_shutdown() - close the sending direction
 * @sock: TCP socket on which nothing more is sent
 *
 * If TCP has no memory for the FIN, it never sends one. The connection is then
 * reset, so that neither end waits for ever.
 * Context: process, may sleep; takes the socket lock.
 */
void mpa_sock_shutdown(struct socket *sock)
{
	struct sock *sk = sock->sk;
	bool open;

	lock_sock(sk);
	open = (1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT);
	if (open)
		send_fin(sk);
	release_sock(sk);
	if (!open)
		kernel_sock_shutdown(sock, SHUT_WR);
}

/* Buffers that TCP fills in one call before it processes its backlog. */
#define SMALL_BUFFERS	16

/* Octets kept for a last call, when all others must go in whole segments. */
#define LAST_OCTETS	4

/* Send whole segments up to the window's edge, and also the last one. */
#define NAGLE_WHOLE	(TCP_NAGLE_OFF | TCP_NAGLE_CORK | TCP_NAGLE_PUSH)

/* Would @len more octets reach beyond the window that the peer has opened? */
static bool beyond_window(const struct sock *sk, u32 len)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return after(tp->write_seq + len, tcp_wnd_end(tp));
}

/* Say how TCP may cut when it gets @len more octets. */
static void set_nagle(struct sock *sk, u32 len)
{
	tcp_sk(sk)->nonagle = beyond_window(sk, len) ? NAGLE_WHOLE :
						       TCP_NAGLE_OFF;
}

/*
 * The size at which TCP will regard a buffer as full. The size that it used
 * last is of no use: it grows with the largest window that the peer has opened.
 */
static u32 full_buffer(struct sock *sk)
{
	u32 max = tcp_bound_to_half_wnd(tcp_sk(sk), sk->sk_gso_max_size);
	u32 mss = mpa_sock_emss(sk);

	return max_t(u32, min_t(u32, max / mss, sk->sk_gso_max_segs), 1) * mss;
}

/* Octets that TCP adds to its last buffer before it begins another one. */
static u32 room_in_buffer(struct sock *sk)
{
	const struct sk_buff *skb = tcp_write_queue_tail(sk);
	u32 full = full_buffer(sk);

	if (!skb || TCP_SKB_CB(skb)->eor || skb->len >= full)
		return 0;
	return full - skb->len;
}

/* Free fragments, of a page each, in TCP's last buffer, or in a new one. */
static u32 frags_left(const struct sock *sk, const struct mpa_sock_paged *paged,
		      bool new)
{
	struct page *page = paged->page + paged->off / PAGE_SIZE;
	struct sk_buff *skb = tcp_write_queue_tail(sk);
	u32 used, off = offset_in_page(paged->off);

	if (new)
		return MAX_SKB_FRAGS;
	used = skb_shinfo(skb)->nr_frags;
	if (used > MAX_SKB_FRAGS)
		return 0;
	return MAX_SKB_FRAGS - used + skb_can_coalesce(skb, used, page, off);
}

/* Enough fragments for @len octets of a segment, wherever these lie. */
static u32 frags_for(u32 len)
{
	return len / PAGE_SIZE + 4;
}

/*
 * Return: how many of @len octets a buffer with room for them takes, up to the
 * last segment for which its @paged->frags surely suffice.
 */
static u32 fit_frags(struct mpa_sock_paged *paged, u32 len)
{
	u32 frags = paged->frags;
	u32 fit = frags * PAGE_SIZE - offset_in_page(paged->off);
	u32 part;

	if (len <= fit) {
		part = (paged->used + len) % paged->size;
		frags -= DIV_ROUND_UP(offset_in_page(paged->off) + len,
				      PAGE_SIZE);
		if (!part || part >= len ||
		    frags >= frags_for(paged->size - part))
			return len;
		fit = len;
	}
	part = (paged->used + fit) % paged->size;
	if (part >= fit)
		return min(fit, len);	/* TCP cuts the segment: unavoidable */
	paged->full = true;
	return fit - part;
}

/* The buffer gets @len octets. Return: @len. */
static u32 fill_buffer(struct mpa_sock_paged *paged, u32 len)
{
	u32 frags = DIV_ROUND_UP(offset_in_page(paged->off) + len, PAGE_SIZE);

	paged->room -= min(paged->room, len);
	paged->frags -= min(paged->frags, frags);
	return len;
}

/**
 * mpa_sock_fit() - how many octets of a page does TCP's last buffer take?
 * @sk: socket
 * @paged: where they are
 * @len: how many there are
 *
 * The octets include the last segment for which the buffer surely has enough
 * fragments, even if only the beginning of that segment exists now. If the
 * buffer lacks fragments for a segment that starts here, a new buffer is begun.
 * A full buffer is ended by a mark: otherwise TCP of newer kernels, after it
 * has cut a buffer, moves octets of the following buffer into it, and so on
 * through the queue, and alignment would not return. The octets never fill more
 * than one buffer, or more than SMALL_BUFFERS small ones: more would make TCP
 * process its backlog, and so run our receive path within a send.
 *
 * Context: socket lock held. Return: 1..@len.
 */
u32 mpa_sock_fit(struct sock *sk, struct mpa_sock_paged *paged, u32 len)
{
	u32 full = full_buffer(sk), room = room_in_buffer(sk);
	u32 frags = frags_left(sk, paged, !room);

	if (!paged->used && (!room || frags < frags_for(paged->size))) {
		mpa_sock_end_record(sk);
		room = 0;
		frags = MAX_SKB_FRAGS;
	}
	if (full <= paged->size)
		return min(len, room ? room : SMALL_BUFFERS * full);
	paged->room = room ? room : full;
	paged->frags = frags;
	len = min(len, paged->room);
	/* Without fragments TCP cuts the segment: unavoidable. */
	return fill_buffer(paged, frags ? fit_frags(paged, len) : len);
}

/**
 * mpa_sock_join() - how many more octets may TCP get in the same call?
 * @sk: socket
 * @paged: where they are; its room is what mpa_sock_fit() has left
 * @piece: the octets before them, up to the last one that was to be sent
 * @len: how many there are
 *
 * Kernels without MSG_SENDPAGE_NOTLAST send full segments after each call,
 * although the last buffer has room for more: large buffers need long calls.
 * Context: socket lock held. Return: 0..@len.
 */
u32 mpa_sock_join(struct sock *sk, struct mpa_sock_paged *paged,
		  const struct mpa_sock_piece *piece, u32 len)
{
	len = min(len, paged->room);
	if (!len || piece->num_parts == MPA_SOCK_PARTS ||
	    beyond_window(sk, piece->len + len) ||
	    paged->frags < (paged->used ? 1 : frags_for(paged->size)))
		return 0;
	return fill_buffer(paged, fit_frags(paged, len));
}

/* Is TCP full, with an ACK to come? Then have it call sk_write_space(). */
static bool must_wait_for_ack(struct sock *sk)
{
	if (sk_stream_memory_free(sk) || !tcp_sk(sk)->packets_out || sk->sk_err)
		return false;
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	return true;
}

/*
 * Send octets, all in one page, some of which lie beyond the window that the
 * peer has opened.
 *
 * Without Nagle's algorithm TCP fills the window to the last octet and cuts a
 * segment there, in the middle of an FPDU. A corked socket rounds down to
 * whole segments, but would also hold back the last one without
 * TCP_NAGLE_PUSH. TCP ignores the cork when it begins a new buffer or has no
 * memory, so this function avoids both.
 */
static int send_beyond_window(struct sock *sk,
			      const struct mpa_sock_piece *piece, int flags)
{
	u32 room = room_in_buffer(sk), len;

	if (!room && must_wait_for_ack(sk))
		return -EAGAIN;
	len = min(piece->len, room ? room : full_buffer(sk));
	if (!(flags & MSG_MORE) && len > LAST_OCTETS) {
		len -= LAST_OCTETS;
		flags |= MSG_MORE;
	}
	return mpa_tcp_send_pages(sk, piece->part, 1, len, flags);
}

/* Will TCP take no further buffer after one of @len octets? */
static bool leaves_no_room(const struct sock *sk, u32 len)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->write_seq - tp->snd_nxt + len >= tcp_notsent_lowat(tp) ||
	       sk->sk_wmem_queued + SKB_TRUESIZE(MAX_TCP_HEADER) + len >=
		       READ_ONCE(sk->sk_sndbuf);
}

/*
 * The flags for a piece. TCP is pushed once, with the last octets, because each
 * push also sends buffers that are not full. If all octets lie within the
 * window, the last ones surely follow: TCP pushes by itself when it has no room
 * for them. Beyond the window they may have to wait for an ACK. If a buffer
 * ends with the piece and TCP will take no further one, the buffer is pushed:
 * newer kernels do not push when they refuse the next one.
 */
static int piece_flags(const struct sock *sk,
		       const struct mpa_sock_piece *piece)
{
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL | MSG_NO_SHARED_FRAGS;

	if (!piece->rest && !piece->more)
		return flags;
	if (piece->ends && leaves_no_room(sk, piece->len))
		return flags;
	flags |= MSG_MORE;
	if (piece->rest && !beyond_window(sk, piece->len + piece->rest))
		flags |= MPA_MSG_NOT_LAST;
	return flags;
}

/**
 * mpa_sock_send_pages() - give TCP references to octets of pages
 * @conn: connection
 * @piece: the octets. If more octets follow, TCP may delay a segment that is
 *	not full; if they follow in this push, TCP may delay all segments
 *
 * On our own sockets we decide when TCP sends a segment that is not full; on a
 * program's socket the program does. Context: process or softirq, socket lock
 * held. Does not block.
 * Return: octets taken, perhaps fewer than given even if TCP has room; -EAGAIN
 * when TCP has no room, or another errno. On an error TCP has been pushed, or
 * waits for an ACK. If TCP found no memory, Linux 6.5 and later may hold back a
 * segment that is not full until TCP's timer fires, after 200 ms or more.
 */
int mpa_sock_send_pages(struct mpa_conn *conn,
			const struct mpa_sock_piece *piece)
{
	struct sock *sk = conn->sk;
	int flags = piece_flags(sk, piece);
	int ret;

	sock_owned_by_me(sk);
	if (!conn->sock)
		return mpa_tcp_send_pages(sk, piece->part, piece->num_parts,
					  piece->len, flags);
	/*
	 * Before the call, because TCP may still hold earlier octets back, for
	 * a busy device or for an expected ACK. After the call, because TCP
	 * clears TCP_NAGLE_PUSH with each new buffer.
	 */
	set_nagle(sk, piece->len);
	if (beyond_window(sk, piece->len))
		ret = send_beyond_window(sk, piece, flags);
	else
		ret = mpa_tcp_send_pages(sk, piece->part, piece->num_parts,
					 piece->len, flags);
	set_nagle(sk, 0);
	return ret;
}

/**
 * mpa_sock_take_error() - clear an error that has not ended TCP
 * @sk: socket
 *
 * An error from ICMP (IP_RECVERR) does not end TCP, but fails the next call to
 * send, once. That must not be a call of ours.
 * Context: socket lock held.
 * Return: the errno, or 0: also when another call has taken the error.
 */
int mpa_sock_take_error(struct sock *sk)
{
	sock_owned_by_me(sk);
	return sk->sk_state != TCP_CLOSE ? sock_error(sk) : 0;
}

/**
 * mpa_sock_put_error() - give back an error, which a call of the program reports
 * @sk: socket
 * @err: what mpa_sock_take_error() has returned
 *
 * Wakes pollers, because one that looked meanwhile has missed it.
 * Context: socket lock held.
 */
void mpa_sock_put_error(struct sock *sk, int err)
{
	sock_owned_by_me(sk);
	if (!err || sk->sk_state == TCP_CLOSE)
		return;
	/* recvmmsg() reports an error of its own without the lock. */
	cmpxchg(&sk->sk_err, 0, -err);
	sk_error_report(sk);
}

/**
 * mpa_sock_lift() - let TCP take more than the socket's buffer allows
 * @sk: socket
 * @limits: for mpa_sock_lower()
 *
 * For a few octets that cannot wait, nor fail with an error that the program has
 * not read. Context: socket lock held until mpa_sock_lower().
 */
void mpa_sock_lift(struct sock *sk, struct mpa_sock_limits *limits)
{
	struct tcp_sock *tp = tcp_sk(sk);

	limits->err = mpa_sock_take_error(sk);
	limits->sndbuf = sk->sk_sndbuf;
	limits->notsent_lowat = tp->notsent_lowat;
	WRITE_ONCE(sk->sk_sndbuf, INT_MAX);
	WRITE_ONCE(tp->notsent_lowat, UINT_MAX);
}

void mpa_sock_lower(struct sock *sk, const struct mpa_sock_limits *limits)
{
	WRITE_ONCE(sk->sk_sndbuf, limits->sndbuf);
	WRITE_ONCE(tcp_sk(sk)->notsent_lowat, limits->notsent_lowat);
	mpa_sock_put_error(sk, limits->err);
}

/* Send a copy of up to a page of octets. Return: octets taken, or an errno. */
static int send_copy(struct sock *sk, const void *octets, u32 len, int flags,
		     gfp_t gfp)
{
	struct bio_vec part = { .bv_page = alloc_page(gfp), .bv_len = len };
	int ret;

	if (!part.bv_page)
		return -ENOMEM;
	memcpy(page_address(part.bv_page), octets, len);
	ret = mpa_tcp_send_pages(sk, &part, 1, len, flags | MSG_DONTWAIT |
				 MSG_NOSIGNAL | MSG_NO_SHARED_FRAGS);
	put_page(part.bv_page);
	return ret;
}

/**
 * mpa_sock_send_frame() - send a startup frame
 * @sk: socket
 * @frame: octets; copied
 * @len: number of octets
 * @gfp: how to allocate pages for them
 *
 * A program's earlier octets may fill the socket, so its limits are lifted and
 * TCP takes the whole frame. The frame goes in pages, which TCP frees: sending
 * by copy would leave a page fragment of 32 KiB with the socket until it
 * closes. TCP can then lack only memory, and this function does not wait for
 * memory. A frame that TCP has taken in part can be neither finished nor taken
 * back: TCP is reset.
 * Context: process, socket lock held.
 * Return: 0, -ENOMEM, or another errno when TCP cannot send any more.
 */
int mpa_sock_send_frame(struct sock *sk, const void *frame, u32 len, gfp_t gfp)
{
	struct mpa_sock_limits limits;
	u32 sent = 0;
	int ret = 0;

	mpa_sock_lift(sk, &limits);
	while (sent < len) {
		u32 n = min_t(u32, len - sent, PAGE_SIZE);

		ret = send_copy(sk, frame + sent, n,
				sent + n < len ? MSG_MORE : 0, gfp);
		if (ret <= 0)
			break;
		sent += ret;
	}
	mpa_sock_lower(sk, &limits);
	if (sent == len)
		return 0;
	if (sent)
		mpa_sock_abort(sk, ENOMEM);
	return sent || ret == -EAGAIN ? -ENOMEM : ret;
}

/*
 * End the segment behind the last octet that TCP has taken: the next octet
 * starts a new one. Does nothing if TCP has sent that octet already.
 */
void mpa_sock_end_record(struct sock *sk)
{
	struct sk_buff *skb = tcp_write_queue_tail(sk);

	sock_owned_by_me(sk);
	if (skb)
		TCP_SKB_CB(skb)->eor = 1;
}

/**
 * mpa_sock_fill() - how full is the segment that the next octet goes to?
 * @sk: connected socket
 * @mss: result of mpa_sock_emss()
 *
 * Context: socket lock held. Return: octets, 0..@mss - 1; 0 when the next
 * octet starts a segment.
 */
u32 mpa_sock_fill(struct sock *sk, u32 mss)
{
	const struct sk_buff *skb = tcp_write_queue_tail(sk);

	sock_owned_by_me(sk);
	if (!skb || TCP_SKB_CB(skb)->eor)
		return 0;
	return skb->len % mss;
}

/*
 * Of @left octets of option space, those of the SACK blocks that the next
 * segment carries. To count more could use up a small MSS.
 */
static u32 sack_space(const struct tcp_sock *tp, u32 left)
{
	const u32 one = TCPOLEN_SACK_BASE_ALIGNED + TCPOLEN_SACK_PERBLOCK;
	u32 sacks = tp->rx_opt.num_sacks + tp->rx_opt.dsack;

	if (!sacks || left < one)
		return 0;
	return one + TCPOLEN_SACK_PERBLOCK *
	       min(sacks - 1, (left - one) / TCPOLEN_SACK_PERBLOCK);
}

/*
 * Options that the next segment carries, and that mss_cache does not contain. If
 * other octets wait in front of ours, ours are sent later: the SACK blocks that
 * TCP has to send now will be gone by then.
 */
static u32 more_options(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	/* Timestamps and signatures come first. */
	u32 left = MAX_TCP_OPTION_SPACE -
		   (tp->tcp_header_len - sizeof(struct tcphdr));
	u32 sacks = tcp_send_head(sk) ? 0 : sack_space(tp, left);

	return sacks + mpa_tcp_accecn_space(sk, left - sacks);
}

/* tcp_mtu_to_mss(), which newer kernels do not export. */
static u32 mtu_to_mss(const struct sock *sk, u32 mtu)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	int mss = mtu - icsk->icsk_af_ops->net_header_len -
		  sizeof(struct tcphdr);

	mss = min_t(int, mss, tp->rx_opt.mss_clamp) - icsk->icsk_ext_hdr_len;
	mss = max(mss, READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_min_snd_mss));
	return mss - (tp->tcp_header_len - sizeof(struct tcphdr));
}

/* The result that tcp_sync_mss() will have when TCP sends next. */
static u32 next_mss(struct sock *sk, u32 mtu)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	u32 mss = tcp_bound_to_half_wnd(tcp_sk(sk), mtu_to_mss(sk, mtu));

	if (icsk->icsk_mtup.enabled)
		mss = min(mss, mtu_to_mss(sk, icsk->icsk_mtup.search_low));
	return mss;
}

/**
 * mpa_sock_emss() - TCP's effective maximum segment size (SIZ-06)
 * @sk: connected socket
 *
 * Computed as TCP does before it sends, with the path's MTU.
 *
 * Context: socket lock held. Return: octets of payload in a full segment.
 */
u32 mpa_sock_emss(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	u32 mtu = dst ? dst_mtu(dst) : inet_csk(sk)->icsk_pmtu_cookie;
	u32 mss = tcp_sk(sk)->mss_cache;

	sock_owned_by_me(sk);
	if (mtu != inet_csk(sk)->icsk_pmtu_cookie)
		mss = next_mss(sk, mtu);
	return mss - more_options(sk);
}

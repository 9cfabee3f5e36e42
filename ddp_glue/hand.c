// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs that their programs connect by hand. Two programs exchange
 * addresses and QP numbers by themselves, and call ibv_modify_qp() to INIT, RTR
 * and RTS, as on InfiniBand. RTR names the peer. From then on this file makes
 * the connection in the background.
 *
 * The QP of the lower address, then of the lower number, is the Initiator. It
 * connects again and again, because its peer may be in RTR much later. The other
 * one waits in hand_listen.c. Request and Reply carry both numbers (struct
 * hand_hello). A QP that is its own peer needs neither: its socket connects to
 * itself.
 *
 * On InfiniBand a QP in RTS waits for its peer for ever, until it sends. So the
 * first post begins the time that the program allows (timeout, retry_cnt); when
 * it is over, the QP goes into error.
 *
 * The cep's work makes all attempts but the first, answers the peer, gives up
 * and cleans up. It frees the struct iwm_hand after the cep is CLOSED.
 */
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include "cep.h"
#include "cm.h"
#include "cm_addr.h"
#include "hand.h"
#include "netdev.h"
#include "qp_conn.h"
#include "qp_end.h"
#include "qp_ref.h"
#include "sq.h"

/* The program allows this at least: TCP's handshake alone may take seconds. */
#define GIVE_UP_MIN_MS	5000
#define GIVE_UP_MAX_MS	600000

static void set_params(const struct iwm_hand *hand, const struct iwm_qp *qp,
		       struct mpa_params *params)
{
	iwm_cm_params(params, qp);
	params->settings.rdmac = false;
	params->self = hand->self;
	params->p2p = !hand->self;
	params->ird = hand->ird;
	/* max_rd_atomic comes with RTS */
	params->ord = hand->self ? hand->ird : IWM_MAX_ORD;
}

static void set_attempt(const struct iwm_hand *hand, const struct iwm_qp *qp,
			struct net *net, struct mpa_attempt *attempt)
{
	*attempt = (struct mpa_attempt) {
		.net = net,
		.local = hand->local,
		.remote = hand->remote,
		.pd = &hand->hello,
		.pd_len = sizeof(hand->hello),
	};
	set_params(hand, qp, &attempt->params);
	attempt->params.vrf = iwm_addr_vrf(qp->dev, net, &hand->local);
}

static void hand_free(struct iwm_hand *hand)
{
	iwm_caller_put(&hand->caller);
	kfree(hand);
}

/* ---- Work ---- */

/* The peer has come: answer it. */
static void answer_peer(struct iwm_cep *cep)
{
	const struct iwm_hand *hand = cep->hand;
	struct iwm_caller_saved saved;
	struct mpa_answer answer;
	struct mpa_conn *conn;
	struct iwm_qp *qp;
	int ret;

	conn = iwm_cep_begin_answer(cep, &qp);
	if (!conn)
		return;
	if (!qp) {
		mpa_destroy(conn);
		return;
	}
	answer.pd = &hand->hello;
	answer.pd_len = sizeof(hand->hello);
	set_params(hand, qp, &answer.params);
	answer.params.ord = min_t(u16, IWM_MAX_ORD, cep->peer.ird);
	saved = iwm_caller_begin(&hand->caller);
	ret = iwm_qp_answer(qp, cep, conn, &answer);
	iwm_caller_end(&saved);
	if (ret) {
		mpa_destroy(conn);
		iwm_cep_answer_failed(cep);
	} else {
		iwm_cep_accepted(cep, &qp->agreed);
	}
	iwm_qp_put(qp);
}

static int connect_again(struct iwm_cep *cep, struct iwm_qp *qp)
{
	struct net *net = iwm_dev_net(qp->dev);
	struct iwm_caller_saved saved;
	struct mpa_attempt attempt;
	int ret;

	if (!net)
		return -ENODEV;
	set_attempt(cep->hand, qp, net, &attempt);
	saved = iwm_caller_begin(&cep->hand->caller);
	ret = iwm_qp_try_again(qp, cep, &attempt);
	iwm_caller_end(&saved);
	put_net(net);
	return ret;
}

/* Make the attempt that is due. */
static void try_again(struct iwm_cep *cep)
{
	struct iwm_qp *qp = iwm_cep_retry_qp(cep);
	int ret;

	if (!qp)
		return;
	iwm_count(cep->dev, IWM_STAT_HAND_RETRIES);
	ret = connect_again(cep, qp);
	if (ret)
		iwm_cep_retry(cep, ret);
	iwm_qp_put(qp);
}

/*
 * How long a post waits for the connection, in jiffies; 0: for ever. As on
 * InfiniBand, a try takes 4.096 us * 2^timeout, and retry_cnt more follow it.
 */
static unsigned long post_limit(const struct iwm_qp *qp)
{
	u64 ns = 4096ull << (qp->attr.timeout & 31);
	u64 ms;

	if (!qp->attr.timeout)
		return 0;
	ms = div_u64(ns * (qp->attr.retry_cnt + 1), NSEC_PER_MSEC);
	return msecs_to_jiffies(clamp_t(u64, ms, GIVE_UP_MIN_MS,
					GIVE_UP_MAX_MS));
}

/* Something may be posted: go into error when the peer does not come in time. */
static void watch_post(struct iwm_cep *cep, struct iwm_qp *qp)
{
	unsigned long posted = READ_ONCE(qp->posted_early);
	unsigned long limit = post_limit(qp);

	if (!posted || !limit)
		return;
	if (!time_after(jiffies, posted + limit)) {
		iwm_cep_watch(cep);
		return;
	}
	ibdev_warn_ratelimited(&qp->dev->ibdev,
			       "QP %u gives up: its peer at %pISc did not come\n",
			       qp->qpn, &cep->hand->remote);
	iwm_sq_fail_first(qp, SIW_WC_GENERAL_ERR);
	iwm_qp_disconnect(qp, true, -ETIMEDOUT);
}

static void give_up(struct iwm_cep *cep)
{
	struct iwm_qp *qp = iwm_cep_connecting_qp(cep);

	if (!qp)
		return;
	watch_post(cep, qp);
	iwm_qp_put(qp);
}

static void clean_up(struct iwm_cep *cep)
{
	struct iwm_hand *hand = cep->hand;
	enum cep_state state;

	spin_lock_bh(&cep->lock);
	state = cep->state;
	spin_unlock_bh(&cep->lock);
	if (state != IWM_CEP_CONNECTED && state != IWM_CEP_CLOSED)
		return;
	iwm_hand_leave(hand);
	if (state == IWM_CEP_CLOSED) {
		cep->hand = NULL;
		hand_free(hand);
	}
}

/* A cep's work: each step checks whether it is due. Holds a reference. */
static void hand_work(struct work_struct *work)
{
	struct iwm_cep *cep = container_of(to_delayed_work(work),
					   struct iwm_cep, work);

	/* Also after the end: the peer may have come since the last run. */
	answer_peer(cep);
	if (cep->hand) {
		try_again(cep);
		give_up(cep);
		iwm_cm_end_gone(cep);
		clean_up(cep);
	}
	iwm_cep_put(cep);
}

/* ---- The program's request ---- */

static int gid_to_addr(const struct iwm_dev *dev, const union ib_gid *gid,
		       struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *a6 = (void *)addr;
	const struct net_device *netdev;

	rdma_gid2ip((struct sockaddr *)addr, gid);
	if (addr->ss_family != AF_INET6 ||
	    !(ipv6_addr_type(&a6->sin6_addr) & IPV6_ADDR_LINKLOCAL))
		return 0;
	rcu_read_lock();
	netdev = rcu_dereference(dev->netdev);
	a6->sin6_scope_id = netdev ? netdev->ifindex : 0;
	rcu_read_unlock();
	return a6->sin6_scope_id ? 0 : -ENODEV;
}

static int check_attr(struct iwm_dev *dev, const struct ib_qp_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(&attr->ah_attr);

	if (!(rdma_ah_get_ah_flags(&attr->ah_attr) & IB_AH_GRH) ||
	    !grh->sgid_attr || attr->max_dest_rd_atomic > IWM_MAX_IRD)
		return -EINVAL;
	if (!READ_ONCE(dev->hand_port))
		return -EOPNOTSUPP;
	if (grh->sgid_index >= IWM_NUM_LINK_GIDS)
		return 0;
	ibdev_warn_ratelimited(&dev->ibdev,
			       "%s[%d] connects a QP with GID %u, which is no IP address: use one from GID %u on\n",
			       current->comm, task_tgid_nr(current),
			       grh->sgid_index, IWM_NUM_LINK_GIDS);
	return -EINVAL;
}

static int hand_describe(struct iwm_hand *hand, struct iwm_qp *qp,
			 const struct ib_qp_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(&attr->ah_attr);
	int ret;

	hand->dgid = grh->dgid;
	hand->hello = hand_hello(qp->qpn, attr->dest_qp_num);
	/* The RTR may be a Read, which needs a place: RFC 6581 section 9.1. */
	hand->ird = max_t(u16, attr->max_dest_rd_atomic, 1);
	ret = gid_to_addr(qp->dev, &grh->sgid_attr->gid, &hand->local);
	if (!ret)
		ret = gid_to_addr(qp->dev, &grh->dgid, &hand->remote);
	if (!ret && hand->local.ss_family != hand->remote.ss_family)
		ret = -EINVAL;
	mpa_addr_set_port(&hand->remote,
			  cpu_to_be16(READ_ONCE(qp->dev->hand_port)));
	return ret;
}

/*
 * The namespace of the QP's connection, with a reference. Programs of other
 * namespaces may be able to open the device, but they get no access to its
 * network.
 */
static struct net *hand_net(struct iwm_qp *qp)
{
	struct net *net = iwm_dev_net(qp->dev);

	if (!net)
		return ERR_PTR(-ENODEV);
	if (!qp->user || net_eq(net, current->nsproxy->net_ns))
		return net;
	put_net(net);
	return ERR_PTR(-ENETUNREACH);
}

/* Which side connects? Both compare the same. 0: the QP is its own peer. */
static int compare_ends(const union ib_gid *a, u32 a_qpn,
			const union ib_gid *b, u32 b_qpn)
{
	int order = memcmp(a, b, sizeof(*a));

	return order ? order : (int)a_qpn - (int)b_qpn;
}

static int connect_first(struct iwm_hand *hand, struct iwm_qp *qp,
			 struct net *net)
{
	struct mpa_attempt attempt;

	set_attempt(hand, qp, net, &attempt);
	return iwm_qp_connect(qp, hand->cep, &attempt);
}

static int expect_peer(struct iwm_hand *hand, struct iwm_qp *qp,
		       struct net *net)
{
	struct mpa_params params;
	int ret;

	set_params(hand, qp, &params);
	ret = iwm_hand_listen(hand, net,
			      iwm_addr_vrf(qp->dev, net, &hand->local));
	if (ret)
		return ret;
	/* First: once the QP has the cep, another thread may end both. */
	iwm_hand_wait(hand);
	return iwm_qp_expect(qp, hand->cep, &params);
}

/* After an error the cep's work frees @hand. */
static int hand_begin(struct iwm_hand *hand, struct iwm_qp *qp,
		      const struct ib_qp_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(&attr->ah_attr);
	struct net *net = hand_net(qp);
	int order, ret;

	if (IS_ERR(net))
		return PTR_ERR(net);
	order = compare_ends(&grh->sgid_attr->gid, qp->qpn, &grh->dgid,
			     attr->dest_qp_num);
	hand->self = !order;
	if (order <= 0)
		ret = connect_first(hand, qp, net);
	else
		ret = expect_peer(hand, qp, net);
	put_net(net);
	return ret;
}

static struct iwm_hand *hand_create(struct iwm_qp *qp,
				    const struct ib_qp_attr *attr)
{
	struct iwm_hand *hand = kzalloc(sizeof(*hand), iwm_gfp(qp->user));
	int ret;

	if (!hand)
		return ERR_PTR(-ENOMEM);
	iwm_caller_note(&hand->caller, qp->user);
	ret = hand_describe(hand, qp, attr);
	if (ret)
		goto err_free;
	hand->cep = iwm_cep_alloc(qp->dev, IWM_CEP_CONNECTING, hand_work,
				  iwm_gfp(qp->user));
	if (hand->cep)
		return hand;
	ret = -ENOMEM;
err_free:
	hand_free(hand);
	return ERR_PTR(ret);
}

/**
 * iwm_hand_connect() - modify_qp to RTR: connect with the peer that it names
 * @qp: queue pair in IDLE
 * @attr: address and number of the peer, our address, inbound Reads
 *
 * Context: process, may sleep, does not wait for the network.
 * Return: 0: the connection is being made; -EINVAL for bad attributes, or when
 * the QP was used before; -EISCONN when it is being connected; -EOPNOTSUPP when
 * the device's setting forbids it; -ENETUNREACH in another network namespace
 * than the netdev's; -EADDRINUSE when a TCP socket has the port; -ENOMEM, or
 * another errno of bind() or connect().
 */
int iwm_hand_connect(struct iwm_qp *qp, const struct ib_qp_attr *attr)
{
	struct iwm_hand *hand;
	struct iwm_cep *cep;
	int ret;

	might_sleep();
	ret = check_attr(qp->dev, attr);
	if (ret)
		return ret;
	hand = hand_create(qp, attr);
	if (IS_ERR(hand))
		return PTR_ERR(hand);
	cep = hand->cep;
	cep->by_hand = true;
	cep->hello = hand_hello(attr->dest_qp_num, qp->qpn);
	cep->hand = hand;
	iwm_cep_bind(cep, NULL, qp);
	ret = hand_begin(hand, qp, attr);
	if (ret)
		iwm_cep_close(cep);
	iwm_cep_put(cep);
	return ret;
}

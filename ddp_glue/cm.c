// SPDX-License-Identifier: GPL-2.0
/*
 * Connection management: between iw_cm and MPA.
 *
 * What iw_cm asks for, and a violation of which is a BUG or a hang there:
 *  - connect() that returned 0 is followed by exactly one CONNECT_REPLY: who
 *    destroys the id waits for it;
 *  - accept() that returned 0 is followed by exactly one ESTABLISHED. A failed
 *    accept() and a reject() are followed by nothing at all;
 *  - CLOSE comes after one of these, once. DISCONNECT is never sent: it keeps
 *    a later iw_cm_disconnect() from closing our side;
 *  - an id that is still being decided on gets no event.
 * A CONNECT_REQUEST can be lost in iw_cm (no memory, listener destroyed), and
 * then nobody ever accepts or rejects. Therefore iw_cm does not get a pointer
 * for a request but a number, and a request that nobody decides on in time is
 * dropped.
 *
 * Lock order: socket lock -> taps_lock -> xarray of ceps; socket lock ->
 * cep->lock -> iw_cm's. qp->lock is not taken inside of cep->lock.
 */
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <rdma/rdma_cm.h>
#include <mpa/startup.h>
#include "iwmpa.h"

#define DECIDE_MAX_MS	60000	/* for the consumer to accept or reject */
#define MAX_EVENT_PD	255u	/* octets: iw_cm counts them in 8 bits */

/*
 * Active:  CONNECTING -> CONNECTED -> CLOSED, or CONNECTING -> CLOSED
 * Passive: REQUEST -> ACCEPTING -> CONNECTED -> CLOSED; whoever takes the cep
 *          out of REQUEST has to deal with its connection. REFUSED is for what
 *          iw_cm cannot carry.
 */
enum cep_state {
	CEP_CONNECTING,
	CEP_REQUEST,
	CEP_REFUSED,
	CEP_ACCEPTING,
	CEP_CONNECTED,
	CEP_CLOSED,
};

/**
 * struct iwm_cep - one end of a connection, as iw_cm sees it
 * @ref: the QP's, the queued work's, those of calls that are running, and in
 *	REQUEST and REFUSED the pending decision's
 * @dev: device; waits for its ceps before it goes
 * @index: in ceps; provider_data of a request
 * @work: drops an undecided request; ends a connection when the device goes
 * @lock: guards what follows
 * @state: enum cep_state
 * @gone: the device is going
 * @closed: the connection has ended while ACCEPTING, with @status
 * @status: for the CLOSE event
 * @id: with a reference, until CLOSED
 * @qp: with a reference, until CLOSED
 * @conn: REQUEST and REFUSED: undecided connection
 * @peer: what the Request offered
 */
struct iwm_cep {
	struct kref ref;
	struct iwm_dev *dev;
	u32 index;
	struct delayed_work work;

	spinlock_t lock;		/* guards the rest */
	enum cep_state state;
	bool gone;
	bool closed;
	int status;
	struct iw_cm_id *id;
	struct iwm_qp *qp;
	struct mpa_conn *conn;
	struct mpa_offer peer;
};

/* All ceps, without a reference: one is erased with its last. */
static DEFINE_XARRAY_FLAGS(ceps, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
static DECLARE_WAIT_QUEUE_HEAD(ceps_wait);

static void cep_work(struct work_struct *work);

static struct iwm_cep *cep_alloc(struct iwm_dev *dev, enum cep_state state,
				 gfp_t gfp)
{
	static u32 next;
	struct iwm_cep *cep = kzalloc(sizeof(*cep), gfp);

	if (!cep)
		return NULL;
	kref_init(&cep->ref);
	cep->dev = dev;
	cep->state = state;
	spin_lock_init(&cep->lock);
	INIT_DELAYED_WORK(&cep->work, cep_work);
	if (xa_alloc_cyclic_bh(&ceps, &cep->index, cep, xa_limit_32b, &next,
			       gfp) < 0) {
		kfree(cep);
		return NULL;
	}
	return cep;
}

static void cep_free(struct kref *ref)
{
	struct iwm_cep *cep = container_of(ref, struct iwm_cep, ref);

	xa_erase_bh(&ceps, cep->index);
	kfree(cep);
	wake_up_all(&ceps_wait);
}

void iwm_cep_get(struct iwm_cep *cep)
{
	kref_get(&cep->ref);
}

void iwm_cep_put(struct iwm_cep *cep)
{
	kref_put(&cep->ref, cep_free);
}

/* The cep at or behind *index, with a reference; *index is where it was. */
static struct iwm_cep *cep_next(unsigned long *index)
{
	struct iwm_cep *cep;

	xa_lock_bh(&ceps);
	cep = xa_find(&ceps, index, ULONG_MAX, XA_PRESENT);
	while (cep && !kref_get_unless_zero(&cep->ref))
		cep = xa_find_after(&ceps, index, ULONG_MAX, XA_PRESENT);
	xa_unlock_bh(&ceps);
	return cep;
}

static struct iwm_cep *cep_find(unsigned long index)
{
	unsigned long found = index;
	struct iwm_cep *cep = cep_next(&found);

	if (!cep || found == index)
		return cep;
	iwm_cep_put(cep);
	return NULL;
}

/* Have cep_work() run in @ms; the work holds a reference. Context: any. */
static void cep_queue(struct iwm_cep *cep, unsigned int ms)
{
	iwm_cep_get(cep);
	if (mod_delayed_work(iwm_wq, &cep->work, msecs_to_jiffies(ms)))
		iwm_cep_put(cep);
}

static void cep_cancel(struct iwm_cep *cep)
{
	if (cancel_delayed_work(&cep->work))
		iwm_cep_put(cep);
}

/* ---- Events to iw_cm ---- */

/*
 * iw_cm has set entries aside for all events that an id may get: this can
 * only fail for want of memory for Private Data.
 */
static int deliver(struct iwm_cep *cep, struct iw_cm_event *event)
{
	int ret;

	lockdep_assert_held(&cep->lock);
	ret = cep->id->event_handler(cep->id, event);
	WARN_ON_ONCE(ret && !event->private_data_len);
	return ret;
}

/*
 * Depths in events are the peer's: what rdma_cm calls initiator_depth is how
 * many Reads we may have outstanding there.
 */
static void set_depths(struct iw_cm_event *event, u16 peer_ird, u16 peer_ord)
{
	event->ird = min_t(u16, peer_ird, IWM_MAX_ORD);
	event->ord = min_t(u16, peer_ord, IWM_MAX_IRD);
}

/* Return: the status that was delivered: what goes wrong here is a failure. */
static int deliver_reply(struct iwm_cep *cep, int status,
			 const struct mpa_offer *peer,
			 const struct mpa_agreed *agreed, const void *pd)
{
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REPLY,
		.status = status,
		.local_addr = cep->id->m_local_addr,
		.remote_addr = cep->id->m_remote_addr,
	};

	if (status) {
		event.local_addr = cep->id->local_addr;
		event.remote_addr = cep->id->remote_addr;
	} else {
		set_depths(&event, agreed->ord, agreed->ird);
	}
	if (peer && peer->pd_len <= MAX_EVENT_PD) {
		event.private_data = (void *)pd;
		event.private_data_len = peer->pd_len;
	}
	if (!deliver(cep, &event))
		return status;
	event.status = status ? status : -ENOMEM;
	event.private_data_len = 0;
	deliver(cep, &event);
	return event.status;
}

static void deliver_established(struct iwm_cep *cep,
				const struct mpa_agreed *agreed)
{
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_ESTABLISHED,
		.local_addr = cep->id->m_local_addr,
		.remote_addr = cep->id->m_remote_addr,
	};

	set_depths(&event, agreed->ord, agreed->ird);
	deliver(cep, &event);
}

static void deliver_close(struct iwm_cep *cep, int status)
{
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CLOSE,
		.status = status,
		.local_addr = cep->id->m_local_addr,
		.remote_addr = cep->id->m_remote_addr,
	};

	deliver(cep, &event);
}

static void cep_bind(struct iwm_cep *cep, struct iw_cm_id *id,
		     struct iwm_qp *qp)
{
	spin_lock_bh(&cep->lock);
	id->add_ref(id);
	cep->id = id;
	kref_get(&qp->ref);
	cep->qp = qp;
	spin_unlock_bh(&cep->lock);
}

/* No event comes after this. Drops cep->lock. */
static void cep_close_and_unlock(struct iwm_cep *cep)
	__releases(&cep->lock)
{
	struct iw_cm_id *id = cep->id;
	struct iwm_qp *qp = cep->qp;

	lockdep_assert_held(&cep->lock);
	cep->state = CEP_CLOSED;
	cep->id = NULL;
	cep->qp = NULL;
	spin_unlock_bh(&cep->lock);
	if (id)
		id->rem_ref(id);
	if (qp)
		iwm_qp_put(qp);
}

static void cep_close(struct iwm_cep *cep)
{
	spin_lock_bh(&cep->lock);
	cep_close_and_unlock(cep);
}

/* ---- What qp.c reports ---- */

/* iw_cm has 8 bits for a length: nothing may wrap, nothing is cut off. */
static int check_pd(struct iwm_dev *dev, const struct mpa_offer *peer)
{
	if (peer->pd_len <= MAX_EVENT_PD)
		return 0;
	iwm_count(dev, IWM_STAT_CM_REFUSED);
	ibdev_warn_ratelimited(&dev->ibdev,
			       "connection refused: the peer's Private Data has %u octets, iw_cm carries %u\n",
			       peer->pd_len, MAX_EVENT_PD);
	return -EMSGSIZE;
}

/**
 * iwm_cm_check_reply() - can the consumer be told of this Reply?
 * @cep: endpoint
 * @peer: what the Reply says
 *
 * Context: any. Return: 0, or -EMSGSIZE for too much Private Data.
 */
int iwm_cm_check_reply(struct iwm_cep *cep, const struct mpa_offer *peer)
{
	return check_pd(cep->dev, peer);
}

/**
 * iwm_cm_reply() - the Initiator's startup has ended
 * @cep: endpoint
 * @status: 0 when the QP is in RTS, else a negative errno
 * @peer: what the Reply says, or NULL
 * @agreed: what is in force, with @status 0
 * @pd: Private Data of the Reply, @peer->pd_len octets
 *
 * Context: any that does not hold qp->lock.
 * Return: what the consumer has been told: @status, or a negative errno when
 * there was no memory for @pd, or -ECONNABORTED when it had been told the end
 * before.
 */
int iwm_cm_reply(struct iwm_cep *cep, int status, const struct mpa_offer *peer,
		 const struct mpa_agreed *agreed, const void *pd)
{
	spin_lock_bh(&cep->lock);
	if (cep->state != CEP_CONNECTING) {
		spin_unlock_bh(&cep->lock);
		return -ECONNABORTED;
	}
	status = deliver_reply(cep, status, peer, agreed, pd);
	if (status) {
		cep_close_and_unlock(cep);
		return status;
	}
	cep->state = CEP_CONNECTED;
	spin_unlock_bh(&cep->lock);
	return 0;
}

/**
 * iwm_cm_closed() - the connection is over
 * @cep: endpoint
 * @status: 0 for an orderly end, else a negative errno
 *
 * Gives iw_cm the event that is due, if one is; later calls do nothing.
 * Context: any that does not hold qp->lock.
 */
void iwm_cm_closed(struct iwm_cep *cep, int status)
{
	spin_lock_bh(&cep->lock);
	switch (cep->state) {
	case CEP_CONNECTING:
		deliver_reply(cep, status ? status : -ECONNRESET, NULL, NULL,
			      NULL);
		break;
	case CEP_CONNECTED:
		deliver_close(cep, status);
		break;
	case CEP_ACCEPTING:
		/* iwm_cm_accept() reports it, behind ESTABLISHED. */
		cep->closed = true;
		cep->status = status;
		fallthrough;
	default:
		spin_unlock_bh(&cep->lock);
		return;
	}
	cep_close_and_unlock(cep);
}

/* ---- Parameters ---- */

static int check_depths(struct iwm_dev *dev,
			const struct iw_cm_conn_param *param)
{
	if (param->ird <= IWM_MAX_IRD && param->ord <= IWM_MAX_ORD)
		return 0;
	ibdev_warn_ratelimited(&dev->ibdev,
			       "IRD %u or ORD %u is over the limit of %u or %u\n",
			       param->ird, param->ord, IWM_MAX_IRD,
			       IWM_MAX_ORD);
	return -EINVAL;
}

static const struct mpa_params listen_params = {
	.max_rev = MPA_REV_ENHANCED,
	.ird = IWM_MAX_IRD,
	.ord = IWM_MAX_ORD,
};

static void connect_params(struct mpa_params *params,
			   const struct iw_cm_conn_param *param)
{
	*params = listen_params;
	params->p2p = true;	/* either side may send first */
	params->ird = param->ird;
	params->ord = param->ord;
}

/* We may not have more Reads outstanding than the Initiator can take. */
static void accept_params(struct mpa_params *params,
			  const struct iw_cm_conn_param *param,
			  const struct mpa_offer *peer)
{
	*params = listen_params;
	params->ird = param->ird;
	params->ord = min_t(u32, param->ord, peer->ird);
	/* The Read that may be the RTR needs a place: RFC 6581 section 9.1. */
	if (peer->p2p && !params->ird)
		params->ird = 1;
}

/*
 * The namespace of an id's owner, or NULL. iw_cm does not say it, but its only
 * consumer is rdma_cm, whose context begins with a struct rdma_cm_id.
 */
static struct net *owner_net(const struct iw_cm_id *id)
{
	const struct rdma_cm_id *owner = id->context;

	return owner ? owner->route.addr.dev_addr.net : NULL;
}

/* ---- Initiator ---- */

static void set_port(struct sockaddr_storage *addr, __be16 port)
{
	if (addr->ss_family == AF_INET6)
		((struct sockaddr_in6 *)addr)->sin6_port = port;
	else
		((struct sockaddr_in *)addr)->sin_port = port;
}

static bool is_loopback(const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *a6 = (const void *)addr;
	const struct sockaddr_in *a4 = (const void *)addr;

	if (addr->ss_family == AF_INET6)
		return ipv6_addr_loopback(&a6->sin6_addr);
	return ipv4_is_loopback(a4->sin_addr.s_addr);
}

/*
 * Where to connect. For a loopback address rdma_cm takes the first device that
 * it finds, of whatever namespace: the address means the owner's all the same.
 */
static struct net *connect_net(struct iwm_dev *dev, const struct iw_cm_id *id)
{
	struct net *owner = owner_net(id);

	if (owner && is_loopback(&id->m_remote_addr))
		return get_net(owner);
	return iwm_dev_net(dev);
}

/*
 * rdma_cm's ports are a space of their own: the one that it has chosen may be
 * in use by TCP, and then any other is as good.
 */
static int connect_qp(struct iwm_qp *qp, struct iwm_cep *cep,
		      struct iw_cm_id *id,
		      const struct iw_cm_conn_param *param)
{
	struct sockaddr_storage local = id->m_local_addr;
	struct net *net = connect_net(qp->dev, id);
	struct mpa_params params;
	int ret, tries = 2;

	if (!net)
		return -ENODEV;
	connect_params(&params, param);
	do {
		ret = iwm_qp_connect(qp, cep, net, (struct sockaddr *)&local,
				     (struct sockaddr *)&id->m_remote_addr,
				     &params, param->private_data,
				     param->private_data_len);
		set_port(&local, 0);
	} while (--tries && ret == -EADDRINUSE);
	put_net(net);
	return ret;
}

/**
 * iwm_cm_connect() - ib_device_ops.iw_connect
 * @id: with local and remote address
 * @param: QP number, Private Data (up to 508 octets), IRD and ORD
 *
 * Context: process, may sleep, does not wait for the network.
 * Return: 0: CONNECT_REPLY follows; -EINVAL for depths over the limits or no
 * such QP, -EMSGSIZE for too much Private Data, or another errno.
 */
int iwm_cm_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct iwm_dev *dev = to_iwm_dev(id->device);
	struct iwm_cep *cep;
	struct iwm_qp *qp;
	int ret;

	might_sleep();
	ret = check_depths(dev, param);
	if (ret)
		return ret;
	qp = iwm_qp_get(dev, param->qpn);
	if (!qp)
		return -EINVAL;
	cep = cep_alloc(dev, CEP_CONNECTING, GFP_KERNEL);
	if (!cep) {
		ret = -ENOMEM;
		goto out_qp;
	}
	cep_bind(cep, id, qp);
	ret = connect_qp(qp, cep, id, param);
	if (ret)
		cep_close(cep);
	iwm_cep_put(cep);
out_qp:
	iwm_qp_put(qp);
	return ret;
}

/* ---- Responder: the request ---- */

/*
 * Take a request out of REQUEST: the caller gets its connection and the
 * decision's reference.
 */
static struct mpa_conn *take_request(struct iwm_cep *cep, enum cep_state from,
				     enum cep_state to)
{
	struct mpa_conn *conn = NULL;

	spin_lock_bh(&cep->lock);
	if (cep->state == from && cep->conn) {
		cep->state = to;
		conn = cep->conn;
		cep->conn = NULL;
	}
	spin_unlock_bh(&cep->lock);
	return conn;
}

/* As above, for the number that iw_cm has; NULL when it was dropped. */
static struct iwm_cep *find_request(const struct iw_cm_id *id,
				    enum cep_state to, struct mpa_conn **conn)
{
	struct iwm_cep *cep = cep_find((unsigned long)id->provider_data);

	if (!cep)
		return NULL;
	*conn = take_request(cep, CEP_REQUEST, to);
	iwm_cep_put(cep);
	if (!*conn)
		return NULL;
	cep_cancel(cep);
	return cep;
}

/* A connection that has ended, or that nobody wants. */
static void drop_request(struct iwm_cep *cep)
{
	struct mpa_conn *conn = take_request(cep, CEP_REQUEST, CEP_CLOSED);

	if (!conn)
		return;
	mpa_destroy(conn);
	iwm_cep_put(cep);
}

static void refuse_request(struct iwm_cep *cep)
{
	struct mpa_conn *conn = take_request(cep, CEP_REFUSED, CEP_CLOSED);

	if (!conn)
		return;
	mpa_reject(conn, NULL, 0);
	mpa_destroy(conn);
	iwm_cep_put(cep);
}

/* The device goes: end the connection, if there is one. */
static void end_connection(struct iwm_cep *cep)
{
	struct iwm_qp *qp = NULL;

	spin_lock_bh(&cep->lock);
	if (cep->gone && cep->qp) {
		qp = cep->qp;
		kref_get(&qp->ref);
	}
	spin_unlock_bh(&cep->lock);
	if (!qp)
		return;
	iwm_qp_disconnect(qp, true, -ENETDOWN);
	iwm_qp_put(qp);
}

static void cep_work(struct work_struct *work)
{
	struct iwm_cep *cep = container_of(to_delayed_work(work),
					   struct iwm_cep, work);

	drop_request(cep);
	refuse_request(cep);
	end_connection(cep);
	iwm_cep_put(cep);
}

/* The peer has gone away before there was a decision. */
static void undecided_closed(void *ulp, enum mpa_error err, int status)
{
	cep_queue(ulp, 0);
}

/* While undecided MPA calls nothing else. */
static const struct mpa_ulp_ops undecided_ops = {
	.closed = undecided_closed,
};

static int deliver_request(struct iwm_cep *cep, struct iw_cm_id *listen_id,
			   const struct sockaddr_storage *local,
			   const struct sockaddr_storage *remote,
			   const void *pd)
{
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.local_addr = *local,
		.remote_addr = *remote,
		.private_data = (void *)pd,
		.private_data_len = cep->peer.pd_len,
		.provider_data = (void *)(unsigned long)cep->index,
	};

	set_depths(&event, cep->peer.ird, cep->peer.ord);
	return listen_id->event_handler(listen_id, &event);
}

/* ---- Responder: the decision ---- */

/* The Reply is out, and perhaps the connection has ended already. */
static void accepted(struct iwm_cep *cep, const struct mpa_agreed *agreed)
{
	spin_lock_bh(&cep->lock);
	deliver_established(cep, agreed);
	cep->state = CEP_CONNECTED;
	if (!cep->closed) {
		spin_unlock_bh(&cep->lock);
		return;
	}
	deliver_close(cep, cep->status);
	cep_close_and_unlock(cep);
}

static int accept_on_qp(struct iwm_cep *cep, struct mpa_conn *conn,
			struct iwm_qp *qp, struct iw_cm_id *id,
			const struct iw_cm_conn_param *param)
{
	struct mpa_params params;
	struct mpa_agreed agreed;
	int ret;

	accept_params(&params, param, &cep->peer);
	cep_bind(cep, id, qp);
	ret = iwm_qp_accept(qp, cep, conn, &params, param->private_data,
			    param->private_data_len, &agreed);
	if (ret)
		cep_close(cep);
	else
		accepted(cep, &agreed);
	return ret;
}

/**
 * iwm_cm_accept() - ib_device_ops.iw_accept
 * @id: of a CONNECT_REQUEST
 * @param: QP number, Private Data, IRD and ORD
 *
 * Context: process, may sleep; takes the socket lock.
 * Return: 0: ESTABLISHED follows; else the connection is gone: -ECONNRESET
 * when the peer went away first, -EINVAL for depths over the limits or no
 * such QP, -EMSGSIZE for too much Private Data, or another errno.
 */
int iwm_cm_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct iwm_dev *dev = to_iwm_dev(id->device);
	struct mpa_conn *conn;
	struct iwm_cep *cep;
	struct iwm_qp *qp;
	int ret;

	might_sleep();
	cep = find_request(id, CEP_ACCEPTING, &conn);
	if (!cep)
		return -ECONNRESET;
	ret = check_depths(dev, param);
	if (ret)
		goto out;
	ret = -EINVAL;
	qp = iwm_qp_get(dev, param->qpn);
	if (!qp)
		goto out;
	ret = accept_on_qp(cep, conn, qp, id, param);
	iwm_qp_put(qp);
out:
	if (ret) {
		cep_close(cep);
		mpa_destroy(conn);
	}
	iwm_cep_put(cep);
	return ret;
}

/**
 * iwm_cm_reject() - ib_device_ops.iw_reject
 * @id: of a CONNECT_REQUEST
 * @pd: Private Data of the Reply
 * @pd_len: octets of @pd
 *
 * Context: process, may sleep; takes the socket lock.
 * Return: 0, -ECONNRESET when the peer went away first, or another errno.
 */
int iwm_cm_reject(struct iw_cm_id *id, const void *pd, u8 pd_len)
{
	struct mpa_conn *conn;
	struct iwm_cep *cep;
	int ret;

	might_sleep();
	cep = find_request(id, CEP_CLOSED, &conn);
	if (!cep)
		return -ECONNRESET;
	ret = mpa_reject(conn, pd, pd_len);
	mpa_destroy(conn);
	iwm_cep_put(cep);
	return ret;
}

/* ---- Listening ---- */

/*
 * rdma_cm makes one listener per device for a wildcard address, all with the
 * same port: they share one TCP listener per namespace, address and port, and
 * each connection goes to the device whose netdev owns the local address.
 */

/**
 * struct iwm_port - a TCP listener, shared
 * @entry: in ports (ports_mutex)
 * @net: namespace
 * @addr: local address and port
 * @taps: who listens (ports_mutex to change, and taps_lock)
 * @mpa: the listener
 */
struct iwm_port {
	struct list_head entry;
	struct net *net;
	struct sockaddr_storage addr;
	struct list_head taps;
	struct mpa_listener *mpa;
};

/**
 * struct iwm_tap - one iw_cm listener's share in a port
 * @entry: in @port->taps
 * @port: NULL when this tap is not in use
 * @listen: whose tap it is
 */
struct iwm_tap {
	struct list_head entry;
	struct iwm_port *port;
	struct iwm_listen *listen;
};

/**
 * struct iwm_listen - provider_data of a listening iw_cm_id
 * @id: with a reference
 * @dev: device
 * @taps: the second is for IPv4 when "::" takes both families; none for an id
 *	of another namespace
 */
struct iwm_listen {
	struct iw_cm_id *id;
	struct iwm_dev *dev;
	struct iwm_tap taps[2];
};

static LIST_HEAD(ports);
static DEFINE_MUTEX(ports_mutex);
static DEFINE_SPINLOCK(taps_lock);

/*
 * Startups on a listener that several devices share are nobody's: a device's
 * counters start with accept.
 */
DEFINE_PER_CPU(struct mpa_mib, iwm_listen_mib);

/* The netdev that owns a local address, or NULL. */
static const struct net_device *owner4(struct net *net,
				       const struct sockaddr_in *addr)
{
	return __ip_dev_find(net, addr->sin_addr.s_addr, false);
}

static const struct net_device *owner6(struct net *net,
				       const struct sockaddr_in6 *addr)
{
#if IS_ENABLED(CONFIG_IPV6)
	/* Those are unique on their link only. */
	if (ipv6_addr_type(&addr->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		return dev_get_by_index_rcu(net, addr->sin6_scope_id);
	return ipv6_dev_find(net, &addr->sin6_addr, NULL);
#else
	return NULL;
#endif
}

static const struct net_device *owner_of(struct net *net,
					 const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET6)
		return owner6(net, (const void *)addr);
	return owner4(net, (const void *)addr);
}

/*
 * rdma_cm finds the device of a connection by a GID, which for the addresses
 * of lo every device of the namespace has: it takes the first that was made,
 * and so must we. Its listeners, and with them the taps, come in that order.
 */
static bool serves(const struct iwm_tap *tap, const struct net_device *owner)
{
	return owner->flags & IFF_LOOPBACK ||
	       rcu_dereference(tap->listen->dev->netdev) == owner;
}

/* Who listens on the netdev that owns this local address? */
static struct iwm_listen *find_listen(struct iwm_port *port,
				      const struct sockaddr_storage *local)
{
	const struct net_device *owner;
	struct iwm_listen *listen = NULL;
	struct iwm_tap *tap;

	lockdep_assert_held(&taps_lock);
	rcu_read_lock();
	owner = owner_of(port->net, local);
	if (!owner)
		goto out;
	list_for_each_entry(tap, &port->taps, entry) {
		if (serves(tap, owner)) {
			listen = tap->listen;
			break;
		}
	}
out:
	rcu_read_unlock();
	return listen;
}

/*
 * Make the request known. From here on it may be decided on or dropped at any
 * time; whoever does waits for the socket lock, which is held here.
 */
static int offer_request(struct iwm_listen *listen, struct mpa_conn *conn,
			 const struct mpa_offer *peer, const void *pd,
			 const struct sockaddr_storage *local,
			 const struct sockaddr_storage *remote)
{
	bool fits = !check_pd(listen->dev, peer);
	struct iwm_cep *cep;
	int ret;

	cep = cep_alloc(listen->dev, fits ? CEP_REQUEST : CEP_REFUSED,
			GFP_ATOMIC);
	if (!cep)
		return -ENOMEM;
	cep->peer = *peer;
	mpa_conn_set_ulp(conn, &undecided_ops, cep);
	spin_lock_bh(&cep->lock);
	cep->conn = conn;
	spin_unlock_bh(&cep->lock);
	cep_queue(cep, fits ? DECIDE_MAX_MS : 0);
	if (!fits)
		return 0;
	ret = deliver_request(cep, listen->id, local, remote, pd);
	if (!ret || !take_request(cep, CEP_REQUEST, CEP_CLOSED))
		return 0;
	/* MPA drops the connection, without another upcall. */
	cep_cancel(cep);
	iwm_cep_put(cep);
	return ret;
}

/* mpa_ulp_ops.request. Context: socket locked, softirq or process. */
static int port_request(void *ulp, struct mpa_conn *conn,
			const struct mpa_offer *peer, const void *pd)
{
	struct sockaddr_storage local, remote;
	struct iwm_port *port = ulp;
	struct iwm_listen *listen;
	int ret = -EADDRNOTAVAIL;

	mpa_conn_addrs(conn, &local, &remote);
	spin_lock_bh(&taps_lock);
	listen = find_listen(port, &local);
	if (listen)
		ret = offer_request(listen, conn, peer, pd, &local, &remote);
	spin_unlock_bh(&taps_lock);
	return ret;
}

static const struct mpa_ulp_ops port_ops = {
	.request = port_request,
};

static bool same_addr(const struct sockaddr_storage *a,
		      const struct sockaddr_storage *b)
{
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return a4->sin_port == b4->sin_port &&
		       a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return a6->sin6_port == b6->sin6_port &&
	       a6->sin6_scope_id == b6->sin6_scope_id &&
	       ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr);
}

static struct iwm_port *port_find(struct net *net,
				  const struct sockaddr_storage *addr)
{
	struct iwm_port *port;

	lockdep_assert_held(&ports_mutex);
	list_for_each_entry(port, &ports, entry)
		if (net_eq(port->net, net) && same_addr(&port->addr, addr))
			return port;
	return NULL;
}

static void tap_on(struct iwm_tap *tap, struct iwm_port *port)
{
	spin_lock_bh(&taps_lock);
	list_add_tail(&tap->entry, &port->taps);
	tap->port = port;
	spin_unlock_bh(&taps_lock);
}

static void tap_off(struct iwm_tap *tap)
{
	spin_lock_bh(&taps_lock);
	list_del(&tap->entry);
	tap->port = NULL;
	spin_unlock_bh(&taps_lock);
}

/* A new port, with @tap on it before the first request can come. */
static int port_create(struct iwm_tap *tap, struct net *net,
		       const struct sockaddr_storage *addr, int backlog)
{
	struct iwm_port *port = kzalloc(sizeof(*port), GFP_KERNEL);

	lockdep_assert_held(&ports_mutex);
	if (!port)
		return -ENOMEM;
	port->net = net;
	port->addr = *addr;
	INIT_LIST_HEAD(&port->taps);
	tap_on(tap, port);
	port->mpa = mpa_listen(net, (struct sockaddr *)&port->addr, backlog,
			       &listen_params, &port_ops, port, &iwm_listen_mib);
	if (IS_ERR(port->mpa)) {
		int ret = PTR_ERR(port->mpa);

		tap_off(tap);
		kfree(port);
		return ret;
	}
	list_add_tail(&port->entry, &ports);
	return 0;
}

static int tap_open(struct iwm_tap *tap, struct iwm_listen *listen,
		    const struct sockaddr_storage *addr, int backlog)
{
	struct net *net = iwm_dev_net(listen->dev);
	struct iwm_port *port;
	int ret = 0;

	if (!net)
		return -ENODEV;
	tap->listen = listen;
	mutex_lock(&ports_mutex);
	port = port_find(net, addr);
	if (port)
		tap_on(tap, port);
	else
		ret = port_create(tap, net, addr, backlog);
	mutex_unlock(&ports_mutex);
	/* The listening socket holds the namespace. */
	put_net(net);
	return ret;
}

static void tap_close(struct iwm_tap *tap)
{
	struct iwm_port *port = tap->port;

	if (!port)
		return;
	mutex_lock(&ports_mutex);
	tap_off(tap);
	if (list_empty(&port->taps)) {
		list_del(&port->entry);
		mpa_listener_destroy(port->mpa);
		kfree(port);
	}
	mutex_unlock(&ports_mutex);
}

static bool takes_both_families(const struct iw_cm_id *id)
{
	const struct sockaddr_in6 *addr = (const void *)&id->m_local_addr;

	return addr->sin6_family == AF_INET6 && !id->afonly &&
	       ipv6_addr_any(&addr->sin6_addr);
}

/*
 * With RDMA devices shared by all namespaces, a wildcard rdma_cm id listens on
 * those of other namespaces, too. It could not accept what comes in there, and
 * it has no business there: who listens in that namespace would lose its
 * connections to it.
 */
static bool is_foreign(const struct iwm_listen *listen)
{
	const struct net *owner = owner_net(listen->id);
	struct net *net = iwm_dev_net(listen->dev);
	bool foreign;

	if (!net)
		return true;	/* the netdev has gone: nothing will come */
	foreign = owner && !net_eq(owner, net);
	put_net(net);
	return foreign;
}

static int open_taps(struct iwm_listen *listen, int backlog)
{
	const struct sockaddr_storage *addr = &listen->id->m_local_addr;
	struct sockaddr_in any4 = { .sin_family = AF_INET };
	struct sockaddr_storage addr4 = { };
	int ret;

	if (is_foreign(listen))
		return 0;
	ret = tap_open(&listen->taps[0], listen, addr, backlog);
	if (ret || !takes_both_families(listen->id))
		return ret;
	any4.sin_port = ((const struct sockaddr_in6 *)addr)->sin6_port;
	memcpy(&addr4, &any4, sizeof(any4));
	ret = tap_open(&listen->taps[1], listen, &addr4, backlog);
	if (ret)
		tap_close(&listen->taps[0]);
	return ret;
}

/**
 * iwm_cm_create_listen() - ib_device_ops.iw_create_listen
 * @id: with the local address, which may be a wildcard
 * @backlog: of the TCP socket
 *
 * An id of another namespace than the device's listens to nothing.
 *
 * Context: process, may sleep.
 * Return: 0, -EADDRINUSE when a TCP socket has the port, or another errno.
 */
int iwm_cm_create_listen(struct iw_cm_id *id, int backlog)
{
	struct iwm_listen *listen;
	int ret;

	might_sleep();
	listen = kzalloc(sizeof(*listen), GFP_KERNEL);
	if (!listen)
		return -ENOMEM;
	listen->dev = to_iwm_dev(id->device);
	listen->id = id;
	id->add_ref(id);
	ret = open_taps(listen, backlog);
	if (ret) {
		id->rem_ref(id);
		kfree(listen);
		return ret;
	}
	id->provider_data = listen;
	return 0;
}

/**
 * iwm_cm_destroy_listen() - ib_device_ops.iw_destroy_listen
 * @id: listening
 *
 * Requests that the consumer has got stay with it; those that iw_cm drops are
 * dropped here by their deadline.
 *
 * Context: process, may sleep; takes socket locks.
 * Return: 0.
 */
int iwm_cm_destroy_listen(struct iw_cm_id *id)
{
	struct iwm_listen *listen = id->provider_data;

	might_sleep();
	if (!listen)
		return 0;
	id->provider_data = NULL;
	tap_close(&listen->taps[0]);
	tap_close(&listen->taps[1]);
	id->rem_ref(id);
	kfree(listen);
	return 0;
}

/* ---- The end of a device ---- */

/**
 * iwm_cm_dev_gone() - end what a device has, soon
 * @dev: device whose netdev is going away
 *
 * Pending and established connections are reset, undecided requests dropped,
 * all asynchronously.
 *
 * Context: any, under rtnl too.
 */
void iwm_cm_dev_gone(struct iwm_dev *dev)
{
	unsigned long index = 0;
	struct iwm_cep *cep;

	for (; (cep = cep_next(&index)); index++) {
		if (cep->dev == dev) {
			spin_lock_bh(&cep->lock);
			cep->gone = true;
			spin_unlock_bh(&cep->lock);
			cep_queue(cep, 0);
		}
		iwm_cep_put(cep);
	}
}

static bool dev_has_ceps(struct iwm_dev *dev)
{
	unsigned long index;
	struct iwm_cep *cep;
	bool has = false;

	xa_lock_bh(&ceps);
	xa_for_each(&ceps, index, cep)
		has |= cep->dev == dev;
	xa_unlock_bh(&ceps);
	return has;
}

/**
 * iwm_cm_dev_exit() - end what a device has, and wait for that
 * @dev: device without QPs and listeners: undecided requests are left
 *
 * Context: process, may sleep.
 */
void iwm_cm_dev_exit(struct iwm_dev *dev)
{
	might_sleep();
	iwm_cm_dev_gone(dev);
	wait_event(ceps_wait, !dev_has_ceps(dev));
}

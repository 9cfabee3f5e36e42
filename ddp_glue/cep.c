// SPDX-License-Identifier: GPL-2.0
/*
 * Ceps: the ends of connections as iw_cm sees them. Their states, the events
 * for iw_cm, requests that wait for a decision, and the removal of a device.
 */
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <mpa/negotiate.h>
#include "cep.h"
#include "netdev.h"
#include "qp_ref.h"
#include "work.h"

#define DECIDE_MAX_MS	60000	/* for the consumer to accept or reject */
#define WATCH_MS	250	/* between two checks of the device */
#define HAND_MAX_DOUBLINGS 13	/* of the wait for the next attempt, from 1 ms */
#define MAX_EVENT_PD	255u	/* octets: iw_cm counts them in 8 bits */

/* All ceps, without a reference: a cep is erased with its last one. */
static DEFINE_XARRAY_FLAGS(ceps, XA_FLAGS_LOCK_BH);
/*
 * No number is used twice: iw_cm keeps that of a request for as long as the
 * consumer wants, and would find another consumer's request by it.
 */
static atomic64_t last_index;
static DECLARE_WAIT_QUEUE_HEAD(ceps_wait);

/*
 * A symbol of iw_cm.ko, to keep that loaded: ceps may call it, and outlive its
 * consumers.
 */
static const char *(*const needs_iw_cm)(int reason) __used = iwcm_reject_msg;

struct iwm_cep *iwm_cep_alloc(struct iwm_dev *dev, enum cep_state state,
			      work_func_t work, gfp_t gfp)
{
	struct iwm_cep *cep = kzalloc(sizeof(*cep), gfp);

	if (!cep)
		return NULL;
	kref_init(&cep->ref);
	cep->dev = dev;
	cep->state = state;
	spin_lock_init(&cep->lock);
	INIT_DELAYED_WORK(&cep->work, work);
	cep->index = atomic64_inc_return(&last_index);
	if (xa_insert_bh(&ceps, cep->index, cep, gfp)) {
		kfree(cep);
		return NULL;
	}
	atomic_inc(&dev->num_ceps);
	return cep;
}

void iwm_cep_free_fallback(struct cep_fallback *fallback)
{
	if (!fallback)
		return;
	put_net(fallback->attempt.net);
	iwm_caller_put(&fallback->caller);
	kfree(fallback);
}

static void cep_free(struct kref *ref)
{
	struct iwm_cep *cep = container_of(ref, struct iwm_cep, ref);
	struct iwm_dev *dev = cep->dev;

	WARN_ON_ONCE(cep->conn);	/* it would outlive its consumer */
	xa_erase_bh(&ceps, cep->index);
	iwm_cep_free_fallback(cep->fallback);
	kfree(cep);
	/* The device may be freed from here on. */
	if (atomic_dec_and_test(&dev->num_ceps))
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

/* The first cep at or after *index, with a reference. Updates *index. */
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

static struct workqueue_struct *cep_wq(const struct iwm_cep *cep)
{
	return iwm_work_queue(READ_ONCE(cep->user));
}

/* Run the work in @ms; the work holds a reference. Context: any. */
void iwm_cep_queue(struct iwm_cep *cep, unsigned int ms)
{
	iwm_cep_get(cep);
	if (mod_delayed_work(cep_wq(cep), &cep->work, msecs_to_jiffies(ms)))
		iwm_cep_put(cep);
}

/*
 * The removal of a device waits for rdma_cm, because the core removes its
 * clients first. rdma_cm waits for iw_cm, and iw_cm for the end of a connect.
 * The core does not call the driver before that, so a connect has to poll.
 */
void iwm_cep_watch(struct iwm_cep *cep)
{
	iwm_cep_get(cep);
	if (!queue_delayed_work(cep_wq(cep), &cep->work,
				msecs_to_jiffies(WATCH_MS)))
		iwm_cep_put(cep);
}

static void cep_cancel(struct iwm_cep *cep)
{
	if (cancel_delayed_work(&cep->work))
		iwm_cep_put(cep);
}

/* ---- Events to iw_cm ---- */

/*
 * iw_cm has preallocated entries for all events of an id. This can only fail
 * when there is no memory for Private Data.
 */
static int deliver_event(struct iwm_cep *cep, struct iw_cm_event *event)
{
	int ret;

	lockdep_assert_held(&cep->lock);
	ret = cep->id->event_handler(cep->id, event);
	WARN_ON_ONCE(ret && !event->private_data_len);
	return ret;
}

/*
 * Depths in events are the peer's: rdma_cm's initiator_depth is the number of
 * Reads that we may have outstanding there.
 */
static void event_set_depths(struct iw_cm_event *event, u16 peer_ird,
			     u16 peer_ord)
{
	event->ird = min_t(u16, peer_ird, IWM_MAX_ORD);
	event->ord = min_t(u16, peer_ord, IWM_MAX_IRD);
}

/*
 * iw_cm copies Private Data, but passes the pointer on as it is if the length
 * is 0. Consumers look at the pointer alone, so it must be NULL then.
 */
static void event_set_pd(struct iw_cm_event *event, const void *pd, u16 len)
{
	event->private_data = len ? (void *)pd : NULL;
	event->private_data_len = len;
}

/* The Reply's depth, or ours in force if the peer has not negotiated it. */
static u16 peer_depth(u16 depth, u16 ours)
{
	return depth == MPA_ENH_NO_DEPTH ? ours : depth;
}

static void event_set_addrs(struct iw_cm_event *event,
			    const struct iw_cm_id *id)
{
	event->local_addr = id->m_local_addr;
	event->remote_addr = id->m_remote_addr;
}

/* Return: the status that was delivered. An error here becomes that status. */
static int deliver_reply(struct iwm_cep *cep, int status,
			 const struct mpa_offer *peer,
			 const struct mpa_agreed *agreed, const void *pd)
{
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REPLY,
		.status = status,
	};

	if (!cep->id)
		return status;
	event_set_addrs(&event, cep->id);
	/* RFC 6581 9.1: report the peer's depths to the ULP, too. */
	if (status) {
		event.local_addr = cep->id->local_addr;
		event.remote_addr = cep->id->remote_addr;
		if (peer)
			event_set_depths(&event, peer->ird, peer->ord);
	} else {
		event_set_depths(&event,
				 peer_depth(peer->ird, agreed->ord),
				 peer_depth(peer->ord, agreed->ird));
	}
	if (peer && peer->pd_len <= MAX_EVENT_PD)
		event_set_pd(&event, pd, peer->pd_len);
	if (!deliver_event(cep, &event))
		return status;
	event.status = status ? status : -ENOMEM;
	event_set_pd(&event, NULL, 0);
	deliver_event(cep, &event);
	return event.status;
}

static void deliver_established(struct iwm_cep *cep,
				const struct mpa_agreed *agreed)
{
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_ESTABLISHED,
	};

	if (!cep->id)
		return;
	event_set_addrs(&event, cep->id);
	event_set_depths(&event, agreed->ord, agreed->ird);
	deliver_event(cep, &event);
}

static void deliver_close(struct iwm_cep *cep, int status)
{
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CLOSE,
		.status = status,
	};

	if (!cep->id)
		return;
	event_set_addrs(&event, cep->id);
	deliver_event(cep, &event);
}

void iwm_cep_bind(struct iwm_cep *cep, struct iw_cm_id *id, struct iwm_qp *qp)
{
	spin_lock_bh(&cep->lock);
	if (id)
		id->add_ref(id);
	cep->id = id;
	kref_get(&qp->ref);
	cep->qp = qp;
	WRITE_ONCE(cep->user, qp->user);
	spin_unlock_bh(&cep->lock);
}

/*
 * No event follows. Drops cep->lock. When the QP is connected by hand, the work
 * has to clean up.
 */
static void cep_close_and_unlock(struct iwm_cep *cep)
	__releases(&cep->lock)
{
	struct iw_cm_id *id = cep->id;
	struct iwm_qp *qp = cep->qp;
	bool by_hand = cep->by_hand;

	lockdep_assert_held(&cep->lock);
	cep->state = IWM_CEP_CLOSED;
	cep->id = NULL;
	cep->qp = NULL;
	spin_unlock_bh(&cep->lock);
	if (by_hand)
		iwm_cep_queue(cep, 0);
	if (id)
		id->rem_ref(id);
	if (qp)
		iwm_qp_put(qp);
}

void iwm_cep_close(struct iwm_cep *cep)
{
	spin_lock_bh(&cep->lock);
	cep_close_and_unlock(cep);
}

/* ---- Reports of QPs ---- */

/* iw_cm has 8 bits for the length: refuse longer data, never cut it. */
static int check_private_data(struct iwm_dev *dev, const struct mpa_offer *peer)
{
	static DEFINE_RATELIMIT_STATE(limit, 60 * HZ, 5);

	if (peer->pd_len <= MAX_EVENT_PD)
		return 0;
	iwm_count(dev, IWM_STAT_CM_REFUSED);
	if (__ratelimit(&limit))
		ibdev_warn(&dev->ibdev,
			   "connection refused: the peer's Private Data has %u octets, iw_cm carries %u\n",
			   peer->pd_len, MAX_EVENT_PD);
	return -EMSGSIZE;
}

/**
 * iwm_cep_check_reply() - can iw_cm carry this Reply, or is it the right peer's?
 * @cep: endpoint
 * @peer: the offer in the Reply
 * @pd: its Private Data, @peer->pd_len octets
 *
 * Context: any. Return: 0; -EMSGSIZE for more Private Data than iw_cm can carry;
 * -EPROTO when the QP was connected by hand, and the peer is not its peer.
 */
int iwm_cep_check_reply(struct iwm_cep *cep, const struct mpa_offer *peer,
			const void *pd)
{
	if (!cep->by_hand)
		return check_private_data(cep->dev, peer);
	return hand_hello_equal(&cep->hello, pd, peer->pd_len) ? 0 : -EPROTO;
}

/*
 * Tell the administrator if the peer may have rejected the connection because
 * of the reserved bit of large FPDUs. A Reply that has the bit, or Private
 * Data of the peer's ULP, rejects for another reason. The Request of the second
 * attempt does not have the bit, and @fallback is NULL.
 */
static void warn_rejected(const struct iwm_cep *cep,
			  const struct cep_fallback *fallback,
			  const struct mpa_offer *reply)
{
	if (!fallback || reply->large || reply->pd_len ||
	    fallback->attempt.params.settings.large != MPA_LARGE_AGREED)
		return;
	ibdev_warn_ratelimited(&cep->dev->ibdev,
			       "%pISpc rejected the connection: if it rejects all, it may not accept the reserved bit of large_fpdus=agreed\n",
			       &fallback->attempt.remote);
}

/**
 * iwm_cep_reply() - the Initiator's startup has ended
 * @cep: endpoint
 * @status: 0 when the QP is in RTS, else a negative errno
 * @peer: the offer in the Reply, or NULL
 * @agreed: the result of the negotiation, with @status 0
 * @pd: Private Data of the Reply, @peer->pd_len octets
 *
 * Context: any that does not hold qp->lock.
 * Return: the status that the consumer got: @status, or a negative errno when
 * there was no memory for @pd; -ECONNABORTED when the end had been reported
 * before.
 */
int iwm_cep_reply(struct iwm_cep *cep, int status, const struct mpa_offer *peer,
		  const struct mpa_agreed *agreed, const void *pd)
{
	struct cep_fallback *fallback;

	spin_lock_bh(&cep->lock);
	if (cep->state != IWM_CEP_CONNECTING) {
		spin_unlock_bh(&cep->lock);
		return -ECONNABORTED;
	}
	fallback = cep->fallback;
	cep->fallback = NULL;
	if (!cep->gone)
		cep_cancel(cep);	/* see iwm_cep_watch() */
	status = deliver_reply(cep, status, peer, agreed, pd);
	if (status) {
		cep_close_and_unlock(cep);
	} else {
		cep->state = IWM_CEP_CONNECTED;
		spin_unlock_bh(&cep->lock);
	}
	if (status == -ECONNREFUSED && peer)
		warn_rejected(cep, fallback, peer);
	iwm_cep_free_fallback(fallback);
	return status;
}

/*
 * How long to wait for the next attempt, in ms. Counts the last. While the time
 * of a post runs, the work must look at it, too: see watch_post().
 */
static unsigned int hand_back_off(struct iwm_cep *cep)
{
	const struct iwm_qp *qp = cep->qp;
	bool watched = READ_ONCE(qp->posted_early) && qp->attr.timeout;

	lockdep_assert_held(&cep->lock);
	if (cep->tries < HAND_MAX_DOUBLINGS)
		cep->tries++;
	return min(1u << cep->tries, watched ? WATCH_MS : UINT_MAX);
}

/**
 * iwm_cep_retry() - an attempt to connect has failed: is there another?
 * @cep: endpoint
 * @status: negative errno of the failure; -ECONNRESET: the peer has closed in
 *	place of a Reply
 *
 * RFC 6581 section 10: a peer that knows only revision 1 closes so. A second
 * attempt follows with that revision, on a new connection. iw_cm's consumers
 * cannot require revision 2. In revision 1 they have to agree on the depths and
 * on the first message themselves.
 *
 * When a QP is connected by hand, its peer may not be ready yet. Attempts follow
 * after any failure.
 *
 * Context: any. Return: whether there is another attempt, which also ends with
 * this function, iwm_cep_reply() or iwm_cep_closed().
 */
bool iwm_cep_retry(struct iwm_cep *cep, int status)
{
	unsigned int delay = 0;
	bool retry;

	spin_lock_bh(&cep->lock);
	retry = cep->state == IWM_CEP_CONNECTING && !cep->gone &&
		(cep->by_hand || (cep->fallback && status == -ECONNRESET));
	cep->retry = retry;
	if (retry && cep->by_hand)
		delay = hand_back_off(cep);
	spin_unlock_bh(&cep->lock);
	if (retry)
		iwm_cep_queue(cep, delay);
	return retry;
}

/**
 * iwm_cep_refuse() - note why the peer's Reply is refused
 * @cep: endpoint
 * @status: negative errno for the consumer; iwm_cep_closed() reports it once
 *	the Terminate is sent
 * @peer: the offer in the Reply
 *
 * Context: any.
 */
void iwm_cep_refuse(struct iwm_cep *cep, int status,
		    const struct mpa_offer *peer)
{
	spin_lock_bh(&cep->lock);
	cep->status = status;
	cep->peer = *peer;
	cep->peer.pd_len = 0;
	spin_unlock_bh(&cep->lock);
}

/**
 * iwm_cep_closed() - the connection has ended
 * @cep: endpoint
 * @status: 0 for an orderly end, else a negative errno
 *
 * Delivers the event that is due, if any; later calls do nothing.
 * Context: any that does not hold qp->lock.
 */
void iwm_cep_closed(struct iwm_cep *cep, int status)
{
	spin_lock_bh(&cep->lock);
	switch (cep->state) {
	case IWM_CEP_CONNECTING:
		if (cep->status)
			deliver_reply(cep, cep->status, &cep->peer, NULL, NULL);
		else
			deliver_reply(cep, status ? status : -ECONNRESET, NULL,
				      NULL, NULL);
		break;
	case IWM_CEP_CONNECTED:
		deliver_close(cep, status);
		break;
	case IWM_CEP_ACCEPTING:
		/* iwm_cep_accepted() reports it after ESTABLISHED. */
		cep->closed = true;
		cep->status = status;
		fallthrough;
	default:
		spin_unlock_bh(&cep->lock);
		return;
	}
	cep_close_and_unlock(cep);
}

/* ---- Requests ---- */

/*
 * Take a request out of state @from: the caller gets its connection and the
 * decision's reference. The work has nothing to do any more, unless the device
 * is gone.
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
		if (!cep->gone)
			cep_cancel(cep);
	}
	spin_unlock_bh(&cep->lock);
	return conn;
}

/* The same by iw_cm's number of the request; NULL when it was dropped. */
struct iwm_cep *iwm_cep_find_request(const struct iw_cm_id *id,
				     enum cep_state to, struct mpa_conn **conn)
{
	struct iwm_cep *cep = cep_find((unsigned long)id->provider_data);

	if (!cep)
		return NULL;
	*conn = take_request(cep, IWM_CEP_REQUEST, to);
	iwm_cep_put(cep);
	return *conn ? cep : NULL;
}

/* Drop a request whose connection has ended or whose deadline has passed. */
void iwm_cep_drop_request(struct iwm_cep *cep)
{
	struct mpa_conn *conn = take_request(cep, IWM_CEP_REQUEST,
					     IWM_CEP_CLOSED);

	if (!conn)
		return;
	mpa_destroy(conn);
	iwm_cep_put(cep);
}

void iwm_cep_refuse_request(struct iwm_cep *cep)
{
	struct mpa_conn *conn = take_request(cep, IWM_CEP_REFUSED,
					     IWM_CEP_CLOSED);

	if (!conn)
		return;
	mpa_reject(conn, NULL, 0);
	mpa_destroy(conn);
	iwm_cep_put(cep);
}

/* The QP with a reference while it is CONNECTING, or NULL. */
static struct iwm_qp *connecting_qp(struct iwm_cep *cep)
{
	lockdep_assert_held(&cep->lock);
	if (cep->state != IWM_CEP_CONNECTING || cep->gone)
		return NULL;
	kref_get(&cep->qp->ref);
	return cep->qp;
}

/* The same if another attempt is due, which the caller makes. */
static struct iwm_qp *take_retry(struct iwm_cep *cep)
{
	bool retry = cep->retry;

	lockdep_assert_held(&cep->lock);
	cep->retry = false;
	return retry ? connecting_qp(cep) : NULL;
}

/* Take the second attempt, if one is due. */
struct cep_fallback *iwm_cep_take_fallback(struct iwm_cep *cep,
					   struct iwm_qp **qp)
{
	struct cep_fallback *fallback = NULL;

	spin_lock_bh(&cep->lock);
	*qp = take_retry(cep);
	if (*qp) {
		fallback = cep->fallback;
		cep->fallback = NULL;
	}
	spin_unlock_bh(&cep->lock);
	return fallback;
}

void iwm_cep_look_after_device(struct iwm_cep *cep)
{
	bool going = iwm_dev_going(cep->dev), connecting;

	spin_lock_bh(&cep->lock);
	connecting = cep->state == IWM_CEP_CONNECTING && !cep->gone;
	if (connecting && going)
		cep->gone = true;
	spin_unlock_bh(&cep->lock);
	if (connecting && !going)
		iwm_cep_watch(cep);
}

/* The QP with a reference, if the device is being removed; or NULL. */
struct iwm_qp *iwm_cep_gone_qp(struct iwm_cep *cep)
{
	struct iwm_qp *qp = NULL;

	spin_lock_bh(&cep->lock);
	if (cep->gone && cep->qp) {
		qp = cep->qp;
		kref_get(&qp->ref);
	}
	spin_unlock_bh(&cep->lock);
	return qp;
}

/* The connection has ended before the decision. */
static void undecided_closed(void *consumer, enum mpa_error err, int status)
{
	iwm_cep_queue(consumer, 0);
}

/* MPA calls nothing else before the decision. */
static const struct mpa_consumer_ops undecided_ops = {
	.closed = undecided_closed,
};

static int deliver_request(struct iwm_cep *cep, struct iw_cm_id *listen_id,
			   const struct cep_request *req)
{
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.local_addr = req->local,
		.remote_addr = req->remote,
		.provider_data = (void *)cep->index,
	};

	event_set_pd(&event, req->pd, cep->peer.pd_len);
	event_set_depths(&event, cep->peer.ird, cep->peer.ord);
	return listen_id->event_handler(listen_id, &event);
}

/*
 * Report the request to iw_cm. From then on a caller that waits for the socket
 * lock, which is held here, may decide on it or drop it at any time.
 */
int iwm_cep_offer(struct iw_cm_id *listen_id, const struct cep_request *req,
		  work_func_t work)
{
	struct iwm_dev *dev = to_iwm_dev(listen_id->device);
	bool fits = !check_private_data(dev, req->peer);
	struct iwm_cep *cep;
	int ret;

	cep = iwm_cep_alloc(dev, fits ? IWM_CEP_REQUEST : IWM_CEP_REFUSED, work,
			    GFP_ATOMIC);
	if (!cep)
		return -ENOMEM;
	cep->peer = *req->peer;
	mpa_conn_set_consumer(req->conn, &undecided_ops, cep);
	spin_lock_bh(&cep->lock);
	cep->conn = req->conn;
	spin_unlock_bh(&cep->lock);
	iwm_cep_queue(cep, fits ? DECIDE_MAX_MS : 0);
	if (!fits)
		return 0;
	ret = deliver_request(cep, listen_id, req);
	if (!ret || !take_request(cep, IWM_CEP_REQUEST, IWM_CEP_CLOSED))
		return 0;
	/* On an error MPA drops the connection, without another upcall. */
	iwm_cep_put(cep);
	return ret;
}

/* The Reply is sent; the connection may have ended already. */
void iwm_cep_accepted(struct iwm_cep *cep, const struct mpa_agreed *agreed)
{
	spin_lock_bh(&cep->lock);
	deliver_established(cep, agreed);
	cep->state = IWM_CEP_CONNECTED;
	if (cep->gone)		/* the work may have run before there was a QP */
		iwm_cep_queue(cep, 0);
	if (!cep->closed) {
		spin_unlock_bh(&cep->lock);
		return;
	}
	deliver_close(cep, cep->status);
	cep_close_and_unlock(cep);
}

/* ---- Queue pairs that are connected by hand ---- */

/**
 * iwm_cep_take_peer() - the Request of the QP's peer has arrived
 * @cep: endpoint of the Responder
 * @conn: undecided connection; on success the cep owns it
 * @peer: the offer in the Request
 *
 * Context: request upcall.
 * Return: 0: the work will answer; -EBUSY: the QP does not wait for a peer.
 */
int iwm_cep_take_peer(struct iwm_cep *cep, struct mpa_conn *conn,
		      const struct mpa_offer *peer)
{
	bool taken;

	spin_lock_bh(&cep->lock);
	taken = cep->state == IWM_CEP_CONNECTING && !cep->gone && !cep->conn;
	if (taken) {
		cep->conn = conn;
		cep->peer = *peer;
		mpa_conn_set_consumer(conn, &undecided_ops, cep);
	}
	spin_unlock_bh(&cep->lock);
	if (!taken)
		return -EBUSY;
	iwm_cep_queue(cep, 0);
	return 0;
}

/*
 * Take the peer's connection, for the work. *qp is set to the QP, with a
 * reference; it is NULL when the QP does not wait for a peer any more. When there
 * is a QP, iwm_cep_accepted() or iwm_cep_answer_failed() must follow.
 */
struct mpa_conn *iwm_cep_begin_answer(struct iwm_cep *cep, struct iwm_qp **qp)
{
	struct mpa_conn *conn;

	spin_lock_bh(&cep->lock);
	conn = cep->conn;
	cep->conn = NULL;
	*qp = conn ? connecting_qp(cep) : NULL;
	if (*qp)
		cep->state = IWM_CEP_ACCEPTING;
	spin_unlock_bh(&cep->lock);
	return conn;
}

/*
 * The accept has failed: wait for the peer's next Request, unless modify_qp has
 * failed, too, and closed the cep.
 */
void iwm_cep_answer_failed(struct iwm_cep *cep)
{
	spin_lock_bh(&cep->lock);
	if (cep->closed) {
		cep_close_and_unlock(cep);
		return;
	}
	if (cep->state == IWM_CEP_ACCEPTING)
		cep->state = IWM_CEP_CONNECTING;
	spin_unlock_bh(&cep->lock);
}

struct iwm_qp *iwm_cep_connecting_qp(struct iwm_cep *cep)
{
	struct iwm_qp *qp;

	spin_lock_bh(&cep->lock);
	qp = connecting_qp(cep);
	spin_unlock_bh(&cep->lock);
	return qp;
}

struct iwm_qp *iwm_cep_retry_qp(struct iwm_cep *cep)
{
	struct iwm_qp *qp;

	spin_lock_bh(&cep->lock);
	qp = take_retry(cep);
	spin_unlock_bh(&cep->lock);
	return qp;
}

/* ---- The removal of a device ---- */

/**
 * iwm_cep_dev_gone() - begin to end a device's connections
 * @dev: device whose netdev is being unregistered
 *
 * Resets pending and established connections and drops undecided requests,
 * asynchronously.
 *
 * Context: any, also under rtnl.
 */
void iwm_cep_dev_gone(struct iwm_dev *dev)
{
	unsigned long index = 0;
	struct iwm_cep *cep;

	for (; (cep = cep_next(&index)); index++) {
		if (cep->dev == dev) {
			spin_lock_bh(&cep->lock);
			cep->gone = true;
			spin_unlock_bh(&cep->lock);
			iwm_cep_queue(cep, 0);
		}
		iwm_cep_put(cep);
	}
}

/**
 * iwm_cep_dev_exit() - end a device's connections, and wait for that
 * @dev: device without QPs and listeners: it may have undecided requests
 *
 * Context: process, may sleep.
 */
void iwm_cep_dev_exit(struct iwm_dev *dev)
{
	might_sleep();
	iwm_cep_dev_gone(dev);
	wait_event(ceps_wait, !atomic_read(&dev->num_ceps));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Connection management: iw_cm's connect, accept and reject, and the parameters
 * that startup negotiates.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/rdma_cm.h>
#include <mpa/negotiate.h>
#include "cep.h"
#include "cm.h"
#include "cm_addr.h"
#include "netdev.h"
#include "settings.h"
#include "qp_conn.h"
#include "qp_end.h"
#include "qp_ref.h"

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

/*
 * Counters of startups. Several devices share a listener, so a connection
 * counts for a device only after accept.
 */
DEFINE_PER_CPU(struct mpa_mib, iwm_listen_mib);

const struct mpa_params iwm_cm_listen_params = {
	.max_rev = MPA_REV_ENHANCED,
	/* is_served() checks the settings of the device for revision 0. */
	.own_settings = true,
	.settings = { .crc = true, .rdmac = true },
	.ird = IWM_MAX_IRD,
	.ord = IWM_MAX_ORD,
};

/* rdma_cm sets the TOS of ids that connect or listen, not of accepting ones. */
u8 iwm_cm_tos(const struct iw_cm_id *id)
{
	return id->tos_set ? id->tos : 0;
}

/* Parameters for both connect and accept. */
void iwm_cm_params(struct mpa_params *params, const struct iwm_qp *qp)
{
	*params = iwm_cm_listen_params;
	params->settings = iwm_settings(qp->dev);
	params->account = qp->user;
}

static void connect_params(struct mpa_params *params, const struct iwm_qp *qp,
			   const struct iw_cm_id *id,
			   const struct iw_cm_conn_param *param)
{
	iwm_cm_params(params, qp);
	params->tos = iwm_cm_tos(id);
	params->p2p = true;	/* either side may send first */
	params->memalloc = !qp->user;	/* a kernel Initiator is storage */
	params->ird = param->ird;
	params->ord = param->ord;
}

/* The Initiator's IRD limits our outstanding Reads. */
static void accept_params(struct mpa_params *params, const struct iwm_qp *qp,
			  const struct iw_cm_conn_param *param,
			  const struct mpa_offer *peer)
{
	iwm_cm_params(params, qp);
	params->ird = param->ird;
	params->ord = min_t(u32, param->ord, peer->ird);
	/*
	 * The RTR may be a Read, which needs a place: RFC 6581 section 9.1.
	 * Some RNICs send one also where the RFC has none, in revision 1.
	 */
	if (!params->ird && (peer->rtr & MPA_RTR_READ || !peer->enhanced))
		params->ird = 1;
}

/*
 * The namespace of an id's owner, or NULL. An iw_cm id does not have it, but
 * iw_cm's only consumer is rdma_cm, whose context begins with a struct
 * rdma_cm_id.
 */
static struct net *owner_net(const struct iw_cm_id *id)
{
	const struct rdma_cm_id *owner = id->context;

	return owner ? owner->route.addr.dev_addr.net : NULL;
}

/*
 * Does the id's owner live in a namespace other than @net? With RDMA devices
 * shared by all namespaces that is possible.
 */
bool iwm_cm_is_foreign(const struct iw_cm_id *id, const struct net *net)
{
	const struct net *owner = owner_net(id);

	return owner && !net_eq(owner, net);
}

/* Is the id's port one of TCP's? rdma_cm's other port spaces ignore TCP's. */
bool iwm_cm_is_tcp(const struct iw_cm_id *id)
{
	const struct rdma_cm_id *owner = id->context;

	return !owner || owner->ps == RDMA_PS_TCP;
}

/* ---- QPs ---- */

/*
 * QP numbers can be guessed. rdma_cm does not know the QP of a user's id, so it
 * does not check the number; it knows that of a kernel consumer's id
 * (rdma_create_qp()).
 */
static bool may_connect(const struct iw_cm_id *id, const struct iwm_qp *qp)
{
	const struct rdma_cm_id *owner = id->context;

	if (qp->owner)
		return qp->owner == task_tgid(current);
	return owner && owner->qp == &qp->ibqp;
}

/*
 * The QP that a consumer has named, with a reference. Context: the consumer's
 * own process.
 */
static struct iwm_qp *consumer_qp(struct iwm_dev *dev,
				  const struct iw_cm_id *id, u32 qpn)
{
	struct iwm_qp *qp = iwm_qp_get(dev, qpn);

	if (!qp)
		return ERR_PTR(-EINVAL);
	if (may_connect(id, qp))
		return qp;
	iwm_qp_put(qp);
	ibdev_warn_ratelimited(&dev->ibdev,
			       "%s[%d] may not connect QP %u: it is not its own\n",
			       current->comm, task_tgid_nr(current), qpn);
	return ERR_PTR(-EPERM);
}

/* ---- Work of ceps ---- */

/*
 * The second Request is RFC 5044's: a peer may have closed because of a bit
 * that is reserved there, S or that of large FPDUs.
 */
static void make_plain(struct iwm_cep *cep, struct mpa_attempt *attempt)
{
	attempt->params.max_rev = MPA_REV_IETF;
	if (attempt->params.settings.large != MPA_LARGE_AGREED)
		return;
	attempt->params.settings.large = MPA_LARGE_NEVER;
	ibdev_warn_ratelimited(&cep->dev->ibdev,
			       "%pISpc closed in place of a Reply: connecting again with revision 1, without the reserved bit of large_fpdus=agreed\n",
			       &attempt->remote);
}

static void fallback_connect(struct iwm_cep *cep)
{
	struct cep_fallback *fallback;
	struct iwm_caller_saved saved;
	struct iwm_qp *qp;
	int ret;

	fallback = iwm_cep_take_fallback(cep, &qp);
	if (!fallback)
		return;
	iwm_count(cep->dev, IWM_STAT_CM_FALLBACKS);
	make_plain(cep, &fallback->attempt);
	saved = iwm_caller_begin(&fallback->caller);
	ret = iwm_qp_fallback(qp, cep, &fallback->attempt);
	iwm_caller_end(&saved);
	if (ret)
		iwm_cep_closed(cep, ret);
	iwm_qp_put(qp);
	iwm_cep_free_fallback(fallback);
}

/* End the connection if the device is being removed. */
void iwm_cm_end_gone(struct iwm_cep *cep)
{
	struct iwm_qp *qp = iwm_cep_gone_qp(cep);

	if (!qp)
		return;
	iwm_qp_disconnect(qp, true, -ENETDOWN);
	iwm_qp_put(qp);
}

/* A cep's work: each step checks whether it is due. Holds a reference. */
void iwm_cm_work(struct work_struct *work)
{
	struct iwm_cep *cep = container_of(to_delayed_work(work),
					   struct iwm_cep, work);

	iwm_cep_drop_request(cep);
	iwm_cep_refuse_request(cep);
	fallback_connect(cep);
	iwm_cep_look_after_device(cep);
	iwm_cm_end_gone(cep);
	iwm_cep_put(cep);
}

/* ---- Initiator ---- */

/*
 * The namespace to connect in. For a loopback address rdma_cm takes the first
 * device that it finds, in any namespace, but the address belongs to the
 * owner's namespace. Otherwise the owner's and the device's namespace are the
 * same, unless a netdev of the owner's has the same link address as the
 * device's netdev: rdma_cm finds devices by that.
 */
static struct net *connect_net(struct iwm_dev *dev, const struct iw_cm_id *id)
{
	struct net *net = owner_net(id);

	if (net && iwm_addr_is_loopback(&id->remote_addr))
		return get_net(net);
	net = iwm_dev_net(dev);
	if (!net)
		return ERR_PTR(-ENODEV);
	if (!iwm_cm_is_foreign(id, net))
		return net;
	put_net(net);
	ibdev_warn_ratelimited(&dev->ibdev,
			       "no connect to %pISpc: it was asked for in another network namespace than the netdev's\n",
			       &id->remote_addr);
	return ERR_PTR(-ENETUNREACH);
}

/*
 * Store what a second attempt needs: see iwm_cep_fallback(). Takes over
 * @first's reference to the namespace.
 */
static int prepare_fallback(struct iwm_cep *cep,
			    const struct mpa_attempt *first)
{
	struct cep_fallback *fallback;

	fallback = kmalloc(struct_size(fallback, pd, first->pd_len),
			   iwm_gfp(first->params.account));
	if (!fallback) {
		put_net(first->net);
		return -ENOMEM;
	}
	iwm_caller_note(&fallback->caller, first->params.account);
	fallback->attempt = *first;
	mpa_addr_set_port(&fallback->attempt.local, 0);
	fallback->attempt.pd = fallback->pd;
	memcpy(fallback->pd, first->pd, first->pd_len);
	cep->fallback = fallback;
	return 0;
}

/*
 * What storage is told when TCP does not connect. SunRPC waits and repeats a
 * connect that was refused, but takes these errors for the result of the I/O,
 * which then fails, even on a hard mount. Programs get the reason.
 */
static int storage_error(int ret)
{
	switch (ret) {
	case -EPERM:		/* a BPF program, a policy of IPsec */
	case -EACCES:		/* a route that prohibits it */
	case -EADDRNOTAVAIL:	/* no such address any more, or no free port */
		return -ECONNREFUSED;
	default:
		return ret;
	}
}

/*
 * rdma_cm's port space is separate from TCP's, so the port that rdma_cm has
 * chosen may be in use by TCP. Then bind() or connect() fails, and any other
 * port will do.
 *
 * The addresses are the consumer's, not those of iw_cm's port mapper
 * (m_remote_addr): any user can send messages as the port mapper does.
 */
static int connect_qp(struct iwm_qp *qp, struct iwm_cep *cep,
		      struct iw_cm_id *id,
		      const struct iw_cm_conn_param *param)
{
	struct mpa_attempt attempt = {
		.net = connect_net(qp->dev, id),
		.local = id->local_addr,
		.remote = id->remote_addr,
		.pd = param->private_data,
		.pd_len = param->private_data_len,
	};
	int ret, tries = 2;

	if (IS_ERR(attempt.net))
		return PTR_ERR(attempt.net);
	connect_params(&attempt.params, qp, id, param);
	attempt.params.vrf = iwm_addr_vrf(qp->dev, attempt.net,
					  &attempt.local);
	ret = prepare_fallback(cep, &attempt);
	if (ret)
		return ret;
	do {
		ret = iwm_qp_connect(qp, cep, &attempt);
		mpa_addr_set_port(&attempt.local, 0);
	} while (--tries && (ret == -EADDRINUSE || ret == -EADDRNOTAVAIL));
	return qp->user ? ret : storage_error(ret);
}

/**
 * iwm_cm_connect() - ib_device_ops.iw_connect
 * @id: with local and remote address
 * @param: QP number, Private Data (up to 508 octets), IRD and ORD
 *
 * Context: process, may sleep, does not wait for the network.
 * Return: 0: CONNECT_REPLY follows; -EINVAL for depths over the limits or no
 * such QP, -EPERM for another owner's QP, -EMSGSIZE for too much Private Data,
 * -ENETUNREACH in a namespace other than the device's, or another errno. A
 * kernel consumer gets -ECONNREFUSED also when this machine does not let TCP
 * connect.
 */
int iwm_cm_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct iwm_dev *dev = to_iwm_dev(id->device);
	struct iwm_cep *cep;
	unsigned int noio;
	struct iwm_qp *qp;
	int ret;

	might_sleep();
	ret = check_depths(dev, param);
	if (ret)
		return ret;
	qp = consumer_qp(dev, id, param->qpn);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	/* Memory reclaim may be waiting for this connection. */
	noio = memalloc_noio_save();
	cep = iwm_cep_alloc(dev, IWM_CEP_CONNECTING, iwm_cm_work,
			    iwm_gfp(qp->user));
	if (!cep) {
		ret = -ENOMEM;
		goto out_put_qp;
	}
	iwm_cep_bind(cep, id, qp);
	ret = connect_qp(qp, cep, id, param);
	if (ret)
		iwm_cep_close(cep);
	else
		iwm_cep_watch(cep);
	iwm_cep_put(cep);
out_put_qp:
	memalloc_noio_restore(noio);
	iwm_qp_put(qp);
	return ret;
}

/* ---- Responder ---- */

static int accept_on_qp(struct iwm_cep *cep, struct mpa_conn *conn,
			struct iwm_qp *qp, struct iw_cm_id *id,
			const struct iw_cm_conn_param *param)
{
	struct mpa_answer answer = {
		.pd = param->private_data,
		.pd_len = param->private_data_len,
	};
	unsigned int noio;
	int ret;

	accept_params(&answer.params, qp, param, &cep->peer);
	iwm_cep_bind(cep, id, qp);
	/*
	 * The caller may be iw_cm's only worker. Storage that connects to write
	 * memory out waits for an event that the worker delivers after this.
	 */
	noio = memalloc_noio_save();
	ret = iwm_qp_accept(qp, cep, conn, &answer);
	memalloc_noio_restore(noio);
	if (ret)
		iwm_cep_close(cep);
	else
		iwm_cep_accepted(cep, &qp->agreed);
	return ret;
}

static int refuse_and_close(struct mpa_conn *conn, const void *pd, u8 pd_len)
{
	unsigned int noio = memalloc_noio_save();	/* as accept_on_qp() */
	int ret = mpa_reject(conn, pd, pd_len);

	mpa_destroy(conn);
	memalloc_noio_restore(noio);
	return ret;
}

/**
 * iwm_cm_accept() - ib_device_ops.iw_accept
 * @id: of a CONNECT_REQUEST
 * @param: QP number, Private Data, IRD and ORD
 *
 * Context: process, may sleep; takes the socket lock.
 * Return: 0: ESTABLISHED follows; else the peer is refused: -ECONNRESET when
 * the connection had ended before, -EINVAL for depths over the limits or no such
 * QP, -EPERM for another owner's QP, -EMSGSIZE for too much Private Data, or
 * another errno.
 */
int iwm_cm_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct iwm_dev *dev = to_iwm_dev(id->device);
	struct mpa_conn *conn;
	struct iwm_cep *cep;
	struct iwm_qp *qp;
	int ret;

	might_sleep();
	cep = iwm_cep_find_request(id, IWM_CEP_ACCEPTING, &conn);
	if (!cep)
		return -ECONNRESET;
	ret = check_depths(dev, param);
	if (ret)
		goto out;
	qp = consumer_qp(dev, id, param->qpn);
	ret = PTR_ERR_OR_ZERO(qp);
	if (ret)
		goto out;
	ret = accept_on_qp(cep, conn, qp, id, param);
	iwm_qp_put(qp);
out:
	if (ret) {
		iwm_cep_close(cep);
		/* A reset would make the peer try revision 1 (RFC 6581 10). */
		refuse_and_close(conn, NULL, 0);
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
 * Return: 0, -ECONNRESET when the connection had ended before, or another
 * errno.
 */
int iwm_cm_reject(struct iw_cm_id *id, const void *pd, u8 pd_len)
{
	struct mpa_conn *conn;
	struct iwm_cep *cep;
	int ret;

	might_sleep();
	cep = iwm_cep_find_request(id, IWM_CEP_CLOSED, &conn);
	if (!cep)
		return -ECONNRESET;
	ret = refuse_and_close(conn, pd, pd_len);
	iwm_cep_put(cep);
	return ret;
}

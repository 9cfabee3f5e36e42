// SPDX-License-Identifier: GPL-2.0
/*
 * References to queue pairs, and lookup by number.
 */
#include "qp_ref.h"

static void qp_last_put(struct kref *ref)
{
	struct iwm_qp *qp = container_of(ref, struct iwm_qp, ref);

	complete(&qp->freed);
}

void iwm_qp_put(struct iwm_qp *qp)
{
	kref_put(&qp->ref, qp_last_put);
}

/**
 * iwm_qp_hold() - take a reference to a queue pair
 * @qp: queue pair whose memory is valid
 *
 * Context: any.
 * Return: false when iwm_destroy_qp() waits for no reference any more.
 */
bool iwm_qp_hold(struct iwm_qp *qp)
{
	return kref_get_unless_zero(&qp->ref);
}

/**
 * iwm_qp_get() - find a queue pair by number
 * @dev: device
 * @qpn: QP number
 *
 * Context: any. Return: the QP with a reference for iwm_qp_put(), or NULL.
 */
struct iwm_qp *iwm_qp_get(struct iwm_dev *dev, u32 qpn)
{
	unsigned long flags;
	struct iwm_qp *qp;

	xa_lock_irqsave(&dev->qps, flags);
	qp = xa_load(&dev->qps, qpn);
	if (qp && !iwm_qp_hold(qp))
		qp = NULL;
	xa_unlock_irqrestore(&dev->qps, flags);
	return qp;
}

/*
 * ib_device_ops.iw_get_qp, .iw_add_ref and .iw_rem_ref. iw_cm looks up a QP
 * with iw_get_qp and then takes a reference with iw_add_ref, but the QP could
 * be destroyed in between. So iw_get_qp takes the reference, and one iw_add_ref
 * for each lookup takes none.
 */
struct ib_qp *iwm_iw_get_qp(struct ib_device *ibdev, int qpn)
{
	struct iwm_qp *qp = iwm_qp_get(to_iwm_dev(ibdev), qpn);

	if (!qp)
		return NULL;
	atomic_inc(&qp->lookups);
	return &qp->ibqp;
}

void iwm_iw_add_ref(struct ib_qp *ibqp)
{
	struct iwm_qp *qp = to_iwm_qp(ibqp);

	if (atomic_dec_if_positive(&qp->lookups) < 0)
		kref_get(&qp->ref);
}

void iwm_iw_rem_ref(struct ib_qp *ibqp)
{
	iwm_qp_put(to_iwm_qp(ibqp));
}

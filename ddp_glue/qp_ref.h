/* SPDX-License-Identifier: GPL-2.0 */
/* References to queue pairs, and lookup by number. */
#ifndef DDP_GLUE_QP_REF_H
#define DDP_GLUE_QP_REF_H

#include "types.h"

/* The connection with a reference, or NULL. Context: any. */
static inline struct mpa_conn *iwm_qp_conn_get(struct iwm_qp *qp)
{
	struct mpa_conn *conn;

	spin_lock_bh(&qp->lock);
	conn = qp->conn;
	if (conn)
		mpa_conn_get(conn);
	spin_unlock_bh(&qp->lock);
	return conn;
}

bool iwm_qp_hold(struct iwm_qp *qp);
struct iwm_qp *iwm_qp_get(struct iwm_dev *dev, u32 qpn);
void iwm_qp_put(struct iwm_qp *qp);
void iwm_iw_add_ref(struct ib_qp *ibqp);
void iwm_iw_rem_ref(struct ib_qp *ibqp);
struct ib_qp *iwm_iw_get_qp(struct ib_device *ibdev, int qpn);

#endif /* DDP_GLUE_QP_REF_H */

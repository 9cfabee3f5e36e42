/* SPDX-License-Identifier: GPL-2.0 */
/* Completion queues (cq.c) and notification (notify.c). */
#ifndef DDP_GLUE_CQ_H
#define DDP_GLUE_CQ_H

#include "types.h"

/**
 * struct iwm_wc - a completion in host terms, translated when it is queued
 */
struct iwm_wc {
	u64 id;
	enum siw_opcode opcode;
	enum siw_wc_status status;
	u32 bytes;
	u32 inval_stag;
	bool invalidated;		/* @inval_stag is valid */
	bool solicited;
	bool posting;			/* completed within ib_post_send() */
};

/* Does the newest completion wait to be polled? A hint; any context. */
static inline bool iwm_cq_unpolled(const struct iwm_cq *cq)
{
	u32 last = (READ_ONCE(cq->put) - 1) & (cq->num_cqe - 1);

	return READ_ONCE(cq->ring[last].flags) & SIW_WQE_VALID;
}

bool iwm_cq_add(struct iwm_cq *cq, struct iwm_qp *qp, const struct iwm_wc *wc);
void iwm_cq_forget(struct iwm_cq *cq, const struct iwm_qp *qp);
int iwm_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct iwm_cq_attrs *attrs);
int iwm_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int iwm_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc);
int iwm_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata);
int iwm_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

/* notify.c */
void iwm_notify_init(struct iwm_cq *cq);
int iwm_notify_stop(struct ib_cq *ibcq);
bool iwm_notify_due(struct iwm_cq *cq, const struct iwm_wc *wc);
void iwm_notify(struct iwm_cq *cq, bool posting);
int iwm_modify_cq(struct ib_cq *ibcq, u16 count, u16 usec);

#endif /* DDP_GLUE_CQ_H */

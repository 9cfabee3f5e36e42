/* SPDX-License-Identifier: GPL-2.0 */
/* The receive side of a queue pair. */
#ifndef DDP_GLUE_RECV_H
#define DDP_GLUE_RECV_H

#include "types.h"

/**
 * struct iwm_rx - receive state of a QP
 * @pd: protection domain of receive work requests: the SRQ's, or the QP's
 * @msn: next Message Sequence Number of each untagged queue
 * @bound: @rwr belongs to the Send that is being received
 * @rwr: its receive work request
 * @mo: octets of it that have been placed
 * @sge: index of the element for the next octet
 * @sge_off: octets of that element that are filled
 * @read_done: octets of the oldest outstanding Read that have been placed
 * @segments: segments received so far
 * @write_right: right that memory must grant for the peer's Writes
 * @read_right: right that memory must grant for the peer's Reads
 * @mr: region that was used last, within one pass over TCP's queue
 */
struct iwm_rx {
	struct ib_pd *pd;
	u32 msn[RDMAP_NUM_QUEUES];
	bool bound;
	struct iwm_rwr rwr;
	u32 mo;
	u32 sge;
	u32 sge_off;
	u32 read_done;
	u64 segments;
	int write_right;
	int read_right;
	struct iwm_mr *mr;
};

int iwm_rx_create(struct iwm_qp *qp);
void iwm_rx_destroy(struct iwm_qp *qp);
void iwm_rx_set_rights(struct iwm_qp *qp);
u64 iwm_rx_segments(const struct iwm_qp *qp);
int iwm_receive(struct iwm_qp *qp, struct mpa_cursor *cur, u32 len);
int iwm_place_early(struct iwm_qp *qp, struct mpa_cursor *cur, u32 len,
		    u8 *hdr);
void iwm_receive_done(void *consumer);
void iwm_rx_flush(struct iwm_qp *qp);

/* recv_quick.c: the fast path, tried first */
bool iwm_receive_quick(struct iwm_qp *qp, struct mpa_cursor *cur, u32 len);

#endif /* DDP_GLUE_RECV_H */

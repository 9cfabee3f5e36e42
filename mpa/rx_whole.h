/* SPDX-License-Identifier: GPL-2.0 */
/*
 * FPDUs that lie in one piece of TCP's queue.
 */
#ifndef MPA_RX_WHOLE_H
#define MPA_RX_WHOLE_H

#include <linux/types.h>
#include "cursor.h"
#include "rx.h"

struct mpa_conn;

/**
 * struct mpa_delivery - FPDUs on their way to the consumer, in one pass
 * @conn: connection
 * @cur: at the FPDU whose turn it is
 * @avail: octets of the stream that were queued when the pass began
 * @budget: octets after which to stop, MPA_FPDU_COST for each FPDU included
 * @done: octets delivered
 * @fpdus: FPDUs delivered
 * @err: error of the FPDU at @cur
 */
struct mpa_delivery {
	struct mpa_conn *conn;
	struct mpa_cursor cur;
	u32 avail;
	u32 budget;
	u32 done;
	u32 fpdus;
	enum mpa_error err;
};

/* Is the budget used up? */
static inline bool mpa_delivery_is_over(const struct mpa_delivery *pass)
{
	return pass->done + pass->fpdus * MPA_FPDU_COST >= pass->budget;
}

int mpa_whole_deliver(struct mpa_delivery *pass);

#endif /* MPA_RX_WHOLE_H */

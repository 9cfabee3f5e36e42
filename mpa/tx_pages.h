/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transmit: the pages that a connection writes its FPDUs to.
 */
#ifndef MPA_TX_PAGES_H
#define MPA_TX_PAGES_H

#include <linux/mm.h>
#include <linux/types.h>
#include "tx_plan.h"

struct mem_cgroup;
struct mpa_conn;
struct mpa_tx;
struct page;

/* A chunk has 32 KiB: TCP holds all of it for one octet. Or one larger page. */
#define MPA_TX_CHUNK_ORDER	(PAGE_SHIFT < 15 ? 15 - PAGE_SHIFT : 0)
#define MPA_TX_RING		32	/* chunks kept for reuse */
#define MPA_TX_RING_PROGRAM	4	/* on a program's socket */
#define MPA_TX_PIECES		20	/* of one FPDU, when chunks are pages */

/**
 * struct mpa_tx_ring - pages that FPDUs are written to
 * @slots: the most chunks that it keeps, 1..MPA_TX_RING
 * @used: the chunks that it has
 * @gfp: flags for their allocation
 * @memcg: the connection's cgroup, which is charged for them, or NULL
 * @atomic: the transmit owner may not sleep: mpa_tx_set_atomic()
 * @refused: the last allocation failed, or TCP's: mpa_tx_may_charge()
 * @slot: index of the chunk that is being written
 * @off: octets used of that chunk, the open FPDU's included
 * @mem: its address
 * @size: octets in it; 0: nothing has been written since the store was made
 * @chunk: in the store, in the order in which they were last entered, from
 *	the one behind @slot round to it. A chunk whose only reference is ours
 *	can be written again
 */
struct mpa_tx_ring {
	unsigned int slots;
	unsigned int used;
	gfp_t gfp;
	struct mem_cgroup *memcg;
	bool atomic;
	bool refused;
	unsigned int slot;
	u32 off;
	u32 size;
	u8 *mem;
	struct page **chunk;
};

/**
 * struct mpa_tx_store - memory that a transmitter needs only while it is busy
 * @piece: of mpa_tx_writer
 * @extent: of mpa_plan
 * @chunk: of mpa_tx_ring
 */
struct mpa_tx_store {
	struct mpa_extent piece[MPA_TX_PIECES];
	struct mpa_extent extent[MPA_PLAN_EXTENTS];
	struct page *chunk[MPA_TX_RING];
};

void mpa_tx_init_ring(struct mpa_conn *conn);
int mpa_tx_next_chunk(struct mpa_tx *tx);
bool mpa_tx_may_charge(struct mpa_tx *tx);
void mpa_tx_rewind(struct mpa_tx *tx, unsigned int n);
void mpa_tx_free_store(struct mpa_tx *tx);

#endif /* MPA_TX_PAGES_H */

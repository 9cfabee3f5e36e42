// SPDX-License-Identifier: GPL-2.0
/*
 * Transmit: the memory of FPDUs. Each connection has a ring of chunks, which
 * only it writes. TCP refers to the chunks until the peer has acknowledged their
 * octets; then they are written again. The first FPDU allocates the ring, and an
 * idle connection gives it back.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "conn.h"
#include "tx.h"
#include "tx_pages.h"

/* Set whose memory the ring uses, and how. Context: socket lock held. */
void mpa_tx_init_ring(struct mpa_conn *conn)
{
	struct mpa_tx_ring *ring = &conn->tx.ring;

	/* Storage may depend on this connection: no I/O to get memory. */
	ring->slots = conn->sock ? MPA_TX_RING : MPA_TX_RING_PROGRAM;
	ring->gfp = conn->sock ? GFP_NOIO : GFP_KERNEL;
	ring->memcg = conn->memcg;
	if (ring->memcg)
		ring->gfp |= __GFP_ACCOUNT;
	if (conn->params.memalloc)
		ring->gfp |= __GFP_MEMALLOC;
}

static bool chunk_is_free(struct page *page)
{
	return page && page_ref_count(page) == 1;
}

/* An owner that may not sleep takes free memory only, and no reserves. */
static gfp_t ring_gfp(const struct mpa_tx_ring *ring)
{
	return (ring->atomic ? GFP_NOWAIT : ring->gfp) | __GFP_NOWARN |
	       mpa_worker_gfp(ring->memcg);
}

/*
 * The cgroup is set here because the transmit owner may be a worker, for which
 * the kernel knows no process to charge. The first chunk is one page, which is
 * enough for connections that send little.
 */
static struct page *chunk_alloc(struct mpa_tx_ring *ring)
{
	struct mem_cgroup *active = set_active_memcg(ring->memcg);
	gfp_t gfp = ring_gfp(ring) | __GFP_COMP, large;
	struct page *page = NULL;

	/* A large chunk is optional: no retries, and no use of reserves. */
	large = gfp | __GFP_NORETRY;
	if (gfp & __GFP_MEMALLOC)
		large &= ~(__GFP_MEMALLOC | __GFP_DIRECT_RECLAIM);
	if (ring->size)
		page = alloc_pages(large, MPA_TX_CHUNK_ORDER);
	if (!page)
		page = alloc_pages(gfp, 0);
	set_active_memcg(active);
	ring->refused = !page;
	return page;
}

/* Called for the first chunk. Context: transmit owner. Return: 0 or -ENOMEM. */
static int store_create(struct mpa_conn *conn)
{
	struct mpa_tx *tx = &conn->tx;
	struct mem_cgroup *active = set_active_memcg(tx->ring.memcg);
	struct mpa_tx_store *store = kzalloc(sizeof(*store),
					     ring_gfp(&tx->ring));

	set_active_memcg(active);
	if (!store)
		return -ENOMEM;
	tx->writer.piece = store->piece;
	tx->plan.extent = store->extent;
	tx->ring.chunk = store->chunk;
	WRITE_ONCE(tx->store, store);
	tx->busy(conn);
	return 0;
}

/* Write to the chunk in @slot, from @off on. */
static void chunk_enter(struct mpa_tx_ring *ring, unsigned int slot, u32 off)
{
	struct page *page = ring->chunk[slot];

	ring->slot = slot;
	ring->off = off;
	ring->size = page_size(page);
	ring->mem = page_address(page);
}

/*
 * Put a new chunk before the one in @oldest, which follows the current one. A
 * full ring gives that one up. Return: the slot of the new chunk.
 */
static unsigned int ring_insert(struct mpa_tx_ring *ring, unsigned int oldest,
				struct page *page)
{
	unsigned int slot = ring->used ? ring->slot + 1 : 0;

	if (ring->used == ring->slots) {
		put_page(ring->chunk[oldest]);
		slot = oldest;
	} else {
		memmove(&ring->chunk[slot + 1], &ring->chunk[slot],
			(ring->used - slot) * sizeof(*ring->chunk));
		ring->used++;
	}
	ring->chunk[slot] = page;
	return slot;
}

/**
 * mpa_tx_next_chunk() - make another chunk the one to write to
 * @tx: transmitter; the rest of the current chunk stays unused
 *
 * The oldest chunk, if TCP has released it: the ring grows only while the peer
 * has more octets to acknowledge. But a busy connection gets a second chunk,
 * because the first is small.
 *
 * Context: transmit owner. Return: 0 or -ENOMEM.
 */
int mpa_tx_next_chunk(struct mpa_tx *tx)
{
	struct mpa_tx_ring *ring = &tx->ring;
	unsigned int oldest = 0;
	struct page *page;
	bool is_free;

	if (unlikely(!ring->chunk) &&
	    store_create(container_of(tx, struct mpa_conn, tx)))
		return -ENOMEM;
	if (ring->used)
		oldest = (ring->slot + 1) % ring->used;
	is_free = chunk_is_free(ring->chunk[oldest]);
	if (ring->used < 2 || !is_free) {
		page = chunk_alloc(ring);
		if (page)
			oldest = ring_insert(ring, oldest, page);
		else if (!is_free)
			return -ENOMEM;
	}
	chunk_enter(ring, oldest, 0);
	return 0;
}

/**
 * mpa_tx_may_charge() - may the transmit owner call TCP?
 * @tx: transmitter
 *
 * TCP charges a program's cgroup, and calls its OOM killer even for a worker. So
 * after a refusal a worker first allocates a chunk, and frees it again.
 *
 * Context: transmit owner. Return: whether the cgroup has memory, or the caller
 * is no worker of a program.
 */
bool mpa_tx_may_charge(struct mpa_tx *tx)
{
	struct mpa_tx_ring *ring = &tx->ring;
	struct page *page;

	if (likely(!ring->refused) || !mpa_worker_gfp(ring->memcg))
		return true;
	page = chunk_alloc(ring);
	if (page)
		put_page(page);
	return page;
}

/**
 * mpa_tx_rewind() - free the memory of a cancelled FPDU
 * @tx: transmitter
 * @n: pieces of the FPDU, from the first on, that have memory
 *
 * TCP keeps a whole chunk even for one octet in it. Does nothing if the FPDU
 * went round the ring. Context: transmit owner.
 */
void mpa_tx_rewind(struct mpa_tx *tx, unsigned int n)
{
	const struct mpa_extent *first = &tx->writer.piece[0];
	struct mpa_tx_ring *ring = &tx->ring;
	unsigned int slot;

	if (!n || n > ring->used)
		return;
	slot = (ring->slot + ring->used - (n - 1)) % ring->used;
	if (ring->chunk[slot] == first->page)
		chunk_enter(ring, slot, first->off);
}

/*
 * Give the ring back. No FPDU is open or waits for TCP, which has references to
 * the pages that it still uses. Context: transmit owner, or the last reference
 * to the connection is gone.
 */
void mpa_tx_free_store(struct mpa_tx *tx)
{
	struct mpa_tx_ring *ring = &tx->ring;
	unsigned int i;

	if (!tx->store)
		return;
	for (i = 0; i < ring->used; i++)
		put_page(ring->chunk[i]);
	ring->used = 0;
	ring->slot = 0;
	ring->off = 0;
	ring->size = 0;
	ring->chunk = NULL;
	kfree(tx->store);
	WRITE_ONCE(tx->store, NULL);
}

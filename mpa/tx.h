/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transmit: ULPDUs become FPDUs in pages of our own, and many FPDUs go to TCP
 * in one hand-over.
 */
#ifndef MPA_TX_H
#define MPA_TX_H

#include <linux/build_bug.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/types.h>
#include "tx_pages.h"
#include "tx_plan.h"

struct mpa_conn;

#define MPA_TX_SHORT_END	16	/* of a chunk: an end of 1/16 is short */
/*
 * Least ULPDU of a message that fills the end of a segment. It is less than the
 * MULPDU, as DDP may choose (RFC 5044 section 3): one more FPDU costs less than
 * a short segment, because TCP sends only runs of full segments at once.
 */
#define MPA_TX_SHARE		32u
/* Least room for an FPDU in one piece: see mpa_line_head() */
#define MPA_TX_LEAST		32u
/* A large FPDU fits one chunk: each octet is copied once, and one CRC taken */
#define MPA_TX_LARGE		((u32)SZ_32K)
static_assert((PAGE_SIZE << MPA_TX_CHUNK_ORDER) >= MPA_TX_LARGE);
#define MPA_TX_AHEAD		(256u << 10) /* octets written, not accepted */

/**
 * struct mpa_tx_writer - the FPDU that is being written
 * @markers: the peer wants Markers
 * @crc: the CRC field is filled
 * @pos: stream position of the writer, within an open FPDU
 * @start: stream position of the open FPDU
 * @wire: octets of it, Markers included
 * @ulpdu_len: octets of its ULPDU
 * @num_pieces: number of @piece in use
 * @held: number of @piece, from the first on, with a page reference: all but
 *	the last of the open FPDU; 0 when no FPDU is open
 * @cur_piece: index of the piece behind the one that is being written
 * @out: next octet to write
 * @out_left: octets left at @out in this piece
 * @piece: MPA_TX_PIECES of them in the store: where the open FPDU lies
 */
struct mpa_tx_writer {
	bool markers;
	bool crc;
	u32 pos;
	u32 start;
	u32 wire;
	u32 ulpdu_len;
	unsigned int num_pieces;
	unsigned int held;
	unsigned int cur_piece;
	u8 *out;
	u32 out_left;
	struct mpa_extent *piece;
};

/**
 * struct mpa_tx_counts - figures of one connection's transmit direction
 * @fpdus: FPDUs that went with @batches
 * @batches: hand-overs to TCP
 * @blocked: hand-overs that met a full socket
 * @blocked_ns: time until TCP had taken all that waited
 */
struct mpa_tx_counts {
	u64 fpdus;
	u64 batches;
	u64 blocked;
	u64 blocked_ns;
};

/**
 * struct mpa_tx - transmit direction of a connection
 * @allowed: FPDUs may be sent: an Initiator's always, a Responder's once it
 *	has received one (RFC 5044 7.1.2 rule 4); without startup frames always
 * @ready: Full Operation has begun, and TCP still takes octets
 * @packing: several FPDUs may share a segment
 * @pushing: mpa_tx_push() is running, within which TCP may call
 *	sk_write_space(); socket lock
 * @nagle: TCP decides when to send a segment that is not full
 * @large: octets of the stream that an FPDU may take across segments; 0: each
 *	FPDU must fit a segment
 * @fpdus: closed since the last hand-over
 * @counts: of this connection; socket lock
 * @blocked_at: time since which TCP has not taken everything, in ns of
 *	ktime_get(); 0: it has taken everything; socket lock
 * @written: stream position behind the last closed FPDU, 64 bits of it
 * @writer: the open FPDU
 * @plan: segments, and the octets that TCP has not taken
 * @ring: memory for both
 * @store: made with the first FPDU, and given back by mpa_tx_rest(). NULL:
 *	there is none, and nothing waits for TCP
 * @seen: @written at the last check for idleness
 * @busy: called when @store was made: arranges a later mpa_tx_rest()
 *
 * Written by the transmit owner, with the exceptions that struct mpa_plan has.
 */
struct mpa_tx {
	bool allowed;
	bool ready;
	bool packing;
	bool pushing;
	bool nagle;
	u32 large;
	u32 fpdus;
	struct mpa_tx_counts counts;
	u64 blocked_at;
	u64 written;
	struct mpa_tx_writer writer;
	struct mpa_plan plan;
	struct mpa_tx_ring ring;
	struct mpa_tx_store *store;
	u64 seen;
	void (*busy)(struct mpa_conn *conn);
};

struct iov_iter;

int mpa_tx_open(struct mpa_conn *conn, const void *hdr, u32 hdr_len,
		u32 ulpdu_len);
void mpa_tx_put(struct mpa_conn *conn, const void *src, u32 len);
void mpa_tx_close(struct mpa_conn *conn);
void mpa_tx_cancel(struct mpa_conn *conn);
void mpa_tx_start(struct mpa_conn *conn, void (*busy)(struct mpa_conn *conn));
bool mpa_tx_is_idle(struct mpa_conn *conn);
int mpa_tx_put_iter(struct mpa_conn *conn, struct iov_iter *from, u32 len);
int mpa_tx_push(struct mpa_conn *conn, bool more);
void mpa_tx_update_emss(struct mpa_conn *conn);
void mpa_tx_free(struct mpa_tx *tx);

/* Count an FPDU that is complete. */
static __always_inline void mpa_tx_fpdu_written(struct mpa_tx *tx, u32 wire)
{
	WRITE_ONCE(tx->written, tx->written + wire);
	tx->fpdus++;
	if (unlikely(!tx->packing))
		mpa_plan_end_segment(&tx->plan);
}

#endif /* MPA_TX_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transmit: ULPDUs become FPDUs in pages of our own, and many FPDUs go to TCP
 * in one hand-over.
 */
#ifndef MPA_TX_H
#define MPA_TX_H

#include <linux/mm_types.h>
#include <mpa/mpa.h>

#define MPA_TX_CHUNK_ORDER	3
#define MPA_TX_RING		32	/* chunks kept for reuse */
#define MPA_TX_RING_PROGRAM	4	/* on a program's socket */
#define MPA_TX_EXTENTS		64	/* power of two */
#define MPA_TX_PIECES		20	/* of one FPDU, when chunks are pages */
#define MPA_TX_AHEAD		(256u << 10) /* octets written, not accepted */

/* Octets in one chunk that wait for TCP. Holds a page reference. */
struct mpa_extent {
	struct page *page;
	u32 off;
	u32 len;
	u32 mss;		/* TCP's, for which they were cut */
	bool eor;		/* a TCP segment ends behind it */
};

/**
 * struct mpa_tx - transmit direction of a connection
 * @allowed: FPDUs may be sent: an Initiator's always, a Responder's once it
 *	has received one (RFC 5044 7.1.2 rule 4); without startup frames always
 * @ready: Full Operation has begun and TCP can still be written to
 * @markers: the peer wants Markers
 * @crc: the CRC field is filled
 * @packing: several FPDUs may share a segment
 * @nagle: TCP says when a segment that is not full leaves
 * @mss: TCP's effective MSS at the last hand-over. When it is not a multiple
 *	of 4, each segment is ended by hand
 * @emss: the multiple of 4 up to it
 * @room: octets left in the TCP segment that is being filled
 * @room_before: @room before the open FPDU
 * @fpdus: closed since the last hand-over
 * @written: stream position behind the last closed FPDU, 64 bits of it
 * @accepted: stream position up to which TCP has taken the stream
 * @planned: stream position up to which TCP has it, and where a segment
 *	starts; from there on each is @emss long up to an extent's end of record
 * @whole: stream position up to which whole FPDUs went to TCP last
 * @pos: stream position of the writer, within an open FPDU
 * @start: stream position of the open FPDU
 * @wire: octets of it, Markers included
 * @ring: chunks; one whose only reference is ours can be written again
 * @slots: number of these in use, 1..MPA_TX_RING
 * @gfp: how their memory is got
 * @memcg: whom it is charged to, the connection's; NULL: nobody
 * @slot: index of the chunk that is being written
 * @off: octets used of it, the open FPDU's included
 * @size: octets in it
 * @held: number of @piece, from the first on, with a page reference: all but
 *	the last of the open FPDU; 0 without one
 * @piece: where the open FPDU lies
 * @cur_piece: index of the piece behind the one that is being written
 * @out: next octet to write
 * @out_left: octets left at @out in this piece
 * @first: index of the oldest extent, modulo MPA_TX_EXTENTS
 * @last: index behind the newest one
 * @extent: what TCP has not taken, in order
 *
 * Written by the transmit owner, but for @mss, @emss, @accepted, @planned and
 * @first, which change under the socket lock in a hand-over.
 */
struct mpa_tx {
	bool allowed;
	bool ready;
	bool markers;
	bool crc;
	bool packing;
	bool nagle;
	u32 mss;
	u32 emss;
	u32 room;
	u32 room_before;
	u32 fpdus;
	u64 written;
	u64 accepted;
	u64 planned;
	u64 whole;
	u32 pos;
	u32 start;
	u32 wire;

	struct page *ring[MPA_TX_RING];
	unsigned int slots;
	gfp_t gfp;
	struct mem_cgroup *memcg;
	unsigned int slot;
	u32 off;
	u32 size;

	unsigned int num_pieces;
	unsigned int held;
	unsigned int cur_piece;
	u8 *out;
	u32 out_left;
	struct mpa_extent piece[MPA_TX_PIECES];
	unsigned int first;
	unsigned int last;
	struct mpa_extent extent[MPA_TX_EXTENTS];
};

struct iov_iter;
struct mpa_conn;

void mpa_tx_start(struct mpa_conn *conn);
int mpa_tx_put_iter(struct mpa_conn *conn, struct iov_iter *from, u32 len);
int mpa_tx_push(struct mpa_conn *conn, bool more);
void mpa_tx_update_emss(struct mpa_conn *conn);
void mpa_tx_free(struct mpa_tx *tx);

static inline bool mpa_tx_pending(const struct mpa_tx *tx)
{
	return tx->first != tx->last;
}

#endif /* MPA_TX_H */

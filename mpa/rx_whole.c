// SPDX-License-Identifier: GPL-2.0
/*
 * FPDUs that lie in one piece of TCP's queue: nearly all do, because senders
 * make each FPDU fill a TCP segment. This fast path verifies them and hands
 * them up in a few steps. mpa/rx.c handles all others, and could handle these.
 */
#include "conn.h"
#include "rx_verify.h"
#include "rx_whole.h"

/**
 * struct whole_fpdu - an FPDU in one piece
 * @at: its first octet
 * @pos: stream position of @at
 * @head: octets in front of the ULPDU: a Marker, if one is there, and the
 *	length
 * @wire: octets of the FPDU, Markers included
 * @len: octets of its ULPDU
 */
struct whole_fpdu {
	const u8 *at;
	u32 pos;
	u32 head;
	u32 wire;
	u32 len;
};

/* Is all of the FPDU within @left octets? Its length is read once. */
static bool whole_is_here(struct whole_fpdu *fpdu, bool markers, u32 left)
{
	fpdu->head = MPA_HDR_LEN;
	if (markers && !mpa_marker_gap(fpdu->pos))
		fpdu->head += MPA_MARKER_LEN;
	if (unlikely(left < fpdu->head))
		return false;
	fpdu->len = get_unaligned_be16(fpdu->at + fpdu->head - MPA_HDR_LEN);
	barrier();	/* the compiler must not read the length again */
	fpdu->wire = mpa_fpdu_wire_len(fpdu->len, markers, fpdu->pos);
	return likely(fpdu->wire <= left);
}

/* Hand up a ULPDU. The consumer need not read all of it. */
static int whole_receive(struct mpa_delivery *pass,
			 const struct whole_fpdu *fpdu, u32 left)
{
	struct mpa_conn *conn = pass->conn;
	struct mpa_cursor *cur = &pass->cur;

	WRITE_ONCE(conn->tx.allowed, true);	/* RFC 5044 7.1.2 rule 4 */
	pass->done += fpdu->wire;
	pass->fpdus++;
	cur->ptr = fpdu->at + fpdu->head;
	cur->left = left - fpdu->head;
	cur->pos = fpdu->pos + fpdu->head;
	cur->ulpdu_left = fpdu->len;
	return conn->ops->receive(conn->consumer, cur, fpdu->len);
}

/* The FPDU stays where it is. No cursor is used after this. */
static void whole_put_off(struct mpa_delivery *pass,
			  const struct whole_fpdu *fpdu)
{
	pass->done -= fpdu->wire;
	pass->fpdus--;
	pass->conn->rx.need = fpdu->wire;
}

/**
 * mpa_whole_deliver() - deliver FPDUs for as long as they lie in one piece
 * @pass: the pass
 *
 * The caller makes sure that none of them was placed before its turn.
 * Context: softirq or process, socket lock held. RFC 5044 section 6.
 *
 * Return: 0 when the next FPDU is not complete or not in one piece, or the
 * budget is used up; -EAGAIN when the consumer has put off the next FPDU, which
 * is not counted in @pass. Any other value ends the receive direction: the FPDU
 * was invalid if @pass->err is set; otherwise the consumer has ended it.
 */
int mpa_whole_deliver(struct mpa_delivery *pass)
{
	const struct mpa_rx *rx = &pass->conn->rx;
	struct mpa_cursor *cur = &pass->cur;
	struct whole_fpdu fpdu = { .at = cur->ptr, .pos = cur->pos };
	u32 left = min(cur->left, pass->avail - pass->done);
	u32 behind = cur->left - left;
	int ret = 0;

	cur->whole = true;
	while (!ret && !mpa_delivery_is_over(pass) &&
	       whole_is_here(&fpdu, rx->markers, left)) {
		pass->err = mpa_rx_verify_whole(rx, fpdu.at, fpdu.wire,
						fpdu.pos);
		if (unlikely(pass->err))
			return -EBADMSG;
		ret = whole_receive(pass, &fpdu, left);
		fpdu.at += fpdu.wire;
		fpdu.pos += fpdu.wire;
		left -= fpdu.wire;
	}
	if (unlikely(ret == -EAGAIN))
		whole_put_off(pass, &fpdu);
	cur->ptr = fpdu.at;
	cur->left = left + behind;
	cur->pos = fpdu.pos;
	cur->whole = false;
	return ret;
}

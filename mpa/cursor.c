// SPDX-License-Identifier: GPL-2.0
/*
 * Cursors read the stream in place, in TCP's buffers, which may have any layout
 * and may overlap. Reading a ULPDU skips the Markers in it.
 */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/uio.h>
#include <net/tcp.h>
#include <mpa/mpa.h>
#include "compat.h"
#include "cursor.h"
#include "fpdu.h"

static void cursor_enter(struct mpa_cursor *cur, struct sk_buff *part)
{
	cur->part = part;
	cur->frag = 0;
	cur->ptr = part->data;
	cur->left = skb_headlen(part);
}

/* The buffer behind @skb in the list, or in the tree. */
static struct sk_buff *skb_behind(const struct sk_buff_head *queue,
				  struct sk_buff *skb)
{
	if (!queue)
		return skb_rb_next(skb);
	return skb_queue_is_last(queue, skb) ? NULL :
					       skb_queue_next(queue, skb);
}

/*
 * The buffer with the octet that follows this buffer. Because buffers may
 * overlap, the octet may lie inside the next buffer or inside a later one. The
 * search stops at the first gap between TCP's out-of-order buffers: the peer
 * decides how many of them follow.
 */
static struct sk_buff *cursor_next_skb(struct mpa_cursor *cur, u32 *off)
{
	struct sk_buff *skb = cur->skb;
	u32 seq;

	if (!skb) {
		*off = cur->first_off;
		return cur->first;
	}
	seq = TCP_SKB_CB(skb)->seq + skb->len;
	while ((skb = skb_behind(cur->queue, skb))) {
		if (before(seq, TCP_SKB_CB(skb)->seq))
			break;
		*off = seq - TCP_SKB_CB(skb)->seq;
		if (*off < skb->len)
			return skb;
	}
	return NULL;
}

/*
 * Newer kernels put each 4 KiB of a sender's large page into a fragment of its
 * own, and lo and veth pass the fragments on. Octets that lie side by side in
 * one large page are one piece. Adjacent pages that were allocated separately
 * are not: hardened usercopy rejects a copy across them.
 */
static void cursor_enter_frag(struct mpa_cursor *cur,
			      const struct skb_shared_info *info)
{
	const skb_frag_t *frag = &info->frags[cur->frag];
	const struct page *head = compound_head(skb_frag_page(frag));

	cur->ptr = skb_frag_address(frag);
	cur->left = 0;
	do {
		cur->left += skb_frag_size(frag++);
		cur->frag++;
	} while (cur->frag < info->nr_frags &&
		 compound_head(skb_frag_page(frag)) == head &&
		 skb_frag_address(frag) == cur->ptr + cur->left);
}

static bool cursor_next_in_skb(struct mpa_cursor *cur)
{
	const struct skb_shared_info *info = skb_shinfo(cur->part);

	if (cur->frag < info->nr_frags) {
		cursor_enter_frag(cur, info);
		return true;
	}
	if (cur->part != cur->skb && cur->part->next)
		cursor_enter(cur, cur->part->next);
	else if (cur->part == cur->skb && info->frag_list)
		cursor_enter(cur, info->frag_list);
	else
		return false;
	return true;
}

/*
 * Does the buffer hold octets that cannot be read? Either a device keeps them
 * in its own memory, or they are in a list within a list: fragmented IP packets
 * within a tunnel's fragmented packets.
 */
static bool cursor_is_blind(const struct mpa_cursor *cur)
{
	return !skb_frags_readable(cur->part) ||
	       (cur->part != cur->skb && skb_has_frag_list(cur->part));
}

/*
 * Go to the next non-empty contiguous piece; false at the queue's end and at
 * octets that cannot be read.
 */
bool mpa_cursor_next(struct mpa_cursor *cur)
{
	u32 skip = 0;

	do {
		if (cur->skb && unlikely(cursor_is_blind(cur)))
			return false;
		if (!cur->skb || !cursor_next_in_skb(cur)) {
			struct sk_buff *skb = cursor_next_skb(cur, &skip);

			if (!skb)
				return false;
			cur->skb = skb;
			cursor_enter(cur, skb);
		}
		if (skip) {
			u32 n = min(skip, cur->left);

			cur->ptr += n;
			cur->left -= n;
			skip -= n;
		}
	} while (!cur->left);
	return true;
}

/**
 * mpa_cursor_init() - point a cursor at octets in one of TCP's queues
 * @cur: the cursor
 * @queue: TCP's receive queue, or NULL for TCP's out-of-order tree
 * @first: buffer that holds the first octet, NULL when the queue is empty
 * @first_off: offset of that octet in @first
 *
 * The stream position is 0 and Markers are off: the caller sets both.
 * Context: socket lock held for as long as the cursor is used.
 */
void mpa_cursor_init(struct mpa_cursor *cur, struct sk_buff_head *queue,
		     struct sk_buff *first, u32 first_off)
{
	cur->ptr = NULL;
	cur->left = 0;
	cur->pos = 0;
	cur->ulpdu_left = 0;
	cur->markers = false;
	cur->whole = false;
	cur->placed = false;
	cur->frag = 0;
	cur->part = NULL;
	cur->skb = NULL;
	cur->queue = queue;
	cur->first = first;
	cur->first_off = first_off;
}

/**
 * mpa_cursor_read() - read octets of the stream, Markers included
 * @cur: where to read; moved past these octets
 * @dst: where to put them, or NULL to skip them
 * @len: octets
 *
 * Context: socket lock held.
 * Return: 0, or -ENODATA when the queue holds fewer.
 */
int mpa_cursor_read(struct mpa_cursor *cur, void *dst, u32 len)
{
	while (len) {
		u32 n;

		if (!mpa_cursor_fill(cur))
			return -ENODATA;
		n = min(len, cur->left);
		if (dst) {
			memcpy(dst, cur->ptr, n);
			dst += n;
		}
		mpa_cursor_step(cur, n);
		len -= n;
	}
	return 0;
}

/*
 * The number of ULPDU octets that lie in one piece at the cursor, up to @len; 0
 * at the queue's end. A Marker ends a piece.
 */
static u32 cursor_piece(struct mpa_cursor *cur, u32 len)
{
	if (mpa_cursor_at_marker(cur))
		mpa_cursor_skip(cur, MPA_MARKER_LEN);
	if (cur->markers)
		len = min(len, mpa_marker_gap(cur->pos));
	return mpa_cursor_fill(cur) ? min(len, cur->left) : 0;
}

/*
 * Copy octets of a ULPDU that has Markers and lies in this piece. The compiler
 * knows the length of all spans but the first and the last.
 */
static void copy_spans(struct mpa_cursor *cur, u8 *dst, u32 len)
{
	u32 gap = mpa_marker_gap(cur->pos);
	const u8 *src = cur->ptr;
	u32 n = min(len, gap);

	memcpy(dst, src, n);
	for (len -= n; len >= MPA_MARKER_SPAN; len -= MPA_MARKER_SPAN) {
		src += n + MPA_MARKER_LEN;
		dst += n;
		n = MPA_MARKER_SPAN;
		memcpy(dst, src, MPA_MARKER_SPAN);
	}
	src += n;
	if (len) {
		src += MPA_MARKER_LEN;
		memcpy(dst + n, src, len);
		src += len;
	}
	mpa_cursor_step(cur, src - cur->ptr);
}

/*
 * mpa_cursor_copy() of octets that lie in several pieces, have Markers between
 * them, were placed early, or are missing.
 */
int mpa_cursor_copy_pieces(struct mpa_cursor *cur, void *dst, u32 len)
{
	if (unlikely(len > cur->ulpdu_left))
		return -EMSGSIZE;
	cur->ulpdu_left -= len;

	if (unlikely(cur->placed))
		return 0;
	if (likely(cur->whole)) {
		copy_spans(cur, dst, len);
		return 0;
	}
	while (len) {
		u32 n = cursor_piece(cur, len);

		/* Cannot happen: the FPDU is complete. */
		if (!n)
			return -ENODATA;
		memcpy(dst, cur->ptr, n);
		mpa_cursor_step(cur, n);
		dst += n;
		len -= n;
	}
	return 0;
}
EXPORT_SYMBOL_NS_GPL(mpa_cursor_copy_pieces, MPA_NS);

/**
 * mpa_cursor_to_iter() - read octets of the ULPDU into a program's memory
 * @cur: cursor within a ULPDU that is complete
 * @to: where to put them
 * @len: octets, at most the rest of the ULPDU
 *
 * Markers are left out. Context: process, socket lock held.
 * Return: 0, or -EFAULT when @to takes fewer.
 */
int mpa_cursor_to_iter(struct mpa_cursor *cur, struct iov_iter *to, u32 len)
{
	while (len) {
		u32 n = cursor_piece(cur, len);

		if (!n || copy_to_iter(cur->ptr, n, to) != n)
			return -EFAULT;
		mpa_cursor_step(cur, n);
		len -= n;
	}
	return 0;
}

/**
 * mpa_cursor_position() - the place in the stream (RFC 5044 section 3)
 * @cur: the cursor that mpa_consumer_ops.receive() got
 *
 * ULPDUs are delivered in ascending order of their positions, modulo 2^32.
 * Context: inside of mpa_consumer_ops.receive() and place().
 * Return: octets between the first octet of Full Operation and the cursor,
 * modulo 2^32.
 */
u32 mpa_cursor_position(const struct mpa_cursor *cur)
{
	return cur->pos;
}
EXPORT_SYMBOL_NS_GPL(mpa_cursor_position, MPA_NS);

/* Move from an FPDU's first octet to its ULPDU of @len octets. */
void mpa_cursor_enter_ulpdu(struct mpa_cursor *cur, u32 len)
{
	if (mpa_cursor_at_marker(cur))
		mpa_cursor_skip(cur, MPA_MARKER_LEN);
	mpa_cursor_skip(cur, MPA_HDR_LEN);
	cur->ulpdu_left = len;
}

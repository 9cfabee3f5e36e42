/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cursors: how a consumer of MPA reads the ULPDU that it gets. The octets lie
 * in TCP's queue, where a peer on this machine may still change them: read an
 * octet once, and decide on the copy.
 */
#ifndef MPA_PUBLIC_CURSOR_H
#define MPA_PUBLIC_CURSOR_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#include <mpa/wire.h>

struct sk_buff;
struct sk_buff_head;

/**
 * struct mpa_cursor - a position in the octets that TCP has queued
 * @ptr: next octet
 * @left: octets in the contiguous piece at @ptr
 * @pos: stream position of @ptr
 * @ulpdu_left: octets of the ULPDU that the consumer has not read
 * @markers: the stream has Markers, which reading skips
 * @whole: all of the ULPDU, its Markers and its CRC are in the piece at @ptr
 * @placed: the payload has been placed already: copying it does nothing
 * @cookie: when @placed: the value that mpa_consumer_ops.place() stored here
 * @frag: next fragment of @part
 * @part: @skb itself, or the member of its frag_list that @ptr lies in
 * @skb: buffer in TCP's queue, or the stash in front of it; NULL before @first
 * @queue: TCP's receive queue; NULL while @skb is in TCP's out-of-order tree
 * @first: the first buffer with unread octets
 * @first_off: offset of the first unread octet in @first
 *
 * All pointers become invalid when the socket lock is released. The fields are
 * for MPA and for the functions below.
 */
struct mpa_cursor {
	const u8 *ptr;
	u32 left;
	u32 pos;
	u32 ulpdu_left;
	bool markers;
	bool whole;
	bool placed;
	u32 cookie;
	int frag;
	struct sk_buff *part;
	struct sk_buff *skb;
	struct sk_buff_head *queue;
	struct sk_buff *first;
	u32 first_off;
};

u32 mpa_cursor_position(const struct mpa_cursor *cur);
int mpa_cursor_copy_pieces(struct mpa_cursor *cur, void *dst, u32 len);

/* Advance within the piece. */
static inline void mpa_cursor_step(struct mpa_cursor *cur, u32 n)
{
	cur->ptr += n;
	cur->left -= n;
	cur->pos += n;
}

/**
 * mpa_cursor_copy() - read octets of the ULPDU that is being received
 * @cur: the cursor that mpa_consumer_ops.receive() got
 * @dst: kernel address
 * @len: octets
 *
 * Markers are left out. If mpa_consumer_ops.place() has placed the payload,
 * only the header is copied.
 * Context: inside mpa_consumer_ops.receive() and place().
 * Return: 0; -EMSGSIZE, with nothing copied, when the ULPDU has fewer octets
 * left.
 */
static inline int mpa_cursor_copy(struct mpa_cursor *cur, void *dst, u32 len)
{
	if (unlikely(cur->markers || len > cur->left || len > cur->ulpdu_left))
		return mpa_cursor_copy_pieces(cur, dst, len);
	memcpy(dst, cur->ptr, len);
	barrier();	/* the caller must use the copy, not read again */
	mpa_cursor_step(cur, len);
	cur->ulpdu_left -= len;
	return 0;
}

/**
 * mpa_cursor_whole() - can a ULPDU's first octets be read at @cur->ptr?
 * @cur: the cursor that mpa_consumer_ops.receive() got, not moved yet
 * @len: octets
 *
 * Return: true if the first @len octets lie at @cur->ptr without a Marker
 * between, all of the ULPDU lies in the same piece, and it was not placed
 * early. The caller reads them once, and steps over them with
 * mpa_cursor_pass().
 */
static inline bool mpa_cursor_whole(const struct mpa_cursor *cur, u32 len)
{
	return likely(cur->whole && len <= cur->ulpdu_left) &&
	       (!cur->markers || -cur->pos % MPA_MARKER_INTERVAL >= len);
}

/* Step over octets that mpa_cursor_whole() has approved. */
static inline void mpa_cursor_pass(struct mpa_cursor *cur, u32 len)
{
	mpa_cursor_step(cur, len);
	cur->ulpdu_left -= len;
}

/* Go back to the beginning of a whole ULPDU of @len octets, at @ptr. */
static inline void mpa_cursor_rewind(struct mpa_cursor *cur, const u8 *ptr,
				     u32 len)
{
	u32 n = cur->ptr - ptr;

	cur->ptr = ptr;
	cur->left += n;
	cur->pos -= n;
	cur->ulpdu_left = len;
}

#endif /* MPA_PUBLIC_CURSOR_H */

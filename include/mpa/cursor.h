/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cursors: how a consumer of MPA reads the ULPDU that it is given. What is
 * read lies in TCP's queue, where a peer on this machine may still change it:
 * what is decided on has to be read once.
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
 * struct mpa_cursor - a place in the stream that is still in TCP's queue
 * @ptr: next octet
 * @left: octets in the contiguous piece at @ptr
 * @pos: stream position of @ptr
 * @ulpdu_left: octets of the ULPDU that the consumer has not read
 * @markers: Markers are to be skipped
 * @whole: all of the ULPDU, its Markers and its CRC are in the piece at @ptr
 * @placed: the payload is in its place already: copying it does nothing
 * @cookie: what mpa_consumer_ops.place() has left here, when @placed
 * @frag: next fragment of @part
 * @part: @skb itself, or the member of its frag_list that @ptr lies in
 * @skb: buffer in TCP's queue, or the stash in front of it; NULL before @first
 * @queue: TCP's receive queue, or NULL while in the tree of what TCP holds out
 *	of order
 * @first: the first buffer with unread octets
 * @first_off: offset of the first unread octet in @first
 *
 * All pointers die when the socket lock is dropped. The fields are MPA's, and
 * for the functions below.
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

/* Move on within the piece. */
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
 * Markers are left out. Of a ULPDU that mpa_consumer_ops.place() has placed
 * only the header is there: nothing is copied from behind it.
 * Context: inside of mpa_consumer_ops.receive() and place().
 * Return: 0; -EMSGSIZE when the ULPDU has fewer octets left: nothing is
 * copied then.
 */
static inline int mpa_cursor_copy(struct mpa_cursor *cur, void *dst, u32 len)
{
	if (unlikely(cur->markers || len > cur->left || len > cur->ulpdu_left))
		return mpa_cursor_copy_pieces(cur, dst, len);
	memcpy(dst, cur->ptr, len);
	barrier();	/* from here on only the copy is looked at */
	mpa_cursor_step(cur, len);
	cur->ulpdu_left -= len;
	return 0;
}

/**
 * mpa_cursor_whole() - are a ULPDU's first octets at hand?
 * @cur: the cursor that mpa_consumer_ops.receive() got, as it was then
 * @len: octets
 *
 * Return: whether there are as many octets at @cur->ptr, without a Marker
 * between, and all of the ULPDU lies in the same piece and was not placed
 * before its turn. They are to be read once, and passed with
 * mpa_cursor_pass().
 */
static inline bool mpa_cursor_whole(const struct mpa_cursor *cur, u32 len)
{
	return likely(cur->whole && len <= cur->ulpdu_left) &&
	       (!cur->markers || -cur->pos % MPA_MARKER_INTERVAL >= len);
}

/* Go on behind octets of those that mpa_cursor_whole() has asked for. */
static inline void mpa_cursor_pass(struct mpa_cursor *cur, u32 len)
{
	mpa_cursor_step(cur, len);
	cur->ulpdu_left -= len;
}

/* Back to the beginning of a whole ULPDU of @len octets, at @ptr. */
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

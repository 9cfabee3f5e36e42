/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A place in the stream that TCP has received, and reading from there.
 */
#ifndef MPA_CURSOR_H
#define MPA_CURSOR_H

#include <linux/compiler.h>
#include <linux/types.h>
#include "fpdu.h"

struct iov_iter;
struct sk_buff;
struct sk_buff_head;

/**
 * struct mpa_cursor - a place in the stream that is still in TCP's queue
 * @ptr: next octet
 * @left: octets in the contiguous piece at @ptr
 * @pos: stream position of @ptr
 * @ulpdu_left: octets of the ULPDU that the consumer has not read
 * @markers: Markers are to be skipped
 * @placed: the payload is in its place already: copying it does nothing
 * @frag: next fragment of @part
 * @part: @skb itself, or the member of its frag_list that @ptr lies in
 * @skb: buffer in TCP's queue, NULL while in the stash
 * @queue: TCP's receive queue, or NULL while in the tree of what TCP holds out
 *	of order
 * @first: what follows the stash: the first buffer with unread octets
 * @first_off: offset of the first unread octet in @first
 *
 * All pointers die when the socket lock is dropped.
 */
struct mpa_cursor {
	const u8 *ptr;
	u32 left;
	u32 pos;
	u32 ulpdu_left;
	bool markers;
	bool placed;
	int frag;
	struct sk_buff *part;
	struct sk_buff *skb;
	struct sk_buff_head *queue;
	struct sk_buff *first;
	u32 first_off;
};

void mpa_cursor_init(struct mpa_cursor *cur, struct sk_buff_head *queue,
		     struct sk_buff *first, u32 first_off);
bool mpa_cursor_next(struct mpa_cursor *cur);
int mpa_cursor_read(struct mpa_cursor *cur, void *dst, u32 len);
int mpa_cursor_to_iter(struct mpa_cursor *cur, struct iov_iter *to, u32 len);
void mpa_cursor_enter_ulpdu(struct mpa_cursor *cur, u32 len);

static inline void mpa_cursor_step(struct mpa_cursor *cur, u32 n)
{
	cur->ptr += n;
	cur->left -= n;
	cur->pos += n;
}

/* Have an octet at the cursor; false at the queue's end. */
static inline bool mpa_cursor_fill(struct mpa_cursor *cur)
{
	return likely(cur->left) || mpa_cursor_next(cur);
}

static inline void mpa_cursor_skip(struct mpa_cursor *cur, u32 n)
{
	if (likely(n <= cur->left))
		mpa_cursor_step(cur, n);
	else
		mpa_cursor_read(cur, NULL, n);
}

/* Is there a Marker right at the cursor? */
static inline bool mpa_cursor_at_marker(const struct mpa_cursor *cur)
{
	return cur->markers && !mpa_marker_gap(cur->pos);
}

#endif /* MPA_CURSOR_H */

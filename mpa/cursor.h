/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cursors: places in the stream that TCP has received, and reading from them.
 */
#ifndef MPA_CURSOR_H
#define MPA_CURSOR_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <mpa/cursor.h>
#include "fpdu.h"

struct iov_iter;
struct sk_buff;
struct sk_buff_head;

void mpa_cursor_init(struct mpa_cursor *cur, struct sk_buff_head *queue,
		     struct sk_buff *first, u32 first_off);
bool mpa_cursor_next(struct mpa_cursor *cur);
int mpa_cursor_read(struct mpa_cursor *cur, void *dst, u32 len);
int mpa_cursor_to_iter(struct mpa_cursor *cur, struct iov_iter *to, u32 len);
void mpa_cursor_enter_ulpdu(struct mpa_cursor *cur, u32 len);

/* Move to the next piece if this one is empty; false at the queue's end. */
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

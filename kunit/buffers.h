/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Socket buffers of every shape that TCP may have in its queues.
 */
#ifndef KUNIT_BUFFERS_H
#define KUNIT_BUFFERS_H

#include <linux/skbuff.h>

struct kunit;

enum shape {
	LINEAR,
	FRAGS,		/* the head holds the first octets */
	EMPTY_HEAD,	/* fragments only */
	FRAG_LIST,	/* its members have the other shapes */
	NUM_SHAPES
};

struct sk_buff *buffer_make(struct kunit *test, const u8 *data, u32 len, enum shape shape);

#endif /* KUNIT_BUFFERS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fakes for mpa/tx.c and mpa/tx_pages.c: TCP as mpa/sock.c offers it, and the
 * page allocator.
 */
#ifndef KUNIT_FAKE_TCP_H
#define KUNIT_FAKE_TCP_H

#include <linux/types.h>

#define FAKE_TCP_PARTS	2048
#define FAKE_TCP_ENDS	1024
#define FAKE_MEMORY_GIVEN	512

struct page;

/**
 * struct fake_memory - chunks that tx_pages.c can allocate
 * @largest_order: largest order of a chunk
 * @left: chunks that can still be allocated
 * @given: chunks that were allocated, the first FAKE_MEMORY_GIVEN of them
 * @num_given: elements of @given
 */
struct fake_memory {
	unsigned int largest_order;
	u32 left;
	struct page *given[FAKE_MEMORY_GIVEN];
	u32 num_given;
};

/* A page that TCP has a reference to: the octets are checked late. */
struct fake_part {
	struct page *page;
	u32 off;
	u32 len;
};

/**
 * struct fake_tcp - the octets that were handed over
 * @emss: effective maximum segment size
 * @paged: a fragment holds at most a page, so that TCP gets parts together
 * @space: octets that TCP still takes
 * @dead: error for every hand-over, or 0
 * @len: octets taken
 * @calls: how often octets were taken
 * @more: the last hand-over announced more octets
 * @parts: where the octets taken lie
 * @num_parts: elements of @parts
 * @ends: stream positions where a segment was ended
 * @num_ends: elements of @ends
 * @cut: position where TCP itself last ended a segment
 */
struct fake_tcp {
	u32 emss;
	bool paged;
	u32 space;
	int dead;
	u32 len;
	u32 calls;
	bool more;
	struct fake_part parts[FAKE_TCP_PARTS];
	u32 num_parts;
	u32 ends[FAKE_TCP_ENDS];
	u32 num_ends;
	u32 cut;
};

extern struct fake_memory fake_memory;
extern struct fake_tcp fake_tcp;

void fake_tcp_send_partly(void);
void fake_tcp_release(void);

#endif /* KUNIT_FAKE_TCP_H */

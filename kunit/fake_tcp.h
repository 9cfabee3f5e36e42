/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What mpa/tx.c stands on, played: TCP as mpa/sock.c offers it, and memory.
 */
#ifndef KUNIT_FAKE_TCP_H
#define KUNIT_FAKE_TCP_H

#include <linux/types.h>

#define FAKE_TCP_PARTS	2048
#define FAKE_TCP_ENDS	1024
#define FAKE_MEMORY_GIVEN	512

struct page;

/**
 * struct fake_memory - what tx.c can get
 * @largest_order: of a chunk
 * @left: chunks that can be got still
 * @given: those that were
 * @num_given: number of these, as long as they fit
 */
struct fake_memory {
	unsigned int largest_order;
	u32 left;
	struct page *given[FAKE_MEMORY_GIVEN];
	u32 num_given;
};

/* A page reference that TCP has: the octets are looked at late. */
struct fake_part {
	struct page *page;
	u32 off;
	u32 len;
};

/**
 * struct fake_tcp - what has been handed over
 * @emss: effective maximum segment size
 * @space: octets it still takes
 * @dead: error for every hand-over, 0 when there is none
 * @len: octets taken
 * @more: what the last hand-over said
 * @parts: where they lie
 * @num_parts: number of these
 * @ends: stream positions behind which a segment was ended
 * @num_ends: number of these
 * @cut: position at which TCP itself ended a segment last
 */
struct fake_tcp {
	u32 emss;
	u32 space;
	int dead;
	u32 len;
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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Private Data by which the queue pairs of two programs find each other when
 * the programs connect them by hand (hand.c). The Request and the Reply carry
 * it, each with its sender's number first.
 */
#ifndef DDP_GLUE_HAND_HELLO_H
#define DDP_GLUE_HAND_HELLO_H

#include <mpa/pure.h>

#define HAND_HELLO_MAGIC	0x69575150u	/* "iWQP" */
#define HAND_HELLO_VERSION	1

/**
 * struct hand_hello - which queue pair this is, and which one it wants
 * @magic: HAND_HELLO_MAGIC
 * @version: HAND_HELLO_VERSION
 * @from: number of the sender's queue pair
 * @to: number of the receiver's
 */
struct hand_hello {
	__be32 magic;
	__be32 version;
	__be32 from;
	__be32 to;
};

static inline struct hand_hello hand_hello(u32 from, u32 to)
{
	return (struct hand_hello) {
		.magic = cpu_to_be32(HAND_HELLO_MAGIC),
		.version = cpu_to_be32(HAND_HELLO_VERSION),
		.from = cpu_to_be32(from),
		.to = cpu_to_be32(to),
	};
}

/* Is the Private Data @pd, of @len octets, exactly @hello? Context: any. */
static inline bool hand_hello_equal(const struct hand_hello *hello,
				    const void *pd, u16 len)
{
	return len == sizeof(*hello) && !memcmp(hello, pd, sizeof(*hello));
}

#endif /* DDP_GLUE_HAND_HELLO_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stream from the reference framer, for receive queues made by hand.
 */
#ifndef KUNIT_RX_STREAM_H
#define KUNIT_RX_STREAM_H

#include "buffers.h"
#include "conn.h"
#include "cursor.h"
#include "framer.h"

#define RX_STREAM_SIZE	8192u
#define RX_ULPDUS	14u

struct kunit;

/**
 * struct rx_env - a stream, and a queue that holds it
 * @f: the framer of the stream
 * @stream: octets of the stream
 * @queue: stands for TCP's receive queue
 * @rx: receive direction under test
 * @start: sequence number of the stream's first octet
 */
struct rx_env {
	struct framer f;
	u8 *stream;
	struct sk_buff_head queue;
	struct mpa_rx rx;
	u32 start;
};

extern const u16 rx_lengths[RX_ULPDUS];

struct rx_env *rx_env_create(struct kunit *test);
void rx_put_all(struct kunit *test, struct rx_env *env, bool markers, bool crc, u32 pos);
void rx_feed(struct kunit *test, struct rx_env *env, struct sk_buff_head *queue, u32 from,
	     u32 to, enum shape shape);
bool rx_ulpdu_matches(struct mpa_cursor *cur, u32 index, u32 len, u32 piece);

#endif /* KUNIT_RX_STREAM_H */

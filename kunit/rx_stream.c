// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>
#include <net/tcp.h>
#include "rx_stream.h"

/*
 * With Markers these give FPDUs that end right before a Marker, that have one
 * before the CRC field, that begin with one, and that hold several.
 */
const u16 rx_lengths[RX_ULPDUS] = { 42, 0, 1, 2, 3, 402, 4, 500, 494, 1442, 64, 998, 18, 5 };

static u8 ulpdu_octet(u32 index, u32 i)
{
	return index * 31 + i * 7 + 1;
}

struct rx_env *rx_env_create(struct kunit *test)
{
	struct rx_env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, env);
	env->stream = kunit_kzalloc(test, RX_STREAM_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, env->stream);
	__skb_queue_head_init(&env->queue);
	return env;
}

void rx_put_all(struct kunit *test, struct rx_env *env, bool markers, bool crc, u32 pos)
{
	u8 *ulpdu = kunit_kzalloc(test, 2048, GFP_KERNEL);
	u32 i, k;

	KUNIT_ASSERT_NOT_NULL(test, ulpdu);
	env->f = (struct framer){
		.markers = markers, .crc = crc, .pos = pos, .out = env->stream,
		.size = RX_STREAM_SIZE,
	};
	for (i = 0; i < RX_ULPDUS; i++) {
		for (k = 0; k < rx_lengths[i]; k++)
			ulpdu[k] = ulpdu_octet(i, k);
		framer_put(&env->f, ulpdu, rx_lengths[i]);
	}
	kunit_kfree(test, ulpdu);
	env->rx = (struct mpa_rx){ .markers = markers, .crc = crc };
}

/* Queue the stream's octets from @from to @to. */
void rx_feed(struct kunit *test, struct rx_env *env, struct sk_buff_head *queue, u32 from,
	     u32 to, enum shape shape)
{
	struct sk_buff *skb = buffer_make(test, env->stream + from, to - from, shape);

	TCP_SKB_CB(skb)->seq = env->start + from;
	TCP_SKB_CB(skb)->end_seq = env->start + to;
	TCP_SKB_CB(skb)->tcp_flags = TCPHDR_ACK;
	__skb_queue_tail(queue, skb);
}

/* Copy the ULPDU at the cursor piece by piece, and compare it. */
bool rx_ulpdu_matches(struct mpa_cursor *cur, u32 index, u32 len, u32 piece)
{
	static u8 buf[2048];
	u32 i, n, done;

	if (len != rx_lengths[index])
		return false;
	for (done = 0; done < len; done += n) {
		n = min3(piece, len - done, (u32)sizeof(buf));
		if (mpa_cursor_copy(cur, buf, n))
			return false;
		for (i = 0; i < n; i++)
			if (buf[i] != ulpdu_octet(index, done + i))
				return false;
	}
	return mpa_cursor_copy(cur, buf, 1) == -EMSGSIZE;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Octets of FPDUs in receive queues made by hand (mpa/cursor.c, mpa/rx_verify.c):
 * linear buffers, fragments, fragment lists, overlaps, cuts at every octet.
 */
#include <kunit/test.h>
#include "crc_suite.h"
#include "rx_stream.h"
#include "rx_verify.h"

static void cursor_at(struct rx_env *env, struct mpa_cursor *cur, u32 pos)
{
	mpa_cursor_init(cur, &env->queue, skb_peek(&env->queue), 0);
	cur->pos = pos;
	cur->markers = env->rx.markers;
}

/* Walk the queue as mpa_rx_pass() does. Returns the number of correct FPDUs. */
static u32 walk(struct rx_env *env, u32 pos, u32 piece)
{
	u32 left = env->f.len, index, len, need, wire, head;
	struct mpa_cursor cur, ulpdu;

	cursor_at(env, &cur, pos);
	for (index = 0; index < RX_ULPDUS; index++) {
		wire = mpa_rx_peek(&cur, left, &len, &need);
		if (!wire || mpa_rx_verify(&env->rx, &cur, wire))
			break;
		ulpdu = cur;
		head = env->rx.markers && cur.pos % 512 == 0 ? 6 : 2;
		if (mpa_cursor_read(&ulpdu, NULL, head))
			break;
		ulpdu.ulpdu_left = len;
		if (!rx_ulpdu_matches(&ulpdu, index, len, piece))
			break;
		if (mpa_cursor_read(&cur, NULL, wire))
			break;
		left -= wire;
	}
	return left ? 0 : index;
}

static void cut_in_two(struct kunit *test, enum shape shape, bool markers, u32 step)
{
	struct rx_env *env = rx_env_create(test);
	u32 cut, good;

	rx_put_all(test, env, markers, true, 0);
	for (cut = 1; cut < env->f.len; cut += step) {
		rx_feed(test, env, &env->queue, 0, cut, shape);
		rx_feed(test, env, &env->queue, cut, env->f.len, shape);
		good = walk(env, 0, 61);
		__skb_queue_purge(&env->queue);
		KUNIT_ASSERT_EQ_MSG(test, good, RX_ULPDUS, "cut at %u, Markers %d", cut, markers);
	}
}

static void rcv_03_cut_linear(struct kunit *test)
{
	cut_in_two(test, LINEAR, false, 1);
	cut_in_two(test, LINEAR, true, 1);
}

static void rcv_03_cut_frags(struct kunit *test)
{
	cut_in_two(test, FRAGS, false, 7);
	cut_in_two(test, FRAGS, true, 3);
}

static void rcv_03_cut_empty_head(struct kunit *test)
{
	cut_in_two(test, EMPTY_HEAD, false, 7);
	cut_in_two(test, EMPTY_HEAD, true, 3);
}

static void rcv_03_cut_frag_list(struct kunit *test)
{
	cut_in_two(test, FRAG_LIST, false, 7);
	cut_in_two(test, FRAG_LIST, true, 3);
}

/* Buffers of @each octets, of changing shapes, each repeating @overlap. */
static void many_buffers(struct kunit *test, u32 each, u32 overlap, bool markers)
{
	struct rx_env *env = rx_env_create(test);
	u32 from, back, i = 0;

	rx_put_all(test, env, markers, true, 0);
	for (from = 0; from < env->f.len; from += each) {
		back = min(from, overlap);
		rx_feed(test, env, &env->queue, from - back, min(from + each, env->f.len),
			each < 16 ? LINEAR : i++ % NUM_SHAPES);
	}
	KUNIT_EXPECT_EQ_MSG(test, walk(env, 0, 64), RX_ULPDUS, "%u octets, overlap %u", each,
			    overlap);
	__skb_queue_purge(&env->queue);
}

static void rcv_03_single_octets(struct kunit *test)
{
	many_buffers(test, 1, 0, false);
	many_buffers(test, 1, 0, true);
}

static void rcv_03_many_buffers(struct kunit *test)
{
	u32 each;

	for (each = 2; each < 1600; each += each / 4 + 1) {
		many_buffers(test, each, 0, false);
		many_buffers(test, each, 0, true);
	}
}

static void rcv_05_overlapping_buffers(struct kunit *test)
{
	static const u32 overlaps[] = { 1, 2, 3, 4, 17, 100, 513, 3000 };
	int i;

	for (i = 0; i < ARRAY_SIZE(overlaps); i++) {
		many_buffers(test, 16, overlaps[i], true);
		many_buffers(test, 700, overlaps[i], true);
		many_buffers(test, 701, overlaps[i], false);
	}
}

/* A buffer without new octets lies between two with new octets. */
static void rcv_05_contained_buffer(struct kunit *test)
{
	struct rx_env *env = rx_env_create(test);

	rx_put_all(test, env, true, true, 0);
	rx_feed(test, env, &env->queue, 0, 1000, FRAGS);
	rx_feed(test, env, &env->queue, 200, 1000, LINEAR);
	rx_feed(test, env, &env->queue, 300, 600, EMPTY_HEAD);
	rx_feed(test, env, &env->queue, 900, 900, LINEAR);
	rx_feed(test, env, &env->queue, 990, env->f.len, FRAG_LIST);
	KUNIT_EXPECT_EQ(test, walk(env, 0, 64), RX_ULPDUS);
	__skb_queue_purge(&env->queue);
}

static void mrk_09_sequence_wrap(struct kunit *test)
{
	struct rx_env *env = rx_env_create(test);
	u32 back;

	for (back = 512; back <= 2048; back += 512) {
		rx_put_all(test, env, true, true, 0u - back);
		env->start = 0u - 300;
		rx_feed(test, env, &env->queue, 0, 250, LINEAR);
		rx_feed(test, env, &env->queue, 200, 350, FRAGS);
		rx_feed(test, env, &env->queue, 340, env->f.len, EMPTY_HEAD);
		KUNIT_EXPECT_EQ_MSG(test, walk(env, 0u - back, 64), RX_ULPDUS, "%u before the wrap",
				    back);
		__skb_queue_purge(&env->queue);
	}
}

/* Pieces of every size across Markers and buffers. */
static void mrk_12_copy_in_pieces(struct kunit *test)
{
	struct rx_env *env = rx_env_create(test);
	u32 piece;

	rx_put_all(test, env, true, true, 0);
	rx_feed(test, env, &env->queue, 0, 513, FRAGS);
	rx_feed(test, env, &env->queue, 513, 514, LINEAR);
	rx_feed(test, env, &env->queue, 514, env->f.len, FRAG_LIST);
	for (piece = 1; piece <= 64; piece++)
		KUNIT_EXPECT_EQ_MSG(test, walk(env, 0, piece), RX_ULPDUS, "%u octets", piece);
	__skb_queue_purge(&env->queue);
}

static void rcv_02_peek_wants_what_is_missing(struct kunit *test)
{
	struct rx_env *env = rx_env_create(test);
	u32 avail, ulpdu_len, need, wire;
	struct mpa_cursor cur;

	rx_put_all(test, env, true, true, 0);
	rx_feed(test, env, &env->queue, 0, 2000, FRAGS);
	cursor_at(env, &cur, 0);
	/* Marker, ULPDU_Length, 42 octets, CRC field */
	for (avail = 0; avail < 60; avail++) {
		wire = mpa_rx_peek(&cur, avail, &ulpdu_len, &need);
		KUNIT_EXPECT_EQ_MSG(test, wire, avail < 52 ? 0 : 52, "%u octets", avail);
		KUNIT_EXPECT_EQ_MSG(test, need, avail < 6 ? 6 : 52, "%u octets", avail);
	}
	KUNIT_EXPECT_EQ(test, ulpdu_len, 42);
	KUNIT_EXPECT_EQ(test, mpa_cursor_read(&cur, NULL, 52), 0);
	KUNIT_EXPECT_EQ(test, mpa_rx_peek(&cur, 1, &ulpdu_len, &need), 0);
	KUNIT_EXPECT_EQ(test, need, 2);
	__skb_queue_purge(&env->queue);
}

/* With the largest ULPDU_Length, mpa_rx_peek() asks for the whole FPDU. */
static void rcv_02_largest_length(struct kunit *test)
{
	struct rx_env *env = rx_env_create(test);
	u32 ulpdu_len, need;
	struct mpa_cursor cur;

	memset(env->stream, 0xff, 64);
	env->rx = (struct mpa_rx){ .crc = true };
	rx_feed(test, env, &env->queue, 0, 64, LINEAR);
	cursor_at(env, &cur, 0);
	KUNIT_EXPECT_EQ(test, mpa_rx_peek(&cur, 64, &ulpdu_len, &need), 0);
	KUNIT_EXPECT_EQ(test, need, 2 + 65535 + 3 + 4);
	__skb_queue_purge(&env->queue);
}

/* A buffer with the end of @page and the beginning of the page behind it. */
static struct sk_buff *side_by_side(struct kunit *test, struct page *page)
{
	struct sk_buff *skb = buffer_make(test, NULL, 0, LINEAR);

	skb_add_rx_frag(skb, 0, page, PAGE_SIZE - 30, 30, PAGE_SIZE);
	skb_add_rx_frag(skb, 1, page + 1, 0, 20, PAGE_SIZE);
	return skb;
}

static u32 first_piece(struct sk_buff *skb)
{
	struct sk_buff_head queue;
	struct mpa_cursor cur;

	__skb_queue_head_init(&queue);
	__skb_queue_tail(&queue, skb);
	mpa_cursor_init(&cur, &queue, skb, 0);
	mpa_cursor_fill(&cur);
	__skb_queue_purge(&queue);
	return cur.left;
}

/* Octets side by side in one large page are one piece, in two pages not. */
static void rcv_03_fragments_side_by_side(struct kunit *test)
{
	struct page *page = alloc_pages(GFP_KERNEL | __GFP_COMP, 1);

	KUNIT_ASSERT_NOT_NULL(test, page);
	get_page(page);	/* for the second fragment */
	KUNIT_EXPECT_EQ(test, first_piece(side_by_side(test, page)), 50);

	page = alloc_pages(GFP_KERNEL, 1);
	KUNIT_ASSERT_NOT_NULL(test, page);
	split_page(page, 1);
	KUNIT_EXPECT_EQ(test, first_piece(side_by_side(test, page)), 30);
}

static void cursor_ends_at_the_queues_end(struct kunit *test)
{
	struct rx_env *env = rx_env_create(test);
	struct mpa_cursor cur;
	u8 octet;

	rx_put_all(test, env, false, true, 0);
	cursor_at(env, &cur, 0);
	KUNIT_EXPECT_EQ(test, mpa_cursor_read(&cur, &octet, 1), -ENODATA);
	rx_feed(test, env, &env->queue, 0, 10, FRAGS);
	cursor_at(env, &cur, 0);
	KUNIT_EXPECT_EQ(test, mpa_cursor_read(&cur, NULL, 10), 0);
	KUNIT_EXPECT_EQ(test, mpa_cursor_read(&cur, &octet, 1), -ENODATA);
	__skb_queue_purge(&env->queue);
}

/* The cursor ends at a gap, even if a later buffer has the missing octet. */
static void rcv_03_cursor_ends_at_a_gap(struct kunit *test)
{
	struct rx_env *env = rx_env_create(test);
	struct mpa_cursor cur;
	u8 octet;

	rx_put_all(test, env, false, true, 0);
	rx_feed(test, env, &env->queue, 0, 10, LINEAR);
	rx_feed(test, env, &env->queue, 11, 20, LINEAR);
	rx_feed(test, env, &env->queue, 5, 15, LINEAR);
	cursor_at(env, &cur, 0);
	KUNIT_EXPECT_EQ(test, mpa_cursor_read(&cur, NULL, 10), 0);
	KUNIT_EXPECT_EQ(test, mpa_cursor_read(&cur, &octet, 1), -ENODATA);
	__skb_queue_purge(&env->queue);
}

/* The cursor reads up to a fragment list inside another one, no further. */
static void list_within_a_list(struct kunit *test)
{
	struct rx_env *env = rx_env_create(test);
	struct sk_buff *inner, *member;
	struct mpa_cursor cur;
	u8 octet;

	rx_put_all(test, env, false, true, 0);
	rx_feed(test, env, &env->queue, 0, 80, FRAG_LIST);
	member = skb_shinfo(skb_peek(&env->queue))->frag_list;
	inner = buffer_make(test, env->stream, 20, LINEAR);
	skb_shinfo(member)->frag_list = inner;
	member->len += inner->len;
	member->data_len += inner->len;
	cursor_at(env, &cur, 0);
	KUNIT_EXPECT_EQ(test, mpa_cursor_read(&cur, NULL, 40), 0);
	KUNIT_EXPECT_EQ(test, mpa_cursor_read(&cur, &octet, 1), -ENODATA);
	__skb_queue_purge(&env->queue);
}

/*
 * One FPDU for a case to damage, at Figure 6's position: 20 octets, a Marker,
 * the rest of 39 octets of ULPDU, 3 octets of pad.
 */
static struct rx_env *single_create(struct kunit *test, bool crc)
{
	struct rx_env *env = rx_env_create(test);
	u8 ulpdu[39];

	memset(ulpdu, 0x5a, sizeof(ulpdu));
	env->f = (struct framer){
		.markers = true, .crc = crc, .pos = 0x1ec, .out = env->stream,
		.size = RX_STREAM_SIZE,
	};
	env->rx = (struct mpa_rx){ .markers = true, .crc = crc };
	KUNIT_ASSERT_EQ(test, framer_put(&env->f, ulpdu, sizeof(ulpdu)), 52);
	return env;
}

static enum mpa_error verdict(struct kunit *test, struct rx_env *env, enum shape shape)
{
	struct mpa_cursor cur;
	enum mpa_error err;

	rx_feed(test, env, &env->queue, 0, env->f.len, shape);
	cursor_at(env, &cur, 0x1ec);
	err = mpa_rx_verify(&env->rx, &cur, env->f.len);
	__skb_queue_purge(&env->queue);
	return err;
}

static void crc_08_every_changed_bit(struct kunit *test)
{
	struct rx_env *env = single_create(test, true);
	u32 bit;

	for (bit = 0; bit < 8 * env->f.len; bit++) {
		env->stream[bit / 8] ^= 1 << bit % 8;
		KUNIT_EXPECT_EQ_MSG(test, verdict(test, env, bit % NUM_SHAPES), MPA_ERR_CRC,
				    "bit %u", bit);
		env->stream[bit / 8] ^= 1 << bit % 8;
	}
	KUNIT_EXPECT_EQ(test, verdict(test, env, FRAG_LIST), MPA_ERR_NONE);
}

/* With CRC off only the Marker's pointer matters: FRM-05, MRK-01, MRK-02. */
static void frm_05_mrk_13_without_crc(struct kunit *test)
{
	struct rx_env *env = single_create(test, false);
	u32 bit;

	for (bit = 0; bit < 8 * env->f.len; bit++) {
		u32 octet = bit / 8;
		bool pointer = octet == 22 || (octet == 23 && bit % 8 >= 2);

		env->stream[octet] ^= 1 << bit % 8;
		KUNIT_EXPECT_EQ_MSG(test, verdict(test, env, bit % NUM_SHAPES),
				    pointer ? MPA_ERR_MARKER : MPA_ERR_NONE, "bit %u", bit);
		env->stream[octet] ^= 1 << bit % 8;
	}
}

static void mrk_13_wrong_pointer_under_a_good_crc(struct kunit *test)
{
	struct rx_env *env = single_create(test, true);

	env->stream[23] = 0x18;
	KUNIT_EXPECT_EQ(test, verdict(test, env, LINEAR), MPA_ERR_CRC);
	framer_seal(&env->f);
	KUNIT_EXPECT_EQ(test, verdict(test, env, LINEAR), MPA_ERR_MARKER);
	env->stream[23] = 0;
	framer_seal(&env->f);
	KUNIT_EXPECT_EQ(test, verdict(test, env, FRAGS), MPA_ERR_MARKER);
}

static void frm_04_mrk_01_mrk_02_what_is_ignored(struct kunit *test)
{
	struct rx_env *env = single_create(test, true);

	env->stream[20] = 0xff;	/* Marker: reserved */
	env->stream[21] = 0xff;
	env->stream[23] |= 3;	/* Marker: low bits */
	env->stream[47] = 0xee;	/* pad, the last octet before the CRC field */
	KUNIT_EXPECT_EQ(test, verdict(test, env, LINEAR), MPA_ERR_CRC);
	framer_seal(&env->f);
	KUNIT_EXPECT_EQ(test, verdict(test, env, LINEAR), MPA_ERR_NONE);
	KUNIT_EXPECT_EQ(test, verdict(test, env, EMPTY_HEAD), MPA_ERR_NONE);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(rcv_03_cut_linear),
	KUNIT_CASE(rcv_03_cut_frags),
	KUNIT_CASE(rcv_03_cut_empty_head),
	KUNIT_CASE(rcv_03_cut_frag_list),
	KUNIT_CASE(rcv_03_single_octets),
	KUNIT_CASE(rcv_03_many_buffers),
	KUNIT_CASE(rcv_05_overlapping_buffers),
	KUNIT_CASE(rcv_05_contained_buffer),
	KUNIT_CASE(mrk_09_sequence_wrap),
	KUNIT_CASE(mrk_12_copy_in_pieces),
	KUNIT_CASE(rcv_02_peek_wants_what_is_missing),
	KUNIT_CASE(rcv_02_largest_length),
	KUNIT_CASE(rcv_03_fragments_side_by_side),
	KUNIT_CASE(cursor_ends_at_the_queues_end),
	KUNIT_CASE(rcv_03_cursor_ends_at_a_gap),
	KUNIT_CASE(list_within_a_list),
	KUNIT_CASE(crc_08_every_changed_bit),
	KUNIT_CASE(frm_05_mrk_13_without_crc),
	KUNIT_CASE(mrk_13_wrong_pointer_under_a_good_crc),
	KUNIT_CASE(frm_04_mrk_01_mrk_02_what_is_ignored),
	{}
};

static struct kunit_suite suite = {
	.name = "mpa_cursor",
	.suite_init = crc_suite_init,
	.suite_exit = crc_suite_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);

// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>
#include <linux/mm.h>
#include "buffers.h"

static struct sk_buff *linear_skb(struct kunit *test, const u8 *data, u32 len)
{
	struct sk_buff *skb = alloc_skb(len + 3, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, 3);
	skb_put_data(skb, data, len);
	return skb;
}

/* The first @head octets are in the head, the rest in up to 16 fragments. */
static struct sk_buff *frags_skb(struct kunit *test, const u8 *data, u32 len, u32 head)
{
	struct sk_buff *skb;
	u32 done, n, each;
	int i;

	head = min(head, len);
	skb = linear_skb(test, data, head);
	each = max(DIV_ROUND_UP(len - head, 16), 1u);
	for (i = 0, done = head; done < len; i++, done += n) {
		struct page *page = alloc_page(GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, page);
		n = min(each, len - done);
		memcpy(page_address(page) + 7, data + done, n);
		skb_add_rx_frag(skb, i, page, 7, n, PAGE_SIZE);
	}
	return skb;
}

/*
 * The first quarter is in the head, the second in the first member of the list,
 * the rest in the third; the second member is empty.
 */
static struct sk_buff *frag_list_skb(struct kunit *test, const u8 *data, u32 len)
{
	u32 quarter = len / 4;
	struct sk_buff *head = frags_skb(test, data, quarter, quarter / 2);
	struct sk_buff *member[3];
	int i;

	member[0] = linear_skb(test, data + quarter, quarter);
	member[1] = linear_skb(test, data, 0);
	member[2] = frags_skb(test, data + 2 * quarter, len - 2 * quarter, 0);
	skb_shinfo(head)->frag_list = member[0];
	for (i = 0; i < 3; i++) {
		member[i]->next = i < 2 ? member[i + 1] : NULL;
		head->len += member[i]->len;
		head->data_len += member[i]->len;
		head->truesize += member[i]->truesize;
	}
	return head;
}

/**
 * buffer_make() - make a buffer of some octets
 * @test: the case
 * @data: octets
 * @len: number of octets
 * @shape: how the octets lie in the buffer
 *
 * Return: the buffer.
 */
struct sk_buff *buffer_make(struct kunit *test, const u8 *data, u32 len, enum shape shape)
{
	switch (shape) {
	case FRAGS:
		return frags_skb(test, data, len, 5);
	case EMPTY_HEAD:
		return frags_skb(test, data, len, 0);
	case FRAG_LIST:
		return frag_list_skb(test, data, len);
	default:
		return linear_skb(test, data, len);
	}
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Find octets in memory regions, and place received octets there. Callers have
 * checked the access with iwm_mr_check(). Inline, because each segment uses
 * these functions.
 *
 * Pages are reached through the kernel's linear map. No mapping is needed that
 * could fail or sleep, so these functions work in softirq, too.
 */
#ifndef DDP_GLUE_PLACE_H
#define DDP_GLUE_PLACE_H

#include <mpa/cursor.h>
#include "types.h"

static_assert(IS_ENABLED(CONFIG_64BIT) && !IS_ENABLED(CONFIG_HIGHMEM),
	      "pages are reached through the linear map");

/**
 * iwm_mr_span() - find octets of a region that are contiguous in the kernel
 * @mr: region, held with iwm_mr_get() and checked for this access
 * @addr: address (Tagged Offset) of the first octet in @mr
 * @len: octets, at least 1
 * @at: set to the kernel address of the first one
 *
 * Neighbouring pages of a region are mostly neighbours in the linear map, so
 * that a message has few spans.
 *
 * Context: any.
 * Return: octets, at most @len; 0 when @addr is outside of the page list, which
 * the caller's check excludes.
 */
static inline u32 iwm_mr_span(const struct iwm_mr *mr, u64 addr, u32 len,
			      void **at)
{
	void **pages = mr->pages;
	u64 off, size, i, n;

	if (mr->dma) {
		*at = (void *)(uintptr_t)addr;
		return len;
	}
	off = addr - mr->va + mr->first_off;
	size = 1ULL << mr->page_shift;
	i = off >> mr->page_shift;
	if (unlikely(i >= mr->used_pages))
		return 0;

	off &= size - 1;
	*at = pages[i] + off;
	for (n = size - off; n < len; n += size) {
		if (i + 1 >= mr->used_pages || pages[i + 1] != pages[i] + size)
			break;
		i++;
	}
	return min_t(u64, n, len);
}

/**
 * iwm_place() - copy received octets into a memory region
 * @mr: region, held with iwm_mr_get() and checked for this access
 * @addr: address (Tagged Offset) of the first octet in @mr
 * @cur: cursor of the ULPDU being received, moved on by @len
 * @len: octets
 *
 * Context: softirq or process, as mpa_consumer_ops.receive().
 * Return: 0; -ERANGE when @addr is outside of the region; the cursor's errors.
 */
static inline int iwm_place(struct iwm_mr *mr, u64 addr,
			    struct mpa_cursor *cur, u32 len)
{
	void *at;
	int ret;
	u32 n;

	for (; len; addr += n, len -= n) {
		n = iwm_mr_span(mr, addr, len, &at);
		if (unlikely(!n))
			return -ERANGE;
		ret = mpa_cursor_copy(cur, at, n);
		if (unlikely(ret))
			return ret;
	}
	return 0;
}

#endif /* DDP_GLUE_PLACE_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of the cases: single pages, registered by work requests.
 */
#include <linux/slab.h>
#include "kverbs.h"

static void free_pages_of(struct kv_region *r)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(&r->sgt, sg, i)
		if (sg_page(sg))
			__free_page(sg_page(sg));
	sg_free_table(&r->sgt);
}

static int make_pages(struct kv_region *r)
{
	struct scatterlist *sg;
	unsigned int i;

	if (sg_alloc_table(&r->sgt, r->num_pages, GFP_KERNEL))
		return -ENOMEM;
	for_each_sgtable_sg(&r->sgt, sg, i) {
		struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);

		if (!page) {
			free_pages_of(r);
			return -ENOMEM;
		}
		sg_set_page(sg, page, PAGE_SIZE, 0);
	}
	return 0;
}

static void map(struct kv_region *r)
{
	struct kv_case *t = r->end->t;
	int n;

	n = ib_dma_map_sg(r->mr->device, r->sgt.sgl, r->num_pages,
			  DMA_BIDIRECTIONAL);
	kv_expect(t, n == r->num_pages, "ib_dma_map_sg: %d", n);
	n = ib_map_mr_sg(r->mr, r->sgt.sgl, n, NULL, PAGE_SIZE);
	kv_expect(t, n == r->num_pages, "ib_map_mr_sg: %d", n);
}

/**
 * kv_region() - allocate pages and a mapped, invalid fast-register MR
 * @end: the end that owns them
 * @num_pages: number of pages
 *
 * Return: freed with the connection; not usable when the case has failed.
 */
struct kv_region *kv_region(struct kv_end *end, unsigned int num_pages)
{
	static struct ib_mr no_mr;
	static struct kv_region none = { .mr = &no_mr };
	struct kv_case *t = end->t;
	struct kv_region *r;
	struct ib_mr *mr;

	if (t->failed)
		return &none;
	r = kzalloc(sizeof(*r), GFP_KERNEL);
	if (r)
		r->num_pages = num_pages;
	if (!r || make_pages(r)) {
		kfree(r);
		kv_fail(t, "no memory");
		return &none;
	}
	mr = ib_alloc_mr(end->pd, IB_MR_TYPE_MEM_REG, num_pages);
	if (IS_ERR(mr)) {
		kv_fail(t, "ib_alloc_mr: %pe", mr);
		free_pages_of(r);
		kfree(r);
		return &none;
	}
	r->end = end;
	r->mr = mr;
	list_add(&r->entry, &t->regions);
	map(r);
	return r;
}

void kv_free_regions(struct kv_case *t)
{
	struct kv_region *r, *next;

	list_for_each_entry_safe(r, next, &t->regions, entry) {
		ib_dereg_mr(r->mr);
		free_pages_of(r);
		list_del(&r->entry);
		kfree(r);
	}
}

/* REG_MR, completed */
void kv_register(struct kv_region *r, int access)
{
	struct ib_reg_wr wr = {
		.wr = { .opcode = IB_WR_REG_MR },
		.mr = r->mr,
		.key = r->mr->rkey,
		.access = access,
	};
	struct kv_work *work;

	if (!r->end || r->end->t->failed)
		return;
	work = kv_work(r->end->t);
	kv_post(r->end, work, &wr.wr);
	kv_wait(r->end->t, work, IB_WC_SUCCESS);
}

/* As kv_region(), and register it. */
struct kv_region *kv_mr(struct kv_end *end, unsigned int num_pages, int access)
{
	struct kv_region *r = kv_region(end, num_pages);

	kv_register(r, access);
	return r;
}

/* LOCAL_INV, completed */
void kv_invalidate(struct kv_region *r)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = r->mr->rkey,
	};
	struct kv_work *work;

	if (!r->end || r->end->t->failed)
		return;
	work = kv_work(r->end->t);
	kv_post(r->end, work, &wr);
	kv_wait(r->end->t, work, IB_WC_SUCCESS);
}

struct ib_sge kv_sge(const struct kv_region *r, u32 offset, u32 len)
{
	return (struct ib_sge) {
		.addr = r->mr->iova + offset,
		.length = len,
		.lkey = r->mr->lkey,
	};
}

/* An SGE for the start of the first page, with the DMA key */
struct ib_sge kv_dma_sge(const struct kv_region *r, u32 len)
{
	struct ib_sge sge = { .length = len };

	if (!r->end)
		return sge;
	sge.addr = sg_dma_address(r->sgt.sgl);
	sge.lkey = r->end->pd->local_dma_lkey;
	return sge;
}

static u8 pattern(u8 seed, u32 i)
{
	return ((i ^ (u32)seed << 24) * 2654435761u) >> 24;
}

void kv_fill(struct kv_region *r, u8 seed)
{
	struct scatterlist *sg;
	unsigned int page, i;

	if (!r->end)
		return;
	for_each_sgtable_sg(&r->sgt, sg, page)
		for (i = 0; i < PAGE_SIZE; i++)
			((u8 *)sg_virt(sg))[i] = pattern(seed,
							 page * PAGE_SIZE + i);
}

/* Expect @len octets at @offset to be those of pattern @seed from @from on. */
void kv_compare(const struct kv_region *r, u32 offset, u32 len, u8 seed,
		u32 from)
{
	u32 end = offset + len, start = 0, at;
	struct scatterlist *sg;
	unsigned int page;

	if (!r->end || r->end->t->failed)
		return;
	for_each_sgtable_sg(&r->sgt, sg, page) {
		const u8 *data = sg_virt(sg);

		for (at = max(offset, start);
		     at < min_t(u32, end, start + PAGE_SIZE); at++) {
			u8 want = pattern(seed, from + at - offset);

			if (data[at - start] == want)
				continue;
			kv_fail(r->end->t, "octet %u is %02x, want %02x", at,
				data[at - start], want);
			return;
		}
		start += PAGE_SIZE;
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Rings that user space maps: their memory, and their keys for mmap().
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "mmap.h"

/*
 * A ring that user space may map. @lock keeps the ring from being freed while a
 * mapping is made.
 */
struct iwm_mmap {
	struct rdma_user_mmap_entry entry;
	struct mutex lock;	/* guards @addr */
	void *addr;		/* NULL: it can no longer be mapped */
};

#define to_iwm_mmap(p)	container_of(p, struct iwm_mmap, entry)

/* Skip the key SIW_INVAL_UOBJ_KEY, which means "no ring" to libsiw. */
#define IWM_MMAP_MIN_PGOFF	((SIW_INVAL_UOBJ_KEY >> PAGE_SHIFT) + 1)

/**
 * iwm_ring_alloc() - allocate a ring
 * @len: octets
 * @user: user space will map it; it is charged to the caller's memory cgroup
 *
 * A small ring gets a page of the linear map, because a mapping of its own
 * would cost more than the page. vmalloc_user() would not charge the cgroup.
 *
 * Context: process.
 * Return: whole pages of zeroes, free them with iwm_ring_free(); NULL without
 * memory.
 */
void *iwm_ring_alloc(size_t len, bool user)
{
	gfp_t gfp = iwm_gfp(user) | __GFP_ZERO;

	if (len <= PAGE_SIZE)
		return (void *)__get_free_page(gfp);
	return __vmalloc(PAGE_ALIGN(len), gfp);
}

/**
 * iwm_ring_free() - drop our references to the pages of a ring
 * @ring: of iwm_ring_alloc(), or NULL
 *
 * Context: process.
 */
void iwm_ring_free(void *ring)
{
	if (is_vmalloc_addr(ring))
		vfree(ring);
	else
		free_page((unsigned long)ring);
}

static struct page *ring_page(void *addr)
{
	return is_vmalloc_addr(addr) ? vmalloc_to_page(addr) :
				       virt_to_page(addr);
}

/**
 * iwm_mmap_insert() - let user space map a ring
 * @ctx: user context that may map it
 * @addr: memory of iwm_ring_alloc()
 * @len: octets
 * @key: set to the offset that user space passes to mmap()
 *
 * Context: process.
 * Return: entry for iwm_mmap_remove(), NULL without memory.
 */
struct rdma_user_mmap_entry *
iwm_mmap_insert(struct ib_ucontext *ctx, void *addr, size_t len, u64 *key)
{
	struct iwm_mmap *map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);

	if (!map)
		return NULL;
	mutex_init(&map->lock);
	map->addr = addr;
	if (rdma_user_mmap_entry_insert_range(ctx, &map->entry, len,
					      IWM_MMAP_MIN_PGOFF, U32_MAX)) {
		kfree(map);
		return NULL;
	}
	*key = rdma_user_mmap_get_offset(&map->entry);
	return &map->entry;
}

/**
 * iwm_mmap_remove() - refuse new mappings of a ring
 * @entry: entry of iwm_mmap_insert(), or NULL
 *
 * The ring may be freed afterwards. Existing mappings hold its pages.
 *
 * Context: process.
 */
void iwm_mmap_remove(struct rdma_user_mmap_entry *entry)
{
	struct iwm_mmap *map;

	if (!entry)
		return;
	map = to_iwm_mmap(entry);
	mutex_lock(&map->lock);
	map->addr = NULL;
	mutex_unlock(&map->lock);
	rdma_user_mmap_entry_remove(entry);
}

void iwm_mmap_free(struct rdma_user_mmap_entry *entry)
{
	kfree(to_iwm_mmap(entry));
}

/* The mapping holds each page; @vma is as long as the ring. */
static int vma_insert_ring(struct vm_area_struct *vma, void *ring)
{
	unsigned long at;
	int ret = 0;

	for (at = vma->vm_start; at != vma->vm_end && !ret; at += PAGE_SIZE) {
		ret = vm_insert_page(vma, at, ring_page(ring));
		ring += PAGE_SIZE;
	}
	return ret;
}

int iwm_mmap(struct ib_ucontext *ctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry = rdma_user_mmap_entry_get(ctx, vma);
	struct iwm_mmap *map;
	int ret = -EINVAL;

	if (!entry)
		return ret;
	map = to_iwm_mmap(entry);
	mutex_lock(&map->lock);
	if (map->addr)
		ret = vma_insert_ring(vma, map->addr);
	mutex_unlock(&map->lock);
	rdma_user_mmap_entry_put(entry);
	return ret;
}

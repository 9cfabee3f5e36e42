/* SPDX-License-Identifier: GPL-2.0 */
/* Rings that user space maps. */
#ifndef DDP_GLUE_MMAP_H
#define DDP_GLUE_MMAP_H

#include "types.h"

void *iwm_ring_alloc(size_t len, bool user);
void iwm_ring_free(void *ring);
struct rdma_user_mmap_entry *
iwm_mmap_insert(struct ib_ucontext *ctx, void *addr, size_t len, u64 *key);
/*
 * Call this before freeing the ring, not rdma_user_mmap_entry_remove(). @entry
 * may be NULL.
 */
void iwm_mmap_remove(struct rdma_user_mmap_entry *entry);
int iwm_mmap(struct ib_ucontext *ctx, struct vm_area_struct *vma);
void iwm_mmap_free(struct rdma_user_mmap_entry *entry);

#endif /* DDP_GLUE_MMAP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Memory regions and their STags. */
#ifndef DDP_GLUE_MEM_H
#define DDP_GLUE_MEM_H

#include "types.h"

/* A right that no region grants */
#define IWM_ACCESS_NEVER	BIT(30)

void iwm_mr_init(struct iwm_dev *dev);
void iwm_mr_exit(struct iwm_dev *dev);
struct iwm_mr *iwm_mr_get(struct iwm_dev *dev, u32 stag);
void iwm_mr_put(struct iwm_mr *mr);

/* Is @mr (or NULL) the valid region of @stag? @mr is held, or under RCU. */
static inline bool iwm_mr_is(const struct iwm_mr *mr, u32 stag)
{
	return mr && READ_ONCE(mr->stag) == stag && READ_ONCE(mr->loan.valid);
}

/*
 * As iwm_mr_get(), for a caller that looks up the same region repeatedly:
 * *@cache holds the reference until the caller looks up another region or drops
 * the cache. It must be dropped at the end of each batch: deregistration waits
 * for it.
 */
static inline struct iwm_mr *iwm_mr_cached(struct iwm_dev *dev,
					   struct iwm_mr **cache, u32 stag)
{
	struct iwm_mr *mr = *cache;

	if (likely(iwm_mr_is(mr, stag)))
		return mr;
	if (mr)
		iwm_mr_put(mr);
	mr = iwm_mr_get(dev, stag);
	*cache = mr;
	return mr;
}

static inline void iwm_mr_drop_cache(struct iwm_mr **cache)
{
	if (*cache)
		iwm_mr_put(*cache);
	*cache = NULL;
}

/*
 * Was @mr (held) registered on a connection other than @ibqp's? The peer of
 * that connection can invalidate it, so octets of this one are checked and
 * placed with @mr->lock held.
 */
static inline bool iwm_mr_is_lent_elsewhere(const struct iwm_mr *mr,
					    const struct ib_qp *ibqp)
{
	return mr->lent_on && mr->lent_on != ibqp->qp_num;
}

/**
 * iwm_mr_check() - is this access permitted?
 * @mr: region of iwm_mr_get()
 * @pd: protection domain of the QP (or SRQ) that asks
 * @addr: first address (Tagged Offset) of the access
 * @len: octets, may be 0
 * @access: IB_ACCESS_* rights that are needed, 0 for local reading
 *
 * Each refusal has its own errno, which callers translate for a Terminate
 * (RFC 5040 section 4.8) or a completion.
 *
 * Context: any.
 * Return: 0; -ENOENT: invalidated meanwhile; -EPERM: not of this protection
 * domain; -EACCES: rights are missing; -EOVERFLOW: @addr + @len wraps;
 * -ERANGE: not within the region.
 */
static inline int iwm_mr_check(const struct iwm_mr *mr, const struct ib_pd *pd,
			       u64 addr, u64 len, int access)
{
	if (!READ_ONCE(mr->loan.valid))
		return -ENOENT;
	if (mr->ibmr.pd != pd)
		return -EPERM;
	if (access & ~READ_ONCE(mr->access))
		return -EACCES;
	if (len && addr + (len - 1) < addr)
		return -EOVERFLOW;
	if (len > mr->len || addr - mr->va > mr->len - len)
		return -ERANGE;
	return 0;
}

/**
 * iwm_mr_check_remote() - may the peer make this access?
 * @mr: region of iwm_mr_get()
 * @ibqp: QP whose peer asks
 * @addr: first address (Tagged Offset) of the access
 * @len: octets, may be 0
 * @access: IB_ACCESS_REMOTE_* rights that are needed
 *
 * A fast-register region is lent to the peer of the QP that it was registered
 * on, and to no other (RFC 5042 6.1.1): after a flush on that QP has completed,
 * no peer can reach the region.
 *
 * Context: any.
 * Return: as iwm_mr_check(); -EPERM also for a region that is lent elsewhere.
 */
static inline int iwm_mr_check_remote(const struct iwm_mr *mr,
				      const struct ib_qp *ibqp, u64 addr,
				      u64 len, int access)
{
	if (unlikely(iwm_mr_is_lent_elsewhere(mr, ibqp)))
		return -EPERM;
	return iwm_mr_check(mr, ibqp->pd, addr, len, access);
}

/**
 * iwm_mr_take_sink() - make a region the sink of a READ
 * @mr: region of iwm_mr_get()
 * @ibqp: QP that the READ was posted on
 *
 * RNICs require REMOTE_WRITE of a sink. Kernel consumers (rdma_rw) therefore
 * grant it, and reuse the memory after the READ with the region still
 * registered. Here a Response needs only LOCAL_WRITE, so the peer loses
 * REMOTE_WRITE until the region is registered anew. A program's region keeps
 * its rights: the program decides when they end.
 *
 * Context: transmit owner.
 * Return: 0; -EBUSY: the peer of another QP may write to the region, perhaps
 * at this moment.
 */
static inline int iwm_mr_take_sink(struct iwm_mr *mr,
				   const struct ib_qp *ibqp)
{
	if (!mr->staged || !(mr->access & IB_ACCESS_REMOTE_WRITE))
		return 0;
	if (iwm_mr_is_lent_elsewhere(mr, ibqp))
		return -EBUSY;
	/* An upcall that has read the old rights ends before the READ can. */
	WRITE_ONCE(mr->access, mr->access & ~IB_ACCESS_REMOTE_WRITE);
	return 0;
}

/* Translate an error of these functions to a Remote Protection Error's code. */
static inline u8 iwm_mr_ecode(int err)
{
	switch (err) {
	case -EPERM:
		return RDMAP_ECODE_STAG_NOT_ASSOC;
	case -EACCES:
		return RDMAP_ECODE_ACCESS;
	case -ERANGE:
		return RDMAP_ECODE_BOUNDS;
	case -EOVERFLOW:
		return RDMAP_ECODE_TO_WRAP;
	case -EBUSY:
		return RDMAP_ECODE_CANNOT_INVALIDATE;
	}
	return RDMAP_ECODE_INVALID_STAG;
}

int iwm_mr_invalidate(const struct ib_qp *ibqp, u32 stag);
int iwm_mr_invalidate_local(struct iwm_dev *dev, const struct ib_pd *pd,
			    u32 stag, bool wait);
int iwm_mr_enable(const struct ib_qp *ibqp, struct ib_mr *ibmr, u32 key,
		  int access, bool wait);
struct ib_mr *iwm_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *iwm_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 len, u64 va,
			      int access, IWM_DMAH_PARM
			      struct ib_udata *udata);
struct ib_mr *iwm_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type,
			   u32 max_sg);
int iwm_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int num_sg,
		  unsigned int *sg_off);
int iwm_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);

#endif /* DDP_GLUE_MEM_H */

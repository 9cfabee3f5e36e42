// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions and their STags (RFC 5040 section 8.1, RFC 5042).
 *
 * An STag is a random 24-bit index and a key octet that belongs to the
 * consumer. Registration publishes a region in the device's table last; lookups
 * run under RCU. Deregistration reverses the order: it erases the region, waits
 * for its users, and unpins the memory.
 */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <rdma/uverbs_ioctl.h>
#include "mem.h"

#define IWM_STAG_INDEX_SHIFT	8
#define IWM_STAG_KEY		0xffu
#define IWM_STAG_TRIES		64

/*
 * The rights that have an effect. The others are accepted, as by hardware: the
 * operations that they permit do not exist here.
 */
#define IWM_ACCESS		(IB_ACCESS_LOCAL_WRITE | \
				 IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_READ)
#define IWM_ACCESS_REFUSED	(IB_ACCESS_ON_DEMAND | IB_ZERO_BASED)

/**
 * iwm_mr_init() - prepare a device's table of memory regions
 * @dev: new device
 */
void iwm_mr_init(struct iwm_dev *dev)
{
	xa_init_flags(&dev->mrs, XA_FLAGS_ACCOUNT);
}

/**
 * iwm_mr_exit() - release a device's table of memory regions
 * @dev: device without memory regions
 */
void iwm_mr_exit(struct iwm_dev *dev)
{
	WARN_ON(!xa_empty(&dev->mrs));
	xa_destroy(&dev->mrs);
}

/*
 * Publish @mr under a random index, which cannot be guessed and is unlikely to
 * be reused soon. STag 0 stays invalid.
 */
static int mr_publish(struct iwm_mr *mr, u8 key)
{
	int tries, ret;
	u32 index;

	for (tries = 0; tries < IWM_STAG_TRIES; tries++) {
		index = get_random_u32() >> IWM_STAG_INDEX_SHIFT;
		if (!index)
			continue;
		mr->stag = index << IWM_STAG_INDEX_SHIFT | key;
		mr->ibmr.lkey = mr->stag;
		mr->ibmr.rkey = mr->stag;
		ret = xa_insert(&mr->dev->mrs, index, mr, GFP_KERNEL);
		if (ret != -EBUSY)
			return ret;
	}
	return -ENOSPC;
}

static struct iwm_mr __rcu **mr_recent(struct iwm_dev *dev, u32 stag)
{
	return &dev->recent_mrs[(stag >> IWM_STAG_INDEX_SHIFT) %
				IWM_RECENT_MRS];
}

/*
 * Only a lookup that holds a region enters it into recent_mrs. No lookup holds
 * it once @drained is complete, so that it is removed for good and can be freed
 * by RCU. Removing another region that has replaced it does no harm.
 */
static void mr_withdraw(struct iwm_mr *mr)
{
	struct iwm_mr __rcu **recent = mr_recent(mr->dev, mr->stag);

	xa_erase(&mr->dev->mrs, mr->stag >> IWM_STAG_INDEX_SHIFT);
	if (!refcount_dec_and_test(&mr->users)) {
		smp_mb__after_atomic();	/* as iwm_mr_put() */
		wake_up_var(&mr->users);
		wait_for_completion(&mr->drained);
	}
	if (rcu_access_pointer(*recent) == mr)
		RCU_INIT_POINTER(*recent, NULL);
}

static struct iwm_mr *mr_alloc(struct ib_pd *ibpd, int access)
{
	struct iwm_dev *dev = to_iwm_dev(ibpd->device);
	struct iwm_mr *mr;
	int ret;

	ret = iwm_claim(&dev->num_mr, IWM_MAX_MR);
	if (ret)
		return ERR_PTR(ret);

	mr = kzalloc(sizeof(*mr), iwm_gfp(ibpd->uobject));
	if (!mr) {
		atomic_dec(&dev->num_mr);
		return ERR_PTR(-ENOMEM);
	}
	/* The core sets these, too, but only after the region is published. */
	mr->ibmr.device = ibpd->device;
	mr->ibmr.pd = ibpd;
	mr->dev = dev;
	mr->access = access & IWM_ACCESS;
	mr->page_shift = PAGE_SHIFT;
	refcount_set(&mr->users, 1);
	spin_lock_init(&mr->lock);
	init_completion(&mr->drained);
	return mr;
}

static void mr_free(struct iwm_mr *mr)
{
	kvfree(mr->pages);
	kvfree(mr->staged);
	ib_umem_release(mr->umem);
	atomic_dec(&mr->dev->num_mr);
	kfree_rcu(mr, rcu);
}

/*
 * The region of this STag, valid or not, with a reference; or NULL. An invalid
 * region in recent_mrs may be in mr_withdraw(), which must not have to wait for
 * new users: it counts only if the table still has it.
 */
static struct iwm_mr *mr_find(struct iwm_dev *dev, u32 stag)
{
	struct iwm_mr __rcu **recent = mr_recent(dev, stag);
	struct iwm_mr *mr, *last;

	rcu_read_lock();
	last = rcu_dereference(*recent);
	mr = last;
	if (!iwm_mr_is(mr, stag))
		mr = xa_load(&dev->mrs, stag >> IWM_STAG_INDEX_SHIFT);
	if (mr && !refcount_inc_not_zero(&mr->users))
		mr = NULL;
	/* Pairs with mr_quiesce(): count the user, then look at valid */
	smp_mb__after_atomic();
	if (mr && mr != last)
		rcu_assign_pointer(*recent, mr);
	rcu_read_unlock();
	if (!mr || READ_ONCE(mr->stag) == stag)
		return mr;
	iwm_mr_put(mr);
	return NULL;
}

/* Read valid before the STag: the region may be registered with a new key. */
static bool mr_is_valid(const struct iwm_mr *mr, u32 stag)
{
	/* Pairs with the release in mr_set_valid() */
	return smp_load_acquire(&mr->loan.valid) && READ_ONCE(mr->stag) == stag;
}

/**
 * iwm_mr_get() - find a memory region by its STag
 * @dev: device
 * @stag: the whole STag, key included
 *
 * Context: any.
 * Return: the region; release it with iwm_mr_put() soon, because deregistration
 * waits for it. NULL when there is no valid region of this STag.
 */
struct iwm_mr *iwm_mr_get(struct iwm_dev *dev, u32 stag)
{
	struct iwm_mr *mr = mr_find(dev, stag);

	if (!mr)
		return NULL;
	if (mr_is_valid(mr, stag))
		return mr;
	iwm_mr_put(mr);
	return NULL;
}

/**
 * iwm_mr_put() - drop a reference to a memory region
 * @mr: region of iwm_mr_get()
 *
 * Context: any.
 */
void iwm_mr_put(struct iwm_mr *mr)
{
	rcu_read_lock();	/* @mr may be freed once it is dropped */
	if (refcount_dec_and_test(&mr->users)) {
		complete(&mr->drained);
	} else {
		/* Pairs with mr_quiesce(): drop the reference, then look */
		smp_mb__after_atomic();
		if (unlikely(!READ_ONCE(mr->loan.valid) ||
			     atomic_read(&mr->waiting)))
			wake_up_var(&mr->users);
	}
	rcu_read_unlock();
}

/*
 * Is the region held only by its creator and by callers of mr_quiesce(), which
 * do not wait for one another? Each caller in @waiting still holds its
 * reference, or has found the region quiet. An invalid region gets no new
 * users, so that the region is then quiet for the other callers, too.
 */
static bool mr_is_quiet(const struct iwm_mr *mr)
{
	int waiting = atomic_read(&mr->waiting);

	smp_rmb();	/* pairs with mr_quiesce() */
	return refcount_read(&mr->users) <= 1 + waiting;
}

/*
 * Wait until no access to an invalid region is under way: it cannot be looked
 * up any more, and each access is short. The caller holds a reference.
 */
static void mr_quiesce(struct iwm_mr *mr)
{
	/* Pairs with mr_is_quiet(): our reference is among the users */
	smp_mb__before_atomic();
	atomic_inc(&mr->waiting);
	/* Waiting begins with a full barrier: see iwm_mr_put() */
	wait_var_event(&mr->users, mr_is_quiet(mr));
	atomic_dec(&mr->waiting);
}

static void mr_set_valid(struct iwm_mr *mr)
{
	/* Pairs with mr_is_valid(): the region is completely described */
	smp_store_release(&mr->loan.valid, true);
}

/*
 * A peer may invalidate only memory that was lent to it: a fast-register region
 * with remote rights, registered on the peer's own connection. All other memory
 * belongs to its consumer alone, which may need it on other connections
 * (RFC 5040 section 8.1.1, 7).
 */
static bool mr_is_lent(const struct iwm_mr *mr, const struct ib_qp *ibqp)
{
	return mr->staged && READ_ONCE(mr->lent_on) == ibqp->qp_num &&
	       READ_ONCE(mr->access) & (IB_ACCESS_REMOTE_READ |
					IB_ACCESS_REMOTE_WRITE);
}

/*
 * @peers: QP whose peer invalidates the region; NULL: its consumer does. The
 * lock makes this call wait for the mpa_loan_end() of a concurrent caller, also
 * when it finds the region invalid.
 */
static int mr_revoke(struct iwm_mr *mr, u32 stag, const struct ib_pd *pd,
		     const struct ib_qp *peers)
{
	/*
	 * Before mr_is_lent(), which then judges this registration and no later
	 * one: a valid region is not registered again before our reference is
	 * dropped.
	 */
	bool valid = mr_is_valid(mr, stag);

	if (mr->ibmr.pd != pd)
		return -EPERM;
	if (peers && !mr_is_lent(mr, peers))
		return -EBUSY;
	if (mr->dma)
		return -EACCES;
	spin_lock_bh(&mr->lock);
	if (valid)
		mpa_loan_end(&mr->loan);
	spin_unlock_bh(&mr->lock);
	return 0;
}

/**
 * iwm_mr_invalidate() - invalidate an STag for a peer
 * @ibqp: QP that the peer asks on
 * @stag: the whole STag; the consumer may have invalidated it already, for
 *	example because the process that waited for the peer was killed
 *
 * After this returns, no connection places octets in the region or reads from
 * it.
 *
 * Context: any.
 * Return: 0; -ENOENT: there is no region of this STag; -EPERM: not of this
 * protection domain; -EBUSY: the peer may not invalidate it.
 */
int iwm_mr_invalidate(const struct ib_qp *ibqp, u32 stag)
{
	struct iwm_mr *mr = mr_find(to_iwm_dev(ibqp->device), stag);
	int ret;

	if (!mr)
		return -ENOENT;
	ret = mr_revoke(mr, stag, ibqp->pd, ibqp);
	iwm_mr_put(mr);
	return ret;
}

/**
 * iwm_mr_invalidate_local() - invalidate an STag for its consumer
 * @dev: device
 * @pd: protection domain of the QP
 * @stag: the whole STag; the peer may have invalidated it already
 * @wait: return only when no access is under way any more, on any connection:
 *	the consumer is going to reuse the memory
 *
 * Context: any; process when @wait is set.
 * Return: 0; -ENOENT: there is no region of this STag; -EPERM: not of this
 * protection domain; -EACCES: a region that cannot be invalidated.
 */
int iwm_mr_invalidate_local(struct iwm_dev *dev, const struct ib_pd *pd,
			    u32 stag, bool wait)
{
	struct iwm_mr *mr = mr_find(dev, stag);
	int ret;

	if (!mr)
		return -ENOENT;
	ret = mr_revoke(mr, stag, pd, NULL);
	if (!ret && wait)
		mr_quiesce(mr);
	iwm_mr_put(mr);
	return ret;
}

/* Is an invalid region held by its creator alone? */
static bool mr_is_unused(const struct iwm_mr *mr)
{
	return refcount_read(&mr->users) <= 1;
}

/**
 * iwm_mr_enable() - register a fast-register region (IB_WR_REG_MR)
 * @ibqp: QP that it is posted on; only its peer may invalidate the region
 * @ibmr: region that iwm_map_mr_sg() has given a page list
 * @key: the whole STag, whose low octet is the consumer's new key
 * @access: IB_ACCESS_* rights
 * @wait: wait for accesses through the STag that a peer has invalidated, and
 *	for lookups of it, which a peer can cause at any time
 *
 * Context: process; any if not @wait. One caller at a time per region: its send
 * queue serialises the callers.
 * Return: 0; -EINVAL: no fast-register region, or @key is not of it;
 * -EPERM: not of this protection domain; -EBUSY: it is still valid; -EAGAIN: it
 * would have to wait.
 */
int iwm_mr_enable(const struct ib_qp *ibqp, struct ib_mr *ibmr, u32 key,
		  int access, bool wait)
{
	struct iwm_mr *mr = to_iwm_mr(ibmr);

	if (ibmr->device != ibqp->device || !mr->staged ||
	    (key ^ mr->stag) & ~IWM_STAG_KEY)
		return -EINVAL;
	if (ibmr->pd != ibqp->pd)
		return -EPERM;
	/* An invalid region gets no new users: look at it first */
	if (READ_ONCE(mr->loan.valid))
		return -EBUSY;
	/*
	 * Pairs with mr_find(): a lookup finds the region invalid, or is seen.
	 * When a peer's invalidation on a third CPU is still under way, an
	 * acquire is not enough on ppc64.
	 */
	smp_mb();

	/* For mr_quiesce(), too: a valid region may never become quiet. */
	if (!mr_is_unused(mr)) {
		if (!wait)
			return -EAGAIN;
		wait_var_event(&mr->users, mr_is_unused(mr));
	}
	/* Without a new list the previous one stays in force. */
	if (mr->staged_pages) {
		swap(mr->pages, mr->staged);
		mr->used_pages = mr->staged_pages;
		mr->staged_pages = 0;
	}
	mr->page_shift = ilog2(ibmr->page_size);
	mr->first_off = ibmr->iova & (ibmr->page_size - 1);
	mr->va = ibmr->iova;
	mr->len = ibmr->length;
	/* A peer's late invalidation may look at these */
	WRITE_ONCE(mr->access, access & IWM_ACCESS);
	WRITE_ONCE(mr->lent_on, ibqp->qp_num);
	WRITE_ONCE(mr->stag, key);
	mr_set_valid(mr);
	return 0;
}

/**
 * iwm_get_dma_mr() - a region of all kernel memory
 * @ibpd: a kernel consumer's protection domain
 * @access: IB_ACCESS_* rights
 *
 * The core makes one per kernel protection domain and publishes its key as
 * local_dma_lkey. The check of the protection domain keeps all other QPs away
 * from it, above all those of user space.
 *
 * Context: process.
 * Return: the region or an ERR_PTR.
 */
struct ib_mr *iwm_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct iwm_mr *mr;
	int ret;

	if (WARN_ON_ONCE(ibpd->uobject))
		return ERR_PTR(-EPERM);

	mr = mr_alloc(ibpd, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->dma = true;
	mr->len = U64_MAX;
	mr->loan.valid = true;

	ret = mr_publish(mr, 0);
	if (ret)
		goto err_free_mr;
	return &mr->ibmr;

err_free_mr:
	mr_free(mr);
	return ERR_PTR(ret);
}

/* Pages whose addresses are collected before other tasks may run */
#define MR_PAGES_AT_ONCE	SZ_4K

/* Collect the kernel addresses of a pinned region's pages, in order. */
static int mr_take_pages(struct iwm_mr *mr)
{
	size_t num = ib_umem_num_pages(mr->umem);
	struct sg_page_iter iter;
	u32 i = 0;

	if (num > IWM_MAX_MR_PAGES)
		return -EINVAL;
	mr->pages = kvcalloc(num, sizeof(*mr->pages), iwm_gfp(true));
	if (!mr->pages)
		return -ENOMEM;

	for_each_sgtable_page(&mr->umem->sgt_append.sgt, &iter, 0) {
		if (WARN_ON_ONCE(i == num))
			return -EINVAL;
		mr->pages[i++] = page_address(sg_page_iter_page(&iter));
		if (!(i % MR_PAGES_AT_ONCE))
			cond_resched();
	}
	mr->num_pages = i;
	mr->used_pages = i;
	return 0;
}

static struct iwm_mr *mr_pin(struct ib_pd *ibpd, u64 start, u64 len,
			     u64 va, int access)
{
	struct iwm_mr *mr;
	int ret;

	mr = mr_alloc(ibpd, access);
	if (IS_ERR(mr))
		return mr;

	mr->umem = ib_umem_get_va(ibpd->device, start, len, access);
	if (IS_ERR(mr->umem)) {
		ret = PTR_ERR(mr->umem);
		mr->umem = NULL;
		goto err_free_mr;
	}
	ret = mr_take_pages(mr);
	if (ret)
		goto err_free_mr;

	mr->va = va;
	mr->len = len;
	mr->first_off = ib_umem_offset(mr->umem);
	return mr;

err_free_mr:
	mr_free(mr);
	return ERR_PTR(ret);
}

/**
 * iwm_reg_user_mr() - register memory of a process
 * @ibpd: protection domain
 * @start: first address in the process
 * @len: octets, not 0
 * @va: address (Tagged Offset) of the first octet on the wire
 * @access: IB_ACCESS_* rights
 * @udata: struct siw_ureq_reg_mr in, struct siw_uresp_reg_mr out
 *
 * Context: process. RLIMIT_MEMLOCK is enforced by ib_umem_get_va().
 * Return: the region or an ERR_PTR.
 */
struct ib_mr *iwm_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 len, u64 va,
			      int access, IWM_DMAH_PARM
			      struct ib_udata *udata)
{
	struct siw_uresp_reg_mr resp = {};
	struct siw_ureq_reg_mr req = {};
	struct iwm_mr *mr;
	int ret;

	if ((access & IWM_ACCESS_REFUSED) || IWM_HAS_DMAH || !udata)
		return ERR_PTR(-EOPNOTSUPP);
	if (!len || va + (len - 1) < va)
		return ERR_PTR(-EINVAL);
	if (udata->inlen < sizeof(req) || udata->outlen < sizeof(resp))
		return ERR_PTR(-EINVAL);
	ret = ib_copy_from_udata(&req, udata, sizeof(req));
	if (ret)
		return ERR_PTR(ret);

	mr = mr_pin(ibpd, start, len, va, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	ret = mr_publish(mr, req.stag_key);
	if (ret)
		goto err_free_mr;

	resp.stag = mr->stag;
	ret = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (ret)
		goto err_withdraw_mr;
	mr_set_valid(mr);
	return &mr->ibmr;

err_withdraw_mr:
	mr_withdraw(mr);
err_free_mr:
	mr_free(mr);
	return ERR_PTR(ret);
}

/**
 * iwm_alloc_mr() - make a region for fast registration, invalid at first
 * @ibpd: protection domain
 * @type: IB_MR_TYPE_MEM_REG
 * @max_sg: pages that it can hold, 1..IWM_MAX_PBL
 *
 * Context: process.
 * Return: the region or an ERR_PTR.
 */
struct ib_mr *iwm_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type,
			   u32 max_sg)
{
	struct iwm_mr *mr;
	int ret;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_sg || max_sg > IWM_MAX_PBL)
		return ERR_PTR(-EINVAL);

	mr = mr_alloc(ibpd, 0);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->num_pages = max_sg;
	mr->pages = kvcalloc(max_sg, sizeof(*mr->pages), GFP_KERNEL);
	mr->staged = kvcalloc(max_sg, sizeof(*mr->staged), GFP_KERNEL);
	if (!mr->pages || !mr->staged) {
		ret = -ENOMEM;
		goto err_free_mr;
	}
	ret = mr_publish(mr, 0);
	if (ret)
		goto err_free_mr;
	return &mr->ibmr;

err_free_mr:
	mr_free(mr);
	return ERR_PTR(ret);
}

/* Without a DMA device a "DMA address" is a kernel address. */
static int mr_stage_page(struct ib_mr *ibmr, u64 addr)
{
	struct iwm_mr *mr = to_iwm_mr(ibmr);

	if (mr->staged_pages == mr->num_pages)
		return -ENOMEM;
	mr->staged[mr->staged_pages++] = (void *)(uintptr_t)addr;
	return 0;
}

/**
 * iwm_map_mr_sg() - give a fast-register region its next page list
 * @ibmr: region of iwm_alloc_mr(); may be valid, and stays as it is until
 *	iwm_mr_enable() puts the list in force
 * @sg: DMA-mapped memory
 * @num_sg: elements of @sg
 * @sg_off: offset into the first element, or NULL
 *
 * Context: any; the consumer serialises its calls for a region.
 * Return: elements of @sg that were mapped, or a negative errno.
 */
int iwm_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int num_sg,
		  unsigned int *sg_off)
{
	struct iwm_mr *mr = to_iwm_mr(ibmr);

	if (!mr->staged || !is_power_of_2(ibmr->page_size))
		return -EINVAL;
	mr->staged_pages = 0;
	return ib_sg_to_pages(ibmr, sg, num_sg, sg_off, mr_stage_page);
}

/**
 * iwm_dereg_mr() - deregister a memory region
 * @ibmr: region
 * @udata: unused
 *
 * Context: process. Waits for accesses that are under way.
 * Return: 0.
 */
int iwm_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct iwm_mr *mr = to_iwm_mr(ibmr);

	WRITE_ONCE(mr->loan.valid, false);
	mr_withdraw(mr);
	mr_free(mr);
	return 0;
}

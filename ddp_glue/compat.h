/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between kernels in the RDMA core: which functions struct
 * ib_device_ops has, and their parameters.
 */
#ifndef DDP_GLUE_COMPAT_H
#define DDP_GLUE_COMPAT_H

#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include <mpa/compat.h>

/* Parameter of create_cq(): a program's data, NULL for kernel consumers */
#ifdef HAVE_CREATE_CQ_ATTRS
#define iwm_cq_attrs	uverbs_attr_bundle

static inline struct ib_udata *iwm_cq_udata(struct iwm_cq_attrs *attrs)
{
	return attrs ? &attrs->driver_udata : NULL;
}
#else
#define iwm_cq_attrs	ib_udata

static inline struct ib_udata *iwm_cq_udata(struct iwm_cq_attrs *attrs)
{
	return attrs;
}
#endif

/*
 * The core ends a kernel consumer's poller and then calls destroy_cq(). A core
 * without pre_destroy_cq() does not end notification first, so that a handler
 * may have started the poller again.
 */
#ifdef HAVE_PRE_DESTROY_CQ
#define IWM_PRE_DESTROY_CQ(function)	.pre_destroy_cq = (function),

static inline void iwm_cq_end_poller(struct ib_cq *cq)
{
}
#else
#define IWM_PRE_DESTROY_CQ(function)

static inline void iwm_cq_end_poller(struct ib_cq *cq)
{
	/* irq_poll needs no help: it stays disabled. */
	if (cq->poll_ctx == IB_POLL_WORKQUEUE ||
	    cq->poll_ctx == IB_POLL_UNBOUND_WORKQUEUE)
		cancel_work_sync(&cq->work);
}
#endif

/* Kernel consumers cannot resize their CQs in newer kernels. */
#ifdef HAVE_RESIZE_CQ
#define IWM_RESIZE_CQ(function)	.resize_cq = (function),
#else
#define IWM_RESIZE_CQ(function)
#endif

/* A handle for steering DMA; this device does no DMA */
#ifdef HAVE_REG_USER_MR_DMAH
#define IWM_DMAH_PARM	struct ib_dmah *dmah,
#define IWM_HAS_DMAH	(dmah)
#else
#define IWM_DMAH_PARM
#define IWM_HAS_DMAH	false
#endif

#ifndef HAVE_UMEM_GET_VA
#define ib_umem_get_va	ib_umem_get
#endif

#endif /* DDP_GLUE_COMPAT_H */

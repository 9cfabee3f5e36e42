/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The objects of the RDMA device, their limits and their locks.
 *
 * Lock order: socket lock (mpa.ko) -> each of qp->lock, rq->lock, cq->lock, and
 * sq->lock -> cq->lock; see Documentation/locking.md. All spinlocks here are
 * taken with bottom halves or interrupts off, because receive upcalls run in
 * softirq and kernel consumers post from any context.
 */
#ifndef DDP_GLUE_TYPES_H
#define DDP_GLUE_TYPES_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include <rdma/siw-abi.h>

#include <mpa/mpa.h>
#include <mpa/negotiate.h>
#include "compat.h"
#include "ddp.h"
#include "rdmap.h"

/* An unassigned OUI, as in rxe: programs take 0 for "no device". */
#define IWM_VENDOR_ID		0xffffff

/* Device limits: what query_device reports and create_* enforces. */
#define IWM_MAX_QP		65536
#define IWM_MAX_QP_WR		16384
#define IWM_MAX_CQ		65536
#define IWM_MAX_CQE		1048576
#define IWM_MAX_SRQ		65536
#define IWM_MAX_SRQ_WR		65536
#define IWM_MAX_MR		1048576
#define IWM_MAX_MR_PAGES	(INT_MAX / sizeof(void *))	/* kvmalloc()'s limit */
#define IWM_MAX_PD		(IWM_MAX_QP + IWM_MAX_SRQ)	/* one each */
#define IWM_MAX_SGE		SIW_MAX_SGE	/* of an entry of a ring */
#define IWM_MAX_SEND_SGE	16	/* of a kernel consumer's entry */
#define IWM_MAX_SGE_RD		IWM_MAX_SGE	/* one Read Request each */
#define IWM_MAX_INLINE		SIW_MAX_INLINE
#define IWM_MAX_IRD		128
#define IWM_MAX_ORD		128
#define IWM_MAX_MSG		0x80000000u	/* octets of one message */
#define IWM_MAX_PBL		1024	/* pages of a fast-register MR */

/* Counters of the device beside those of mpa.ko. */
enum iwm_stat {
#define IWM_COUNTER(id, name, text)	IWM_STAT_##id,
#include "counters.h"
	IWM_NUM_STATS
};

struct iwm_mib {
	u64 v[IWM_NUM_STATS];
};

/* The administrator's settings of one device: see settings.c */
enum iwm_setting {
#define MPA_SETTING(id, field, name, type, preset, text)	IWM_SETTING_##id,
#include <mpa/settings.h>
	IWM_NUM_SETTINGS
};

/* GIDs of a device: link addresses (see device.c), then IP addresses (gids.c) */
#define IWM_NUM_LINK_GIDS	2
#define IWM_NUM_ADDR_GIDS	30
#define IWM_NUM_GIDS		(IWM_NUM_LINK_GIDS + IWM_NUM_ADDR_GIDS)

/* Recently used regions, found without a walk through the table */
#define IWM_RECENT_MRS		256

struct iwm_qp;

/**
 * struct iwm_dev - one RDMA device on one netdev
 * @netdev: under RCU; NULL once the netdev is being unregistered; then the
 *	device has no network namespace either: see iwm_dev_net()
 * @registered: ib_register_device() has added it to all clients of the core
 * @gids: written under rtnl, read without a lock
 * @speed: of the netdev in Mbit/s, 0 when unknown; written under rtnl
 * @setting: the administrator's; negative: mpa.ko's parameter applies
 * @receive_wait: the administrator's; how many ms a Send waits for a receive
 * @hand_port: the administrator's; TCP port where QPs that are connected by hand
 *	wait for their peers, 0: none may be
 * @recent_mrs: by the low bits of their index. A region is entered only by a
 *	holder of a reference, and removed after the last one is dropped: see
 *	mr_withdraw()
 */
struct iwm_dev {
	struct ib_device ibdev;		/* first */
	struct net_device __rcu *netdev;
	netdevice_tracker netdev_tracker;
	struct list_head entry;		/* devices, devices_lock */
	bool registered;
	u8 mac[ETH_ALEN] __aligned(2);	/* source of the node GUID */
	union ib_gid gids[IWM_NUM_GIDS];
	u32 speed;
	s8 setting[IWM_NUM_SETTINGS];
	u32 receive_wait;
	u32 hand_port;
	enum ib_port_state port_state;	/* as last reported; under rtnl */

	/* QP number -> struct iwm_qp; XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ */
	struct xarray qps;
	u32 next_qpn;			/* under the lock of qps */
	struct xarray mrs;		/* STag >> 8 -> struct iwm_mr */
	struct iwm_mr __rcu *recent_mrs[IWM_RECENT_MRS];
	atomic_t num_qp, num_cq, num_srq, num_mr, num_pd;
	atomic_t num_ceps;		/* the device is not freed before them */
	atomic_t last_cq_id;		/* libsiw names CQs by it in messages */

	struct mpa_mib __percpu *mpa_mib;
	struct iwm_mib __percpu *mib;
	struct work_struct remove_work;	/* after the netdev's removal */
	struct work_struct change_work;	/* after a change of the netdev */
	/* cq.c calls it for a QP whose completion is lost; any context */
	void (*completion_lost)(struct iwm_qp *qp);
};

struct iwm_ucontext {
	struct ib_ucontext ibctx;
};

struct iwm_pd {
	struct ib_pd ibpd;
};

/**
 * struct iwm_mr - a memory region (or the local DMA key's)
 * @stag: key as seen on the wire: index << 8 | consumer key octet
 * @loan: invalidation clears its flag; each segment checks it. Octets of a
 *	fast-register region are copied for sending under it
 * @users: short-term references while octets are copied. The region is freed
 *	only after the last one is dropped: dereg waits for @drained. A
 *	consumer's invalidation waits until all other holders are waiting
 *	invalidations as well
 * @waiting: number of invalidations that wait
 * @va: first address (Tagged Offset) of the region
 * @len: octets
 * @first_off: offset of @va in the first page
 * @pages: user MR and fast-register MR: kernel addresses of the pages, in
 *	order
 * @staged: fast-register MR: the list that iwm_map_mr_sg() fills and
 *	iwm_mr_enable() swaps with @pages, so that mapping a region anew never
 *	changes the memory behind a still valid STag
 * @page_shift: of @pages entries, PAGE_SHIFT for user MRs
 * @dma: DMA MR: addresses are kernel virtual addresses
 * @lent_on: fast-register MR: number of the QP that it was registered on
 * @lock: held while octets from connections other than that of @lent_on are
 *	placed, and while @loan is ended
 */
struct iwm_mr {
	struct ib_mr ibmr;
	struct iwm_dev *dev;
	u32 stag;
	struct mpa_loan loan;
	bool dma;
	int access;			/* IB_ACCESS_* */
	refcount_t users;
	atomic_t waiting;
	struct completion drained;
	u64 va;
	u64 len;
	u32 first_off;
	u8 page_shift;
	u32 num_pages;			/* capacity of @pages */
	u32 used_pages;			/* entries in use */
	u32 staged_pages;		/* of @staged, 0: no new list */
	u32 lent_on;
	spinlock_t lock;		/* see above */
	void **pages;
	void **staged;
	struct ib_umem *umem;
	struct rcu_head rcu;
};

/* Bits of iwm_cq.flags */
enum {
	IWM_CQ_CALLED,	/* a call of the handler is due */
	IWM_CQ_CALLING,	/* a CPU calls the handler */
	IWM_CQ_STOPPED,	/* the last call has ended, or is waited for */
};

/**
 * struct iwm_cq - completion queue
 * @ring: @num_cqe entries. A user CQ shares it with user space, and @ctrl
 *	follows the entries. A kernel CQ may replace it (@lock)
 * @ctrl: the notification that the consumer asked for; user space writes its
 *	own
 * @own_ctrl: a kernel CQ's @ctrl
 * @put: next entry to write (@lock)
 * @get: next entry to poll, kernel CQ only (@lock)
 * @work: calls the handler from an interrupt
 * @calls: users of @work and the handler, and one until these are stopped
 * @calls_ended: @calls is 0
 * @mod_count: completions that a notification may wait for, 0: none (@lock)
 * @mod_usec: longest wait of a notification (@lock)
 * @held_back: completions that match the request for notification and have not
 *	been notified; @mod_timer runs while it is not 0 (@lock)
 */
struct iwm_cq {
	struct ib_cq ibcq;
	struct iwm_dev *dev;
	spinlock_t lock;		/* see above */
	struct siw_cqe *ring;
	struct siw_cq_ctrl *ctrl;
	struct siw_cq_ctrl own_ctrl;
	u32 num_cqe;			/* power of two */
	u32 put;
	u32 get;
	u32 id;
	bool user;
	bool overflowed;		/* IB_EVENT_CQ_ERR was raised (@lock) */
	struct rdma_user_mmap_entry *mmap_entry;

	unsigned long flags;
	struct irq_work work;
	atomic_t calls;
	struct completion calls_ended;
	u16 mod_count;
	u16 mod_usec;
	u16 held_back;
	struct hrtimer mod_timer;
};

/**
 * struct iwm_rq - a ring of receive work requests, of a QP or an SRQ
 * @ring: shared with user space for a user QP or SRQ: copy, then validate
 */
struct iwm_rq {
	spinlock_t lock;		/* see above */
	struct siw_rqe *ring;
	u32 num;			/* power of two */
	u32 get;
	u32 put;			/* kernel consumers only */
	u32 max_sge;
	bool user;
};

/**
 * struct iwm_rx_wait - the wait of a QP's next Send for a receive
 * @since: when it began, or receiving ended, as ktime_get_ns(); socket lock to
 *	set, or no upcall can run any more
 * @read_since: when the timer has found a Read of ours that waits behind the
 *	Send, or 0
 * @timer: looks for a receive: see recv_wait.c
 * @entry: in iwm_srq.waits (rq.lock of the SRQ)
 */
struct iwm_rx_wait {
	u64 since;
	u64 read_since;
	struct hrtimer timer;
	struct list_head entry;
};

struct iwm_srq {
	struct ib_srq ibsrq;
	struct iwm_dev *dev;
	struct iwm_rq rq;
	u32 limit;			/* rq.lock */
	bool armed;			/* rq.lock */
	struct list_head waits;		/* iwm_rx_wait; rq.lock */
	struct rdma_user_mmap_entry *mmap_entry;
};

/* One scatter element of a work request, checked against its MR when used. */
struct iwm_sge {
	u64 addr;
	u32 len;
	u32 lkey;
};

/* A receive work request that a message has been bound to. */
struct iwm_rwr {
	u64 id;
	u32 num_sge;
	u32 len;			/* longest message, in octets */
	struct iwm_sge sge[IWM_MAX_SGE];
};

/* An RDMA Read of ours that waits for its Response: the sink buffer. */
struct iwm_read_sink {
	u32 stag;
	u32 len;
	u64 to;
};

enum iwm_qp_state {
	IWM_QP_IDLE,
	IWM_QP_RTS,
	IWM_QP_CLOSING,			/* SQ is being emptied, or FIN sent */
	IWM_QP_TERMINATE,		/* a Terminate is to be sent */
	IWM_QP_ERROR,
};

struct iwm_cep;
struct iwm_sq;
struct iwm_rx;

/**
 * struct iwm_qp - queue pair
 * @lookups: calls of iw_get_qp whose iw_add_ref has not come yet
 * @lock: guards @state, @conn, @cep, @ird, @ord, @used and @dying
 * @conn_lock: held to make, end or release @conn in process context.
 *	@conn may be set a moment after the state has become RTS; the transmit
 *	owner is kicked when it is set
 * @close_work: sends our FIN and bounds the wait for the peer's; queued under
 *	@lock, and not once @dying
 * @fin_sent: our side is shut down or is being shut down (@conn_lock)
 * @deadline: jiffies at which the current step of closing is given up
 * @last_wqe_due: QP_LAST_WQE_REACHED is due when @rx_ended. Once for each QP,
 *	because a program that does not read its events could otherwise fill
 *	memory with them
 * @used: has been in RTS or ERROR; a QP carries one connection in its life
 * @rx_ended: receiving has ended: the transmit owner flushes the receive ring.
 *	A kernel consumer's post kicks it, a program's call of iwm_qp_close(),
 *	and the timer of @rx_wait
 * @rx_waits: @rx_wait is going on: the next Send has met no receive (socket lock
 *	to set)
 * @dying: is being destroyed: outstanding work requests get no completion
 *	(@lock to set)
 * @rtr: MPA_RTR_* that the transmit owner must send first, 0: none. Set with
 *	RTS; the owner reads and clears it without a lock
 * @responder: the peer is the Initiator; set before it can send
 * @agreed: the result of startup; complete before Full Operation begins
 * @owner: process that made the QP; only it may connect the QP. NULL: a kernel
 *	consumer
 * @by_hand: the consumer connects it by hand: see hand.c
 * @posted_early: by hand: when something was posted before the connection, in
 *	jiffies, 0: not yet
 * @peer_left: by hand: the peer has closed in order; a post ends the QP
 * @max_ord: by hand: max_rd_atomic
 * @rnr_wait_ns: by hand: how long a Send waits for a receive, 0: as the device's
 *	setting says
 * @sq: transmit side, see sq.h
 * @rx: receive side, see recv.c; the socket lock guards it
 */
struct iwm_qp {
	struct ib_qp ibqp;
	struct iwm_dev *dev;
	struct kref ref;
	atomic_t lookups;
	struct completion freed;
	u32 qpn;

	spinlock_t lock;		/* see above */
	enum iwm_qp_state state;
	bool by_hand;
	bool peer_left;
	struct mpa_conn *conn;
	struct iwm_cep *cep;

	struct mutex conn_lock;		/* ranks above the socket lock */
	struct delayed_work close_work;
	bool fin_sent;
	unsigned long deadline;
	u32 last_wqe_due;		/* not every CPU can xchg() a bool */
	bool used;
	bool rx_ended;
	bool rx_waits;
	bool dying;
	u8 rtr;
	bool responder;
	struct mpa_agreed agreed;

	struct iwm_cq *scq;
	struct iwm_cq *rcq;
	struct iwm_srq *srq;
	struct iwm_rq rq;
	struct iwm_sq *sq;
	struct iwm_rx *rx;
	struct iwm_rx_wait rx_wait;

	struct pid *owner;
	u16 max_ord;
	unsigned long posted_early;
	u64 rnr_wait_ns;
	bool user;
	bool sig_all;
	u16 ird;			/* inbound Reads in force */
	u16 ord;			/* outbound Reads in force */
	struct ib_qp_attr attr;		/* as set by modify_qp, for query_qp */
	struct ib_qp_cap cap;

	struct rdma_user_mmap_entry *sq_entry;
	struct rdma_user_mmap_entry *rq_entry;
};

#define to_iwm_dev(p)	container_of(p, struct iwm_dev, ibdev)
#define to_iwm_mr(p)	container_of(p, struct iwm_mr, ibmr)
#define to_iwm_cq(p)	container_of(p, struct iwm_cq, ibcq)
#define to_iwm_srq(p)	container_of(p, struct iwm_srq, ibsrq)
#define to_iwm_qp(p)	container_of(p, struct iwm_qp, ibqp)

/* The ring that the QP's receives come from. */
static inline struct iwm_rq *iwm_qp_rq(struct iwm_qp *qp)
{
	return qp->srq ? &qp->srq->rq : &qp->rq;
}

/*
 * Version of the DDP and RDMAP headers, both ways. It follows from MPA's,
 * because the three are never mixed (RFC 5044 section C.1).
 */
static inline u8 iwm_qp_version(const struct iwm_qp *qp)
{
	return qp->agreed.rev ? DDP_VERSION : DDP_VERSION_RDMAC;
}

/* Increment @count unless it is @max: release with atomic_dec(). */
static inline int iwm_claim(atomic_t *count, int max)
{
	return atomic_add_unless(count, 1, max) ? 0 : -ENOMEM;
}

static inline void iwm_count(struct iwm_dev *dev, enum iwm_stat stat)
{
	this_cpu_inc(dev->mib->v[stat]);
}

/*
 * Allocation flags of an object: a user's object is charged to its memory
 * cgroup. The user chose its size, and gets an error, so the kernel does not
 * warn. Context: process of the user.
 */
static inline gfp_t iwm_gfp(bool user)
{
	return user ? GFP_KERNEL_ACCOUNT | __GFP_NOWARN : GFP_KERNEL;
}

#endif /* DDP_GLUE_TYPES_H */

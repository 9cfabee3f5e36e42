/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The transmit side of a QP: work requests from the ring to TCP.
 *
 * One context at a time is a QP's transmit owner (IWM_SQ_OWNED): the poster,
 * the worker, or the thread or timer of gather_cpu.c. Any other context sets
 * IWM_SQ_AGAIN and leaves. The owner takes entries from the ring, serialises
 * them, hands them over, and completes in order the work requests that TCP has
 * taken. A user's ring is shared memory: an entry is copied once, and the copy
 * is checked and used.
 *
 * Doorbells: libsiw rings only when the entry before the new one is no longer
 * VALID. Entries therefore stay VALID until they are handed over. After the
 * owner has cleared one it checks the next again, with a full barrier between
 * (the poster stores the new entry and then checks the old one). In a burst
 * the doorbell starts a short timer instead of sending: posts until the timer
 * fires need no doorbell and are sent in one batch.
 * tests/prove/doorbell.pml is a model of this protocol.
 *
 * sq.c         notes for the owner, the rings and the FIFO of work requests,
 *              completion, lifetime
 * sq_post.c    kernel consumers' posts and the doorbell
 * sq_message.c choice of the next message: work request, Read Response, RTR
 * gather_cpu.c kernel consumers' posts that wait until the CPU is idle
 * sq_gather.c  whether they wait, and how they are sent
 * sq_owner.c   the transmit owner: takes turns, pauses, stops
 * sq_send.c    segments, Terminate, hand-over to TCP
 */
#ifndef DDP_GLUE_SQ_H
#define DDP_GLUE_SQ_H

#include <linux/hrtimer.h>
#include "types.h"

/* Bits of iwm_sq.flags */
enum {
	IWM_SQ_OWNED,		/* a context is the transmit owner */
	IWM_SQ_AGAIN,		/* the owner must look for new work */
	IWM_SQ_STOPPED,		/* the owner must leave the connection alone */
	IWM_SQ_FLUSH,		/* end receiving, then flush all work requests */
	IWM_SQ_BROKEN,		/* the QP must go into error */
	IWM_SQ_TERMINATE,	/* a Terminate waits to be sent */
	IWM_SQ_WAIT_READ,	/* a Read must finish first */
	IWM_SQ_DEFERRED,	/* the burst timer will kick the owner */
	/* The retry timer will kick the owner; until then a program's worker */
	IWM_SQ_NO_MEMORY,	/* does not send */
	IWM_SQ_REFLUSH,		/* does not flush */
	IWM_SQ_REST,		/* memory for FPDUs can be given back */
	IWM_SQ_GATHERING,	/* posts wait for others: sq_gather.c */
};

/* Why sending has to wait. */
enum sq_blocked {
	IWM_SQ_BLOCKED_NOT,
	IWM_SQ_BLOCKED_TCP,	/* its send buffer is full */
	IWM_SQ_BLOCKED_STARTUP,	/* not over, or the peer must send first */
	IWM_SQ_BLOCKED_READ,	/* a Read must finish first: fence, or ORD */
	IWM_SQ_BLOCKED_MEMORY,	/* an allocation failed; a timer retries */
	IWM_SQ_NUM_BLOCKED
};

/* The transmit owner's context. Those from IWM_SQ_ATOMIC on must not sleep. */
enum sq_context {
	IWM_SQ_WORKER,	/* also answers the peer's Reads */
	IWM_SQ_CALLER,	/* a doorbell or a verb, in its own time */
	IWM_SQ_ATOMIC,	/* a thread or timer of gather_cpu.c */
	IWM_SQ_POSTING,	/* ib_post_send(): nor may it call a consumer */
};

/**
 * struct iwm_gather - posts of a kernel consumer, and how long they wait
 * @entry: in the list of @on (its lock)
 * @on: the CPU whose list the queue is in, or NULL
 * @fired: gather_cpu.fired when it was put there
 * @activity: gather_activity() when the timer looked last
 * @users: references of the list and of the senders that took the queue off it
 * @posts: calls of ib_post_send(), counted up (post_lock)
 * @octets: octets that they have to send, counted up (post_lock)
 * @seen: @posts when the owner looked last (owner)
 * @octets_seen: @octets when the owner looked last (owner)
 * @singles: waits in succession that found a single post
 * @lease: number of next posts that are sent without a wait
 * @span: length of the next lease
 * @answered: segments of the peer when a post last used the lease
 */
struct iwm_gather {
	struct list_head entry;
	struct gather_cpu *on;
	atomic_t users;
	u32 fired;
	u32 activity;
	u32 posts;
	u32 octets;
	u32 seen;
	u32 octets_seen;
	u32 singles;
	u32 lease;
	u32 span;
	u32 answered;
};

/**
 * struct iwm_wqe - a work request from its fetch to its completion
 * @id: the poster's wr_id
 * @bytes: octets of payload, for the completion
 * @lkey: sink of a Read
 * @opcode: enum siw_opcode
 * @status: enum siw_wc_status
 * @signalled: the poster wants a completion on success, too
 * @end: stream position behind its last octet, once @written
 * @written: all of it is serialised
 * @done: finished, with @status: a Read, a local operation or a failure
 */
struct iwm_wqe {
	u64 id;
	u64 end;
	u32 bytes;
	u32 lkey;
	u8 opcode;
	u8 status;
	bool signalled;
	bool written;
	bool done;
};

/**
 * struct orq_entry - an outstanding Read of ours
 * @sink: where its Response goes
 * @wqe: place in the FIFO of its work request, or @own: of the next one to be
 *	taken. The Response confirms the Writes before that place
 * @own: no work request belongs to it: the RTR, or it confirms Writes
 * @more: it is not the last one of its work request
 */
struct orq_entry {
	struct iwm_read_sink sink;
	u32 wqe;
	bool own;
	bool more;
};

/**
 * struct read_rest - a Read's sinks that no Read Request has been sent for
 * @sge: the sinks. A Read Request names one sink, so each needs its own
 * @num_sge: elements in @sge
 * @cur: the next one; @num_sge when nothing is left
 * @stag: source of the next one
 * @to: its Tagged Offset there
 * @wqe: the work request's place in the FIFO
 */
struct read_rest {
	struct iwm_sge sge[IWM_MAX_SGE_RD];
	u32 num_sge;
	u32 cur;
	u32 stag;
	u64 to;
	u32 wqe;
};

enum msg_kind {
	IWM_MSG_NONE,
	IWM_MSG_WQE,
	IWM_MSG_RESPONSE,
	IWM_MSG_OWN,	/* not posted: the RTR, or a confirmation */
};

/**
 * struct tx_msg - the message that is being sent
 * @kind: why it is sent
 * @seg: header of the next segment
 * @left: octets of payload that are not serialised
 * @body: payload that is not in a memory region: inline data or a Read Request
 * @body_off: octets of @body that are serialised
 * @in_body: the payload comes from @body
 * @num_sge: elements of iwm_sq.sge with the payload's memory
 * @cur: element with the next octet
 * @cur_off: offset of the next octet in that element
 * @access: right that the memory must grant
 * @wqe: the work request's place in the FIFO
 */
struct tx_msg {
	enum msg_kind kind;
	struct ddp_segment seg;
	u32 left;
	u8 body[SIW_MAX_INLINE];
	u32 body_off;
	bool in_body;
	u32 num_sge;
	u32 cur;
	u32 cur_off;
	int access;
	u32 wqe;
};

/**
 * struct iwm_sq - transmit side of a QP
 * @qp: the QP
 * @ring: entries, shared with user space for a user QP
 * @more: elements of the entries that do not fit into @ring; kernel QP only,
 *	NULL when @max_sge is IWM_MAX_SGE
 * @fifo: work requests that have been taken and not completed
 * @num: entries in @ring and @fifo, a power of two
 * @max_sge: elements that an entry may have
 * @orq: our outstanding Reads; NULL before the first connection
 * @irq: the peer's Reads that have not been answered, in the memory of @orq
 * @orq_mask: index of the last place
 * @irq_mask: index of the last place
 * @flags: IWM_SQ_* bits, atomic
 * @claims: callers of own_begin() that wait for IWM_SQ_OWNED or hold it
 * @work: the worker
 * @burst_timer: ends the collection of a burst, or of receives that were posted
 *	after the end
 * @retry_timer: ends IWM_SQ_NO_MEMORY and IWM_SQ_REFLUSH
 * @term: the Terminate's body, written before IWM_SQ_TERMINATE is set
 * @term_len: octets of @term
 * @first_flushed: enum siw_wc_status of the first work request that is flushed,
 *	if none has failed: see iwm_sq_fail_first()
 * @post_lock: serialises kernel consumers
 * @put: next entry to write, kernel QP only
 * @gather: posts of a kernel consumer that wait
 * @bell_time: when the doorbell rang last, in ns of local_clock()
 * @bell_segments: segments received until then
 * @lock: serialises completion
 * @fifo_get: the oldest entry of @fifo
 * @fifo_put: behind the newest one
 * @failed: a work request has completed in error
 * @confirmed: by hand: the peer has placed the Writes before this place in
 *	@fifo: see next_confirmation()
 * @orq_get: the oldest one
 * @irq_put: behind the newest one
 * @get: next entry to take
 * @released: entries below it are given back to the poster. A work request
 *	completes only after its entry is given back
 * @accepted: stream position that TCP has taken
 * @orq_put: behind the newest one
 * @irq_get: the oldest one
 * @msg: the message that is being sent
 * @rest: the sinks that a Read into several elements has still to request
 * @mr: region that was used last, until the next hand-over
 * @msn: next MSN of each untagged queue
 * @blocked: enum sq_blocked
 * @tries: successive attempts that found no memory
 * @context: enum sq_context; IWM_SQ_WORKER or IWM_SQ_CALLER without an owner
 * @response_turn: a Response is sent before the next work request
 * @unconfirmed: by hand: Writes were sent, and no Read behind them
 * @sge: memory of @msg; has room for @max_sge elements
 */
struct iwm_sq {
	/* Constant; the last four while a connection may be used */
	struct iwm_qp *qp;
	struct siw_sqe *ring;
	struct siw_sge *more;
	struct iwm_wqe *fifo;
	u32 num;
	u32 max_sge;
	struct orq_entry *orq;
	struct rdmap_read *irq;
	u32 orq_mask;
	u32 irq_mask;

	/* Any context: notes for the owner */
	unsigned long flags;
	atomic_t claims;
	struct work_struct work;
	struct hrtimer burst_timer;
	struct hrtimer retry_timer;
	u8 term[RDMAP_TERM_MAX_LEN];
	u32 term_len;
	u8 first_flushed;

	/* Posters: kernel consumers under @post_lock, the others ring a bell */
	spinlock_t post_lock;		/* guards @put */
	u32 put;
	struct iwm_gather gather;
	u64 bell_time;
	u64 bell_segments;

	/* Completion, any context under @lock */
	spinlock_t lock;		/* guards @fifo and its indices */
	u32 fifo_get;
	u32 fifo_put;
	bool failed;
	u32 confirmed;

	/* Receive upcalls */
	u32 orq_get;
	u32 irq_put;

	/* The transmit owner; some are read elsewhere, written with WRITE_ONCE() */
	u32 get;
	u32 released;
	u64 accepted;
	u32 orq_put;
	u32 irq_get;
	struct tx_msg msg;
	struct read_rest rest;
	struct iwm_mr *mr;
	u32 msn[RDMAP_NUM_QUEUES];
	u8 blocked;
	u8 tries;
	u8 context;
	bool response_turn;
	bool unconfirmed;
	struct iwm_sge sge[];
};

static inline struct siw_sqe *iwm_sq_entry(struct iwm_sq *sq, u32 index)
{
	return &sq->ring[index & (sq->num - 1)];
}

/* Element @i of an entry, @i >= IWM_MAX_SGE: kept beside the ring. */
static inline struct siw_sge *iwm_sq_more(struct iwm_sq *sq, u32 index, u32 i)
{
	u32 first = (index & (sq->num - 1)) * (sq->max_sge - IWM_MAX_SGE);

	return &sq->more[first + i - IWM_MAX_SGE];
}

static inline struct iwm_wqe *iwm_sq_wqe(struct iwm_sq *sq, u32 index)
{
	return &sq->fifo[index & (sq->num - 1)];
}

static inline struct orq_entry *iwm_sq_orq(struct iwm_sq *sq, u32 index)
{
	return &sq->orq[index & sq->orq_mask];
}

static inline struct rdmap_read *iwm_sq_irq(struct iwm_sq *sq, u32 index)
{
	return &sq->irq[index & sq->irq_mask];
}

static inline bool iwm_sq_posted(struct iwm_sq *sq)
{
	/* Pairs with take_entry(), for contexts other than the owner */
	u32 get = smp_load_acquire(&sq->get);
	/* Pairs with the poster's release: the entry is complete */
	u16 flags = smp_load_acquire(&iwm_sq_entry(sq, get)->flags);

	return flags & SIW_WQE_VALID;
}

/* Has the last Read that was taken more sinks to request? */
static inline bool iwm_sq_has_rest(const struct iwm_sq *sq)
{
	return sq->rest.cur != sq->rest.num_sge;
}

/* Must the owner begin no further message? */
static inline bool iwm_sq_is_over(const struct iwm_sq *sq)
{
	return READ_ONCE(sq->flags) & (BIT(IWM_SQ_FLUSH) | BIT(IWM_SQ_BROKEN));
}

/* Must the owner not sleep? */
static inline bool iwm_sq_is_atomic(const struct iwm_sq *sq)
{
	return sq->context >= IWM_SQ_ATOMIC;
}

static inline bool iwm_sq_is_read(u8 opcode)
{
	return opcode == SIW_OP_READ || opcode == SIW_OP_READ_LOCAL_INV;
}

static inline u32 iwm_sq_reads(const struct iwm_sq *sq)
{
	/* Pairs with iwm_sq_read_done() */
	return READ_ONCE(sq->orq_put) - smp_load_acquire(&sq->orq_get);
}

static inline bool iwm_sq_responses(const struct iwm_sq *sq)
{
	/* Pairs with iwm_sq_add_response() */
	return smp_load_acquire(&sq->irq_put) != READ_ONCE(sq->irq_get);
}

/* Notes for the transmit owner. Any context. */
void iwm_sq_kick(struct iwm_qp *qp);
void iwm_sq_kick_responses(struct iwm_qp *qp);
void iwm_sq_flush(struct iwm_qp *qp);
void iwm_sq_flush_receives(struct iwm_qp *qp);
void iwm_sq_fail_first(struct iwm_qp *qp, enum siw_wc_status status);
void iwm_sq_break(struct iwm_qp *qp);
void iwm_sq_terminate(struct iwm_qp *qp, const struct rdmap_fault *fault);

/*
 * Is nothing posted, nothing being sent, no Read of a work request outstanding,
 * and neither a Response nor the RTR owed to the peer? Any context.
 */
bool iwm_sq_idle(struct iwm_qp *qp);

/* Outstanding Reads. Context: receive upcall. */
const struct iwm_read_sink *iwm_sq_oldest_read(struct iwm_qp *qp);
bool iwm_sq_is_read_sink(struct iwm_qp *qp, u32 stag, u64 to, u32 len,
			 u32 *asked);
bool iwm_sq_oldest_read_was_asked(const struct iwm_qp *qp, u32 asked);
int iwm_sq_add_response(struct iwm_qp *qp, const struct rdmap_read *rr);
void iwm_sq_read_done(struct iwm_qp *qp, enum siw_wc_status status);
bool iwm_sq_read_refused(struct iwm_qp *qp, u32 msn);

/* Lifetime. */
int iwm_sq_create(struct iwm_qp *qp, work_func_t work);
int iwm_sq_set_depths(struct iwm_qp *qp, u32 ird, u32 ord);
void iwm_sq_destroy(struct iwm_qp *qp);
void *iwm_sq_ring(struct iwm_qp *qp);
size_t iwm_sq_ring_size(struct iwm_qp *qp);

/* For the transmit owner, and completion. */
void iwm_sq_defer(struct iwm_sq *sq, u64 ns);
void iwm_sq_back_off(struct iwm_sq *sq, unsigned int bit, u64 ns);
u32 iwm_sq_push(struct iwm_sq *sq, const struct siw_sqe *sqe);
void iwm_sq_wqe_done(struct iwm_sq *sq, u32 index, enum siw_wc_status status);
bool iwm_sq_complete(struct iwm_qp *qp, bool flush);
void iwm_sq_release(struct iwm_sq *sq);
bool iwm_sq_flush_all(struct iwm_qp *qp);

#endif /* DDP_GLUE_SQ_H */

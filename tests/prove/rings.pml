/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings without a lock, and the end of the receive queue.
 *
 * Properties (Documentation/locking.md, "Rings without a lock"):
 * - the reader takes each entry once, in order, complete, and before the writer
 *   writes the place again;
 * - the poster that polls a completion finds the place in the send ring free;
 * - each receive is flushed once, in the order of the posts, and none stays in
 *   the ring after the end.
 *
 * Code, by the -D of a run:
 * -DFLAGS: the VALID flag hands over an entry. Send ring: post_list(),
 *	iwm_sq_posted(), iwm_sq_release(); receive ring: rqe_write(),
 *	rq_take_locked(); completion ring: cq_put(), iwm_poll_cq(). The poster's
 *	half, or the poller's, may be libsiw's: it has the same order.
 * -DINDEX: an index hands over an entry. irq: iwm_sq_add_response(),
 *	next_response(), message_done(); orq: prepare_read_request(),
 *	next_rtr(), iwm_sq_oldest_read(), read_ended(), iwm_sq_reads(). The FIFO
 *	of work requests (iwm_sq_push(), iwm_sq_complete(), may_start()) passes
 *	a free place the same way; a new entry under sq->lock.
 * -DFREE: iwm_sq_release(), then wqe_released() and iwm_sq_complete() of
 *	another context, then the poller's next post.
 * -DEND: iwm_post_recv(), iwm_rq_post(), iwm_sq_flush_receives(), own_look(),
 *	flush_rings(), iwm_qp_rx_end(), iwm_qp_flush_rq(), iwm_rq_take().
 *
 * Memory is weaker than in doorbell.pml: each CPU has a buffer for each
 * location. Stores to one location stay in order; those to two locations become
 * visible in any order. A release store waits in the buffer until the CPU's
 * earlier stores are visible; later stores and loads may overtake it. A full
 * barrier waits until the buffers are empty. A load without an acquire may be
 * done before an earlier one, and a store without a release before an earlier
 * load. A CPU that loads a location waits for its own store to it.
 *
 * In -DEND the owner flushes: the worker, which is kicked, and the caller of
 * iwm_qp_disconnect(). IWM_SQ_OWNED passes the ring on. rq->lock alone orders a
 * post and the flush: the run without the full barrier of iwm_post_recv() shows
 * that it adds nothing.
 *
 * For scripts/prove:
 * RUN flags                         -DFLAGS
 * RUN index                         -DINDEX
 * RUN free-when-complete            -DFREE
 * RUN end                           -DEND
 * RUN end-without-barrier           -DEND -DNO_MB
 * PROGRESS end                      -DEND
 * MUTANT valid-without-release      -DFLAGS -DNO_PUT_RELEASE
 * MUTANT valid-without-acquire      -DFLAGS -DNO_PUT_ACQUIRE
 * MUTANT taken-without-release      -DFLAGS -DNO_GET_RELEASE
 * MUTANT put-without-release        -DINDEX -DNO_PUT_RELEASE
 * MUTANT put-without-acquire        -DINDEX -DNO_PUT_ACQUIRE
 * MUTANT get-without-release        -DINDEX -DNO_GET_RELEASE
 * MUTANT room-not-checked           -DINDEX -DNO_ROOM
 * MUTANT released-without-release   -DFREE -DNO_RELEASED_RELEASE
 * MUTANT ended-not-read             -DEND -DNO_ENDED
 * MUTANT ended-set-last             -DEND -DENDED_LAST
 * MUTANT ended-before-the-bound     -DEND -DENDED_FIRST
 * MUTANT ended-not-kicked           -DEND -DNO_KICK
 * MUTANT kick-without-barrier       -DEND -DNO_KICK_MB
 * MUTANT note-cleared-late          -DEND -DCLEARS_LATE
 * MUTANT two-flush                  -DEND -DNO_OWNER
 */
#define RING	2
#define ENTRIES	4	/* twice round the ring */

/* Words of memory */
#define FLAG(i)	((i) % RING)
#define BODY(i)	(RING + (i) % RING)
#define PUT	4
#define GET	5
#define SQE	0	/* -DFREE: the entry's VALID flag */
#define RELEASED 1	/* sq->released */
#define CQE	2	/* VALID flag of the completion */
#define ENDED	4	/* -DEND: qp->rx_ended */
#define LOCK	5	/* rq->lock */
#define NUM_WORDS 6

#define NUM_CPUS 4

byte mem[NUM_WORDS];
chan sb[NUM_CPUS] = [4] of { byte, byte, bool };
byte over;		/* processes that have ended */

#define store(w, v)		sb[me]!w, v, false
#define store_release(w, v)	sb[me]!w, v, true
#define mb()			empty(sb[me])
#define settled(w)		(!sb[me]??[eval(w), 0, 0] && !sb[me]??[eval(w), 1, 0] && \
				 !sb[me]??[eval(w), 0, 1] && !sb[me]??[eval(w), 1, 1])

#ifdef NO_PUT_RELEASE
#define store_put(w, v)		store(w, v)
#else
#define store_put(w, v)		store_release(w, v)
#endif

/* Read the entry, then give its place back. */
inline read_and_give(w, v)
{
#ifdef NO_GET_RELEASE
	if
	:: body = mem[BODY(n)]; store(w, v)
	:: store(w, v); body = mem[BODY(n)]
	fi;
#else
	body = mem[BODY(n)];
	store_release(w, v);
#endif
	assert(body == n + 1);
	body = 0
}

/* Wait for the next entry. Without the acquire it is read before that. */
#ifdef NO_PUT_ACQUIRE
#define wait_and_read(is_there, w, v)		\
	do					\
	:: body = mem[BODY(n)];			\
		if				\
		:: is_there -> break		\
		:: else				\
		fi				\
	od;					\
	assert(body == n + 1);			\
	body = 0;				\
	store_release(w, v)
#else
#define wait_and_read(is_there, w, v)		\
	is_there;				\
	read_and_give(w, v)
#endif

#ifdef FLAGS
active proctype writer()
{
	byte me = 0, n;

	do
	:: n < ENTRIES ->
		settled(FLAG(n)) && !mem[FLAG(n)];
		store(BODY(n), n + 1);
		store_put(FLAG(n), 1);
		n++
	:: else -> break
	od;
	over++
}

active proctype reader()
{
	byte me = 1, n, body;

	do
	:: n < ENTRIES ->
		wait_and_read(settled(FLAG(n)) && mem[FLAG(n)], FLAG(n), 0);
		n++
	:: else -> break
	od;
	over++
}
#endif

#ifdef INDEX
active proctype writer()
{
	byte me = 0, n;

	do
	:: n < ENTRIES ->
#ifndef NO_ROOM
		n - mem[GET] < RING;
#endif
		store(BODY(n), n + 1);
		store_put(PUT, n + 1);
		n++
	:: else -> break
	od;
	over++
}

active proctype reader()
{
	byte me = 1, n, body;

	do
	:: n < ENTRIES ->
		wait_and_read(mem[PUT] > n, GET, n + 1);
		n++
	:: else -> break
	od;
	over++
}
#endif

#ifdef FREE
/* The ring's entry is posted and has been copied: iwm_sq_release() */
active proctype owner()
{
	byte me = 0;

	store_release(SQE, 0);
#ifdef NO_RELEASED_RELEASE
	store(RELEASED, 1);
#else
	store_release(RELEASED, 1);
#endif
	over++
}

/*
 * iwm_sq_complete() of the receive upcall. Its stores stay behind the load,
 * which is an acquire; cq_put() would also keep them there by its release.
 */
active proctype completer()
{
	byte me = 1;

	mem[RELEASED];
	store_release(CQE, 1);
	over++
}

active proctype poster()
{
	byte me = 2;

	mem[CQE];
	assert(!mem[SQE]);
	over++
}
#endif

#ifdef END
byte put, get;		/* guarded by rq->lock */
byte completed;
bool bound = true;	/* a Send is being received */
bool kicked;		/* IWM_SQ_AGAIN, and the worker is queued */
bool owned;		/* IWM_SQ_OWNED */

inline lock()
{
	atomic { settled(LOCK) && !mem[LOCK] -> mem[LOCK] = 1 }
}

/*
 * The lock is free for others when this store is visible; the CPU's earlier
 * stores are visible before it.
 */
#define unlock()	store_release(LOCK, 0)

inline iwm_rq_take()
{
	lock();
	got = settled(FLAG(get)) && mem[FLAG(get)];
	if
	:: got -> at = get; store_release(FLAG(get), 0); get++
	:: else
	fi;
	unlock()
}

inline flush_round()
{
	do
	:: iwm_rq_take();
		if
		:: got ->
			d_step {	/* iwm_cq_add() */
				assert(!bound && at == completed);
				completed++;
				at = 0;
				got = false
			}
		:: else -> break
		fi
	od
}

/* With IWM_SQ_OWNED held: the bit's lock is an acquire, its clearing a release. */
inline iwm_qp_flush_rq()
{
#ifndef NO_OWNER
	atomic { !owned -> owned = true };
#endif
#ifdef CLEARS_LATE
	if
	:: !mem[ENDED]
	:: else -> flush_round()
	fi;
	atomic { mb(); kicked = false };
#else
	if
	:: !(settled(ENDED) && mem[ENDED])
	:: else -> flush_round()
	fi;
#endif
#ifndef NO_OWNER
	atomic { mb(); owned = false }
#endif
}

/* iwm_post_recv() */
active [2] proctype poster()
{
	byte me = _pid;

	lock();
	store_release(FLAG(put), 1);
	put++;
	unlock();
#ifndef NO_MB
	mb();
#endif
	if
#ifndef NO_ENDED
	:: mem[ENDED] -> atomic { mb(); kicked = true }
#endif
	:: else
	fi;
	over++
}

/* sq_serve() */
active proctype worker()
{
	byte me = 3, at;
	bool got;

end:	do
#ifdef CLEARS_LATE
	:: kicked ->
#else
	:: atomic { kicked -> kicked = false };
#endif
		iwm_qp_flush_rq()
	od
}

/* iwm_qp_rx_end(); iwm_qp_disconnect() then flushes itself. */
active proctype ender()
{
	byte me = 2, at;
	bool got;

#ifdef ENDED_FIRST
	store(ENDED, 1);
#endif
	bound = false;		/* iwm_rx_flush() */
#if !defined(ENDED_FIRST) && !defined(ENDED_LAST)
	store_release(ENDED, 1);
#endif
#ifndef NO_KICK
#ifdef NO_KICK_MB
	kicked = true;
#else
	atomic { mb(); kicked = true };
#endif
#endif
	if
	:: true			/* an upcall leaves it to the worker */
	:: true -> iwm_qp_flush_rq()
	fi;
#ifdef ENDED_LAST
	store(ENDED, 1);
#endif
	over++
}
#endif

/*
 * Stores to different locations become visible in any order, those to one
 * location in program order. A step takes the oldest store of a CPU, or an
 * ordinary store that overtakes older ones.
 */
#define overtake(c, w)	:: atomic { sb[c]??w, v, 0 -> mem[w] = v; v = 0 }
#define visible(c)						\
	:: atomic { sb[c]?w, v, r -> mem[w] = v; w = 0; v = 0; r = 0 }	\
	overtake(c, 0) overtake(c, 1) overtake(c, 2)		\
	overtake(c, 3) overtake(c, 4) overtake(c, 5)

active proctype memory()
{
	byte w, v;
	bool r;

#ifdef FREE
	mem[SQE] = 1;
#endif
end:	do
	visible(0)
	visible(1)
	visible(2)
#ifdef END
	visible(3)
#endif
	od
}

/* Runs when no other process can continue. */
active proctype check()
{
end:	timeout;
#ifdef END
	assert(over == 3 && completed == 2 && !owned)
#else
#ifdef FREE
	assert(over == 3)
#else
	assert(over == 2)
#endif
#endif
}

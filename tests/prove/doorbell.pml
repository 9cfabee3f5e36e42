/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The doorbell: posters and the transmit owner.
 *
 * Code: ddp_glue/sq_post.c (post_list(), gather_posted(), iwm_post_send()),
 * ddp_glue/gather_cpu.c (iwm_gather_link()), ddp_glue/sq_gather.c
 * (iwm_gather_send()), ddp_glue/sq_owner.c (sq_run(), iwm_sq_run_atomic(),
 * own_begin(), own_end(), sq_flush(), iwm_sq_stop()),
 * ddp_glue/sq_send.c (iwm_sq_transmit()), ddp_glue/sq.c (iwm_sq_kick(),
 * iwm_sq_defer(), iwm_sq_back_off(), burst_end(), sq_retry(), iwm_sq_release(),
 * iwm_sq_flush_all()), and
 * siw_post_send() of libsiw.
 *
 * Properties (Documentation/locking.md, "The transmit owner"):
 * - no lost doorbell: when no process can continue, every posted entry has been
 *   handed to TCP or flushed;
 * - each entry is taken once, in order, and complete; one owner at a time;
 * - after iwm_sq_stop() no context uses the connection;
 * - progress: the owner and the worker do not loop for ever: a finite number of
 *   posts makes no cycle.
 *
 * Memory is weaker than x86's. Each CPU's stores wait in a buffer, in order and
 * for any time; a full barrier waits until the buffer is empty. An atomic
 * operation without a result (set_bit(), clear_bit()) may overtake its CPU's
 * stores, or wait behind them, so that the CPU's loads overtake it. All bits
 * are in one word, so that one CPU's operations on them stay in order. The
 * model assumes that queue_work() is a full barrier, and
 * test_and_set_bit_lock() an acquire.
 *
 * For scripts/prove:
 * RUN user               -DUSER
 * RUN user-ring-reused   -DUSER -DPOSTS=3 -DLEAN
 * RUN user-lists         -DUSER -DPOSTS=3 -DLEAN -DBATCH=2 -DRING=4
 * RUN user-stop          -DUSER -DSTOP -DLEAN
 * RUN user-no-memory     -DUSER -DLEAN -DNO_MEMORY
 * RUN user-reflush       -DUSER -DSTOP -DLEAN -DREFLUSH
 * RUN kernel             -DKERNEL
 * RUN kernel-ring-reused -DKERNEL -DPOSTS=3 -DLEAN
 * RUN kernel-stop        -DKERNEL -DSTOP -DLEAN
 * RUN kernel-no-memory   -DKERNEL -DLEAN -DNO_MEMORY
 * RUN kernel-reflush     -DKERNEL -DSTOP -DLEAN -DREFLUSH -DMUCH
 * PROGRESS user          -DUSER -DLEAN
 * PROGRESS kernel        -DKERNEL -DLEAN
 * MUTANT libsiw-looks-at-once     -DUSER -DNO_POSTER_MB
 * MUTANT release-without-barrier  -DUSER -DNO_RELEASE_MB
 * MUTANT owner-does-not-look      -DUSER -DNO_LOOK_AGAIN
 * MUTANT kick-without-barrier     -DKERNEL -DNO_KICK_MB
 * MUTANT owner-clears-late        -DKERNEL -DNO_RUN_MB
 * MUTANT owner-leaves-at-once     -DKERNEL -DNO_AGAIN
 * MUTANT valid-before-complete    -DKERNEL -DNO_RELEASE_STORE
 * MUTANT look-without-acquire     -DKERNEL -DNO_ACQUIRE
 * MUTANT complete-before-release  -DKERNEL -DCOMPLETE_EARLY
 * MUTANT wait-without-barrier     -DKERNEL -DPOSTS=3 -DMUCH -DNO_WAIT_MB
 * MUTANT timer-clears-late        -DUSER -DTIMER_CLEARS_LATE
 * MUTANT retry-clears-late        -DUSER -DLEAN -DNO_MEMORY -DRETRY_CLEARS_LATE
 * MUTANT refusal-clears-late      -DUSER -DSTOP -DLEAN -DREFLUSH -DRETRY_CLEARS_LATE
 * MUTANT flush-leaves-rest        -DUSER -DSTOP -DLEAN -DREFLUSH -DNO_REFLUSH
 * MUTANT flush-leaves-at-once     -DUSER -DSTOP -DLEAN -DREFLUSH -DTRY_LATER_LEAVES
 * MUTANT rest-without-kick        -DKERNEL -DSTOP -DLEAN -DREFLUSH -DMUCH -DNO_REFLUSH
 * MUTANT stop-without-waiting     -DUSER -DSTOP -DLEAN -DNO_STOP_WAIT
 * MUTANT owner-ignores-stop       -DUSER -DSTOP -DLEAN -DNO_STOPPED
 * MUTANT end-without-barrier      -DUSER -DSTOP -DLEAN -DNO_END_MB
 * MUTANT no-memory-leaves-at-once -DKERNEL -DLEAN -DNO_MEMORY -DTRY_LATER_LEAVES
 * MUTANT claim-ends-late          -DUSER -DSTOP -DLEAN -DCLAIM_ENDS_LATE
 * MUTANT posted-without-barrier   -DKERNEL -DLEAN -DNO_POSTED_MB
 * MUTANT claims-read-early        -DKERNEL -DSTOP -DLEAN -DNO_CLAIMS_MB
 * MUTANT gather-clears-late       -DKERNEL -DLEAN -DGATHER_CLEARS_LATE
 * MUTANT gather-without-barrier   -DKERNEL -DSTOP -DLEAN -DNO_GATHER_MB
 * MUTANT atomic-ignores-notes     -DKERNEL -DLEAN -DNO_ATOMIC_AGAIN
 * MUTANT atomic-keeps-the-rest    -DKERNEL -DLEAN -DNO_ATOMIC_KICK
 * MUTANT atomic-ignores-stop      -DKERNEL -DSTOP -DLEAN -DNO_ATOMIC_STOPPED
 */
#ifndef POSTS
#define POSTS	2
#endif
#ifndef RING
#define RING	2
#endif
#ifndef BATCH
#define BATCH	1
#endif
/*
 * -DLEAN: Sends only, and TCP always has room. -DNO_MEMORY: TCP has no memory
 * for its only buffer, up to NO_MEMORY_MAX times. -DREFLUSH: an owner flushes
 * one entry only, as if the ring had one, and leaves the rest to the next.
 */
#define NO_MEMORY_MAX	2
#ifdef REFLUSH
#define FLUSH_MAX	1
#else
#define FLUSH_MAX	POSTS
#endif

/* Words of memory, and the bits of iwm_sq.flags */
#define VALID(i)	((i) % RING)
#define BODY(i)		(RING + (i) % RING)
#define OWNED		(2 * RING)
#define AGAIN		(2 * RING + 1)
#define STOPPED		(2 * RING + 2)
#define FLUSH		(2 * RING + 3)
#define DEFERRED	(2 * RING + 4)
#define WAIT_READ	(2 * RING + 5)
#define RELEASED	(2 * RING + 6)	/* sq->released, as the other CPUs see it */
#define CLAIMS		(2 * RING + 7)	/* sq->claims: at most one in the model */
#define GATHERING	(2 * RING + 8)
#define BACKOFF		(2 * RING + 9)	/* IWM_SQ_NO_MEMORY, IWM_SQ_REFLUSH */
#define NUM_WORDS	(2 * RING + 10)

/* CPUs */
#define POSTER		0
#define WORKER		1
#define SOFTIRQ		2
#define STOPPER		3
#define GATHERER	4

#define NONE		255

byte mem[NUM_WORDS];
chan sb[5] = [3] of { byte, byte };

/* sq->get and sq->released belong to the owner; IWM_SQ_OWNED passes them on. */
byte get, released, owners;
byte posted, posting;		/* entries; posting includes unfinished ones */
byte flushed;			/* entries handed to TCP */
byte fifo_get;			/* entries completed */
bool finished[POSTS], sending[POSTS];
byte reading = NONE;		/* our Read that waits for its Response */
bool queued, timer, retry;	/* work queued, timers armed */
bool tcp_full;			/* TCP has no room */
bool linked;			/* the queue is in a CPU's list */
bool waiting, woken, conn_gone, poster_done, stop_done;
byte refused;			/* buffers that TCP had no memory for */
byte flushes;			/* entries, in this round of the ring */

#define store(w, v)	sb[me]!w, v
#define mb()		empty(sb[me])

/* This CPU has no operation on the flags in its buffer. */
#define word_free	(!sb[me]??[eval(AGAIN), 0] && !sb[me]??[eval(AGAIN), 1] && \
			 !sb[me]??[eval(DEFERRED), 0] && !sb[me]??[eval(WAIT_READ), 0] && \
			 !sb[me]??[eval(WAIT_READ), 1] && !sb[me]??[eval(GATHERING), 0] && \
			 !sb[me]??[eval(BACKOFF), 0])
#define test_bit(b)	(mem[b])

inline load(w, v)
{
	atomic {
		if
		:: sb[me]??[eval(w), 0] -> v = 0
		:: sb[me]??[eval(w), 1] -> v = 1
		:: else -> v = mem[w]
		fi
	}
}

/* set_bit() and clear_bit(): take effect now, or when the buffer drains. */
inline relaxed_bit(b, v)
{
	if
	:: atomic { word_free -> mem[b] = v }
	:: store(b, v)
	fi
}

inline queue_work()
{
	atomic { mb(); queued = true }
}

inline iwm_sq_kick()
{
#ifndef NO_KICK_MB
	mb();
#endif
	relaxed_bit(AGAIN, 1);
	word_free;
	if
	:: test_bit(OWNED)
	:: else -> queue_work()
	fi
}

/*
 * Take an entry, whose copy must equal the entry that was posted. It is a Send,
 * finished when TCP has it; a local operation, finished at once; or a Read, one
 * at a time, finished when its Response has arrived.
 */
inline take(v)
{
	atomic {
		assert(v == get + 1);
		if
		:: sending[get] = true
#ifndef LEAN
		:: finished[get] = true
		:: reading == NONE -> reading = get
#endif
		fi;
		get++;
		v = 0
	}
}

#define may_start	(get - fifo_get < RING)

/*
 * Complete in order, under sq->lock. A poster that sees a completion relies on
 * a free place in the ring.
 */
inline iwm_sq_complete(flush)
{
	atomic {
		do
		:: fifo_get < get && (flush || (finished[fifo_get]
#ifndef COMPLETE_EARLY
		   && fifo_get < mem[RELEASED]
#endif
		   )) ->
			assert(!mem[VALID(fifo_get)] || fifo_get + RING < posting);
			fifo_get++
		:: else -> break
		od
	}
}

inline iwm_sq_release()
{
	do
	:: released < get ->
		store(VALID(released), 0);
		released++
	:: else -> break
	od;
	store(RELEASED, released);
#ifndef NO_RELEASE_MB
	mb();
#endif
}

inline hand_over()
{
	atomic {
		do
		:: flushed < get ->
			finished[flushed] = finished[flushed] || sending[flushed];
			flushed++
		:: else -> break
		od
	}
	iwm_sq_release();
	iwm_sq_complete(false)
}

/* Without the acquire, the owner copies the entry before it reads the flag. */
inline look()
{
#ifdef NO_ACQUIRE
	body = mem[BODY(get)];
	load(VALID(get), valid);
#else
	load(VALID(get), valid);
	body = mem[BODY(get)];
#endif
}

/*
 * TCP may have no room: its upcall kicks the queue later. The budget may be
 * used up. Otherwise transmit until no entry is left, or until the next must
 * wait for the end of our Read: iwm_msg_wait_read().
 */
inline transmit()
{
	do
	:: test_bit(FLUSH) -> break
	:: else ->
		assert(!conn_gone);
		look();
		if
		:: valid && may_start -> take(body)
		/* The next entry needs the worker, or the socket is in use. */
		:: atomic_owner -> budget = true; hand_over(); break
		:: atomic_owner -> budget = true; break
#ifdef NO_MEMORY
		:: valid && may_start && refused < NO_MEMORY_MAX ->
			/* sk_write_space() within hand_over() */
			refused++;
			no_memory = true;
			iwm_sq_kick();
			break
#endif
#ifndef LEAN
		:: valid && may_start && get > released && !tcp_full ->
			tcp_full = true;
			hand_over();
			break
		:: valid && may_start && get > released ->
			budget = true;
			hand_over();
			break
#endif
		:: !(valid && may_start) ->
			hand_over();
#ifdef NO_LOOK_AGAIN
			break;
#endif
			look();
			if
			:: valid
			:: else -> break
			fi;
			relaxed_bit(WAIT_READ, 1);
#ifndef NO_WAIT_MB
			mb();
#endif
			if
			:: may_start -> relaxed_bit(WAIT_READ, 0)
			:: else -> break
			fi
		fi
	od
}

/*
 * Flush at most one round of the ring. valid tells whether entries are left.
 * rings.pml has the receive ring.
 */
inline flush_rings()
{
	iwm_sq_release();
	iwm_sq_complete(true);
	look();
	do
	:: valid && flushes < FLUSH_MAX ->
		flushes++;
		take(body);
		iwm_sq_release();
		iwm_sq_complete(true);
		look()
	:: else -> break
	od;
	flushes = 0
}

inline own_release()
{
	d_step { assert(owners == 1); owners-- }
	mb();			/* clear_bit_unlock() is a release */
	store(OWNED, 0);
#ifndef NO_END_MB
	mb();
#endif
	if
	:: mem[CLAIMS] && waiting -> woken = true
	:: else
	fi;
	mb()			/* the caller tests OWNED's word next */
}

/* A program's worker leaves the queue to the retry timer. */
#ifdef USER
#define backs_off	(me == WORKER && test_bit(BACKOFF))
#else
#define backs_off	false
#endif

inline iwm_sq_back_off()
{
	atomic {
		mb();
		if
		:: mem[BACKOFF]
		:: else -> mem[BACKOFF] = 1; retry = true
		fi
	}
}

/* sq_transmit() */
inline sq_transmit()
{
#ifdef NO_MEMORY
	if
	:: backs_off -> no_memory = true
	:: else ->
		transmit();
		if
		:: no_memory -> iwm_sq_back_off()
		:: else -> relaxed_bit(BACKOFF, 0)
		fi
	fi;
	try_later = no_memory;
	no_memory = false
#else
	transmit()
#endif
}

inline sq_flush()
{
	if
	:: backs_off -> try_later = true
	:: else ->
		flush_rings();
		word_free;
		if
#ifndef NO_REFLUSH
		:: valid || test_bit(AGAIN) ->
			valid = false;
#ifdef USER
			iwm_sq_back_off();
#endif
			budget = true
#endif
		:: else
		fi
	fi
}

/* test_and_set_bit_lock() */
inline own()
{
	atomic {
		word_free;
		got = !mem[OWNED];
		mem[OWNED] = 1;
		if
		:: got -> owners++
		:: else
		fi
	}
}

inline sq_run()
{
	do
	:: mem[CLAIMS] -> break
	:: else ->
		own();
		if
		:: !got -> break
		:: else
		fi;
		relaxed_bit(AGAIN, 0);
#ifndef NO_RUN_MB
		mb();
#endif
		/* sq_serve() */
		if
#ifdef NO_STOPPED
		:: true ->
#else
		:: test_bit(STOPPED)
		:: else ->
#endif
			sq_transmit();
			assert(!conn_gone)	/* sq_rest() */
		fi;
		if
		:: test_bit(FLUSH) -> sq_flush()
		:: else
		fi;
		own_release();
#if defined(NO_MEMORY) || defined(STOP)
#ifndef TRY_LATER_LEAVES
		try_later = try_later && test_bit(BACKOFF);
#endif
		if
		:: try_later -> try_later = false; break
		:: else
		fi;
#endif
		if
		:: budget ->
			budget = false;
			iwm_sq_kick();
			break
		:: else
		fi;
#ifdef NO_AGAIN
		break;
#endif
		word_free;
		if
		:: test_bit(AGAIN)
		:: else -> break
		fi
	od
}

/* iwm_sq_run_atomic() */
inline iwm_sq_run_atomic()
{
	if
	:: mem[CLAIMS]
	:: else ->
		own();
		if
		:: !got
		:: else ->
			relaxed_bit(AGAIN, 0);
			mb();
			if
#ifndef NO_ATOMIC_STOPPED
			:: test_bit(STOPPED) || test_bit(FLUSH) ||
			   test_bit(BACKOFF) -> budget = true
#endif
			:: else ->
				atomic_owner = true;
				transmit();
				atomic_owner = false
			fi;
			own_release();
			word_free;
			if
#ifndef NO_ATOMIC_KICK
			:: budget || no_memory -> iwm_sq_kick()
#endif
#ifndef NO_ATOMIC_AGAIN
			:: test_bit(AGAIN) -> iwm_sq_kick()
#endif
			:: else
			fi;
			budget = false;
			no_memory = false
		fi
	fi
}

#ifdef NO_CLAIMS_MB
bool claimed;
#endif

/* gather_posted(): a batch (-DMUCH: always), within a lease, or neither */
inline gather_posted()
{
	if
	:: iwm_sq_kick()
#ifndef MUCH
	:: true ->
#ifndef NO_POSTED_MB
		mb();
#endif
#ifdef NO_CLAIMS_MB
		claimed = mem[CLAIMS];	/* own_try()'s load overtakes the bit */
#endif
		relaxed_bit(AGAIN, 1);
		word_free;
		if
		:: test_bit(OWNED)
		:: else ->
			if
#ifdef NO_CLAIMS_MB
			:: claimed
#endif
			:: iwm_sq_run_atomic()
			:: atomic {
				mb();
				if
				:: mem[GATHERING]
				:: else -> mem[GATHERING] = 1; linked = true
				fi
			   }
			fi
		fi
#endif
	fi
}

/* iwm_gather_send(), of the thread or the timer */
active proctype gatherer()
{
	byte me = GATHERER, body;
	bool valid, got, budget, no_memory, try_later, atomic_owner;

end:	do
	:: linked ->
		linked = false;
#ifdef GATHER_CLEARS_LATE
		iwm_sq_run_atomic();
		relaxed_bit(GATHERING, 0)
#else
		relaxed_bit(GATHERING, 0);
#ifndef NO_GATHER_MB
		mb();
#endif
		if
		:: true -> iwm_sq_run_atomic()
		:: true -> iwm_sq_kick()	/* the pass has no room */
		fi
#endif
	od
}

/* What user space does by itself, and iwm_post_send() */
active proctype poster()
{
	byte me = POSTER, body, n;
	bool valid, got, budget, no_memory, try_later, atomic_owner;

	do
	:: posted < POSTS ->
		n = 0;
		do
		:: n < BATCH && posted + n < POSTS ->
			/* Wait for room in the ring. */
			(!sb[me]??[eval(VALID(posted + n)), 1] &&
			 !mem[VALID(posted + n)]);
			posting = posted + n + 1;
#ifdef NO_RELEASE_STORE
			store(VALID(posted + n), 1);
			store(BODY(posted + n), posted + n + 1);
#else
			store(BODY(posted + n), posted + n + 1);
			store(VALID(posted + n), 1);
#endif
			n++
		:: else -> break
		od;
#ifdef USER
#ifndef NO_POSTER_MB
		mb();		/* atomic_store(), atomic_load() of C11 */
#endif
		load(VALID(posted + RING - 1), valid);
		posted = posted + n;
		if
		:: valid		/* no doorbell */
		:: !valid ->		/* the doorbell, in a burst */
			atomic {
				mb();
				if
				:: mem[DEFERRED]
				:: else -> mem[DEFERRED] = 1; timer = true
				fi
			}
		:: !valid ->		/* the doorbell */
			relaxed_bit(AGAIN, 1);
			mb();
			sq_run()
		fi
#else
		posted = posted + n;
		gather_posted()
#endif
	:: else -> break
	od;
	poster_done = true
}

/* iwm_sq_work() */
active proctype worker()
{
	byte me = WORKER, body;
	bool valid, got, budget, no_memory, try_later, atomic_owner;

end:	do
	:: queued ->
		queued = false;
		sq_run()
	od
}

/* burst_end(), sq_retry(), TCP's upcall when it has room again, iwm_sq_read_done() */
active proctype softirq()
{
	byte me = SOFTIRQ;
	bool wait;

end:	do
	:: timer ->
		timer = false;
#ifdef TIMER_CLEARS_LATE
		iwm_sq_kick();
		relaxed_bit(DEFERRED, 0)
#else
		relaxed_bit(DEFERRED, 0);
		iwm_sq_kick()
#endif
	:: retry ->
		retry = false;
#ifdef RETRY_CLEARS_LATE
		iwm_sq_kick();
		relaxed_bit(BACKOFF, 0)
#else
		relaxed_bit(BACKOFF, 0);
		iwm_sq_kick()
#endif
	:: tcp_full ->
		tcp_full = false;
		iwm_sq_kick()
	:: reading < flushed ->
		d_step { finished[reading] = true; reading = NONE }
		iwm_sq_complete(false);
		atomic { mb(); wait = mem[WAIT_READ]; mem[WAIT_READ] = 0 }
		if
		:: wait -> wait = false; iwm_sq_kick()
		:: else
		fi
	od
}

#ifdef STOP
/* iwm_sq_stop() */
active proctype stopper()
{
	byte me = STOPPER, body;
	bool valid, got;

	mem[FLUSH] = 1;
	mem[STOPPED] = 1;
#ifdef NO_STOP_WAIT
	skip;
#else
	/* wait_on_bit_lock(): join the wait queue, full barrier, test */
	mem[CLAIMS] = 1;
	do
	:: true ->
		waiting = true;
		if
		:: test_bit(OWNED) -> woken; woken = false
		:: else
		fi;
		own();
		if
		:: got -> break
		:: else
		fi
	od;
	waiting = false;
	flush_rings();
#ifndef CLAIM_ENDS_LATE
	store(CLAIMS, 0);
#endif
	own_release();
#endif
	conn_gone = true;
	if
	:: mem[AGAIN] -> iwm_sq_kick()
	:: valid -> iwm_sq_kick()
	:: else
	fi;
#ifdef CLAIM_ENDS_LATE
	store(CLAIMS, 0);
#endif
	stop_done = true
}
#endif

/* Each CPU's stores become visible at some time, in order. */
active proctype memory()
{
	byte w, v;

end:	do
	:: atomic { sb[POSTER]?w, v -> mem[w] = v; w = 0; v = 0 }
	:: atomic { sb[WORKER]?w, v -> mem[w] = v; w = 0; v = 0 }
	:: atomic { sb[SOFTIRQ]?w, v -> mem[w] = v; w = 0; v = 0 }
	:: atomic { sb[GATHERER]?w, v -> mem[w] = v; w = 0; v = 0 }
#ifdef STOP
	:: atomic { sb[STOPPER]?w, v -> mem[w] = v; w = 0; v = 0 }
#endif
	od
}

/* Runs when no other process can continue: no work may be left. */
active proctype check()
{
end:	timeout;
	assert(poster_done);
	assert(fifo_get == POSTS && !owners);
#ifdef STOP
	assert(stop_done);
#endif
}

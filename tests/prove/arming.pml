/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arming a completion queue: completions, the consumer, calls of the handler.
 *
 * Code: ddp_glue/cq.c (iwm_cq_add(), cq_put(), iwm_poll_cq(),
 * iwm_req_notify_cq()), ddp_glue/notify.c (iwm_notify_due(), iwm_notify(),
 * notify_call(), notify_interrupt(), notify_later(), notify_timeout(),
 * iwm_notify_stop()), and
 * siw_notify_cq() and siw_poll_cq() of libsiw, which use no lock.
 *
 * Properties (Documentation/locking.md, "Arming a CQ"):
 * - no lost event: when a consumer that has armed the queue waits, it has seen
 *   every completion for which it asked an event;
 * - an arm causes one event at most;
 * - the consumer reads each entry once, when it is complete;
 * - one CPU at a time calls the handler, and none after the queue is destroyed.
 *
 * Memory is modelled as in rings.pml: each CPU has a buffer for each location,
 * and only a release store waits for the earlier ones. A full barrier or the
 * release of a lock waits until the buffers are empty; taking a lock does not.
 * (A kernel consumer polls under the lock, whose release is a sufficient
 * barrier. Only a consumer that does not poll under the lock needs the barrier
 * of iwm_req_notify_cq().)
 *
 * For scripts/prove:
 * RUN user                  -DUSER
 * RUN user-solicited        -DUSER -DWEAKER
 * RUN user-moderated        -DUSER -DMODERATE=2
 * RUN kernel                -DKERNEL
 * RUN kernel-moderated      -DKERNEL -DMODERATE=2
 * PROGRESS kernel           -DKERNEL -DMODERATE=2
 * MUTANT consumer-without-barrier   -DUSER -DNO_ARM_MB
 * MUTANT completion-without-barrier -DUSER -DNO_DUE_MB
 * MUTANT look-and-arm               -DUSER -DLOOK_FIRST
 * MUTANT weaker-arm-is-dropped      -DUSER -DWEAKER -DMATCH_AGAIN
 * MUTANT arm-is-not-taken           -DUSER -DARM_STAYS
 * MUTANT valid-before-complete      -DUSER -DNO_RELEASE_STORE
 * MUTANT called-cleared-late        -DKERNEL -DCALL_CLEARS_LATE
 * MUTANT two-calls-at-once          -DKERNEL -DNO_CALLING
 * MUTANT call-is-left-to-nobody     -DKERNEL -DNO_LOOK_AGAIN
 * MUTANT held-back-without-timer    -DKERNEL -DMODERATE=2 -DNO_TIMER
 * MUTANT destroy-without-waiting    -DKERNEL -DNO_STOP_WAIT
 * MUTANT timer-cancelled-last       -DKERNEL -DMODERATE=2 -DCANCEL_LAST
 */
#define NUM		3	/* completions, and entries of the ring */
#ifndef MODERATE
#define MODERATE	0	/* iwm_cq.mod_count */
#endif

#define NOT		0
#define SOLICITED	1
#define NEXT		2

/* Words of memory */
#define VALID(i)	(i)
#define BODY(i)		(NUM + (i))
#define ARM		(2 * NUM)
#define CALLED		(2 * NUM + 1)
#define NUM_WORDS	(2 * NUM + 2)

/* CPUs */
#define CONSUMER	0
#define ADDER_1		1
#define ADDER_2		2
#define TIMER		3	/* the timer's, and that of interrupts */

byte mem[NUM_WORDS];
chan sb[4] = [3] of { byte, byte, bool };

bool lock;			/* cq->lock */
byte put, held_back;		/* guarded by cq->lock */
byte adders = 2;		/* adders that use the queue */
byte got;			/* the consumer's index */
byte events, calls, arms, fired;
bool calling;			/* IWM_CQ_CALLING */
bool interrupt, timer, timer_runs, in_handler, destroyed;

#define store(w, v)		sb[me]!w, v, false
#define store_release(w, v)	sb[me]!w, v, true
#define mb()			empty(sb[me])
#define holds(w, v)		(sb[me]??[eval(w), v, 0] || sb[me]??[eval(w), v, 1])

inline load(w, v)
{
	atomic {
		if
		:: holds(w, 0) -> v = 0
		:: holds(w, 1) -> v = 1
		:: else -> v = mem[w]
		fi
	}
}

inline spin_lock()
{
	atomic { !lock; lock = true }
}

inline spin_unlock()
{
	atomic { mb(); lock = false }
}

/* A program's handler, which wakes the program: any number at once */
inline wake()
{
	d_step { assert(!destroyed); events++ }
}

/* A kernel consumer's handler, which wakes the consumer and then ends */
inline comp_handler()
{
	d_step { assert(!destroyed && !in_handler); in_handler = true; events++ };
	in_handler = false
}

inline notify_interrupt()
{
	atomic {
		if
		:: interrupt -> calls--
		:: else -> interrupt = true
		fi
	}
}

inline notify_call()
{
	atomic {
		mb();
		if
		:: calling -> mine = false
		:: else -> mine = true
		fi;
#ifndef NO_CALLING
		calling = true
#endif
	};
	if
	:: mine ->
#ifdef CALL_CLEARS_LATE
		due = mem[CALLED];
#else
		atomic { mb(); due = mem[CALLED]; mem[CALLED] = 0 };
#endif
		if
		:: due -> comp_handler()
		:: else
		fi;
#ifdef CALL_CLEARS_LATE
		mem[CALLED] = 0;
#endif
		calling = false;
#ifndef NO_LOOK_AGAIN
		if
		:: mem[CALLED] -> notify_interrupt()
		:: else -> calls--
		fi
#else
		calls--
#endif
	:: else -> calls--
	fi;
	mine = false;
	due = false
}

/* The completion is written within a post, or elsewhere. */
inline iwm_notify()
{
#ifdef USER
	wake();
#else
	atomic {
		mb();
		if
		:: mem[CALLED] -> due = false
		:: else -> mem[CALLED] = 1; calls++; due = true
		fi
	};
	if
	:: due ->
		if
		:: notify_interrupt()
		:: notify_call()
		fi
	:: else
	fi;
	due = false
#endif
}

inline take_arm(v)
{
	atomic {
		mb();
		v = mem[ARM];
#ifndef ARM_STAYS
		mem[ARM] = NOT;
#endif
		fired = fired + (v != NOT);
		assert(fired <= arms)
	}
}

/* iwm_cq_add(), from two QPs. The last completion is solicited. */
proctype adder(byte me)
{
	byte arm, match;
	bool notify, mine, due;

	do
	:: true ->
		spin_lock();
		if
		:: put == NUM -> spin_unlock(); adders--; break
		:: else
		fi;
		store(BODY(put), put + 1);
#ifdef NO_RELEASE_STORE
		store(VALID(put), 1);
#else
		store_release(VALID(put), 1);
#endif
		put++;
		if
		:: match = SOLICITED | NEXT
		:: put < NUM -> match = NEXT
		fi;
#ifndef NO_DUE_MB
		mb();
#endif
		notify = false;
		arm = mem[ARM];
		if
		:: !(arm & match)
		:: (arm & match) && MODERATE && held_back + 1 < MODERATE ->
			held_back++;
#ifndef NO_TIMER
			timer = true
#endif
		:: (arm & match) && !(MODERATE && held_back + 1 < MODERATE) ->
			if
			:: held_back -> held_back = 0; timer = false
			:: else
			fi;
			take_arm(arm);
#ifdef MATCH_AGAIN
			notify = (arm & match) != 0
#else
			notify = arm != NOT
#endif
		fi;
		spin_unlock();
		if
		:: notify -> iwm_notify()
		:: else
		fi
	od
}

/* notify_timeout() */
active proctype burst()
{
	byte me = TIMER, arm;
	bool notify, mine, due;

end:	do
	:: atomic { timer -> timer = false; timer_runs = true };
		notify = false;
		spin_lock();
		if
		:: held_back ->
			held_back = 0;
			take_arm(arm);
			notify = arm != NOT
		:: else
		fi;
		spin_unlock();
		if
		:: notify -> iwm_notify()
		:: else
		fi;
		timer_runs = false
	od
}

#ifdef KERNEL
/* notify_work() */
active proctype irq_work()
{
	byte me = TIMER;
	bool mine, due;

end:	do
	:: interrupt -> interrupt = false; notify_call()
	od
}
#endif

/* Poll all entries that are there; in user space without the lock. */
inline poll()
{
	do
	:: true ->
#ifdef KERNEL
		spin_lock();
#endif
		if
		:: got < NUM -> load(VALID(got), valid); body = mem[BODY(got)]
		:: else -> valid = false
		fi;
		if
		:: valid ->
			assert(body == got + 1);
			store_release(VALID(got), 0);
			got++
		:: else
		fi;
		body = 0;
#ifdef KERNEL
		spin_unlock();
#endif
		if
		:: !valid -> break
		:: else
		fi
	od
}

/*
 * siw_notify_cq() stores the arm that is asked for. iwm_req_notify_cq() keeps
 * the stronger one, which the kernel consumer of this model always asks for.
 */
inline req_notify(v)
{
	arms++;
	store(ARM, v);
#ifndef NO_ARM_MB
	mb();
#endif
}

active proctype consumer()
{
	byte me = CONSUMER, body;
	bool valid;

	run adder(ADDER_1);
	run adder(ADDER_2);
	do
	:: got < NUM ->
#ifdef LOOK_FIRST
		poll();
		req_notify(SOLICITED | NEXT);
#else
		req_notify(SOLICITED | NEXT);
#ifdef WEAKER
		req_notify(SOLICITED);
#endif
		poll();
#endif
		if
		:: got < NUM ->
			events > 0;	/* the consumer waits */
			events = 0
		:: else
		fi
	:: else -> break
	od;
	/* No QP uses the queue any more: iwm_notify_stop() */
	adders == 0;
#ifdef CANCEL_LAST
	calls == 0;
	atomic { !timer_runs; timer = false }
#else
	atomic { !timer_runs; timer = false }
#ifndef NO_STOP_WAIT
	calls == 0;
#endif
#endif
	destroyed = true
}

/*
 * Each CPU's stores become visible at some time: the oldest, or an ordinary one
 * that overtakes others.
 */
#define oldest(c)	:: atomic { sb[c]?w, v, r -> mem[w] = v; w = 0; v = 0; r = 0 }
#define overtakes(c, a)	:: atomic { sb[c]??eval(a), v, 0 -> mem[a] = v; v = 0 }
#define entries(c)	overtakes(c, BODY(0)) overtakes(c, BODY(1)) \
			overtakes(c, BODY(2)) overtakes(c, VALID(0)) \
			overtakes(c, VALID(1)) overtakes(c, VALID(2))

active proctype memory()
{
	byte w, v;
	bool r;

end:	do
	oldest(CONSUMER)
	overtakes(CONSUMER, ARM)
	oldest(ADDER_1)
	entries(ADDER_1)
	oldest(ADDER_2)
	entries(ADDER_2)
	od
}

/* Runs when no other process can continue. */
active proctype check()
{
end:	timeout;
	assert(got == NUM && destroyed)
}

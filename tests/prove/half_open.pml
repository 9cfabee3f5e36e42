/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Half-open startups: the listener's work adds and evicts them; a connection's
 * worker passes them on or drops them; the listener's end drops the rest.
 *
 * Code: mpa/half_open.c, mpa/listen.c (listener_data_ready(),
 * listener_detach(), listener_incoming(), listener_take(), half_open_drop(),
 * listener_work(), mpa_listener_destroy()), mpa/handshake.c
 * (mpa_handshake_step(), step_wait_request()), mpa/events.c (mpa_conn_work(),
 * mpa_conn_let_go(), conn_detach(), mpa_destroy(), conn_data_ready()),
 * mpa/conn.c (references, mpa_conn_queue(), conn_timeout(),
 * mpa_conn_stop_timer()).
 *
 * Properties:
 * - no context uses the listener after mpa_listener_destroy() has freed it, and
 *   no request() comes after that;
 * - no context uses a connection whose last reference is dropped, and no
 *   reference is left;
 * - the number of half-open startups is that of the list, and at most the limit;
 * - a connection whose Request has come is not reset for a newer one, and one
 *   that the consumer has is never reset by the listener;
 * - a failed startup is in no list when its socket lock is released;
 * - the listener's work and mpa_listener_destroy() end.
 *
 * Nothing here is lock-free: mpa_half_open.lock guards the lists, the socket
 * lock guards the connection, and sk_callback_lock the listening socket's
 * pointer to the listener. So memory is that of one processor, and the model is
 * about the steps between the locks. The lists by source change in the same
 * critical sections as the list of all, and are left out.
 *
 * For scripts/prove:
 * RUN evict
 * RUN destroy                   -DDESTROY
 * RUN timeout                   -DTIMER
 * RUN destroy-timeout           -DDESTROY -DTIMER -DPEERS=1
 * PROGRESS destroy              -DDESTROY
 * MUTANT surplus-without-reference -DNO_SURPLUS_GET
 * MUTANT first-without-reference   -DDESTROY -DNO_FIRST_GET
 * MUTANT dropped-unseen            -DNO_DROP_CHECK
 * MUTANT dropped-without-a-look    -DNO_LAST_LOOK
 * MUTANT request-not-forgotten     -DNO_FORGET
 * MUTANT forgotten-unlocked        -DFORGET_UNLOCKED
 * MUTANT failure-not-dropped       -DNO_WORK_DROP
 * MUTANT no-eviction               -DNO_EVICTION
 * MUTANT timer-without-reference   -DTIMER -DNO_TIMER_GET
 * MUTANT destroy-without-dropping  -DDESTROY -DNO_DROP_ALL
 * MUTANT destroy-without-cancel    -DDESTROY -DNO_CANCEL
 * MUTANT cancelled-before-detached -DDESTROY -DCANCEL_FIRST
 * MUTANT callback-unlocked         -DDESTROY -DNO_CALLBACK_LOCK
 */
#ifndef PEERS
#define PEERS	2	/* connections */
#endif
#define MAX	1	/* mpa_max_half_open */
#define NONE	255

mtype = { WAIT_REQUEST, UNDECIDED, FAILED };
mtype = { LISTENER, CONSUMER };		/* of the upcalls */

/* struct mpa_conn */
mtype state[PEERS], ops[PEERS];		/* ops 0: the upcalls are over */
byte ref[PEERS];
bool gone[PEERS], locked[PEERS];	/* freed; the socket lock */
bool half_open[PEERS];			/* mpa_conn.half_open is set */
bool attached[PEERS];			/* sk_user_data */
bool queued[PEERS], armed[PEERS], timed_out[PEERS];
bool frame_in[PEERS];			/* the Request is in TCP's queue */
bool owned[PEERS];			/* the consumer has it */

/* struct mpa_half_open. Connections come in the order of their numbers. */
bool listed[PEERS];
byte num;

/* struct mpa_listener */
bool work_queued, work_runs, detached, listener_gone;
byte backlog, accepted;			/* connections in TCP's queue; taken */
byte came;				/* peers that have connected */

#define use(c)		assert(!gone[c])
#define use_listener()	assert(!listener_gone)
#define take(c)		atomic { !locked[c] -> use(c); locked[c] = true }

/* release_sock() */
inline give(c)
{
	d_step {
		assert(!(half_open[c] && state[c] == FAILED));
		locked[c] = false
	}
}

inline get(c)
{
	d_step { use(c); ref[c]++ }
}

inline put(c)
{
	d_step {
		use(c);
		ref[c]--;
		if
		:: ref[c] == 0 ->
			assert(!listed[c] && !attached[c] && !queued[c]);
			assert(!armed[c] && !locked[c] && !owned[c]);
			gone[c] = true
		:: else
		fi
	}
}

/* mpa_conn_queue(): queued work holds a reference */
inline queue(c)
{
	d_step {
		use(c);
		if
		:: !queued[c] -> queued[c] = true; ref[c]++
		:: else
		fi
	}
}

/* mpa_half_open_forget() */
inline forget(c)
{
	d_step {	/* under the lock of the list */
		use(c);
		use_listener();
		assert(listed[c]);
		listed[c] = false;
		num--
	};
	d_step { use(c); half_open[c] = false }
}

/* mpa_conn_let_go(); @did: this call has ended the upcalls */
inline let_go(c, did)
{
	did = ops[c] != 0;
	if
	:: did ->
		if
		:: half_open[c] -> forget(c)
		:: else
		fi;
		d_step {
			use(c);
			ops[c] = 0;
			assert(attached[c]);
			attached[c] = false;
			ref[c]--	/* the socket's; not the last */
		};
		d_step {	/* mpa_conn_stop_timer() */
			if
			:: armed[c] ->
				armed[c] = false;
#ifndef NO_TIMER_GET
				ref[c]--
#endif
			:: else
			fi
		}
	:: else
	fi
}

/* mpa_handshake_step(): the frame may be valid, or not. */
inline step(c)
{
	if
	:: ops[c] && state[c] == WAIT_REQUEST && timed_out[c] ->
		state[c] = FAILED
	:: ops[c] && state[c] == WAIT_REQUEST && !timed_out[c] && frame_in[c] ->
		frame_in[c] = false;
		if
		:: state[c] = FAILED	/* startup_reset(), or a refusal */
		:: d_step {
				/* request(), which takes the connection over */
				use_listener();
				assert(ops[c] == LISTENER);
				state[c] = UNDECIDED;
				ops[c] = CONSUMER;
				owned[c] = true
			};
#if !defined(NO_FORGET) && !defined(FORGET_UNLOCKED)
			if
			:: half_open[c] -> forget(c)
			:: else
			fi
#endif
		fi
	:: else
	fi
}

/* mpa_conn_work(): drops the work's reference */
inline conn_work(c)
{
	take(c);
	drop = false;
	step(c);
#ifndef NO_WORK_DROP
	if
	:: half_open[c] && state[c] == FAILED -> let_go(c, drop)
	:: else
	fi;
#endif
	give(c);
#ifdef FORGET_UNLOCKED
	if
	:: half_open[c] && state[c] == UNDECIDED -> forget(c)
	:: else
	fi;
#endif
	if
	:: drop -> drop = false; put(c)
	:: else
	fi;
	put(c)
}

/* half_open_drop(): drops the caller's reference. @refuse: for a newer one */
inline half_open_drop(c, refuse)
{
	take(c);
	drop = false;
#ifndef NO_LAST_LOOK
	if
	:: refuse && half_open[c] -> step(c)
	:: else
	fi;
#endif
	if
#ifndef NO_DROP_CHECK
	:: half_open[c] ->
#else
	:: true ->
#endif
		/* Is it the consumer's, or could it be? */
		assert(ops[c] != CONSUMER);
		assert(!refuse || state[c] == FAILED || !frame_in[c]);
		let_go(c, drop)
	:: else
	fi;
	give(c);
	if
	:: drop -> drop = false; put(c)
	:: else
	fi;
	put(c)
}

/* Find the oldest, with a reference: under the lock of the list. */
inline oldest(c)
{
	c = 0;
	do
	:: c < PEERS && !listed[c] -> c++
	:: else -> break
	od;
	if
	:: c == PEERS -> c = NONE
	:: else
	fi
}

/* mpa_half_open_surplus() */
inline surplus(c)
{
	d_step {
		use_listener();
		c = NONE;
		if
		:: num >= MAX -> oldest(c); assert(c != NONE)
		:: else
		fi;
#ifndef NO_SURPLUS_GET
		if
		:: c != NONE -> use(c); ref[c]++
		:: else
		fi
#endif
	}
#ifdef NO_SURPLUS_GET
	if
	:: c != NONE -> get(c)
	:: else
	fi
#endif
}

/* mpa_half_open_first() */
inline first(c)
{
	d_step {
		use_listener();
		oldest(c);
#ifndef NO_FIRST_GET
		if
		:: c != NONE -> use(c); ref[c]++
		:: else
		fi
#endif
	}
#ifdef NO_FIRST_GET
	if
	:: c != NONE -> get(c)
	:: else
	fi
#endif
}

/* listener_incoming(), for connection @new */
inline listener_incoming(new)
{
	ref[new] = 1;
#ifndef NO_EVICTION
	do
	:: true ->
		surplus(other);
		if
		:: other == NONE -> break
		:: else -> half_open_drop(other, true); other = NONE
		fi
	od;
	other = 0;
#endif
	/* listener_take(): references for the socket, the timer and the work */
	take(new);
	d_step {
		use_listener();
		state[new] = WAIT_REQUEST;
		ops[new] = LISTENER;
		attached[new] = true;
		half_open[new] = true;
		listed[new] = true;
		num++;
		assert(num <= MAX);
		ref[new] = ref[new] + 2;
#ifdef TIMER
		armed[new] = true;
#ifndef NO_TIMER_GET
		ref[new]++
#endif
#endif
	};
	give(new);
	conn_work(new)
}

/* listener_work() */
active proctype listener()
{
	byte new, other;
	bool drop;

end:	do
	:: atomic { work_queued -> work_queued = false; work_runs = true };
		do
		:: d_step {
				backlog -> use_listener();
				backlog--; new = accepted; accepted++
			};
			listener_incoming(new)
		:: else -> break
		od;
		new = 0;
		work_runs = false
	od
}

/* TCP completes a handshake: listener_data_ready() */
active proctype peers()
{
	bool call;

	do
	:: came < PEERS ->
		d_step { came++; backlog = backlog + !detached };
#ifdef NO_CALLBACK_LOCK
		call = !detached;
		if
		:: call -> use_listener(); work_queued = true
		:: else
		fi;
		call = false
#else
		d_step {	/* under sk_callback_lock */
			if
			:: !detached -> use_listener(); work_queued = true
			:: else
			fi
		}
#endif
	:: else -> break
	od
}

/* The peer sends its Request, or not: conn_data_ready() in softirq. */
active [PEERS] proctype tcp()
{
	byte c = _pid - 2;

end:	if
	:: skip
	:: d_step {
			ref[c] && !locked[c] -> frame_in[c] = true;
			if
			:: attached[c] && !queued[c] && state[c] == WAIT_REQUEST ->
				queued[c] = true;
				ref[c]++
			:: else
			fi
		}
	fi
}

/* The workqueue: the connections' work and timers */
active [PEERS] proctype worker()
{
	byte c = _pid - 2 - PEERS;
	bool drop;

end:	do
	:: atomic { queued[c] -> queued[c] = false; use(c) };
		conn_work(c)
#ifdef TIMER
	:: atomic { armed[c] -> armed[c] = false; use(c) };
		/* conn_timeout() */
		d_step { use(c); timed_out[c] = true };
		queue(c);
#ifndef NO_TIMER_GET
		put(c)
#endif
#endif
	od
}

/* The consumer ends its connections: mpa_destroy(). */
active [PEERS] proctype consumer()
{
	byte c = _pid - 2 - 2 * PEERS;
	bool did;

end:	owned[c];
	take(c);
	let_go(c, did);
	owned[c] = false;
	give(c);
	put(c)
}

#ifdef DESTROY
/* mpa_listener_destroy(), then the consumer of the listener is freed, too. */
active proctype destroyer()
{
	byte c;
	bool drop;

#ifdef CANCEL_FIRST
	work_queued = false;
	!work_runs;
	d_step { detached = true; backlog = 0 };
#else
	d_step { detached = true; backlog = 0 };
#ifndef NO_CANCEL
	atomic { work_queued = false; !work_runs };
#endif
#endif
#ifndef NO_DROP_ALL
	do
	:: true ->
		first(c);
		if
		:: c == NONE -> break
		:: else -> half_open_drop(c, false)
		fi
	od;
#endif
	listener_gone = true
}
#endif

/* Runs when no other process can continue. */
active proctype check()
{
	byte c, n;

end:	timeout;
	do
	:: c < PEERS ->
		n = n + listed[c];
		assert(listed[c] == half_open[c]);
		/* Only a startup that still waits is left. */
		assert(gone[c] || !ref[c] || listed[c]);
		assert(!listed[c] || !frame_in[c]);
#ifdef TIMER
		assert(!listed[c]);
#endif
		c++
	:: else -> break
	od;
	assert(n == num && n <= MAX && came == PEERS);
#ifdef DESTROY
	assert(listener_gone && !n)
#endif
}

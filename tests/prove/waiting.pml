/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A Send that waits for a receive: the pass over TCP's queue, the timer that
 * looks into the ring, a program that posts without a call, and the ends.
 *
 * Code: mpa/rx.c (mpa_rx_pass(), is_put_off()), mpa/events.c
 * (receive_to_end(), mpa_receive_again()), ddp_glue/recv.c (bind_receive()),
 * ddp_glue/recv_wait.c, ddp_glue/qp_end.c (iwm_qp_rx_end()).
 *
 * Properties:
 * - when nothing can happen any more, the Send has got the receive, or the
 *   receive direction has ended;
 * - the Send gets one receive, and none after the end was reported;
 * - no context uses the queue pair or its connection after it is freed;
 * - a Send waits only with a timer that looks.
 *
 * The socket lock and the queue pair's lock order all accesses but those to the
 * ring, to rx_waits and to the timer, which take one step each. A look that
 * finds nothing changes nothing, so the timer runs only when it would find
 * something.
 *
 * For scripts/prove:
 * RUN posted                  -DPOST
 * RUN posted-or-late          -DPOST -DLATE
 * RUN late                    -DLATE
 * RUN closed                  -DPOST -DCLOSED
 * RUN fin                     -DPOST -DFIN
 * RUN stolen                  -DPOST -DSTEAL
 * RUN left                    -DLEAVE -DPOST
 * RUN destroyed               -DPOST -DDESTROY -DLATE
 * RUN closed-destroyed        -DPOST -DDESTROY -DCLOSED
 * MUTANT one-look             -DPOST -DSTEAL -DONE_LOOK
 * MUTANT close-unseen         -DCLOSED -DCLOSE_UNSEEN
 * MUTANT state-unseen         -DLEAVE -DSTATE_UNSEEN
 * MUTANT timer-not-stopped    -DPOST -DDESTROY -DNO_CANCEL
 * MUTANT timer-only-tried     -DPOST -DDESTROY -DTRY_CANCEL
 * MUTANT conn-unlocked        -DPOST -DDESTROY -DCONN_UNLOCKED
 */
/*
 * -DPOST: the program posts one receive. -DSTEAL: another queue pair takes it
 * from their SRQ, and the program posts one more. -DLATE: the time of the wait is over,
 * at any moment. -DCLOSED: TCP is lost. -DFIN: a FIN stands behind the Send.
 * -DLEAVE: the queue pair leaves RTS. -DDESTROY: the consumer destroys it.
 */
mtype = { OFF, ARMED, RUNNING };

mtype timer = OFF;
bool rearmed;				/* while it was running */
bool posted, late, tcp_closed, fin_queued, in_rts = true;
bool rx_waits, put_off, again, work_queued, stopped;
bool conn = true, ops = true, conn_gone, qp_gone;
bool got, reported, rx_ended;
bool socket_lock, qp_lock;

#define take(lock)	atomic { !lock -> lock = true }
#define give(lock)	lock = false
#define use_qp		assert(!qp_gone)

inline arm_timer()
{
	d_step {
		use_qp;
		if
		:: timer == RUNNING -> rearmed = true
		:: else -> timer = ARMED
		fi
	}
}

inline wait_over()
{
	if
	:: rx_waits ->
		rx_waits = false;
		d_step {	/* hrtimer_try_to_cancel() */
			rearmed = false;
			if
			:: timer == ARMED -> timer = OFF
			:: else
			fi
		}
	:: else
	fi
}

inline rx_end()
{
	use_qp;
	wait_over();
	rx_ended = true
}

/* mpa_conn_end() and upcall_closed() */
inline report_end()
{
	if
	:: !reported -> reported = true; stopped = true; rx_end()
	:: else
	fi
}

/* upcall_receive() for the Send; the result is in stopped and put_off */
inline receive()
{
	use_qp;
	if
	:: !in_rts -> stopped = true; rx_end()
	:: else ->
		assert(!rx_ended);
		if
		:: atomic { posted -> posted = false; assert(!got); got = true }
			wait_over()
		:: else ->
			if
			:: late -> stopped = true; rx_end()	/* Terminate */
			:: else ->
				if
				:: !rx_waits -> rx_waits = true; arm_timer()
				:: else
				fi;
				put_off = true
			fi
		fi
	fi
}

/* receive_to_end(), by the worker or in softirq; socket lock held */
inline pass()
{
	if
	:: !ops || stopped
	:: else ->
		if
		:: put_off && again -> again = false; put_off = false
		:: else
		fi;
		if
		:: !put_off && !got -> receive()
		:: else
		fi;
		if
		:: got && (fin_queued || tcp_closed) -> report_end()
		:: else
		fi
	fi;
#ifndef CLOSE_UNSEEN
	if
	:: ops && tcp_closed && (stopped || put_off) -> report_end()
	:: else
	fi
#endif
}

/* A segment comes; TCP may be lost, or a FIN come, with it or later. */
active proctype softirq()
{
	take(socket_lock);
	pass();
	give(socket_lock);
#ifdef FIN
	take(socket_lock);
	fin_queued = true;
	pass();
	give(socket_lock);
#endif
#ifdef CLOSED
	take(socket_lock);
	tcp_closed = true;
	pass();
	give(socket_lock)
#endif
}

active proctype worker()
{
end:	do
	:: work_queued ->
		work_queued = false;
		take(socket_lock);
		assert(!conn_gone || !ops);
		pass();
		give(socket_lock)
	od
}

inline receive_again()
{
#ifndef CONN_UNLOCKED
	take(qp_lock);
#endif
	if
	:: conn -> assert(!conn_gone); again = true; work_queued = true
	:: else
	fi;
#ifndef CONN_UNLOCKED
	give(qp_lock)
#endif
}

/* rx_wait_look() */
active proctype look()
{
#ifdef STATE_UNSEEN
#define FINDS	(late || posted)
#else
#define FINDS	(late || posted || !in_rts)
#endif
end:	do
	:: atomic { timer == ARMED && (!rx_waits || FINDS) -> timer = RUNNING };
		use_qp;
		if
		:: rx_waits ->
			if
			:: FINDS -> receive_again()
			:: else
			fi;
#ifndef ONE_LOOK
			rearmed = true
#endif
		:: else
		fi;
		d_step {
			use_qp;
			timer = (rearmed -> ARMED : OFF);
			rearmed = false
		}
	od
}

#ifdef POST
active proctype program()
{
	posted = true
}
#endif

#ifdef STEAL
active proctype another()
{
	if
	:: atomic { posted -> posted = false }
		posted = true
	:: got		/* it comes too late */
	fi
}
#endif

#ifdef LATE
active proctype clock()
{
	late = true
}
#endif

#ifdef LEAVE
active proctype modify_qp()
{
	in_rts = false
}
#endif

#ifdef DESTROY
/* iwm_destroy_qp(), in its order */
active proctype destroy()
{
	in_rts = false;
	take(qp_lock);
	conn = false;
	give(qp_lock);
	take(socket_lock);
	ops = false;
	give(socket_lock);
	conn_gone = true;
	rx_end();
#ifdef TRY_CANCEL
	d_step { rearmed = false; if :: timer == ARMED -> timer = OFF :: else fi };
#elif !defined(NO_CANCEL)
	atomic { timer != RUNNING -> timer = OFF };	/* hrtimer_cancel() */
#endif
	qp_gone = true
}
#endif

/* Nothing can happen any more. */
active proctype at_rest()
{
	timeout;
	assert(rx_ended || got || (!posted && !late && in_rts && !tcp_closed));
	assert(!rx_waits || timer != OFF)
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Early placement: FPDUs behind a gap are placed and noted; in their turn they
 * are delivered from their notes, until the connection ends.
 *
 * Code: mpa/rx_early.c (early_queue_xmit(), mpa_early_pass(), take_fpdu(),
 * place_fpdu(), mpa_early_first(), mpa_early_forget(), mpa_early_drop(),
 * mpa_early_unwatch_acks()), mpa/rx.c (mpa_rx_pass(), deliver_all(),
 * deliver_whole(), next_fpdu(), deliver_fpdu(), mpa_rx_drop_all(),
 * mpa_rx_free()), mpa/events.c (mpa_conn_receive(), mpa_conn_let_go(),
 * conn_detach(), mpa_destroy()).
 *
 * Properties:
 * - FPDUs are delivered once, in order, and with the octets that were placed.
 *   Nothing is placed over an FPDU that has been placed and verified, whatever
 *   TCP holds for it by then (RFC 5044 A.3);
 * - an FPDU that starts in the payload of another one is not delivered;
 * - nothing is placed after the consumer has ended the receive direction, after
 *   an error of the stream, or after mpa_conn_let_go();
 * - no note is used after it is freed, and none is left when upcalls are over.
 *
 * Nothing here is lock-free: the socket lock guards the notes, also in
 * early_queue_xmit(), because TCP sends under it. So memory is that of one
 * processor. But a pass may begin within another context's critical section:
 * wherever TCP sends, an ACK or the transmit owner's octets.
 *
 * A peer may send a segment again with other octets, and TCP may drop what it
 * holds behind a gap. What TCP holds is @held: 0, GOOD or OTHER octets, both
 * with a valid CRC, or BAD. The liar's Marker points into FPDU LIE.
 *
 * For scripts/prove:
 * RUN early
 * RUN refused                 -DREFUSE
 * RUN lie                     -DLIAR
 * RUN bad-octets              -DWRONG
 * MUTANT placed-twice         -DNO_FIND
 * MUTANT delivered-from-tcp   -DNO_NOTE
 * MUTANT fast-path-first      -DNO_COUNT
 * MUTANT lie-hides-notes      -DLIAR -DNO_SKIP
 * MUTANT stopped-set-late     -DREFUSE -DSTOPPED_LATE
 * MUTANT pass-ignores-the-end -DREFUSE -DNO_STOPPED
 * MUTANT notes-not-dropped    -DNO_DROP
 * MUTANT acks-watched-longer  -DUNWATCH_LATE
 * MUTANT error-goes-on        -DWRONG -DNO_GIVE_UP
 * MUTANT pass-unlocked        -DNO_LOCK
 */
#define FPDUS	3
#define LIE	1	/* the FPDU that has another one in its payload */

/* What TCP holds of an FPDU */
#define GOOD	1
#define OTHER	2
#define BAD	3

/* TCP */
byte held[FPDUS];
byte in_order;			/* FPDUs in front of the first gap */
bool locked;			/* the socket lock */

/* struct mpa_rx and struct mpa_early */
byte turn;			/* FPDUs delivered */
byte note[FPDUS];		/* the octets that were verified, or 0 */
bool lie_noted;			/* the FPDU that lies within FPDU LIE */
byte notes;			/* mpa_early.num_placed */
bool stopped, given_up;

/* The consumer */
byte placed[FPDUS];		/* the octets in its memory */
bool ended;			/* its receive() has ended the direction, or closed() */

bool ops = true, watched = true, freed;

#define take()		atomic { !locked -> locked = true }
#define give()		locked = false

/* mpa_consumer_ops.place(), of FPDU @i */
inline place(i)
{
	assert(ops && !ended && !freed);
	/* Octets that were verified stay. */
	assert(!note[i] && i >= turn);
	placed[i] = held[i]
}

#ifdef NO_STOPPED
#define may_place	(k < FPDUS && !given_up)
#else
#define may_place	(k < FPDUS && !given_up && !stopped)
#endif

/* mpa_early_pass(): FPDU by FPDU */
inline early_pass()
{
	k = in_order + 1;
	do
	:: may_place ->
		/* take_fpdu() */
		d_step {
			if
#ifdef NO_FIND
			:: !held[k]
#else
			:: !held[k] || note[k]
#endif
			:: held[k] == BAD ->
#ifndef NO_GIVE_UP
				given_up = true
#else
				place(k);
				note[k] = BAD;
				notes++
#endif
			:: else ->
				place(k);
				note[k] = held[k];
				notes++
			fi
#ifdef LIAR
			;
			if
			:: k == LIE && held[k] && !given_up && !lie_noted ->
				assert(ops && !ended && !freed);
				lie_noted = true;
				notes++
			:: else
			fi
#endif
		};
		k++
	:: may_place -> k++	/* no room, no memory, Untagged */
	:: else -> break
	od;
	k = 0
}

/* TCP sends: early_queue_xmit(), if it is TCP's function. */
inline tcp_sends()
{
	if
	:: watched -> assert(!freed); early_pass()
	:: else
	fi
}

/* mpa_early_drop() */
inline early_drop()
{
	d_step {
		k = 0;
		do
		:: k < FPDUS -> notes = notes - (note[k] != 0); note[k] = 0; k++
		:: else -> break
		od;
		k = 0;
		notes = notes - lie_noted;
		lie_noted = false;
		assert(!notes)
	}
}

/* mpa_rx_drop_all(): TCP may send an ACK for what was dropped. */
inline rx_drop_all()
{
	tcp_sends();
#ifndef NO_DROP
	early_drop()
#endif
}

/* TCP's queue has the FPDU's octets. The pass uses a note, if there is one. */
inline deliver_fpdu()
{
	/* next_fpdu(): mpa_early_first() drops the notes in front. */
#ifndef NO_SKIP
	d_step {
		if
		:: lie_noted && turn > LIE -> lie_noted = false; notes--
		:: else
		fi
	};
#endif
	d_step {
#ifdef NO_COUNT
		from_note = false;
#else
		from_note = notes && note[turn];
#endif
#ifdef NO_NOTE
		from_note = false;
#endif
#ifdef NO_SKIP
		/* The first note is the lie's. */
		from_note = from_note && !(lie_noted && turn > LIE);
#endif
	};
	if
	:: from_note ->
		/* deliver_placed(), then mpa_early_forget() */
		assert(ops && !ended && note[turn]);
		assert(placed[turn] == note[turn] && note[turn] != BAD);
		d_step { assert(note[turn]); note[turn] = 0; notes-- };
		turn++
	:: !from_note && held[turn] == BAD ->
		stopped = true		/* mpa_rx_verify(): MPA_RX_ENDED */
	:: !from_note && held[turn] != BAD ->
		/* receive() places what lies in TCP's queue. */
		d_step {
			assert(ops && !ended);
			assert(!note[turn]);
			placed[turn] = held[turn]
		};
		turn++
	fi;
#ifdef REFUSE
	if
	:: skip
	:: !stopped ->		/* receive() returns an error */
		ended = true;
#ifndef STOPPED_LATE
		stopped = true
#endif
	fi
#endif
}

/* mpa_rx_pass(): deliver_all(), with the ACK in mpa_rx_consume() */
inline rx_pass()
{
	from = turn;
	do
	:: !stopped && !ended && turn < in_order -> deliver_fpdu()
	:: else -> break
	od;
	if
	:: turn > from -> tcp_sends()
	:: else
	fi;
	from_note = false;
	from = 0;
	if
	:: stopped || ended ->
		stopped = true;
		rx_drop_all();
		/* An error of the stream: mpa_conn_end() calls closed(). */
		ended = true
	:: else
	fi
}

/* Segments arrive, in any order and more than once: conn_data_ready() */
active proctype tcp()
{
	byte i, k, from, arrived;
	bool from_note;

	do
	:: arrived < FPDUS + 2 ->
		take();
		if
		:: d_step { in_order <= 2 && !held[2] -> i = 2 }
		:: d_step { in_order <= 1 && !held[1] -> i = 1 }
		:: d_step { in_order <= 0 && !held[0] -> i = 0 }
		:: i = FPDUS
		fi;
		if
		:: i < FPDUS ->
			if
			:: held[i] = GOOD
			:: held[i] = OTHER
#ifdef WRONG
			:: held[i] = BAD
#endif
			fi
		:: else ->
			/* TCP needs memory: tcp_prune_ofo_queue() */
			d_step {
				if
				:: in_order < 2 -> held[2] = 0
				:: else
				fi;
				if
				:: in_order < 1 -> held[1] = 0
				:: else
				fi
			}
		fi;
		i = 0;
		d_step {
			do
			:: in_order < FPDUS && held[in_order] -> in_order++
			:: else -> break
			od
		};
		if
		:: ops && !stopped -> rx_pass()
		:: else
		fi;
		tcp_sends();
		give();
		arrived++
	:: else -> break
	od
}

/* The transmit owner: TCP sends its octets under the lock. */
active proctype owner()
{
	byte k;

#ifdef NO_LOCK
	if
	:: !freed -> tcp_sends()
	:: else
	fi
#else
	take();
	tcp_sends();
	give()
#endif
}

/* mpa_destroy(), and the last reference */
active proctype destroyer()
{
	byte k;

	take();
	ops = false;
#ifndef UNWATCH_LATE
	watched = false;	/* conn_detach() */
#endif
	rx_drop_all();
#ifdef UNWATCH_LATE
	watched = false;
#endif
	give();
	freed = true		/* conn_free(): mpa_rx_free() */
}

/* Runs when no other process can continue. */
active proctype check()
{
	byte i;

end:	timeout;
	assert(freed && !notes && !lie_noted);
	do
	:: i < FPDUS -> assert(!note[i]); i++
	:: else -> break
	od
}

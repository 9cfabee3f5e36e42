/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Responder that is connected by hand: modify_qp to RTR, the peer's
 * Requests, the work of the cep, and another thread that ends the queue pair.
 *
 * Code: ddp_glue/hand.c (hand_work(), answer_peer(), clean_up(),
 * iwm_hand_connect()), ddp_glue/hand_listen.c (hand_request()),
 * ddp_glue/cep.c (iwm_cep_take_peer(), iwm_cep_begin_answer(),
 * iwm_cep_answer_failed(), iwm_cep_close(), iwm_cep_closed()).
 *
 * Properties: no cep is freed while it has a connection; no context uses the
 * queue pair of a closed cep, or a freed hand; the work frees the hand.
 *
 * starting.pml has the queue pair's side.
 *
 * For scripts/prove:
 * RUN ends
 * MUTANT answered-by-hand     -DANSWER_BY_HAND
 * MUTANT closed-goes-on       -DCLOSED_GOES_ON
 * MUTANT work-forgotten       -DNO_WORK_AT_END
 */
mtype = { CONNECTING, ACCEPTING, CONNECTED, CLOSED };

/* struct iwm_cep, with the references of modify_qp, the QP and the work */
mtype state = CONNECTING;
bool has_qp = true;		/* cep->qp */
bool ended_early;		/* cep->closed */
bool conn;			/* cep->conn */
byte refs = 1;
bool queued, runs;

bool published;			/* the hand can be found */
bool hand = true;		/* not freed */
bool has_cep;			/* qp->cep */
bool over;			/* the QP has left IDLE */
byte open;			/* connections that are not destroyed */

#define use_cep		assert(refs)

/* The work has a reference. */
inline queue_work()
{
	use_cep;
	refs = refs + !queued;
	queued = true
}

inline put_cep()
{
	refs--;
	assert(refs || !conn)
}

inline close_cep()
{
	state = CLOSED;
	has_qp = false;
#ifndef NO_WORK_AT_END
	queue_work()
#endif
}

/* iwm_hand_connect(): modify_qp to RTR */
active proctype program()
{
	bool ok;

	published = true;
	/* iwm_qp_expect() */
	d_step { ok = !over && !has_cep };
	if
	:: ok -> d_step { has_cep = !over; ok = !over; refs = refs + ok }
	:: ok -> ok = false		/* no memory */
	:: else
	fi;
	d_step {
		if
		:: !ok -> close_cep()
		:: else
		fi;
		put_cep()
	}
}

/* hand_request(), twice */
active proctype peers()
{
	byte n;
	bool taken;

	do
	:: n < 2 ->
		d_step {
			taken = published && state == CONNECTING && !conn;
			if
			:: taken -> use_cep; conn = true; open++; queue_work()
			:: else
			fi;
			n++
		}
	:: else -> break
	od
}

/* iwm_qp_disconnect() by another thread, or iwm_qp_finish() */
inline end_qp()
{
	over = true;
	d_step { mine = has_cep; has_cep = false };
	if
	:: mine ->
		d_step {
			/* iwm_cep_closed() */
			if
			:: state == CONNECTING || state == CONNECTED -> close_cep()
			:: state == ACCEPTING -> ended_early = true
			:: else
			fi;
			put_cep();
			mine = false
		}
	:: else
	fi
}

active proctype modifier()
{
	bool mine;

	end_qp()
}

inline answer_peer()
{
	/* iwm_cep_begin_answer() */
	d_step {
		use_cep;
		took = conn;
		conn = false;
		ok = took && state == CONNECTING;
		if
		:: ok -> assert(has_qp && hand); state = ACCEPTING
		:: else
		fi
	};
	if
	:: took && !ok -> open--
	:: ok ->
		/* iwm_qp_answer() */
		if
		:: has_cep && !over -> skip
		:: has_cep && !over -> ok = false	/* mpa_accept() fails */
		:: else -> ok = false
		fi;
		d_step {
			if
			:: ok ->
				/* iwm_cep_accepted(); the QP owns the connection */
				state = CONNECTED;
				open--;
				if
				:: ended_early -> close_cep()
				:: else
				fi
			:: else ->
				open--;
				if
				:: ended_early -> close_cep()
#ifdef CLOSED_GOES_ON
				:: else -> state = CONNECTING
#else
				:: !ended_early && state == ACCEPTING -> state = CONNECTING
				:: else
#endif
				fi
			fi
		}
	:: else
	fi;
	d_step { took = false; ok = false }
}

/* hand_work() */
active proctype worker()
{
	bool took, ok, mine;

end:	do
	:: d_step { queued -> queued = false; runs = true };
#ifdef ANSWER_BY_HAND
		if
		:: hand -> answer_peer()
		:: else
		fi;
#else
		answer_peer();
#endif
		if
		:: hand ->
			/* give_up() */
			if
			:: d_step { state == CONNECTING -> assert(has_qp) }; end_qp()
			:: skip
			fi;
			/* clean_up() */
			if
			:: state == CLOSED -> published = false; hand = false
			:: else
			fi
		:: else
		fi;
		d_step { put_cep(); runs = false }
	od
}

/* Runs when no other process can continue. */
active proctype check()
{
end:	timeout;
	assert(!open);
	assert(!hand || state == CONNECTED || state == CONNECTING && has_cep);
	assert(!queued && !runs)
}

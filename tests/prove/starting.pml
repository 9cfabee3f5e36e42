/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The start of a connection: connect, its second attempt and accept, beside
 * modify_qp to ERR and RESET, the closing work, and the consumer that destroys.
 *
 * Code: ddp_glue/qp_conn.c, ddp_glue/qp_end.c (iwm_qp_disconnect(),
 * iwm_qp_reset(), iwm_qp_die(), close_step(), tcp_lost()), ddp_glue/qp_state.c
 * (next_states[], iwm_qp_enter_rts(), iwm_qp_leave_rts(), iwm_qp_refuse(),
 * iwm_qp_error(), iwm_qp_terminated(), iwm_qp_finish()), ddp_glue/sq_owner.c
 * (sq_run(), iwm_sq_stop(), iwm_sq_pause()), ddp_glue/cep.c
 * (iwm_cep_reply(), iwm_cep_retry(), iwm_cep_closed(), iwm_cep_accepted()),
 * ddp_glue/cm.c (fallback_connect(), iwm_cm_connect(), iwm_cm_accept()),
 * ddp_glue/hand.c (answer_peer()).
 *
 * Properties:
 * - the connection manager learns the end of each attempt once: by the call's
 *   error, by a failed CONNECT_REPLY, or by a CLOSE that follows an established
 *   connection;
 * - no connection receives on a queue pair whose receive queue has ended;
 * - no connection outlives its report, except one that the connection manager
 *   knows as established;
 * - all work requests are complete when modify_qp to ERR or RESET returns;
 * - no context uses a queue pair whose last reference is dropped, no upcall
 *   runs after iwm_destroy_qp(), and no reference is left.
 *
 * Locks order all accesses, as in ending.pml, which has the end of an
 * established connection. The queue pair has one receive and one send request,
 * which a program has written to its rings before it connects.
 *
 * For scripts/prove:
 * RUN connect                 -DMODIFIERS=1
 * RUN connect-reset           -DMODIFIERS=2
 * RUN connect-destroy         -DMODIFIERS=1 -DDESTROY
 * RUN again                   -DAGAIN -DMODIFIERS=1
 * RUN again-destroy           -DAGAIN -DDESTROY
 * RUN fallback                -DFALLBACK -DMODIFIERS=1
 * RUN fallback-destroy        -DFALLBACK -DDESTROY
 * RUN accept                  -DACCEPT -DMODIFIERS=2
 * RUN accept-destroy          -DACCEPT -DMODIFIERS=1 -DDESTROY
 * RUN hand                    -DACCEPT -DHAND -DMODIFIERS=2
 * RUN hand-destroy            -DACCEPT -DHAND -DMODIFIERS=1 -DDESTROY
 * MUTANT used-again           -DMODIFIERS=2 -DNO_USED
 * MUTANT rts-unchecked        -DMODIFIERS=1 -DNO_RTS_CHECK
 * MUTANT leave-rts-always     -DACCEPT -DMODIFIERS=1 -DLEAVE_ALWAYS
 * MUTANT reset-by-state       -DMODIFIERS=1 -DRESET_BY_STATE
 * MUTANT reset-without-end    -DMODIFIERS=1 -DRESET_ONLY
 * MUTANT abandoned-lives      -DMODIFIERS=1 -DNO_ABANDON
 * MUTANT end-before-established -DACCEPT -DMODIFIERS=1 -DNO_CLOSED_NOTE
 * MUTANT answer-unchecked     -DACCEPT -DHAND -DMODIFIERS=1 -DNO_ANSWER_CHECK
 * MUTANT answer-end-lost      -DACCEPT -DHAND -DMODIFIERS=1 -DNO_EARLY_END
 * MUTANT dead-not-dropped     -DAGAIN -DNO_DEAD_DROP
 * MUTANT dead-dropped-always  -DAGAIN -DDEAD_DROP_ANYWAY
 * MUTANT fallback-unchecked   -DFALLBACK -DMODIFIERS=1 -DNO_FALLBACK_CHECK
 * MUTANT fallback-without-reference -DFALLBACK -DDESTROY -DNO_FALLBACK_REF
 * MUTANT fallback-not-reported -DFALLBACK -DNO_FALLBACK_REPORT
 */
/*
 * MODIFIERS: contexts that call modify_qp: one to ERR or RESET, or one to each.
 * -DDESTROY: the consumer destroys the queue pair at any time. -DACCEPT: the
 * queue pair is the Responder's. -DAGAIN: an attempt has just failed, and the
 * consumer may connect again. -DFALLBACK: the peer has just closed in place of
 * its Reply; the attempts of a queue pair that is connected by hand are made in
 * the same way. -DHAND: its Responder has just got its peer's Request.
 */
#ifndef MODIFIERS
#define MODIFIERS	0
#endif
#define NEW	0	/* the connection that begins */
#define DEAD	1	/* that of the failed attempt */
#define NONE	2

mtype = { IDLE, RTS, TERMINATE, ERROR };
mtype = { CONNECTING, ACCEPTING, CONNECTED, CLOSED };

/* struct iwm_qp */
mtype state = IDLE;
bool used, dying, qp_gone, fin_sent, rx_ended, conn_lock;
bool recv_left = true, send_left = true;	/* not completed */

/* struct iwm_sq */
bool owned, flush, term;

/* Works */
bool send_queued, send_runs, send_cancelled, close_runs;
#ifdef AGAIN
bool close_queued = true;
#else
bool close_queued;
#endif

/* struct iwm_cep, which has a reference to the queue pair */
#if defined(FALLBACK) || defined(HAND)
mtype cep_state = CONNECTING;
bool cep = true;		/* qp->cep is set */
byte qp_ref = 2;
#else
mtype cep_state;
bool cep;
byte qp_ref = 1;
#endif
bool ended_early, told;		/* told: iw_cm knows the end */

/* struct mpa_conn: not destroyed; and the lock of the new one */
bool alive, socket_lock;
#if defined(FALLBACK) || defined(AGAIN)
byte conn = DEAD;		/* qp->conn */
bool dead_alive = true;
#else
byte conn = NONE;
bool dead_alive;
#endif

bool called;
byte modified;

/* The Responder by hand goes on waiting for its peer. */
#ifdef HAND
#define WAITS_ON	(cep_state == CONNECTING && cep && state == IDLE)
#else
#define WAITS_ON	false
#endif

#define use_qp		assert(!qp_gone)
#define take(lock)	atomic { !lock -> lock = true }
#define give(lock)	lock = false

inline queue_close()
{
	d_step { use_qp; close_queued = close_queued || !dying }
}

/* The owner finds nothing to do without a request or a Terminate. */
inline sq_kick()
{
	use_qp;
	send_queued = send_queued ||
		      (send_left || recv_left || term) && !send_cancelled
}

/* ---- ddp_glue/cep.c ---- */

/* iw_cm learns that the attempt or the connection has ended. */
inline report_end()
{
	assert(!told);
	told = true;
	cep_state = CLOSED;
	qp_ref--
}

/* @failed: the status. The event may also fail, for lack of memory. */
inline iwm_cep_reply(failed)
{
	if
	:: skip
	:: failed = true
	fi;
	d_step {
		if
		:: cep_state != CONNECTING -> failed = true
		:: else ->
			if
			:: failed -> report_end()
			:: else -> cep_state = CONNECTED
			fi
		fi
	}
}

inline iwm_cep_closed()
{
	d_step {
		if
		:: cep_state == CONNECTING || cep_state == CONNECTED ->
			report_end()
#ifndef NO_CLOSED_NOTE
		:: cep_state == ACCEPTING -> ended_early = true
#endif
		:: else
		fi
	}
}

/* ---- ddp_glue/qp_state.c ---- */

inline tell_cm()
{
	d_step { use_qp; mine = cep; cep = false };
	if
	:: mine -> mine = false; iwm_cep_closed()
	:: else
	fi
}

inline finish()
{
	d_step { flush = flush || !dying; sq_kick() };
	tell_cm()
}

inline rx_end()
{
	d_step { rx_ended = true; sq_kick() }
}

/* iwm_qp_error() and iwm_qp_refuse(), where the state has changed */
inline start_terminate()
{
	d_step {
		flush = true;
		term = true;
		sq_kick();
		close_queued = close_queued || !dying
	}
}

/* With qp->conn_lock held */
inline send_fin()
{
	use_qp;
	fin_sent = fin_sent || conn != NONE
}

inline qp_terminated()
{
	d_step {
		!conn_lock ->
		send_fin();
		moved = state == TERMINATE;
		state = (moved -> ERROR : state)
	};
	if
	:: moved -> moved = false; queue_close(); finish()
	:: else
	fi
}

inline enter_rts(ok)
{
	d_step {
		use_qp;
#ifdef NO_RTS_CHECK
		ok = true;
#else
		ok = cep && state == IDLE;
#endif
		if
		:: ok -> state = RTS; used = true
		:: else
		fi
	}
}

/* ---- The transmit owner ---- */

/* flush_rings(): wait for the last upcall to end first. */
inline flush_all()
{
	d_step { use_qp; waits = conn == NEW };
	atomic {
		!waits || !socket_lock ->
		waits = false;
		send_left = send_left && dying;
		recv_left = recv_left && (dying || !rx_ended)
	}
}

/* iwm_sq_stop() */
inline sq_stop()
{
	d_step { use_qp; flush = true };
	atomic { !owned -> owned = true; term = false };
	flush_all();
	give(owned)
}

/* iwm_sq_work(). doorbell.pml has the steps of taking the ownership. */
active proctype sender()
{
	bool terminated, moved, waits, mine;

end:	do
	:: atomic {
			send_queued && !owned ->
			owned = true;
			send_queued = false;
			send_runs = true;
			use_qp;
			terminated = term;
			term = false
		};
		if
		:: flush -> flush_all()
		:: else
		fi;
		give(owned);
		if
		:: terminated -> terminated = false; qp_terminated()
		:: else
		fi;
		send_runs = false
	od
}

/* ---- ddp_glue/qp_end.c ---- */

inline drop_conn()
{
	d_step { use_qp; dropped = conn; conn = NONE };
	atomic {
		dropped != NEW || !socket_lock ->
		/* mpa_destroy() */
		if
		:: dropped == NEW -> alive = false
		:: dropped == DEAD -> dead_alive = false
		:: else
		fi;
		dropped = NONE
	}
}

inline disconnect()
{
	d_step { use_qp; used = true; state = ERROR };
	sq_stop();
	take(conn_lock);
	send_fin();
	drop_conn();
	rx_end();
	give(conn_lock);
	sq_stop();
	finish()
}

/* iwm_qp_close_work(): close_step() */
active proctype closer()
{
	byte dropped = NONE;
	bool moved, waits, mine;

end:	do
	:: atomic { close_queued -> close_queued = false; close_runs = true; use_qp };
		if
		:: state == IDLE ->
			/* drop_dead_conn() */
#ifndef NO_DEAD_DROP
			take(conn_lock);
			if
			:: !cep ->
				take(owned);
				drop_conn();
				give(owned)
#ifdef DEAD_DROP_ANYWAY
			:: else -> drop_conn()
#else
			:: else
#endif
			fi;
			give(conn_lock)
#endif
		:: state == TERMINATE || (state != IDLE && fin_sent) ->
			/* wait_for_peer() */
			if
			:: queue_close()
			:: disconnect()
			fi
		:: state == ERROR && !fin_sent ->
			/* qp_shut_down() */
			sq_stop();
			d_step {
				!conn_lock ->
				send_fin();
				waits = fin_sent
			};
			if
			:: waits -> waits = false; queue_close()
			:: else
			fi
		:: state == RTS && !fin_sent
		fi;
		close_runs = false
	od
}

/* ---- Upcalls, with the socket locked ---- */

/* reply_accepted(), when our side refuses the Reply */
inline reply_refused()
{
	d_step {
		use_qp;
		moved = cep && state == IDLE;
		if
		:: moved -> state = TERMINATE; used = true
		:: else
		fi
	};
	if
	:: moved -> moved = false; start_terminate()
	:: else
	fi
}

inline reply_accepted()
{
	enter_rts(ok);
	d_step { failed = !ok; ok = false };
	iwm_cep_reply(failed);
#ifndef NO_ABANDON
	if
	:: failed ->
		/* abandon_startup() */
		d_step {
			cep = false;
			failed = false;
			moved = state == RTS;
			state = (moved -> TERMINATE : state)
		};
		if
		:: moved -> moved = false; start_terminate()
		:: else -> queue_close()
		fi
	:: else
	fi
#endif
}

inline connect_failed()
{
	d_step { is_full = false; cep = false; failed = true };
	iwm_cep_reply(failed);
	failed = false;
	queue_close()
}

inline upcall_reply()
{
	d_step { use_qp; found = cep };
	if
	:: !found		/* disconnected meanwhile */
	:: found -> reply_accepted()
	:: found -> reply_refused()
	:: found -> connect_failed()
	fi;
	found = false
}

inline upcall_receive()
{
	d_step { use_qp; ok = state == RTS };
	if
	:: ok -> ok = false; assert(!rx_ended)
	:: else
	fi
}

/* iwm_qp_upcall_closed(): tcp_lost() */
inline upcall_closed()
{
	use_qp;
	if
	:: state == IDLE -> tell_cm()
	:: else ->
		d_step { moved = state != ERROR; state = ERROR };
		if
		:: moved -> moved = false; queue_close()
		:: else
		fi;
		rx_end();
		finish()
	fi
}

/* MPA and the peer of the new connection */
active proctype peer()
{
	bool ok, failed, moved, mine, found, is_full;

end:	atomic { alive -> is_full = true };
#ifndef ACCEPT
	take(socket_lock);
	if
	:: alive -> upcall_reply()
	:: else
	fi;
	give(socket_lock);
#endif
	take(socket_lock);
	if
	:: alive && is_full -> upcall_receive()
	:: else
	fi;
	if
	:: alive && is_full -> upcall_closed()
	:: skip		/* the peer does not close */
	fi;
	d_step { give(socket_lock); is_full = false }
}

/* ---- ddp_glue/qp_conn.c ---- */

inline begin_conn()
{
	atomic { !conn_lock && !owned -> conn_lock = true; owned = true }
}

inline end_begin()
{
	d_step {
		give(owned);
		give(conn_lock);
		if
		:: flush || term -> sq_kick()
		:: else
		fi
	}
}

/* @attach: or only check */
inline attach_cep(ok, attach)
{
	d_step {
		use_qp;
#ifdef NO_USED
		ok = !cep && state == IDLE;
#else
		ok = !cep && state == IDLE && !used;
#endif
		cep = cep || ok && attach
	}
}

inline claim_cep(ok)
{
	attach_cep(ok, false);
	if
	:: ok -> drop_conn(); attach_cep(ok, true)
	:: else
	fi
}

inline start_conn(ok)
{
	if
	:: d_step { cep = false; ok = false }
	:: alive = true; conn = NEW
	fi
}

/* consumer_qp() and iwm_cep_bind() */
inline get_qp(ok, first)
{
	d_step {
		ok = qp_ref > 0;
		if
		:: ok -> qp_ref = qp_ref + 2; cep_state = first
		:: else
		fi
	}
}

/* iwm_qp_leave_rts(): mpa_accept() has failed. */
inline leave_rts()
{
	d_step {
		use_qp;
		if
#ifdef LEAVE_ALWAYS
		:: true ->
#else
		:: state == RTS ->
#endif
			state = IDLE;
			used = false
		:: else
		fi
	}
}

inline iwm_cep_accepted()
{
	cep_state = CONNECTED;
	if
	:: ended_early -> report_end()
	:: else
	fi
}

#ifdef HAND
/* hand_work(): answer_peer() */
active proctype caller()
{
	byte dropped = NONE;
	bool ok;

	/* iwm_cep_begin_answer() */
	d_step {
		ok = cep_state == CONNECTING;
		if
		:: ok -> cep_state = ACCEPTING; qp_ref++
		:: else
		fi
	};
	if
	:: !ok -> goto out
	:: else
	fi;
	begin_conn();
#ifndef NO_ANSWER_CHECK
	d_step { use_qp; ok = cep && state == IDLE };
	if
	:: ok -> enter_rts(ok)
	:: else
	fi;
#else
	d_step { use_qp; state = RTS; used = true };
#endif
	if
	:: ok -> alive = true; conn = NEW		/* mpa_accept() */
	:: ok -> leave_rts(); ok = false
	:: !ok
	fi;
	end_begin();
	d_step {
		if
		:: ok -> iwm_cep_accepted()
		:: else ->
			/* iwm_cep_answer_failed() */
			if
#ifndef NO_EARLY_END
			:: ended_early -> report_end()
#endif
			:: else -> cep_state = CONNECTING
			fi
		fi;
		qp_ref--;
		ok = false
	};
out:	called = true
}
#elif defined(ACCEPT)
/* iwm_cm_accept() */
active proctype caller()
{
	byte dropped = NONE;
	bool ok;

	get_qp(ok, ACCEPTING);
	if
	:: !ok -> goto out
	:: else
	fi;
	begin_conn();
	claim_cep(ok);
	if
	:: ok -> enter_rts(ok)
	:: else
	fi;
	if
	:: ok -> alive = true; conn = NEW		/* mpa_accept() */
	:: ok -> leave_rts(); d_step { ok = false; cep = false }
	:: !ok -> cep = false
	fi;
	end_begin();
	d_step {
		if
		:: !ok -> report_end()
		:: else -> iwm_cep_accepted()
		fi;
		qp_ref--;
		ok = false
	};
out:	called = true
}
#elif defined(FALLBACK)
/* iwm_cm_work(): fallback_connect() */
active proctype caller()
{
	byte dropped = NONE;
	bool ok;

	/* iwm_cep_take_fallback() */
	d_step {
		ok = cep_state == CONNECTING;
#ifndef NO_FALLBACK_REF
		qp_ref = qp_ref + ok
#endif
	};
	if
	:: !ok -> goto out
	:: else
	fi;
	begin_conn();
	d_step {
		use_qp;
#ifndef NO_FALLBACK_CHECK
		ok = cep && state == IDLE && conn != NONE
#endif
	};
	if
	:: ok -> drop_conn(); start_conn(ok)
	:: else -> ok = true	/* disconnected meanwhile */
	fi;
	end_begin();
#ifndef NO_FALLBACK_REPORT
	if
	:: !ok -> iwm_cep_closed()
	:: else
	fi;
#endif
#ifndef NO_FALLBACK_REF
	qp_ref--;
#endif
	ok = false;
out:	called = true
}
#else
/* iwm_cm_connect() */
active proctype caller()
{
	byte dropped = NONE;
	bool ok;

#ifdef AGAIN
	if
	:: skip
	:: goto out
	fi;
#endif
	get_qp(ok, CONNECTING);
	if
	:: !ok -> goto out
	:: else
	fi;
	begin_conn();
	claim_cep(ok);
	if
	:: ok -> start_conn(ok)
	:: else
	fi;
	end_begin();
	d_step {
		if
		:: !ok -> report_end()
		:: else
		fi;
		qp_ref--;
		ok = false
	};
out:	called = true
}
#endif

#if MODIFIERS
active [MODIFIERS] proctype modifier()
{
	byte dropped = NONE;
	bool ends, moved, waits, mine, was;

	qp_ref++;
	if
	:: MODIFIERS == 1 || _pid & 1 ->
		disconnect();
		assert(!recv_left && !send_left)
	:: MODIFIERS == 1 || !(_pid & 1) ->
		/* iwm_qp_reset() */
		was = cep;
#ifdef RESET_BY_STATE
		ends = state != IDLE;
#else
		ends = state != IDLE || cep;
#endif
		if
		:: ends ->
#ifndef RESET_ONLY
			disconnect();
#endif
			d_step { state = (state == ERROR -> IDLE : state) };
			assert(!recv_left && !send_left)
		:: else
		fi;
		assert(!was || !cep)
	fi;
	d_step { qp_ref--; modified++; ends = false; was = false }
}
#endif

#ifdef DESTROY
/* The consumer destroys the queue pair: iwm_destroy_qp(). */
active proctype consumer()
{
	byte dropped = NONE;
	bool moved, waits, mine;

	modified == MODIFIERS;
	dying = true;
	disconnect();
	close_queued = false;
	!close_runs;
	qp_ref--;
	!qp_ref;
	d_step { send_cancelled = true; send_queued = false };
	!send_runs;
	qp_gone = true;
end:	timeout;
	assert(called && !qp_ref && !close_queued && !send_queued)
}
#else
/* Runs when no other process can continue. */
active proctype check()
{
end:	timeout;
	assert(called && modified == MODIFIERS);
	/* iw_cm knows of each end, and knows each connection. */
	assert(!cep_state || told || cep_state == CONNECTED && conn == NEW ||
	       WAITS_ON);
	assert(!alive || conn == NEW && cep_state == CONNECTED);
	assert(!dead_alive);
	assert(state != RTS || conn == NEW);
	/* A queue pair that has ended does not begin again. */
	assert(used || !rx_ended)
}
#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The end of a connection and of its queue pair: upcalls, the transmit owner,
 * the closing work, the connection manager, and the consumer that destroys.
 *
 * Code: ddp_glue/qp.c (iwm_destroy_qp(), iwm_modify_qp()), ddp_glue/qp_conn.c,
 * ddp_glue/qp_end.c (iwm_qp_disconnect(), iwm_qp_die(), close_step(), the upcalls),
 * ddp_glue/qp_state.c (iwm_qp_error(), iwm_qp_terminated(), iwm_qp_finish(),
 * iwm_qp_tell_cm(), iwm_qp_queue_close()), ddp_glue/qp_ref.c, ddp_glue/sq_owner.c
 * (sq_run(), iwm_sq_stop()), ddp_glue/sq.c (iwm_sq_flush_all()),
 * ddp_glue/mem.h (iwm_mr_check_remote()), ddp_glue/cep.c (cep_close_and_unlock()),
 * mpa/events.c (mpa_conn_let_go(), mpa_conn_work(), mpa_destroy(),
 * mpa_abort()), mpa/conn.c (mpa_conn_end(), references).
 *
 * Properties (Documentation/locking.md, "Teardown"):
 * - no upcall after mpa_destroy(), no completion after iwm_destroy_qp();
 * - when the send request has been flushed, no connection places octets in its
 *   memory any more; nor after iwm_destroy_qp();
 * - no context uses a queue pair or a connection whose last reference is
 *   dropped, and no reference is left;
 * - all work requests are complete when iwm_qp_disconnect() returns, unless the
 *   queue pair is being destroyed;
 * - the connection manager gets one event for each end;
 * - progress: iwm_destroy_qp() returns, and no process loops for ever.
 *
 * Assumptions: memory is that of one processor, because locks or full barriers
 * order all accesses; doorbell.pml covers the notes for the transmit owner. The
 * queue pair is connected, or being accepted, with a receive and a send request
 * outstanding. The send request has memory that the peer can write to: a READ's
 * sink, or the region that a LOCAL_INV is to invalidate.
 *
 * For scripts/prove:
 * RUN destroy          -DFIND -DWORKER
 * RUN terminate        -DFAULT
 * RUN device-goes      -DGONE
 * RUN modify           -DMODIFY -DWORKER
 * RUN modify-terminate -DMODIFY -DFAULT
 * RUN disconnect       -DCM
 * RUN write            -DWRITE -DMODIFY -DOTHER
 * RUN write-terminate  -DWRITE -DFAULT
 * RUN write-device-goes -DWRITE -DGONE
 * RUN write-accept     -DWRITE -DMODIFY -DACCEPT
 * PROGRESS destroy     -DFIND
 * PROGRESS device-goes -DGONE
 * MUTANT close-work-not-cancelled  -DNO_CANCEL
 * MUTANT close-work-while-dying    -DNO_DYING_CHECK
 * MUTANT close-work-unlocked       -DQUEUE_UNLOCKED
 * MUTANT destroy-without-waiting   -DGONE -DNO_WAIT_UNUSED
 * MUTANT found-while-destroyed     -DFIND -DUNPUBLISH_LATE
 * MUTANT modify-without-reference  -DCM -DNO_MODIFY_REF
 * MUTANT send-work-not-cancelled   -DFAULT -DNO_CANCEL_SEND
 * MUTANT owner-not-waited-for      -DNO_STOP_WAIT -DNO_OWNER_REF
 * MUTANT upcalls-not-ended         -DFAULT -DNO_LET_GO
 * MUTANT let-go-without-lock       -DFAULT -DNO_SOCKET_LOCK
 * MUTANT cm-told-twice             -DCEP_STAYS
 * MUTANT disconnect-without-flush  -DMODIFY -DNO_RX_END
 * MUTANT receives-not-flushed      -DMODIFY -DNO_SECOND_STOP
 * MUTANT flush-before-the-end      -DMODIFY -DRX_ENDED_UNREAD
 * MUTANT stop-without-flush        -DMODIFY -DNO_STOP_FLUSH
 * MUTANT flush-while-receiving     -DWRITE -DMODIFY -DFLUSH_IN_CLOSING
 * MUTANT flush-without-upcalls     -DWRITE -DMODIFY -DNO_UPCALL_WAIT
 * MUTANT flush-before-publication  -DWRITE -DMODIFY -DACCEPT -DNO_PAUSE
 * MUTANT upcalls-ignore-the-state  -DWRITE -DMODIFY -DPLACE_ANYWAY
 * MUTANT lent-to-all               -DWRITE -DMODIFY -DOTHER -DLENT_TO_ALL
 * ENDLESS work-without-connection  -DGONE -DQUEUE_ANYWAY
 */
/*
 * -DWORKER: mpa_conn.work is queued. -DGONE: the device is removed. -DFIND:
 * another context looks the queue pair's number up. -DFAULT: the peer commits a
 * protocol error. -DCM: rdma_disconnect() is called, too. -DWRITE: the peer
 * writes to the send request's memory. -DOTHER: another connection's peer does
 * so. -DACCEPT: iwm_qp_accept() has not published the connection yet.
 */

mtype = { RTS, CLOSING, TERMINATE, ERROR };

/* struct iwm_qp */
mtype state = RTS;
byte qp_ref = 2;		/* the creator's and the cep's */
bool published = true, unused, qp_gone;
#ifdef ACCEPT
bool conn;			/* qp->conn is set */
bool conn_lock = true;
#else
bool conn = true;
bool conn_lock;
#endif
bool cep = true;		/* qp->cep is set */
bool dying, fin_sent;
bool recv_left = true;		/* posted, and not completed */
bool rx_ended;

/* struct iwm_sq */
bool send_left = true;
#if defined(ACCEPT) && !defined(NO_PAUSE)
bool owned = true;
#else
bool owned;
#endif
bool stopped, flush, term, again;

/* Works */
bool close_queued, close_runs;
bool send_queued, send_runs, send_cancelled;

/* struct iwm_cep */
bool cep_qp = true;
byte told;			/* events of an end that iw_cm has got */

/* struct mpa_conn. References: the consumer's, the socket's, the work's */
#ifdef WORKER
byte conn_ref = 3;
#else
byte conn_ref = 2;
#endif
bool conn_gone, ops = true, ended, rx_stopped, tcp_closed, gone_told;

bool socket_lock;
bool destroyed;			/* iwm_destroy_qp() has returned */

#define take(lock)	atomic { !lock; use_qp; lock = true }
#define give(lock)	lock = false
#define take_socket()	atomic { !socket_lock; socket_lock = true }
#define use_qp		assert(!qp_gone)
#define use_conn	assert(!conn_gone)

inline conn_put()
{
	d_step {
		use_conn;
		conn_ref--;
		if
		:: conn_ref == 0 -> conn_gone = true
		:: else
		fi
	}
}

inline qp_put()
{
	d_step {
		use_qp;
		qp_ref--;
		if
		:: qp_ref == 0 -> assert(!unused); unused = true
		:: else
		fi
	}
}

/* Reading qp->dying and completing are two steps. */
inline complete(left)
{
	d_step { use_qp; may = left && !dying };
	if
	:: may -> d_step { assert(!destroyed); left = false; may = false }
	:: else
	fi
}

/* Leave the note, and schedule the owner to read it. */
inline sq_kick(note)
{
	d_step {
		use_qp;
		note = true;
		again = true;
		if
		:: !owned && !send_cancelled -> send_queued = true
		:: else
		fi
	}
}

inline queue_close()
{
#ifdef QUEUE_UNLOCKED
	use_qp;
	if
	:: !dying -> skip; use_qp; close_queued = true
	:: else
	fi
#else
	d_step {
		use_qp;
		if
#ifndef NO_DYING_CHECK
		:: dying
#endif
		:: else -> close_queued = true
		fi
	}
#endif
}

/* iwm_cep_closed(), and the reference that it drops. The first call counts. */
inline tell_cm()
{
	d_step {
		use_qp;
		had_qp = cep && cep_qp;
		told = told + cep;
		assert(told <= 1);
#ifndef CEP_STAYS
		cep = false;
#endif
		cep_qp = cep_qp && !had_qp
	};
	if
	:: had_qp -> qp_put(); had_qp = false
	:: else
	fi
}

inline finish()
{
	d_step { use_qp; may = !dying };
	if
	:: may -> may = false; sq_kick(flush)
	:: else
	fi;
	tell_cm()
}

/* The owner flushes the receives: flush_all(). */
inline iwm_qp_rx_end()
{
	d_step { use_qp; rx_ended = true; may = !dying };
	if
	:: may -> may = false; sq_kick(again)
	:: else
	fi
}

/* ---- Upcalls, with the socket locked ---- */

inline iwm_qp_upcall_closed()
{
	assert(ops && !destroyed);
	d_step { use_qp; from = state; state = ERROR };
	if
	:: from != ERROR -> from = 0; queue_close()
	:: else -> from = 0
	fi;
	iwm_qp_rx_end();
	finish()
}

inline iwm_qp_upcall_gone()
{
	d_step {
		assert(ops && !destroyed && !qp_gone);
		close_queued = close_queued && !(state == ERROR && fin_sent)
	}
}

/* A protocol error: iwm_qp_error(), then iwm_qp_rx_end(). */
inline upcall_receive()
{
	assert(ops && !destroyed);
	d_step {
		use_qp;
		from = state;
		if
		:: state == RTS || state == CLOSING -> state = TERMINATE
		:: else
		fi
	};
	if
	:: from == RTS || from == CLOSING ->
		sq_kick(term);
		sq_kick(flush);
		queue_close()
	:: else
	fi;
	from = 0;
	iwm_qp_rx_end();
	rx_stopped = true
}

/* A WRITE: the upcall reads the state, then copies the octets. */
inline upcall_write()
{
	assert(ops && !destroyed);
#ifdef PLACE_ANYWAY
	up = true;
#else
	d_step { use_qp; up = state == RTS || state == CLOSING };
#endif
	if
	:: up -> up = false; assert(send_left && !destroyed)
	:: else
	fi
}

inline look_at_tcp()
{
	if
	:: ops && tcp_closed && !ended ->
		ended = true;
		rx_stopped = true;
		iwm_qp_upcall_closed()
	:: else
	fi;
	if
	:: ops && tcp_closed && ended && !gone_told ->
		gone_told = true;
		iwm_qp_upcall_gone()
	:: else
	fi
}

/* TCP's callbacks in softirq: the peer's error, FIN or RST */
active proctype tcp()
{
	mtype from;
	bool had_qp, may, up;

#ifdef WRITE
	take_socket();
	if
	:: ops && !rx_stopped -> upcall_write()
	:: else
	fi;
	give(socket_lock);
#endif
#ifdef FAULT
	take_socket();
	if
	:: ops && !rx_stopped -> upcall_receive()
	:: else
	fi;
	give(socket_lock);
#endif
	take_socket();
	tcp_closed = true;
	look_at_tcp();
	give(socket_lock)
}

#ifdef WORKER
/* mpa_conn_work(), which is queued and holds a reference */
active proctype mpa_worker()
{
	mtype from;
	bool had_qp, may;

	use_conn;
	take_socket();
	look_at_tcp();
	give(socket_lock);
	conn_put()
}
#endif

/* ---- The end from above ---- */

inline mpa_destroy()
{
#ifndef NO_SOCKET_LOCK
	take_socket();
#endif
	use_conn;
#ifndef NO_LET_GO
	ops = false;
#endif
	conn_put();
#ifndef NO_SOCKET_LOCK
	give(socket_lock);
#endif
	conn_put()
}

/* mpa_shutdown(): the peer may close, or not. */
inline send_fin()
{
	if
	:: conn && !fin_sent ->
		fin_sent = true;
		take_socket();
		use_conn;
		give(socket_lock)
	:: else
	fi
}

/*
 * flush_rings(): iwm_sq_flush_all(), which waits for the last upcall to end
 * first, and iwm_qp_flush_rq()
 */
inline flush_all()
{
#ifndef NO_UPCALL_WAIT
	d_step { use_qp; waits = conn; conn_ref = conn_ref + waits };
	if
	:: waits ->
		waits = false;
		take_socket();
		give(socket_lock);
		conn_put()
	:: else
	fi;
#endif
	complete(send_left);
	if
#ifdef RX_ENDED_UNREAD
	:: true ->
#else
	:: rx_ended ->
#endif
		/* An upcall that runs may use the receive until then. */
		assert(rx_ended);
		complete(recv_left)
	:: else
	fi
}

inline sq_stop(flushes)
{
	d_step { use_qp; flush = flush || flushes; stopped = true };
#ifndef NO_STOP_WAIT
	atomic { !owned; use_qp; owned = true; term = false };
#endif
#ifndef NO_STOP_FLUSH
	if
	:: flushes -> flush_all()
	:: else
	fi;
#endif
	d_step {
		use_qp;
		owned = false;
		send_queued = send_queued || (again && !send_cancelled)
	}
}

/* iwm_qp_disconnect(): mpa_abort() if @reset, else a FIN */
inline disconnect(reset)
{
	d_step { use_qp; state = ERROR };
	sq_stop(true);
	take(conn_lock);
	if
	:: reset && conn ->
		take_socket();
		use_conn;
		tcp_closed = true;
		look_at_tcp();
		give(socket_lock)
	:: else -> send_fin()
	fi;
	d_step { use_qp; had_conn = conn; conn = false };
	if
	:: had_conn -> had_conn = false; mpa_destroy()
	:: else
	fi;
#ifndef NO_RX_END
	iwm_qp_rx_end();
#endif
	give(conn_lock);
#ifndef NO_SECOND_STOP
	sq_stop(true);
#endif
	finish()
}

inline iwm_qp_terminated()
{
	take(conn_lock);
	send_fin();
	give(conn_lock);
	d_step {
		use_qp;
		terminated = state == TERMINATE;
		if
		:: terminated -> state = ERROR
		:: else
		fi
	};
	if
	:: terminated -> terminated = false; queue_close(); finish()
	:: else
	fi
}

/* iwm_qp_close_work(): close_step() */
active proctype closer()
{
	mtype from;
	bool had_qp, had_conn, may, late, waits, terminated;

end:	do
	:: atomic { close_queued -> close_queued = false; close_runs = true; use_qp };
		if
		:: state == TERMINATE || fin_sent ->
			/* wait_for_peer(), at most once more */
			if
			:: !late -> late = true; queue_close()
			:: disconnect(state != CLOSING)
			fi
		:: !(state == TERMINATE || fin_sent) && state != RTS ->
#ifdef FLUSH_IN_CLOSING
			sq_stop(true);
#else
			sq_stop(state != CLOSING);
#endif
			take(conn_lock);
			send_fin();
			give(conn_lock);
#ifdef QUEUE_ANYWAY
			queue_close()
#else
			if
			:: fin_sent -> queue_close()
			:: else
			fi
#endif
			;
			if
			:: state == TERMINATE -> iwm_qp_terminated()
			:: else
			fi
		:: else
		fi;
		close_runs = false
	od
}

/* iwm_sq_work(): sq_run() */
active proctype sender()
{
	mtype from;
	bool got, has_conn, terminated, had_qp, may, waits;

end:	do
	:: atomic { send_queued -> send_queued = false; send_runs = true };
		do
		:: true ->
			d_step {
				use_qp;
				got = !owned;
				owned = true;
				again = again && !got;
				has_conn = got && conn && !stopped;
#ifndef NO_OWNER_REF
				conn_ref = conn_ref + has_conn
#endif
			};
			if
			:: !got -> break
			:: else
			fi;
			/* iwm_sq_transmit(), iwm_sq_send_terminate() */
			d_step {
				assert(!has_conn || !conn_gone);
				terminated = term;
				term = false
			};
			if
			:: flush -> flush_all()
			:: else
			fi;
#ifndef NO_OWNER_REF
			if
			:: has_conn -> has_conn = false; conn_put()
			:: else
			fi;
#endif
			d_step { use_qp; owned = false; got = false };
			if
			:: terminated -> iwm_qp_terminated()
			:: else
			fi;
			if
			:: again
			:: else -> break
			fi
		od;
		send_runs = false
	od
}

#ifdef GONE
/* Removing the device: iwm_cep_gone_qp() takes a reference under cep->lock. */
active proctype cm()
{
	mtype from;
	bool has_qp, had_qp, had_conn, may, waits;

	d_step {
		has_qp = cep_qp;
		if
		:: has_qp -> use_qp; qp_ref++
		:: else
		fi
	};
	if
	:: has_qp -> disconnect(true); qp_put()
	:: else
	fi
}
#endif

#ifdef FIND
/* A context that knows the queue pair's number: iwm_qp_get() */
active proctype finder()
{
	bool found;

	d_step {
		assert(!published || !qp_gone);
		found = published && qp_ref > 0;
		qp_ref = qp_ref + found
	};
	if
	:: found -> use_qp; qp_put()
	:: else
	fi
}
#endif

#ifdef CM
/* iw_cm calls iwm_modify_qp(). Its own reference ends with the event. */
active proctype iw_cm()
{
	mtype from;
	bool has_qp, had_qp, had_conn, may, waits;

	d_step {
		has_qp = !told;
#ifndef NO_MODIFY_REF
		qp_ref = qp_ref + has_qp
#endif
	};
	if
	:: has_qp ->
		disconnect(false);
#ifndef NO_MODIFY_REF
		qp_put()
#endif
	:: else
	fi
}
#endif

#ifdef ACCEPT
/* iwm_qp_accept(), after mpa_accept() has started the upcalls */
active proctype acceptor()
{
	conn = true;
#ifndef NO_PAUSE
	d_step {
		owned = false;
		send_queued = send_queued || (again && !send_cancelled)
	}
#endif
	give(conn_lock)
}
#endif

#ifdef OTHER
/* The peer of another connection in the protection domain uses the STag. */
active proctype other()
{
#ifdef LENT_TO_ALL
	assert(send_left)
#else
	skip
#endif
}
#endif

/* The consumer may close first; then it destroys the queue pair. */
active proctype consumer()
{
	mtype from;
	bool had_qp, had_conn, may, waits;

#ifdef MODIFY
	if
	:: skip
	:: d_step {
			from = state;
			if
			:: state == RTS -> state = CLOSING
			:: else
			fi
		};
		if
		:: from == RTS -> queue_close()
		:: else
		fi
	fi;
	disconnect(false);
	assert(!recv_left && !send_left && state == ERROR);
#endif
#ifndef UNPUBLISH_LATE
	published = false;
#endif
	/* iwm_qp_die() */
	dying = true;
	disconnect(false);
#ifndef NO_CANCEL
	close_queued = false;
	!close_runs;
#endif
	qp_put();
#ifndef NO_WAIT_UNUSED
	unused;
#endif
	/* iwm_sq_destroy() */
#ifndef NO_CANCEL_SEND
	d_step { send_cancelled = true; send_queued = false };
	!send_runs;
#endif
	qp_gone = true;
#ifdef UNPUBLISH_LATE
	published = false;
#endif
	destroyed = true
}

/* Runs when no other process can continue. */
active proctype check()
{
end:	timeout;
	assert(destroyed && told == 1);
	assert(qp_ref == 0 && conn_ref == 0 && !close_queued && !send_queued)
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A region: lookups by its STag, and the end of its validity.
 *
 * Code: ddp_glue/mem.c (mr_find(), iwm_mr_get(), iwm_mr_put(), mr_is_quiet(),
 * mr_quiesce(), iwm_mr_invalidate_local(), iwm_mr_enable()), and
 * mpa_loan_end().
 *
 * Properties (Documentation/locking.md, "A region's validity"):
 * - once LOCAL_INV has completed, no context uses the region: the consumer
 *   reuses its pages;
 * - a list of pages is replaced while no context uses the region;
 * - a context that waits for users is woken.
 *
 * An atomic operation on the users takes effect in one step, but a lookup's
 * orders nothing: the load of valid may come first. A waiting context is in the
 * wait queue before it looks.
 *
 * For scripts/prove:
 * RUN region
 * RUN two-callers               -DCALLERS=2
 * RUN peer                      -DPEER
 * MUTANT lookup-without-barrier -DNO_LOOKUP_MB
 * MUTANT put-without-barrier    -DNO_PUT_MB
 * MUTANT revoke-without-barrier -DNO_REVOKE_MB
 * MUTANT waiting-read-last      -DCALLERS=2 -DUSERS_FIRST
 * MUTANT callers-not-counted    -DCALLERS=2 -DNO_WAITING
 * MUTANT enable-at-once         -DPEER -DENABLE_AT_ONCE
 */
#define READERS	2
#define LOOKUPS	2
#ifndef CALLERS
#define CALLERS	1
#endif

bool valid = true, reused;
byte users = 1;			/* the creator's reference */
byte waiting, accesses, done, finished;
bool asleep[CALLERS], woken[CALLERS];

inline wake_up()
{
	d_step {
		woken[0] = woken[0] || asleep[0];
#if CALLERS == 2
		woken[1] = woken[1] || asleep[1];
#endif
	}
}

inline iwm_mr_put()
{
#ifdef NO_PUT_MB
	if
	:: look = !valid || waiting; users--
	:: users--; look = !valid || waiting
	fi;
#else
	users--;
	look = !valid || waiting;
#endif
	if
	:: look -> wake_up()
	:: else
	fi;
	look = false
}

/* A connection places octets, or reads some. */
active [READERS] proctype reader()
{
	bool found, look;
	byte n;

	do
	:: n < LOOKUPS ->
		n++;
		/* iwm_mr_get() */
#ifdef NO_LOOKUP_MB
		if
		:: found = valid; users++
		:: users++; found = valid
		fi;
#else
		users++;
		found = valid;
#endif
		if
		:: found ->
			accesses++;
			assert(!reused);
			accesses--
		:: else
		fi;
		found = false;
		iwm_mr_put()
	:: else -> break
	od
}

/* wait_var_event(). @counted: other callers of mr_quiesce() do not count */
inline wait_for_users(counted)
{
	do
	:: true ->
		woken[me] = false;
		asleep[me] = true;
#ifdef USERS_FIRST
		seen = users;
		quiet = seen <= 1 + (counted -> waiting : 0);
#else
		seen = (counted -> waiting : 0);
		quiet = users <= 1 + seen;
#endif
		if
		:: quiet -> break
		:: else -> woken[me]
		fi
	od;
	asleep[me] = false
}

/* iwm_mr_invalidate_local(), after mr_find() */
inline local_inv()
{
#ifndef NO_REVOKE_MB
	valid = false;		/* mpa_loan_end(): a full barrier follows */
#endif
#ifndef NO_WAITING
	waiting++;
#endif
	wait_for_users(true);
#ifdef NO_REVOKE_MB
	valid = false;
#endif
#ifndef NO_WAITING
	waiting--;
#endif
	skip
}

/*
 * The region ends by LOCAL_INV, of each queue pair that the consumer has, or
 * the peer invalidates it (-DPEER). Then the consumer registers it again.
 */
active [CALLERS] proctype consumer()
{
	byte me = _pid - READERS, seen;
	bool quiet, look, last;

	users++;
#ifdef PEER
	valid = false;
#else
	local_inv();
	assert(!accesses);	/* it completes */
#endif
	iwm_mr_put();
	d_step { done++; last = done == CALLERS }
	if
	:: !last
	:: last ->
#ifndef PEER
		reused = true;
		reused = false;
#endif
#ifndef ENABLE_AT_ONCE
		wait_for_users(false);
#endif
		assert(!accesses);	/* iwm_mr_enable() replaces the list */
		valid = true
	fi;
	finished++
}

/* Runs when no other process can continue. */
active proctype check()
{
end:	timeout;
	assert(finished == CALLERS && users == 1)
}

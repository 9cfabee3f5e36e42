/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A region: lookups by its STag, and its deregistration.
 *
 * Code: ddp_glue/mem.c (mr_find(), iwm_mr_get(), iwm_mr_put(), iwm_dereg_mr(),
 * mr_withdraw(), mr_free()), and iwm_mr_is() of mem.h.
 *
 * Properties:
 * - once iwm_dereg_mr() has returned, no context uses the region's memory;
 * - no context looks at the region after it is freed;
 * - a lookup that begins when the region has been erased does not find it, so
 *   that lookups which come again and again do not keep iwm_dereg_mr() waiting.
 *
 * The steps are in program order: contexts rely on the count of users, whose
 * operations are ordered, and on the grace period. That ends when all critical
 * sections have ended that had begun before it.
 *
 * For scripts/prove:
 * RUN two-lookups
 * RUN three-lookups             -DLOOKUPS=3
 * MUTANT recent-cleared-first   -DRECENT_FIRST
 * MUTANT use-counted-late       -DCOUNTED_LATE
 * MUTANT entered-without-use    -DENTERED_FIRST
 * MUTANT freed-at-once          -DFREED_AT_ONCE
 * MUTANT put-outside-rcu        -DPUT_OUTSIDE_RCU
 * MUTANT users-not-waited-for   -DNO_DRAINED
 * MUTANT invalid-recent-counts  -DINVALID_RECENT
 */
#define READERS	2
#ifndef LOOKUPS
#define LOOKUPS	2
#endif

bool valid = true;
bool in_table = true, recent;	/* dev->mrs and dev->recent_mrs have it */
byte users = 1;			/* the creator's reference */
byte accesses;
bool drained, returned, freed;
bool in_rcu[READERS];		/* critical sections */
bool grace[READERS];		/* those that the grace period waits for */

inline rcu_read_lock()
{
	in_rcu[me] = true
}

inline rcu_read_unlock()
{
	d_step { in_rcu[me] = false; grace[me] = false }
}

/* found: with a reference */
inline mr_find()
{
	rcu_read_lock();
	late = !in_table;
	found = recent;
	if
	:: found ->
		assert(!freed);
#ifndef INVALID_RECENT
		found = valid		/* iwm_mr_is() */
#endif
	:: else
	fi;
	if
	:: !found -> found = in_table
	:: else
	fi;
#ifdef ENTERED_FIRST
	recent = recent || found;
#endif
	if
	:: found ->
		assert(!freed);
#ifdef COUNTED_LATE
		found = users > 0;
		users = users + found;
#else
		atomic { found = users > 0; users = users + found };
#endif
		assert(!found || !late);
		recent = recent || found
	:: else
	fi;
	rcu_read_unlock()
}

inline iwm_mr_put()
{
#ifndef PUT_OUTSIDE_RCU
	rcu_read_lock();
#endif
	atomic { users--; last = users == 0 };
	assert(!freed);
	drained = drained || last;
	assert(!freed);
	rcu_read_unlock()
}

/* A connection places octets, or reads some. */
active [READERS] proctype reader()
{
	byte me = _pid;
	bool found, last, late;
	byte n;

	do
	:: n < LOOKUPS ->
		n++;
		mr_find();
		if
		:: found ->
			/* iwm_mr_get() */
			if
			:: valid ->
				accesses++;
				assert(!returned);
				accesses--
			:: else
			fi;
			iwm_mr_put()
		:: else
		fi
	:: else -> break
	od
}

/* iwm_dereg_mr() */
active proctype consumer()
{
	bool last;

	valid = false;
#ifdef RECENT_FIRST
	recent = false;
#endif
	in_table = false;
	atomic { users--; last = users == 0 };
#ifndef NO_DRAINED
	if
	:: last
	:: else -> drained
	fi;
#endif
#ifndef RECENT_FIRST
	recent = false;
#endif
	/* mr_free() */
	returned = true;
	assert(!accesses);
	/* kfree_rcu() */
#ifndef FREED_AT_ONCE
	d_step { grace[0] = in_rcu[0]; grace[1] = in_rcu[1] };
	!grace[0] && !grace[1];
#endif
	freed = true
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A worker makes a connection on behalf of the program that has asked for it:
 * with the program's credentials, and charged to its memory cgroup.
 */
#include <linux/cred.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include "caller.h"

/* Note the current task. @user: it is a program's. */
void iwm_caller_note(struct iwm_caller *caller, bool user)
{
	caller->memcg = user ? get_mem_cgroup_from_mm(NULL) : NULL;
	caller->cred = get_current_cred();
}

void iwm_caller_put(struct iwm_caller *caller)
{
	mem_cgroup_put(caller->memcg);
	put_cred(caller->cred);
}

/*
 * Act for @caller until iwm_caller_end(). Memory reclaim may wait for the
 * connection.
 */
struct iwm_caller_saved iwm_caller_begin(const struct iwm_caller *caller)
{
	struct iwm_caller_saved saved;

	saved.noio = memalloc_noio_save();
	saved.memcg = set_active_memcg(caller->memcg);
	saved.cred = override_creds(caller->cred);
	return saved;
}

void iwm_caller_end(const struct iwm_caller_saved *saved)
{
	revert_creds(saved->cred);
	set_active_memcg(saved->memcg);
	memalloc_noio_restore(saved->noio);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* On whose behalf a worker connects. */
#ifndef DDP_GLUE_CALLER_H
#define DDP_GLUE_CALLER_H

#include <linux/types.h>

struct cred;
struct mem_cgroup;

/**
 * struct iwm_caller - who has asked for a connection that a worker makes later
 * @memcg: memory cgroup of the program, with a reference; NULL: a kernel
 *	consumer
 * @cred: credentials of the task, with a reference: the socket belongs to the
 *	same user as one that the task makes, for routing by user
 */
struct iwm_caller {
	struct mem_cgroup *memcg;
	const struct cred *cred;
};

/* What iwm_caller_begin() has replaced. */
struct iwm_caller_saved {
	struct mem_cgroup *memcg;
	const struct cred *cred;
	unsigned int noio;
};

/* Context: process. */
void iwm_caller_note(struct iwm_caller *caller, bool user);
void iwm_caller_put(struct iwm_caller *caller);
struct iwm_caller_saved iwm_caller_begin(const struct iwm_caller *caller);
void iwm_caller_end(const struct iwm_caller_saved *saved);

#endif /* DDP_GLUE_CALLER_H */

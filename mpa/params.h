/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policy: what the administrator has chosen, and what a connection makes of
 * its own.
 */
#ifndef MPA_PARAMS_H
#define MPA_PARAMS_H

#include <linux/sched/mm.h>
#include <mpa/mpa.h>

extern unsigned int mpa_startup_timeout;
extern unsigned int mpa_max_half_open;

/**
 * mpa_params_use_reserves() - what is allocated from now on is for a connection
 * @params: policy of the connection; memory may wait for it when it says so
 *
 * The caller reclaims nothing then, because that may wait for the same
 * connection, and memory reserves are open.
 * Context: process. Return: for memalloc_noreclaim_restore().
 */
static inline unsigned int
mpa_params_use_reserves(const struct mpa_params *params)
{
	unsigned int before = memalloc_noreclaim_save();

	if (!params->memalloc)
		memalloc_noreclaim_restore(before);	/* twice does no harm */
	return before;
}

#endif /* MPA_PARAMS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Module parameters, and what follows from the parameters of a connection.
 */
#ifndef MPA_PARAMS_H
#define MPA_PARAMS_H

#include <linux/sched/mm.h>
#include <mpa/mpa.h>

extern unsigned int mpa_startup_timeout;
extern unsigned int mpa_max_half_open;

/**
 * mpa_params_use_reserves() - allocate on behalf of a connection from here on
 * @params: those of the connection
 *
 * If @params->memalloc is set, freeing memory may depend on this connection:
 * the caller then does no reclaim, which could wait for the connection, and may
 * use memory reserves.
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

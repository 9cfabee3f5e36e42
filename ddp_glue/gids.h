/* SPDX-License-Identifier: GPL-2.0 */
/* A device's GIDs for its netdev's IP addresses. */
#ifndef DDP_GLUE_GIDS_H
#define DDP_GLUE_GIDS_H

#include "types.h"

bool iwm_has_gid(const union ib_gid *gids, unsigned int num,
		 const union ib_gid *gid);
void iwm_gids_follow(struct net_device *netdev, union ib_gid *gids);

#endif /* DDP_GLUE_GIDS_H */

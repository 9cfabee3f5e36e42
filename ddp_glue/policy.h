/* SPDX-License-Identifier: GPL-2.0 */
/* The administrator's choices for one device. */
#ifndef IWM_POLICY_H
#define IWM_POLICY_H

#include "types.h"

extern const struct attribute_group iwm_policy_group;

void iwm_policy_init(struct iwm_dev *dev);
struct mpa_policy iwm_policy(const struct iwm_dev *dev);

#endif /* IWM_POLICY_H */

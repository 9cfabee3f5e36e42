/* SPDX-License-Identifier: GPL-2.0 */
/* The administrator's settings of one device. */
#ifndef DDP_GLUE_SETTINGS_H
#define DDP_GLUE_SETTINGS_H

#include "types.h"

extern const struct attribute_group iwm_settings_group;

void iwm_settings_init(struct iwm_dev *dev);
struct mpa_settings iwm_settings(const struct iwm_dev *dev);

#endif /* DDP_GLUE_SETTINGS_H */

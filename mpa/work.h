/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module's workqueues.
 */
#ifndef MPA_WORK_H
#define MPA_WORK_H

#include <linux/workqueue.h>

extern struct workqueue_struct *mpa_wq;
extern struct workqueue_struct *mpa_user_wq;	/* programs' sockets */

int mpa_work_init(void);
void mpa_work_exit(void);

#endif /* MPA_WORK_H */

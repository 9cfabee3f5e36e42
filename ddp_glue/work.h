/* SPDX-License-Identifier: GPL-2.0 */
/* The module's workqueues. */
#ifndef DDP_GLUE_WORK_H
#define DDP_GLUE_WORK_H

#include <linux/workqueue.h>

extern struct workqueue_struct *iwm_wq;		/* WQ_MEM_RECLAIM */
extern struct workqueue_struct *iwm_user_wq;
extern struct workqueue_struct *iwm_dev_wq;	/* changes, removal of devices */

/*
 * The work queue of a program's or a kernel consumer's work. Work for a program
 * may wait for memory of its cgroup, even within TCP. Storage must not wait for
 * that, so kernel consumers have a queue of their own.
 */
static inline struct workqueue_struct *iwm_work_queue(bool user)
{
	return user ? iwm_user_wq : iwm_wq;
}

int iwm_work_init(void);
void iwm_work_exit(void);

#endif /* DDP_GLUE_WORK_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * The module's workqueues.
 */
#include <linux/errno.h>
#include <mpa/compat.h>
#include "work.h"

struct workqueue_struct *mpa_wq;
struct workqueue_struct *mpa_user_wq;

/* Context: process. Return: 0 or -ENOMEM. */
int __init mpa_work_init(void)
{
	/* Not WQ_HIGHPRI: a busy peer must not take the CPU from programs. */
	mpa_wq = alloc_workqueue("mpa", WQ_MEM_RECLAIM | WQ_PERCPU, 0);
	if (!mpa_wq)
		return -ENOMEM;
	/*
	 * Programs' work may wait for memory, so it must not use the workers of
	 * storage. WQ_CPU_INTENSIVE leaves it to the scheduler, so that other
	 * work does not wait while it runs; but it stays on its CPU.
	 */
	mpa_user_wq = alloc_workqueue("mpa_user",
				      WQ_CPU_INTENSIVE | WQ_PERCPU, 0);
	if (!mpa_user_wq) {
		destroy_workqueue(mpa_wq);
		return -ENOMEM;
	}
	return 0;
}

/*
 * Drain mpa_wq first: a timer on it may queue to mpa_user_wq, if a program has
 * accepted the connection since the timer was armed. Work on mpa_user_wq never
 * queues to mpa_wq, because no socket lingers any more. Context: process.
 */
void mpa_work_exit(void)
{
	destroy_workqueue(mpa_wq);
	destroy_workqueue(mpa_user_wq);
}

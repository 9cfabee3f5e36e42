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
	/* Not WQ_HIGHPRI: a peer that sends much takes no CPU from programs. */
	mpa_wq = alloc_workqueue("mpa", WQ_MEM_RECLAIM | WQ_PERCPU, 0);
	if (!mpa_wq)
		return -ENOMEM;
	/*
	 * Programs' work may wait for memory: not among storage's workers. Nor
	 * do these wait while it runs: who sends and receives for programs is
	 * left to the scheduler, but stays on its CPU.
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
 * What is queued runs to its end, on mpa_wq first: the timer of a connection
 * that a program has accepted since it was armed queues to mpa_user_wq. Nothing
 * goes the other way: what is a program's stays so, and no socket lingers any
 * more. Context: process.
 */
void mpa_work_exit(void)
{
	destroy_workqueue(mpa_wq);
	destroy_workqueue(mpa_user_wq);
}

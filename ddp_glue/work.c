// SPDX-License-Identifier: GPL-2.0
/*
 * The module's workqueues.
 */
#include <linux/errno.h>
#include <mpa/compat.h>
#include "work.h"

struct workqueue_struct *iwm_wq;
struct workqueue_struct *iwm_user_wq;
struct workqueue_struct *iwm_dev_wq;

/* Context: process. Return: 0 or -ENOMEM. */
int __init iwm_work_init(void)
{
	/*
	 * Not WQ_HIGHPRI: this queue sends Responses to the peer's Reads, which
	 * must not take CPUs away from the programs of this machine.
	 */
	iwm_wq = alloc_workqueue("iwmpa", WQ_MEM_RECLAIM | WQ_PERCPU, 0);
	if (!iwm_wq)
		return -ENOMEM;
	/*
	 * Storage must not wait while work for programs sleeps for memory, nor
	 * while it runs: a queue of its own, and WQ_CPU_INTENSIVE.
	 */
	iwm_user_wq = alloc_workqueue("iwmpa_user",
				      WQ_CPU_INTENSIVE | WQ_PERCPU, 0);
	if (!iwm_user_wq)
		goto err_destroy_wq;
	/*
	 * Changes and removal of devices wait for rtnl and for consumers to
	 * release the device. Work that storage needs to write memory out must
	 * not wait for them, as it could in a shared queue with one rescuer.
	 */
	iwm_dev_wq = alloc_workqueue("iwmpa_dev", WQ_UNBOUND, 0);
	if (!iwm_dev_wq)
		goto err_destroy_user_wq;
	return 0;

err_destroy_user_wq:
	destroy_workqueue(iwm_user_wq);
err_destroy_wq:
	destroy_workqueue(iwm_wq);
	return -ENOMEM;
}

/* All queued work runs to its end. Context: process. */
void iwm_work_exit(void)
{
	destroy_workqueue(iwm_dev_wq);
	destroy_workqueue(iwm_user_wq);
	destroy_workqueue(iwm_wq);
}

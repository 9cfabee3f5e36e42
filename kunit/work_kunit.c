// SPDX-License-Identifier: GPL-2.0
/*
 * Destroying the workqueues (mpa/work.c).
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/workqueue.h>
#include "surroundings.h"
#include "work.h"

static DECLARE_COMPLETION(begins_to_end);
static bool user_wq_is_gone;
static bool too_late;
static bool came;

void work_kunit_destroy(struct workqueue_struct *wq)
{
	if (wq == mpa_wq)
		complete(&begins_to_end);
	destroy_workqueue(wq);
	if (wq == mpa_user_wq)
		user_wq_is_gone = true;
}

static void user_work(struct work_struct *work)
{
	came = true;
}

static DECLARE_WORK(for_a_program, user_work);

/* Like conn_timeout() of a connection that a program has meanwhile accepted. */
static void timer_work(struct work_struct *work)
{
	wait_for_completion(&begins_to_end);
	too_late = user_wq_is_gone;
	if (!too_late)
		queue_work(mpa_user_wq, &for_a_program);
}

static DECLARE_WORK(for_all, timer_work);

static void the_last_work_queues_for_a_program(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, mpa_work_init(), 0);
	queue_work(mpa_wq, &for_all);
	mpa_work_exit();
	KUNIT_EXPECT_FALSE(test, too_late);
	KUNIT_EXPECT_TRUE(test, came);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(the_last_work_queues_for_a_program),
	{}
};

static struct kunit_suite suite = {
	.name = "mpa_work",
	.test_cases = cases,
};

kunit_test_suite(suite);

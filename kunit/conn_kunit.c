// SPDX-License-Identifier: GPL-2.0
/*
 * Timers of a connection (mpa/conn.c).
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/in.h>
#include "conn.h"
#include "linger.h"
#include "params.h"
#include "work.h"

unsigned int mpa_startup_timeout;

struct mpa_settings mpa_default_settings(void)
{
	return (struct mpa_settings){ };
}

void mpa_linger_close(struct socket *sock, struct workqueue_struct *wq, bool refused)
{
}

void mpa_tx_free(struct mpa_tx *tx)
{
}

u32 mpa_conn_mulpdu(struct mpa_conn *conn)
{
	return 0;
}

void mpa_rx_free(struct mpa_rx *rx)
{
}

static DECLARE_COMPLETION(worked);

static void conn_worked(struct work_struct *work)
{
	complete(&worked);
	mpa_conn_put(container_of(work, struct mpa_conn, work));
}

/* A hand-over that is tried again does not end another wait. */
static void push_leaves_the_timer_alone(struct kunit *test)
{
	const struct mpa_params params = { .startup_ms = 3600 * MSEC_PER_SEC };
	struct mpa_conn *conn;
	struct socket *sock;

	KUNIT_ASSERT_EQ(test, mpa_conn_module_init(), 0);
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
					       &sock), 0);
	conn = mpa_conn_alloc(sock->sk, NULL, &params, NULL, conn_worked);
	KUNIT_ASSERT_NOT_NULL(test, conn);
	mpa_user_wq = system_wq;
	mpa_conn_start_timer(conn);
	mpa_conn_push_later(conn);
	wait_for_completion(&worked);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&conn->timer));
	KUNIT_EXPECT_FALSE(test, test_bit(MPA_CONN_TIMED_OUT, &conn->flags));
	mpa_conn_stop_timers(conn);
	flush_work(&conn->work);
	mpa_conn_put(conn);
	mpa_user_wq = NULL;
	sock_release(sock);
	mpa_conn_module_exit();
}

static struct kunit_case cases[] = {
	KUNIT_CASE(push_leaves_the_timer_alone),
	{}
};

static struct kunit_suite suite = {
	.name = "mpa_conn",
	.test_cases = cases,
};

kunit_test_suite(suite);

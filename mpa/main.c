// SPDX-License-Identifier: GPL-2.0
/*
 * mpa.ko: Marker PDU Aligned framing for TCP (RFC 5044) as a kernel library.
 */
#include <linux/module.h>
#include "conn.h"
#include "crc.h"
#include "linger.h"
#include "owner.h"
#include "sock.h"
#include "user.h"
#include "work.h"

static int __init mpa_init(void)
{
	int ret = mpa_crc_module_init();

	if (ret)
		return ret;
	ret = mpa_owner_module_init();
	if (ret)
		goto err_exit_crc;
	ret = mpa_conn_module_init();
	if (ret)
		goto err_exit_crc;
	ret = mpa_work_init();
	if (ret)
		goto err_exit_conn;
	ret = mpa_stats_register();
	if (ret)
		goto err_exit_work;
	ret = mpa_user_register();
	if (ret)
		goto err_unregister_stats;
#ifdef IWMPA_UNTESTED
	pr_notice("mpa: built for a kernel series that it was not tested on\n");
#endif
	return 0;

err_unregister_stats:
	mpa_stats_unregister();
err_exit_work:
	mpa_work_exit();
err_exit_conn:
	mpa_conn_module_exit();
err_exit_crc:
	mpa_crc_module_exit();
	return ret;
}

static void __exit mpa_exit(void)
{
	mpa_user_unregister();
	mpa_linger_exit();
	mpa_work_exit();	/* connections use counters until they end */
	mpa_sock_module_exit();
	mpa_stats_unregister();
	mpa_conn_module_exit();
	mpa_crc_module_exit();
}

module_init(mpa_init);
module_exit(mpa_exit);

MODULE_DESCRIPTION("MPA (RFC 5044): framing, Markers and CRC32c over TCP");
MODULE_VERSION(IWMPA_VERSION);
MODULE_LICENSE("GPL");

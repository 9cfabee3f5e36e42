// SPDX-License-Identifier: GPL-2.0
/*
 * Module parameters: the administrator's settings for all connections.
 */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "params.h"

static struct mpa_settings default_settings = {
#define MPA_SETTING(id, field, param, preset, text)	.field = preset,
#include <mpa/settings.h>
	.large = MPA_LARGE_LOCAL,
};

#define MPA_SETTING(id, field, param, preset, text)			\
	module_param_named(param, default_settings.field, bool, 0644);	\
	MODULE_PARM_DESC(param, text);
#include <mpa/settings.h>

const char *const mpa_large_names[MPA_NUM_LARGE] = {
	[MPA_LARGE_NEVER] = "never",
	[MPA_LARGE_LOCAL] = "local",
	[MPA_LARGE_ALWAYS] = "always",
	[MPA_LARGE_AGREED] = "agreed",
};
EXPORT_SYMBOL_NS_GPL(mpa_large_names, MPA_NS);

static int set_large(const char *val, const struct kernel_param *kp)
{
	int ret = sysfs_match_string(mpa_large_names, val);

	if (ret < 0)
		return ret;
	default_settings.large = ret;
	return 0;
}

static int get_large(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", mpa_large_names[default_settings.large]);
}

static const struct kernel_param_ops large_ops = {
	.set = set_large,
	.get = get_large,
};

module_param_cb(large_fpdus, &large_ops, NULL, 0644);
MODULE_PARM_DESC(large_fpdus,
		 "Send FPDUs larger than a TCP segment: never, local (on routes within this host), always, agreed (if both ends say so in a reserved bit) (default: local)");

/**
 * mpa_default_settings() - settings of a connection that has none of its own
 *
 * Context: any. Return: the values of the module parameters.
 */
struct mpa_settings mpa_default_settings(void)
{
	return data_race(default_settings);	/* no field can be torn */
}
EXPORT_SYMBOL_NS_GPL(mpa_default_settings, MPA_NS);

static int set_in_range(const char *val, const struct kernel_param *kp,
			unsigned int min, unsigned int max)
{
	unsigned int n;
	int ret = kstrtouint(val, 0, &n);

	if (ret)
		return ret;
	if (n < min || n > max) {
		pr_err("mpa: %s must be %u to %u\n", kp->name, min, max);
		return -EINVAL;
	}
	return param_set_uint(val, kp);
}

static int set_startup_timeout(const char *val, const struct kernel_param *kp)
{
	return set_in_range(val, kp, 1, 3600);
}

static const struct kernel_param_ops startup_timeout_ops = {
	.set = set_startup_timeout,
	.get = param_get_uint,
};

unsigned int mpa_startup_timeout = 20;
module_param_cb(startup_timeout, &startup_timeout_ops, &mpa_startup_timeout,
		0644);
MODULE_PARM_DESC(startup_timeout,
		 "Seconds for the whole startup of a connection, 1-3600 (default: 20)");

static int set_max_half_open(const char *val, const struct kernel_param *kp)
{
	return set_in_range(val, kp, 1, 1 << 20);
}

static const struct kernel_param_ops max_half_open_ops = {
	.set = set_max_half_open,
	.get = param_get_uint,
};

unsigned int mpa_max_half_open = 1024;
module_param_cb(max_half_open, &max_half_open_ops, &mpa_max_half_open, 0644);
MODULE_PARM_DESC(max_half_open,
		 "Connections of one listener that may wait for a Request, 1-1048576 (default: 1024)");

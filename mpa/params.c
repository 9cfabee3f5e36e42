// SPDX-License-Identifier: GPL-2.0
/*
 * Module parameters: the administrator's settings for all connections.
 */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "params.h"

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
	*(enum mpa_large *)kp->arg = ret;
	return 0;
}

static int get_large(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n",
			  mpa_large_names[*(enum mpa_large *)kp->arg]);
}

/* For module_param_named() with the type mpa_large */
static const struct kernel_param_ops param_ops_mpa_large = {
	.set = set_large,
	.get = get_large,
};

#define param_check_mpa_large(name, p)	__param_check(name, p, enum mpa_large)

/* The presets of the list */
#define PRESET_N	false
#define PRESET_Y	true
#define PRESET_local	MPA_LARGE_LOCAL

static struct mpa_settings default_settings = {
#define MPA_SETTING(id, field, param, type, preset, text)		\
	.field = PRESET_##preset,
#include <mpa/settings.h>
};

#define MPA_SETTING(id, field, param, type, preset, text)		\
	module_param_named(param, default_settings.field, type, 0644);	\
	MODULE_PARM_DESC(param, text " (default: " #preset ")");
#include <mpa/settings.h>

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

struct number {
	unsigned int *value;
	unsigned int min;
	unsigned int max;
};

static int set_number(const char *val, const struct kernel_param *kp)
{
	const struct number *number = kp->arg;
	unsigned int n;
	int ret = kstrtouint(val, 0, &n);

	if (ret)
		return ret;
	if (n < number->min || n > number->max) {
		pr_err("mpa: %s must be %u to %u\n", kp->name, number->min,
		       number->max);
		return -EINVAL;
	}
	*number->value = n;
	return 0;
}

static int get_number(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%u\n", *((const struct number *)kp->arg)->value);
}

static const struct kernel_param_ops number_ops = {
	.set = set_number,
	.get = get_number,
};

#define MPA_NUMBER(name, least, most, preset, text)			\
	unsigned int mpa_##name = preset;				\
	static struct number name##_number = { &mpa_##name, least, most }; \
	module_param_cb(name, &number_ops, &name##_number, 0644);	\
	MODULE_PARM_DESC(name, text ", " #least " to " #most		\
			 " (default: " #preset ")");
#include <mpa/settings.h>

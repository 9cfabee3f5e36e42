// SPDX-License-Identifier: GPL-2.0
/*
 * The administrator's choices for one device, which override the parameters of
 * mpa.ko: /sys/class/infiniband/NAME/iwmpa/. They apply to connections that
 * start afterwards.
 */
#include <linux/capability.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "policy.h"

/* The parameter of mpa.ko applies. */
#define POLICY_DEFAULT		(-1)
#define POLICY_DEFAULT_NAME	"default"

/* At first mpa.ko's parameters apply. */
void iwm_policy_init(struct iwm_dev *dev)
{
	memset(dev->choice, POLICY_DEFAULT, sizeof(dev->choice));
}

static void choose_bool(const struct iwm_dev *dev, enum iwm_choice which,
			bool *value)
{
	s8 choice = READ_ONCE(dev->choice[which]);

	if (choice != POLICY_DEFAULT)
		*value = choice;
}

/* The policy for a new connection of @dev. Context: any. */
struct mpa_policy iwm_policy(const struct iwm_dev *dev)
{
	s8 large = READ_ONCE(dev->choice[IWM_CHOICE_LARGE]);
	struct mpa_policy policy = mpa_policy();

#define MPA_SETTING(id, field, name, preset, text)			\
	choose_bool(dev, IWM_CHOICE_##id, &policy.field);
#include <mpa/settings.h>
	if (large != POLICY_DEFAULT)
		policy.large = large;
	return policy;
}

/* The same names as the parameters of mpa.ko show */
static const char *const bool_names[] = { "N", "Y" };

static const char *choice_name(enum iwm_choice which, s8 value)
{
	if (value == POLICY_DEFAULT)
		return POLICY_DEFAULT_NAME;
	return which == IWM_CHOICE_LARGE ? mpa_large_names[value] :
					   bool_names[value];
}

/* @buf: a value that mpa.ko's parameter takes, or POLICY_DEFAULT_NAME */
static int choice_parse(enum iwm_choice which, const char *buf, s8 *value)
{
	bool on;
	int ret;

	*value = POLICY_DEFAULT;
	if (sysfs_streq(buf, POLICY_DEFAULT_NAME))
		return 0;
	if (which == IWM_CHOICE_LARGE) {
		ret = __sysfs_match_string(mpa_large_names, MPA_NUM_LARGE, buf);
		if (ret >= 0)
			*value = ret;
		return min(ret, 0);
	}
	ret = kstrtobool(buf, &on);
	if (!ret)
		*value = on;
	return ret;
}

/* By enum iwm_choice */
static struct device_attribute choice_attrs[IWM_NUM_CHOICES];

static enum iwm_choice choice_of(const struct device_attribute *attr)
{
	return attr - choice_attrs;
}

static ssize_t choice_show(struct device *device,
			   struct device_attribute *attr, char *buf)
{
	struct iwm_dev *dev = to_iwm_dev(rdma_device_to_ibdev(device));
	enum iwm_choice which = choice_of(attr);

	return sysfs_emit(buf, "%s\n",
			  choice_name(which, READ_ONCE(dev->choice[which])));
}

static ssize_t choice_store(struct device *device,
			    struct device_attribute *attr, const char *buf,
			    size_t len)
{
	struct iwm_dev *dev = to_iwm_dev(rdma_device_to_ibdev(device));
	enum iwm_choice which = choice_of(attr);
	s8 value;
	int ret;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	ret = choice_parse(which, buf, &value);
	if (ret)
		return ret;
	WRITE_ONCE(dev->choice[which], value);
	return len;
}

static struct device_attribute choice_attrs[IWM_NUM_CHOICES] = {
#define MPA_SETTING(id, field, name, preset, text)			\
	__ATTR(name, 0644, choice_show, choice_store),
#include <mpa/settings.h>
	[IWM_CHOICE_LARGE] =
		__ATTR(large_fpdus, 0644, choice_show, choice_store),
};

static struct attribute *policy_attrs[] = {
#define MPA_SETTING(id, field, name, preset, text)			\
	&choice_attrs[IWM_CHOICE_##id].attr,
#include <mpa/settings.h>
	&choice_attrs[IWM_CHOICE_LARGE].attr,
	NULL
};

const struct attribute_group iwm_policy_group = {
	.name = "iwmpa",
	.attrs = policy_attrs,
};

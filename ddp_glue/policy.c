// SPDX-License-Identifier: GPL-2.0
/*
 * What the administrator has chosen for one device, in place of the parameters
 * of mpa.ko: /sys/class/infiniband/NAME/iwmpa/. It counts for connections that
 * start afterwards.
 */
#include <linux/capability.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "policy.h"

/* The parameter of mpa.ko counts. */
#define POLICY_DEFAULT		(-1)
#define POLICY_DEFAULT_NAME	"default"

/* All is as mpa.ko's parameters say. */
void iwm_policy_init(struct iwm_dev *dev)
{
	dev->large = POLICY_DEFAULT;
}

/* The policy of a connection of @dev that starts now. Context: any. */
struct mpa_policy iwm_policy(const struct iwm_dev *dev)
{
	struct mpa_policy policy = mpa_policy();
	int large = READ_ONCE(dev->large);

	if (large != POLICY_DEFAULT)
		policy.large = large;
	return policy;
}

static ssize_t large_fpdus_show(struct device *device,
				struct device_attribute *attr, char *buf)
{
	struct iwm_dev *dev = to_iwm_dev(rdma_device_to_ibdev(device));
	int large = READ_ONCE(dev->large);

	return sysfs_emit(buf, "%s\n", large == POLICY_DEFAULT ?
			  POLICY_DEFAULT_NAME : mpa_large_names[large]);
}

static ssize_t large_fpdus_store(struct device *device,
				 struct device_attribute *attr,
				 const char *buf, size_t len)
{
	struct iwm_dev *dev = to_iwm_dev(rdma_device_to_ibdev(device));
	int large = POLICY_DEFAULT;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	if (!sysfs_streq(buf, POLICY_DEFAULT_NAME)) {
		large = __sysfs_match_string(mpa_large_names, MPA_NUM_LARGE,
					     buf);
		if (large < 0)
			return large;
	}
	WRITE_ONCE(dev->large, large);
	return len;
}

static DEVICE_ATTR_RW(large_fpdus);

static struct attribute *policy_attrs[] = {
	&dev_attr_large_fpdus.attr,
	NULL
};

const struct attribute_group iwm_policy_group = {
	.name = "iwmpa",
	.attrs = policy_attrs,
};

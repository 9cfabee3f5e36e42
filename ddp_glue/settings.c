// SPDX-License-Identifier: GPL-2.0
/*
 * The administrator's settings of one device: /sys/class/infiniband/NAME/iwmpa/.
 * All but receive_wait, hand_port and node_type override the parameters of mpa.ko,
 * and apply to connections that start afterwards.
 */
#include <linux/capability.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "settings.h"

/* The parameter of mpa.ko applies. */
#define SETTING_DEFAULT		(-1)
#define SETTING_DEFAULT_NAME	"default"

/* ---- Numbers ---- */

/**
 * struct number_setting - a setting that is a number, and has no parameter
 * @attr: its file
 * @offset: of the u32 in struct iwm_dev
 * @preset: at first, and for SETTING_DEFAULT_NAME
 * @max: the largest
 */
struct number_setting {
	struct device_attribute attr;
	size_t offset;
	u32 preset;
	u32 max;
};

static u32 *number_of(const struct number_setting *number, struct iwm_dev *dev)
{
	return (void *)dev + number->offset;
}

static ssize_t number_show(struct device *device, struct device_attribute *attr,
			   char *buf)
{
	struct iwm_dev *dev = to_iwm_dev(rdma_device_to_ibdev(device));
	const struct number_setting *number =
		container_of(attr, struct number_setting, attr);

	return sysfs_emit(buf, "%u\n", READ_ONCE(*number_of(number, dev)));
}

static ssize_t number_store(struct device *device,
			    struct device_attribute *attr, const char *buf,
			    size_t len)
{
	struct iwm_dev *dev = to_iwm_dev(rdma_device_to_ibdev(device));
	const struct number_setting *number =
		container_of(attr, struct number_setting, attr);
	u32 value = number->preset;
	int ret = 0;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	if (!sysfs_streq(buf, SETTING_DEFAULT_NAME))
		ret = kstrtou32(buf, 0, &value);
	if (ret)
		return ret;
	if (value > number->max)
		return -ERANGE;
	WRITE_ONCE(*number_of(number, dev), value);
	return len;
}

/* How many ms a Send waits for a receive: see recv_wait.c */
static struct number_setting receive_wait = {
	.attr = __ATTR(receive_wait, 0644, number_show, number_store),
	.offset = offsetof(struct iwm_dev, receive_wait),
	.preset = 10000,
	.max = 600000,
};

/* Where QPs connected by hand wait for their peers. IANA has not assigned it. */
static struct number_setting hand_port = {
	.attr = __ATTR(hand_port, 0644, number_show, number_store),
	.offset = offsetof(struct iwm_dev, hand_port),
	.preset = 299,
	.max = 65535,
};

/* ---- Settings that override parameters ---- */

/* At first mpa.ko's parameters apply. */
void iwm_settings_init(struct iwm_dev *dev)
{
	memset(dev->setting, SETTING_DEFAULT, sizeof(dev->setting));
	dev->receive_wait = receive_wait.preset;
	dev->hand_port = hand_port.preset;
}

/* The settings of a new connection of @dev. Context: any. */
struct mpa_settings iwm_settings(const struct iwm_dev *dev)
{
	struct mpa_settings settings = mpa_default_settings();
	s8 value;

#define MPA_SETTING(id, field, name, type, preset, text)		\
	value = READ_ONCE(dev->setting[IWM_SETTING_##id]);		\
	if (value != SETTING_DEFAULT)					\
		settings.field = value;
#include <mpa/settings.h>
	return settings;
}

/* The same names as the parameters of mpa.ko show */
static const char *const bool_names[] = { "N", "Y" };

/* By enum iwm_setting: the names of its values */
static const char *const *const setting_names[IWM_NUM_SETTINGS] = {
#define MPA_SETTING(id, field, name, type, preset, text)	type##_names,
#include <mpa/settings.h>
};

static const char *setting_name(enum iwm_setting which, s8 value)
{
	if (value == SETTING_DEFAULT)
		return SETTING_DEFAULT_NAME;
	return setting_names[which][value];
}

/* @buf: a value that mpa.ko's parameter takes, or SETTING_DEFAULT_NAME */
static int setting_parse(enum iwm_setting which, const char *buf, s8 *value)
{
	bool on;
	int ret;

	*value = SETTING_DEFAULT;
	if (sysfs_streq(buf, SETTING_DEFAULT_NAME))
		return 0;
	if (setting_names[which] == mpa_large_names) {
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

/* By enum iwm_setting */
static struct device_attribute setting_attrs[IWM_NUM_SETTINGS];

static enum iwm_setting setting_of(const struct device_attribute *attr)
{
	return attr - setting_attrs;
}

static ssize_t setting_show(struct device *device,
			    struct device_attribute *attr, char *buf)
{
	struct iwm_dev *dev = to_iwm_dev(rdma_device_to_ibdev(device));
	enum iwm_setting which = setting_of(attr);

	return sysfs_emit(buf, "%s\n",
			  setting_name(which, READ_ONCE(dev->setting[which])));
}

static ssize_t setting_store(struct device *device,
			     struct device_attribute *attr, const char *buf,
			     size_t len)
{
	struct iwm_dev *dev = to_iwm_dev(rdma_device_to_ibdev(device));
	enum iwm_setting which = setting_of(attr);
	s8 value;
	int ret;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	ret = setting_parse(which, buf, &value);
	if (ret)
		return ret;
	WRITE_ONCE(dev->setting[which], value);
	return len;
}

static struct device_attribute setting_attrs[IWM_NUM_SETTINGS] = {
#define MPA_SETTING(id, field, name, type, preset, text)		\
	__ATTR(name, 0644, setting_show, setting_store),
#include <mpa/settings.h>
};

/* ---- How it looks to programs ---- */

/*
 * How the device presents itself to programs. Some, written for InfiniBand, use
 * no RNICs. Kernel consumers look when the device is added, and see an RNIC.
 */
static const char *const node_types[] = {
	[RDMA_NODE_IB_CA] = "ca",
	[RDMA_NODE_RNIC] = "rnic",
};

static ssize_t node_type_show(struct device *device,
			      struct device_attribute *attr, char *buf)
{
	struct ib_device *ibdev = rdma_device_to_ibdev(device);

	return sysfs_emit(buf, "%s\n", node_types[READ_ONCE(ibdev->node_type)]);
}

static ssize_t node_type_store(struct device *device,
			       struct device_attribute *attr,
			       const char *buf, size_t len)
{
	struct ib_device *ibdev = rdma_device_to_ibdev(device);
	u8 type = RDMA_NODE_RNIC;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	if (sysfs_streq(buf, node_types[RDMA_NODE_IB_CA]))
		type = RDMA_NODE_IB_CA;
	else if (!sysfs_streq(buf, node_types[RDMA_NODE_RNIC]) &&
		 !sysfs_streq(buf, SETTING_DEFAULT_NAME))
		return -EINVAL;
	WRITE_ONCE(ibdev->node_type, type);
	return len;
}

static DEVICE_ATTR_RW(node_type);

static struct attribute *settings_attrs[] = {
#define MPA_SETTING(id, field, name, type, preset, text)		\
	&setting_attrs[IWM_SETTING_##id].attr,
#include <mpa/settings.h>
	&receive_wait.attr.attr,
	&hand_port.attr.attr,
	&dev_attr_node_type.attr,
	NULL
};

const struct attribute_group iwm_settings_group = {
	.name = "iwmpa",
	.attrs = settings_attrs,
};

// SPDX-License-Identifier: GPL-2.0
/*
 * kfault.ko: makes kernel_accept() fail, as it does when memory is short. The
 * stock kernel has no fault injection of its own.
 *
 * /sys/module/kfault/parameters: "accepts" is the number of further calls that
 * fail, "error" their error, "failed" the number that have failed. Other calls
 * are unaffected.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/net.h>

static atomic_t accepts, failed;
static int error = ENOMEM;
module_param(error, int, 0644);
MODULE_PARM_DESC(error, "Positive errno of the calls that fail (default: ENOMEM)");

static int set_atomic(const char *val, const struct kernel_param *kp)
{
	int n, ret = kstrtoint(val, 0, &n);

	if (!ret)
		atomic_set(kp->arg, n);
	return ret;
}

static int get_atomic(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(kp->arg));
}

static const struct kernel_param_ops atomic_ops = {
	.set = set_atomic,
	.get = get_atomic,
};

module_param_cb(accepts, &atomic_ops, &accepts, 0644);
MODULE_PARM_DESC(accepts, "Calls of kernel_accept() that are to fail");
module_param_cb(failed, &atomic_ops, &failed, 0644);
MODULE_PARM_DESC(failed, "Calls that have failed");

/* Runs in the place of kernel_accept(), and returns to its caller. */
static int fail_accept(struct socket *sock, struct socket **newsock, int flags)
{
	*newsock = NULL;
	return -READ_ONCE(error);
}

static int at_accept(struct kprobe *probe, struct pt_regs *regs)
{
	if (atomic_dec_if_positive(&accepts) < 0)
		return 0;
	atomic_inc(&failed);
	instruction_pointer_set(regs, (unsigned long)fail_accept);
	return 1;
}

static struct kprobe accept_probe = {
	.symbol_name = "kernel_accept",
	.pre_handler = at_accept,
};

static int __init kfault_init(void)
{
	return register_kprobe(&accept_probe);
}

static void __exit kfault_exit(void)
{
	unregister_kprobe(&accept_probe);
}

module_init(kfault_init);
module_exit(kfault_exit);

MODULE_DESCRIPTION("Failures of kernel_accept(), for tests");
MODULE_LICENSE("GPL");

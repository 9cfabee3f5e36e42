// SPDX-License-Identifier: GPL-2.0
/*
 * kverbs.ko: runs its cases when it is loaded, and logs the result of each:
 * "kverbs: ok NAME", "kverbs: FAIL NAME: WHY" or "kverbs: skip NAME: WHY". With
 * op=OP it measures instead.
 */
#define pr_fmt(fmt) "kverbs: " fmt

#include <linux/module.h>
#include <linux/slab.h>
#include "kverbs.h"

static char *only;
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "Name of the one case to run (default: all)");

/* Record the first failure. */
void kv_fail(struct kv_case *t, const char *fmt, ...)
{
	va_list args;

	if (t->failed)
		return;
	t->failed = true;
	va_start(args, fmt);
	vscnprintf(t->why, sizeof(t->why), fmt, args);
	va_end(args);
}

static void run(const struct kv_entry *entry)
{
	struct kv_case *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return;		/* the number of cases shows it */
	t->name = entry->name;
	INIT_LIST_HEAD(&t->regions);
	t->works = kvcalloc(KV_WORKS, sizeof(*t->works), GFP_KERNEL);
	if (t->works)
		entry->run(t);
	else
		kv_fail(t, "no memory");
	kv_disconnect(t);
	kv_expect(t, !t->stale_pd, "Private Data of no octet");
	if (t->failed)
		pr_info("FAIL %s: %s\n", t->name, t->why);
	else
		pr_info("ok %s\n", t->name);
	kvfree(t->works);
	kfree(t);
}

/* Return how many cases of the table should have a line in the log. */
static unsigned int run_table(const struct kv_entry *entry)
{
	unsigned int n = 0;

	for (; entry->name; entry++) {
		if (only && strcmp(only, entry->name))
			continue;
		if (entry->cannot)
			pr_info("skip %s: %s\n", entry->name, entry->cannot);
		else
			run(entry);
		n++;
	}
	return n;
}

static int __init kverbs_init(void)
{
	unsigned int cases;
	int ret = kv_bench();

	if (ret != -ENOENT)
		return ret;
	cases = run_table(kv_cq_cases);
	cases += run_table(kv_mr_cases);
	cases += run_table(kv_qp_cases);
	cases += run_table(kv_post_cases);
	cases += run_table(kv_drain_cases);
	cases += run_table(kv_probe_cases);
	cases += run_table(kv_flush_cases);
	cases += run_table(kv_late_cases);
	pr_info("end of %u cases\n", cases);
	return 0;
}

static void __exit kverbs_exit(void)
{
}

module_init(kverbs_init);
module_exit(kverbs_exit);

MODULE_DESCRIPTION("Cases for kernel consumers of an RDMA device");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost of messages between two kernel consumers: a fixed amount of
 * work over the device, or over kernel sockets of TCP. scripts/bench counts the
 * instructions between the two marks.
 */
#define pr_fmt(fmt) "kverbs: " fmt

#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/timex.h>
#include "kverbs.h"

static char *op;
module_param(op, charp, 0444);
MODULE_PARM_DESC(op, "Measure this instead of running cases: send, pingpong");
static bool tcp;
module_param(tcp, bool, 0444);
MODULE_PARM_DESC(tcp, "Measure TCP sockets, not the device");
static unsigned int size = 64;
module_param(size, uint, 0444);
MODULE_PARM_DESC(size, "Octets per message, up to a page (default: 64)");
static unsigned int depth = 32;
module_param(depth, uint, 0444);
MODULE_PARM_DESC(depth, "send: messages outstanding (default: 32)");
static unsigned int count = 3200;
module_param(count, uint, 0444);
MODULE_PARM_DESC(count, "Messages, or round trips, per repeat");
static unsigned int warmup = 640;
module_param(warmup, uint, 0444);
MODULE_PARM_DESC(warmup, "So many before each repeat is measured");
static unsigned int repeats = 3;
module_param(repeats, uint, 0444);
MODULE_PARM_DESC(repeats, "Repeats, each on a connection of its own");
static bool workqueue;
module_param(workqueue, bool, 0444);
MODULE_PARM_DESC(workqueue, "The server's handlers run in a workqueue, as a storage target's");

/*
 * The NOPs that tools/bench/insn_count.cpp looks for, as in measure.hpp. It
 * counts instructions on x86 only.
 */
static __always_inline void mark(u8 octet)
{
#ifdef CONFIG_X86_64
	asm volatile(".byte 0x0f, 0x1f, 0x80, %c0, 0x56, 0x34, 0x12" :: "i" (octet) : "memory");
#endif
}

/* The time stamp counter also counts idle time. User Mode Linux has none. */
static u64 measure_run(struct kv_bench *b, const struct kv_engine *engine)
{
	u64 start = get_cycles();

	mark(0x78);
	engine->run(b, count);
	mark(0x79);
	return get_cycles() - start;
}

static void measure_repeat(struct kv_bench *b, const struct kv_engine *engine)
{
	u64 ticks = 0, ns = 0;

	engine->open(b);
	if (!b->t.failed)
		engine->run(b, warmup);
	if (!b->t.failed) {
		ns = ktime_get_ns();
		ticks = measure_run(b, engine);
		ns = ktime_get_ns() - ns;
	}
	engine->close(b);
	if (!b->t.failed)
		pr_info("result tsc=%llu ops=%u octets=%llu ns=%llu\n", ticks,
			count, (u64)count * size * (b->pingpong ? 2 : 1), ns);
}

/**
 * kv_bench() - measure as the module parameters select
 *
 * Return: 0, -ENOENT when they select no measurement, -EINVAL when they are
 * not valid, -EIO when it failed.
 */
int kv_bench(void)
{
	static struct kv_bench b;
	unsigned int i;

	if (!op)
		return -ENOENT;
	b.pingpong = !strcmp(op, "pingpong");
	b.workqueue = workqueue;
	b.size = size;
	b.depth = depth;
	if (!b.pingpong && strcmp(op, "send"))
		return -EINVAL;
	if (!size || size > PAGE_SIZE || !depth || depth > 64 || !count ||
	    !warmup)
		return -EINVAL;
	INIT_LIST_HEAD(&b.t.regions);
	for (i = 0; i < repeats && !b.t.failed; i++)
		measure_repeat(&b, tcp ? &kv_tcp_engine : &kv_rdma_engine);
	if (b.t.failed)
		pr_info("FAIL %s: %s\n", op, b.t.why);
	return b.t.failed ? -EIO : 0;
}

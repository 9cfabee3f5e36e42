// SPDX-License-Identifier: GPL-2.0
/*
 * kio.ko: reads or writes a disk or a file, and measures the time. No program
 * takes part, so that the figures leave out what a system call costs, which is
 * many times as much in User Mode Linux as on a CPU.
 *
 * It runs in insmod's context: it keeps "depth" operations of "size" bytes under
 * way, at random offsets and past the page cache, for "ms" milliseconds.
 */
#define pr_fmt(fmt) "kio: " fmt

#include <linux/blkdev.h>
#include <linux/bvec.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/llist.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uio.h>
#include <linux/wait.h>

static char *path;
module_param(path, charp, 0444);
MODULE_PARM_DESC(path, "Disk or file");
static bool write;
module_param(write, bool, 0444);
MODULE_PARM_DESC(write, "Write, not read");
static unsigned int size = PAGE_SIZE;
module_param(size, uint, 0444);
MODULE_PARM_DESC(size, "Bytes of an operation: pages (default: one)");
static unsigned int depth = 1;
module_param(depth, uint, 0444);
MODULE_PARM_DESC(depth, "Operations under way (default: 1)");
static unsigned int ms = 500;
module_param(ms, uint, 0444);
MODULE_PARM_DESC(ms, "Length of the measurement, and a quarter more before it");

#define MAX_DEPTH	256
#define MAX_SAMPLES	(1u << 20)

struct slot {
	struct kiocb iocb;
	struct iov_iter iter;
	struct bio_vec *pages;
	struct llist_node node;
	u64 start;
	long result;
};

/**
 * struct kio - a measurement
 * @done: slots whose operation has ended
 * @offsets: number of offsets to choose from
 * @ops: operations that have ended
 * @latencies: in ns, of the first MAX_SAMPLES
 */
static struct kio {
	struct file *file;
	struct slot *slots;
	struct llist_head done;
	wait_queue_head_t wait;
	u64 offsets;
	unsigned int ops;
	u32 *latencies;
} kio;

/* Context: any. */
static void operation_done(struct kiocb *iocb, long result)
{
	struct slot *slot = container_of(iocb, struct slot, iocb);

	slot->result = result;
	if (llist_add(&slot->node, &kio.done))
		wake_up(&kio.wait);
}

static void start_operation(struct slot *slot)
{
	struct file *file = kio.file;
	ssize_t ret;

	iov_iter_bvec(&slot->iter, write ? ITER_SOURCE : ITER_DEST,
		      slot->pages, size / PAGE_SIZE, size);
	init_sync_kiocb(&slot->iocb, file);
	slot->iocb.ki_complete = operation_done;
	slot->iocb.ki_pos = get_random_u64() % kio.offsets * size;
	slot->start = ktime_get_ns();
	if (write)
		ret = file->f_op->write_iter(&slot->iocb, &slot->iter);
	else
		ret = file->f_op->read_iter(&slot->iocb, &slot->iter);
	if (ret != -EIOCBQUEUED)
		operation_done(&slot->iocb, ret);
}

static int end_operation(struct slot *slot)
{
	if (kio.ops < MAX_SAMPLES)
		kio.latencies[kio.ops] = ktime_get_ns() - slot->start;
	kio.ops++;
	if (slot->result == size)
		return 0;
	return slot->result < 0 ? slot->result : -EIO;
}

/* Keep operations under way until @end. Return: 0, or the first error. */
static int run_until(u64 end)
{
	unsigned int running = depth, i;
	struct llist_node *ended;
	struct slot *slot, *next;
	struct blk_plug plug;
	int error = 0;

	blk_start_plug(&plug);
	for (i = 0; i < depth; i++)
		start_operation(&kio.slots[i]);
	blk_finish_plug(&plug);
	while (running) {
		wait_event(kio.wait, !llist_empty(&kio.done));
		ended = llist_del_all(&kio.done);
		blk_start_plug(&plug);
		llist_for_each_entry_safe(slot, next, ended, node) {
			int ret = end_operation(slot);

			if (ret && !error)
				error = ret;
			if (error || ktime_get_ns() >= end)
				running--;
			else
				start_operation(slot);
		}
		blk_finish_plug(&plug);
	}
	return error;
}

static int compare(const void *a, const void *b)
{
	u32 left = *(const u32 *)a, right = *(const u32 *)b;

	return left < right ? -1 : left > right;
}

static int measure(void)
{
	unsigned int samples;
	u64 start;
	int ret;

	ret = run_until(ktime_get_ns() + ms * (NSEC_PER_MSEC / 4));
	if (ret)
		return ret;
	kio.ops = 0;
	start = ktime_get_ns();
	ret = run_until(start + (u64)ms * NSEC_PER_MSEC);
	if (ret)
		return ret;
	start = ktime_get_ns() - start;
	samples = min(kio.ops, MAX_SAMPLES);
	sort(kio.latencies, samples, sizeof(u32), compare, NULL);
	pr_info("result ops=%u ns=%llu p50=%u p99=%u p999=%u\n", kio.ops, start,
		kio.latencies[samples / 2], kio.latencies[samples / 100 * 99],
		kio.latencies[samples / 1000 * 999]);
	return 0;
}

static void free_slots(void)
{
	unsigned int i, j;

	for (i = 0; i < depth && kio.slots; i++) {
		for (j = 0; j < size / PAGE_SIZE && kio.slots[i].pages; j++)
			if (kio.slots[i].pages[j].bv_page)
				__free_page(kio.slots[i].pages[j].bv_page);
		kfree(kio.slots[i].pages);
	}
	kfree(kio.slots);
}

static int make_slot(struct slot *slot)
{
	unsigned int j;

	slot->pages = kcalloc(size / PAGE_SIZE, sizeof(*slot->pages),
			      GFP_KERNEL);
	if (!slot->pages)
		return -ENOMEM;
	for (j = 0; j < size / PAGE_SIZE; j++) {
		struct page *page = alloc_page(GFP_KERNEL);

		if (!page)
			return -ENOMEM;
		bvec_set_page(&slot->pages[j], page, PAGE_SIZE, 0);
	}
	return 0;
}

static int make_slots(void)
{
	unsigned int i;
	int ret = 0;

	kio.slots = kcalloc(depth, sizeof(*kio.slots), GFP_KERNEL);
	if (!kio.slots)
		return -ENOMEM;
	for (i = 0; i < depth && !ret; i++)
		ret = make_slot(&kio.slots[i]);
	return ret;
}

static int open_and_measure(void)
{
	int ret;

	kio.file = filp_open(path, O_RDWR | O_DIRECT | O_LARGEFILE, 0);
	if (IS_ERR(kio.file))
		return PTR_ERR(kio.file);
	kio.offsets = i_size_read(kio.file->f_mapping->host) / size;
	ret = kio.offsets ? make_slots() : -ENOSPC;
	if (!ret)
		ret = measure();
	free_slots();
	fput(kio.file);
	return ret;
}

static int __init kio_init(void)
{
	int ret;

	if (!path || !size || size % PAGE_SIZE || size > SZ_1M || !depth ||
	    depth > MAX_DEPTH || !ms)
		return -EINVAL;
	init_waitqueue_head(&kio.wait);
	init_llist_head(&kio.done);
	kio.latencies = kvmalloc_array(MAX_SAMPLES, sizeof(u32), GFP_KERNEL);
	ret = kio.latencies ? open_and_measure() : -ENOMEM;
	kvfree(kio.latencies);
	if (ret)
		pr_info("FAIL %d\n", ret);
	return ret;
}

static void __exit kio_exit(void)
{
}

module_init(kio_init);
module_exit(kio_exit);

MODULE_DESCRIPTION("Measures the time of reads and writes of a file");
MODULE_LICENSE("GPL");

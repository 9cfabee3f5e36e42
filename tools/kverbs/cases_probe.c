// SPDX-License-Identifier: GPL-2.0
/*
 * What happens in the middle of a function of the modules, shown by kprobes:
 * memory for connections, a work request behind one that has failed, a queue pair
 * that is destroyed while rdma_disconnect() uses it.
 */
#include <linux/delay.h>
#include <linux/iopoll.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include "kverbs.h"

#ifdef CONFIG_KPROBES
#define CANNOT_PROBE	NULL

static const struct kv_options workqueue = { .poll = IB_POLL_WORKQUEUE };

/* ---- Memory for connections ---- */

static unsigned int probed, in_noio;

static int at_connect(struct kprobe *probe, struct pt_regs *regs)
{
	probed++;
	if (current->flags & PF_MEMALLOC_NOIO)
		in_noio++;
	return 0;
}

static struct kprobe connect_probes[] = {
	{ .symbol_name = "mpa_connect", .pre_handler = at_connect },
	{ .symbol_name = "mpa_accept", .pre_handler = at_connect },
};

/* Storage may have to connect before memory can be reclaimed. */
static void connect_noio(struct kv_case *t)
{
	static struct kprobe *probes[] = { &connect_probes[0],
					   &connect_probes[1] };
	int ret = register_kprobes(probes, ARRAY_SIZE(probes));

	kv_expect(t, !ret, "register_kprobes: %d", ret);
	probed = 0;
	in_noio = 0;
	kv_connect(t, &workqueue);
	if (!ret)
		unregister_kprobes(probes, ARRAY_SIZE(probes));
	kv_expect(t, probed == 2 && in_noio == 2,
		  "%u of %u calls may do I/O for memory", probed - in_noio,
		  probed);
}

/* ---- Probes that hold a function up while another CPU works ---- */

/* In a probe's handler, which cannot sleep */
static void hold_until(const bool *flag)
{
	unsigned int ms;

	for (ms = 0; ms < 1000 && !READ_ONCE(*flag); ms++)
		mdelay(1);
}

/* On the other CPU */
static void await(const bool *flag)
{
	bool seen;

	read_poll_timeout(READ_ONCE, seen, seen, 100, 600 * USEC_PER_SEC,
			  false, *flag);
}

/* ---- Work requests behind one that has failed ---- */

static bool ending, posted;

/* Runs when the queue pair has left RTS, before its queue is flushed. */
static int at_flush(struct kprobe *probe, struct pt_regs *regs)
{
	WRITE_ONCE(ending, true);
	hold_until(&posted);
	mdelay(50);	/* time for another owner to send */
	return 0;
}

static struct kprobe flush_probe = {
	.symbol_name = "iwm_sq_flush",
	.pre_handler = at_flush,
};

static void post_two(struct kv_end *end, struct kv_work *work[2],
		     struct ib_sge sge[2])
{
	struct ib_send_wr wr[2] = {
		{ .opcode = IB_WR_SEND, .sg_list = &sge[0], .num_sge = 1 },
		{ .opcode = IB_WR_SEND, .sg_list = &sge[1], .num_sge = 1 },
	};

	wr[0].next = &wr[1];
	wr[1].wr_cqe = &work[1]->cqe;
	wr[1].send_flags = IB_SEND_SIGNALED;
	work[1]->cq = end->scq;
	kv_post(end, work[0], &wr[0]);
}

/*
 * The first of two SENDs has a bad key. Another CPU posts a third one while the
 * queue pair goes into error. None of them may reach the peer.
 */
static void send_after_failure(struct kv_case *t)
{
	unsigned int cpu = cpumask_first(cpu_online_mask);
	struct kv_work *work[2], *late, *recv;
	struct ib_sge sge[2], in;

	kv_connect(t, &workqueue);
	in = kv_dma_sge(kv_region(&t->server, 1), 64);
	recv = kv_recv(&t->server, &in);
	sge[1] = kv_dma_sge(kv_region(&t->client, 1), 64);
	sge[0] = sge[1];
	sge[0].lkey = 0x123456;
	work[0] = kv_work(t);
	work[1] = kv_work(t);
	if (t->failed || num_online_cpus() == 1)
		return;
	ending = false;
	posted = false;
	kv_expect(t, !register_kprobe(&flush_probe), "no probe");
	/* The worker of the first posts runs on the CPU that posted them. */
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
	post_two(&t->client, work, sge);
	cpu = cpumask_next(cpu, cpu_online_mask);
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
	if (!t->failed)
		await(&ending);
	late = kv_send(&t->client, &sge[1]);
	WRITE_ONCE(posted, true);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	kv_wait(t, work[0], IB_WC_LOC_PROT_ERR);
	kv_wait(t, work[1], IB_WC_WR_FLUSH_ERR);
	kv_wait(t, late, IB_WC_WR_FLUSH_ERR);
	unregister_kprobe(&flush_probe);
	kv_wait(t, recv, IB_WC_WR_FLUSH_ERR);
}

/* ---- A queue pair that is destroyed while rdma_disconnect() uses it ---- */

static bool closing, destroyed, too_early;

/* The disconnecting thread, in modify_qp, is slow. */
static int at_close(struct kprobe *probe, struct pt_regs *regs)
{
	WRITE_ONCE(closing, true);
	hold_until(&destroyed);
	too_early = READ_ONCE(destroyed);
	return 0;
}

static struct kprobe close_probe = {
	.symbol_name = "iwm_qp_close",
	.pre_handler = at_close,
};

struct destroyer {
	struct work_struct work;
	struct rdma_cm_id *id;
};

static void destroy_meanwhile(struct work_struct *work)
{
	struct destroyer *d = container_of(work, struct destroyer, work);

	await(&closing);
	rdma_destroy_qp(d->id);
	WRITE_ONCE(destroyed, true);
}

static void destroy_in_disconnect(struct kv_case *t)
{
	unsigned int cpu = cpumask_first(cpu_online_mask);
	struct destroyer d;

	kv_connect(t, &workqueue);
	if (t->failed || num_online_cpus() == 1)
		return;
	closing = false;
	destroyed = false;
	kv_expect(t, !register_kprobe(&close_probe), "no probe");
	if (t->failed)
		return;
	d.id = t->client.id;
	INIT_WORK_ONSTACK(&d.work, destroy_meanwhile);
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
	schedule_work_on(cpumask_next(cpu, cpu_online_mask), &d.work);
	rdma_disconnect(d.id);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	flush_work(&d.work);
	destroy_work_on_stack(&d.work);
	unregister_kprobe(&close_probe);
	kv_expect(t, !too_early, "rdma_disconnect() used a destroyed QP");
}
#else
#define CANNOT_PROBE	"this kernel has no kprobes"
#define destroy_in_disconnect	NULL
#define connect_noio	NULL
#define send_after_failure	NULL
#endif

const struct kv_entry kv_probe_cases[] = {
	{ "connect-noio", connect_noio, CANNOT_PROBE },
	{ "send-after-failure", send_after_failure, CANNOT_PROBE },
	{ "destroy-in-disconnect", destroy_in_disconnect, CANNOT_PROBE },
	{ }
};

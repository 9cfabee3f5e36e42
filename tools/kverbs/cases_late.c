// SPDX-License-Identifier: GPL-2.0
/*
 * A SEND that meets no receive waits, and the consumer's post ends the wait.
 */
#include <linux/kprobes.h>
#include "kverbs.h"

#ifdef CONFIG_KPROBES
#define CANNOT_PROBE	NULL

static DECLARE_COMPLETION(looked);
static unsigned int woken;

/* Runs again and again while a SEND waits. */
static int at_look(struct kprobe *probe, struct pt_regs *regs)
{
	complete(&looked);
	return 0;
}

static int at_wake(struct kprobe *probe, struct pt_regs *regs)
{
	woken++;
	return 0;
}

static void send_first(struct kv_case *t, const struct ib_sge *from,
		       const struct ib_sge *to)
{
	struct ib_sge out = *from;
	struct kv_work *send, *recv;
	unsigned long flags;

	reinit_completion(&looked);
	woken = 0;
	send = kv_send(&t->client, &out);
	kv_expect(t, t->failed || wait_for_completion_timeout(&looked, KV_WAIT),
		  "the SEND does not wait");
	local_irq_save(flags);
	recv = kv_recv(&t->server, to);
	local_irq_restore(flags);
	kv_expect(t, woken == !t->server.srq, "woken %u times", woken);
	kv_wait(t, recv, IB_WC_SUCCESS);
	kv_wait(t, send, IB_WC_SUCCESS);
}

static void receive_late(struct kv_case *t, const struct kv_options *options)
{
	static struct kprobe look, wake;
	struct kprobe *probes[] = { &look, &wake };
	struct kv_region *from, *there;
	struct ib_sge out, in;
	int i, ret;

	kv_connect(t, options);
	from = kv_region(&t->client, 1);
	there = kv_region(&t->server, 1);
	in = kv_dma_sge(there, PAGE_SIZE);
	out = kv_dma_sge(from, PAGE_SIZE);
	look = (struct kprobe){ .symbol_name = "rx_wait_look",
				.pre_handler = at_look };
	/* Called for each post to the ring of a QP that waits */
	wake = (struct kprobe){ .symbol_name = "iwm_rx_look_now",
				.pre_handler = at_wake };
	ret = register_kprobes(probes, ARRAY_SIZE(probes));
	kv_expect(t, !ret, "register_kprobes: %d", ret);
	for (i = 0; i < 4; i++) {
		kv_fill(from, i);
		send_first(t, &out, &in);
		kv_compare(there, 0, PAGE_SIZE, i, 0);
	}
	if (!ret)
		unregister_kprobes(probes, ARRAY_SIZE(probes));
}

static void late_receive(struct kv_case *t)
{
	receive_late(t, &(struct kv_options){ .poll = IB_POLL_WORKQUEUE });
}

static void late_receive_srq(struct kv_case *t)
{
	const struct kv_options o = {
		.poll = IB_POLL_WORKQUEUE, .srq = true, .alike = true
	};

	receive_late(t, &o);
}
#else
#define CANNOT_PROBE	"this kernel has no kprobes"
#define late_receive		NULL
#define late_receive_srq	NULL
#endif

const struct kv_entry kv_late_cases[] = {
	{ "late-receive", late_receive, CANNOT_PROBE },
	{ "late-receive-srq", late_receive_srq, CANNOT_PROBE },
	{ }
};

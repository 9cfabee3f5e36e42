// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of programs' connections, per network namespace:
 * /proc/net/mpa_stat.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include "user.h"

static unsigned int mpa_net_id;

struct mpa_net {
	struct mpa_mib __percpu *mib;
};

static const char * const stat_names[] = {
#define MPA_COUNTER(id, name, proc_name, text)	proc_name,
#include <mpa/counters.h>
};

/**
 * mpa_stats_of() - counters of a network namespace
 * @net: network namespace
 *
 * Return: the counters, which live as long as a socket in @net does.
 */
struct mpa_mib __percpu *mpa_stats_of(struct net *net)
{
	const struct mpa_net *mn = net_generic(net, mpa_net_id);

	return mn->mib;
}

static int stat_show(struct seq_file *seq, void *v)
{
	struct mpa_mib __percpu *mib = mpa_stats_of(seq->private);
	unsigned int i;
	int cpu;

	for (i = 0; i < MPA_NUM_STATS; i++) {
		u64 sum = 0;

		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu_ptr(mib, cpu)->v[i]);
		if (stat_names[i])
			seq_printf(seq, "%-32s\t%llu\n", stat_names[i], sum);
	}
	return 0;
}

static int __net_init mpa_net_init(struct net *net)
{
	struct mpa_net *mn = net_generic(net, mpa_net_id);

	mn->mib = alloc_percpu(struct mpa_mib);
	if (!mn->mib)
		return -ENOMEM;
	if (IS_ENABLED(CONFIG_PROC_FS) &&
	    !proc_create_net_single("mpa_stat", 0444, net->proc_net, stat_show,
				    NULL)) {
		free_percpu(mn->mib);
		return -ENOMEM;
	}
	return 0;
}

static void __net_exit mpa_net_exit(struct net *net)
{
	struct mpa_net *mn = net_generic(net, mpa_net_id);

	remove_proc_entry("mpa_stat", net->proc_net);
	free_percpu(mn->mib);
}

static struct pernet_operations mpa_net_ops = {
	.init = mpa_net_init,
	.exit = mpa_net_exit,
	.id = &mpa_net_id,
	.size = sizeof(struct mpa_net),
};

int mpa_stats_register(void)
{
	return register_pernet_subsys(&mpa_net_ops);
}

void mpa_stats_unregister(void)
{
	unregister_pernet_subsys(&mpa_net_ops);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gives older kernels the newest one's interface. Only compat headers and
 * mpa/crc.h test for HAVE_..., which include/Kbuild sets.
 */
#ifndef MPA_COMPAT_H
#define MPA_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/workqueue.h>
#ifdef HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* The namespace of mpa.ko's symbols */
#ifdef HAVE_NAMESPACE_STRINGS
#define MPA_NS	"IWMPA"
#else
#define MPA_NS	IWMPA
#endif

#ifndef HAVE_UNINITIALIZED
/* A variable that the compiler need not clear under INIT_STACK_ALL_ZERO */
#define __uninitialized
#endif

#ifndef HAVE_HRTIMER_SETUP
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *timer),
	      clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

#ifndef HAVE_WQ_PERCPU
/* In newer kernels a per-CPU workqueue has a flag. */
#define WQ_PERCPU	0
#endif

#ifndef HAVE_SOCKADDR_UNSIZED
/* A socket address whose length depends on its family */
#define sockaddr_unsized	sockaddr
#endif

#endif /* MPA_COMPAT_H */

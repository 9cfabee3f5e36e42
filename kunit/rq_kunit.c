// SPDX-License-Identifier: GPL-2.0
/*
 * Receive rings: the copy of a user's entry.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/vmalloc.h>
#include "mmap.h"
#include "rq.h"

/* Replacements of the functions of mmap.c that rq.c calls. */
void *iwm_ring_alloc(size_t len, bool user)
{
	return vzalloc(len);
}

void iwm_ring_free(void *ring)
{
	vfree(ring);
}

struct rdma_user_mmap_entry *
iwm_mmap_insert(struct ib_ucontext *ctx, void *addr, size_t len, u64 *key)
{
	return NULL;
}

void iwm_mmap_remove(struct rdma_user_mmap_entry *entry)
{
}

static const struct {
	const char *what;
	u32 num_sge;
	u32 sge[IWM_MAX_SGE];
	int ret;
	u32 len;
} rows[] = {
	{ "nothing", 0, { }, 0, 0 },
	{ "one", 1, { 7 }, 0, 7 },
	{ "all", IWM_MAX_SGE, { 1, 2, 3, 4, 5, 6 }, 0, 21 },
	{ "one octet below the limit", 2, { 1u << 31, (1u << 31) - 2 }, 0, U32_MAX - 1 },
	{ "the longest message", 2, { 1u << 31, (1u << 31) - 1 }, 0, U32_MAX },
	/* RFC 5041 4.3: the Message Offset has 32 bits, and must not wrap. */
	{ "one octet over it", 2, { 1u << 31, 1u << 31 }, 0, U32_MAX },
	{ "six times 750 MiB", 6,
	  { 750u << 20, 750u << 20, 750u << 20, 750u << 20, 750u << 20, 750u << 20 },
	  0, U32_MAX },
	{ "too many elements", IWM_MAX_SGE + 1, { }, -EINVAL, 0 },
	{ "very many elements", U8_MAX, { }, -EINVAL, 0 },
};

static void a_message_fits_its_offset(struct kunit *test)
{
	struct iwm_rq rq = { };
	struct iwm_rwr rwr;
	u32 i, k;

	KUNIT_ASSERT_EQ(test, iwm_rq_init(&rq, 1, IWM_MAX_SGE, true), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		rq.ring[0].num_sge = rows[i].num_sge;
		for (k = 0; k < IWM_MAX_SGE; k++)
			rq.ring[0].sge[k].length = rows[i].sge[k];
		rq.ring[0].flags = SIW_WQE_VALID;
		KUNIT_EXPECT_EQ_MSG(test, iwm_rq_take(&rq, &rwr), rows[i].ret, "%s", rows[i].what);
		KUNIT_EXPECT_EQ_MSG(test, (u64)rwr.len, (u64)rows[i].len, "%s", rows[i].what);
	}
	KUNIT_EXPECT_EQ(test, iwm_rq_take(&rq, &rwr), -ENOENT);
	iwm_rq_free(&rq);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_message_fits_its_offset),
	{}
};

static struct kunit_suite suite = {
	.name = "iwmpa_rq",
	.test_cases = cases,
};

kunit_test_suite(suite);

// SPDX-License-Identifier: GPL-2.0
/*
 * DDP and RDMAP headers in the kernel: the same rows as in tools/unit.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "ddp.h"
#include "rdmap.h"
#include "hex.h"

static const struct good {
	const char *what, *hdr;
	u32 len;
	u8 version, opcode;
	bool tagged, last;
	u32 payload;
} goods[] = {
#define GOOD(...) { __VA_ARGS__ },
#define BAD(...)
#include "vectors/ddp.inc"
#undef GOOD
#undef BAD
};

static const struct {
	const char *what, *hdr;
	u32 len;
	u8 version, layer, etype, ecode;
} bads[] = {
#define GOOD(...)
#define BAD(...) { __VA_ARGS__ },
#include "vectors/ddp.inc"
#undef GOOD
#undef BAD
};

static const struct terminate {
	const char *what;
	u8 layer, etype, ecode;
	const char *ddp;
	u32 len;
	const char *read, *expected;
} terminates[] = {
#define ROW(...) { __VA_ARGS__ },
#include "vectors/terminate.inc"
#undef ROW
};

/* The parser gets min(@len, 18) octets and no more. */
static int parse(struct kunit *test, const char *text, u32 len, u8 version,
		 struct ddp_segment *seg, struct rdmap_error *err)
{
	u8 all[64] = { };
	u8 *exact;
	int ret;

	hex_decode(all, text);
	exact = kmemdup(all, min(len, 18u), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, exact);
	ret = rdmap_segment_parse(exact, len, version, seg, err);
	kfree(exact);
	return ret;
}

static void check_good(struct kunit *test, const struct good *row)
{
	struct rdmap_error err;
	struct ddp_segment seg;
	u8 want[32], hdr[DDP_MAX_HDR_LEN];
	u32 n;

	KUNIT_ASSERT_EQ_MSG(test, parse(test, row->hdr, row->len, row->version, &seg, &err), 0,
			    "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, seg.opcode, row->opcode, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, seg.tagged, row->tagged, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, seg.last, row->last, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, seg.payload_len, row->payload, "%s", row->what);

	/* Building gives the same header, except bits that are not sent. */
	n = hex_decode(want, row->hdr);
	KUNIT_EXPECT_EQ_MSG(test, rdmap_segment_build(hdr, &seg, row->version), n, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, hdr[0], want[0] & 0xc3, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, hdr[1], want[1] & 0xcf, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, memcmp(hdr + 6, want + 6, n - 6), 0, "%s", row->what);
}

static void rfc5040_4_good_segments(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(goods); i++)
		check_good(test, &goods[i]);
}

static void rfc5040_figure_9_rfc5041_7_2_bad_segments(struct kunit *test)
{
	struct rdmap_error err;
	struct ddp_segment seg;
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(bads); i++) {
		memset(&err, 0xee, sizeof(err));
		ret = parse(test, bads[i].hdr, bads[i].len, bads[i].version, &seg, &err);
		KUNIT_EXPECT_EQ_MSG(test, ret, -EPROTO, "%s", bads[i].what);
		KUNIT_EXPECT_EQ_MSG(test, err.layer, bads[i].layer, "%s", bads[i].what);
		KUNIT_EXPECT_EQ_MSG(test, err.etype, bads[i].etype, "%s", bads[i].what);
		KUNIT_EXPECT_EQ_MSG(test, err.ecode, bads[i].ecode, "%s", bads[i].what);
	}
}

static void check_terminate(struct kunit *test, const struct terminate *row)
{
	struct rdmap_error err = { row->layer, row->etype, row->ecode }, again;
	u8 ddp[32], read[32], want[64], body[RDMAP_TERM_MAX_LEN];
	u32 n = hex_decode(want, row->expected);
	bool have_ddp = hex_decode(ddp, row->ddp);
	bool have_read = hex_decode(read, row->read);
	const struct rdmap_fault fault = {
		.err = err,
		.ddp_hdr = have_ddp ? ddp : NULL,
		.ddp_len = row->len,
		.read_hdr = have_read ? read : NULL,
	};

	KUNIT_ASSERT_EQ_MSG(test, rdmap_terminate_build(body, &fault), n, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, memcmp(body, want, n), 0, "%s", row->what);
	KUNIT_ASSERT_EQ(test, rdmap_terminate_parse(body, n, &again), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&err, &again, sizeof(err)), 0);
	KUNIT_EXPECT_EQ(test, rdmap_terminate_parse(body, 3, &again), -EPROTO);
}

static void rfc5040_figure_10_terminate(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(terminates); i++)
		check_terminate(test, &terminates[i]);
}

static void rfc5040_4_4_read_request(struct kunit *test)
{
	static const struct rdmap_read rr = {
		.sink_stag = 0x11223344, .sink_to = 0x0102030405060708, .size = 0xfffefdfc,
		.source_stag = 0x55667788, .source_to = 0x8070605040302010,
	};
	struct rdmap_read again;
	u8 want[28], body[32];
	int off;

	hex_decode(want, "11223344 0102030405060708 fffefdfc 55667788 8070605040302010");
	for (off = 0; off < 4; off++) {
		rdmap_read_build(body + off, &rr);
		KUNIT_EXPECT_EQ(test, memcmp(body + off, want, 28), 0);
		rdmap_read_parse(body + off, &again);
		KUNIT_EXPECT_EQ(test, again.sink_stag, rr.sink_stag);
		KUNIT_EXPECT_EQ(test, again.sink_to, rr.sink_to);
		KUNIT_EXPECT_EQ(test, again.size, rr.size);
		KUNIT_EXPECT_EQ(test, again.source_stag, rr.source_stag);
		KUNIT_EXPECT_EQ(test, again.source_to, rr.source_to);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(rfc5040_4_good_segments),
	KUNIT_CASE(rfc5040_figure_9_rfc5041_7_2_bad_segments),
	KUNIT_CASE(rfc5040_figure_10_terminate),
	KUNIT_CASE(rfc5040_4_4_read_request),
	{}
};

static struct kunit_suite suite = {
	.name = "ddp",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suites of iwmpa.ko");

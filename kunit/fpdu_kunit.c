// SPDX-License-Identifier: GPL-2.0
/*
 * FPDU lengths and Markers in the kernel: the same rows as in tools/unit, and
 * the reference framer.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "fpdu.h"
#include "framer.h"

#define ROW(...) { __VA_ARGS__ },

static const struct {
	u32 ulpdu, pad, content;
} pads[] = {
#include "vectors/pad.inc"
};

static const struct {
	u32 emss, with_markers, without;
} mulpdus[] = {
#include "vectors/mulpdu.inc"
};

static const struct {
	const char *what;
	u32 pos, content, count;
} counts[] = {
#include "vectors/marker_count.inc"
};

static const struct {
	const char *what;
	u32 pos, fpdu_start, octets;
} markers[] = {
#include "vectors/marker.inc"
};

static void frm_02_frm_03_pad(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(pads); i++) {
		KUNIT_EXPECT_EQ(test, mpa_fpdu_pad(pads[i].ulpdu), pads[i].pad);
		KUNIT_EXPECT_EQ(test, mpa_fpdu_content(pads[i].ulpdu), pads[i].content);
	}
}

static void siz_01_siz_02_siz_03_mulpdu(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(mulpdus); i++) {
		u32 emss = mulpdus[i].emss;

		KUNIT_EXPECT_EQ_MSG(test, mpa_fpdu_mulpdu(emss, true), mulpdus[i].with_markers,
				    "EMSS %u", emss);
		KUNIT_EXPECT_EQ_MSG(test, mpa_fpdu_mulpdu(emss, false), mulpdus[i].without,
				    "EMSS %u", emss);
	}
}

static void mrk_03_mrk_06_mrk_07_mrk_08_count(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++)
		KUNIT_EXPECT_EQ_MSG(test, mpa_marker_count(counts[i].pos, counts[i].content),
				    counts[i].count, "%s", counts[i].what);
}

static void mrk_04_to_mrk_09_octets(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(markers); i++) {
		u32 pos = markers[i].pos, start = markers[i].fpdu_start;
		__be32 marker = cpu_to_be32(markers[i].octets);

		KUNIT_EXPECT_EQ_MSG(test, be32_to_cpu(mpa_marker_encode(pos, start)),
				    markers[i].octets, "%s", markers[i].what);
		KUNIT_EXPECT_TRUE_MSG(test, mpa_marker_check(marker, pos, start), "%s",
				      markers[i].what);
	}
}

static void mrk_01_mrk_02_mrk_13_check(struct kunit *test)
{
	static const struct {
		u32 octets;
		bool good;
	} rows[] = {
		{ 0x00000014, true }, { 0xffff0014, true }, { 0x00000017, true },
		{ 0xffff0015, true }, { 0x00000000, false }, { 0x00000010, false },
		{ 0x00000018, false }, { 0x00000214, false }, { 0x00008014, false },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		bool good = mpa_marker_check(cpu_to_be32(rows[i].octets), 0x200, 0x1ec);

		KUNIT_EXPECT_EQ_MSG(test, good, rows[i].good, "%08x", rows[i].octets);
	}
}

static void compare(struct kunit *test, u32 pos, u32 ulpdu, u8 *zeros, u8 *out, u32 size)
{
	struct framer f = { .markers = true, .pos = pos, .out = out, .size = size };
	u32 wire = framer_put(&f, zeros, ulpdu);

	KUNIT_ASSERT_EQ_MSG(test, mpa_fpdu_wire_len(ulpdu, true, pos), wire,
			    "%u octets at %u", ulpdu, pos);
	KUNIT_ASSERT_GE_MSG(test, mpa_fpdu_room(wire, true, pos), ulpdu, "room %u at %u", wire,
			    pos);
	KUNIT_ASSERT_LT_MSG(test, mpa_fpdu_room(wire - 4, true, pos), max(ulpdu, 1u),
			    "room %u at %u", wire - 4, pos);
}

/* From two Marker intervals before the wrap to one behind it. */
static void mrk_03_mrk_09_siz_05_reference(struct kunit *test)
{
	u8 *zeros = kunit_kzalloc(test, 2048, GFP_KERNEL);
	u8 *out = kunit_kzalloc(test, 4096, GFP_KERNEL);
	u32 pos, ulpdu;

	KUNIT_ASSERT_NOT_NULL(test, zeros);
	KUNIT_ASSERT_NOT_NULL(test, out);
	for (pos = 0u - 1024; pos != 512; pos += 4)
		for (ulpdu = 0; ulpdu < 1100; ulpdu += 13)
			compare(test, pos, ulpdu, zeros, out, 4096);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(frm_02_frm_03_pad),
	KUNIT_CASE(siz_01_siz_02_siz_03_mulpdu),
	KUNIT_CASE(mrk_03_mrk_06_mrk_07_mrk_08_count),
	KUNIT_CASE(mrk_04_to_mrk_09_octets),
	KUNIT_CASE(mrk_01_mrk_02_mrk_13_check),
	KUNIT_CASE(mrk_03_mrk_09_siz_05_reference),
	{}
};

static struct kunit_suite suite = {
	.name = "mpa_fpdu",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suites of mpa.ko");

// SPDX-License-Identifier: GPL-2.0
/*
 * MPA startup in the kernel: the same rows as in tools/unit.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <mpa/negotiate.h>
#include "hex.h"

#define ROW(...) { __VA_ARGS__ },

static const struct good {
	const char *what, *frame;
	bool reply, markers, crc, reject, enhanced, large, p2p;
	u8 rtr;
	u16 ird, ord, pd_len;
} goods[] = {
#define GOOD(...) { __VA_ARGS__ },
#define BAD(...)
#include "vectors/startup.inc"
#undef GOOD
#undef BAD
};

static const struct {
	const char *what, *frame;
	bool reply;
	u8 max_rev;
	u32 at;
	int error;
} bads[] = {
#define GOOD(...)
#define BAD(...) { __VA_ARGS__ },
#include "vectors/startup.inc"
#undef GOOD
#undef BAD
};

static const struct {
	const char *what;
	u16 i_ird, i_ord, r_ird, r_ord, reply_ird, reply_ord;
	u16 got_r_ird, got_r_ord, got_i_ird, got_i_ord;
} depths[] = {
#include "vectors/depths.inc"
};

static const struct {
	u8 initiator, responder, named, chosen;
} kinds[] = {
#include "vectors/rtr.inc"
};

/* Parse the first @have octets of @text, in memory that ends behind them. */
static int parse(struct kunit *test, const char *text, u32 have, bool reply, u8 max_rev,
		 struct mpa_offer *offer)
{
	u8 all[64];
	u8 *exact;
	int ret;

	hex_decode(all, text);
	exact = kmemdup(all, have, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, exact);
	ret = mpa_startup_parse(exact, have, reply, max_rev, offer);
	kfree(exact);
	return ret;
}

static void check_good(struct kunit *test, const struct good *row)
{
	struct mpa_offer offer;
	u32 len, have;
	u8 all[64];

	len = hex_decode(all, row->frame);
	for (have = 0; have < len; have++)
		KUNIT_EXPECT_EQ_MSG(test,
				    parse(test, row->frame, have, row->reply, 2, &offer), -EAGAIN,
				    "%s: %u octets", row->what, have);
	KUNIT_ASSERT_EQ_MSG(test, parse(test, row->frame, len, row->reply, 2, &offer), len, "%s",
			    row->what);
	KUNIT_EXPECT_EQ_MSG(test, offer.markers, row->markers, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, offer.crc, row->crc, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, offer.reject, row->reject, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, offer.enhanced, row->enhanced, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, offer.large, row->large, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, offer.p2p, row->p2p, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, offer.rtr, row->rtr, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, offer.ird, row->ird, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, offer.ord, row->ord, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, offer.pd_len, row->pd_len, "%s", row->what);
}

static void sta_02_to_sta_08_sta_20_enh_02_good_frames(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(goods); i++)
		check_good(test, &goods[i]);
}

static void sta_01_sta_06_sta_07_sta_13_enh_10_bad_frames(struct kunit *test)
{
	struct mpa_offer offer;
	u32 len, have;
	u8 all[64];
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(bads); i++) {
		len = hex_decode(all, bads[i].frame);
		for (have = 0; have <= len; have++) {
			ret = parse(test, bads[i].frame, have, bads[i].reply, bads[i].max_rev,
				    &offer);
			KUNIT_EXPECT_EQ_MSG(test, ret, have > bads[i].at ? bads[i].error : -EAGAIN,
					    "%s: %u octets", bads[i].what, have);
		}
	}
}

/* Building gives the frame that was parsed, except bits that are not sent. */
static void sta_05_sta_08_enh_02_round_trip(struct kunit *test)
{
	u8 *frame = kunit_kzalloc(test, MPA_STARTUP_MAX_LEN, GFP_KERNEL);
	struct mpa_offer offer, again;
	u8 all[64];
	const u8 *pd;
	int i, len;

	KUNIT_ASSERT_NOT_NULL(test, frame);
	for (i = 0; i < ARRAY_SIZE(goods); i++) {
		bool reply = goods[i].reply;

		len = hex_decode(all, goods[i].frame);
		parse(test, goods[i].frame, len, reply, 2, &offer);
		pd = all + len - offer.pd_len;
		KUNIT_ASSERT_EQ(test, mpa_startup_build(frame, reply, &offer, pd), len);
		KUNIT_ASSERT_EQ(test, mpa_startup_parse(frame, len, reply, 2, &again), len);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(&offer, &again, sizeof(offer)), 0, "%s",
				    goods[i].what);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(pd, frame + len - again.pd_len, again.pd_len), 0,
				    "%s", goods[i].what);
	}
}

static void sta_07_enh_02_longest(struct kunit *test)
{
	u8 *frame = kunit_kzalloc(test, MPA_STARTUP_MAX_LEN, GFP_KERNEL);
	u8 *pd = kunit_kzalloc(test, 1024, GFP_KERNEL);
	struct mpa_offer offer = { .rev = 1, .pd_len = 512 };

	KUNIT_ASSERT_NOT_NULL(test, frame);
	KUNIT_ASSERT_NOT_NULL(test, pd);
	KUNIT_EXPECT_EQ(test, mpa_startup_build(frame, false, &offer, pd), 532);
	offer.pd_len = 513;
	KUNIT_EXPECT_EQ(test, mpa_startup_build(frame, false, &offer, pd), -EMSGSIZE);
	offer.rev = 2;
	offer.enhanced = true;
	offer.pd_len = 508;
	KUNIT_EXPECT_EQ(test, mpa_startup_build(frame, false, &offer, pd), 532);
	offer.pd_len = 509;
	KUNIT_EXPECT_EQ(test, mpa_startup_build(frame, false, &offer, pd), -EMSGSIZE);
}

enum rnic { RDMAC, NON_PERMISSIVE, PERMISSIVE };
#define CLOSE (-1)

static const struct figure {
	enum rnic initiator;
	bool i_markers;
	enum rnic responder;
	bool r_markers;
	int version;
	bool to_initiator, to_responder;
} figures[] = {
#include "vectors/figures.inc"
};

static struct mpa_offer rnic(enum rnic kind, bool markers)
{
	return (struct mpa_offer) {
		.rev = kind == RDMAC ? MPA_REV_RDMAC : MPA_REV_IETF,
		.rdmac = kind == PERMISSIVE,
		.markers = markers,
		.crc = kind == RDMAC,
		.ird = MPA_ENH_NO_DEPTH,
		.ord = MPA_ENH_NO_DEPTH,
	};
}

static void check_figure(struct kunit *test, const struct figure *row)
{
	struct mpa_offer initiator = rnic(row->initiator, row->i_markers);
	struct mpa_offer responder = rnic(row->responder, row->r_markers);
	bool as_responder = row->responder != RDMAC;
	int want = row->version == CLOSE ? -EPROTONOSUPPORT : 0, ret;
	struct mpa_offer reply;
	struct mpa_agreed agreed;

	if (as_responder)
		ret = mpa_startup_answer(&responder, &initiator, &reply, &agreed);
	else
		ret = mpa_startup_conclude(&initiator, &responder, &agreed);
	KUNIT_EXPECT_EQ(test, ret, want);
	if (as_responder)
		KUNIT_EXPECT_EQ(test, reply.rev, row->version ? MPA_REV_IETF : MPA_REV_RDMAC);
	if (want)
		return;
	KUNIT_EXPECT_EQ(test, agreed.rev, row->version);
	KUNIT_EXPECT_EQ(test, as_responder ? agreed.tx_markers : agreed.rx_markers,
			row->to_initiator);
	KUNIT_EXPECT_EQ(test, as_responder ? agreed.rx_markers : agreed.tx_markers,
			row->to_responder);
	KUNIT_EXPECT_EQ(test, agreed.crc, row->version == 0);
	if (as_responder && !row->version)
		KUNIT_EXPECT_TRUE(test, reply.markers && reply.crc);
}

static void rdc_01_to_rdc_05_figures_15_to_17(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(figures); i++)
		check_figure(test, &figures[i]);
}

/* Figure 17: each side sends Markers if the other's M bit is set. */
static void rdc_05_crc_07_figure_17(struct kunit *test)
{
	int bits;

	for (bits = 0; bits < 16; bits++) {
		struct mpa_offer request = { .rev = 1, .markers = bits & 1, .crc = bits & 2 };
		struct mpa_offer local = { .rev = 2, .markers = bits & 4, .crc = bits & 8 };
		struct mpa_agreed responder, initiator;
		struct mpa_offer reply;

		KUNIT_ASSERT_EQ(test, mpa_startup_answer(&local, &request, &reply, &responder), 0);
		KUNIT_ASSERT_EQ(test, mpa_startup_conclude(&request, &reply, &initiator), 0);
		KUNIT_EXPECT_EQ(test, responder.tx_markers, request.markers);
		KUNIT_EXPECT_EQ(test, responder.rx_markers, local.markers);
		KUNIT_EXPECT_EQ(test, initiator.tx_markers, local.markers);
		KUNIT_EXPECT_EQ(test, initiator.rx_markers, request.markers);
		KUNIT_EXPECT_EQ(test, responder.crc, request.crc || local.crc);
		KUNIT_EXPECT_EQ(test, initiator.crc, request.crc || local.crc);
		KUNIT_EXPECT_EQ(test, reply.rev, 1);
		KUNIT_EXPECT_FALSE(test, reply.enhanced);
	}
}

/* @bits: revision 2, what the Initiator says, what the Responder says */
static void check_large(struct kunit *test, int bits)
{
	struct mpa_offer request = { .rev = 1 + (bits & 1), .enhanced = bits & 1 };
	struct mpa_offer local = { .rev = 2, .large = bits & 4 }, reply;
	struct mpa_agreed responder, initiator;
	bool both = (bits & 6) == 6;

	request.large = bits & 2;
	KUNIT_ASSERT_EQ(test, mpa_startup_answer(&local, &request, &reply, &responder), 0);
	KUNIT_EXPECT_EQ(test, reply.large, both);
	KUNIT_EXPECT_EQ(test, responder.large, both);
	KUNIT_ASSERT_EQ(test, mpa_startup_conclude(&request, &reply, &initiator), 0);
	KUNIT_EXPECT_EQ(test, initiator.large, both);
	/* A Responder that says so unasked */
	reply.large = bits & 4;
	KUNIT_ASSERT_EQ(test, mpa_startup_conclude(&request, &reply, &initiator), 0);
	KUNIT_EXPECT_EQ(test, initiator.large, both);
}

static void sta_20_large_fpdus_need_both_sides(struct kunit *test)
{
	int bits;

	for (bits = 0; bits < 8; bits++)
		check_large(test, bits);
}

static void enh_03_enh_04_depths(struct kunit *test)
{
	struct mpa_offer request = { .rev = 2, .enhanced = true };
	struct mpa_agreed responder, initiator;
	struct mpa_offer local = { .rev = 2 }, reply;
	int i;

	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		request.ird = depths[i].i_ird;
		request.ord = depths[i].i_ord;
		local.ird = depths[i].r_ird;
		local.ord = depths[i].r_ord;
		KUNIT_ASSERT_EQ(test, mpa_startup_answer(&local, &request, &reply, &responder), 0);
		KUNIT_ASSERT_EQ(test, mpa_startup_conclude(&request, &reply, &initiator), 0);
		KUNIT_EXPECT_EQ_MSG(test, reply.ird, depths[i].reply_ird, "%s", depths[i].what);
		KUNIT_EXPECT_EQ_MSG(test, reply.ord, depths[i].reply_ord, "%s", depths[i].what);
		KUNIT_EXPECT_EQ_MSG(test, responder.ird, depths[i].got_r_ird, "%s", depths[i].what);
		KUNIT_EXPECT_EQ_MSG(test, responder.ord, depths[i].got_r_ord, "%s", depths[i].what);
		KUNIT_EXPECT_EQ_MSG(test, initiator.ird, depths[i].got_i_ird, "%s", depths[i].what);
		KUNIT_EXPECT_EQ_MSG(test, initiator.ord, depths[i].got_i_ord, "%s", depths[i].what);
	}
}

static void enh_05_enh_06_kinds(struct kunit *test)
{
	struct mpa_offer request = { .rev = 2, .enhanced = true, .p2p = true, .ird = 8, .ord = 8 };
	struct mpa_offer local = { .rev = 2, .ird = 8, .ord = 8 }, reply;
	struct mpa_agreed responder, initiator;
	int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		request.rtr = kinds[i].initiator;
		local.rtr = kinds[i].responder;
		KUNIT_ASSERT_EQ(test, mpa_startup_answer(&local, &request, &reply, &responder), 0);
		KUNIT_ASSERT_EQ(test, mpa_startup_conclude(&request, &reply, &initiator), 0);
		KUNIT_EXPECT_TRUE(test, reply.p2p);
		KUNIT_EXPECT_EQ(test, reply.rtr, kinds[i].named);
		KUNIT_EXPECT_EQ(test, responder.rtr, kinds[i].named);
		KUNIT_EXPECT_EQ(test, initiator.rtr, kinds[i].chosen);
	}
}

static void enh_08_what_cannot_be_agreed(struct kunit *test)
{
	struct mpa_offer sent = { .rev = 2, .enhanced = true, .ird = 4, .ord = 4 };
	struct mpa_offer reply = { .rev = 2, .enhanced = true, .ird = 4, .ord = 5 };
	struct mpa_agreed agreed;

	KUNIT_EXPECT_EQ(test, mpa_startup_conclude(&sent, &reply, &agreed), -ENOBUFS);
	reply.ord = 4;
	reply.p2p = true;
	KUNIT_EXPECT_EQ(test, mpa_startup_conclude(&sent, &reply, &agreed), -ENOPROTOOPT);
	sent.p2p = true;
	sent.rtr = MPA_RTR_SEND;
	reply.rtr = MPA_RTR_WRITE;
	KUNIT_EXPECT_EQ(test, mpa_startup_conclude(&sent, &reply, &agreed), -ENOPROTOOPT);
	reply.enhanced = false;
	KUNIT_EXPECT_EQ(test, mpa_startup_conclude(&sent, &reply, &agreed), -EPROTO);
	reply.reject = true;
	KUNIT_EXPECT_EQ(test, mpa_startup_conclude(&sent, &reply, &agreed), -ECONNREFUSED);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(sta_02_to_sta_08_sta_20_enh_02_good_frames),
	KUNIT_CASE(sta_01_sta_06_sta_07_sta_13_enh_10_bad_frames),
	KUNIT_CASE(sta_05_sta_08_enh_02_round_trip),
	KUNIT_CASE(sta_07_enh_02_longest),
	KUNIT_CASE(rdc_01_to_rdc_05_figures_15_to_17),
	KUNIT_CASE(rdc_05_crc_07_figure_17),
	KUNIT_CASE(sta_20_large_fpdus_need_both_sides),
	KUNIT_CASE(enh_03_enh_04_depths),
	KUNIT_CASE(enh_05_enh_06_kinds),
	KUNIT_CASE(enh_08_what_cannot_be_agreed),
	{}
};

static struct kunit_suite suite = {
	.name = "mpa_startup",
	.test_cases = cases,
};

kunit_test_suite(suite);

// SPDX-License-Identifier: GPL-2.0
/*
 * The octets of the CRC field (RFC 5044 section 4.4), which mpa/crc.c computes
 * with the kernel's crc32c.
 */
#include <kunit/test.h>
#include "crc.h"
#include "crc_suite.h"
#include "hex.h"

static const struct {
	const char *what;
	u32 pos;
	const char *ulpdu, *image, *field;
} rows[] = {
#define ROW(...) { __VA_ARGS__ },
#include "vectors/crc.inc"
#undef ROW
};

/* RFC 3720 section B.4 */
static void crc_01_octet_order_of_iscsi(struct kunit *test)
{
	static const u8 zeros[4] = { 0xaa, 0x36, 0x91, 0x8a };
	static const u8 ones[4] = { 0x43, 0xab, 0xa8, 0x62 };
	u8 data[32];
	__be32 field;

	memset(data, 0, sizeof(data));
	field = mpa_crc_digest(data, sizeof(data));
	KUNIT_EXPECT_EQ(test, memcmp(&field, zeros, 4), 0);
	memset(data, 0xff, sizeof(data));
	field = mpa_crc_digest(data, sizeof(data));
	KUNIT_EXPECT_EQ(test, memcmp(&field, ones, 4), 0);
}

static void crc_03_crc_04_crc_05_vectors(struct kunit *test)
{
	u8 image[48], want[4];
	__be32 field;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(image, 0, sizeof(image));
		KUNIT_ASSERT_EQ(test, hex_decode(image, rows[i].image), 24);
		hex_decode(want, rows[i].field);
		field = mpa_crc_digest(image, sizeof(image));
		KUNIT_EXPECT_EQ_MSG(test, memcmp(&field, want, 4), 0, "%s", rows[i].what);
	}
}

/* The same octets in two pieces, cut everywhere, at every alignment. */
static void crc_02_in_pieces(struct kunit *test)
{
	u8 room[52], want[4];
	union mpa_crc crc;
	u32 cut, off;
	__be32 field;

	hex_decode(want, rows[1].field);
	for (off = 0; off < 4; off++) {
		memset(room, 0, sizeof(room));
		hex_decode(room + off, rows[1].image);
		for (cut = 0; cut <= 48; cut++) {
			mpa_crc_start(&crc);
			mpa_crc_add(&crc, room + off, cut);
			mpa_crc_add(&crc, room + off + cut, 48 - cut);
			field = mpa_crc_finish(&crc);
			KUNIT_EXPECT_EQ_MSG(test, memcmp(&field, want, 4), 0, "cut at %u", cut);
		}
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(crc_01_octet_order_of_iscsi),
	KUNIT_CASE(crc_03_crc_04_crc_05_vectors),
	KUNIT_CASE(crc_02_in_pieces),
	{}
};

static struct kunit_suite suite = {
	.name = "mpa_crc",
	.suite_init = crc_suite_init,
	.suite_exit = crc_suite_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);

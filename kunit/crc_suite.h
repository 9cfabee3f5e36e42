/* SPDX-License-Identifier: GPL-2.0 */
/*
 * .suite_init and .suite_exit of the suites that compute CRCs.
 */
#ifndef KUNIT_CRC_SUITE_H
#define KUNIT_CRC_SUITE_H

struct kunit_suite;

int crc_suite_init(struct kunit_suite *suite);
void crc_suite_exit(struct kunit_suite *suite);

#endif /* KUNIT_CRC_SUITE_H */

// SPDX-License-Identifier: GPL-2.0
#include "crc.h"
#include "crc_suite.h"

int crc_suite_init(struct kunit_suite *suite)
{
	return mpa_crc_module_init();
}

void crc_suite_exit(struct kunit_suite *suite)
{
	mpa_crc_module_exit();
}

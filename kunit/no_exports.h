/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For a file under test that exports symbols: mpa.ko may be loaded too, and a
 * symbol cannot be exported twice.
 */
#ifndef KUNIT_NO_EXPORTS_H
#define KUNIT_NO_EXPORTS_H

#include <linux/export.h>

#undef EXPORT_SYMBOL_NS_GPL
#define EXPORT_SYMBOL_NS_GPL(symbol, ns)

#endif /* KUNIT_NO_EXPORTS_H */

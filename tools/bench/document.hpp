// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * Documents with generated parts: the text between `<!-- bench: NAME -->` and `<!-- /bench -->`.
 */
#pragma once

#include <functional>
#include <string>

namespace bench {

/**
 * Replaces the generated parts.
 * @param make returns the new text of the named part; when it is empty the part stays as it is
 * @throws std::runtime_error when a part has no end
 */
std::string replaceParts(const std::string& document, const std::function<std::string(const std::string& name)>& make);

} // namespace bench

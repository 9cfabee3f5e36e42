// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * Documents with generated parts: what stands between `<!-- bench: NAME -->` and `<!-- /bench -->`.
 */
#pragma once

#include <functional>
#include <string>

namespace bench {

/**
 * Replaces the generated parts.
 * @param make the new text of the part of a name; when it is empty the part stays as it is
 * @throws std::runtime_error when a part has no end
 */
std::string replaceParts(const std::string& document, const std::function<std::string(const std::string& name)>& make);

} // namespace bench

// SPDX-License-Identifier: GPL-2.0
#include "document.hpp"

#include <sstream>
#include <stdexcept>

namespace bench {

std::string replaceParts(const std::string& document, const std::function<std::string(const std::string& name)>& make) {
  static const std::string begin = "<!-- bench: ", end = "<!-- /bench -->", close = " -->";
  std::istringstream in(document);
  std::string result, line;

  while (std::getline(in, line)) {
    result += line + '\n';
    if (!line.starts_with(begin) || !line.ends_with(close))
      continue;
    const std::string name = line.substr(begin.size(), line.size() - begin.size() - close.size());
    std::string old;
    while (std::getline(in, line) && line != end)
      old += line + '\n';
    if (!in)
      throw std::runtime_error("the part '" + name + "' has no " + end);
    const std::string fresh = make(name);
    result += (fresh.empty() ? old : fresh) + end + '\n';
  }
  return result;
}

} // namespace bench

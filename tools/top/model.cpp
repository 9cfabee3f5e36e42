// SPDX-License-Identifier: GPL-2.0
#include "model.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace top {

namespace {

/** The difference, unless the counter was reset. */
std::optional<double> growth(const Device& before, const Device& now, const std::string& counter) {
  const auto old = before.counters.find(counter), current = now.counters.find(counter);

  if (old == before.counters.end() || current == now.counters.end() || current->second < old->second)
    return {};
  return static_cast<double>(current->second - old->second);
}

} // namespace

const Device* Change::earlier(const Device& device) const {
  if (!before_)
    return nullptr;
  const auto it = std::ranges::find(before_->devices, device.name, &Device::name);
  return it == before_->devices.end() ? nullptr : &*it;
}

double Change::seconds() const {
  return std::chrono::duration<double>(now_.tick - before_->tick).count();
}

std::optional<double> Change::rate(const Device& device, const std::string& counter) const {
  const Device* const before = earlier(device);
  const auto grown = before ? growth(*before, device, counter) : std::nullopt;

  if (!grown || seconds() <= 0)
    return {};
  return *grown / seconds();
}

std::optional<double> Change::ratio(const Device& device, const std::string& counter, const std::string& per) const {
  const Device* const before = earlier(device);
  const auto since = [&](const std::string& name) {
    if (before)
      return growth(*before, device, name);
    const auto it = device.counters.find(name);
    return it == device.counters.end() ? std::nullopt : std::optional(static_cast<double>(it->second));
  };
  const auto some = since(counter), each = since(per);

  if (!some || !each || *each <= 0)
    return {};
  return *some / *each;
}

std::optional<double> Change::blocked(const Connection& connection) const {
  if (!before_ || !connection.times)
    return {};
  for (const auto& old : before_->connections) {
    const bool same = old.device == connection.device && old.qp == connection.qp && old.local == connection.local;

    if (same && old.times && connection.times->blocked() >= old.times->blocked() && seconds() > 0)
      return std::min(1.0, static_cast<double>(connection.times->blocked() - old.times->blocked()) / 1000 / seconds());
  }
  return {};
}

bool isError(const std::string& counter) {
  static constexpr std::array<std::string_view, 6> ends{"_errors",     "_timeouts",  "_refused",
                                                        "_terminates", "_overflows", "_no_buffer"};

  return std::ranges::any_of(ends, [&](std::string_view end) { return counter.ends_with(end); });
}

} // namespace top

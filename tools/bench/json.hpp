// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * Reads JSON, to the extent that fio uses it.
 */
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bench::json {

/** A value. Members are found by name, elements by index; a missing one is an error. */
class Value {
public:
  using Array = std::vector<Value>;
  using Object = std::map<std::string, Value>;

  Value() = default;
  template <class T> explicit Value(T value) : value_(std::move(value)) {}

  /** @throws std::runtime_error when the value is not an object, or has no such member. */
  const Value& operator[](const std::string& name) const;
  /** @throws std::runtime_error when the value is not an array, or has no such element. */
  const Value& operator[](std::size_t index) const;
  /** @throws std::runtime_error when the value is not a number. */
  double number() const;
  /** @throws std::runtime_error when the value is not a string. */
  const std::string& text() const;

private:
  std::variant<std::monostate, bool, double, std::string, Array, Object> value_;
};

/** @throws std::runtime_error unless @p text is exactly one JSON value. */
Value parse(std::string_view text);

} // namespace bench::json

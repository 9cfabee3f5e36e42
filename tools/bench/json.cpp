// SPDX-License-Identifier: GPL-2.0
#include "json.hpp"

#include <charconv>
#include <stdexcept>

namespace bench::json {
namespace {

constexpr int deepest = 64;

class Parser {
public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Value whole() {
    Value result = value(0);
    if (next())
      fail("something behind its end");
    return result;
  }

private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("JSON: " + what + " at '" + std::string(rest_.substr(0, 20)) + "'");
  }

  /** The next character other than white space, 0 at the end. */
  char next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    return rest_.empty() ? '\0' : rest_.front();
  }

  bool take(char c) {
    if (next() != c)
      return false;
    rest_.remove_prefix(1);
    return true;
  }

  void want(char c) {
    if (!take(c))
      fail(std::string("no '") + c + "'");
  }

  bool take(std::string_view word) {
    if (!rest_.starts_with(word))
      return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  Value value(int depth) {
    if (depth > deepest)
      fail("too deep");
    switch (next()) {
    case '{':
      return Value(object(depth));
    case '[':
      return Value(array(depth));
    case '"':
      return Value(string());
    }
    if (take("true"))
      return Value(true);
    if (take("false"))
      return Value(false);
    if (take("null"))
      return Value();
    return Value(number());
  }

  Value::Object object(int depth) {
    Value::Object members;
    want('{');
    if (take('}'))
      return members;
    do {
      next();
      std::string name = string();
      want(':');
      members.insert_or_assign(std::move(name), value(depth + 1));
    } while (take(','));
    want('}');
    return members;
  }

  Value::Array array(int depth) {
    Value::Array elements;
    want('[');
    if (take(']'))
      return elements;
    do
      elements.push_back(value(depth + 1));
    while (take(','));
    want(']');
    return elements;
  }

  /** Skips the backslash of an escape and does not decode the rest: no name or text in use has escapes. */
  std::string string() {
    std::string text;
    want('"');
    for (;;) {
      if (rest_.empty())
        fail("a string without an end");
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"')
        return text;
      text += c;
      if (c == '\\' && !rest_.empty()) {
        text.back() = rest_.front();
        rest_.remove_prefix(1);
      }
    }
  }

  double number() {
    double result = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), result);
    if (error != std::errc{})
      fail("no value");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return result;
  }

  std::string_view rest_;
};

template <class T, class V> const T& as(const V& value, const char* what) {
  const T* const found = std::get_if<T>(&value);
  if (!found)
    throw std::runtime_error(std::string("JSON: no ") + what);
  return *found;
}

} // namespace

const Value& Value::operator[](const std::string& name) const {
  const Object& members = as<Object>(value_, "object");
  const auto found = members.find(name);
  if (found == members.end())
    throw std::runtime_error("JSON: no member '" + name + "'");
  return found->second;
}

const Value& Value::operator[](std::size_t index) const {
  const Array& elements = as<Array>(value_, "array");
  if (index >= elements.size())
    throw std::runtime_error("JSON: no element " + std::to_string(index));
  return elements[index];
}

double Value::number() const {
  return as<double>(value_, "number");
}

const std::string& Value::text() const {
  return as<std::string>(value_, "string");
}

Value parse(std::string_view text) {
  return Parser(text).whole();
}

} // namespace bench::json

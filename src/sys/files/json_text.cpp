// SPDX-License-Identifier: BSD-2-Clause
// Builds JSON as text. Plain values are stored in their written form, numbers with the fewest
// digits that restore the value: reading and writing a value again does not change it.
#include "sys/files/json_text.hpp"

#include "sys/text/plain_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

// Appends a character of a JSON text; \b, \f, \n, \r, \t, quotes and backslashes have short
// escapes.
void appendEscaped(std::string& to, char c) {
  constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kEscapes = "\"\\bfnrt";
  if (const auto at = kEscaped.find(c); at != kEscaped.npos)
    to += {'\\', kEscapes[at]};
  else if (static_cast<unsigned char>(c) < 0x20)
    to += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
  else
    to += c;
}

std::string jsonQuoted(std::string_view text) {
  // A file with other bytes could be written, but readers would reject it.
  checkUtf8("a text for a JSON file", text);
  std::string result = "\"";
  for (const char c : text)
    appendEscaped(result, c);
  return result + '"';
}

} // namespace

Json::Json(std::initializer_list<std::pair<std::string_view, Json>> members) : kind_(Kind::Object) {
  for (const auto& [key, value] : members)
    (*this)[key] = value;
}

Json::Json(double value) : text_(std::isfinite(value) ? fmt::format("{}", value) : "null") {
  if (std::isfinite(value) && text_.find_first_of(".e") == text_.npos)
    text_ += ".0"; // marks a real number for readers that distinguish reals from integers
}

Json::Json(std::string_view text) : text_(jsonQuoted(text)) {}

Json& Json::operator[](std::string_view key) {
  const auto position = std::find(keys_.begin(), keys_.end(), key);
  if (position != keys_.end())
    return items_[static_cast<std::size_t>(position - keys_.begin())];
  // This order keeps the numbers of keys and values equal if memory runs out.
  std::string newKey(key);
  keys_.reserve(keys_.size() + 1);
  Json& item = items_.emplace_back(Json(Kind::Plain));
  keys_.push_back(std::move(newKey));
  item.text_ = "null";
  return item;
}

void Json::update(Json other) {
  for (std::size_t i = 0; i < other.keys_.size(); ++i)
    (*this)[other.keys_[i]] = std::move(other.items_[i]);
}

void Json::append(std::string& text, int indent, std::size_t level) const {
  if (kind_ == Kind::Plain) {
    text += text_;
    return;
  }
  const auto startLine = [&](std::size_t at) {
    if (indent >= 0)
      text += '\n' + std::string(at * static_cast<std::size_t>(indent), ' ');
  };
  text += kind_ == Kind::List ? '[' : '{';
  for (std::size_t i = 0; i < items_.size(); ++i) {
    text += i > 0 ? "," : "";
    startLine(level + 1);
    if (kind_ == Kind::Object)
      text += jsonQuoted(keys_[i]) + (indent >= 0 ? ": " : ":");
    items_[i].append(text, indent, level + 1);
  }
  if (!items_.empty())
    startLine(level);
  text += kind_ == Kind::List ? ']' : '}';
}

std::string Json::dump(int indent) const {
  std::string text;
  append(text, indent, 0);
  return text;
}

} // namespace tenon

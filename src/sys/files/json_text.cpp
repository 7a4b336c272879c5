// SPDX-License-Identifier: BSD-2-Clause
// Builds JSON as text. Plain values are kept as they are written, numbers in the fewest digits that
// give the same number back, so a value that is read, kept and written again does not change.
#include "sys/files/json_text.hpp"

#include "sys/text/plain_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

void appendEscaped(std::string& to, char c) {
  constexpr std::string_view kPlain = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  if (const auto at = kPlain.find(c); at != kPlain.npos)
    to += {'\\', kLetters[at]};
  else if (static_cast<unsigned char>(c) < 0x20)
    to += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
  else
    to += c;
}

std::string jsonQuoted(std::string_view text) {
  // A file with other bytes could be written, but no reader would accept it.
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
    text_ += ".0"; // marks a real number for readers that tell the two apart
}

Json::Json(std::string_view text) : text_(jsonQuoted(text)) {}

Json& Json::operator[](std::string_view key) {
  const auto known = std::find(keys_.begin(), keys_.end(), key);
  if (known != keys_.end())
    return items_[static_cast<std::size_t>(known - keys_.begin())];
  // In an order that leaves the object whole if memory runs out: keys and values stay equally many.
  std::string added(key);
  keys_.reserve(keys_.size() + 1);
  Json& item = items_.emplace_back(Json(Kind::Plain));
  keys_.push_back(std::move(added));
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

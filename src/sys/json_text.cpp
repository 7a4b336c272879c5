// SPDX-License-Identifier: BSD-2-Clause
// Plain values are kept as they are written, numbers in the fewest digits that give them back.
#include "sys/json_text.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

// How many bytes the character at the beginning has; 0 if it is no UTF-8.
std::size_t lengthOfFirst(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80                     ? 1
                             : first >= 0xc2 && first < 0xe0  ? 2
                             : first >= 0xe0 && first < 0xf0  ? 3
                             : first >= 0xf0 && first <= 0xf4 ? 4
                                                              : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  const unsigned second = byte(1);
  const bool isOverlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool isNone = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return isOverlong || isNone ? 0 : length;
}

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
  std::string result = "\"";
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = lengthOfFirst(rest);
    if (length == 0)
      throw Error(TENON_ERR_ARG,
                  fmt::format("byte {} of '{}' is not UTF-8, so no JSON file can hold it; use "
                              "another name",
                              text.size() - rest.size() + 1, text));
    if (length == 1)
      appendEscaped(result, rest[0]);
    else
      result += rest.substr(0, length);
    rest.remove_prefix(length);
  }
  return result + '"';
}

} // namespace

Json::Json(std::initializer_list<std::pair<std::string_view, Json>> members) : kind_(Kind::Object) {
  for (const auto& [key, value] : members)
    (*this)[key] = value;
}

Json::Json(double value) : text_(std::isfinite(value) ? fmt::format("{}", value) : "null") {
  if (std::isfinite(value) && text_.find_first_of(".e") == text_.npos)
    text_ += ".0"; // a real number to readers that tell them apart
}

Json::Json(std::string_view text) : text_(jsonQuoted(text)) {}

Json& Json::operator[](std::string_view key) {
  const auto known = std::find(keys_.begin(), keys_.end(), key);
  if (known != keys_.end())
    return items_[static_cast<std::size_t>(known - keys_.begin())];
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

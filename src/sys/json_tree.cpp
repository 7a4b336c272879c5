// SPDX-License-Identifier: BSD-2-Clause
#include "sys/json_tree.hpp"

#include "sys/error.hpp"
#include "sys/plain_text.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tenon {

namespace {

using Kind = JsonNode::Kind;

std::string found(const JsonNode& node) {
  switch (node.kind) {
  case Kind::Null:
    return "null";
  case Kind::Flag:
    return node.flag ? "true" : "false";
  case Kind::Integer:
    return fmt::format("{}", node.integer);
  case Kind::Real:
    return fmt::format("{}", node.real);
  case Kind::Text:
    return fmt::format("the text \"{}\"", node.text);
  case Kind::List:
    return "a list";
  default:
    return "an object";
  }
}

} // namespace

void JsonView::fail(const std::string& why) const {
  throw Error(TENON_ERR_FORMAT, fmt::format("file '{}', byte {}: {}: {}", *file_, node_->byte,
                                            path_.empty() ? "the whole" : path_, why));
}

void JsonView::expect(Kind kind, const char* expected) const {
  if (node_->kind != kind)
    fail(fmt::format("is {}; expected {}", found(*node_), expected));
}

const JsonNode* JsonView::find(std::string_view key) const {
  expect(Kind::Object, "an object");
  const auto at = std::find(node_->keys.begin(), node_->keys.end(), key);
  return at == node_->keys.end() ? nullptr : &node_->items[at - node_->keys.begin()];
}

bool JsonView::has(std::string_view key) const {
  return find(key);
}

JsonView JsonView::at(std::string_view key) const {
  const JsonNode* value = find(key);
  if (!value)
    fail(fmt::format("has no key '{}'", key));
  return below(key, *value);
}

JsonView JsonView::below(std::string_view key, const JsonNode& value) const {
  return {value, *file_, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key)};
}

std::vector<std::pair<std::string, JsonView>> JsonView::members() const {
  expect(Kind::Object, "an object");
  std::vector<std::pair<std::string, JsonView>> all;
  for (std::size_t i = 0; i < node_->keys.size(); ++i)
    all.emplace_back(node_->keys[i], below(node_->keys[i], node_->items[i]));
  return all;
}

void JsonView::allow(const std::vector<std::string>& allowed) const {
  expect(Kind::Object, "an object");
  for (const std::string& key : node_->keys)
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
      at(key).fail(fmt::format("unknown key; did you mean '{}'? Allowed keys are {}",
                               nearest(key, allowed), joined(allowed)));
}

std::vector<JsonView> JsonView::list() const {
  expect(Kind::List, "a list");
  std::vector<JsonView> items;
  for (std::size_t i = 0; i < node_->items.size(); ++i)
    items.push_back(JsonView(node_->items[i], *file_, fmt::format("{}[{}]", path_, i)));
  return items;
}

const std::string& JsonView::text() const {
  expect(Kind::Text, "a text");
  return node_->text;
}

const std::string& JsonView::name() const {
  if (plainLength(text(), "") < text().size())
    fail(fmt::format("the name \"{}\" has a control character; leave it out", printable(text())));
  return text();
}

bool JsonView::flag() const {
  expect(Kind::Flag, "true or false");
  return node_->flag;
}

Index JsonView::integer(Index least) const {
  if (node_->kind != Kind::Integer || node_->integer < least)
    fail(fmt::format("is {}; it must be an integer >= {}", found(*node_), least));
  return node_->integer;
}

int JsonView::smallInteger(int least) const {
  constexpr int kMost = std::numeric_limits<int>::max();
  const Index number = integer(least);
  if (number > kMost)
    fail(fmt::format("is {}; it must be an integer in {} to {}", number, least, kMost));
  return static_cast<int>(number);
}

double JsonView::real() const {
  if (node_->kind != Kind::Integer && node_->kind != Kind::Real)
    fail(fmt::format("is {}; it must be a number", found(*node_)));
  return node_->real;
}

} // namespace tenon

// SPDX-License-Identifier: BSD-2-Clause
// Builds a tree of JSON values, each with its position in the text, for messages. The parser
// (nlohmann) calls the Builder for each token, but does not report positions. The Builder therefore
// passes it the text through an iterator that records the furthest character read, which is the end
// of the current token.
#include "sys/files/json_tree.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/plain_text.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <unordered_set>

namespace tenon {

namespace {

using Kind = JsonNode::Kind;

// Trees are walked and destroyed by recursion, so their depth is limited.
constexpr std::size_t kMaxJsonDepth = 64;
// A value needs about fifty times the memory of its shortest text, so without a limit a small file
// could exhaust the memory.
constexpr std::size_t kMaxValues = std::size_t(1) << 20;

// An iterator over the text that records the furthest position that any copy of it has reached.
class RecordingIterator {
public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  RecordingIterator(const char* position, const char** furthest)
      : position_(position), furthest_(furthest) {}
  reference operator*() const { return *position_; }
  RecordingIterator& operator++() {
    *furthest_ = ++position_;
    return *this;
  }
  RecordingIterator operator++(int) {
    RecordingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const RecordingIterator& other) const { return position_ == other.position_; }

private:
  const char* position_;
  const char** furthest_;
};

// Builds the tree from the parser's events.
class Builder : public nlohmann::json_sax<nlohmann::json> {
public:
  Builder(const std::string& text, const std::string& file)
      : text_(text), file_(file), furthest_(text.data()) {}

  JsonNode build() {
    const RecordingIterator begin(text_.data(), &furthest_),
        end(text_.data() + text_.size(), &furthest_);
    nlohmann::json::sax_parse(begin, end, this);
    return std::move(root_);
  }

  bool null() override {
    put(Kind::Null);
    return true;
  }
  bool boolean(bool value) override {
    put(Kind::Flag).flag = value;
    return true;
  }
  bool number_integer(number_integer_t value) override {
    JsonNode& node = put(Kind::Integer);
    node.integer = value;
    node.real = static_cast<double>(value);
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<number_unsigned_t>(std::numeric_limits<Index>::max()))
      return number_integer(static_cast<Index>(value));
    // Larger than an Index: stored as a real number, which the integer accessors reject.
    JsonNode& node = put(Kind::Real);
    node.real = static_cast<double>(value);
    node.text = std::to_string(value);
    return true;
  }
  bool number_float(number_float_t value, const string_t&) override {
    put(Kind::Real).real = value;
    return true;
  }
  bool string(string_t& value) override {
    put(Kind::Text).text = value;
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Kind::Object); }
  bool start_array(std::size_t) override { return open(Kind::List); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& value) override {
    // The position of the key is used for its value, as messages name both.
    auto& keys = open_.back()->keys;
    keyByte_ = startOfText();
    if (!seenKeys_.back().insert(value).second)
      fail(keyByte_, fmt::format("the key '{}' is given twice", value));
    keys.push_back(value);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const std::string message =
        error.what(); // "[json.exception...] parse error at ...: syntax ..."
    const std::size_t colon = message.find(": ");
    fail(position, fmt::format("not valid JSON, or truncated: {}",
                               colon == std::string::npos ? message : message.substr(colon + 2)));
  }

private:
  std::size_t byte() const { return static_cast<std::size_t>(furthest_ - text_.data()); }

  // Start of the text that has just ended: its opening quote is the last one without a preceding
  // backslash.
  std::size_t startOfText() const {
    std::size_t quote = byte() - 1;
    do
      quote = text_.rfind('"', quote - 1);
    while (quote > 0 && text_[quote - 1] == '\\');
    return quote + 1;
  }

  JsonNode& put(Kind kind) {
    if (++values_ > kMaxValues)
      fail(byte(), fmt::format("more than {} values", kMaxValues));
    JsonNode* node = &root_;
    if (!open_.empty()) {
      open_.back()->items.emplace_back();
      node = &open_.back()->items.back();
    }
    node->kind = kind;
    const bool hasKey = !open_.empty() && open_.back()->kind == Kind::Object;
    node->byte = hasKey ? keyByte_ : byte();
    return *node;
  }
  bool open(Kind kind) {
    // Checked before the value is created, so the tree never exceeds the depth.
    if (open_.size() == kMaxJsonDepth)
      fail(byte(), fmt::format("nested more than {} levels deep", kMaxJsonDepth));
    open_.push_back(&put(kind));
    seenKeys_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    seenKeys_.pop_back();
    return true;
  }

  [[noreturn]] void fail(std::size_t position, const std::string& why) const {
    throw Error(TENON_ERR_FORMAT, fmt::format("file '{}', byte {}: {}", file_, position, why));
  }

  const std::string& text_;
  const std::string& file_;
  const char* furthest_;
  std::size_t keyByte_ = 0;
  JsonNode root_;
  // Path from the root to the current value. Only the innermost value grows, so the pointers stay
  // valid.
  std::vector<JsonNode*> open_;
  std::vector<std::unordered_set<std::string>> seenKeys_; // by open value
  std::size_t values_ = 0;
};

} // namespace

JsonNode parseJson(const std::string& text, const std::string& file) {
  return Builder(text, file).build();
}

namespace {

// Description of an unexpected value in messages.
std::string valueText(const JsonNode& node) {
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
    fail(fmt::format("is {}; expected {}", valueText(*node_), expected));
}

const JsonNode* JsonView::find(std::string_view key) const {
  expect(Kind::Object, "an object");
  const auto found = std::find(node_->keys.begin(), node_->keys.end(), key);
  return found == node_->keys.end() ? nullptr : &node_->items[found - node_->keys.begin()];
}

bool JsonView::has(std::string_view key) const {
  return find(key);
}

JsonView JsonView::at(std::string_view key) const {
  const JsonNode* value = find(key);
  if (!value)
    fail(fmt::format("has no key '{}'", key));
  return child(key, *value);
}

JsonView JsonView::child(std::string_view key, const JsonNode& value) const {
  return {value, *file_, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key)};
}

std::vector<std::pair<std::string, JsonView>> JsonView::members() const {
  expect(Kind::Object, "an object");
  std::vector<std::pair<std::string, JsonView>> result;
  for (std::size_t i = 0; i < node_->keys.size(); ++i)
    result.emplace_back(node_->keys[i], child(node_->keys[i], node_->items[i]));
  return result;
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
    fail(fmt::format("is {}; it must be an integer >= {}", valueText(*node_), least));
  return node_->integer;
}

int JsonView::smallInteger(int least) const {
  constexpr int kMax = std::numeric_limits<int>::max();
  const Index number = integer(least);
  if (number > kMax)
    fail(fmt::format("is {}; it must be an integer in {} to {}", number, least, kMax));
  return static_cast<int>(number);
}

double JsonView::real() const {
  if (node_->kind != Kind::Integer && node_->kind != Kind::Real)
    fail(fmt::format("is {}; it must be a number", valueText(*node_)));
  return node_->real;
}

std::vector<Index> JsonView::integers(Index least) const {
  std::vector<Index> numbers;
  for (const JsonView& item : list())
    numbers.push_back(item.integer(least));
  return numbers;
}

std::vector<int> JsonView::smallIntegers(int least) const {
  std::vector<int> numbers;
  for (const JsonView& item : list())
    numbers.push_back(item.smallInteger(least));
  return numbers;
}

} // namespace tenon

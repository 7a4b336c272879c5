// SPDX-License-Identifier: BSD-2-Clause
// nlohmann's parser calls a Builder for each token. It reads through an iterator that notes how far
// it has come, which is where the token ends.
#include "sys/error.hpp"
#include "sys/json_tree.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iterator>
#include <limits>
#include <unordered_set>

namespace tenon {

namespace {

constexpr std::size_t kDeepest = 64;
// Each takes some fifty times the memory of its shortest text.
constexpr std::size_t kMostValues = std::size_t(1) << 20;

class NotingIterator {
public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  NotingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  NotingIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  NotingIterator operator++(int) {
    NotingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const NotingIterator& other) const { return at_ == other.at_; }

private:
  const char* at_;
  const char** furthest_;
};

class Builder : public nlohmann::json_sax<nlohmann::json> {
public:
  Builder(const std::string& text, const std::string& file)
      : text_(text), file_(file), furthest_(text.data()) {}

  JsonNode build() {
    const NotingIterator begin(text_.data(), &furthest_),
        end(text_.data() + text_.size(), &furthest_);
    nlohmann::json::sax_parse(begin, end, this);
    return std::move(root_);
  }

  bool null() override {
    put(JsonNode::Kind::Null);
    return true;
  }
  bool boolean(bool value) override {
    put(JsonNode::Kind::Flag).flag = value;
    return true;
  }
  bool number_integer(number_integer_t value) override {
    JsonNode& node = put(JsonNode::Kind::Integer);
    node.integer = value;
    node.real = static_cast<double>(value);
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<number_unsigned_t>(std::numeric_limits<Index>::max()))
      return number_integer(static_cast<Index>(value));
    return number_float(static_cast<double>(value), "");
  }
  bool number_float(number_float_t value, const string_t&) override {
    put(JsonNode::Kind::Real).real = value;
    return true;
  }
  bool string(string_t& value) override {
    put(JsonNode::Kind::Text).text = value;
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonNode::Kind::Object); }
  bool start_array(std::size_t) override { return open(JsonNode::Kind::List); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& value) override {
    auto& keys = open_.back()->keys;
    keyByte_ = startOfText();
    if (!known_.back().insert(value).second)
      fail(keyByte_, fmt::format("the key '{}' is given twice", value));
    keys.push_back(value);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const std::string whole = error.what(); // "[json.exception...] parse error at ...: syntax ..."
    const std::size_t colon = whole.find(": ");
    fail(position, fmt::format("not valid JSON, or truncated: {}",
                               colon == std::string::npos ? whole : whole.substr(colon + 2)));
  }

private:
  std::size_t byte() const { return static_cast<std::size_t>(furthest_ - text_.data()); }

  // Of the text that has just ended: its opening quote is the last one without a backslash.
  std::size_t startOfText() const {
    std::size_t quote = byte() - 1;
    do
      quote = text_.rfind('"', quote - 1);
    while (quote > 0 && text_[quote - 1] == '\\');
    return quote + 1;
  }

  JsonNode& put(JsonNode::Kind kind) {
    if (++values_ > kMostValues)
      fail(byte(), fmt::format("more than {} values", kMostValues));
    JsonNode* node = &root_;
    if (!open_.empty()) {
      open_.back()->items.emplace_back();
      node = &open_.back()->items.back();
    }
    node->kind = kind;
    const bool hasKey = !open_.empty() && open_.back()->kind == JsonNode::Kind::Object;
    node->byte = hasKey ? keyByte_ : byte();
    return *node;
  }
  bool open(JsonNode::Kind kind) {
    if (open_.size() == kDeepest)
      fail(byte(), fmt::format("nested more than {} levels deep", kDeepest));
    open_.push_back(&put(kind));
    known_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    known_.pop_back();
    return true;
  }

  [[noreturn]] void fail(std::size_t at, const std::string& why) const {
    throw Error(TENON_ERR_FORMAT, fmt::format("file '{}', byte {}: {}", file_, at, why));
  }

  const std::string& text_;
  const std::string& file_;
  const char* furthest_;
  std::size_t keyByte_ = 0;
  JsonNode root_;
  std::vector<JsonNode*> open_;                        // from the root; only the innermost grows
  std::vector<std::unordered_set<std::string>> known_; // the keys of each
  std::size_t values_ = 0;
};

} // namespace

JsonNode parseJson(const std::string& text, const std::string& file) {
  return Builder(text, file).build();
}

} // namespace tenon

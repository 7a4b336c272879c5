// SPDX-License-Identifier: BSD-2-Clause
// A JSON file as a tree in which every value has its position, for error messages with file, key
// and byte. Readers use JsonView, which throws for unexpected content: for the file plan.json with
// {"layers": [{"size": "x"}]},
//
//   const JsonNode tree = parseJson(text, "plan.json");
//   JsonView(tree, "plan.json").at("layers").list()[0].at("size").integer(1);
//
// throws "file 'plan.json', byte 14: layers[0].size: is the text "x"; it must be an integer >= 1".
// A view refers to its tree and to the name of the file, which must outlive it.
#pragma once

#include "sys/types.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon {

struct JsonNode {
  enum class Kind { Null, Flag, Integer, Real, Text, List, Object };
  Kind kind = Kind::Null;
  bool flag = false;
  Index integer = 0;
  double real = 0;               // also set for an integer
  std::string text;              // the text, or the digits of an integer larger than an Index
  std::vector<std::string> keys; // the keys of an object
  std::vector<JsonNode> items;   // the items of a list, or an object's values by key
  // Position in the file, counted from 1: the start of its key or, without a key, the end of the
  // value, which is as far as the parser has read when it makes the node.
  std::size_t byte = 0;
};

// Throws TENON_ERR_FORMAT, with `file` and the byte, if the text is not one JSON value, has a
// duplicate key, is nested more than 64 levels deep, or has more than a million values.
JsonNode parseJson(const std::string& text, const std::string& file);

// A value, its file and the path of keys to it. All errors are TENON_ERR_FORMAT with this
// information.
class JsonView {
public:
  JsonView(const JsonNode& node, const std::string& file) : node_(&node), file_(&file) {}

  // The value of an object's key; an error if the key is missing.
  JsonView at(std::string_view key) const;
  bool has(std::string_view key) const;
  // The value must be an object with no other keys than these.
  void allow(const std::vector<std::string>& keys) const;

  // The keys of an object and their values.
  std::vector<std::pair<std::string, JsonView>> members() const;

  bool isList() const noexcept { return node_->kind == JsonNode::Kind::List; }
  bool isText() const noexcept { return node_->kind == JsonNode::Kind::Text; }
  std::vector<JsonView> list() const;
  const std::string& text() const;
  // A text, which must not contain control characters.
  const std::string& name() const;
  bool flag() const;
  // An integer, which must be at least `least`.
  Index integer(Index least) const;
  // An integer in the range of int, such as a number of processes, a rank, or a list index.
  int smallInteger(int least) const;
  double real() const;
  // The numbers of a list.
  std::vector<Index> integers(Index least) const;
  std::vector<int> smallIntegers(int least) const;

  [[noreturn]] void fail(const std::string& why) const;

private:
  JsonView(const JsonNode& node, const std::string& file, std::string path)
      : node_(&node), file_(&file), path_(std::move(path)) {}
  const JsonNode* find(std::string_view key) const;
  JsonView child(std::string_view key, const JsonNode& value) const;
  void expect(JsonNode::Kind kind, const char* expected) const;

  const JsonNode* node_;
  const std::string* file_;
  std::string path_;
};

} // namespace tenon

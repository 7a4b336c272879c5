// SPDX-License-Identifier: BSD-2-Clause
// A JSON value for writing; json_tree.hpp is for reading. For example,
//
//   Json json = {{"name", "conv1"}, {"kernel", std::vector<int>{3, 3}}};
//   json["stride"] = 2;
//   json.dump()                  // {"name":"conv1","kernel":[3,3],"stride":2}
//
// Unlike the values of libraries that flatten a tree to destroy it, its destructor does not
// allocate: it also runs when memory has run out.
#pragma once

#include "sys/types.hpp"

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon {

class Json {
public:
  // An object with its members, in this order.
  Json(std::initializer_list<std::pair<std::string_view, Json>> members);
  Json(bool value) : text_(value ? "true" : "false") {}
  Json(std::integral auto value) : text_(std::to_string(value)) {}
  Json(double value);
  // Throws TENON_ERR_ARG unless the text is UTF-8.
  Json(std::string_view text);
  Json(const std::string& text) : Json(std::string_view(text)) {}
  Json(const char* text) : Json(std::string_view(text)) {}
  template <class T>
  Json(const std::vector<T>& values) : kind_(Kind::List) {
    items_.assign(values.begin(), values.end());
  }
  static Json object() { return Json(Kind::Object); }
  static Json array() { return Json(Kind::List); }

  // The value of a key; a new key has the value null.
  Json& operator[](std::string_view key);
  void push_back(Json item) { items_.push_back(std::move(item)); }
  // Adds or replaces members by those of another object.
  void update(Json other);

  // The text in one line, or, if indent >= 0, with one line per value and that indentation per
  // level.
  std::string dump(int indent = -1) const;

private:
  enum class Kind { Plain, List, Object };
  explicit Json(Kind kind) : kind_(kind) {}
  void append(std::string& text, int indent, std::size_t level) const;

  Kind kind_ = Kind::Plain;
  std::string text_; // text of a plain value
  std::vector<std::string> keys_;
  std::vector<Json> items_; // items of a list, or values of an object in the order of keys_
};

} // namespace tenon

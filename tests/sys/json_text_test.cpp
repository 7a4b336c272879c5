// SPDX-License-Identifier: BSD-2-Clause
// Tests the JSON writer: the text of values, lists and objects, escapes as in RFC 8259, and
// numbers, which the reader must restore exactly.
#include "sys/files/json_text.hpp"

#include "sys/expect_error.hpp"
#include "sys/files/json_tree.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(JsonText, HasOneLineOrALineForEachValue) {
  Json json = {{"a", std::vector<Index>{1, -2}}, {"b", true}, {"empty", Json::object()}};
  json["c"] = Json(0.5);
  json["list"] = Json::array();
  EXPECT_EQ(json.dump(), R"({"a":[1,-2],"b":true,"empty":{},"c":0.5,"list":[]})");
  json = {{"a", std::vector<Index>{1}}, {"b", Json::array()}};
  EXPECT_EQ(json.dump(1), "{\n \"a\": [\n  1\n ],\n \"b\": []\n}");
}

TEST(JsonText, ReplacesTheValueOfAKeyInItsPlace) {
  Json json = {{"a", 1}, {"b", 2}};
  json.update({{"a", 3}, {"c", 4}});
  EXPECT_EQ(json.dump(), R"({"a":3,"b":2,"c":4})");
}

TEST(JsonText, EscapesSpecialCharacters) {
  EXPECT_EQ(Json("a\"b\\c\n\x01/\u00e9\u20ac").dump(), "\"a\\\"b\\\\c\\n\\u0001/\u00e9\u20ac\"");
}

TEST(JsonText, RefusesInvalidUtf8) {
  for (const char* text : {"abc\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    expectError(TENON_ERR_ARG, {"UTF-8"}, [&] { static_cast<void>(Json(text)); });
}

TEST(JsonText, NumbersAreReadAsTheyWere) {
  for (const double value : {0.1, 1e-300, 1.0, -2.5, 1e22, 3.0e15, 1.0 / 3}) {
    const std::string text = Json({{"x", value}}).dump();
    const JsonNode tree = parseJson(text, "some.json");
    EXPECT_EQ(JsonView(tree, "some.json").at("x").real(), value) << text;
    EXPECT_EQ(tree.items[0].kind, JsonNode::Kind::Real) << text;
  }
}

} // namespace
} // namespace tenon

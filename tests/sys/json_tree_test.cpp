// SPDX-License-Identifier: BSD-2-Clause
// Tests the JSON reader: values of each kind, and the messages for wrong values and damaged files,
// which contain the file, the byte and the path of keys.
#include "sys/files/json_tree.hpp"

#include "sys/errors/error.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tenon;

const std::string kFile = "some.json";

// The message of the error that the body raises, which must be of the format.
template <class Body>
std::string refusal(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(TENON_ERR_FORMAT, error.code());
    return error.text();
  }
  return "nothing was refused";
}

std::string refusalOf(const std::string& text) {
  return refusal([&] { parseJson(text, kFile); });
}

TEST(JsonTree, HoldsValuesOfEachKind) {
  const JsonNode tree =
      parseJson(R"({"a": [1, -2.5, "x\"y"], "b": {"c": true, "d": null}})", kFile);
  const JsonView root(tree, kFile);
  const auto list = root.at("a").list();
  ASSERT_EQ(3U, list.size());
  EXPECT_EQ(1, list[0].integer(1));
  EXPECT_EQ(1.0, list[0].real());
  EXPECT_EQ(-2.5, list[1].real());
  EXPECT_EQ("x\"y", list[2].text());
  EXPECT_TRUE(root.at("b").at("c").flag());
  EXPECT_TRUE(root.at("b").has("d"));
  EXPECT_FALSE(root.has("d"));
}

TEST(JsonTree, NamesFileByteAndKeyOfAWrongValue) {
  // Bytes are counted from 1: the key c is at byte 18.
  //                        1234567890123456789012
  const std::string text = R"({"a": 1, "b\"": {"c": "x"}})";
  const JsonNode tree = parseJson(text, kFile);
  const JsonView c = JsonView(tree, kFile).at("b\"").at("c");
  EXPECT_EQ("file 'some.json', byte 18: b\".c: is the text \"x\"; it must be a number",
            refusal([&] { c.real(); }));
  EXPECT_EQ("file 'some.json', byte 2: a: is 1; it must be an integer >= 2",
            refusal([&] { JsonView(tree, kFile).at("a").integer(2); }));
  EXPECT_EQ("file 'some.json', byte 10: b\": has no key 'd'",
            refusal([&] { JsonView(tree, kFile).at("b\"").at("d"); }));
}

TEST(JsonTree, NamesTheElementOfAList) {
  const JsonNode tree = parseJson(R"({"a": [1, 2.5]})", kFile);
  EXPECT_EQ("file 'some.json', byte 14: a[1]: is 2.5; it must be an integer >= 0",
            refusal([&] { JsonView(tree, kFile).at("a").list()[1].integer(0); }));
}

TEST(JsonTree, RefusesControlCharactersInNames) {
  const JsonNode tree =
      parseJson(R"({"name": "a\u001b[2J", "about": "a\nb", "own": "\u00e4"})", kFile);
  const JsonView root(tree, kFile);
  const std::string message = refusal([&] { root.at("name").name(); });
  EXPECT_NE(message.find("name: the name \"a\\x1b[2J\" has a control character"), message.npos)
      << message;
  EXPECT_EQ(root.at("about").text(), "a\nb");
  EXPECT_EQ(root.at("own").name(), "\u00e4");
}

// 4294967297 must not be truncated to its lower 32 bits, which are 1.
TEST(JsonTree, ReadsNumbersOfTheRangeOfIntOrRefusesThem) {
  const JsonNode tree = parseJson("[2147483647, 4294967297, -2147483649, 2]", kFile);
  const auto list = JsonView(tree, kFile).list();
  EXPECT_EQ(2147483647, list[0].smallInteger(0));
  EXPECT_EQ(
      "file 'some.json', byte 24: [1]: is 4294967297; it must be an integer in 1 to 2147483647",
      refusal([&] { list[1].smallInteger(1); }));
  EXPECT_NE(refusal([&] { list[2].smallInteger(-2147483647 - 1); }).find("is -2147483649"),
            std::string::npos);
  EXPECT_NE(refusal([&] { list[3].smallInteger(3); }).find("an integer >= 3"), std::string::npos);
}

TEST(JsonTree, RefusesKeysThatNobodyKnows) {
  const JsonNode tree = parseJson(R"({"size": 1, "sice": 2})", kFile);
  EXPECT_EQ(
      "file 'some.json', byte 13: sice: unknown key; did you mean 'size'? Allowed keys are size",
      refusal([&] { JsonView(tree, kFile).allow({"size"}); }));
}

TEST(JsonTree, RefusesAKeyThatOccursTwice) {
  EXPECT_EQ("file 'some.json', byte 10: the key 'a' is given twice",
            refusalOf(R"({"a": 1, "a": 2})"));
}

TEST(JsonTree, NamesTheByteWhereAHalfWrittenFileEnds) {
  const std::string whole = R"({"a": [1, {"b": "text"}], "c": -1.5e3})";
  parseJson(whole, kFile);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string message = refusalOf(whole.substr(0, length));
    EXPECT_NE(message.find("file 'some.json', byte "), std::string::npos) << message;
    EXPECT_NE(message.find("not valid JSON, or truncated"), std::string::npos) << message;
  }
  EXPECT_NE(refusalOf(R"({"a": 1} 2)").find("byte 10"), std::string::npos);
}

TEST(JsonTree, RefusesDeepNesting) {
  EXPECT_NE(refusalOf(std::string(100000, '[')).find("byte 65: nested more than 64 levels deep"),
            std::string::npos);
}

TEST(JsonTree, DoesNotConvertNumbersToOtherKinds) {
  const JsonNode tree = parseJson(R"([9223372036854775808, 1.0, true, {}])", kFile);
  const auto list = JsonView(tree, kFile).list();
  for (const JsonView& value : list)
    EXPECT_NE(refusal([&] { value.integer(0); }).find("must be an integer"), std::string::npos);
  EXPECT_EQ(9223372036854775808.0, list[0].real());
  EXPECT_EQ("9223372036854775808", tree.items[0].text);
}

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
// Tests the syntax of options: texts of flags and numbers, keys, words, quotes and comments, each
// against values written by hand.
#include "sys/options/option_text.hpp"

#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using namespace tenon;

TEST(OptionText, Flags) {
  for (const char* text : {"true", "1", "yes", "on", "TRUE", "Yes"})
    EXPECT_EQ(parseFlag(text), true) << text;
  for (const char* text : {"false", "0", "no", "off", "Off"})
    EXPECT_EQ(parseFlag(text), false) << text;
  for (const char* text : {"", "2", "maybe", "truely"})
    EXPECT_EQ(parseFlag(text), std::nullopt) << text;
}

TEST(OptionText, Integers) {
  EXPECT_EQ(parseInt("-12"), -12);
  EXPECT_EQ(parseInt("+3"), 3);
  EXPECT_EQ(parseInt("9223372036854775807"), std::numeric_limits<Index>::max());
  for (const char* text : {"", "-", "+", "+-3", "1.5", "1e3", "12x", " 1", "9223372036854775808"})
    EXPECT_EQ(parseInt(text), std::nullopt) << text;
}

TEST(OptionText, Reals) {
  EXPECT_EQ(parseReal("-1.5e-3"), -1.5e-3);
  EXPECT_EQ(parseReal("7"), 7.0);
  EXPECT_EQ(parseReal(".5"), 0.5);
  EXPECT_EQ(parseReal("-inf"), -std::numeric_limits<double>::infinity());
  for (const char* text : {"", "nan", "1,5", "one", "1e"})
    EXPECT_EQ(parseReal(text), std::nullopt) << text;
}

TEST(OptionText, NegativeNumbersAreNoKeys) {
  for (const char* text : {"-tenon_verbose", "-data", "--data", "-x"})
    EXPECT_TRUE(looksLikeKey(text)) << text;
  for (const char* text : {"-1", "-.5", "-1e-3", "-", "", "data"})
    EXPECT_FALSE(looksLikeKey(text)) << text;
}

TEST(OptionText, WordsQuotesAndComments) {
  EXPECT_EQ(tokenize("  -a 1\t-b  # rest", "here"), (std::vector<std::string>{"-a", "1", "-b"}));
  EXPECT_EQ(tokenize("-a 'x y' \"it's\" p\"q r\"s ''", "here"),
            (std::vector<std::string>{"-a", "x y", "it's", "pq rs", ""}));
  EXPECT_EQ(tokenize("a#b", "here"), (std::vector<std::string>{"a#b"}));
  EXPECT_TRUE(tokenize("# all", "here").empty());
  EXPECT_TRUE(tokenize(" \r", "here").empty());
  expectError(TENON_ERR_OPTION, {"here", "not closed"}, [] { tokenize("-a 'x", "here"); });
}

} // namespace

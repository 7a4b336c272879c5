// SPDX-License-Identifier: BSD-2-Clause
// Tests the functions on words: edit distance, nearest word, counts with nouns, lists, against
// values written by hand.
#include "sys/text/text.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tenon;

TEST(Text, EditDistance) {
  EXPECT_EQ(editDistance("", ""), 0);
  EXPECT_EQ(editDistance("abc", ""), 3);
  EXPECT_EQ(editDistance("", "ab"), 2);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3);
  EXPECT_EQ(editDistance("sunday", "saturday"), 3);
  EXPECT_EQ(editDistance("conv", "conv"), 0);
}

TEST(Text, Nearest) {
  EXPECT_EQ(nearest("tahn", {"relu", "tanh", "sigmoid"}), "tanh");
  EXPECT_EQ(nearest("x", {"a", "b"}), "a");
  EXPECT_EQ(nearest("x", {}), "");
}

TEST(Text, CountedNouns) {
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(0, "rank"), "0 ranks");
  EXPECT_EQ(counted(2, "axis", "axes"), "2 axes");
  EXPECT_EQ(counted(1, "axis", "axes"), "1 axis");
  EXPECT_EQ(counted(-1, "object was", "objects were"), "-1 objects were");
}

TEST(Text, JoinAndSplit) {
  EXPECT_EQ(joined({"a", "b", "a"}), "a, b, a");
  EXPECT_EQ(joined({}), "");
  EXPECT_EQ(split("a||b", '|'), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("a|", '|'), (std::vector<std::string>{"a", ""}));
  EXPECT_TRUE(split("", '|').empty());
  EXPECT_EQ(lowered("ReLU-2"), "relu-2");
}

} // namespace

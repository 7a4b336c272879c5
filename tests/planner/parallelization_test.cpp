// SPDX-License-Identifier: BSD-2-Clause
// Tests fine grids and parallelizations (planner/parallelizations/parallelization.hpp): numbers of
// parts, texts and their meaning, against values written out by hand.
#include "planner/parallelizations/parallelization.hpp"
#include "sys/expect_error.hpp"

namespace tenon {
namespace {

using Numbers = std::vector<Index>;

TEST(FineGrid, HasThePrimeFactorsOfEachLevel) {
  EXPECT_EQ(FineGrid({360}).extents(), (std::vector<int>{2, 2, 2, 3, 3, 5}));
  EXPECT_EQ(FineGrid({4, 12}).extents(), (std::vector<int>{2, 2, 2, 2, 3}));
  EXPECT_EQ(FineGrid({3, 4}).extents(), (std::vector<int>{3, 2, 2}));
  EXPECT_EQ(FineGrid({1}).axes(), 0);
  EXPECT_EQ(FineGrid({97}).extents(), std::vector<int>{97});
  EXPECT_EQ(FineGrid({4, 12}).processes(), 48);
}

TEST(FineGrid, HasAllWaysToDivideItsAxes) {
  // 12 axes in runs of three kinds of labels (batch, output channels, space): 14 over 2.
  EXPECT_EQ(FineGrid({4096}).parallelizations(false).size(), 91u);
  // In runs of four, with input channels: 15 over 3.
  EXPECT_EQ(FineGrid({4096}).parallelizations(true).size(), 455u);
  EXPECT_EQ(FineGrid({1}).parallelizations(true).size(), 1u);
}

TEST(FineGrid, GivesTheBatchTheFirstAxesAndSpaceTheLast) {
  const FineGrid grid({2, 3, 5, 7});
  const Parts parts = grid.parts({.batch = 1, .outputs = 1, .space = 2}, 2);
  EXPECT_EQ(parts.batch, 2);
  EXPECT_EQ(parts.channels, 3);
  EXPECT_EQ(parts.space, 35);
  EXPECT_EQ(parts.spatial, (Numbers{7, 5})); // the first dimension has the last axis
}

// m axes of extent 2 give dimension j of k ones 2^floor((m + k - j) / k) parts, j = 1 ... k.
TEST(FineGrid, SharesSpaceAmongDimensionsInTurns) {
  const FineGrid grid({4096});
  for (int k = 1; k <= 3; ++k)
    for (int m = 0; m <= 12; ++m) {
      const Parts parts = grid.parts({.batch = 12 - m, .space = m}, k);
      for (int j = 1; j <= k; ++j)
        EXPECT_EQ(parts.spatial[j - 1], Index(1) << ((m + k - j) / k));
    }
}

// Each label has the number of axes that it splits, without a number for one axis. The dash means
// that the axes are counted from the last one inward: "h7-" are the last seven axes.
TEST(Parallelizations, AreWrittenAsRuns) {
  EXPECT_EQ(textOf({.batch = 9}, "h"), "n9");
  EXPECT_EQ(textOf({.batch = 6, .outputs = 3}, "h"), "n6,o3");
  EXPECT_EQ(textOf({.batch = 1, .inputs = 1, .space = 1}, "dhw"), "n,i,d");
  EXPECT_EQ(textOf({.batch = 4, .outputs = 2, .inputs = 3, .space = 1}, "h", 'g'), "n4,g2,i3,h");
  EXPECT_EQ(textOf({.batch = 2, .space = 7}, "h"), "n2,h7-");
  EXPECT_EQ(textOf({.space = 4}, "dhw"), "dhw4-");
  EXPECT_EQ(textOf({}, "h"), "");
}

// Here all numbers are numbers of parts. `channels` counts the parts of output and input channels
// together: 6 are 3 of the output times inputs = 2.
TEST(Parallelizations, AreExplained) {
  EXPECT_EQ(meaningOf({.channels = 2, .space = 4, .inputs = 2, .spatial = {4}}, "h", 'o'),
            "rows over 4, channels in over 2");
  EXPECT_EQ(meaningOf({.batch = 8, .channels = 6, .space = 6, .inputs = 2, .spatial = {1, 2, 3}},
                      "dhw", 'g'),
            "batch over 8, rows over 2, columns over 3, groups over 3, channels in over 2");
  EXPECT_EQ(meaningOf({.space = 2, .spatial = {2, 1, 1}}, "dhw", 'o'), "planes over 2");
  EXPECT_EQ(meaningOf({.channels = 3}, "", 'o'), "channels out over 3");
  EXPECT_EQ(meaningOf({}, "hw", 'o'), "whole on each process");
}

TEST(Parallelizations, AreReadAsTheyAreWritten) {
  const FineGrid grid({512});
  for (const std::string spatial : {"h", "hw", "dhw"})
    for (const Parallelization& parallelization : grid.parallelizations(true))
      EXPECT_EQ(parseParallelization(textOf(parallelization, spatial), grid, spatial, "x"),
                parallelization);
}

TEST(Parallelizations, AreReadLabelByLabel) {
  const FineGrid grid({16});
  EXPECT_EQ(parseParallelization("n,n,o,h", grid, "h", "x"),
            (Parallelization{.batch = 2, .outputs = 1, .space = 1}));
  EXPECT_EQ(parseParallelization("n1,n1,i2", grid, "h", "x"),
            (Parallelization{.batch = 2, .inputs = 2}));
  EXPECT_EQ(parseParallelization("n,o,i2", grid, "h", "x"),
            (Parallelization{.batch = 1, .outputs = 1, .inputs = 2}));
  EXPECT_EQ(parseParallelization("n2,s2", grid, "dhw", "x"),
            (Parallelization{.batch = 2, .space = 2}));
  EXPECT_EQ(parseParallelization("", FineGrid({1}), "h", "x"), Parallelization());
}

TEST(Parallelizations, ThatAreNotPossibleAreRefused) {
  const FineGrid grid({16});
  const auto refused = [&](const char* text, const char* why) {
    expectError(TENON_ERR_OPTION, {"layer fc6", text, why},
                [&] { parseParallelization(text, grid, "h", "layer fc6"); });
  };
  refused("n3", "it has 3 labels, but 16 processes are a grid of 4 axes");
  refused("n5", "5 labels");
  refused("q4", "'q' is not a label that can follow there");
  refused("o2,n2", "'n' is not a label that can follow");
  refused("n2,i1,o1", "'o' is not a label that can follow");
  refused("n2,g2", "its output channels have the label o");
  refused("h2,o2", "'o' is not a label that can follow");
  refused("n2,w2", "'w' is not a label");
  refused("n4x", "not a label with the number of its grid axes");
  refused("n0,o4", "not a label with the number");
  refused("n99999999999999", "not a label with the number");
  refused("4", "has no label");
  refused("n3,,o", "has no label");
  expectError(TENON_ERR_OPTION, {"no spatial label"},
              [&] { parseParallelization("n3,h", grid, "", "fc6"); });
}

} // namespace
} // namespace tenon

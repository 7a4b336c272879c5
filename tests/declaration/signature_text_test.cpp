// SPDX-License-Identifier: BSD-2-Clause
// Tests signatures as text, such as "n2,h-": which grid axis gets which label, and in which order
// axes split a dimension. Expected labels and blocks are written out by hand.
#include "declaration/core/types.hpp"

#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

namespace tenon::test {
namespace {

std::unique_ptr<Declaration> convolution() {
  auto conv = makeDeclaration("conv");
  conv->set("in_channels", Index(4));
  conv->set("out_channels", Index(8));
  conv->set("kernel", std::vector<Index>{3, 3});
  conv->set("padding", std::vector<Index>{1, 1});
  return conv;
}

Form formOf(const Declaration& declaration, const GridPtr& grid, const std::string& signature) {
  const Layout input({.shape = {8, 4, 16, 16},
                      .grid = grid,
                      .properties = Properties(grid->axes(), Property::broadcast())});
  return declaration.form({input}, {.labels = signature});
}

TEST(SignatureText, HasRuns) {
  const auto conv = convolution();
  const GridPtr grid = Grid::make({2, 2, 2, 2});
  EXPECT_EQ(formOf(*conv, grid, "n2,o2").signature.describe(), "n,n,o,o");
  EXPECT_EQ(formOf(*conv, grid, "n, o,h2").signature.describe(), "n,o,h,h");
  EXPECT_EQ(formOf(*conv, grid, "n,hw3").signature.describe(), "n,h,w,h");
  EXPECT_EQ(formOf(*conv, grid, "hw3-,n").signature.describe(), "h-,w-,h-,n");
  EXPECT_EQ(formOf(*makeDeclaration("add"), grid, "S0,S2-,S3-,S3-").signature.describe(),
            "S0,S2-,S3-,S3-");
}

// Rank 1 of a grid 2 x 2 x 2 has coordinate 1 on the last axis. Of eight parts of the rows it has
// part 1 if that axis splits last ("h3"), and part 4 if it splits first ("h3-").
TEST(SignatureText, SaysInWhichOrderAxesSplit) {
  const auto conv = convolution();
  const GridPtr grid = Grid::make({2, 2, 2});
  const Form last = formOf(*conv, grid, "h3-"), first = formOf(*conv, grid, "h3");
  EXPECT_EQ(first.uses.front().withoutHalos().box(1)[2], (Interval{2, 4}));
  EXPECT_EQ(last.uses.front().withoutHalos().box(1)[2], (Interval{8, 10}));
  EXPECT_EQ(last.output.box(1)[2], (Interval{8, 10}));
  const Form channels = formOf(*conv, grid, "o3-");
  EXPECT_EQ(channels.output.box(1)[1], (Interval{4, 5}));
  EXPECT_EQ(channels.parameters.front().use.box(1)[0], (Interval{4, 5}));
}

// The split points of the input remain if the same axes split it in the requested order.
TEST(SignatureText, KeepsCutsInTheSameOrder) {
  const auto conv = convolution();
  LayoutSpec spec{.shape = {8, 4, 16, 16},
                  .grid = Grid::make({2, 2}),
                  .properties = {Property::shard(2), Property::shard(2)}};
  spec.splitAxes = {{}, {}, {1, 0}, {}};
  spec.cuts = {{}, {}, {0, 3, 8, 11, 16}, {}};
  const Layout input(spec);
  const std::vector<Index> own = {0, 3, 8, 11, 16}, even = {0, 4, 8, 12, 16};
  EXPECT_EQ(conv->form({input}, {.labels = "h2-"}).output.cuts(2), own);
  EXPECT_EQ(conv->form({input}, {.labels = "h2"}).output.cuts(2), own);
  spec.splitAxes[2] = {0, 1};
  EXPECT_EQ(conv->form({Layout(spec)}, {.labels = "h2-"}).output.cuts(2), even);
}

TEST(SignatureText, RefusesInvalidRuns) {
  const auto conv = convolution();
  const GridPtr grid = Grid::make({2, 2});
  for (const char* text : {"n0,o", "n3", "n65", "n2x", "hx2", "-", "n,", "S0,S1"})
    EXPECT_THROW(formOf(*conv, grid, text), Error) << text;
  expectError(TENON_ERR_OPTION, {"the run 'n2x'"}, [&] { formOf(*conv, grid, "n2x"); });
  expectError(TENON_ERR_OPTION, {"3 labels"}, [&] { formOf(*conv, grid, "n3"); });
  expectError(TENON_ERR_OPTION, {"'S'"}, [&] { formOf(*makeDeclaration("add"), grid, "S02"); });
}

} // namespace
} // namespace tenon::test

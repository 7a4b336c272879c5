// SPDX-License-Identifier: BSD-2-Clause
// Tests the primitives, conversions that change the property of one grid axis by name ("broadcast",
// "scatter", ...): the layouts of their results, written by hand, and the errors for wrong axes,
// properties and dimensions.
#include "linop/algebra/primitive.hpp"

#include "operators.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

const GridPtr kGrid = Grid::make({2, 3});

Layout on(const char* properties) {
  return test::layoutOn(kGrid, {10, 7}, properties);
}

TEST(Primitive, ChangesThePropertyOfItsAxisAlone) {
  EXPECT_EQ(primitiveRange(Primitive::Broadcast, on("S1,R"), 1), on("S1,B"));
  EXPECT_EQ(primitiveRange(Primitive::SumReduce, on("P,P"), 0), on("R,P"));
  EXPECT_EQ(primitiveRange(Primitive::AllReduce, on("S0,P"), 1), on("S0,B"));
  EXPECT_EQ(primitiveRange(Primitive::Scatter, on("R,B"), 0, 1), on("S1,B"));
  EXPECT_EQ(primitiveRange(Primitive::Gather, on("B,S0"), 1), on("B,R"));
  EXPECT_EQ(primitiveRange(Primitive::AllGather, on("S0,S1"), 0), on("B,S1"));
  EXPECT_EQ(primitiveRange(Primitive::ReduceScatter, on("P,R"), 0, 0), on("S0,R"));
  EXPECT_EQ(primitiveRange(Primitive::AllToAll, on("S0,B"), 0, 1), on("S1,B"));
  EXPECT_EQ(primitiveRange(Primitive::Slice, on("R,B"), 1, 0), on("R,S0"));
  EXPECT_EQ(primitiveRange(Primitive::ZeroPad, on("S0,S1"), 1), on("S0,P"));
}

TEST(Primitive, DividesThePartsThatAreThere) {
  const Layout own({.shape = {10},
                    .grid = kGrid,
                    .properties = parseProperties("S0,P"),
                    .splitAxes = {},
                    .cuts = {{0, 4, 10}}});
  const Layout finer = primitiveRange(Primitive::ReduceScatter, own, 1, 0);
  EXPECT_EQ(finer.splitAxes(0), (std::vector<int>{0, 1}));
  EXPECT_EQ(finer.cuts(0), (std::vector<Index>{0, 2, 3, 4, 6, 8, 10}));
  const Layout back = primitiveRange(Primitive::AllGather, finer, 1);
  EXPECT_EQ(back.cuts(0), own.cuts(0));
  EXPECT_TRUE(back.property(1).isBroadcast());
}

TEST(Primitive, EntersADimensionAsItsMinorAxis) {
  const Layout range = primitiveRange(Primitive::Slice, on("B,S0"), 0, 0);
  EXPECT_EQ(range.splitAxes(0), (std::vector<int>{1, 0}));
  expectError(TENON_ERR_LAYOUT, {"allgather", "axis 0 splits it further"},
              [&] { primitiveRange(Primitive::AllGather, range, 1); });
}

TEST(Primitive, NamesTheWrongProperty) {
  expectError(TENON_ERR_LAYOUT, {"broadcast needs property R", "axis 0", "has S0"},
              [] { primitiveRange(Primitive::Broadcast, on("S0,R"), 0); });
  expectError(TENON_ERR_LAYOUT, {"sumreduce needs property P", "has B"},
              [] { primitiveRange(Primitive::SumReduce, on("S0,B"), 1); });
  expectError(TENON_ERR_LAYOUT, {"slice needs property B", "has P"},
              [] { primitiveRange(Primitive::Slice, on("P,B"), 0, 1); });
}

TEST(Primitive, NamesTheWrongAxisOrDimension) {
  expectError(TENON_ERR_ARG, {"is 2", "0 to 1"},
              [] { primitiveRange(Primitive::Gather, on("S0,R"), 2); });
  expectError(TENON_ERR_ARG, {"scatter", "S5", "0 to 1"},
              [] { primitiveRange(Primitive::Scatter, on("S0,R"), 1, 5); });
  expectError(TENON_ERR_ARG, {"alltoall cannot go from S0 to S0", "does not split"},
              [] { primitiveRange(Primitive::AllToAll, on("S0,R"), 0, 0); });
}

TEST(Primitive, TakesNoHalos) {
  expectError(TENON_ERR_LAYOUT, {"without halos"}, [] {
    primitiveRange(Primitive::AllGather, test::withHalo(on("S0,B"), 1, Boundary::Zero), 0);
  });
}

} // namespace
} // namespace tenon

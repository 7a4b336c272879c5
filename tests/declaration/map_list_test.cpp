// SPDX-License-Identifier: BSD-2-Clause
// Small map lists (declaration/core/map_list.hpp), the descriptions of the steps of a layer, built
// by hand. The steps of Apply and adjoint of a convolution with a halo exchange, whose weight is in
// another layout, are compared with the text written out here. The other tests check the maps that
// differ between training and inference, the maps that an adjoint omits, and errors.
#include "declaration/core/pass.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

// 8 elements split over ranks, and the same with a halo of 1 element inside the domain.
Layout line(int ranks) {
  return Layout({.shape = {8}, .grid = Grid::make({ranks}), .properties = {Property::shard(0)}});
}
Layout withHalo(int ranks) {
  LayoutSpec spec = line(ranks).spec();
  Halo halo;
  for (int part = 0; part < ranks; ++part) {
    const Interval owned = line(ranks).owned(0, part);
    halo.boxes.push_back({std::max<Index>(0, owned.begin - 1), std::min<Index>(8, owned.end + 1)});
  }
  spec.halos = {halo};
  return Layout(spec);
}

// x -> u by a halo exchange, then y = conv(u, W).
MapList convolution() {
  MapList list;
  const ValueId x = list.input("x", line(2));
  list.output("y", line(2));
  const int weight = list.source({.name = "weight", .use = line(2)});
  const ValueId u = list.value("u", withHalo(2));
  list.apply(OperatorKind::Conversion, x, u);
  const ValueId y = list.stagedOutput();
  list.run(
      {.name = "conv", .savesInputs = true, .gradients = Gradients::Separate, .sources = {weight}},
      {u}, y);
  list.unstage(y);
  return list;
}

// As in batch normalisation, y is written by one kernel in training and by another in inference.
TEST(MapList, RunsMapsInTrainingOrInferenceAlone) {
  MapList list;
  const ValueId x = list.input("x", line(2)), y = list.output("y", line(2));
  list.during(When::Training);
  const ValueId m = list.value("m", line(2));
  list.run({.name = "moments"}, {x}, m);
  list.run({.name = "normalise"}, {x, m}, y);
  list.during(When::Inference);
  list.run({.name = "fixed"}, {x}, y);
  EXPECT_THROW(list.run({.name = "again"}, {x}, y), Error);
  const auto kernelsOf = [&](const Pass& pass) {
    std::vector<std::string> names;
    for (const Step& step : pass.steps)
      if (step.map >= 0)
        names.push_back(list.kernels()[list.maps()[step.map].object].name);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(kernelsOf(applyPass(list)), (Names{"moments", "normalise"}));
  EXPECT_EQ(kernelsOf(applyPass(list, Order::Overlapped, /*nodes=*/{true}, /*keeps=*/false)),
            (Names{"fixed"}));
  EXPECT_EQ(kernelsOf(tangentPass(list, {true})), (Names{"moments", "normalise"}));
  EXPECT_EQ(kernelsOf(adjointPass(list, {true})), (Names{"normalise", "moments"}));
}

TEST(MapList, BeginsEarlyAndEndsLate) {
  const MapList list = convolution();
  EXPECT_EQ(describe(list, applyPass(list)),
            "     0 begin     weight in its use layout\n"
            "     1 apply     conversion x -> u\n"
            "     2 end       weight in its use layout\n"
            "     3 kernel    conv u -> y' (weight)\n"
            "     4 copy      y' -> y\n"
            "       u [8] S0 + halo of 1 in dim 0, steps 1 to 3, kept\n"
            "       y' [8] S0, steps 3 to 4, in the user's array if contiguous\n");
  EXPECT_EQ(describe(list, adjointPass(list, {true})),
            "     0 copy      d.y -> d.y'\n"
            "     1 adjoint   conv* d.y' -> d.u (weight)\n"
            "     2 begin     conversion* d.u -> d.x\n"
            "     3 gradients conv* d.y' -> 0 +> gradients\n"
            "     4 end       conversion* \n"
            "       d.y' [8] S0, steps 0 to 3, in the user's array if contiguous\n"
            "       d.u [8] S0 + adjoint halo of 1 in dim 0, steps 1 to 4\n");
}

TEST(MapList, OmitsWhatNothingReads) {
  const MapList list = convolution();
  // Without a cotangent of x: the copy of dy, and the gradients of the weight.
  EXPECT_EQ(adjointPass(list, {false}).steps.size(), 2U);
  MapList linear;
  const ValueId x = linear.input("x", line(2));
  linear.apply(OperatorKind::Conversion, x, linear.output("y", line(2)));
  EXPECT_TRUE(adjointPass(linear, {false}).steps.empty());
  const Pass tangent = tangentPass(linear, {false});
  ASSERT_EQ(tangent.steps.size(), 1U);
  EXPECT_EQ(tangent.steps[0].what, Do::Zero);
}

TEST(MapList, RefusesAWriterAfterAReader) {
  MapList list;
  const ValueId x = list.input("x", line(2)), u = list.value("u", line(2));
  list.apply(OperatorKind::Conversion, x, u);
  list.run({.name = "f"}, {u}, list.output("y", line(2)));
  expectError(TENON_ERR_INTERNAL, {"value u", "after it was read"},
              [&] { list.apply(OperatorKind::Conversion, x, u); });
}

TEST(MapList, RefusesASecondKernelThatOverwrites) {
  MapList list;
  const ValueId x = list.input("x", line(2)), u = list.value("u", line(2));
  list.run({.name = "f"}, {x}, u);
  expectError(TENON_ERR_INTERNAL, {"value u", "has a writer"},
              [&] { list.run({.name = "f"}, {x}, u); });
  expectError(TENON_ERR_INTERNAL, {"value u", "has a writer"},
              [&] { list.runPart({.name = "f"}, {x}, u); });
}

TEST(MapList, RefusesMoreInputsThanAKernelMayHave) {
  MapList list;
  const ValueId x = list.input("x", line(2));
  expectError(TENON_ERR_INTERNAL, {"9 inputs", "1 to 8"}, [&] {
    list.run({.name = "f"}, std::vector<ValueId>(9, x), list.output("y", line(2)));
  });
}

} // namespace
} // namespace tenon

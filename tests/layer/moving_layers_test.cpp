// SPDX-License-Identifier: BSD-2-Clause
// Layers that move or select elements: slice, crop, pad, transpose, reshape, pixelshuffle. The
// expected outputs are y[index] = x[source(index)], or 0 if x has no such element (moved()).
// expectOutput() (run_layer.hpp) sets up a layer of a type with these settings, applies it to
// elementsOf(shape of the input) in all layouts with one split, and compares the output on all
// ranks with the given numbers.
#include "run_layer.hpp"

namespace tenon {
namespace {

using test::elementsOf;
using test::expectOutput;
using test::forEachIndex;
using test::onWorld;
using test::placeOf;

using Indices = std::vector<Index>;

// The expected output of a layer that moves elements: y[index] = x[source(index)], or 0 if x has no
// such element. source() changes the index in place.
template <class Source>
std::vector<double> moved(const Shape& in, const Shape& out, Source source) {
  const std::vector<double> x = elementsOf(in);
  std::vector<double> y;
  forEachIndex(out, [&](Shape index) {
    source(index);
    bool inside = true;
    for (std::size_t d = 0; d < in.size(); ++d)
      inside &= index[d] >= 0 && index[d] < in[d];
    y.push_back(inside ? x[placeOf(index, in)] : 0);
  });
  return y;
}

TEST(Slice, KeepsSomeOfADimension) {
  const Shape in = {3, 7, 4};
  expectOutput("slice", {{"dim", Index(1)}, {"begin", Index(1)}, {"step", Index(2)}}, in, {3, 3, 4},
               moved(in, {3, 3, 4}, [](Shape& i) { i[1] = 1 + 2 * i[1]; }));
  expectOutput("slice", {{"dim", Index(0)}, {"begin", Index(-2)}, {"end", Index(-1)}}, in,
               {1, 7, 4}, moved(in, {1, 7, 4}, [](Shape& i) { i[0] += 1; }));
}

TEST(Slice, RefusesAnUnknownDimension) {
  const auto layer = test::layerWith("slice", {{"dim", Index(3)}});
  test::expectErrorOnAll(TENON_ERR_SHAPE, {"dimension 3", "[4,5]"}, [&] {
    layer->setUp(onWorld({4, 5}, "B"));
  });
}

TEST(Crop, KeepsABoxOfSpace) {
  const Shape in = {2, 3, 7, 6};
  expectOutput("crop", {{"offset", Indices{2, 1}}, {"size", Indices{4, 5}}}, in, {2, 3, 4, 5},
               moved(in, {2, 3, 4, 5}, [](Shape& i) {
                 i[2] += 2;
                 i[3] += 1;
               }));
  const auto layer = test::layerWith("crop", {{"offset", Indices{3}}, {"size", Indices{5}}});
  test::expectErrorOnAll(TENON_ERR_SHAPE, {"5 elements from 3", "[2,3,7]", "smaller"}, [&] {
    layer->setUp(onWorld({2, 3, 7}, "B"));
  });
}

TEST(Pad, PutsZerosOrWhatTheBoundarySays) {
  const Shape in = {2, 3, 5, 4};
  expectOutput("pad", {{"padding", Indices{2, -1}}, {"padding_high", Indices{1, 3}}}, in,
               {2, 3, 8, 6}, moved(in, {2, 3, 8, 6}, [](Shape& i) {
                 i[2] -= 2;
                 i[3] += 1;
               }));
  expectOutput("pad", {{"padding", Indices{2, 1}}, {"boundary", std::string("periodic,reflect")}},
               in, {2, 3, 9, 6}, moved(in, {2, 3, 9, 6}, [](Shape& i) {
                 i[2] = (i[2] - 2 + 5) % 5;
                 i[3] = i[3] == 0 ? 1 : i[3] == 5 ? 2 : i[3] - 1;
               }));
  expectOutput("pad", {{"padding", Indices{3, 0}}, {"boundary", std::string("replicate")}}, in,
               {2, 3, 11, 4}, moved(in, {2, 3, 11, 4}, [](Shape& i) {
                 i[2] = std::clamp<Index>(i[2] - 3, 0, 4);
               }));
}

TEST(Transpose, OrdersDimensions) {
  const Shape in = {3, 4, 5};
  expectOutput("transpose", {{"permutation", Indices{2, 0, 1}}}, in, {5, 3, 4},
               moved(in, {5, 3, 4}, [](Shape& i) {
                 i = {i[1], i[2], i[0]};
               }));
  expectError(TENON_ERR_ARG, {"0,2,2", "from 0 to 2 once"}, [] {
    test::layerWith("transpose", {{"permutation", Indices{0, 2, 2}}});
  });
  const auto layer = test::layerWith("transpose", {{"permutation", Indices{1, 0}}});
  test::expectErrorOnAll(TENON_ERR_SHAPE, {"[2,3,4]", "orders 2 dimensions"}, [&] {
    layer->setUp(onWorld({2, 3, 4}, "B"));
  });
}

// The elements in row-major order do not change, for any split: merged and divided dimensions,
// extents of 1, an extent of -1 (the remaining one) or 0 (that of the input), and empty tensors.
TEST(Reshape, KeepsTheRowMajorOrder) {
  const struct {
    Shape in;
    Indices shape;
    Shape out;
  } cases[] = {{{2, 3, 4, 5}, {2, 3, 20}, {2, 3, 20}},
               {{2, 3, 4, 5}, {0, -1}, {2, 60}},
               {{2, 12, 5}, {0, 3, 4, -1}, {2, 3, 4, 5}},
               {{6, 4}, {4, 6}, {4, 6}},
               {{7, 6}, {7, 1, 2, 3}, {7, 1, 2, 3}},
               {{1, 7, 6}, {7, 6}, {7, 6}},
               {{7, 1, 6, 1}, {42}, {42}},
               {{12}, {2, 2, 3}, {2, 2, 3}},
               {{2, 0, 3}, {2, 0}, {2, 0}},
               {{2, 0}, {0, 5, -1}, {2, 5, 0}}};
  for (const auto& c : cases)
    expectOutput("reshape", {{"shape", c.shape}}, c.in, c.out, elementsOf(c.in));
}

// Merged or divided dimensions form a group. A split of the first dimension of a group moves no
// data; another split is removed by a conversion, and a split point that would be inside an index
// of the output's dimension moves to a boundary.
TEST(Reshape, MovesOnlyWhatItsShapeForces) {
  const auto formOf = [](const Shape& in, const char* properties, const Indices& shape,
                         const std::vector<std::vector<Index>>& cuts = {}) {
    const auto declaration = makeDeclaration("reshape");
    declaration->set("shape", shape);
    return declaration->form({Layout({.shape = in,
                                      .grid = Grid::make({3}),
                                      .properties = parseProperties(properties),
                                      .cuts = cuts})},
                             {});
  };
  const auto moves = [](const Form& form) { return !haveSameMemory(form.inputs[0], form.uses[0]); };
  // [6, 4] is merged to [24]: split points of the 6 become those of the 24, times 4. A split of the
  // 4 cannot stay. Dividing 24 into [6, 4], split points move to a multiple of 4.
  EXPECT_FALSE(moves(formOf({2, 6, 4}, "S1", {2, 24})));
  EXPECT_EQ(formOf({2, 6, 4}, "S1", {2, 24}, {{0, 2}, {0, 1, 1, 6}, {0, 4}}).output.cuts(1),
            (std::vector<Index>{0, 4, 4, 24}));
  EXPECT_TRUE(moves(formOf({2, 6, 4}, "S2", {2, 24})));
  EXPECT_EQ(formOf({2, 6, 4}, "S2", {2, 24}).output.property(0), Property::shard(1));
  EXPECT_FALSE(moves(formOf({2, 24}, "S1", {2, 6, 4})));
  const Form moved = formOf({2, 24}, "S1", {2, 6, 4}, {{0, 2}, {0, 9, 15, 24}});
  EXPECT_TRUE(moves(moved));
  EXPECT_EQ(moved.uses[0].cuts(1), (std::vector<Index>{0, 8, 16, 24}));
  EXPECT_EQ(moved.output.cuts(1), (std::vector<Index>{0, 2, 4, 6}));
}

// y[n, c, y r + i, x r + j] = x[n, c r^2 + i r + j, y, x], and likewise in one and three
// dimensions. Splits of space and of channels move no data.
TEST(PixelShuffle, BringsChannelsToSpace) {
  for (const auto& [in, out, r] : {std::tuple(Shape{2, 12, 3, 2}, Shape{2, 3, 6, 4}, Index(2)),
                                   {{1, 6, 4}, {1, 2, 12}, 3},
                                   {{1, 8, 1, 2, 3}, {1, 1, 2, 4, 6}, 2}}) {
    const Index factor = r;
    expectOutput("pixelshuffle", {{"upscale", factor}}, in, out, moved(in, out, [=](Shape& i) {
                   Index channel = i[1];
                   for (std::size_t d = 2; d < i.size(); ++d) {
                     channel = channel * factor + i[d] % factor;
                     i[d] /= factor;
                   }
                   i[1] = channel;
                 }));
  }
  const auto declaration = makeDeclaration("pixelshuffle");
  declaration->set("upscale", Index(2));
  const auto on = [](const Shape& shape, const char* properties) {
    return Layout(
        {.shape = shape, .grid = Grid::make({3}), .properties = parseProperties(properties)});
  };
  EXPECT_TRUE(
      declaration->maps(declaration->form({on({2, 12, 3, 5}, "S3")}, {}), {}).operators().empty());
  EXPECT_TRUE(
      declaration->maps(declaration->form({on({2, 12, 3, 5}, "S1")}, {}), {}).operators().empty());
}

} // namespace
} // namespace tenon

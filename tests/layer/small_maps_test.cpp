// SPDX-License-Identifier: BSD-2-Clause
// Layers that move, select, multiply or normalise elements (slice, pad, coordinates, transpose,
// softmax, broadcasts, reshape, reduce, ...). Each is compared with its definition, written as
// loops over global indices in this file. expectOutput() (run_layer.hpp) sets up a layer of a type
// with these settings, applies it to elementsOf(shape of the input) in all layouts with one split,
// and compares the output on all ranks with the given numbers.
#include "layer/derivatives/derivative_check.hpp"
#include "run_layer.hpp"
#include "support/draws.hpp"
#include "sys/traps.hpp"

namespace tenon {
namespace {

using test::elementsOf;
using test::expectOutput;
using test::forEachIndex;
using test::onWorld;
using test::placeOf;
using test::world;

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

// Channel 3 + s of the output is the coordinate along spatial dimension s, in [0, 1], which is
// dimension 2 + s of the tensor.
TEST(Coordinates, FollowTheChannels) {
  const Shape in = {2, 3, 5, 4}, out = {2, 5, 5, 4};
  using Points = std::function<double(Index i, Index n)>;
  const std::pair<const char*, Points> cases[] = {
      {"cells", [](Index i, Index n) { return (double(i) + 0.5) / double(n); }},
      {"nodes", [](Index i, Index n) { return double(i) / double(n - 1); }},
      {"periodic", [](Index i, Index n) { return double(i) / double(n); }}};
  const std::vector<double> x = elementsOf(in);
  for (const auto& [points, at] : cases) {
    std::vector<double> y;
    forEachIndex(out, [&, &at = at](const Shape& i) {
      y.push_back(i[1] < 3 ? x[placeOf(i, in)] : at(i[i[1] - 1], in[i[1] - 1]));
    });
    expectOutput("coordinates", {{"points", std::string(points)}}, in, out, y);
  }
}

// Without the channels of the input, the output does not depend on it: tangent and cotangent of the
// input are zero.
TEST(Coordinates, AloneDoNotDependOnTheInput) {
  const Shape in = {2, 3, 5, 4}, out = {2, 2, 5, 4};
  std::vector<double> y;
  forEachIndex(out, [&](const Shape& i) {
    y.push_back((double(i[i[1] + 2]) + 0.5) / double(in[i[1] + 2]));
  });
  expectOutput("coordinates", {{"append", false}}, in, out, y);
  test::Step step(test::layerWith("coordinates", {{"append", false}}), onWorld(in, "S1"));
  fillConstant(*step.x, 1);
  fillConstant(*step.dy, 1);
  fillConstant(*step.dx, 7);
  step.apply();
  step.layer->applyTangent(step.x.get(), *step.y);
  EXPECT_EQ(test::localCells(*step.y), std::vector<double>(step.y->localElements(), 0.0));
  step.adjoint();
  EXPECT_EQ(test::localCells(*step.dx), std::vector<double>(step.dx->localElements(), 0.0));
}

// The output is the parameter, whose gradient is the cotangent of the output. A dimension of the
// output is split like the input's dimension of the same number if the extents are equal. The
// input's values are not read: they are NaN here.
TEST(Constant, IsAParameter) {
  const Shape in = {2, 6, 4}, shape = {1, 6, 4};
  for (const std::string& split : test::splitsOf(in))
    for (const TenonDataType type : {TENON_FLOAT64, TENON_FLOAT32}) {
      const auto layer = test::layerWith("constant", {{"shape", shape}, {"value", 0.25}});
      test::Step step(layer, onWorld(in, split), type);
      EXPECT_EQ(step.y->layout(),
                onWorld(shape, split == "S1" || split == "S2" || split == "R" ? split : "B"));
      const auto value = layer->parameters().front();
      EXPECT_EQ(value->name(), "value");
      fillConstant(*step.x, std::nan(""));
      step.apply();
      test::expectNear(test::gathered(*step.y), std::vector<double>(24, 0.25), 0, split);
      layer->clearStack();
      test::fillFrom(value->value(), elementsOf(shape));
      value->valueChanged();
      test::fillFrom(value->tangent(), elementsOf(shape, 2));
      test::fillValid(*step.dy, 3);
      step.apply();
      test::expectNear(test::gathered(*step.y), elementsOf(shape), 1e-6, split);
      step.layer->applyTangent(nullptr, *step.y);
      test::expectNear(test::gathered(*step.y), elementsOf(shape, 2), 1e-6, split);
      fillConstant(*step.dx, 7);
      step.adjoint();
      test::expectNear(test::gathered(value->gradient()), test::gathered(*step.dy), 1e-6, split);
      EXPECT_EQ(test::localCells(*step.dx), std::vector<double>(step.dx->localElements(), 0.0));
    }
}

TEST(Coordinates, OfOneNodeAreZero) {
  std::vector<double> y = elementsOf({1, 2, 1});
  y.push_back(0);
  expectOutput("coordinates", {{"points", std::string("nodes")}}, {1, 2, 1}, {1, 3, 1}, y);
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

TEST(Softmax, SumsToOneAlongItsDimension) {
  for (const auto& [in, dim] : std::vector<std::pair<Shape, Index>>{
           {{3, 5, 4}, 0}, {{3, 5, 4}, 1}, {{3, 5, 4}, 2}, {{7}, 0}}) {
    const std::vector<double> x = elementsOf(in);
    std::vector<double> wanted;
    forEachIndex(in, [&, &in = in, &dim = dim](const Shape& index) {
      double sum = 0;
      Shape other = index;
      for (other[dim] = 0; other[dim] < in[dim]; ++other[dim])
        sum += std::exp(x[placeOf(other, in)]);
      wanted.push_back(std::exp(x[placeOf(index, in)]) / sum);
    });
    expectOutput("softmax", {{"dim", dim}}, in, in, wanted);
  }
}

// The exponentials of these numbers overflow in double precision.
TEST(Softmax, StaysFiniteForLargeNumbers) {
  test::Step step(test::layerWith("softmax", {{"dim", Index(0)}}), onWorld({6}, "S0"));
  test::fillFrom(*step.x, {1000, 999, -4000, 1000, 1001, 0});
  step.apply();
  const double sum = 2 * std::exp(-1) + std::exp(-2) + 1;
  test::expectNear(test::gathered(*step.y),
                   {std::exp(-1) / sum, std::exp(-2) / sum, 0, std::exp(-1) / sum, 1 / sum, 0},
                   1e-15, "softmax");
}

// The place in a broadcast input of the element that an index of the output reads.
Index broadcastPlace(const Shape& index, const Shape& shape) {
  Shape own = index;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == 1)
      own[d] = 0;
  return placeOf(own, shape);
}

// Compares y and the cotangents of both inputs with loops over the output, for inputs that are
// broadcast: a mask [n,1,y,x], a gate [n,c,1,1], an outer product, and others, in random layouts of
// both inputs. of(a, b) returns y and its derivatives with respect to a and b.
void expectBroadcast(const std::string& type, TenonDataType dataType, double tolerance,
                     const std::function<std::array<double, 3>(double, double)>& of) {
  const std::vector<std::pair<Shape, Shape>> shapes = {{{2, 3, 4, 5}, {2, 1, 4, 5}},
                                                       {{2, 3, 1, 1}, {2, 3, 4, 5}},
                                                       {{2, 3, 4, 5}, {1, 3, 1, 1}},
                                                       {{2, 1, 4, 1}, {1, 3, 1, 5}},
                                                       {{2, 3, 4, 5}, {1, 1, 1, 1}},
                                                       {{3, 0, 2}, {3, 1, 2}},
                                                       {{4, 6}, {4, 6}}};
  test::LayoutDraw draw(83);
  for (const auto& [first, second] : shapes)
    for (int i = 0, end = test::draws(12); i < end; ++i) {
      const auto layer = test::layerWith(type, {});
      layer->setDataType(dataType);
      const Layouts inputs = {test::drawInput(draw, first), test::drawInput(draw, second)};
      layer->setUp(inputs);
      const std::string what = type + ": " + inputs[0].describe() + " and " + inputs[1].describe();
      const auto a = test::tensor(inputs[0], dataType), b = test::tensor(inputs[1], dataType),
                 y = test::tensor(layer->outputLayout(inputs), dataType),
                 dy = test::tensor(y->layout().dual(), dataType);
      test::fillValid(*a, 1, 0.5, 2);
      test::fillValid(*b, 2, 0.5, 2);
      test::fillValid(*dy, 3);
      const auto valuesOfA = test::gathered(*a), valuesOfB = test::gathered(*b),
                 seed = test::gathered(*dy);
      std::vector<double> wanted, byA(valuesOfA.size(), 0), byB(valuesOfB.size(), 0);
      forEachIndex(y->layout().shape(), [&, &first = first, &second = second](const Shape& index) {
        const Index atA = broadcastPlace(index, first), atB = broadcastPlace(index, second);
        const auto [value, slopeA, slopeB] = of(valuesOfA[atA], valuesOfB[atB]);
        byA[atA] += seed[wanted.size()] * slopeA;
        byB[atB] += seed[wanted.size()] * slopeB;
        wanted.push_back(value);
      });
      const DTensor* x[] = {a.get(), b.get()};
      layer->apply(Inputs(x), *y);
      ASSERT_NO_FATAL_FAILURE(test::expectNear(test::gathered(*y), wanted, tolerance, what));
      const auto da = test::tensor(inputs[0].dual(), dataType),
                 db = test::tensor(inputs[1].dual(), dataType);
      DTensor* dx[] = {da.get(), db.get()};
      layer->applyAdjoint(*dy, InputCotangents(dx));
      ASSERT_NO_FATAL_FAILURE(test::expectNear(test::gathered(*da), byA, tolerance, what));
      ASSERT_NO_FATAL_FAILURE(test::expectNear(test::gathered(*db), byB, tolerance, what));
      EXPECT_LE(checkLayerAdjoint(*layer, nullptr, 4).relativeError, tolerance) << what;
    }
}

TEST(Broadcast, OfEachTypeIsItsDefinition) {
  for (const auto& [dataType, tolerance] :
       {std::pair(TENON_FLOAT64, 1e-13), {TENON_FLOAT32, 1e-5}}) {
    expectBroadcast("add", dataType, tolerance, [](double a, double b) {
      return std::array{a + b, 1.0, 1.0};
    });
    expectBroadcast("subtract", dataType, tolerance, [](double a, double b) {
      return std::array{a - b, 1.0, -1.0};
    });
    expectBroadcast("multiply", dataType, tolerance, [](double a, double b) {
      return std::array{a * b, b, a};
    });
    expectBroadcast("divide", dataType, tolerance, [](double a, double b) {
      return std::array{a / b, 1 / b, -a / (b * b)};
    });
  }
}

// If the channels of the field are split, each rank needs the whole mask, which therefore is
// replicated (B), and its cotangent is a partial sum (P). No data are moved if the inputs have
// these layouts.
TEST(Broadcast, UsesAnInputOfOneElementEverywhere) {
  const auto declaration = makeDeclaration("multiply");
  const Shape field = {2, 6, 4, 4}, mask = {2, 1, 4, 4};
  const auto on = [](const Shape& shape, const char* properties) {
    return Layout(
        {.shape = shape, .grid = Grid::make({3}), .properties = parseProperties(properties)});
  };
  const Form form = declaration->form({on(field, "S1"), on(mask, "B")}, {});
  EXPECT_EQ(form.output, on(field, "S1"));
  EXPECT_EQ(form.uses[1], on(mask, "B"));
  EXPECT_EQ(form.uses[1].dual(), on(mask, "P"));
  EXPECT_TRUE(declaration->maps(form, {}).operators().empty());
  const Form space = declaration->form({on(mask, "S2"), on(field, "S2")}, {});
  EXPECT_EQ(space.output, on(field, "S2"));
  EXPECT_TRUE(declaration->maps(space, {}).operators().empty());
  EXPECT_EQ(makeDeclaration("add")->form({on(mask, "B"), on(field, "S1")}, {}).output,
            on(field, "S1"));
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

// Values and cotangents of compare and where by their definition, with broadcasting, in random
// layouts of all inputs.
TEST(Selection, ComparesAndChooses) {
  const std::vector<Shape> shapes = {{2, 1, 4}, {2, 3, 4}, {1, 3, 1}};
  const Shape out = {2, 3, 4};
  const std::pair<const char*, std::function<bool(double, double)>> relations[] = {
      {"greater", std::greater<>()}, {"greater_equal", std::greater_equal<>()},
      {"less", std::less<>()},       {"less_equal", std::less_equal<>()},
      {"equal", std::equal_to<>()},  {"not_equal", std::not_equal_to<>()}};
  test::LayoutDraw draw(29);
  for (int i = 0; i < 10; ++i) {
    Layouts inputs;
    std::vector<Ref<DTensor>> x, dx;
    std::vector<const DTensor*> read;
    std::vector<DTensor*> written;
    std::vector<std::vector<double>> whole, want;
    for (const Shape& shape : shapes) {
      inputs.push_back(test::drawInput(draw, shape));
      x.push_back(test::tensor(inputs.back()));
      dx.push_back(test::tensor(inputs.back().dual()));
      // Only the numbers -1, 0 and 1: many are equal, and some are 0.
      std::vector<double> values;
      for (Index e = 0; e < elements(shape); ++e)
        values.push_back(double((e * 7 + static_cast<Index>(shape.size())) % 3 - 1));
      test::fillFrom(*x.back(), values);
      whole.push_back(values);
      want.emplace_back(values.size(), 0.0);
      read.push_back(x.back().get());
      written.push_back(dx.back().get());
    }
    for (const auto& [name, holds] : relations) {
      const auto layer = test::layerWith("compare", {{"relation", std::string(name)}});
      layer->setDataType(TENON_FLOAT64);
      layer->setUp({inputs[1], inputs[2]});
      const auto y = test::tensor(layer->outputLayout());
      const DTensor* two[] = {read[1], read[2]};
      layer->apply(Inputs(two), *y);
      std::vector<double> wanted;
      forEachIndex(out, [&, &holds = holds](const Shape& index) {
        wanted.push_back(holds(whole[1][broadcastPlace(index, shapes[1])],
                               whole[2][broadcastPlace(index, shapes[2])]));
      });
      EXPECT_EQ(test::gathered(*y), wanted) << name;
      DTensor* back[] = {written[1], written[2]};
      const auto dy = test::tensor(y->layout().dual());
      fillConstant(*dy, 1);
      layer->applyAdjoint(*dy, InputCotangents(back));
      EXPECT_EQ(test::gathered(*dx[1]), std::vector<double>(24, 0.0));
    }
    const auto where = test::layerWith("where", {});
    where->setDataType(TENON_FLOAT64);
    where->setUp(inputs);
    const auto y = test::tensor(where->outputLayout()), dy = test::tensor(y->layout().dual());
    test::fillValid(*dy, 4);
    where->apply(Inputs(read), *y);
    where->applyAdjoint(*dy, InputCotangents(written));
    const std::vector<double> seed = test::gathered(*dy);
    std::vector<double> wanted;
    forEachIndex(out, [&](const Shape& index) {
      const int chosen = whole[0][broadcastPlace(index, shapes[0])] != 0 ? 1 : 2;
      const Index at = broadcastPlace(index, shapes[chosen]);
      want[chosen][at] += seed[wanted.size()];
      wanted.push_back(whole[chosen][at]);
    });
    EXPECT_EQ(test::gathered(*y), wanted) << where->describe();
    for (int k = 0; k < 3; ++k)
      test::expectNear(test::gathered(*dx[k]), want[k], 1e-14, where->describe());
  }
}

// With a number instead of the third input: a mask excludes NaN from results and gradients, where a
// product with 0 would be NaN.
TEST(Selection, ANumberStandsForWhatAMaskExcludes) {
  const NoTraps noTraps; // the field has NaN
  const Shape shape = {2, 3, 4}, ofMask = {2, 1, 4};
  test::LayoutDraw draw(31);
  for (int i = 0; i < 8; ++i)
    for (const double otherwise : {0.0, -2.5}) {
      const Layouts inputs = {test::drawInput(draw, ofMask),
                              Layout(test::drawInput(draw, shape).withoutHalos())};
      const auto mask = test::tensor(inputs[0]), x = test::tensor(inputs[1]),
                 dMask = test::tensor(inputs[0].dual()), dx = test::tensor(inputs[1].dual());
      std::vector<double> isWater, field, wanted, gradient;
      for (Index e = 0; e < elements(ofMask); ++e)
        isWater.push_back(double(e % 3 != 0));
      forEachIndex(shape, [&](const Shape& index) {
        const bool counts = isWater[broadcastPlace(index, ofMask)] != 0;
        const double value = double(field.size()) + 1;
        field.push_back(counts ? value : std::numeric_limits<double>::quiet_NaN());
        wanted.push_back(counts ? value : otherwise);
        gradient.push_back(counts ? 1 : 0);
      });
      test::fillFrom(*mask, isWater);
      test::fillFrom(*x, field);
      const auto where = test::layerWith("where", {{"otherwise", otherwise}});
      where->setDataType(TENON_FLOAT64);
      where->setUp(inputs);
      const auto y = test::tensor(where->outputLayout()), dy = test::tensor(y->layout().dual());
      test::fillFrom(*dy, std::vector<double>(24, 1.0));
      const DTensor* read[] = {mask.get(), x.get()};
      DTensor* written[] = {dMask.get(), dx.get()};
      where->apply(Inputs(read), *y);
      where->applyAdjoint(*dy, InputCotangents(written));
      EXPECT_EQ(test::gathered(*y), wanted) << where->describe();
      EXPECT_EQ(test::gathered(*dx), gradient) << where->describe();
    }
}

// Means, sums and maxima against loops. The cotangent of a maximum is divided equally among all
// elements that have the maximal value, or is that of the first of them in row-major order (ties is
// "first"), also if they are on different ranks.
TEST(Reduce, IsItsDefinition) {
  const struct {
    Shape in;
    Indices dims;
  } cases[] = {
      {{3, 4, 5}, {1}}, {{3, 4, 5}, {0, 2}}, {{2, 3, 4, 5}, {3, 2}}, {{7}, {0}}, {{2, 6}, {0, 1}}};
  for (const auto& [in, dims] : cases)
    for (const auto& [method, tied] :
         {std::pair("mean", "shared"), {"sum", "shared"}, {"max", "shared"}, {"max", "first"}})
      for (const bool keeps : {false, true})
        for (const std::string& split : test::splitsOf(in)) {
          const auto layer = test::layerWith("reduce", {{"method", std::string(method)},
                                                        {"dims", dims},
                                                        {"keep_dims", keeps},
                                                        {"ties", std::string(tied)}});
          test::Step step(layer, onWorld(in, split));
          std::vector<double> x = elementsOf(in);
          for (double& value : x)
            value = std::floor(2 * value); // ties
          Shape out;
          double count = 1;
          const auto isReduced = [&, &dims = dims](Index d) {
            return std::ranges::count(dims, d) > 0;
          };
          for (Index d = 0; d < static_cast<Index>(in.size()); ++d)
            if (isReduced(d)) {
              count *= double(in[d]);
              if (keeps)
                out.push_back(1);
            } else
              out.push_back(in[d]);
          if (out.empty())
            out = {1};
          ASSERT_EQ(step.y->layout().shape(), out);
          const auto place = [&, &in = in](const Shape& index) {
            Index at = 0;
            for (Index d = 0; d < static_cast<Index>(in.size()); ++d)
              if (!isReduced(d))
                at = at * in[d] + index[d];
            return at;
          };
          const bool isMaximum = std::string(method) == "max";
          std::vector<double> y(elements(out), isMaximum ? -1e30 : 0), ties(elements(out), 0);
          std::vector<bool> isFound(elements(out)); // the first, if it has all of the cotangent
          forEachIndex(in, [&, &in = in](const Shape& i) {
            const double value = x[placeOf(i, in)];
            double& at = y[place(i)];
            at = isMaximum ? std::max(at, value)
                           : at + value / (method == std::string("mean") ? count : 1);
          });
          forEachIndex(in, [&, &in = in](const Shape& i) {
            ties[place(i)] += x[placeOf(i, in)] == y[place(i)];
          });
          test::fillFrom(*step.x, x);
          test::fillValid(*step.dy, 3);
          const std::vector<double> seed = test::gathered(*step.dy);
          std::vector<double> dx;
          forEachIndex(in, [&, &in = in](const Shape& i) {
            const Index at = place(i);
            const bool hasShare = x[placeOf(i, in)] == y[at] && !isFound[at];
            isFound[at] = tied == std::string("first") && (isFound[at] || hasShare);
            const double shares = tied == std::string("first") ? 1 : ties[at];
            dx.push_back(isMaximum ? (hasShare ? seed[at] / shares : 0)
                                   : seed[at] / (method == std::string("mean") ? count : 1));
          });
          step.apply();
          step.adjoint();
          const std::string what = std::string(method) + " of " + split + ", " + tied;
          test::expectNear(test::gathered(*step.y), y, isMaximum ? 0 : 1e-14, what);
          test::expectNear(test::gathered(*step.dx), dx, 1e-14, what);
          test::fillFrom(*step.x, elementsOf(in));
          EXPECT_LE(checkLayerAdjoint(*layer, step.x.get(), 2).relativeError, 1e-13) << what;
        }
}

// Means and sums over a globe of 4 Gauss rows and 3 longitudes, in dimensions 1 and 2 or 2 and 1,
// and their adjoints, against loops with the quadrature weights. The weights of sums are those
// divided by twice the longitudes: the sum of ones over the globe is 1.
TEST(Reduce, WeightsElementsByArea) {
  constexpr double kRows[] = {0.34785484513745386, 0.65214515486254614, 0.65214515486254614,
                              0.34785484513745386};
  for (const Index latitudes : {1, 2})
    for (const char* method : {"mean", "sum"})
      for (const Indices& dims : {Indices{1, 2}, Indices{latitudes}, Indices{0, latitudes}}) {
        const Shape in = latitudes == 1 ? Shape{2, 4, 3} : Shape{2, 3, 4};
        const auto isReduced = [&](Index d) { return std::ranges::count(dims, d) > 0; };
        const bool isMean = method == std::string("mean");
        const auto share = [&](const Shape& i) {
          double share = kRows[i[latitudes]] / 2 / (isMean ? 1 : 3);
          for (const Index d : dims)
            share /= isMean && d != latitudes ? double(in[d]) : 1;
          return share;
        };
        for (const std::string& split : test::splitsOf(in)) {
          const auto layer = test::layerWith("reduce", {{"method", std::string(method)},
                                                        {"dims", dims},
                                                        {"keep_dims", true},
                                                        {"area", std::string("gauss")},
                                                        {"area_dim", latitudes}});
          test::Step step(layer, onWorld(in, split));
          Shape out = in;
          for (const Index d : dims)
            out[d] = 1;
          const std::vector<double> x = elementsOf(in);
          std::vector<double> y(elements(out), 0), dx;
          test::fillFrom(*step.x, x);
          test::fillValid(*step.dy, 3);
          const std::vector<double> dy = test::gathered(*step.dy);
          forEachIndex(in, [&](const Shape& i) {
            Shape at = i;
            for (Index d = 0; d < 3; ++d)
              at[d] = isReduced(d) ? 0 : i[d];
            y[placeOf(at, out)] += share(i) * x[placeOf(i, in)];
            dx.push_back(share(i) * dy[placeOf(at, out)]);
          });
          step.apply();
          step.adjoint();
          const std::string what = std::string(method) + " of " + split;
          test::expectNear(test::gathered(*step.y), y, 1e-14, what);
          test::expectNear(test::gathered(*step.dx), dx, 1e-14, what);
        }
      }
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

// y = x for x > 0, else w[c] x; dw[c] is the sum of dy x over the elements that are not positive.
TEST(PRelu, HasASlopeForEachChannel) {
  const Shape shape = {2, 3, 5};
  const std::vector<double> x = elementsOf(shape), dy = elementsOf(shape, 5), w = {0.5, -2, 0.25};
  std::vector<double> y, dx, dw(3, 0);
  forEachIndex(shape, [&](const Shape& i) {
    const Index at = placeOf(i, shape);
    y.push_back(x[at] > 0 ? x[at] : w[i[1]] * x[at]);
    dx.push_back(x[at] > 0 ? dy[at] : w[i[1]] * dy[at]);
    dw[i[1]] += x[at] > 0 ? 0 : dy[at] * x[at];
  });
  for (const std::string& split : test::splitsOf(shape)) {
    test::Step step(test::layerWith("prelu", {{"channels", Index(3)}}), onWorld(shape, split));
    const auto weight = step.layer->parameters().front();
    EXPECT_EQ(weight->name(), "weight");
    EXPECT_EQ(weight->initial(), 0.25);
    test::fillFrom(weight->value(), w);
    weight->valueChanged();
    test::fillFrom(*step.x, x);
    test::fillFrom(*step.dy, dy);
    step.apply();
    step.adjoint();
    test::expectNear(test::gathered(*step.y), y, 1e-15, split);
    test::expectNear(test::gathered(*step.dx), dx, 1e-15, split);
    test::expectNear(test::gathered(weight->gradient()), dw, 1e-14, split);
  }
}

TEST(Multiply, IsTheProductAndItsDerivative) {
  const Shape shape = {4, 6};
  for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{
           {"S0", "S1"}, {"B", "S0"}, {"R", "B"}, {"S1", "P"}, {"P", "B"}}) {
    const auto layer = test::layerWith("multiply", {});
    layer->setDataType(TENON_FLOAT64);
    const Layouts inputs = {onWorld(shape, first), onWorld(shape, second)};
    layer->setUp(inputs);
    const auto a = test::tensor(inputs[0]), b = test::tensor(inputs[1]),
               y = test::tensor(layer->outputLayout(inputs));
    test::fillValid(*a, 1);
    test::fillValid(*b, 2);
    const DTensor* x[] = {a.get(), b.get()};
    layer->apply(Inputs(x), *y);
    const auto valuesOfA = test::gathered(*a), valuesOfB = test::gathered(*b);
    std::vector<double> wanted;
    for (std::size_t i = 0; i < valuesOfA.size(); ++i)
      wanted.push_back(valuesOfA[i] * valuesOfB[i]);
    const std::string what = first + " times " + second;
    test::expectNear(test::gathered(*y), wanted, 1e-14, what);

    const auto dy = test::tensor(y->layout().dual()), da = test::tensor(inputs[0].dual()),
               db = test::tensor(inputs[1].dual());
    test::fillValid(*dy, 3);
    const auto seed = test::gathered(*dy);
    DTensor* dx[] = {da.get(), db.get()};
    layer->applyAdjoint(*dy, InputCotangents(dx));
    std::vector<double> byA, byB;
    for (std::size_t i = 0; i < seed.size(); ++i) {
      byA.push_back(seed[i] * valuesOfB[i]);
      byB.push_back(seed[i] * valuesOfA[i]);
    }
    test::expectNear(test::gathered(*da), byA, 1e-14, what + ", by the first");
    test::expectNear(test::gathered(*db), byB, 1e-14, what + ", by the second");
  }
  const auto layer = test::layerWith("multiply", {});
  test::expectErrorOnAll(TENON_ERR_SHAPE, {"equal shape", "[4,6]", "[6,4]"}, [&] {
    layer->setUp(Layouts{onWorld({4, 6}, "B"), onWorld({6, 4}, "B")});
  });
}

} // namespace
} // namespace tenon

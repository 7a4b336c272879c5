// SPDX-License-Identifier: BSD-2-Clause
// Layers of two or three inputs whose shapes are broadcast: add, multiply, comparisons and
// selection, prelu. The expected outputs and cotangents are loops over the output in which an input
// of extent 1 is read at index 0 (broadcastPlace()).
#include "layer/derivatives/derivative_check.hpp"
#include "run_layer.hpp"
#include "support/draws.hpp"
#include "sys/traps.hpp"

#include <functional>

namespace tenon {
namespace {

using test::elementsOf;
using test::forEachIndex;
using test::onWorld;
using test::placeOf;

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

// The split of the field stays: only an input in B is changed, of which each rank has all blocks.
// An empty batch has the layouts of others, and two inputs in B keep theirs.
TEST(Broadcast, FollowsTheInputThatWouldBeSent) {
  const auto declaration = makeDeclaration("multiply");
  const auto on = [](const Shape& shape, const char* property) {
    return Layout(
        {.shape = shape, .grid = Grid::make({3}), .properties = parseProperties(property)});
  };
  const auto expectOutput = [&](const Layout& a, const Layout& b, const char* property) {
    for (const Layouts& inputs : {Layouts{a, b}, Layouts{b, a}}) {
      const Form form = declaration->form(inputs, {});
      EXPECT_EQ(form.output, on(form.output.shape(), property));
      const MapList maps = declaration->maps(form, {});
      for (const OperatorEntry& change : maps.operators())
        EXPECT_EQ(change.from.property(0), Property::broadcast());
    }
  };
  expectOutput(on({1, 1, 8, 6}, "S2"), on({1, 16, 8, 1}, "B"), "S2");
  expectOutput(on({2, 4, 8, 6}, "B"), on({2, 4, 8, 1}, "S2"), "S2");
  expectOutput(on({2, 4, 8, 6}, "B"), on({2, 4, 1, 1}, "B"), "B");
  for (const Index batch : {0, 2})
    expectOutput(on({batch, 4, 8, 6}, "S2"), on({batch, 4, 1, 1}, "B"), "S2");
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

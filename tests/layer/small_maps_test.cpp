// SPDX-License-Identifier: BSD-2-Clause
// Layers that move, multiply or normalise elements: against their definitions in plain loops.
#include "run_layer.hpp"

namespace tenon {
namespace {

using test::elementsOf;
using test::expectOutput;
using test::forEachIndex;
using test::onWorld;
using test::placeOf;
using test::world;

using Indices = std::vector<Index>;

// y[index] = x[source(index)], 0 where there is none.
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

TEST(Slice, RefusesADimensionThatThereIsNot) {
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

// Exponentials of such numbers are beyond double.
TEST(Softmax, StaysFiniteForLargeNumbers) {
  test::Step step(test::layerWith("softmax", {{"dim", Index(0)}}), onWorld({6}, "S0"));
  test::fillFrom(*step.x, {1000, 999, -4000, 1000, 1001, 0});
  step.apply();
  const double sum = 2 * std::exp(-1) + std::exp(-2) + 1;
  test::expectNear(test::gathered(*step.y),
                   {std::exp(-1) / sum, std::exp(-2) / sum, 0, std::exp(-1) / sum, 1 / sum, 0},
                   1e-15, "softmax");
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

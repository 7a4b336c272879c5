// SPDX-License-Identifier: BSD-2-Clause
// Layers whose outputs do not depend on the values of an input: coordinates of grid points, and a
// constant, which is a parameter. The expected outputs are computed from global indices.
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

} // namespace
} // namespace tenon

// SPDX-License-Identifier: BSD-2-Clause
// Names and parameters of pointwise layers. The functions themselves are tested in tests/kernels,
// and their derivatives by the tests of all layers.
#include "run_layer.hpp"

#include "declaration/core/types.hpp"
#include "declaration/types/pointwise.hpp"
#include "kernels/functors/pointwise.hpp"
#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"

namespace tenon {
namespace {

using test::onWorld;
using test::world;

// f(-2).
double valueAtMinusTwo(const Ref<Layer>& layer) {
  test::Step step(layer, onWorld({4}, "B"));
  fillConstant(*step.x, -2);
  step.apply();
  return test::localCells(*step.y).front();
}

TEST(PointwiseLayer, IsFoundByItsName) {
  for (const char* name :
       {"relu",  "tanh",       "sigmoid", "leakyrelu", "elu",      "gelu",  "gelutanh",
        "silu",  "softplus",   "exp",     "sine",      "cosine",   "clamp", "abs",
        "sqrt",  "reciprocal", "power",   "log",       "softsign", "mish",  "hardswish",
        "selu",  "celu",       "tan",     "asin",      "acos",     "atan",  "sinh",
        "cosh",  "asinh",      "acosh",   "atanh",     "erf",      "floor", "ceil",
        "round", "scale",      "identity"})
    EXPECT_EQ(test::newPointwise(world(), name)->type(), name);
  expectError(TENON_ERR_TYPE, {"'gellu'", "'gelu'", "softplus"},
              [] { test::newPointwise(world(), "gellu"); });
}

// The declaration, which has no kernels, states the same.
TEST(PointwiseLayer, KeepsWhatItsDerivativeReads) {
  for (const std::string& name : pointwiseNames()) {
    const auto declaration = makeDeclaration(name);
    if (name == "clamp")
      declaration->set("low", 0.0);
    const Form form = declaration->form({onWorld({4}, "B")}, {});
    const KernelEntry kernel = declaration->maps(form, {}).kernels().front();
    const auto reads = pointwise::withFunction(pointwiseFunction(name, *declaration),
                                               [](auto function) { return function.kReads; });
    EXPECT_EQ(kernel.savesInputs, reads == pointwise::Reads::Argument) << name;
    EXPECT_EQ(kernel.savesOutput, reads == pointwise::Reads::Value) << name;
  }
}

TEST(PointwiseLayer, HasDefaultsThatMayBeSet) {
  const auto leaky = test::newPointwise(world(), "leakyrelu");
  EXPECT_EQ(valueAtMinusTwo(leaky), -0.02);
  EXPECT_EQ(valueAtMinusTwo(test::newPointwise(world(), "scale")), -2);
  const auto set = test::newPointwise(world(), "leakyrelu");
  set->set("slope", 0.25);
  EXPECT_EQ(valueAtMinusTwo(set), -0.5);
  EXPECT_NE(set->describe().find("slope 0.25"), std::string::npos) << set->describe();
  expectError(TENON_ERR_STATE, {"set up"}, [&] { set->set("slope", 0.5); });
}

// clamp needs one bound or two; without bounds it would be the identity.
TEST(PointwiseLayer, ClampHasOneEndOrTwo) {
  const auto below = test::newPointwise(world(), "clamp"),
             above = test::newPointwise(world(), "clamp");
  below->set("low", -1.5);
  EXPECT_EQ(valueAtMinusTwo(below), -1.5);
  above->set("high", -3.0);
  EXPECT_EQ(valueAtMinusTwo(above), -3);
  EXPECT_NE(above->describe().find("high -3"), std::string::npos) << above->describe();
  const auto none = test::newPointwise(world(), "clamp");
  test::expectErrorOnAll(TENON_ERR_STATE, {"neither a low nor a high"},
                         [&] { none->setUp(onWorld({4}, "B")); });
  none->set("low", 2.0);
  none->set("high", 1.0);
  test::expectErrorOnAll(TENON_ERR_ARG, {"low", "2", "above high", "1"},
                         [&] { none->setUp(onWorld({4}, "B")); });
  none->set("low", -3.0); // both bounds change, in either order
  none->set("high", -2.5);
  EXPECT_EQ(valueAtMinusTwo(none), -2.5);
}

// If the input is in partial sums, the shift is added to their sum once, not to each contribution.
TEST(PointwiseLayer, ShiftIsAddedOnce) {
  const auto layer = test::newPointwise(world(), "scale");
  layer->set("factor", 2.0);
  layer->set("shift", 0.5);
  test::Step step(layer, onWorld({4}, "P"));
  fillConstant(*step.x, 3);
  step.apply();
  test::expectNear(test::gathered(*step.y), std::vector<double>(4, 6.5), 1e-15, "shifted");
  EXPECT_NE(layer->describe().find("factor 2, shift 0.5"), std::string::npos) << layer->describe();
}

TEST(PointwiseLayer, ReadsOptions) {
  options().set("-tenon_act_slope", "0.5");
  options().set("-tenon_factor", "3");
  const auto leaky = test::newPointwise(world(), "leakyrelu");
  const auto scale = test::newPointwise(world(), "scale");
  leaky->setPrefix("act_");
  leaky->setFromOptions();
  scale->setFromOptions();
  options().clear();
  EXPECT_EQ(valueAtMinusTwo(leaky), -1);
  EXPECT_EQ(valueAtMinusTwo(scale), -6);
}

// y = x s(t), t = tanh x, where s stops gradients: dx = t dy, and the adjoint does not run tanh.
TEST(StopGradient, PassesValuesButNoDerivative) {
  for (const std::string split : {"S0", "S1", "B", "P"}) {
    auto graph = test::newLayer(world(), "graph");
    const int bent = addGraphNode(*graph, test::newPointwise(world(), "tanh"), {-1}),
              stopped = addGraphNode(*graph, test::newLayer(world(), "stopgradient"), {bent});
    addGraphNode(*graph, test::newLayer(world(), "multiply"), {-1, stopped});
    test::Step step(graph, onWorld({4, 6}, split));
    std::vector<double> x = test::elementsOf({4, 6}), y, dx, seed(x.size(), 3);
    for (const double value : x) {
      y.push_back(value * std::tanh(value));
      dx.push_back(3 * std::tanh(value));
    }
    test::fillFrom(*step.x, x);
    test::fillFrom(*step.dy, seed);
    step.apply();
    step.adjoint();
    test::expectNear(test::gathered(*step.y), y, 1e-14, split.c_str());
    test::expectNear(test::gathered(*step.dx), dx, 1e-14, split.c_str());
    const MapList& list = graph->setup({step.x->layout()}).network().list();
    for (const Step& done : adjointPass(list, {true}).steps)
      EXPECT_FALSE(done.what == Do::Adjoint &&
                   list.kernels()[list.maps()[done.map].object].name == "tanh");
  }
}

// Alone it is a copy, of partial sums too, and the cotangent of its input is 0.
TEST(StopGradient, AloneHasTheDerivativeZero) {
  test::Step step(test::newLayer(world(), "stopgradient"), onWorld({5}, "P"));
  fillConstant(*step.x, 3);
  test::fillValid(*step.dy, 2);
  fillConstant(*step.dx, 7);
  step.apply();
  step.adjoint();
  EXPECT_EQ(step.y->layout(), step.x->layout());
  EXPECT_EQ(test::gathered(*step.y), std::vector<double>(5, 3));
  EXPECT_EQ(test::gathered(*step.dx), std::vector<double>(5, 0));
}

TEST(PointwiseLayer, RefusesSettingsThatItDoesNotHave) {
  const auto relu = test::newPointwise(world(), "relu");
  expectError(TENON_ERR_TYPE, {"relu", "slope"}, [&] { relu->set("slope", double(1)); });
  const auto scale = test::newPointwise(world(), "scale");
  expectError(TENON_ERR_TYPE, {"scale", "slope"}, [&] { scale->set("slope", double(1)); });
  expectError(TENON_ERR_ARG, {"factor", "finite"}, [&] { scale->set("factor", std::nan("")); });
}

} // namespace
} // namespace tenon

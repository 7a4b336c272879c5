// SPDX-License-Identifier: BSD-2-Clause
// The Jacobian of a layer as a linear operator: it has the results of the layer's tangent and
// adjoint, passes the dot test and the Taylor test, and does not affect the layer's pending
// evaluations and gradients, nor do these affect it.
#include "layer/derivatives/jacobian.hpp"

#include "dtensor/measure.hpp"
#include "layer_run.hpp"
#include "linop/algebra/adjoint_test.hpp"
#include "sys/expect_error.hpp"

namespace tenon {
namespace {

using test::gathered;
using test::LayerCase;
using test::LayoutDraw;
using test::onWorld;
using test::tensor;
using test::world;

// The Jacobian of a layer at the point x.
Ref<Jacobian> jacobianAt(const Ref<Layer>& layer, const DTensor& x) {
  auto made = makeRef<Jacobian>(layer, x);
  made->setPoint(x);
  return made;
}

// Sets all elements of all tangents of parameters to a value.
void setTangents(Layer& layer, double value) {
  for (const auto& p : layer.parameters())
    fillConstant(p->tangent(), value);
}

std::vector<std::vector<double>> gradientsOf(const Layer& layer) {
  std::vector<std::vector<double>> all;
  for (const auto& p : layer.parameters())
    all.push_back(gathered(p->gradient()));
  return all;
}

class JacobianOf : public testing::TestWithParam<LayerCase> {};

TEST_P(JacobianOf, LayerIsItsTangentAndItsAdjoint) {
  if (world()->size() > 4)
    GTEST_SKIP() << "at most 4 ranks";
  LayoutDraw draw(31);
  for (int i = 0; i < (world()->size() < 3 ? 2 : 1); ++i) {
    const Ref<Layer> layer = GetParam().make(world());
    layer->setDataType(TENON_FLOAT64);
    test::Step step(layer, test::drawInput(draw, GetParam().input));
    if (!layer->ownStates().empty())
      GTEST_SKIP() << "has running moments, and no Jacobian";
    test::fillParameters(*layer);
    test::fillValid(*step.x, 1);
    const Ref<Jacobian> jacobian = jacobianAt(layer, *step.x);
    EXPECT_EQ(layer->stackSize(), 0);
    const auto dx = tensor(step.x->layout()), got = tensor(step.y->layout()),
               want = tensor(step.y->layout()), back = tensor(step.dx->layout());
    test::fillValid(*dx, 2);
    test::fillValid(*step.dy, 3);
    step.apply();
    layer->applyTangent(dx.get(), *want);
    setTangents(*layer, 0.75); // the operator must ignore tangents of parameters
    jacobian->apply(*dx, *got);
    jacobian->applyAdjoint(*step.dy, *back);
    EXPECT_EQ(test::localCells(*got), test::localCells(*want)) << GetParam().name;
    for (const auto& p : layer->parameters())
      EXPECT_EQ(maxAbsolute(p->gradient()), 0) << GetParam().name;
    EXPECT_EQ(layer->stackSize(), 1);
    step.adjoint();
    EXPECT_EQ(test::localCells(*back), test::localCells(*step.dx)) << GetParam().name;
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, JacobianOf, testing::ValuesIn(test::layerCases()),
                         [](const auto& info) { return info.param.name; });

Ref<Layer> netOfDepthTwo() {
  const auto net = test::residualNet(world());
  net->setDataType(TENON_FLOAT64);
  net->set("stack_depth", Index(2));
  net->setUp(onWorld({2, 3, 6, 8}, "S3"));
  return net;
}

TEST(Jacobian, PassesTheDotTestAndTheTaylorTest) {
  const Ref<Layer> net = netOfDepthTwo();
  const auto x = tensor(net->inputLayout()), dx = tensor(net->inputLayout()),
             f = tensor(net->outputLayout()), tangent = tensor(net->outputLayout()),
             y = tensor(net->outputLayout());
  test::fillValid(*x, 1);
  test::fillValid(*dx, 2);
  const Ref<Jacobian> jacobian = jacobianAt(net, *x);
  const AdjointTestResult dots = testAdjoint(*jacobian, 5, /*integers=*/false);
  EXPECT_LE(dots.relativeError, 1e-13);
  EXPECT_NE(dots.forwardPairing, 0);

  jacobian->apply(*dx, *tangent);
  net->setTraining(false);
  net->apply(*x, *f);
  // The remainder f(x + h dx) - f(x) - h J dx falls with h^2, so half of h leaves a quarter of it.
  double before = 0;
  for (double h = 2e-3; h > 4e-4; h /= 2) {
    axpby(h, *dx, 1, *x);
    net->apply(*x, *y);
    axpby(-h, *dx, 1, *x);
    axpby(-1, *f, 1, *y);
    axpby(-h, *tangent, 1, *y);
    const double remainder = rawNorm(*y);
    if (before > 0) {
      EXPECT_NEAR(std::log2(before / remainder), 2, 0.05) << "at h = " << h;
    }
    before = remainder;
  }
}

TEST(Jacobian, TakesFactors) {
  const Ref<Layer> net = netOfDepthTwo();
  const auto x = tensor(net->inputLayout()), y = tensor(net->outputLayout()),
             plain = tensor(net->outputLayout());
  test::fillValid(*x, 1);
  const Ref<Jacobian> jacobian = jacobianAt(net, *x);
  jacobian->apply(*x, *plain);
  fillConstant(*y, 3);
  jacobian->apply(-2, *x, 0.5, *y);
  std::vector<double> want = test::localCells(*plain);
  for (double& w : want)
    w = 1.5 - 2 * w;
  EXPECT_EQ(test::localCells(*y), want);
}

// The gradients after two pending evaluations and their adjoints. If `withJacobian`, a Jacobian is
// applied before and between all calls.
std::vector<std::vector<double>> gradientsTrained(bool withJacobian) {
  const Ref<Layer> net = netOfDepthTwo();
  test::Step step(net, net->inputLayout());
  const auto other = tensor(net->inputLayout()), scratch = tensor(net->outputLayout()),
             second = tensor(net->outputLayout());
  test::fillValid(*step.x, 1);
  test::fillValid(*other, 2);
  test::fillValid(*step.dy, 3);
  const Ref<Jacobian> jacobian = withJacobian ? jacobianAt(net, *other) : Ref<Jacobian>();
  const auto between = [&] {
    if (!jacobian)
      return;
    jacobian->apply(*other, *scratch);
    jacobian->applyAdjoint(*step.dy, *step.dx);
    jacobian->setPoint(*step.x);
  };
  for (int i = 0; i < 2; ++i) {
    between();
    net->apply(i == 0 ? *step.x : *other, i == 0 ? *step.y : *second);
  }
  for (int i = 0; i < 2; ++i) {
    between();
    net->applyAdjoint(*step.dy, nullptr);
  }
  between();
  return gradientsOf(*net);
}

TEST(Jacobian, LeavesPendingEvaluationsAndGradientsAlone) {
  const auto want = gradientsTrained(false);
  ASSERT_FALSE(want.empty());
  EXPECT_EQ(gradientsTrained(true), want);
}

TEST(Jacobian, WantsItsPointAnewAfterAStepOfTheParameters) {
  const Ref<Layer> net = netOfDepthTwo();
  const auto x = tensor(net->inputLayout()), y = tensor(net->outputLayout()),
             want = tensor(net->outputLayout());
  test::fillValid(*x, 1);
  const Ref<Jacobian> jacobian = jacobianAt(net, *x);
  scaleArray(1.5, net->parameters()[0]->value());
  net->parameters()[0]->valueChanged();
  expectError(
      TENON_ERR_STATE,
      {"\"weight\"", "was changed after the point", "JacobianSetPoint", "TenonPetscMatSetPoint"},
      [&] { jacobian->apply(*x, *y); });
  jacobian->setPoint(*x);
  jacobian->apply(*x, *y);
  net->apply(*x, *want);
  net->applyTangent(x.get(), *want);
  EXPECT_EQ(test::localCells(*y), test::localCells(*want));
}

// affine(tanh(affine(x))) in two nested containers; `recomputing` is the number of the container,
// counted from the outermost, that recomputes its activations (-1: none does).
Ref<Layer> netWithSegment(int recomputing) {
  const auto net = test::newLayer(world(), "sequential"),
             inner = test::newLayer(world(), "sequential");
  net->set("recompute", recomputing == 0);
  inner->set("recompute", recomputing == 1);
  appendLayer(*inner, test::newAffine(world(), 6, 5));
  appendLayer(*inner, test::newPointwise(world(), "tanh"));
  appendLayer(*net, inner);
  appendLayer(*net, test::newAffine(world(), 5, 3));
  net->setDataType(TENON_FLOAT64);
  net->setUp(onWorld({4, 6}, "S0"));
  net->initialize(test::kSeed, 3);
  return net;
}

// J dx and J* dy, with tangents of the parameters set, which must not matter.
std::vector<std::vector<double>> appliedBothWays(const Ref<Layer>& net) {
  test::Step step(net, net->inputLayout());
  const auto dx = tensor(net->inputLayout());
  test::fillValid(*step.x, 1);
  test::fillValid(*dx, 2);
  test::fillValid(*step.dy, 3);
  setTangents(*net, 100);
  const Ref<Jacobian> jacobian = jacobianAt(net, *step.x);
  jacobian->apply(*dx, *step.y);
  jacobian->applyAdjoint(*step.dy, *step.dx);
  return {test::localCells(*step.y), test::localCells(*step.dx)};
}

TEST(Jacobian, TakesTheParametersOfRecomputedLayersAsConstants) {
  const auto want = appliedBothWays(netWithSegment(-1));
  for (int recomputing : {0, 1}) {
    const Ref<Layer> net = netWithSegment(recomputing);
    EXPECT_EQ(appliedBothWays(net), want) << recomputing;
    for (const auto& p : net->parameters())
      EXPECT_EQ(maxAbsolute(p->gradient()), 0) << recomputing;
  }
}

TEST(Jacobian, WantsItsPointAnewAfterAStepOfRecomputedParameters) {
  for (int recomputing : {0, 1}) {
    const Ref<Layer> net = netWithSegment(recomputing);
    const auto x = tensor(net->inputLayout()), y = tensor(net->outputLayout());
    const Ref<Jacobian> jacobian = jacobianAt(net, *x);
    net->parameters()[0]->value().mutableData<double>();
    expectError(TENON_ERR_STATE, {"\"weight\"", "JacobianSetPoint"},
                [&] { jacobian->apply(*x, *y); });
  }
}

TEST(Jacobian, HoldsThePointAndTheLayer) {
  Ref<Layer> net = netOfDepthTwo();
  auto x = tensor(net->inputLayout());
  const auto dx = tensor(net->inputLayout()), y = tensor(net->outputLayout()),
             again = tensor(net->outputLayout());
  test::fillValid(*x, 1);
  test::fillValid(*dx, 2);
  const Ref<Jacobian> jacobian = jacobianAt(net, *x);
  jacobian->apply(*dx, *y);
  fillConstant(*x, 7);
  x = {};
  net = {};
  jacobian->apply(*dx, *again);
  EXPECT_EQ(test::localCells(*again), test::localCells(*y));
}

// With fixed statistics a batch normalisation has a Jacobian; statistics of the batch would change
// at the next evaluation.
TEST(Jacobian, OfATrainedBatchNormalisationIsItsScale) {
  const auto moments = test::newLayer(world(), "sequential");
  const auto normalisation = test::newLayer(world(), "batchnorm");
  normalisation->set("channels", Index(6));
  normalisation->set("statistics", std::string("running"));
  appendLayer(*moments, normalisation);
  moments->setDataType(TENON_FLOAT64);
  const Layout layout = onWorld({4, 6}, "S0");
  moments->setUp(layout);
  const auto x = tensor(layout), dx = tensor(layout), dy = tensor(moments->outputLayout());
  test::fillValid(*x, 1);
  test::fillValid(*dx, 2);
  const Ref<Jacobian> jacobian = jacobianAt(moments, *x);
  jacobian->apply(*dx, *dy);
  std::vector<double> wanted = test::localCells(*dx); // by mean 0, variance 1, epsilon 1e-5
  for (double& value : wanted)
    value /= std::sqrt(1 + 1e-5);
  test::expectNear(test::localCells(*dy), wanted, 1e-14, "tangent");
  jacobian->applyAdjoint(*dx, *dy);
  test::expectNear(test::localCells(*dy), wanted, 1e-14, "adjoint");
}

TEST(Jacobian, IsRefusedWhereThereIsNone) {
  const auto x = tensor(onWorld({4, 6}, "S0"));
  test::fillValid(*x, 1);
  const auto affine = test::newAffine(world(), 6, 2);
  affine->setDataType(TENON_FLOAT64);
  expectError(TENON_ERR_STATE, {"is not set up"}, [&] { jacobianAt(affine, *x); });
  affine->setUp(x->layout());
  const auto narrow = tensor(onWorld({4, 5}, "S0"));
  expectError(TENON_ERR_SHAPE, {"is set up for"}, [&] { jacobianAt(affine, *narrow); });
  const auto single = tensor(x->layout(), TENON_FLOAT32);
  expectError(TENON_ERR_DATATYPE, {"point"}, [&] { jacobianAt(affine, *single); });

  const auto net = test::newLayer(world(), "sequential");
  appendLayer(*net, test::newDropout(world()));
  net->setDataType(TENON_FLOAT64);
  net->setUp(x->layout());
  expectError(TENON_ERR_SUPPORT, {"dropout", "inference"}, [&] { jacobianAt(net, *x); });
  net->setTraining(false);
  const Ref<Jacobian> identity = jacobianAt(net, *x);
  const auto y = tensor(x->layout());
  identity->apply(*x, *y);
  EXPECT_EQ(test::localCells(*y), test::localCells(*x));
  net->setTraining(true);
  expectError(TENON_ERR_SUPPORT, {"dropout"}, [&] { identity->setPoint(*x); });
  const auto moments = test::newLayer(world(), "sequential");
  const auto normalisation = test::newLayer(world(), "batchnorm");
  normalisation->set("channels", Index(6));
  appendLayer(*moments, normalisation);
  moments->setDataType(TENON_FLOAT64);
  moments->setUp(x->layout());
  expectError(TENON_ERR_SUPPORT, {"batch normalisation"}, [&] { jacobianAt(moments, *x); });
  moments->setTraining(false);
  const Ref<Jacobian> trained = jacobianAt(moments, *x);
  const auto direction = tensor(x->layout());
  test::fillValid(*direction, 2);
  trained->apply(*direction, *y);
  std::vector<double> wanted = test::localCells(*direction); // by mean 0, variance 1
  for (double& value : wanted)
    value /= std::sqrt(1 + 1e-5);
  test::expectNear(test::localCells(*y), wanted, 1e-14, "tangent in inference");
  const auto sum = test::newLayer(world(), "add");
  sum->setDataType(TENON_FLOAT64);
  sum->setUp(Layouts{x->layout(), x->layout()});
  expectError(TENON_ERR_SUPPORT, {"2 inputs"}, [&] { jacobianAt(sum, *x); });
}

} // namespace
} // namespace tenon

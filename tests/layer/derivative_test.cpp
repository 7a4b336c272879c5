// SPDX-License-Identifier: BSD-2-Clause
// The adjoint of every layer (layer_cases.hpp) is that of its Jacobian, in float64 and random
// layouts:
//
//   dot test     <J (dx, dp), dy> = <dx, J* dy> + sum over p of <dp, gradient_p>
//   Taylor test  | f(x + h dx, p + h dp) - f(x, p) - h J (dx, dp) |  decreases as h^2
//
// The dot test alone does not detect a tangent and an adjoint with the same error; the Taylor test
// alone does not test the adjoint. p are the parameters, and <,> are inner products over all ranks.
#include "dtensor/measure.hpp"
#include "layer_run.hpp"

#include <set>

namespace tenon {
namespace {

using test::LayerCase;
using test::LayoutDraw;
using test::Smoothness;

class Derivative : public testing::TestWithParam<LayerCase> {
protected:
  // Sets up the layer for a random layout, applies it at a random point, and draws a direction (dx,
  // dp).
  test::Step drawStep(LayoutDraw& draw, bool atRoot) {
    const Ref<Layer> layer = GetParam().make(test::world());
    layer->setDataType(TENON_FLOAT64);
    layer->setStackDepth(2);
    if (atRoot)
      layer->setText("storage", "root");
    test::Step step(layer, test::drawInput(draw, GetParam().input));
    test::fillParameters(*layer);
    test::fillValid(*step.x, 1);
    step.apply();
    return step;
  }

  static void fillTangents(Layer& layer) {
    std::uint64_t stream = 10;
    for (const auto& p : layer.parameters())
      test::fillValid(p->tangent(), ++stream);
  }
  static void clearTangents(Layer& layer) {
    for (const auto& p : layer.parameters())
      p->clearTangent();
  }
};

void addScaled(DTensor& y, double a, const DTensor& x) {
  double* out = y.mutableData<double>();
  for (Index i = 0; i < x.localElements(); ++i)
    out[i] += a * x.data<double>()[i];
}

// Two pairings that should be equal, and a scale for their difference.
struct Pairs {
  double left = 0, right = 0, scale = 0;
};

void expectEqual(const Pairs& pairs, const std::string& what) {
  EXPECT_LE(std::abs(pairs.left - pairs.right), 1e-12 * pairs.scale) << what;
}

TEST_P(Derivative, TangentAndAdjointArePaired) {
  LayoutDraw draw(21);
  for (int i = 0; i < 12; ++i) {
    test::Step step = drawStep(draw, i % 3 == 1);
    Layer& layer = *step.layer;
    const std::string what = GetParam().name + " on " + step.x->layout().describe();
    const auto dx = test::tensor(step.x->layout()), jx = test::tensor(step.y->layout()),
               jp = test::tensor(step.y->layout()), both = test::tensor(step.y->layout());
    test::fillValid(*dx, 2);
    test::fillValid(*step.dy, 3);
    layer.applyTangent(dx.get(), *jx);
    fillTangents(layer);
    layer.applyTangent(nullptr, *jp);
    layer.applyTangent(dx.get(), *both);
    step.adjoint();

    Pairs input{pairing(*jx, *step.dy), pairing(*dx, *step.dx), 0};
    input.scale = std::max(rawNorm(*jx) * rawNorm(*step.dy), rawNorm(*dx) * rawNorm(*step.dx));
    // Layers that do not depend on their input, or whose derivative is 0.
    static const std::set<std::string> flat = {"ceil", "constant", "floor", "round",
                                               "stopgradient"};
    EXPECT_TRUE(input.scale > 0 || flat.contains(GetParam().name)) << what;
    Pairs parameters{pairing(*jp, *step.dy), 0, rawNorm(*jp) * rawNorm(*step.dy)};
    for (const auto& p : layer.parameters()) {
      parameters.right += pairing(p->tangent(), p->gradient());
      parameters.scale += rawNorm(p->tangent()) * rawNorm(p->gradient());
    }
    expectEqual(input, "input of " + what);
    expectEqual(parameters, "parameters of " + what);
    expectEqual(
        {pairing(*both, *step.dy), input.right + parameters.right, input.scale + parameters.scale},
        "both of " + what);
  }
}

// | f(x + h dx, p + h dp) - f(x, p) - h J (dx, dp) |, where `tangent` is J (dx, dp). Parameters are
// restored afterwards.
double remainder(test::Step& step, const DTensor& dx, const DTensor& tangent, double h) {
  auto move = [&](double by) {
    for (const auto& p : step.layer->parameters()) {
      addScaled(p->value(), by, p->tangent());
      p->valueChanged();
    }
  };
  const auto x = test::tensor(step.x->layout()), y = test::tensor(step.y->layout());
  copyLocal(*step.x, *x);
  addScaled(*x, h, dx);
  move(h);
  step.layer->apply(*x, *y);
  step.layer->forgetLast();
  move(-h);
  addScaled(*y, -1, *step.y);
  addScaled(*y, -h, tangent);
  return rawNorm(*y);
}

TEST_P(Derivative, TaylorRemainderIsOfSecondOrder) {
  if (GetParam().name == "stopgradient")
    return; // its derivative is declared, and is not that of its values
  LayoutDraw draw(22);
  for (int i = 0; i < 6; ++i) {
    test::Step step = drawStep(draw, i % 2 == 1);
    const auto dx = test::tensor(step.x->layout()), tangent = test::tensor(step.y->layout());
    test::fillValid(*dx, 2);
    fillTangents(*step.layer);
    step.layer->applyTangent(dx.get(), *tangent);
    const std::string what = GetParam().name + " on " + step.x->layout().describe();
    const double size = rawNorm(*step.y) + rawNorm(*tangent);
    switch (GetParam().smoothness) {
    case Smoothness::Linear:
      EXPECT_LE(remainder(step, *dx, *tangent, 1), 1e-13 * size) << what;
      break;
    case Smoothness::PiecewiseLinear: // a random point is not that close to a kink
      EXPECT_LE(remainder(step, *dx, *tangent, 1e-7), 1e-14 * size) << what;
      break;
    default:
      // Half the step has a quarter of the remainder, nearly. Steps of layers with kinks are
      // shorter, so that none crosses a kink.
      const double first = GetParam().smoothness == Smoothness::Smooth ? 2e-3 : 2e-5;
      for (double h = first; h > first / 8; h /= 2) {
        const double larger = remainder(step, *dx, *tangent, h);
        if (larger <= 1e-13 * size) // the map is linear, or constant near the point
          break;
        const double ratio = larger / remainder(step, *dx, *tangent, h / 2);
        EXPECT_GT(ratio, 3.5) << what << " at h = " << h;
        EXPECT_LT(ratio, 4.5) << what << " at h = " << h;
      }
    }
    clearTangents(*step.layer);
    step.layer->clearStack();
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, Derivative, testing::ValuesIn(test::layerCases()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon

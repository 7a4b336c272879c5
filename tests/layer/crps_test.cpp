// SPDX-License-Identifier: BSD-2-Clause
// The loss of ensembles against its definitions: the plain score as the integral over y of the
// squared difference between the distribution of the members and that of the target, the fair one
// by pairs of members; values and gradients in every layout, with members of a sample on different
// ranks, with weights, and by area. The definitions see the other score's factor.
#include "run_layer.hpp"
#include "support/draws.hpp"
#include "support/finds_a_fault.hpp"

#include <algorithm>

namespace tenon {
namespace {

using test::elementsOf;
using test::gathered;
using test::onWorld;

struct EnsembleCase {
  Index samples, members;
  Shape inner; // channels and space
  double alpha = 1;
  std::string reduction = "mean", weights = "none", area = "none";

  Shape shapeOf(Index batch) const {
    Shape shape = {batch};
    shape.insert(shape.end(), inner.begin(), inner.end());
    return shape;
  }
  Shape input() const { return shapeOf(samples * members); }
  Shape target() const { return shapeOf(samples); }
  Index step() const { return elements(inner); }
  std::string text() const {
    return std::to_string(samples) + " samples of " + std::to_string(members) + ", alpha " +
           std::to_string(alpha) + ", " + reduction + ", " + weights + ", " + area;
  }
  // Gauss's weights of 3 rows in dimension 2, and 4 longitudes.
  double weight(const std::vector<double>& given, Index i) const {
    const double rows[] = {5. / 9, 8. / 9, 5. / 9};
    return (area == "gauss" ? rows[i / 4 % 3] / 8 : 1) *
           (weights == "element"  ? given[std::size_t(i)]
            : weights == "sample" ? given[std::size_t(i / step())]
                                  : 1);
  }
};

// The integral of (F(y) - [y >= t])^2, F the step function of the members.
double integralOf(std::vector<double> members, double t) {
  std::vector<double> points = members;
  points.push_back(t);
  std::ranges::sort(points);
  double sum = 0;
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    const double at = points[k];
    const double below = double(std::ranges::count_if(members, [&](double x) { return x <= at; }));
    const double step = below / double(members.size()) - (at >= t ? 1 : 0);
    sum += step * step * (points[k + 1] - at);
  }
  return sum;
}

// The spread: the mean of |x_k - x_l| over different members, by half.
double spreadOf(const std::vector<double>& members) {
  double sum = 0;
  for (std::size_t k = 0; k < members.size(); ++k)
    for (std::size_t l = 0; l < k; ++l)
      sum += std::abs(members[k] - members[l]);
  const double count = double(members.size());
  return members.size() > 1 ? sum / (count * (count - 1)) : 0;
}

// alpha times the fair score and 1 - alpha times the plain one, which differ by spread / members.
double scoreOf(const EnsembleCase& c, const std::vector<double>& members, double t) {
  return integralOf(members, t) - c.alpha * spreadOf(members) / double(c.members);
}

struct WantedScore {
  double loss = 0;
  std::vector<double> gradient;
};

// Gradients are central differences: scores are piecewise linear, and no two numbers of a test are
// as near as the step.
WantedScore scoreByDefinition(const EnsembleCase& c, const std::vector<double>& x,
                              const std::vector<double>& t, const std::vector<double>& w) {
  WantedScore wanted{.gradient = std::vector<double>(x.size(), 0)};
  double all = 0;
  for (Index i = 0; i < c.samples * c.step(); ++i) {
    const Index first = i / c.step() * c.members * c.step() + i % c.step();
    std::vector<double> members;
    for (Index k = 0; k < c.members; ++k)
      members.push_back(x[std::size_t(first + k * c.step())]);
    const double weight = c.weight(w, i), target = t[std::size_t(i)], h = 1e-6;
    wanted.loss += weight * scoreOf(c, members, target);
    all += weight;
    for (Index k = 0; k < c.members; ++k) {
      const auto moved = [&](double by) {
        std::vector<double> other = members;
        other[std::size_t(k)] += by;
        return scoreOf(c, other, target);
      };
      wanted.gradient[std::size_t(first + k * c.step())] =
          weight * (moved(h) - moved(-h)) / (2 * h);
    }
  }
  if (c.reduction == "mean") {
    wanted.loss /= all;
    for (double& g : wanted.gradient)
      g /= all;
  }
  return wanted;
}

void expectEnsemble(const EnsembleCase& c, const Layout& input, double alphaOfLayer,
                    TenonDataType type = TENON_FLOAT64) {
  const Ref<Layer> layer = test::layerWith("crps", {{"members", c.members},
                                                    {"alpha", alphaOfLayer},
                                                    {"loss_reduction", c.reduction},
                                                    {"loss_weights", c.weights},
                                                    {"area", c.area}});
  layer->setDataType(type);
  test::Step step(layer, input, type);
  const std::vector<double> x = elementsOf(c.input()), t = elementsOf(c.target(), 5);
  const Shape weights = c.weights == "sample" ? Shape{c.samples} : c.target();
  std::vector<double> w = elementsOf(weights, 7);
  for (std::size_t i = 0; i < w.size(); ++i)
    w[i] = i % 3 == 1 ? 0 : std::abs(w[i]);
  test::fillFrom(*step.x, x);
  const auto filled = [&](const Shape& shape, const std::vector<double>& values) {
    const Ref<DTensor> made = test::tensor(onWorld(shape, "S0"), type);
    test::fillFrom(*made, values);
    return made;
  };
  layer->setTarget(filled(c.target(), t));
  if (c.weights != "none")
    layer->setTargetWeights(filled(weights, w));
  const WantedScore wanted = scoreByDefinition(c, x, t, w);
  const std::string what = c.text() + " in " + input.describe();
  const double tolerance = type == TENON_FLOAT64 ? 1e-13 : 1e-5;
  step.apply();
  for (double held : test::localCells(*step.y))
    ASSERT_NEAR(held, wanted.loss, tolerance * std::max(1., std::abs(wanted.loss))) << what;
  fillConstant(*step.dy, 1);
  step.adjoint();
  test::expectNear(gathered(*step.dx), wanted.gradient, std::max(tolerance, 1e-9), "dx of " + what);
}

std::vector<EnsembleCase> ensembles() {
  return {{.samples = 1, .members = 5, .inner = {2, 3, 4}},
          {.samples = 3, .members = 4, .inner = {1, 3, 4}, .alpha = 0, .reduction = "sum"},
          {.samples = 4, .members = 2, .inner = {2, 3, 4}, .alpha = 0.95, .weights = "sample"},
          {.samples = 2, .members = 3, .inner = {2, 3, 4}, .weights = "element", .area = "gauss"},
          {.samples = 2, .members = 3, .inner = {2, 3, 4}, .weights = "sample", .area = "gauss"},
          {.samples = 2, .members = 6, .inner = {1, 3, 4}, .reduction = "sum", .area = "gauss"},
          {.samples = 5, .members = 1, .inner = {7}, .alpha = 0}};
}

TEST(Crps, EqualsItsDefinitionInEveryLayout) {
  int number = 0;
  for (const EnsembleCase& c : ensembles())
    for (const std::string& split : test::splitsOf(c.input()))
      ASSERT_NO_FATAL_FAILURE(expectEnsemble(c, onWorld(c.input(), split), c.alpha,
                                             ++number % 4 == 0 ? TENON_FLOAT32 : TENON_FLOAT64));
}

TEST(Crps, EqualsItsDefinitionInDrawnLayouts) {
  test::LayoutDraw draw(76);
  for (int i = 0, end = test::draws(15); i < end; ++i) {
    const EnsembleCase c = ensembles()[std::size_t(i) % ensembles().size()];
    const Layout input = test::drawInput(draw, c.input());
    if (!input.holdsPartialSums()) {
      ASSERT_NO_FATAL_FAILURE(expectEnsemble(c, input, c.alpha));
    }
  }
}

// 1 / E for 1 / (E - 1), and the reverse; one member has no pair.
TEST(Crps, TheDefinitionSeesTheOtherFactor) {
  for (const EnsembleCase& c : ensembles())
    if (c.members > 1) {
      EXPECT_TRUE(test::findsAFault([&] {
        expectEnsemble(c, onWorld(c.input(), "S0"), c.alpha > 0.5 ? 0 : 1);
      })) << c.text();
    }
}

// Equal members attract nothing to each other: the derivative of |d| is 0 at 0.
TEST(Crps, HasTheDerivativeZeroAtEqualMembers) {
  const Ref<Layer> layer = test::layerWith("crps", {{"members", Index(3)}});
  test::Step step(layer, onWorld({3, 1}, "B"));
  test::fillFrom(*step.x, {2, 2, 5});
  const Ref<DTensor> target = test::tensor(onWorld({1, 1}, "B"));
  test::fillFrom(*target, {2});
  layer->setTarget(target);
  step.apply();
  // |0| + |0| + |3|, thirds; pairs 0, 3, 3, a sixth of twice their sum, by half.
  EXPECT_NEAR(test::localCells(*step.y)[0], 1. - 6. / 6, 1e-15);
  fillConstant(*step.dy, 1);
  step.adjoint();
  test::expectNear(gathered(*step.dx), {1. / 6, 1. / 6, 1. / 3 - 2. / 6}, 1e-15, "dx");
}

} // namespace
} // namespace tenon

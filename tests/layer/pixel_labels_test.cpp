// SPDX-License-Identifier: BSD-2-Clause
// The cross-entropy of logits [samples, classes, space...] with a label at each point of space:
// values, gradients and tangents in random layouts against the formula in long double, with weights
// of samples and of labels and by area on a sphere, and against numbers of PyTorch.
#include "run_layer.hpp"

#include "support/finds_a_fault.hpp"
#include "sys/traps.hpp"

#include <cmath>
#include <numeric>

namespace tenon {
namespace {

using test::gathered;
using test::onWorld;

struct Pixels {
  Shape logits = {2, 3, 4, 5}; // [samples, classes, space...]
  std::string reduction = "mean", weights = "none", area = "none";
  Index areaDim = 2;
  TenonDataType type = TENON_FLOAT64;

  Index classes() const { return logits[1]; }
  Index points() const { return elements(logits) / (logits[0] * logits[1]); }
  Index labels() const { return logits[0] * points(); }
  Shape labelsShape() const {
    Shape shape = logits;
    shape.erase(shape.begin() + 1);
    return shape;
  }
  // Place of a label's logit of class c in row-major order.
  Index at(Index label, Index c) const {
    return (label / points() * classes() + c) * points() + label % points();
  }

  double logit(Index i) const {
    const double z = 3 * std::sin(1.7 * double(i) + 0.3);
    return type == TENON_FLOAT32 ? double(float(z)) : z;
  }
  Index label(Index i) const { return (5 * i + i * i / 2) % classes(); }
  // Exact in both types; some are 0.
  double userWeight(Index i) const { return double(i % 4) / 4; }
  // Weights of the latitudes, which sum to 2: Gauss's of 4 rows in dimension 2 of [..., 4, 5], and
  // Clenshaw and Curtis's of 5 rows in dimension 3, where longitudes come first.
  double areaOf(Index i) const {
    constexpr double kInner = 0.65214515486254614, kOuter = 0.34785484513745386;
    constexpr double kGauss[] = {kOuter, kInner, kInner, kOuter},
                     kClenshawCurtis[] = {1. / 15, 8. / 15, 4. / 5, 8. / 15, 1. / 15};
    return area == "gauss"   ? kGauss[i / 5 % 4] / 10
           : area == "poles" ? kClenshawCurtis[i % 5] / 8
                             : 1;
  }
  double weight(Index i) const {
    return areaOf(i) * (weights == "element"  ? userWeight(i)
                        : weights == "sample" ? userWeight(i / points() + 1)
                                              : 1);
  }
  std::string text() const {
    return fmt::format("[{}] {} {} {}", fmt::join(logits, ","), reduction, weights, area);
  }
};

struct Answer {
  double loss = 0;
  std::vector<double> gradient;
};

// Terms in long double, whose exponent range suffices for the logits of these tests.
Answer byDefinition(const Pixels& p) {
  Answer answer{.gradient = std::vector<double>(std::size_t(elements(p.logits)))};
  long double loss = 0, all = 0;
  for (Index i = 0; i < p.labels(); ++i)
    all += p.weight(i);
  const long double by = p.reduction == "mean" ? 1 / all : 1;
  for (Index i = 0; i < p.labels(); ++i) {
    const long double own = p.logit(p.at(i, p.label(i))), weight = p.weight(i);
    long double sum = 0;
    for (Index c = 0; c < p.classes(); ++c)
      sum += std::exp(p.logit(p.at(i, c)) - own);
    loss += weight * std::log(sum);
    for (Index c = 0; c < p.classes(); ++c)
      answer.gradient[std::size_t(p.at(i, c))] = double(
          by * weight * (std::exp(p.logit(p.at(i, c)) - own) / sum - (c == p.label(i) ? 1 : 0)));
  }
  answer.loss = double(by * loss);
  return answer;
}

Ref<Layer> layerOf(const Pixels& p) {
  return test::layerWith("crossentropy", {{"loss_reduction", p.reduction},
                                          {"loss_weights", p.weights},
                                          {"area", p.area},
                                          {"area_dim", p.areaDim}});
}

// Labels and weights in layouts of their own.
void setTargets(Layer& layer, const Pixels& p, const Layout& labels, const Layout& weights) {
  const auto target = test::tensor(labels, TENON_INT64);
  fillByIndex(*target, [&](Index i) { return double(p.label(i)); });
  layer.setTarget(target);
  if (p.weights == "none")
    return;
  const auto given = test::tensor(weights, p.type);
  const Index first = p.weights == "sample" ? 1 : 0;
  fillByIndex(*given, [&](Index i) { return p.userWeight(i + first); });
  layer.setTargetWeights(given);
}

// The layer of `made` against the formula for p; both are equal unless a fault is looked for.
void expectAnswer(const Pixels& p, const Pixels& made, const Layout& logits, const Layout& labels,
                  const Layout& weights) {
  const Ref<Layer> layer = layerOf(made);
  setTargets(*layer, made, labels, weights);
  test::Step step(layer, logits, p.type);
  fillByIndex(*step.x, [&](Index i) { return p.logit(i); });
  step.apply();
  const Answer want = byDefinition(p);
  const std::string what = p.text() + " in " + logits.describe();
  const double tolerance = p.type == TENON_FLOAT64 ? 1e-13 : 4e-6;
  for (const double loss : test::localCells(*step.y)) // all ranks that have a copy
    EXPECT_NEAR(loss, want.loss, tolerance * std::max(1.0, std::abs(want.loss))) << what;
  const auto dx = test::tensor(step.x->layout(), p.type),
             dy = test::tensor(step.y->layout(), p.type);
  const auto direction = [](Index i) { return std::cos(0.7 * double(i)); };
  fillByIndex(*dx, direction);
  const DTensor* along[] = {dx.get()};
  layer->applyTangent(Inputs(along, 1), *dy);
  double slope = 0;
  for (Index i = 0; i < elements(p.logits); ++i)
    slope += want.gradient[std::size_t(i)] * direction(i);
  for (const double found : test::localCells(*dy))
    EXPECT_NEAR(found, slope, 10 * tolerance) << what;
  fillConstant(*step.dy, 1);
  step.adjoint();
  test::expectNear(gathered(*step.dx), want.gradient, tolerance, what);
}

Shape weightsShape(const Pixels& p) {
  return p.weights == "element" ? p.labelsShape() : Shape{p.logits[0]};
}

// Layouts of logits, labels and weights are drawn independently, uneven and with empty blocks.
void expectInDrawnLayouts(const Pixels& p, test::LayoutDraw& draw) {
  expectAnswer(p, p, test::drawInput(draw, p.logits), test::drawInput(draw, p.labelsShape()),
               test::drawInput(draw, weightsShape(p)));
}

TEST(PixelLabels, EqualTheFormulaInEveryLayout) {
  test::LayoutDraw draw(77);
  int i = 0;
  for (const Shape& logits : {Shape{3, 4, 5}, Shape{2, 3, 4, 5}, Shape{2, 5, 3, 2, 2},
                              Shape{1, 2, 1, 70}, Shape{2, 3, 2, 1, 2, 2}})
    for (const char* reduction : {"mean", "sum"})
      for (const char* weights : {"none", "sample", "element"})
        for (int repeat = 0; repeat < 3; ++repeat, ++i)
          expectInDrawnLayouts({.logits = logits,
                                .reduction = reduction,
                                .weights = weights,
                                .type = i % 2 ? TENON_FLOAT32 : TENON_FLOAT64},
                               draw);
}

TEST(PixelLabels, CountByArea) {
  test::LayoutDraw draw(78);
  int i = 0;
  for (const char* reduction : {"mean", "sum"})
    for (const char* weights : {"none", "sample", "element"})
      for (const char* area : {"gauss", "poles"})
        for (int repeat = 0; repeat < 3; ++repeat, ++i)
          expectInDrawnLayouts({.logits = {2, 3, 4, 5},
                                .reduction = reduction,
                                .weights = weights,
                                .area = area,
                                .areaDim = std::string(area) == "gauss" ? 2 : 3,
                                .type = i % 3 ? TENON_FLOAT64 : TENON_FLOAT32},
                               draw);
}

// All elements on the last rank, along each dimension in turn.
TEST(PixelLabels, AllowEmptyBlocks) {
  const Pixels p{.logits = {2, 3, 4, 5}, .weights = "element", .area = "gauss"};
  for (int dim = 0; dim < 4; ++dim) {
    LayoutSpec spec = onWorld(p.logits, "S" + std::to_string(dim)).spec();
    spec.cuts[dim].assign(test::world()->size() + 1, 0);
    spec.cuts[dim].back() = spec.shape[dim];
    expectAnswer(p, p, Layout(spec), onWorld(p.labelsShape(), "R"), onWorld(p.labelsShape(), "S2"));
  }
}

TEST(PixelLabels, FormulasSeeFaults) {
  const Pixels p{.weights = "element", .area = "gauss"};
  const auto isSeen = [&](const Pixels& made) {
    return test::findsAFault([&] {
      expectAnswer(p, made, onWorld(p.logits, "S1"), onWorld(p.labelsShape(), "S0"),
                   onWorld(weightsShape(made), "B"));
    });
  };
  EXPECT_FALSE(isSeen(p));
  for (const Pixels& wrong :
       {Pixels{.reduction = "sum", .weights = "element", .area = "gauss"},
        Pixels{.weights = "sample", .area = "gauss"}, Pixels{.area = "gauss"},
        Pixels{.weights = "element"}, Pixels{.weights = "element", .area = "poles", .areaDim = 3}})
    EXPECT_TRUE(isSeen(wrong)) << wrong.text();
}

// torch.nn.functional.cross_entropy of PyTorch 2 in float64: its loss and four elements of its
// gradient. Class weights and ignore_index are weights of labels.
TEST(PixelLabels, EqualPyTorch) {
  struct Case {
    const char* reduction;
    std::vector<double> classWeights; // empty: none
    double loss;
    std::vector<double> gradient; // by elements 0, 7, 20 and 35
  };
  const std::vector<Case> cases = {
      {"mean",
       {},
       3.0708110675846023,
       {-0.0734074994066072, 0.0017842340333950359, -0.05629200382492014, 0.0029324492225632744}},
      {"sum",
       {},
       36.84973281101523,
       {-0.8808899928792864, 0.02141080840074043, -0.6755040458990417, 0.035189390670759296}},
      // weight=[0.5, 2, 1.25]
      {"mean",
       {0.5, 2, 1.25},
       3.125331027214682,
       {-0.026693636147857164, 0.0016220309394500327, -0.020469819572698233, 0.004265380687364763}},
      // ignore_index=2
      {"mean",
       {1, 1, 0},
       3.110853779244427,
       {-0.08808899928792864, 0.0, -0.06755040458990418, 0.00351893906707593}},
      // both
      {"mean",
       {0.5, 2, 0},
       3.1708191554163254,
       {-0.03146035688854594, 0.0, -0.024125144496394343, 0.005027055810108471}}};
  const std::vector<Index> labels = {0, 2, 0, 1, 1, 1, 0, 2, 0, 1, 1, 1};
  const Pixels p{.logits = {2, 3, 2, 3}};
  for (const std::string& split : test::splitsOf(p.logits))
    for (const Case& c : cases) {
      const auto layer = test::layerWith(
          "crossentropy",
          {{"loss_reduction", std::string(c.reduction)},
           {"loss_weights", std::string(c.classWeights.empty() ? "none" : "element")}});
      test::Step step(layer, onWorld(p.logits, split));
      const auto target = test::tensor(onWorld(p.labelsShape(), "S1"), TENON_INT64);
      fillByIndex(*target, [&](Index i) { return double(labels[std::size_t(i)]); });
      layer->setTarget(target);
      const auto weights = test::tensor(onWorld(p.labelsShape(), "S2"));
      if (!c.classWeights.empty()) {
        fillByIndex(*weights,
                    [&](Index i) { return c.classWeights[std::size_t(labels[std::size_t(i)])]; });
        layer->setTargetWeights(weights);
      }
      fillByIndex(*step.x, [&](Index i) { return p.logit(i); });
      step.apply();
      test::expectNear(gathered(*step.y), {c.loss}, 1e-13, split);
      fillConstant(*step.dy, 1);
      step.adjoint();
      const std::vector<double> all = gathered(*step.dx);
      test::expectNear({all[0], all[7], all[20], all[35]}, c.gradient, 1e-13, split);
    }
}

// A label of weight 0 needs neither a class nor finite logits; another one is named by its place.
TEST(PixelLabels, AreCheckedUnlessTheirWeightIsZero) {
  const NoTraps noTraps; // logits of weight 0 are NaN
  const Pixels p{.logits = {1, 3, 2, 5}, .weights = "element"};
  const Layout everywhere = onWorld(p.logits, "B"), ofLabels = onWorld(p.labelsShape(), "B");
  const auto run = [&](double unweighted, double label) {
    const Ref<Layer> layer = layerOf(p);
    setTargets(*layer, p, ofLabels, ofLabels);
    const auto target = test::tensor(ofLabels, TENON_INT64);
    fillByIndex(*target, [&](Index i) { return i % 4 == 0 ? label : double(p.label(i)); });
    layer->setTarget(target);
    test::Step step(layer, everywhere);
    fillByIndex(*step.x, [&](Index i) { return i % 10 % 4 == 0 ? unweighted : p.logit(i); });
    step.apply();
    fillConstant(*step.dy, 1);
    step.adjoint();
    std::vector<double> found = test::localCells(*step.dx);
    found.push_back(test::localCells(*step.y)[0]);
    return found;
  };
  const std::vector<double> want = run(0.5, 2);
  EXPECT_EQ(run(std::nan(""), -100), want);
  EXPECT_EQ(run(HUGE_VAL, 3), want);

  const Ref<Layer> layer = layerOf({.logits = p.logits});
  test::Step step(layer, everywhere);
  const auto target = test::tensor(ofLabels, TENON_INT64);
  fillByIndex(*target, [](Index i) { return i == 7 ? 3.0 : 0.0; }); // in row 1, column 2
  layer->setTarget(target);
  expectError(TENON_ERR_ARG, {"label 3 at [0,1,2] is outside [0,3)"}, [&] { step.apply(); });
}

} // namespace
} // namespace tenon

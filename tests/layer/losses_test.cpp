// SPDX-License-Identifier: BSD-2-Clause
// Losses against their definitions in loops over global indices: the value on every rank that has a
// copy, and the gradient. Sums and means, with weights per sample and per element, and random
// layouts of input, target and weights. Further tests: terms with weight 0 may be NaN, and errors.
#include "layer_run.hpp"

#include "sys/expect_error.hpp"
#include "sys/traps.hpp"

#include <cmath>
#include <limits>

namespace tenon {
namespace {

using test::tensor;
using test::world;

const Shape kFields = {3, 2, 4, 5};
constexpr Index kCells = 3 * 2 * 4 * 5, kPerSample = 2 * 4 * 5;

// The input, target and weights of all tests, by global index.
double valueAt(Index i) {
  return std::sin(1.7 * static_cast<double>(i));
}
double targetAt(Index i) {
  return 0.5 * std::cos(0.9 * static_cast<double>(i)) + 0.3;
}
// Some weights are 0.
double weightAt(Index i) {
  return i % 3 == 1 ? 0 : 0.5 + 0.25 * static_cast<double>(i % 4);
}

// A loss with its settings. The grid `gauss` has its latitudes in dimension 2, and 5 longitudes;
// the grid `poles` has them in dimension 3, and 4 longitudes.
struct LossCase {
  std::string type, reduction, weights;
  std::vector<std::pair<const char*, SettingValue>> settings = {};
  std::string area = "none";

  // The part of the sphere of an element: quadrature weight / (2 longitudes). The weights of the
  // latitudes sum to 2, so those of all elements of a field sum to 1.
  double areaAt(Index i) const {
    constexpr double kInner = 0.65214515486254614, kOuter = 0.34785484513745386;
    constexpr double kGauss[] = {kOuter, kInner, kInner, kOuter},
                     kClenshawCurtis[] = {1.0 / 15, 8.0 / 15, 4.0 / 5, 8.0 / 15, 1.0 / 15};
    return area == "gauss"   ? kGauss[i / kFields[3] % kFields[2]] / 10
           : area == "poles" ? kClenshawCurtis[i % kFields[3]] / 8
                             : 1;
  }
  double cellWeight(Index i) const {
    return areaAt(i) * (weights == "element"  ? weightAt(i)
                        : weights == "sample" ? weightAt(i / kPerSample)
                                              : 1);
  }
  std::string text() const { return type + " " + reduction + " " + weights + " " + area; }
};

// The loss and its gradient by definition.
struct Wanted {
  double loss = 0;
  std::vector<double> gradient = std::vector<double>(kCells, 0.0);
};

void scale(Wanted& wanted, double factor) {
  wanted.loss *= factor;
  for (double& g : wanted.gradient)
    g *= factor;
}

double weightsOfCells(const LossCase& p) {
  double sum = 0;
  for (Index i = 0; i < kCells; ++i)
    sum += p.cellWeight(i);
  return sum;
}

// Squared error, absolute error and Huber loss by definition.
Wanted ofElements(const LossCase& p) {
  constexpr double kDelta = 0.6;
  Wanted wanted;
  for (Index i = 0; i < kCells; ++i) {
    const double error = valueAt(i) - targetAt(i), w = p.cellWeight(i), sign = error > 0 ? 1 : -1;
    const bool isNear = std::abs(error) <= kDelta;
    if (p.type == "meansquarederror") {
      wanted.loss += w * error * error;
      wanted.gradient[i] = w * 2 * error;
    } else if (p.type == "meanabsoluteerror") {
      wanted.loss += w * std::abs(error);
      wanted.gradient[i] = w * sign;
    } else {
      wanted.loss += w * (isNear ? 0.5 * error * error : kDelta * (std::abs(error) - 0.5 * kDelta));
      wanted.gradient[i] = w * (isNear ? error : kDelta * sign);
    }
  }
  if (p.reduction == "mean")
    scale(wanted, 1 / weightsOfCells(p));
  return wanted;
}

// The relative L2 error by definition: for each sample |x - t| / (|t| + epsilon), with norms whose
// terms are weighted.
Wanted ofSamples(const LossCase& p) {
  constexpr double kEpsilon = 0.125;
  Wanted wanted;
  double terms = 0;
  for (Index n = 0; n < kFields[0]; ++n) {
    const double w = p.weights == "sample" ? weightAt(n) : 1;
    double error = 0, size = 0;
    for (Index i = n * kPerSample; i < (n + 1) * kPerSample; ++i) {
      const double v = p.areaAt(i) * (p.weights == "element" ? weightAt(i) : 1);
      error += v * std::pow(valueAt(i) - targetAt(i), 2);
      size += v * std::pow(targetAt(i), 2);
    }
    const double below = std::sqrt(size) + kEpsilon;
    wanted.loss += w * std::sqrt(error) / below;
    terms += w;
    for (Index i = n * kPerSample; i < (n + 1) * kPerSample; ++i)
      wanted.gradient[i] = w * p.areaAt(i) * (p.weights == "element" ? weightAt(i) : 1) *
                           (valueAt(i) - targetAt(i)) / (std::sqrt(error) * below);
  }
  if (p.reduction == "mean")
    scale(wanted, 1 / terms);
  return wanted;
}

// The gradient penalty by definition: the sum of ((e[j] - e[i]) / spacing)^2 over elements i, where
// e is the error and j the next element in dimension 2, and in dimension 3.
Wanted ofGradients(const LossCase& p, bool periodic, bool withTarget) {
  const double spacing[] = {0.5, 0.2};
  Wanted wanted;
  const auto error = [&](Index i) { return valueAt(i) - (withTarget ? targetAt(i) : 0); };
  for (Index i = 0; i < kCells; ++i)
    for (int d : {2, 3}) {
      const Index step = d == 2 ? kFields[3] : 1, at = i / step % kFields[d];
      if (at + 1 == kFields[d] && !periodic)
        continue;
      const Index j = at + 1 == kFields[d] ? i - at * step : i + step;
      const double w = p.cellWeight(i), slope = (error(j) - error(i)) / spacing[d - 2];
      wanted.loss += w * slope * slope;
      wanted.gradient[j] += 2 * w * slope / spacing[d - 2];
      wanted.gradient[i] -= 2 * w * slope / spacing[d - 2];
    }
  if (p.reduction == "mean")
    scale(wanted, 1 / weightsOfCells(p));
  return wanted;
}

Ref<DTensor> filled(const Layout& layout, TenonDataType type, double (*f)(Index)) {
  const auto made = tensor(layout, type);
  fillByIndex(*made, f);
  return made;
}

// Compares a loss and its gradient with the definition, in random layouts of input, target and
// weights.
void expectWanted(test::LayoutDraw& draw, const LossCase& p, const Wanted& wanted,
                  TenonDataType type) {
  const auto layer = test::newLayer(world(), p.type);
  layer->setDataType(type);
  layer->set("loss_reduction", p.reduction);
  layer->set("loss_weights", p.weights);
  layer->set("area", p.area);
  if (p.area == "poles")
    layer->set("area_dim", Index(3));
  for (const auto& [name, value] : p.settings)
    layer->set(name, value);
  test::Step step(layer, test::drawInput(draw, kFields), type);
  const auto drawnLayout = [&](const Shape& shape) { return test::drawInput(draw, shape); };
  if (layer->declaration().takesTarget())
    layer->setTarget(
        filled(drawnLayout(kFields), draw.chance(50) ? type : TENON_FLOAT64, targetAt));
  if (p.weights != "none")
    layer->setTargetWeights(
        filled(drawnLayout(p.weights == "sample" ? Shape{kFields[0]} : kFields), type, weightAt));
  fillByIndex(*step.x, valueAt);
  const double tolerance = type == TENON_FLOAT32 ? 1e-5 : 1e-13;
  const std::string what = p.text() + " of " + step.x->layout().describe();
  for (bool training : {false, true}) {
    layer->setTraining(training);
    step.apply();
    for (double held : test::localCells(*step.y))
      EXPECT_NEAR(held, wanted.loss, tolerance * wanted.loss) << what;
  }
  fillConstant(*step.dy, 0.5); // not 1: the gradient must be multiplied by it
  step.adjoint();
  std::vector<double> gradient = wanted.gradient;
  for (double& g : gradient)
    g *= 0.5;
  test::expectNear(test::gathered(*step.dx), gradient, tolerance, what);
}

template <class Define>
void expectDefinition(const std::string& type, const Define& wanted,
                      const std::vector<std::pair<const char*, SettingValue>>& settings = {}) {
  test::LayoutDraw draw(51);
  for (const char* reduction : {"mean", "sum"})
    for (const char* weights : {"none", "sample", "element"})
      for (int i = 0; i < 5; ++i) { // the second in float32, the last two weighted by area
        const LossCase p{.type = type,
                         .reduction = reduction,
                         .weights = weights,
                         .settings = settings,
                         .area = i < 3    ? "none"
                                 : i == 3 ? "gauss"
                                          : "poles"};
        expectWanted(draw, p, wanted(p), i == 1 ? TENON_FLOAT32 : TENON_FLOAT64);
      }
}

TEST(Losses, OfElementsEqualTheirDefinitions) {
  expectDefinition("meansquarederror", ofElements);
  expectDefinition("meanabsoluteerror", ofElements);
  expectDefinition("huber", ofElements, {{"delta", 0.6}});
}

TEST(Losses, RelativeL2EqualsItsDefinition) {
  expectDefinition("relativel2", ofSamples, {{"epsilon", 0.125}});
}

TEST(Losses, GradientPenaltyEqualsItsDefinition) {
  for (bool periodic : {false, true})
    for (bool withTarget : {false, true})
      expectDefinition("gradientpenalty",
                       [=](const LossCase& p) { return ofGradients(p, periodic, withTarget); },
                       {{"spacing", std::string("0.5,0.2")},
                        {"periodic", periodic},
                        {"with_target", withTarget}});
}

// Samples of weight 0 contribute nothing.
TEST(Losses, CrossEntropyHasWeightsOfSamples) {
  const Index samples = 5, classes = 4;
  test::LayoutDraw draw(52);
  for (int i = 0; i < 9; ++i) {
    const bool isMean = i % 2 == 0;
    const TenonDataType type = i % 3 ? TENON_FLOAT64 : TENON_FLOAT32;
    const auto layer = test::newLayer(world(), "crossentropy");
    layer->set("loss_weights", std::string("sample"));
    layer->set("loss_reduction", std::string(isMean ? "mean" : "sum"));
    test::Step step(layer, test::drawInput(draw, {samples, classes}), type);
    const auto labels = tensor(test::onWorld({samples}, "B"), TENON_INT64);
    fillByIndex(*labels, [&](Index n) { return static_cast<double>((3 * n) % classes); });
    layer->setTarget(labels);
    layer->setTargetWeights(filled(test::onWorld({samples}, "S0"), type, weightAt));
    fillByIndex(*step.x, valueAt);
    double loss = 0, all = 0;
    std::vector<double> gradient;
    for (Index n = 0; n < samples; ++n) {
      double sum = 0;
      for (Index c = 0; c < classes; ++c)
        sum += std::exp(valueAt(n * classes + c));
      loss += weightAt(n) * (std::log(sum) - valueAt(n * classes + (3 * n) % classes));
      all += weightAt(n);
      for (Index c = 0; c < classes; ++c)
        gradient.push_back(weightAt(n) * (std::exp(valueAt(n * classes + c)) / sum -
                                          (c == (3 * n) % classes ? 1 : 0)));
    }
    const double by = isMean ? 1 / all : 1, tolerance = type == TENON_FLOAT32 ? 1e-5 : 1e-13;
    for (double& g : gradient)
      g *= by;
    step.apply();
    for (double held : test::localCells(*step.y))
      EXPECT_NEAR(held, by * loss, tolerance) << step.x->layout().describe();
    fillConstant(*step.dy, 1);
    step.adjoint();
    test::expectNear(test::gathered(*step.dx), gradient, tolerance, step.x->layout().describe());
  }
}

// Values of terms with weight 0 do not matter: loss, gradient and tangent are bitwise the same
// whether they are numbers, NaN or infinite.
TEST(Losses, LeaveOutWhatHasNoWeight) {
  const NoTraps noTraps; // terms of weight 0 are NaN, which must not trap
  const auto run = [](const LossCase& p, double unweighted, std::vector<double>& found) {
    const auto layer = test::newLayer(world(), p.type);
    layer->set("loss_reduction", p.reduction);
    layer->set("loss_weights", p.weights);
    for (const auto& [name, value] : p.settings)
      layer->set(name, value);
    const Layout fields = test::onWorld(kFields, "B");
    test::Step step(layer, fields);
    // A difference in space has the weight of its lower element. Weights are chosen such that no
    // difference with a positive weight reads an element of weight 0.
    const auto weight = [&](Index i) {
      return p.weights == "sample" ? double(i / kPerSample != 1) : double(i / 5 % 4 >= 2);
    };
    const auto target = tensor(fields), dx = tensor(fields);
    for (Index i = 0; i < kCells; ++i) {
      step.x->mutableData<double>()[i] = weight(i) == 0 && i % 2 ? unweighted : valueAt(i);
      target->mutableData<double>()[i] = weight(i) == 0 ? unweighted : targetAt(i);
      dx->mutableData<double>()[i] = weight(i) == 0 && i % 3 ? unweighted : valueAt(i + 1);
    }
    layer->setTarget(target);
    const bool bySample = p.weights == "sample";
    const auto weights = tensor(bySample ? test::onWorld({kFields[0]}, "B") : fields);
    for (Index i = 0; i < weights->localElements(); ++i)
      weights->mutableData<double>()[i] = weight(bySample ? i * kPerSample : i);
    layer->setTargetWeights(weights);
    step.apply();
    const auto dy = tensor(step.y->layout());
    const DTensor* along[] = {dx.get()};
    layer->applyTangent(Inputs(along, 1), *dy);
    fillConstant(*step.dy, 0.5);
    step.adjoint();
    for (const DTensor* each : {step.y.get(), step.dx.get(), dy.get()})
      for (double value : test::localCells(*each))
        found.push_back(value);
  };
  for (const char* type :
       {"meansquarederror", "meanabsoluteerror", "huber", "relativel2", "gradientpenalty"})
    for (const char* reduction : {"mean", "sum"})
      for (const char* weights : {"sample", "element"}) {
        LossCase p{.type = type, .reduction = reduction, .weights = weights};
        if (std::string(type) == "gradientpenalty")
          p.settings = {{"with_target", true}};
        std::vector<double> want;
        run(p, 0.25, want);
        for (const double unweighted :
             {std::nan(""), std::numeric_limits<double>::infinity(), 1e300}) {
          std::vector<double> found;
          run(p, unweighted, found);
          EXPECT_EQ(found, want) << p.text() << ", " << unweighted;
        }
      }
}

// A sample of weight 0 needs neither a valid label nor finite logits.
TEST(Losses, CrossEntropyLeavesOutWhatHasNoWeight) {
  const NoTraps noTraps; // logits of weight 0 are NaN, which must not trap
  const auto run = [](double unweighted, double label) {
    const auto layer = test::newLayer(world(), "crossentropy");
    layer->set("loss_weights", std::string("sample"));
    test::Step step(layer, test::onWorld({3, 4}, "B"));
    const auto labels = makeRef<DTensor>(world(), test::onWorld({3}, "B"), TENON_INT64);
    const auto weights = tensor(test::onWorld({3}, "B"));
    for (Index i = 0; i < 12; ++i)
      step.x->mutableData<double>()[i] = i / 4 == 1 ? unweighted : valueAt(i);
    for (Index i = 0; i < 3; ++i) {
      labels->mutableData<std::int64_t>()[i] = i == 1 ? static_cast<std::int64_t>(label) : i;
      weights->mutableData<double>()[i] = i == 1 ? 0 : 1;
    }
    layer->setTarget(labels);
    layer->setTargetWeights(weights);
    step.apply();
    fillConstant(*step.dy, 1);
    step.adjoint();
    std::vector<double> found = test::localCells(*step.y);
    for (double value : test::localCells(*step.dx))
      found.push_back(value);
    return found;
  };
  const std::vector<double> want = run(0.5, 2);
  EXPECT_EQ(run(std::nan(""), 2), want);
  EXPECT_EQ(run(std::numeric_limits<double>::infinity(), -100), want);
}

// All layouts are B: each rank has sample 5 and reports the error.
TEST(Losses, RefuseInvalidWeights) {
  const NoTraps noTraps; // one weight is NaN, which must not trap
  for (const char* type : {"huber", "relativel2", "crossentropy"})
    for (const char* reduction : {"mean", "sum"})
      for (const double weight :
           {-0.25, -1e30, std::nan(""), std::numeric_limits<double>::infinity()}) {
        const auto layer = test::newLayer(world(), type);
        layer->set("loss_weights", std::string("sample"));
        layer->set("loss_reduction", std::string(reduction));
        const bool hasLabels = std::string(type) == "crossentropy";
        test::Step step(layer, test::onWorld({8, 3}, "B"));
        layer->setTarget(makeRef<DTensor>(world(),
                                          test::onWorld(hasLabels ? Shape{8} : Shape{8, 3}, "B"),
                                          hasLabels ? TENON_INT64 : layer->dataType()));
        const auto weights = tensor(test::onWorld({8}, "B"));
        fillConstant(*weights, 1);
        layer->setTargetWeights(weights);
        step.apply();
        step.adjoint();
        weights->mutableData<double>()[5] = weight; // on every rank
        expectError(TENON_ERR_ARG, {"at [5]", "[0,inf)", "finite"}, [&] { step.apply(); });
      }
}

TEST(Losses, RefuseWhatTheyCannotUse) {
  const auto layer = test::newLayer(world(), "huber");
  expectError(TENON_ERR_TYPE, {"loss_weights"},
              [&] { layer->setTargetWeights(tensor(test::onWorld({8}, "B"))); });
  layer->set("loss_weights", std::string("sample"));
  test::Step step(layer, test::onWorld({8, 3}, "S0"));
  layer->setTarget(tensor(test::onWorld({8, 3}, "S0")));
  expectError(TENON_ERR_STATE, {"no weights", "SetTargetWeights"}, [&] { step.apply(); });
  layer->setTargetWeights(tensor(test::onWorld({8, 3}, "S0")));
  expectError(TENON_ERR_SHAPE, {"weights", "[8]", "[8,3]"}, [&] { step.apply(); });
  layer->setTargetWeights(tensor(test::onWorld({8}, "B")));
  expectError(TENON_ERR_ARG, {"sum to 0"}, [&] { step.apply(); });
  expectError(TENON_ERR_ARG, {"-1"}, [] {
    test::newLayer(world(), "gradientpenalty")->set("spacing", std::string("-1"));
  });
  test::expectErrorOnAll(TENON_ERR_SHAPE, {"spatial"}, [] {
    test::newLayer(world(), "gradientpenalty")->setUp(test::onWorld({8, 3}, "S0"));
  });
}

} // namespace
} // namespace tenon

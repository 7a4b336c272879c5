// SPDX-License-Identifier: BSD-2-Clause
// The cross-entropy over any split of samples and classes, against the formula, which is evaluated
// serially in long double from the global indices. Further tests: labels in any layout, uneven and
// empty blocks, overflow, partial sums, and errors for wrong labels.
#include "layer_run.hpp"

#include "sys/expect_error.hpp"

#include <cmath>

namespace tenon {
namespace {

using test::onWorld;
using test::tensor;
using test::world;

// The logits and labels of a test, by global index.
struct Problem {
  Index samples = 0, classes = 0;
  double size = 1; // factor of the logits
  TenonDataType type = TENON_FLOAT64, labelType = TENON_INT64;

  // A logit, rounded to the data type of the layer.
  double logit(Index i) const {
    const double z = size * std::sin(1.7 * static_cast<double>(i) + 0.3);
    return type == TENON_FLOAT32 ? static_cast<double>(static_cast<float>(z)) : z;
  }
  Index label(Index n) const { return (3 * n + n * n + 1) % classes; }
};

// The expected loss and gradient.
struct Answer {
  std::vector<double> loss, gradient;
};

// loss = 1/N sum over n of log sum over c of exp(z[n,c] - z[n,label]), with every term in long
// double, whose exponent range suffices for the logits of these tests.
Answer serial(const Problem& p, double cotangent) {
  long double loss = 0;
  std::vector<double> gradient;
  for (Index n = 0; n < p.samples; ++n) {
    const long double right = p.logit(n * p.classes + p.label(n));
    long double sum = 0;
    for (Index c = 0; c < p.classes; ++c)
      sum += std::exp(p.logit(n * p.classes + c) - right);
    loss += std::log(sum);
    for (Index c = 0; c < p.classes; ++c) {
      const long double share = std::exp(p.logit(n * p.classes + c) - right) / sum;
      gradient.push_back(static_cast<double>(cotangent * (share - (c == p.label(n))) / p.samples));
    }
  }
  return {{static_cast<double>(loss / p.samples)}, gradient};
}

Ref<DTensor> labelsIn(const Layout& layout, const Problem& p) {
  const auto labels = tensor(layout, p.labelType);
  fillByIndex(*labels, [&](Index n) { return static_cast<double>(p.label(n)); });
  return labels;
}

// Compares loss and gradient with the formula, for logits and labels in these layouts.
void expectRight(const Problem& p, const Layout& logits, const Layout& labels, double cotangent) {
  const auto layer = test::newLayer(world(), "crossentropy");
  layer->setTarget(labelsIn(labels, p));
  test::Step step(layer, logits, p.type);
  fillByIndex(*step.x, [&](Index i) { return p.logit(i); });
  step.apply();
  fillConstant(*step.dy, cotangent);
  step.adjoint();
  const Answer want = serial(p, cotangent);
  const double tolerance = p.type == TENON_FLOAT64 ? 1e-13 : 2e-6;
  const std::string what = logits.describe() + ", labels " + labels.describe();
  test::expectNear(test::gathered(*step.y), want.loss, tolerance, "loss of " + what);
  for (double loss : test::localCells(*step.y)) // all ranks that have a copy of the loss
    EXPECT_NEAR(loss, want.loss[0], tolerance * std::max(1.0, want.loss[0])) << what;
  test::expectNear(test::gathered(*step.dx), want.gradient, tolerance, "gradient of " + what);
}

// All grids of two axes with this number of ranks.
std::vector<std::vector<int>> grids() {
  std::vector<std::vector<int>> all;
  for (int a = 1; a <= world()->size(); ++a)
    if (world()->size() % a == 0)
      all.push_back({a, world()->size() / a});
  return all;
}

const char* const kLogits[] = {"S0,S1", "S1,S0", "S0,S0", "S1,S1", "S0,B",
                               "B,S1",  "B,B",   "R,S0",  "S1,R",  "R,R"};

TEST(CrossEntropy, EqualsTheFormulaOnEveryGrid) {
  for (const auto& grid : grids())
    for (const char* properties : kLogits)
      for (TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64}) {
        const Problem p{.samples = 7, .classes = 10, .size = 3, .type = type};
        expectRight(p, onWorld({7, 10}, grid, properties), onWorld({7}, grid, "B,B"), 1);
      }
}

TEST(CrossEntropy, TakesLabelsInAnyLayout) {
  for (TenonDataType type : {TENON_INT64, TENON_INT32}) {
    const Problem p{.samples = 9, .classes = 6, .labelType = type};
    for (const auto& grid : grids())
      for (const char* labels : {"S0,S0", "S0,B", "B,S0", "R,S0", "B,B", "R,R"})
        expectRight(p, onWorld({9, 6}, grid, "S0,S1"), onWorld({9}, grid, labels), 0.75);
    expectRight(p, onWorld({9, 6}, "S1"), onWorld({9}, {1, world()->size()}, "B,S0"), -2);
  }
}

TEST(CrossEntropy, AllowsUnevenAndEmptyParts) {
  test::LayoutDraw draw(31);
  const Problem p{.samples = 5, .classes = 4};
  for (int i = 0; i < 30; ++i)
    expectRight(p, test::drawInput(draw, {5, 4}), test::drawInput(draw, {5}), 1);
  const int ranks = world()->size();
  for (int dim : {0, 1}) { // all elements are on the last rank
    LayoutSpec spec = onWorld({5, 4}, dim == 0 ? "S0" : "S1").spec();
    spec.cuts[dim].assign(ranks + 1, 0);
    spec.cuts[dim].back() = spec.shape[dim];
    expectRight(p, Layout(spec), onWorld({5}, "R"), 1);
  }
}

TEST(CrossEntropy, DoesNotOverflow) {
  // exp(5000) overflows in double. exp(10000), of the largest difference of two logits, does not
  // overflow in the long double of the formula (exponents of 15 bits).
  for (TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64})
    for (const char* properties : {"S0", "S1", "B"}) {
      const Problem p{.samples = 4, .classes = 8, .size = 5000, .type = type};
      expectRight(p, onWorld({4, 8}, properties), onWorld({4}, "B"), 1);
    }
}

TEST(CrossEntropy, SumsPartialLogitsFirst) {
  const Problem p{.samples = 4, .classes = 6};
  expectRight(p, onWorld({4, 6}, "P"), onWorld({4}, "S0"), 1);
}

// A layer whose labels a test makes wrong on one or several ranks.
class WrongLabels : public testing::Test {
protected:
  // At most 8 ranks run this test, so each has a sample.
  static constexpr Index kSamples = 8, kClasses = 5;
  Problem problem_{.samples = kSamples, .classes = kClasses};
  Ref<Layer> layer_ = test::newLayer(world(), "crossentropy");
  test::Step step_{layer_, onWorld({kSamples, kClasses}, "S0")};

  // After an error the layer works with correct labels.
  void expectUsable() {
    layer_->setTarget(labelsIn(onWorld({kSamples}, "S0"), problem_));
    fillByIndex(*step_.x, [&](Index i) { return problem_.logit(i); });
    step_.apply();
    test::expectNear(test::gathered(*step_.y), serial(problem_, 1).loss, 1e-13, "loss");
  }
};

TEST_F(WrongLabels, AreNamedByTheRankThatHoldsThem) {
  // The other ranks wait in Apply for the rank that has failed, until it calls Apply again with
  // correct labels.
  for (TenonDataType type : {TENON_INT64, TENON_INT32, TENON_INT64}) {
    problem_.labelType = type;
    const auto labels = labelsIn(onWorld({kSamples}, "S0"), problem_);
    layer_->setTarget(labels);
    const Index first = labels->box()[0].begin;
    for (Index wrong : {kClasses, Index(-1)})
      if (world()->rank() == world()->size() - 1) {
        if (type == TENON_INT64)
          labels->mutableData<std::int64_t>()[0] = wrong;
        else
          labels->mutableData<std::int32_t>()[0] = static_cast<std::int32_t>(wrong);
        const std::string label = "label " + std::to_string(wrong);
        const std::string sample = "sample " + std::to_string(first);
        expectError(TENON_ERR_ARG, {label.c_str(), sample.c_str(), "[0,5)"},
                    [&] { step_.apply(); });
      }
    expectUsable();
    layer_->clearStack();
  }
}

TEST_F(WrongLabels, AreRefusedIfMissing) {
  expectError(TENON_ERR_STATE, {"no target", "SetTarget"}, [&] { step_.apply(); });
  expectUsable();
}

TEST_F(WrongLabels, AreRefusedInAnotherShape) {
  layer_->setTarget(tensor(onWorld({kSamples + 1}, "S0"), TENON_INT64));
  expectError(TENON_ERR_SHAPE, {"[8]", "[9]"}, [&] { step_.apply(); });
  layer_->setTarget(tensor(onWorld({kSamples, 1}, "S0"), TENON_INT64));
  expectError(TENON_ERR_SHAPE, {"[8]", "[8,1]"}, [&] { step_.apply(); });
  expectUsable();
}

TEST_F(WrongLabels, AreRefusedInAnotherType) {
  layer_->setTarget(tensor(onWorld({kSamples}, "S0"), TENON_FLOAT64));
  expectError(TENON_ERR_DATATYPE, {"int64", "float64"}, [&] { step_.apply(); });
  expectUsable();
}

TEST(CrossEntropy, RefusesLogitsWithoutClasses) {
  const auto layer = test::newLayer(world(), "crossentropy");
  test::expectErrorOnAll(TENON_ERR_SHAPE, {"[samples,classes]", "[4]"},
                         [&] { layer->setUp(onWorld({4}, "S0")); });
  test::expectErrorOnAll(TENON_ERR_SHAPE, {"at least 1 element", "[0,3]"}, [&] {
    layer->setUp(onWorld({0, 3}, "S0"));
  });
}

} // namespace
} // namespace tenon

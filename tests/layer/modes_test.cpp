// SPDX-License-Identifier: BSD-2-Clause
// Training and recording are separate modes: a network in inference can be differentiated if it
// records, a network in training can run without saving anything, and single layers can have other
// modes than their container.
#include "layer/derivatives/derivative_check.hpp"
#include "layer_run.hpp"

namespace tenon {
namespace {

using test::onWorld;
using test::tensor;
using test::world;

const Shape kModesInput = {4, 3, 10};

// conv, batch normalisation, dropout, conv.
Ref<Layer> network(const Layout& field, bool recomputes = false) {
  const auto net = test::newLayer(world(), "sequential");
  net->set("recompute", recomputes);
  const Window around{.kernel = 3, .padLow = 1, .padHigh = 1};
  const auto normalisation = test::newLayer(world(), "batchnorm");
  normalisation->set("channels", Index(3));
  appendLayer(*net, test::newConv(world(), 3, 3, std::vector<Window>{around}));
  appendLayer(*net, normalisation);
  appendLayer(*net, test::newDropout(world(), 0.25));
  appendLayer(*net, test::newConv(world(), 3, 3, std::vector<Window>{around}));
  net->setDataType(TENON_FLOAT64);
  net->setUp(field);
  net->initialize(test::kSeed, 3);
  return net;
}

Layer& normalisationOf(const Layer& net) {
  return *net.children()[1];
}

// Output and cotangent of the input, on this rank.
struct Found {
  std::vector<double> y, dx;
  bool operator==(const Found&) const = default;
};

// Returns the output and the cotangent of the input. between() is called between Apply and adjoint
// and can change modes.
template <class Between>
Found run(Layer& net, const Layout& field, Between between) {
  const auto x = tensor(field), y = tensor(net.outputLayout()),
             dy = tensor(net.outputLayout().dual()), dx = tensor(field.dual());
  test::fillValid(*x, 4);
  test::fillValid(*dy, 5);
  net.apply(*x, *y);
  between();
  if (net.stackSize() > 0)
    net.applyAdjoint(*dy, dx.get());
  return {test::localCells(*y), test::localCells(*dx)};
}
Found run(Layer& net, const Layout& field) {
  return run(net, field, [] {});
}

// The running statistics of all layers, on this rank.
std::vector<std::vector<double>> statesOf(const Layer& net) {
  std::vector<std::vector<double>> all;
  for (const auto& state : net.states())
    all.push_back(test::localCells(state->value()));
  return all;
}

std::vector<Layout> modesInputs() {
  return {onWorld(kModesInput, "S0"), onWorld(kModesInput, "S2")};
}

TEST(Modes, InferenceIsDifferentiated) {
  for (const Layout& field : modesInputs()) {
    const auto net = network(field);
    run(*net, field); // updates the running statistics
    net->setTraining(false);
    const Found inferred = run(*net, field);
    const auto states = statesOf(*net);
    EXPECT_EQ(states.size(), 2U);
    net->setRecording(true);
    const Found recorded = run(*net, field);
    EXPECT_EQ(recorded.y, inferred.y);
    EXPECT_EQ(statesOf(*net), states);
    EXPECT_LE(checkLayerAdjoint(*net, nullptr, 3).relativeError, 1e-12) << field.describe();
    EXPECT_NEAR(checkLayerTaylor(*net, nullptr, 3).order, 2, 0.1); // no mask is drawn in inference
    EXPECT_TRUE(net->isRecording());
    EXPECT_FALSE(net->isTraining());
    net->setTraining(true);
    EXPECT_NE(run(*net, field).y, inferred.y);
    EXPECT_NE(statesOf(*net), states);
  }
}

TEST(Modes, ALayerCanHaveAnotherModeThanItsContainer) {
  const Layout field = onWorld(kModesInput, "S2");
  const auto net = network(field);
  run(*net, field);
  normalisationOf(*net).setTraining(false);
  const auto states = statesOf(*net);
  EXPECT_LE(checkLayerAdjoint(*net, nullptr, 3).relativeError, 1e-12);
  const Found drawn = run(*net, field);
  EXPECT_EQ(statesOf(*net), states);
  EXPECT_NE(run(*net, field).y, drawn.y); // another mask is drawn
  net->children()[2]->setTraining(false);
  const Found fixed = run(*net, field);
  net->setTraining(false);
  net->setRecording(true);
  EXPECT_EQ(run(*net, field), fixed);
}

TEST(Modes, TrainingWithoutRecordingUpdatesTheStatistics) {
  const Layout field = onWorld(kModesInput, "S0");
  const auto kept = network(field), unkept = network(field);
  unkept->setRecording(false);
  for (int batch = 0; batch < 2; ++batch)
    EXPECT_EQ(run(*unkept, field).y, run(*kept, field).y);
  EXPECT_EQ(statesOf(*unkept), statesOf(*kept));
  EXPECT_EQ(unkept->stackSize(), 0);
}

// An adjoint differentiates its Apply in the mode that it had, although modes have changed since.
TEST(Modes, BelongToTheEvaluation) {
  for (bool recomputes : {false, true}) {
    const Layout field = onWorld(kModesInput, "S2");
    const auto net = network(field, recomputes), other = network(field, recomputes);
    for (bool training : {true, false, true}) {
      for (const auto& each : {net, other}) {
        each->setTraining(training);
        each->setRecording(true);
      }
      const Found wanted = run(*net, field);
      EXPECT_EQ(run(*other, field, [&] { other->setTraining(!training); }), wanted)
          << recomputes << training;
    }
  }
}

} // namespace
} // namespace tenon

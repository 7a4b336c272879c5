// SPDX-License-Identifier: BSD-2-Clause
// Layers of user functions (shell): their workspace, their states, calls that are only allowed
// inside the functions, and errors. Values and derivatives of a shell are tested by the tests of
// all layers (layer_cases.hpp).
#include "layer_run.hpp"

#include "layer/core/layer_types.hpp"
#include "layer/networks/state.hpp"

namespace tenon {
namespace {

using test::expectErrorOnAll;
using test::onWorld;
using test::tensor;
using test::world;

// The error code that the call throws, or success.
TenonErrorCode codeOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return TENON_SUCCESS;
}

// y = x. Apply writes its number to the workspace, and the adjoint reads it there.
struct Counting {
  Ref<Layer> layer = test::newLayer(world(), "shell");
  int applied = 0;
  std::vector<int> read;

  Counting() {
    layer->setStackDepth(3);
    shellOf(*layer).functions().setUp = [this](const Layout& x) {
      shellOf(*layer).setWorkspace(sizeof(int));
      return x;
    };
    shellOf(*layer).functions().apply = [this](const DTensor& x, DTensor& y) {
      copyLocal(x, y);
      ++applied;
      if (void* memory = shellOf(*layer).call().workspace)
        *static_cast<int*>(memory) = applied;
    };
    shellOf(*layer).functions().adjoint = [this](const KernelPoint&, const DTensor& dy,
                                                 DTensor* dx) {
      read.push_back(*static_cast<int*>(shellOf(*layer).call().workspace));
      copyLocal(dy, *dx);
    };
  }
};

TEST(Shell, HasAWorkspaceForEachLevelOfTheStack) {
  Counting counting;
  test::Step step(counting.layer, onWorld({6, 2}, "S0"));
  for (int i = 0; i < 3; ++i)
    step.apply();
  for (int i = 0; i < 3; ++i)
    step.adjoint();
  EXPECT_EQ(counting.read, (std::vector<int>{3, 2, 1}));
  step.layer->setTraining(false);
  step.apply(); // in inference there is no workspace
  EXPECT_EQ(counting.applied, 4);
}

// y = x + count, where count is the number of previous Apply calls.
Ref<Layer> countingByState() {
  Ref<Layer> layer = test::newLayer(world(), "shell");
  ShellDeclaration& shell = shellOf(*layer);
  shell.addState("count", {2}, 5);
  shell.functions().apply = [&shell](const DTensor& x, DTensor& y) {
    DTensor& count = *shell.call().states.at(0);
    copyLocal(x, y);
    const double before = *count.data<double>();
    for (Index i = 0; i < y.localElements(); ++i)
      y.mutableData<double>()[i] += before;
    fillConstant(count, before + 1);
  };
  return layer;
}

struct CountVisitor : StateVisitor {
  void tensor(const std::string& path, DTensor& value) override {
    seen[path] = test::gathered(value);
    if (writes)
      fillConstant(value, *writes);
  }
  void number(const std::string&, std::uint64_t&) override {}
  std::map<std::string, std::vector<double>> seen;
  std::optional<double> writes;
};

// The state is the same in all set-ups, which have it on other process grids, and can be restored
// from outside.
TEST(Shell, CarriesItsStatesOn) {
  const Ref<Layer> layer = countingByState();
  layer->setTraining(false);
  const Layout one = onWorld({6, 2}, "S0"), other({.shape = {4, 2},
                                                   .grid = Grid::make({1, world()->size()}),
                                                   .properties = parseProperties("B,R")});
  test::Step steps[] = {{layer, one}, {layer, other}};
  const auto expectSum = [&](int which, double sum) {
    test::Step& step = steps[which];
    fillConstant(*step.x, 1);
    step.apply();
    for (const double value : test::gathered(*step.y))
      EXPECT_EQ(value, 1 + sum);
  };
  for (int i = 0; i < 4; ++i)
    expectSum(i % 2, 5 + i);
  CountVisitor visitor;
  visitor.writes = 20;
  visitState(*layer, "net", visitor);
  EXPECT_EQ(visitor.seen.at("net/count"), (std::vector<double>{9, 9}));
  expectSum(1, 20);
  expectSum(0, 21);
}

TEST(Shell, WithStatesIsNotRecomputed) {
  const Ref<Layer> net = test::newLayer(world(), "sequential"), counting = countingByState();
  counting->setName("counting");
  appendLayer(*net, counting);
  net->setText("recompute", "true");
  expectErrorOnAll(TENON_ERR_SUPPORT, {"cannot recompute", "\"counting\"", "recompute to false"},
                   [&] {
                     net->setUp(onWorld({6, 2}, "S0"));
                   });
}

TEST(Shell, ConvertsToTheLabelsItsFunctionsKnow) {
  Counting counting;
  shellOf(*counting.layer).setLabels("S1,R");
  counting.layer->setUp(onWorld({6, 2}, "S0"));
  EXPECT_EQ(counting.layer->outputLayout(), onWorld({6, 2}, "S1"));
  counting.layer->setUp(onWorld({6, 2}, "R"));
  EXPECT_EQ(counting.layer->outputLayout(), onWorld({6, 2}, "R"));
}

TEST(Shell, RefusesWhatItLacks) {
  const Layout x = onWorld({6, 2}, "S0");
  expectErrorOnAll(TENON_ERR_STATE, {"no function for Apply"},
                   [&] { test::newLayer(world(), "shell")->setUp(x); });
  Counting counting;
  EXPECT_EQ(codeOf([&] { shellOf(*counting.layer).call(); }), TENON_ERR_STATE);
  EXPECT_EQ(codeOf([&] { shellOf(*counting.layer).addParameter("a", {}, 0, 0); }), TENON_ERR_SHAPE);
  EXPECT_EQ(codeOf([&] { shellOf(*counting.layer).addParameter("a", {0}, 0, 0); }),
            TENON_ERR_SHAPE);
  shellOf(*counting.layer).addParameter("a", {1}, 0, 0);
  EXPECT_EQ(codeOf([&] { shellOf(*counting.layer).addParameter("a", {1}, 0, 0); }), TENON_ERR_ARG);
  EXPECT_EQ(codeOf([&] { shellOf(*counting.layer).addState("a", {1}, 0); }), TENON_ERR_ARG);
  EXPECT_EQ(codeOf([&] { shellOf(*counting.layer).addState("s", {0}, 0); }), TENON_ERR_SHAPE);
  EXPECT_EQ(codeOf([&] { shellOf(*counting.layer).setWorkspace(-1); }), TENON_ERR_ARG);
  test::Step step(counting.layer, x);
  step.apply();
  EXPECT_EQ(codeOf([&] { step.layer->applyTangent(step.x.get(), *step.y); }), TENON_ERR_SUPPORT);
  EXPECT_EQ(codeOf([&] { shellOf(*counting.layer).call(); }), TENON_ERR_STATE);
  EXPECT_EQ(codeOf([&] { changedShell(*counting.layer, "a change").functions(); }),
            TENON_ERR_STATE);
}

TEST(Shell, DestroysEachContextOnce) {
  std::vector<int> destroyed;
  int first = 1, second = 2;
  const auto destroy = [&](void* context) { destroyed.push_back(*static_cast<int*>(context)); };
  auto layer = test::newLayer(world(), "shell");
  shellOf(*layer).setContext(&first, destroy);
  shellOf(*layer).setContext(&second, destroy);
  EXPECT_EQ(destroyed, (std::vector<int>{1}));
  EXPECT_EQ(shellOf(*layer).context(), &second);
  layer = {};
  EXPECT_EQ(destroyed, (std::vector<int>{1, 2}));
}

TEST(LayerTypes, AreMadeByName) {
  for (const std::string& name : layerTypes().names())
    EXPECT_EQ(makeLayer(world(), name)->type(), name);
  EXPECT_EQ(codeOf([] { layerTypes().find("tahn"); }), TENON_ERR_TYPE);
}

} // namespace
} // namespace tenon

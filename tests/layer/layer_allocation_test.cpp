// SPDX-License-Identifier: BSD-2-Clause
// From the second Apply on the library allocates no memory: neither its own buffers, which it
// counts, nor by the global operator new, which this program replaces and counts.
#include "declaration/core/declaration.hpp"
#include "declaration/core/types.hpp"
#include "layer/derivatives/jacobian.hpp"

#include "layer_run.hpp"
#include "mesh_layers.hpp"

#include "support/count_allocations.hpp"
#include "sys/memory/memory.hpp"

#include <limits>

namespace tenon {
namespace {

class Allocation : public testing::TestWithParam<test::LayerCase> {};

// The number of allocations of a step of training and one of inference, after a first step of each.
long allocatedBy(test::Step& step, Index& bytes) {
  const std::vector<Ref<Parameter>> parameters = step.layer->parameters();
  auto run = [&] {
    step.layer->zeroGradients();
    step.layer->setTraining(false);
    step.apply();
    step.layer->setTraining(true);
    step.apply();
    step.layer->applyTangent(step.x.get(), *step.y);
    step.layer->clearStack();
    step.apply();
    step.adjoint();
    for (const auto& p : parameters)
      p->direction();
  };
  run();
  const long before = test::allocations;
  const Index alive = bytesAlive();
  run();
  bytes = bytesAlive() - alive;
  return test::allocations - before;
}

TEST_P(Allocation, IsZeroFromTheSecondStepOn) {
  test::LayoutDraw draw(51);
  for (int i = 0; i < 8; ++i) {
    const auto layer = GetParam().make(test::world());
    layer->setName("a layer with a name too long for a short string");
    layer->setDataType(TENON_FLOAT64);
    layer->setText("backend", "blas");
    layer->setText("storage", i % 2 ? "root" : "use");
    layer->setText("saved_type", i % 4 < 2 ? "same" : "bfloat16");
    test::Step step(layer, test::drawInput(draw, GetParam().input));
    test::fillParameters(*layer);
    test::fillValid(*step.x, 1);
    test::fillValid(*step.dy, 2);
    for (const auto& p : layer->parameters())
      test::fillValid(p->tangent(), 3);
    Index bytes = 0;
    EXPECT_EQ(allocatedBy(step, bytes), 0) << GetParam().name << "\n" << layer->describe();
    EXPECT_EQ(bytes, 0) << GetParam().name << "\n" << layer->describe();
  }
}

// The frames of all levels of the stack are allocated at set-up.
TEST_P(Allocation, IsZeroOnHigherLevelsOfTheStack) {
  test::LayoutDraw draw(52);
  for (int i = 0; i < 4; ++i) {
    const auto layer = GetParam().make(test::world());
    layer->setDataType(TENON_FLOAT64);
    layer->setStackDepth(3);
    test::Step step(layer, test::drawInput(draw, GetParam().input));
    test::fillParameters(*layer);
    test::fillValid(*step.x, 1);
    step.apply();
    const long before = test::allocations;
    step.apply();
    step.apply();
    const long after = test::allocations;
    EXPECT_EQ(after - before, 0) << GetParam().name << "\n" << layer->describe();
    layer->clearStack();
  }
}

TEST_P(Allocation, IsZeroFromTheSecondUseOfAJacobianOn) {
  test::LayoutDraw draw(54);
  const auto layer = GetParam().make(test::world());
  layer->setDataType(TENON_FLOAT64);
  layer->setText("backend", "blas");
  test::Step step(layer, test::drawInput(draw, GetParam().input));
  if (!layer->ownStates().empty())
    GTEST_SKIP() << "has running moments, and no Jacobian";
  test::fillParameters(*layer);
  test::fillValid(*step.x, 1);
  test::fillValid(*step.dy, 2);
  Jacobian jacobian(layer, *step.x);
  const auto use = [&] {
    jacobian.setPoint(*step.x);
    jacobian.apply(*step.x, *step.y);
    jacobian.applyAdjoint(*step.dy, *step.dx);
  };
  use();
  const long before = test::allocations;
  const Index alive = bytesAlive();
  use();
  EXPECT_EQ(test::allocations - before, 0) << GetParam().name;
  EXPECT_EQ(bytesAlive(), alive) << GetParam().name;
}

// Boundary values as second input of a layer: a tensor, and a number that must be communicated.
TEST(AllocationAtTheBoundary, IsZeroFromTheSecondStepOn) {
  test::LayoutDraw draw(53);
  const Window window{.kernel = 3,
                      .padLow = 2,
                      .padHigh = 1,
                      .lowMode = Boundary::Values,
                      .highMode = Boundary::Periodic};
  for (int i = 0; i < 12; ++i) {
    const auto layer = test::newConv(test::world(), 2, 2, std::vector<Window>{window});
    layer->setDataType(TENON_FLOAT64);
    const Layout input = test::drawInput(draw, {2, 2, 9});
    const Layout given =
        i % 2 ? layer->form({input}).uses.front() : test::onWorld({1}, i % 4 ? "R" : "S0");
    layer->setUp(Layouts{input, given});
    test::fillParameters(*layer);
    const auto x = test::tensor(input), v = test::tensor(given), dx = test::tensor(input.dual()),
               dv = test::tensor(given.dual()), y = test::tensor(layer->outputLayout()),
               dy = test::tensor(layer->outputLayout().dual());
    const DTensor* at[] = {x.get(), v.get()};
    DTensor* cotangents[] = {dx.get(), dv.get()};
    const auto run = [&] {
      layer->apply(Inputs(at), *y);
      layer->applyTangent(Inputs(at), *y);
      layer->applyAdjoint(*dy, InputCotangents(cotangents));
    };
    run();
    const long before = test::allocations;
    run();
    const long after = test::allocations;
    EXPECT_EQ(after - before, 0) << layer->describe();
  }
}

// Layers with lists of a mesh, with edges on the ranks of their targets, or on any rank.
TEST(AllocationOnMeshes, IsZeroFromTheSecondStepOn) {
  const test::MeshGraph graph(44, /*twoSets=*/false);
  for (const bool anywhere : {false, true}) {
    const test::MeshPart part(test::world(), graph, 44, {.anywhere = anywhere});
    for (const std::string how : test::kWaysOfEdges) {
      if (anywhere && (how == "max" || how == "attention"))
        continue; // these need all edges of a node on one rank
      test::Step step(test::addedByEdges(test::world(), how, part),
                      rowsLayout(part.targets.map->from(), {3}));
      test::fillParameters(*step.layer);
      fillConstant(*step.x, 1);
      fillConstant(*step.dy, 2);
      Index bytes = 0;
      EXPECT_EQ(allocatedBy(step, bytes), 0) << how << "\n" << step.layer->describe();
      EXPECT_EQ(bytes, 0) << how;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, Allocation, testing::ValuesIn(test::layerCases()),
                         [](const auto& info) { return info.param.name; });

class SettingSizes : public testing::TestWithParam<std::string> {};

// Sets an integer setting to huge values and sets up the layer, which must not allocate huge
// memory.
void trySetting(const std::string& type, const Example& example, const std::string& name,
                const SettingValue& value) {
  constexpr long kMax = 64L << 20; // bytes; a list of the length of the setting needs more
  const long before = test::bytesHeld;
  test::mostBytesHeld = before;
  std::string outcome = "set up";
  try {
    const auto layer = test::newLayer(test::world(), type);
    for (const auto& [known, its] : example.settings)
      layer->set(known, its);
    layer->set(name, value);
    Layouts inputs;
    for (const Shape& shape : example.inputs)
      inputs.push_back(test::onWorld(shape, "B"));
    layer->setUp(inputs);
  } catch (const Error& error) {
    outcome = error.text();
    EXPECT_NE(error.code(), TENON_ERR_INTERNAL) << name << ": " << error.text();
  }
  EXPECT_LT(test::mostBytesHeld - before, kMax) << name << ": " << outcome;
}

// Each setting with integers gets values that no memory can hold. Set-up must fail with an error
// before it allocates lists of this length.
TEST_P(SettingSizes, TakeNoMemoryBeforeThereIsData) {
  const auto declared = makeDeclaration(GetParam());
  if (declared->takesLists())
    GTEST_SKIP() << "it has no example without lists";
  ExampleDraw draw(17);
  Example example;
  try {
    example = declared->example(draw);
  } catch (const Error& error) {
    GTEST_SKIP() << error.text(); // types that need more than the layout of an input
  }
  for (const Index huge : {Index(1) << 40, Index(1) << 62, std::numeric_limits<Index>::max()})
    for (const Settings::Entry& entry : declared->settings().entries()) {
      if (entry.spec->type == OptionSpec::Int)
        trySetting(GetParam(), example, entry.spec->name, huge);
      if (entry.spec->type == OptionSpec::Ints)
        for (std::size_t count = 1; count <= 3; ++count)
          trySetting(GetParam(), example, entry.spec->name, std::vector<Index>(count, huge));
    }
}

INSTANTIATE_TEST_SUITE_P(Types, SettingSizes, testing::ValuesIn(declarationNames()),
                         [](const auto& of) { return of.param; });

} // namespace
} // namespace tenon

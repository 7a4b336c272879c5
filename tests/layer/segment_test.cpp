// SPDX-License-Identifier: BSD-2-Clause
// Recomputation of activations: a network with it has bitwise the same results as without, through
// several steps of time and with dropout, and needs less memory.
#include "layer_run.hpp"

#include "support/draws.hpp"
#include "sys/expect_error.hpp"
#include "sys/memory/memory.hpp"

namespace tenon {
namespace {

using test::onWorld;
using test::tensor;
using test::world;

constexpr int kSteps = 6; // of time; also the depth of the stack
const Shape kField = {2, 3, 12, 10};

Ref<Layer> convolution() {
  const Window around{.kernel = 3,
                      .padLow = 1,
                      .padHigh = 1,
                      .lowMode = Boundary::Periodic,
                      .highMode = Boundary::Periodic};
  return test::newConv(world(), 3, 3, std::vector<Window>{around, around});
}

// conv, batch normalisation, tanh, dropout, conv, sigmoid: from a field to a field.
Ref<Layer> closure(bool recomputes) {
  const auto net = test::newLayer(world(), "sequential");
  net->set("recompute", recomputes);
  appendLayer(*net, convolution());
  const auto normalisation = test::newLayer(world(), "batchnorm");
  normalisation->set("channels", Index(3));
  appendLayer(*net, normalisation);
  appendLayer(*net, test::newPointwise(world(), "tanh"));
  appendLayer(*net, test::newDropout(world(), 0.25));
  appendLayer(*net, convolution());
  appendLayer(*net, test::newPointwise(world(), "sigmoid"));
  return net;
}

// x + closure(closure'(x)): two containers that recompute, one of which is two nodes.
Ref<Layer> graphOfSegments(bool recomputes) {
  const auto graph = test::newLayer(world(), "graph");
  const auto once = closure(recomputes), twice = closure(recomputes);
  int node = addGraphNode(*graph, once, {-1});
  node = addGraphNode(*graph, twice, {node});
  node = addGraphNode(*graph, twice, {node});
  addGraphNode(*graph, test::newLayer(world(), "add"), {-1, node});
  return graph;
}

// The results of several steps of time.
struct Unrolled {
  // Outputs, tangents, cotangents, gradients, running moments.
  std::vector<std::vector<double>> found;
  Index bytes = 0; // that the library holds while all adjoints are pending
};

void addStates(const Layer& layer, std::vector<std::vector<double>>& found) {
  for (const auto& state : layer.ownStates())
    found.push_back(test::localCells(state->value()));
  for (const Layer* child : layer.children())
    addStates(*child, found);
}

// Several steps u <- net(u), the tangent after the last step, and all adjoints.
Unrolled unroll(const Ref<Layer>& net, const Layout& field, TenonDataType type) {
  Unrolled result;
  std::vector<Ref<DTensor>> u;
  for (int s = 0; s <= kSteps; ++s) {
    u.push_back(tensor(field, type));
    u.back()->allocate();
  }
  const Index before = bytesAlive();
  net->setDataType(type);
  net->setStackDepth(kSteps);
  net->setUp(field);
  net->initialize(test::kSeed, 3);
  test::fillValid(*u[0], 1);
  for (int s = 0; s < kSteps; ++s) {
    net->apply(*u[s], *u[s + 1]);
    result.found.push_back(test::localCells(*u[s + 1]));
  }
  const auto direction = tensor(field, type), moved = tensor(field, type);
  test::fillValid(*direction, 2);
  result.bytes = bytesAlive() - before;
  net->applyTangent(direction.get(), *moved);
  result.found.push_back(test::localCells(*moved));
  auto w = tensor(field.dual(), type), next = tensor(field.dual(), type);
  test::fillValid(*w, 3);
  for (int s = kSteps; s-- > 0;) {
    net->applyAdjoint(*w, next.get());
    std::swap(w, next);
    result.found.push_back(test::localCells(*w));
  }
  for (const auto& p : net->parameters())
    result.found.push_back(test::localCells(p->gradient()));
  addStates(*net, result.found);
  return result;
}

std::vector<TenonDataType> types() {
  return world()->size() > 4 || !test::drawsAll() ? std::vector{TENON_FLOAT64}
                                                  : std::vector{TENON_FLOAT64, TENON_FLOAT32};
}

std::vector<Layout> fields() {
  const int ranks = world()->size();
  std::vector<Layout> all = {onWorld(kField, "S0"), onWorld(kField, "S2")};
  if (ranks % 2 == 0)
    all.push_back(onWorld(kField, {2, ranks / 2}, "S2,S3"));
  return all;
}

TEST(Segment, HasTheSameBitsAsWithSavedActivations) {
  for (TenonDataType type : types())
    for (const Layout& field : fields())
      EXPECT_TRUE(unroll(closure(/*recomputes=*/true), field, type).found ==
                  unroll(closure(/*recomputes=*/false), field, type).found)
          << field.describe();
}

// In a graph, cotangents of recomputed containers and of other layers may be added in another
// order, hence a tolerance. A bias before a batch normalisation has the gradient 0, up to rounding
// errors of sums over all elements.
TEST(Segment, GivesTheSameInsideAGraphAsWithSavedActivations) {
  for (TenonDataType type : types())
    for (const Layout& field : fields()) {
      const Unrolled kept = unroll(graphOfSegments(false), field, type),
                     again = unroll(graphOfSegments(true), field, type);
      ASSERT_EQ(again.found.size(), kept.found.size());
      for (std::size_t i = 0; i < kept.found.size(); ++i) {
        EXPECT_TRUE(i >= kSteps || again.found[i] == kept.found[i])
            << field.describe() << ", step " << i;
        ASSERT_NO_FATAL_FAILURE(test::expectNear(
            again.found[i], kept.found[i], type == TENON_FLOAT64 ? 1e-13 : 3e-5, field.describe()));
      }
    }
}

// Without recomputation, six pending evaluations save the activations of six layers each; with it,
// six inputs and the activations once. The difference is five times the activations less the
// inputs; the bound asks for four fields of four evaluations, which leaves room for other buffers.
TEST(Segment, HoldsLessMemory) {
  const Layout field = onWorld(kField, "S2");
  const Index kept = unroll(closure(/*recomputes=*/false), field, TENON_FLOAT64).bytes,
              again = unroll(closure(/*recomputes=*/true), field, TENON_FLOAT64).bytes;
  const Index each = elements(field.boxOfRank(world()->rank())) * 8; // bytes of a field
  EXPECT_LE(again, kept - (kSteps - 2) * 4 * each) << "kept " << kept << ", a field " << each;
}

// The layers of closure(), all or some of which recompute their outputs one by one.
Ref<Layer> closureOfLayers(bool all) {
  const auto net = closure(/*recomputes=*/false);
  bool recomputes = all;
  for (Layer* layer : net->children()) {
    layer->set("recompute", recomputes);
    recomputes = all || !recomputes;
  }
  return net;
}

TEST(Segment, OfSingleLayersHasTheSameBitsAsWithSavedActivations) {
  for (TenonDataType type : types())
    for (const Layout& field : fields()) {
      const Unrolled kept = unroll(closure(/*recomputes=*/false), field, type);
      for (bool all : {false, true})
        EXPECT_TRUE(unroll(closureOfLayers(all), field, type).found == kept.found)
            << field.describe() << all;
    }
}

TEST(Segment, OfSingleLayersInsideAGraphHasTheSameBitsAsWithSavedActivations) {
  const Layout field = onWorld(kField, "S2");
  const auto graph = [](bool recomputes) {
    const auto made = test::newLayer(world(), "graph");
    const auto once = recomputes ? closureOfLayers(true) : closure(/*recomputes=*/false),
               twice = recomputes ? closureOfLayers(true) : closure(/*recomputes=*/false);
    int node = addGraphNode(*made, once, {-1});
    node = addGraphNode(*made, twice, {node});
    node = addGraphNode(*made, twice, {node});
    addGraphNode(*made, test::newLayer(world(), "add"), {-1, node});
    return made;
  };
  EXPECT_TRUE(unroll(graph(true), field, TENON_FLOAT64).found ==
              unroll(graph(false), field, TENON_FLOAT64).found);
}

// Steps of y = tanh(conv(net(x))) and of net alone. If `byThemselves`, the first layer, net, and
// conv after net are set up alone before.
std::vector<std::vector<double>> stepsOfNested(const Layout& field, bool recomputes,
                                               bool byThemselves) {
  const auto net = recomputes ? closureOfLayers(true) : closure(/*recomputes=*/false);
  const auto between = test::newLayer(world(), "sequential"),
             outer = test::newLayer(world(), "sequential");
  appendLayer(*between, net);
  appendLayer(*between, convolution());
  appendLayer(*outer, between);
  appendLayer(*outer, test::newPointwise(world(), "tanh"));
  if (byThemselves)
    for (const Ref<Layer>& layer : {net->nodes().front().layer, net, between}) {
      layer->setDataType(TENON_FLOAT64);
      layer->setUp(field);
    }
  std::vector<std::vector<double>> found;
  for (const Ref<Layer>& layer : {outer, net, outer}) {
    test::Step step(layer, field);
    test::fillParameters(*layer);
    test::fillValid(*step.x, 1);
    test::fillValid(*step.dy, 2);
    step.apply();
    step.adjoint();
    found.push_back(test::localCells(*step.y));
    found.push_back(test::localCells(*step.dx));
    for (const auto& p : layer->parameters())
      found.push_back(test::localCells(p->gradient()));
  }
  return found;
}

// A layer that was set up alone has the same results as a node of other layers, at the first step
// and later.
TEST(Segment, OfSingleLayersIsTheSameByItselfAndWithinOthers) {
  for (const Layout& field : fields()) {
    const auto want = stepsOfNested(field, /*recomputes=*/false, false);
    for (const bool byThemselves : {false, true}) {
      EXPECT_TRUE(stepsOfNested(field, /*recomputes=*/true, byThemselves) == want)
          << field.describe() << byThemselves;
      EXPECT_TRUE(stepsOfNested(field, /*recomputes=*/false, byThemselves) == want)
          << field.describe() << byThemselves;
    }
  }
}

// One layer saves its input and one its output; neither is saved by six pending evaluations. The
// bound asks for two fields of four evaluations.
TEST(Segment, OfSingleLayersHoldsLessMemory) {
  const Layout field = onWorld(kField, "S2");
  const Index kept = unroll(closure(/*recomputes=*/false), field, TENON_FLOAT64).bytes,
              again = unroll(closureOfLayers(true), field, TENON_FLOAT64).bytes;
  const Index each = elements(field.boxOfRank(world()->rank())) * 8;
  EXPECT_LE(again, kept - (kSteps - 2) * 2 * each) << "kept " << kept << ", a field " << each;
}

TEST(Segment, SaysWhatItDoes) {
  const auto net = closure(/*recomputes=*/true);
  net->setUp(onWorld(kField, "S2"));
  EXPECT_NE(net->describe().find("recomputed before its adjoint"), std::string::npos);
}

TEST(Segment, RefusesAChangedParameter) {
  const auto net = closure(/*recomputes=*/true);
  test::Step step(net, onWorld(kField, "S0"));
  step.apply();
  net->parameters()[0]->value().mutableData<double>();
  expectError(TENON_ERR_STATE, {"weight", "was changed"}, [&] { step.adjoint(); });
}

// The recomputation fails in a layer before the dropout. The numbers of random draws and the modes
// of the layers are then those before the call, not those of the Apply that was to run again.
TEST(Segment, ThatFailsLeavesRandomNumbersAndModesAsTheyWere) {
  bool fails = false;
  const auto shell = test::newLayer(world(), "shell"), dropout = test::newDropout(world(), 0.25),
             net = test::newLayer(world(), "sequential");
  shellOf(*shell).functions().apply = [&fails](const DTensor& x, DTensor& y) {
    if (fails)
      throw Error(TENON_ERR_USER, "not again");
    copyLocal(x, y);
  };
  net->set("recompute", true);
  appendLayer(*net, shell);
  appendLayer(*net, dropout);
  test::Step step(net, onWorld(kField, "S0"));
  test::fillValid(*step.x, 1);
  test::fillValid(*step.dy, 2);
  step.apply();
  EXPECT_EQ(dropout->randomState().applied, 1U);
  net->setTraining(false);
  fails = true;
  expectError(TENON_ERR_USER, {"not again"}, [&] { step.adjoint(); });
  EXPECT_EQ(dropout->randomState().applied, 1U);
  EXPECT_FALSE(dropout->isTraining());
}

TEST(Segment, IsTheSameInInference) {
  const auto kept = closure(/*recomputes=*/false), again = closure(/*recomputes=*/true);
  test::Step one(kept, onWorld(kField, "S2")), other(again, onWorld(kField, "S2"));
  for (test::Step* step : {&one, &other}) {
    step->layer->initialize(test::kSeed, 3);
    step->layer->setTraining(false);
    test::fillValid(*step->x, 1);
    step->apply();
  }
  EXPECT_EQ(test::localCells(*other.y), test::localCells(*one.y));
}

} // namespace
} // namespace tenon

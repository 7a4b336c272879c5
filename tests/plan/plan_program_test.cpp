// SPDX-License-Identifier: BSD-2-Clause
// What the planner counts is what runs: the map list and the passes of a set-up equal, step by step
// and lifetime by lifetime, those from which the planner counts memory, for any settings, options
// and nesting of containers.
#include "plan/unfolded.hpp"
#include "planned_network.hpp"
#include "planner/prices/run_memory.hpp"
#include "sys/options/options.hpp"

namespace tenon::test {
namespace {

// Sets the options that decide how a list runs, by the bits of `draw`, and restores them.
class DrawnOptions {
public:
  explicit DrawnOptions(unsigned draw) {
    set(draw % 2 == 0 ? "true" : "false", draw / 2 % 2 == 0 ? "true" : "false");
  }
  ~DrawnOptions() { set("true", "true"); }
  DrawnOptions(const DrawnOptions&) = delete;
  DrawnOptions& operator=(const DrawnOptions&) = delete;

private:
  static void set(const char* overlaps, const char* fuses) {
    options().set("-tenon_overlap_steps", overlaps);
    options().set("-tenon_fuse_rows", fuses);
  }
};

// Sets what a network saves for the adjoint: the type of saved values, the number of Apply calls
// that can be pending, and every third layer, from one that depends on the draw, to be recomputed.
void drawSettings(Layer& network, unsigned draw) {
  network.set("saved_type", std::string(draw / 4 % 2 == 0 ? "same" : "bfloat16"));
  network.setStackDepth(static_cast<int>(1 + draw % 3));
  unsigned number = draw;
  for (const UnfoldedNode& node : unfolded(network)) {
    node.layer->set("recompute", ++number % 3 == 0);
  }
}

// The planner's list and passes for the layers without their containers.
RunMemory counted(Layer& network, const Layouts& inputs) {
  const int count = static_cast<int>(inputs.size());
  Network flat{.nodes = {},
               .inputs = count,
               .outputs = {},
               .elementBytes = dataTypeSize(network.dataType()),
               .savesRounded = network.declaration().value<std::string>("saved_type") == "bfloat16",
               .output = {}};
  for (const UnfoldedNode& unfoldedNode : unfolded(network)) {
    const Declaration& type = unfoldedNode.layer->declaration();
    NetworkNode& node = flat.nodes.emplace_back();
    node.type = {std::shared_ptr<void>(), &type};
    for (int read : unfoldedNode.reads)
      node.reads.push_back(read < 0 ? -1 - read : count + read);
    node.recomputes = type.value<bool>("recompute");
  }
  flat.outputs = {count + static_cast<int>(flat.nodes.size()) - 1};
  return {CompiledNetwork(std::move(flat), inputs, Target::fromOptions(Space::Host)),
          {.stackDepth = network.stackDepth(),
           .inputCotangents = std::vector<bool>(inputs.size(), true)}};
}

void expectSame(Layer& network, const Layouts& inputs) {
  network.setUp(inputs);
  const MapList& list = network.maps(inputs).list();
  const RunMemory planned = counted(network, inputs);
  const Order order = network.setup(inputs).network().order();
  // The passes of an Apply and of its adjoint.
  const Pass passes[] = {applyPass(list, order),
                         adjointPass(list, Chosen(inputs.size(), true), order)};
  for (std::size_t p = 0; p < 2; ++p)
    EXPECT_EQ(describe(planned.list(), planned.passes()[p]), describe(list, passes[p]));
  EXPECT_EQ(planned.list().operators().size(), list.operators().size());

  // After a training step, the set-up holds what was counted.
  const auto made = [&](const Layout& layout) {
    return makeRef<DTensor>(world(), layout, network.dataType());
  };
  const Ref<DTensor> x = made(inputs.front()), y = made(network.outputLayout()),
                     dx = made(inputs.front().dual()), dy = made(y->layout().dual());
  for (const Ref<DTensor>& tensor : {x, dy})
    fillUniform(*tensor, /*seed=*/1, /*stream=*/2, 0.5, 1);
  network.apply(*x, *y);
  network.applyAdjoint(*dy, dx.get());
  const int rank = world()->rank();
  EXPECT_EQ(double(network.memory().saved), planned.savedBytes(rank));
  EXPECT_EQ(double(network.setup(inputs).sharedBytes()), planned.sharedBytes(rank));
}

class PlanProgram : public testing::TestWithParam<NetworkCase> {};

TEST_P(PlanProgram, IsWhatRuns) {
  const Shape& shape = GetParam().input;
  const Layout input({.shape = shape,
                      .grid = Grid::make({world()->size()}),
                      .properties = {Property::shard(static_cast<int>(shape.size()) - 1)}});
  for (unsigned draw = 0; draw < 8; ++draw) {
    const DrawnOptions drawn(draw);
    const Ref<Layer> network = GetParam().make(world());
    drawSettings(*network, draw);
    ASSERT_NO_FATAL_FAILURE(expectSame(*network, {input})) << draw;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, PlanProgram, testing::ValuesIn(networkCases()),
                         [](const auto& info) { return info.param.name; });

// A residual block within a block within a network: x -> block(x) = x + tanh(x), whose output is
// read twice, once within the block.
TEST(PlanProgram, OfNestedContainersIsThatOfTheFlatNetwork) {
  const Layout input({.shape = {2, 3, 8, 8},
                      .grid = Grid::make({world()->size()}),
                      .properties = {Property::shard(2)}});
  const auto block = [] {
    const Ref<Layer> graph = newNetwork(world(), "graph");
    addGraphNode(*graph, newLayer(world(), "add"),
                 {-1, addGraphNode(*graph, newPointwise(world(), "tanh"), {-1})});
    return graph;
  };
  const Ref<Layer> nested = newNetwork(world(), "graph");
  int last = -1;
  for (int depth = 0; depth < 3; ++depth) {
    const Ref<Layer> around = newNetwork(world(), "sequential");
    add(*around, block(), "inner");
    add(*around, newPointwise(world(), "sine"), "sine");
    last = addGraphNode(*nested, around, {last});
  }
  addGraphNode(*nested, newLayer(world(), "add"), {last, 0});
  expectSame(*nested, {input});
}

// Settings of containers, three deep, are those with which the layers are planned: the innermost
// container that says one wins, and a layer's own value before it.
TEST(PlanProgram, HasTheSettingsOfContainers) {
  const Ref<Layer> outer = newLayer(world(), "sequential"), middle = newLayer(world(), "graph"),
                   inner = newLayer(world(), "sequential");
  outer->setDataType(TENON_FLOAT64);
  outer->setText("storage", "sharded");
  middle->setText("backend", "reference");
  inner->setText("storage", "use");
  add(*outer, newAffine(world(), 6, 8), "first");
  add(*inner, newAffine(world(), 8, 8), "second");
  const Ref<Layer> own = newAffine(world(), 8, 8);
  own->setText("backend", "auto");
  add(*inner, own, "own");
  add(*inner, newPointwise(world(), "tanh"), "tanh");
  addGraphNode(*middle, newAffine(world(), 8, 4), {addGraphNode(*middle, inner, {-1})});
  add(*outer, middle, "middle");
  const Layout input(
      {.shape = {6, 6}, .grid = Grid::make({world()->size()}), .properties = {Property::shard(0)}});
  const std::vector<UnfoldedNode> nodes = unfolded(*outer);
  const DeclaredNetwork planned = declareNetwork(describeResolved(nodes), {input.shape()});
  outer->setUp(input);
  const BoundMaps& maps = outer->maps(Layouts{input});
  ASSERT_EQ(planned.nodes.size(), nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Declaration &plan = *planned.declaration(planned.nodes[n]),
                      &run = nodes[n].layer->declaration();
    for (const char* name : {"data_type", "storage", "backend"})
      EXPECT_EQ(plan.value<std::string>(name), run.value<std::string>(name))
          << nodes[n].path << " " << name;
  }
  EXPECT_EQ(nodes[0].layer->declaration().value<std::string>("storage"), "sharded");
  EXPECT_EQ(nodes[1].layer->declaration().value<std::string>("storage"), "use");
  EXPECT_EQ(nodes[1].layer->declaration().value<std::string>("backend"), "reference");
  EXPECT_EQ(nodes[2].layer->declaration().value<std::string>("backend"), "auto");
  EXPECT_EQ(maps.dataType(), TENON_FLOAT64);
}

// A plan of one dense layer, which was set up by itself before for an input that is split by
// columns, or was not.
Ref<LayerPlan> planOfDense(bool wasSetUp) {
  const Ref<Layer> layer = newAffine(world(), 8, 8), network = newNetwork(world(), "sequential");
  layer->setDataType(TENON_FLOAT64);
  add(*network, layer, "layer");
  if (wasSetUp)
    layer->setUp(Layout({.shape = {64, 8},
                         .grid = Grid::make({world()->size()}),
                         .properties = {Property::shard(1)}}));
  const auto plan = makeRef<LayerPlan>(network, 64);
  plan->set("input_shape", Shape{8});
  plan->fix("layer", "n");
  plan->setUp();
  return plan;
}

// Parameters that exist stay where they are stored, and the plan counts them there.
TEST(PlanProgram, CountsParametersWhereTheyAre) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank stores them in one way";
  if (world()->size() > 3)
    GTEST_SKIP() << "the grid of the plan has several axes";
  const Ref<LayerPlan> fresh = planOfDense(false), known = planOfDense(true);
  const auto storage = [](const LayerPlan& plan) {
    return plan.layer().parameters().front()->storage();
  };
  EXPECT_EQ(storage(*known).boxOfRank(0)[1].size(), (8 + world()->size() - 1) / world()->size());
  EXPECT_EQ(storage(*fresh).boxOfRank(0)[1].size(), 8);
  EXPECT_NE(fresh->found().bytes, known->found().bytes);
}

} // namespace
} // namespace tenon::test

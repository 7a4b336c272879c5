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

void drawSettings(Layer& network, unsigned draw) {
  network.set("saved_type", std::string(draw / 4 % 2 == 0 ? "same" : "bfloat16"));
  unsigned number = draw;
  for (const UnfoldedNode& node : unfolded(network)) {
    // The planner divides windows into pieces by rates of its machine.
    if (node.layer->settings().has("overlap"))
      node.layer->set("overlap", std::string("off"));
    node.layer->set("recompute", ++number % 3 == 0);
  }
}

// The planner's list and passes for the forms of the layers.
RunMemory counted(Layer& network, const Layouts& inputs) {
  std::vector<RunNode> nodes;
  std::vector<bool> recomputed;
  for (const UnfoldedNode& node : unfolded(network)) {
    Layouts reads;
    for (int read : node.reads)
      reads.push_back(read < 0 ? inputs[-1 - read] : nodes[read].form.output);
    nodes.push_back({{std::shared_ptr<void>(), &node.layer->declaration()},
                     node.layer->form(reads),
                     node.reads});
    recomputed.push_back(node.layer->declaration().value<bool>("recompute"));
  }
  return {nodes,
          inputs,
          {.target = Target::fromOptions(Space::Host),
           .elementBytes = dataTypeSize(network.dataType()),
           .savesRounded = network.declaration().value<std::string>("saved_type") == "bfloat16",
           .inputCotangents = std::vector<bool>(inputs.size(), true),
           .recomputed = std::move(recomputed)}};
}

void expectSame(Layer& network, const Layouts& inputs) {
  network.setUp(inputs);
  const MapList& list = network.maps(inputs).list();
  const RunMemory planned = counted(network, inputs);
  const Order order = network.setup(inputs).order();
  const Pass passes[] = {applyPass(list, order),
                         adjointPass(list, Chosen(inputs.size(), true), order)};
  for (std::size_t p = 0; p < 2; ++p)
    EXPECT_EQ(describe(planned.list(), planned.passes()[p]), describe(list, passes[p]));
  EXPECT_EQ(planned.list().operators().size(), list.operators().size());
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

} // namespace
} // namespace tenon::test

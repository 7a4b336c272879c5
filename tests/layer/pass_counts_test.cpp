// SPDX-License-Identifier: BSD-2-Clause
// The messages and bytes that are counted from a compiled network (compile/prices/pass_prices.hpp)
// are those that its passes send, by the log: for every layer (layer_cases.hpp) in random layouts,
// with norms, maxima, halos and data that circulate within kernels; in training, in the adjoint and
// in inference; and in a container that recomputes.
#include "layer_run.hpp"
#include "sent_in.hpp"
#include "support/draws.hpp"

namespace tenon::test {
namespace {

// A loss converts its target when it is set, from a layout that the network does not know.
bool hasTarget(const MapList& list) {
  return std::ranges::any_of(list.sources(), [](const SourceEntry& source) {
    return source.of == SourceEntry::Of::Target || source.of == SourceEntry::Of::Labels ||
           source.of == SourceEntry::Of::Weights;
  });
}

// Parameters are converted to their use in an Apply only after they have changed.
void changeParameters(Layer& layer) {
  for (const Ref<Parameter>& parameter : layer.parameters())
    parameter->valueChanged();
}

void expectCounted(const Ref<Layer>& layer, const Layout& input, bool infers) {
  Step step(layer, input);
  fillParameters(*layer);
  fillValid(*step.x, 1);
  fillValid(*step.dy, 2);
  const CompiledNetwork& network = layer->setup({input}).network();
  const MapList& list = network.list();
  if (hasTarget(list))
    return;
  const Order order = network.order();
  changeParameters(*layer);
  EXPECT_EQ(sentIn([&] { step.apply(); }), countedFrom(network, applyPass(list, order)));
  EXPECT_EQ(sentIn([&] { step.adjoint(); }),
            countedFrom(network, adjointPass(list, {true}, order)));
  if (!infers)
    return;
  layer->setTraining(false);
  changeParameters(*layer);
  const InInference all(std::max(1, list.nodes()), true);
  EXPECT_EQ(sentIn([&] { step.apply(); }),
            countedFrom(network, applyPass(list, order, all, /*keeps=*/false)));
}

class PassCounts : public testing::TestWithParam<LayerCase> {};

TEST_P(PassCounts, AreThoseOfTheLog) {
  const LayerCase& c = GetParam();
  LayoutDraw draw(5);
  for (int i = 0; i < draws(4); ++i) {
    const Layout input = drawInput(draw, c.input);
    SCOPED_TRACE(input.describe());
    expectCounted(c.make(world()), input, /*infers=*/true);
    const Ref<Layer> stored = c.make(world()), container = newLayer(world(), "sequential");
    stored->setText("storage", "root");
    expectCounted(stored, input, /*infers=*/false);
    if (hasTarget(stored->setup({input}).network().list()))
      continue;
    appendLayer(*container, c.make(world()));
    container->set("recompute", true);
    expectCounted(container, input, /*infers=*/false);
  }
}

// A squeeze-and-excite block multiplies each channel of a field, which is split in space, by a
// factor that it computes of all means. The means are summed and the factors come to the field;
// each rank sends these few numbers to others at most twice, forwards and backwards, and the field
// stays.
TEST(PassCountsOfPatterns, AFieldStaysWhereItsMeansAreSummed) {
  const Shape shape = {2, 8, 32, 24};
  constexpr Index kMeans = 2 * 8;
  const auto newPoint = [](Index from, Index to) {
    const Ref<Layer> layer = newLayer(world(), "conv");
    layer->set("in_channels", from);
    layer->set("out_channels", to);
    layer->set("kernel", Shape{1, 1});
    return layer;
  };
  for (const std::string split : {"S2", "S3"})
    for (const bool isFirst : {true, false}) {
      SCOPED_TRACE(split + (isFirst ? " field, factor" : " factor, field"));
      const Ref<Layer> graph = newLayer(world(), "graph");
      int factor = addGraphNode(*graph, newLayer(world(), "globalaveragepooling"), {-1});
      factor = addGraphNode(*graph, newPoint(8, 2), {factor});
      factor = addGraphNode(*graph, newPointwise(world(), "relu"), {factor});
      factor = addGraphNode(*graph, newPoint(2, 8), {factor});
      factor = addGraphNode(*graph, newPointwise(world(), "sigmoid"), {factor});
      addGraphNode(*graph, newLayer(world(), "multiply"),
                   isFirst ? std::vector{-1, factor} : std::vector{factor, -1});
      const Layout field = onWorld(shape, split);
      Step step(graph, field);
      EXPECT_EQ(step.y->layout(), field);
      fillParameters(*graph);
      fillValid(*step.x, 1);
      fillValid(*step.dy, 2);
      const Index most = 2 * kMeans * (world()->size() - 1) * Index(sizeof(double));
      EXPECT_LE(sentIn([&] { step.apply(); }).second, most);
      EXPECT_LE(sentIn([&] { step.adjoint(); }).second, most);
    }
}

INSTANTIATE_TEST_SUITE_P(Layers, PassCounts, testing::ValuesIn(layerCases()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon::test

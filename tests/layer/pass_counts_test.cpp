// SPDX-License-Identifier: BSD-2-Clause
// The messages and bytes that are counted from a compiled network (compile/prices/pass_prices.hpp)
// are those that its passes send, by the log: for every layer (layer_cases.hpp) in random layouts,
// with norms, maxima, halos and data that circulate within kernels; in training, in the adjoint and
// in inference; and in a container that recomputes.
#include "compile/prices/pass_prices.hpp"
#include "layer_run.hpp"
#include "sent_in.hpp"
#include "support/draws.hpp"

namespace tenon::test {
namespace {

Sent countedFrom(const CompiledNetwork& network, const Pass& pass) {
  const MovementTarget target = MovementPolicy::fromOptions().on(*world());
  const Index elementBytes = network.network().elementBytes;
  Sent sum;
  for (const PassMove& move : movesOf(network, network.list(), pass)) {
    const Traffic sent = sentFor(move, world()->rank(), /*isOwn=*/true, elementBytes, target);
    sum.first += move.times * sent.messages;
    sum.second += move.times * sent.elements * elementBytes;
  }
  return sum;
}

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

INSTANTIATE_TEST_SUITE_P(Layers, PassCounts, testing::ValuesIn(layerCases()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon::test

// SPDX-License-Identifier: BSD-2-Clause
// Several convolutions that share one halo exchange (setting halo_depth): the first exchange brings
// a halo for all of them, and layers compute parts of their halos themselves. Compared with the
// same network with an exchange before each layer: values, tangents, cotangents and gradients are
// the same, and the messages are those of one exchange.
#include "layer/derivatives/derivative_check.hpp"
#include "layer_run.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

namespace tenon {
namespace {

using test::gathered;
using test::onWorld;
using test::world;

constexpr double kRounding = 1e-12;
constexpr Index kChannels = 2;

// A convolution whose output has the extents of its input.
Ref<Layer> convolution(const std::string& boundary, const std::vector<Index>& kernel = {3, 3}) {
  const auto layer = test::newLayer(world(), "conv");
  layer->set("in_channels", kChannels);
  layer->set("out_channels", kChannels);
  layer->set("kernel", kernel);
  layer->set("padding", std::vector<Index>{kernel[0] / 2, kernel[1] / 2});
  layer->setText("boundary", boundary);
  return layer;
}

Ref<Layer> columnMlp() {
  const auto layer = test::newLayer(world(), "columnmlp");
  layer->set("widths", std::vector<Index>{kChannels, 5, kChannels});
  return layer;
}

using Layers = std::vector<Ref<Layer>>;

// A sequence of layers in which up to `depth` layers share a halo exchange.
Ref<Layer> inRow(const Layers& layers, Index depth) {
  const auto net = test::newLayer(world(), "sequential");
  net->set("halo_depth", depth);
  for (const auto& layer : layers)
    appendLayer(*net, layer);
  return net;
}

// Four convolutions with pointwise layers between them.
Ref<Layer> closure(const std::string& boundary, Index depth) {
  return inRow({convolution(boundary), test::newPointwise(world(), "tanh"),
                convolution(boundary, {5, 3}), columnMlp(), convolution(boundary),
                test::newPointwise(world(), "gelu"), convolution(boundary, {1, 3})},
               depth);
}

// The results of one run, and the messages that it has sent.
struct Found {
  std::vector<std::vector<double>> values; // output, tangent, cotangent, gradients
  Index applied = 0, adjoint = 0;          // messages that this rank sent
};

Index messages() {
  Index sum = 0;
  for (const EventRecord& record : logSnapshot())
    sum += record.messages;
  return sum;
}

template <class Call>
Index sentBy(Call&& call) {
  logReset();
  logEnable(true);
  call();
  const Index sent = messages();
  logEnable(false);
  return sent;
}

// Applies the network, its tangent and its adjoint to fixed random values.
Found run(const Ref<Layer>& net, const Layout& field) {
  test::Step step(net, field);
  test::fillParameters(*net);
  for (const auto& p : net->parameters())
    p->zeroGradient();
  test::fillValid(*step.x, 1);
  const auto direction = test::tensor(field), moved = test::tensor(step.y->layout());
  test::fillValid(*direction, 2);
  test::fillValid(*step.dy, 3);
  Found found;
  found.applied = sentBy([&] { step.apply(); });
  net->applyTangent(direction.get(), *moved);
  found.adjoint = sentBy([&] { step.adjoint(); });
  for (const DTensor* tensor : {step.y.get(), moved.get(), step.dx.get()})
    found.values.push_back(gathered(*tensor));
  for (const auto& p : net->parameters())
    found.values.push_back(gathered(p->gradient()));
  return found;
}

void expectSame(const Found& got, const Found& want, const std::string& what) {
  ASSERT_EQ(got.values.size(), want.values.size()) << what;
  for (std::size_t i = 0; i < want.values.size(); ++i)
    ASSERT_NO_FATAL_FAILURE(test::expectNear(got.values[i], want.values[i], kRounding,
                                             fmt::format("{}, result {}", what, i)));
}

// Layouts that split rows over all ranks, rows and columns, and rows in blocks of 0, 1 and more
// rows.
std::vector<Layout> fields() {
  const int ranks = world()->size();
  std::vector<Layout> all = {onWorld({2, kChannels, 24, 9}, "S2"),
                             onWorld({1, kChannels, 7, 6}, "S3")};
  if (ranks % 2 == 0)
    all.push_back(onWorld({1, kChannels, 11, 13}, {2, ranks / 2}, "S2,S3"));
  LayoutSpec uneven = onWorld({1, kChannels, 9, 8}, "S2").spec();
  // Of the 9 rows, the first part has one, the second none, the third most, and all others one.
  for (int part = 1; part < ranks; ++part)
    uneven.cuts[2][part] = part == 1 ? 1 : part == 2 ? 1 : 9 - ranks + part;
  all.push_back(Layout(uneven));
  return all;
}

class HaloDepth : public testing::TestWithParam<const char*> {};

TEST_P(HaloDepth, GivesWhatAnExchangeBeforeEachLayerGives) {
  const std::string boundary = GetParam();
  for (const Layout& field : fields()) {
    const Found want = run(closure(boundary, 1), field);
    for (const Index depth : {2, 4}) {
      const auto net = closure(boundary, depth);
      const Found got = run(net, field);
      ASSERT_NO_FATAL_FAILURE(
          expectSame(got, want, fmt::format("{} depth {} {}", boundary, depth, field.describe())));
      EXPECT_LE(checkLayerAdjoint(*net, nullptr, 7).relativeError, 1e-13);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, HaloDepth,
                         testing::Values("none", "zero", "periodic", "reflect", "replicate",
                                         "symmetric", "odd", "odd_point", "reflect/zero,periodic",
                                         "periodic,odd/replicate", "zero;0=odd"));

// Blocks are wider than the halo of all four layers, so messages come from direct neighbours only.
TEST(HaloDepth, SendsOneExchangeForAll) {
  for (const char* boundary : {"zero", "periodic"}) {
    const Layout field = onWorld({1, kChannels, 8 * Index(world()->size()), 6}, "S2");
    const auto four = [&](Index depth) {
      Layers layers;
      for (int i = 0; i < 4; ++i) {
        layers.push_back(convolution(boundary));
        layers.push_back(test::newPointwise(world(), "tanh"));
      }
      return run(inRow(layers, depth), field);
    };
    const Found each = four(1), pairs = four(2), all = four(4);
    EXPECT_EQ(each.applied, 2 * pairs.applied);
    EXPECT_EQ(each.applied, 4 * all.applied);
    EXPECT_EQ(each.adjoint, 4 * all.adjoint);
    if (world()->size() > 1) {
      EXPECT_GT(all.applied, 0);
    }
    ASSERT_NO_FATAL_FAILURE(expectSame(pairs, each, boundary));
    ASSERT_NO_FATAL_FAILURE(expectSame(all, each, boundary));
  }
}

// If two convolutions read a value, it has the halo that both need.
TEST(HaloDepth, IsSharedByAllReaders) {
  const auto make = [](Index depth) {
    const auto graph = test::newLayer(world(), "graph");
    graph->set("halo_depth", depth);
    const int first = addGraphNode(*graph, convolution("reflect"), {-1}),
              left = addGraphNode(*graph, convolution("zero", {3, 5}), {first}),
              right = addGraphNode(*graph, convolution("replicate", {5, 1}), {first}),
              next = addGraphNode(*graph, convolution("odd"), {right});
    addGraphNode(*graph, test::newLayer(world(), "add"), {left, next});
    return graph;
  };
  for (const Layout& field : fields())
    ASSERT_NO_FATAL_FAILURE(expectSame(run(make(3), field), run(make(1), field), field.describe()));
}

// Strides, dilation, windows of even size, windows that skip a part of the domain, and poolings.
Ref<Layer> mixed(const std::string& boundary, Index depth) {
  const auto strided = convolution(boundary), spaced = convolution(boundary),
             even = convolution(boundary, {4, 2});
  strided->set("stride", std::vector<Index>{2, 1});
  spaced->set("dilation", std::vector<Index>{2, 1});
  spaced->set("padding", std::vector<Index>{2, 1});
  even->set("padding", std::vector<Index>{1, 1});
  even->set("padding_high", std::vector<Index>{2, 0});
  const Window around{.kernel = 3, .padLow = 1, .padHigh = 1}, half{.kernel = 2, .stride = 2};
  return inRow(
      {strided, test::newPointwise(world(), "tanh"),
       test::newPooling(world(), PoolingMode::AverageExcludePad,
                        std::vector<Window>{around, around}),
       spaced, even,
       test::newPooling(world(), PoolingMode::AverageIncludePad, std::vector<Window>{around, half}),
       convolution(boundary)},
      depth);
}

TEST(HaloDepth, WithOtherWindows) {
  for (const char* boundary : {"none", "periodic", "odd/replicate"})
    for (const Layout& field : fields())
      for (const Index depth : {3, 9})
        ASSERT_NO_FATAL_FAILURE(
            expectSame(run(mixed(boundary, depth), field), run(mixed(boundary, 1), field),
                       fmt::format("{} depth {} {}", boundary, depth, field.describe())));
}

TEST(HaloDepth, OfPoolings) {
  const auto poolings = [](Index depth) {
    Layers layers;
    for (PoolingMode mode : {PoolingMode::Max, PoolingMode::AverageIncludePad, PoolingMode::Max}) {
      layers.push_back(test::newPooling(
          world(), mode,
          std::vector<Window>{{.kernel = 3, .padLow = 1, .padHigh = 1}, {.kernel = 2}}));
      layers.push_back(convolution("none", {1, 1}));
    }
    return inRow(layers, depth);
  };
  for (const Layout& field : fields())
    ASSERT_NO_FATAL_FAILURE(
        expectSame(run(poolings(3), field), run(poolings(1), field), field.describe()));
}

// A solver has filled ghost cells within the domain, as wide as all layers together need: no
// message is sent.
TEST(HaloDepth, OfGhostCellsThatTheCallerHasFilled) {
  const Layout plain = onWorld({1, kChannels, 8 * Index(world()->size()), 6}, "S2");
  LayoutSpec spec = plain.spec();
  Halo halo;
  for (int part = 0; part < plain.parts(2); ++part)
    halo.boxes.push_back({plain.owned(2, part).begin - 4, plain.owned(2, part).end + 4});
  spec.halos[2] = halo;
  const Layout wide(spec);
  const auto four = [](Index depth) {
    return inRow({convolution("zero"), test::newPointwise(world(), "tanh"), convolution("reflect"),
                  convolution("odd"), convolution("replicate")},
                 depth);
  };
  test::Step want(four(1), plain), got(four(4), wide);
  for (test::Step* step : {&want, &got}) {
    test::fillParameters(*step->layer);
    test::fillValid(*step->dy, 3);
  }
  test::fillValid(*want.x, 1);
  const auto exchange = makeConversion(world(), plain, wide, TENON_FLOAT64);
  exchange->apply(*want.x, *got.x);
  want.apply();
  want.adjoint();
  EXPECT_EQ(sentBy([&] {
              got.apply();
              got.adjoint();
            }),
            0);
  test::expectNear(gathered(*got.y), gathered(*want.y), kRounding, "output");
  const auto dx = test::tensor(plain.dual());
  exchange->applyAdjoint(*got.dx, *dx);
  test::expectNear(gathered(*dx), gathered(*want.dx), kRounding, "cotangent");
}

// A layer that is several nodes of a sequence, and is also set up alone for the same input.
TEST(HaloDepth, OfALayerThatIsUsedTwice) {
  const Layout field = onWorld({1, kChannels, 8 * Index(world()->size()), 6}, "S2");
  const auto twice = [&](Index depth) {
    const auto conv = convolution("zero"), relu = test::newPointwise(world(), "sigmoid");
    const auto net = inRow({conv, relu, conv, relu, conv}, depth);
    const Found found = run(net, field);
    test::Step alone(conv, field);
    EXPECT_FALSE(alone.y->layout().hasHalos());
    return found;
  };
  ASSERT_NO_FATAL_FAILURE(expectSame(twice(3), twice(1), "twice"));
}

// Sharing ends at a layer that needs the whole input, and where readers have different boundary
// modes.
TEST(HaloDepth, EndsAtLayersThatCannotShareAHalo) {
  const auto normalised = [](Index depth) {
    const auto norm = test::newLayer(world(), "batchnorm");
    norm->set("channels", kChannels);
    return inRow({convolution("zero"), norm, convolution("periodic"), convolution("zero")}, depth);
  };
  for (const Layout& field : fields())
    ASSERT_NO_FATAL_FAILURE(
        expectSame(run(normalised(4), field), run(normalised(1), field), field.describe()));
}

TEST(HaloDepth, OfOneLayerIsASetting) {
  const Layout field = onWorld({1, kChannels, 8 * Index(world()->size()), 6}, "S2");
  const auto three = [](const char* second, const char* third) {
    const auto b = convolution("zero"), c = convolution("zero");
    b->setText("halo", second);
    c->setText("halo", third);
    return inRow({convolution("zero"), b, c}, 1);
  };
  const Found want = run(three("auto", "auto"), field),
              two = run(three("compute", "exchange"), field),
              one = run(three("compute", "compute"), field);
  EXPECT_EQ(3 * two.applied, 2 * want.applied);
  EXPECT_EQ(3 * one.applied, want.applied);
  ASSERT_NO_FATAL_FAILURE(expectSame(two, want, "two"));
  ASSERT_NO_FATAL_FAILURE(expectSame(one, want, "one"));
}

TEST(HaloDepth, IsRefusedIfTheHaloCannotBeComputed) {
  const Layout field = onWorld({1, kChannels, 8, 6}, "S2");
  const auto requested = [](const Layers& before) {
    const auto last = convolution("zero");
    last->setName("last");
    last->setText("halo", "compute");
    Layers all = before;
    all.push_back(last);
    return inRow(all, 1);
  };
  const auto norm = test::newLayer(world(), "batchnorm");
  norm->set("channels", kChannels);
  test::expectErrorOnAll(TENON_ERR_SUPPORT, {"last", "batchnorm", "set halo to exchange"}, [&] {
    requested({convolution("zero"), norm})->setUp(field);
  });
  test::expectErrorOnAll(TENON_ERR_SUPPORT, {"last", "outside of its container"},
                         [&] { requested({})->setUp(field); });
  if (world()->size() > 1)
    test::expectErrorOnAll(TENON_ERR_SUPPORT, {"last", "boundary mode \"values\""}, [&] {
      const auto values = convolution("values");
      values->set("boundary_constant", 1.0);
      requested({values})->setUp(field);
    });
}

} // namespace
} // namespace tenon

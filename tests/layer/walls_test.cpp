// SPDX-License-Identifier: BSD-2-Clause
// Fields between walls: the channels u, v, w and p of a flow with their own boundary modes in one
// convolution, against values that are written out from the definitions of the modes (beyond()).
// Further tests: ghost cells that a solver has filled, derivatives with respect to these, and
// errors.
#include "declaration/core/windowed.hpp"
#include "dtensor/measure.hpp"
#include "layer/derivatives/derivative_check.hpp"
#include "layer_run.hpp"
#include "support/conversion_definition.hpp"
#include "sys/expect_error.hpp"
#include "sys/log/log.hpp"
#include "sys/options/options.hpp"

#include <cmath>
#include <limits>

namespace tenon {
namespace {

using test::gathered;
using test::tensor;
using test::world;
using Values = std::vector<double>;

// [batch, (u, v, w, p), y, x], with walls in y and periodic in x.
const Shape kField = {2, 4, 9, 5};
const char* const kModes = "odd,periodic;0=odd_point,periodic;3=symmetric,periodic";

// Layouts that split y into uneven blocks, x, channels, and both y and x.
std::vector<Layout> decompositions() {
  const int ranks = world()->size();
  LayoutSpec uneven{
      .shape = kField, .grid = Grid::make({ranks}), .properties = parseProperties("S2")};
  std::vector<Index> cuts = {0};
  for (int part = 1; part < ranks; ++part)
    cuts.push_back(part); // one row each, so a halo of two rows comes from two neighbours
  cuts.push_back(kField[2]);
  uneven.cuts = {{}, {}, cuts, {}};
  if (ranks == 1)
    return {Layout(uneven)};
  std::vector<Layout> all = {Layout(uneven), test::onWorld(kField, "S3"),
                             test::onWorld(kField, "S1")};
  if (ranks % 2 == 0)
    all.push_back(test::onWorld(kField, {2, ranks / 2}, "S2,S3"));
  return all;
}

Ref<Layer> convolution(const std::string& modes, Index outputs = 3) {
  const Window window{.kernel = 5, .padLow = 2, .padHigh = 2};
  const auto layer = test::newConv(world(), kField[1], outputs, {window, window});
  layer->setText("boundary", modes);
  layer->setDataType(TENON_FLOAT64);
  return layer;
}

// Convolution, pointwise function, convolution; both convolutions have walls.
Ref<Layer> closure(const Ref<Layer>& first, bool skips) {
  const auto net = test::newLayer(world(), skips ? "graph" : "sequential");
  const auto second = convolution(kModes, 4);
  net->setDataType(TENON_FLOAT64);
  if (skips) {
    const int h =
        addGraphNode(*net, test::newPointwise(world(), "tanh"), {addGraphNode(*net, first, {-1})});
    addGraphNode(*net, test::newLayer(world(), "add"), {addGraphNode(*net, second, {h}), -1});
  } else {
    appendLayer(*net, first);
    appendLayer(*net, test::newPointwise(world(), "tanh"));
    appendLayer(*net, second);
  }
  return net;
}

// The value at (c, y, x) of a field with rows beyond the walls, by the definitions of the modes: a
// row is reflected at the wall, which goes through the outermost points of channel 0 (odd_point),
// and between points otherwise; the sign changes for the velocities u, v, w, but not for p.
double beyond(const Values& field, Index n, Index c, Index y, Index x) {
  const Index rows = kField[2], columns = kField[3];
  double sign = 1;
  if (y < 0 || y >= rows) {
    const bool onPoint = c == 0;
    sign = c == 3 ? 1 : -1;
    y = y < 0 ? -y - (onPoint ? 0 : 1) : 2 * rows - 1 - y - (onPoint ? 1 : 0);
  }
  x = (x + columns) % columns;
  return sign * field[static_cast<std::size_t>(((n * 4 + c) * rows + y) * columns + x)];
}

// The convolution of all channels by its definition, with the cells beyond the walls.
Values expectedOutput(const Values& x, const Values& w, const Values& b) {
  Values y;
  test::forEach({kField[0], 3, kField[2], kField[3]}, [&](const std::vector<Index>& at) {
    double sum = b[at[1]];
    for (Index c = 0; c < 4; ++c)
      for (Index i = 0; i < 5; ++i)
        for (Index j = 0; j < 5; ++j)
          sum += w[((at[1] * 4 + c) * 5 + i) * 5 + j] *
                 beyond(x, at[0], c, at[2] + i - 2, at[3] + j - 2);
    y.push_back(sum);
  });
  return y;
}

TEST(Walls, ChannelsCanHaveDifferentModes) {
  for (const char* transport : {"messages", "shared"}) {
    if (transport == std::string("shared") && world()->size() > 1 && !world()->arena())
      continue;
    options().set("-tenon_conversion_transport", transport);
    for (const Layout& layout : decompositions())
      for (const char* overlap : {"on", "off"}) {
        const auto layer = convolution(kModes);
        layer->setText("overlap", layout.property(0) == Property::shard(1) ? "off" : overlap);
        test::Step step(layer, layout);
        test::fillParameters(*layer);
        test::fillValid(*step.x, 1);
        test::fillValid(*step.dy, 2);
        step.apply();
        const auto p = layer->parameters();
        test::expectNear(
            gathered(*step.y),
            expectedOutput(gathered(*step.x), gathered(p[0]->value()), gathered(p[1]->value())),
            1e-13, layer->describe());
        layer->clearStack();
        EXPECT_LT(checkLayerAdjoint(*layer, nullptr, 3).relativeError, 1e-13) << layer->describe();
      }
    options().clear();
  }
}

TEST(Walls, NetworksBetweenWallsHaveExactDerivatives) {
  for (const Layout& layout : decompositions())
    for (const bool skips : {false, true}) {
      const auto net = closure(convolution(kModes, 4), skips);
      net->setUp(layout);
      test::fillParameters(*net);
      EXPECT_LT(checkLayerAdjoint(*net, nullptr, 5).relativeError, 1e-13);
      EXPECT_NEAR(checkLayerTaylor(*net, nullptr, 6).order, 2, 0.05);
    }
}

// The layout of an input whose ghost cells, two wide, have the values that this mode defines beyond
// the domain.
Layout withGhosts(const Layout& plain, Boundary mode, Index width = 2) {
  LayoutSpec spec = plain.spec();
  for (const int d : {2, 3}) {
    Halo halo{.boxes = {}, .low = mode, .high = mode};
    for (int part = 0; part < plain.parts(d); ++part)
      halo.boxes.push_back({plain.owned(d, part).begin - width, plain.owned(d, part).end + width});
    spec.halos[d] = halo;
  }
  return Layout(std::move(spec));
}

// The layout in which the layer itself uses the input, after its halo exchange.
Layout exchanged(const Layout& plain) {
  return convolution(kModes)->form({plain}).uses.front();
}

// The convolution for an input whose ghost cells the caller has filled.
Ref<Layer> filledConvolution(const std::string& modes = kModes, Index outputs = 3) {
  const auto layer = convolution(modes, outputs);
  layer->set("filled", true);
  return layer;
}

Index messagesOf(const std::function<void()>& call) {
  logReset();
  logEnable(true);
  call();
  Index sum = 0;
  for (const EventRecord& record : logSnapshot())
    sum += record.messages;
  logEnable(false);
  return sum;
}

// Copies the array between two layouts with the same boxes.
void copyMemory(const DTensor& from, DTensor& to) {
  ASSERT_EQ(from.localElements(), to.localElements());
  std::copy_n(from.data<double>(), from.localElements(), to.mutableData<double>());
}

// Ghost cells that were filled by a halo exchange, in arrays whose layout has other modes or wider
// halos.
TEST(Walls, FilledHalosGiveWhatTheExchangeGives) {
  for (const Layout& plain : decompositions()) {
    const Layout own = exchanged(plain);
    test::Step want(convolution(kModes), plain);
    for (const Boundary mode : {Boundary::Values, Boundary::Odd})
      for (const char* layerModes : {kModes, "none", "values,periodic"}) {
        const Layout ghosts = withGhosts(plain, mode);
        test::Step got(filledConvolution(layerModes), ghosts);
        for (test::Step* step : {&want, &got}) {
          test::fillParameters(*step->layer);
          test::fillValid(*step->x, 1);
          test::fillValid(*step->dy, 2);
        }
        const auto exchange = makeConversion(world(), plain, own, TENON_FLOAT64);
        const auto whole = tensor(own);
        exchange->apply(*want.x, *whole);
        copyMemory(*whole, *got.x);
        want.apply();
        want.layer->zeroGradients();
        want.adjoint();
        got.layer->zeroGradients();
        EXPECT_EQ(messagesOf([&] { got.apply(); }), 0);
        got.adjoint();
        test::expectNear(gathered(*got.y), gathered(*want.y), 1e-14, got.layer->describe());
        const auto contributions = tensor(own.dual()), dx = tensor(plain.dual());
        copyMemory(*got.dx, *contributions);
        exchange->applyAdjoint(*contributions, *dx);
        test::expectNear(gathered(*dx), gathered(*want.dx), 1e-13, got.layer->describe());
      }
  }
}

// Every ghost cell on every rank has its own value and direction: the derivative includes the
// values at the walls. order = log2(|remainder(h)| / |remainder(h / 2)|).
TEST(Walls, TheValuesOfGhostCellsAreDifferentiated) {
  for (const Layout& plain : decompositions())
    for (const bool skips : {false, true})
      for (const Index width : {2, 3}) {
        const Layout ghosts = withGhosts(plain, Boundary::Values, width);
        const auto net = closure(filledConvolution(kModes, 4), skips);
        test::Step step(net, ghosts);
        test::fillParameters(*net);
        fillRaw(*step.x, 1, /*integers=*/false);
        fillRaw(*step.dy, 2, /*integers=*/false);
        const auto direction = tensor(ghosts), moved = tensor(ghosts),
                   y = tensor(net->outputLayout());
        fillRaw(*direction, 3, /*integers=*/false);
        step.apply();
        step.adjoint();
        const double before = pairing(*step.y, *step.dy), slope = pairing(*direction, *step.dx);
        EXPECT_GT(std::abs(slope), 1e-3);
        Values remainders;
        for (const double h : {0.002, 0.001}) {
          copyMemory(*step.x, *moved);
          axpby(h, *direction, 1, *moved);
          net->setTraining(false);
          net->apply(*moved, *y);
          net->setTraining(true);
          remainders.push_back(pairing(*y, *step.dy) - before - h * slope);
        }
        EXPECT_NEAR(std::log2(std::abs(remainders[0] / remainders[1])), 2, 0.05) << net->describe();
      }
}

// The array of an input is gathered before it is read, instead of using zeros; an output is only
// scattered.
TEST(Walls, ComponentsAreGatheredBeforeTheyAreRead) {
  const auto layer = test::newPointwise(world(), "tanh");
  layer->setDataType(TENON_FLOAT64);
  test::Step step(layer, test::onWorld({1, 2, 4 * world()->size()}, "S2"));
  std::vector<double> memory(8, 0.5), result(8);
  const auto place = [](DTensor& x, std::vector<double>& values) {
    x.placeArrays(1, {values.data(), values.data() + 4}, {0, 0, 1}, {0, 0, 0}, {0, 0, 0},
                  /*readOnly=*/false);
  };
  place(*step.x, memory);
  place(*step.x, memory); // before each step
  place(*step.y, result);
  expectError(TENON_ERR_STATE, {"never gathered", "TenonDTensorGatherArrays()"},
              [&] { step.apply(); });
  step.x->gatherArrays();
  step.apply();
  step.y->scatterArrays();
  EXPECT_NEAR(result[7], std::tanh(0.5), 1e-14);
  place(*step.x, memory); // the values of the last gather remain
  layer->clearStack();
  step.apply();
}

TEST(Walls, CheckedGhostsNameTheFirstThatIsNotANumber) {
  const Layout ghosts = withGhosts(decompositions().front(), Boundary::Values);
  for (const bool inNetwork : {false, true}) {
    const auto first = filledConvolution(kModes, 4);
    const auto layer = inNetwork ? closure(first, /*skips=*/true) : first;
    layer->setName("closure1");
    layer->set("check_ghosts", true);
    test::Step step(layer, ghosts);
    test::fillParameters(*layer);
    fillRaw(*step.x, 1, /*integers=*/false);
    layer->setTraining(false);
    step.apply();
    // The first row of the domain is beyond the lower wall for the first rank only.
    if (world()->rank() != 0)
      continue;
    step.x->mutableData<double>()[0] = std::numeric_limits<double>::quiet_NaN();
    expectError(TENON_ERR_NOT_FINITE,
                {inNetwork ? "layer 0 (conv) of layer \"closure1\": a ghost cell" : "closure1",
                 "[0,0,-2,-2]", "rank 0"},
                [&] { layer->checkGhosts(std::array<const DTensor*, 1>{step.x.get()}); });
  }
}

TEST(Walls, AreRefusedWithTheReason) {
  const Layout plain = decompositions().front();
  const auto refused = [&](const std::string& modes, std::initializer_list<const char*> words) {
    test::expectErrorOnAll(TENON_ERR_SHAPE, words, [&] { convolution(modes)->setUp(plain); });
  };
  refused("odd;zero", {"2 channels", "there are 4"});
  refused("odd;5=zero", {"up to 5", "there are 4"});
  expectError(TENON_ERR_ARG, {"channels \"1:1\""}, [] { convolution("odd;1:1=zero"); });
  expectError(TENON_ERR_ARG, {"sideways"}, [] { convolution("odd;1=sideways"); });
  test::expectErrorOnAll(TENON_ERR_LAYOUT, {"filled", "has none"},
                         [&] { filledConvolution()->setUp(plain); });
  // A rank with the whole domain fills the cells beyond it itself; a rank with one row and two
  // ghost rows cannot.
  if (plain.parts(2) > 1)
    test::expectErrorOnAll(TENON_ERR_LAYOUT, {"ghost cells before dimension 2"},
                           [&] { filledConvolution()->setUp(withGhosts(plain, Boundary::None)); });
  test::expectErrorOnAll(TENON_ERR_LAYOUT, {"widen the halos"}, [&] {
    filledConvolution()->setUp(withGhosts(plain, Boundary::Values, 1));
  });
}

// For any number of ranks. Ghost cells that no window reads because of the kind of layer, and halos
// inside the domain, are not errors.
TEST(Walls, FilledGhostsThatNoWindowReadsAreRefused) {
  const Layout plain = decompositions().front(), ghosts = withGhosts(plain, Boundary::Values);
  const auto unpadded = [](Index kernel, Index stride) {
    const auto layer =
        test::layerWith("averagepooling", {{"kernel", std::vector<Index>{kernel, kernel}},
                                           {"stride", std::vector<Index>{stride}},
                                           {"filled", true}});
    return layer;
  };
  test::expectErrorOnAll(TENON_ERR_LAYOUT, {"read by no window", "dimension 2", "SetPadding"},
                         [&] { unpadded(3, 1)->setUp(ghosts); });
  unpadded(1, 1)->setUp(ghosts);
  unpadded(2, 2)->setUp(ghosts);
  unpadded(3, 1)->setUp(withGhosts(plain, Boundary::None));
}

} // namespace
} // namespace tenon

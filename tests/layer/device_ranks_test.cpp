// SPDX-License-Identifier: BSD-2-Clause
// Layers on the devices of several processes, compared with the same layers on the host: outputs,
// tangents, gradients, and the parameters after steps of training, for many distributions of the
// input.
#include "dtensor/host_view.hpp"
#include "layer_run.hpp"
#include "support/draws.hpp"
#include "sys/options/options.hpp"
#include "train/optimizer.hpp"

#include <array>
#include <span>

namespace tenon {
namespace {

using test::expectNear;
using test::LayerCase;
using test::localCells;
using test::onWorld;
using test::world;
using Make = std::function<Ref<Layer>(CommPtr)>;
using Values = std::vector<std::vector<double>>;

Ref<DTensor> filled(const Layout& layout, TenonDataType type, Space space, std::uint64_t stream) {
  const auto host = makeRef<DTensor>(world(), layout, type);
  const auto x = makeRef<DTensor>(world(), layout, type, space);
  test::fillValid(*host, stream);
  copyLocal(*host, *x);
  return x;
}

// A run of a layer for inputs in these layouts, followed by one step of an optimizer if `optimizer`
// is set.
struct Training {
  Make make;
  Layouts inputs;
  std::string optimizer = {};

  Values run(TenonDataType type, Space space) const { return run(type, space, space); }
  // The layer is in the space `ofLayer`, its arguments are in `space`.
  Values run(TenonDataType type, Space ofLayer, Space space) const;
};

Values Training::run(TenonDataType type, Space ofLayer, Space space) const {
  const Ref<Layer> layer = make(world());
  layer->setDataType(type);
  layer->setSpace(ofLayer);
  layer->setUp(inputs);
  test::fillParameters(*layer);
  const Layout output = layer->outputLayout();
  std::vector<Ref<DTensor>> x, dx, directions;
  std::vector<const DTensor*> read, moved;
  std::vector<DTensor*> written;
  for (const Layout& input : inputs) {
    x.push_back(filled(input, type, space, 2 * x.size() + 1));
    directions.push_back(filled(input, type, space, 2 * x.size() + 20));
    dx.push_back(makeRef<DTensor>(world(), input.dual(), type, space));
    read.push_back(x.back().get());
    moved.push_back(directions.back().get());
    written.push_back(dx.back().get());
  }
  const auto dy = filled(output.dual(), type, space, 40);
  const auto y = makeRef<DTensor>(world(), output, type, space),
             ofDirection = makeRef<DTensor>(world(), output, type, space);
  Values values;
  for (int n = 0; n < 2; ++n) {
    layer->zeroGradients();
    layer->apply(read, *y);
    layer->applyTangent(moved, *ofDirection);
    layer->applyAdjoint(*dy, written);
    values.insert(values.end(), {localCells(*y), localCells(*ofDirection)});
    for (const auto& tensor : dx)
      values.push_back(localCells(*tensor));
    for (const auto& p : layer->parameters())
      values.push_back(localCells(p->direction()));
    if (optimizer.empty())
      break;
    makeOptimizer(optimizer, layer)->step();
    for (const auto& p : layer->parameters())
      values.push_back(localCells(p->value()));
  }
  return values;
}

constexpr TenonDataType kTypes[] = {TENON_FLOAT64, TENON_FLOAT32};

void expectSame(const Training& training, const std::string& what,
                std::span<const TenonDataType> types = kTypes) {
  for (TenonDataType type : types) {
    const Values want = training.run(type, Space::Host), got = training.run(type, Space::Device);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NO_FATAL_FAILURE(expectNear(got[i], want[i], type == TENON_FLOAT64 ? 1e-12 : 1e-5,
                                         fmt::format("{}, value {}", what, i)));
  }
}

// All cases except the layer of user functions, which run on the host only.
std::vector<LayerCase> casesOfDevice() {
  std::vector<LayerCase> cases = test::layerCases();
  std::erase_if(cases, [](const LayerCase& c) { return c.name == "shell"; });
  return cases;
}

class DeviceOnRanks : public testing::TestWithParam<LayerCase> {};

TEST_P(DeviceOnRanks, GivesWhatTheHostGives) {
  test::LayoutDraw draw(17);
  std::vector<Layout> inputs;
  for (const char* property : {"S0", "S2"})
    if (property[1] != '2' || GetParam().input.size() > 2)
      inputs.push_back(onWorld(GetParam().input, property));
  for (int n = 0; n < test::draws(2); ++n)
    inputs.push_back(test::drawInput(draw, GetParam().input));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    ASSERT_NO_FATAL_FAILURE(expectSame({.make = GetParam().make, .inputs = {inputs[i]}},
                                       GetParam().name + " of " + inputs[i].describe(),
                                       std::span(kTypes).subspan(i % 2, 1)));
}

INSTANTIATE_TEST_SUITE_P(Layers, DeviceOnRanks, testing::ValuesIn(casesOfDevice()),
                         [](const auto& info) { return info.param.name; });

// Parameters stored as they are used, split, or on one rank: gradients are summed, scattered or
// gathered.
TEST(DeviceTraining, IsThatOfTheHostForEveryStorage) {
  for (const auto& [storage, optimizer, property] :
       {std::array{"use", "sgd", "S0"}, std::array{"sharded", "adam", "S2"},
        std::array{"root", "sgd", "S2"}, std::array{"use", "adam", "S2"}}) {
    const Make net = [text = storage](CommPtr comm) {
      const auto layer = test::smallNet<PoolingMode::Max>(std::move(comm));
      layer->setText("storage", text);
      return layer;
    };
    ASSERT_NO_FATAL_FAILURE(expectSame(
        {.make = net, .inputs = {onWorld({5, 2, 8, 7}, property)}, .optimizer = optimizer},
        fmt::format("{} {} {}", storage, optimizer, property)));
  }
}

TEST(DeviceOnSeveralRanks, MultipliesMatrices) {
  for (const auto& [left, right] : {std::array{"S0", "S0"}, std::array{"S2", "S1"},
                                    std::array{"S1", "B"}, std::array{"B", "S2"}}) {
    const Make matmul = [](CommPtr comm) { return test::newLayer(std::move(comm), "matmul"); };
    ASSERT_NO_FATAL_FAILURE(expectSame(
        {.make = matmul, .inputs = {onWorld({3, 4, 5}, left), onWorld({3, 5, 6}, right)}},
        fmt::format("matmul {} {}", left, right)));
  }
}

// The mask depends on global indices only.
TEST(DeviceOnSeveralRanks, DropsTheSameElements) {
  const Make dropout = [](CommPtr comm) { return test::newDropout(std::move(comm), 0.3); };
  for (const char* property : {"S0", "S1", "B"})
    ASSERT_NO_FATAL_FAILURE(
        expectSame({.make = dropout, .inputs = {onWorld({7, 5}, property)}}, property));
}

// Convolutions whose output is computed in two parts: the interior during the halo exchange, and
// strips afterwards.
TEST(DeviceOnSeveralRanks, OverlapsWhenAsked) {
  const Make conv = [](CommPtr comm) {
    const Window same{.kernel = 3, .padLow = 1, .padHigh = 1};
    const auto layer = test::newConv(std::move(comm), 2, 3, std::vector<Window>{same, same});
    layer->setText("overlap", "on");
    return layer;
  };
  const Training training{.make = conv, .inputs = {onWorld({2, 2, 16, 5}, "S2")}};
  const Ref<Layer> layer = conv(world());
  layer->setSpace(Space::Device);
  layer->setUp(training.inputs);
  EXPECT_NE(layer->describe().find("strip 0 of the output"), std::string::npos)
      << layer->describe();
  ASSERT_NO_FATAL_FAILURE(expectSame(training, "on"));
}

// Four convolutions of a field that is periodic in both directions; one direction is within each
// rank.
struct Rounds {
  Index haloDepth = 1;
  bool hasGhosts = false; // whether the caller has filled the halo of the input
  bool trains = true;

  Layout input() const {
    const Index rows = 12 * world()->size();
    LayoutSpec spec = onWorld({1, 2, rows, 9}, "S2").spec();
    Halo halo{.boxes = {}, .low = Boundary::Periodic, .high = Boundary::Periodic};
    for (Index first = 0; first < rows; first += 12)
      halo.boxes.push_back({first - 1, first + 13});
    if (hasGhosts)
      spec.halos = {std::nullopt, std::nullopt, halo, std::nullopt};
    return Layout(spec);
  }

  // The results of several steps on the same arrays.
  Values run(Space space) const {
    const Ref<Layer> net = test::newLayer(world(), "sequential");
    const Window around{.kernel = 3,
                        .padLow = 1,
                        .padHigh = 1,
                        .lowMode = Boundary::Periodic,
                        .highMode = Boundary::Periodic};
    for (int n = 0; n < 4; ++n)
      appendLayer(*net, test::newConv(world(), 2, 2, std::vector<Window>{around, around}));
    net->set("halo_depth", haloDepth);
    net->setDataType(TENON_FLOAT64);
    net->setSpace(space);
    net->setUp(input());
    test::fillParameters(*net);
    net->setTraining(trains);
    const Layout plain = input().withoutHalos();
    const auto owned = filled(plain, TENON_FLOAT64, space, 1),
               x = makeRef<DTensor>(world(), input(), TENON_FLOAT64, space),
               dy = filled(net->outputLayout().dual(), TENON_FLOAT64, space, 2),
               y = makeRef<DTensor>(world(), net->outputLayout(), TENON_FLOAT64, space),
               dx = makeRef<DTensor>(world(), input().dual(), TENON_FLOAT64, space);
    makeConversion(world(), plain, input(), TENON_FLOAT64)->apply(*owned, *x);
    Values values;
    for (int n = 0; n < 5; ++n) {
      net->apply(*x, *y);
      values.push_back(localCells(*y));
      if (!trains)
        continue;
      net->applyAdjoint(*dy, dx.get());
      values.push_back(localCells(*dx));
    }
    return values;
  }
};

// The kernels between messages are recorded as CUDA graphs. Among them are kernels that fill halos
// from elements of the same rank, while messages of earlier layers are under way.
TEST(DeviceGraphs, RefillHalos) {
  for (const Rounds& rounds :
       {Rounds{.hasGhosts = true}, Rounds{.hasGhosts = true, .trains = false},
        Rounds{.haloDepth = 4, .trains = false}, Rounds{.haloDepth = 4}}) {
    const Values want = rounds.run(Space::Host);
    options().set("-tenon_device_graphs", "true");
    const Values got = rounds.run(Space::Device);
    options().set("-tenon_device_graphs", "false");
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_NO_FATAL_FAILURE(
          expectNear(got[i], want[i], 1e-13,
                     fmt::format("depth {} ghosts {} training {}, {}", rounds.haloDepth,
                                 rounds.hasGhosts, rounds.trains, i)));
  }
}

TEST(DeviceOnSeveralRanks, TakesTensorsOfEitherSpace) {
  const Training training{.make = test::smallNet<PoolingMode::Max>,
                          .inputs = {onWorld({5, 2, 8, 7}, "S2")},
                          .optimizer = "sgd"};
  EXPECT_EQ(training.run(TENON_FLOAT64, Space::Device, Space::Host),
            training.run(TENON_FLOAT64, Space::Device));
  EXPECT_EQ(training.run(TENON_FLOAT64, Space::Host, Space::Device),
            training.run(TENON_FLOAT64, Space::Host));
}

TEST(DeviceOnSeveralRanks, TwiceGivesTheSameBits) {
  const Training training{.make = test::smallNet<PoolingMode::Max>,
                          .inputs = {onWorld({5, 2, 8, 7}, "S2")},
                          .optimizer = "adam"};
  EXPECT_EQ(training.run(TENON_FLOAT32, Space::Device), training.run(TENON_FLOAT32, Space::Device));
}

} // namespace
} // namespace tenon

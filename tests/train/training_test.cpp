// SPDX-License-Identifier: BSD-2-Clause
// A network of LeNet's kind trained over several processes follows the one-process training: in
// float64 the losses of the first 50 steps agree to 1e-10.
#include "dtensor/fill.hpp"
#include "support/layers.hpp"
#include "support/world.hpp"
#include "sys/random.hpp"
#include "train/optimizer.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon {
namespace {

using test::world;

constexpr int kSteps = 50;
constexpr std::uint64_t kSeed = 3;

// How one network is distributed: the grid, the input's properties, and the signature of each of
// conv1, conv2, flatten, affine1, tanh, affine2 ("" lets the layer choose).
struct Distribution {
  std::string name;
  std::vector<int> grid;
  std::string input;
  std::vector<std::string> signatures;
  std::string convStorage = "use";
  std::string optimizer = "adam";
};

struct Network {
  Ref<Layer> layers;
  Ref<Layer> loss;
};

Network makeNetwork(const CommPtr& comm, const Distribution& d) {
  using Windows = std::vector<Window>;
  Network net{test::newLayer(comm, "sequential"), test::newLayer(comm, "crossentropy")};
  const Windows halving(2, Window{.kernel = 2, .stride = 2});
  auto add = [&](Ref<Layer> layer, int signature, bool stored = false) {
    if (signature >= 0 && !d.signatures.empty())
      layer->setText("signature", d.signatures[signature]);
    if (stored)
      layer->setText("storage", d.convStorage);
    appendLayer(*net.layers, layer);
  };
  add(test::newConv(comm, 1, 4, Windows(2, Window{.kernel = 5, .padLow = 2, .padHigh = 2})), 0,
      true);
  add(test::newPointwise(comm, "relu"), -1);
  add(test::newPooling(comm, PoolingMode::Max, halving), -1);
  add(test::newConv(comm, 4, 6, Windows(2, Window{.kernel = 3})), 1, true);
  add(test::newPointwise(comm, "relu"), -1);
  add(test::newPooling(comm, PoolingMode::AverageExcludePad, halving), -1);
  add(test::newLayer(comm, "flatten"), 2);
  add(test::newAffine(comm, 6 * 2 * 2, 20), 3); // 12 x 12 pixels have become 2 x 2
  add(test::newPointwise(comm, "tanh"), 4);
  add(test::newAffine(comm, 20, 10), 5);
  add(net.loss, -1);
  net.layers->setDataType(TENON_FLOAT64);
  return net;
}

std::vector<double> losses(const CommPtr& comm, const Distribution& d) {
  Network net = makeNetwork(comm, d);
  const GridPtr grid = Grid::make(d.grid);
  const Layout input(
      {.shape = {16, 1, 12, 12}, .grid = grid, .properties = parseProperties(d.input)});
  const Layout labels(
      {.shape = {16}, .grid = grid, .properties = Properties(grid->axes(), Property::broadcast())});
  net.layers->setUp(input);
  net.layers->initialize(kSeed, 0);
  const Ref<Optimizer> optimizer = makeOptimizer(d.optimizer, net.layers);
  optimizer->set("learning_rate", 0.01);

  DTensor x(comm, input, TENON_FLOAT64);
  const Ref<DTensor> target = makeRef<DTensor>(comm, labels, TENON_INT64);
  const Layout output = net.layers->outputLayout(input);
  DTensor y(comm, output, TENON_FLOAT64), seed(comm, output.dual(), TENON_FLOAT64);
  fillConstant(seed, 1);
  net.loss->setTarget(target);
  std::vector<double> result;
  for (int step = 0; step < kSteps; ++step) {
    const std::uint64_t batch = step % 4; // seen several times, so that there is something to learn
    fillUniform(x, kSeed, 100 + batch, 0, 1);
    fillByIndex(*target,
                [&](Index n) { return std::floor(10 * uniformAt(kSeed, 200 + batch, n)); });
    net.layers->apply(x, y);
    net.layers->applyAdjoint(seed, nullptr);
    optimizer->step();
    result.push_back(y.localElements() > 0 ? y.data<double>()[0] : NAN);
  }
  return result;
}

// As many distributions as fit the number of ranks; on one rank they are formal, but must work too.
std::vector<Distribution> distributions() {
  const int ranks = world()->size();
  // {name, grid, properties of the input, signatures, storage of convolutions' parameters,
  // optimizer}
  std::vector<Distribution> list = {
      {"batch", {ranks}, "S0", {}},
      {"height", {ranks}, "S2", {}},
      {"width", {ranks}, "S3", {}},
      {"channels", {ranks}, "B", {"o", "i", "c", "i", "S1", "i"}},
      {"channels_by_default", {ranks}, "B", {}},
      {"from_the_root", {ranks}, "R", {"h", "w", "n", "o", "S1", "i"}},
      {"batch_sgd_sharded", {ranks}, "S0", {}, "S0", "sgd"},
  };
  if (ranks % 2 == 0) {
    const int half = ranks / 2;
    list.push_back(
        {"features_2x2", {2, half}, "S2,S3", {"h,w", "h,w", "B,c", "o,i", "S1,B", "i,o"}, "root"});
    list.push_back({"batch_and_height", {half, 2}, "S0,S2", {}});
    list.push_back(
        {"batch_and_channels", {half, 2}, "S0,B", {"n,o", "n,i", "n,c", "n,i", "S0,B", "n,o"}});
  }
  return list;
}

TEST(Training, FollowsTheOneProcessLossesTo1e10) {
  const std::vector<Distribution> list = distributions();
  for (const Distribution& d : list) {
    Distribution alone{"alone", {1}, "B", {}};
    alone.optimizer = d.optimizer;
    const std::vector<double> want = losses(Communicator::of(MPI_COMM_SELF), alone);
    const std::vector<double> got = losses(world(), d);
    EXPECT_LT(want.back(), want.front()) << "nothing was learnt";
    const bool holdsLoss = d.input != "R" || world()->rank() == 0;
    for (int step = 0; holdsLoss && step < kSteps; ++step)
      ASSERT_NEAR(got[step], want[step], 1e-10 * std::abs(want[step]))
          << d.name << ", step " << step;
  }
}

} // namespace
} // namespace tenon

// SPDX-License-Identifier: BSD-2-Clause
// Networks for fields train on a volume that is divided among the ranks as they do on one process:
// in float64 the losses of all steps agree to 1e-12. The volume is TENON_TEST_VOLUME elements wide.
#include "support/volume_networks.hpp"

#include "dtensor/fill.hpp"
#include "support/world.hpp"
#include "train/optimizer.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon {
namespace {

using test::VolumeNetwork;
using test::world;

constexpr Index kExtent = TENON_TEST_VOLUME, kBatch = 2, kClasses = 3;
constexpr int kSteps = 5;

struct Kind {
  const char* name;
  VolumeNetwork (*make)(const CommPtr& comm);
  const char* optimizer;
  double rate;
};
const Kind kKinds[] = {
    {"U-Net", [](const CommPtr& comm) { return test::volumeUnet(comm, kExtent, 4, 2); }, "sgd",
     0.2},
    {"FNO", [](const CommPtr& comm) { return test::volumeFno(comm, kExtent, 4, 3); }, "adamw",
     0.01},
    {"ResNet", [](const CommPtr& comm) { return test::volumeResnet(comm, 4, kClasses); }, "sgd",
     0.1}};

Layout divided(const Shape& shape, const GridPtr& grid, const std::string& properties) {
  return Layout({.shape = shape, .grid = grid, .properties = parseProperties(properties)});
}

// Where a cell is, in the unit cube of one of the batch.
struct Place {
  double z, y, x;
};
Place placeOf(Index i) {
  const auto along = [&](Index stride) {
    return static_cast<double>(i / stride % kExtent) / static_cast<double>(kExtent);
  };
  return {.z = along(kExtent * kExtent), .y = along(kExtent), .x = along(1)};
}

// A smooth field without a symmetry, which would hide exchanged axes, and one that depends on the
// same waves, so that a network can learn it.
double fieldAt(Index i) {
  const Place at = placeOf(i);
  return std::sin(5.1 * at.x + 3.7 * at.y) + std::cos(4.3 * at.z + 1.9 * at.x);
}
double wantedAt(Index i) {
  const Place at = placeOf(i);
  return std::cos(5.1 * at.x + 3.7 * at.y) * std::cos(4.3 * at.z);
}

// The losses of all steps; an empty list on ranks without a copy of the loss.
std::vector<double> losses(const Kind& kind, const CommPtr& comm, const std::vector<int>& extents,
                           const std::string& properties) {
  const VolumeNetwork network = kind.make(comm);
  Layer& net = *network.net;
  const GridPtr grid = Grid::make(extents);
  const Layout input = divided({kBatch, 1, kExtent, kExtent, kExtent}, grid, properties);
  net.setDataType(TENON_FLOAT64);
  net.setUp(input);
  net.initialize(5, 0);
  const bool hasLabels = network.target.empty();
  Shape targetShape{kBatch};
  targetShape.insert(targetShape.end(), network.target.begin(), network.target.end());
  std::string copies = "B";
  for (std::size_t axis = 1; axis < extents.size(); ++axis)
    copies += ",B";
  const auto target =
      makeRef<DTensor>(comm, divided(targetShape, grid, hasLabels ? copies : properties),
                       hasLabels ? TENON_INT64 : TENON_FLOAT64);
  fillByIndex(*target, hasLabels ? [](Index n) { return double((n + 1) % kClasses); } : wantedAt);
  network.loss->setTarget(target);
  const Ref<Optimizer> optimizer = makeOptimizer(kind.optimizer, network.net);
  optimizer->set("learning_rate", kind.rate);
  DTensor x(comm, input, TENON_FLOAT64), y(comm, net.outputLayout(), TENON_FLOAT64),
      seed(comm, net.outputLayout().dual(), TENON_FLOAT64);
  fillByIndex(x, fieldAt);
  fillConstant(seed, 1);
  std::vector<double> result;
  for (int step = 0; step < kSteps; ++step) {
    net.apply(x, y);
    net.applyAdjoint(seed, nullptr);
    optimizer->step();
    if (y.localElements() > 0)
      result.push_back(std::as_const(y).data<double>()[0]);
  }
  return result;
}

// One rank computes them for all.
std::vector<double> lossesOfOne(const Kind& kind) {
  std::vector<double> all(kSteps);
  if (world()->rank() == 0)
    all = losses(kind, Communicator::of(MPI_COMM_SELF), {1}, "B");
  MPI_Bcast(all.data(), kSteps, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return all;
}

struct Division {
  std::vector<int> grid;
  std::string properties;
};

// Slabs, pencils and blocks, as far as the ranks go.
std::vector<Division> divisions() {
  const int ranks = world()->size();
  if (ranks % 8 == 0)
    return {{{ranks / 4, 2, 2}, "S2,S3,S4"}, {{2, ranks / 2}, "S0,S3"}};
  if (ranks % 4 == 0)
    return {{{ranks / 2, 2}, "S3,S4"}, {{2, ranks / 2}, "S0,S2"}};
  return {{{ranks}, "S2"}, {{ranks}, "S4"}};
}

TEST(VolumeTraining, FollowsOneProcess) {
  for (const Kind& kind : kKinds) {
    const std::vector<double> want = lossesOfOne(kind);
    EXPECT_LT(want.back(), 0.98 * want.front()) << kind.name << " has learnt nothing";
    for (const Division& d : divisions()) {
      const std::vector<double> got = losses(kind, world(), d.grid, d.properties);
      for (std::size_t step = 0; step < got.size(); ++step)
        ASSERT_NEAR(got[step], want[step], 1e-12 * std::abs(want[step]))
            << kind.name << " as " << d.properties << ", step " << step;
    }
  }
}

} // namespace
} // namespace tenon

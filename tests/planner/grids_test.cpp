// SPDX-License-Identifier: BSD-2-Clause
// Compares the search of plans under the cost model T1 with a second program, which is written
// here: it tries all process grids of all layers of a chain (AlexNet, VGG-16) by dynamic
// programming. A grid is four numbers, the parts b of the batch, o and i of output and input
// channels, and s of space, whose product is the number of processes. Its prices are written down
// once more from the assumptions in t1_model.hpp.
#include "planner/random_tables.hpp"
#include "planner/search/plan_search.hpp"
#include "studies/t1_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon {
namespace {

constexpr double kAlpha = 2e-6, kBeta = 4 / 6e9; // seconds of a message and of 4 bytes
constexpr T1Link kLink = {.alpha = kAlpha, .beta = kBeta / 4};

// Parts of the batch, of output and input channels, and of the rows.
struct Grid4 {
  double b, o, i, s;
};

// Without `bothLabels`, a layer splits either its output or its input channels.
std::vector<Grid4> allGrids(int processes, bool bothLabels) {
  std::vector<Grid4> grids;
  for (int b = 1; b <= processes; ++b)
    for (int o = 1; b * o <= processes; ++o)
      for (int i = 1; b * o * i <= processes; ++i)
        if (processes % (b * o * i) == 0 && (bothLabels || o == 1 || i == 1))
          grids.push_back({double(b), double(o), double(i), double(processes / (b * o * i))});
  return grids;
}

class ChainOfGrids {
public:
  ChainOfGrids(const NetworkTable& table, double batch, int processes, bool bothLabels)
      : table_(table), batch_(batch), processes_(processes),
        grids_(allGrids(processes, bothLabels)) {}

  double least() const {
    std::vector<double> before;
    for (std::size_t l = 0; l < table_.layers.size(); ++l) {
      std::vector<double> now;
      for (const Grid4& to : grids_) {
        double best = l == 0 ? 0 : std::numeric_limits<double>::infinity();
        for (std::size_t from = 0; l > 0 && from < grids_.size(); ++from)
          best = std::min(best, before[from] + move(l - 1, grids_[from], to));
        now.push_back(best + layer(l, to));
      }
      before = std::move(now);
    }
    return *std::ranges::min_element(before);
  }

private:
  // Seconds of a gather or a reduce-scatter among n processes that share so many elements: each
  // sends or receives all but its own share, in log2 n rounds. It is used twice for a sum, and for
  // a gather with its adjoint.
  static double shared(double n, double elements) {
    return kAlpha * std::log2(n) + kBeta * elements * (n - 1) / n;
  }

  bool isPossible(const TableLayer& layer, const Grid4& g) const {
    if (g.b > batch_ || g.o * g.i > double(layer.outChannels) ||
        (g.i > 1 && g.i > double(layer.inChannels)))
      return false;
    if (!layer.splitSpace)
      return g.s == 1;
    const double least =
        layer.kind == TableLayer::Kind::Conv ? std::max(1.0, std::floor(layer.kernel / 2)) : 1;
    return double(layer.input[0]) / g.s >= least && double(layer.output[0]) / g.s >= 1;
  }

  // Seconds of a layer: the sum of weight gradients over the processes that have the same weights;
  // the halo, in both passes except for the network's input, from one neighbour of two parts or two
  // neighbours of more; the sum over input channels, in both passes; and for the last layer, the
  // gather of its output channels by the loss.
  double layer(std::size_t number, const Grid4& g) const {
    const TableLayer& layer = table_.layers[number];
    if (!isPossible(layer, g))
      return std::numeric_limits<double>::infinity();
    const double r = g.o * g.i, outputs = batch_ * layer.outputElements();
    double seconds = 2 * shared(processes_ / r, double(layer.weights) / r);
    if (layer.kind == TableLayer::Kind::Conv && layer.kernel > 1 && g.s > 1) {
      const double row = batch_ / g.b * double(layer.inChannels) / g.i * double(layer.input[1]);
      seconds += (layer.readsInput ? 1 : 2) * (g.s == 2 ? 1 : 2) *
                 (kAlpha + kBeta * row * std::floor(layer.kernel / 2));
    }
    seconds += 2 * shared(g.i, outputs / (g.b * g.o * g.s));
    if (number + 1 == table_.layers.size())
      seconds += shared(r, outputs / (g.b * g.s));
    return seconds;
  }

  // Seconds of a move. Its source is split into o i parts of the channels, s of space and b of the
  // batch, by the numbers of grid q; its target into i, s and b parts, by those of t. A process has
  // 1/g of the elements that it needs already.
  double move(std::size_t edge, const Grid4& q, const Grid4& t) const {
    const double target = t.i * t.s * t.b;
    const double g = std::max(q.o * q.i, t.i) * std::max(q.s, t.s) * std::max(q.b, t.b) / target;
    return 2 * shared(g, batch_ * double(table_.edges[edge].elements) / target);
  }

  const NetworkTable& table_;
  double batch_;
  int processes_;
  std::vector<Grid4> grids_;
};

TEST(Grids, PlansWithBothLabelsAreTheLeastOfAllGrids) {
  for (const char* name : {"alexnet", "vgg16"}) {
    const NetworkTable table =
        readNetworkTable(TENON_TEST_TABLES "/" + std::string(name) + ".json");
    for (const int batch : {64, 256, 2048})
      for (const int processes : {8, 64, 512}) {
        const double least = ChainOfGrids(table, batch, processes, /*bothLabels=*/true).least();
        const T1Model model(table, batch, FineGrid({processes}), kLink, /*inputChannels=*/true);
        EXPECT_NEAR(findPlan(model).seconds, least, 1e-9 * least)
            << name << " " << batch << " on " << processes;
        EXPECT_LE(least, ChainOfGrids(table, batch, processes, /*bothLabels=*/false).least());
      }
  }
}

// If a layer can split both output and input channels, plans are faster than with one of them. The
// times are those of earlier runs.
TEST(Grids, BothLabelsSaveTimeWhereOneDoesNot) {
  const NetworkTable table = readNetworkTable(TENON_TEST_TABLES "/alexnet.json");
  const auto expect = [&](int batch, double one, double both) {
    EXPECT_NEAR(ChainOfGrids(table, batch, 512, /*bothLabels=*/false).least(), one, 1e-6 * one);
    const T1Model model(table, batch, FineGrid({512}), kLink, /*inputChannels=*/true);
    EXPECT_NEAR(findPlan(model).seconds, both, 1e-6 * both);
  };
  expect(2048, 6.7701759e-3, 4.8849173e-3);
  expect(256, 2.7884133e-3, 1.7345946e-3);
}

// The matrix product of a fully connected layer on a process grid of P_fo x P_fi.
TEST(Grids, AFullyConnectedLayerCanHaveBothLabels) {
  const NetworkTable table = readNetworkTable(TENON_TEST_TABLES "/alexnet.json");
  const T1Model model(table, 2048, FineGrid({8}), kLink, /*inputChannels=*/true);
  const FoundPlan found = findPlan(model, {.fixed = {{"fc6", "n,o,i"}}});
  EXPECT_EQ(found.layers[5].labels, "n,o,i");
  EXPECT_EQ(found.layers[5].meaning, "batch over 2, channels out over 2, channels in over 2");
}

} // namespace
} // namespace tenon

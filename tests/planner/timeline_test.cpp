// SPDX-License-Identifier: BSD-2-Clause
// Tests the predicted time of a training step in which communication overlaps computation
// (secondsOverlapped()), for chains of two or three layers whose times of kernels, moves and
// reductions are given. Expected times are sums written out by hand.
#include "planner/prices/own_model.hpp"
#include "planner/search/overlap.hpp"
#include "planner/search/plan_search.hpp"
#include "planner/small_network.hpp"

namespace tenon {
namespace {

// A chain of layers with one parallelization each. The seconds of a layer are {forward, backward,
// sums of gradients}, those of a move between two layers {forward, backward}.
class ByHand : public CostModel {
public:
  ByHand(std::vector<LayerTerms> layers, std::vector<MoveTerms> moves)
      : CostModel(FineGrid({1}), false), layers_(std::move(layers)), between_(std::move(moves)) {
    for (std::size_t l = 0; l < layers_.size(); ++l)
      names_.push_back("L" + std::to_string(l));
    for (std::size_t m = 0; m < between_.size(); ++m)
      moves_.push_back({static_cast<int>(m), static_cast<int>(m) + 1});
  }
  std::string spatial(int) const override { return {}; }
  Parts parts(int, int) const override { return {}; }
  std::string fault(int, int) const override { return {}; }
  double layerSeconds(int layer, int, Precision) const override { return layers_[layer].sum(); }
  double layerBytes(int, int) const override { return 0; }
  double moveSeconds(int move, int, int, Precision) const override {
    return between_[move].forward + between_[move].backward;
  }
  LayerTerms layerTerms(int layer, int) const override { return layers_[layer]; }
  MoveTerms moveTerms(int move, int, int) const override { return between_[move]; }

private:
  std::vector<LayerTerms> layers_;
  std::vector<MoveTerms> between_;
};

double replayed(const ByHand& model, double share) {
  return secondsOverlapped(model, std::vector<int>(model.layers(), 0), share);
}

// Each time is another power of two, so the sum shows any time that is missing or counted twice.
TEST(Timeline, WithoutOverlapIsTheSum) {
  const ByHand model({{1, 2, 4}, {8, 16, 32}, {64, 128, 256}}, {{512, 1024}, {2048, 4096}});
  EXPECT_EQ(replayed(model, 0), (1 << 13) - 1);
}

// Forward: 10, a move of 1, and 10. Backward: 20 of the second layer, a move of 1, and 20 of the
// first layer; during these the link carries the gradients of the second layer (15). The gradients
// of the first (5) end the step.
TEST(Timeline, SumsOfGradientsGoOnBesideTheBackwardPass) {
  const ByHand model({{10, 20, 5}, {10, 20, 15}}, {{1, 1}});
  EXPECT_EQ(replayed(model, 1), 10 + 1 + 10 + 20 + 1 + 20 + 5);
  // With share 0.5, half of each transfer takes time of the process: of a move when it is awaited,
  // of gradients after the last kernel.
  EXPECT_EQ(replayed(model, 0.5), 10 + 1 + 10 + 20 + 1 + 20 + 7.5 + 2.5);
}

// The link carries one transfer at a time: 1 + 1 forward, 1 backward, then 10 for the gradients of
// the second layer and 10 for those of the first. The backward kernel of the first overlaps.
TEST(Timeline, TheLinkCarriesOneTransferAfterTheOther) {
  const ByHand model({{1, 1, 10}, {1, 1, 10}}, {{0, 0}});
  EXPECT_EQ(replayed(model, 1), 1 + 1 + 1 + 10 + 10);
}

// With overlap, findPlan() takes the plan whose replayed step is shortest among the 16 of the
// smallest sums. With a share of almost 0 this is the plan of the smallest sum (`alone`); with a
// share of 1 the step is at most as long as that of this plan, whereas its sum cannot be smaller.
TEST(Timeline, ThePlanIsTheFastestOfTheBestSums) {
  const OwnRates rates{.links = {.latency = 2e-6, .bandwidth = 6e9}, .kernels = {.flops = 1e12}};
  const OwnModel model(declareNetwork(test::smallNetwork(), 64), FineGrid({8}), rates);
  const FoundPlan alone = findPlan(model);
  EXPECT_FALSE(alone.overlapped);
  const FoundPlan none = findPlan(model, {.overlap = 1e-300});
  EXPECT_NEAR(*none.overlapped, alone.seconds, 1e-12 * alone.seconds);
  EXPECT_NEAR(none.seconds, alone.seconds, 1e-12 * alone.seconds);
  std::vector<int> plan;
  for (int layer = 0; layer < model.layers(); ++layer)
    plan.push_back(model.parse(layer, alone.layers[layer].labels));
  const FoundPlan all = findPlan(model, {.overlap = 1});
  EXPECT_LE(*all.overlapped, secondsOverlapped(model, plan, 1));
  EXPECT_LT(*all.overlapped, alone.seconds);
  EXPECT_GE(all.seconds, alone.seconds * (1 - 1e-12));
}

} // namespace
} // namespace tenon

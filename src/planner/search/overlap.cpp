// SPDX-License-Identifier: BSD-2-Clause
// Replays one training step of a plan on two clocks, that of a process and that of its network link
// (overlap.hpp). Layers run forward in an order in which each follows those that it reads, and
// backward in the reverse order; transfers wait for their data and for the link.
#include "planner/search/overlap.hpp"

#include <algorithm>

namespace tenon {

namespace {

// The clocks of one process and of its link, which carries one transfer after the other.
class Timeline {
public:
  explicit Timeline(double share) : share_(share) {}

  struct Transfer {
    double end = 0;  // arrival of the share that overlaps computation
    double rest = 0; // seconds of the process for the remaining share
  };

  void compute(double seconds) { now_ += seconds; }
  Transfer start(double seconds) {
    link_ = std::max(now_, link_) + share_ * seconds;
    return {.end = link_, .rest = (1 - share_) * seconds};
  }
  void wait(const Transfer& transfer) { now_ = std::max(now_, transfer.end) + transfer.rest; }
  double now() const { return now_; }

private:
  double share_, now_ = 0, link_ = 0;
};

// The layers in an order in which each follows the layers that it reads. The model lists them in
// this order, except for a pinned input, which is last but runs first.
std::vector<int> runningOrder(const CostModel& model) {
  std::vector<int> order, waitsFor(model.layers(), 0);
  for (const CostModel::Move& move : model.moves())
    ++waitsFor[move.to];
  std::vector<bool> isDone(model.layers(), false);
  while (static_cast<int>(order.size()) < model.layers())
    for (int layer = 0; layer < model.layers(); ++layer)
      if (!isDone[layer] && waitsFor[layer] == 0) {
        isDone[layer] = true;
        order.push_back(layer);
        for (const CostModel::Move& move : model.moves())
          waitsFor[move.to] -= move.from == layer;
      }
  return order;
}

} // namespace

double secondsOverlapped(const CostModel& model, const std::vector<int>& plan, double share) {
  const std::vector<int> order = runningOrder(model);
  const auto& moves = model.moves();
  std::vector<MoveTerms> seconds;
  for (std::size_t m = 0; m < moves.size(); ++m)
    seconds.push_back(model.moveTerms(static_cast<int>(m), plan[moves[m].from], plan[moves[m].to]));
  Timeline time(share);
  std::vector<Timeline::Transfer> moved(moves.size());
  for (int layer : order) {
    for (std::size_t m = 0; m < moves.size(); ++m)
      if (moves[m].to == layer)
        time.wait(moved[m]);
    time.compute(model.layerTerms(layer, plan[layer]).forward);
    for (std::size_t m = 0; m < moves.size(); ++m)
      if (moves[m].from == layer)
        moved[m] = time.start(seconds[m].forward);
  }
  // Gradients are needed only at the end: their reductions are awaited when all layers are done.
  std::vector<Timeline::Transfer> sums;
  for (auto layer = order.rbegin(); layer != order.rend(); ++layer) {
    for (std::size_t m = 0; m < moves.size(); ++m)
      if (moves[m].from == *layer)
        time.wait(moved[m]);
    const LayerTerms terms = model.layerTerms(*layer, plan[*layer]);
    time.compute(terms.backward);
    for (std::size_t m = 0; m < moves.size(); ++m)
      if (moves[m].to == *layer)
        moved[m] = time.start(seconds[m].backward);
    sums.push_back(time.start(terms.gradients));
  }
  for (const Timeline::Transfer& sum : sums)
    time.wait(sum);
  return time.now();
}

} // namespace tenon

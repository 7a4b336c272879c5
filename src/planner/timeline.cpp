// SPDX-License-Identifier: BSD-2-Clause
#include "planner/timeline.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Of one process and its link.
class Timeline {
public:
  explicit Timeline(double share) : share_(share) {}

  struct Transfer {
    double end = 0;  // of what goes on by itself
    double rest = 0; // what takes the process
  };

  void compute(double seconds) { now_ += seconds; }
  Transfer start(double seconds) {
    link_ = std::max(now_, link_) + share_ * seconds;
    return {link_, (1 - share_) * seconds};
  }
  void wait(const Transfer& transfer) { now_ = std::max(now_, transfer.end) + transfer.rest; }
  double now() const { return now_; }

private:
  double share_, now_ = 0, link_ = 0;
};

// Each layer behind those that it reads.
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
  std::vector<MoveParts> seconds;
  for (std::size_t m = 0; m < moves.size(); ++m)
    seconds.push_back(model.moveParts(static_cast<int>(m), plan[moves[m].from], plan[moves[m].to]));
  Timeline time(share);
  std::vector<Timeline::Transfer> moved(moves.size());
  for (int layer : order) {
    for (std::size_t m = 0; m < moves.size(); ++m)
      if (moves[m].to == layer)
        time.wait(moved[m]);
    time.compute(model.layerParts(layer, plan[layer]).forward);
    for (std::size_t m = 0; m < moves.size(); ++m)
      if (moves[m].from == layer)
        moved[m] = time.start(seconds[m].there);
  }
  std::vector<Timeline::Transfer> sums;
  for (auto layer = order.rbegin(); layer != order.rend(); ++layer) {
    for (std::size_t m = 0; m < moves.size(); ++m)
      if (moves[m].from == *layer)
        time.wait(moved[m]);
    const LayerParts parts = model.layerParts(*layer, plan[*layer]);
    time.compute(parts.backward);
    for (std::size_t m = 0; m < moves.size(); ++m)
      if (moves[m].to == *layer)
        moved[m] = time.start(seconds[m].back);
    sums.push_back(time.start(parts.gradients));
  }
  for (const Timeline::Transfer& sum : sums)
    time.wait(sum);
  return time.now();
}

} // namespace tenon

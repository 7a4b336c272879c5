// SPDX-License-Identifier: BSD-2-Clause
// Finds the fastest plan within a memory limit by an elimination (elimination.hpp) whose messages
// contain Pareto fronts instead of numbers. An elimination removes one layer after the other; the
// message of a removed layer has, for each combination of states of its remaining neighbours, the
// best of what was removed so far. A label is a partial plan with its bytes and seconds, and a
// front has the labels that no other beats in both:
//
//   bytes     10   14   20       by increasing bytes and decreasing seconds; a label (15, 9)
//   seconds    9    7    4       is not in the front, since (14, 7) beats it
//
// A label refers to the two labels of which it is the sum, down to the states of single layers, and
// the plan is read by following these references. Labels are therefore never freed during the
// search. Their number is bounded, and the search stops without a result if it reaches the bound.
#include "planner/search/pareto.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

namespace tenon {

namespace {

// The bytes and seconds of some layers in given states: either of a single layer, or the sum of two
// labels.
struct Label {
  double bytes = 0, seconds = 0;
  int left = -1, right = -1;  // the two labels that are added; -1: not a sum
  int layer = -1, state = -1; // the single layer and its state; -1: a sum
};

// Labels by increasing bytes and decreasing seconds: the last one is the fastest.
using Front = std::vector<int>;

struct TooManyLabels {};

// All labels, and the operations on fronts. A front contains the labels within both limits that no
// other label beats in bytes and in seconds.
class Labels {
public:
  Labels(double maxBytes, double maxSeconds, std::size_t maxLabels)
      : maxBytes_(maxBytes), maxSeconds_(maxSeconds), maxLabels_(maxLabels) {}

  const Label& operator[](int label) const { return labels_[label]; }

  Front single(const Label& label) { return thinned({label}); }

  // The front of the sums of a label of each front.
  Front sum(const Front& a, const Front& b) {
    std::vector<Label> sums;
    // Counted before they are created: the sums of two long fronts alone could fill the memory.
    made_ += a.size() * b.size();
    if (made_ > maxLabels_)
      throw TooManyLabels();
    for (int left : a)
      for (int right : b)
        sums.push_back({.bytes = labels_[left].bytes + labels_[right].bytes,
                        .seconds = labels_[left].seconds + labels_[right].seconds,
                        .left = left,
                        .right = right});
    return thinned(std::move(sums));
  }

  // The front of the labels of two fronts.
  Front best(const Front& a, const Front& b) const {
    Front both;
    std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both),
               [&](int x, int y) { return isBefore(labels_[x], labels_[y]); });
    Front front;
    for (int label : both)
      if (front.empty() || labels_[label].seconds < labels_[front.back()].seconds)
        front.push_back(label);
    return front;
  }

private:
  static bool isBefore(const Label& x, const Label& y) {
    return x.bytes < y.bytes || (x.bytes == y.bytes && x.seconds < y.seconds);
  }

  // The front of new labels, of which only those in the front are stored.
  Front thinned(std::vector<Label> candidates) {
    std::sort(candidates.begin(), candidates.end(), isBefore);
    Front front;
    for (const Label& label : candidates) {
      if (label.bytes > maxBytes_)
        break;
      if (label.seconds > maxSeconds_ ||
          (!front.empty() && label.seconds >= labels_[front.back()].seconds))
        continue;
      front.push_back(static_cast<int>(labels_.size()));
      labels_.push_back(label);
    }
    return front;
  }

  double maxBytes_, maxSeconds_;
  std::size_t maxLabels_, made_ = 0; // limit and number of the labels that were candidates
  std::deque<Label> labels_;
};

class ParetoElimination {
public:
  ParetoElimination(const CostTables& tables, double maxBytes, double maxSeconds,
                    std::size_t maxLabels)
      : tables_(tables), labels_(maxBytes, maxSeconds, maxLabels), steps_(eliminationOrder(tables)),
        messages_(steps_.size()), children_(steps_.size()), pairs_(tables.layers()) {
    checkWidths(tables, steps_);
    for (std::size_t s = 0; s < steps_.size(); ++s)
      if (steps_[s].parent >= 0)
        children_[steps_[s].parent].push_back(static_cast<int>(s));
    std::vector<int> position(tables.layers());
    for (std::size_t s = 0; s < steps_.size(); ++s)
      position[steps_[s].layer] = static_cast<int>(s);
    for (const PairTable& pair : tables.pairs) {
      // The layer that is eliminated first reads the table. A layer with a single state is nobody's
      // neighbour (eliminationOrder()), so its message cannot depend on the other layer; the other
      // one reads the table.
      const bool isReadByFrom =
          tables.states(pair.to) == 1 ||
          (tables.states(pair.from) > 1 && position[pair.from] < position[pair.to]);
      pairs_[isReadByFrom ? pair.from : pair.to].push_back(&pair);
    }
  }

  std::optional<std::vector<int>> run() {
    Front all = labels_.single({}); // a label of no layers: 0 bytes, 0 seconds
    // Connected components of the network share the limit, so their fronts are summed as well.
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      eliminate(static_cast<int>(s));
      if (steps_[s].parent < 0)
        all = labels_.sum(all, messages_[s].front());
    }
    if (all.empty())
      return std::nullopt;
    std::vector<int> choice(tables_.layers(), 0);
    read(all.back(), choice);
    return choice;
  }

private:
  // The index in a step's message for given states of its neighbours.
  std::size_t messageIndex(int step, const std::vector<int>& states) const {
    std::size_t index = 0;
    for (int other : steps_[step].neighbours)
      index = index * tables_.states(other) + states[other];
    return index;
  }

  // Computes the message of step s: a front for each combination of states of its neighbours.
  void eliminate(int s) {
    const EliminationStep& step = steps_[s];
    std::size_t count = 1;
    for (int other : step.neighbours)
      count *= tables_.states(other);
    messages_[s].resize(count);
    std::vector<int> states(tables_.layers(), 0);
    for (std::size_t index = 0; index < count; ++index) {
      // The states of the neighbours are the digits of the index, the last one fastest, as in
      // messageIndex().
      std::size_t rest = index;
      for (auto other = step.neighbours.rbegin(); other != step.neighbours.rend(); ++other) {
        states[*other] = static_cast<int>(rest % tables_.states(*other));
        rest /= tables_.states(*other);
      }
      Front& front = messages_[s][index];
      for (int state = 0; state < tables_.states(step.layer); ++state) {
        states[step.layer] = state;
        front = labels_.best(front, frontOf(s, states));
      }
    }
    // The messages that this step has read are not needed again, but their labels are.
    for (int child : children_[s])
      messages_[child].clear();
  }

  // The front of the layer of a step in one state, plus the messages of the layers that were
  // eliminated before and are neighbours of this layer.
  Front frontOf(int s, const std::vector<int>& states) {
    const int layer = steps_[s].layer;
    double seconds = tables_.seconds[layer][states[layer]];
    for (const PairTable* pair : pairs_[layer])
      seconds += pair->seconds[std::size_t(states[pair->from]) * tables_.states(pair->to) +
                               states[pair->to]];
    Front front = labels_.single({.bytes = tables_.bytes[layer][states[layer]],
                                  .seconds = seconds,
                                  .layer = layer,
                                  .state = states[layer]});
    for (int child : children_[s])
      front = labels_.sum(front, messages_[child][messageIndex(child, states)]);
    return front;
  }

  // Reads a plan from a label: follows the references of sums, down to the states of single layers.
  void read(int label, std::vector<int>& choice) const {
    std::vector<int> pending = {label};
    while (!pending.empty()) {
      const Label& current = labels_[pending.back()];
      pending.pop_back();
      if (current.layer >= 0)
        choice[current.layer] = current.state;
      for (int part : {current.left, current.right})
        if (part >= 0)
          pending.push_back(part);
    }
  }

  const CostTables& tables_;
  Labels labels_;
  std::vector<EliminationStep> steps_;
  std::vector<std::vector<Front>> messages_; // by step and the states of its neighbours
  std::vector<std::vector<int>> children_;
  std::vector<std::vector<const PairTable*>> pairs_; // by the layer that reads them
};

} // namespace

ParetoResult fastestWithin(const CostTables& tables, double maxBytes, double maxSeconds,
                           std::size_t maxLabels) {
  try {
    return {.finished = true,
            .choice = ParetoElimination(tables, maxBytes, maxSeconds, maxLabels).run()};
  } catch (const TooManyLabels&) {
    return {};
  }
}

} // namespace tenon

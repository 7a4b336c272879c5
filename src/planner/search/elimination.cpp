// SPDX-License-Identifier: BSD-2-Clause
// Eliminates one layer after the other (elimination.hpp), and computes the best plans and the
// min-marginals from the messages. A step of the elimination has the layer that is eliminated, and
// its neighbours, the layers that are eliminated later and with which it shares a table. For each
// combination of states (parallelizations) of the neighbours there is a row: the sums of the step's
// tables over the states of its layer. The minimum of a row is one number of the message:
//
//   step 1: layer a, neighbour b     row for b = 0:  A(a) + AB(a,0), a = 0, 1, ...  -> m_a(0)
//                                    row for b = 1:  A(a) + AB(a,1), a = 0, 1, ...  -> m_a(1)
//
// The constructor determines the order, the neighbours and the pair tables. Only the sums depend on
// the multiplier secondsPerByte, so a search over multipliers repeats run() only. All ranks that
// search find the same plan: ties are broken by the numbers of layers and states.
#include "planner/search/elimination.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <set>

namespace tenon {

namespace {

std::vector<std::set<int>> neighboursOf(const CostTables& tables) {
  std::vector<std::set<int>> neighbours(tables.layers());
  for (const PairTable& pair : tables.pairs)
    // A layer with one state adds a constant to each state of the other layer and joins no
    // neighbours.
    if (tables.states(pair.from) > 1 && tables.states(pair.to) > 1) {
      neighbours[pair.from].insert(pair.to);
      neighbours[pair.to].insert(pair.from);
    }
  return neighbours;
}

} // namespace

double mostCombinations(const std::vector<EliminationStep>& order,
                        const std::function<double(int layer)>& states) {
  double most = 0;
  for (const EliminationStep& step : order) {
    double combinations = states(step.layer);
    for (int other : step.neighbours)
      combinations *= states(other);
    most = std::max(most, combinations);
  }
  return most;
}

void checkWidths(const CostTables& tables, const std::vector<EliminationStep>& order) {
  for (const EliminationStep& step : order) {
    double combinations = tables.states(step.layer);
    std::vector<std::string> names;
    for (int other : std::set<int>(step.neighbours.begin(), step.neighbours.end())) {
      combinations *= tables.states(other);
      names.push_back(tables.names[other]);
    }
    if (combinations > kMaxCombinations)
      throw Error(
          TENON_ERR_SUPPORT,
          fmt::format(
              "the network has too many connections for an exact search: layer {} with "
              "its neighbours {} has {:.2g} combinations of parallelizations, more than {:.2g}; "
              "fix the parallelization of one of them",
              tables.names[step.layer], joined(names), combinations, kMaxCombinations));
  }
}

std::vector<EliminationStep> eliminationOrder(const CostTables& tables) {
  std::vector<std::set<int>> neighbours = neighboursOf(tables);
  std::vector<EliminationStep> steps;
  std::vector<int> position(tables.layers(), -1);
  for (int round = 0; round < tables.layers(); ++round) {
    int next = -1;
    for (int layer = 0; layer < tables.layers(); ++layer)
      // Ties are broken by the layer's number: all ranks must find the same order.
      if (position[layer] < 0 && (next < 0 || neighbours[layer].size() < neighbours[next].size()))
        next = layer;
    position[next] = round;
    steps.push_back(
        {.layer = next, .neighbours = {neighbours[next].begin(), neighbours[next].end()}});
    // The message of a layer is a table over all its neighbours, which become neighbours of each
    // other.
    for (int a : neighbours[next]) {
      neighbours[a].insert(neighbours[next].begin(), neighbours[next].end());
      neighbours[a].erase(a);
      neighbours[a].erase(next);
    }
  }
  for (EliminationStep& step : steps) {
    // The neighbour that is eliminated first reads the message. It is last in the list, which makes
    // its states the fastest index: the message is then added to its rows without reordering.
    std::sort(step.neighbours.begin(), step.neighbours.end(),
              [&](int a, int b) { return position[a] > position[b]; });
    if (!step.neighbours.empty())
      step.parent = position[step.neighbours.back()];
  }
  return steps;
}

namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

// Minimum with four independent accumulators, which avoids a chain of dependent comparisons.
double leastOf(const double* row, std::size_t count) {
  double least[4] = {kFar, kFar, kFar, kFar};
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4)
    for (int lane = 0; lane < 4; ++lane)
      least[lane] = std::min(least[lane], row[k + lane]);
  for (; k < count; ++k)
    least[0] = std::min(least[0], row[k]);
  return std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
}

// The row-major index in a table over the neighbours at these positions, for their states.
std::size_t indexOf(const std::vector<int>& states, const std::vector<int>& positions,
                    const std::vector<int>& sizes) {
  std::size_t index = 0;
  for (int position : positions)
    index = index * sizes[position] + states[position];
  return index;
}

// The positions of some layers in a list of layers.
std::vector<int> positionsOf(const std::vector<int>& some, const std::vector<int>& all) {
  std::vector<int> positions;
  for (int layer : some)
    positions.push_back(static_cast<int>(std::find(all.begin(), all.end(), layer) - all.begin()));
  return positions;
}

} // namespace

// Visits the rows of a step: the sums of its tables over the states of its layer, for fixed states
// of its neighbours. The neighbours are fixed one after the other, and each table is added at the
// depth of its last neighbour. The step to the next row therefore repeats only the sums that
// changed.
class Elimination::Rows {
public:
  Rows(const Elimination& all, const Step& step)
      : step_(step), states_(step.unary.size()), neighbourStates_(step.sizes.size()),
        partial_(step.sizes.size() + 1, step.unary), byDepth_(step.sizes.size()) {
    for (const Factor& pair : step.pairs)
      add(pair.neighbourIndices, pair.values);
    for (int child : step.children)
      add(all.steps_[child].indicesInParent, all.steps_[child].message);
  }

  template <class Visit>
  void visitAll(Visit&& visit) {
    descend(0, 0, visit);
  }

  // The row for the given states of the neighbours.
  const std::vector<double>& row(const std::vector<int>& neighbourStates) {
    neighbourStates_ = neighbourStates;
    for (std::size_t depth = 0; depth < neighbourStates_.size(); ++depth)
      extend(depth);
    return partial_.back();
  }

private:
  struct Table {
    const std::vector<int>* neighbourIndices;
    const double* values;
  };

  void add(const std::vector<int>& neighbourIndices, const std::vector<double>& values) {
    if (neighbourIndices.empty())
      for (std::size_t k = 0; k < states_; ++k)
        partial_[0][k] += values[k];
    else
      byDepth_[neighbourIndices.back()].push_back(
          {.neighbourIndices = &neighbourIndices, .values = values.data()});
  }

  // Adds the tables whose last neighbour is number `depth` to the sums of the neighbours before it.
  void extend(std::size_t depth) {
    const double* before = partial_[depth].data();
    double* sum = partial_[depth + 1].data();
    for (const Table& table : byDepth_[depth]) {
      const double* row =
          table.values + indexOf(neighbourStates_, *table.neighbourIndices, step_.sizes) * states_;
      for (std::size_t k = 0; k < states_; ++k)
        sum[k] = before[k] + row[k];
      before = sum;
    }
    if (before != sum)
      std::copy(before, before + states_, sum);
  }

  // Visits all rows with the current states of the first `depth` neighbours.
  template <class Visit>
  void descend(std::size_t depth, std::size_t index, Visit&& visit) {
    if (depth == neighbourStates_.size()) {
      visit(index, partial_[depth]);
      return;
    }
    for (int state = 0; state < step_.sizes[depth]; ++state) {
      neighbourStates_[depth] = state;
      extend(depth);
      descend(depth + 1, index * step_.sizes[depth] + state, visit);
    }
  }

  const Step& step_;
  std::size_t states_;                       // of the step's layer
  std::vector<int> neighbourStates_;         // the current state of each neighbour
  std::vector<std::vector<double>> partial_; // sums by number of neighbours with a state
  std::vector<std::vector<Table>> byDepth_;  // tables by the last of their neighbours
};

Elimination::Elimination(const CostTables& tables, const std::vector<EliminationStep>& order)
    : tables_(tables), fixed_(tables.seconds) {
  checkWidths(tables, order);
  std::vector<int> position(tables.layers());
  for (const EliminationStep& ordered : order) {
    position[ordered.layer] = static_cast<int>(steps_.size());
    Step& step = steps_.emplace_back();
    static_cast<EliminationStep&>(step) = ordered;
    for (int other : ordered.neighbours)
      step.sizes.push_back(tables.states(other));
  }
  for (std::size_t s = 0; s < steps_.size(); ++s)
    if (steps_[s].parent >= 0) {
      std::vector<int> others = steps_[s].neighbours;
      // The parent's state is the index within a row of the message. The other neighbours are also
      // neighbours of the parent, because elimination has joined them.
      others.pop_back();
      Step& parent = steps_[steps_[s].parent];
      steps_[s].indicesInParent = positionsOf(others, parent.neighbours);
      parent.children.push_back(static_cast<int>(s));
    }
  for (const PairTable& pair : tables.pairs)
    addPair(pair, position);
}

// Adds a pair table to the step of the layer that is eliminated first, with the states of this
// layer as the fastest index.
void Elimination::addPair(const PairTable& pair, const std::vector<int>& position) {
  const bool fromLast = position[pair.from] > position[pair.to];
  const int layer = fromLast ? pair.to : pair.from, other = fromLast ? pair.from : pair.to;
  const int states = tables_.states(layer), others = tables_.states(other);
  std::vector<double> values(pair.seconds.size());
  for (int i = 0; i < others; ++i)
    for (int k = 0; k < states; ++k)
      values[std::size_t(i) * states + k] =
          pair.seconds[fromLast ? std::size_t(i) * states + k : std::size_t(k) * others + i];
  // A layer with one state is not a neighbour: its table is a single row, which is added to the
  // seconds of the other layer.
  if (others == 1)
    std::transform(values.begin(), values.end(), fixed_[layer].begin(), fixed_[layer].begin(),
                   std::plus<>());
  else if (states == 1)
    std::transform(values.begin(), values.end(), fixed_[other].begin(), fixed_[other].begin(),
                   std::plus<>());
  else {
    Step& step = steps_[position[layer]];
    step.pairs.push_back({positionsOf({other}, step.neighbours), std::move(values)});
  }
}

template <class Visit>
void Elimination::forRows(const Step& step, Visit&& visit) const {
  Rows(*this, step).visitAll(visit);
}

double Elimination::run(double secondsPerByte) {
  least_ = 0;
  for (Step& step : steps_) {
    step.unary = fixed_[step.layer];
    for (std::size_t k = 0; k < step.unary.size(); ++k)
      step.unary[k] += secondsPerByte * tables_.bytes[step.layer][k];
    step.message.resize(
        std::accumulate(step.sizes.begin(), step.sizes.end(), std::size_t(1), std::multiplies<>()));
    forRows(step, [&](std::size_t index, const std::vector<double>& row) {
      step.message[index] = leastOf(row.data(), row.size());
    });
    if (step.parent < 0)
      // Each connected component of the network ends in a message of one number.
      least_ += step.message[0];
  }
  return least_;
}

std::vector<int> Elimination::choice() const {
  std::vector<int> chosen(tables_.layers());
  // In reverse order of elimination, the states of all neighbours of a layer are chosen before
  // the state of the layer.
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    std::vector<int> neighbourStates;
    for (int other : step->neighbours)
      neighbourStates.push_back(chosen[other]);
    Rows rows(*this, *step);
    const std::vector<double>& row = rows.row(neighbourStates);
    chosen[step->layer] = static_cast<int>(std::min_element(row.begin(), row.end()) - row.begin());
  }
  return chosen;
}

namespace {

// The states of the layers that are eliminated last, and the least sum of all plans with these
// states.
struct PartialPlan {
  double least = 0;
  std::vector<int> states; // from the last step
  bool operator>(const PartialPlan& other) const {
    return least > other.least || (least == other.least && states > other.states);
  }
};

} // namespace

// Best-first search. The priority of a partial plan is the exact sum of its best completion, so few
// partial plans are visited unnecessarily. Equal sums are ordered by their states, identically on
// all ranks.
std::vector<std::vector<int>> Elimination::best(int count) const {
  std::vector<std::vector<int>> found;
  std::priority_queue<PartialPlan, std::vector<PartialPlan>, std::greater<>> queue;
  queue.push({.least = least_, .states = {}});
  while (!queue.empty() && static_cast<int>(found.size()) < count) {
    const PartialPlan partial = queue.top();
    queue.pop();
    std::vector<int> chosen(tables_.layers());
    for (std::size_t s = 0; s < partial.states.size(); ++s)
      chosen[steps_[steps_.size() - 1 - s].layer] = partial.states[s];
    if (partial.states.size() == steps_.size()) {
      found.push_back(std::move(chosen));
      continue;
    }
    const Step& step = steps_[steps_.size() - 1 - partial.states.size()];
    std::vector<int> neighbourStates;
    for (int other : step.neighbours)
      neighbourStates.push_back(chosen[other]);
    Rows rows(*this, step);
    const std::vector<double>& row = rows.row(neighbourStates);
    const double least = *std::min_element(row.begin(), row.end());
    for (std::size_t state = 0; state < row.size(); ++state) {
      // The sum of the partial plan contains the best state of this layer, which is replaced.
      PartialPlan next{.least = partial.least + row[state] - least, .states = partial.states};
      next.states.push_back(static_cast<int>(state));
      queue.push(std::move(next));
    }
  }
  return found;
}

// Min-marginals by a sweep from the last step to the first. For given states of a step's neighbours
// let N be the least sum of all plans with these states. If the step's layer has state k in
// addition, the least sum is N - message + row[k], because the message is the minimum of the row. N
// was computed in the parent's step, which the sweep visits earlier.
std::vector<std::vector<double>> Elimination::minMarginals() const {
  std::vector<std::vector<double>> marginals(tables_.layers());
  // N, by step and index of its message.
  std::vector<std::vector<double>> ofNeighbours(steps_.size());
  for (int s = static_cast<int>(steps_.size()) - 1; s >= 0; --s) {
    const Step& step = steps_[s];
    const std::size_t states = step.unary.size();
    if (step.parent < 0)
      ofNeighbours[s] = {least_};
    for (int child : step.children)
      ofNeighbours[child].assign(steps_[child].message.size(), kFar);
    std::vector<double>& ofLayer = marginals[step.layer];
    ofLayer.assign(states, kFar);
    std::vector<int> neighbourStates(step.sizes.size());
    forRows(step, [&](std::size_t index, const std::vector<double>& row) {
      const double sumElsewhere = ofNeighbours[s][index] - step.message[index]; // N - message
      for (std::size_t rest = index, d = neighbourStates.size(); d-- > 0; rest /= step.sizes[d])
        neighbourStates[d] = static_cast<int>(rest % step.sizes[d]);
      for (std::size_t k = 0; k < states; ++k)
        ofLayer[k] = std::min(ofLayer[k], sumElsewhere + row[k]);
      for (int child : step.children) {
        double* least =
            ofNeighbours[child].data() +
            indexOf(neighbourStates, steps_[child].indicesInParent, step.sizes) * states;
        for (std::size_t k = 0; k < states; ++k)
          least[k] = std::min(least[k], sumElsewhere + row[k]);
      }
    });
    ofNeighbours[s].clear();
  }
  return marginals;
}

} // namespace tenon

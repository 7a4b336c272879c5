// SPDX-License-Identifier: BSD-2-Clause
#include "planner/elimination_order.hpp"

#include "sys/error.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tenon {

namespace {

// Of a layer with its neighbours: width 3 with 107 states each.
constexpr double kMostCombinations = 1 << 27;

std::vector<std::set<int>> neighboursOf(const CostTables& tables) {
  std::vector<std::set<int>> neighbours(tables.layers());
  for (const PairTable& pair : tables.pairs)
    if (tables.states(pair.from) > 1 && tables.states(pair.to) > 1) {
      neighbours[pair.from].insert(pair.to);
      neighbours[pair.to].insert(pair.from);
    }
  return neighbours;
}

void checkWidth(const CostTables& tables, int layer, const std::set<int>& neighbours) {
  double combinations = tables.states(layer);
  std::vector<std::string> names;
  for (int other : neighbours) {
    combinations *= tables.states(other);
    names.push_back(tables.names[other]);
  }
  if (combinations > kMostCombinations)
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("the network has too many connections for an exact search: layer {} with "
                    "its neighbours {} has {:.2g} combinations of words, more than {:.2g}; "
                    "fix the word of one of them",
                    tables.names[layer], joined(names), combinations, kMostCombinations));
}

} // namespace

std::vector<EliminationStep> eliminationOrder(const CostTables& tables) {
  std::vector<std::set<int>> neighbours = neighboursOf(tables);
  std::vector<EliminationStep> steps;
  std::vector<int> position(tables.layers(), -1);
  for (int round = 0; round < tables.layers(); ++round) {
    int next = -1;
    for (int layer = 0; layer < tables.layers(); ++layer)
      if (position[layer] < 0 && (next < 0 || neighbours[layer].size() < neighbours[next].size()))
        next = layer;
    checkWidth(tables, next, neighbours[next]);
    position[next] = round;
    steps.push_back({next, {neighbours[next].begin(), neighbours[next].end()}});
    for (int a : neighbours[next]) {
      neighbours[a].insert(neighbours[next].begin(), neighbours[next].end());
      neighbours[a].erase(a);
      neighbours[a].erase(next);
    }
  }
  for (EliminationStep& step : steps) {
    std::sort(step.neighbours.begin(), step.neighbours.end(),
              [&](int a, int b) { return position[a] > position[b]; });
    if (!step.neighbours.empty())
      step.parent = position[step.neighbours.back()];
  }
  return steps;
}

} // namespace tenon

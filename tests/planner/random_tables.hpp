// SPDX-License-Identifier: BSD-2-Clause
// Random cost tables on small graphs (chains, residual networks, dense blocks), the input of a
// search, and an exhaustive search of them: the independent reference for all searches.
#pragma once

#include "planner/search/cost_tables.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <utility>

namespace tenon::test {

using Edges = std::vector<std::pair<int, int>>;

// A graph of layers by its edges.
struct Graph {
  std::string name;
  int layers = 0;
  Edges edges = {};
};

// Graphs of up to six layers. The last two are not series-parallel, so elimination needs tables of
// three neighbours.
inline std::vector<Graph> smallGraphs() {
  return {{"one", 1},
          {"apart", 3, {{0, 1}}},
          {"chain", 6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}},
          {"residual", 5, {{0, 1}, {1, 2}, {0, 2}, {2, 3}, {3, 4}, {2, 4}}},
          {"projection", 6, {{0, 1}, {1, 3}, {0, 2}, {2, 3}, {3, 4}, {4, 5}, {3, 5}}},
          {"U-Net", 6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {1, 4}, {4, 5}, {0, 5}}},
          {"twice", 3, {{0, 1}, {0, 1}, {1, 2}}},
          {"star", 6, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}}},
          {"complete", 4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}},
          {"prism", 6, {{0, 1}, {1, 2}, {0, 2}, {3, 4}, {4, 5}, {3, 5}, {0, 3}, {1, 4}, {2, 5}}}};
}

// Tables of whole numbers, whose sums are exact.
inline CostTables randomTables(const Graph& graph, std::mt19937& random) {
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  CostTables tables;
  for (int layer = 0; layer < graph.layers; ++layer) {
    tables.names.push_back("layer" + std::to_string(layer));
    const int states = draw(1, 5);
    auto& seconds = tables.seconds.emplace_back();
    auto& bytes = tables.bytes.emplace_back();
    for (int k = 0; k < states; ++k) {
      seconds.push_back(draw(0, 60));
      bytes.push_back(draw(0, 40));
    }
  }
  for (const auto& [from, to] : graph.edges) {
    PairTable& pair = tables.pairs.emplace_back(PairTable{from, to, {}});
    for (int cell = 0; cell < tables.states(from) * tables.states(to); ++cell)
      pair.seconds.push_back(draw(0, 60));
  }
  return tables;
}

// Calls check(tables) for 20 draws on each of the small graphs.
template <class Check>
void forRandomTables(unsigned seed, Check&& check) {
  constexpr int kDraws = 20;
  std::mt19937 random(seed);
  for (const Graph& graph : smallGraphs())
    for (int draw = 0; draw < kDraws; ++draw) {
      SCOPED_TRACE(graph.name);
      check(randomTables(graph, random));
    }
}

// Calls visit(choice) for each plan: one state of each layer.
inline void forAllPlans(const CostTables& tables,
                        const std::function<void(const std::vector<int>&)>& visit) {
  std::vector<int> choice(tables.layers(), 0);
  for (;;) {
    visit(choice);
    int layer = 0;
    while (layer < tables.layers() && ++choice[layer] == tables.states(layer))
      choice[layer++] = 0;
    if (layer == tables.layers())
      return;
  }
}

// The least seconds of plans within a limit; none if there are none.
inline std::optional<double> leastByForce(const CostTables& tables,
                                          double limit = std::numeric_limits<double>::infinity()) {
  std::optional<double> least;
  forAllPlans(tables, [&](const std::vector<int>& choice) {
    const double seconds = tables.secondsOf(choice);
    if (tables.bytesOf(choice) <= limit && (!least || seconds < *least))
      least = seconds;
  });
  return least;
}

} // namespace tenon::test
